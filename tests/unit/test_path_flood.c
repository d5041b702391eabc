/* SPDX-License-Identifier: BSD-3-Clause */
/* Group and unknown destinations: who gets a copy, and what copies share. */
#include "test_path_bench.h"

static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* Receive @inner on access port @port, or with @port UNDERLAY from VTEP 9. */
static void
receive(struct bench *b, uint16_t port, const uint8_t *inner, uint32_t len)
{
	static uint8_t packet[66000];
	struct rte_mbuf *m;

	bench_mark(b);
	if (port == UNDERLAY) {
		m = bench_mbuf(b, packet, make_vxlan(packet, 9, VNI, inner, len));
		bench_underlay(b, 0, UNDERLAY, &m, 1);
	} else {
		m = bench_mbuf(b, inner, len);
		bench_access(b, 0, port, &m, 1);
	}
}

/* Every attachment but @from has one frame @inner, padded; every VTEP one if @vteps. */
static void
expect_copies(struct bench *b, uint16_t from, unsigned int ports, unsigned int vteps,
	      const uint8_t *inner, uint32_t len)
{
	static uint8_t packet[66000], padded[66000];
	const uint32_t padded_len = RTE_MAX(len, 60u);
	bool seen[256] = {false};

	memset(padded, 0, 60);
	memcpy(padded, inner, len);
	for (uint16_t port = 1; port <= 4; port++) {
		assert_int_equal(b->n_sent[port], port <= ports && port != from);
		if (b->n_sent[port] != 0)
			bench_expect_bytes(b->sent[port][0], padded, padded_len);
	}
	assert_int_equal(b->n_sent[UNDERLAY], vteps);
	for (unsigned int i = 0; i < vteps; i++) {
		/* Into a tunnel a short frame goes as it is. */
		assert_int_equal(bench_bytes(b->sent[UNDERLAY][i], packet, sizeof(packet)),
				 len + OUTER_LEN);
		assert_memory_equal(packet + OUTER_LEN, inner, len);
		assert_int_equal(plain_checksum(packet + 14, 20), 0);
		assert_false(seen[packet[33]]);
		seen[packet[33]] = true;
		assert_in_range(packet[33], 1, vteps);
	}
}

/* n attachments times m VTEPs, from each attachment and from a tunnel, short, long and chained. */
static void
run_matrix(unsigned int ports, unsigned int vteps)
{
	static const uint32_t lengths[] = {14, 42, 59, 60, 61, 1514, 9000};
	static uint8_t inner[9000];
	struct bench *b;
	void *state;

	assert_int_equal(bench_setup(&state), 0);
	b = state;
	bench_vni(b, VNI, ports, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 9000, &b->err), 0);
	for (unsigned int i = 1; i <= vteps; i++)
		bench_flood(b, VNI, i, VX_VTEP_READY);
	for (unsigned int i = 0; i < RTE_DIM(lengths); i++) {
		make_frame(inner, lengths[i], i % 2 == 0 ? everybody : host_b, host_a);
		for (uint16_t from = 0; from <= ports; from++) {
			const unsigned int to_vteps = from == UNDERLAY ? 0 : vteps;
			const unsigned int total = ports - (from != UNDERLAY) + to_vteps;

			receive(b, from, inner, lengths[i]);
			assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 1);
			bench_expect_only_drop(b, VX_DROP_NO_TARGET, total == 0);
			expect_copies(b, from, ports, to_vteps, inner, lengths[i]);
			assert_int_equal(bench_since(b, VX_COUNT_COPIES),
					 total == 0 ? 0 : total - 1);
			assert_int_equal(bench_since(b, VX_COUNT_ENCAP), to_vteps);
			bench_settle(b);
		}
	}
	bench_teardown(&state);
}

static void
test_matrix(void **state)
{
	(void)state;
	for (unsigned int ports = 0; ports <= 4; ports++)
		for (unsigned int vteps = 0; vteps <= 4; vteps++)
			run_matrix(ports, vteps);
	run_matrix(2, 16);
}

/* Three ports and two VTEPs. */
static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 3, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 65485, &b->err), 0);
	bench_flood(b, VNI, 1, VX_VTEP_READY);
	bench_flood(b, VNI, 2, VX_VTEP_READY);
	return 0;
}

/* The payload is in memory once, and the original buffer's contents are untouched. */
static void
test_payload_shared(void **state)
{
	static uint8_t inner[65499];
	struct bench *b = *state;
	unsigned int used;

	make_frame(inner, sizeof(inner), everybody, host_a);
	receive(b, 1, inner, sizeof(inner));
	expect_copies(b, 1, 3, 2, inner, sizeof(inner));
	used = rte_mempool_in_use_count(b->pool);
	assert_int_equal(used, 32);
	/* Ports 2 and 3 and the first VTEP have clones, the VTEP with a buffer for its header. */
	assert_int_equal(rte_mempool_in_use_count(b->copy_pool), 3 * 32 + 1);
	bench_settle(b);
	make_frame(inner, 1000, everybody, host_a);
	receive(b, 1, inner, 1000);
	for (unsigned int i = 0; i < 2; i++) {
		const struct rte_mbuf *m = b->sent[2 + i][0];

		assert_int_not_equal(m->ol_flags & RTE_MBUF_F_INDIRECT, 0);
		assert_ptr_equal(rte_pktmbuf_mtod(b->sent[2][0], void *),
				 rte_pktmbuf_mtod(m, void *));
	}
}

