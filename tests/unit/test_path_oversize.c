/* SPDX-License-Identifier: BSD-3-Clause */
/* `set oversize`: the four answers to a frame that is too big for the underlay. */
#include "test_path_pieces.h"

#include "vx_oversize.h"

#define MTU	  1500u
#define INNER_MTU (MTU - 50u)
#define LEN	  4000u

static uint8_t inner[LEN + 10];

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 9000, &b->err), 0);
	bench_fdb(b, VNI, host_b, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), true);
	bench_path_mtu(b, 0, MTU);
	return 0;
}

static void
send_frame(struct bench *b, uint32_t len)
{
	struct rte_mbuf *m = bench_mbuf(b, inner, len);

	bench_mark(b);
	bench_access(b, 0, 1, &m, 1);
}

static void
expect_fits(struct bench *b, uint32_t len)
{
	send_frame(b, len);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	assert_int_equal(b->n_sent[1], 0);
	bench_settle(b);
}

/* Both fit up to the MTU; one more byte is dropped, and nobody is told. */
static void
test_drop(void **state)
{
	struct bench *b = *state;

	BENCH_VIEW(b, oversize, VX_OVERSIZE_DROP);
	make_ipv4(inner, INNER_MTU + 14, true);
	expect_fits(b, INNER_MTU + 14);
	make_ipv4(inner, INNER_MTU + 15, true);
	send_frame(b, INNER_MTU + 15);
	bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
	assert_int_equal(b->n_sent[UNDERLAY] + b->n_sent[1], 0);
}

/* The answer to the frame of @len bytes in inner[], whose IPv4 header has @header_len bytes. */
static void
expect_reply4(struct bench *b, uint32_t header_len)
{
	const uint32_t quote = header_len + 8, len = 14 + 28 + quote;
	uint8_t reply[200], golden[200] = {0};

	bench_expect_only_drop(b, VX_DROP_TOO_BIG_REPLIED, 1);
	assert_int_equal(b->n_sent[UNDERLAY], 0);
	assert_int_equal(b->n_sent[1], 1);
	assert_int_equal(bench_since(b, VX_COUNT_ORIGINATED), 1);
	memcpy(golden, host_a, 6);
	memcpy(golden + 6, host_b, 6);
	memcpy(golden + 12, (const uint8_t[]){8, 0, 0x45}, 3);
	put16(golden + 16, 28 + quote);
	golden[22] = 64;
	golden[23] = 1;
	memcpy(golden + 26, (const uint8_t[]){10, 0, 0, 2, 10, 0, 0, 1}, 8);
	fix_ip(golden);
	golden[34] = 3;
	golden[35] = 4;
	put16(golden + 40, INNER_MTU);
	memcpy(golden + 42, inner + 14, quote);
	put16(golden + 36, plain_checksum(golden + 34, 8 + quote));
	assert_int_equal(bench_bytes(b->sent[1][0], reply, sizeof(reply)), len);
	assert_memory_equal(reply, golden, len);
	bench_settle(b);
}

static void
expect_reply6(struct bench *b)
{
	uint8_t reply[200], golden[200] = {0}, pseudo[40 + 56] = {0};

	bench_expect_only_drop(b, VX_DROP_TOO_BIG_REPLIED, 1);
	assert_int_equal(b->n_sent[UNDERLAY], 0);
	assert_int_equal(b->n_sent[1], 1);
	memcpy(golden, host_a, 6);
	memcpy(golden + 6, host_b, 6);
	memcpy(golden + 12, (const uint8_t[]){0x86, 0xdd, 0x60}, 3);
	put16(golden + 18, 56);
	golden[20] = 58;
	golden[21] = 64;
	memcpy(golden + 22, inner + 38, 16);
	memcpy(golden + 38, inner + 22, 16);
	golden[54] = 2;
	put16(golden + 60, INNER_MTU);
	memcpy(golden + 62, inner + 14, 48);
	memcpy(pseudo, golden + 22, 32);
	pseudo[35] = 56;
	pseudo[39] = 58;
	memcpy(pseudo + 40, golden + 54, 56);
	put16(golden + 56, plain_checksum(pseudo, sizeof(pseudo)));
	assert_int_equal(bench_bytes(b->sent[1][0], reply, sizeof(reply)), 110);
	assert_memory_equal(reply, golden, 110);
	bench_settle(b);
}

