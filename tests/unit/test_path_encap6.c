/* SPDX-License-Identifier: BSD-3-Clause */
/* From an access port into a tunnel over IPv6, cut where the underlay cannot carry it. */
#include "test_path_bench6.h"

#include <netinet/in.h>

#include "vx_encap.h"
#include "vx_flow.h"

#define LARGEST 65519u

static const uint16_t mtus[] = {1280, 1499, 1500, 1501, 9000};

static int
setup(void **state)
{
	struct bench *b;

	if (bench6_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 65485, &b->err), 0);
	bench_fdb(b, VNI, host_b, VX_DEST_VTEP | bench6_flood(b, VNI, 2, VX_VTEP_READY), true);
	return 0;
}

static void
set_view(struct bench *b, enum vx_udp_checksum checksum, enum vx_df df, enum vx_oversize oversize)
{
	struct vx_view *view = vx_view_edit(b->tables);

	view->udp_checksum = checksum;
	view->df = df;
	view->oversize = oversize;
	vx_view_publish(b->tables, view);
}

static void
send_one(struct bench *b, unsigned int lcore, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_access(b, lcore, 1, &m, 1);
}

/* The outer header of @frame is right in everything, around an inner frame of @len bytes. */
static void
expect_outer(const uint8_t *frame, uint32_t len, uint8_t ecn, uint8_t vtep, bool has_checksum)
{
	uint8_t golden[OUTER6_LEN] = {
		2,    0, 0,    0,    0,	   0xfe, 2,    0,    0, 0, 0, 1, 0x86, 0xdd, /* Ethernet */
		0x60, 0, 0,    0,    0,	   0,	 17,   64,			     /* IPv6 */
		0x20, 1, 0x0d, 0xb8, 0,	   0,	 0,    0,    0, 0, 0, 0, 0,    0,
		0,    1, 0x20, 1,    0x0d, 0xb8, 0,    1,    0, 0, 0, 0, 0,    0,
		0,    0, 0,    2,    0,	   0,	 0x12, 0xb5, 0, 0, 0, 0, /* UDP 4789 */
		8,    0, 0,    0,    0,	   0,	 100,  0,		 /* VXLAN, VNI 100 */
	};

	golden[53] = vtep;
	golden[15] = (uint8_t)(ecn << 4 | (frame[15] & 0x0f));
	memcpy(golden + 16, frame + 16, 2); /* flow label: checked apart */
	put16(golden + 18, len + 16);
	put16(golden + 58, len + 16);
	memcpy(golden + 54, frame + 54, 2);
	memcpy(golden + 60, frame + 60, 2);
	assert_memory_equal(frame, golden, sizeof(golden));
	assert_true(get16(frame + 54) >= 49152);
	assert_int_not_equal(get32(frame + 14) & 0xfffff, 0);
	assert_int_equal(get16(frame + 60) != 0, has_checksum);
	if (has_checksum)
		assert_int_equal(plain_udp6(frame, HEADERS6), 0);
}

static void
test_golden(void **state)
{
	const uint32_t hash = vx_flow_of_bytes(inner_golden, 60).hash;
	struct bench *b = *state;
	uint8_t frame[200];

	send_one(b, 0, bench_mbuf(b, inner_golden, sizeof(inner_golden)));
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	assert_int_equal(bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame)), 130);
	expect_outer(frame, 60, 2, 2, true);
	assert_memory_equal(frame + OUTER6_LEN, inner_golden, 60);
	assert_int_equal(get32(frame + 14) & 0xfffff, hash & 0xfffff);
	assert_int_equal(get16(frame + 54), vx_flow_port(hash, 49152, 16384));
	assert_int_equal(b->lcore[0]->vtep_traffic[0].of[VX_KIND_UNICAST].tx_frames, 1);
	assert_int_equal(b->lcore[0]->vtep_traffic[0].of[VX_KIND_UNICAST].tx_bytes, 60);
}

