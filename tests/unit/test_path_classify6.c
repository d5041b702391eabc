/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes in over IPv6: taken out of its tunnel, or dropped for the right reason. */
#include "test_path_bench6.h"

#include <netinet/in.h>

#include "vx_view_group.h"

#define LEN (OUTER6_LEN + 60)

static int
setup(void **state)
{
	struct bench *b;

	if (bench6_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 1), true);
	bench6_flood(b, VNI, 2, VX_VTEP_READY);
	return 0;
}

/* The packet, in one piece and cut at each byte of its first @cuts, ends as @reason says. */
static void
expect(struct bench *b, const uint8_t *packet, uint32_t len, uint32_t cuts, enum vx_drop reason)
{
	for (uint32_t cut = 0; cut < cuts; cut++) {
		struct rte_mbuf *m = bench_split(b, packet, len, cut, 0);

		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, &m, 1);
		bench_expect_only_drop(b, reason, reason != VX_DROP_NONE);
		assert_int_equal(b->n_sent[1], reason == VX_DROP_NONE);
		if (reason == VX_DROP_NONE)
			bench_expect_bytes(b->sent[1][0], inner_golden, 60);
		bench_settle(b);
	}
}

static void
test_good(void **state)
{
	const struct vx_vtep *vtep;
	struct bench *b = *state;
	uint8_t packet[LEN + 100];
	uint32_t len = make_vxlan6(packet, 2, VNI, inner_golden, 60);

	expect(b, packet, len, LEN, VX_DROP_NONE);
	vtep = b->tables->vtep[0];
	assert_int_equal(b->lcore[0]->vtep_traffic[vtep->index].of[VX_KIND_UNICAST].rx_frames, LEN);
	/* Padding, and no checksum (RFC 6935). */
	memset(packet + len, 0x55, 100);
	expect(b, packet, len + 100, LEN, VX_DROP_NONE);
	put16(packet + 60, 0);
	expect(b, packet, len, LEN, VX_DROP_NONE);
	/* A priority tag in front. */
	memmove(packet + 16, packet + 12, len - 12);
	put16(packet + 12, 0x8100);
	put16(packet + 14, 0xe000);
	expect(b, packet, len + 4, 80, VX_DROP_NONE);
}

static void
test_truncated(void **state)
{
	struct bench *b = *state;
	uint8_t packet[LEN];

	make_vxlan6(packet, 2, VNI, inner_golden, 60);
	for (uint32_t len = 1; len < LEN; len++)
		expect(b, packet, len, RTE_MIN(len, 20u),
		       len < HEADERS6 ? VX_DROP_OUTER_RUNT : VX_DROP_OUTER_IP_LENGTH);
	/* Lengths that agree with what is there. */
	for (uint32_t len = HEADERS6; len < LEN; len++) {
		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		put16(packet + 18, len - HEADERS6);
		put16(packet + 58, len - HEADERS6);
		put16(packet + 60, 0);
		if (len < OUTER6_LEN + 14)
			expect(b, packet, len, 4,
			       len < HEADERS6 + 8 ? VX_DROP_OUTER_UDP_LENGTH
			       : len < OUTER6_LEN ? VX_DROP_VXLAN_HEADER
						  : VX_DROP_INNER_RUNT);
	}
}

