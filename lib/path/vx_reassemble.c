/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_reassemble.h"

#include <string.h>
#include <sys/queue.h>

#include <rte_hash_crc.h>

#include "vx_csum.h"
#include "vx_drop_packet.h"
#include "vx_lcore.h"
#include "vx_mbuf.h"
#include "vx_wire.h"

#define BUCKETS	      16384u
#define FRAGMENTS_MAX 16384u /* held by one worker */
#define TOTAL_UNKNOWN UINT32_MAX
#define CE	      3

/*
 * Consecutive fragments, chained in order. Each fragment's first buffer keeps its own pkt_len and
 * nb_segs until the datagram is whole, so that the pieces can still be told apart.
 */
struct run {
	SLIST_ENTRY(run) next; /* by position, or unused */
	uint32_t first, end;   /* bytes of IP payload */
	struct rte_mbuf *head; /* the first buffer of its first fragment */
	struct rte_mbuf *tail; /* the last buffer of its last fragment */
};

SLIST_HEAD(runs, run);

struct datagram {
	TAILQ_ENTRY(datagram) by_age; /* all wait equally long: the oldest is first. Or unused */
	LIST_ENTRY(datagram) in_bucket;
	rte_be32_t source_be, destination_be;
	rte_be16_t id_be;
	uint8_t protocol;
	bool is_congested; /* a fragment had CE (RFC 3168 section 5.3) */
	uint8_t poison;	   /* enum vx_drop: given up for this, and so is what still comes of it */
	uint16_t l3, header_len; /* of the first fragment: where its IP header is, its bytes */
	uint16_t n_fragments;
	uint32_t total; /* bytes of payload, once the last fragment is there */
	uint32_t have;
	uint64_t arrived; /* TSC: its first fragment */
	uint32_t n_buffers;
	struct runs runs; /* by position */
};

TAILQ_HEAD(by_age, datagram);
LIST_HEAD(bucket, datagram);

struct vx_reassembly {
	uint32_t seed;
	uint32_t max_buffers;		  /* a share of those that ports receive into */
	struct vx_reassembly_state state; /* the worker writes, displays read, relaxed */
	struct by_age held;
	struct by_age unused;
	struct runs unused_runs;
	struct bucket bucket[BUCKETS];
	struct run run[FRAGMENTS_MAX];
	struct datagram datagram[VX_REASSEMBLY_DATAGRAMS_MAX];
};

/* A fragment on its way in. */
struct piece {
	struct rte_mbuf *m;
	uint32_t first, end; /* bytes of IP payload */
	bool is_last;
};

size_t
vx_reassembly_size(void)
{
	return sizeof(struct vx_reassembly);
}

void
vx_reassembly_init(struct vx_reassembly *r, uint32_t seed, uint32_t max_buffers)
{
	r->seed = seed;
	r->max_buffers = max_buffers;
	TAILQ_INIT(&r->held);
	TAILQ_INIT(&r->unused);
	SLIST_INIT(&r->unused_runs);
	for (unsigned int i = 0; i < VX_REASSEMBLY_DATAGRAMS_MAX; i++)
		TAILQ_INSERT_TAIL(&r->unused, &r->datagram[i], by_age);
	for (unsigned int i = 0; i < FRAGMENTS_MAX; i++)
		SLIST_INSERT_HEAD(&r->unused_runs, &r->run[i], next);
}

struct vx_reassembly_state
vx_reassembly_state(const struct vx_reassembly *r)
{
	return (struct vx_reassembly_state){
		.datagrams = __atomic_load_n(&r->state.datagrams, __ATOMIC_RELAXED),
		.fragments = __atomic_load_n(&r->state.fragments, __ATOMIC_RELAXED),
		.bytes = __atomic_load_n(&r->state.bytes, __ATOMIC_RELAXED),
	};
}

static inline struct bucket *
bucket_of(struct vx_reassembly *r, const struct rte_ipv4_hdr *ip)
{
	uint32_t hash = rte_hash_crc_8byte((uint64_t)ip->src_addr << 32 | ip->dst_addr, r->seed);

	hash = rte_hash_crc_4byte((uint32_t)ip->packet_id << 16 | ip->next_proto_id, hash);
	return &r->bucket[hash % BUCKETS];
}

static struct datagram *
datagram_find(struct bucket *bucket, const struct rte_ipv4_hdr *ip)
{
	struct datagram *d;

	LIST_FOREACH (d, bucket, in_bucket) {
		if (d->id_be == ip->packet_id && d->source_be == ip->src_addr &&
		    d->destination_be == ip->dst_addr && d->protocol == ip->next_proto_id)
			return d;
	}
	return NULL;
}

