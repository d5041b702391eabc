/* SPDX-License-Identifier: BSD-3-Clause */
/* From an access port into a tunnel. */
#include "test_path_bench.h"

#include "vx_flow.h"

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	bench_fdb(b, VNI, host_b, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), true);
	return 0;
}

static void
send_one(struct bench *b, unsigned int lcore, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_access(b, lcore, 1, &m, 1);
}

/* The outer header of @frame is right in everything, around an inner frame of @len bytes. */
static void
expect_outer(const uint8_t *frame, uint32_t len, uint8_t ecn)
{
	uint8_t golden[OUTER_LEN] = {
		2,    0, 0,    0,    0,	  0xfe, 2,   0, 0,  0,	0, 1, 0x08, 0, /* Ethernet */
		0x45, 0, 0,    0,    0,	  0,	0,   0, 64, 17, 0, 0,	       /* IPv4 */
		192,  0, 2,    1,    198, 51,	100, 2,			       /* addresses */
		0,    0, 0x12, 0xb5, 0,	  0,	0,   0, /* UDP 4789, checksum 0 */
		8,    0, 0,    0,    0,	  0,	100, 0, /* VXLAN, VNI 100 */
	};

	golden[15] = ecn;
	put16(golden + 16, len + 36);
	put16(golden + 38, len + 16);
	/* What differs from packet to packet is checked apart. */
	memcpy(golden + 18, frame + 18, 2);
	memcpy(golden + 24, frame + 24, 2);
	memcpy(golden + 34, frame + 34, 2);
	assert_memory_equal(frame, golden, sizeof(golden));
	assert_int_equal(plain_checksum(frame + 14, 20), 0);
	assert_true(get16(frame + 34) >= 49152);
}

static void
test_golden(void **state)
{
	struct bench *b = *state;
	uint8_t frame[200];

	send_one(b, 0, bench_mbuf(b, inner_golden, sizeof(inner_golden)));
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	assert_int_equal(bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame)), 110);
	expect_outer(frame, 60, 2);
	assert_int_equal(get16(frame + 18), 0);	     /* the first ID of worker 0 */
	assert_int_equal(get16(frame + 24), 0x8e54); /* by hand */
	assert_memory_equal(frame + OUTER_LEN, inner_golden, 60);
	assert_int_equal(get16(frame + 34),
			 vx_flow_port(vx_flow_of_bytes(inner_golden, 60).hash, 49152, 16384));
	assert_int_equal(bench_since(b, VX_COUNT_ENCAP), 1);
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 0);
	assert_int_equal(b->lcore[0]->vtep_traffic[0].of[VX_KIND_UNICAST].tx_frames, 1);
	assert_int_equal(b->lcore[0]->vtep_traffic[0].of[VX_KIND_UNICAST].tx_bytes, 60);
	assert_int_equal(b->lcore[0]->segment_traffic[0].of[VX_KIND_UNICAST].tx_frames, 1);
	assert_int_equal(b->lcore[0]->port_traffic[1].rx_frames, 1);
	assert_int_equal(b->lcore[0]->port_traffic[1].rx_bytes, 60);
}

static void
test_ecn_and_checksums(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60], frame[200];

	/* Many IDs, sources and ECN fields: each checksum right. */
	for (unsigned int i = 0; i < 4096; i++) {
		memcpy(inner, inner_golden, sizeof(inner));
		inner[15] = (uint8_t)i;
		inner[29] = (uint8_t)(i >> 8);
		b->lcore[0]->vtep_traffic[0].of[VX_KIND_FLOODED].tx_frames = i * 7919u;
		send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
		bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
		expect_outer(frame, 60, i & 3);
		assert_memory_equal(frame + OUTER_LEN, inner, 60);
		bench_settle(b);
	}
	/* IPv6 inside: its traffic class lies across two bytes. */
	memset(inner, 0, sizeof(inner));
	memcpy(inner, inner_golden, 12);
	put16(inner + 12, 0x86dd);
	put16(inner + 14, 0x60f0); /* CE */
	inner[15] = 0x30;
	send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
	bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
	expect_outer(frame, 60, 3);
}

static void
test_ids_unique_over_workers(void **state)
{
	struct bench *b = *state;
	bool seen[65536] = {false};
	uint8_t frame[200];

	for (unsigned int i = 0; i < 65536; i++) {
		send_one(b, i % 3 == 0, bench_mbuf(b, inner_golden, sizeof(inner_golden)));
		bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
		assert_int_equal(get16(frame + 18) & 1, i % 3 == 0);
		/* 43,690 of them are worker 0's, which has 32,768 IDs before they repeat. */
		if (i < 32768 * 3 / 2)
			assert_false(seen[get16(frame + 18)]);
		seen[get16(frame + 18)] = true;
		bench_settle(b);
	}
}

