/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 fragments that make a datagram, or none. */
#include "test_path_bench6.h"

#include <netinet/in.h>

#include "vx_reassemble.h"

#define INNER_LEN 1600u
#define TOTAL	  (INNER_LEN + 16u)
#define LARGEST	  65519u

static uint8_t inner[66000], packet[66000];
static uint64_t random_state = 88172645463325252u;

struct range {
	uint32_t first, end;
	bool is_more;
};

static uint32_t
rnd(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

static int
setup(void **state)
{
	struct bench *b;

	if (bench6_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 65485, &b->err), 0);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 1), true);
	make_frame(inner, INNER_LEN, host_b, host_a);
	make_vxlan6(packet, 2, VNI, inner, INNER_LEN);
	return 0;
}

static struct vx_reassembly_state
held(const struct bench *b)
{
	return vx_reassembly_state(b->lcore[0]->reassembly);
}

static void
receive_mbuf(struct bench *b, struct rte_mbuf *m)
{
	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

static void
receive(struct bench *b, uint32_t first, uint32_t end, bool is_more)
{
	receive_mbuf(b, piece6_make(b, packet, first, end, is_more, 0x11000001));
}

static void
pass_time(struct bench *b)
{
	b->lcore[0]->now += b->tables->view->reassembly_cycles;
	b->lcore[0]->view = b->tables->view;
	vx_reassembly_expire(b->lcore[0]);
}

/* Exactly the inner frame came out, of @n fragments, and nothing is held any more. */
static void
expect_whole(struct bench *b, uint32_t len, unsigned int n)
{
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[1], 1);
	bench_expect_bytes(b->sent[1][0], inner, len);
	assert_int_equal(bench_since(b, VX_COUNT_REASSEMBLED), 1);
	assert_int_equal(bench_since(b, VX_COUNT_MERGED), n - 1);
	assert_true(held(b).datagrams == 0 && held(b).fragments == 0 && held(b).bytes == 0);
	bench_settle(b);
}

/* In order, reversed, and random orders; headers split anywhere. */
static void
test_orders(void **state)
{
	static uint8_t bytes[4000];
	struct bench *b = *state;
	uint32_t order[128];

	for (unsigned int round = 0; round < 500; round++) {
		const uint32_t part = 8 * (round < 4 ? 2 + round % 2 * 20 : 2 + rnd(100));
		const uint32_t n = (TOTAL + part - 1) / part;

		for (uint32_t i = 0; i < n; i++)
			order[i] = round < 2 ? i : n - 1 - i;
		for (uint32_t i = n; round >= 4 && i > 1; i--) {
			const uint32_t j = rnd(i), other = order[j];

			order[j] = order[i - 1];
			order[i - 1] = other;
		}
		bench_mark(b);
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t first = order[i] * part;
			const uint32_t len =
				piece6_bytes(bytes, packet, first, RTE_MIN(first + part, TOTAL),
					     order[i] + 1 < n, round);

			assert_int_equal(b->n_sent[1], 0);
			receive_mbuf(b, bench_split(b, bytes, len,
						    round % 2 == 0 ? 1 + rnd(len - 1) : 0, 0));
		}
		expect_whole(b, INNER_LEN, n);
	}
}

static void
test_largest(void **state)
{
	static const uint32_t parts[] = {1232, 1448, 8952};
	struct bench *b = *state;
	struct rte_mbuf *m[128];

	make_frame(inner, LARGEST, host_b, host_a);
	make_vxlan6(packet, 2, VNI, inner, LARGEST);
	for (unsigned int i = 0; i < RTE_DIM(parts); i++) {
		const uint16_t n = (uint16_t)((65535 + parts[i] - 1) / parts[i]);

		for (uint16_t k = 0; k < n; k++)
			m[k] = piece6_make(b, packet, k * parts[i],
					   RTE_MIN((k + 1) * parts[i], 65535u), k + 1 < n, 7);
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, m, n);
		expect_whole(b, LARGEST, n);
	}
	/* One byte more: in the last fragment, or by a header in front of the fragment header. */
	bench_mark(b);
	receive_mbuf(b, piece6_make(b, packet, 65528, 65536, false, 8));
	bench_expect_only_drop(b, VX_DROP_FRAG_BAD, 1);
	bench_settle(b);
	bench_mark(b);
	for (uint16_t k = 0; k < 8; k++) {
		static uint8_t bytes[10000];
		uint32_t len = piece6_bytes(bytes, packet, k * 8952u,
					    RTE_MIN((k + 1) * 8952u, 65535u), k < 7, 9);

		if (k == 0)
			len = insert_ext(bytes, len, IPPROTO_DSTOPTS,
					 (const uint8_t[8]){0, 0, 1, 4}, 8);
		receive_mbuf(b, bench_mbuf(b, bytes, len));
	}
	assert_int_equal(b->n_sent[1], 0);
	bench_expect_only_drop(b, VX_DROP_FRAG_BAD, 8);
}

