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
	assert_int_equal(info.id, path(b, R2).neighbour);
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

/* Eight wait, the oldest gives way; each leaves with the MAC written into it. */
static void
test_hold_queue(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_neigh_info info;

	(void)state;
	assert_int_equal(track(b, R2), 0);
	for (uint32_t i = 0; i < 11; i++) {
		hold(b, R2, i);
		assert_true(neigh_info(b, R2, &info));
		assert_int_equal(info.held, RTE_MIN(i + 1, VX_NEIGH_HOLD_MAX));
	}
	assert_int_equal(b->dropped_n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(b->dropped[i].reason, VX_DROP_NEIGH_QUEUE);
		assert_int_equal(b->dropped[i].mark, i);
	}
	bench_forget(b);
	hear(b, R2, &peer_mac, 0, REPLY_TO_US);
	assert_int_equal(b->sent_n, 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(b->sent[i].mark, i + 3);
		assert_int_equal(b->sent[i].port, 0);
		assert_memory_equal(&b->sent[i].dst, &peer_mac, 6);
	}
	hold(b, R2, 99); /* resolved: goes out at once */
	assert_int_equal(b->sent_n, 9);
	assert_memory_equal(&b->sent[8].dst, &peer_mac, 6);
	bench_destroy(b, 12);
}

static void
test_hold_failed(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hold(b, R2, 1);
	hold(b, R2, 2);
	bench_run(b, 3000);
	assert_int_equal(b->dropped_n, 2);
	assert_int_equal(b->dropped[0].reason, VX_DROP_NEIGH_FAILED);
	assert_int_equal(b->dropped[1].reason, VX_DROP_NEIGH_FAILED);
	hold(b, R2, 3);
	assert_int_equal(b->dropped_n, 3);
	assert_int_equal(b->dropped[2].reason, VX_DROP_NEIGH_FAILED);
	assert_int_equal(b->dropped[2].mark, 3);
	bench_destroy(b, 3);
}

static void
test_hold_given_back(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	hold(b, R2, 1); /* not tracked */
	assert_int_equal(b->dropped[0].reason, VX_DROP_NO_ROUTE);
	assert_int_equal(track(b, R2), 0);
	hold(b, R2, 2);
	untrack(b, R2);
	assert_int_equal(b->dropped_n, 2);
	assert_int_equal(b->dropped[1].reason, VX_DROP_NO_ROUTE);
	assert_int_equal(track(b, "198.51.100.1"), 0);
	hold(b, "198.51.100.1", 3); /* tracked, no route */
	assert_int_equal(b->dropped[2].reason, VX_DROP_NO_ROUTE);
	assert_int_equal(track(b, R2), 0);
	hold(b, R2, 4);
	assert_int_equal(b->dropped_n, 3);
	vx_underlay_port_set(b->u, 0, &mac0, false);
	assert_int_equal(b->dropped_n, 4);
	assert_int_equal(b->dropped[3].reason, VX_DROP_TX_PORT_DOWN);
	vx_underlay_port_set(b->u, 0, &mac0, true);
	hold(b, R2, 5); /* still waiting when everything ends: destroy gives it back */
	assert_int_equal(b->dropped_n, 4);
	bench_destroy(b, 5);
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
	assert_int_equal(add_neigh(b, "2001:db8::1", &peer_mac, 0), -EAFNOSUPPORT);
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

/* At most 3 requests in any second, whatever is done. */
static void
check_rate(const struct bench *b)
{
	assert_true(b->sent_n <= LOG_MAX);
	for (unsigned int i = 0; i < b->sent_n; i++) {
		unsigned int in_second = 0;

		for (unsigned int j = i; j < b->sent_n; j++)
			in_second += b->sent[j].is_arp && b->sent[j].target == host(R2) &&
				     b->sent[j].at_ms < b->sent[i].at_ms + 1000;
		assert_true(in_second <= 3);
	}
}

static void
test_request_rate(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) { /* 10 ms each */
		switch (i % 50 < 10 ? i % 10 : 10) {
		case 0:
			track(b, R2);
			break;
		case 1:
			untrack(b, R2);
			break;
		case 2:
			track(b, R2);
			vx_underlay_port_set(b->u, 0, &mac0, false);
			break;
		case 3:
			vx_underlay_port_set(b->u, 0, &mac0, true);
			break;
		case 4:
			del_address(b, "192.0.2.1");
			break;
		case 5:
			add_address(b, "192.0.2.1/24", 0);
			break;
		case 6:
			add_neigh(b, R2, &peer_mac, 0);
			break;
		case 7:
			del_neigh(b, R2);
			break;
		case 8:
			untrack(b, R2);
			add_neigh(b, R2, &peer_mac, 0);
			del_neigh(b, R2);
			break;
		case 9:
			track(b, R2);
			hold(b, R2, i);
			untrack(b, R2);
			break;
		default:
			break;
		}
		b->now += 10;
		vx_underlay_tick(b->u, b->now);
	}
	assert_true(requests_for(b, R2) > 3);
	check_rate(b);
	bench_destroy(b, 20);
}

