/* SPDX-License-Identifier: BSD-3-Clause */
/* From a tunnel out of an access port: what is accepted, in whatever buffers it comes. */
#include "test_path_bench.h"

#define PACKET_LEN (OUTER_LEN + 60)

/* Host B is behind port 1, VTEP 2 is known. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	bench_flood(b, VNI, 2, VX_VTEP_READY);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 1), true);
	return 0;
}

static void
receive(struct bench *b, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

static void
expect_delivered(struct bench *b, const uint8_t *inner, uint32_t len)
{
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(bench_since(b, VX_COUNT_DECAP), 1);
	assert_int_equal(b->n_sent[1], 1);
	bench_expect_bytes(b->sent[1][0], inner, len);
	bench_settle(b);
}

static void
test_golden(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN];

	assert_int_equal(make_vxlan(packet, 2, VNI, inner_golden, 60), PACKET_LEN);
	receive(b, bench_mbuf(b, packet, PACKET_LEN));
	assert_int_equal(b->sent[1][0]->ol_flags, 0);
	assert_int_equal(b->lcore[0]->vtep_traffic[0].of[VX_KIND_UNICAST].rx_frames, 1);
	assert_int_equal(b->lcore[0]->vtep_traffic[0].of[VX_KIND_UNICAST].rx_bytes, 60);
	assert_int_equal(b->lcore[0]->segment_traffic[0].of[VX_KIND_UNICAST].rx_frames, 1);
	assert_int_equal(b->lcore[0]->port_traffic[UNDERLAY].rx_bytes, PACKET_LEN);
	expect_delivered(b, inner_golden, 60);
}

static void
edit_flags(uint8_t *packet)
{
	memset(packet + 42, 0xff, 4); /* all flags and reserved bits: ignored but for I */
	packet[49] = 0xff;
}

static void
edit_nothing_known(uint8_t *packet)
{
	packet[15] = 0xb8; /* DSCP */
	packet[20] = 0x40; /* DF */
	packet[22] = 1;	   /* TTL */
	put16(packet + 34, 1);
	fix_ip(packet);
}

static void
edit_udp_checksum(uint8_t *packet)
{
	fix_udp(packet);
}

static void
test_variants(void **state)
{
	void (*const edits[])(uint8_t *) = {edit_flags, edit_nothing_known, edit_udp_checksum};
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN];

	for (unsigned int i = 0; i < RTE_DIM(edits); i++) {
		make_vxlan(packet, 2, VNI, inner_golden, 60);
		edits[i](packet);
		receive(b, bench_mbuf(b, packet, PACKET_LEN));
		expect_delivered(b, inner_golden, 60);
	}
}

/* What follows the IP packet, or the UDP datagram in it, is no part of the inner frame. */
static void
test_padding_cut(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN + 40], expected[60] = {0};

	memset(packet, 0xee, sizeof(packet));
	make_vxlan(packet, 2, VNI, inner_golden, 60);
	receive(b, bench_split(b, packet, sizeof(packet), PACKET_LEN + 3, 0));
	expect_delivered(b, inner_golden, 60);
	memset(packet, 0xee, sizeof(packet));
	make_vxlan(packet, 2, VNI, inner_golden, 60);
	put16(packet + 16, 60 + 36 + 20); /* the IP packet is longer than its datagram */
	fix_ip(packet);
	receive(b, bench_mbuf(b, packet, sizeof(packet)));
	expect_delivered(b, inner_golden, 60);
	/* A short inner frame is padded with zeros, whatever lay there. */
	memset(packet, 0xee, sizeof(packet));
	make_vxlan(packet, 2, VNI, inner_golden, 20);
	memcpy(expected, inner_golden, 20);
	receive(b, bench_mbuf(b, packet, sizeof(packet)));
	expect_delivered(b, expected, 60);
}

/* IPv4 options are skipped, a priority tag too; both move the inner frame. */
static void
test_options_and_priority_tag(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN + 44], plain[PACKET_LEN];

	make_vxlan(plain, 2, VNI, inner_golden, 60);
	for (unsigned int words = 1; words <= 10; words++) {
		const unsigned int extra = words * 4;

		memcpy(packet, plain, 34);
		memset(packet + 34, 1, extra); /* "no operation" */
		memcpy(packet + 34 + extra, plain + 34, PACKET_LEN - 34);
		packet[14] = (uint8_t)(0x45 + words);
		put16(packet + 16, 96 + extra);
		fix_ip(packet);
		for (uint32_t cut = 1; cut < PACKET_LEN + extra; cut += 5) {
			receive(b, bench_split(b, packet, PACKET_LEN + extra, cut, 0));
			expect_delivered(b, inner_golden, 60);
		}
		packet[34] ^= 4;
		receive(b, bench_mbuf(b, packet, PACKET_LEN + extra));
		bench_expect_only_drop(b, VX_DROP_OUTER_IP_CHECKSUM, 1);
	}
	memcpy(packet, plain, 12);
	memcpy(packet + 12, (const uint8_t[]){0x81, 0, 0x60, 0}, 4);
	memcpy(packet + 16, plain + 12, PACKET_LEN - 12);
	for (uint32_t cut = 1; cut < PACKET_LEN + 4; cut++) {
		receive(b, bench_split(b, packet, PACKET_LEN + 4, cut, 0));
		expect_delivered(b, inner_golden, 60);
	}
}

