/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours: each state, each way out of it, by a clock that the test turns. */
#include "test_underlay.h"

static const char R2[] = "192.0.2.2";

static void
test_state_names(void **state)
{
	(void)state;
	assert_string_equal(vx_neigh_state_name(VX_NEIGH_INCOMPLETE), "incomplete");
	assert_string_equal(vx_neigh_state_name(VX_NEIGH_REACHABLE), "reachable");
	assert_string_equal(vx_neigh_state_name(VX_NEIGH_STALE), "stale");
	assert_string_equal(vx_neigh_state_name(VX_NEIGH_DELAY), "delay");
	assert_string_equal(vx_neigh_state_name(VX_NEIGH_PROBE), "probe");
	assert_string_equal(vx_neigh_state_name(VX_NEIGH_FAILED), "failed");
	assert_string_equal(vx_neigh_state_name(VX_NEIGH_PERMANENT), "permanent");
}

static void
test_resolve(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(b->sent_n, 1); /* at once, by broadcast, from the address of that subnet */
	assert_true(b->sent[0].is_broadcast);
	assert_int_equal(b->sent[0].port, 0);
	assert_int_equal(b->sent[0].sender, host("192.0.2.1"));
	assert_int_equal(b->sent[0].target, host(R2));
	assert_memory_equal(&b->sent[0].src, &mac0, 6);
	assert_int_equal(path(b, R2).state, VX_HOP_RESOLVING);

	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_int_equal(b->changed, 1);
	assert_int_equal(path(b, R2).state, VX_HOP_READY);
	assert_true(neigh_info(b, R2, &info));
	assert_int_equal(info.state, VX_NEIGH_REACHABLE);
	assert_int_equal(info.references, 1);
	assert_int_equal(info.port, 0);
	assert_memory_equal(&info.mac, &peer_mac, 6);
	bench_run(b, 2000);
	assert_true(neigh_info(b, R2, &info));
	assert_int_equal(info.since_ms, 2000);
	bench_destroy(b, 0);
}

/* Three broadcasts, failure, then 1, 2, 4 … 30 s apart. */
static void
test_fail_and_back_off(void **state)
{
	static const uint64_t want[] = {0,     1000,  2000,  4000,  6000,  10000,
					18000, 34000, 64000, 94000, 124000};
	struct bench *b = bench_with_port();
	uint64_t start = b->now;

	(void)state;
	assert_int_equal(track(b, R2), 0);
	bench_run(b, 2900);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_INCOMPLETE);
	assert_int_equal(b->changed, 0);
	bench_run(b, 100);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	assert_int_equal(b->changed, 1);
	assert_int_equal(path(b, R2).state, VX_HOP_FAILED);
	bench_run(b, 130000 - 3000);
	assert_int_equal(b->sent_n, RTE_DIM(want));
	for (unsigned int i = 0; i < RTE_DIM(want); i++) {
		assert_int_equal(b->sent[i].at_ms - start, want[i]);
		assert_true(b->sent[i].is_broadcast);
	}
	assert_int_equal(b->changed, 1);
	assert_int_equal(b->counts[VX_COUNT_ARP_FAILED], 1);
	/* announcements, too */
	assert_int_equal(b->counts[VX_COUNT_ARP_REQUESTS], 2 + RTE_DIM(want));
	assert_int_equal(b->counts[VX_COUNT_ORIGINATED], 2 + RTE_DIM(want));

	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	assert_int_equal(path(b, R2).state, VX_HOP_READY);
	assert_int_equal(b->changed, 2);
	bench_destroy(b, 0);
}

/* The refresh is by unicast, the path stays ready all the time. */
static void
test_refresh_without_loss(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	bench_forget(b);
	for (unsigned int round = 0; round < 5; round++) {
		bench_run(b, 29900);
		assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
		assert_int_equal(b->sent_n, 0);
		bench_run(b, 100);
		assert_int_equal(neigh_state(b, R2), VX_NEIGH_PROBE);
		assert_int_equal(b->sent_n, 1);
		assert_false(b->sent[0].is_broadcast);
		assert_memory_equal(&b->sent[0].dst, &peer_mac, 6);
		hold(b, R2, round); /* sent at once */
		assert_int_equal(b->sent_n, 2);
		assert_int_equal(path(b, R2).state, VX_HOP_READY);
		hear(b, R2, &peer_mac, 0, REPLY_TO_US);
		assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
		assert_int_equal(b->changed, 0);
		b->sent_n = 0;
	}
	bench_destroy(b, 5);
}