/* One byte changed; the UDP checksum made right again where that does not undo it. */
static void
test_drops(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
		bool is_fixed;
		enum vx_drop reason;
	} cases[] = {
		{5, 9, false, VX_DROP_OUTER_MAC},
		{14, 0x50, false, VX_DROP_OUTER_IP_HEADER},
		{19, 77, false, VX_DROP_OUTER_IP_LENGTH},
		{18, 1, false, VX_DROP_OUTER_IP_LENGTH},
		{20, 6, false, VX_DROP_OUTER_PROTOCOL},
		{20, 59, false, VX_DROP_OUTER_PROTOCOL},
		{20, 50, false, VX_DROP_OUTER_PROTOCOL},
		{22, 0xff, true, VX_DROP_OUTER_SRC_IP},
		{53, 2, true, VX_DROP_OUTER_DST_IP},
		{38, 0xff, true, VX_DROP_OUTER_DST_IP},
		{55, 0, false, VX_DROP_OUTER_UDP_CHECKSUM},
		{56, 0, true, VX_DROP_OUTER_UDP_PORT},
		{59, 77, false, VX_DROP_OUTER_UDP_LENGTH},
		{59, 7, false, VX_DROP_OUTER_UDP_LENGTH},
		{59, 15, true, VX_DROP_VXLAN_HEADER},
		{60, 1, false, VX_DROP_OUTER_UDP_CHECKSUM},
		{62, 0xf7, true, VX_DROP_VXLAN_HEADER},
		{68, 9, true, VX_DROP_VNI_UNKNOWN},
		{129, 0, false, VX_DROP_OUTER_UDP_CHECKSUM},
	};
	struct bench *b = *state;
	uint8_t packet[LEN];

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		packet[cases[i].at] = cases[i].value;
		if (cases[i].is_fixed)
			fix_udp6(packet, HEADERS6);
		expect(b, packet, LEN, 70, cases[i].reason);
	}
}

static void
test_addresses(void **state)
{
	static const struct {
		uint8_t source[16];
		enum vx_drop reason;
	} cases[] = {
		{{0}, VX_DROP_OUTER_SRC_IP},				      /* :: */
		{{[15] = 1}, VX_DROP_OUTER_SRC_IP},			      /* ::1 */
		{{[12] = 198, 51, 100, 2}, VX_DROP_OUTER_SRC_IP},	      /* compatible */
		{{[10] = 0xff, 0xff, 198, 51, 100, 2}, VX_DROP_OUTER_SRC_IP}, /* mapped */
		{{[10] = 0xff, 0xff, 192, 0, 2, 1}, VX_DROP_OUTER_SRC_IP},
		{{0xfe, 0x80, [15] = 9}, VX_DROP_OUTER_SRC_IP},
		{{0x20, 1, 0x0d, 0xb8, [15] = 1}, VX_DROP_OUTER_SRC_IP}, /* ours */
		{{0xff, 2, [15] = 1}, VX_DROP_OUTER_SRC_IP},
		{{0x20, 1, 0x0d, 0xb8, [15] = 99}, VX_DROP_NONE},
		{{0xfd, [15] = 99}, VX_DROP_NONE},
	};
	struct bench *b = *state;
	uint8_t packet[LEN];

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		memcpy(packet + 22, cases[i].source, 16);
		fix_udp6(packet, HEADERS6);
		expect(b, packet, LEN, 2, cases[i].reason);
	}
	/* Our own IPv4 address in IPv6 form, the link-local one, and groups. */
	make_vxlan6(packet, 2, VNI, inner_golden, 60);
	memcpy(packet + 38, (const uint8_t[16]){[10] = 0xff, 0xff, 192, 0, 2, 1}, 16);
	fix_udp6(packet, HEADERS6);
	expect(b, packet, LEN, 2, VX_DROP_OUTER_DST_IP);
	memcpy(packet + 38, (const uint8_t[16]){0xff, 2, [15] = 1}, 16);
	fix_udp6(packet, HEADERS6);
	expect(b, packet, LEN, 2, VX_DROP_OUTER_DST_IP);
	/* A group's MAC for a unicast address. */
	make_vxlan6(packet, 2, VNI, inner_golden, 60);
	memcpy(packet, (const uint8_t[]){0x33, 0x33, 0, 0, 0, 1}, 6);
	expect(b, packet, LEN, 2, VX_DROP_OUTER_MAC);
	/* The group of another IPv6 address than ours. */
	memcpy(packet + 38, (const uint8_t[16]){0xff, 2, [11] = 1, 0xff, 0, 0, 2}, 16);
	packet[20] = IPPROTO_ICMPV6;
	expect(b, packet, LEN, 2, VX_DROP_OUTER_DST_IP);
}

