/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_fragment.h"

#include <string.h>

#include "vx_csum.h"
#include "vx_mbuf.h"
#include "vx_wire.h"

#define HEADERS4 (VX_ETHER_HDR_LEN + (uint32_t)sizeof(struct rte_ipv4_hdr))
#define HEADERS6 (VX_ETHER_HDR_LEN + (uint32_t)sizeof(struct rte_ipv6_hdr))
#define MORE4	 RTE_BE16(RTE_IPV4_HDR_MF_FLAG)

/* What is cut: the original's headers, and how one fragment's are made from them. */
struct cut {
	uint32_t headers_len; /* of the original, from the Ethernet header on */
	uint32_t more_len;    /* what each fragment's headers have more: IPv6's fragment header */
	uint32_t part;	      /* bytes of payload in all fragments but the last */
	uint32_t base;	      /* IPv4: where the original's payload belongs in its own datagram */
	rte_be16_t flags_be;  /* IPv4: the original's "more fragments" */
	rte_be32_t id_be;     /* IPv6 */
	uint8_t headers[HEADERS6];
};

/* Where the next fragment's payload begins. */
struct cursor {
	struct rte_mbuf *segment;
	uint32_t offset; /* in it */
};

/* Buffers taken in one go; used from the front. Two a fragment and one more for each segment:
 * enough for the largest packet in segments of 256 bytes. */
struct supply {
	struct rte_mbuf *m[4 * VX_FRAGMENTS_MAX];
	unsigned int used, n;
};

/* One buffer for each fragment's headers, and one for each piece of payload: every boundary between
 * fragments or between segments begins a piece. */
static bool
supply_fill(struct vx_lcore *lcore, struct supply *supply, const struct rte_mbuf *m,
	    unsigned int n_fragments)
{
	supply->used = 0;
	supply->n = 2 * n_fragments + m->nb_segs - 1u;
	if (n_fragments > VX_FRAGMENTS_MAX || supply->n > RTE_DIM(supply->m))
		return false;
	return rte_pktmbuf_alloc_bulk(lcore->copy_pool, supply->m, supply->n) == 0;
}

/* Move the cursor over segments that are used up. */
static inline void
settle(struct cursor *at)
{
	while (at->offset >= at->segment->data_len) {
		at->offset -= at->segment->data_len;
		at->segment = at->segment->next;
	}
}

/* Hang @len bytes of payload behind @head, by reference. */
static void
share_payload(struct rte_mbuf *head, struct supply *supply, struct cursor *at, uint32_t len)
{
	struct rte_mbuf *tail = head;

	head->pkt_len += len;
	while (len > 0) {
		struct rte_mbuf *piece = supply->m[supply->used++];
		uint32_t part;

		settle(at);
		part = RTE_MIN(len, at->segment->data_len - at->offset);
		rte_pktmbuf_attach(piece, at->segment);
		piece->data_off = (uint16_t)(piece->data_off + at->offset);
		piece->data_len = (uint16_t)part;
		piece->pkt_len = part;
		tail->next = piece;
		tail = piece;
		head->nb_segs++;
		at->offset += part;
		len -= part;
	}
}

static void
write_headers4(uint8_t *to, const struct cut *cut, uint32_t offset, uint32_t len, bool is_last)
{
	struct rte_ipv4_hdr ip;

	memcpy(to, cut->headers, VX_ETHER_HDR_LEN);
	memcpy(&ip, cut->headers + VX_ETHER_HDR_LEN, sizeof(ip));
	ip.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(ip) + len));
	ip.fragment_offset = rte_cpu_to_be_16((uint16_t)((cut->base + offset) / 8));
	ip.fragment_offset |= is_last ? cut->flags_be : MORE4;
	ip.hdr_checksum = 0;
	ip.hdr_checksum = (uint16_t)~vx_csum_ipv4_header(&ip);
	memcpy(to + VX_ETHER_HDR_LEN, &ip, sizeof(ip));
}

