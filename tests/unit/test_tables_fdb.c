/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_tables.h"

/* Segments 0 and 1 with attachments: ports 1, 2 to VNI 1, port 3 to VNI 2. */
static int
setup(void **state)
{
	struct shelf *s;

	if (shelf_setup(state) < 0)
		return -1;
	s = *state;
	assert_int_equal(add_vni(s, 1), 0);
	assert_int_equal(add_vni(s, 2), 1);
	assert_int_equal(vx_attach_add(s->tables, 1, 1, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 2, 1, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 3, 2, &s->err), 0);
	return 0;
}

static int
set(struct shelf *s, uint32_t segment, uint32_t mac, uint32_t dest, bool is_static, bool *moved)
{
	return vx_fdb_set(s->tables, vx_fdb_key(segment, mac48(mac)), dest, is_static, moved);
}

static void
expect_at(struct shelf *s, uint32_t segment, uint32_t mac, uint32_t dest, bool is_static)
{
	struct vx_fdb_entry entry;

	assert_true(vx_fdb_get(s->tables->fdb, vx_fdb_key(segment, mac48(mac)), &entry));
	assert_int_equal(entry.segment, segment);
	assert_int_equal(entry.dest, dest);
	assert_int_equal(entry.is_static, is_static);
	assert_int_equal(vx_fdb_key_of(segment, &entry.mac), vx_fdb_key(segment, mac48(mac)));
}

static void
expect_absent(struct shelf *s, uint32_t segment, uint32_t mac)
{
	struct vx_fdb_entry entry;

	assert_false(vx_fdb_get(s->tables->fdb, vx_fdb_key(segment, mac48(mac)), &entry));
}

static void
test_key(void **state)
{
	const uint8_t bytes[8] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55, 0xaa, 0xbb};
	struct rte_ether_addr mac = {{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}};

	(void)state;
	assert_int_equal(vx_fdb_load_mac(bytes), UINT64_C(0x554433221102));
	assert_int_equal(vx_fdb_key_of(0xabcd, &mac), UINT64_C(0xabcd554433221102));
	assert_false(vx_fdb_is_group(vx_fdb_load_mac(bytes)));
	assert_true(vx_fdb_is_group(UINT64_C(0xffffffffffff)));
	assert_true(vx_fdb_is_group(UINT64_C(0x01)));
}

static void
test_set_and_move(void **state)
{
	struct shelf *s = *state;
	bool moved = true;

	assert_int_equal(set(s, 0, 5, 0, false, &moved), 0);
	assert_false(moved);
	expect_at(s, 0, 5, 0, false);
	expect_absent(s, 1, 5); /* another segment's is another entry */
	moved = true;
	assert_int_equal(set(s, 0, 5, 0, false, &moved), 0);
	assert_false(moved);
	assert_int_equal(set(s, 0, 5, 1, false, &moved), 0);
	assert_true(moved);
	expect_at(s, 0, 5, 1, false);
	assert_int_equal(set(s, 1, 5, 2, false, &moved), 0);
	assert_false(moved);
	expect_at(s, 0, 5, 1, false);
	expect_at(s, 1, 5, 2, false);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 2);
	assert_int_equal(walk(s->tables->fdb), 2);
}

static void
test_static_wins(void **state)
{
	struct shelf *s = *state;
	bool moved;

	assert_int_equal(set(s, 0, 1, 0, false, &moved), 0);
	assert_int_equal(set(s, 0, 1, 1, true, &moved), 0); /* a static one replaces a learned */
	assert_true(moved);
	assert_int_equal(s->tables->fdb->n_static, 1);
	assert_int_equal(set(s, 0, 1, 0, false, &moved), -EPERM);
	assert_false(moved);
	expect_at(s, 0, 1, 1, true);
	assert_int_equal(set(s, 0, 1, 1, false, &moved), 0); /* learned where it is: stays static */
	expect_at(s, 0, 1, 1, true);
	assert_int_equal(set(s, 0, 1, 0, true, &moved), 0);
	assert_true(moved);
	expect_at(s, 0, 1, 0, true);
	assert_int_equal(s->tables->fdb->n_static, 1);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(0, mac48(1))), 0);
	assert_int_equal(s->tables->fdb->n_static, 0);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(0, mac48(1))), -ENOENT);
	/* The same place, learned then static. */
	assert_int_equal(set(s, 0, 2, 0, false, &moved), 0);
	assert_int_equal(set(s, 0, 2, 0, true, &moved), 0);
	assert_false(moved);
	expect_at(s, 0, 2, 0, true);
}