/* A padded short frame must not show one receiver's buffer to another. */
static void
test_short_not_shared(void **state)
{
	struct bench *b = *state;
	uint8_t inner[30];

	make_frame(inner, sizeof(inner), everybody, host_a);
	receive(b, 2, inner, sizeof(inner));
	expect_copies(b, 2, 3, 2, inner, sizeof(inner));
	assert_int_equal(b->sent[1][0]->ol_flags & RTE_MBUF_F_INDIRECT, 0);
	assert_ptr_not_equal(rte_pktmbuf_mtod(b->sent[1][0], void *),
			     rte_pktmbuf_mtod(b->sent[3][0], void *));
}

/* With @left buffers for copies some targets go without, each counted; the others get theirs. */
static void
test_no_buffers(void **state)
{
	struct rte_mbuf *taken[COPY_MBUFS];
	struct bench *b = *state;
	uint8_t inner[60];

	make_frame(inner, sizeof(inner), everybody, host_a);
	for (unsigned int left = 0; left < 8; left++) {
		const unsigned int n = COPY_MBUFS - left;
		uint64_t sent, missed;

		assert_int_equal(rte_pktmbuf_alloc_bulk(b->copy_pool, taken, n), 0);
		receive(b, 1, inner, sizeof(inner));
		sent = b->n_sent[2] + b->n_sent[3] + b->n_sent[UNDERLAY];
		missed = bench_since(b, VX_DROP_NO_MBUF);
		bench_expect_only_drop(b, VX_DROP_NO_MBUF, missed);
		assert_int_equal(sent + missed, 4);
		/* Two clones, a clone and its header; the last target takes the frame itself. */
		assert_int_equal(missed, left >= 4 ? 0 : left == 3 ? 1 : 3 - left);
		assert_int_equal(bench_since(b, VX_COUNT_COPIES), 3);
		rte_pktmbuf_free_bulk(taken, n);
		bench_settle(b);
	}
}

/* Each VTEP of the list in its own state. */
static void
test_vteps_in_all_states(void **state)
{
	struct bench *b = *state;
	struct vx_view *view = vx_view_edit(b->tables);
	struct vx_vtep_path path;
	uint8_t inner[60];

	view->oversize = VX_OVERSIZE_DROP;
	vx_view_publish(b->tables, view);
	bench_flood(b, VNI, 3, VX_VTEP_RESOLVING);
	bench_flood(b, VNI, 4, VX_VTEP_FAILED);
	path = bench_path(VX_VTEP_NO_ROUTE);
	vx_vtep_set_path(b->tables, 0, &path);
	path = bench_path(VX_VTEP_READY);
	path.mtu = 90;
	vx_vtep_set_path(b->tables, 1, &path);
	make_frame(inner, sizeof(inner), everybody, host_a);
	receive(b, 1, inner, sizeof(inner));
	assert_int_equal(bench_since(b, VX_DROP_NO_ROUTE), 1);
	assert_int_equal(bench_since(b, VX_DROP_TOO_BIG), 1);
	assert_int_equal(bench_since(b, VX_DROP_NEIGH_FAILED), 1);
	assert_int_equal(bench_since(b, VX_COUNT_HELD), 1);
	assert_int_equal(b->n_sent[2] + b->n_sent[3], 2);
	assert_int_equal(b->n_sent[UNDERLAY], 0);
}

/* Every frame of a burst is flooded: transmit buffers fill up in the middle of it. */
static void
test_burst(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m[70];
	uint8_t inner[60];

	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 40; i++) {
			make_frame(inner, sizeof(inner), everybody, host_a);
			m[i] = bench_mbuf(b, inner, sizeof(inner));
		}
		bench_mark(b);
		bench_access(b, 0, 3, m, 40);
		assert_int_equal(b->n_sent[1] + b->n_sent[2], 80);
		assert_int_equal(b->n_sent[UNDERLAY], 80);
		assert_int_equal(bench_since(b, VX_COUNT_COPIES), 120);
		bench_settle(b);
	}
}

/* Attachments and VTEPs that vanish after a worker has loaded the segment. */
static void
test_target_just_removed(void **state)
{
	const uint32_t attach = 1, vtep = 1;
	struct bench *b = *state;
	const struct vx_attach *attach_was = b->tables->attach[attach];
	const struct vx_vtep *vtep_was = b->tables->vtep[vtep];
	uint8_t inner[60];

	b->tables->attach[attach] = NULL;
	b->tables->vtep[vtep] = NULL;
	make_frame(inner, sizeof(inner), everybody, host_a);
	receive(b, 1, inner, sizeof(inner));
	bench_expect_only_drop(b, VX_DROP_NO_TARGET, 2);
	assert_int_equal(b->n_sent[3], 1);
	assert_int_equal(b->n_sent[UNDERLAY], 1);
	bench_settle(b);
	/* A MAC behind something that is gone counts as unknown. */
	bench_fdb(b, VNI, host_b, attach, true);
	make_frame(inner, sizeof(inner), host_b, host_a);
	receive(b, 1, inner, sizeof(inner));
	assert_int_equal(bench_since(b, VX_COUNT_FLOODED), 1);
	b->tables->attach[attach] = attach_was;
	b->tables->vtep[vtep] = vtep_was;
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix),	TEST(test_payload_shared),
		TEST(test_short_not_shared),	TEST(test_no_buffers),
		TEST(test_vteps_in_all_states), TEST(test_burst),
		TEST(test_target_just_removed),
	};

	return cmocka_run_group_tests_name("path_flood", tests, NULL, NULL);
}
