/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning records, and where frames of known destinations go or do not go. */
#include "test_path_bench.h"

/* Ports 1 and 2 in VNI 100, VTEP 2 known and ready. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 2, 1);
	bench_flood(b, VNI, 2, VX_VTEP_READY);
	return 0;
}

static void
from_port(struct bench *b, uint16_t port, const uint8_t *destination, const uint8_t *source)
{
	uint8_t inner[60];
	struct rte_mbuf *m;

	make_frame(inner, sizeof(inner), destination, source);
	m = bench_mbuf(b, inner, sizeof(inner));
	bench_mark(b);
	bench_access(b, 0, port, &m, 1);
}

static void
from_vtep(struct bench *b, unsigned int vtep, const uint8_t *destination, const uint8_t *source)
{
	uint8_t inner[60], packet[110];
	struct rte_mbuf *m;

	make_frame(inner, sizeof(inner), destination, source);
	m = bench_mbuf(b, packet, make_vxlan(packet, vtep, VNI, inner, sizeof(inner)));
	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

static void
expect_record(struct bench *b, const uint8_t *source, uint32_t dest)
{
	struct rte_ether_addr mac;
	struct vx_learn learn;

	memcpy(&mac, source, sizeof(mac));
	assert_int_equal(bench_since(b, VX_COUNT_LEARN_EVENTS), 1);
	assert_true(bench_learn(b, &learn));
	assert_int_equal(learn.key, vx_fdb_key_of(0, &mac));
	assert_int_equal(learn.dest, dest);
	assert_false(bench_learn(b, &learn));
}

static void
expect_nothing(struct bench *b)
{
	struct vx_learn learn;

	assert_int_equal(bench_since(b, VX_COUNT_LEARN_EVENTS), 0);
	assert_false(bench_learn(b, &learn));
}

static void
later(struct bench *b)
{
	b->lcore[0]->now += UINT64_C(1) << 26;
}

static void
test_posted_once(void **state)
{
	struct bench *b = *state;

	from_port(b, 1, host_b, host_a);
	expect_record(b, host_a, bench_attach_index(b, 1));
	/* Again at once, and again with frames of a tunnel in between: not posted again. */
	from_port(b, 1, host_b, host_a);
	expect_nothing(b);
	from_vtep(b, 2, host_a, host_c);
	expect_record(b, host_c, VX_DEST_VTEP | 0);
	from_vtep(b, 2, host_a, host_c);
	expect_nothing(b);
	from_port(b, 1, host_b, host_a);
	expect_nothing(b);
	later(b);
	from_port(b, 1, host_b, host_a);
	expect_record(b, host_a, bench_attach_index(b, 1));
}

/* One new MAC in a whole burst: one record, whatever lay in the burst's arrays before. */
static void
test_posted_once_a_burst(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60], packet[110];
	struct rte_mbuf *m[64];

	for (unsigned int i = 0; i < 64; i++) {
		make_frame(inner, sizeof(inner), host_a, host_c);
		make_vxlan(packet, 3 + i % 8, VNI, inner, sizeof(inner));
		m[i] = bench_mbuf(b, packet, sizeof(packet));
	}
	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, m, 64);
	for (struct vx_learn learn; bench_learn(b, &learn);)
		continue;
	for (unsigned int i = 0; i < 64; i++) {
		make_frame(inner, sizeof(inner), host_b, host_a);
		m[i] = bench_mbuf(b, inner, sizeof(inner));
	}
	bench_mark(b);
	bench_access(b, 0, 1, m, 64);
	expect_record(b, host_a, bench_attach_index(b, 1));
}

static void
test_unknown_vtep(void **state)
{
	struct vx_learn learn;
	struct bench *b = *state;

	from_vtep(b, 7, host_a, host_c);
	assert_true(bench_learn(b, &learn));
	assert_int_equal(learn.dest, VX_DEST_NONE);
	assert_memory_equal(learn.remote.bytes + 12, ((const uint8_t[]){198, 51, 100, 7}), 4);
	/* The same MAC behind two VTEPs is two records. */
	from_vtep(b, 8, host_a, host_c);
	assert_true(bench_learn(b, &learn));
	assert_int_equal(learn.remote.bytes[15], 8);
	/* Delivered all the same: learning holds nothing up. */
	assert_int_equal(b->n_sent[1], 2);
	assert_int_equal(b->n_sent[UNDERLAY], 0);
}

static void
test_known_is_touched(void **state)
{
	struct bench *b = *state;
	struct vx_fdb_entry entry;
	struct rte_ether_addr mac;

	bench_fdb(b, VNI, host_a, bench_attach_index(b, 1), false);
	vx_fdb_age(b->tables, 200, 1);
	memcpy(&mac, host_a, sizeof(mac));
	assert_true(vx_fdb_get(b->tables->fdb, vx_fdb_key_of(0, &mac), &entry));
	assert_int_equal(entry.age, 200);
	from_port(b, 1, host_b, host_a);
	expect_nothing(b);
	assert_true(vx_fdb_get(b->tables->fdb, vx_fdb_key_of(0, &mac), &entry));
	assert_int_equal(entry.age, 0);
	assert_int_equal(vx_fdb_age(b->tables, 500, 1), 0);
	assert_int_equal(vx_fdb_age(b->tables, 501, 1), 1);
}

