/* SPDX-License-Identifier: BSD-3-Clause */
/* Many MACs in and out, with and without a reader in the way; references of their VTEPs. */
#include "test_tables.h"

#include <pthread.h>
#include <unistd.h>

#define MANY 100000u

static struct shelf *
open_many(uint32_t max_macs)
{
	struct vx_tables_conf conf = shelf_conf();
	struct shelf *s;

	conf.max_macs = max_macs;
	s = shelf_open(&conf);
	add_vni(s, 1);
	assert_int_equal(vx_attach_add(s->tables, 1, 1, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 2, 1, &s->err), 0);
	return s;
}

static int
group_setup(void **state)
{
	(void)state;
	return vx_test_eal();
}

static void
enter_many(struct shelf *s, uint32_t first, uint32_t dest)
{
	bool moved;

	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(
			vx_fdb_set(s->tables, vx_fdb_key(0, mac48(first + i)), dest, false, &moved),
			0);
	assert_int_equal(vx_fdb_used(s->tables->fdb), MANY);
	assert_int_equal(walk(s->tables->fdb), MANY);
}

static void
test_in_and_out(void **state)
{
	const struct vx_fdb_filter all = {.segment = VX_INDEX_NONE, .dest = VX_DEST_NONE};
	struct shelf *s = open_many(MANY);

	(void)state;
	for (uint32_t round = 0; round < 4; round++) {
		/* Other MACs each time: the hash has no room left from the round before. */
		enter_many(s, round * MANY, round % 2);
		switch (round) {
		case 0:
			assert_int_equal(vx_fdb_flush(s->tables, &all), MANY);
			break;
		case 1:
			for (uint32_t i = 0; i < MANY; i++)
				assert_int_equal(
					vx_fdb_del(s->tables, vx_fdb_key(0, mac48(MANY + i))), 0);
			break;
		case 2:
			assert_int_equal(vx_fdb_age(s->tables, 1000, 1), MANY);
			break;
		case 3:
			assert_int_equal(vx_attach_del(s->tables, 2, &s->err), 0);
			break;
		}
		assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
		assert_int_equal(walk(s->tables->fdb), 0);
	}
	shelf_close(s);
}

struct reader {
	struct shelf *shelf;
	bool is_over;
	uint64_t wrong;
};

/* A worker's loop with long pauses: what it finds between two quiescent states must be whole. */
static void *
read_slowly(void *argument)
{
	struct reader *reader = argument;
	struct vx_tables *tables = reader->shelf->tables;

	vx_rcu_online(tables->rcu, 0);
	for (uint32_t i = 0; !__atomic_load_n(&reader->is_over, __ATOMIC_RELAXED); i++) {
		const uint64_t key = vx_fdb_key(0, mac48(i % 40000));
		void *data;

		if (rte_hash_lookup_data(tables->fdb->hash, &key, &data) >= 0 &&
		    ((uint64_t)(uintptr_t)data & VX_FDB_PRESENT) == 0)
			reader->wrong++;
		if (i % 64 == 0) {
			rte_rcu_qsbr_quiescent(vx_rcu_qsbr(tables->rcu), 0);
			usleep(500);
		}
	}
	vx_rcu_offline(tables->rcu, 0);
	return NULL;
}

/* A reader that passes a quiescent state only now and then holds up the reuse of memory; once it
 * has been waited for, all of the promised entries fit again. */
static void
test_with_a_slow_reader(void **state)
{
	enum {
		MACS = 2000
	};
	struct reader reader = {.shelf = open_many(MACS)};
	struct shelf *s = reader.shelf;
	pthread_t thread;
	bool moved;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < MACS; i++)
			assert_int_equal(vx_fdb_set(s->tables,
						    vx_fdb_key(0, mac48(round * MACS + i)), 0,
						    false, &moved),
					 0);
		for (uint32_t i = 0; i < MACS; i++)
			assert_int_equal(
				vx_fdb_del(s->tables, vx_fdb_key(0, mac48(round * MACS + i))), 0);
		vx_rcu_synchronize(s->tables->rcu);
	}
	assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
	__atomic_store_n(&reader.is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(reader.wrong, 0);
	shelf_close(s);
}

