/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast database: whom workers are told to send to, when that changes, and limits. */
#include "test_tables.h"
#include "vx_mdb.h"
#include "vx_tenants.h"

#define FAR UINT64_C(1000000)

/* Attachments 1 and 2 are plain, 3 carries tags; the flood list has 192.0.2.2 and 192.0.2.3. */
struct place {
	uint32_t port1, port2, port3, remote2, remote3;
};

static uint32_t
vtep(struct shelf *s, const char *text)
{
	const struct vx_ip address = ip(text);
	const int64_t index = vx_vtep_find(s->tables, &address);

	assert_true(index >= 0);
	return VX_DEST_VTEP | (uint32_t)index;
}

static void
flood(struct shelf *s, const char *text, bool is_added)
{
	const struct vx_ip remote = ip(text);

	assert_int_equal(is_added ? vx_segment_flood_add(s->tables, 100, &remote, &s->err)
				  : vx_segment_flood_del(s->tables, 100, &remote, &s->err),
			 0);
}

static struct place
fill(struct shelf *s)
{
	struct place place;

	assert_int_equal(add_vni(s, 100), 0);
	assert_int_equal(vx_attach_add_vlan(s->tables, 3, VX_VLAN_ALL, 100, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 1, 100, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 2, 100, &s->err), 0);
	flood(s, "192.0.2.2", true);
	flood(s, "192.0.2.3", true);
	assert_int_equal(vx_watch_set(s->tables, 100, VX_WATCH_SNOOP, true, &s->err), 0);
	place.port1 = vx_attach_find(s->tables, 1, NULL)->index;
	place.port2 = vx_attach_find(s->tables, 2, NULL)->index;
	place.port3 = vx_attach_find_vlan(s->tables, 3, VX_VLAN_ALL, NULL)->index;
	place.remote2 = vtep(s, "192.0.2.2");
	place.remote3 = vtep(s, "192.0.2.3");
	return place;
}

static int
join(struct shelf *s, const char *group, uint32_t dest, uint64_t end)
{
	const struct vx_ip address = ip(group);

	return vx_mdb_join(s->tables, 0, &address, dest, end);
}

static void
query(struct shelf *s, const char *querier, uint32_t dest, uint64_t end)
{
	const struct vx_ip address = ip(querier);

	assert_int_equal(vx_mdb_query(s->tables, 0, &address, dest, end), 0);
}

static const struct vx_segment *
narrowed(struct shelf *s, const char *text)
{
	const struct vx_ip address = ip(text);
	const struct vx_mdb_group *group = vx_mdb_lookup(s->tables, 0, &address);

	assert_non_null(group);
	return vx_mdb_narrow(group);
}

static bool
has_group(struct shelf *s, const char *text)
{
	const struct vx_ip address = ip(text);

	return vx_mdb_lookup(s->tables, 0, &address) != NULL;
}