static void
test_source_ports(void **state)
{
	struct vx_view *view = vx_view_edit(((struct bench *)*state)->tables);
	struct bench *b = *state;
	unsigned int seen[10] = {0};
	uint8_t inner[60], frame[200];

	view->source_port_lo = 60000;
	view->source_ports = 10;
	view->udp_port_be = RTE_BE16(8472);
	vx_view_publish(b->tables, view);
	memcpy(inner, inner_golden, sizeof(inner));
	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int port, again;

		put16(inner + 34, i);
		send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
		send_one(b, 1, bench_split(b, inner, sizeof(inner), 1 + i % 59, 0));
		bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
		port = get16(frame + 34);
		assert_in_range(port, 60000, 60009);
		assert_int_equal(get16(frame + 36), 8472);
		bench_bytes(b->sent[UNDERLAY][1], frame, sizeof(frame));
		again = get16(frame + 34);
		assert_int_equal(port, again); /* the same flow on every worker, however it lies */
		seen[port - 60000]++;
		bench_settle(b);
	}
	for (unsigned int i = 0; i < 10; i++)
		assert_in_range(seen[i], 50, 150);
}

static void
test_local_override(void **state)
{
	const struct vx_segment_conf conf = {.vni = 200,
					     .local = vx_ip_from_v4(RTE_BE32(0xc0000205))};
	struct rte_mbuf *m;
	struct bench *b = *state;
	uint8_t frame[200];

	assert_int_equal(vx_segment_add(b->tables, &conf, &b->err), 0);
	assert_int_equal(vx_attach_add(b->tables, 2, 200, &b->err), 0);
	bench_flood(b, 200, 3, VX_VTEP_READY);
	m = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	bench_access(b, 0, 2, &m, 1);
	bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
	assert_memory_equal(frame + 26, ((const uint8_t[]){192, 0, 2, 5, 198, 51, 100, 3}), 8);
	assert_int_equal(plain_checksum(frame + 14, 20), 0);
	assert_int_equal(frame[48], 200);
}

/* A frame of each kind of buffer comes out the same, and what is shared is not written to. */
static void
expect_sent(struct bench *b, struct rte_mbuf *m, const uint8_t *inner, uint32_t len,
	    unsigned int segs)
{
	static uint8_t frame[70000];

	send_one(b, 0, m);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	assert_int_equal(b->sent[UNDERLAY][0]->nb_segs, segs);
	assert_int_equal(bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame)), len + OUTER_LEN);
	expect_outer(frame, len, inner[13] == 0 ? 2 : 0);
	assert_memory_equal(frame + OUTER_LEN, inner, len);
}

static void
test_kinds_of_buffers(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m, *original;

	for (uint16_t headroom = 0; headroom <= 64; headroom++) {
		m = bench_mbuf(b, inner_golden, sizeof(inner_golden));
		memmove((uint8_t *)m->buf_addr + headroom, inner_golden, sizeof(inner_golden));
		m->data_off = headroom;
		expect_sent(b, m, inner_golden, 60, headroom < OUTER_LEN ? 2 : 1);
		bench_settle(b);
	}
	original = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	memset(original->buf_addr, 0xa5, original->data_off);
	m = rte_pktmbuf_clone(original, b->pool);
	assert_non_null(m);
	expect_sent(b, m, inner_golden, 60, 2);
	for (unsigned int i = 0; i < original->data_off; i++)
		assert_int_equal(((uint8_t *)original->buf_addr)[i], 0xa5);
	bench_expect_bytes(original, inner_golden, 60);
	rte_pktmbuf_free(original);
}

static void
test_jumbo(void **state)
{
	static uint8_t inner[65499];
	struct bench *b = *state;
	struct rte_mbuf *m;

	make_frame(inner, sizeof(inner), host_b, host_a);
	assert_int_equal(vx_segment_set_mtu(b->tables, 65485, &b->err), 0);
	expect_sent(b, bench_mbuf(b, inner, sizeof(inner)), inner, sizeof(inner), 32);
	bench_settle(b);
	expect_sent(b, bench_split(b, inner, 3001, 14, 15), inner, 3001, 4);
	bench_settle(b);
	/* One more byte would not fit an IP packet; the segment's MTU stops it before. */
	assert_int_equal(vx_segment_set_mtu(b->tables, 1000, &b->err), 0);
	expect_sent(b, bench_mbuf(b, inner, 1014), inner, 1014, 1);
	m = bench_mbuf(b, inner, 1015);
	send_one(b, 0, m);
	bench_expect_only_drop(b, VX_DROP_INNER_TOO_BIG, 1);
}

