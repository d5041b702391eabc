/* SPDX-License-Identifier: BSD-3-Clause */
/* What the underlay sends to this host: ARP and ICMP. */
#include "test_path_bench.h"

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 0x77};

static uint32_t
make_arp(uint8_t *to, const uint8_t *destination, unsigned int opcode, uint8_t sender,
	 uint8_t target)
{
	memset(to, 0, 60);
	memcpy(to, destination, 6);
	memcpy(to + 6, peer_mac, 6);
	memcpy(to + 12, (const uint8_t[]){8, 6, 0, 1, 8, 0, 6, 4, 0, (uint8_t)opcode}, 10);
	memcpy(to + 22, peer_mac, 6);
	memcpy(to + 28, (const uint8_t[]){192, 0, 2, sender}, 4);
	memcpy(to + 38, (const uint8_t[]){192, 0, 2, target}, 4);
	return 60;
}

static uint32_t
make_echo(uint8_t *to, uint32_t payload)
{
	const uint32_t len = 14 + 20 + 8 + payload;

	make_vxlan(to, 2, VNI, inner_golden, 60);
	put16(to + 16, len - 14);
	to[23] = 1;
	fix_ip(to);
	memset(to + 34, 0, 8);
	to[34] = 8;
	put16(to + 38, 0x1234);
	put16(to + 40, 7);
	for (uint32_t i = 0; i < payload; i++)
		to[42 + i] = (uint8_t)i;
	put16(to + 36, plain_checksum(to + 34, 8 + payload));
	return len;
}

static void
receive(struct bench *b, uint16_t port, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_underlay(b, 0, port, &m, 1);
}

static void
expect_notice(struct bench *b, uint16_t port, uint8_t sender, bool is_reply, bool is_for_us)
{
	struct vx_punt punt;

	assert_true(bench_punt(b, &punt));
	assert_int_equal(punt.kind, VX_PUNT_ARP);
	assert_int_equal(punt.port, port);
	assert_int_equal(punt.remote.bytes[15], sender);
	assert_memory_equal(&punt.mac, peer_mac, 6);
	assert_int_equal(punt.is_reply, is_reply);
	assert_int_equal(punt.is_for_us, is_for_us);
	assert_false(bench_punt(b, &punt));
}

static void
test_arp_answered(void **state)
{
	uint8_t request[60], golden[60] = {0};
	struct bench *b = *state;

	memcpy(golden, peer_mac, 6);
	memcpy(golden + 6, our_mac, 6);
	memcpy(golden + 12, (const uint8_t[]){8, 6, 0, 1, 8, 0, 6, 4, 0, 2}, 10);
	memcpy(golden + 22, our_mac, 6);
	memcpy(golden + 28, (const uint8_t[]){192, 0, 2, 1}, 4);
	memcpy(golden + 32, peer_mac, 6);
	memcpy(golden + 38, (const uint8_t[]){192, 0, 2, 77}, 4);
	for (unsigned int i = 0; i < 2; i++) {
		for (uint32_t cut = 0; cut < 60; cut++) {
			make_arp(request, i == 0 ? everybody : our_mac, 1, 77, 1);
			receive(b, UNDERLAY, bench_split(b, request, cut == 0 ? 42 : 60, cut, 0));
			bench_expect_only_drop(b, VX_DROP_NONE, 0);
			expect_notice(b, UNDERLAY, 77, false, true);
			assert_int_equal(b->n_sent[UNDERLAY], 1);
			bench_expect_bytes(b->sent[UNDERLAY][0], golden, sizeof(golden));
			assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
			assert_int_equal(bench_since(b, VX_COUNT_ORIGINATED), 1);
			assert_int_equal(bench_since(b, VX_COUNT_ARP_REPLIES), 1);
			bench_settle(b);
			b->lcore[0]->now += UINT64_C(1) << 30;
		}
	}
}

