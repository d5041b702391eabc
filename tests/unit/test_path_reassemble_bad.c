/* SPDX-License-Identifier: BSD-3-Clause */
/* Outer fragments that make no datagram: wrong, overlapping, late or too many. */
#include "test_path_pieces.h"

#include "vx_reassemble.h"

#define INNER_LEN 1600u
#define TOTAL	  (INNER_LEN + 16u) /* bytes of IP payload */

static uint8_t inner[INNER_LEN], packet[66000];

struct range {
	uint32_t first, end;
	bool is_more;
};

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 9000, &b->err), 0);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 1), true);
	make_ipv4(inner, INNER_LEN, false);
	memset(packet, 0, sizeof(packet));
	make_vxlan(packet, 2, VNI, inner, INNER_LEN);
	return 0;
}

static void
receive(struct bench *b, uint32_t first, uint32_t end, bool is_more)
{
	struct rte_mbuf *m = piece_make(b, packet, first, end, is_more);

	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

static struct vx_reassembly_state
held(const struct bench *b)
{
	return vx_reassembly_state(b->lcore[0]->reassembly);
}

static void
pass_time(struct bench *b, uint64_t cycles)
{
	b->lcore[0]->now += cycles;
	b->lcore[0]->view = b->tables->view;
	vx_reassembly_expire(b->lcore[0]);
}

/* The same datagram whole: nothing of what came before harms it. */
static void
expect_fresh_start(struct bench *b)
{
	pass_time(b, b->tables->view->reassembly_cycles);
	assert_int_equal(held(b).datagrams, 0);
	bench_mark(b);
	receive(b, 0, 800, true);
	receive(b, 800, TOTAL, false);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[1], 1);
	bench_expect_bytes(b->sent[1][0], inner, INNER_LEN);
	bench_settle(b);
}

/* @bad after 0-400, 800-1200 and, if @has_last, 1200-1616: everything is dropped as @reason. */
static void
expect_poison(struct bench *b, const struct range *bad, bool has_last, enum vx_drop reason)
{
	unsigned int n = 3;

	bench_mark(b);
	receive(b, 800, 1200, true);
	receive(b, 0, 400, true);
	if (has_last) {
		receive(b, 1200, TOTAL, false);
		n++;
	}
	receive(b, bad->first, bad->end, bad->is_more);
	bench_expect_only_drop(b, reason, n);
	assert_true(held(b).fragments == 0 && held(b).bytes == 0);
	/* What would have completed it. */
	receive(b, 400, 800, true);
	receive(b, 0, 400, true);
	receive(b, 800, 1200, true);
	receive(b, 1200, TOTAL, false);
	bench_expect_only_drop(b, reason, n + 4);
	assert_int_equal(b->n_sent[1], 0);
	expect_fresh_start(b);
}

static void
test_overlaps(void **state)
{
	static const struct range overlaps[] = {
		{0, 200, true},	   {200, 400, true},  {8, 392, true},	 {0, 408, true},
		{0, 800, true},	   {392, 800, true},  {392, 400, true},	 {400, 808, true},
		{792, 1200, true}, {800, 1192, true}, {808, 1200, true}, {400, 1200, true},
		{0, 1200, true},   {808, 816, true},
	};
	struct bench *b = *state;

	for (unsigned int i = 0; i < RTE_DIM(overlaps); i++) {
		expect_poison(b, &overlaps[i], true, VX_DROP_FRAG_OVERLAP);
		expect_poison(b, &overlaps[i], false, VX_DROP_FRAG_OVERLAP);
	}
	/* The last one from further back, or the end known and only the last in the way. */
	expect_poison(b, &(const struct range){1000, TOTAL, false}, false, VX_DROP_FRAG_OVERLAP);
	expect_poison(b, &(const struct range){1192, TOTAL, false}, true, VX_DROP_FRAG_OVERLAP);
	expect_poison(b, &(const struct range){1208, TOTAL, false}, true, VX_DROP_FRAG_OVERLAP);
	expect_poison(b, &(const struct range){1192, 1600, true}, true, VX_DROP_FRAG_OVERLAP);
}

