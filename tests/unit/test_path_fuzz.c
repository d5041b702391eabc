/* SPDX-License-Identifier: BSD-3-Clause */
/* Valid packets with random bytes changed, cut, split and mixed: nothing breaks, nothing is lost.
 */
#include "test_path_bench6.h"

#include <netinet/in.h>

#define PACKETS 100000u
#define BATCH	40u
#define MAX_LEN 400u

static uint32_t
number(uint32_t below)
{
	return (uint32_t)random() % below;
}

/* Ports 1 and 2 in VNI 100 and 3 in VNI 200, VTEPs in all states, all kinds of entries. */
static void
populate(struct bench *b)
{
	static const enum vx_vtep_state states[] = {VX_VTEP_READY, VX_VTEP_RESOLVING,
						    VX_VTEP_FAILED, VX_VTEP_NO_ROUTE};
	struct vx_view *view;

	bench_vni(b, VNI, 2, 1);
	bench_vni(b, 200, 1, 3);
	assert_int_equal(vx_attach_add_vlan(b->tables, 2, 7, 200, &b->err), 0);
	assert_int_equal(vx_attach_add_vlan(b->tables, 4, VX_VLAN_ALL, 200, &b->err), 0);
	for (unsigned int i = 0; i < 4; i++)
		bench_flood(b, VNI, 2 + i, states[i]);
	bench6_flood(b, VNI, 6, VX_VTEP_READY);
	bench6_flood(b, VNI, 7, VX_VTEP_RESOLVING);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 2), false);
	bench_fdb(b, VNI, host_c, VX_DEST_VTEP | 0, true);
	view = vx_view_edit(b->tables);
	view->port[1].cut_len = 60;
	view->port[2].max_tx_chain = 100;
	view->port[3].max_tx_frame = 80;
	view->port[3].takes_indirect = false;
	view->port[UNDERLAY].max_tx_chain = 0;
	view->udp_checksum = VX_UDP_CHECKSUM_ON;
	view->trace = &b->trace;
	vx_view_publish(b->tables, view);
	b->trace = (struct vx_trace){.remaining = INT32_MAX, .port = UINT32_MAX};
	b->is_keeping = false;
}

static uint32_t
make_host_packet(uint8_t *to)
{
	static const uint8_t arp[] = {8,    6,	 0, 1, 8,  0, 6, 4, 0, 1, 2, 0,	  0, 0, 0,
				      0x77, 192, 0, 2, 77, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1};

	make_vxlan(to, 2, VNI, inner_golden, 60);
	if (number(2) == 0) {
		memcpy(to + 12, arp, sizeof(arp));
		return 60;
	}
	to[23] = 1;
	memset(to + 34, 0, 66);
	to[34] = 8;
	put16(to + 36, plain_checksum(to + 34, 110 - 34));
	return 110;
}

/* With extension headers of all kinds in front, at times as a fragment. */
static uint32_t
make_seed6(uint8_t *to, const uint8_t *inner, uint32_t inner_len)
{
	static const uint8_t types[] = {IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_DSTOPTS,
					IPPROTO_FRAGMENT};
	uint8_t packet[MAX_LEN], ext[16] = {0};
	uint32_t len = make_vxlan6(packet, 2 + number(6), VNI, inner, inner_len);

	if (number(4) == 0) {
		const uint32_t payload = len - HEADERS6, half = payload / 16 * 8;
		const bool is_first = number(2) == 0;

		len = piece6_bytes(to, packet, is_first ? 0 : half, is_first ? half : payload,
				   is_first, number(16));
	} else {
		memcpy(to, packet, len);
	}
	if (number(4) == 0) {
		const uint8_t type = types[number(RTE_DIM(types))];

		ext[1] = type != IPPROTO_FRAGMENT;
		len = insert_ext(to, len, type, ext, type == IPPROTO_FRAGMENT ? 8 : 16);
	}
	if (number(16) == 0)
		to[20] = IPPROTO_ICMPV6;
	return len;
}

static uint32_t
make_seed(uint8_t *to, bool is_underlay)
{
	static const uint8_t *const hosts[] = {host_a, host_b, host_c};
	uint8_t inner[200];
	uint32_t len = 14 + number(100);

	if (is_underlay && number(8) == 0)
		return make_host_packet(to);
	make_frame(inner, len, hosts[number(3)], hosts[number(3)]);
	if (number(2) == 0) {
		len = 60;
		memcpy(inner + 12, inner_golden + 12, 48);
	}
	for (uint32_t n = number(12) - 8; n <= 3; n--) { /* tags, mostly none */
		memmove(inner + 16, inner + 12, len - 12);
		memcpy(inner + 12, number(4) == 0 ? "\x88\xa8\0\7" : "\x81\0\0\7", 4);
		len += 4;
	}
	if (is_underlay && number(3) == 0)
		return make_seed6(to, inner, len);
	if (is_underlay)
		return make_vxlan(to, 2 + number(6), number(8) == 0 ? 200 : VNI, inner, len);
	memcpy(to, inner, len);
	return len;
}

