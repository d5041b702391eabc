/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports can and cannot be given, and access frames on their way in. */
#include "test_path_bench.h"

static struct vx_view *view_now; /* the change in work */

/* Ports 1 and 2 in VNI 100; host B is behind port 2, host C behind VTEP 2. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 2, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 65485, &b->err), 0);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 2), true);
	bench_fdb(b, VNI, host_c, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), true);
	return 0;
}

static struct vx_view_port *
edit_port(struct bench *b, uint16_t port)
{
	view_now = vx_view_edit(b->tables);
	assert_non_null(view_now);
	return &view_now->port[port];
}

static void
publish(struct bench *b)
{
	vx_view_publish(b->tables, view_now);
}

static void
send_frame(struct bench *b, const uint8_t *destination, uint32_t len, uint32_t cut)
{
	static uint8_t inner[70000];
	struct rte_mbuf *m;

	bench_settle(b);
	memset(inner, 0, 60);
	make_frame(inner, len, destination, host_a);
	m = bench_split(b, inner, len, cut, 0);
	bench_mark(b);
	bench_access(b, 0, 1, &m, 1);
	if (b->n_sent[2] == 1)
		bench_expect_bytes(b->sent[2][0], inner, RTE_MAX(len, 60u));
}

static void
test_port_down(void **state)
{
	struct bench *b = *state;

	edit_port(b, 2)->is_up = false;
	publish(b);
	send_frame(b, host_b, 100, 0);
	bench_expect_only_drop(b, VX_DROP_TX_PORT_DOWN, 1);
	edit_port(b, 2)->is_up = true;
	publish(b);
	send_frame(b, host_b, 100, 0);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[2], 1);
}

static void
test_too_long(void **state)
{
	struct bench *b = *state;

	edit_port(b, 2)->max_tx_frame = 1514;
	publish(b);
	send_frame(b, host_b, 1514, 0);
	assert_int_equal(b->n_sent[2], 1);
	send_frame(b, host_b, 1515, 0);
	bench_expect_only_drop(b, VX_DROP_TX_TOO_LONG, 1);
	edit_port(b, UNDERLAY)->max_tx_frame = 1514;
	publish(b);
	send_frame(b, host_c, 1464, 0);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	send_frame(b, host_c, 1465, 0);
	bench_expect_only_drop(b, VX_DROP_TX_TOO_LONG, 1);
}

static void
test_no_chains(void **state)
{
	static const uint32_t lengths[] = {60, 61, 1000, 2047, 2048, 2049, 8064, 8065, 8192};
	struct bench *b = *state;

	edit_port(b, 2)->max_tx_chain = 0;
	publish(b);
	for (unsigned int i = 0; i < RTE_DIM(lengths); i++) {
		send_frame(b, host_b, lengths[i], 33);
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		assert_int_equal(b->n_sent[2], 1);
		assert_int_equal(b->sent[2][0]->nb_segs, 1);
		assert_int_equal(bench_since(b, VX_COUNT_LINEAR_COPIES), 1);
		bench_settle(b);
	}
	send_frame(b, host_b, 8193, 33); /* no buffer is as large */
	bench_expect_only_drop(b, VX_DROP_TX_TOO_LONG, 1);
	send_frame(b, host_b, 2000, 0); /* in one segment already */
	assert_int_equal(bench_since(b, VX_COUNT_LINEAR_COPIES), 0);
	assert_ptr_equal(b->sent[2][0]->pool, b->pool);
}

static void
test_short_chains_only(void **state)
{
	struct bench *b = *state;

	edit_port(b, 2)->max_tx_chain = 1000;
	publish(b);
	send_frame(b, host_b, 1000, 100);
	assert_int_equal(b->sent[2][0]->nb_segs, 2);
	bench_settle(b);
	send_frame(b, host_b, 1001, 100);
	assert_int_equal(b->sent[2][0]->nb_segs, 1);
	assert_int_equal(bench_since(b, VX_COUNT_LINEAR_COPIES), 1);
}

static void
test_no_linear_buffer(void **state)
{
	struct rte_mbuf *all[63], *m;
	uint8_t frame[1000];
	struct bench *b = *state;

	edit_port(b, 2)->max_tx_chain = 0;
	publish(b);
	make_frame(frame, sizeof(frame), host_b, host_a);
	m = bench_split(b, frame, sizeof(frame), 100, 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(b->linear_pool, all, 63), 0);
	bench_mark(b);
	bench_access(b, 0, 1, &m, 1);
	bench_expect_only_drop(b, VX_DROP_NO_MBUF, 1);
	rte_pktmbuf_free_bulk(all, 63);
	assert_int_equal(b->n_sent[2], 0);
	send_frame(b, host_b, 1000, 100);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
}

/* A port that reads the buffer its mbufs own: clones are copied, wherever they are in a chain. */
static void
test_no_indirect(void **state)
{
	static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct bench *b = *state;

	bench_flood(b, VNI, 3, VX_VTEP_READY);
	edit_port(b, 2)->takes_indirect = false;
	view_now->port[UNDERLAY].takes_indirect = false;
	publish(b);
	send_frame(b, everybody, 500, 0);
	assert_int_equal(b->n_sent[2], 1);
	assert_int_equal(b->n_sent[UNDERLAY], 2);
	for (unsigned int i = 0; i < 3; i++) {
		const struct rte_mbuf *m = i == 2 ? b->sent[2][0] : b->sent[UNDERLAY][i];

		for (; m != NULL; m = m->next)
			assert_int_equal(m->ol_flags & RTE_MBUF_F_INDIRECT, 0);
	}
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
}

