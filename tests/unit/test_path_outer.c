/* SPDX-License-Identifier: BSD-3-Clause */
/* What the outer header takes from settings and from the inner one: TTL, DSCP, ECN, DF, ports. */
#include "test_path_bench6.h"

#include "vx_flow.h"

#define OTHER_VNI 200u
#define INHERIT	  0x100 /* in a test's tables */

/* VNI 100 floods to VTEP 2 of both families, and so does VNI 200. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench6_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	bench_vni(b, OTHER_VNI, 1, 2);
	bench_flood(b, VNI, 2, VX_VTEP_READY);
	bench6_flood(b, VNI, 2, VX_VTEP_READY);
	bench_flood(b, OTHER_VNI, 2, VX_VTEP_READY);
	bench6_flood(b, OTHER_VNI, 2, VX_VTEP_READY);
	return 0;
}

static void
set_all(struct bench *b, uint16_t ttl, uint16_t dscp)
{
	struct vx_view *view = vx_view_edit(b->tables);

	view->ttl = ttl == INHERIT ? VX_TTL_INHERIT : (uint8_t)ttl;
	view->dscp = dscp == INHERIT ? VX_DSCP_INHERIT : (uint8_t)dscp;
	assert_int_equal(vx_vtep_publish_view(b->tables, view), 0);
}

static void
set_own_ttl(struct bench *b, uint32_t vni, uint16_t ttl)
{
	const struct vx_segment_outer own = {.has_ttl = true,
					     .ttl = ttl == INHERIT ? VX_TTL_INHERIT : (uint8_t)ttl};

	assert_int_equal(vx_segment_set_outer(b->tables, vni, &own, &b->err), 0);
}

static void
set_own_dscp(struct bench *b, uint32_t vni, uint16_t dscp)
{
	const struct vx_segment_outer own = {
		.has_dscp = true, .dscp = dscp == INHERIT ? VX_DSCP_INHERIT : (uint8_t)dscp};

	assert_int_equal(vx_segment_set_outer(b->tables, vni, &own, &b->err), 0);
}

static void
set_ecn(struct bench *b, uint8_t mask)
{
	struct vx_view *view = vx_view_edit(b->tables);

	view->ecn_mask = mask;
	vx_view_publish(b->tables, view);
}

/* To nobody known: 60 bytes of IPv4, IPv6 or something else inside. */
static void
make_inner(uint8_t *inner, char kind, uint8_t ttl, uint8_t tos)
{
	memcpy(inner, inner_golden, 60);
	if (kind == '4') {
		inner[15] = tos;
		inner[22] = ttl;
		fix_ip(inner);
	} else if (kind == '6') {
		memset(inner + 12, 0, 48);
		put16(inner + 12, 0x86dd);
		put32(inner + 14, 6u << 28 | (uint32_t)tos << 20);
		inner[20] = 59; /* nothing behind it */
		inner[21] = ttl;
	} else {
		put16(inner + 12, 0x88b5);
	}
}

/* One frame of the tenant on @port: TTL and TOS of the outer packets of both families. */
static void
expect(struct bench *b, uint16_t port, const uint8_t *inner, uint8_t ttl, uint8_t tos)
{
	struct rte_mbuf *m = bench_mbuf(b, inner, 60);
	uint8_t frame[200];
	bool is_v6_seen = false;

	bench_mark(b);
	bench_access(b, 0, port, &m, 1);
	assert_int_equal(b->n_sent[UNDERLAY], 2);
	for (unsigned int i = 0; i < 2; i++) {
		bench_bytes(b->sent[UNDERLAY][i], frame, sizeof(frame));
		if (frame[12] == 0x86) {
			is_v6_seen = true;
			assert_int_equal(get32(frame + 14) >> 20, 0x600u | tos);
			assert_int_not_equal(get32(frame + 14) & 0xfffff, 0);
			assert_int_equal(frame[21], ttl);
			assert_int_equal(plain_udp6(frame, HEADERS6), 0);
			assert_memory_equal(frame + OUTER6_LEN, inner, 60);
		} else {
			assert_int_equal(frame[15], tos);
			assert_int_equal(frame[22], ttl);
			assert_int_equal(plain_checksum(frame + 14, 20), 0);
			assert_memory_equal(frame + OUTER_LEN, inner, 60);
		}
	}
	assert_true(is_v6_seen);
	bench_settle(b);
}