/* The datagram's fragments are no longer held, for whatever reason. */
static void
forget_fragments(struct vx_lcore *lcore, struct datagram *d)
{
	struct vx_reassembly_state *state = &lcore->reassembly->state;

	vx_lcore_count(lcore, VX_COUNT_UNHELD, d->n_fragments);
	state->fragments -= d->n_fragments;
	state->buffers -= d->n_buffers;
	state->bytes -= d->have;
	d->n_fragments = 0;
	d->n_buffers = 0;
	d->have = 0;
}

/* Free all fragments of the datagram under one reason. */
static void
drop_fragments(struct vx_lcore *lcore, struct datagram *d, enum vx_drop reason)
{
	lcore->counts.value[reason] += d->n_fragments;
	forget_fragments(lcore, d);
	while (!SLIST_EMPTY(&d->runs)) {
		struct run *run = SLIST_FIRST(&d->runs);

		SLIST_REMOVE_HEAD(&d->runs, next);
		run->tail->next = NULL;
		/* Not rte_pktmbuf_free(): the chain is longer than its head's nb_segs says. */
		while (run->head != NULL) {
			struct rte_mbuf *next = run->head->next;

			run->head->next = NULL;
			rte_pktmbuf_free_seg(run->head);
			run->head = next;
		}
		SLIST_INSERT_HEAD(&lcore->reassembly->unused_runs, run, next);
	}
}

static void
datagram_remove(struct vx_lcore *lcore, struct datagram *d)
{
	struct vx_reassembly *r = lcore->reassembly;

	LIST_REMOVE(d, in_bucket);
	TAILQ_REMOVE(&r->held, d, by_age);
	TAILQ_INSERT_HEAD(&r->unused, d, by_age);
	r->state.datagrams--;
}

/* The oldest gives way, so that new ones have a chance while a flood of incomplete ones lasts. */
static void
evict(struct vx_lcore *lcore, struct datagram *d)
{
	drop_fragments(lcore, d, VX_DROP_FRAG_LIMIT);
	datagram_remove(lcore, d);
}

static struct datagram *
datagram_create(struct vx_lcore *lcore, struct bucket *bucket, const struct rte_ipv4_hdr *ip)
{
	struct vx_reassembly *r = lcore->reassembly;
	struct datagram *d;

	while (r->state.datagrams >= lcore->view->reassembly_max)
		evict(lcore, TAILQ_FIRST(&r->held));
	d = TAILQ_FIRST(&r->unused);
	TAILQ_REMOVE(&r->unused, d, by_age);
	*d = (struct datagram){
		.source_be = ip->src_addr,
		.destination_be = ip->dst_addr,
		.id_be = ip->packet_id,
		.protocol = ip->next_proto_id,
		.poison = VX_DROP_NONE,
		.total = TOTAL_UNKNOWN,
		.arrived = lcore->now,
	};
	TAILQ_INSERT_TAIL(&r->held, d, by_age);
	LIST_INSERT_HEAD(bucket, d, in_bucket);
	r->state.datagrams++;
	return d;
}

static inline struct rte_mbuf *
last_segment(struct rte_mbuf *m)
{
	return m->nb_segs == 1 ? m : rte_pktmbuf_lastseg(m);
}

/* Is the piece the same as one that is held? Only asked where it lies inside a run. */
static bool
is_duplicate(const struct datagram *d, const struct run *run, const struct piece *piece)
{
	const uint32_t headers_len = (uint32_t)d->l3 + d->header_len;
	const struct rte_mbuf *m = run->head;
	uint32_t at = run->first;

	while (at < piece->first) {
		const uint16_t n = m->nb_segs;

		/* The datagram's first fragment still has its headers. */
		at += m->pkt_len - (at == 0 ? headers_len : 0);
		for (uint16_t i = 0; i < n && m != NULL; i++)
			m = m->next;
	}
	return m != NULL && at == piece->first &&
	       at + m->pkt_len - (at == 0 ? headers_len : 0) == piece->end;
}

/* What is known of where the datagram ends has to agree (RFC 5722 for both families). */
static bool
fits_total(struct datagram *d, const struct piece *piece)
{
	const struct run *run;

	if (!piece->is_last)
		return piece->end < d->total; /* more must follow */
	if (d->total != TOTAL_UNKNOWN)
		return d->total == piece->end;
	SLIST_FOREACH(run, &d->runs, next)
	{
		if (run->end >= piece->end)
			return false;
	}
	d->total = piece->end;
	return true;
}

