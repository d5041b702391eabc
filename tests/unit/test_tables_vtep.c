/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_tables.h"

#include <netinet/in.h>

static const struct vx_vtep_path ready = {
	.state = VX_VTEP_READY,
	.port = 3,
	.mtu = 9000,
	.source_mac = {{2, 0, 0, 0, 0, 1}},
	.next_hop_mac = {{2, 0, 0, 0, 0, 0xfe}},
};

static void
test_get_ref_unref(void **state)
{
	const struct vx_ip a = ip("198.51.100.1"), b = ip("198.51.100.2");
	struct shelf *s = *state;
	int64_t index;

	assert_int_equal(vx_vtep_find(s->tables, &a), -ENOENT);
	index = vx_vtep_get(s->tables, &a, VX_VTEP_LEARNED);
	assert_true(index >= 0);
	assert_int_equal(s->n_added, 1);
	assert_int_equal(s->last_index, index);
	assert_int_equal(vx_vtep_find(s->tables, &a), index);
	assert_int_equal(vx_vtep_at(s->tables, (uint32_t)index)->state, VX_VTEP_NO_ROUTE);
	assert_int_equal(vx_vtep_at(s->tables, (uint32_t)index)->index, index);
	assert_true(vx_vtep_get(s->tables, &b, VX_VTEP_LEARNED) != index);
	assert_int_equal(vx_vtep_get(s->tables, &a, VX_VTEP_LEARNED), index);
	assert_int_equal(s->n_added, 2);
	vx_vtep_unref(s->tables, (uint32_t)index, VX_VTEP_LEARNED);
	assert_int_equal(vx_vtep_find(s->tables, &a), index);
	vx_vtep_unref(s->tables, (uint32_t)index, VX_VTEP_LEARNED);
	assert_int_equal(vx_vtep_find(s->tables, &a), -ENOENT);
	assert_null(vx_vtep_at(s->tables, (uint32_t)index));
	assert_int_equal(s->n_removed, 1);
	assert_true(vx_ip_is_equal(&s->last_remote, &a));
	/* Another index next time: late records of workers may still name the old one. */
	assert_true(vx_vtep_get(s->tables, &a, VX_VTEP_FLOOD) != index);
}

static void
test_named(void **state)
{
	const struct vx_ip remote = ip("198.51.100.1");
	struct shelf *s = *state;
	uint32_t index;

	index = (uint32_t)vx_vtep_get(s->tables, &remote, VX_VTEP_LEARNED);
	vx_vtep_set_path(s->tables, index, &ready);
	assert_false(vx_vtep_at(s->tables, index)->is_named);
	vx_vtep_get(s->tables, &remote, VX_VTEP_FLOOD);
	assert_true(vx_vtep_at(s->tables, index)->is_named);
	/* Becoming a named one does not lose the way to it. */
	assert_int_equal(vx_vtep_at(s->tables, index)->state, VX_VTEP_READY);
	assert_int_equal(vx_vtep_at(s->tables, index)->mtu, 9000);
	vx_vtep_ref(s->tables, index, VX_VTEP_STATIC);
	vx_vtep_unref(s->tables, index, VX_VTEP_FLOOD);
	assert_true(vx_vtep_at(s->tables, index)->is_named);
	vx_vtep_unref(s->tables, index, VX_VTEP_STATIC);
	assert_false(vx_vtep_at(s->tables, index)->is_named);
	assert_int_equal(s->n_removed, 0);
	vx_vtep_unref(s->tables, index, VX_VTEP_LEARNED);
	assert_int_equal(s->n_removed, 1);
	/* What is learned of the path later is only for VTEPs that are there. */
	assert_int_equal(vx_index_used(&s->tables->vtep_index), 0);
}