/* Settings of all segments and (0: none) of one's own, the frame, and what comes out. */
struct marked {
	uint16_t all, own;
	uint8_t inner, out;
};

static void
test_ttl(void **state)
{
	static const struct marked cases[] = {
		{64, 0, 7, 64},		  {1, 0, 7, 1},	      {255, 0, 7, 255},
		{INHERIT, 0, 7, 7},	  {INHERIT, 0, 1, 1}, {INHERIT, 0, 255, 255},
		{INHERIT, 0, 0, 64},	  {64, 32, 7, 32},    {INHERIT, 32, 7, 32},
		{10, INHERIT, 7, 7},	  {10, 200, 7, 200},  {INHERIT, INHERIT, 9, 9},
		{INHERIT, INHERIT, 0, 64}};
	struct bench *b = *state;
	uint8_t inner[60];

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct marked *c = &cases[i];

		set_all(b, c->all, 0);
		if (c->own != 0)
			set_own_ttl(b, VNI, c->own);
		for (const char *kind = "46"; *kind != 0; kind++) {
			make_inner(inner, *kind, c->inner, 0);
			expect(b, 1, inner, c->out, 0);
			/* The other segment goes on with what all have. */
			if (c->all == INHERIT)
				expect(b, 2, inner, c->inner != 0 ? c->inner : 64, 0);
			else
				expect(b, 2, inner, (uint8_t)c->all, 0);
		}
		/* Not IP: nothing to take over. */
		make_inner(inner, 'x', 0, 0);
		if (c->own == INHERIT || (c->own == 0 && c->all == INHERIT))
			expect(b, 1, inner, 64, 0);
		else
			expect(b, 1, inner, c->out, 0);
	}
}

static void
test_dscp_and_ecn(void **state)
{
	static const struct marked cases[] = {{0, 0, 46, 0},	    {46, 0, 10, 46},
					      {63, 0, 10, 63},	    {INHERIT, 0, 46, 46},
					      {INHERIT, 0, 0, 0},   {INHERIT, 0, 63, 63},
					      {5, 8, 46, 8},	    {INHERIT, 8, 1, 8},
					      {5, INHERIT, 46, 46}, {INHERIT, INHERIT, 33, 33}};
	struct bench *b = *state;
	uint8_t inner[60];

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct marked *c = &cases[i];

		set_all(b, 64, c->all);
		if (c->own != 0)
			set_own_dscp(b, VNI, c->own);
		for (unsigned int ecn = 0; ecn < 8; ecn++) {
			const uint8_t tos = (uint8_t)(c->inner << 2 | (ecn & 3));
			const uint8_t out_ecn = ecn < 4 ? ecn & 3 : 0;

			set_ecn(b, ecn < 4 ? VX_ECN_MASK : 0);
			for (const char *kind = "46"; *kind != 0; kind++) {
				make_inner(inner, *kind, 64, tos);
				expect(b, 1, inner, 64, (uint8_t)(c->out << 2 | out_ecn));
				expect(b, 2, inner, 64,
				       (uint8_t)((c->all == INHERIT ? c->inner : c->all) << 2 |
						 out_ecn));
			}
		}
		make_inner(inner, 'x', 0, 0);
		if (c->own == INHERIT || (c->own == 0 && c->all == INHERIT))
			expect(b, 1, inner, 64, 0);
		else
			expect(b, 1, inner, 64, (uint8_t)(c->out << 2));
	}
}

/* Every pair of old and new bytes leaves a right checksum: TTL and DSCP of every inner packet. */
static void
test_every_value_inherited(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60];

	set_all(b, INHERIT, INHERIT);
	for (unsigned int i = 1; i < 256; i++) {
		make_inner(inner, '4', (uint8_t)i, (uint8_t)(i * 37));
		expect(b, 1, inner, (uint8_t)i, (uint8_t)(i * 37));
	}
}

