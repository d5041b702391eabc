/* SPDX-License-Identifier: BSD-3-Clause */
/* What the underlay sends to this host over IPv6: neighbour discovery and ICMPv6. */
#include "test_packet6.h"
#include "test_path_bench.h"
#include "vx_nd.h"

#define OUR_GROUP ((const uint8_t *)"\x33\x33\xff\x00\x00\x01")
#define ALL_NODES ((const uint8_t *)"\x33\x33\x00\x00\x00\x01")

static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 0x77};
static const uint8_t link_local[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 1};
static const uint8_t remote[16] = {0x20, 1, 0xd, 0xb8, 9, [15] = 2};

static void
set_locals(struct bench *b, bool is_tentative)
{
	struct vx_view *view = vx_view_edit(b->tables);

	view->n_locals = 4;
	memcpy(view->local[2].ip.bytes, ip6_ours, 16);
	view->local[2].port = UNDERLAY;
	view->local[2].is_tentative = is_tentative;
	memcpy(view->local[3].ip.bytes, link_local, 16);
	view->local[3].port = UNDERLAY;
	vx_view_publish(b->tables, view);
}

static int
setup(void **state)
{
	if (bench_setup(state) < 0)
		return -1;
	set_locals(*state, false);
	return 0;
}

static void
receive(struct bench *b, uint16_t port, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_underlay(b, 0, port, &m, 1);
}

static void
expect_notice(struct bench *b, const uint8_t *who, uint8_t flags)
{
	struct vx_punt punt;

	assert_true(bench_punt(b, &punt));
	assert_int_equal(punt.kind, VX_PUNT_ND);
	assert_int_equal(punt.port, UNDERLAY);
	assert_memory_equal(punt.remote.bytes, who, 16);
	assert_memory_equal(&punt.mac, peer_mac, 6);
	assert_int_equal(punt.nd_flags, flags);
	assert_false(bench_punt(b, &punt));
}

static void
expect_consumed(struct bench *b)
{
	struct vx_punt punt;

	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
	assert_int_equal(bench_since(b, VX_COUNT_ORIGINATED), 0);
	assert_int_equal(b->n_sent[UNDERLAY] + b->n_sent[UNDERLAY_2], 0);
	while (bench_punt(b, &punt))
		;
}

static void
expect_answer(struct bench *b, const uint8_t *golden)
{
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	bench_expect_bytes(b->sent[UNDERLAY][0], golden, 86);
	assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
	assert_int_equal(bench_since(b, VX_COUNT_ORIGINATED), 1);
	assert_int_equal(bench_since(b, VX_COUNT_ND_ADVERTS), 1);
	bench_settle(b);
	b->lcore[0]->now += UINT64_C(1) << 30;
}

static uint32_t
make_solicit(uint8_t *to)
{
	return make_nd(to, OUR_GROUP, peer_mac, ip6_peer, ip6_our_group, 135, 0, ip6_ours,
		       peer_mac);
}

static void
test_solicit_answered(void **state)
{
	struct bench *b = *state;
	uint8_t request[100], golden[100];
	uint32_t len;

	make_nd(golden, peer_mac, our_mac, ip6_ours, ip6_peer, 136, 0x60, ip6_ours, our_mac);
	for (uint32_t cut = 0; cut < 86; cut++) {
		len = make_solicit(request);
		receive(b, UNDERLAY, bench_split(b, request, len, cut, 0));
		expect_notice(b, ip6_peer, VX_ND_HAS_MAC | VX_ND_IS_FOR_US);
		expect_answer(b, golden);
	}
	/* by unicast, and with padding behind it */
	len = make_nd(request, our_mac, peer_mac, ip6_peer, ip6_ours, 135, 0, ip6_ours, NULL);
	memset(request + len, 0xee, 4);
	receive(b, UNDERLAY, bench_mbuf(b, request, len + 4));
	expect_notice(b, ip6_peer, VX_ND_IS_FOR_US);
	expect_answer(b, golden);
	/* a probe: everybody is told whose it is (RFC 4861 7.2.4) */
	make_nd(golden, ALL_NODES, our_mac, ip6_ours, ip6_all_nodes, 136, 0x20, ip6_ours, our_mac);
	len = make_nd(request, OUR_GROUP, peer_mac, ip6_nobody, ip6_our_group, 135, 0, ip6_ours,
		      NULL);
	receive(b, UNDERLAY, bench_mbuf(b, request, len));
	expect_notice(b, ip6_ours, VX_ND_IS_PROBE | VX_ND_IS_FOR_US);
	expect_answer(b, golden);
}

