/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_tables.h"
#include "vx_wire.h"

static void
test_add_and_find(void **state)
{
	struct shelf *s = *state;
	const struct vx_segment *segment;
	const uint32_t index = add_vni(s, 0x123456);

	assert_int_equal(s->n_segments, 1);
	assert_int_equal(s->last_index, index);
	segment = vx_segment_find(s->tables, 0x123456, &s->err);
	assert_non_null(segment);
	assert_ptr_equal(segment, vx_segment_lookup(s->tables, 0x123456));
	assert_int_equal(segment->vni, 0x123456);
	assert_memory_equal(&segment->vni_be, "\x12\x34\x56\x00", 4);
	assert_int_equal(segment->index, index);
	assert_int_equal(segment->mtu, 1500);
	assert_true(segment->is_learning);
	assert_false(segment->has_local || segment->has_own_mtu || segment->has_own_learning);
	assert_int_equal(segment->n_attaches + segment->n_vteps, 0);
	assert_null(vx_segment_find(s->tables, 5, &s->err));
	assert_non_null(strstr(s->err.text, "no VNI 5"));
	assert_null(vx_segment_find(s->tables, 5, NULL));
}

static void
expect_refused(struct shelf *s, struct vx_segment_conf conf, int rc, const char *words)
{
	s->err.text[0] = 0;
	assert_int_equal(vx_segment_add(s->tables, &conf, &s->err), rc);
	assert_non_null(strstr(s->err.text, words));
	assert_int_equal(vx_segment_add(s->tables, &conf, NULL), rc);
}

static void
test_limits(void **state)
{
	struct vx_segment_conf conf = {.vni = 1};
	struct shelf *s = *state;

	expect_refused(s, (struct vx_segment_conf){.vni = 0}, -EINVAL, "1 to 16777215");
	expect_refused(s, (struct vx_segment_conf){.vni = 0x1000000}, -EINVAL, "16777216");
	expect_refused(s, (struct vx_segment_conf){.vni = 1, .mtu = 67}, -EINVAL, "68 to 65485");
	expect_refused(s, (struct vx_segment_conf){.vni = 1, .mtu = 65486}, -EINVAL, "65486");
	expect_refused(s, (struct vx_segment_conf){.vni = 1, .local = ip("192.0.2.9")}, -EINVAL,
		       "192.0.2.9 is not a local address");
	expect_refused(s, (struct vx_segment_conf){.vni = 1, .local = ip("2001:db8::1")}, -EINVAL,
		       "not a local address");
	assert_null(vx_segment_next(s->tables, 0)); /* none of them left anything behind */
	assert_int_equal(vx_index_used(&s->tables->segment_index), 0);

	conf.local = ip("192.0.2.1");
	conf.mtu = 68;
	assert_int_equal(vx_segment_add(s->tables, &conf, &s->err), 0);
	assert_true(vx_segment_find(s->tables, 1, NULL)->has_local);
	assert_int_equal(vx_segment_find(s->tables, 1, NULL)->local_be, vx_ip_v4(&conf.local));
	assert_int_equal(vx_segment_find(s->tables, 1, NULL)->mtu, 68);
	conf.vni = VX_VNI_MAX;
	conf.mtu = 65485;
	assert_int_equal(vx_segment_add(s->tables, &conf, &s->err), 0);
	expect_refused(s, conf, -EEXIST, "VNI 16777215 exists already");
}

static void
test_full_and_again(void **state)
{
	struct shelf *s = *state;

	/* As often as it takes to use each index several times, and the hash's spare keys. */
	for (unsigned int round = 0; round < 40; round++) {
		for (uint32_t vni = 1; vni <= 8; vni++)
			add_vni(s, round * 100 + vni);
		expect_refused(s, (struct vx_segment_conf){.vni = 9999}, -ENOSPC, "all 8 segments");
		for (uint32_t vni = 1; vni <= 8; vni++) {
			assert_int_equal(vx_segment_del(s->tables, round * 100 + vni, &s->err), 0);
			assert_null(vx_segment_lookup(s->tables, round * 100 + vni));
		}
		assert_int_equal(vx_segment_del(s->tables, round * 100 + 1, &s->err), -ENOENT);
	}
	assert_int_equal(vx_index_used(&s->tables->segment_index), 0);
}

static void
test_next_is_ascending(void **state)
{
	static const uint32_t vnis[] = {500, 3, 16777215, 77, 4};
	static const uint32_t sorted[] = {3, 4, 77, 500, 16777215};
	const struct vx_segment *segment = NULL;
	struct shelf *s = *state;

	for (unsigned int i = 0; i < RTE_DIM(vnis); i++)
		add_vni(s, vnis[i]);
	for (unsigned int i = 0; i < RTE_DIM(sorted); i++) {
		segment = vx_segment_next(s->tables, segment == NULL ? 0 : segment->vni);
		assert_non_null(segment);
		assert_int_equal(segment->vni, sorted[i]);
	}
	assert_null(vx_segment_next(s->tables, segment->vni));
	/* A display may go on after the segment that it stopped at has gone. */
	assert_int_equal(vx_segment_next(s->tables, 78)->vni, 500);
}

