/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker reports of IGMP, and whom it sends a group's frames to. */
#include "test_path_bench.h"
#include "vx_mdb.h"
#include "vx_seen.h"
#include "vx_tenants.h"

#define FAR UINT64_MAX

static const struct vx_ip group = {.bytes = {[10] = 0xff, 0xff, 239, 1, 1, 1}};

static void
expect(struct bench *b, uint32_t port1, uint32_t port2, uint32_t port3, uint32_t underlay)
{
	assert_int_equal(b->n_sent[1], port1);
	assert_int_equal(b->n_sent[2], port2);
	assert_int_equal(b->n_sent[3], port3);
	assert_int_equal(b->n_sent[UNDERLAY], underlay);
	bench_settle(b);
}

/* UDP to 239.1.1.1 (@last: the last byte) from host A. */
static uint32_t
make_data(uint8_t *to, uint8_t last)
{
	memcpy(to, inner_golden, sizeof(inner_golden));
	memcpy(to, (const uint8_t[]){1, 0, 0x5e, 1, 1, last}, 6);
	memcpy(to + 30, (const uint8_t[]){239, 1, 1, last}, 4);
	fix_ip(to);
	return sizeof(inner_golden);
}

/* IGMP of @type from 10.0.0.1, about 239.1.1.1 (query: about all). */
static uint32_t
make_igmp(uint8_t *to, uint8_t type)
{
	memset(to, 0, 60);
	memcpy(to, (const uint8_t[]){1, 0, 0x5e, 1, 1, 1}, 6);
	memcpy(to + 6, host_a, 6);
	memcpy(to + 12, (const uint8_t[]){8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 1, 2}, 12);
	memcpy(to + 26, (const uint8_t[]){10, 0, 0, 1, 239, 1, 1, 1, type, 0, 0, 0, 239, 1, 1, 1},
	       16);
	if (type == 0x11) {
		memset(to + 38, 0, 4);
		memcpy(to, (const uint8_t[]){1, 0, 0x5e, 0, 0, 1}, 6);
		memcpy(to + 30, (const uint8_t[]){224, 0, 0, 1}, 4);
	}
	fix_ip(to);
	put16(to + 36, plain_checksum(to + 34, 8));
	return 60;
}

/* Ports 1 to 3 in VNI 100, and VTEP 2; snooping. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 3, 1);
	bench_flood(b, VNI, 2, VX_VTEP_READY);
	assert_int_equal(vx_watch_set(b->tables, VNI, VX_WATCH_SNOOP, true, &b->err), 0);
	return 0;
}

static uint32_t
segment_of(const struct bench *b)
{
	return vx_segment_find(b->tables, VNI, NULL)->index;
}

static void
query(struct bench *b, uint16_t port)
{
	const struct vx_ip querier = vx_ip_from_v4(RTE_BE32(0x0a0000fe));

	assert_int_equal(
		vx_mdb_query(b->tables, segment_of(b), &querier, bench_attach_index(b, port), FAR),
		0);
}

static void
receive(struct bench *b, uint16_t port, const uint8_t *frame, uint32_t len, uint32_t cut)
{
	struct rte_mbuf *m = bench_split(b, frame, len, cut, 0);

	bench_mark(b);
	bench_access(b, 0, port, &m, 1);
}

static void
test_narrowed(void **state)
{
	struct bench *b = *state;
	uint8_t frame[60], packet[200];
	struct rte_mbuf *m;
	uint32_t len = make_data(frame, 1);

	receive(b, 1, frame, len, 0);
	assert_int_equal(bench_since(b, VX_COUNT_SNOOPED), 0);
	expect(b, 0, 1, 1, 1);
	query(b, 3);
	assert_int_equal(
		vx_mdb_join(b->tables, segment_of(b), &group, bench_attach_index(b, 2), FAR), 0);
	for (uint32_t cut = 0; cut < len; cut++) {
		receive(b, 1, frame, len, cut);
		assert_int_equal(bench_since(b, VX_COUNT_SNOOPED), 1);
		expect(b, 0, 1, 1, 0);
	}
	m = bench_mbuf(b, packet, make_vxlan(packet, 2, VNI, frame, len));
	bench_underlay(b, 0, UNDERLAY, &m, 1);
	expect(b, 0, 1, 1, 0);
	/* Nobody asked; and where that leaves nobody at all. */
	make_data(frame, 9);
	receive(b, 1, frame, len, 0);
	expect(b, 0, 0, 1, 0);
	receive(b, 3, frame, len, 0);
	bench_expect_only_drop(b, VX_DROP_NO_TARGET, 1);
	expect(b, 0, 0, 0, 0);
	/* Somebody may have asked, but there was no room to note it. */
	b->tables->tenants->watch[segment_of(b)] |= VX_WATCH_CROWDED;
	receive(b, 1, frame, len, 0);
	expect(b, 0, 1, 1, 1);
	/* Unicast and broadcast are none of its business. */
	memcpy(frame, host_b, 6);
	receive(b, 1, frame, len, 0);
	expect(b, 0, 1, 1, 1);
	memset(frame, 0xff, 6);
	receive(b, 1, frame, len, 0);
	expect(b, 0, 1, 1, 1);
	assert_int_equal(vx_watch_set(b->tables, VNI, VX_WATCH_SNOOP, false, &b->err), 0);
	make_data(frame, 1);
	receive(b, 1, frame, len, 0);
	expect(b, 0, 1, 1, 1);
}