/* While detection runs: no override, and no answer to who probes too. */
static void
test_tentative(void **state)
{
	struct bench *b = *state;
	uint8_t request[100], golden[100];
	uint32_t len = make_solicit(request);

	set_locals(b, true);
	make_nd(golden, peer_mac, our_mac, ip6_ours, ip6_peer, 136, 0x40, ip6_ours, our_mac);
	receive(b, UNDERLAY, bench_mbuf(b, request, len));
	expect_answer(b, golden);
	len = make_nd(request, OUR_GROUP, peer_mac, ip6_nobody, ip6_our_group, 135, 0, ip6_ours,
		      NULL);
	receive(b, UNDERLAY, bench_mbuf(b, request, len));
	expect_notice(b, ip6_ours, VX_ND_IS_PROBE | VX_ND_IS_FOR_US);
	expect_consumed(b);
}

static void
test_not_answered(void **state)
{
	struct bench *b = *state;
	uint8_t frame[100];
	uint32_t len;

	/* for somebody else, though in our group */
	const uint8_t twin[16] = {0x20, 1, 0xd, 0xb8, 7, [15] = 1};

	len = make_nd(frame, OUR_GROUP, peer_mac, ip6_peer, ip6_our_group, 135, 0, twin, peer_mac);
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	expect_consumed(b);
	/* ours, but on the other link */
	make_solicit(frame);
	receive(b, UNDERLAY_2, bench_mbuf(b, frame, 86));
	expect_consumed(b);
	/* advertisements */
	len = make_nd(frame, our_mac, peer_mac, ip6_peer, ip6_ours, 136, 0x60, ip6_peer, peer_mac);
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	expect_notice(b, ip6_peer,
		      VX_ND_HAS_MAC | VX_ND_IS_ADVERT | VX_ND_IS_SOLICITED | VX_ND_IS_OVERRIDE |
			      VX_ND_IS_FOR_US);
	expect_consumed(b);
	len = make_nd(frame, ALL_NODES, peer_mac, ip6_peer, ip6_all_nodes, 136, 0x20, ip6_peer,
		      peer_mac);
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	expect_notice(b, ip6_peer, VX_ND_HAS_MAC | VX_ND_IS_ADVERT | VX_ND_IS_OVERRIDE);
	expect_consumed(b);
	/* of our own address */
	len = make_nd(frame, ALL_NODES, peer_mac, ip6_peer, ip6_all_nodes, 136, 0x20, ip6_ours,
		      peer_mac);
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	expect_notice(b, ip6_ours,
		      VX_ND_HAS_MAC | VX_ND_IS_ADVERT | VX_ND_IS_OVERRIDE | VX_ND_IS_FOR_US);
	expect_consumed(b);
}

static void
test_bad(void **state)
{
	static const uint8_t ignored[] = {1, 3, 4, 129, 133, 134, 137, 255};
	struct bench *b = *state;
	uint8_t frame[200];
	uint32_t len;

	for (uint32_t cut = ICMP6_AT + 1; cut < 86; cut++) {
		if (cut == ICMP6_AT + 24)
			continue; /* whole, without the option */
		make_solicit(frame);
		fix_icmp6(frame, cut);
		receive(b, UNDERLAY, bench_mbuf(b, frame, cut));
		bench_expect_only_drop(b, VX_DROP_ND_BAD, 1);
	}
	len = make_solicit(frame);
	frame[60] ^= 1;
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	bench_expect_only_drop(b, VX_DROP_ND_BAD, 1);
	for (unsigned int i = 0; i < RTE_DIM(ignored); i++) {
		len = make_icmp6(frame, our_mac, peer_mac, ip6_peer, ip6_ours, ignored[i], 60);
		receive(b, UNDERLAY, bench_mbuf(b, frame, len));
		bench_expect_only_drop(b, VX_DROP_ICMP6_IGNORED, 1);
	}
	len = make_icmp6(frame, our_mac, peer_mac, ip6_peer, ip6_ours, 128, 40);
	frame[70] ^= 1;
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
	len = make_icmp6(frame, our_mac, peer_mac, ip6_nobody, ip6_ours, 128, 40);
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
	len = make_icmp6(frame, our_mac, peer_mac, ip6_ours, ip6_ours, 128, 40);
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	bench_expect_only_drop(b, VX_DROP_OUTER_SRC_IP, 1);
	for (uint32_t size = 0; size < 8; size++) {
		len = make_icmp6(frame, our_mac, peer_mac, ip6_peer, ip6_ours, 128, size);
		frame[ICMP6_AT] = 128;
		receive(b, UNDERLAY, bench_mbuf(b, frame, len));
		bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
	}
}