/* Two that touch are one run inside: both must still be told from what is not the same. */
static void
test_overlap_of_two(void **state)
{
	struct bench *b = *state;

	for (unsigned int order = 0; order < 2; order++) {
		for (unsigned int i = 0; i < 3; i++) {
			const uint32_t first = i == 0 ? 0 : i == 1 ? 400 : 200;

			bench_mark(b);
			receive(b, order == 0 ? 0 : 400, order == 0 ? 400 : 800, true);
			receive(b, order == 0 ? 400 : 0, order == 0 ? 800 : 400, true);
			receive(b, first, first + 400, true);
			bench_expect_only_drop(
				b, i < 2 ? VX_DROP_FRAG_DUPLICATE : VX_DROP_FRAG_OVERLAP,
				i < 2 ? 1 : 3);
			expect_fresh_start(b);
		}
	}
}

static void
test_wrong_ends(void **state)
{
	static const struct range wrong_after_last[] = {
		{1608, 1624, true},			  /* beyond the end */
		{1616, 1624, true},  {1616, 1617, false}, /* another end */
		{1200, 1608, false}, {1200, 1615, false}, {400, 800, false},
		{1208, 1616, true}, /* to the end, and more is said to follow */
	};
	struct bench *b = *state;

	for (unsigned int i = 0; i < RTE_DIM(wrong_after_last); i++)
		expect_poison(b, &wrong_after_last[i], true, VX_DROP_FRAG_BAD);
	expect_poison(b, &(const struct range){400, 800, false}, false, VX_DROP_FRAG_BAD);
	expect_poison(b, &(const struct range){800, 1200, false}, false, VX_DROP_FRAG_BAD);
	/* A fragment that cannot be one. */
	for (unsigned int last = 0; last < 2; last++) {
		expect_poison(b, &(const struct range){400, 400, true}, last, VX_DROP_FRAG_BAD);
		expect_poison(b, &(const struct range){400, 400, false}, last, VX_DROP_FRAG_BAD);
		expect_poison(b, &(const struct range){400, 407, true}, last, VX_DROP_FRAG_BAD);
		expect_poison(b, &(const struct range){65512, 65516, false}, last,
			      VX_DROP_FRAG_BAD);
		expect_poison(b, &(const struct range){65512, 65520, true}, last, VX_DROP_FRAG_BAD);
	}
}

/* One of them alone leaves nothing behind. */
static void
test_bad_alone(void **state)
{
	static const struct range bad[] = {
		{0, 0, true},	       {8, 8, false},	     {0, 7, true},	    {8, 401, true},
		{65512, 65516, false}, {65504, 65520, true}, {65528, 65536, false},
	};
	struct bench *b = *state;

	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		bench_mark(b);
		receive(b, bad[i].first, bad[i].end, bad[i].is_more);
		bench_expect_only_drop(b, VX_DROP_FRAG_BAD, 1);
		assert_int_equal(held(b).datagrams, 0);
	}
	/* The last byte that an IP packet can have. */
	bench_mark(b);
	receive(b, 65512, 65515, false);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(held(b).fragments, 1);
	assert_int_equal(held(b).bytes, 3);
}

/* By the clock, without traffic. */
static void
test_timeout(void **state)
{
	struct bench *b = *state;
	uint64_t wait;

	BENCH_VIEW(b, reassembly_cycles, 1000);
	wait = b->tables->view->reassembly_cycles;
	bench_mark(b);
	receive(b, 0, 800, true);
	pass_time(b, wait / 2);
	packet[19]++; /* another datagram, later */
	receive(b, 400, 800, true);
	receive(b, 800, TOTAL, false);
	assert_int_equal(held(b).datagrams, 2);
	assert_int_equal(held(b).fragments, 3);
	assert_int_equal(held(b).bytes, 800 + TOTAL - 400);
	pass_time(b, wait / 2 - 1);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	pass_time(b, 1);
	bench_expect_only_drop(b, VX_DROP_FRAG_TIMEOUT, 1);
	pass_time(b, wait / 2 - 1);
	/* A late fragment does not make it wait longer. */
	receive(b, 8, 16, true);
	bench_expect_only_drop(b, VX_DROP_FRAG_TIMEOUT, 1);
	pass_time(b, 1);
	bench_expect_only_drop(b, VX_DROP_FRAG_TIMEOUT, 4);
	assert_int_equal(held(b).datagrams, 0);
	expect_fresh_start(b);
}

