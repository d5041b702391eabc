/* SPDX-License-Identifier: BSD-3-Clause */
/* What the underlay's tests share: an underlay whose callbacks keep books, and a network of text.
 */
#ifndef TEST_UNDERLAY_H
#define TEST_UNDERLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_arp.h>
#include <rte_mbuf.h>

#include "eal_fixture.h"
#include "vx_address.h"
#include "vx_arp.h"
#include "vx_err.h"
#include "vx_neigh.h"
#include "vx_route.h"
#include "vx_underlay.h"

#define LOG_MAX	  512
#define POOL_SIZE 2047
#define TICK_MS	  100

static const struct rte_ether_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
static const struct rte_ether_addr mac0 = {{2, 0, 0, 0, 0, 1}}; /* ours, port 0 */
static const struct rte_ether_addr mac1 = {{2, 0, 0, 0, 1, 1}}; /* ours, port 1 */
static const struct rte_ether_addr peer_mac = {{2, 0, 0, 0, 0, 2}};
static const struct rte_ether_addr other_mac = {{2, 0, 0, 0, 0, 0x22}};

struct sent {
	uint64_t at_ms;
	uint16_t port;
	bool is_arp; /* a request of ours; else a packet that was held */
	bool is_broadcast;
	struct rte_ether_addr dst, src;
	uint32_t sender, target; /* of the request, host order */
	uint32_t mark;		 /* of the held packet */
	uint8_t nd_type;	 /* a solicitation or advertisement of ours; else 0 */
	uint8_t nd_flags;
	bool has_option; /* with our MAC */
	struct vx_ip nd_source, nd_destination, nd_target;
};

struct dropped {
	enum vx_drop reason;
	uint32_t mark;
};

struct bench {
	struct vx_underlay *u;
	struct rte_mempool *pool;
	uint64_t now;
	struct sent sent[LOG_MAX];
	unsigned int sent_n;
	struct dropped dropped[LOG_MAX];
	unsigned int dropped_n;
	unsigned int changed, address_changed;
	uint64_t counts[VX_COUNT_MAX];
	unsigned int available; /* mbufs, before the test */
	struct vx_err err;
	void (*on_changed)(struct bench *b);
};

static inline struct rte_mempool *
bench_pool(void)
{
	static struct rte_mempool *pool;

	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("underlay", POOL_SIZE, 0, 0, 2176, SOCKET_ID_ANY);
	assert_non_null(pool);
	return pool;
}

/* An IPv6 frame of ours is neighbour discovery or was held. */
static inline void
bench_take_nd(struct sent *s, const uint8_t *frame, uint32_t len)
{
	if (frame[12] != 0x86 || frame[13] != 0xdd || frame[20] != 58)
		return;
	assert_int_equal(frame[21], 255);
	assert_int_equal(14 + 40 + (frame[18] << 8 | frame[19]), len);
	s->nd_type = frame[54];
	assert_true(s->nd_type == 135 || s->nd_type == 136);
	s->nd_flags = frame[58];
	memcpy(&s->nd_source, frame + 22, 16);
	memcpy(&s->nd_destination, frame + 38, 16);
	memcpy(&s->nd_target, frame + 62, 16);
	s->has_option = len == 86;
	if (!s->has_option) {
		assert_int_equal(len, 78);
		return;
	}
	assert_int_equal(frame[78], s->nd_type - 134);
	assert_int_equal(frame[79], 1);
	assert_memory_equal(frame + 80, &s->src, 6);
}

static inline void
bench_send(void *ctx, uint16_t port, struct rte_mbuf *m)
{
	const struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	const struct rte_arp_hdr *arp = (const void *)(ether + 1);
	struct bench *b = ctx;
	struct sent *s = &b->sent[b->sent_n++ % LOG_MAX];

	rte_mbuf_sanity_check(m, 1);
	*s = (struct sent){.at_ms = b->now, .port = port};
	s->dst = ether->dst_addr;
	s->src = ether->src_addr;
	s->is_broadcast = rte_is_broadcast_ether_addr(&ether->dst_addr);
	s->is_arp = ether->ether_type == RTE_BE16(RTE_ETHER_TYPE_ARP);
	if (s->is_arp) {
		assert_int_equal(rte_pktmbuf_pkt_len(m), 60);
		assert_int_equal(arp->arp_opcode, RTE_BE16(RTE_ARP_OP_REQUEST));
		s->sender = rte_be_to_cpu_32(arp->arp_data.arp_sip);
		s->target = rte_be_to_cpu_32(arp->arp_data.arp_tip);
	} else {
		memcpy(&s->mark, ether + 1, sizeof(s->mark));
		bench_take_nd(s, (const uint8_t *)ether, rte_pktmbuf_pkt_len(m));
	}
	rte_pktmbuf_free(m);
}

