/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN tags put in, taken out and measured, in frames cut anywhere and in shared buffers. */
#include "test_packet.h"
#include "vx_mbuf.h"
#include "vx_tag.h"

#define LEN 60u

static uint8_t plain[LEN], tagged[LEN + 4], twice[LEN + 8];

/* @to becomes @from with a tag behind the MACs. */
static void
add_tag(uint8_t *to, const uint8_t *from, uint32_t len, uint16_t type, uint16_t tci)
{
	memcpy(to, from, 12);
	to[12] = (uint8_t)(type >> 8);
	to[13] = (uint8_t)type;
	to[14] = (uint8_t)(tci >> 8);
	to[15] = (uint8_t)tci;
	memcpy(to + 16, from + 12, len - 12);
}

static int
setup(void **state)
{
	for (uint32_t i = 0; i < LEN; i++)
		plain[i] = (uint8_t)(i + 1);
	add_tag(tagged, plain, LEN, 0x8100, 0xa123);
	add_tag(twice, tagged, LEN + 4, 0x88a8, 0x0fff);
	return setup_pool(state);
}

static void
test_push_and_pop_every_split(void **state)
{
	(void)state;
	for (uint32_t first = 1; first <= LEN; first++) {
		for (uint32_t rest = 1; rest <= LEN; rest += 7) {
			struct rte_mbuf *m = make_chain(plain, LEN, first, rest);

			m = vx_tag_push(m, packet_pool(), RTE_BE16(0x8100), 0xa123);
			assert_bytes(m, tagged, LEN + 4);
			assert_true(vx_mbuf_pull(m, 18));
			m = vx_tag_pop(m, packet_pool());
			assert_bytes(m, plain, LEN);
			rte_pktmbuf_free(m);
			assert_int_equal(buffers_in_use(), 0);
		}
	}
}

/* Neither may show in the bytes of whoever shares the buffer. */
static void
test_shared(void **state)
{
	(void)state;
	for (uint32_t first = 1; first <= LEN; first += 5) {
		struct rte_mbuf *original = make_chain(plain, LEN, first, 9);
		struct rte_mbuf *m = rte_pktmbuf_clone(original, packet_pool());

		/* The copy, then the original whose buffer the copy shares. */
		m = vx_tag_push(m, packet_pool(), RTE_BE16(0x8100), 0xa123);
		assert_bytes(m, tagged, LEN + 4);
		assert_bytes(original, plain, LEN);
		original = vx_tag_push(original, packet_pool(), RTE_BE16(0x8100), 0x0001);
		assert_bytes(m, tagged, LEN + 4);
		rte_pktmbuf_free(original);
		rte_pktmbuf_free(m);
	}
	for (uint32_t first = 18; first <= LEN + 4; first += 5) {
		struct rte_mbuf *original = make_chain(tagged, LEN + 4, first, 9);
		struct rte_mbuf *m = rte_pktmbuf_clone(original, packet_pool());

		m = vx_tag_pop(m, packet_pool());
		assert_bytes(m, plain, LEN);
		assert_bytes(original, tagged, LEN + 4);
		original = vx_tag_pop(original, packet_pool());
		assert_bytes(original, plain, LEN);
		assert_bytes(m, plain, LEN);
		rte_pktmbuf_free(original);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(buffers_in_use(), 0);
}

static void
test_no_headroom(void **state)
{
	(void)state;
	for (uint16_t room = 0; room < 6; room++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(packet_pool());

		m->data_off = room;
		memcpy(rte_pktmbuf_append(m, LEN), plain, LEN);
		m = vx_tag_push(m, packet_pool(), RTE_BE16(0x8100), 0xa123);
		assert_int_equal(m->nb_segs, room < 4 ? 2 : 1);
		assert_bytes(m, tagged, LEN + 4);
		rte_pktmbuf_free(m);
	}
}

static void
test_len(void **state)
{
	uint8_t frame[200];
	rte_be16_t type;

	(void)state;
	for (uint32_t first = 1; first <= LEN; first++) {
		struct rte_mbuf *m = make_chain(twice, LEN + 8, first, 3);

		assert_int_equal(vx_tag_len(m, &type), 8);
		assert_int_equal(rte_be_to_cpu_16(type), 0x0d0e);
		rte_pktmbuf_free(m);
	}
	/* Nothing but tags, cut at each length: no byte beyond the end, and no more than eight. */
	memset(frame, 0, 12);
	for (uint32_t i = 12; i < sizeof(frame); i += 4)
		memcpy(frame + i, "\x81\0\0\1", 4);
	for (uint32_t len = 14; len <= sizeof(frame); len++) {
		struct rte_mbuf *m = make_chain(frame, len, len, len);

		assert_int_equal(vx_tag_len(m, &type), RTE_MIN((len - 14) / 4 * 4, 32u));
		rte_pktmbuf_free(m);
	}
}

static void
test_restore(void **state)
{
	static const struct {
		uint64_t flags;
		const uint8_t *had, *expected;
		uint32_t had_len, expected_len;
	} cases[] = {
		{RTE_MBUF_F_RX_VLAN_STRIPPED, plain, tagged, LEN, LEN + 4},
		{RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED, plain, twice, LEN,
		 LEN + 8},
		{RTE_MBUF_F_RX_QINQ_STRIPPED, tagged, twice, LEN + 4, LEN + 8},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_mbuf *m = make_chain(cases[i].had, cases[i].had_len, 20, 9);

		m->ol_flags |= cases[i].flags | RTE_MBUF_F_RX_L4_CKSUM_NONE;
		m->vlan_tci = 0xa123;
		m->vlan_tci_outer = 0x0fff;
		assert_true(vx_tag_restore(&m, packet_pool()));
		assert_bytes(m, cases[i].expected, cases[i].expected_len);
		assert_int_equal(m->ol_flags & VX_TAG_STRIPPED, 0);
		assert_int_equal(m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK,
				 RTE_MBUF_F_RX_L4_CKSUM_NONE);
		rte_pktmbuf_free(m);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		packet_test(test_push_and_pop_every_split),
		packet_test(test_shared),
		packet_test(test_no_headroom),
		packet_test(test_len),
		packet_test(test_restore),
	};

	return cmocka_run_group_tests_name("tag", tests, setup, NULL);
}