/* Frames to which an answer is due, in both modes that give one. */
static void
make_options(uint32_t len)
{
	make_ipv4(inner, len, false);
	inner[14] = 0x4f;
	memset(inner + HEADERS, 1, 40); /* no-operation options */
	put16(inner + 24, 0);
	put16(inner + 24, plain_checksum(inner + 14, 60));
}

static void
test_replies(void **state)
{
	struct bench *b = *state;

	for (unsigned int mode = 0; mode < 2; mode++) {
		BENCH_VIEW(b, oversize, mode == 0 ? VX_OVERSIZE_REPLY : VX_OVERSIZE_INNER);
		for (unsigned int i = 0; i < 2; i++) {
			const uint32_t len = i == 0 ? INNER_MTU + 15 : LEN;

			make_ipv4(inner, len, true);
			send_frame(b, len);
			expect_reply4(b, 20);
			make_options(len);
			send_frame(b, len);
			expect_reply4(b, 60);
			make_ipv6(inner, len);
			send_frame(b, len);
			expect_reply6(b);
		}
		make_ipv6(inner, INNER_MTU + 14);
		expect_fits(b, INNER_MTU + 14);
	}
	/* An echo request is no error. */
	make_ipv4(inner, LEN, true);
	inner[23] = 1;
	inner[34] = 8;
	fix_ip(inner);
	send_frame(b, LEN);
	expect_reply4(b, 20);
	make_ipv6(inner, LEN);
	inner[20] = 58;
	inner[54] = 128;
	send_frame(b, LEN);
	expect_reply6(b);
}

/* The headers may lie in any segments. */
static void
test_reply_to_chain(void **state)
{
	struct bench *b = *state;

	BENCH_VIEW(b, oversize, VX_OVERSIZE_REPLY);
	for (uint32_t cut = 1; cut < 84; cut++) {
		struct rte_mbuf *m;

		make_options(LEN);
		m = bench_split(b, inner, LEN, cut, cut + 3);
		bench_mark(b);
		bench_access(b, 0, 1, &m, 1);
		expect_reply4(b, 60);
		b->lcore[0]->now += UINT64_C(1) << 30;
	}
}

#define EDIT(name, base, at, value)                                                                \
	static void name(void)                                                                     \
	{                                                                                          \
		base;                                                                              \
		inner[at] = (value);                                                               \
	}

/* ICMP in @base's packet, of type @type. */
static void
icmp4(uint8_t type)
{
	make_ipv4(inner, LEN, true);
	inner[23] = 1;
	inner[34] = type;
}

static void
icmp6(uint8_t type)
{
	make_ipv6(inner, LEN);
	inner[20] = 58;
	inner[54] = type;
}

EDIT(to_group4, make_ipv4(inner, LEN, true), 30, 239)
EDIT(from_group4, make_ipv4(inner, LEN, true), 26, 239)
EDIT(from_loopback4, make_ipv4(inner, LEN, true), 26, 127)
EDIT(to_broadcast4, make_ipv4(inner, LEN, true); memset(inner + 30, 255, 4), 30, 255)
EDIT(from_nobody4, make_ipv4(inner, LEN, true); memset(inner + 26, 0, 4), 26, 0)
EDIT(later_fragment4, make_ipv4(inner, LEN, true), 21, 1)
EDIT(version_5, make_ipv4(inner, LEN, true), 14, 0x55)
EDIT(header_4_words, make_ipv4(inner, LEN, true), 14, 0x44)
EDIT(unreachable4, icmp4(3), 35, 0)
EDIT(redirect4, icmp4(5), 35, 0)
EDIT(to_group6, make_ipv6(inner, LEN), 38, 0xff)
EDIT(from_group6, make_ipv6(inner, LEN), 22, 0xff)
EDIT(from_nobody6, make_ipv6(inner, LEN); memset(inner + 22, 0, 16), 22, 0)
EDIT(unreachable6, icmp6(1), 55, 0)
EDIT(too_big6, icmp6(2), 55, 0)
EDIT(last_error6, icmp6(127), 55, 0)
EDIT(not_ip, make_frame(inner, LEN, host_b, host_a), 14, 0x45)

