/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_flow.h"

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_hash_crc.h>
#include <rte_mbuf.h>

#include "vx_wire.h"

/* Enough for three VLAN tags, an IPv6 header with some extension headers, and the ports. */
#define HEADER_BYTES 160u
#define MAX_TAGS     3u
#define MAX_IPV6_EXT 6u
#define MPLS_LABELS  2u

static inline uint64_t
load64(const uint8_t *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

static inline uint32_t
load32(const uint8_t *from)
{
	uint32_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

static inline rte_be16_t
load_be16(const uint8_t *from)
{
	rte_be16_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

static inline uint32_t
mix(uint64_t word, uint32_t hash)
{
	return rte_hash_crc_8byte(word, hash);
}

static inline bool
has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
	       protocol == 136 /* UDP-Lite */ || protocol == 33 /* DCCP */;
}

static inline uint32_t
hash_ipv4(const uint8_t *ip, uint32_t len, uint32_t hash, struct vx_flow *flow)
{
	const uint32_t header = (ip[0] & 0x0fu) * 4u;
	const uint8_t protocol = ip[9];
	uint64_t tail = protocol;

	flow->tos = ip[1];
	flow->ttl = ip[8];
	flow->has_df = (ip[6] & 0x40) != 0;
	/* A fragment other than the first has no ports: so that all of one packet's take the same
	 * way, none of them is hashed by its ports. */
	if ((load_be16(ip + 6) & RTE_BE16(0x3fff)) == 0 && has_ports(protocol) && header >= 20 &&
	    len >= header + 4)
		tail |= (uint64_t)load32(ip + header) << 32;
	return mix(tail, mix(load64(ip + 12), hash));
}

static uint32_t
hash_ipv6(const uint8_t *ip, uint32_t len, uint32_t hash, struct vx_flow *flow)
{
	uint8_t protocol = ip[6];
	uint32_t offset = 40;
	uint64_t tail;

	flow->tos = (uint8_t)(ip[0] << 4 | ip[1] >> 4);
	flow->ttl = ip[7];
	flow->has_df = true;
	hash = mix(load64(ip + 8), hash);
	hash = mix(load64(ip + 16), hash);
	hash = mix(load64(ip + 24), hash);
	hash = mix(load64(ip + 32), hash);
	for (unsigned int i = 0; i < MAX_IPV6_EXT && offset + 8 <= len; i++) {
		if (protocol != IPPROTO_HOPOPTS && protocol != IPPROTO_ROUTING &&
		    protocol != IPPROTO_DSTOPTS)
			break;
		protocol = ip[offset];
		offset += 8u * (1u + ip[offset + 1]);
	}
	tail = protocol;
	if (has_ports(protocol) && offset + 4 <= len)
		tail |= (uint64_t)load32(ip + offset) << 32;
	return mix(tail, hash);
}

static uint32_t
hash_mpls(const uint8_t *label, uint32_t len, uint32_t hash)
{
	for (unsigned int i = 0; i < MPLS_LABELS && len >= 4; i++, label += 4, len -= 4) {
		/* The label alone: traffic class and TTL may differ within a flow. */
		hash = mix(load32(label) & RTE_BE32(0xfffff000), hash);
		if ((label[2] & 1) != 0)
			break;
	}
	return hash;
}

struct vx_flow
vx_flow_of_bytes(const uint8_t *frame, uint32_t len)
{
	struct vx_flow flow = {0};
	uint32_t offset = 12;
	rte_be16_t type;

	if (unlikely(len < VX_ETHER_HDR_LEN))
		return flow;
	/* Bytes 0..7 and 4..11 cover both MACs. */
	flow.hash = mix(load64(frame + 4), mix(load64(frame), 0));
	type = load_be16(frame + offset);
	for (unsigned int i = 0; vx_is_vlan_tag(type) && i < MAX_TAGS && offset + 6 <= len; i++) {
		/* VLAN id only: the priority may differ within a flow. */
		flow.hash = mix(load_be16(frame + offset + 2) & RTE_BE16(0x0fff), flow.hash);
		offset += VX_VLAN_TAG_LEN;
		type = load_be16(frame + offset);
	}
	offset += 2;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && len >= offset + 20)
		flow.hash = hash_ipv4(frame + offset, len - offset, flow.hash, &flow);
	else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && len >= offset + 40)
		flow.hash = hash_ipv6(frame + offset, len - offset, flow.hash, &flow);
	else if (type == RTE_BE16(RTE_ETHER_TYPE_MPLS) && len >= offset)
		flow.hash = hash_mpls(frame + offset, len - offset, flow.hash);
	return flow;
}

struct vx_flow
vx_flow_of(const struct rte_mbuf *m)
{
	uint8_t scratch[HEADER_BYTES];
	uint32_t len = RTE_MIN(m->pkt_len, HEADER_BYTES);
	const uint8_t *frame;

	/* No more of a contiguous frame either: a flow's hash must not depend on how it is cut. */
	if (likely(m->data_len >= len))
		return vx_flow_of_bytes(rte_pktmbuf_mtod(m, const uint8_t *), len);
	frame = rte_pktmbuf_read(m, 0, len, scratch);
	return vx_flow_of_bytes(frame, len);
}
