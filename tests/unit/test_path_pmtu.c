/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP "fragmentation needed" about our own packets, and what the tables make of it. */
#include "test_path_pieces.h"

#define LEN 1464u /* the largest frame that fits 1500 */

static uint8_t inner[9000];

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 8900, &b->err), 0);
	bench_fdb(b, VNI, host_b, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), true);
	bench_path_mtu(b, 0, 1500);
	make_frame(inner, sizeof(inner), host_b, host_a);
	return 0;
}

static void
send_frame(struct bench *b, uint32_t len)
{
	struct rte_mbuf *m = bench_mbuf(b, inner, len);

	bench_mark(b);
	bench_access(b, 0, 1, &m, 1);
}

#define ICMP   34 /* offsets in what make_needed() writes */
#define QUOTED 42

static void
fix_icmp(uint8_t *to, uint32_t len)
{
	put16(to + 36, 0);
	put16(to + 36, plain_checksum(to + ICMP, len - ICMP));
}

/* A router's message that a packet just sent, of which it quotes @quote bytes, is too big. */
static uint32_t
make_needed(struct bench *b, uint8_t *to, uint32_t mtu, uint32_t quote)
{
	static uint8_t sent[10000];
	const uint32_t len = QUOTED + quote;

	send_frame(b, LEN);
	bench_bytes(b->sent[UNDERLAY][0], sent, sizeof(sent));
	bench_settle(b);
	make_vxlan(to, 77, VNI, inner, 60);
	to[23] = 1;
	put16(to + 16, len - 14);
	fix_ip(to);
	memset(to + ICMP, 0, 8);
	to[ICMP] = 3;
	to[ICMP + 1] = 4;
	put16(to + ICMP + 6, mtu);
	memcpy(to + QUOTED, sent + 14, quote);
	fix_icmp(to, len);
	return len;
}

static void
receive(struct bench *b, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

static void
expect_told(struct bench *b, uint16_t mtu)
{
	struct vx_punt punt;

	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
	assert_int_equal(bench_since(b, VX_COUNT_PMTU_IGNORED), 0);
	assert_true(bench_punt(b, &punt));
	assert_int_equal(punt.kind, VX_PUNT_PMTU);
	assert_int_equal(punt.mtu, mtu);
	assert_memory_equal(punt.remote.bytes + 12, ((const uint8_t[]){198, 51, 100, 2}), 4);
	assert_false(bench_punt(b, &punt));
	assert_int_equal(b->n_sent[UNDERLAY], 0);
}

/* What is quoted may be 28 bytes or much more, and in any segments. */
static void
test_told(void **state)
{
	struct bench *b = *state;
	uint8_t packet[700];

	for (uint32_t quote = 28; quote <= 548; quote += quote < 31 ? 1 : 47) {
		const uint32_t len = make_needed(b, packet, 1400, quote);

		for (uint32_t cut = 0; cut < 72; cut += 1 + (cut > 0)) {
			receive(b, bench_split(b, packet, len, cut < len ? cut : 0, 0));
			expect_told(b, 1400);
			b->lcore[0]->now += UINT64_C(1) << 30;
		}
	}
	for (uint32_t mtu = 0; mtu < 1500;
	     mtu += 1 + mtu / 3) { /* the tables say what is believed */
		receive(b, bench_mbuf(b, packet, make_needed(b, packet, mtu, 28)));
		expect_told(b, (uint16_t)mtu);
	}
	receive(b, bench_mbuf(b, packet, make_needed(b, packet, 1499, 28)));
	expect_told(b, 1499);
}

/* Of packets that are not ours, or that need not have been said: counted, and that is all. */
static void
test_ignored(void **state)
{
	static const struct {
		uint32_t at;
		unsigned int value; /* two bytes */
	} forged[] = {
		{QUOTED + 14, 0xcb00}, /* source: not a local address */
		{QUOTED + 22, 4790},   /* destination port */
		{QUOTED + 20, 49151},  /* source port: below our range */
		{QUOTED + 2, 1400},    /* a packet of the MTU that it gives */
		{QUOTED + 2, 100},     {ICMP + 6, 1500},
		{ICMP + 6, 65535},     {QUOTED + 8, 64 << 8 | 6}, /* TCP */
		{QUOTED, 0x4600},				  /* our packets have no options */
		{QUOTED, 0x6500},
	};
	struct vx_punt punt;
	struct bench *b = *state;
	uint8_t packet[200];

	for (unsigned int i = 0; i < RTE_DIM(forged); i++) {
		const uint32_t len = make_needed(b, packet, 1400, 28);

		put16(packet + forged[i].at, forged[i].value);
		fix_icmp(packet, len);
		receive(b, bench_mbuf(b, packet, len));
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		assert_int_equal(bench_since(b, VX_COUNT_PMTU_IGNORED), 1);
		assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
		assert_false(bench_punt(b, &punt));
	}
	BENCH_VIEW(b, source_ports, 1); /* now ours was above the range */
	make_needed(b, packet, 1400, 28);
	put16(packet + QUOTED + 20, b->tables->view->source_port_lo + 1u);
	fix_icmp(packet, QUOTED + 28);
	receive(b, bench_mbuf(b, packet, QUOTED + 28));
	assert_int_equal(bench_since(b, VX_COUNT_PMTU_IGNORED), 1);
}

/* Other ICMP, and messages that cannot be relied upon. */
static void
test_bad(void **state)
{
	struct bench *b = *state;
	struct vx_punt punt;
	uint8_t packet[200];
	uint32_t len;

	for (unsigned int i = 0; i < 4; i++) {
		len = make_needed(b, packet, 1400, i == 3 ? 27 : 28);
		if (i == 0)
			packet[36] ^= 1;
		else if (i < 3)
			packet[ICMP + i - 1] ^= 1;
		if (i > 0)
			fix_icmp(packet, len);
		receive(b, bench_mbuf(b, packet, len));
		bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
		assert_false(bench_punt(b, &punt));
	}
}

/* A flood of them costs the control thread no more than other ICMP. */
static void
test_floods(void **state)
{
	struct rte_mbuf *m[130];
	struct bench *b = *state;
	uint8_t packet[200];
	uint32_t len = make_needed(b, packet, 1400, 28);

	for (unsigned int i = 0; i < RTE_DIM(m); i++)
		m[i] = bench_mbuf(b, packet, len);
	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, m, RTE_DIM(m));
	bench_expect_only_drop(b, VX_DROP_HOST_RATE, 30);
	assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 100);
	assert_int_equal(bench_since(b, VX_COUNT_PUNT_RING_FULL), 37);
}

