/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's copy of the FDB never says anything else than the FDB. */
#include "test_tables.h"
#include "vx_fdb_cache.h"

#define N_MACS 5000u /* more than the cache holds */

static struct vx_fdb_cache cache;

static int
setup(void **state)
{
	struct vx_tables_conf conf = shelf_conf();
	struct shelf *s;

	if (vx_test_eal() < 0)
		return -1;
	conf.max_macs = N_MACS;
	*state = s = shelf_open(&conf);
	add_vni(s, 1);
	for (uint16_t port = 1; port <= 4; port++)
		assert_int_equal(vx_attach_add(s->tables, port, 1, &s->err), 0);
	memset(&cache, 0, sizeof(cache));
	return 0;
}

static void
set(struct shelf *s, uint32_t mac, uint32_t dest)
{
	bool moved;

	assert_int_equal(vx_fdb_set(s->tables, mac48(mac), dest, false, &moved), 0);
}

/* Look @mac up as a burst of its own. */
static uint64_t
look_up(struct shelf *s, uint32_t mac)
{
	const uint64_t key = mac48(mac);
	uint64_t value = UINT64_MAX;

	vx_fdb_cache_renew(&cache, s->tables->fdb);
	vx_fdb_cache_lookup(&cache, s->tables->fdb, &key, 1, &value);
	return value;
}

static void
expect_at(struct shelf *s, uint32_t mac, uint32_t dest)
{
	/* The first may come from the hash, the second from the cache. */
	for (int i = 0; i < 2; i++) {
		const uint64_t value = look_up(s, mac);

		assert_int_not_equal(value, 0);
		assert_int_equal(VX_FDB_DEST(value), dest);
	}
}

static void
test_follows(void **state)
{
	struct shelf *s = *state;

	assert_int_equal(look_up(s, 7), 0);
	set(s, 7, 0);
	expect_at(s, 7, 0);
	set(s, 7, 3);
	expect_at(s, 7, 3);
	assert_int_equal(vx_fdb_del(s->tables, mac48(7)), 0);
	assert_int_equal(look_up(s, 7), 0);
	assert_int_equal(look_up(s, 7), 0);
	set(s, 7, 1);
	expect_at(s, 7, 1);
}

/* Really out of the copy: within a burst, before it is renewed, nothing is asked of the hash. */
static void
test_is_a_copy(void **state)
{
	struct shelf *s = *state;
	const uint64_t key = mac48(7);
	uint64_t value;

	set(s, 7, 2);
	expect_at(s, 7, 2);
	assert_int_equal(vx_fdb_del(s->tables, key), 0);
	vx_fdb_cache_lookup(&cache, s->tables->fdb, &key, 1, &value);
	assert_int_equal(VX_FDB_DEST(value), 2);
	vx_fdb_cache_renew(&cache, s->tables->fdb);
	vx_fdb_cache_lookup(&cache, s->tables->fdb, &key, 1, &value);
	assert_int_equal(value, 0);
}

static void
test_static_flag(void **state)
{
	struct shelf *s = *state;
	bool moved;

	set(s, 7, 2);
	assert_int_equal(look_up(s, 7) & VX_FDB_STATIC, 0);
	assert_int_equal(vx_fdb_set(s->tables, mac48(7), 2, true, &moved), 0);
	assert_int_not_equal(look_up(s, 7) & VX_FDB_STATIC, 0);
}

/* Known, unknown, group and repeated keys in one burst. */
static void
test_burst(void **state)
{
	struct shelf *s = *state;
	uint64_t key[VX_FDB_BULK], value[VX_FDB_BULK];

	for (uint32_t i = 0; i < VX_FDB_BULK; i += 2)
		set(s, i / 4, i / 4 % 4);
	for (uint32_t i = 0; i < VX_FDB_BULK; i++)
		key[i] = i % 2 == 0 ? mac48(i / 4) : mac48(1000 + i) | (i % 4 == 1);
	for (int round = 0; round < 2; round++) {
		vx_fdb_cache_renew(&cache, s->tables->fdb);
		vx_fdb_cache_lookup(&cache, s->tables->fdb, key, VX_FDB_BULK, value);
		for (uint32_t i = 0; i < VX_FDB_BULK; i++) {
			if (i % 2 == 0)
				assert_int_equal(VX_FDB_DEST(value[i]), i / 4 % 4);
			else
				assert_int_equal(value[i], 0);
		}
	}
}

/* Many more entries and changes than the cache has places and tags. */
static void
test_random(void **state)
{
	static uint8_t place[N_MACS]; /* 0: absent, else attachment + 1 */
	struct shelf *s = *state;

	memset(place, 0, sizeof(place));
	srandom(11);
	for (unsigned int i = 0; i < 60000; i++) {
		const uint32_t mac = (uint32_t)random() % (i % 2 == 0 ? 64 : N_MACS);

		switch (random() % 4) {
		case 0:
			place[mac] = (uint8_t)(1 + random() % 4);
			set(s, mac, place[mac] - 1u);
			break;
		case 1:
			if (place[mac] != 0)
				assert_int_equal(vx_fdb_del(s->tables, mac48(mac)), 0);
			place[mac] = 0;
			break;
		default:
			if (place[mac] != 0)
				expect_at(s, mac, place[mac] - 1u);
			else
				assert_int_equal(look_up(s, mac), 0);
			break;
		}
	}
	assert_true(s->tables->fdb->changes > 1u << 13); /* the tags were used up and began anew */
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_follows), TEST(test_is_a_copy), TEST(test_static_flag),
		TEST(test_burst),   TEST(test_random),
	};

	return cmocka_run_group_tests_name("tables_fdb_cache", tests, NULL, NULL);
}
