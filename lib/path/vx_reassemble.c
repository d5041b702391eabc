/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_reassemble.h"

#include <string.h>
#include <sys/queue.h>

#include <rte_jhash.h>

#include "vx_csum.h"
#include "vx_drop_packet.h"
#include "vx_lcore.h"
#include "vx_mbuf.h"
#include "vx_wire.h"

#define BUCKETS	      16384u
#define IN_A_ROW      8u     /* buckets in a cache line */
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

/* What all fragments of a datagram have in common. The addresses tell the family. */
struct key {
	struct vx_ip source, destination;
	/* The identification. Above its 32 bits the protocol, but zero for IPv6, where fragments
	 * need not agree about it (RFC 8200 4.5). */
	uint64_t id;
};
_Static_assert(sizeof(struct key) == 40, "compared and hashed as words");

struct datagram {
	TAILQ_ENTRY(datagram) by_age; /* all wait equally long: the oldest is first. Or unused */
	LIST_ENTRY(datagram) in_bucket;
	struct key key;
	bool is_congested; /* a fragment had CE (RFC 3168 section 5.3) */
	uint8_t poison;	   /* enum vx_drop: given up for this, and so is what still comes of it */
	/* Of the first fragment: where its IP header is, the bytes of all headers that fragments
	 * repeat, and where the one that announces the fragment header is. */
	uint16_t l3, header_len, next_at;
	uint16_t n_fragments;
	uint32_t total; /* bytes of payload, once the last fragment is there */
	uint32_t have;
	uint64_t arrived; /* TSC: its first fragment */
	uint32_t n_buffers;
	struct runs runs; /* by position */
};

TAILQ_HEAD(by_age, datagram);
LIST_HEAD(bucket, datagram);
_Static_assert(IN_A_ROW * sizeof(struct bucket) == RTE_CACHE_LINE_SIZE, "neighbours share a line");

struct vx_reassembly {
	uint32_t seed;
	uint32_t max_buffers;		  /* a share of those that ports receive into */
	struct vx_reassembly_state state; /* the worker writes, displays read, relaxed */
	struct by_age held;
	struct by_age unused;
	struct runs unused_runs;
	struct datagram *latest; /* NULL, or the one of the last fragment: the next is mostly its */
	struct bucket bucket[BUCKETS] __rte_cache_aligned;
	struct run run[FRAGMENTS_MAX];
	struct datagram datagram[VX_REASSEMBLY_DATAGRAMS_MAX];
};

/* A fragment on its way in. */
struct piece {
	struct rte_mbuf *m;
	uint32_t l3, header_len, next_at; /* as in struct datagram */
	uint32_t first, end;		  /* bytes of IP payload */
	bool is_last;
	bool is_congested;
};

/* Those headers' bytes that count in the length field of the whole datagram. */
static inline uint32_t
counted_headers(bool is_v4, uint32_t header_len)
{
	return is_v4 ? header_len
		     : header_len - (uint32_t)(sizeof(struct rte_ipv6_hdr) +
					       sizeof(struct vx_ip6_fragment));
}

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

/*
 * Not CRC32: whoever chooses addresses and identifications could aim many datagrams at one bucket,
 * whatever the seed is. Senders count up, so eight identifications in a row share a cache line.
 */
static inline struct bucket *
bucket_of(struct vx_reassembly *r, const struct key *key)
{
	const rte_be32_t *source = key->source.words_be;
	const rte_be32_t *destination = key->destination.words_be;
	const uint32_t id = (uint32_t)key->id, protocol = (uint32_t)(key->id >> 32);
	uint32_t hash =
		rte_jhash_3words(source[3], destination[3], id / IN_A_ROW, r->seed ^ protocol);

	if (!vx_ip_is_v4(&key->source)) {
		hash = rte_jhash_3words(source[0], source[1], source[2], hash);
		hash = rte_jhash_3words(destination[0], destination[1], destination[2], hash);
	}
	return &r->bucket[(hash * IN_A_ROW + id % IN_A_ROW) % BUCKETS];
}

static inline bool
has_key(const struct datagram *d, const struct key *key)
{
	return d->key.id == key->id && vx_ip_is_equal(&d->key.source, &key->source) &&
	       vx_ip_is_equal(&d->key.destination, &key->destination);
}

