/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of one segment, flushing in steps and by place, and the order of many segments. */
#include "test_tables.h"

static int
setup(void **state)
{
	struct vx_tables_conf conf = shelf_conf();
	struct shelf *s;

	if (vx_test_eal() < 0)
		return -1;
	conf.max_macs = 1000;
	conf.max_vnis = 300;
	s = shelf_open(&conf);
	add_vni(s, 1);
	add_vni(s, 2);
	assert_int_equal(vx_attach_add(s->tables, 1, 1, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 2, 1, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 3, 2, &s->err), 0);
	*state = s;
	return 0;
}

static uint32_t
segment_of(struct shelf *s, uint32_t vni)
{
	return vx_segment_find(s->tables, vni, NULL)->index;
}

static uint32_t
attach_of(struct shelf *s, uint16_t port)
{
	return vx_attach_find(s->tables, port, NULL)->index;
}

static int
learn(struct shelf *s, uint32_t vni, uint32_t mac, uint32_t dest, bool is_static)
{
	bool moved;

	return vx_fdb_set(s->tables, vx_fdb_key(segment_of(s, vni), mac48(mac)), dest, is_static,
			  &moved);
}

/* Learned MACs are limited, static ones are not, and a place is free when one goes. */
static void
test_max_macs(void **state)
{
	const struct vx_segment_conf conf = {.vni = 7, .max_macs = 5};
	struct shelf *s = *state;
	const struct vx_fdb_count *count;
	uint32_t dest;

	assert_int_equal(vx_segment_add(s->tables, &conf, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 4, 7, &s->err), 0);
	dest = attach_of(s, 4);
	count = &s->tables->fdb->count[segment_of(s, 7)];
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(learn(s, 7, i, dest, false), 0);
	assert_int_equal(learn(s, 7, 5, dest, false), -EDQUOT);
	assert_int_equal(learn(s, 7, 4, dest, false), 0);	     /* known already */
	assert_int_equal(learn(s, 1, 5, attach_of(s, 1), false), 0); /* elsewhere */
	assert_int_equal(learn(s, 7, 6, dest, true), 0);
	assert_true(count->learned == 5 && count->fixed == 1);
	/* A learned one that becomes static makes room. */
	assert_int_equal(learn(s, 7, 0, dest, true), 0);
	assert_true(count->learned == 4 && count->fixed == 2);
	assert_int_equal(learn(s, 7, 5, dest, false), 0);
	assert_int_equal(learn(s, 7, 8, dest, false), -EDQUOT);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(segment_of(s, 7), mac48(5))), 0);
	assert_int_equal(learn(s, 7, 8, dest, false), 0);
	assert_int_equal(vx_segment_del(s->tables, 7, &s->err), 0);
	assert_true(count->learned == 0 && count->fixed == 0);
}

/* By port, and in steps, between which entries come. */
static void
test_flush_steps(void **state)
{
	struct shelf *s = *state;
	struct vx_fdb_filter filter = {
		.segment = VX_INDEX_NONE, .dest = VX_DEST_NONE, .has_port = true, .port = 2};
	uint32_t cursor = 0, deleted = 0, steps = 1;
	struct vx_fdb_entry entry;

	for (uint32_t i = 0; i < 600; i++)
		assert_int_equal(learn(s, 1, i, attach_of(s, 1 + i % 2), i % 10 == 1), 0);
	assert_int_equal(learn(s, 2, 1, attach_of(s, 3), false), 0);
	while (vx_fdb_flush_step(s->tables, &filter, &cursor, 50, &deleted)) {
		assert_true(deleted <= 25 * steps);
		steps++;
	}
	assert_int_equal(steps, 13);
	assert_int_equal(deleted, 300 - 60);
	for (uint32_t slot = 0; vx_fdb_next(s->tables->fdb, slot, &entry); slot = entry.slot + 1)
		assert_true(entry.is_static || !vx_fdb_matches(s->tables, &filter, &entry));
	assert_int_equal(vx_fdb_used(s->tables->fdb), 601 - 240);
	/* It ends as soon as nothing is left, wherever that is. */
	filter.has_port = false;
	cursor = deleted = 0;
	filter.segment = segment_of(s, 1);
	assert_false(vx_fdb_flush_step(s->tables, &filter, &cursor, UINT32_MAX, &deleted));
	assert_int_equal(deleted, 300);
	assert_true(cursor < 600);
	assert_int_equal(vx_fdb_flush(s->tables, &filter), 0);
}

static void
test_prefetch_tells(void **state)
{
	struct shelf *s = *state;
	uint64_t key[VX_FDB_BULK];

	for (uint32_t i = 0; i < VX_FDB_BULK; i++) {
		key[i] = vx_fdb_key(segment_of(s, 1), mac48(i));
		if (i % 3 == 0)
			assert_int_equal(learn(s, 1, i, attach_of(s, 1), false), 0);
	}
	for (uint32_t n = 0; n <= VX_FDB_BULK; n++) {
		const uint64_t known = vx_fdb_prefetch(s->tables->fdb, key, n);

		for (uint32_t i = 0; i < VX_FDB_BULK; i++)
			assert_int_equal(known >> i & 1, i < n && i % 3 == 0);
	}
}

/* Segments come and go in any order; the walk has them by VNI. */
static void
test_segment_order(void **state)
{
	bool is_there[301] = {[1] = true, [2] = true};
	struct shelf *s = *state;
	const struct vx_segment *segment;

	srandom(7);
	for (unsigned int round = 0; round < 2000; round++) {
		const uint32_t vni = 3 + (uint32_t)random() % 298;
		uint32_t last = 0;

		if (is_there[vni]) {
			assert_int_equal(vx_segment_del(s->tables, vni, &s->err), 0);
		} else {
			add_vni(s, vni);
		}
		is_there[vni] = !is_there[vni];
		if (round % 20 != 0)
			continue;
		for (segment = vx_segment_next(s->tables, 0); segment != NULL;
		     segment = vx_segment_next(s->tables, last)) {
			for (uint32_t i = last + 1; i < segment->vni; i++)
				assert_false(is_there[i]);
			assert_true(is_there[segment->vni]);
			last = segment->vni;
		}
		for (uint32_t i = last + 1; i <= 300; i++)
			assert_false(is_there[i]);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_max_macs),
		TEST(test_flush_steps),
		TEST(test_prefetch_tells),
		TEST(test_segment_order),
	};

	return cmocka_run_group_tests_name("tables_limits", tests, NULL, NULL);
}