/* The oldest gives way. */
static void
test_datagrams_limit(void **state)
{
	struct bench *b = *state;

	BENCH_VIEW(b, reassembly_max, 4);
	bench_mark(b);
	for (uint8_t id = 0; id < 10; id++) {
		packet[19] = id;
		receive(b, 0, 800, true);
		assert_int_equal(held(b).datagrams, RTE_MIN(id + 1u, 4u));
		bench_expect_only_drop(b, VX_DROP_FRAG_LIMIT, id < 4 ? 0 : id - 3u);
	}
	for (uint8_t id = 6; id < 10; id++) {
		packet[19] = id;
		receive(b, 800, TOTAL, false);
	}
	assert_int_equal(b->n_sent[1], 4);
	/* Lowered while some are held. */
	for (uint8_t id = 0; id < 4; id++) {
		packet[19] = id;
		receive(b, 0, 800, true);
	}
	BENCH_VIEW(b, reassembly_max, 2);
	packet[19] = 77;
	bench_mark(b);
	receive(b, 0, 800, true);
	assert_int_equal(held(b).datagrams, 2);
	bench_expect_only_drop(b, VX_DROP_FRAG_LIMIT, 3);
}

/* What a flood of fragments can keep from receiving: 16,384 of them in a worker. */
static void
test_fragments_limit(void **state)
{
	struct bench *b = *state;
	struct rte_mempool *frames = b->pool;
	struct vx_reassembly_state state_at_end;

	b->pool = rte_pktmbuf_pool_create("many", 17000, 0, 0, 256, SOCKET_ID_ANY);
	assert_non_null(b->pool);
	BENCH_VIEW(b, reassembly_max, VX_REASSEMBLY_DATAGRAMS_MAX);
	bench_mark(b);
	for (unsigned int i = 0; i < 20000; i++) {
		put16(packet + 18, i);
		receive(b, 8, 16, true);
	}
	state_at_end = held(b);
	assert_int_equal(state_at_end.fragments, 16384);
	assert_int_equal(state_at_end.bytes, 16384 * 8);
	bench_expect_only_drop(b, VX_DROP_FRAG_LIMIT, 20000 - 16384);
	/* One with room for more: the newest still gets through. */
	receive(b, 0, 8, true);
	for (uint32_t at = 16; at < 200; at += 8)
		receive(b, at, at + 8, true);
	assert_int_equal(held(b).fragments, 16384);
	vx_reassembly_flush(b->lcore[0]);
	assert_int_equal(rte_mempool_avail_count(b->pool), 17000);
	rte_mempool_free(b->pool);
	b->pool = frames;
}

static void
test_off(void **state)
{
	struct bench *b = *state;

	BENCH_VIEW(b, is_reassembling, false);
	bench_mark(b);
	receive(b, 0, 800, true);
	receive(b, 800, TOTAL, false);
	bench_expect_only_drop(b, VX_DROP_OUTER_FRAGMENT, 2);
	assert_int_equal(held(b).datagrams, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_overlaps),	    TEST(test_overlap_of_two),
		TEST(test_wrong_ends),	    TEST(test_bad_alone),
		TEST(test_timeout),	    TEST(test_datagrams_limit),
		TEST(test_fragments_limit), TEST(test_off),
	};

	return cmocka_run_group_tests_name("path_reassemble_bad", tests, NULL, NULL);
}
