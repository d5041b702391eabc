/* SPDX-License-Identifier: BSD-3-Clause */
/* Following frames through the stages. */
#include "test_path_bench.h"

/* Ports 1 and 2 in VNI 100, port 3 in VNI 200; host B behind port 2, host C behind VTEP 2. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 2, 1);
	bench_vni(b, 200, 1, 3);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 2), true);
	bench_fdb(b, VNI, host_c, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), true);
	return 0;
}

/* Start a trace as the control thread does: what is in the view is written by workers. */
static void
trace(struct bench *b, struct vx_trace what)
{
	struct vx_view *view = vx_view_edit(b->tables);

	b->trace = what;
	view->trace = &b->trace;
	vx_view_publish(b->tables, view);
}

static void
from_port(struct bench *b, uint16_t port, const uint8_t *destination, const uint8_t *source)
{
	uint8_t inner[100];
	struct rte_mbuf *m;

	make_frame(inner, sizeof(inner), destination, source);
	m = bench_split(b, inner, sizeof(inner), 20, 0);
	m->port = port;
	bench_access(b, 0, port, &m, 1);
}

static void
from_vtep(struct bench *b, uint32_t vni, const uint8_t *destination, const uint8_t *source)
{
	uint8_t inner[60], packet[110];
	struct rte_mbuf *m;

	make_frame(inner, sizeof(inner), destination, source);
	m = bench_mbuf(b, packet, make_vxlan(packet, 2, vni, inner, sizeof(inner)));
	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

static bool
take(struct bench *b, struct vx_trace_record *record)
{
	return rte_ring_sc_dequeue_elem(b->lcore[0]->trace_ring, record, sizeof(*record)) == 0;
}

struct expected {
	enum vx_trace_stage stage;
	uint32_t value;
};

static void
expect_stages(struct bench *b, uint32_t id, const struct expected *expected, unsigned int n)
{
	struct vx_trace_record record;
	uint64_t last = 0;

	for (unsigned int i = 0; i < n; i++) {
		assert_true(take(b, &record));
		assert_int_equal(record.stage, expected[i].stage);
		assert_int_equal(record.value, expected[i].value);
		assert_int_equal(record.id, id);
		assert_int_equal(record.worker, 0);
		assert_true(record.tsc >= last);
		last = record.tsc;
	}
	assert_false(take(b, &record));
}

#define EXPECT(b, id, ...)                                                                         \
	do {                                                                                       \
		static const struct expected list[] = {__VA_ARGS__};                               \
		expect_stages(b, id, list, RTE_DIM(list));                                         \
	} while (0)

static void
test_off(void **state)
{
	struct bench *b = *state;
	struct vx_trace_record record;

	from_port(b, 1, host_b, host_a);
	assert_false(take(b, &record));
	trace(b, (struct vx_trace){.remaining = 0, .port = UINT32_MAX});
	from_port(b, 1, host_b, host_a);
	assert_false(take(b, &record));
}

static void
test_stages_in_order(void **state)
{
	struct bench *b = *state;

	trace(b, (struct vx_trace){.remaining = 100, .port = UINT32_MAX});
	from_port(b, 1, host_c, host_a);
	EXPECT(b, 1, {VX_TRACE_RX, 1}, {VX_TRACE_ATTACH, VNI}, {VX_TRACE_LEARN, 1},
	       {VX_TRACE_FORWARD, VX_DEST_VTEP | 0}, {VX_TRACE_ENCAP, 0}, {VX_TRACE_TX, UNDERLAY});
	from_vtep(b, VNI, host_b, host_c);
	EXPECT(b, 2, {VX_TRACE_RX, UNDERLAY}, {VX_TRACE_DECAP, VNI}, {VX_TRACE_FORWARD, 1},
	       {VX_TRACE_TX, 2});
	from_vtep(b, 300, host_b, host_c);
	EXPECT(b, 3, {VX_TRACE_RX, UNDERLAY}, {VX_TRACE_DROP, VX_DROP_VNI_UNKNOWN});
	from_port(b, 2, host_b, host_b);
	EXPECT(b, 4, {VX_TRACE_RX, 2}, {VX_TRACE_ATTACH, VNI}, {VX_TRACE_FORWARD, 1},
	       {VX_TRACE_DROP, VX_DROP_SAME_PORT});
	from_port(b, 3, host_b, host_a);
	EXPECT(b, 5, {VX_TRACE_RX, 3}, {VX_TRACE_ATTACH, 200}, {VX_TRACE_LEARN, 1},
	       {VX_TRACE_FORWARD, VX_DEST_NONE}, {VX_TRACE_FLOOD, 0},
	       {VX_TRACE_DROP, VX_DROP_NO_TARGET});
	assert_int_equal(b->trace.remaining, 95);
}

static void
test_held_flooded_and_host(void **state)
{
	static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t arp[] = {8,    6,	 0, 1, 8,  0, 6, 4, 0, 1, 2, 0,	  0, 0, 0,
				      0x77, 192, 0, 2, 77, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1};
	struct vx_vtep_path path = bench_path(VX_VTEP_RESOLVING);
	struct bench *b = *state;
	uint8_t packet[60] = {0};
	struct rte_mbuf *m;

	vx_vtep_set_path(b->tables, 0, &path);
	trace(b, (struct vx_trace){.remaining = 100, .port = UINT32_MAX});
	from_port(b, 2, everybody, host_b);
	EXPECT(b, 1, {VX_TRACE_RX, 2}, {VX_TRACE_ATTACH, VNI}, {VX_TRACE_FORWARD, VX_DEST_NONE},
	       {VX_TRACE_FLOOD, 3}, {VX_TRACE_TX, 1}, {VX_TRACE_ENCAP, 0}, {VX_TRACE_HELD, 0});
	memcpy(packet, everybody, 6);
	memcpy(packet + 6, host_c, 6);
	memcpy(packet + 12, arp, sizeof(arp));
	m = bench_mbuf(b, packet, sizeof(packet));
	bench_underlay(b, 0, UNDERLAY, &m, 1);
	EXPECT(b, 2, {VX_TRACE_RX, UNDERLAY}, {VX_TRACE_HOST, RTE_ETHER_TYPE_ARP},
	       {VX_TRACE_TX, UNDERLAY});
}

static void
test_record(void **state)
{
	struct vx_trace_record record;
	struct bench *b = *state;
	uint8_t inner[100];

	trace(b, (struct vx_trace){.remaining = 1, .port = UINT32_MAX});
	from_port(b, 1, host_b, host_a);
	make_frame(inner, sizeof(inner), host_b, host_a);
	assert_true(take(b, &record));
	assert_int_equal(record.pkt_len, 100);
	assert_int_equal(record.nb_segs, 2);
	assert_int_equal(record.port, 1);
	assert_int_equal(record.n_bytes, 64);
	assert_memory_equal(record.bytes, inner, 64); /* over the border of the segments */
}

/* Whether each of four frames is picked, as a mask. */
static unsigned int
picked(struct bench *b, struct vx_trace what)
{
	struct vx_trace_record record;
	unsigned int mask = 0;

	what.remaining = 100;
	for (unsigned int i = 0; i < 4; i++) {
		trace(b, what);
		switch (i) {
		case 0:
			from_port(b, 1, host_c, host_a);
			break;
		case 1:
			from_port(b, 3, host_b, host_c);
			break;
		case 2:
			from_vtep(b, VNI, host_a, host_c);
			break;
		case 3:
			from_vtep(b, 200, host_b, host_a);
			break;
		}
		mask |= (unsigned int)take(b, &record) << i;
		while (take(b, &record))
			continue;
	}
	return mask;
}

static void
test_filters(void **state)
{
	static uint8_t mac[8];
	struct bench *b = *state;
	struct vx_trace what = {.port = UINT32_MAX};

	assert_int_equal(picked(b, what), 15);
	what.vni = VNI;
	assert_int_equal(picked(b, what), 5);
	what.vni = 200;
	assert_int_equal(picked(b, what), 10);
	what.vni = 300;
	assert_int_equal(picked(b, what), 0);
	what.vni = 0;
	what.port = 1;
	assert_int_equal(picked(b, what), 1);
	what.port = UNDERLAY;
	assert_int_equal(picked(b, what), 12);
	what.vni = VNI;
	assert_int_equal(picked(b, what), 4);
	what.port = 1;
	what.vni = 200;
	assert_int_equal(picked(b, what), 0);
	what = (struct vx_trace){.port = UINT32_MAX, .has_mac = true};
	memcpy(mac, host_a, 6);
	what.mac48 = vx_fdb_load_mac(mac);
	assert_int_equal(picked(b, what), 13); /* as source or destination */
	memcpy(mac, host_b, 6);
	what.mac48 = vx_fdb_load_mac(mac);
	assert_int_equal(picked(b, what), 10);
	what.vni = 200;
	what.port = 3;
	assert_int_equal(picked(b, what), 2);
	memcpy(mac, next_hop_mac, 6); /* of the outer header: not asked for */
	what = (struct vx_trace){.port = UINT32_MAX, .has_mac = true};
	what.mac48 = vx_fdb_load_mac(mac);
	assert_int_equal(picked(b, what), 0);
}

/* Exactly N frames, each with an id of its own, the others none; also over two workers. */
static void
test_n_frames(void **state)
{
	struct bench *b = *state;
	struct vx_trace_record record;
	bool seen[6] = {false};
	struct rte_mbuf *m[100];
	uint8_t inner[60];

	trace(b, (struct vx_trace){.remaining = 5, .port = UINT32_MAX});
	make_frame(inner, sizeof(inner), host_b, host_a);
	for (unsigned int i = 0; i < 100; i++)
		m[i] = bench_mbuf(b, inner, sizeof(inner));
	bench_access(b, 1, 1, m, 2);
	bench_access(b, 0, 1, m + 2, 98);
	assert_int_equal(b->trace.remaining, 0);
	while (take(b, &record)) {
		assert_in_range(record.id, 3, 5);
		seen[record.id] = true;
	}
	assert_true(seen[3] && seen[4] && seen[5]);
	while (rte_ring_sc_dequeue_elem(b->lcore[1]->trace_ring, &record, sizeof(record)) == 0) {
		assert_in_range(record.id, 1, 2);
		assert_int_equal(record.worker, 1);
		seen[record.id] = true;
	}
	assert_true(seen[1] && seen[2]);
	assert_int_equal(b->n_sent[2], 100);
}

/* Frames that are dropped around the traced one must not give it their id or take its. */
static void
test_id_survives_compaction(void **state)
{
	struct bench *b = *state;
	struct vx_trace_record record;
	uint8_t inner[60], packet[110], mac[8] = {0};
	struct rte_mbuf *m[32];
	unsigned int n = 0;

	memcpy(mac, host_a, 6);
	trace(b, (struct vx_trace){.remaining = 100,
				   .port = UINT32_MAX,
				   .has_mac = true,
				   .mac48 = vx_fdb_load_mac(mac)});
	for (unsigned int i = 0; i < 32; i++) {
		/* In turn: another port's VLAN, unknown VNI, split horizon, and the one in view. */
		make_frame(inner, sizeof(inner), i % 4 == 2 ? host_c : host_b,
			   i % 4 == 3 ? host_a : host_b);
		make_vxlan(packet, 2, i % 4 == 1 ? 300 : VNI, inner, sizeof(inner));
		if (i % 4 == 0)
			packet[37] = 0;
		m[i] = bench_mbuf(b, packet, sizeof(packet));
	}
	bench_underlay(b, 0, UNDERLAY, m, 32);
	while (take(b, &record)) {
		assert_in_range(record.id, 1, 8);
		assert_int_not_equal(record.stage, VX_TRACE_DROP);
		assert_memory_equal(record.bytes + (record.stage == VX_TRACE_RX ? 56 : 6), host_a,
				    6);
		n++;
	}
	/* 8 frames: rx, decap, forward, tx each, and one record of learning in all. */
	assert_int_equal(n, 33);
	assert_int_equal(b->n_sent[2], 8);
}

static void
test_ring_full(void **state)
{
	struct bench *b = *state;
	struct vx_trace_record record;
	unsigned int n = 0;

	trace(b, (struct vx_trace){.remaining = 100, .port = UINT32_MAX});
	for (unsigned int i = 0; i < 20; i++)
		from_vtep(b, VNI, host_b, host_c);
	assert_int_equal(bench_count(b, VX_COUNT_TRACE_LOST), 80 - 63);
	while (take(b, &record))
		n++;
	assert_int_equal(n, 63);
	assert_int_equal(b->n_sent[2], 20);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_off),	      TEST(test_stages_in_order),
		TEST(test_record),    TEST(test_held_flooded_and_host),
		TEST(test_filters),   TEST(test_n_frames),
		TEST(test_ring_full), TEST(test_id_survives_compaction),
	};

	return cmocka_run_group_tests_name("path_trace", tests, NULL, NULL);
}