/* Unicast three times, broadcast three times, then failed. */
static void
test_probe_fails(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	bench_forget(b);
	bench_run(b, 30000 + 5900);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PROBE);
	assert_int_equal(path(b, R2).state, VX_HOP_READY);
	assert_int_equal(b->changed, 0);
	assert_int_equal(b->sent_n, 6);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(b->sent[i].is_broadcast, i >= 3);
	bench_run(b, 100);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	assert_int_equal(path(b, R2).state, VX_HOP_FAILED);
	assert_int_equal(b->changed, 1);
	assert_int_equal(b->counts[VX_COUNT_ARP_FAILED], 1);
	bench_destroy(b, 0);
}

/* An answer to the fifth request still prevents failure; the sixth likewise by another MAC. */
static void
test_probe_answered_late(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	bench_forget(b);
	bench_run(b, 30000 + 4500);
	hear(b, R2, &other_mac, 0, REPLY_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	assert_int_equal(b->changed, 1);
	assert_next_hop(b, R2, &other_mac);
	bench_destroy(b, 0);
}

static void
test_hearsay(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	/* a stranger's gratuitous ARP makes no entry, a request for us does */
	hear(b, R2, &peer_mac, 0, REQUEST_TO_OTHER);
	hear(b, R2, &peer_mac, 0, REPLY_TO_OTHER);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_false(neigh_info(b, R2, &(struct vx_neigh_info){0}));
	hear(b, R2, &peer_mac, 0, REQUEST_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_STALE);
	assert_int_equal(b->changed, 0);

	/* referenced: used at once, probed after 5 s */
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_DELAY);
	assert_int_equal(path(b, R2).state, VX_HOP_READY);
	assert_int_equal(b->sent_n, 0);
	bench_run(b, 4900);
	assert_int_equal(b->sent_n, 0);
	bench_run(b, 100);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PROBE);
	assert_int_equal(b->sent_n, 1);
	/* hearsay of the same MAC confirms nothing */
	hear(b, R2, &peer_mac, 0, REQUEST_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PROBE);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	hear(b, R2, &peer_mac, 0, REQUEST_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	assert_int_equal(b->changed, 0);
	bench_destroy(b, 0);
}

/* An incomplete or failed neighbour that asks for us is known from then on. */
static void
test_hearsay_resolves(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hold(b, R2, 7);
	hear(b, R2, &peer_mac, 0, REQUEST_TO_US);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_DELAY);
	assert_int_equal(b->sent_n, 2);
	assert_int_equal(b->sent[1].mark, 7);
	bench_run(b, 15000);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	bench_forget(b);
	hear(b, R2, &peer_mac, 0, REQUEST_TO_OTHER);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_DELAY);
	assert_int_equal(b->changed, 1);
	bench_destroy(b, 1);
}

static void
test_mac_change(void **state)
{
	static const enum heard ways[] = {REPLY_TO_US, REPLY_TO_OTHER, REQUEST_TO_US,
					  REQUEST_TO_OTHER};
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		hear(b, R2, &peer_mac, 0, REPLY_TO_US);
		bench_forget(b);
		hear(b, R2, &other_mac, 0, ways[i]);
		assert_int_equal(b->changed, 1);
		assert_int_equal(path(b, R2).state, VX_HOP_READY);
		assert_next_hop(b, R2, &other_mac);
		assert_int_equal(neigh_state(b, R2),
				 ways[i] == REPLY_TO_US ? VX_NEIGH_REACHABLE : VX_NEIGH_DELAY);
	}
	/* an unreferenced one changes too, and nobody is told */
	untrack(b, R2);
	bench_forget(b);
	hear(b, R2, &peer_mac, 0, REQUEST_TO_OTHER);
	assert_int_equal(b->changed, 0);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_STALE);
	assert_next_hop(b, R2, &peer_mac);
	bench_destroy(b, 0);
}