/* Every value of a 16-bit word: among them the sum that is sent as all ones. */
static void
test_checksums(void **state)
{
	struct bench *b = *state;
	uint8_t inner[61], frame[200];
	unsigned int n_ones = 0;

	memset(inner, 0, sizeof(inner));
	memcpy(inner, inner_golden, 42);
	for (unsigned int i = 0; i < 65536 + 1000; i++) {
		const uint32_t len = i < 65536 ? 60 : 61;

		put16(inner + 50, i & 0xffff);
		inner[15] = (uint8_t)(i < 65536 ? 0 : i & 3);
		send_one(b, i & 1, bench_split(b, inner, len, i % 7 == 0 ? 1 + i % 59 : 0, 0));
		bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
		expect_outer(frame, len, inner[15], 2, true);
		n_ones += get16(frame + 60) == 0xffff;
		bench_settle(b);
	}
	assert_true(n_ones > 0);
	set_view(b, VX_UDP_CHECKSUM_OFF, VX_DF_OFF, VX_OVERSIZE_OUTER);
	send_one(b, 0, bench_mbuf(b, inner, 60));
	bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
	expect_outer(frame, 60, 3, 2, false);
	bench_settle(b);
	set_view(b, VX_UDP_CHECKSUM_ON, VX_DF_ON, VX_OVERSIZE_OUTER);
	send_one(b, 0, bench_mbuf(b, inner, 60));
	bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
	expect_outer(frame, 60, 3, 2, true);
}

/* One flow has one label and port, however it lies and on every worker; flows differ. */
static void
test_labels(void **state)
{
	struct bench *b = *state;
	uint8_t inner[60], frame[200], again[200];
	uint32_t seen[1000];

	memcpy(inner, inner_golden, sizeof(inner));
	for (unsigned int i = 0; i < 1000; i++) {
		put16(inner + 34, i);
		send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
		send_one(b, 1, bench_split(b, inner, sizeof(inner), 1 + i % 59, 0));
		bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
		bench_bytes(b->sent[UNDERLAY][1], again, sizeof(again));
		assert_memory_equal(frame, again, 130);
		seen[i] = get32(frame + 14) & 0xfffff;
		bench_settle(b);
	}
	for (unsigned int i = 1, same = 0; i < 1000; i++) {
		same += seen[i] == seen[i - 1];
		assert_true(same < 3);
	}
}

static void
test_local(void **state)
{
	struct vx_segment_conf conf = {.vni = 7};
	struct bench *b = *state;
	struct vx_view *view;
	uint8_t frame[200];

	/* Of the other family: no change. */
	conf.local = vx_ip_from_v4(RTE_BE32(0xc0000205));
	assert_int_equal(vx_segment_add(b->tables, &conf, &b->err), 0);
	assert_int_equal(vx_attach_add(b->tables, 2, 7, &b->err), 0);
	bench6_flood(b, 7, 3, VX_VTEP_READY);
	bench_flood(b, 7, 4, VX_VTEP_READY);
	bench_access(b, 0, 2, &(struct rte_mbuf *){bench_mbuf(b, inner_golden, 60)}, 1);
	assert_int_equal(b->n_sent[UNDERLAY], 2);
	bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
	assert_memory_equal(frame + 22, our_ip6, 16);
	bench_bytes(b->sent[UNDERLAY][1], frame, sizeof(frame));
	assert_int_equal(get32(frame + 26), 0xc0000205);
	bench_settle(b);
	/* IPv6. */
	conf = (struct vx_segment_conf){.vni = 8};
	conf.local = (struct vx_ip){.bytes = {0xfe, 0x80, [15] = 1}};
	assert_int_equal(vx_segment_add(b->tables, &conf, &b->err), -EINVAL);
	conf.local = (struct vx_ip){.bytes = {0x20, [15] = 9}};
	view = vx_view_edit(b->tables);
	view->local[view->n_locals++].ip = conf.local;
	vx_view_publish(b->tables, view);
	assert_int_equal(vx_segment_add(b->tables, &conf, &b->err), 0);
	assert_int_equal(vx_attach_add(b->tables, 3, 8, &b->err), 0);
	bench6_flood(b, 8, 3, VX_VTEP_READY);
	bench_flood(b, 8, 4, VX_VTEP_READY);
	bench_access(b, 0, 3, &(struct rte_mbuf *){bench_mbuf(b, inner_golden, 60)}, 1);
	bench_bytes(b->sent[UNDERLAY][0], frame, sizeof(frame));
	assert_memory_equal(frame + 22, conf.local.bytes, 16);
	assert_int_equal(plain_udp6(frame, HEADERS6), 0);
	bench_bytes(b->sent[UNDERLAY][1], frame, sizeof(frame));
	assert_int_equal(get32(frame + 26), 0xc0000201);
	assert_int_equal(plain_checksum(frame + 14, 20), 0);
}

