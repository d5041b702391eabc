/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours: the bounds of the hold queue, of the table and of the rate of requests. */
#include "test_underlay.h"

static const char R2[] = "192.0.2.2";

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
	/* one that has not got any and is given up gets none later */
	assert_int_equal(track(b, "10.0.2.2"), 0);
	untrack(b, "10.0.2.2");
	/* when one leaves, the one without gets its place within a second */
	untrack(b, "10.0.1.1");
	b->changed = 0;
	bench_run(b, 1100);
	assert_int_equal(path(b, "10.0.2.1").state, VX_HOP_RESOLVING);
	assert_true(b->changed > 0);
	untrack(b, "10.0.1.2");
	bench_run(b, 70000);
	assert_false(neigh_info(b, "10.0.1.2", &info));
	assert_false(neigh_info(b, "10.0.2.2", &info));
	/* what was forgotten has left exactly its own room */
	assert_int_equal(add_neigh(b, "10.0.9.5", &peer_mac, 0), 0);
	assert_int_equal(add_neigh(b, "10.0.9.6", &peer_mac, 0), -ENOSPC);
	bench_destroy(b, 1);
}

/* The limit holds below what the hash would take, and after entries have come and gone. */
static void
test_small_table(void **state)
{
	const struct vx_underlay_conf limits = {.max_neighbours = 3};
	struct bench *b = bench_create(&limits);

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(track(b, R2), 0);
		untrack(b, R2);
		bench_run(b, 2000);
	}
	assert_int_equal(add_neigh(b, "192.0.2.3", &peer_mac, 0), 0);
	assert_int_equal(add_neigh(b, "192.0.2.4", &peer_mac, 0), 0);
	assert_int_equal(add_neigh(b, "192.0.2.5", &peer_mac, 0), 0);
	assert_int_equal(add_neigh(b, "192.0.2.6", &peer_mac, 0), -ENOSPC);
	bench_destroy(b, 0);
}

/* What is known of the last request outlives the entry's other lives. */
static void
test_request_rate_static(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(track(b, R2), 0);
		untrack(b, R2);
		assert_int_equal(add_neigh(b, R2, &peer_mac, 0), 0);
		assert_int_equal(del_neigh(b, R2), 0);
	}
	assert_int_equal(requests_for(b, R2), 1);
	bench_run(b, 1000);
	assert_false(neigh_info(b, R2, &(struct vx_neigh_info){0}));
	bench_destroy(b, 0);
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
	for (unsigned int i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "10.0.%u.%u", 1 + i / 250, 1 + i % 250);
		assert_int_equal(neigh_state(b, text), VX_NEIGH_PROBE);
	}
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
		cmocka_unit_test(test_hold_queue),
		cmocka_unit_test(test_hold_failed),
		cmocka_unit_test(test_hold_given_back),
		cmocka_unit_test(test_request_rate),
		cmocka_unit_test(test_no_mbuf),
		cmocka_unit_test(test_full_table),
		cmocka_unit_test(test_small_table),
		cmocka_unit_test(test_request_rate_static),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("underlay_neigh_limits", tests, setup_eal, NULL);
}
