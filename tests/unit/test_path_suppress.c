/* SPDX-License-Identifier: BSD-3-Clause */
/* Which requests a worker answers, and what it reports, in a burst and with headers in pieces. */
#include "test_path_bench.h"
#include "vx_binding.h"
#include "vx_seen.h"
#include "vx_tenants.h"

/* Host A, 10.0.0.1, asks for 10.0.0.2. */
static void
make_request(uint8_t *to, uint8_t sender, uint8_t target)
{
	memset(to, 0xff, 6);
	memcpy(to + 6, host_a, 6);
	memcpy(to + 12, (const uint8_t[]){8, 6, 0, 1, 8, 0, 6, 4, 0, 1}, 10);
	memcpy(to + 22, host_a, 6);
	memcpy(to + 28, (const uint8_t[]){10, 0, 0, sender}, 4);
	memset(to + 32, 0, 6);
	memcpy(to + 38, (const uint8_t[]){10, 0, 0, target}, 4);
}

static void
bind_host(struct bench *b, uint8_t host, const uint8_t *mac)
{
	const struct vx_ip ip = vx_ip_from_v4(rte_cpu_to_be_32(0x0a000000u + host));
	struct rte_ether_addr address;

	memcpy(&address, mac, sizeof(address));
	assert_int_equal(
		vx_binding_learn(b->tables, vx_segment_find(b->tables, VNI, NULL)->index, &ip,
				 vx_binding_value(vx_fdb_key_of(0, &address), false, true)),
		VX_BOUND_NEW);
}

/* Ports 1 and 2 in VNI 100 with suppression; host B, 10.0.0.2, at port 2, host C behind VTEP 2. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 2, 1);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 2), false);
	bench_fdb(b, VNI, host_c, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), false);
	assert_int_equal(vx_watch_set(b->tables, VNI, VX_WATCH_SUPPRESS, true, &b->err), 0);
	bind_host(b, 2, host_b);
	bind_host(b, 3, host_c);
	return 0;
}

static bool
seen(struct bench *b, struct vx_seen *record)
{
	return rte_ring_sc_dequeue_elem(b->lcore[0]->seen_ring, record, sizeof(*record)) == 0;
}

static void
receive(struct bench *b, uint16_t port, struct rte_mbuf *m)
{
	bench_mark(b);
	bench_access(b, 0, port, &m, 1);
}

/* However the request lies in memory, also shared with another packet. */
static void
test_answered(void **state)
{
	struct bench *b = *state;
	uint8_t request[42], answer[60] = {0};

	make_request(request, 1, 2);
	memcpy(answer, host_a, 6);
	memcpy(answer + 6, host_b, 6);
	memcpy(answer + 12, request + 12, 10);
	answer[21] = 2;
	memcpy(answer + 22, host_b, 6);
	memcpy(answer + 28, request + 38, 4);
	memcpy(answer + 32, request + 22, 10);
	for (uint32_t cut = 0; cut < sizeof(request); cut++) {
		receive(b, 1, bench_split(b, request, sizeof(request), cut, 0));
		assert_int_equal(bench_since(b, VX_COUNT_SUPPRESSED_ARP), 1);
		assert_int_equal(bench_since(b, VX_COUNT_CONSUMED), 1);
		assert_int_equal(bench_since(b, VX_COUNT_ORIGINATED), 1);
		assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 0);
		assert_int_equal(b->n_sent[1], 1);
		bench_expect_bytes(b->sent[1][0], answer, sizeof(answer));
		bench_settle(b);
	}
}

/* Answered ones leave the burst, the others keep their order and their targets. */
static void
test_burst(void **state)
{
	struct bench *b = *state;
	const struct vx_kinds *kinds = &b->lcore[0]->attach_traffic[bench_attach_index(b, 1)];
	const struct vx_traffic before = kinds->of[VX_KIND_FLOODED];
	struct rte_mbuf *m[60];
	uint8_t request[42];

	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		make_request(request, 1, i % 3 == 0 ? 2 : i % 3 == 1 ? 3 : (uint8_t)(100 + i));
		m[i] = bench_mbuf(b, request, sizeof(request));
	}
	bench_mark(b);
	bench_access(b, 0, 1, m, RTE_DIM(m));
	assert_int_equal(bench_since(b, VX_COUNT_SUPPRESSED_ARP), 40);
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 20);
	/* Answered or not, they have come in. */
	assert_int_equal(kinds->of[VX_KIND_FLOODED].rx_frames - before.rx_frames, RTE_DIM(m));
	assert_int_equal(kinds->of[VX_KIND_FLOODED].rx_bytes - before.rx_bytes,
			 RTE_DIM(m) * sizeof(request));
	assert_int_equal(b->n_sent[1], 40);
	assert_int_equal(b->n_sent[2], 20);
	assert_int_equal(b->n_sent[UNDERLAY], 20);
	for (unsigned int i = 0; i < 20; i++) {
		uint8_t bytes[60];

		bench_bytes(b->sent[2][i], bytes, sizeof(bytes));
		assert_int_equal(bytes[41], 100 + 3 * i + 2);
	}
}

