/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of counters and drop reasons, and sums over them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vx_count.h"

static void
assert_is_name(const char *name)
{
	assert_non_null(name);
	assert_true(name[0] >= 'a' && name[0] <= 'z');
	assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
}

static void
test_every_entry_has_name_and_text(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++) {
		const struct vx_count_info *info = vx_count_info(i);

		assert_is_name(info->name);
		assert_non_null(info->text);
		assert_true(strlen(info->text) > 5);
		assert_int_equal(info->is_drop, i < VX_DROP_MAX);
	}
}

static void
test_names_and_texts_are_unique(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++) {
		for (unsigned int j = 0; j < i; j++) {
			assert_string_not_equal(vx_count_info(i)->name, vx_count_info(j)->name);
			assert_string_not_equal(vx_count_info(i)->text, vx_count_info(j)->text);
		}
	}
}

/* A worker counts a drop with counts[reason]: each reason must be its own counter's index. */
static void
test_drop_reason_is_its_counter(void **state)
{
	(void)state;
#define CHECK(symbol, label, words)                                                                \
	assert_int_equal((int)VX_DROP_##symbol, (int)VX_COUNT_DROP_##symbol);                      \
	assert_string_equal(vx_drop_name(VX_DROP_##symbol), label);                                \
	assert_string_equal(vx_count_info(VX_DROP_##symbol)->name, label);                         \
	assert_string_equal(vx_count_info(VX_DROP_##symbol)->text, words);
	VX_DROP_LIST(CHECK)
#undef CHECK
#define CHECK(symbol, label, words)                                                                \
	assert_string_equal(vx_count_info(VX_COUNT_##symbol)->name, label);                        \
	assert_string_equal(vx_count_info(VX_COUNT_##symbol)->text, words);
	VX_COUNT_LIST(CHECK)
#undef CHECK
	assert_string_equal(vx_drop_name(VX_DROP_NONE), "none");
}

static void
test_add_and_subtract(void **state)
{
	struct vx_counts a, b, sum = {{0}};

	(void)state;
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++) {
		a.value[i] = 1000 + i;
		b.value[i] = UINT32_MAX + (uint64_t)i * i;
	}
	vx_counts_add(&sum, &a);
	vx_counts_add(&sum, &b);
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++) {
		assert_int_equal(sum.value[i], a.value[i] + b.value[i]);
		assert_int_equal(a.value[i], 1000 + i);
	}
	vx_counts_subtract(&sum, &a);
	assert_memory_equal(&sum, &b, sizeof(sum.value));
}

/* `clear` remembers a baseline; what is shown later is what came since, even across a wrap. */
static void
test_baseline(void **state)
{
	struct vx_counts worker = {{0}}, baseline = {{0}}, shown = {{0}};

	(void)state;
	worker.value[VX_COUNT_RX] = UINT64_MAX - 1;
	worker.value[VX_DROP_TX_FULL] = 7;
	vx_counts_add(&baseline, &worker);
	worker.value[VX_COUNT_RX] += 5;
	worker.value[VX_DROP_TX_FULL] += 2;
	vx_counts_add(&shown, &worker);
	vx_counts_subtract(&shown, &baseline);
	assert_int_equal(shown.value[VX_COUNT_RX], 5);
	assert_int_equal(shown.value[VX_DROP_TX_FULL], 2);
	assert_int_equal(vx_counts_drops(&shown), 2);
}

static void
test_drops_sums_only_drops(void **state)
{
	struct vx_counts counts = {{0}};
	uint64_t want = 0;

	(void)state;
	assert_int_equal(vx_counts_drops(&counts), 0);
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++) {
		counts.value[i] = 1ull << (i % 40);
		if (vx_count_info(i)->is_drop)
			want += counts.value[i];
		assert_int_equal(vx_counts_drops(&counts), want);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_entry_has_name_and_text),
		cmocka_unit_test(test_names_and_texts_are_unique),
		cmocka_unit_test(test_drop_reason_is_its_counter),
		cmocka_unit_test(test_add_and_subtract),
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_drops_sums_only_drops),
	};

	return cmocka_run_group_tests_name("count", tests, NULL, NULL);
}
