/* SPDX-License-Identifier: BSD-3-Clause */
/* Bindings of tenants' IP addresses: what may replace what, limits, and when they go. */
#include "test_tables.h"
#include "vx_binding.h"
#include "vx_tenants.h"

static void
know(struct shelf *s, uint32_t segment, uint64_t mac)
{
	bool moved;

	assert_int_equal(learn_behind(s, vx_fdb_key(segment, mac), "198.51.100.1", &moved), 0);
}

static enum vx_bound
learn(struct shelf *s, uint32_t segment, const char *text, uint64_t value)
{
	const struct vx_ip address = ip(text);

	return vx_binding_learn(s->tables, segment, &address, value);
}

static uint64_t
lookup(struct shelf *s, uint32_t segment, const char *text)
{
	const struct vx_ip address = ip(text);

	return vx_binding_lookup(s->tables, segment, &address);
}

static void
test_learned(void **state)
{
	struct shelf *s = *state;
	const uint32_t one = add_vni(s, 100), two = add_vni(s, 200);
	const uint64_t a = vx_binding_value(mac48(1), false, true);
	const uint64_t router = vx_binding_value(mac48(1), true, true);
	const uint64_t c = vx_binding_value(mac48(2), false, true);

	assert_int_equal(learn(s, one, "10.0.0.1", a), VX_BOUND_UNKNOWN);
	assert_int_equal(lookup(s, one, "10.0.0.1"), 0);
	know(s, one, mac48(1));
	know(s, one, mac48(2));
	assert_int_equal(learn(s, one, "10.0.0.1", a), VX_BOUND_NEW);
	assert_int_equal(learn(s, one, "10.0.0.1", a), VX_BOUND_SAME);
	assert_int_equal(learn(s, one, "10.0.0.1", router), VX_BOUND_SAME);
	assert_int_equal(lookup(s, one, "10.0.0.1"), router);
	assert_int_equal(learn(s, one, "10.0.0.1", c), VX_BOUND_MOVED);
	assert_int_equal(lookup(s, one, "10.0.0.1"), c);
	assert_int_equal(lookup(s, two, "10.0.0.1"), 0);
	assert_int_equal(learn(s, two, "10.0.0.1", a), VX_BOUND_UNKNOWN);
	/* They go with their MACs: the one of 10.0.0.9 stays. */
	assert_int_equal(learn(s, one, "10.0.0.9", a), VX_BOUND_NEW);
	assert_int_equal(vx_binding_age(s->tables, 1), 0);
	assert_int_equal(vx_fdb_del(s->tables, vx_fdb_key(one, mac48(2))), 0);
	assert_int_equal(vx_binding_age(s->tables, 1) + vx_binding_age(s->tables, 1), 1);
	assert_int_equal(lookup(s, one, "10.0.0.1"), 0);
	assert_int_equal(lookup(s, one, "10.0.0.9"), a);
}

static void
test_static(void **state)
{
	struct shelf *s = *state;
	const uint32_t segment = add_vni(s, 100);
	const struct rte_ether_addr mac = {{2, 0, 1, 0, 0, 0}}, group = {{3, 0, 1, 0, 0, 0}};
	const struct vx_ip address = ip("2001:db8::1"), none = ip("ff02::1");
	const uint64_t mine = vx_binding_value(mac48(1), false, true) | VX_BINDING_STATIC;
	const uint64_t other = vx_binding_value(mac48(2), false, true);

	assert_int_equal(vx_binding_add(s->tables, 999, &address, &mac, &s->err), -ENOENT);
	assert_int_equal(vx_binding_add(s->tables, 100, &none, &mac, &s->err), -EINVAL);
	assert_int_equal(vx_binding_add(s->tables, 100, &address, &group, &s->err), -EINVAL);
	assert_int_equal(vx_binding_add(s->tables, 100, &address, &mac, &s->err), 0);
	assert_int_equal(vx_binding_add(s->tables, 100, &address, &mac, &s->err), -EEXIST);
	assert_int_equal(lookup(s, segment, "2001:db8::1"), mine);
	know(s, segment, mac48(2));
	assert_int_equal(learn(s, segment, "2001:db8::1", other), VX_BOUND_CONFLICT);
	assert_int_equal(lookup(s, segment, "2001:db8::1"), mine);
	/* That it is a router is learned all the same. */
	learn(s, segment, "2001:db8::1", vx_binding_value(mac48(1), true, true));
	assert_int_equal(lookup(s, segment, "2001:db8::1"), mine | VX_BINDING_ROUTER);
	assert_int_equal(vx_binding_age(s->tables, 1), 0);
	vx_binding_flush(s->tables, segment, false);
	assert_int_not_equal(lookup(s, segment, "2001:db8::1"), 0);
	assert_int_equal(vx_binding_del(s->tables, 100, &address, &s->err), 0);
	assert_int_equal(vx_binding_del(s->tables, 100, &address, &s->err), -ENOENT);
	/* A static one takes the place of what was learned. */
	assert_int_equal(learn(s, segment, "2001:db8::1", other), VX_BOUND_NEW);
	assert_int_equal(vx_binding_add(s->tables, 100, &address, &mac, &s->err), 0);
	assert_int_equal(lookup(s, segment, "2001:db8::1"), mine);
	assert_int_equal(s->tables->bindings->n, 1);
	assert_int_equal(s->tables->bindings->n_learned[segment], 0);
}

