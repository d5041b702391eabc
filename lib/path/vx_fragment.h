/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragmentation: IPv4 (RFC 791 section 3.2), of outer packets and, with `set oversize inner`, of
 * inner ones; IPv6 (RFC 8200 section 4.5), of outer ones. DPDK's rte_ip_frag leaves checksum and
 * identification to others and makes empty segments (22.11). */
#ifndef VX_FRAGMENT_H
#define VX_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_lcore.h"

/* Most fragments of one packet: 65,535 bytes over the smallest MTU of IPv4 that makes sense, 576.
 */
#define VX_FRAGMENTS_MAX 128u

/* Takes one finished fragment; ownership goes along. */
typedef void vx_fragment_sink(struct vx_lcore *lcore, struct rte_mbuf *m, void *ctx);

/*
 * Cut the frame @m, an untagged Ethernet header and an IPv4 packet without options in its first
 * segment's bytes, into frames whose IP packets have at most @mtu bytes, and give each to @sink in
 * order. Payload is shared, not copied; only the 34 bytes of headers are. The IP packet has to end
 * with the frame. Ownership of @m is taken.
 *
 * False, with @m as it was: no buffers, or more than VX_FRAGMENTS_MAX fragments.
 */
bool vx_fragment(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t mtu, vx_fragment_sink *sink,
		 void *ctx);

/*
 * The same for an IPv6 packet without extension headers, of up to 65,535 bytes behind its header.
 * @id_be: the identification; unique among the packets from its source to its destination for as
 * long as fragments live.
 */
bool vx_fragment6(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t mtu, rte_be32_t id_be,
		  vx_fragment_sink *sink, void *ctx);

#endif