/* The frames @m are one datagram to VTEP @vtep around @inner, cut to @mtu. Returns its ID. */
static uint32_t
expect_datagram(struct rte_mbuf *const *m, unsigned int n, uint32_t mtu, uint8_t vtep,
		const uint8_t *inner, uint32_t len)
{
	static uint8_t packet[66000];
	uint32_t id;

	assert_int_equal(n, pieces6_expected(len + 56, mtu));
	assert_int_equal(pieces6_join(packet, m, n, mtu, &id), len + OUTER6_LEN);
	expect_outer(packet, len, 0, vtep, true);
	assert_memory_equal(packet + OUTER6_LEN, inner, len);
	return id;
}

static void
expect_sent(struct bench *b, struct rte_mbuf *m, uint16_t mtu, const uint8_t *inner, uint32_t len)
{
	unsigned int n;

	send_one(b, 0, m);
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	n = b->n_sent[UNDERLAY];
	expect_datagram(b->sent[UNDERLAY], n, mtu, 2, inner, len);
	assert_int_equal(bench_since(b, VX_COUNT_FRAGMENTS), n - 1);
	assert_int_equal(bench_since(b, VX_COUNT_FRAGMENTED), n > 1);
	bench_settle(b);
}

static void
test_boundaries(void **state)
{
	static uint8_t inner[LARGEST];
	struct bench *b = *state;

	make_frame(inner, sizeof(inner), host_b, host_a);
	for (unsigned int i = 0; i < RTE_DIM(mtus); i++) {
		const uint32_t part = (mtus[i] - 48u) / 8 * 8;

		bench_path_mtu(b, 0, mtus[i]);
		for (int32_t d = -9; d <= 9; d++) {
			const uint32_t fits = mtus[i] - 56u + (uint32_t)d;

			expect_sent(b, bench_mbuf(b, inner, fits), mtus[i], inner, fits);
			for (uint32_t k = 2; k <= 4; k++) {
				const uint32_t len = k * part - 16 + (uint32_t)d;

				expect_sent(b, bench_mbuf(b, inner, len), mtus[i], inner, len);
			}
		}
	}
}

static void
encap_directly(struct bench *b, const uint8_t *inner, uint32_t len)
{
	const struct vx_inner frame = {
		.m = bench_mbuf(b, inner, len),
		.segment = vx_segment_find(b->tables, VNI, NULL),
		.vtep = b->tables->vtep[0],
	};
	struct vx_lcore *lcore = b->lcore[0];

	bench_mark(b);
	lcore->view = b->tables->view;
	vx_lcore_count(lcore, VX_COUNT_RX, 1);
	vx_encap(lcore, &frame);
	while (lcore->tx_pending != 0)
		lcore->flush(lcore, (uint16_t)__builtin_ctzll(lcore->tx_pending));
}

