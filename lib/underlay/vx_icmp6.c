/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_icmp6.h"

#include <stddef.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_csum.h"
#include "vx_ip.h"
#include "vx_mbuf.h"
#include "vx_wire.h"

#define REPLY_HOP_LIMIT 64

/* Frame header with a VLAN tag or two, and the IPv6 header. */
#define HEAD_MAX (RTE_ETHER_HDR_LEN + 8 + sizeof(struct rte_ipv6_hdr))

/* The first bytes of every message, and of an echo request. */
struct icmp6_hdr {
	uint8_t type, code;
	uint16_t checksum;
} __attribute__((packed));

/* Both addresses of an IPv6 header: 32 bytes in a row, whatever type they have. */
static const void *
addresses(const struct rte_ipv6_hdr *ip)
{
	return (const uint8_t *)ip + offsetof(struct rte_ipv6_hdr, src_addr);
}

/* The sum of the pseudo-header's other part (RFC 8200 8.1). */
static uint16_t
sum_length(uint32_t len)
{
	const rte_be32_t words_be[2] = {rte_cpu_to_be_32(len), RTE_BE32(IPPROTO_ICMPV6)};

	return rte_raw_cksum(words_be, sizeof(words_be));
}

uint16_t
vx_icmp6_checksum(const struct vx_ip *source, const struct vx_ip *destination, const void *message,
		  uint32_t len)
{
	return (uint16_t)~vx_csum_fold((uint32_t)rte_raw_cksum(source, sizeof(*source)) +
				       rte_raw_cksum(destination, sizeof(*destination)) +
				       sum_length(len) + rte_raw_cksum(message, len));
}

bool
vx_icmp6_is_right(const struct rte_mbuf *m, uint32_t ip_offset, uint32_t l4_offset)
{
	const uint32_t len = m->pkt_len - l4_offset;
	struct rte_ipv6_hdr copy, ip;
	const void *found = rte_pktmbuf_read(m, ip_offset, sizeof(copy), &copy);

	if (found == NULL || m->pkt_len < l4_offset + sizeof(struct icmp6_hdr))
		return false;
	memcpy(&ip, found, sizeof(ip));
	return vx_csum_fold((uint32_t)rte_raw_cksum(addresses(&ip), 32) + sum_length(len) +
			    vx_csum_range(m, l4_offset, len)) == UINT16_MAX;
}

/* RFC 1624 (eqn. 3): the checksum when words that sum up to @old become others, @fresh. */
static uint16_t
update_checksum(uint16_t checksum, uint32_t old, uint32_t fresh)
{
	return (uint16_t)~vx_csum_fold((uint32_t)(uint16_t)~checksum +
				       (uint16_t)~vx_csum_fold(old) + fresh);
}

/* Put the headers where the extension headers end, and return the head of what is left. */
static struct rte_mbuf *
write_reply(struct rte_mbuf *m, const uint8_t *head, uint32_t head_len, uint32_t l4_offset,
	    const struct icmp6_hdr *icmp)
{
	if (l4_offset > head_len)
		m = vx_mbuf_strip(m, l4_offset - head_len);
	vx_mbuf_write(m, 0, head, head_len);
	vx_mbuf_write(m, head_len, icmp, sizeof(*icmp));
	/* nothing that was said about the request holds for what is sent */
	vx_mbuf_clear_offloads(m);
	m->packet_type = 0;
	m->tx_offload = 0;
	return m;
}

enum vx_drop
vx_icmp6_echo_reply(struct rte_mbuf **m, uint32_t ip_offset, uint32_t l4_offset,
		    const struct rte_ether_addr *our_mac, const struct vx_ip *source)
{
	const uint32_t head_len = ip_offset + (uint32_t)sizeof(struct rte_ipv6_hdr);
	uint8_t head[HEAD_MAX];
	struct rte_ether_hdr ether;
	struct icmp6_hdr copy, icmp;
	struct rte_ipv6_hdr ip;
	struct vx_ip asker;
	const void *found;
	uint32_t old;

	if (head_len > sizeof(head) || ip_offset < sizeof(ether) || l4_offset < head_len)
		return VX_DROP_ICMP_BAD;
	found = rte_pktmbuf_read(*m, 0, head_len, head);
	if (found == NULL)
		return VX_DROP_ICMP_BAD;
	if (found != head)
		memcpy(head, found, head_len);
	memcpy(&ether, head, sizeof(ether));
	memcpy(&ip, head + ip_offset, sizeof(ip));
	memcpy(&asker, &ip.src_addr, sizeof(asker));
	found = rte_pktmbuf_read(*m, l4_offset, sizeof(copy), &copy);
	/* 8 bytes: RFC 4443 4.1 */
	if (found == NULL || (*m)->pkt_len < l4_offset + 8)
		return VX_DROP_ICMP_BAD;
	memcpy(&icmp, found, sizeof(icmp));
	if (icmp.type != VX_ICMP6_ECHO_REQUEST || icmp.code != 0 || !vx_ip_is_host(&asker) ||
	    !vx_icmp6_is_right(*m, ip_offset, l4_offset))
		return VX_DROP_ICMP_BAD;

	old = (uint32_t)rte_raw_cksum(addresses(&ip), 32) + RTE_BE16(VX_ICMP6_ECHO_REQUEST << 8);
	memcpy(&ip.src_addr, source, sizeof(*source));
	memcpy(&ip.dst_addr, &asker, sizeof(asker));
	ip.proto = IPPROTO_ICMPV6;
	ip.hop_limits = REPLY_HOP_LIMIT;
	ip.payload_len = rte_cpu_to_be_16((uint16_t)((*m)->pkt_len - l4_offset));
	icmp.type = VX_ICMP6_ECHO_REPLY;
	icmp.checksum = update_checksum(icmp.checksum, old,
					(uint32_t)rte_raw_cksum(addresses(&ip), 32) +
						RTE_BE16(VX_ICMP6_ECHO_REPLY << 8));
	ether.dst_addr = ether.src_addr;
	ether.src_addr = *our_mac;
	memcpy(head, &ether, sizeof(ether));
	memcpy(head + ip_offset, &ip, sizeof(ip));
	*m = write_reply(*m, head, head_len, l4_offset, &icmp);
	return VX_DROP_NONE;
}
