/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 routes beside IPv4 ones, link-local gateways, and which address is the source. */
#include "test_underlay.h"

static struct bench *
bench_with_ports(void)
{
	struct bench *b = bench_create(NULL);

	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	assert_int_equal(add_address(b, "2001:db8::1/64", 0), 0);
	return b;
}

static void
assert_path(struct bench *b, const char *remote, const char *next_hop, const char *source,
	    uint16_t port)
{
	const struct vx_hop hop = path(b, remote);
	char text[VX_IP_TEXT_MAX];

	if (hop.state == VX_HOP_NO_ROUTE)
		print_error("%s: %s\n", remote, hop.why);
	assert_int_not_equal(hop.state, VX_HOP_NO_ROUTE);
	assert_string_equal(vx_ip_format(&hop.next_hop, text, sizeof(text)), next_hop);
	assert_string_equal(vx_ip_format(&hop.source, text, sizeof(text)), source);
	assert_int_equal(hop.port, port);
}

static void
assert_none(struct bench *b, const char *remote, const char *why)
{
	assert_int_equal(path(b, remote).state, VX_HOP_NO_ROUTE);
	assert_string_equal(path(b, remote).why, why);
}

static void
test_longest_first(void **state)
{
	struct bench *b = bench_with_ports();

	(void)state;
	assert_path(b, "2001:db8::77", "2001:db8::77", "2001:db8::1", 0);
	assert_none(b, "2001:db8:1::1", "no route");
	assert_int_equal(add_route(b, "::/0", "2001:db8::fe"), 0);
	assert_int_equal(add_route(b, "2001:db8:1::/48", "2001:db8::fd"), 0);
	assert_int_equal(add_route(b, "2001:db8:1:2:3:4:5:6/128", "2001:db8::fc"), 0);
	assert_path(b, "2a00::1", "2001:db8::fe", "2001:db8::1", 0);
	assert_path(b, "2001:db8:1::1", "2001:db8::fd", "2001:db8::1", 0);
	assert_path(b, "2001:db8:1:2:3:4:5:6", "2001:db8::fc", "2001:db8::1", 0);
	assert_path(b, "2001:db8:1:2:3:4:5:7", "2001:db8::fd", "2001:db8::1", 0);
	assert_path(b, "2001:db8::9", "2001:db8::9", "2001:db8::1", 0);
	assert_int_equal(del_route(b, "2001:db8:1::/48", NULL), 0);
	assert_path(b, "2001:db8:1::1", "2001:db8::fe", "2001:db8::1", 0);
	assert_int_equal(del_route(b, "::/0", "2001:db8::fd"), -ENOENT);
	assert_int_equal(del_route(b, "::/0", "2001:db8::fe"), 0);
	assert_none(b, "2a00::1", "no route");
	bench_destroy(b, 0);
}

/* In one trie, but neither is the other's default. */
static void
test_families_apart(void **state)
{
	struct bench *b = bench_with_ports();

	(void)state;
	assert_int_equal(add_route(b, "::/0", "2001:db8::fe"), 0);
	assert_none(b, "198.51.100.1", "no route");
	assert_int_equal(add_route(b, "0.0.0.0/0", "192.0.2.254"), 0);
	assert_path(b, "198.51.100.1", "192.0.2.254", "192.0.2.1", 0);
	assert_path(b, "2a00::1", "2001:db8::fe", "2001:db8::1", 0);
	assert_int_equal(del_route(b, "::/0", NULL), 0);
	assert_none(b, "2a00::1", "no route");
	assert_path(b, "198.51.100.1", "192.0.2.254", "192.0.2.1", 0);
	bench_destroy(b, 0);
}