/* 24 entries: MAC i, in segment i % 2 behind its own attachment, every third one static. */
static void
fill(struct shelf *s)
{
	bool moved;

	for (uint32_t i = 0; i < 24; i++)
		assert_int_equal(set(s, i % 2, i, i % 2 == 1 ? 2 : (i / 2) % 2, i % 3 == 0, &moved),
				 0);
	assert_int_equal(s->tables->fdb->n_static, 8);
}

static uint32_t
flush(struct shelf *s, uint32_t segment, uint32_t dest, bool with_static)
{
	const struct vx_fdb_filter filter = {
		.segment = segment, .dest = dest, .with_static = with_static};
	const uint32_t before = vx_fdb_used(s->tables->fdb);
	const uint32_t n = vx_fdb_flush(s->tables, &filter);
	struct vx_fdb_entry entry;

	assert_int_equal(before - n, vx_fdb_used(s->tables->fdb));
	assert_int_equal(walk(s->tables->fdb), vx_fdb_used(s->tables->fdb));
	for (uint32_t slot = 0; vx_fdb_next(s->tables->fdb, slot, &entry); slot = entry.slot + 1)
		assert_false((segment == VX_INDEX_NONE || entry.segment == segment) &&
			     (dest == VX_DEST_NONE || entry.dest == dest) &&
			     (with_static || !entry.is_static));
	return n;
}

static void
test_flush(void **state)
{
	struct shelf *s = *state;

	fill(s);
	assert_int_equal(flush(s, 1, VX_DEST_NONE, false), 8);
	assert_int_equal(flush(s, 1, VX_DEST_NONE, false), 0);
	assert_int_equal(flush(s, VX_INDEX_NONE, 2, true), 4);
	assert_int_equal(flush(s, 0, 1, false), 4);
	assert_int_equal(flush(s, 0, 1, true), 2);
	assert_int_equal(flush(s, 0, 2, true), 0);
	assert_int_equal(flush(s, VX_INDEX_NONE, VX_DEST_NONE, false), 4);
	assert_int_equal(s->tables->fdb->n_static, 2);
	assert_int_equal(flush(s, VX_INDEX_NONE, VX_DEST_NONE, true), 2);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
	assert_int_equal(s->tables->fdb->n_static, 0);
}

static void
test_next(void **state)
{
	struct shelf *s = *state;
	struct vx_fdb_entry entry;
	bool seen[24] = {false};
	uint32_t slot, n = 0;

	assert_false(vx_fdb_next(s->tables->fdb, 0, &entry));
	fill(s);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(0, mac48(0))), 0);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(1, mac48(23))), 0);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(0, mac48(12))), 0);
	for (slot = 0; vx_fdb_next(s->tables->fdb, slot, &entry); slot = entry.slot + 1) {
		const uint32_t mac = entry.mac.addr_bytes[2] | entry.mac.addr_bytes[3] << 8u;

		assert_true(entry.slot >= slot);
		assert_true(mac < 24);
		assert_false(seen[mac]);
		seen[mac] = true;
		assert_int_equal(entry.segment, mac % 2);
		assert_int_equal(entry.is_static, mac % 3 == 0);
		n++;
	}
	assert_int_equal(n, 21);
	assert_false(seen[0] || seen[12] || seen[23]);
}

/* What a worker does for each frame of a known source. */
static void
touch(struct shelf *s, uint32_t segment, uint32_t mac)
{
	const uint64_t key = vx_fdb_key(segment, mac48(mac));
	void *data;

	assert_true(rte_hash_lookup_data(s->tables->fdb->hash, &key, &data) >= 0);
	vx_fdb_touch(s->tables->fdb, (uint64_t)(uintptr_t)data, s->tables->fdb->now);
}

static uint32_t
age_of(struct shelf *s, uint32_t segment, uint32_t mac)
{
	struct vx_fdb_entry entry;

	assert_true(vx_fdb_get(s->tables->fdb, vx_fdb_key(segment, mac48(mac)), &entry));
	return entry.age;
}

