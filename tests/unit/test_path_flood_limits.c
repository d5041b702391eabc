/* SPDX-License-Identifier: BSD-3-Clause */
/* What keeps frames from being flooded: switches and rates; and a long flood list. */
#include "test_path_bench.h"

#include <rte_cycles.h>

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t group[6] = {0x33, 0x33, 0, 0, 0, 1};

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

/* A frame from access port 1 or from VTEP 9 (UNDERLAY): flooded, or dropped for @reason. */
static void
expect(struct bench *b, uint16_t from, const uint8_t *destination, enum vx_drop reason)
{
	uint8_t packet[200], inner[60];
	struct rte_mbuf *m;

	make_frame(inner, sizeof(inner), destination, host_a);
	bench_mark(b);
	if (from == UNDERLAY) {
		m = bench_mbuf(b, packet, make_vxlan(packet, 9, VNI, inner, sizeof(inner)));
		bench_underlay(b, 0, UNDERLAY, &m, 1);
	} else {
		m = bench_mbuf(b, inner, sizeof(inner));
		bench_access(b, 0, from, &m, 1);
	}
	bench_expect_only_drop(b, reason, reason != VX_DROP_NONE);
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), reason == VX_DROP_NONE);
	assert_int_equal(b->n_sent[2], reason == VX_DROP_NONE);
	bench_settle(b);
}

/* Each kind can be switched off, in both directions, and nothing else with it. */
static void
test_switches(void **state)
{
	const uint8_t *const destination[VX_FLOOD_KINDS] = {[VX_FLOOD_UNKNOWN] = host_b,
							    [VX_FLOOD_MULTICAST] = group,
							    [VX_FLOOD_BROADCAST] = everybody};
	struct bench *b = *state;

	for (unsigned int off = 0; off < 1u << VX_FLOOD_KINDS; off++) {
		for (unsigned int kind = 0; kind < VX_FLOOD_KINDS; kind++)
			assert_int_equal(vx_segment_set_flood(b->tables, off % 2 == 0 ? VNI : 0,
							      kind, (off >> kind & 1) == 0,
							      &b->err),
					 0);
		/* What was set for the segment stays its own. */
		for (unsigned int kind = 0; kind < VX_FLOOD_KINDS && off % 2 != 0; kind++)
			assert_int_equal(vx_segment_set_flood(b->tables, VNI, kind,
							      (off >> kind & 1) == 0, &b->err),
					 0);
		for (unsigned int kind = 0; kind < VX_FLOOD_KINDS; kind++) {
			const enum vx_drop reason =
				(off >> kind & 1) != 0 ? VX_DROP_FLOOD_OFF : VX_DROP_NONE;

			expect(b, 1, destination[kind], reason);
			expect(b, UNDERLAY, destination[kind], reason);
		}
	}
	assert_int_equal(vx_segment_set_flood(b->tables, 999, VX_FLOOD_UNKNOWN, false, &b->err),
			 -ENOENT);
}

/* Settings for all reach the segments without their own, and those made later. */
static void
test_switch_for_all(void **state)
{
	struct bench *b = *state;

	assert_int_equal(vx_segment_set_flood(b->tables, VNI, VX_FLOOD_BROADCAST, true, &b->err),
			 0);
	assert_int_equal(vx_segment_set_flood(b->tables, 0, VX_FLOOD_BROADCAST, false, &b->err), 0);
	assert_int_equal(vx_segment_set_flood(b->tables, 0, VX_FLOOD_UNKNOWN, false, &b->err), 0);
	expect(b, 1, everybody, VX_DROP_NONE);
	expect(b, 1, host_b, VX_DROP_FLOOD_OFF);
	bench_vni(b, 200, 0, 0);
	assert_int_equal(vx_segment_find(b->tables, 200, NULL)->flood_off,
			 1u << VX_FLOOD_BROADCAST | 1u << VX_FLOOD_UNKNOWN);
	assert_int_equal(vx_segment_set_flood(b->tables, 0, VX_FLOOD_UNKNOWN, true, &b->err), 0);
	expect(b, 1, host_b, VX_DROP_NONE);
}

