/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_tables.h"

static void
test_add_and_del(void **state)
{
	struct shelf *s = *state;
	const uint32_t segment = add_vni(s, 100);
	const struct vx_attach *attach;

	assert_null(vx_attach_find(s->tables, 1, &s->err));
	assert_non_null(strstr(s->err.text, "port 1 has no attachment"));
	assert_int_equal(vx_attach_add(s->tables, 1, 100, &s->err), 0);
	attach = vx_attach_find(s->tables, 1, &s->err);
	assert_non_null(attach);
	assert_int_equal(attach->port, 1);
	assert_int_equal(attach->vni, 100);
	assert_int_equal(attach->vlan, VX_VLAN_UNTAGGED);
	assert_int_equal(attach->segment, segment);
	assert_int_equal(s->tables->view->port[1].untagged, attach->index);
	assert_ptr_equal(s->tables->attach[attach->index], attach);
	assert_int_equal(vx_segment_find(s->tables, 100, NULL)->n_attaches, 1);

	assert_int_equal(vx_attach_del(s->tables, 1, &s->err), 0);
	assert_null(vx_attach_find(s->tables, 1, NULL));
	assert_int_equal(s->tables->view->port[1].untagged, VX_ATTACH_NONE);
	assert_int_equal(vx_segment_find(s->tables, 100, NULL)->n_attaches, 0);
	assert_int_equal(vx_attach_del(s->tables, 1, &s->err), -ENOENT);
	assert_int_equal(vx_attach_del(s->tables, 1, NULL), -ENOENT);
}

static void
expect_refused(struct shelf *s, uint16_t port, uint32_t vni, int rc, const char *words)
{
	s->err.text[0] = 0;
	assert_int_equal(vx_attach_add(s->tables, port, vni, &s->err), rc);
	assert_non_null(strstr(s->err.text, words));
}

static void
test_refused(void **state)
{
	struct shelf *s = *state;

	add_vni(s, 100);
	add_vni(s, 200);
	expect_refused(s, 1, 300, -ENOENT, "no VNI 300");
	expect_refused(s, 0, 100, -EINVAL, "port 0 is not an access port");
	expect_refused(s, N_ACCESS + 1, 100, -EINVAL, "not an access port");
	assert_int_equal(vx_index_used(&s->tables->attach_index), 0);
	assert_int_equal(vx_attach_add(s->tables, 1, 100, &s->err), 0);
	expect_refused(s, 1, 100, -EEXIST, "attached to VNI 100 already");
	expect_refused(s, 1, 200, -EEXIST, "access del 1");
	assert_int_equal(vx_attach_find(s->tables, 1, NULL)->vni, 100);
	for (uint16_t port = 2; port <= 6; port++)
		assert_int_equal(vx_attach_add(s->tables, port, 200, &s->err), 0);
	expect_refused(s, 7, 200, -ENOSPC, "all 6 attachments");
	assert_int_equal(vx_segment_find(s->tables, 200, NULL)->n_attaches, 5);
	assert_null(vx_attach_find(s->tables, 7, NULL));
	/* Room again once one is gone. */
	assert_int_equal(vx_attach_del(s->tables, 3, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 7, 200, &s->err), 0);
}

static void
test_del_forgets_macs(void **state)
{
	struct shelf *s = *state;
	const uint32_t segment = add_vni(s, 100);
	struct vx_fdb_entry entry;
	bool moved;

	assert_int_equal(vx_attach_add(s->tables, 1, 100, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 2, 100, &s->err), 0);
	for (uint32_t i = 0; i < 20; i++) {
		const uint16_t port = (uint16_t)(1 + i % 2);
		const uint32_t dest = vx_attach_find(s->tables, port, NULL)->index;

		assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(segment, mac48(i)), dest,
					    i % 4 < 2, &moved),
				 0);
	}
	assert_int_equal(vx_attach_del(s->tables, 1, &s->err), 0);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 10);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(vx_fdb_get(s->tables->fdb, vx_fdb_key(segment, mac48(i)), &entry),
				 i % 2);
}

