/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_tables.h"

static void
test_takes_in_order(void **state)
{
	struct vx_index index;

	(void)state;
	assert_int_equal(vx_index_init(&index, 3), 0);
	assert_int_equal(vx_index_used(&index), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(vx_index_take(&index), i);
		assert_int_equal(vx_index_used(&index), i + 1);
	}
	assert_int_equal(vx_index_take(&index), VX_INDEX_NONE);
	assert_int_equal(vx_index_used(&index), 3);
	vx_index_fini(&index);
}

static void
test_gives_first_in_first_out(void **state)
{
	struct vx_index index;

	(void)state;
	assert_int_equal(vx_index_init(&index, 4), 0);
	assert_int_equal(vx_index_take(&index), 0);
	vx_index_give(&index, 0);
	/* All others before the one that was just given back. */
	assert_int_equal(vx_index_take(&index), 1);
	assert_int_equal(vx_index_take(&index), 2);
	assert_int_equal(vx_index_take(&index), 3);
	assert_int_equal(vx_index_take(&index), 0);
	vx_index_give(&index, 2);
	vx_index_give(&index, 0);
	vx_index_give(&index, 3);
	assert_int_equal(vx_index_take(&index), 2);
	assert_int_equal(vx_index_take(&index), 0);
	assert_int_equal(vx_index_take(&index), 3);
	assert_int_equal(vx_index_take(&index), VX_INDEX_NONE);
	vx_index_fini(&index);
}

static void
test_one_number(void **state)
{
	struct vx_index index;

	(void)state;
	assert_int_equal(vx_index_init(&index, 1), 0);
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(vx_index_take(&index), 0);
		assert_int_equal(vx_index_take(&index), VX_INDEX_NONE);
		vx_index_give(&index, 0);
		assert_int_equal(vx_index_used(&index), 0);
	}
	vx_index_fini(&index);
	vx_index_fini(&index); /* a constructor's error path may do so */
}

/* However numbers come and go, each is out at most once, and reuse is as late as can be. */
static void
test_random(void **state)
{
	enum {
		MAX = 97,
		STEPS = 100000
	};
	uint32_t held[MAX], n = 0, last_given[MAX], clock = 0, freed = 0;
	bool is_out[MAX] = {false};
	struct vx_index index;

	(void)state;
	srandom(7);
	memset(last_given, 0, sizeof(last_given));
	assert_int_equal(vx_index_init(&index, MAX), 0);
	for (unsigned int i = 0; i < STEPS; i++) {
		if (n > 0 && (n == MAX || random() % 2 == 0)) {
			const uint32_t at = (uint32_t)random() % n;

			vx_index_give(&index, held[at]);
			is_out[held[at]] = false;
			last_given[held[at]] = ++clock;
			held[at] = held[--n];
		} else {
			const uint32_t number = vx_index_take(&index);

			assert_true(number < MAX);
			assert_false(is_out[number]);
			/* Given back no earlier than any number that was taken before. */
			assert_true(last_given[number] == 0 || last_given[number] > freed);
			freed = RTE_MAX(freed, last_given[number]);
			is_out[number] = true;
			held[n++] = number;
		}
		assert_int_equal(vx_index_used(&index), n);
	}
	vx_index_fini(&index);
}

/* What workers may still hold is not given out again before they have let go of it. */
static void
test_late(void **state)
{
	struct vx_index index;
	struct vx_rcu *rcu;

	(void)state;
	assert_int_equal(vx_test_eal(), 0);
	rcu = vx_rcu_create(1);
	assert_non_null(rcu);
	assert_int_equal(vx_index_init(&index, 3), 0);
	vx_rcu_online(rcu, 0);
	assert_int_equal(vx_index_take_late(&index, rcu), 0);
	assert_int_equal(vx_index_take_late(&index, rcu), 1);
	vx_index_give_late(&index, 0, rcu);
	vx_index_give_late(&index, 1, rcu);
	vx_rcu_reclaim(rcu);
	assert_int_equal(vx_index_used(&index), 0); /* for who counts entries they are gone */
	assert_int_equal(vx_index_take_late(&index, rcu), 2);
	assert_int_equal(vx_index_take(&index), VX_INDEX_NONE);
	assert_int_equal(vx_index_used(&index), 1);
	vx_rcu_offline(rcu, 0);
	/* All are taken: the next one waits for those that come back. */
	assert_int_equal(vx_index_take_late(&index, rcu), 0);
	assert_int_equal(vx_index_used(&index), 2);
	assert_int_equal(vx_index_take_late(&index, rcu), 1);
	/* Where none will come back it does not: this reader would keep it waiting for ever. */
	vx_rcu_online(rcu, 0);
	assert_int_equal(vx_index_take_late(&index, rcu), VX_INDEX_NONE);
	vx_rcu_offline(rcu, 0);
	vx_rcu_destroy(rcu);
	vx_index_fini(&index);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes_in_order),
		cmocka_unit_test(test_gives_first_in_first_out),
		cmocka_unit_test(test_one_number),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests_name("tables_index", tests, NULL, NULL);
}