static void
test_arp_not_answered(void **state)
{
	static const struct {
		uint16_t port;
		unsigned int opcode;
		uint8_t target;
		bool is_for_us;
	} cases[] = {
		{UNDERLAY, 1, 9, false}, /* somebody else's */
		{UNDERLAY, 1, 5, false}, /* ours, but on the other link */
		{UNDERLAY, 2, 1, true},	 /* a reply */
		{UNDERLAY, 2, 9, false}, {UNDERLAY_2, 1, 1, false},
	};
	struct bench *b = *state;
	uint8_t frame[60];

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		make_arp(frame, everybody, cases[i].opcode, 77, cases[i].target);
		receive(b, cases[i].port, bench_mbuf(b, frame, sizeof(frame)));
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		expect_notice(b, cases[i].port, 77, cases[i].opcode == 2, cases[i].is_for_us);
		assert_int_equal(b->n_sent[UNDERLAY] + b->n_sent[UNDERLAY_2], 0);
		assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
		assert_int_equal(bench_since(b, VX_COUNT_ORIGINATED), 0);
	}
	make_arp(frame, everybody, 1, 77, 5);
	receive(b, UNDERLAY_2, bench_mbuf(b, frame, sizeof(frame)));
	assert_int_equal(b->n_sent[UNDERLAY_2], 1);
	bench_bytes(b->sent[UNDERLAY_2][0], frame, sizeof(frame));
	assert_memory_equal(frame + 6, our_mac_2, 6);
}

static void
test_arp_bad(void **state)
{
	struct bench *b = *state;
	struct vx_punt punt;
	uint8_t frame[64];

	for (uint32_t len = 14; len < 42; len++) {
		make_arp(frame, everybody, 1, 77, 1);
		receive(b, UNDERLAY, bench_mbuf(b, frame, len));
		bench_expect_only_drop(b, VX_DROP_ARP_BAD, 1);
	}
	for (unsigned int at = 14; at < 22; at++) {
		make_arp(frame, everybody, 1, 77, 1);
		frame[at] ^= 0x40;
		receive(b, UNDERLAY, bench_mbuf(b, frame, 60));
		bench_expect_only_drop(b, VX_DROP_ARP_BAD, 1);
	}
	make_arp(frame, peer_mac, 1, 77, 1); /* for another MAC */
	receive(b, UNDERLAY, bench_mbuf(b, frame, 60));
	bench_expect_only_drop(b, VX_DROP_OUTER_MAC, 1);
	assert_false(bench_punt(b, &punt));
}

static void
test_arp_ring_full(void **state)
{
	struct bench *b = *state;
	uint8_t frame[60];

	make_arp(frame, everybody, 1, 77, 1);
	bench_mark(b);
	for (unsigned int i = 0; i < 70; i++) {
		struct rte_mbuf *m = bench_mbuf(b, frame, sizeof(frame));

		bench_underlay(b, 0, UNDERLAY, &m, 1);
	}
	/* Only the notice is lost: each of them is answered. */
	assert_int_equal(bench_since(b, VX_COUNT_PUNT_RING_FULL), 7);
	assert_int_equal(b->n_sent[UNDERLAY], 70);
}

static void
test_arp_shared_buffer(void **state)
{
	struct rte_mbuf *original;
	struct bench *b = *state;
	uint8_t frame[60];

	make_arp(frame, everybody, 1, 77, 1);
	original = bench_mbuf(b, frame, sizeof(frame));
	receive(b, UNDERLAY, rte_pktmbuf_clone(original, b->pool));
	bench_expect_only_drop(b, VX_DROP_NO_MBUF, 1);
	bench_expect_bytes(original, frame, sizeof(frame));
	rte_pktmbuf_free(original);
}