/* In one burst each frame has its own targets. */
static void
test_burst(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m[48];
	uint8_t frame[60];

	query(b, 3);
	assert_int_equal(
		vx_mdb_join(b->tables, segment_of(b), &group, bench_attach_index(b, 2), FAR), 0);
	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		make_data(frame, (uint8_t)(i % 3));
		if (i % 3 == 2)
			memset(frame, 0xff, 6);
		m[i] = bench_mbuf(b, frame, sizeof(frame));
	}
	bench_mark(b);
	bench_access(b, 0, 1, m, RTE_DIM(m));
	assert_int_equal(bench_since(b, VX_COUNT_SNOOPED), 32);
	expect(b, 0, 32, 48, 16);
}

static void
expect_seen(struct bench *b, enum vx_seen_kind kind, rte_be32_t ip_be)
{
	struct vx_seen record;

	assert_int_equal(rte_ring_sc_dequeue_elem(b->lcore[0]->seen_ring, &record, sizeof(record)),
			 0);
	assert_int_equal(record.kind, kind);
	assert_int_equal(vx_ip_v4(&record.ip), ip_be);
	assert_int_equal(record.origin, bench_attach_index(b, 1));
	assert_int_equal(record.vni, VNI);
	assert_int_equal(record.value, vx_fdb_key_of(record.segment, (const void *)host_a));
}

static void
test_reports(void **state)
{
	struct bench *b = *state;
	struct vx_seen record;
	uint8_t frame[60];

	/* The same thing again within a moment is not reported, but leaving is another thing. */
	for (unsigned int i = 0; i < 3; i++) {
		receive(b, 1, frame, make_igmp(frame, 0x16), 37);
		expect(b, 0, 1, 1, 1);
	}
	expect_seen(b, VX_SEEN_JOIN, RTE_BE32(0xef010101));
	receive(b, 1, frame, make_igmp(frame, 0x17), 0);
	expect_seen(b, VX_SEEN_LEAVE, RTE_BE32(0xef010101));
	receive(b, 1, frame, make_igmp(frame, 0x16), 0);
	expect_seen(b, VX_SEEN_JOIN, RTE_BE32(0xef010101));
	receive(b, 1, frame, make_igmp(frame, 0x11), 0);
	expect_seen(b, VX_SEEN_QUERY, RTE_BE32(0x0a000001));
	bench_settle(b);
	/* Hosts do not hear each other's reports, all hear queries. */
	query(b, 3);
	receive(b, 1, frame, make_igmp(frame, 0x16), 0);
	expect(b, 0, 0, 1, 0);
	receive(b, 1, frame, make_igmp(frame, 0x11), 0);
	expect(b, 0, 1, 1, 1);
	while (rte_ring_sc_dequeue_elem(b->lcore[0]->seen_ring, &record, sizeof(record)) == 0)
		;
	/* Damaged: for all, and not reported. */
	make_igmp(frame, 0x16);
	frame[36] ^= 1;
	receive(b, 1, frame, sizeof(frame), 0);
	expect(b, 0, 1, 1, 1);
	assert_int_not_equal(
		rte_ring_sc_dequeue_elem(b->lcore[0]->seen_ring, &record, sizeof(record)), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {TEST(test_narrowed), TEST(test_burst),
					   TEST(test_reports)};

	return cmocka_run_group_tests_name("path_snoop", tests, NULL, NULL);
}
