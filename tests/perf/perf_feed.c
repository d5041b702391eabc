/* SPDX-License-Identifier: BSD-3-Clause */
#include "perf_feed.h"

#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "vx_csum.h"

#define CACHE	256u
#define PAYLOAD 0x5a /* everywhere, so that any two buffers make the same checksum */
#define L3	((uint32_t)sizeof(struct rte_ether_hdr))
#define L4	(L3 + (uint32_t)sizeof(struct rte_ipv4_hdr))

_Static_assert(PERF_HEADERS_LEN == sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr),
	       "headers of a fragment");

static void
ring_create(struct perf_ring *ring, const char *name, uint32_t in_flight, uint32_t room)
{
	const uint32_t n = PERF_RING_SIZE + 2 * CACHE + in_flight;

	ring->pool = rte_pktmbuf_pool_create(
		name, n, CACHE, 0, (uint16_t)(room + RTE_PKTMBUF_HEADROOM), SOCKET_ID_ANY);
	if (ring->pool == NULL)
		perf_fail("%u buffers of %u bytes: %s; more hugepages, or a larger -m", n, room,
			  rte_strerror(rte_errno));
	for (unsigned int i = 0; i < PERF_RING_SIZE; i++)
		ring->m[i] = rte_mbuf_raw_alloc(ring->pool);
}

static void
ring_destroy(struct perf_ring *ring)
{
	for (unsigned int i = 0; i < PERF_RING_SIZE; i++)
		rte_mbuf_raw_free(ring->m[i]);
	if (rte_mempool_in_use_count(ring->pool) != 0)
		perf_fail("%u buffers of %s did not come back",
			  rte_mempool_in_use_count(ring->pool), ring->pool->name);
	rte_mempool_free(ring->pool);
}

/* The buffer of the next descriptor, which gets a new one. */
static inline struct rte_mbuf *
ring_take(struct perf_ring *ring)
{
	struct rte_mbuf **slot = &ring->m[ring->next++ % PERF_RING_SIZE];
	struct rte_mbuf *m = *slot;

	*slot = rte_mbuf_raw_alloc(ring->pool);
	if (unlikely(*slot == NULL))
		perf_fail("%s is empty: more in flight than foreseen", ring->pool->name);
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = 0;
	m->packet_type = 0;
	return m;
}

struct perf_feed *
perf_feed_create(uint32_t flows, uint32_t room, uint32_t largest, uint32_t in_flight)
{
	struct perf_feed *feed = calloc(1, sizeof(*feed));

	if (feed == NULL)
		perf_fail("no memory");
	feed->flows = flows;
	feed->room = room;
	feed->is_dirty = true;
	feed->contents = malloc((size_t)flows * room);
	if (feed->contents == NULL)
		perf_fail("no memory");
	ring_create(&feed->heads, "heads", in_flight, room);
	/* Of fragments each has a buffer of its own at least. */
	ring_create(&feed->bodies, "bodies", in_flight * (largest / room + 1) + PERF_FRAGMENTS_MAX,
		    room);
	return feed;
}

void
perf_feed_destroy(struct perf_feed *feed)
{
	ring_destroy(&feed->heads);
	ring_destroy(&feed->bodies);
	free(feed->contents);
	free(feed);
}

static void
clear_buffer(struct rte_mempool *pool, void *ctx, void *object, unsigned int index)
{
	struct rte_mbuf *m = object;

	RTE_SET_USED(pool);
	RTE_SET_USED(ctx);
	RTE_SET_USED(index);
	memset(m->buf_addr, PAYLOAD, m->buf_len);
}

static void
fill_head(struct rte_mempool *pool, void *ctx, void *object, unsigned int index)
{
	const struct perf_feed *feed = ctx;
	struct rte_mbuf *m = object;

	RTE_SET_USED(pool);
	memcpy((uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM,
	       feed->contents + (size_t)(index % feed->flows) * feed->room, feed->room);
}

static void
fill_buffers(struct perf_feed *feed)
{
	if (feed->is_dirty)
		rte_mempool_obj_iter(feed->bodies.pool, clear_buffer, NULL);
	feed->is_dirty = false;
	rte_mempool_obj_iter(feed->heads.pool, fill_head, feed);
}

/* The first bytes of a frame of flow @i. */
static void
write_inner(uint8_t *to, uint32_t i, uint32_t len)
{
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(len - L3)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(0x0a000000u | i),
		.dst_addr = rte_cpu_to_be_32(0x0a800000u | i),
	};
	struct rte_udp_hdr udp = {
		.src_port = rte_cpu_to_be_16((uint16_t)(1024 + i % 60000)),
		.dst_port = RTE_BE16(9),
		.dgram_len = rte_cpu_to_be_16((uint16_t)(len - L4)),
	};

	perf_bench_remote_mac(to, i);
	perf_bench_tenant_mac(to + RTE_ETHER_ADDR_LEN, i);
	to[12] = 0x08;
	to[13] = 0x00;
	ip.hdr_checksum = (uint16_t)~vx_csum_ipv4_header(&ip);
	memcpy(to + L3, &ip, sizeof(ip));
	memcpy(to + L4, &udp, sizeof(udp));
}

void
perf_feed_access(struct perf_feed *feed, uint32_t len)
{
	memset(feed->contents, PAYLOAD, (size_t)feed->flows * feed->room);
	for (uint32_t i = 0; i < feed->flows; i++)
		write_inner(feed->contents + (size_t)i * feed->room, i, len);
	fill_buffers(feed);
	feed->port = PERF_ACCESS;
	feed->n_pieces = 1;
	feed->at_piece = 0;
	feed->piece[0].len = len;
}

