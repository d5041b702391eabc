/* SPDX-License-Identifier: BSD-3-Clause */
/* Pull and write over chains cut anywhere: the bytes stay, the chain is well-formed, none leaks. */
#include "test_packet.h"
#include "vx_mbuf.h"

#define LEN 41u

static uint8_t bytes[2 * ROOM];
static const uint32_t rests[] = {1, 2, 7, LEN};

static void
test_pull_every_split(void **state)
{
	(void)state;
	for (uint32_t first = 0; first <= LEN; first++) {
		for (uint32_t i = 0; i < RTE_DIM(rests) * LEN; i++) {
			const uint32_t rest = rests[i / LEN], len = i % LEN + 1;
			struct rte_mbuf *m = make_chain(bytes, LEN, first, rest);
			const uint32_t pulled = len <= first ? 0 : len - first;
			const uint32_t after = (LEN - first + rest - 1) / rest;

			assert_true(vx_mbuf_pull(m, len));
			assert_int_equal(m->data_len, RTE_MAX(len, first));
			assert_bytes(m, bytes, LEN);
			/* Emptied segments are gone, the others stay. */
			assert_int_equal(m->nb_segs, len == LEN ? 1 : 1 + after - pulled / rest);
			assert_int_equal(buffers_in_use(), m->nb_segs);
			rte_pktmbuf_free(m);
		}
	}
}

static void
test_pull_too_much(void **state)
{
	(void)state;
	for (uint32_t first = 0; first <= LEN; first += 8) {
		struct rte_mbuf *m = make_chain(bytes, LEN, first, 5);
		const uint16_t segments = m->nb_segs;

		assert_false(vx_mbuf_pull(m, LEN + 1));
		assert_false(vx_mbuf_pull(m, 65535));
		assert_false(vx_mbuf_pull(m, UINT32_MAX));
		assert_bytes(m, bytes, LEN);
		assert_int_equal(m->data_len, first);
		assert_int_equal(m->nb_segs, segments);
		rte_pktmbuf_free(m);
	}
}

/* A first segment at any place of its buffer: its data moves forward where it must. */
static void
test_pull_moves_data_for_room(void **state)
{
	const uint32_t buffer = RTE_PKTMBUF_HEADROOM + ROOM;

	(void)state;
	for (uint32_t tailroom = 0; tailroom <= LEN; tailroom++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(packet_pool());

		m->data_off = (uint16_t)(buffer - 10 - tailroom);
		memcpy(rte_pktmbuf_append(m, 10), bytes, 10);
		assert_int_equal(rte_pktmbuf_chain(m, make_chain(bytes + 10, LEN - 10, 3, 9)), 0);
		assert_true(vx_mbuf_pull(m, LEN));
		assert_int_equal(m->nb_segs, 1);
		assert_bytes(m, bytes, LEN);
		if (tailroom >= LEN - 10)
			assert_int_equal(m->data_off, buffer - 10 - tailroom);
		rte_pktmbuf_free(m);
	}
}

/* Up to the last byte of the buffer, not one more. */
static void
test_pull_fills_the_buffer(void **state)
{
	const uint32_t buffer = RTE_PKTMBUF_HEADROOM + ROOM;
	struct rte_mbuf *m = make_chain(bytes, buffer + 10, 100, 700);
	const uint16_t segments = m->nb_segs;

	(void)state;
	assert_false(vx_mbuf_pull(m, buffer + 1));
	assert_int_equal(m->nb_segs, segments);
	assert_int_equal(m->data_off, RTE_PKTMBUF_HEADROOM);
	assert_bytes(m, bytes, buffer + 10);
	assert_true(vx_mbuf_pull(m, buffer));
	assert_int_equal(m->data_len, buffer);
	assert_int_equal(m->nb_segs, 2);
	assert_bytes(m, bytes, buffer + 10);
	rte_pktmbuf_free(m);
}

static void
test_pull_skips_empty_segments(void **state)
{
	struct rte_mbuf *m = one_segment(bytes, 4);

	(void)state;
	assert_int_equal(rte_pktmbuf_chain(m, one_segment(bytes, 0)), 0);
	assert_int_equal(rte_pktmbuf_chain(m, one_segment(bytes + 4, 3)), 0);
	assert_int_equal(rte_pktmbuf_chain(m, one_segment(bytes, 0)), 0);
	assert_int_equal(rte_pktmbuf_chain(m, one_segment(bytes + 7, 3)), 0);
	assert_true(vx_mbuf_pull(m, 8));
	assert_bytes(m, bytes, 10);
	assert_int_equal(m->data_len, 8);
	rte_pktmbuf_free(m);
}

static struct rte_mbuf *
clone_of(struct rte_mbuf *m)
{
	struct rte_mbuf *clone = rte_pktmbuf_clone(m, packet_pool());

	assert_non_null(clone);
	return clone;
}

