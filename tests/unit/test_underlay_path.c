/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths to remote VTEPs: what is tracked follows routes, addresses, links and neighbours. */
#include "test_underlay.h"

static const char R2[] = "192.0.2.2";

static void
test_create(void **state)
{
	struct bench *b = bench_create(NULL), *second = bench_create(NULL);

	(void)state;
	/* two of them have nothing in common */
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	assert_int_equal(add_address(second, "192.0.2.1/24", 0), -ENODEV);
	bench_destroy(second, 0);
	assert_int_equal(path(b, R2).state, VX_HOP_RESOLVING);
	bench_destroy(b, 0);
	vx_underlay_destroy(NULL);
}

static void
test_port_refused(void **state)
{
	static const struct rte_ether_addr zero = {{0}};
	struct bench *b = bench_create(NULL);

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &zero, true), -EINVAL);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &broadcast, true), -EINVAL);
	assert_int_equal(vx_underlay_port_set(b->u, RTE_MAX_ETHPORTS, &mac0, true), -EINVAL);
	assert_int_equal(vx_underlay_port_set(b->u, UINT16_MAX, &mac0, true), -EINVAL);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), -ENODEV);
	vx_underlay_port_del(b->u, 0);
	vx_underlay_port_del(b->u, UINT16_MAX);
	assert_int_equal(b->changed, 0);
	bench_destroy(b, 0);
}

static void
test_hop(void **state)
{
	struct bench *b = bench_with_port();
	const struct vx_ip source = ip("192.0.2.1"), remote = ip(R2);
	struct vx_hop hop = path(b, R2);

	(void)state;
	assert_int_equal(hop.state, VX_HOP_RESOLVING); /* not tracked: nobody asks */
	assert_int_equal(b->sent_n, 0);
	assert_int_equal(track(b, R2), 0);
	hop = path(b, R2);
	assert_int_equal(hop.state, VX_HOP_RESOLVING);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	hop = path(b, R2);
	assert_int_equal(hop.state, VX_HOP_READY);
	assert_int_equal(hop.port, 0);
	assert_true(vx_ip_is_equal(&hop.source, &source));
	assert_true(vx_ip_is_equal(&hop.next_hop, &remote));
	assert_memory_equal(&hop.source_mac, &mac0, 6);
	assert_memory_equal(&hop.next_hop_mac, &peer_mac, 6);
	assert_string_equal(hop.why, "reachable");
	hop = path(b, "198.51.100.1");
	assert_int_equal(hop.state, VX_HOP_NO_ROUTE);
	/* a new MAC of ours is in the path at once */
	b->changed = 0;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &other_mac, true), 0);
	assert_int_equal(b->changed, 1);
	hop = path(b, R2);
	assert_memory_equal(&hop.source_mac, &other_mac, 6);
	assert_int_equal(hop.state, VX_HOP_READY);
	bench_destroy(b, 0);
}

/* Two remotes behind one gateway share its neighbour; one on the link has its own. */
static void
test_gateway_shared(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(add_route(b, "0.0.0.0/0", "192.0.2.254"), 0);
	assert_int_equal(track(b, "198.51.100.2"), 0);
	assert_int_equal(track(b, "198.51.100.3"), 0);
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(b->sent_n, 2);
	assert_true(neigh_info(b, "192.0.2.254", &info));
	assert_int_equal(info.references, 2);
	hear(b, "192.0.2.254", &other_mac, 0, REPLY_TO_US);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_next_hop(b, "198.51.100.2", &other_mac);
	assert_next_hop(b, "198.51.100.3", &other_mac);
	assert_next_hop(b, R2, &peer_mac);
	assert_false(neigh_info(b, "198.51.100.2", &info));
	untrack(b, "198.51.100.2");
	assert_true(neigh_info(b, "192.0.2.254", &info));
	assert_int_equal(info.references, 1);
	bench_destroy(b, 0);
}

static void
test_track_counts(void **state)
{
	const struct vx_underlay_conf limits = {.max_remotes = 2};
	struct bench *b = bench_create(&limits);
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(track(b, R2), 0);
	assert_true(neigh_info(b, R2, &info));
	assert_int_equal(info.references, 1);
	assert_int_equal(track(b, "192.0.2.3"), 0);
	assert_int_equal(track(b, "192.0.2.4"), -ENOSPC);
	assert_int_equal(track(b, R2), 0); /* known: needs no room */
	untrack(b, R2);
	untrack(b, R2);
	assert_true(neigh_info(b, R2, &info));
	assert_int_equal(info.references, 1);
	untrack(b, R2);
	assert_true(neigh_info(b, R2, &info));
	assert_int_equal(info.references, 0);
	untrack(b, R2); /* once too often */
	untrack(b, "192.0.2.99");
	assert_int_equal(track(b, "192.0.2.4"), 0);
	bench_destroy(b, 0);
}