static void
test_vni_deleted_under_it(void **state)
{
	struct shelf *s = *state;
	const uint32_t segment = add_vni(s, 100);
	bool moved;

	add_vni(s, 200);
	for (uint16_t port = 1; port <= 5; port++)
		assert_int_equal(vx_attach_add(s->tables, port, 100, &s->err), 0);
	assert_int_equal(vx_attach_add(s->tables, 6, 200, &s->err), 0);
	assert_int_equal(vx_fdb_set(s->tables, vx_fdb_key(segment, mac48(1)),
				    vx_attach_find(s->tables, 4, NULL)->index, true, &moved),
			 0);
	assert_int_equal(vx_segment_del(s->tables, 100, &s->err), 0);
	for (uint16_t port = 1; port <= 5; port++)
		assert_null(vx_attach_find(s->tables, port, NULL));
	assert_non_null(vx_attach_find(s->tables, 6, NULL));
	assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
	assert_int_equal(vx_index_used(&s->tables->attach_index), 1);
	/* The same VNI again starts empty, and the ports are free for it. */
	add_vni(s, 100);
	assert_int_equal(vx_segment_find(s->tables, 100, NULL)->n_attaches, 0);
	assert_int_equal(vx_attach_add(s->tables, 1, 100, &s->err), 0);
}

static void
test_middle_one_removed(void **state)
{
	struct shelf *s = *state;
	const struct vx_segment *segment;
	uint32_t index[4];

	add_vni(s, 100);
	for (uint16_t port = 1; port <= 3; port++) {
		assert_int_equal(vx_attach_add(s->tables, port, 100, &s->err), 0);
		index[port] = vx_attach_find(s->tables, port, NULL)->index;
	}
	assert_int_equal(vx_attach_del(s->tables, 2, &s->err), 0);
	segment = vx_segment_find(s->tables, 100, NULL);
	assert_int_equal(segment->n_attaches, 2);
	assert_int_equal(segment->target[0], index[1]);
	assert_int_equal(segment->target[1], index[3]);
}

static int
add_vlan(struct shelf *s, uint16_t port, uint16_t vlan, uint32_t vni)
{
	s->err.text[0] = 0;
	return vx_attach_add_vlan(s->tables, port, vlan, vni, &s->err);
}

static void
test_vlans(void **state)
{
	struct shelf *s = *state;
	const struct vx_view_port *port;

	add_vni(s, 100);
	add_vni(s, 200);
	assert_null(s->tables->view->port[1].vlans);
	assert_int_equal(add_vlan(s, 1, 10, 100), 0);
	assert_int_equal(add_vlan(s, 1, 4094, 200), 0);
	assert_int_equal(add_vlan(s, 1, VX_VLAN_UNTAGGED, 100), 0);
	assert_int_equal(add_vlan(s, 2, 10, 200), 0);
	port = &s->tables->view->port[1];
	for (uint16_t vlan = 0; vlan < VX_VLANS; vlan++) {
		const uint32_t index = vx_attach_of_vlan(port, vlan);

		assert_int_equal(index != VX_ATTACH_NONE, vlan == 0 || vlan == 10 || vlan == 4094);
		if (index != VX_ATTACH_NONE)
			assert_int_equal(s->tables->attach[index]->vlan, vlan);
	}
	assert_int_equal(vx_segment_find(s->tables, 100, NULL)->n_attaches, 2);
	assert_int_equal(vx_attach_del_vlan(s->tables, 1, 11, &s->err), -ENOENT);
	assert_non_null(strstr(s->err.text, "VLAN 11"));
	assert_int_equal(vx_attach_del_vlan(s->tables, 1, 10, &s->err), 0);
	assert_non_null(s->tables->view->port[1].vlans);
	assert_int_equal(vx_attach_del_vlan(s->tables, 1, 4094, &s->err), 0);
	assert_null(s->tables->view->port[1].vlans);
	assert_non_null(vx_attach_find(s->tables, 1, NULL));
	/* All of a port at once, others stay. */
	assert_int_equal(add_vlan(s, 1, 10, 100), 0);
	assert_int_equal(vx_attach_del_port(s->tables, 1, &s->err), 0);
	assert_int_equal(vx_index_used(&s->tables->attach_index), 1);
	assert_non_null(vx_attach_find_vlan(s->tables, 2, 10, NULL));
	assert_int_equal(vx_segment_del(s->tables, 200, &s->err), 0);
	assert_null(s->tables->view->port[2].vlans);
}