/* Change up to four bytes, at times the length; at times make the checksums right again. */
static uint32_t
damage(uint8_t *packet, uint32_t len, bool is_underlay)
{
	for (uint32_t n = number(5); n > 0; n--)
		packet[number(number(2) == 0 ? RTE_MIN(len, 64u) : len)] ^=
			(uint8_t)(number(2) == 0 ? 1u << number(8) : number(256));
	if (number(8) == 0)
		len = number(len + 1);
	if (number(8) == 0) {
		const uint32_t more = number(MAX_LEN - len);

		memset(packet + len, 0x5a, more);
		len += more;
	}
	if (is_underlay && len > OUTER6_LEN && packet[13] == 0xdd) {
		if (number(4) == 0 && get16(packet + 58) <= len - HEADERS6)
			fix_udp6(packet, HEADERS6);
		return len;
	}
	if (is_underlay && number(2) == 0 && len > 14 + (packet[14] & 0x0fu) * 4u)
		fix_ip(packet);
	if (is_underlay && number(4) == 0 && len >= 110 && get16(packet + 38) <= len - 34)
		fix_udp(packet);
	return len;
}

static struct rte_mbuf *
make_random(struct bench *b, bool is_underlay)
{
	static const uint64_t flags[] = {RTE_MBUF_F_RX_L4_CKSUM_NONE,
					 RTE_MBUF_F_RX_L4_CKSUM_GOOD,
					 RTE_MBUF_F_RX_IP_CKSUM_GOOD,
					 RTE_MBUF_F_RX_RSS_HASH,
					 RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED,
					 RTE_MBUF_F_RX_QINQ_STRIPPED,
					 RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED};
	uint8_t packet[MAX_LEN + 1];
	uint32_t len = damage(packet, make_seed(packet, is_underlay), is_underlay);
	uint32_t cut = number(2) == 0 ? number(len + 1) : 0;
	struct rte_mbuf *m, *clone;

	m = bench_split(b, packet, len, cut, cut == 0 ? 0 : RTE_MIN(len, cut + number(40)));
	if (number(8) == 0)
		m->ol_flags |= flags[number(RTE_DIM(flags))];
	m->vlan_tci = (uint16_t)number(3);
	if (number(8) == 0) {
		memmove(m->buf_addr, rte_pktmbuf_mtod(m, void *), m->data_len);
		m->data_off = 0;
	}
	if (number(16) != 0)
		return m;
	clone = rte_pktmbuf_clone(m, b->pool);
	assert_non_null(clone);
	rte_pktmbuf_free(m);
	return clone;
}

/* The control thread's part: rings are emptied, at times not before they are full. */
static void
drain(struct bench *b)
{
	struct vx_trace_record record;
	struct vx_learn learn;

	while (bench_learn(b, &learn))
		if (number(8) == 0 && learn.dest != VX_DEST_NONE &&
		    (learn.dest & VX_DEST_VTEP) == 0) {
			bool moved;

			vx_fdb_set(b->tables, learn.key, learn.dest, false, &moved);
		}
	while (rte_ring_sc_dequeue_elem(b->lcore[0]->trace_ring, &record, sizeof(record)) == 0) {
		assert_true(record.stage < VX_TRACE_STAGES);
		assert_true(record.n_bytes <= VX_TRACE_BYTES);
		assert_true(record.n_bytes <= record.pkt_len);
	}
}

static void
run(struct bench *b, unsigned int seed)
{
	struct rte_mbuf *m[BATCH], *taken[COPY_MBUFS];

	srandom(seed);
	populate(b);
	for (unsigned int i = 0; i < PACKETS / BATCH; i++) {
		const bool is_underlay = number(2) == 0;
		/* At times there are next to no buffers for copies. */
		const unsigned int n_taken = number(10) == 0 ? COPY_MBUFS - number(20) : 0;

		for (unsigned int n = 0; n < BATCH; n++)
			m[n] = make_random(b, is_underlay);
		if (n_taken > 0)
			assert_int_equal(rte_pktmbuf_alloc_bulk(b->copy_pool, taken, n_taken), 0);
		b->lcore[0]->now += number(1u << 26);
		if (is_underlay)
			bench_underlay(b, 0, UNDERLAY, m, BATCH);
		else
			bench_access(b, 0, (uint16_t)(1 + number(9) % 4), m, BATCH);
		rte_pktmbuf_free_bulk(taken, n_taken);
		if (number(4) == 0)
			drain(b);
		bench_settle(b); /* the law, and every buffer is back */
	}
	/* Random as they were, packets went every way. */
	assert_true(bench_count(b, VX_COUNT_TX) > PACKETS / 8);
	assert_true(bench_count(b, VX_COUNT_DECAP) > PACKETS / 20);
	assert_true(bench_count(b, VX_COUNT_ENCAP) > PACKETS / 20);
	assert_true(bench_count(b, VX_COUNT_CONSUMED) > 100);
	assert_true(bench_count(b, VX_COUNT_HELD) > 100);
	assert_true(bench_count(b, VX_COUNT_LINEAR_COPIES) > 100);
	assert_true(bench_count(b, VX_COUNT_TRACE_LOST) > 0);
}

static void
test_seed_1(void **state)
{
	run(*state, 1);
}

static void
test_seed_2(void **state)
{
	run(*state, 2);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench6_setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_seed_1),
		TEST(test_seed_2),
	};

	return cmocka_run_group_tests_name("path_fuzz", tests, NULL, NULL);
}