static inline void
bench_changed(void *ctx)
{
	struct bench *b = ctx;

	b->changed++;
	if (b->on_changed != NULL)
		b->on_changed(b);
}

static inline void
bench_address_changed(void *ctx)
{
	((struct bench *)ctx)->address_changed++;
}

static inline void
bench_drop(void *ctx, struct rte_mbuf *m, enum vx_drop reason)
{
	struct bench *b = ctx;
	struct dropped *d = &b->dropped[b->dropped_n++ % LOG_MAX];

	d->reason = reason;
	memcpy(&d->mark, rte_pktmbuf_mtod_offset(m, uint8_t *, 14), sizeof(d->mark));
	rte_pktmbuf_free(m);
}

static inline void
bench_count(void *ctx, enum vx_count which, uint64_t n)
{
	struct bench *b = ctx;

	b->counts[which] += n;
}

static inline struct vx_ip
ip(const char *text)
{
	struct vx_ip address;

	assert_int_equal(vx_ip_parse(text, &address), 0);
	return address;
}

static inline struct vx_prefix
prefix(const char *text)
{
	struct vx_prefix p;

	assert_int_equal(vx_prefix_parse(text, &p), 0);
	return p;
}

static inline uint32_t
host(const char *text)
{
	const struct vx_ip address = ip(text);

	return rte_be_to_cpu_32(vx_ip_v4(&address));
}

static inline struct bench *
bench_create(const struct vx_underlay_conf *limits)
{
	struct vx_underlay_conf conf = {.now_ms = 1000000};
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	if (limits != NULL)
		conf = *limits;
	b->pool = bench_pool();
	b->available = rte_mempool_avail_count(b->pool);
	b->now = conf.now_ms;
	conf.ops = (struct vx_underlay_ops){bench_send, bench_changed, bench_drop, bench_count,
					    bench_address_changed};
	conf.ctx = b;
	conf.pool = b->pool;
	b->u = vx_underlay_create(&conf);
	assert_non_null(b->u);
	return b;
}

/* Every mbuf is back, and every packet handed over was accounted for. */
static inline void
bench_destroy(struct bench *b, uint64_t handed_over)
{
	vx_underlay_destroy(b->u);
	assert_int_equal(b->counts[VX_COUNT_UNHELD], handed_over);
	assert_int_equal(rte_mempool_avail_count(b->pool), b->available);
	free(b);
}

static inline void
bench_forget(struct bench *b)
{
	b->sent_n = 0;
	b->dropped_n = 0;
	b->changed = 0;
	b->address_changed = 0;
}

static inline void
bench_run(struct bench *b, uint64_t ms)
{
	const uint64_t end = b->now + ms;

	while (b->now < end) {
		b->now += RTE_MIN(end - b->now, TICK_MS);
		vx_underlay_tick(b->u, b->now);
	}
}

static inline int
add_address(struct bench *b, const char *text, uint16_t port)
{
	const struct vx_prefix p = prefix(text);

	return vx_address_add(b->u, &p, port, &b->err);
}

static inline int
del_address(struct bench *b, const char *text)
{
	const struct vx_ip address = ip(text);

	return vx_address_del(b->u, &address, &b->err);
}

static inline int
add_route(struct bench *b, const char *to, const char *via)
{
	const struct vx_prefix p = prefix(to);
	const struct vx_ip gateway = ip(via);

	return vx_route_add(b->u, &p, &gateway, &b->err);
}

