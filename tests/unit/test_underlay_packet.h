/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of mbufs from bytes and back, for the tests of what workers do to packets. */
#ifndef TEST_UNDERLAY_PACKET_H
#define TEST_UNDERLAY_PACKET_H

#include "test_underlay.h"

static inline void
append_segment(struct rte_mbuf **head, const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *segment = rte_pktmbuf_alloc(bench_pool());

	assert_non_null(segment);
	memcpy(rte_pktmbuf_append(segment, (uint16_t)len), data, len);
	if (*head == NULL)
		*head = segment;
	else
		assert_int_equal(rte_pktmbuf_chain(*head, segment), 0);
}

/* @len bytes in segments: @first bytes, then @rest bytes each. An empty first segment is made. */
static inline struct rte_mbuf *
make_chain(const uint8_t *data, uint32_t len, uint32_t first, uint32_t rest)
{
	uint32_t done = RTE_MIN(first, len);
	struct rte_mbuf *head = NULL;

	append_segment(&head, data, done);
	while (done < len) {
		const uint32_t part = RTE_MIN(rest, len - done);

		append_segment(&head, data + done, part);
		done += part;
	}
	rte_mbuf_sanity_check(head, 1);
	return head;
}

/* Compare a chain's bytes with @want and free it. */
static inline void
assert_chain(struct rte_mbuf *m, const uint8_t *want, uint32_t len)
{
	uint32_t at = 0;

	rte_mbuf_sanity_check(m, 1);
	assert_int_equal(rte_pktmbuf_pkt_len(m), len);
	for (const struct rte_mbuf *s = m; s != NULL; s = s->next) {
		assert_memory_equal(rte_pktmbuf_mtod(s, uint8_t *), want + at, s->data_len);
		at += s->data_len;
	}
	assert_int_equal(at, len);
	rte_pktmbuf_free(m);
}

static inline int
setup_pool(void **state)
{
	if (vx_test_eal() < 0)
		return -1;
	*state = bench_pool();
	return 0;
}

/* After all tests of the group: every mbuf is back. */
static inline int
teardown_pool(void **state)
{
	return rte_mempool_avail_count(*state) == POOL_SIZE ? 0 : -1;
}

#endif
