/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_csum.h"

#include <stddef.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "vx_mbuf.h"
#include "vx_wire.h"

#define MAX_TAGS     2u
#define MAX_IPV6_EXT 6u

uint16_t
vx_csum_range(const struct rte_mbuf *m, uint32_t offset, uint32_t len)
{
	bool is_odd = false;
	uint32_t sum = 0;

	for (; offset >= m->data_len && len > 0; m = m->next)
		offset -= m->data_len;
	while (len > 0) {
		const uint32_t n = RTE_MIN(len, m->data_len - offset);
		const uint16_t part = rte_raw_cksum(rte_pktmbuf_mtod_offset(m, char *, offset), n);

		/* Folded before it is swapped: the carries are part of it. */
		sum += is_odd ? rte_bswap16(part) : part;
		is_odd ^= (n & 1) != 0;
		len -= n;
		offset = 0;
		m = m->next;
	}
	return vx_csum_fold(sum);
}

bool
vx_csum_is_ipv4_header_right(const void *header, uint32_t len)
{
	return rte_raw_cksum(header, len) == 0xffff;
}

bool
vx_csum_is_udp4_right(const struct rte_mbuf *m, uint32_t offset, uint32_t len, rte_be32_t source_be,
		      rte_be32_t destination_be)
{
	uint32_t sum;

	if (m->pkt_len < len || m->pkt_len - len < offset)
		return false;
	sum = vx_csum_range(m, offset, len);
	sum += (source_be & 0xffff) + (source_be >> 16);
	sum += (destination_be & 0xffff) + (destination_be >> 16);
	sum += rte_cpu_to_be_16(IPPROTO_UDP);
	sum += rte_cpu_to_be_16((uint16_t)len);
	return vx_csum_fold(sum) == 0xffff;
}

bool
vx_csum_is_udp6_right(const struct rte_mbuf *m, uint32_t offset, uint32_t len,
		      const struct rte_ipv6_hdr *ip)
{
	uint32_t sum;

	if (m->pkt_len < len || m->pkt_len - len < offset)
		return false;
	sum = vx_csum_range(m, offset, len);
	/* Both addresses lie side by side; not the header's own length, which counts extensions. */
	sum += rte_raw_cksum((const uint8_t *)ip + 8, 32);
	sum += rte_cpu_to_be_16(IPPROTO_UDP);
	sum += rte_cpu_to_be_16((uint16_t)len);
	return vx_csum_fold(sum) == 0xffff;
}

/* Where the layer-4 header is, how long the layer-4 packet, and the sum of its pseudo header. */
struct layer4 {
	uint32_t offset;
	uint32_t len;
	uint32_t sum;
	uint8_t protocol;
};

static bool
find_ipv4(const struct rte_mbuf *m, uint32_t offset, struct layer4 *l4)
{
	struct rte_ipv4_hdr copy;
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_read(m, offset, sizeof(copy), &copy);
	uint32_t header, total;

	if (ip == NULL)
		return false;
	header = (ip->version_ihl & 0x0fu) * 4u;
	total = rte_be_to_cpu_16(ip->total_length);
	if (header < sizeof(copy) || total < header || offset + total > m->pkt_len ||
	    (ip->fragment_offset & RTE_BE16(0x3fff)) != 0)
		return false;
	l4->offset = offset + header;
	l4->len = total - header;
	l4->protocol = ip->next_proto_id;
	l4->sum = (ip->src_addr & 0xffff) + (ip->src_addr >> 16) + (ip->dst_addr & 0xffff) +
		  (ip->dst_addr >> 16);
	return true;
}

static bool
find_ipv6(const struct rte_mbuf *m, uint32_t offset, struct layer4 *l4)
{
	struct rte_ipv6_hdr copy;
	const struct rte_ipv6_hdr *ip = rte_pktmbuf_read(m, offset, sizeof(copy), &copy);
	uint32_t end;
	uint8_t ext[2];

	if (ip == NULL)
		return false;
	end = offset + (uint32_t)sizeof(copy) + rte_be_to_cpu_16(ip->payload_len);
	if (end > m->pkt_len)
		return false;
	l4->protocol = ip->proto;
	l4->sum = rte_raw_cksum((const uint8_t *)ip + 8, 32);
	offset += (uint32_t)sizeof(copy);
	for (unsigned int i = 0; i < MAX_IPV6_EXT; i++) {
		const uint8_t *next;

		if (l4->protocol != IPPROTO_HOPOPTS && l4->protocol != IPPROTO_DSTOPTS)
			break;
		next = rte_pktmbuf_read(m, offset, sizeof(ext), ext);
		if (next == NULL)
			return false;
		l4->protocol = next[0];
		offset += 8u * (1u + next[1]);
	}
	if (offset > end)
		return false;
	l4->offset = offset;
	l4->len = end - offset;
	return true;
}

/* The EtherType at @offset, or 0. It may lie at an odd address. */
static rte_be16_t
read_type(const struct rte_mbuf *m, uint32_t offset)
{
	rte_be16_t copy, type = 0;
	const void *at = rte_pktmbuf_read(m, offset, sizeof(copy), &copy);

	if (at != NULL)
		memcpy(&type, at, sizeof(type));
	return type;
}

static bool
find_layer4(const struct rte_mbuf *m, struct layer4 *l4)
{
	uint32_t offset = 12;
	rte_be16_t type = read_type(m, offset);

	for (unsigned int i = 0; i < MAX_TAGS; i++) {
		if (type != RTE_BE16(RTE_ETHER_TYPE_VLAN) && type != RTE_BE16(RTE_ETHER_TYPE_QINQ))
			break;
		offset += VX_VLAN_TAG_LEN;
		type = read_type(m, offset);
	}
	offset += (uint32_t)sizeof(type);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return find_ipv4(m, offset, l4);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return find_ipv6(m, offset, l4);
	return false;
}

bool
vx_csum_complete(struct rte_mbuf *m)
{
	uint16_t checksum = 0;
	uint32_t field, header;
	struct layer4 l4;

	if (!find_layer4(m, &l4))
		return false;
	if (l4.protocol == IPPROTO_TCP) {
		field = offsetof(struct rte_tcp_hdr, cksum);
		header = sizeof(struct rte_tcp_hdr);
	} else if (l4.protocol == IPPROTO_UDP) {
		field = offsetof(struct rte_udp_hdr, dgram_cksum);
		header = sizeof(struct rte_udp_hdr);
	} else {
		return false;
	}
	if (l4.len < header)
		return false;
	vx_mbuf_write(m, l4.offset + field, &checksum, sizeof(checksum));
	l4.sum += vx_csum_range(m, l4.offset, l4.len);
	l4.sum += rte_cpu_to_be_16(l4.protocol);
	l4.sum += rte_cpu_to_be_16((uint16_t)l4.len) + rte_cpu_to_be_16((uint16_t)(l4.len >> 16));
	checksum = (uint16_t)~vx_csum_fold(l4.sum);
	/* RFC 768: a computed zero is sent as all ones, as zero means "none"; TCP does not mind. */
	if (checksum == 0 && l4.protocol == IPPROTO_UDP)
		checksum = 0xffff;
	vx_mbuf_write(m, l4.offset + field, &checksum, sizeof(checksum));
	return true;
}