static void
test_extensions(void **state)
{
	static const struct {
		uint8_t type, n;
		uint8_t ext[40];
		enum vx_drop reason;
	} cases[] = {
		/* Padding, an unknown option to be skipped, router alert. */
		{IPPROTO_DSTOPTS, 8, {0, 0, 1, 4}, VX_DROP_NONE},
		{IPPROTO_DSTOPTS, 8, {0}, VX_DROP_NONE},
		{IPPROTO_DSTOPTS, 16, {0, 1, 0x1e, 8, [12] = 1, 2}, VX_DROP_NONE},
		{IPPROTO_HOPOPTS, 8, {0, 0, 5, 2, 0, 0, 1, 0}, VX_DROP_NONE},
		{IPPROTO_HOPOPTS, 16, {IPPROTO_DSTOPTS, 0, 1, 4, [9] = 0, 1, 4}, VX_DROP_NONE},
		{IPPROTO_ROUTING, 8, {0, 0, 4, 0}, VX_DROP_NONE},
		{IPPROTO_FRAGMENT, 8, {0, 0, 0, 0, 1, 2, 3, 4}, VX_DROP_NONE}, /* atomic */
		{IPPROTO_FRAGMENT, 8, {0, 9, 0, 6, 1, 2, 3, 4}, VX_DROP_NONE}, /* reserved bits */
		{IPPROTO_FRAGMENT, 16, {IPPROTO_DSTOPTS, 0, [8] = 0, 0, 1, 4}, VX_DROP_NONE},
		/* Not to be skipped: jumbo payload, an option that says so, segments left. */
		{IPPROTO_HOPOPTS, 8, {0, 0, 0xc2, 4}, VX_DROP_OUTER_IP_HEADER},
		{IPPROTO_DSTOPTS, 8, {0, 0, 0x5e, 4}, VX_DROP_OUTER_IP_HEADER},
		{IPPROTO_ROUTING, 8, {0, 0, 0, 1}, VX_DROP_OUTER_IP_HEADER},
		/* Options that reach beyond their header. */
		{IPPROTO_DSTOPTS, 8, {0, 0, 1, 5}, VX_DROP_OUTER_IP_HEADER},
		{IPPROTO_DSTOPTS, 8, {0, 0, 1, 3, 0, 0, 0, 1}, VX_DROP_OUTER_IP_HEADER},
		{IPPROTO_HOPOPTS, 8, {0, 0, 1, 200}, VX_DROP_OUTER_IP_HEADER},
		/* Hop-by-hop not first, two fragment headers. */
		{IPPROTO_DSTOPTS, 16, {0, 0, 1, 4, [10] = 1, 4}, VX_DROP_OUTER_IP_HEADER},
		{IPPROTO_FRAGMENT, 16, {IPPROTO_FRAGMENT}, VX_DROP_OUTER_IP_HEADER},
		/* Parts of packets that nobody wants. */
		{IPPROTO_FRAGMENT, 16, {IPPROTO_ROUTING, 0, 0, 1}, VX_DROP_OUTER_PROTOCOL},
		{IPPROTO_FRAGMENT, 16, {IPPROTO_GRE, 0, 0, 1}, VX_DROP_OUTER_PROTOCOL},
	};
	struct bench *b = *state;
	uint8_t packet[LEN + 500], many[8 * 40] = {0};
	uint32_t len;

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		len = insert_ext(packet, LEN, cases[i].type, cases[i].ext, cases[i].n);
		expect(b, packet, len, 110, cases[i].reason);
	}
	/* A number and a length at the limit and one over it. */
	for (unsigned int n = 6; n <= 7; n++) {
		for (unsigned int i = 0; i < n; i++)
			many[8 * i] = IPPROTO_DSTOPTS;
		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		len = insert_ext(packet, LEN, IPPROTO_DSTOPTS, many, 8 * n);
		expect(b, packet, len, 2, n == 6 ? VX_DROP_NONE : VX_DROP_OUTER_IP_HEADER);
	}
	for (unsigned int n = 32; n <= 33; n++) {
		memset(many, 0, sizeof(many));
		many[1] = (uint8_t)(n - 1);
		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		len = insert_ext(packet, LEN, IPPROTO_DSTOPTS, many, 8 * n);
		expect(b, packet, len, 200, n == 32 ? VX_DROP_NONE : VX_DROP_OUTER_IP_HEADER);
	}
	/* Cut in the middle, with lengths that agree. */
	for (uint32_t end = HEADERS6; end < HEADERS6 + 24; end++) {
		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		insert_ext(packet, LEN, IPPROTO_DSTOPTS, (const uint8_t[24]){0, 2, 1, 20}, 24);
		put16(packet + 18, end - HEADERS6);
		expect(b, packet, end, 4, VX_DROP_OUTER_IP_LENGTH);
	}
}