static void
test_set_mtu(void **state)
{
	const struct vx_segment_conf own = {.vni = 2, .mtu = 9000};
	struct shelf *s = *state;

	add_vni(s, 1);
	assert_int_equal(vx_segment_add(s->tables, &own, &s->err), 0);
	assert_int_equal(vx_segment_set_mtu(s->tables, 67, &s->err), -EINVAL);
	assert_int_equal(vx_segment_set_mtu(s->tables, 65486, &s->err), -EINVAL);
	assert_int_equal(vx_segment_find(s->tables, 1, NULL)->mtu, 1500);
	assert_int_equal(vx_segment_set_mtu(s->tables, 65485, &s->err), 0);
	assert_int_equal(vx_segment_find(s->tables, 1, NULL)->mtu, 65485);
	assert_int_equal(vx_segment_find(s->tables, 2, NULL)->mtu, 9000);
	add_vni(s, 3); /* later ones follow it too */
	assert_int_equal(vx_segment_find(s->tables, 3, NULL)->mtu, 65485);
}

static void
test_set_learning(void **state)
{
	struct shelf *s = *state;

	add_vni(s, 1);
	add_vni(s, 2);
	assert_int_equal(vx_segment_set_learning(s->tables, 9, false, &s->err), -ENOENT);
	assert_int_equal(vx_segment_set_learning(s->tables, 1, false, &s->err), 0);
	assert_false(vx_segment_find(s->tables, 1, NULL)->is_learning);
	assert_true(vx_segment_find(s->tables, 1, NULL)->has_own_learning);
	assert_true(vx_segment_find(s->tables, 2, NULL)->is_learning);
	/* The general setting leaves those with their own alone, even after an MTU change. */
	assert_int_equal(vx_segment_set_mtu(s->tables, 1400, &s->err), 0);
	assert_int_equal(vx_segment_set_learning(s->tables, 0, true, &s->err), 0);
	assert_false(vx_segment_find(s->tables, 1, NULL)->is_learning);
	assert_int_equal(vx_segment_set_learning(s->tables, 0, false, &s->err), 0);
	assert_false(vx_segment_find(s->tables, 2, NULL)->is_learning);
	assert_false(vx_segment_find(s->tables, 2, NULL)->has_own_learning);
	add_vni(s, 3);
	assert_false(vx_segment_find(s->tables, 3, NULL)->is_learning);
}

static void
expect_flood_refused(struct shelf *s, uint32_t vni, const char *remote, int rc, const char *words)
{
	const struct vx_ip address = ip(remote);

	s->err.text[0] = 0;
	assert_int_equal(vx_segment_flood_add(s->tables, vni, &address, &s->err), rc);
	assert_non_null(strstr(s->err.text, words));
}

static void
test_flood_refused(void **state)
{
	const struct vx_ip first = ip("198.51.100.1"), absent = ip("198.51.100.2");
	struct shelf *s = *state;

	add_vni(s, 1);
	expect_flood_refused(s, 2, "198.51.100.1", -ENOENT, "no VNI 2");
	expect_flood_refused(s, 1, "2001:db8::1", -EINVAL, "IPv6");
	expect_flood_refused(s, 1, "127.0.0.1", -EINVAL, "unicast");
	expect_flood_refused(s, 1, "255.255.255.255", -EINVAL, "unicast");
	expect_flood_refused(s, 1, "0.0.0.0", -EINVAL, "unicast");
	expect_flood_refused(s, 1, "192.0.2.1", -EINVAL, "own address");
	expect_flood_refused(s, 1, "192.0.2.0", -EINVAL, "network or broadcast");
	expect_flood_refused(s, 1, "192.0.2.255", -EINVAL, "network or broadcast");
	assert_int_equal(vx_segment_flood_add(s->tables, 1, &first, &s->err), 0);
	expect_flood_refused(s, 1, "198.51.100.1", -EEXIST, "already");
	assert_int_equal(vx_segment_flood_del(s->tables, 1, &absent, &s->err), -ENOENT);
	assert_int_equal(vx_segment_flood_del(s->tables, 2, &first, &s->err), -ENOENT);
	assert_int_equal(s->tables->vtep_refs[0].n[VX_VTEP_FLOOD], 1);
	assert_int_equal(vx_index_used(&s->tables->vtep_index), 1);
}