static void
test_refused(void **state)
{
	struct bench *b = bench_with_ports();

	(void)state;
	assert_int_equal(add_route(b, "2001:db8:1::1/48", "2001:db8::fe"), -EINVAL);
	assert_string_equal(b->err.text, "2001:db8:1::1/48 has bits beyond its length: expected "
					 "2001:db8:1::/48");
	assert_int_equal(add_route(b, "ff00::/8", "2001:db8::fe"), -EINVAL);
	assert_string_equal(b->err.text, "ff00::/8 holds no host's addresses");
	assert_int_equal(add_route(b, "fe80::/64", "2001:db8::fe"), -EINVAL);
	assert_string_equal(b->err.text, "fe80::/64 is link-local: no gateway leads there");
	assert_int_equal(add_route(b, "2001:db8:1::/48", "2001:db8::1"), -EINVAL);
	assert_int_equal(add_route(b, "2001:db8:1::/48", "2001:db8:2::1"), -EINVAL);
	assert_int_equal(add_route(b, "2001:db8::/64", "2001:db8::fe"), -EEXIST);
	assert_int_equal(add_address(b, "ff02::1/64", 0), -EINVAL);
	assert_int_equal(add_address(b, "::1/128", 0), -EINVAL);
	assert_int_equal(add_address(b, "2001:db8::5/0", 0), -EINVAL);
	assert_string_equal(b->err.text, "prefix length 0 of 2001:db8::5: expected 1..128");
	assert_int_equal(add_address(b, "2001:db8::1/64", 1), -EEXIST);
	assert_int_equal(add_neigh(b, "2001:db8::1", &peer_mac, 0), -EINVAL);
	assert_int_equal(add_neigh(b, "2001:db8:9::1", &peer_mac, 0), -EINVAL);
	assert_int_equal(add_neigh(b, "ff02::2", &peer_mac, 0), -EINVAL);
	bench_destroy(b, 0);
}

/* RFC 4861's routers are link-local: what is sent through one still has a global source. */
static void
test_link_local_gateway(void **state)
{
	struct bench *b = bench_with_ports();

	(void)state;
	assert_int_equal(add_route(b, "::/0", "fe80::fe"), 0);
	assert_path(b, "2a00::1", "fe80::fe", "2001:db8::1", 0);
	assert_path(b, "fe80::9", "fe80::9", "fe80::ff:fe00:1", 0);
	/* the address nearest to the destination (RFC 6724) */
	assert_int_equal(add_address(b, "2a00:1::1/64", 0), 0);
	assert_path(b, "2a00::1", "fe80::fe", "2a00:1::1", 0);
	assert_path(b, "2001:db8:1::1", "fe80::fe", "2001:db8::1", 0);
	/* it stays unambiguous */
	assert_int_equal(add_address(b, "2001:db8:1::1/64", 1), -EINVAL);
	assert_string_equal(b->err.text,
			    "port 1 would be a second one that the link-local gateway fe80::fe of "
			    "the route to ::/0 can be on: give that route a global gateway first");
	assert_int_equal(add_address(b, "198.51.100.1/24", 1), 0);
	assert_int_equal(del_route(b, "::/0", NULL), 0);
	assert_int_equal(add_address(b, "2001:db8:1::1/64", 1), 0);
	assert_int_equal(add_route(b, "::/0", "fe80::fe"), -EINVAL);
	assert_string_equal(b->err.text, "gateway fe80::fe is link-local and can be on several "
					 "ports: expected a global address of it");
	assert_none(b, "fe80::9",
		    "it is link-local, and several ports have IPv6: use a global address");
	bench_destroy(b, 0);
}

static void
test_link_local_only(void **state)
{
	struct bench *b = bench_create(NULL);

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "fe80::1/64", 0), 0);
	assert_int_equal(add_route(b, "::/0", "fe80::fe"), 0);
	assert_path(b, "fe80::9", "fe80::9", "fe80::1", 0);
	assert_none(b, "2a00::1", "its port has no local address but the link-local one");
	bench_destroy(b, 0);
}

static void
test_link_down(void **state)
{
	struct bench *b = bench_with_ports();

	(void)state;
	assert_int_equal(add_address(b, "2001:db8:1::1/64", 1), 0);
	assert_int_equal(add_route(b, "2001:db8:9::/48", "2001:db8:1::fe"), 0);
	assert_int_equal(add_route(b, "2001:db8::/32", "2001:db8::fe"), 0);
	assert_path(b, "2001:db8:9::1", "2001:db8:1::fe", "2001:db8:1::1", 1);
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, false), 0);
	assert_path(b, "2001:db8:9::1", "2001:db8::fe", "2001:db8::1", 0);
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_path(b, "2001:db8:9::1", "2001:db8:1::fe", "2001:db8:1::1", 1);
	vx_underlay_port_del(b->u, 1);
	assert_path(b, "2001:db8:9::1", "2001:db8::fe", "2001:db8::1", 0);
	bench_destroy(b, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest_first),	cmocka_unit_test(test_families_apart),
		cmocka_unit_test(test_refused),		cmocka_unit_test(test_link_local_gateway),
		cmocka_unit_test(test_link_local_only), cmocka_unit_test(test_link_down),
	};

	return cmocka_run_group_tests_name("underlay_route6", tests, setup_eal, NULL);
}