static void
test_split_everywhere(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN];

	for (unsigned int with_checksum = 0; with_checksum < 2; with_checksum++) {
		make_vxlan(packet, 2, VNI, inner_golden, 60);
		packet[15] = 1; /* ECT(1): changes the inner header, wherever it lies */
		fix_ip(packet);
		if (with_checksum)
			fix_udp(packet);
		for (uint32_t cut_1 = 1; cut_1 < PACKET_LEN; cut_1++) {
			uint8_t expected[60];

			memcpy(expected, inner_golden, 60);
			expected[15] = 1;
			put16(expected + 24, 0x5488);
			receive(b, bench_split(b, packet, PACKET_LEN, cut_1, 0));
			expect_delivered(b, expected, 60);
			for (uint32_t cut_2 = cut_1 + 1; cut_2 < PACKET_LEN; cut_2++) {
				receive(b, bench_split(b, packet, PACKET_LEN, cut_1, cut_2));
				expect_delivered(b, expected, 60);
			}
		}
	}
}

/* One empty segment in front, between and behind, as some drivers leave them. */
static void
test_empty_segments(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN];

	make_vxlan(packet, 2, VNI, inner_golden, 60);
	for (uint32_t cut = 0; cut <= PACKET_LEN; cut++) {
		struct rte_mbuf *m = bench_split(b, packet, PACKET_LEN, cut, 0);
		struct rte_mbuf *empty = rte_pktmbuf_alloc(b->pool);

		if (cut == 0) {
			empty->next = m;
			empty->pkt_len = m->pkt_len;
			empty->nb_segs = (uint16_t)(m->nb_segs + 1);
			m = empty;
		} else {
			empty->next = m->next;
			m->next = empty;
			m->nb_segs++;
		}
		receive(b, m);
		expect_delivered(b, inner_golden, 60);
	}
}

/* Cut anywhere, in one or two segments: one drop with a reason, nothing sent. */
static void
test_truncated(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN];

	make_vxlan(packet, 2, VNI, inner_golden, 60);
	for (uint32_t len = 0; len < PACKET_LEN; len++) {
		for (uint32_t cut = 0; cut < len; cut++) {
			receive(b, bench_split(b, packet, len, cut, 0));
			bench_expect_only_drop(
				b, len < 34 ? VX_DROP_OUTER_RUNT : VX_DROP_OUTER_IP_LENGTH, 1);
			assert_int_equal(b->n_sent[1], 0);
		}
		bench_settle(b);
	}
	receive(b, bench_mbuf(b, packet, 0));
	bench_expect_only_drop(b, VX_DROP_OUTER_RUNT, 1);
}

/* The same, with lengths that fit what is there: each later check has its turn. */
static void
test_truncated_consistently(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN], expected[60];

	for (uint32_t len = 34; len <= PACKET_LEN; len++) {
		for (uint32_t cut = 0; cut < len; cut++) {
			make_vxlan(packet, 2, VNI, inner_golden, 60);
			put16(packet + 16, len - 14);
			put16(packet + 38, len - 34);
			fix_ip(packet);
			receive(b, bench_split(b, packet, len, cut, 0));
			if (len >= OUTER_LEN + 14) {
				memset(expected, 0, sizeof(expected));
				memcpy(expected, inner_golden, len - OUTER_LEN);
				expect_delivered(b, expected, 60);
				continue;
			}
			bench_expect_only_drop(b,
					       len < 42	  ? VX_DROP_OUTER_UDP_LENGTH
					       : len < 50 ? VX_DROP_VXLAN_HEADER
							  : VX_DROP_INNER_RUNT,
					       1);
		}
		bench_settle(b);
	}
}

static void
test_jumbo(void **state)
{
	static uint8_t inner[65499], packet[65549];
	struct bench *b = *state;
	uint32_t len;

	make_frame(inner, sizeof(inner), host_b, host_a);
	len = make_vxlan(packet, 2, VNI, inner, sizeof(inner));
	receive(b, bench_mbuf(b, packet, len));
	expect_delivered(b, inner, sizeof(inner));
	fix_udp(packet);
	receive(b, bench_split(b, packet, len, 51, 1000));
	expect_delivered(b, inner, sizeof(inner));
	packet[len - 1] ^= 0x10;
	receive(b, bench_mbuf(b, packet, len));
	bench_expect_only_drop(b, VX_DROP_OUTER_UDP_CHECKSUM, 1);
}