static void
test_shared_buffer(void **state)
{
	struct rte_mbuf *original;
	struct bench *b = *state;
	uint8_t frame[100];
	const uint32_t len = make_solicit(frame);

	original = bench_mbuf(b, frame, len);
	receive(b, UNDERLAY, rte_pktmbuf_clone(original, b->pool));
	bench_expect_only_drop(b, VX_DROP_NO_MBUF, 1);
	bench_expect_bytes(original, frame, len);
	rte_pktmbuf_free(original);
}

static void
expect_echo(struct bench *b, const uint8_t *request, uint32_t len, const uint8_t *source)
{
	static uint8_t reply[9000];

	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(bench_since(b, VX_COUNT_ECHO_REPLIES), 1);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	assert_int_equal(bench_bytes(b->sent[UNDERLAY][0], reply, sizeof(reply)), len);
	assert_memory_equal(reply, peer_mac, 6);
	assert_memory_equal(reply + 6, our_mac, 6);
	assert_memory_equal(reply + 12, request + 12, 9);
	assert_int_equal(reply[21], 64);
	assert_memory_equal(reply + 22, source, 16);
	assert_memory_equal(reply + 38, request + 22, 16);
	assert_int_equal(reply[ICMP6_AT], 129);
	assert_int_equal(icmp6_sum(reply, len), 0);
	assert_memory_equal(reply + ICMP6_AT + 4, request + ICMP6_AT + 4, len - ICMP6_AT - 4);
	bench_settle(b);
	b->lcore[0]->now += UINT64_C(1) << 30;
}

static void
test_echo(void **state)
{
	static const uint32_t sizes[] = {8, 9, 64, 1460, 8000};
	static uint8_t request[9000];
	struct bench *b = *state;

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		uint32_t len =
			make_icmp6(request, our_mac, peer_mac, ip6_peer, ip6_ours, 128, sizes[i]);

		for (uint32_t at = ICMP6_AT + 4; at < len; at++)
			request[at] = (uint8_t)(at * 7);
		request[15] = 0xb3; /* traffic class and flow label come back */
		request[17] = 0x77;
		fix_icmp6(request, len);
		for (uint32_t cut = 0; cut < RTE_MIN(len, 70u); cut += 3) {
			receive(b, UNDERLAY, bench_split(b, request, len, cut, 0));
			expect_echo(b, request, len, ip6_ours);
		}
		/* to everybody: the answer has one host's source, of the asker's kind */
		memcpy(request, ALL_NODES, 6);
		memcpy(request + 38, ip6_all_nodes, 16);
		fix_icmp6(request, len);
		receive(b, UNDERLAY, bench_mbuf(b, request, RTE_MIN(len, 1000u)));
		if (len > 1000) {
			bench_expect_only_drop(b, VX_DROP_OUTER_IP_LENGTH, 1);
			continue;
		}
		expect_echo(b, request, len, ip6_ours);
		request[22] = 0xfe;
		request[23] = 0x80;
		fix_icmp6(request, len);
		receive(b, UNDERLAY, bench_mbuf(b, request, len));
		expect_echo(b, request, len, link_local);
	}
}

/* A "packet too big" of @mtu that quotes a packet of ours to @remote; its length. */
static uint32_t
make_too_big(uint8_t *to, uint32_t mtu, bool is_fragment)
{
	const uint32_t len = make_icmp6(to, our_mac, peer_mac, ip6_other, ip6_ours, 2, 100);
	uint8_t *quoted = to + ICMP6_AT + 8, *udp = quoted + 40;

	to[ICMP6_AT + 4] = (uint8_t)(mtu >> 24);
	to[ICMP6_AT + 5] = (uint8_t)(mtu >> 16);
	put16(to + ICMP6_AT + 6, mtu & 0xffff);
	quoted[0] = 0x60;
	put16(quoted + 4, 1460);
	quoted[6] = is_fragment ? 44 : 17;
	memcpy(quoted + 8, ip6_ours, 16);
	memcpy(quoted + 24, remote, 16);
	if (is_fragment) {
		udp[0] = 17;
		udp[3] = 1;
		udp += 8;
	}
	put16(udp, 50000);
	put16(udp + 2, 4789);
	fix_icmp6(to, len);
	return len;
}