static void
write_headers6(uint8_t *to, const struct cut *cut, uint32_t offset, uint32_t len, bool is_last)
{
	struct vx_ip6_fragment fragment = {.id_be = cut->id_be};
	struct rte_ipv6_hdr ip;

	memcpy(to, cut->headers, VX_ETHER_HDR_LEN);
	memcpy(&ip, cut->headers + VX_ETHER_HDR_LEN, sizeof(ip));
	fragment.next_header = ip.proto;
	fragment.offset_be =
		rte_cpu_to_be_16((uint16_t)(offset | (is_last ? 0 : VX_IP6_FRAGMENT_MORE)));
	ip.proto = IPPROTO_FRAGMENT;
	ip.payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(fragment) + len));
	memcpy(to + VX_ETHER_HDR_LEN, &ip, sizeof(ip));
	memcpy(to + HEADERS6, &fragment, sizeof(fragment));
}

/* The same for both families, whose constants the compiler puts in. */
static inline bool
fragment(struct vx_lcore *lcore, struct rte_mbuf *m, const struct cut *cut, vx_fragment_sink *sink,
	 void *ctx, const bool is_v6)
{
	const uint32_t payload = m->pkt_len - cut->headers_len;
	const unsigned int n = (payload + cut->part - 1) / cut->part;
	struct cursor at = {.segment = m, .offset = cut->headers_len};
	struct supply supply;

	if (unlikely(!supply_fill(lcore, &supply, m, n)))
		return false;
	for (uint32_t done = 0; done < payload; done += cut->part) {
		const uint32_t len = RTE_MIN(cut->part, payload - done);
		const bool is_last = done + len == payload;
		struct rte_mbuf *head = supply.m[supply.used++];

		head->port = m->port;
		head->data_len = (uint16_t)(cut->headers_len + cut->more_len);
		head->pkt_len = head->data_len;
		if (is_v6)
			write_headers6(rte_pktmbuf_mtod(head, uint8_t *), cut, done, len, is_last);
		else
			write_headers4(rte_pktmbuf_mtod(head, uint8_t *), cut, done, len, is_last);
		share_payload(head, &supply, &at, len);
		sink(lcore, head, ctx);
	}
	if (supply.used < supply.n)
		rte_pktmbuf_free_bulk(&supply.m[supply.used], supply.n - supply.used);
	rte_pktmbuf_free(m);
	vx_lcore_count(lcore, VX_COUNT_FRAGMENTED, 1);
	vx_lcore_count(lcore, VX_COUNT_FRAGMENTS, n - 1);
	return true;
}

bool
vx_fragment(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t mtu, vx_fragment_sink *sink,
	    void *ctx)
{
	struct cut cut = {
		.headers_len = HEADERS4,
		.part = (mtu - (uint32_t)sizeof(struct rte_ipv4_hdr)) & ~7u,
	};
	struct rte_ipv4_hdr ip;

	memcpy(cut.headers, rte_pktmbuf_mtod(m, const uint8_t *), HEADERS4);
	memcpy(&ip, cut.headers + VX_ETHER_HDR_LEN, sizeof(ip));
	/* A fragment may be cut again: its pieces continue its own place. */
	cut.base = (rte_be_to_cpu_16(ip.fragment_offset) & RTE_IPV4_HDR_OFFSET_MASK) * 8u;
	cut.flags_be = ip.fragment_offset & MORE4;
	return fragment(lcore, m, &cut, sink, ctx, false);
}

bool
vx_fragment6(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t mtu, rte_be32_t id_be,
	     vx_fragment_sink *sink, void *ctx)
{
	struct cut cut = {
		.headers_len = HEADERS6,
		.more_len = sizeof(struct vx_ip6_fragment),
		.part = (mtu -
			 (uint32_t)(sizeof(struct rte_ipv6_hdr) + sizeof(struct vx_ip6_fragment))) &
			~7u,
		.id_be = id_be,
	};

	memcpy(cut.headers, rte_pktmbuf_mtod(m, const uint8_t *), HEADERS6);
	return fragment(lcore, m, &cut, sink, ctx, true);
}