/* Extension headers in front of the fragment header stay, those behind it are part of the whole. */
static void
test_extensions(void **state)
{
	static const uint8_t options[16] = {0, 1, 1, 12};
	static uint8_t bytes[4000];
	struct bench *b = *state;

	for (unsigned int round = 0; round < 8; round++) {
		const bool is_reverse = (round & 4) != 0;
		uint32_t total = TOTAL;

		make_vxlan6(packet, 2, VNI, inner, INNER_LEN);
		if ((round & 1) != 0) {
			insert_ext(packet, OUTER6_LEN + INNER_LEN, IPPROTO_DSTOPTS, options, 16);
			total += 16;
		}
		bench_mark(b);
		for (unsigned int i = 0; i < 2; i++) {
			const bool is_last = (i == 1) != is_reverse;
			uint32_t len = piece6_bytes(bytes, packet, is_last ? 808 : 0,
						    is_last ? total : 808, !is_last, 5);

			if ((round & 2) != 0)
				len = insert_ext(bytes, len, IPPROTO_HOPOPTS, options, 16);
			receive_mbuf(b, bench_split(b, bytes, len, 60 + round, 0));
		}
		expect_whole(b, INNER_LEN, 2);
	}
}

/* What tells datagrams apart: addresses, all 32 bits of the identification, the family. */
static void
test_keys(void **state)
{
	struct bench *b = *state;
	uint8_t bytes[2000];
	uint32_t len;

	bench_mark(b);
	receive(b, 0, 808, true);
	for (unsigned int i = 0; i < 4; i++) {
		len = piece6_bytes(bytes, packet, 808, TOTAL, false,
				   i == 0   ? 0x11000002
				   : i == 1 ? 0x12000001
					    : 0x11000001);
		if (i == 2)
			bytes[37] = 9;
		if (i == 3) /* the next header is no part of it: that of the first counts */
			bytes[54] = IPPROTO_ICMPV6;
		receive_mbuf(b, bench_mbuf(b, bytes, len));
		assert_int_equal(b->n_sent[1], i == 3);
	}
	assert_int_equal(held(b).datagrams, 3);
	bench_expect_bytes(b->sent[1][0], inner, INNER_LEN);
}

static void
test_congestion(void **state)
{
	struct bench *b = *state;
	uint8_t frame[INNER_LEN], bytes[2000];

	memcpy(inner + 12, inner_golden + 12, 30); /* ECT(0) */
	fix_ip(inner);
	for (unsigned int ce = 0; ce < 3; ce++) {
		make_vxlan6(packet, 2, VNI, inner, INNER_LEN);
		bench_mark(b);
		for (unsigned int i = 0; i < 2; i++) {
			const uint32_t len = piece6_bytes(bytes, packet, i * 808,
							  i == 0 ? 808 : TOTAL, i == 0, ce);

			bytes[15] |= (uint8_t)(i == ce ? 0x30 : 0x20);
			receive_mbuf(b, bench_mbuf(b, bytes, len));
		}
		assert_int_equal(b->n_sent[1], 1);
		bench_bytes(b->sent[1][0], frame, sizeof(frame));
		assert_int_equal(frame[15] & 3, ce < 2 ? 3 : 2);
		bench_settle(b);
	}
}

/* @bad after 0-400, 800-1200 and 1200-1616: everything of the datagram is dropped as @reason. */
static void
expect_poison(struct bench *b, const struct range *bad, enum vx_drop reason)
{
	bench_mark(b);
	receive(b, 800, 1200, true);
	receive(b, 0, 400, true);
	receive(b, 1200, TOTAL, false);
	receive(b, bad->first, bad->end, bad->is_more);
	bench_expect_only_drop(b, reason, 4);
	assert_int_equal(held(b).fragments, 0);
	receive(b, 400, 800, true);
	receive(b, 0, 400, true);
	bench_expect_only_drop(b, reason, 6);
	assert_int_equal(b->n_sent[1], 0);
	pass_time(b);
	assert_int_equal(held(b).datagrams, 0);
	bench_mark(b);
	receive(b, 800, TOTAL, false);
	receive(b, 0, 800, true);
	expect_whole(b, INNER_LEN, 2);
}

static void
test_bad(void **state)
{
	static const struct {
		struct range range;
		enum vx_drop reason;
	} cases[] = {
		{{0, 200, true}, VX_DROP_FRAG_OVERLAP},
		{{392, 800, true}, VX_DROP_FRAG_OVERLAP},
		{{400, 808, true}, VX_DROP_FRAG_OVERLAP},
		{{808, 1200, true}, VX_DROP_FRAG_OVERLAP},
		{{0, 1200, true}, VX_DROP_FRAG_OVERLAP},
		{{400, 799, true}, VX_DROP_FRAG_BAD},	/* no multiple of 8, more follow */
		{{400, 400, true}, VX_DROP_FRAG_BAD},	/* empty */
		{{1616, 1624, true}, VX_DROP_FRAG_BAD}, /* beyond the end */
		{{400, 800, false}, VX_DROP_FRAG_BAD},	/* another end */
	};
	struct bench *b = *state;

	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		expect_poison(b, &cases[i].range, cases[i].reason);
	/* Duplicates harm nobody. */
	bench_mark(b);
	receive(b, 800, 1200, true);
	receive(b, 800, 1200, true);
	receive(b, 0, 800, true);
	receive(b, 0, 800, true);
	receive(b, 1200, TOTAL, false);
	bench_expect_only_drop(b, VX_DROP_FRAG_DUPLICATE, 2);
	assert_int_equal(b->n_sent[1], 1);
	bench_expect_bytes(b->sent[1][0], inner, INNER_LEN);
	bench_settle(b);
	/* A loss. */
	bench_mark(b);
	receive(b, 0, 800, true);
	pass_time(b);
	bench_expect_only_drop(b, VX_DROP_FRAG_TIMEOUT, 1);
}

