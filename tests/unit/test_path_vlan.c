/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access VLANs on the path, byte by byte:
 *
 *	VNI 100: port 1 untagged, port 2 VLAN 20, port 3 VLAN 30; VTEPs 1 and 2
 *	VNI 200: port 1 VLAN 10, port 2 untagged, port 4 with all its frames; VTEP 3
 */
#include "test_path_pieces.h"

#include "vx_oversize.h"
#include "vx_tag.h"

#define VNI_ALL 200u

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static uint8_t plain[2000], tagged[2010];

static void
attach(struct bench *b, uint16_t port, uint16_t vlan, uint32_t vni)
{
	assert_int_equal(vx_attach_add_vlan(b->tables, port, vlan, vni, &b->err), 0);
}

static uint32_t
dest_of(struct bench *b, uint16_t port, uint16_t vlan)
{
	return vx_attach_find_vlan(b->tables, port, vlan, NULL)->index;
}

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	attach(b, 2, 20, VNI);
	attach(b, 3, 30, VNI);
	bench_flood(b, VNI, 1, VX_VTEP_READY);
	bench_flood(b, VNI, 2, VX_VTEP_READY);
	bench_vni(b, VNI_ALL, 0, 0);
	attach(b, 4, VX_VLAN_ALL, VNI_ALL); /* before those that must come before it in the list */
	attach(b, 1, 10, VNI_ALL);
	attach(b, 2, VX_VLAN_UNTAGGED, VNI_ALL);
	bench_flood(b, VNI_ALL, 3, VX_VTEP_READY);
	return 0;
}

/* @to becomes @from with a tag behind the MACs; its length. */
static uint32_t
put_tag(uint8_t *to, const uint8_t *from, uint32_t len, unsigned int type, unsigned int tci)
{
	memmove(to + 16, from + 12, len - 12);
	memmove(to, from, 12);
	put16(to + 12, type);
	put16(to + 14, tci);
	return len + 4;
}

static void
send_split(struct bench *b, uint16_t port, const uint8_t *frame, uint32_t len, uint32_t cut)
{
	struct rte_mbuf *m = bench_split(b, frame, len, cut < len ? cut : 0, 0);

	bench_mark(b);
	bench_access(b, 0, port, &m, 1);
}

static void
send_frame(struct bench *b, uint16_t port, const uint8_t *frame, uint32_t len)
{
	send_split(b, port, frame, len, 0);
}

static void
send_tunnel(struct bench *b, uint32_t vni, const uint8_t *frame, uint32_t len)
{
	static uint8_t packet[3000];
	struct rte_mbuf *m = bench_mbuf(b, packet, make_vxlan(packet, 9, vni, frame, len));

	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

/* @port got @frame with the tag @vlan (0: none), padded. */
static void
expect_out(struct bench *b, uint16_t port, const uint8_t *frame, uint32_t len, uint16_t vlan)
{
	uint8_t expected[2010] = {0};

	if (vlan == 0)
		memcpy(expected, frame, len);
	else
		len = put_tag(expected, frame, len, 0x8100, vlan);
	assert_int_equal(b->n_sent[port], 1);
	bench_expect_bytes(b->sent[port][0], expected, RTE_MAX(len, 60u));
}

static void
expect_tunnels(struct bench *b, unsigned int n, const uint8_t *frame, uint32_t len)
{
	static uint8_t packet[3000];

	assert_int_equal(b->n_sent[UNDERLAY], n);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(bench_bytes(b->sent[UNDERLAY][i], packet, sizeof(packet)),
				 len + OUTER_LEN);
		assert_memory_equal(packet + OUTER_LEN, frame, len);
	}
}

static void
expect_nothing(struct bench *b)
{
	for (uint16_t port = 0; port < N_PORTS; port++)
		assert_int_equal(b->n_sent[port], 0);
}

/* Each attachment's own tag on the way out, none in the tunnel; copies share a buffer that none of
 * them may write to. */
