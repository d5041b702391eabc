/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups as workers see them: tunnel packets to groups, and what queriers ask. */
#include "test_path_bench.h"
#include "vx_view_group.h"

static const uint8_t group_mac[6] = {0x01, 0x00, 0x5e, 0x01, 0x01, 0x01};

/* Port 0 listens to 239.1.1.1, 239.2.2.2 and to queriers. */
static void
listen_to_groups(struct bench *b)
{
	struct vx_view *view = vx_view_edit(b->tables);
	const struct vx_ip groups[] = {vx_ip_from_v4(RTE_BE32(0xef010101)),
				       vx_ip_from_v4(RTE_BE32(0xef020202)),
				       vx_ip_from_v4(RTE_BE32(0xe0000001))};

	assert_non_null(view);
	for (unsigned int i = 0; i < RTE_DIM(groups); i++)
		vx_view_group_add(view, UNDERLAY, &groups[i]);
	vx_view_publish(b->tables, view);
}

static uint32_t
make_to_group(uint8_t *frame, const uint8_t *mac, uint32_t group)
{
	const uint32_t len = make_vxlan(frame, 2, VNI, inner_golden, 60);

	memcpy(frame, mac, 6);
	put16(frame + 30, group >> 16);
	put16(frame + 32, group & 0xffff);
	fix_ip(frame);
	return len;
}

static enum vx_drop
receive(struct bench *b, uint16_t port, const uint8_t *frame, uint32_t len, uint32_t cut)
{
	struct rte_mbuf *m = bench_split(b, frame, len, cut, 0);

	bench_mark(b);
	bench_underlay(b, 0, port, &m, 1);
	return bench_one_drop(b);
}

static void
test_tunnel_packets(void **state)
{
	static const struct {
		uint16_t port;
		uint8_t mac[6];
		uint32_t group;
		enum vx_drop reason;
	} cases[] = {
		{UNDERLAY, {1, 0, 0x5e, 1, 1, 1}, 0xef010101, VX_DROP_NONE},
		{UNDERLAY, {1, 0, 0x5e, 2, 2, 2}, 0xef020202, VX_DROP_NONE},
		/* the same MAC address, another group: 239.129.1.1 */
		{UNDERLAY, {1, 0, 0x5e, 1, 1, 1}, 0xef810101, VX_DROP_OUTER_DST_IP},
		/* a joined group at another's MAC address, at ours, and our address at a group's */
		{UNDERLAY, {1, 0, 0x5e, 2, 2, 2}, 0xef010101, VX_DROP_OUTER_DST_IP},
		{UNDERLAY, {2, 0, 0, 0, 0, 1}, 0xef010101, VX_DROP_OUTER_DST_IP},
		{UNDERLAY, {1, 0, 0x5e, 1, 1, 1}, 0xc0000201, VX_DROP_OUTER_DST_IP},
		/* where queriers ask is no tunnel */
		{UNDERLAY, {1, 0, 0x5e, 0, 0, 1}, 0xe0000001, VX_DROP_OUTER_DST_IP},
		{UNDERLAY, {1, 0, 0x5e, 1, 1, 2}, 0xef010102, VX_DROP_OUTER_MAC},
		{UNDERLAY, {0x33, 0x33, 0, 1, 1, 1}, 0xef010101, VX_DROP_OUTER_MAC},
		{UNDERLAY, {255, 255, 255, 255, 255, 255}, 0xef010101, VX_DROP_OUTER_MAC},
		{UNDERLAY_2, {1, 0, 0x5e, 1, 1, 1}, 0xef010101, VX_DROP_OUTER_MAC},
	};
	struct bench *b = *state;
	uint8_t frame[200];

	bench_vni(b, VNI, 2, 1);
	listen_to_groups(b);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		for (uint32_t cut = 0; cut < 60; cut++) {
			const uint32_t len = make_to_group(frame, cases[i].mac, cases[i].group);
			const bool is_taken = cases[i].reason == VX_DROP_NONE;

			assert_int_equal(receive(b, cases[i].port, frame, len, cut),
					 cases[i].reason);
			assert_int_equal(b->n_sent[1], is_taken ? 1 : 0);
			if (is_taken)
				bench_expect_bytes(b->sent[1][0], inner_golden, 60);
			bench_settle(b);
		}
	}
}

/* 256 groups and more with the same lower bits, that all share one place of the hash. */
static void
test_many_groups(void **state)
{
	struct bench *b = *state;
	uint8_t frame[200], mac[6];
	struct vx_view *view;
	uint32_t len = 0;

	bench_vni(b, VNI, 2, 1);
	view = vx_view_edit(b->tables);
	for (unsigned int i = 0; i < VX_GROUPS_MAX; i++) {
		const struct vx_ip group =
			vx_ip_from_v4(rte_cpu_to_be_32(0xef000000u + (i << 14) + 5));

		vx_view_group_add(view, UNDERLAY, &group);
		vx_view_group_add(view, UNDERLAY, &group);
	}
	assert_int_equal(view->n_groups, VX_GROUPS_MAX);
	vx_view_publish(b->tables, view);
	for (unsigned int i = 0; i <= VX_GROUPS_MAX; i++) {
		const uint32_t group = 0xef000000u + (i << 14) + 5;

		memcpy(mac, group_mac, 3);
		mac[3] = (uint8_t)(group >> 16 & 0x7f);
		put16(mac + 4, group & 0xffff);
		len = make_to_group(frame, mac, group);
		assert_int_equal(receive(b, UNDERLAY, frame, len, 0),
				 i < VX_GROUPS_MAX ? VX_DROP_NONE : VX_DROP_OUTER_MAC);
		bench_settle(b);
	}
	view = vx_view_edit(b->tables);
	vx_view_groups_clear(view);
	vx_view_publish(b->tables, view);
	assert_int_equal(receive(b, UNDERLAY, frame, len, 0), VX_DROP_OUTER_MAC);
}

