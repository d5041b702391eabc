/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_icmp.h"

#include <stdbool.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_compat.h"
#include "vx_csum.h"
#include "vx_ip.h"
#include "vx_mbuf.h"

#define REPLY_TTL 64

/* Frame header with a VLAN tag or two, IPv4 header with all options, ICMP header. */
#define HEAD_MAX (RTE_ETHER_HDR_LEN + 8 + 60 + sizeof(struct rte_icmp_hdr))

/* The end-around carry of a ones' complement sum. */
static uint16_t
fold(uint64_t sum)
{
	while (sum > UINT16_MAX)
		sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)sum;
}

/* RFC 1624 (eqn. 3): the checksum when a 16-bit word of the data changes. */
static rte_be16_t
update_checksum(rte_be16_t checksum_be, rte_be16_t old_be, rte_be16_t new_be)
{
	return (rte_be16_t)~fold((uint64_t)(uint16_t)~checksum_be + (uint16_t)~old_be + new_be);
}

static void
turn_ip(struct rte_ipv4_hdr *ip, uint32_t header_len)
{
	const rte_be32_t asker_be = ip->src_addr;

	ip->src_addr = ip->dst_addr;
	ip->dst_addr = asker_be;
	ip->time_to_live = REPLY_TTL;
	memset(ip + 1, 0, header_len - sizeof(*ip));
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (rte_be16_t)~rte_raw_cksum(ip, header_len);
}

static bool
is_echo_request(const struct rte_ipv4_hdr *ip, const struct rte_icmp_hdr *icmp)
{
	const rte_be16_t fragment_bits_be =
		RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);

	return ip->next_proto_id == IPPROTO_ICMP && (ip->fragment_offset & fragment_bits_be) == 0 &&
	       vx_ip4_is_host(ip->src_addr) && icmp->icmp_type == RTE_ICMP_TYPE_ECHO_REQUEST &&
	       icmp->icmp_code == 0;
}

enum vx_drop
vx_icmp_echo_reply(struct rte_mbuf *m, uint32_t ip_offset, uint32_t ip_header_len)
{
	const uint32_t head_len = ip_offset + ip_header_len + sizeof(struct rte_icmp_hdr);
	uint8_t head[HEAD_MAX] __rte_aligned(8);
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)head;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(head + ip_offset);
	struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)(head + ip_offset + ip_header_len);
	struct rte_ether_addr asker_mac;
	const void *found;

	if (head_len > sizeof(head) || ip_offset < sizeof(*ether) || ip_header_len < sizeof(*ip))
		return VX_DROP_ICMP_BAD;
	found = rte_pktmbuf_read(m, 0, head_len, head);
	if (found == NULL)
		return VX_DROP_ICMP_BAD;
	if (found != head)
		memcpy(head, found, head_len);
	if (!is_echo_request(ip, icmp) ||
	    vx_csum_range(m, ip_offset + ip_header_len, m->pkt_len - (ip_offset + ip_header_len)) !=
		    UINT16_MAX)
		return VX_DROP_ICMP_BAD;

	asker_mac = ether->src_addr;
	ether->src_addr = ether->dst_addr;
	ether->dst_addr = asker_mac;
	turn_ip(ip, ip_header_len);
	icmp->icmp_type = RTE_ICMP_TYPE_ECHO_REPLY;
	icmp->icmp_cksum =
		update_checksum(icmp->icmp_cksum, RTE_BE16(RTE_ICMP_TYPE_ECHO_REQUEST << 8),
				RTE_BE16(RTE_ICMP_TYPE_ECHO_REPLY << 8));
	vx_mbuf_write(m, 0, head, head_len);
	/* nothing that was said about the request holds for what is sent */
	vx_mbuf_clear_offloads(m);
	m->packet_type = 0;
	m->tx_offload = 0;
	return VX_DROP_NONE;
}