/* No buffer for a request: counted, and tried again a second later. */
static void
test_no_mbuf(void **state)
{
	struct bench *b = bench_with_port();
	struct rte_mbuf *all[POOL_SIZE];
	unsigned int n = 0;

	(void)state;
	while (n < POOL_SIZE && (all[n] = rte_pktmbuf_alloc(b->pool)) != NULL)
		n++;
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(b->sent_n, 0);
	assert_int_equal(b->counts[VX_COUNT_DROP_NO_MBUF], 1);
	assert_int_equal(b->counts[VX_COUNT_ORIGINATED], 3);
	assert_int_equal(b->counts[VX_COUNT_ARP_REQUESTS], 2);
	while (n > 0)
		rte_pktmbuf_free(all[--n]);
	bench_run(b, 1000);
	assert_int_equal(b->sent_n, 1);
	bench_destroy(b, 0);
}

static void
test_full_table(void **state)
{
	const struct vx_underlay_conf limits = {.max_neighbours = 16};
	struct bench *b = bench_create(&limits);
	struct vx_neigh_info info;
	char text[VX_IP_TEXT_MAX];
	uint32_t iterator = 0, n = 0;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "10.0.0.1/16", 0), 0);
	assert_int_equal(add_neigh(b, "10.0.9.1", &peer_mac, 0), 0);
	assert_int_equal(track(b, "10.0.9.2"), 0);
	hear(b, "10.0.9.2", &peer_mac, 0, REPLY_TO_US);
	/* a flood of requests from all over the subnet: the oldest strangers give way */
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "10.0.%u.%u", 100 + i / 250, 1 + i % 250);
		hear(b, text, &peer_mac, 0, REQUEST_TO_US);
	}
	while (vx_neigh_next(b->u, &iterator, &info))
		n++;
	assert_int_equal(n, 16);
	assert_int_equal(neigh_state(b, "10.0.9.1"), VX_NEIGH_PERMANENT);
	assert_int_equal(neigh_state(b, "10.0.9.2"), VX_NEIGH_REACHABLE);
	assert_int_equal(neigh_state(b, "10.0.103.250"), VX_NEIGH_STALE);
	assert_int_equal(neigh_state(b, "10.0.103.237"), VX_NEIGH_STALE);
	assert_false(neigh_info(b, "10.0.103.236", &info));

	/* those in use take the strangers' places, and then it is full */
	for (unsigned int i = 0; i < 14; i++) {
		snprintf(text, sizeof(text), "10.0.1.%u", 1 + i);
		assert_int_equal(track(b, text), 0);
		assert_int_equal(path(b, text).state, VX_HOP_RESOLVING);
	}
	assert_int_equal(add_neigh(b, "10.0.9.3", &peer_mac, 0), -ENOSPC);
	assert_string_equal(b->err.text, "all 16 neighbours are in use");
	hear(b, "10.0.9.4", &peer_mac, 0, REQUEST_TO_US);
	assert_false(neigh_info(b, "10.0.9.4", &info));
	assert_int_equal(track(b, "10.0.2.1"), 0);
	assert_int_equal(path(b, "10.0.2.1").state, VX_HOP_FAILED);
	assert_string_equal(path(b, "10.0.2.1").why, "the neighbour table is full");
	hold(b, "10.0.2.1", 1);
	assert_int_equal(b->dropped[0].reason, VX_DROP_NEIGH_FAILED);
	assert_null(vx_neigh_get(
		b->u, 0,
		&(struct vx_ip){.words_be = {0, 0, RTE_BE32(0xffff), RTE_BE32(0x0a000301)}}));
	/* when one leaves, the one without gets its place within a second */
	untrack(b, "10.0.1.1");
	b->changed = 0;
	bench_run(b, 1100);
	assert_int_equal(path(b, "10.0.2.1").state, VX_HOP_RESOLVING);
	assert_true(b->changed > 0);
	bench_destroy(b, 1);
}

/* Thousands at once: spread over ticks, each asked in its turn, none starved. */
static void
test_many(void **state)
{
	enum {
		N = 4096
	};
	struct bench *b = bench_create(NULL);
	char text[VX_IP_TEXT_MAX];
	unsigned int most = 0;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "10.0.0.1/16", 0), 0);
	for (unsigned int i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "10.0.%u.%u", 1 + i / 250, 1 + i % 250);
		assert_int_equal(track(b, text), 0);
		hear(b, text, &peer_mac, 0, REPLY_TO_US);
	}
	for (unsigned int tick = 0; tick < 300 + 16; tick++) {
		bench_forget(b);
		bench_run(b, TICK_MS);
		most = RTE_MAX(most, b->sent_n);
	}
	assert_true(most <= 256 + 1);
	/* announcements apart, each of them has been asked once by now or twice */
	assert_true(b->counts[VX_COUNT_ARP_REQUESTS] >= 2 + 2 * N);
	bench_run(b, 60000);
	for (unsigned int i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "10.0.%u.%u", 1 + i / 250, 1 + i % 250);
		assert_int_equal(path(b, text).state, VX_HOP_FAILED);
	}
	assert_int_equal(b->counts[VX_COUNT_ARP_FAILED], N);
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
		cmocka_unit_test(test_hold_queue),
		cmocka_unit_test(test_hold_failed),
		cmocka_unit_test(test_hold_given_back),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_static_refused),
		cmocka_unit_test(test_request_rate),
		cmocka_unit_test(test_no_mbuf),
		cmocka_unit_test(test_full_table),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("underlay_neigh", tests, setup_eal, NULL);
}