static void
test_vlans_refused(void **state)
{
	struct shelf *s = *state;

	add_vni(s, 100);
	add_vni(s, 200);
	assert_int_equal(add_vlan(s, 1, 4095, 100), -EINVAL);
	assert_int_equal(add_vlan(s, 1, 4097, 100), -EINVAL);
	assert_int_equal(add_vlan(s, 1, 10, 100), 0);
	assert_int_equal(add_vlan(s, 1, 10, 100), -EEXIST);
	assert_non_null(strstr(s->err.text, "already"));
	assert_int_equal(add_vlan(s, 1, 10, 200), -EEXIST);
	assert_non_null(strstr(s->err.text, "access del 1 vlan 10"));
	assert_int_equal(add_vlan(s, 1, VX_VLAN_ALL, 200), -EEXIST);
	assert_non_null(strstr(s->err.text, "access del 1 vlan 10"));
	assert_int_equal(add_vlan(s, 2, VX_VLAN_ALL, 200), 0);
	assert_int_equal(add_vlan(s, 2, VX_VLAN_ALL, 200), -EEXIST);
	assert_int_equal(add_vlan(s, 2, VX_VLAN_UNTAGGED, 200), -EEXIST);
	assert_non_null(strstr(s->err.text, "access del 2 vlan all"));
	assert_int_equal(add_vlan(s, 2, 10, 100), -EEXIST);
	assert_int_equal(vx_attach_del(s->tables, 2, &s->err), -ENOENT);
	assert_int_equal(vx_attach_del_vlan(s->tables, 2, VX_VLAN_ALL, &s->err), 0);
	assert_int_equal(add_vlan(s, 2, 10, 100), 0);
}

/* Those that carry tags come last: floods of tagged frames begin there. */
static void
test_order(void **state)
{
	struct shelf *s = *state;
	const struct vx_segment *segment;

	add_vni(s, 100);
	assert_int_equal(add_vlan(s, 1, VX_VLAN_ALL, 100), 0);
	assert_int_equal(add_vlan(s, 2, 10, 100), 0);
	assert_int_equal(add_vlan(s, 3, VX_VLAN_ALL, 100), 0);
	assert_int_equal(add_vlan(s, 4, VX_VLAN_UNTAGGED, 100), 0);
	segment = vx_segment_find(s->tables, 100, NULL);
	assert_int_equal(segment->n_attaches, 4);
	assert_int_equal(segment->n_tagged, 2);
	assert_int_equal(s->tables->attach[segment->target[0]]->port, 2);
	assert_int_equal(s->tables->attach[segment->target[1]]->port, 4);
	assert_int_equal(s->tables->attach[segment->target[2]]->port, 1);
	assert_int_equal(s->tables->attach[segment->target[3]]->port, 3);
	assert_int_equal(vx_attach_del_vlan(s->tables, 1, VX_VLAN_ALL, &s->err), 0);
	segment = vx_segment_find(s->tables, 100, NULL);
	assert_int_equal(segment->n_tagged, 1);
	assert_int_equal(s->tables->attach[segment->target[2]]->port, 3);
}

static void
test_static_entry_of_a_vlan(void **state)
{
	const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 1}};
	struct shelf *s = *state;
	const uint32_t segment = add_vni(s, 100);
	struct vx_fdb_entry entry;

	add_vni(s, 200);
	assert_int_equal(add_vlan(s, 1, 10, 100), 0);
	assert_int_equal(add_vlan(s, 1, VX_VLAN_UNTAGGED, 200), 0);
	assert_int_equal(add_vlan(s, 2, VX_VLAN_ALL, 100), 0);
	assert_int_equal(vx_fdb_add_static_port(s->tables, 100, &mac, 1, 0, &s->err), -EINVAL);
	assert_int_equal(vx_fdb_add_static_port(s->tables, 100, &mac, 1, 11, &s->err), -ENOENT);
	assert_int_equal(vx_fdb_add_static_port(s->tables, 100, &mac, 2, 10, &s->err), -ENOENT);
	assert_int_equal(vx_fdb_add_static_port(s->tables, 100, &mac, 1, 10, &s->err), 0);
	assert_true(vx_fdb_get(s->tables->fdb, vx_fdb_key_of(segment, &mac), &entry));
	assert_int_equal(s->tables->attach[entry.dest]->vlan, 10);
	assert_int_equal(vx_fdb_add_static_port(s->tables, 100, &mac, 2, 0, &s->err), 0);
	assert_true(vx_fdb_get(s->tables->fdb, vx_fdb_key_of(segment, &mac), &entry));
	assert_int_equal(s->tables->attach[entry.dest]->vlan, VX_VLAN_ALL);
	assert_int_equal(vx_attach_del_port(s->tables, 2, &s->err), 0);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, shelf_setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_add_and_del),
		TEST(test_refused),
		TEST(test_del_forgets_macs),
		TEST(test_vni_deleted_under_it),
		TEST(test_middle_one_removed),
		TEST(test_vlans),
		TEST(test_vlans_refused),
		TEST(test_order),
		TEST(test_static_entry_of_a_vlan),
	};

	return cmocka_run_group_tests_name("tables_attach", tests, NULL, NULL);
}