static void
test_echo(void **state)
{
	static const uint32_t sizes[] = {0, 1, 18, 56, 1472, 8000};
	static uint8_t request[9000], reply[9000];
	struct bench *b = *state;

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		const uint32_t len = make_echo(request, sizes[i]);

		for (uint32_t cut = 0; cut < RTE_MIN(len, 64u); cut += 3) {
			receive(b, UNDERLAY, bench_split(b, request, len, cut, 0));
			bench_expect_only_drop(b, VX_DROP_NONE, 0);
			assert_int_equal(bench_since(b, VX_COUNT_ECHO_REPLIES), 1);
			assert_int_equal(b->n_sent[UNDERLAY], 1);
			assert_int_equal(bench_bytes(b->sent[UNDERLAY][0], reply, sizeof(reply)),
					 RTE_MAX(len, 60u));
			for (uint32_t pad = len; pad < 60; pad++)
				assert_int_equal(reply[pad], 0);
			assert_memory_equal(reply, next_hop_mac, 6);
			assert_memory_equal(reply + 6, our_mac, 6);
			assert_memory_equal(reply + 26,
					    ((const uint8_t[]){192, 0, 2, 1, 198, 51, 100, 2}), 8);
			assert_int_equal(plain_checksum(reply + 14, 20), 0);
			assert_int_equal(reply[34], 0);
			assert_int_equal(plain_checksum(reply + 34, len - 34), 0);
			assert_memory_equal(reply + 38, request + 38, len - 38);
			bench_settle(b);
			b->lcore[0]->now += UINT64_C(1) << 30;
		}
	}
}

static void
test_icmp_bad(void **state)
{
	struct bench *b = *state;
	uint8_t request[200];
	uint32_t len = make_echo(request, 20);

	request[50] ^= 1;
	receive(b, UNDERLAY, bench_mbuf(b, request, len));
	bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
	len = make_echo(request, 20);
	request[34] = 13; /* a timestamp request, its checksum right */
	put16(request + 36, 0);
	put16(request + 36, plain_checksum(request + 34, len - 34));
	receive(b, UNDERLAY, bench_mbuf(b, request, len));
	bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
	make_echo(request, 20);
	put16(request + 16, 24);
	fix_ip(request);
	receive(b, UNDERLAY, bench_mbuf(b, request, 38));
	bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
}

static uint32_t
make_kind(uint8_t *frame, unsigned int kind)
{
	if (kind == 2)
		return make_echo(frame, 10);
	return make_arp(frame, everybody, 1, 77, kind == 0 ? 1 : 9);
}

/* ARP for us, other ARP and ICMP have a budget each, which fills again; tunnels use none. */
static void
test_rate_limits(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m[130];
	uint8_t frame[200];

	bench_vni(b, VNI, 1, 1);
	for (unsigned int kind = 0; kind < 3; kind++) {
		for (unsigned int i = 0; i < RTE_DIM(m); i++)
			m[i] = bench_mbuf(b, frame, make_kind(frame, kind));
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, m, RTE_DIM(m));
		bench_expect_only_drop(b, VX_DROP_HOST_RATE, 30);
		assert_int_equal(b->n_sent[UNDERLAY], kind == 1 ? 0 : 100);
		bench_settle(b);
	}
	receive(b, UNDERLAY, bench_mbuf(b, frame, make_vxlan(frame, 2, VNI, inner_golden, 60)));
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	/* 1,000 a second at 2^30 cycles a second: 10 of each in 1/100 second. */
	b->lcore[0]->now += (UINT64_C(1) << 30) / 99;
	for (unsigned int kind = 0; kind < 3; kind++) {
		for (unsigned int i = 0; i < 20; i++)
			m[i] = bench_mbuf(b, frame, make_kind(frame, kind));
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, m, 20);
		bench_expect_only_drop(b, VX_DROP_HOST_RATE, 10);
	}
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_arp_answered),  TEST(test_arp_not_answered),	TEST(test_arp_bad),
		TEST(test_arp_ring_full), TEST(test_arp_shared_buffer), TEST(test_echo),
		TEST(test_icmp_bad),	  TEST(test_rate_limits),
	};

	return cmocka_run_group_tests_name("path_host", tests, NULL, NULL);
}