static void
test_no_replies(void **state)
{
	static void (*const edits[])(void) = {
		to_group4,   from_group4,    from_loopback4, to_broadcast4, from_nobody4,
		version_5,   header_4_words, unreachable4,   redirect4,	    later_fragment4,
		to_group6,   from_group6,    from_nobody6,   unreachable6,  too_big6,
		last_error6, not_ip,
	};
	struct bench *b = *state;

	for (unsigned int mode = 0; mode < 2; mode++) {
		BENCH_VIEW(b, oversize, mode == 0 ? VX_OVERSIZE_REPLY : VX_OVERSIZE_INNER);
		for (unsigned int i = 0; i < RTE_DIM(edits); i++) {
			edits[i]();
			send_frame(b, LEN);
			bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
			assert_int_equal(b->n_sent[1] + b->n_sent[UNDERLAY], 0);
		}
		/* To everybody on the link, although to one host's address. */
		make_ipv4(inner, LEN, true);
		memset(inner, 255, 6);
		send_frame(b, LEN);
		bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
		assert_int_equal(b->n_sent[1] + b->n_sent[UNDERLAY], 0);
	}
	/* What IPv6 must carry in any case is not called too big. */
	bench_path_mtu(b, 0, 1280 + 49);
	make_ipv6(inner, 1400);
	send_frame(b, 1400);
	bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
}

/* Frames from a tunnel go into none; if one did, nobody behind it would be told. */
static void
test_from_tunnel(void **state)
{
	struct bench *b = *state;
	struct vx_inner frame = {
		.segment = vx_segment_find(b->tables, VNI, NULL),
		.vtep = b->tables->vtep[0],
		.origin = VX_DEST_VTEP | 0,
	};

	BENCH_VIEW(b, oversize, VX_OVERSIZE_REPLY);
	make_ipv4(inner, LEN, true);
	frame.m = bench_mbuf(b, inner, LEN);
	bench_mark(b);
	b->lcore[0]->view = b->tables->view;
	vx_lcore_count(b->lcore[0], VX_COUNT_RX, 1);
	assert_false(vx_oversize(b->lcore[0], &frame));
	bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
	assert_int_equal(b->lcore[0]->tx_pending, 0);
}

static void
test_rate_limit(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m[130];

	BENCH_VIEW(b, oversize, VX_OVERSIZE_REPLY);
	make_ipv4(inner, 1500, true);
	for (unsigned int round = 0; round < 2; round++) {
		const unsigned int answers = round == 0 ? 100 : 10;

		for (unsigned int i = 0; i < RTE_DIM(m); i++)
			m[i] = bench_mbuf(b, inner, 1500);
		bench_mark(b);
		bench_access(b, 0, 1, m, RTE_DIM(m));
		assert_int_equal(bench_since(b, VX_DROP_TOO_BIG_REPLIED), answers);
		assert_int_equal(bench_since(b, VX_DROP_TOO_BIG), RTE_DIM(m) - answers);
		assert_int_equal(b->n_sent[1], answers);
		bench_settle(b);
		/* 1,000 a second at 2^30 cycles a second. */
		b->lcore[0]->now += (UINT64_C(1) << 30) / 99;
	}
}

static void
test_reply_without_buffer(void **state)
{
	struct rte_mbuf *taken[COPY_MBUFS];
	struct bench *b = *state;

	BENCH_VIEW(b, oversize, VX_OVERSIZE_REPLY);
	make_ipv4(inner, LEN, true);
	assert_int_equal(rte_pktmbuf_alloc_bulk(b->copy_pool, taken, COPY_MBUFS), 0);
	send_frame(b, LEN);
	bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
	/* To cut is due, but there is nothing to do it with: no reason to tell of an MTU. */
	BENCH_VIEW(b, oversize, VX_OVERSIZE_INNER);
	make_ipv4(inner, LEN, false);
	send_frame(b, LEN);
	bench_expect_only_drop(b, VX_DROP_NO_MBUF, 1);
	rte_pktmbuf_free_bulk(taken, COPY_MBUFS);
}