/* Beyond what `set mtu` allows: the 16 bits of the payload length are the limit. */
static void
test_largest(void **state)
{
	static uint8_t inner[LARGEST + 1], packet[66000];
	struct bench *b = *state;
	uint32_t id;

	make_frame(inner, sizeof(inner), host_b, host_a);
	for (unsigned int i = 0; i < RTE_DIM(mtus); i++) {
		bench_path_mtu(b, 0, mtus[i]);
		encap_directly(b, inner, LARGEST);
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		pieces6_join(packet, b->sent[UNDERLAY], b->n_sent[UNDERLAY], mtus[i], &id);
		assert_int_equal(get16(packet + 18), 65535);
		assert_int_equal(plain_udp6(packet, HEADERS6), 0);
		assert_memory_equal(packet + OUTER6_LEN, inner, LARGEST);
		bench_settle(b);
		encap_directly(b, inner, LARGEST + 1);
		bench_expect_only_drop(b, VX_DROP_TOO_BIG, 1);
	}
}

static void
test_chains(void **state)
{
	static uint8_t inner[4001];
	struct bench *b = *state;
	struct rte_mbuf *m, *original;

	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	for (uint32_t cut = 1; cut < 4000; cut += cut < 40 || cut % 1448 > 1370 ? 1 : 61) {
		m = bench_split(b, inner, sizeof(inner), cut, RTE_MIN(cut + 1 + cut % 7, 4000u));
		if (cut % 2 == 1) {
			/* Room for an IPv4 header, not for an IPv6 one; or none. */
			const uint16_t room = cut % 4 == 1 ? 69 : 0;

			memmove((uint8_t *)m->buf_addr + room, rte_pktmbuf_mtod(m, void *),
				m->data_len);
			m->data_off = room;
		}
		expect_sent(b, m, 1500, inner, sizeof(inner));
	}
	original = bench_mbuf(b, inner, sizeof(inner));
	m = rte_pktmbuf_clone(original, b->pool);
	assert_non_null(m);
	send_one(b, 0, m);
	expect_datagram(b->sent[UNDERLAY], b->n_sent[UNDERLAY], 1500, 2, inner, sizeof(inner));
	bench_expect_bytes(original, inner, sizeof(inner));
	rte_pktmbuf_free(original);
}

/* No two alike, over workers too, and in more than 16 bits. */
static void
test_ids(void **state)
{
	struct bench *b = *state;
	uint8_t inner[3000];
	uint32_t base = 0;

	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	for (unsigned int i = 0; i < 1000; i++) {
		struct rte_mbuf *m = bench_mbuf(b, inner, sizeof(inner));
		uint32_t id;

		if (i == 500) /* a change of the way does not begin again */
			bench_path_mtu(b, 0, 1501);
		if (i == 600) {
			for (unsigned int k = 0; k < 2; k++)
				b->lcore[k]->vtep_traffic[0].of[VX_KIND_UNICAST].tx_frames += 1u
											      << 20;
			base += 1u << 21;
		}
		bench_access(b, i % 2, 1, &m, 1);
		id = expect_datagram(b->sent[UNDERLAY], b->n_sent[UNDERLAY], i < 500 ? 1500 : 1501,
				     2, inner, sizeof(inner));
		if (i == 0)
			base = id;
		assert_int_equal(id, (uint32_t)(base + i));
		bench_settle(b);
	}
}

/* Both families in one flood list, one too small. */
static void
test_flood(void **state)
{
	static uint8_t inner[3000];
	struct bench *b = *state;
	const unsigned int n2 = pieces6_expected(3056, 1500);
	uint8_t frame[4000];

	make_frame(inner, sizeof(inner), (const uint8_t[]){255, 255, 255, 255, 255, 255}, host_a);
	bench_path_mtu(b, 0, 1500);
	bench_flood(b, VNI, 3, VX_VTEP_READY);
	bench6_flood(b, VNI, 4, VX_VTEP_READY);
	send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[UNDERLAY], n2 + 2);
	expect_datagram(b->sent[UNDERLAY], n2, 1500, 2, inner, sizeof(inner));
	assert_int_equal(bench_bytes(b->sent[UNDERLAY][n2], frame, sizeof(frame)), 3050);
	assert_int_equal(get32(frame + 30), 0xc6336403);
	expect_datagram(b->sent[UNDERLAY] + n2 + 1, 1, 65535, 4, inner, sizeof(inner));
}

