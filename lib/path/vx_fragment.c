/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_fragment.h"

#include <string.h>

#include "vx_csum.h"
#include "vx_mbuf.h"
#include "vx_wire.h"

#define HEADERS_LEN (VX_ETHER_HDR_LEN + (uint32_t)sizeof(struct rte_ipv4_hdr))
#define MORE	    RTE_BE16(RTE_IPV4_HDR_MF_FLAG)

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
write_headers(struct rte_mbuf *head, const uint8_t *headers, uint32_t offset, uint32_t len,
	      rte_be16_t flags_be)
{
	struct rte_ipv4_hdr ip;
	uint8_t *to = rte_pktmbuf_mtod(head, uint8_t *);

	memcpy(to, headers, VX_ETHER_HDR_LEN);
	memcpy(&ip, headers + VX_ETHER_HDR_LEN, sizeof(ip));
	ip.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(ip) + len));
	ip.fragment_offset = rte_cpu_to_be_16((uint16_t)(offset / 8)) | flags_be;
	ip.hdr_checksum = 0;
	ip.hdr_checksum = (uint16_t)~vx_csum_ipv4_header(&ip);
	memcpy(to + VX_ETHER_HDR_LEN, &ip, sizeof(ip));
}

bool
vx_fragment(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t mtu, vx_fragment_sink *sink,
	    void *ctx)
{
	const uint32_t payload = m->pkt_len - HEADERS_LEN;
	const uint32_t part = (mtu - (uint32_t)sizeof(struct rte_ipv4_hdr)) & ~7u;
	const unsigned int n = (payload + part - 1) / part;
	struct cursor at = {.segment = m, .offset = HEADERS_LEN};
	uint8_t headers[HEADERS_LEN];
	struct rte_ipv4_hdr ip;
	struct supply supply;
	uint32_t base;

	if (unlikely(!supply_fill(lcore, &supply, m, n)))
		return false;
	memcpy(headers, rte_pktmbuf_mtod(m, const uint8_t *), sizeof(headers));
	memcpy(&ip, headers + VX_ETHER_HDR_LEN, sizeof(ip));
	/* A fragment may be cut again: its pieces continue its own place. */
	base = (rte_be_to_cpu_16(ip.fragment_offset) & RTE_IPV4_HDR_OFFSET_MASK) * 8u;
	for (uint32_t done = 0; done < payload; done += part) {
		const uint32_t len = RTE_MIN(part, payload - done);
		const bool is_last = done + len == payload;
		struct rte_mbuf *head = supply.m[supply.used++];

		head->port = m->port;
		head->data_len = (uint16_t)HEADERS_LEN;
		head->pkt_len = HEADERS_LEN;
		write_headers(head, headers, base + done, len,
			      is_last ? ip.fragment_offset & MORE : MORE);
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
