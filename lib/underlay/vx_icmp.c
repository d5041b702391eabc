/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_icmp.h"

#include <stdbool.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_ip.h"

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

/*
 * Ones' complement sum from @offset to the end of the chain. Not rte_raw_cksum_mbuf(): up to DPDK
 * 22.11 at least it loses carries of a segment that begins at an odd byte of the data.
 */
static uint16_t
sum_chain(const struct rte_mbuf *m, uint32_t offset)
{
	bool is_odd = false;
	uint64_t sum = 0;

	for (; m != NULL; m = m->next) {
		uint16_t part;

		if (offset >= m->data_len) {
			offset -= m->data_len;
			continue;
		}
		part = rte_raw_cksum(rte_pktmbuf_mtod_offset(m, const uint8_t *, offset),
				     m->data_len - offset);
		sum += is_odd ? rte_bswap16(part) : part;
		is_odd ^= ((m->data_len - offset) & 1) != 0;
		offset = 0;
	}
	return fold(sum);
}

/* Write @len bytes to the beginning of the chain, over segment borders. */
static void
write_head(struct rte_mbuf *m, const uint8_t *from, uint32_t len)
{
	for (; m != NULL && len > 0; m = m->next) {
		const uint32_t part = RTE_MIN(len, m->data_len);

		memcpy(rte_pktmbuf_mtod(m, uint8_t *), from, part);
		from += part;
		len -= part;
	}
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
	       vx_ip4_is_host(ip->src_addr) && icmp->icmp_type == RTE_IP_ICMP_ECHO_REQUEST &&
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
	if (!is_echo_request(ip, icmp) || sum_chain(m, ip_offset + ip_header_len) != UINT16_MAX)
		return VX_DROP_ICMP_BAD;

	asker_mac = ether->src_addr;
	ether->src_addr = ether->dst_addr;
	ether->dst_addr = asker_mac;
	turn_ip(ip, ip_header_len);
	icmp->icmp_type = RTE_IP_ICMP_ECHO_REPLY;
	icmp->icmp_cksum =
		update_checksum(icmp->icmp_cksum, RTE_BE16(RTE_IP_ICMP_ECHO_REQUEST << 8),
				RTE_BE16(RTE_IP_ICMP_ECHO_REPLY << 8));
	write_head(m, head, head_len);
	/* nothing that was said about the request holds for what is sent */
	m->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	m->packet_type = 0;
	m->tx_offload = 0;
	return VX_DROP_NONE;
}