static void
test_translation_flooded(void **state)
{
	static const uint32_t lengths[] = {14, 20, 55, 56, 57, 60, 1514};
	struct bench *b = *state;

	for (unsigned int i = 0; i < RTE_DIM(lengths); i++) {
		const uint32_t len = lengths[i];

		make_frame(plain, len, everybody, host_a);
		put_tag(tagged, plain, len, 0x8100, 0xa014); /* VLAN 20, priority 5 */
		for (uint32_t cut = 0; cut < 24; cut++) {
			send_split(b, 2, tagged, len + 4, cut);
			expect_out(b, 1, plain, len, 0);
			assert_int_equal(b->n_sent[2], 0);
			expect_out(b, 3, plain, len, 30);
			assert_int_equal(b->n_sent[4], 0);
			expect_tunnels(b, 2, plain, len);
			bench_settle(b);
		}
		send_frame(b, 1, plain, len);
		expect_out(b, 2, plain, len, 20);
		expect_out(b, 3, plain, len, 30);
		expect_tunnels(b, 2, plain, len);
		bench_settle(b);
		/* From a tunnel the last attachment gets the frame itself, the others copies. */
		send_tunnel(b, VNI, plain, len);
		expect_out(b, 1, plain, len, 0);
		expect_out(b, 2, plain, len, 20);
		expect_out(b, 3, plain, len, 30);
		bench_settle(b);
	}
}

static void
test_unicast_in_place(void **state)
{
	struct bench *b = *state;

	bench_fdb(b, VNI, host_b, dest_of(b, 3, 30), true);
	make_frame(plain, 1514, host_b, host_a);
	put_tag(tagged, plain, 1514, 0x8100, 20);
	for (uint32_t cut = 0; cut < 24; cut++) {
		send_split(b, 2, tagged, 1518, cut);
		expect_out(b, 3, plain, 1514, 30);
		if (cut >= 18)
			assert_int_equal(rte_mempool_in_use_count(b->copy_pool), 0);
		bench_settle(b);
	}
	/* The same port under another VLAN is another place, not where the frame came from. */
	attach(b, 3, 31, VNI);
	put_tag(tagged, plain, 1514, 0x8100, 31);
	send_frame(b, 3, tagged, 1518);
	expect_out(b, 3, plain, 1514, 30);
	bench_settle(b);
	put_tag(tagged, plain, 1514, 0x8100, 30);
	send_frame(b, 3, tagged, 1518);
	bench_expect_only_drop(b, VX_DROP_SAME_PORT, 1);
}

static void
test_segments_of_one_port(void **state)
{
	struct bench *b = *state;

	make_frame(plain, 60, everybody, host_a);
	put_tag(tagged, plain, 60, 0x8100, 10);
	send_frame(b, 1, tagged, 64);
	expect_out(b, 2, plain, 60, 0);
	expect_out(b, 4, plain, 60, 0);
	expect_tunnels(b, 1, plain, 60);
	assert_int_equal(b->n_sent[1] + b->n_sent[3], 0);
}

/* VLAN id 0 is no VLAN: the frame is an untagged one. */
static void
test_priority_tag(void **state)
{
	struct bench *b = *state;

	make_frame(plain, 60, everybody, host_a);
	put_tag(tagged, plain, 60, 0x8100, 0xf000);
	send_frame(b, 1, tagged, 64);
	expect_out(b, 2, plain, 60, 20);
	expect_tunnels(b, 2, plain, 60);
	bench_settle(b);
	send_frame(b, 3, tagged, 64);
	bench_expect_only_drop(b, VX_DROP_ACCESS_NO_SEGMENT, 1);
}

static void
expect_refused(struct bench *b, uint16_t port, const uint8_t *frame, uint32_t len)
{
	for (uint32_t cut = 0; cut < 24; cut++) {
		send_split(b, port, frame, len, cut);
		bench_expect_only_drop(b, VX_DROP_ACCESS_VLAN, 1);
		expect_nothing(b);
	}
}

