/* SPDX-License-Identifier: BSD-3-Clause */
/* Outer packets that are larger than the underlay carries: cut as RFC 791 says. */
#include "test_path_pieces.h"

#include "vx_encap.h"

#define LARGEST 65499u

static const uint16_t mtus[] = {576, 1280, 1499, 1500, 1501, 9000};

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 65485, &b->err), 0);
	bench_fdb(b, VNI, host_b, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), true);
	return 0;
}

static void
send_one(struct bench *b, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_access(b, 0, 1, &m, 1);
}

/* The frames @m are one datagram to VTEP @vtep around @inner, cut to @mtu. Returns its ID. */
static unsigned int
expect_datagram(struct rte_mbuf *const *m, unsigned int n, uint32_t mtu, uint8_t vtep,
		const uint8_t *inner, uint32_t len)
{
	static uint8_t packet[66000];
	uint8_t was[2];

	assert_int_equal(n, pieces_expected(len + 36, mtu));
	assert_int_equal(pieces_join(packet, m, n, 0, mtu), len + OUTER_LEN);
	assert_memory_equal(packet, ((const uint8_t[]){2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 1}), 12);
	assert_int_equal(packet[23], 17);
	assert_memory_equal(packet + 26, ((const uint8_t[]){192, 0, 2, 1, 198, 51, 100, vtep}), 8);
	assert_int_equal(get16(packet + 36), 4789);
	assert_int_equal(get16(packet + 38), len + 16);
	assert_memory_equal(packet + 42, ((const uint8_t[]){8, 0, 0, 0, 0, 0, 100, 0}), 8);
	assert_memory_equal(packet + OUTER_LEN, inner, len);
	memcpy(was, packet + 40, 2);
	if (n == 1) {
		assert_int_equal(get16(was), 0);
	} else {
		fix_udp(packet);
		assert_memory_equal(packet + 40, was, 2);
	}
	return get16(packet + 18);
}

static void
expect_sent(struct bench *b, struct rte_mbuf *m, uint16_t mtu, const uint8_t *inner, uint32_t len)
{
	unsigned int n;

	send_one(b, m);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	n = b->n_sent[UNDERLAY];
	expect_datagram(b->sent[UNDERLAY], n, mtu, 2, inner, len);
	assert_int_equal(bench_since(b, VX_COUNT_FRAGMENTS), n - 1);
	assert_int_equal(bench_since(b, VX_COUNT_FRAGMENTED), n > 1);
	assert_int_equal(bench_since(b, VX_COUNT_ENCAP), 1);
	bench_settle(b);
}

/* Around each multiple of what one fragment carries, for each MTU. */
static void
test_boundaries(void **state)
{
	static uint8_t inner[LARGEST];
	struct bench *b = *state;

	make_frame(inner, sizeof(inner), host_b, host_a);
	for (unsigned int i = 0; i < RTE_DIM(mtus); i++) {
		const uint32_t part = (mtus[i] - 20u) / 8 * 8;

		bench_path_mtu(b, 0, mtus[i]);
		for (int32_t d = -9; d <= 9; d++) {
			const uint32_t fits = mtus[i] - 36u + (uint32_t)d;

			expect_sent(b, bench_mbuf(b, inner, fits), mtus[i], inner, fits);
			for (uint32_t k = 2; k <= 5 && k * part < 65000; k++) {
				const uint32_t len = k * part - 16 + (uint32_t)d;

				expect_sent(b, bench_mbuf(b, inner, len), mtus[i], inner, len);
			}
		}
	}
}

static void
test_largest(void **state)
{
	static uint8_t inner[LARGEST + 1];
	struct bench *b = *state;
	struct vx_inner frame;

	make_frame(inner, sizeof(inner), host_b, host_a);
	for (unsigned int i = 0; i < RTE_DIM(mtus); i++) {
		bench_path_mtu(b, 0, mtus[i]);
		expect_sent(b, bench_mbuf(b, inner, LARGEST), mtus[i], inner, LARGEST);
		expect_sent(b, bench_mbuf(b, inner, LARGEST - 1), mtus[i], inner, LARGEST - 1);
	}
	/* One more byte: the segment's MTU, and behind it the 16 bits of an IP length. */
	send_one(b, bench_mbuf(b, inner, LARGEST + 1));
	bench_expect_only_drop(b, VX_DROP_INNER_TOO_BIG, 1);
	frame = (struct vx_inner){
		.m = bench_mbuf(b, inner, LARGEST + 1),
		.segment = vx_segment_find(b->tables, VNI, NULL),
		.vtep = b->tables->vtep[0],
	};
	bench_mark(b);
	b->lcore[0]->view = b->tables->view;
	vx_lcore_count(b->lcore[0], VX_COUNT_RX, 1);
	vx_encap(b->lcore[0], &frame);
	bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
}