/* Exactly @n targets, in this order; VX_DEST_NONE: nobody. */
static void
expect(const struct vx_segment *segment, unsigned int n_tagged, unsigned int n, ...)
{
	va_list list;

	assert_non_null(segment);
	assert_int_equal(segment->vni, 100);
	assert_int_equal(segment->n_attaches + segment->n_vteps, n);
	assert_int_equal(segment->n_tagged, n_tagged);
	va_start(list, n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(segment->target[i] | (i < segment->n_attaches ? 0 : VX_DEST_VTEP),
				 va_arg(list, uint32_t));
	va_end(list);
}

static void
test_narrow(void **state)
{
	struct shelf *s = *state;
	const struct place p = fill(s);

	/* Without a querier of its family a group goes to all. */
	assert_int_equal(join(s, "239.1.1.1", p.port2, FAR), 0);
	assert_null(narrowed(s, "239.1.1.1"));
	query(s, "fe80::1", p.port1, FAR);
	assert_null(narrowed(s, "239.1.1.1"));
	assert_null(vx_mdb_queried(s->tables, 0, false));
	expect(vx_mdb_queried(s->tables, 0, true), 0, 1, p.port1);
	query(s, "10.0.0.1", p.remote3, FAR);
	expect(vx_mdb_queried(s->tables, 0, false), 0, 1, p.remote3);
	expect(narrowed(s, "239.1.1.1"), 0, 2, p.port2, p.remote3);
	/* In the order of the flood list, whatever order they ask in; the tagged ones last. */
	assert_int_equal(join(s, "239.1.1.1", p.port3, FAR), 0);
	assert_int_equal(join(s, "239.1.1.1", p.remote2, FAR), 0);
	assert_int_equal(join(s, "239.1.1.1", p.port1, FAR), 0);
	expect(narrowed(s, "239.1.1.1"), 1, 5, p.port1, p.port2, p.port3, p.remote2, p.remote3);
	assert_int_equal(join(s, "239.1.1.2", p.port3, FAR), 0);
	expect(narrowed(s, "239.1.1.2"), 1, 2, p.port3, p.remote3);
	assert_int_equal(join(s, "ff05::1", p.port2, FAR), 0);
	expect(narrowed(s, "ff05::1"), 0, 2, p.port1, p.port2);
	/* What else changes about the segment is in the copies at once. */
	assert_int_equal(vx_segment_set_mtu(s->tables, 1234, &s->err), 0);
	assert_int_equal(narrowed(s, "239.1.1.1")->mtu, 1234);
	assert_int_equal(vx_mdb_queried(s->tables, 0, true)->mtu, 1234);
}

static void
test_remotes(void **state)
{
	struct shelf *s = *state;
	const struct place p = fill(s);
	const struct vx_ip remote9 = ip("192.0.2.9");
	const int64_t index = vx_vtep_get(s->tables, &remote9, VX_VTEP_LEARNED);
	const uint32_t other = VX_DEST_VTEP | (uint32_t)index;

	query(s, "10.0.0.1", p.port1, FAR);
	assert_int_equal(join(s, "239.1.1.1", other, FAR), 0);
	vx_vtep_unref(s->tables, (uint32_t)index, VX_VTEP_LEARNED);
	/* It is held, and sent to, though in no flood list. */
	assert_int_equal(vx_vtep_uses(s->tables, (uint32_t)index, VX_VTEP_LEARNED), 1);
	expect(narrowed(s, "239.1.1.1"), 0, 2, p.port1, other);
	/* Through a multicast group, if there is one; who is listed gets its own copy still. */
	flood(s, "239.9.9.9", true);
	expect(narrowed(s, "239.1.1.1"), 0, 2, p.port1, vtep(s, "239.9.9.9"));
	assert_int_equal(join(s, "239.1.1.1", p.remote2, FAR), 0);
	expect(narrowed(s, "239.1.1.1"), 0, 3, p.port1, p.remote2, vtep(s, "239.9.9.9"));
	assert_int_equal(join(s, "239.1.1.2", p.remote2, FAR), 0);
	expect(narrowed(s, "239.1.1.2"), 0, 2, p.port1, p.remote2);
	/* Taken off the list, what it asked for is forgotten. */
	flood(s, "192.0.2.2", false);
	assert_false(has_group(s, "239.1.1.2"));
	vx_mdb_flush_dest(s->tables, VX_INDEX_NONE, other);
	assert_false(has_group(s, "239.1.1.1"));
	assert_int_equal(vx_vtep_find(s->tables, &remote9), -ENOENT);
}

static void
test_ends(void **state)
{
	struct shelf *s = *state;
	const struct place p = fill(s);
	const struct vx_ip group = ip("239.1.1.1");

	query(s, "10.0.0.1", p.port1, 3000);
	assert_int_equal(join(s, "239.1.1.1", p.port2, 1000), 0);
	assert_int_equal(join(s, "239.1.1.1", p.remote2, 2000), 0);
	vx_mdb_age(s->tables, 999);
	expect(narrowed(s, "239.1.1.1"), 0, 3, p.port1, p.port2, p.remote2);
	/* Asked for again. */
	assert_int_equal(join(s, "239.1.1.1", p.port2, 2500), 0);
	vx_mdb_age(s->tables, 1000);
	expect(narrowed(s, "239.1.1.1"), 0, 3, p.port1, p.port2, p.remote2);
	/* Leaving never makes it longer. */
	vx_mdb_leave(s->tables, 0, &group, p.port2, 9000);
	vx_mdb_leave(s->tables, 0, &group, p.port2, 1500);
	vx_mdb_age(s->tables, 1500);
	expect(narrowed(s, "239.1.1.1"), 0, 2, p.port1, p.remote2);
	vx_mdb_age(s->tables, 2000);
	assert_false(has_group(s, "239.1.1.1"));
	assert_int_equal(vx_vtep_uses(s->tables, p.remote2 & VX_DEST_INDEX, VX_VTEP_LEARNED), 0);
	assert_int_equal(join(s, "239.1.1.1", p.port2, FAR), 0);
	vx_mdb_age(s->tables, 3000);
	assert_null(vx_mdb_queried(s->tables, 0, false));
	assert_null(narrowed(s, "239.1.1.1"));
}

static void
test_gone(void **state)
{
	struct shelf *s = *state;
	const struct place p = fill(s);

	query(s, "10.0.0.1", p.port1, FAR);
	query(s, "10.0.0.2", p.remote2, FAR);
	assert_int_equal(join(s, "239.1.1.1", p.port2, FAR), 0);
	assert_int_equal(join(s, "239.1.1.2", p.port3, FAR), 0);
	assert_int_equal(vx_attach_del(s->tables, 2, &s->err), 0);
	assert_false(has_group(s, "239.1.1.1"));
	assert_int_equal(vx_attach_del(s->tables, 1, &s->err), 0);
	expect(vx_mdb_queried(s->tables, 0, false), 0, 1, p.remote2);
	expect(narrowed(s, "239.1.1.2"), 1, 2, p.port3, p.remote2);
	assert_int_equal(vx_watch_set(s->tables, 100, VX_WATCH_SNOOP, false, &s->err), 0);
	assert_null(s->tables->mdb->segment[0]);
	assert_null(vx_mdb_queried(s->tables, 0, false));
	assert_int_equal(s->tables->mdb->n_groups, 0);
	/* With the segment as well. */
	query(s, "10.0.0.2", p.remote2, FAR);
	assert_int_equal(join(s, "239.1.1.2", p.port3, FAR), 0);
	assert_int_equal(vx_segment_del(s->tables, 100, &s->err), 0);
	assert_null(s->tables->mdb->segment[0]);
	assert_null(s->tables->mdb->all);
	assert_null(vx_mdb_queried(s->tables, 0, false));
	assert_int_equal(s->n_added, s->n_removed);
}

static void
test_full(void **state)
{
	struct shelf *s = *state;
	const struct place p = fill(s);

	for (uint32_t i = 0; i < VX_MDB_SEGMENT_MAX; i++) {
		const struct vx_ip group = vx_ip_from_v4(rte_cpu_to_be_32(0xef000000u + i));

		assert_int_equal(vx_mdb_join(s->tables, 0, &group, p.port1, FAR), 0);
	}
	assert_int_equal(join(s, "ff05::1", p.port1, FAR), -ENOSPC);
	/* Another member of what is there is no problem. */
	assert_int_equal(join(s, "239.0.0.1", p.port2, FAR), 0);
	/* What was refused may be anything: unknown groups are flooded meanwhile. */
	assert_int_equal(vx_watch_of(s->tables, 0), VX_WATCH_SNOOP | VX_WATCH_CROWDED);
	assert_int_equal(vx_watch_set(s->tables, 0, VX_WATCH_SUPPRESS, true, &s->err), 0);
	vx_mdb_age(s->tables, FAR - 1);
	assert_int_equal(vx_watch_of(s->tables, 0),
			 VX_WATCH_SUPPRESS | VX_WATCH_SNOOP | VX_WATCH_CROWDED);
	vx_mdb_age(s->tables, FAR);
	assert_int_equal(vx_watch_of(s->tables, 0), VX_WATCH_SUPPRESS | VX_WATCH_SNOOP);
	assert_int_equal(s->tables->mdb->n_groups, 0);
	assert_int_equal(join(s, "ff05::1", p.port1, 2 * FAR), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, shelf_setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_narrow), TEST(test_remotes), TEST(test_ends),
		TEST(test_gone),   TEST(test_full),
	};

	return cmocka_run_group_tests_name("tables_mdb", tests, NULL, NULL);
}