/* A multicast group's TTL is its own: inherited or not. */
static void
test_group_ttl(void **state)
{
	static const uint16_t ttls[] = {64, 9, INHERIT};
	struct bench *b = *state;
	uint8_t inner[60];

	for (uint32_t index = 0; index < b->tables->conf.max_vteps; index++) {
		struct vx_vtep_path path;

		if (b->tables->vtep[index] == NULL)
			continue;
		path = b->tables->vtep[index]->path;
		path.ttl = 3;
		vx_vtep_set_path(b->tables, index, &path);
	}
	make_inner(inner, '4', 99, 0);
	for (unsigned int i = 0; i < RTE_DIM(ttls); i++) {
		set_all(b, ttls[i], 0);
		expect(b, 1, inner, 3, 0);
		set_own_ttl(b, OTHER_VNI, ttls[i]);
		expect(b, 2, inner, 3, 0);
	}
}

static void
test_df_of_a_segment(void **state)
{
	static const enum vx_df all[] = {VX_DF_ON, VX_DF_OFF, VX_DF_INHERIT};
	struct bench *b = *state;
	uint8_t inner[60], frame[200];

	for (unsigned int i = 0; i < 3 * 3 * 2; i++) {
		const struct vx_segment_outer own = {.has_df = true, .df = all[i % 3]};
		const bool has_inner = i >= 9;
		struct vx_view *view = vx_view_edit(b->tables);

		view->df = all[i / 3 % 3];
		vx_view_publish(b->tables, view);
		assert_int_equal(vx_segment_set_outer(b->tables, VNI, &own, &b->err), 0);
		memcpy(inner, inner_golden, sizeof(inner));
		inner[20] = has_inner ? 0x40 : 0;
		fix_ip(inner);
		for (uint16_t port = 1; port <= 2; port++) {
			const enum vx_df df = port == 1 ? own.df : all[i / 3 % 3];
			struct rte_mbuf *m = bench_mbuf(b, inner, 60);

			bench_mark(b);
			bench_access(b, 0, port, &m, 1);
			for (unsigned int j = 0; j < b->n_sent[UNDERLAY]; j++) {
				bench_bytes(b->sent[UNDERLAY][j], frame, sizeof(frame));
				if (frame[12] != 8)
					continue;
				assert_int_equal(frame[20] == 0x40,
						 df == VX_DF_ON ||
							 (df == VX_DF_INHERIT && has_inner));
				assert_int_equal(plain_checksum(frame + 14, 20), 0);
			}
			bench_settle(b);
		}
	}
}

/* What is not set stays: each of the three is apart, and an unknown segment is refused. */
static void
test_own_settings_are_apart(void **state)
{
	const struct vx_segment_outer df = {.has_df = true, .df = VX_DF_INHERIT};
	const struct vx_segment *segment;
	struct bench *b = *state;

	set_own_ttl(b, VNI, 32);
	set_own_dscp(b, VNI, INHERIT);
	assert_int_equal(vx_segment_set_outer(b->tables, VNI, &df, &b->err), 0);
	segment = vx_segment_find(b->tables, VNI, NULL);
	assert_true(segment->own_outer.has_ttl && segment->own_outer.ttl == 32);
	assert_true(segment->own_outer.has_dscp && segment->own_outer.dscp == VX_DSCP_INHERIT);
	assert_true(segment->own_outer.has_df && segment->own_outer.df == VX_DF_INHERIT);
	assert_int_equal(segment->n_vteps, 2);
	assert_false(vx_segment_find(b->tables, OTHER_VNI, NULL)->has_own_outer);
	assert_int_equal(vx_segment_set_outer(b->tables, 999, &df, &b->err), -ENOENT);
}

/* `set ecn off`: what arrives is not changed and not dropped, over neither family. */
static void
test_ecn_off_at_decap(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60], packet[200];

	set_ecn(b, 0);
	for (unsigned int i = 0; i < 32; i++) {
		const bool is_v6 = i >= 16;
		struct rte_mbuf *m;
		uint32_t len;

		make_inner(inner, '4', 64, (uint8_t)(0xb8 | (i & 3)));
		if (is_v6) {
			len = make_vxlan6(packet, 2, VNI, inner, 60);
			packet[15] = (uint8_t)(packet[15] | (i >> 2 & 3) << 4);
		} else {
			len = make_vxlan(packet, 2, VNI, inner, 60);
			packet[15] = (uint8_t)(i >> 2 & 3);
			fix_ip(packet);
		}
		m = bench_mbuf(b, packet, len);
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, &m, 1);
		assert_int_equal(b->n_sent[1], 1);
		bench_expect_bytes(b->sent[1][0], inner, 60);
		bench_settle(b);
	}
}