/* Cut inside: each piece is a right IPv4 fragment, alone in a packet that fits. */
static void
test_inner(void **state)
{
	static const uint16_t mtus[] = {576, 1280, 1499, 1500, 1501};
	static uint8_t whole[LEN + 100], frame[2000];
	struct bench *b = *state;

	BENCH_VIEW(b, oversize, VX_OVERSIZE_INNER);
	for (unsigned int i = 0; i < RTE_DIM(mtus); i++) {
		bench_path_mtu(b, 0, mtus[i]);
		for (uint32_t len = mtus[i] - 37u; len < LEN; len += len < mtus[i] ? 1 : 233) {
			unsigned int n;

			make_ipv4(inner, len, false);
			send_frame(b, len);
			bench_expect_only_drop(b, VX_DROP_NONE, 0);
			n = b->n_sent[UNDERLAY];
			assert_int_equal(
				pieces_join(whole, b->sent[UNDERLAY], n, OUTER_LEN, mtus[i] - 50u),
				len);
			assert_memory_equal(whole, inner, len);
			assert_int_equal(bench_since(b, VX_COUNT_ENCAP), n);
			assert_int_equal(bench_since(b, VX_COUNT_FRAGMENTS), n - 1);
			for (unsigned int k = 0; k < n; k++) {
				uint8_t *header = whole;

				bench_bytes(b->sent[UNDERLAY][k], frame, sizeof(frame));
				pieces_join(header, &b->sent[UNDERLAY][k], 1, 0, mtus[i]);
				assert_int_equal(get16(header + 20), 0);
				assert_int_equal(header[48], VNI);
				/* One flow, so one way through the network. */
				if (n > 1 && k > 0)
					assert_memory_equal(header + 34, frame + 34, 2);
			}
			bench_settle(b);
		}
	}
}

/* A packet that is a fragment already, first or not, keeps its place. */
static void
test_inner_fragment(void **state)
{
	struct bench *b = *state;
	uint8_t frame[2000];

	BENCH_VIEW(b, oversize, VX_OVERSIZE_INNER);
	for (unsigned int is_more = 0; is_more < 2; is_more++) {
		make_ipv4(inner, HEADERS + 3200, false);
		put16(inner + 20, 1000 / 8 | (is_more == 1 ? 0x2000 : 0));
		fix_ip(inner);
		send_frame(b, HEADERS + 3200);
		assert_int_equal(b->n_sent[UNDERLAY], 3);
		for (unsigned int i = 0; i < 3; i++) {
			bench_bytes(b->sent[UNDERLAY][i], frame, sizeof(frame));
			assert_int_equal(plain_checksum(frame + OUTER_LEN + 14, 20), 0);
			assert_int_equal(get16(frame + OUTER_LEN + 20),
					 (1000 + i * 1424) / 8 |
						 (i < 2 || is_more == 1 ? 0x2000 : 0));
		}
		assert_memory_equal(frame + OUTER_LEN + HEADERS, inner + HEADERS + 2848, 352);
		bench_settle(b);
	}
}

/* Bytes behind the IP packet cannot be cut with it. */
static void
test_inner_trailer(void **state)
{
	struct bench *b = *state;

	BENCH_VIEW(b, oversize, VX_OVERSIZE_INNER);
	make_ipv4(inner, LEN, false);
	send_frame(b, LEN + 4);
	expect_reply4(b, 20);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_drop),
		TEST(test_replies),
		TEST(test_reply_to_chain),
		TEST(test_no_replies),
		TEST(test_from_tunnel),
		TEST(test_rate_limit),
		TEST(test_reply_without_buffer),
		TEST(test_inner),
		TEST(test_inner_fragment),
		TEST(test_inner_trailer),
	};

	return cmocka_run_group_tests_name("path_oversize", tests, NULL, NULL);
}