/* `set df on` forbids cutting here too, inherit follows the inner packet. */
static void
test_df(void **state)
{
	struct bench *b = *state;
	uint8_t inner[2000];

	make_frame(inner, sizeof(inner), host_b, host_a);
	bench_path_mtu(b, 0, 1500);
	for (unsigned int i = 0; i < 3; i++) {
		set_view(b, VX_UDP_CHECKSUM_AUTO,
			 i == 0	  ? VX_DF_ON
			 : i == 1 ? VX_DF_OFF
				  : VX_DF_INHERIT,
			 VX_OVERSIZE_OUTER);
		send_one(b, 0, bench_mbuf(b, inner, 1445));
		bench_expect_only_drop(b, VX_DROP_NEEDS_FRAGMENT_DF, i == 0);
		bench_settle(b);
		send_one(b, 0, bench_mbuf(b, inner, 1444));
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		bench_settle(b);
	}
}

/* The inner sender is told 70 bytes less than the path carries. */
static void
test_reply(void **state)
{
	struct bench *b = *state;
	uint8_t inner[1600], frame[200];

	memcpy(inner, inner_golden, 60);
	memset(inner + 60, 0, sizeof(inner) - 60);
	put16(inner + 16, 1431);
	inner[20] = 0x40;
	fix_ip(inner);
	bench_path_mtu(b, 0, 1500);
	set_view(b, VX_UDP_CHECKSUM_AUTO, VX_DF_OFF, VX_OVERSIZE_REPLY);
	send_one(b, 0, bench_mbuf(b, inner, 1444));
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	bench_settle(b);
	send_one(b, 0, bench_mbuf(b, inner, 1445));
	bench_expect_only_drop(b, VX_DROP_TOO_BIG_REPLIED, 1);
	assert_int_equal(b->n_sent[1], 1);
	bench_bytes(b->sent[1][0], frame, sizeof(frame));
	assert_int_equal(frame[34] << 8 | frame[35], 0x0304);
	assert_int_equal(get16(frame + 40), 1430);
}

static void
test_states(void **state)
{
	struct vx_vtep_path path = bench6_path(VX_VTEP_RESOLVING);
	struct bench *b = *state;
	struct vx_punt punt;
	uint8_t inner[60];
	struct vx_ip remote = bench6_remote(2);

	make_frame(inner, sizeof(inner), host_b, host_a);
	vx_vtep_set_path(b->tables, 0, &path);
	send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
	assert_int_equal(bench_since(b, VX_COUNT_HELD), 1);
	assert_true(bench_punt(b, &punt));
	assert_true(vx_ip_is_equal(&punt.remote, &remote));
	expect_datagram(&punt.m, 1, 65535, 2, inner, sizeof(inner));
	rte_pktmbuf_free(punt.m);
	/* Such a link carries no IPv6. */
	path = bench6_path(VX_VTEP_READY);
	path.mtu = 1279;
	vx_vtep_set_path(b->tables, 0, &path);
	send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
	bench_expect_only_drop(b, VX_DROP_NO_ROUTE, 1);
	path.mtu = 1280;
	vx_vtep_set_path(b->tables, 0, &path);
	send_one(b, 0, bench_mbuf(b, inner, sizeof(inner)));
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_golden),     TEST(test_checksums), TEST(test_labels), TEST(test_local),
		TEST(test_boundaries), TEST(test_largest),   TEST(test_chains), TEST(test_ids),
		TEST(test_flood),      TEST(test_df),	     TEST(test_reply),	TEST(test_states),
	};

	return cmocka_run_group_tests_name("path_encap6", tests, NULL, NULL);
}
