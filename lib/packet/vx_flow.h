/* SPDX-License-Identifier: BSD-3-Clause */
/* What encapsulation needs to know of an inner frame: its flow's hash, and what the outer IP header
 * may take over from the inner one. */
#ifndef VX_FLOW_H
#define VX_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

struct vx_flow {
	uint32_t hash; /* the same for every frame of a flow on every worker (RFC 7348 section 5) */
	bool has_df;   /* inner IPv4 "do not fragment", true for IPv6 */
	uint8_t tos;   /* inner DSCP and ECN (IPv6: traffic class), 0 where the frame is not IP */
	uint8_t ttl;   /* inner TTL or hop limit, likewise */
};
_Static_assert(sizeof(struct vx_flow) == 8, "handed over in one register");

/*
 * Hash the frame that starts at @frame, of which @len bytes are readable: MACs, VLAN tags, and for
 * IP the addresses, the protocol and (not for fragments) the ports; for MPLS the first labels.
 * Never reads beyond @len.
 */
struct vx_flow vx_flow_of_bytes(const uint8_t *frame, uint32_t len);

/* The same for a frame that may be a chain with headers split anywhere. */
struct vx_flow vx_flow_of(const struct rte_mbuf *m);

/* Outer UDP source port from a flow hash: @n ports from @first on, evenly. Host order. */
static inline uint16_t
vx_flow_port(uint32_t hash, uint16_t first, uint32_t n)
{
	return (uint16_t)(first + ((uint64_t)hash * n >> 32));
}

/* Outer IPv6 flow label from a flow hash, never zero, which would mean "none" (RFC 6438). */
static inline uint32_t
vx_flow_label(uint32_t hash)
{
	const uint32_t label = hash & 0xfffff;

	return label == 0 ? 1 : label;
}

#endif