/* Segments that end anywhere, and headers in a buffer of their own. */
static void
test_chains(void **state)
{
	static uint8_t inner[4001];
	struct bench *b = *state;
	struct rte_mbuf *m, *original;

	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	for (uint32_t cut = 1; cut < 4000; cut += cut < 40 || cut % 1480 > 1400 ? 1 : 61) {
		m = bench_split(b, inner, sizeof(inner), cut, RTE_MIN(cut + 1 + cut % 7, 4000u));
		if (cut % 2 == 1) {
			memmove((uint8_t *)m->buf_addr, rte_pktmbuf_mtod(m, void *), m->data_len);
			m->data_off = 0;
		}
		expect_sent(b, m, 1500, inner, sizeof(inner));
	}
	original = bench_mbuf(b, inner, sizeof(inner));
	m = rte_pktmbuf_clone(original, b->pool);
	assert_non_null(m);
	send_one(b, m);
	expect_datagram(b->sent[UNDERLAY], b->n_sent[UNDERLAY], 1500, 2, inner, sizeof(inner));
	bench_expect_bytes(original, inner, sizeof(inner));
	rte_pktmbuf_free(original);
}

/* Fragments that live longer than each other, freed in odd orders. */
static void
test_payload_shared(void **state)
{
	static uint8_t inner[9000];
	struct bench *b = *state;

	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	send_one(b, bench_mbuf(b, inner, sizeof(inner)));
	assert_int_equal(rte_mempool_in_use_count(b->pool), 5);
	for (uint32_t i = 0; i < b->n_sent[UNDERLAY]; i++) {
		const struct rte_mbuf *m = b->sent[UNDERLAY][i];

		/* 34 bytes of its own, all else in the frame's buffers: the first is the frame. */
		if (i == 0)
			assert_ptr_equal(m->pool, b->pool);
		else
			assert_int_equal(m->data_len, HEADERS);
		for (m = m->next; m != NULL; m = m->next)
			assert_true(m->pool == b->pool || (m->ol_flags & RTE_MBUF_F_INDIRECT) != 0);
	}
	for (uint32_t i = 0; i < b->n_sent[UNDERLAY]; i += 2) {
		rte_pktmbuf_free(b->sent[UNDERLAY][i]);
		b->sent[UNDERLAY][i] = NULL;
	}
}

static void
test_ids(void **state)
{
	static bool seen[65536];
	struct bench *b = *state;
	uint8_t inner[3000];

	memset(seen, 0, sizeof(seen));
	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	for (unsigned int i = 0; i < 1000; i++) {
		struct rte_mbuf *m = bench_mbuf(b, inner, sizeof(inner));
		unsigned int id;

		bench_access(b, i % 2, 1, &m, 1);
		id = expect_datagram(b->sent[UNDERLAY], b->n_sent[UNDERLAY], 1500, 2, inner,
				     sizeof(inner));
		assert_false(seen[id]);
		seen[id] = true;
		bench_settle(b);
	}
}

/* All fragments or none. */
static void
test_no_buffers(void **state)
{
	struct rte_mbuf *taken[COPY_MBUFS];
	struct bench *b = *state;
	uint8_t inner[6000];
	bool was_sent = false;

	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	for (unsigned int left = 0; left < 20; left++) {
		assert_int_equal(rte_pktmbuf_alloc_bulk(b->copy_pool, taken, COPY_MBUFS - left), 0);
		send_one(b, bench_mbuf(b, inner, sizeof(inner)));
		assert_true(b->n_sent[UNDERLAY] == 0 || b->n_sent[UNDERLAY] == 5);
		bench_expect_only_drop(b, VX_DROP_NO_MBUF, b->n_sent[UNDERLAY] == 0);
		assert_true(!was_sent || b->n_sent[UNDERLAY] == 5);
		was_sent = b->n_sent[UNDERLAY] == 5;
		/* Four headers and a piece for each of the four places where it is cut, and one
		 * that is only needed where the frame's buffer is shared. */
		assert_true(left >= 9 || !was_sent);
		rte_pktmbuf_free_bulk(taken, COPY_MBUFS - left);
		bench_settle(b);
	}
	assert_true(was_sent);
}

static void
test_flood(void **state)
{
	static const uint32_t lens[] = {1465, 9000, LARGEST};
	static uint8_t inner[LARGEST];
	struct bench *b = *state;

	bench_path_mtu(b, bench_flood(b, VNI, 3, VX_VTEP_READY), 1280);
	bench_path_mtu(b, bench_flood(b, VNI, 4, VX_VTEP_READY), 576);
	bench_path_mtu(b, 0, 1500);
	make_frame(inner, sizeof(inner), (const uint8_t[]){255, 255, 255, 255, 255, 255}, host_a);
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		const unsigned int n2 = pieces_expected(lens[i] + 36, 1500);
		const unsigned int n3 = pieces_expected(lens[i] + 36, 1280);
		const unsigned int n4 = pieces_expected(lens[i] + 36, 576);

		send_one(b, bench_mbuf(b, inner, lens[i]));
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		assert_int_equal(b->n_sent[UNDERLAY], n2 + n3 + n4);
		expect_datagram(b->sent[UNDERLAY], n2, 1500, 2, inner, lens[i]);
		expect_datagram(b->sent[UNDERLAY] + n2, n3, 1280, 3, inner, lens[i]);
		expect_datagram(b->sent[UNDERLAY] + n2 + n3, n4, 576, 4, inner, lens[i]);
		bench_settle(b);
	}
}