static void
test_ageing(void **state)
{
	struct shelf *s = *state;
	bool moved;

	assert_int_equal(vx_fdb_age(s->tables, 1000, 1), 0);
	assert_int_equal(set(s, 0, 1, 0, false, &moved), 0);
	assert_int_equal(set(s, 0, 2, 0, true, &moved), 0);
	assert_int_equal(set(s, 0, 3, 1, false, &moved), 0);
	assert_int_equal(vx_fdb_age(s->tables, 1200, 1), 0);
	assert_int_equal(age_of(s, 0, 1), 200);
	touch(s, 0, 3);
	assert_int_equal(age_of(s, 0, 3), 0);
	assert_int_equal(set(s, 0, 4, 0, false, &moved), 0);
	assert_int_equal(vx_fdb_age(s->tables, 1300, 1), 0); /* 300 seconds: not yet over it */
	assert_int_equal(vx_fdb_age(s->tables, 1301, 1), 1);
	expect_absent(s, 0, 1);
	expect_at(s, 0, 2, 0, true);
	/* Learning it once more keeps an entry as a frame does, moved or not. */
	assert_int_equal(set(s, 0, 4, 0, false, &moved), 0);
	assert_int_equal(vx_fdb_age(s->tables, 1501, 1), 1);
	expect_absent(s, 0, 3);
	expect_at(s, 0, 4, 0, false);
	s->tables->conf.ageing = 0;
	assert_int_equal(vx_fdb_age(s->tables, 9999999, 1), 0);
	expect_at(s, 0, 4, 0, false);
	s->tables->conf.ageing = 10;
	assert_int_equal(vx_fdb_age(s->tables, 9999999, 1), 1);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 1); /* the static one, for ever */
}

/* In steps: no call does all of the work, and after @steps calls all of it is done. */
static void
test_ageing_in_steps(void **state)
{
	struct shelf *s = *state;
	uint32_t total = 0;
	bool moved;

	for (uint32_t i = 0; i < 60; i++)
		assert_int_equal(set(s, 0, i, 0, false, &moved), 0);
	for (unsigned int step = 0; step < 10; step++) {
		const uint32_t n = vx_fdb_age(s->tables, 301, 10);

		assert_true(n <= 7);
		total += n;
	}
	assert_int_equal(total, 60);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
}

/* Every one of the promised entries fits, one more does not, and a place is free after one goes. */
static void
test_full(void **state)
{
	static const uint32_t sizes[] = {1, 2, 63, 64, 65, 819, 1000, 6553, 16384};

	(void)state;
	srandom(3);
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		struct vx_tables_conf conf = shelf_conf();
		uint64_t *key = calloc(sizes[i], sizeof(*key));
		struct shelf *s;
		bool moved;

		assert_non_null(key);
		conf.max_macs = sizes[i];
		s = shelf_open(&conf);
		add_vni(s, 1);
		assert_int_equal(vx_attach_add(s->tables, 1, 1, NULL), 0);
		for (uint32_t n = 0; n < sizes[i]; n++) {
			key[n] = vx_fdb_key(0, (uint64_t)random() << 17 ^ (n << 1)) & ~UINT64_C(1);
			assert_int_equal(vx_fdb_set(s->tables, key[n], 0, false, &moved), 0);
		}
		assert_int_equal(vx_fdb_used(s->tables->fdb), walk(s->tables->fdb));
		if (vx_fdb_used(s->tables->fdb) == sizes[i]) {
			assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(0, 2), 0, true, &moved),
					 -ENOSPC);
			assert_int_equal(vx_fdb_set(s->tables, key[0], 0, true, &moved), 0);
			assert_int_equal(vx_fdb_del(s->tables, key[sizes[i] - 1]), 0);
			assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(0, 2), 0, true, &moved),
					 0);
		} else {
			/* Two random MACs were the same: the chance of that is small. */
			assert_true(vx_fdb_used(s->tables->fdb) + 2 >= sizes[i]);
		}
		shelf_close(s);
		free(key);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_key),		TEST(test_set_and_move),
		TEST(test_static_wins), TEST(test_flush),
		TEST(test_next),	TEST(test_ageing),
		TEST(test_full),	TEST(test_ageing_in_steps),
	};

	return cmocka_run_group_tests_name("tables_fdb", tests, NULL, NULL);
}