/* Join @run with the one behind it if they touch. */
static void
join_next(struct vx_reassembly *r, struct run *run)
{
	struct run *next = SLIST_NEXT(run, next);

	if (next == NULL || next->first != run->end)
		return;
	run->tail->next = next->head;
	run->tail = next->tail;
	run->end = next->end;
	SLIST_NEXT(run, next) = SLIST_NEXT(next, next);
	SLIST_INSERT_HEAD(&r->unused_runs, next, next);
}

/*
 * Put the piece where it belongs. VX_DROP_NONE, or why it cannot be: FRAG_DUPLICATE harms nobody,
 * FRAG_OVERLAP the whole datagram.
 */
static enum vx_drop
insert(struct vx_reassembly *r, struct datagram *d, const struct piece *piece)
{
	struct run *before = NULL, *run = SLIST_FIRST(&d->runs), *fresh;

	while (run != NULL && run->first <= piece->first) {
		before = run;
		run = SLIST_NEXT(run, next);
	}
	if (before != NULL && before->end > piece->first)
		return piece->end <= before->end && is_duplicate(d, before, piece)
			       ? VX_DROP_FRAG_DUPLICATE
			       : VX_DROP_FRAG_OVERLAP;
	if (run != NULL && run->first < piece->end)
		return VX_DROP_FRAG_OVERLAP;
	if (before != NULL && before->end == piece->first) {
		before->tail->next = piece->m;
		before->tail = last_segment(piece->m);
		before->end = piece->end;
		join_next(r, before);
		return VX_DROP_NONE;
	}
	fresh = SLIST_FIRST(&r->unused_runs);
	SLIST_REMOVE_HEAD(&r->unused_runs, next);
	fresh->first = piece->first;
	fresh->end = piece->end;
	fresh->head = piece->m;
	fresh->tail = last_segment(piece->m);
	if (before == NULL)
		SLIST_INSERT_HEAD(&d->runs, fresh, next);
	else
		SLIST_INSERT_AFTER(before, fresh, next);
	join_next(r, fresh);
	return VX_DROP_NONE;
}

/* All pieces are there: one packet, with the headers of the first fragment. */
static struct rte_mbuf *
finish(struct vx_lcore *lcore, struct datagram *d)
{
	const uint32_t l3 = d->l3, header_len = d->header_len;
	struct run *run = SLIST_FIRST(&d->runs);
	const uint32_t total = d->total;
	struct rte_mbuf *m = run->head;
	struct rte_ipv4_hdr *ip;
	uint32_t n_segs = 0;

	for (struct rte_mbuf *segment = m; segment != NULL; segment = segment->next)
		n_segs++;
	m->nb_segs = (uint16_t)n_segs;
	m->pkt_len = l3 + header_len + total;
	ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, l3);
	ip->total_length = rte_cpu_to_be_16((uint16_t)(header_len + total));
	ip->fragment_offset = 0;
	if (d->is_congested)
		ip->type_of_service |= CE;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, header_len);
	/* What the driver said of the fragments does not hold for the whole. */
	vx_mbuf_clear_offloads(m);
	vx_lcore_count(lcore, VX_COUNT_REASSEMBLED, 1);
	vx_lcore_count(lcore, VX_COUNT_MERGED, d->n_fragments - 1u);
	forget_fragments(lcore, d);
	SLIST_REMOVE_HEAD(&d->runs, next);
	SLIST_INSERT_HEAD(&lcore->reassembly->unused_runs, run, next);
	datagram_remove(lcore, d);
	return m;
}

/* Where the fragment belongs, and whether it can be one (RFC 791, RFC 1858). */
static bool
read_piece(struct rte_mbuf *m, const struct rte_ipv4_hdr *ip, uint32_t header_len,
	   struct piece *piece)
{
	const uint16_t field = rte_be_to_cpu_16(ip->fragment_offset);
	const uint32_t len = rte_be_to_cpu_16(ip->total_length) - header_len;

	piece->m = m;
	piece->is_last = (field & RTE_IPV4_HDR_MF_FLAG) == 0;
	piece->first = (field & RTE_IPV4_HDR_OFFSET_MASK) * 8u;
	piece->end = piece->first + len;
	return len > 0 && (piece->is_last || len % 8 == 0) && piece->end + header_len <= UINT16_MAX;
}

