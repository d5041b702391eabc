/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote VTEPs with IPv6 addresses. */
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
add_local(struct shelf *s, const char *text)
{
	struct vx_view *view = vx_view_edit(s->tables);

	assert_non_null(view);
	view->local[view->n_locals].ip = ip(text);
	view->local[view->n_locals++].prefix_len = 64;
	vx_view_publish(s->tables, view);
}

static void
expect_refused(struct shelf *s, const char *text, const char *words)
{
	const struct vx_ip remote = ip(text);

	s->err.text[0] = 0;
	assert_int_equal(vx_vtep_check(s->tables, &remote, &s->err), -EINVAL);
	assert_non_null(strstr(s->err.text, words));
}

static void
test_check(void **state)
{
	const struct vx_ip good = ip("2001:db8::2"), v4 = ip("198.51.100.1");
	struct shelf *s = *state;
	struct vx_view *view;

	/* With IPv4 alone it is a slip; a link-local address does not change that. */
	expect_refused(s, "2001:db8::2", "no local IPv6 address");
	add_local(s, "fe80::1");
	expect_refused(s, "2001:db8::2", "no local IPv6 address");
	add_local(s, "2001:db8::1");
	assert_int_equal(vx_vtep_check(s->tables, &good, &s->err), 0);
	assert_int_equal(vx_vtep_check(s->tables, &v4, &s->err), 0);
	expect_refused(s, "2001:db8::1", "own address");
	expect_refused(s, "fe80::2", "link-local");
	expect_refused(s, "ff0e::1", "multicast");
	expect_refused(s, "::1", "unicast");
	expect_refused(s, "::", "unicast");
	expect_refused(s, "::198.51.100.1", "unicast");
	/* The same the other way round, and neither while there is no address at all. */
	view = vx_view_edit(s->tables);
	view->local[0] = view->local[2];
	view->n_locals = 1;
	vx_view_publish(s->tables, view);
	expect_refused(s, "198.51.100.1", "no local IPv4 address");
	view = vx_view_edit(s->tables);
	view->n_locals = 0;
	vx_view_publish(s->tables, view);
	assert_int_equal(vx_vtep_check(s->tables, &good, &s->err), 0);
	assert_int_equal(vx_vtep_check(s->tables, &v4, &s->err), 0);
}

/* The ready-made header byte by byte. */
static void
test_header(void **state)
{
	static const uint8_t golden[70] = {
		0x02, 0, 0,    0,    0,	   0xfe, 0x02, 0,  0, 0, 0, 1, 0x86, 0xdd, /* Ethernet */
		0x60, 0, 0,    0,    0,	   0,	 17,   64,			   /* IPv6 */
		0x20, 1, 0x0d, 0xb8, 0,	   0,	 0,    0,  0, 0, 0, 0, 0,    0,
		0,    1, 0x20, 1,    0x0d, 0xb8, 0,    0,  0, 0, 0, 0, 0,    0,
		0,    0, 0,    2,    0,	   0,	 0,    0,  0, 0, 0, 0, /* UDP */
		0x08, 0, 0,    0,    0,	   0,	 0,    0,	       /* VXLAN */
	};
	const struct vx_ip remote = ip("2001:db8::2");
	struct vx_vtep_path path = ready;
	struct shelf *s = *state;
	const struct vx_vtep *vtep;

	path.source = ip("2001:db8::1");
	vx_vtep_get(s->tables, &remote, VX_VTEP_FLOOD);
	vx_vtep_set_path(s->tables, 0, &path);
	vtep = vx_vtep_at(s->tables, 0);
	assert_true(vtep->is_v6);
	assert_memory_equal(&vtep->outer6, golden, sizeof(golden));
	assert_int_equal(vx_vtep_overhead(vtep), 56);
}

static void
test_path_mtu(void **state)
{
	const struct vx_ip remote = ip("2001:db8::2"), v4 = ip("198.51.100.1");
	struct vx_vtep_path path = ready;
	struct shelf *s = *state;

	vx_vtep_get(s->tables, &remote, VX_VTEP_FLOOD);
	vx_vtep_get(s->tables, &v4, VX_VTEP_FLOOD);
	vx_vtep_set_path(s->tables, 0, &path);
	vx_vtep_set_path(s->tables, 1, &path);
	assert_false(vx_vtep_learn_path_mtu(s->tables, 0, 1279, 1));
	assert_int_equal(vx_vtep_at(s->tables, 0)->mtu, 9000);
	assert_true(vx_vtep_learn_path_mtu(s->tables, 0, 1280, 1));
	assert_int_equal(vx_vtep_at(s->tables, 0)->mtu, 1280);
	assert_true(vx_vtep_learn_path_mtu(s->tables, 1, 1279, 1));
	assert_int_equal(vx_vtep_path_mtu_min(&remote), 1280);
	assert_int_equal(vx_vtep_path_mtu_min(&v4), 576);
	/* A link that carries no IPv6 at all: IPv4 does not mind. */
	path.mtu = 1279;
	vx_vtep_set_path(s->tables, 0, &path);
	vx_vtep_set_path(s->tables, 1, &path);
	assert_int_equal(vx_vtep_at(s->tables, 0)->state, VX_VTEP_NO_ROUTE);
	assert_int_equal(vx_vtep_at(s->tables, 1)->state, VX_VTEP_READY);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, shelf_setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_check),
		TEST(test_header),
		TEST(test_path_mtu),
	};

	return cmocka_run_group_tests_name("tables_vtep6", tests, NULL, NULL);
}