static void
test_flood_list(void **state)
{
	struct shelf *s = *state;
	const struct vx_segment *segment;
	char text[32];

	add_vni(s, 1);
	for (unsigned int i = 0; i < 8; i++) {
		struct vx_ip remote;

		snprintf(text, sizeof(text), "198.51.100.%u", i + 1);
		remote = ip(text);
		assert_int_equal(vx_segment_flood_add(s->tables, 1, &remote, &s->err), 0);
	}
	expect_flood_refused(s, 1, "198.51.100.9", -ENOSPC, "--max-vteps than 8");
	/* An attachment that comes later still stands before the VTEPs. */
	assert_int_equal(vx_attach_add(s->tables, 1, 1, &s->err), 0);
	segment = vx_segment_find(s->tables, 1, NULL);
	assert_int_equal(segment->n_attaches, 1);
	assert_int_equal(segment->n_vteps, 8);
	assert_int_equal(segment->target[0], vx_attach_find(s->tables, 1, NULL)->index);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(segment->target[1 + i], i);
	for (unsigned int i = 8; i > 0; i--) {
		struct vx_ip remote;

		snprintf(text, sizeof(text), "198.51.100.%u", i);
		remote = ip(text);
		assert_int_equal(vx_segment_flood_del(s->tables, 1, &remote, &s->err), 0);
		assert_int_equal(vx_vtep_find(s->tables, &remote), -ENOENT);
	}
	segment = vx_segment_find(s->tables, 1, NULL);
	assert_int_equal(segment->n_attaches, 1);
	assert_int_equal(segment->n_vteps, 0);
	assert_int_equal(s->n_added, 8);
	assert_int_equal(s->n_removed, 8);
}

/* What was learned behind a VTEP in this segment goes with it; other segments' stays. */
static void
test_flood_del_forgets(void **state)
{
	const struct vx_ip remote = ip("198.51.100.1");
	struct shelf *s = *state;
	const uint32_t one = add_vni(s, 1), two = add_vni(s, 2);
	struct vx_fdb_entry entry;
	uint32_t dest;
	bool moved;

	assert_int_equal(vx_segment_flood_add(s->tables, 1, &remote, &s->err), 0);
	dest = VX_DEST_VTEP | (uint32_t)vx_vtep_find(s->tables, &remote);
	assert_int_equal(learn_behind(s, vx_fdb_key(one, mac48(1)), "198.51.100.1", &moved), 0);
	assert_int_equal(learn_behind(s, vx_fdb_key(two, mac48(1)), "198.51.100.1", &moved), 0);
	assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(one, mac48(2)), dest, true, &moved), 0);
	assert_int_equal(vx_segment_flood_del(s->tables, 1, &remote, &s->err), 0);
	assert_false(vx_fdb_get(s->tables->fdb, vx_fdb_key(one, mac48(1)), &entry));
	assert_true(vx_fdb_get(s->tables->fdb, vx_fdb_key(two, mac48(1)), &entry));
	assert_true(vx_fdb_get(s->tables->fdb, vx_fdb_key(one, mac48(2)), &entry));
	assert_int_equal(s->n_removed, 0);
	assert_int_equal(vx_segment_del(s->tables, 1, &s->err), 0);
	assert_int_equal(vx_segment_del(s->tables, 2, &s->err), 0);
	assert_int_equal(s->n_removed, 1);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
}

/*
 * Deleting a segment replaces it once for each attachment; what is replaced may be freed (and
 * cleared) at once when many objects already wait for that.
 */
static void
test_del_with_attachments_and_full_queue(void **state)
{
	const struct vx_ip remote = ip("198.51.100.1");
	struct shelf *s = *state;

	add_vni(s, 1);
	add_vni(s, 2);
	add_vni(s, 3);
	for (unsigned int round = 0; round < 20; round++) {
		for (uint16_t port = 1; port <= 3; port++)
			assert_int_equal(vx_attach_add(s->tables, port, 3, &s->err), 0);
		assert_int_equal(vx_attach_add(s->tables, 4, 1, &s->err), 0);
		assert_int_equal(vx_segment_flood_add(s->tables, 3, &remote, &s->err), 0);
		assert_int_equal(vx_segment_del(s->tables, 3, &s->err), 0);
		assert_null(vx_segment_find(s->tables, 3, NULL));
		assert_int_equal(vx_segment_find(s->tables, 1, NULL)->n_attaches, 1);
		for (uint16_t port = 1; port <= 3; port++)
			assert_null(vx_attach_find(s->tables, port, NULL));
		assert_int_equal(vx_vtep_find(s->tables, &remote), -ENOENT);
		assert_int_equal(vx_attach_del(s->tables, 4, &s->err), 0);
		assert_int_equal(vx_index_used(&s->tables->attach_index), 0);
		assert_int_equal(vx_index_used(&s->tables->segment_index), 2);
		add_vni(s, 3);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, shelf_setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_add_and_find),      TEST(test_limits),
		TEST(test_full_and_again),    TEST(test_next_is_ascending),
		TEST(test_set_mtu),	      TEST(test_set_learning),
		TEST(test_flood_refused),     TEST(test_flood_list),
		TEST(test_flood_del_forgets), TEST(test_del_with_attachments_and_full_queue),
	};

	return cmocka_run_group_tests_name("tables_segment", tests, NULL, NULL);
}