/* An IGMP message of @len bytes to 224.0.0.1 with router alert. */
static uint32_t
make_igmp(uint8_t *frame, const uint8_t *message, uint32_t len)
{
	make_to_group(frame, (const uint8_t[]){1, 0, 0x5e, 0, 0, 1}, 0xe0000001);
	memset(frame + 26, 0, 4); /* a querier without an address */
	frame[14] = 0x46;
	put16(frame + 16, 24 + len);
	frame[22] = 1;
	frame[23] = 2;
	memcpy(frame + 34, (const uint8_t[]){0x94, 4, 0, 0}, 4);
	memcpy(frame + 38, message, len);
	put16(frame + 40, 0);
	put16(frame + 40, plain_checksum(frame + 38, len));
	put16(frame + 24, 0);
	put16(frame + 24, plain_checksum(frame + 14, 24));
	memset(frame + 38 + len, 0, 8); /* Ethernet padding, which is no part of the message */
	return 38 + len + 8;
}

static void
test_queries(void **state)
{
	static const uint8_t query[12] = {0x11, 100, 0, 0, 239, 1, 1, 1, 2, 125};
	struct bench *b = *state;
	struct vx_punt punt;
	uint8_t frame[200];
	uint32_t len;

	listen_to_groups(b);
	for (uint32_t cut = 0; cut < 58; cut++) {
		len = make_igmp(frame, query, sizeof(query));
		assert_int_equal(receive(b, UNDERLAY, frame, len, cut), VX_DROP_NONE);
		assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
		assert_int_equal(bench_since(b, VX_COUNT_GROUP_QUERIES), 1);
		assert_true(bench_punt(b, &punt));
		assert_int_equal(punt.kind, VX_PUNT_QUERY);
		assert_int_equal(punt.port, UNDERLAY);
		assert_int_equal(punt.query.version, 3);
		assert_int_equal(punt.query.max_response_ms, 10000);
		assert_int_equal(punt.query.interval_s, 125);
		assert_int_equal(punt.query.robustness, 2);
		assert_memory_equal(punt.remote.bytes + 12, query + 4, 4);
		b->lcore[0]->now += UINT64_C(1) << 30;
	}
	/* not where nothing was joined */
	assert_int_equal(receive(b, UNDERLAY_2, frame, len, 0), VX_DROP_OUTER_MAC);
	/* the report of another member */
	len = make_igmp(frame, (const uint8_t[]){0x16, 0, 0, 0, 239, 1, 1, 1}, 8);
	assert_int_equal(receive(b, UNDERLAY, frame, len, 0), VX_DROP_NONE);
	assert_int_equal(bench_since(b, VX_COUNT_GROUP_QUERIES), 0);
	assert_false(bench_punt(b, &punt));
	/* wrong checksum; a fragment; 0.0.0.0 asks nothing but IGMP */
	frame[45] ^= 1;
	assert_int_equal(receive(b, UNDERLAY, frame, len, 0), VX_DROP_GROUP_BAD);
	len = make_igmp(frame, query, sizeof(query));
	frame[20] = 0x20;
	put16(frame + 24, 0);
	put16(frame + 24, plain_checksum(frame + 14, 24));
	assert_int_equal(receive(b, UNDERLAY, frame, len, 0), VX_DROP_GROUP_BAD);
	make_igmp(frame, query, sizeof(query));
	frame[23] = 17;
	put16(frame + 24, 0);
	put16(frame + 24, plain_checksum(frame + 14, 24));
	assert_int_equal(receive(b, UNDERLAY, frame, len, 0), VX_DROP_OUTER_SRC_IP);
}

/* A flood of queries is cut off. */
static void
test_rate(void **state)
{
	static const uint8_t query[8] = {0x11, 100};
	struct bench *b = *state;
	struct vx_punt punt;
	unsigned int taken = 0;
	uint8_t frame[200];

	listen_to_groups(b);
	for (unsigned int i = 0; i < 200; i++) {
		const uint32_t len = make_igmp(frame, query, sizeof(query));
		const enum vx_drop reason = receive(b, UNDERLAY, frame, len, 0);

		if (reason == VX_DROP_NONE)
			taken++;
		else
			assert_int_equal(reason, VX_DROP_HOST_RATE);
		while (bench_punt(b, &punt))
			;
	}
	assert_int_equal(taken, 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tunnel_packets, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_many_groups, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_queries, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_rate, bench_setup, bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