/* A tracked remote without a route gets its neighbour as soon as there is one. */
static void
test_follows_routes(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(track(b, "198.51.100.2"), 0);
	assert_int_equal(path(b, "198.51.100.2").state, VX_HOP_NO_ROUTE);
	assert_int_equal(b->sent_n, 0);
	assert_int_equal(add_route(b, "198.51.0.0/16", "192.0.2.254"), 0);
	assert_int_equal(b->changed, 1);
	assert_int_equal(requests_for(b, "192.0.2.254"), 1);
	hold(b, "198.51.100.2", 1);
	/* a better route: the packet that waited for the former gateway is given back */
	assert_int_equal(add_route(b, "198.51.100.0/24", "192.0.2.253"), 0);
	assert_int_equal(b->changed, 2);
	assert_int_equal(b->dropped_n, 1);
	assert_int_equal(b->dropped[0].reason, VX_DROP_NO_ROUTE);
	assert_int_equal(requests_for(b, "192.0.2.253"), 1);
	assert_true(neigh_info(b, "192.0.2.254", &info));
	assert_int_equal(info.references, 0);
	assert_int_equal(del_route(b, "198.51.100.0/24", "192.0.2.253"), 0);
	assert_int_equal(b->changed, 3);
	assert_true(neigh_info(b, "192.0.2.254", &info));
	assert_int_equal(info.references, 1);
	/* becomes on-link, then one of our own addresses, then neither */
	assert_int_equal(add_address(b, "198.51.100.1/24", 0), 0);
	assert_true(neigh_info(b, "198.51.100.2", &info));
	assert_int_equal(info.references, 1);
	assert_int_equal(add_address(b, "198.51.100.2/24", 0), 0);
	assert_string_equal(path(b, "198.51.100.2").why, "it is a local address");
	assert_true(neigh_info(b, "198.51.100.2", &info));
	assert_int_equal(info.references, 0);
	assert_int_equal(del_address(b, "198.51.100.2"), 0);
	assert_int_equal(del_address(b, "198.51.100.1"), 0);
	assert_int_equal(path(b, "198.51.100.2").state, VX_HOP_RESOLVING);
	assert_int_equal(del_route(b, "198.51.0.0/16", NULL), 0);
	assert_int_equal(path(b, "198.51.100.2").state, VX_HOP_NO_ROUTE);
	bench_destroy(b, 1);
}

static void
test_link_down_and_up(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(add_neigh(b, "192.0.2.3", &other_mac, 0), 0);
	assert_int_equal(track(b, "192.0.2.3"), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	bench_run(b, 5000);
	bench_forget(b);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, false), 0);
	assert_int_equal(b->changed, 1);
	assert_int_equal(path(b, R2).state, VX_HOP_NO_ROUTE);
	assert_string_equal(path(b, R2).why, "the link of its port is down");
	bench_run(b, 5000);
	assert_int_equal(b->sent_n, 0);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(b->changed, 2);
	assert_int_equal(path(b, R2).state, VX_HOP_RESOLVING); /* learned: asked for anew */
	assert_int_equal(requests_for(b, R2), 1);
	assert_next_hop(b, "192.0.2.3", &other_mac); /* static: still there */
	hear(b, R2, &other_mac, 0, REPLY_TO_US);
	assert_next_hop(b, R2, &other_mac);
	bench_destroy(b, 0);
}

/* Somebody else's reference outlives link and port. */
static void
test_reference_outlives_port(void **state)
{
	struct bench *b = bench_with_port();
	const struct vx_ip address = ip(R2);
	struct vx_neigh *n = vx_neigh_get(b->u, 0, &address);

	(void)state;
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	bench_run(b, 2000);
	bench_forget(b);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, false), 0);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	bench_run(b, 200000); /* retries that cannot be sent */
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	assert_int_equal(b->sent_n, 0);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	bench_run(b, 1000);
	assert_true(requests_for(b, R2) >= 1);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	vx_underlay_port_del(b->u, 0);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	vx_neigh_hold(b->u, n, make_packet(b, 1));
	assert_int_equal(b->dropped[0].reason, VX_DROP_NEIGH_FAILED);
	vx_neigh_put(b->u, n);
	bench_run(b, 60000);
	assert_false(neigh_info(b, R2, &(struct vx_neigh_info){0}));
	bench_destroy(b, 1);
}