/* What may not be believed leaves no trace. */
static void
test_not_credible(void **state)
{
	static const struct rte_ether_addr zero = {{0}};
	struct bench *b = bench_with_port();
	uint32_t iterator = 0;
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_int_equal(vx_underlay_port_set(b->u, 2, &mac1, false), 0);
	hear(b, "198.51.100.7", &peer_mac, 0, REQUEST_TO_US); /* not on-link */
	hear(b, R2, &peer_mac, 1, REQUEST_TO_US);	      /* on another link */
	hear(b, R2, &peer_mac, 2, REQUEST_TO_US);	      /* link is down */
	hear(b, R2, &peer_mac, 3, REQUEST_TO_US);	      /* no such port */
	hear(b, R2, &peer_mac, 60000, REQUEST_TO_US);
	hear(b, "192.0.2.1", &peer_mac, 0, REQUEST_TO_US); /* our own address */
	hear(b, "192.0.2.1", &peer_mac, 0, REQUEST_TO_OTHER);
	hear(b, "192.0.2.255", &peer_mac, 0, REQUEST_TO_US);
	hear(b, "192.0.2.0", &peer_mac, 0, REQUEST_TO_US);
	hear(b, "0.0.0.0", &peer_mac, 0, REQUEST_TO_US); /* a probe, RFC 5227 */
	hear(b, R2, &broadcast, 0, REQUEST_TO_US);
	hear(b, R2, &zero, 0, REQUEST_TO_US);
	hear(b, R2, &mac0, 0, REQUEST_TO_US); /* our own MAC */
	assert_false(vx_neigh_next(b->u, &iterator, &info));
	assert_int_equal(b->sent_n, 0);

	/* nor does it change what is there */
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	hear(b, R2, &broadcast, 0, REPLY_TO_US);
	hear(b, R2, &zero, 0, REPLY_TO_US);
	hear(b, R2, &other_mac, 1, REPLY_TO_US);
	assert_next_hop(b, R2, &peer_mac);
	bench_destroy(b, 0);
}

static void
test_references(void **state)
{
	struct bench *b = bench_with_port();
	const struct vx_ip address = ip(R2);
	struct vx_neigh *n = vx_neigh_get(b->u, 0, &address), *again;
	struct vx_neigh_info info;

	(void)state;
	assert_non_null(n);
	again = vx_neigh_get(b->u, 0, &address);
	assert_ptr_equal(again, n);
	assert_true(neigh_info(b, R2, &info));
	assert_int_equal(info.references, 2);
	vx_neigh_hold(b->u, n, make_packet(b, 1));
	vx_neigh_put(b->u, n);
	assert_int_equal(b->dropped_n, 0);
	vx_neigh_put(b->u, n);
	assert_int_equal(b->dropped_n, 1);
	assert_int_equal(b->dropped[0].reason, VX_DROP_NO_ROUTE);
	bench_run(b, 1000); /* nobody wants an answer any more */
	assert_false(neigh_info(b, R2, &info));
	assert_int_equal(requests_for(b, R2), 1);
	bench_destroy(b, 1);
}

/* Without a reference: reachable 30 s, stale 60 s, gone. Nothing is sent. */
static void
test_forgotten(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	untrack(b, R2);
	bench_forget(b);
	bench_run(b, 29900);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	bench_run(b, 100);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_STALE);
	bench_run(b, 50000);
	hear(b, R2, &peer_mac, 0, REQUEST_TO_OTHER); /* heard of again: 60 s more */
	bench_run(b, 59900);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_STALE);
	bench_run(b, 100);
	assert_false(neigh_info(b, R2, &info));
	assert_int_equal(b->sent_n, 0);
	assert_int_equal(b->changed, 0);

	/* given back while it was being probed, or had failed */
	assert_int_equal(track(b, R2), 0);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	bench_run(b, 31000);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PROBE);
	untrack(b, R2);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_STALE);
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_DELAY);
	bench_run(b, 12000);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	untrack(b, R2);
	bench_forget(b);
	bench_run(b, 59900);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	bench_run(b, 100);
	assert_false(neigh_info(b, R2, &info));
	assert_int_equal(b->sent_n, 0);
	bench_destroy(b, 0);
}