/* RFC 6040 figure 4 for an inner IPv4 header, its checksum kept right. */
static void
test_ecn(void **state)
{
	static const int expected[4][4] = {
		/* by inner, outer: Not-ECT, ECT(1), ECT(0), CE */
		{0, 0, 0, -1},
		{1, 1, 1, 3},
		{2, 1, 2, 3},
		{3, 3, 3, 3},
	};
	struct bench *b = *state;
	uint8_t inner[60], packet[PACKET_LEN];

	for (uint8_t in = 0; in < 4; in++) {
		for (uint8_t out = 0; out < 4; out++) {
			memcpy(inner, inner_golden, sizeof(inner));
			inner[15] = in;
			fix_ip(inner);
			make_vxlan(packet, 2, VNI, inner, 60);
			packet[15] = out;
			fix_ip(packet);
			receive(b, bench_mbuf(b, packet, PACKET_LEN));
			if (expected[in][out] < 0) {
				bench_expect_only_drop(b, VX_DROP_INNER_ECN, 1);
				continue;
			}
			inner[15] = (uint8_t)expected[in][out];
			fix_ip(inner);
			expect_delivered(b, inner, 60);
		}
	}
}

/* The driver's word on checksums is believed, good or "not finished by its sender". */
static void
test_driver_checked(void **state)
{
	struct bench *b = *state;
	uint8_t packet[PACKET_LEN];
	struct rte_mbuf *m;

	make_vxlan(packet, 2, VNI, inner_golden, 60);
	packet[40] = 0x12; /* wrong */
	m = bench_mbuf(b, packet, PACKET_LEN);
	receive(b, m);
	bench_expect_only_drop(b, VX_DROP_OUTER_UDP_CHECKSUM, 1);
	m = bench_mbuf(b, packet, PACKET_LEN);
	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	receive(b, m);
	expect_delivered(b, inner_golden, 60);
	m = bench_mbuf(b, packet, PACKET_LEN);
	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
	receive(b, m);
	expect_delivered(b, inner_golden, 60);
	packet[40] = 0;
	packet[24] ^= 1;
	receive(b, bench_mbuf(b, packet, PACKET_LEN));
	bench_expect_only_drop(b, VX_DROP_OUTER_IP_CHECKSUM, 1);
	m = bench_mbuf(b, packet, PACKET_LEN);
	m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	receive(b, m);
	expect_delivered(b, inner_golden, 60);
	/* A tag that the driver took out: id 0 is a priority, others are a VLAN. */
	packet[24] ^= 1;
	m = bench_mbuf(b, packet, PACKET_LEN);
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 0x6000;
	receive(b, m);
	expect_delivered(b, inner_golden, 60);
	m = bench_mbuf(b, packet, PACKET_LEN);
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 7;
	receive(b, m);
	bench_expect_only_drop(b, VX_DROP_OUTER_VLAN, 1);
}

static uint64_t
received(const struct vx_kinds *kinds)
{
	return kinds->of[VX_KIND_UNICAST].rx_frames + kinds->of[VX_KIND_FLOODED].rx_frames;
}

/* Several VTEPs and VNIs mixed in long bursts: each frame comes out where it belongs. */
static void
test_mixed_bursts(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m[200];
	uint8_t inner[60], packet[PACKET_LEN], found[200];

	bench_vni(b, 200, 1, 2);
	bench_vni(b, 300, 1, 3);
	bench_flood(b, 300, 3, VX_VTEP_READY);
	memcpy(inner, inner_golden, sizeof(inner));
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		const uint32_t vni = 100 * (1 + i % 4); /* no VNI 400 */

		put16(inner + 18, i);
		make_vxlan(packet, 1 + i % 5, vni, inner, 60);
		m[i] = bench_mbuf(b, packet, PACKET_LEN);
	}
	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, m, RTE_DIM(m));
	bench_expect_only_drop(b, VX_DROP_VNI_UNKNOWN, 50);
	for (uint16_t port = 1; port <= 3; port++) {
		assert_int_equal(b->n_sent[port], 50);
		for (unsigned int i = 0; i < 50; i++) {
			bench_bytes(b->sent[port][i], found, sizeof(found));
			assert_int_equal(get16(found + 18), i * 4 + port - 1);
		}
	}
	assert_int_equal(received(&b->lcore[0]->vtep_traffic[0]), 30);
	assert_int_equal(received(&b->lcore[0]->vtep_traffic[1]), 30);
	assert_int_equal(received(&b->lcore[0]->segment_traffic[2]), 50);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_golden),
		TEST(test_variants),
		TEST(test_padding_cut),
		TEST(test_options_and_priority_tag),
		TEST(test_split_everywhere),
		TEST(test_empty_segments),
		TEST(test_truncated),
		TEST(test_truncated_consistently),
		TEST(test_jumbo),
		TEST(test_ecn),
		TEST(test_driver_checked),
		TEST(test_mixed_bursts),
	};

	return cmocka_run_group_tests_name("path_decap", tests, NULL, NULL);
}