static void
test_port_del(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_address_info address;
	struct vx_route_info route;
	struct vx_neigh_info info;
	uint32_t iterator = 0;

	(void)state;
	assert_int_equal(add_route(b, "0.0.0.0/0", "192.0.2.254"), 0);
	assert_int_equal(add_neigh(b, "192.0.2.3", &other_mac, 0), 0);
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(track(b, "192.0.2.3"), 0);
	assert_int_equal(track(b, "198.51.100.2"), 0);
	hold(b, R2, 1);
	bench_forget(b);
	vx_underlay_port_del(b->u, 0);
	assert_int_equal(b->changed, 1);
	assert_int_equal(b->dropped_n, 1);
	assert_int_equal(b->dropped[0].reason, VX_DROP_TX_PORT_DOWN);
	assert_false(vx_address_next(b->u, &iterator, &address));
	assert_false(vx_neigh_next(b->u, &iterator, &info));
	iterator = 0;
	assert_true(vx_route_next(b->u, &iterator, &route)); /* the static route */
	assert_false(route.is_usable);
	assert_int_equal(route.port, VX_UNDERLAY_PORT_NONE);
	assert_int_equal(path(b, R2).state, VX_HOP_NO_ROUTE);
	assert_string_equal(path(b, R2).why, "the gateway is on no subnet of a local address");
	bench_run(b, 10000);
	assert_int_equal(b->sent_n, 0);
	/* it comes back, on another port */
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 1), 0);
	assert_int_equal(requests_for(b, R2), 1);
	assert_int_equal(requests_for(b, "192.0.2.254"), 1);
	assert_int_equal(path(b, R2).port, 1);
	bench_destroy(b, 1);
}

static void
ask_from_callback(struct bench *b)
{
	path(b, R2);
	track(b, "192.0.2.9");
	untrack(b, "192.0.2.9");
	track(b, "192.0.2.8");
}

/* The callback may look and track; it is not called from within itself. */
static void
test_changed_calls_back(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	b->on_changed = ask_from_callback;
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_int_equal(b->changed, 1);
	bench_run(b, 3000); /* the two that do not answer fail: one call for both */
	assert_int_equal(neigh_state(b, "192.0.2.8"), VX_NEIGH_FAILED);
	assert_int_equal(b->changed, 2);
	bench_destroy(b, 0);
}

/* A duplicate of our address is named once in a while, not per packet. */
static void
test_duplicate_log(void **state)
{
	struct bench *b = bench_with_port();
	char *text = NULL, *at;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	unsigned int lines = 0;

	(void)state;
	assert_non_null(stream);
	assert_int_equal(rte_openlog_stream(stream), 0);
	for (unsigned int i = 0; i < 1000; i++) { /* for 20 s */
		hear(b, "192.0.2.1", &peer_mac, 0, REQUEST_TO_OTHER);
		b->now += 20;
	}
	rte_openlog_stream(NULL);
	fclose(stream);
	for (at = text; (at = strstr(at, "duplicate address: our 192.0.2.1")) != NULL; at++)
		lines++;
	assert_int_equal(lines, 2);
	free(text);
	bench_destroy(b, 0);
}

/* Time that goes backwards, or jumps, does no harm. */
static void
test_odd_clock(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	vx_underlay_tick(b->u, 5);
	vx_underlay_tick(b->u, b->now);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	bench_forget(b);
	b->now += 3600000; /* an hour without a tick */
	vx_underlay_tick(b->u, b->now);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PROBE);
	assert_int_equal(b->sent_n, 1);
	assert_int_equal(b->changed, 0);
	bench_destroy(b, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_port_refused),
		cmocka_unit_test(test_hop),
		cmocka_unit_test(test_gateway_shared),
		cmocka_unit_test(test_track_counts),
		cmocka_unit_test(test_follows_routes),
		cmocka_unit_test(test_link_down_and_up),
		cmocka_unit_test(test_reference_outlives_port),
		cmocka_unit_test(test_port_del),
		cmocka_unit_test(test_changed_calls_back),
		cmocka_unit_test(test_duplicate_log),
		cmocka_unit_test(test_odd_clock),
	};

	return cmocka_run_group_tests_name("underlay_path", tests, setup_eal, NULL);
}