static void
test_refused(void **state)
{
	static const unsigned int others[] = {1, 9, 11, 20, 4094, 4095, 0xf00b};
	struct bench *b = *state;

	make_frame(plain, 60, everybody, host_a);
	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		put_tag(tagged, plain, 60, 0x8100, others[i]);
		expect_refused(b, 1, tagged, 64);
	}
	/* A service tag, a second tag behind ours and behind a priority tag, half a tag. */
	put_tag(tagged, plain, 60, 0x88a8, 10);
	expect_refused(b, 1, tagged, 64);
	for (unsigned int vlan = 0; vlan <= 10; vlan += 10) {
		put_tag(tagged, plain, 60, 0x8100, 5);
		put_tag(tagged, tagged, 64, 0x8100, vlan);
		expect_refused(b, 1, tagged, 68);
	}
	for (uint32_t len = 14; len < 18; len++)
		expect_refused(b, 1, tagged, len);
}

static void
test_all_carries_tags(void **state)
{
	struct bench *b = *state;
	uint32_t len = 60;

	make_frame(tagged, len, everybody, host_a);
	for (unsigned int tags = 1; tags <= 10; tags++) {
		len = put_tag(tagged, tagged, len, tags % 2 == 0 ? 0x88a8 : 0x8100, 0xe000 + tags);
		for (uint32_t cut = 0; cut < 40; cut += 3) {
			send_split(b, 4, tagged, len, cut);
			expect_tunnels(b, 1, tagged, len);
			/* Nobody else in the segment carries tags. */
			assert_int_equal(b->n_sent[1] + b->n_sent[2], 0);
			bench_settle(b);
		}
		send_tunnel(b, VNI_ALL, tagged, len);
		expect_out(b, 4, tagged, len, 0);
		assert_int_equal(b->n_sent[1] + b->n_sent[2], 0);
		bench_settle(b);
		send_tunnel(b, VNI, tagged, len);
		bench_expect_only_drop(b, VX_DROP_INNER_VLAN, 1);
	}
	/* A priority tag stays too; without a tag they are all one segment. */
	make_frame(plain, 60, everybody, host_a);
	put_tag(tagged, plain, 60, 0x8100, 0x2000);
	send_frame(b, 4, tagged, 64);
	expect_tunnels(b, 1, tagged, 64);
	bench_settle(b);
	send_frame(b, 4, plain, 60);
	expect_out(b, 1, plain, 60, 10);
	expect_out(b, 2, plain, 60, 0);
	expect_tunnels(b, 1, plain, 60);
}

static void
test_tagged_to_an_untagged_place(void **state)
{
	const struct vx_ip remote = bench_remote(3);
	struct bench *b = *state;

	bench_fdb(b, VNI_ALL, host_b, dest_of(b, 2, VX_VLAN_UNTAGGED), true);
	make_frame(plain, 60, host_b, host_a);
	put_tag(tagged, plain, 60, 0x8100, 7);
	send_frame(b, 4, tagged, 64);
	bench_expect_only_drop(b, VX_DROP_EGRESS_VLAN, 1);
	send_tunnel(b, VNI_ALL, tagged, 64);
	bench_expect_only_drop(b, VX_DROP_EGRESS_VLAN, 1);
	expect_nothing(b);
	/* Flooded with nobody who carries tags but the sender. */
	assert_int_equal(vx_segment_flood_del(b->tables, VNI_ALL, &remote, &b->err), 0);
	make_frame(plain, 60, everybody, host_a);
	put_tag(tagged, plain, 60, 0x8100, 7);
	send_frame(b, 4, tagged, 64);
	bench_expect_only_drop(b, VX_DROP_NO_TARGET, 1);
}

/* A driver that takes tags out of frames: the same as if it did not. */
static void
test_stripped(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m;

	make_frame(plain, 60, everybody, host_a);
	m = bench_mbuf(b, plain, 60);
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m->vlan_tci = 0x600a;
	bench_access(b, 0, 1, &m, 1);
	expect_out(b, 2, plain, 60, 0);
	expect_tunnels(b, 1, plain, 60);
	bench_settle(b);
	m = bench_mbuf(b, plain, 60);
	m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ |
		       RTE_MBUF_F_RX_QINQ_STRIPPED;
	m->vlan_tci = 0x600a;
	m->vlan_tci_outer = 0x0020;
	bench_access(b, 0, 4, &m, 1);
	put_tag(tagged, plain, 60, 0x8100, 0x600a);
	put_tag(tagged, tagged, 64, 0x88a8, 0x0020);
	expect_tunnels(b, 1, tagged, 68);
}