static void
test_too_big(void **state)
{
	struct bench *b = *state;
	struct vx_punt punt;
	uint8_t frame[200];
	uint32_t len;

	for (unsigned int is_fragment = 0; is_fragment < 2; is_fragment++) {
		for (uint32_t cut = 0; cut < 154; cut += 5) {
			len = make_too_big(frame, 1400, is_fragment != 0);
			receive(b, UNDERLAY, bench_split(b, frame, len, cut, 0));
			assert_true(bench_punt(b, &punt));
			assert_int_equal(punt.kind, VX_PUNT_PMTU);
			assert_int_equal(punt.mtu, 1400);
			assert_memory_equal(punt.remote.bytes, remote, 16);
			assert_int_equal(bench_since(b, VX_COUNT_PMTU_IGNORED), 0);
			expect_consumed(b);
			b->lcore[0]->now += UINT64_C(1) << 30;
		}
	}
}

static void
test_too_big_forged(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} forged[] = {
		{ICMP6_AT + 1, 1},	{ICMP6_AT + 8, 0x40},	   /* code, version */
		{ICMP6_AT + 8 + 6, 6},	{ICMP6_AT + 8 + 23, 0x99}, /* protocol, source */
		{ICMP6_AT + 48, 0x10},	{ICMP6_AT + 51, 0xb6},	   /* ports */
		{ICMP6_AT + 6, 0xff},	{ICMP6_AT + 4, 1},	   /* an MTU that it would fit */
		{ICMP6_AT + 8 + 6, 44},
	};
	struct bench *b = *state;
	struct vx_punt punt;
	uint8_t frame[200];
	uint32_t len;

	for (unsigned int i = 0; i < RTE_DIM(forged); i++) {
		len = make_too_big(frame, 1400, false);
		assert_int_not_equal(frame[forged[i].at], forged[i].value);
		frame[forged[i].at] = forged[i].value;
		fix_icmp6(frame, len);
		receive(b, UNDERLAY, bench_mbuf(b, frame, len));
		assert_false(bench_punt(b, &punt));
		assert_int_equal(bench_since(b, VX_COUNT_PMTU_IGNORED), 1);
		expect_consumed(b);
	}
	/* a later fragment says nothing of ports */
	len = make_too_big(frame, 1400, true);
	frame[ICMP6_AT + 8 + 43] = 9;
	fix_icmp6(frame, len);
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	assert_int_equal(bench_since(b, VX_COUNT_PMTU_IGNORED), 1);
	expect_consumed(b);
	for (len = ICMP6_AT + 4; len < ICMP6_AT + 56; len++) {
		make_too_big(frame, 1400, false);
		fix_icmp6(frame, len);
		receive(b, UNDERLAY, bench_mbuf(b, frame, len));
		bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
	}
	len = make_too_big(frame, 1400, false);
	frame[ICMP6_AT + 7] ^= 1; /* checksum wrong */
	receive(b, UNDERLAY, bench_mbuf(b, frame, len));
	bench_expect_only_drop(b, VX_DROP_ICMP_BAD, 1);
}

static uint32_t
make_kind(uint8_t *frame, unsigned int kind)
{
	if (kind == 0)
		return make_solicit(frame);
	if (kind == 1)
		return make_nd(frame, ALL_NODES, peer_mac, ip6_peer, ip6_all_nodes, 136, 0x20,
			       ip6_peer, peer_mac);
	return make_icmp6(frame, our_mac, peer_mac, ip6_peer, ip6_ours, 128, 20);
}

/* Solicitations for us, other discovery and echo have a budget each. */
static void
test_rate_limits(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m[130];
	uint8_t frame[200];

	for (unsigned int kind = 0; kind < 3; kind++) {
		for (unsigned int i = 0; i < RTE_DIM(m); i++)
			m[i] = bench_mbuf(b, frame, make_kind(frame, kind));
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, m, RTE_DIM(m));
		bench_expect_only_drop(b, VX_DROP_HOST_RATE, 30);
		assert_int_equal(b->n_sent[UNDERLAY], kind == 1 ? 0 : 100);
		bench_settle(b);
	}
	/* ARP has its own */
	assert_true(vx_bucket_take(&b->lcore[0]->arp_bucket, b->lcore[0]->now));
	assert_true(vx_bucket_take(&b->lcore[0]->other_arp_bucket, b->lcore[0]->now));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_solicit_answered), TEST(test_tentative),
		TEST(test_not_answered),     TEST(test_bad),
		TEST(test_shared_buffer),    TEST(test_echo),
		TEST(test_too_big),	     TEST(test_too_big_forged),
		TEST(test_rate_limits),
	};

	return cmocka_run_group_tests_name("path_host6", tests, NULL, NULL);
}