/* One segment may have so many; a deleted segment leaves nothing to the next with its index. */
static void
test_limits(void **state)
{
	struct shelf *s = *state;
	const uint32_t one = add_vni(s, 100), two = add_vni(s, 200);
	const uint64_t value = vx_binding_value(mac48(1), false, true);

	know(s, one, mac48(1));
	know(s, two, mac48(1));
	for (uint32_t i = 0; i < VX_BINDINGS_SEGMENT_MAX; i++) {
		const struct vx_ip address = vx_ip_from_v4(rte_cpu_to_be_32(0x0a000000 + i));

		assert_int_equal(vx_binding_learn(s->tables, one, &address, value), VX_BOUND_NEW);
	}
	assert_int_equal(learn(s, one, "192.0.2.1", value), VX_BOUND_FULL);
	assert_int_equal(learn(s, two, "192.0.2.1", value), VX_BOUND_NEW);
	assert_int_equal(vx_segment_del(s->tables, 100, &s->err), 0);
	assert_int_equal(s->tables->bindings->n, 1);
	assert_int_equal(s->tables->bindings->n_learned[one], 0);
	assert_int_equal(lookup(s, two, "192.0.2.1"), value);
}

static void
test_total(void **state)
{
	struct vx_tables_conf conf = shelf_conf();
	const uint64_t value = vx_binding_value(mac48(1), false, true);
	struct shelf *s;
	uint32_t segment;

	(void)state;
	assert_int_equal(vx_test_eal(), 0);
	conf.max_bindings = 2;
	s = shelf_open(&conf);
	segment = add_vni(s, 100);
	know(s, segment, mac48(1));
	assert_int_equal(learn(s, segment, "10.0.0.1", value), VX_BOUND_NEW);
	assert_int_equal(learn(s, segment, "10.0.0.2", value), VX_BOUND_NEW);
	assert_int_equal(learn(s, segment, "10.0.0.3", value), VX_BOUND_FULL);
	vx_binding_flush(s->tables, segment, true);
	assert_int_equal(learn(s, segment, "10.0.0.3", value), VX_BOUND_NEW);
	shelf_close(s);
}

static void
test_watch(void **state)
{
	struct shelf *s = *state;
	const uint32_t one = add_vni(s, 100);
	struct vx_tables *t = s->tables;
	uint32_t two;

	assert_int_equal(vx_watch_of(t, one), 0);
	assert_int_equal(vx_watch_set(t, 999, VX_WATCH_SUPPRESS, true, &s->err), -ENOENT);
	assert_int_equal(vx_watch_set(t, 100, VX_WATCH_SUPPRESS, false, &s->err), 0);
	assert_int_equal(vx_watch_set(t, 0, VX_WATCH_SUPPRESS, true, &s->err), 0);
	two = add_vni(s, 200);
	assert_int_equal(vx_watch_of(t, one), 0);
	assert_int_equal(vx_watch_of(t, two), VX_WATCH_SUPPRESS);
	know(s, two, mac48(1));
	learn(s, two, "10.0.0.1", vx_binding_value(mac48(1), false, true));
	assert_int_equal(vx_watch_set(t, 0, VX_WATCH_SUPPRESS, false, &s->err), 0);
	assert_int_equal(vx_watch_of(t, two), 0);
	assert_int_equal(t->bindings->n, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, shelf_setup, shelf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_learned),
		TEST(test_static),
		TEST(test_limits),
		TEST(test_watch),
		cmocka_unit_test(test_total),
	};

	return cmocka_run_group_tests_name("tables_binding", tests, NULL, NULL);
}