/* Who else sees the first buffer must not see it change: neither of the two may be written. */
static void
test_pull_refuses_shared(void **state)
{
	struct rte_mbuf *m = make_chain(bytes, LEN, 20, 7), *clone = clone_of(m);

	(void)state;
	assert_false(vx_mbuf_is_direct(clone));
	assert_true(vx_mbuf_is_direct(m));
	assert_false(vx_mbuf_pull(clone, 21));
	assert_false(vx_mbuf_pull(m, 21));
	/* What is contiguous already needs no writing. */
	assert_true(vx_mbuf_pull(clone, 20));
	assert_true(vx_mbuf_pull(m, 20));
	assert_bytes(m, bytes, LEN);
	assert_bytes(clone, bytes, LEN);
	rte_pktmbuf_free(clone);
	assert_true(vx_mbuf_pull(m, 21));
	assert_bytes(m, bytes, LEN);

	rte_mbuf_refcnt_update(m, 1);
	assert_false(vx_mbuf_pull(m, LEN));
	assert_bytes(m, bytes, LEN);
	rte_mbuf_refcnt_update(m, -1);
	rte_pktmbuf_free(m);
}

static void
no_free(void *address, void *opaque)
{
	unsigned int *calls = opaque;

	(void)address;
	(*calls)++;
}

static void
test_pull_refuses_external(void **state)
{
	static uint8_t memory[256];
	struct rte_mbuf *m = rte_pktmbuf_alloc(packet_pool());
	struct rte_mbuf_ext_shared_info *info;
	uint16_t len = sizeof(memory);
	unsigned int freed = 0;

	(void)state;
	info = rte_pktmbuf_ext_shinfo_init_helper(memory, &len, no_free, &freed);
	assert_non_null(info);
	rte_pktmbuf_attach_extbuf(m, memory, (rte_iova_t)(uintptr_t)memory, len, info);
	memcpy(rte_pktmbuf_append(m, 10), bytes, 10);
	assert_int_equal(rte_pktmbuf_chain(m, one_segment(bytes + 10, LEN - 10)), 0);
	assert_false(vx_mbuf_is_direct(m));
	assert_false(vx_mbuf_pull(m, 11));
	assert_true(vx_mbuf_pull(m, 10));
	assert_bytes(m, bytes, LEN);
	rte_pktmbuf_free(m);
	assert_int_equal(freed, 1);
}

/* Later segments are only read: they may be another packet's. */
static void
test_pull_out_of_shared_segments(void **state)
{
	(void)state;
	for (uint32_t len = 11; len <= LEN; len++) {
		struct rte_mbuf *owner = make_chain(bytes + 10, LEN - 10, 8, 5);
		struct rte_mbuf *m = one_segment(bytes, 10), *copy, *clone = clone_of(owner);

		assert_int_equal(rte_pktmbuf_chain(m, clone), 0);
		assert_true(vx_mbuf_pull(m, len));
		assert_bytes(m, bytes, LEN);
		assert_bytes(owner, bytes + 10, LEN - 10);
		rte_pktmbuf_free(m);
		assert_int_equal(rte_mbuf_refcnt_read(owner), 1);

		/* And the other way round: the clone keeps what is pulled out of its owner. */
		clone = clone_of(owner);
		copy = one_segment(bytes, 10);
		assert_int_equal(rte_pktmbuf_chain(copy, owner), 0);
		assert_true(vx_mbuf_pull(copy, len));
		assert_bytes(copy, bytes, LEN);
		assert_bytes(clone, bytes + 10, LEN - 10);
		rte_pktmbuf_free(copy);
		assert_bytes(clone, bytes + 10, LEN - 10);
		rte_pktmbuf_free(clone);
		assert_no_leak();
	}
}

static void
test_write_every_split(void **state)
{
	static const uint8_t news[] = {0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9};

	(void)state;
	for (uint32_t first = 0; first <= LEN; first++) {
		for (uint32_t offset = 0; offset < LEN; offset++) {
			const uint32_t rest = rests[(first + offset) % RTE_DIM(rests)];
			const uint32_t len = RTE_MIN((uint32_t)sizeof(news), LEN - offset);
			struct rte_mbuf *m = make_chain(bytes, LEN, first, rest);
			uint8_t want[LEN];

			memcpy(want, bytes, LEN);
			for (uint32_t n = 1; n <= len; n++) {
				memcpy(want + offset, news, n);
				vx_mbuf_write(m, offset, news, n);
				assert_bytes(m, want, LEN);
			}
			rte_pktmbuf_free(m);
		}
	}
}

static void
test_write_nothing(void **state)
{
	struct rte_mbuf *m = make_chain(bytes, LEN, 20, 7);

	(void)state;
	for (uint32_t offset = 0; offset < LEN; offset++)
		vx_mbuf_write(m, offset, "x", 0);
	assert_bytes(m, bytes, LEN);
	rte_pktmbuf_free(m);
}

static int
setup(void **state)
{
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 0x9d + (i >> 8));
	return setup_pool(state);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		packet_test(test_pull_every_split),
		packet_test(test_pull_too_much),
		packet_test(test_pull_moves_data_for_room),
		packet_test(test_pull_fills_the_buffer),
		packet_test(test_pull_skips_empty_segments),
		packet_test(test_pull_refuses_shared),
		packet_test(test_pull_refuses_external),
		packet_test(test_pull_out_of_shared_segments),
		packet_test(test_write_every_split),
		packet_test(test_write_nothing),
	};

	return cmocka_run_group_tests_name("mbuf", tests, setup, NULL);
}