static void
test_padding(void **state)
{
	struct bench *b = *state;

	for (uint32_t len = 14; len < 62; len++) {
		for (uint32_t cut = 0; cut < len; cut += 6) {
			send_frame(b, host_b, len, cut);
			assert_int_equal(b->n_sent[2], 1);
			if (len < 60) {
				uint8_t frame[60];

				bench_bytes(b->sent[2][0], frame, sizeof(frame));
				for (uint32_t i = len; i < 60; i++)
					assert_int_equal(frame[i], 0);
			}
			bench_settle(b);
		}
	}
}

/* Packets of the control thread, for the port that each of them names. */
static void
test_inject(void **state)
{
	struct bench *b = *state;
	struct vx_lcore *lcore = b->lcore[0];
	uint8_t frame[60];
	struct rte_mbuf *m[6];

	make_frame(frame, sizeof(frame), host_b, host_a);
	edit_port(b, 3)->is_up = false;
	publish(b);
	for (unsigned int i = 0; i < 6; i++) {
		m[i] = bench_mbuf(b, frame, sizeof(frame));
		m[i]->port = (uint16_t)(i == 5 ? 3 : i % 2 * UNDERLAY_2);
	}
	lcore->view = b->tables->view;
	vx_lcore_count(lcore, VX_COUNT_ORIGINATED, 6); /* as their maker does */
	vx_path_inject(lcore, m, 6);
	assert_int_equal(lcore->tx_pending, 1u << UNDERLAY | 1u << UNDERLAY_2);
	lcore->flush(lcore, UNDERLAY);
	lcore->flush(lcore, UNDERLAY_2);
	assert_int_equal(b->n_sent[UNDERLAY], 3);
	assert_int_equal(b->n_sent[UNDERLAY_2], 2);
	bench_expect_bytes(b->sent[UNDERLAY_2][0], frame, sizeof(frame));
	assert_int_equal(bench_count(b, VX_DROP_TX_PORT_DOWN), 1);
}

/* The sender left its checksum to a NIC: done here, over IPv4 and TCP or UDP, however it lies. */
static void
test_checksum_completed(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60], expected[60], pseudo[12 + 26];
	struct rte_mbuf *m;
	uint16_t checksum;

	memcpy(inner, inner_golden, sizeof(inner));
	put16(inner + 40, 0x1234); /* what the stack left: a partial sum */
	memcpy(expected, inner, sizeof(inner));
	memset(pseudo, 0, sizeof(pseudo));
	memcpy(pseudo, inner + 26, 8);
	pseudo[9] = 17;
	pseudo[11] = 26;
	memcpy(pseudo + 12, inner + 34, 26);
	put16(pseudo + 18, 0);
	checksum = plain_checksum(pseudo, sizeof(pseudo));
	put16(expected + 40, checksum);
	for (uint32_t cut = 0; cut < 60; cut++) {
		m = bench_split(b, inner, sizeof(inner), cut, 0);
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
		bench_mark(b);
		bench_access(b, 0, 1, &m, 1);
		assert_int_equal(bench_since(b, VX_COUNT_INNER_CHECKSUMS), 1);
		assert_int_equal(b->n_sent[2], 1);
		bench_expect_bytes(b->sent[2][0], expected, sizeof(expected));
		assert_int_equal(b->sent[2][0]->ol_flags, 0);
		bench_settle(b);
	}
	/* Without that flag, and for frames without such a checksum, nothing is touched. */
	m = bench_mbuf(b, inner, sizeof(inner));
	bench_mark(b);
	bench_access(b, 0, 1, &m, 1);
	bench_expect_bytes(b->sent[2][0], inner, sizeof(inner));
	inner[23] = 132;
	m = bench_mbuf(b, inner, sizeof(inner));
	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
	bench_access(b, 0, 1, &m, 1);
	bench_expect_bytes(b->sent[2][1], inner, sizeof(inner));
	assert_int_equal(bench_since(b, VX_COUNT_INNER_CHECKSUMS), 0);
}

static void
test_vlan_stripped(void **state)
{
	static const struct {
		uint16_t tci;
		enum vx_drop expected;
	} cases[] = {
		{0, VX_DROP_NONE},
		{0xe000, VX_DROP_NONE},
		{0x1000, VX_DROP_NONE},
		{1, VX_DROP_ACCESS_VLAN},
		{0x0fff, VX_DROP_ACCESS_VLAN},
		{0xe001, VX_DROP_ACCESS_VLAN},
	};
	struct bench *b = *state;
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		m = bench_mbuf(b, inner_golden, sizeof(inner_golden));
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = cases[i].tci;
		bench_mark(b);
		bench_access(b, 0, 1, &m, 1);
		bench_expect_only_drop(b, cases[i].expected, cases[i].expected != VX_DROP_NONE);
	}
	/* Without the flag the field means nothing. */
	m = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	m->vlan_tci = 5;
	bench_mark(b);
	bench_access(b, 0, 1, &m, 1);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_port_down),
		TEST(test_too_long),
		TEST(test_no_chains),
		TEST(test_short_chains_only),
		TEST(test_no_linear_buffer),
		TEST(test_no_indirect),
		TEST(test_padding),
		TEST(test_inject),
		TEST(test_checksum_completed),
		TEST(test_vlan_stripped),
	};

	return cmocka_run_group_tests_name("path_output", tests, NULL, NULL);
}