static struct datagram *
datagram_find(struct vx_reassembly *r, const struct key *key)
{
	struct datagram *d = r->latest;

	if (likely(d != NULL && has_key(d, key)))
		return d;
	LIST_FOREACH (d, bucket_of(r, key), in_bucket) {
		if (has_key(d, key))
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
	if (r->latest == d)
		r->latest = NULL;
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
datagram_create(struct vx_lcore *lcore, const struct key *key)
{
	struct vx_reassembly *r = lcore->reassembly;
	struct datagram *d;

	while (r->state.datagrams >= lcore->view->reassembly_max)
		evict(lcore, TAILQ_FIRST(&r->held));
	d = TAILQ_FIRST(&r->unused);
	TAILQ_REMOVE(&r->unused, d, by_age);
	*d = (struct datagram){
		.key = *key,
		.poison = VX_DROP_NONE,
		.total = TOTAL_UNKNOWN,
		.arrived = lcore->now,
	};
	TAILQ_INSERT_TAIL(&r->held, d, by_age);
	LIST_INSERT_HEAD(bucket_of(r, key), d, in_bucket);
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

/* Make the first fragment's headers those of the whole datagram. */
static void
write_header4(struct rte_mbuf *m, const struct datagram *d)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, d->l3);

	ip->total_length = rte_cpu_to_be_16((uint16_t)(d->header_len + d->total));
	ip->fragment_offset = 0;
	if (d->is_congested)
		ip->type_of_service |= CE;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, d->header_len);
}

/* The same, which takes the fragment header out: what is in front of it moves up. */
static void
write_header6(struct rte_mbuf *m, const struct datagram *d)
{
	const uint16_t len = sizeof(struct vx_ip6_fragment);
	const uint32_t at = (uint32_t)d->l3 + d->header_len - len;
	uint8_t *bytes = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ipv6_hdr ip;

	bytes[d->next_at] = bytes[at];
	memcpy(&ip, bytes + d->l3, sizeof(ip));
	ip.payload_len =
		rte_cpu_to_be_16((uint16_t)(counted_headers(false, d->header_len) + d->total));
	if (d->is_congested)
		ip.vtc_flow |= rte_cpu_to_be_32(CE << VX_IP6_ECN_SHIFT);
	memcpy(bytes + d->l3, &ip, sizeof(ip));
	memmove(bytes + len, bytes, at);
	m->data_off = (uint16_t)(m->data_off + len);
	m->data_len = (uint16_t)(m->data_len - len);
	m->pkt_len -= len;
}

