/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control thread makes of learn records, and MACs that flap. */
#include "test_tables.h"

#include "app.h"
#include "learn.h"
#include "vx_lcore.h"

static uint64_t now_ms;
static struct app app;

uint64_t
app_now(const struct app *unused)
{
	(void)unused;
	return now_ms;
}

static int
setup(void **state)
{
	struct vx_tables_conf conf = shelf_conf();
	const struct vx_segment_conf limited = {.vni = 2, .max_macs = 3};
	struct shelf *s;

	if (vx_test_eal() < 0)
		return -1;
	conf.max_macs = 4000;
	s = shelf_open(&conf);
	memset(&app, 0, sizeof(app));
	app.tables = s->tables;
	now_ms = 1000000;
	add_vni(s, 1);
	assert_int_equal(vx_segment_add(s->tables, &limited, &s->err), 0);
	for (uint16_t port = 1; port <= 2; port++)
		assert_int_equal(vx_attach_add(s->tables, port, 1, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 3, 2, &s->err), 0);
	*state = s;
	return 0;
}

static struct vx_learn
record_at(uint32_t vni, uint32_t mac, uint16_t port)
{
	return (struct vx_learn){
		.key = vx_fdb_key(vx_segment_find(app.tables, vni, NULL)->index, mac48(mac)),
		.dest = vx_attach_find(app.tables, port, NULL)->index,
		.vni = vni,
	};
}

static struct vx_learn
record_behind(uint32_t vni, uint32_t mac, const char *remote)
{
	struct vx_learn record = record_at(vni, mac, 1);

	record.dest = VX_DEST_NONE;
	record.remote = ip(remote);
	return record;
}

/* Only @which has counted, @n. */
static void
expect_counted(enum vx_count which, uint64_t n)
{
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++)
		if (app.counts.value[i] != (i == which ? n : 0))
			fail_msg("%s: %u, expected %s: %u", vx_count_info(i)->name,
				 (unsigned int)app.counts.value[i], vx_count_info(which)->name,
				 (unsigned int)n);
	memset(&app.counts, 0, sizeof(app.counts));
}

static void
test_outcomes(void **state)
{
	struct shelf *s = *state;
	struct vx_learn record[200];

	for (uint32_t i = 0; i < 200; i++) /* each MAC twice */
		record[i] = record_at(1, i / 2, 1);
	learn(&app, record, 200);
	expect_counted(VX_COUNT_LEARNED, 100);
	learn(&app, record, 200);
	expect_counted(VX_COUNT_LEARNED, 0);
	record[0] = record_at(1, 0, 2);
	learn(&app, record, 1);
	expect_counted(VX_COUNT_MOVED, 1);
	for (uint32_t i = 0; i < 10; i++)
		record[i] = record_at(2, i, 3);
	learn(&app, record, 10);
	assert_int_equal(app.counts.value[VX_COUNT_LEARNED], 3);
	app.counts.value[VX_COUNT_LEARNED] = 0;
	expect_counted(VX_COUNT_FDB_VNI_FULL, 7);
	assert_int_equal(vx_fdb_add_static_port(s->tables, 1, &(struct rte_ether_addr){{2, 9}}, 1,
						0, &s->err),
			 0);
	record[0] = record_at(1, 0, 2);
	record[0].key = vx_fdb_key_of(0, &(struct rte_ether_addr){{2, 9}});
	learn(&app, record, 1);
	expect_counted(VX_COUNT_STATIC_CONFLICT, 1);
	/* A VTEP that no entry would need is not even made: it costs more than the record. */
	record[0] = record_behind(2, 77, "198.51.100.9");
	learn(&app, record, 1);
	expect_counted(VX_COUNT_FDB_VNI_FULL, 1);
	assert_int_equal(s->n_added, 0);
	record[0] = record_behind(1, 777, "198.51.100.9");
	learn(&app, record, 1);
	expect_counted(VX_COUNT_LEARNED, 1);
	assert_int_equal(s->n_added, s->n_removed + 1);
}

static void
move(uint32_t mac, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++) {
		const struct vx_fdb_entry none = {.dest = VX_DEST_NONE};
		struct vx_learn record = record_at(1, mac, 1);
		struct vx_fdb_entry entry = none;

		if (vx_fdb_get(app.tables->fdb, record.key, &entry) && entry.dest == record.dest)
			record = record_at(1, mac, 2);
		learn(&app, &record, 1);
	}
}

static uint64_t
flapped(void)
{
	const uint64_t n = app.counts.value[VX_COUNT_FLAPPING];

	app.counts.value[VX_COUNT_FLAPPING] = 0;
	return n;
}

static void
test_flapping(void **state)
{
	(void)state;
	move(1, 1 + FLAP_MOVES);
	assert_int_equal(flapped(), 0);
	move(1, 1);
	assert_int_equal(flapped(), 1);
	move(1, 100); /* once in a window */
	assert_int_equal(flapped(), 0);
	now_ms += FLAP_WINDOW_MS + 1;
	move(1, FLAP_MOVES);
	assert_int_equal(flapped(), 0);
	move(1, 1);
	assert_int_equal(flapped(), 1);
	/* Slow moves are those of hosts. */
	for (unsigned int i = 0; i < 50; i++) {
		now_ms += FLAP_WINDOW_MS / 4;
		move(2, 1);
	}
	assert_int_equal(flapped(), 0);
}

/* Many MACs at once: all counted (but for shared places), few told. */
static void
test_flapping_is_bounded(void **state)
{
	uint64_t told;

	(void)state;
	for (uint32_t mac = 0; mac < 100; mac++)
		move(mac, 2 + FLAP_MOVES);
	assert_in_range(flapped(), 80, 100);
	assert_true(app.flaps.untold >= 70);
	assert_int_equal(app.flaps.log.tokens, 0);
	told = app.flaps.untold;
	now_ms += FLAP_WINDOW_MS + 1;
	move(5, 1 + FLAP_MOVES);
	assert_int_equal(flapped(), 1);
	assert_true(told > 0);
	assert_int_equal(app.flaps.untold, 0); /* the next line has told how many */
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_outcomes),
		TEST(test_flapping),
		TEST(test_flapping_is_bounded),
	};

	return cmocka_run_group_tests_name("learn", tests, NULL, NULL);
}