/* From the message to smaller fragments. */
static void
expect_cut_to(struct bench *b, uint32_t mtu)
{
	static uint8_t packet[9000];

	send_frame(b, 4000);
	assert_int_equal(pieces_join(packet, b->sent[UNDERLAY], b->n_sent[UNDERLAY], 0, mtu),
			 4000 + OUTER_LEN);
	assert_memory_equal(packet + OUTER_LEN, inner, 4000);
	bench_settle(b);
}

static void
test_lowered(void **state)
{
	struct bench *b = *state;
	uint8_t packet[200];

	expect_cut_to(b, 1500);
	receive(b, bench_mbuf(b, packet, make_needed(b, packet, 1300, 28)));
	expect_told(b, 1300);
	assert_true(vx_vtep_learn_path_mtu(b->tables, 0, 1300, 0));
	assert_int_equal(b->tables->vtep[0]->mtu, 1300);
	expect_cut_to(b, 1300);
	assert_true(vx_vtep_learn_path_mtu(b->tables, 0, 576, 0));
	expect_cut_to(b, 576);
}

static void
test_what_is_believed(void **state)
{
	static const uint16_t useless[] = {0, 1, 68, 575, 1400, 1401, 1500, 65535};
	struct vx_vtep_path path = bench_path(VX_VTEP_NO_ROUTE);
	struct bench *b = *state;
	bool is_set = true;

	assert_int_equal(vx_vtep_path_mtu(b->tables, 0, &is_set), 0);
	assert_false(is_set);
	assert_false(vx_vtep_learn_path_mtu(b->tables, 0, 1500, 0)); /* the port's */
	assert_true(vx_vtep_learn_path_mtu(b->tables, 0, 1400, 0));
	for (unsigned int i = 0; i < RTE_DIM(useless); i++)
		assert_false(vx_vtep_learn_path_mtu(b->tables, 0, useless[i], 0));
	assert_int_equal(b->tables->vtep[0]->mtu, 1400);
	assert_int_equal(vx_vtep_path_mtu(b->tables, 0, &is_set), 1400);
	assert_false(is_set);
	/* The port's MTU counts where it is smaller, and the path's again where it is not. */
	bench_path_mtu(b, 0, 1000);
	assert_int_equal(b->tables->vtep[0]->mtu, 1000);
	bench_path_mtu(b, 0, 9000);
	assert_int_equal(b->tables->vtep[0]->mtu, 1400);
	path.mtu = 0;
	vx_vtep_set_path(b->tables, 0, &path);
	assert_false(vx_vtep_learn_path_mtu(b->tables, 0, 600, 0));
}

