/* SPDX-License-Identifier: BSD-3-Clause */
/* Cutting chains at either end: truncate and strip, and what the new head knows. */
#include "test_packet.h"
#include "vx_mbuf.h"

#define LEN 41u

static uint8_t bytes[LEN];
static const uint32_t rests[] = {1, 2, 7, LEN};

/* Segments of a chain of @first, then @rest bytes each, up to and with byte @len - 1. */
static unsigned int
segments_for(uint32_t len, uint32_t first, uint32_t rest)
{
	return len <= first ? 1 : 1 + (len - first + rest - 1) / rest;
}

static void
test_truncate_every_split(void **state)
{
	(void)state;
	for (uint32_t first = 0; first <= LEN; first++) {
		for (uint32_t i = 0; i < RTE_DIM(rests) * LEN; i++) {
			const uint32_t rest = rests[i / LEN], len = i % LEN + 1;
			struct rte_mbuf *m = make_chain(bytes, LEN, first, rest);

			vx_mbuf_truncate(m, len);
			assert_bytes(m, bytes, len);
			assert_int_equal(m->nb_segs, segments_for(len, first, rest));
			assert_int_equal(buffers_in_use(), m->nb_segs);
			rte_pktmbuf_free(m);
		}
	}
}

static void
test_truncate_step_by_step(void **state)
{
	struct rte_mbuf *m = make_chain(bytes, LEN, 4, 6);

	(void)state;
	for (uint32_t len = LEN; len > 0; len--) {
		vx_mbuf_truncate(m, len);
		assert_bytes(m, bytes, len);
	}
	assert_int_equal(m->nb_segs, 1);
	rte_pktmbuf_free(m);
}

static void
test_truncate_leaves_clone_whole(void **state)
{
	struct rte_mbuf *m = make_chain(bytes, LEN, 4, 6);
	struct rte_mbuf *clone = rte_pktmbuf_clone(m, packet_pool());

	(void)state;
	vx_mbuf_truncate(m, 7);
	assert_bytes(m, bytes, 7);
	assert_bytes(clone, bytes, LEN);
	vx_mbuf_truncate(clone, 20);
	rte_pktmbuf_free(m);
	assert_bytes(clone, bytes, 20);
	rte_pktmbuf_free(clone);
}

static void
test_strip_every_split(void **state)
{
	(void)state;
	for (uint32_t first = 0; first <= LEN; first++) {
		for (uint32_t i = 0; i < RTE_DIM(rests) * LEN; i++) {
			const uint32_t rest = rests[i / LEN], len = i % LEN;
			struct rte_mbuf *m = make_chain(bytes, LEN, first, rest);

			/* An empty head is stripped away even by nothing. */
			m = vx_mbuf_strip(m, len);
			assert_true(m->data_len > 0);
			assert_bytes(m, bytes + len, LEN - len);
			assert_int_equal(buffers_in_use(), m->nb_segs);
			assert_int_equal(m->nb_segs, segments_for(LEN, first, rest) + 1 -
							     segments_for(len + 1, first, rest));
			rte_pktmbuf_free(m);
		}
	}
}

static void
test_strip_step_by_step(void **state)
{
	struct rte_mbuf *m = make_chain(bytes, LEN, 4, 6);

	(void)state;
	for (uint32_t gone = 1; gone < LEN; gone++) {
		m = vx_mbuf_strip(m, 1);
		assert_bytes(m, bytes + gone, LEN - gone);
	}
	assert_int_equal(m->nb_segs, 1);
	rte_pktmbuf_free(m);
}

#define PACKET_FLAGS (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD)

/* What is known of the packet moves to the new head; what a buffer is stays with it. */
static void
check_new_head(struct rte_mbuf *second, uint64_t buffer_flags)
{
	struct rte_mbuf *m = one_segment(bytes, 10);

	assert_int_equal(rte_pktmbuf_chain(m, second), 0);
	m->port = 5;
	m->packet_type = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4;
	m->ol_flags |= PACKET_FLAGS;
	second->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD & ~PACKET_FLAGS;
	assert_ptr_equal(vx_mbuf_strip(m, 12), second);
	assert_int_equal(second->port, 5);
	assert_int_equal(second->packet_type, RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4);
	assert_int_equal(second->ol_flags, PACKET_FLAGS | buffer_flags);
	assert_bytes(second, bytes + 12, LEN - 12);
}

static void
test_strip_hands_on_the_packet(void **state)
{
	struct rte_mbuf *owner = make_chain(bytes + 10, LEN - 10, 20, LEN), *second;

	(void)state;
	second = rte_pktmbuf_clone(owner, packet_pool());
	check_new_head(second, RTE_MBUF_F_INDIRECT);
	rte_pktmbuf_free(second);
	assert_int_equal(rte_mbuf_refcnt_read(owner), 1);
	assert_bytes(owner, bytes + 10, LEN - 10);
	check_new_head(owner, 0);
	rte_pktmbuf_free(owner);
}

static void
test_strip_indirect_head(void **state)
{
	struct rte_mbuf *owner = one_segment(bytes, 10), *m;

	(void)state;
	m = rte_pktmbuf_clone(owner, packet_pool());
	assert_int_equal(rte_pktmbuf_chain(m, one_segment(bytes + 10, LEN - 10)), 0);
	m = vx_mbuf_strip(m, 10);
	assert_true(vx_mbuf_is_direct(m));
	assert_bytes(m, bytes + 10, LEN - 10);
	assert_bytes(owner, bytes, 10);
	assert_int_equal(rte_mbuf_refcnt_read(owner), 1);
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(owner);
}

static void
test_clear_offloads(void **state)
{
	struct rte_mbuf *owner = one_segment(bytes, LEN), *m;

	(void)state;
	m = rte_pktmbuf_clone(owner, packet_pool());
	m->ol_flags |= PACKET_FLAGS | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_RX_VLAN;
	owner->ol_flags |= PACKET_FLAGS | RTE_MBUF_F_RX_RSS_HASH;
	vx_mbuf_clear_offloads(m);
	vx_mbuf_clear_offloads(owner);
	assert_int_equal(m->ol_flags, RTE_MBUF_F_INDIRECT);
	assert_int_equal(owner->ol_flags, 0);
	m->ol_flags |= RTE_MBUF_F_EXTERNAL;
	vx_mbuf_clear_offloads(m);
	assert_int_equal(m->ol_flags, RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
	m->ol_flags &= ~RTE_MBUF_F_EXTERNAL;
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(owner);
}

static int
setup(void **state)
{
	for (uint32_t i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)(i + 1);
	return setup_pool(state);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		packet_test(test_truncate_every_split),
		packet_test(test_truncate_step_by_step),
		packet_test(test_truncate_leaves_clone_whole),
		packet_test(test_strip_every_split),
		packet_test(test_strip_step_by_step),
		packet_test(test_strip_hands_on_the_packet),
		packet_test(test_strip_indirect_head),
		packet_test(test_clear_offloads),
	};

	return cmocka_run_group_tests_name("mbuf cut", tests, setup, NULL);
}