/* No quiescent state at all: the hash runs out of keys, is refused in order, and recovers. */
static void
test_with_a_stuck_reader(void **state)
{
	enum {
		MACS = 200
	};
	struct shelf *s = open_many(MACS);
	uint32_t refused = 0;
	bool moved;

	(void)state;
	vx_rcu_online(s->tables->rcu, 0);
	for (uint32_t i = 0; i < 10 * MACS; i++) {
		const uint64_t key = vx_fdb_key(0, mac48(i));
		const int rc = vx_fdb_set(s->tables, key, 0, false, &moved);

		assert_true(rc == 0 || rc == -ENOSPC);
		refused += rc != 0;
		assert_int_equal(vx_fdb_used(s->tables->fdb), rc == 0);
		if (rc == 0)
			assert_int_equal(vx_fdb_del(s->tables, key), 0);
	}
	assert_true(refused > 0);
	rte_rcu_qsbr_quiescent(vx_rcu_qsbr(s->tables->rcu), 0);
	for (uint32_t i = 0; i < MACS; i++)
		assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(0, mac48(i)), 0, false, &moved),
				 0);
	assert_int_equal(walk(s->tables->fdb), MACS);
	vx_rcu_offline(s->tables->rcu, 0);
	shelf_close(s);
}

/* A VTEP appears with the first MAC behind it and disappears with the last. */
static void
test_vtep_follows_macs(void **state)
{
	const struct vx_ip remote = ip("198.51.100.7");
	struct shelf *s = open_many(64);
	bool moved;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(learn_behind(s, vx_fdb_key(0, mac48(i)), "198.51.100.7", &moved),
				 0);
		assert_int_equal(s->n_added, 1);
		assert_true(vx_ip_is_equal(&s->last_remote, &remote));
	}
	assert_int_equal(s->tables->vtep_refs[0].n[VX_VTEP_LEARNED], 5);
	assert_false(vx_vtep_at(s->tables, 0)->is_named);
	/* Moved away, deleted, aged, replaced by a static one elsewhere. */
	assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(0, mac48(0)), 0, false, &moved), 0);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(0, mac48(1))), 0);
	assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(0, mac48(2)), 1, true, &moved), 0);
	assert_int_equal(learn_behind(s, vx_fdb_key(0, mac48(3)), "198.51.100.8", &moved), 0);
	assert_true(moved);
	assert_int_equal(s->n_added, 2);
	assert_int_equal(s->tables->vtep_refs[0].n[VX_VTEP_LEARNED], 1);
	assert_int_equal(s->n_removed, 0);
	assert_int_equal(vx_fdb_age(s->tables, 301, 1), 3);
	assert_int_equal(s->n_removed, 2);
	assert_int_equal(vx_vtep_find(s->tables, &remote), -ENOENT);
	assert_null(vx_vtep_at(s->tables, 0));
	/* A refused entry leaves no VTEP behind. */
	assert_int_equal(learn_behind(s, vx_fdb_key(0, mac48(2)), "198.51.100.9", &moved), -EPERM);
	assert_int_equal(s->n_added, 3);
	assert_int_equal(s->n_removed, 3);
	assert_int_equal(vx_index_used(&s->tables->vtep_index), 0);
	shelf_close(s);
}

/* A static entry names its VTEP; its kind of reference changes with the entry. */
static void
test_static_names_vtep(void **state)
{
	struct shelf *s = open_many(64);
	bool moved;

	(void)state;
	assert_int_equal(learn_behind(s, vx_fdb_key(0, mac48(1)), "198.51.100.7", &moved), 0);
	assert_false(vx_vtep_at(s->tables, 0)->is_named);
	assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(0, mac48(1)), VX_DEST_VTEP, true, &moved),
			 0);
	assert_false(moved);
	assert_true(vx_vtep_at(s->tables, 0)->is_named);
	assert_int_equal(s->tables->vtep_refs[0].n[VX_VTEP_LEARNED], 0);
	assert_int_equal(s->tables->vtep_refs[0].n[VX_VTEP_STATIC], 1);
	assert_int_equal(learn_behind(s, vx_fdb_key(0, mac48(2)), "198.51.100.7", &moved), 0);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(0, mac48(1))), 0);
	assert_false(vx_vtep_at(s->tables, 0)->is_named);
	assert_int_equal(s->n_removed, 0);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(0, mac48(2))), 0);
	assert_int_equal(s->n_removed, 1);
	shelf_close(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_and_out),
		cmocka_unit_test(test_with_a_slow_reader),
		cmocka_unit_test(test_with_a_stuck_reader),
		cmocka_unit_test(test_vtep_follows_macs),
		cmocka_unit_test(test_static_names_vtep),
	};

	return cmocka_run_group_tests_name("tables_many", tests, group_setup, NULL);
}