static void
test_underlay_mtu(void **state)
{
	struct vx_view *view = vx_view_edit(((struct bench *)*state)->tables);
	struct vx_vtep_path path = bench_path(VX_VTEP_READY);
	struct bench *b = *state;
	uint8_t inner[1514];

	view->oversize = VX_OVERSIZE_DROP;
	vx_view_publish(b->tables, view);
	make_frame(inner, sizeof(inner), host_b, host_a);
	path.mtu = 1500;
	vx_vtep_set_path(b->tables, 0, &path);
	expect_sent(b, bench_mbuf(b, inner, 1464), inner, 1464, 1);
	send_one(b, 0, bench_mbuf(b, inner, 1465));
	bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
}

static void
test_no_buffer_for_the_header(void **state)
{
	struct rte_mbuf *all[COPY_MBUFS], *m, *original;
	struct bench *b = *state;

	assert_int_equal(rte_pktmbuf_alloc_bulk(b->copy_pool, all, COPY_MBUFS), 0);
	original = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	m = rte_pktmbuf_clone(original, b->pool);
	send_one(b, 0, m);
	bench_expect_only_drop(b, VX_DROP_NO_MBUF, 1);
	assert_int_equal(bench_since(b, VX_COUNT_ENCAP), 0);
	/* One with room in front of it needs none. */
	send_one(b, 0, original);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	rte_pktmbuf_free_bulk(all, COPY_MBUFS);
}

static void
test_states(void **state)
{
	static const enum vx_drop expected[] = {
		[VX_VTEP_NO_ROUTE] = VX_DROP_NO_ROUTE,
		[VX_VTEP_FAILED] = VX_DROP_NEIGH_FAILED,
	};
	struct vx_vtep_path path = bench_path(VX_VTEP_NO_ROUTE);
	struct bench *b = *state;
	struct vx_punt punt;
	uint8_t frame[200];

	for (unsigned int i = 0; i < 2; i++) {
		path.state = i == 0 ? VX_VTEP_NO_ROUTE : VX_VTEP_FAILED;
		vx_vtep_set_path(b->tables, 0, &path);
		send_one(b, 0, bench_mbuf(b, inner_golden, sizeof(inner_golden)));
		bench_expect_only_drop(b, expected[path.state], 1);
	}
	path.state = VX_VTEP_RESOLVING;
	vx_vtep_set_path(b->tables, 0, &path);
	send_one(b, 0, bench_mbuf(b, inner_golden, sizeof(inner_golden)));
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(bench_since(b, VX_COUNT_HELD), 1);
	assert_true(bench_punt(b, &punt));
	assert_int_equal(punt.kind, VX_PUNT_HOLD);
	assert_int_equal(punt.port, UNDERLAY);
	assert_int_equal(punt.remote.bytes[15], 2);
	assert_int_equal(bench_bytes(punt.m, frame, sizeof(frame)), 110);
	expect_outer(frame, 60, 2); /* finished, so that only its MAC may have to be set */
	rte_pktmbuf_free(punt.m);
	assert_int_equal(b->n_sent[UNDERLAY], 0);
}

static void
test_hold_ring_full(void **state)
{
	struct vx_vtep_path path = bench_path(VX_VTEP_RESOLVING);
	struct bench *b = *state;
	struct rte_mbuf *m[100];

	vx_vtep_set_path(b->tables, 0, &path);
	for (unsigned int i = 0; i < RTE_DIM(m); i++)
		m[i] = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	bench_mark(b);
	bench_access(b, 0, 1, m, RTE_DIM(m));
	assert_int_equal(bench_since(b, VX_COUNT_HELD), 63);
	bench_expect_only_drop(b, VX_DROP_NEIGH_QUEUE, 37);
}