/* The flow whose packets are being recorded. */
struct record {
	struct perf_feed *feed;
	uint32_t flow, n_pieces;
	struct perf_piece piece[PERF_FRAGMENTS_MAX];
};

static void
swap(uint8_t *a, uint8_t *b, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++) {
		const uint8_t byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

/* From us to the VTEP becomes from the VTEP to us: no checksum changes by that. */
static void
turn_round(uint8_t *headers)
{
	static const uint8_t ours[RTE_ETHER_ADDR_LEN] = {2, 0, 0, 0, 0, 1};

	memcpy(headers + RTE_ETHER_ADDR_LEN, headers, RTE_ETHER_ADDR_LEN);
	memcpy(headers, ours, sizeof(ours));
	swap(headers + L3 + 12, headers + L3 + 16, 4);
}

/* What the first buffer of the flow's frames holds. */
static void
record_first(struct perf_feed *feed, uint32_t flow, const struct rte_mbuf *m)
{
	uint8_t *to = feed->contents + (size_t)flow * feed->room;
	const uint32_t len = RTE_MIN(m->pkt_len, feed->room);
	const void *bytes = rte_pktmbuf_read(m, 0, len, to);
	uint8_t *inner = to + L4 + 16;

	if (bytes != to)
		memcpy(to, bytes, len);
	turn_round(to);
	swap(inner, inner + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
}

static void
record_piece(void *ctx, struct rte_mbuf *m)
{
	struct record *record = ctx;
	struct perf_feed *feed = record->feed;
	struct perf_piece *piece;
	struct rte_ipv4_hdr ip;

	if (record->n_pieces == PERF_FRAGMENTS_MAX)
		perf_fail("more than %u fragments", PERF_FRAGMENTS_MAX);
	piece = &record->piece[record->n_pieces++];
	piece->len = m->pkt_len;
	if (record->n_pieces == 1)
		record_first(feed, record->flow, m);
	memcpy(piece->headers, rte_pktmbuf_mtod(m, void *), PERF_HEADERS_LEN);
	turn_round(piece->headers);
	memcpy(&ip, piece->headers + L3, sizeof(ip));
	ip.packet_id = 0;
	ip.hdr_checksum = 0;
	ip.hdr_checksum = (uint16_t)~vx_csum_ipv4_header(&ip);
	memcpy(piece->headers + L3, &ip, sizeof(ip));
	rte_pktmbuf_free(m);
}

void
perf_feed_underlay(struct perf_feed *feed, struct perf_bench *b, uint32_t len)
{
	struct record record = {.feed = feed};

	perf_feed_access(feed, len);
	b->keep = record_piece;
	b->keep_ctx = &record;
	for (uint32_t i = 0; i < feed->flows; i++) {
		struct rte_mbuf *m = perf_feed_next(feed);

		record.flow = i;
		record.n_pieces = 0;
		write_inner(rte_pktmbuf_mtod(m, uint8_t *), i, len);
		perf_bench_round(b, PERF_ACCESS, &m, 1);
		if (record.n_pieces == 0)
			perf_fail("a frame of %u bytes was not sent", len);
	}
	b->keep = NULL;
	memcpy(feed->piece, record.piece, record.n_pieces * sizeof(record.piece[0]));
	fill_buffers(feed);
	feed->port = PERF_UNDERLAY;
	feed->n_pieces = record.n_pieces;
	feed->is_dirty = record.n_pieces > 1;
	feed->at_piece = 0;
}

/* A fragment's own headers, with the ID of the datagram whose first buffer is @head. The path has
 * made the first one's into those of the whole when it last saw them. */
static inline void
write_headers(struct rte_mbuf *m, const struct rte_mbuf *head, const struct perf_piece *piece)
{
	const rte_be16_t id_be =
		rte_pktmbuf_mtod_offset(head, const struct rte_ipv4_hdr *, L3)->packet_id;
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, L3);

	memcpy(rte_pktmbuf_mtod(m, void *), piece->headers, PERF_HEADERS_LEN);
	ip->packet_id = id_be;
	ip->hdr_checksum = (uint16_t)~vx_csum_fold((uint32_t)(uint16_t)~ip->hdr_checksum + id_be);
}

struct rte_mbuf *
perf_feed_next(struct perf_feed *feed)
{
	const uint32_t at =
		feed->is_reversed ? feed->n_pieces - 1 - feed->at_piece : feed->at_piece;
	const struct perf_piece *piece = &feed->piece[at];
	struct rte_mbuf *m, *tail;
	uint32_t left = piece->len;

	if (feed->at_piece == 0)
		feed->head = ring_take(&feed->heads);
	m = at == 0 ? feed->head : ring_take(&feed->bodies);
	if (feed->n_pieces > 1)
		write_headers(m, feed->head, piece);
	m->port = feed->port;
	m->pkt_len = piece->len;
	m->data_len = (uint16_t)RTE_MIN(left, feed->room);
	left -= m->data_len;
	for (tail = m; left > 0; tail = tail->next) {
		tail->next = ring_take(&feed->bodies);
		tail->next->data_len = (uint16_t)RTE_MIN(left, feed->room);
		left -= tail->next->data_len;
		m->nb_segs++;
	}
	if (++feed->at_piece == feed->n_pieces)
		feed->at_piece = 0;
	return m;
}