static void
limit(struct bench *b, uint16_t port, uint32_t rate)
{
	struct vx_view *view = vx_view_edit(b->tables);

	view->port[port].storm_rate = rate;
	vx_view_publish(b->tables, view);
}

/* The clock of the bench stands still unless it is moved. */
static void
test_storm(void **state)
{
	const uint64_t second = rte_get_tsc_hz();
	struct bench *b = *state;

	limit(b, 1, 1000);
	for (unsigned int i = 0; i < 100; i++) /* a tenth of a second's worth at once */
		expect(b, 1, i % 2 == 0 ? everybody : host_b, VX_DROP_NONE);
	expect(b, 1, everybody, VX_DROP_STORM);
	expect(b, 1, group, VX_DROP_STORM);
	/* Other ports, tunnels and known destinations have nothing to do with it. */
	expect(b, UNDERLAY, everybody, VX_DROP_NONE);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 2), true);
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t inner[60];
		struct rte_mbuf *m;

		make_frame(inner, sizeof(inner), host_b, host_a);
		m = bench_mbuf(b, inner, sizeof(inner));
		bench_mark(b);
		bench_access(b, 0, 1, &m, 1);
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		bench_settle(b);
	}
	b->lcore[0]->now += second / 1000 * 3 + 1000; /* three more */
	for (unsigned int i = 0; i < 3; i++)
		expect(b, 1, everybody, VX_DROP_NONE);
	expect(b, 1, everybody, VX_DROP_STORM);
	/* A small limit still lets a few through at once; a new limit begins afresh. */
	limit(b, 1, 1);
	for (unsigned int i = 0; i < 16; i++)
		expect(b, 1, everybody, VX_DROP_NONE);
	expect(b, 1, everybody, VX_DROP_STORM);
	limit(b, 1, 0);
	for (unsigned int i = 0; i < 50; i++)
		expect(b, 1, everybody, VX_DROP_NONE);
}

/* 256 VTEPs, a chain that is whole and one that is cut for each: the payload is never copied. */
static void
test_long_list(void **state)
{
	enum {
		VTEPS = 256
	};
	static uint8_t inner[3000];
	struct bench *b = *state;
	struct vx_vtep_path path = bench_path(VX_VTEP_READY);
	struct rte_mbuf *m;

	assert_int_equal(vx_segment_set_mtu(b->tables, 9000, &b->err), 0);
	b->is_keeping = false; /* sent at once, as by a port */
	for (unsigned int round = 0; round < 2; round++) {
		const unsigned int pieces = round == 0 ? 1 : 3;

		path.mtu = round == 0 ? 65535 : 1500;
		for (uint32_t i = 0; i < VTEPS; i++) {
			const struct vx_ip remote =
				vx_ip_from_v4(rte_cpu_to_be_32(0x0a000001u + i));

			if (round == 0)
				assert_int_equal(
					vx_segment_flood_add(b->tables, VNI, &remote, &b->err), 0);
			vx_vtep_set_path(b->tables, (uint32_t)vx_vtep_find(b->tables, &remote),
					 &path);
		}
		make_frame(inner, sizeof(inner), everybody, host_a);
		m = bench_mbuf(b, inner, sizeof(inner));
		assert_true(m->nb_segs > 1);
		bench_mark(b);
		bench_access(b, 0, 1, &m, 1);
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		assert_int_equal(bench_since(b, VX_COUNT_ENCAP), VTEPS + 1);
		assert_int_equal(bench_since(b, VX_COUNT_COPIES), VTEPS + 1);
		assert_int_equal(bench_since(b, VX_COUNT_LINEAR_COPIES), 0);
		assert_int_equal(bench_since(b, VX_COUNT_FRAGMENTS), VTEPS * (pieces - 1));
		assert_int_equal(bench_since(b, VX_COUNT_TX), 1 + 1 + VTEPS * pieces);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_switches),
		TEST(test_switch_for_all),
		TEST(test_storm),
		TEST(test_long_list),
	};

	return cmocka_run_group_tests_name("path_flood_limits", tests, NULL, NULL);
}