static void
test_moved(void **state)
{
	struct bench *b = *state;

	bench_fdb(b, VNI, host_a, bench_attach_index(b, 1), false);
	from_port(b, 2, host_b, host_a);
	expect_record(b, host_a, bench_attach_index(b, 2));
	from_vtep(b, 2, host_b, host_a);
	expect_record(b, host_a, VX_DEST_VTEP | 0);
	from_port(b, 1, host_b, host_a);
	expect_nothing(b); /* where the FDB has it still */
}

static void
test_static_conflict(void **state)
{
	struct bench *b = *state;

	bench_fdb(b, VNI, host_a, bench_attach_index(b, 1), true);
	from_port(b, 2, host_b, host_a);
	expect_nothing(b);
	assert_int_equal(bench_since(b, VX_COUNT_STATIC_CONFLICT), 1);
	from_vtep(b, 2, host_b, host_a);
	assert_int_equal(bench_since(b, VX_COUNT_STATIC_CONFLICT), 1);
	from_vtep(b, 7, host_b, host_a);
	assert_int_equal(bench_since(b, VX_COUNT_STATIC_CONFLICT), 1);
	from_port(b, 1, host_b, host_a);
	assert_int_equal(bench_since(b, VX_COUNT_STATIC_CONFLICT), 0);
	/* With learning off nobody asked: no conflict, no record. */
	assert_int_equal(vx_segment_set_learning(b->tables, VNI, false, NULL), 0);
	from_port(b, 2, host_b, host_a);
	assert_int_equal(bench_since(b, VX_COUNT_STATIC_CONFLICT), 0);
	from_port(b, 2, host_b, host_c);
	expect_nothing(b);
}

static void
test_ring_full(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60], source[6];
	struct rte_mbuf *m[100];

	memcpy(source, host_a, 6);
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		source[3] = (uint8_t)i;
		make_frame(inner, sizeof(inner), host_b, source);
		m[i] = bench_mbuf(b, inner, sizeof(inner));
	}
	bench_mark(b);
	bench_access(b, 0, 1, m, RTE_DIM(m));
	assert_int_equal(bench_since(b, VX_COUNT_LEARN_EVENTS), 63);
	assert_int_equal(bench_since(b, VX_COUNT_LEARN_RING_FULL), 37);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	bench_settle(b);
	/* What was lost is reported with the next frame, without waiting for the filter. */
	for (struct vx_learn learn; bench_learn(b, &learn);)
		continue;
	source[3] = 99;
	from_port(b, 1, host_b, source);
	expect_record(b, source, bench_attach_index(b, 1));
}

static void
test_split_horizon(void **state)
{
	struct bench *b = *state;
	const uint32_t other = bench_flood(b, VNI, 3, VX_VTEP_READY);

	bench_fdb(b, VNI, host_b, VX_DEST_VTEP | other, true);
	from_vtep(b, 2, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_SPLIT_HORIZON, 1);
	from_vtep(b, 3, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_SPLIT_HORIZON, 1);
	from_vtep(b, 7, host_b, host_a); /* from one that is not known yet */
	bench_expect_only_drop(b, VX_DROP_SPLIT_HORIZON, 1);
	from_port(b, 1, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
}

static void
test_same_port(void **state)
{
	struct bench *b = *state;

	bench_fdb(b, VNI, host_b, bench_attach_index(b, 1), true);
	from_port(b, 1, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_SAME_PORT, 1);
	from_port(b, 2, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[1], 1); /* from port to port without a tunnel */
	assert_int_equal(b->n_sent[2] + b->n_sent[UNDERLAY], 0);
}

static void
test_peers_known(void **state)
{
	const struct vx_ip learned = bench_remote(4);
	struct bench *b = *state;
	struct vx_view *view = vx_view_edit(b->tables);
	int64_t index;

	view->is_peers_known = true;
	vx_view_publish(b->tables, view);
	index = vx_vtep_get(b->tables, &learned, VX_VTEP_LEARNED);
	from_vtep(b, 2, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	expect_record(b, host_a, VX_DEST_VTEP | 0);
	from_vtep(b, 3, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_PEER_UNKNOWN, 1);
	from_vtep(b, 4, host_b, host_a); /* known by learning only */
	bench_expect_only_drop(b, VX_DROP_PEER_UNKNOWN, 1);
	expect_nothing(b);
	bench_fdb(b, VNI, host_c, VX_DEST_VTEP | (uint32_t)index, true);
	from_vtep(b, 4, host_b, host_a);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_posted_once),	 TEST(test_posted_once_a_burst),
		TEST(test_unknown_vtep), TEST(test_known_is_touched),
		TEST(test_moved),	 TEST(test_static_conflict),
		TEST(test_ring_full),	 TEST(test_split_horizon),
		TEST(test_same_port),	 TEST(test_peers_known),
	};

	return cmocka_run_group_tests_name("path_learn", tests, NULL, NULL);
}