/* All pieces are there: one packet, with the headers of the first fragment. */
static struct rte_mbuf *
finish(struct vx_lcore *lcore, struct datagram *d)
{
	struct run *run = SLIST_FIRST(&d->runs);
	struct rte_mbuf *m = run->head;

	m->nb_segs = (uint16_t)d->n_buffers;
	m->pkt_len = (uint32_t)d->l3 + d->header_len + d->total;
	if (likely(vx_ip_is_v4(&d->key.source)))
		write_header4(m, d);
	else
		write_header6(m, d);
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

/* Can it be a fragment (RFC 791, RFC 1858; RFC 8200 section 4.5)? */
static bool
is_plausible(const struct piece *piece, bool is_v4)
{
	const uint32_t len = piece->end - piece->first;

	return len > 0 && (piece->is_last || len % 8 == 0) &&
	       counted_headers(is_v4, piece->header_len) + piece->end <= UINT16_MAX;
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

/* Note that @piece is now one of the datagram's. */
static void
hold(struct vx_lcore *lcore, struct datagram *d, const struct piece *piece)
{
	struct vx_reassembly_state *state = &lcore->reassembly->state;
	const uint32_t len = piece->end - piece->first;

	vx_trace_note(lcore, piece->m, VX_TRACE_FRAGMENT, piece->first);
	if (piece->first == 0) {
		d->l3 = (uint16_t)piece->l3;
		d->header_len = (uint16_t)piece->header_len;
		d->next_at = (uint16_t)piece->next_at;
	}
	d->n_fragments++;
	d->n_buffers += piece->m->nb_segs;
	d->have += len;
	d->is_congested |= piece->is_congested;
	state->fragments++;
	state->buffers += piece->m->nb_segs;
	state->bytes += len;
	vx_lcore_count(lcore, VX_COUNT_HELD, 1);
}

static struct rte_mbuf *
reassemble(struct vx_lcore *lcore, const struct key *key, struct piece *piece)
{
	const bool is_v4 = vx_ip_is_v4(&key->source);
	struct vx_reassembly *r = lcore->reassembly;
	struct datagram *d = datagram_find(r, key);
	enum vx_drop reason = VX_DROP_NONE;
	struct rte_mbuf *m = piece->m;

	if (unlikely(!is_plausible(piece, is_v4))) {
		vx_drop_packet(lcore, m, VX_DROP_FRAG_BAD);
		if (d != NULL)
			poison(lcore, d, VX_DROP_FRAG_BAD);
		return NULL;
	}
	if (d == NULL)
		d = datagram_create(lcore, key);
	r->latest = d;
	make_room(lcore, d, m->nb_segs);
	if (unlikely(d->poison != VX_DROP_NONE))
		reason = (enum vx_drop)d->poison;
	else if (unlikely(d->n_fragments == VX_REASSEMBLY_FRAGMENTS || is_full(r, m->nb_segs)))
		reason = VX_DROP_FRAG_LIMIT;
	else if (unlikely(!fits_total(d, piece)))
		reason = VX_DROP_FRAG_BAD;
	if (likely(reason == VX_DROP_NONE)) {
		/* Only the first fragment keeps its headers: they become the datagram's. */
		if (piece->first > 0)
			piece->m = m = vx_mbuf_strip(m, piece->l3 + piece->header_len);
		reason = insert(r, d, piece);
	}
	if (unlikely(reason != VX_DROP_NONE)) {
		vx_drop_packet(lcore, m, reason);
		if (reason != VX_DROP_FRAG_DUPLICATE)
			poison(lcore, d, reason);
		return NULL;
	}
	hold(lcore, d, piece);
	if (likely(d->have != d->total))
		return NULL;
	if (unlikely(counted_headers(is_v4, d->header_len) + d->total > UINT16_MAX)) {
		/* Only with more headers in the first fragment, whose length the others cannot
		 * know. */
		poison(lcore, d, VX_DROP_FRAG_BAD);
		return NULL;
	}
	return finish(lcore, d);
}

struct rte_mbuf *
vx_reassemble(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t l3, uint32_t header_len)
{
	const struct rte_ipv4_hdr ip = *rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, l3);
	const uint16_t field = rte_be_to_cpu_16(ip.fragment_offset);
	const struct key key = {
		.source = vx_ip_from_v4(ip.src_addr),
		.destination = vx_ip_from_v4(ip.dst_addr),
		.id = (uint64_t)ip.next_proto_id << 32 | rte_be_to_cpu_16(ip.packet_id),
	};
	struct piece piece = {
		.m = m,
		.l3 = l3,
		.header_len = header_len,
		.first = (field & RTE_IPV4_HDR_OFFSET_MASK) * 8u,
		.is_last = (field & RTE_IPV4_HDR_MF_FLAG) == 0,
		.is_congested = (ip.type_of_service & CE) == CE,
	};

	piece.end = piece.first + rte_be_to_cpu_16(ip.total_length) - header_len;
	return reassemble(lcore, &key, &piece);
}

struct rte_mbuf *
vx_reassemble6(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t l3, uint32_t header_len,
	       uint32_t next_at)
{
	const uint8_t *bytes = rte_pktmbuf_mtod_offset(m, const uint8_t *, l3);
	struct vx_ip6_fragment fragment;
	struct key key;
	struct rte_ipv6_hdr ip;
	struct piece piece;
	uint16_t field;

	memcpy(&ip, bytes, sizeof(ip));
	memcpy(&fragment, bytes + header_len - sizeof(fragment), sizeof(fragment));
	field = rte_be_to_cpu_16(fragment.offset_be);
	memcpy(key.source.bytes, &ip.src_addr, sizeof(key.source.bytes));
	memcpy(key.destination.bytes, &ip.dst_addr, sizeof(key.destination.bytes));
	key.id = rte_be_to_cpu_32(fragment.id_be);
	piece = (struct piece){
		.m = m,
		.l3 = l3,
		.header_len = header_len,
		.next_at = next_at,
		.first = field & VX_IP6_FRAGMENT_OFFSET,
		.is_last = (field & VX_IP6_FRAGMENT_MORE) == 0,
		.is_congested = (rte_be_to_cpu_32(ip.vtc_flow) >> VX_IP6_ECN_SHIFT & CE) == CE,
	};
	piece.end = piece.first + m->pkt_len - l3 - header_len;
	return reassemble(lcore, &key, &piece);
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