/* RFC 6040: what comes out, by inner and outer field. */
static void
test_ecn(void **state)
{
	static const int after[4][4] = {{0, 0, 0, -1}, {1, 1, 1, 3}, {2, 1, 2, 3}, {3, 3, 3, 3}};
	struct bench *b = *state;
	uint8_t inner[60], packet[LEN], frame[100];

	for (unsigned int i = 0; i < 16; i++) {
		const int want = after[i / 4][i % 4];
		struct rte_mbuf *m;

		memcpy(inner, inner_golden, 60);
		inner[15] = (uint8_t)(0xb8 | i / 4);
		fix_ip(inner);
		make_vxlan6(packet, 2, VNI, inner, 60);
		packet[15] = (uint8_t)(packet[15] | i % 4 << 4);
		m = bench_mbuf(b, packet, LEN);
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, &m, 1);
		bench_expect_only_drop(b, VX_DROP_INNER_ECN, want < 0);
		if (want >= 0) {
			inner[15] = (uint8_t)(0xb8 | want);
			fix_ip(inner);
			bench_bytes(b->sent[1][0], frame, sizeof(frame));
			assert_memory_equal(frame, inner, 60);
		}
		bench_settle(b);
	}
}

static void
test_offloads(void **state)
{
	static const struct {
		uint64_t flag;
		enum vx_drop reason;
	} cases[] = {
		{RTE_MBUF_F_RX_L4_CKSUM_GOOD, VX_DROP_NONE},
		{RTE_MBUF_F_RX_L4_CKSUM_NONE, VX_DROP_NONE},
		{RTE_MBUF_F_RX_L4_CKSUM_BAD, VX_DROP_OUTER_UDP_CHECKSUM},
		{0, VX_DROP_OUTER_UDP_CHECKSUM},
	};
	struct bench *b = *state;
	uint8_t packet[LEN];

	make_vxlan6(packet, 2, VNI, inner_golden, 60);
	packet[61] ^= 1;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_mbuf *m = bench_mbuf(b, packet, LEN);

		m->ol_flags |= cases[i].flag;
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, &m, 1);
		bench_expect_only_drop(b, cases[i].reason, cases[i].reason != VX_DROP_NONE);
		bench_settle(b);
	}
}

/* New remotes are reported with their address, and known ones by their index. */
static void
test_learning(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60], packet[LEN];
	struct vx_learn learn;

	memcpy(inner, inner_golden, 60);
	for (unsigned int i = 0; i < 4; i++) {
		const struct vx_ip remote = bench6_remote(2 + i % 2);
		struct rte_mbuf *m;

		inner[11] = (uint8_t)(10 + i / 2);
		make_vxlan6(packet, 2 + i % 2, VNI, inner, 60);
		for (unsigned int again = 0; again < 2; again++) {
			m = bench_mbuf(b, packet, LEN);
			bench_underlay(b, 0, UNDERLAY, &m, 1);
		}
		assert_true(bench_learn(b, &learn));
		assert_true(vx_ip_is_equal(&learn.remote, &remote));
		assert_int_equal(learn.dest, i % 2 == 0 ? VX_DEST_VTEP : VX_DEST_NONE);
		assert_int_equal(learn.key >> 40 & 0xff, inner[11]);
		assert_false(bench_learn(b, &learn)); /* posted once only */
	}
}