static void
test_not_answered(void **state)
{
	struct rte_mbuf *taken[COPY_MBUFS];
	struct bench *b = *state;
	uint8_t request[42], packet[200];
	struct rte_mbuf *m;

	/* The owner hears it by itself. */
	make_request(request, 1, 2);
	receive(b, 2, bench_mbuf(b, request, sizeof(request)));
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 1);
	/* Out of a tunnel. */
	m = bench_mbuf(b, packet, make_vxlan(packet, 2, VNI, request, sizeof(request)));
	bench_mark(b);
	bench_underlay(b, 0, UNDERLAY, &m, 1);
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 1);
	/* The FDB has forgotten the owner, and ageing has not been there yet. */
	assert_int_equal(vx_fdb_del(b->tables, vx_fdb_key_of(0, (const void *)host_b)), 0);
	receive(b, 1, bench_mbuf(b, request, sizeof(request)));
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 1);
	/* Without a buffer for the answer the owner gets the question: here, the one port that
	 * takes the frame itself. */
	bench_settle(b);
	make_request(request, 1, 3);
	assert_int_equal(rte_pktmbuf_alloc_bulk(b->copy_pool, taken, COPY_MBUFS), 0);
	receive(b, 1, bench_mbuf(b, request, sizeof(request)));
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 1);
	rte_pktmbuf_free_bulk(taken, COPY_MBUFS);
	assert_int_equal(bench_since(b, VX_COUNT_SUPPRESSED_ARP), 0);
}

/* One report of the same thing, however often it is said; nothing of what is known. */
static void
test_reports(void **state)
{
	struct bench *b = *state;
	struct vx_seen record;
	uint8_t request[42];

	make_request(request, 1, 99);
	for (unsigned int i = 0; i < 5; i++)
		receive(b, 1, bench_mbuf(b, request, sizeof(request)));
	assert_true(seen(b, &record));
	assert_int_equal(vx_ip_v4(&record.ip), RTE_BE32(0x0a000001));
	assert_int_equal(VX_BINDING_MAC(record.value), vx_fdb_key_of(0, (const void *)host_a));
	assert_int_equal(record.vni, VNI);
	assert_false(seen(b, &record));
	bench_fdb(b, VNI, host_a, bench_attach_index(b, 1), false);
	bind_host(b, 1, host_a);
	b->lcore[0]->now += UINT64_C(1) << 30;
	receive(b, 1, bench_mbuf(b, request, sizeof(request)));
	assert_false(seen(b, &record));
}

/* A flood of ever other addresses ends at the rate limit and is counted. */
static void
test_report_flood(void **state)
{
	struct bench *b = *state;
	struct vx_seen record;
	uint64_t lost, told;
	uint8_t request[42];
	unsigned int n = 0;

	bench_mark(b);
	for (unsigned int i = 0; i < 300; i++) {
		struct rte_mbuf *m;

		make_request(request, (uint8_t)i, 99);
		request[30] = (uint8_t)(1 + i / 256);
		m = bench_mbuf(b, request, sizeof(request));
		bench_access(b, 0, 1, &m, 1);
		if (i % 32 == 31)
			bench_settle(b);
	}
	told = bench_since(b, VX_COUNT_TENANT_EVENTS);
	lost = bench_since(b, VX_COUNT_TENANT_EVENTS_LOST);
	while (seen(b, &record))
		n++;
	assert_int_equal(told, n);
	assert_int_equal(told + lost, 300);
	assert_true(lost > 0);
}

static void
test_off(void **state)
{
	struct bench *b = *state;
	uint8_t request[42];
	struct vx_seen record;

	assert_int_equal(vx_watch_set(b->tables, VNI, VX_WATCH_SUPPRESS, false, &b->err), 0);
	make_request(request, 1, 2);
	receive(b, 1, bench_mbuf(b, request, sizeof(request)));
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 1);
	assert_false(seen(b, &record));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_answered), TEST(test_burst),	      TEST(test_not_answered),
		TEST(test_reports),  TEST(test_report_flood), TEST(test_off),
	};

	return cmocka_run_group_tests_name("path_suppress", tests, NULL, NULL);
}