/* From here on nothing of the datagram is delivered (RFC 5722); it is remembered until it expires.
 */
static void
poison(struct vx_lcore *lcore, struct datagram *d, enum vx_drop reason)
{
	drop_fragments(lcore, d, reason);
	d->poison = (uint8_t)reason;
}

/* Is there no room for @n more buffers? */
static inline bool
is_full(const struct vx_reassembly *r, uint32_t n)
{
	return r->state.fragments >= FRAGMENTS_MAX || r->state.buffers + n > r->max_buffers;
}

/* Give up other datagrams, the oldest first, until @n buffers of @d's fit. */
static void
make_room(struct vx_lcore *lcore, const struct datagram *d, uint32_t n)
{
	struct vx_reassembly *r = lcore->reassembly;

	while (is_full(r, n)) {
		struct datagram *victim = TAILQ_FIRST(&r->held);

		if (victim == d)
			victim = TAILQ_NEXT(victim, by_age);
		if (victim == NULL)
			return;
		evict(lcore, victim);
	}
}

struct rte_mbuf *
vx_reassemble(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t l3, uint32_t header_len)
{
	const struct rte_ipv4_hdr ip = *rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, l3);
	struct vx_reassembly *r = lcore->reassembly;
	struct bucket *bucket = bucket_of(r, &ip);
	struct datagram *d = datagram_find(bucket, &ip);
	enum vx_drop reason = VX_DROP_NONE;
	struct piece piece;

	if (unlikely(!read_piece(m, &ip, header_len, &piece))) {
		vx_drop_packet(lcore, m, VX_DROP_FRAG_BAD);
		if (d != NULL)
			poison(lcore, d, VX_DROP_FRAG_BAD);
		return NULL;
	}
	if (d == NULL)
		d = datagram_create(lcore, bucket, &ip);
	make_room(lcore, d, m->nb_segs);
	if (unlikely(d->poison != VX_DROP_NONE))
		reason = (enum vx_drop)d->poison;
	else if (unlikely(d->n_fragments == VX_REASSEMBLY_FRAGMENTS || is_full(r, m->nb_segs)))
		reason = VX_DROP_FRAG_LIMIT;
	else if (unlikely(!fits_total(d, &piece)))
		reason = VX_DROP_FRAG_BAD;
	if (likely(reason == VX_DROP_NONE)) {
		/* Only the first fragment keeps its headers: they become the datagram's. */
		if (piece.first > 0)
			piece.m = m = vx_mbuf_strip(m, l3 + header_len);
		reason = insert(r, d, &piece);
	}
	if (unlikely(reason != VX_DROP_NONE)) {
		vx_drop_packet(lcore, m, reason);
		if (reason != VX_DROP_FRAG_DUPLICATE)
			poison(lcore, d, reason);
		return NULL;
	}
	vx_trace_note(lcore, m, VX_TRACE_FRAGMENT, piece.first);
	if (piece.first == 0) {
		d->l3 = (uint16_t)l3;
		d->header_len = (uint16_t)header_len;
	}
	d->n_fragments++;
	d->n_buffers += m->nb_segs;
	d->have += piece.end - piece.first;
	d->is_congested |= (ip.type_of_service & CE) == CE;
	r->state.fragments++;
	r->state.buffers += m->nb_segs;
	r->state.bytes += piece.end - piece.first;
	vx_lcore_count(lcore, VX_COUNT_HELD, 1);
	if (likely(d->have != d->total))
		return NULL;
	if (unlikely(d->header_len + d->total > UINT16_MAX)) {
		/* Only with options in the first fragment, whose length the others cannot know. */
		poison(lcore, d, VX_DROP_FRAG_BAD);
		return NULL;
	}
	return finish(lcore, d);
}

void
vx_reassembly_expire(struct vx_lcore *lcore)
{
	struct datagram *d;

	while ((d = TAILQ_FIRST(&lcore->reassembly->held)) != NULL &&
	       lcore->now - d->arrived >= lcore->view->reassembly_cycles) {
		drop_fragments(lcore, d, VX_DROP_FRAG_TIMEOUT);
		datagram_remove(lcore, d);
	}
}

void
vx_reassembly_flush(struct vx_lcore *lcore)
{
	while (!TAILQ_EMPTY(&lcore->reassembly->held)) {
		struct datagram *d = TAILQ_FIRST(&lcore->reassembly->held);

		drop_fragments(lcore, d, VX_DROP_FRAG_TIMEOUT);
		datagram_remove(lcore, d);
	}
}