static void
test_full(void **state)
{
	struct shelf *s = *state;

	for (unsigned int round = 0; round < 20; round++) {
		struct vx_ip remote = ip("198.51.100.0");

		for (uint8_t i = 1; i <= 8; i++) {
			remote.bytes[15] = i;
			assert_true(vx_vtep_get(s->tables, &remote, VX_VTEP_FLOOD) >= 0);
		}
		remote.bytes[15] = 9;
		assert_int_equal(vx_vtep_get(s->tables, &remote, VX_VTEP_FLOOD), -ENOSPC);
		assert_int_equal(vx_vtep_find(s->tables, &remote), -ENOENT);
		for (uint8_t i = 1; i <= 8; i++) {
			remote.bytes[15] = i;
			vx_vtep_unref(s->tables, (uint32_t)vx_vtep_find(s->tables, &remote),
				      VX_VTEP_FLOOD);
		}
	}
	assert_int_equal(s->n_added, 160);
	assert_int_equal(s->n_removed, 160);
}

static void
test_set_path(void **state)
{
	const struct vx_ip remote = ip("198.51.100.1");
	struct vx_vtep_path path = ready;
	const struct vx_vtep *before;
	struct shelf *s = *state;
	uint32_t index;

	path.source = ip("192.0.2.1");
	path.next_hop = ip("192.0.2.254");
	index = (uint32_t)vx_vtep_get(s->tables, &remote, VX_VTEP_FLOOD);
	vx_vtep_set_path(s->tables, index, &path);
	before = vx_vtep_at(s->tables, index);
	assert_int_equal(before->state, VX_VTEP_READY);
	assert_int_equal(before->port, 3);
	assert_int_equal(before->mtu, 9000);
	assert_true(before->is_named);
	assert_true(vx_ip_is_equal(&before->remote, &remote));
	vx_vtep_set_path(s->tables, index, &path);
	assert_ptr_equal(vx_vtep_at(s->tables, index), before); /* nothing new, nothing done */
	/* Each part of a path on its own is a change. */
#define CHANGED(member, value)                                                                     \
	do {                                                                                       \
		before = vx_vtep_at(s->tables, index);                                             \
		path.member = (value);                                                             \
		vx_vtep_set_path(s->tables, index, &path);                                         \
		assert_ptr_not_equal(vx_vtep_at(s->tables, index), before);                        \
		assert_memory_equal(&vx_vtep_at(s->tables, index)->path.member, &path.member,      \
				    sizeof(path.member));                                          \
	} while (0)
	vx_rcu_online(s->tables->rcu, 0); /* so that no new one has the old one's memory */
	CHANGED(state, VX_VTEP_RESOLVING);
	CHANGED(port, 4);
	CHANGED(mtu, 1500);
	CHANGED(source, ip("192.0.2.2"));
	CHANGED(next_hop, ip("192.0.2.253"));
	CHANGED(source_mac.addr_bytes[5], 2);
	CHANGED(next_hop_mac.addr_bytes[0], 6);
	vx_rcu_offline(s->tables->rcu, 0);
	assert_int_equal(vx_vtep_at(s->tables, index)->state, VX_VTEP_RESOLVING);
	assert_int_equal(vx_vtep_at(s->tables, index)->port, 4);
	assert_int_equal(vx_vtep_at(s->tables, index)->mtu, 1500);
}