/* More than the stages take at once, more than a transmit buffer holds: all, and in order. */
static void
test_long_bursts(void **state)
{
	static const uint16_t lengths[] = {0, 1, 63, 64, 65, 127, 128, 129, 300};
	struct rte_mbuf *m[300];
	struct bench *b = *state;
	uint8_t inner[60], frame[200];

	memcpy(inner, inner_golden, sizeof(inner));
	for (unsigned int i = 0; i < RTE_DIM(lengths); i++) {
		for (uint16_t n = 0; n < lengths[i]; n++) {
			put16(inner + 18, n);
			/* Every seventh is dropped on the way. */
			inner[6] = n % 7 == 3 ? 3 : 2;
			m[n] = bench_mbuf(b, inner, sizeof(inner));
		}
		bench_mark(b);
		bench_access(b, 0, 1, m, lengths[i]);
		bench_expect_only_drop(b, VX_DROP_BAD_SOURCE_MAC, (lengths[i] + 3) / 7);
		assert_int_equal(bench_since(b, VX_COUNT_RX), lengths[i]);
		assert_int_equal(b->n_sent[UNDERLAY], lengths[i] - (lengths[i] + 3) / 7);
		for (uint16_t n = 0, at = 0; n < lengths[i]; n++) {
			if (n % 7 == 3)
				continue;
			bench_bytes(b->sent[UNDERLAY][at++], frame, sizeof(frame));
			assert_int_equal(get16(frame + OUTER_LEN + 18), n);
		}
		bench_settle(b);
	}
}

/* Frames cut at every length and split at every position: in whole, or one drop. */
static void
test_every_length_and_split(void **state)
{
	struct bench *b = *state;

	for (uint32_t len = 0; len <= 60; len++) {
		for (uint32_t cut_1 = 0; cut_1 < len; cut_1++) {
			for (uint32_t cut_2 = cut_1; cut_2 < len; cut_2 += 1 + (cut_1 == 0) * 60u) {
				send_one(b, 0, bench_split(b, inner_golden, len, cut_1, cut_2));
				bench_expect_only_drop(b, VX_DROP_ACCESS_RUNT, len < 14);
				assert_int_equal(b->n_sent[UNDERLAY], len >= 14);
				if (len >= 14) {
					uint8_t frame[200];

					bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
					expect_outer(frame, len, len >= 34 ? 2 : 0);
					assert_memory_equal(frame + OUTER_LEN, inner_golden, len);
				}
				bench_settle(b);
			}
		}
	}
}

/* `set udp-checksum on`: right over the whole chain, and the frame is the same. */
static void
test_udp_checksum(void **state)
{
	struct bench *b = *state;
	struct vx_view *view = vx_view_edit(b->tables);
	uint8_t inner[100], packet[200];
	struct rte_mbuf *m;

	view->udp_checksum = VX_UDP_CHECKSUM_ON;
	vx_view_publish(b->tables, view);
	for (uint32_t len = 14; len <= sizeof(inner); len++) {
		for (uint32_t cut = 0; cut < len; cut++) {
			uint8_t was[2];

			make_frame(inner, len, host_b, host_a);
			m = bench_split(b, inner, len, cut, 0);
			if (cut % 2 == 1) { /* the header in a segment of its own */
				memcpy(m->buf_addr, inner, m->data_len);
				m->data_off = 0;
			}
			send_one(b, 0, m);
			assert_int_equal(bench_bytes(b->sent[UNDERLAY][0], packet, sizeof(packet)),
					 len + OUTER_LEN);
			memcpy(was, packet + 40, 2);
			assert_true(get16(was) != 0);
			fix_udp(packet);
			assert_memory_equal(packet + 40, was, 2);
			assert_memory_equal(packet + OUTER_LEN, inner, len);
			bench_settle(b);
		}
	}
}

/* What the receiving driver said of the inner frame is not said of the outer one. */
static void
test_flags_cleared(void **state)
{
	struct rte_mbuf *m;
	struct bench *b = *state;

	m = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_IP_CKSUM_GOOD |
		       RTE_MBUF_F_RX_L4_CKSUM_GOOD | RTE_MBUF_F_TX_IP_CKSUM;
	send_one(b, 0, m);
	assert_int_equal(b->sent[UNDERLAY][0]->ol_flags, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_golden),
		TEST(test_ecn_and_checksums),
		TEST(test_ids_unique_over_workers),
		TEST(test_source_ports),
		TEST(test_local_override),
		TEST(test_kinds_of_buffers),
		TEST(test_jumbo),
		TEST(test_underlay_mtu),
		TEST(test_no_buffer_for_the_header),
		TEST(test_states),
		TEST(test_hold_ring_full),
		TEST(test_long_bursts),
		TEST(test_flags_cleared),
		TEST(test_udp_checksum),
		TEST(test_every_length_and_split),
	};

	return cmocka_run_group_tests_name("path_encap", tests, NULL, NULL);
}