/* The MTU counts what follows the tags. */
static void
test_mtu(void **state)
{
	struct bench *b = *state;

	for (uint32_t over = 0; over < 2; over++) {
		make_frame(plain, 1514 + over, everybody, host_a);
		put_tag(tagged, plain, 1514 + over, 0x8100, 20);
		send_frame(b, 2, tagged, 1518 + over);
		bench_expect_only_drop(b, over ? VX_DROP_INNER_TOO_BIG : VX_DROP_NONE, over);
		bench_settle(b);
		put_tag(tagged, tagged, 1518 + over, 0x88a8, 9);
		send_frame(b, 4, tagged, 1522 + over);
		bench_expect_only_drop(b, over ? VX_DROP_INNER_TOO_BIG : VX_DROP_NONE, over);
		bench_settle(b);
	}
}

/* A received buffer that somebody else has too. */
static void
test_shared_input(void **state)
{
	struct bench *b = *state;

	make_frame(plain, 100, everybody, host_a);
	put_tag(tagged, plain, 100, 0x8100, 20);
	for (uint32_t cut = 18; cut < 30; cut++) {
		struct rte_mbuf *original = bench_split(b, tagged, 104, cut, 0);
		struct rte_mbuf *m = rte_pktmbuf_clone(original, b->pool);

		bench_access(b, 0, 2, &m, 1);
		expect_out(b, 1, plain, 100, 0);
		expect_out(b, 3, plain, 100, 30);
		expect_tunnels(b, 2, plain, 100);
		bench_expect_bytes(original, tagged, 104);
		rte_pktmbuf_free(original);
		bench_settle(b);
	}
}

static void
test_no_buffers(void **state)
{
	struct rte_mbuf *taken[COPY_MBUFS];
	struct bench *b = *state;

	make_frame(plain, 100, everybody, host_a);
	for (unsigned int left = 0; left < 7; left++) {
		assert_int_equal(rte_pktmbuf_alloc_bulk(b->copy_pool, taken, COPY_MBUFS - left), 0);
		send_tunnel(b, VNI, plain, 100);
		/* Two copies and a header for each of two tagged ones; the last is the original. */
		bench_expect_only_drop(b, VX_DROP_NO_MBUF, bench_since(b, VX_DROP_NO_MBUF));
		assert_int_equal(bench_since(b, VX_DROP_NO_MBUF) == 0, left >= 4);
		rte_pktmbuf_free_bulk(taken, COPY_MBUFS - left);
		bench_settle(b);
	}
}

static void
expect_traffic(const struct vx_traffic *traffic, uint64_t rx, uint64_t tx, uint32_t len)
{
	assert_int_equal(traffic->rx_frames, rx);
	assert_int_equal(traffic->rx_bytes, rx * len);
	assert_int_equal(traffic->tx_frames, tx);
	assert_int_equal(traffic->tx_bytes, tx * len);
}

/* By kind and way, without the attachment's tag. */
static void
test_counted(void **state)
{
	struct bench *b = *state;
	const struct vx_lcore *lcore = b->lcore[0];
	const struct vx_kinds *from = &lcore->attach_traffic[dest_of(b, 2, 20)];
	const struct vx_kinds *to = &lcore->attach_traffic[dest_of(b, 3, 30)];
	const struct vx_kinds *segment =
		&lcore->segment_traffic[vx_segment_find(b->tables, VNI, NULL)->index];

	bench_fdb(b, VNI, host_b, dest_of(b, 3, 30), true);
	make_frame(plain, 100, host_b, host_a);
	put_tag(tagged, plain, 100, 0x8100, 20);
	for (unsigned int i = 0; i < 3; i++)
		send_frame(b, 2, tagged, 104);
	expect_traffic(&from->of[VX_KIND_UNICAST], 3, 0, 100);
	expect_traffic(&from->of[VX_KIND_FLOODED], 0, 0, 100);
	expect_traffic(&to->of[VX_KIND_UNICAST], 0, 3, 100);
	memcpy(tagged, everybody, 6);
	memcpy(plain, everybody, 6);
	send_frame(b, 2, tagged, 104);
	send_tunnel(b, VNI, plain, 100);
	expect_traffic(&from->of[VX_KIND_FLOODED], 1, 1, 100);
	expect_traffic(&to->of[VX_KIND_FLOODED], 0, 2, 100);
	expect_traffic(&to->of[VX_KIND_UNICAST], 0, 3, 100);
	expect_traffic(&segment->of[VX_KIND_UNICAST], 0, 0, 100);
	expect_traffic(&segment->of[VX_KIND_FLOODED], 1, 2, 100);
}

