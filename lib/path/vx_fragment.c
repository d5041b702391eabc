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
	uint32_t sum;	      /* IPv4: of the header but for length and place */
	rte_be16_t flags_be;  /* IPv4: the original's "more fragments" */
	rte_be32_t id_be;     /* IPv6 */
	uint8_t headers[HEADERS6];
};

/* Where the next fragment's payload begins. The original's links change on the way. */
struct cursor {
	struct rte_mbuf *segment, *next;
	uint32_t offset; /* in the segment */
	uint32_t left;	 /* bytes of it from there on */
	bool is_in_use;	 /* the segment itself has become part of a fragment */
};

/* Buffers taken in one go; used from the front. */
struct supply {
	struct rte_mbuf *m[2 * VX_FRAGMENTS_MAX];
	unsigned int used, n;
};

/* One buffer for each fragment's headers, and one for each boundary between fragments: it divides a
 * segment, and only the last piece of a segment can be the segment itself. */
static bool
supply_fill(struct vx_lcore *lcore, struct supply *supply, unsigned int n_fragments)
{
	supply->used = 0;
	supply->n = 2 * n_fragments - 1;
	return n_fragments <= VX_FRAGMENTS_MAX &&
	       rte_pktmbuf_alloc_bulk(lcore->copy_pool, supply->m, supply->n) == 0;
}

/* Go on to the next segment once one is used up. One that no fragment needs had no payload. */
static inline void
settle(struct cursor *at)
{
	while (at->left == 0) {
		if (unlikely(!at->is_in_use))
			rte_pktmbuf_free_seg(at->segment);
		at->segment = at->next;
		at->next = at->segment->next;
		at->offset = 0;
		at->left = at->segment->data_len;
		at->is_in_use = false;
	}
}

/* The next @len bytes of payload, all in one segment, as a buffer of their own. */
static inline struct rte_mbuf *
take_piece(struct supply *supply, struct cursor *at, uint32_t len)
{
	struct rte_mbuf *piece;

	if (len == at->left && !at->is_in_use) {
		piece = at->segment;
		at->is_in_use = true;
	} else {
		piece = supply->m[supply->used++];
		rte_pktmbuf_attach(piece, at->segment);
	}
	piece->data_off = (uint16_t)(piece->data_off + at->offset);
	piece->data_len = (uint16_t)len;
	at->offset += len;
	at->left -= len;
	return piece;
}

/* Hang @len bytes of payload behind @head, by reference. */
static inline void
share_payload(struct rte_mbuf *head, struct supply *supply, struct cursor *at, uint32_t len)
{
	struct rte_mbuf *tail = head;

	head->pkt_len += len;
	while (len > 0) {
		uint32_t part;

		settle(at);
		part = RTE_MIN(len, at->left);
		tail->next = take_piece(supply, at, part);
		tail = tail->next;
		head->nb_segs++;
		len -= part;
	}
	tail->next = NULL;
}

static inline void
write_headers4(uint8_t *to, const struct cut *cut, uint32_t offset, uint32_t len, bool is_last)
{
	struct rte_ipv4_hdr ip;

	memcpy(to, cut->headers, VX_ETHER_HDR_LEN);
	memcpy(&ip, cut->headers + VX_ETHER_HDR_LEN, sizeof(ip));
	ip.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(ip) + len));
	ip.fragment_offset = rte_cpu_to_be_16((uint16_t)((cut->base + offset) / 8));
	ip.fragment_offset |= is_last ? cut->flags_be : MORE4;
	ip.hdr_checksum = (uint16_t)~vx_csum_fold(cut->sum + ip.total_length + ip.fragment_offset);
	memcpy(to + VX_ETHER_HDR_LEN, &ip, sizeof(ip));
}

static inline void
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

/* May the original's own headers become the first fragment's: does nobody else see them, and is
 * there room for what they get more of? */
static inline bool
keeps_headers(const struct rte_mbuf *m, const struct cut *cut)
{
	return vx_mbuf_is_direct(m) && rte_mbuf_refcnt_read(m) == 1 &&
	       rte_pktmbuf_headroom(m) >= cut->more_len;
}

/* The first fragment is the original itself, cut short: a buffer for headers less, and one for
 * payload. Returns the bytes of payload that it has so far. */
static inline uint32_t
begin_with(struct rte_mbuf *m, struct cursor *at, const struct cut *cut, uint32_t len)
{
	const uint32_t here = RTE_MIN(len, at->left);

	m->data_off = (uint16_t)(m->data_off - cut->more_len);
	m->data_len = (uint16_t)(cut->headers_len + cut->more_len + here);
	at->offset = m->data_len;
	at->left -= here;
	at->is_in_use = true;
	m->nb_segs = 1;
	return here;
}

static inline struct rte_mbuf *
begin_new(struct supply *supply, const struct cut *cut, uint16_t port)
{
	struct rte_mbuf *head = supply->m[supply->used++];

	head->port = port;
	head->data_len = (uint16_t)(cut->headers_len + cut->more_len);
	return head;
}

/*
 * The same for both families, whose constants the compiler puts in. All fragments are made before
 * the first is sent: the sink may free it, and with it what the others refer to.
 */
static __rte_always_inline bool
fragment(struct vx_lcore *lcore, struct rte_mbuf *m, const struct cut *cut, vx_fragment_sink *sink,
	 void *ctx, const bool is_v6)
{
	const uint32_t payload = m->pkt_len - cut->headers_len;
	const unsigned int n = (payload + cut->part - 1) / cut->part;
	struct cursor at = {
		.segment = m,
		.next = m->next,
		.offset = cut->headers_len,
		.left = m->data_len - cut->headers_len,
	};
	struct rte_mbuf *made[VX_FRAGMENTS_MAX];
	const uint16_t port = m->port;
	struct supply supply;
	uint32_t done = 0;

	if (unlikely(!supply_fill(lcore, &supply, n)))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		const uint32_t len = RTE_MIN(cut->part, payload - done);
		const bool is_last = i == n - 1;
		struct rte_mbuf *head = m;
		uint32_t here = 0;

		if (i == 0 && likely(keeps_headers(m, cut)))
			here = begin_with(m, &at, cut, len);
		else
			head = begin_new(&supply, cut, port);
		head->pkt_len = head->data_len;
		if (is_v6)
			write_headers6(rte_pktmbuf_mtod(head, uint8_t *), cut, done, len, is_last);
		else
			write_headers4(rte_pktmbuf_mtod(head, uint8_t *), cut, done, len, is_last);
		share_payload(head, &supply, &at, len - here);
		made[i] = head;
		done += len;
	}
	/* Behind the last byte there may be empty segments. */
	while (unlikely(at.next != NULL)) {
		struct rte_mbuf *next = at.next->next;

		rte_pktmbuf_free_seg(at.next);
		at.next = next;
	}
	for (unsigned int i = 0; i < n; i++)
		sink(lcore, made[i], ctx);
	if (supply.used < supply.n)
		rte_pktmbuf_free_bulk(&supply.m[supply.used], supply.n - supply.used);
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
	ip.total_length = 0;
	ip.fragment_offset = 0;
	ip.hdr_checksum = 0;
	cut.sum = vx_csum_ipv4_header(&ip);
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