/* A whole that turns out to be what a fragment cannot be. */
static void
test_nested(void **state)
{
	static uint8_t outer[4000], bytes[4000];
	struct bench *b = *state;
	uint32_t len = piece6_bytes(outer, packet, 0, 1200, true, 3);

	/* A fragment, cut into fragments again. */
	len = insert_ext(outer, len, IPPROTO_DSTOPTS, (const uint8_t[8]){0, 0, 1, 4}, 8);
	bench_mark(b);
	receive_mbuf(b, piece6_make(b, outer, 0, 400, true, 4));
	receive_mbuf(b, piece6_make(b, outer, 400, len - HEADERS6, false, 4));
	bench_expect_only_drop(b, VX_DROP_FRAG_BAD, 1);
	bench_settle(b);
	/* Neighbour discovery in fragments (RFC 6980). */
	bench_mark(b);
	packet[HEADERS6] = 136;
	packet[20] = IPPROTO_ICMPV6;
	receive(b, 0, 800, true);
	receive(b, 800, TOTAL, false);
	bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
	bench_settle(b);
	/* To a group, and with reassembly off. */
	make_vxlan6(packet, 2, VNI, inner, INNER_LEN);
	len = piece6_bytes(bytes, packet, 0, 800, true, 5);
	memcpy(bytes + 38, (const uint8_t[16]){0xff, 2, [15] = 1}, 16);
	memcpy(bytes, (const uint8_t[]){0x33, 0x33, 0, 0, 0, 1}, 6);
	bench_mark(b);
	receive_mbuf(b, bench_mbuf(b, bytes, len));
	bench_expect_only_drop(b, VX_DROP_OUTER_DST_IP, 1);
}

struct slot {
	uint32_t id, part, n, left, order[16];
	bool is_lossy;
};

static void
begin(struct slot *s, uint32_t id)
{
	*s = (struct slot){.id = id, .part = 8 * (14 + rnd(100))};
	s->n = s->left = (TOTAL + s->part - 1) / s->part;
	for (uint32_t i = 0; i < s->n; i++) {
		const uint32_t j = rnd(i + 1);

		s->order[i] = s->order[j];
		s->order[j] = i;
	}
}

/* Random sizes, orders and losses, many datagrams at a time; each comes out right and once. */
static void
test_many(void **state)
{
	uint32_t n_ids = 0, n_whole = 0, n_lossy = 0;
	struct slot slot[32] = {0};
	struct bench *b = *state;

	for (unsigned int round = 0; round < 200000; round++) {
		struct slot *s = &slot[rnd(RTE_DIM(slot))];
		const uint32_t before = b->n_sent[1];
		uint32_t first, end;

		if (s->left == 0)
			begin(s, n_ids++);
		first = s->order[--s->left] * s->part;
		end = RTE_MIN(first + s->part, TOTAL);
		if (rnd(64) == 0)
			s->is_lossy = true;
		else
			receive_mbuf(b, piece6_make(b, packet, first, end, end < TOTAL, s->id));
		b->lcore[0]->now += b->tables->view->reassembly_cycles / 4096;
		vx_reassembly_expire(b->lcore[0]);
		assert_int_equal(b->n_sent[1] - before, s->left == 0 && !s->is_lossy);
		if (s->left > 0)
			continue;
		n_whole += !s->is_lossy;
		n_lossy += s->is_lossy;
		if (s->is_lossy)
			continue;
		bench_expect_bytes(b->sent[1][0], inner, INNER_LEN);
		rte_pktmbuf_free(b->sent[1][0]);
		b->n_sent[1] = 0;
	}
	assert_true(n_whole > 10000 && n_lossy > 1000);
	assert_int_equal(bench_count(b, VX_COUNT_REASSEMBLED), n_whole);
	for (unsigned int i = 0; i < VX_DROP_MAX; i++)
		assert_true(bench_count(b, i) == 0 || i == VX_DROP_FRAG_TIMEOUT);
	bench_settle(b);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_orders), TEST(test_largest), TEST(test_extensions), TEST(test_congestion),
		TEST(test_keys),   TEST(test_bad),     TEST(test_nested),     TEST(test_many),
	};

	return cmocka_run_group_tests_name("path_reassemble6", tests, NULL, NULL);
}