static void
test_ageing(void **state)
{
	const uint32_t other = bench_flood(*state, VNI, 3, VX_VTEP_READY);
	struct bench *b = *state;

	assert_true(vx_vtep_learn_path_mtu(b->tables, 0, 1400, 5000));
	assert_true(vx_vtep_learn_path_mtu(b->tables, other, 1400, 6000));
	vx_vtep_age_path_mtus(b->tables, 5000 + VX_PATH_MTU_AGE_MS - 1);
	assert_int_equal(b->tables->vtep[0]->mtu, 1400);
	vx_vtep_age_path_mtus(b->tables, 5000 + VX_PATH_MTU_AGE_MS);
	assert_int_equal(b->tables->vtep[0]->mtu, 1500);
	assert_int_equal(b->tables->vtep[other]->mtu, 1400);
	expect_cut_to(b, 1500);
	/* Lowered once more: from then on. */
	assert_true(vx_vtep_learn_path_mtu(b->tables, other, 1300, 7000));
	vx_vtep_age_path_mtus(b->tables, 6000 + VX_PATH_MTU_AGE_MS);
	assert_int_equal(b->tables->vtep[other]->mtu, 1300);
	vx_vtep_age_path_mtus(b->tables, 7000 + VX_PATH_MTU_AGE_MS);
	assert_int_equal(b->tables->vtep[other]->mtu, 65535);
}

static void
test_set(void **state)
{
	const struct vx_ip remote = bench_remote(3);
	struct bench *b = *state;
	uint32_t index;
	bool is_set;

	assert_true(vx_vtep_learn_path_mtu(b->tables, 0, 1300, 0));
	vx_vtep_set_path_mtu(b->tables, 0, 1400);
	assert_int_equal(b->tables->vtep[0]->mtu, 1400);
	assert_int_equal(vx_vtep_path_mtu(b->tables, 0, &is_set), 1400);
	assert_true(is_set);
	expect_cut_to(b, 1400);
	/* Neither ICMP nor time changes it. */
	assert_false(vx_vtep_learn_path_mtu(b->tables, 0, 1300, 0));
	vx_vtep_age_path_mtus(b->tables, UINT64_MAX);
	assert_int_equal(b->tables->vtep[0]->mtu, 1400);
	/* More than the port carries is no use. */
	vx_vtep_set_path_mtu(b->tables, 0, 9000);
	assert_int_equal(b->tables->vtep[0]->mtu, 1500);
	vx_vtep_set_path_mtu(b->tables, 0, 0);
	assert_int_equal(b->tables->vtep[0]->mtu, 1500);
	assert_true(vx_vtep_learn_path_mtu(b->tables, 0, 1300, 0));
	/* Gone with its VTEP: the next one under the same index knows nothing of it. */
	index = bench_flood(b, VNI, 3, VX_VTEP_READY);
	vx_vtep_set_path_mtu(b->tables, index, 600);
	assert_int_equal(vx_segment_flood_del(b->tables, VNI, &remote, &b->err), 0);
	for (unsigned int i = 3; i < 16; i++) {
		const uint32_t fresh = bench_flood(b, VNI, i, VX_VTEP_READY);

		assert_int_equal(b->tables->vtep[fresh]->mtu, 65535);
		assert_int_equal(vx_vtep_path_mtu(b->tables, fresh, &is_set), 0);
		assert_false(is_set);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_told),   TEST(test_ignored), TEST(test_bad),
		TEST(test_floods), TEST(test_lowered), TEST(test_what_is_believed),
		TEST(test_ageing), TEST(test_set),
	};

	return cmocka_run_group_tests_name("path_pmtu", tests, NULL, NULL);
}