/* ICMPv6 for groups that a host has to hear gets as far as vx_host6.c, whoever speaks. */
static void
test_icmp6(void **state)
{
	static const uint8_t groups[][16] = {
		{0xff, 2, [15] = 1},		    /* all nodes */
		{0xff, 2, [11] = 1, 0xff, 0, 0, 1}, /* 2001:db8::1, fe80::1 */
		{0x20, 1, 0x0d, 0xb8, [15] = 1},
		{0xfe, 0x80, [15] = 1},
	};
	static const uint8_t sources[][16] = {{0}, {0xfe, 0x80, [15] = 7}, {0x20, [15] = 7}};
	struct bench *b = *state;
	uint8_t packet[LEN + 16];
	uint32_t len;

	for (unsigned int i = 0; i < RTE_DIM(groups) * RTE_DIM(sources); i++) {
		const uint8_t *to = groups[i / RTE_DIM(sources)];
		struct rte_mbuf *m;

		make_vxlan6(packet, 2, VNI, inner_golden, 60);
		packet[20] = IPPROTO_ICMPV6;
		if (to[0] == 0xff)
			memcpy(packet,
			       (const uint8_t[]){0x33, 0x33, to[12], to[13], to[14], to[15]}, 6);
		memcpy(packet + 22, sources[i % RTE_DIM(sources)], 16);
		memcpy(packet + 38, to, 16);
		m = bench_mbuf(b, packet, LEN);
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, &m, 1);
		assert_int_equal(bench_since(b, VX_DROP_OUTER_MAC), 0);
		assert_int_equal(bench_since(b, VX_DROP_OUTER_DST_IP), 0);
		assert_int_equal(bench_since(b, VX_DROP_OUTER_SRC_IP), 0);
		bench_settle(b);
	}
	/* Neighbour discovery is never fragmented (RFC 6980). */
	make_vxlan6(packet, 2, VNI, inner_golden, 60);
	packet[20] = IPPROTO_ICMPV6;
	len = insert_ext(packet, LEN, IPPROTO_FRAGMENT, (const uint8_t[8]){0}, 8);
	packet[HEADERS6 + 8] = 135;
	expect(b, packet, len, 60, VX_DROP_ICMP_BAD);
}

/* To a group that the port has joined, at its MAC address, and to one that it has not. */
static void
test_joined(void **state)
{
	const struct vx_ip group = {.bytes = {0xff, 5, [15] = 9}};
	struct bench *b = *state;
	struct vx_view *view = vx_view_edit(b->tables);
	uint8_t packet[LEN];

	vx_view_group_add(view, UNDERLAY, &group);
	vx_view_publish(b->tables, view);
	make_vxlan6(packet, 2, VNI, inner_golden, 60);
	memcpy(packet, (const uint8_t[]){0x33, 0x33, 0, 0, 0, 9}, 6);
	memcpy(packet + 38, group.bytes, 16);
	fix_udp6(packet, HEADERS6);
	expect(b, packet, LEN, 80, VX_DROP_NONE);
	packet[5] = 8;
	expect(b, packet, LEN, 2, VX_DROP_OUTER_DST_IP);
	packet[5] = packet[53] = 8;
	fix_udp6(packet, HEADERS6);
	expect(b, packet, LEN, 2, VX_DROP_OUTER_DST_IP);
}

static void
test_peers_known(void **state)
{
	struct vx_view *view = vx_view_edit(((struct bench *)*state)->tables);
	struct bench *b = *state;
	uint8_t packet[LEN];

	view->is_peers_known = true;
	vx_view_publish(b->tables, view);
	make_vxlan6(packet, 2, VNI, inner_golden, 60);
	expect(b, packet, LEN, 1, VX_DROP_NONE);
	make_vxlan6(packet, 3, VNI, inner_golden, 60);
	expect(b, packet, LEN, 1, VX_DROP_PEER_UNKNOWN);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_good),       TEST(test_truncated), TEST(test_drops),
		TEST(test_addresses),  TEST(test_ecn),	     TEST(test_offloads),
		TEST(test_extensions), TEST(test_learning),  TEST(test_peers_known),
		TEST(test_icmp6),      TEST(test_joined),
	};

	return cmocka_run_group_tests_name("path_classify6", tests, NULL, NULL);
}