static void
test_deleted(void **state)
{
	struct bench *b = *state;

	bench_fdb(b, VNI, host_b, dest_of(b, 3, 30), true);
	make_frame(plain, 60, host_b, host_a);
	put_tag(tagged, plain, 60, 0x8100, 30);
	assert_int_equal(vx_attach_del_vlan(b->tables, 3, 30, &b->err), 0);
	send_frame(b, 3, tagged, 64);
	bench_expect_only_drop(b, VX_DROP_ACCESS_NO_SEGMENT, 1); /* that was its last one */
	send_frame(b, 1, plain, 60);
	expect_out(b, 2, plain, 60, 20); /* flooded, as its place is gone */
	assert_int_equal(b->n_sent[3], 0);
	bench_settle(b);
	assert_int_equal(vx_attach_del_port(b->tables, 1, &b->err), 0);
	send_frame(b, 1, plain, 60);
	bench_expect_only_drop(b, VX_DROP_ACCESS_NO_SEGMENT, 1);
}

/* The answer to a sender whose frame is too big carries the tags that the frame came with. */
static void
test_told_of_the_mtu(void **state)
{
	struct bench *b = *state;
	uint8_t answer[200];

	bench_path_mtu(b, 0, 1000);
	bench_path_mtu(b, 2, 1000);
	BENCH_VIEW(b, oversize, VX_OVERSIZE_REPLY);
	make_ipv4(plain, 1400, true);
	bench_fdb(b, VNI, host_b, VX_DEST_VTEP, true);
	put_tag(tagged, plain, 1400, 0x8100, 20);
	send_frame(b, 2, tagged, 1404);
	bench_expect_only_drop(b, VX_DROP_TOO_BIG_REPLIED, 1);
	assert_int_equal(b->n_sent[2], 1);
	bench_bytes(b->sent[2][0], answer, sizeof(answer));
	assert_memory_equal(answer, host_a, 6);
	assert_int_equal(get16(answer + 12), 0x8100);
	assert_int_equal(get16(answer + 14), 20);
	assert_int_equal(get16(answer + 18 + 20 + 6), 1000 - 50);
	bench_settle(b);
	bench_fdb(b, VNI_ALL, host_b, VX_DEST_VTEP | 2, true);
	put_tag(tagged, plain, 1400, 0x8100, 0x2007);
	put_tag(tagged, tagged, 1404, 0x88a8, 8);
	send_frame(b, 4, tagged, 1408);
	bench_expect_only_drop(b, VX_DROP_TOO_BIG_REPLIED, 1);
	bench_bytes(b->sent[4][0], answer, sizeof(answer));
	assert_memory_equal(answer + 12, tagged + 12, 8);
	assert_int_equal(get16(answer + 22 + 20 + 6), 1000 - 58);
	assert_int_equal(plain_checksum(answer + 22, 20), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_translation_flooded),
		TEST(test_unicast_in_place),
		TEST(test_segments_of_one_port),
		TEST(test_priority_tag),
		TEST(test_refused),
		TEST(test_all_carries_tags),
		TEST(test_tagged_to_an_untagged_place),
		TEST(test_stripped),
		TEST(test_mtu),
		TEST(test_shared_input),
		TEST(test_no_buffers),
		TEST(test_counted),
		TEST(test_deleted),
		TEST(test_told_of_the_mtu),
	};

	return cmocka_run_group_tests_name("path_vlan", tests, NULL, NULL);
}
