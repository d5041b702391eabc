/* SPDX-License-Identifier: BSD-3-Clause */
/* Token buckets: the burst that passes at once, and the rate over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vx_bucket.h"

#define HZ 1000000ull /* so that a tick is a microsecond */

/* How many of @tries at the same moment pass. */
static unsigned int
take_many(struct vx_bucket *bucket, uint64_t now, unsigned int tries)
{
	unsigned int taken = 0;

	for (unsigned int i = 0; i < tries; i++)
		taken += vx_bucket_take(bucket, now);
	return taken;
}

static void
test_starts_with_its_burst(void **state)
{
	struct vx_bucket late = vx_bucket_make(HZ, 100, 10), early = late;

	(void)state;
	assert_int_equal(take_many(&early, 0, 100), 10);
	/* The first packet comes when the machine has been up for days. */
	assert_int_equal(take_many(&late, 5 * 86400 * HZ, 100), 10);
}

static void
test_saves_no_more_than_its_burst(void **state)
{
	struct vx_bucket bucket = vx_bucket_make(HZ, 100, 10);
	uint64_t now = 3600 * HZ;

	(void)state;
	for (unsigned int round = 0; round < 5; round++, now += 3600 * HZ)
		assert_int_equal(take_many(&bucket, now, 100), 10);
	/* Nor where some of it was used in between. */
	assert_int_equal(take_many(&bucket, now, 3), 3);
	assert_int_equal(take_many(&bucket, now + HZ, 100), 10);
}

static void
test_earns_one_by_one(void **state)
{
	struct vx_bucket bucket = vx_bucket_make(HZ, 100, 10);
	const uint64_t interval = HZ / 100, start = 1000 * HZ;

	(void)state;
	assert_int_equal(take_many(&bucket, start, 100), 10);
	assert_int_equal(take_many(&bucket, start + interval - 1, 100), 0);
	assert_int_equal(take_many(&bucket, start + interval, 100), 1);
	assert_int_equal(take_many(&bucket, start + 4 * interval, 100), 3);
	assert_int_equal(take_many(&bucket, start + 100 * interval, 100), 10);
}

/* Asked at moments that do not fit the interval, no part of one is lost. */
static void
test_rate_at_any_step(void **state)
{
	const uint64_t start = 1000 * HZ;

	(void)state;
	for (uint64_t step = 1; step < 20000; step += 617) {
		struct vx_bucket bucket = vx_bucket_make(HZ, 100, 10);
		unsigned int taken = 0, want;
		uint64_t now = start;

		for (; now < start + 10 * HZ; now += step)
			taken += take_many(&bucket, now, 20);
		want = 10 + (unsigned int)((now - step - start) / (HZ / 100));
		assert_int_equal(taken, want);
	}
}

/* Whatever the pattern, a span of time never passes more than the burst and what it earns. */
static void
test_bound_holds_for_any_pattern(void **state)
{
	struct vx_bucket bucket = vx_bucket_make(HZ, 1000, 7);
	uint64_t now = 77 * HZ, seed = 1, origin = now;
	uint64_t level = 7 * 1000; /* ticks saved up, by the definition of a token bucket */

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		bool want;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		now += (seed >> 33) % 2000;
		level += now - origin;
		origin = now;
		if (level > 7 * 1000)
			level = 7 * 1000;
		want = level >= 1000;
		assert_int_equal(vx_bucket_take(&bucket, now), want);
		level -= want ? 1000 : 0;
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_with_its_burst),
		cmocka_unit_test(test_saves_no_more_than_its_burst),
		cmocka_unit_test(test_earns_one_by_one),
		cmocka_unit_test(test_rate_at_any_step),
		cmocka_unit_test(test_bound_holds_for_any_pattern),
	};

	return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