static inline int
del_route(struct bench *b, const char *to, const char *via)
{
	const struct vx_prefix p = prefix(to);
	struct vx_ip gateway;

	if (via == NULL)
		return vx_route_del(b->u, &p, NULL, &b->err);
	gateway = ip(via);
	return vx_route_del(b->u, &p, &gateway, &b->err);
}

static inline int
add_neigh(struct bench *b, const char *text, const struct rte_ether_addr *mac, uint16_t port)
{
	const struct vx_ip address = ip(text);

	return vx_neigh_add(b->u, &address, mac, port, &b->err);
}

static inline int
del_neigh(struct bench *b, const char *text)
{
	const struct vx_ip address = ip(text);

	return vx_neigh_del(b->u, &address, &b->err);
}

static inline int
track(struct bench *b, const char *text)
{
	const struct vx_ip address = ip(text);

	return vx_underlay_track(b->u, &address);
}

static inline void
untrack(struct bench *b, const char *text)
{
	const struct vx_ip address = ip(text);

	vx_underlay_untrack(b->u, &address);
}

static inline struct vx_hop
path(struct bench *b, const char *text)
{
	const struct vx_ip address = ip(text);
	struct vx_hop hop;

	vx_underlay_path(b->u, &address, &hop);
	assert_non_null(hop.why);
	return hop;
}

static inline void
assert_next_hop(struct bench *b, const char *text, const struct rte_ether_addr *mac)
{
	const struct vx_hop hop = path(b, text);

	assert_int_equal(hop.state, VX_HOP_READY);
	assert_memory_equal(&hop.next_hop_mac, mac, sizeof(*mac));
}

static inline struct rte_mbuf *
make_packet(struct bench *b, uint32_t mark)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(b->pool);
	uint8_t *data;

	assert_non_null(m);
	data = (uint8_t *)rte_pktmbuf_append(m, 100);
	memset(data, 0, 100);
	memcpy(data + 14, &mark, sizeof(mark));
	return m;
}

static inline void
hold(struct bench *b, const char *remote, uint32_t mark)
{
	const struct vx_ip address = ip(remote);

	vx_underlay_hold(b->u, &address, make_packet(b, mark));
}

enum heard {
	REPLY_TO_US,
	REPLY_TO_OTHER, /* a gratuitous reply */
	REQUEST_TO_US,
	REQUEST_TO_OTHER, /* a gratuitous request */
};

static inline void
hear(struct bench *b, const char *sender, const struct rte_ether_addr *mac, uint16_t port,
     enum heard what)
{
	const struct vx_arp_notice notice = {
		.sender = ip(sender),
		.sender_mac = *mac,
		.port = port,
		.is_reply = what == REPLY_TO_US || what == REPLY_TO_OTHER,
		.is_for_us = what == REPLY_TO_US || what == REQUEST_TO_US,
	};

	vx_underlay_arp_seen(b->u, &notice, b->now);
}

/* The neighbour with this IP on any port; false: there is none. */
static inline bool
neigh_info(struct bench *b, const char *text, struct vx_neigh_info *info)
{
	const struct vx_ip address = ip(text);
	uint32_t iterator = 0;

	while (vx_neigh_next(b->u, &iterator, info))
		if (vx_ip_is_equal(&info->ip, &address))
			return true;
	return false;
}

static inline enum vx_neigh_state
neigh_state(struct bench *b, const char *text)
{
	struct vx_neigh_info info;

	assert_true(neigh_info(b, text, &info));
	return info.state;
}

/* Requests for @text among what was sent since bench_forget(). */
static inline unsigned int
requests_for(const struct bench *b, const char *text)
{
	const uint32_t target = host(text);
	unsigned int n = 0;

	assert_true(b->sent_n <= LOG_MAX);
	for (unsigned int i = 0; i < b->sent_n; i++)
		n += b->sent[i].is_arp && b->sent[i].target == target &&
		     b->sent[i].sender != target;
	return n;
}

/* A port 0 with 192.0.2.1/24 whose announcements are over. */
static inline struct bench *
bench_with_port(void)
{
	struct bench *b = bench_create(NULL);

	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	bench_run(b, 3000);
	bench_forget(b);
	return b;
}

static inline int
setup_eal(void **state)
{
	(void)state;
	return vx_test_eal();
}

#endif