/* auto was checked above: here on and off. */
static void
test_udp_checksum(void **state)
{
	static uint8_t packet[5000];
	struct bench *b = *state;
	uint8_t inner[3000];

	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t was[2];

		BENCH_VIEW(b, udp_checksum, i == 0 ? VX_UDP_CHECKSUM_OFF : VX_UDP_CHECKSUM_ON);
		send_one(b, bench_mbuf(b, inner, sizeof(inner)));
		pieces_join(packet, b->sent[UNDERLAY], b->n_sent[UNDERLAY], 0, 1500);
		memcpy(was, packet + 40, 2);
		assert_int_equal(get16(was) != 0, i);
		fix_udp(packet);
		assert_int_equal(memcmp(packet + 40, was, 2) == 0, i);
		bench_settle(b);
	}
}

/* For each setting: with DF one packet that fits carries it, and one that does not is dropped. */
static void
test_df(void **state)
{
	static const struct {
		enum vx_df df;
		bool is_set[4]; /* IPv4 with DF, without, IPv6, not IP */
	} cases[] = {
		{VX_DF_ON, {true, true, true, true}},
		{VX_DF_OFF, {false}},
		{VX_DF_INHERIT, {true, false, true, false}},
	};
	uint8_t inner[2000], packet[2100];
	struct bench *b = *state;

	bench_path_mtu(b, 0, 1500);
	for (unsigned int i = 0; i < RTE_DIM(cases) * 8; i++) {
		const uint32_t len = i % 2 == 0 ? 1464 : 1465;
		const unsigned int kind = i / 2 % 4;
		const bool is_set = cases[i / 8].is_set[kind];

		BENCH_VIEW(b, df, cases[i / 8].df);
		if (kind < 2)
			make_ipv4(inner, len, kind == 0);
		else if (kind == 2)
			make_ipv6(inner, len);
		else
			make_frame(inner, len, host_b, host_a);
		send_one(b, bench_mbuf(b, inner, len));
		bench_expect_only_drop(b, VX_DROP_NEEDS_FRAGMENT_DF, is_set && len == 1465);
		assert_int_equal(b->n_sent[UNDERLAY], len == 1464 ? 1 : is_set ? 0 : 2);
		if (len == 1464) {
			pieces_join(packet, b->sent[UNDERLAY], 1, 0, 1500);
			assert_int_equal(get16(packet + 20), is_set ? 0x4000 : 0);
		}
		bench_settle(b);
	}
}

static void
test_resolving(void **state)
{
	const struct vx_vtep_path path = bench_path(VX_VTEP_RESOLVING);
	struct bench *b = *state;
	struct rte_mbuf *held[100];
	struct vx_punt punt;
	static uint8_t inner[LARGEST];
	unsigned int n = 0;

	make_frame(inner, sizeof(inner), host_b, host_a);
	vx_vtep_set_path(b->tables, 0, &path);
	bench_path_mtu(b, 0, 1500);
	send_one(b, bench_mbuf(b, inner, 9000));
	assert_int_equal(bench_since(b, VX_COUNT_HELD), 7);
	assert_int_equal(b->n_sent[UNDERLAY], 0);
	while (bench_punt(b, &punt)) {
		assert_int_equal(punt.kind, VX_PUNT_HOLD);
		assert_int_equal(punt.port, UNDERLAY);
		held[n++] = punt.m;
	}
	expect_datagram(held, n, 1500, 2, inner, 9000);
	rte_pktmbuf_free_bulk(held, n);
	/* More than the ring takes. */
	bench_path_mtu(b, 0, 576);
	send_one(b, bench_mbuf(b, inner, LARGEST));
	assert_int_equal(bench_since(b, VX_COUNT_HELD), 63);
	bench_expect_only_drop(b, VX_DROP_NEIGH_QUEUE, pieces_expected(LARGEST + 36, 576) - 63);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_boundaries), TEST(test_largest),	  TEST(test_chains),
		TEST(test_ids),	       TEST(test_payload_shared), TEST(test_no_buffers),
		TEST(test_flood),      TEST(test_udp_checksum),	  TEST(test_df),
		TEST(test_resolving),
	};

	return cmocka_run_group_tests_name("path_fragment", tests, NULL, NULL);
}
