/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_ecn.h"

#include <stddef.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_csum.h"
#include "vx_mbuf.h"
#include "vx_wire.h"

#define NOT_ECT 0u
#define ECT_1	1u
#define ECT_0	2u
#define CE	3u

/* RFC 6040 figure 4: the field that leaves, or -1 for a packet that must be dropped. */
static int
combine(uint8_t inner, uint8_t outer)
{
	if (outer == CE)
		return inner == NOT_ECT ? -1 : (int)CE;
	if (outer == ECT_1 && inner == ECT_0)
		return ECT_1;
	return inner;
}

static enum vx_drop
decap_ipv4(struct rte_mbuf *m, uint32_t offset, uint8_t outer)
{
	struct rte_ipv4_hdr copy;
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_read(m, offset, sizeof(copy), &copy);
	uint16_t word[2];
	uint32_t sum;
	int ecn;

	if (ip == NULL || ip->version_ihl >> 4 != 4)
		return VX_DROP_NONE;
	ecn = combine(ip->type_of_service & 3, outer);
	if (ecn < 0)
		return VX_DROP_INNER_ECN;
	if (ecn == (ip->type_of_service & 3))
		return VX_DROP_NONE;
	copy = *ip;
	__builtin_memcpy(&word[0], &copy, sizeof(word[0]));
	copy.type_of_service = (uint8_t)((copy.type_of_service & ~3) | ecn);
	__builtin_memcpy(&word[1], &copy, sizeof(word[1]));
	/* RFC 1624 equation 3: a wrong checksum stays wrong, as a bridge must not repair it. */
	sum = (uint16_t)~copy.hdr_checksum + (uint32_t)(uint16_t)~word[0] + word[1];
	copy.hdr_checksum = (uint16_t)~vx_csum_fold(sum);
	vx_mbuf_write(m, offset, &copy, sizeof(copy));
	return VX_DROP_NONE;
}

static enum vx_drop
decap_ipv6(struct rte_mbuf *m, uint32_t offset, uint8_t outer)
{
	rte_be32_t copy, word;
	const void *at = rte_pktmbuf_read(m, offset, sizeof(copy), &copy);
	uint32_t host;
	int ecn;

	if (at == NULL)
		return VX_DROP_NONE;
	memcpy(&word, at, sizeof(word)); /* 14 bytes behind an aligned frame it is not aligned */
	host = rte_be_to_cpu_32(word);
	if (host >> 28 != 6)
		return VX_DROP_NONE;
	ecn = combine((host >> 20) & 3, outer);
	if (ecn < 0)
		return VX_DROP_INNER_ECN;
	word = rte_cpu_to_be_32((host & ~(3u << 20)) | (uint32_t)ecn << 20);
	vx_mbuf_write(m, offset, &word, sizeof(word));
	return VX_DROP_NONE;
}

enum vx_drop
vx_ecn_decap(struct rte_mbuf *m, uint32_t offset, rte_be16_t type, uint8_t outer_ecn)
{
	if (outer_ecn != ECT_1 && outer_ecn != CE)
		return VX_DROP_NONE;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return decap_ipv4(m, offset, outer_ecn);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return decap_ipv6(m, offset, outer_ecn);
	return VX_DROP_NONE;
}