static void
test_several_udp_ports(void **state)
{
	static const uint16_t ports[] = {8472, 4789, 65535, 1, 4788, 4790, 0};
	struct vx_view *view = vx_view_edit(((struct bench *)*state)->tables);
	struct bench *b = *state;
	uint8_t packet[200], frame[200];
	struct rte_mbuf *m;

	view->udp_port_be = RTE_BE16(8472);
	view->other_port_be[0] = RTE_BE16(4789);
	view->other_port_be[1] = RTE_BE16(65535);
	view->other_port_be[2] = RTE_BE16(1);
	view->n_other_ports = 3;
	vx_view_publish(b->tables, view);
	for (unsigned int i = 0; i < RTE_DIM(ports); i++) {
		const uint32_t len = make_vxlan(packet, 2, VNI, inner_golden, 60);

		put16(packet + 36, ports[i]);
		m = bench_mbuf(b, packet, len);
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, &m, 1);
		if (i < 4)
			bench_expect_bytes(b->sent[1][0], inner_golden, 60);
		else
			bench_expect_only_drop(b, VX_DROP_OUTER_UDP_PORT, 1);
		bench_settle(b);
	}
	m = bench_mbuf(b, inner_golden, 60);
	bench_access(b, 0, 1, &m, 1);
	bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
	assert_int_equal(get16(frame + (frame[12] == 8 ? 36 : 56)), 8472);
}

/*
 * 10,000 flows, each on either worker, with its headers in one buffer and in three: one port for
 * each, and all ports of an odd range used evenly. 148.2 is the 99.9 % quantile of chi-square with
 * 99 degrees of freedom.
 */
static void
test_source_ports_are_even(void **state)
{
	struct vx_view *view = vx_view_edit(((struct bench *)*state)->tables);
	unsigned int seen[100] = {0}, squares = 0;
	struct bench *b = *state;
	uint8_t inner[60], frame[200];

	view->source_port_lo = 50000;
	view->source_ports = 100;
	vx_view_publish(b->tables, view);
	for (unsigned int flow = 0; flow < 10000; flow++) {
		unsigned int port[2];

		memcpy(inner, inner_golden, sizeof(inner));
		put16(inner + 32, 1 + flow / 100);
		put16(inner + 34, 32768 + flow % 100);
		for (unsigned int worker = 0; worker < 2; worker++) {
			struct rte_mbuf *m = bench_split(b, inner, 60, worker * 20, worker * 35);

			bench_access(b, worker, 1, &m, 1);
			assert_int_equal(b->n_sent[UNDERLAY], 2);
			bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
			port[worker] = get16(frame + (frame[12] == 8 ? 34 : 54));
			/* Over either family. */
			bench_bytes(b->sent[UNDERLAY][1], frame, sizeof(frame));
			assert_int_equal(port[worker], get16(frame + (frame[12] == 8 ? 34 : 54)));
			bench_settle(b);
		}
		assert_int_equal(port[0], port[1]);
		assert_in_range(port[0], 50000, 50099);
		seen[port[0] - 50000]++;
	}
	for (unsigned int i = 0; i < 100; i++)
		squares += seen[i] * seen[i];
	/* The expected number is 100 in each: chi-square = squares / 100 - 10000. */
	assert_in_range(squares, 100 * 10000, 100 * (10000 + 148));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_ttl),
		TEST(test_dscp_and_ecn),
		TEST(test_every_value_inherited),
		TEST(test_group_ttl),
		TEST(test_df_of_a_segment),
		TEST(test_own_settings_are_apart),
		TEST(test_ecn_off_at_decap),
		TEST(test_several_udp_ports),
		TEST(test_source_ports_are_even),
	};

	return cmocka_run_group_tests_name("outer", tests, NULL, NULL);
}