/* The ready-made header byte by byte. */
static void
test_header(void **state)
{
	static const uint8_t golden[50] = {
		0x02, 0, 0, 0, 0,   0xfe, 0x02, 0, 0,  0,	    0, 1, 0x08, 0, /* Ethernet */
		0x45, 0, 0, 0, 0,   0,	  0,	0, 64, IPPROTO_UDP, 0, 0,	   /* IPv4 */
		192,  0, 2, 1, 198, 51,	  100,	1,				   /* addresses */
		0,    0, 0, 0, 0,   0,	  0,	0,				   /* UDP */
		0x08, 0, 0, 0, 0,   0,	  0,	0,				   /* VXLAN */
	};
	const struct vx_ip remote = ip("198.51.100.1");
	struct vx_vtep_path path = ready;
	struct shelf *s = *state;
	const struct vx_vtep *vtep;
	uint32_t sum = 0;

	path.source = ip("192.0.2.1");
	vx_vtep_get(s->tables, &remote, VX_VTEP_FLOOD);
	vx_vtep_set_path(s->tables, 0, &path);
	vtep = vx_vtep_at(s->tables, 0);
	assert_memory_equal(&vtep->outer4, golden, sizeof(golden));
	/* ip_sum: the constant words without the source, in memory order, folded or not. */
	for (unsigned int i = 14; i < 34; i += 2)
		if (i != 26 && i != 28)
			sum += (uint32_t)golden[i] << 8 | golden[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal(rte_be_to_cpu_16((uint16_t)vtep->ip_sum), sum);
	assert_int_equal(vtep->ip_sum >> 16, 0);
}

static void
test_state_names(void **state)
{
	(void)state;
	assert_string_equal(vx_vtep_state_name(VX_VTEP_NO_ROUTE), "no-route");
	assert_string_equal(vx_vtep_state_name(VX_VTEP_RESOLVING), "resolving");
	assert_string_equal(vx_vtep_state_name(VX_VTEP_READY), "ready");
	assert_string_equal(vx_vtep_state_name(VX_VTEP_FAILED), "failed");
}

/* A change of the view is seen as a whole, and the old one lives on for who still reads it. */
static void
test_view(void **state)
{
	const struct vx_view *old, *next;
	struct shelf *s = *state;
	struct vx_view *view;

	vx_rcu_online(s->tables->rcu, 1);
	old = s->tables->view;
	for (unsigned int i = 0; i < 100; i++) { /* more than are kept before some are freed */
		view = vx_view_edit(s->tables);
		assert_non_null(view);
		assert_int_equal(view->n_locals, i + 1 < 20 ? i + 1 : 20);
		if (i + 1 < 20) {
			view->local[i + 1].ip = ip("192.0.2.100");
			view->local[i + 1].ip.bytes[15] = (uint8_t)(100 + i);
			view->n_locals++;
		}
		next = s->tables->view;
		assert_ptr_not_equal(view, next);
		vx_view_publish(s->tables, view);
		assert_ptr_equal(s->tables->view, view);
		assert_int_equal(old->n_locals, 1); /* freed memory would have been cleared */
		assert_int_equal(old->udp_port_be, RTE_BE16(4789));
	}
	vx_rcu_offline(s->tables->rcu, 1);
	assert_non_null(vx_view_find_local4(s->tables->view, RTE_BE32(0xc0000201)));
	assert_non_null(vx_view_find_local4(s->tables->view, RTE_BE32(0xc0000264)));
	assert_null(vx_view_find_local4(s->tables->view, RTE_BE32(0xc00002ff)));
	/* Giving a change up leaves everything as it was. */
	next = s->tables->view;
	view = vx_view_edit(s->tables);
	view->n_locals = 0;
	rte_free(view);
	assert_ptr_equal(s->tables->view, next);
	assert_int_equal(s->tables->view->n_locals, 20);
}

static void
test_new_view_is_empty(void **state)
{
	const struct vx_tables_conf conf = shelf_conf();
	const struct vx_tables_hooks hooks = {0};
	struct vx_tables *tables = vx_tables_create(&conf, &hooks);

	(void)state;
	assert_non_null(tables);
	assert_int_equal(tables->view->n_locals, 0);
	assert_int_equal(tables->view->udp_port_be, RTE_BE16(4789));
	assert_int_equal(tables->view->source_port_lo, 49152);
	assert_int_equal(tables->view->source_ports, 16384);
	assert_null(tables->view->trace);
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		assert_int_equal(tables->view->port[i].untagged, VX_ATTACH_NONE);
	vx_tables_destroy(tables);
	vx_tables_destroy(NULL);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, shelf_setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_get_ref_unref), TEST(test_named),
		TEST(test_full),	  TEST(test_set_path),
		TEST(test_header),	  TEST(test_state_names),
		TEST(test_view),	  TEST(test_new_view_is_empty),
	};

	return cmocka_run_group_tests_name("tables_vtep", tests, NULL, NULL);
}