static void
test_static(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hold(b, R2, 5);
	bench_forget(b);
	assert_int_equal(add_neigh(b, R2, &peer_mac, 0), 0); /* replaces the one being asked for */
	assert_int_equal(b->sent_n, 1);
	assert_int_equal(b->sent[0].mark, 5);
	assert_int_equal(b->changed, 1);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PERMANENT);
	assert_int_equal(path(b, R2).state, VX_HOP_READY);
	bench_forget(b);
	hear(b, R2, &other_mac, 0, REPLY_TO_US);
	bench_run(b, 200000);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PERMANENT);
	assert_next_hop(b, R2, &peer_mac);
	assert_int_equal(b->sent_n, 0);
	assert_int_equal(b->changed, 0);

	assert_int_equal(del_neigh(b, R2), 0); /* in use: asked for */
	assert_int_equal(b->changed, 1);
	assert_int_equal(requests_for(b, R2), 1);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_INCOMPLETE);
	assert_int_equal(del_neigh(b, R2), -ENOENT);

	assert_int_equal(add_neigh(b, "192.0.2.9", &peer_mac, 0), 0); /* not in use */
	bench_run(b, 200000);
	assert_int_equal(neigh_state(b, "192.0.2.9"), VX_NEIGH_PERMANENT);
	assert_int_equal(del_neigh(b, "192.0.2.9"), 0);
	assert_false(neigh_info(b, "192.0.2.9", &info));
	bench_destroy(b, 1);
}

static void
test_static_refused(void **state)
{
	static const struct rte_ether_addr zero = {{0}};
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(add_neigh(b, R2, &zero, 0), -EINVAL);
	assert_string_equal(b->err.text, "00:00:00:00:00:00 is a group address or zero: expected "
					 "one host's MAC");
	assert_int_equal(add_neigh(b, R2, &broadcast, 0), -EINVAL);
	assert_int_equal(add_neigh(b, "192.0.2.1", &peer_mac, 0), -EINVAL);
	assert_string_equal(b->err.text, "192.0.2.1 is a local address: expected another's");
	assert_int_equal(add_neigh(b, "198.51.100.1", &peer_mac, 0), -EINVAL);
	assert_string_equal(b->err.text, "198.51.100.1 is on no subnet of an address of port 0");
	assert_int_equal(add_neigh(b, "192.0.2.255", &peer_mac, 0), -EINVAL);
	assert_int_equal(add_neigh(b, "224.0.0.5", &peer_mac, 0), -EINVAL);
	assert_int_equal(add_neigh(b, "2001:db8::1", &peer_mac, 0), -EINVAL);
	assert_int_equal(add_neigh(b, R2, &peer_mac, 1), -ENODEV);
	assert_int_equal(add_neigh(b, R2, &peer_mac, 65535), -ENODEV);
	assert_int_equal(add_neigh(b, R2, &peer_mac, 0), 0);
	assert_int_equal(add_neigh(b, R2, &other_mac, 0), -EEXIST);
	assert_string_equal(b->err.text, "192.0.2.2 is already a static neighbour, "
					 "02:00:00:00:00:02 on port 0: delete it first");
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_int_equal(add_address(b, "192.0.2.3/25", 1), 0);
	assert_int_equal(add_neigh(b, R2, &other_mac, 1), -EEXIST);
	assert_int_equal(del_neigh(b, "192.0.2.77"), -ENOENT);
	assert_string_equal(b->err.text, "192.0.2.77 is not a static neighbour");
	bench_destroy(b, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_names),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_fail_and_back_off),
		cmocka_unit_test(test_refresh_without_loss),
		cmocka_unit_test(test_probe_fails),
		cmocka_unit_test(test_probe_answered_late),
		cmocka_unit_test(test_hearsay),
		cmocka_unit_test(test_hearsay_resolves),
		cmocka_unit_test(test_mac_change),
		cmocka_unit_test(test_not_credible),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_static_refused),
	};

	return cmocka_run_group_tests_name("underlay_neigh", tests, setup_eal, NULL);
}
