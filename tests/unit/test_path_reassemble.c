/* SPDX-License-Identifier: BSD-3-Clause */
/* Outer fragments that make a datagram: whatever their order, size and place in memory. */
#include "test_path_pieces.h"

#include "vx_reassemble.h"

#define INNER_LEN 1600u

static uint8_t inner[66000], packet[66000];
static uint64_t random_state = 88172645463325252u;

static uint32_t
rnd(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	assert_int_equal(vx_segment_set_mtu(b->tables, 65485, &b->err), 0);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 1), true);
	make_ipv4(inner, INNER_LEN, false);
	make_vxlan(packet, 2, VNI, inner, INNER_LEN);
	fix_udp(packet);
	return 0;
}

static void
receive(struct bench *b, struct rte_mbuf *m)
{
	bench_underlay(b, 0, UNDERLAY, &m, 1);
}

/* Fragment @i of @n, each of @part bytes. */
static struct rte_mbuf *
nth(struct bench *b, uint32_t i, uint32_t n, uint32_t part)
{
	const uint32_t total = get16(packet + 16) - 20u;

	return piece_make(b, packet, i * part, RTE_MIN((i + 1) * part, total), i + 1 < n);
}

/* Exactly @frame came out of port 1, and nothing is held any more. */
static void
expect_whole(struct bench *b, const uint8_t *frame, uint32_t len, unsigned int n)
{
	const struct vx_reassembly_state held = vx_reassembly_state(b->lcore[0]->reassembly);

	assert_int_equal(b->n_sent[1], 1);
	bench_expect_bytes(b->sent[1][0], frame, len);
	assert_int_equal(bench_since(b, VX_COUNT_REASSEMBLED), 1);
	assert_int_equal(bench_since(b, VX_COUNT_MERGED), n - 1);
	assert_int_equal(bench_since(b, VX_COUNT_HELD), n);
	assert_int_equal(bench_since(b, VX_COUNT_UNHELD), n);
	assert_int_equal(bench_since(b, VX_COUNT_DECAP), 1);
	assert_true(held.datagrams == 0 && held.fragments == 0 && held.bytes == 0);
	bench_settle(b);
}

/* In order, reversed, and a thousand random orders, with 2 to 128 fragments. */
static void
test_orders(void **state)
{
	struct bench *b = *state;
	uint32_t order[128];

	for (unsigned int round = 0; round < 1000; round++) {
		const uint32_t total = INNER_LEN + 16;
		const uint32_t part = 8 * (round < 4 ? 2 + round % 2 * 20 : 2 + rnd(100));
		const uint32_t n = (total + part - 1) / part;

		for (uint32_t i = 0; i < n; i++)
			order[i] = round < 2 ? i : n - 1 - i;
		for (uint32_t i = n; round >= 4 && i > 1; i--) {
			const uint32_t j = rnd(i), other = order[j];

			order[j] = order[i - 1];
			order[i - 1] = other;
		}
		bench_mark(b);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(b->n_sent[1], 0);
			receive(b, nth(b, order[i], n, part));
		}
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		expect_whole(b, inner, INNER_LEN, n);
	}
}

/* All of a datagram in one burst, in the largest size. */
static void
test_largest(void **state)
{
	static const uint32_t parts[] = {552, 1480, 8976};
	struct bench *b = *state;
	struct rte_mbuf *m[128];

	make_frame(inner, 65499, host_b, host_a);
	make_vxlan(packet, 2, VNI, inner, 65499);
	fix_udp(packet);
	for (unsigned int i = 0; i < RTE_DIM(parts); i++) {
		const uint16_t n = (uint16_t)((65515 + parts[i] - 1) / parts[i]);

		for (uint16_t k = 0; k < n; k++)
			m[k] = nth(b, k, n, parts[i]);
		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, m, n);
		bench_expect_only_drop(b, VX_DROP_NONE, 0);
		expect_whole(b, inner, 65499, n);
	}
}

static void
test_number_of_fragments(void **state)
{
	struct bench *b = *state;

	for (uint32_t n = 127; n <= 129; n++) {
		make_ipv4(inner, n * 8 - 16, false);
		make_vxlan(packet, 2, VNI, inner, n * 8 - 16);
		bench_mark(b);
		for (uint32_t i = 0; i < n; i++)
			receive(b, nth(b, i, n, 8));
		if (n <= VX_REASSEMBLY_FRAGMENTS) {
			bench_expect_only_drop(b, VX_DROP_NONE, 0);
			expect_whole(b, inner, n * 8 - 16, n);
		} else {
			bench_expect_only_drop(b, VX_DROP_FRAG_LIMIT, n);
			assert_int_equal(b->n_sent[1], 0);
		}
	}
}

/* Every fragment again after every other one: ignored and counted. */
static void
test_duplicates(void **state)
{
	const uint32_t n = 8, part = 208;
	struct bench *b = *state;

	for (uint32_t again = 0; again < n; again++) {
		for (uint32_t after = 0; after + 1 < n; after++) {
			for (unsigned int reversed = 0; reversed < 2; reversed++) {
				const uint32_t at = reversed == 1 ? n - 1 - again : again;

				bench_mark(b);
				for (uint32_t i = 0; i < n; i++) {
					receive(b, nth(b, reversed == 1 ? n - 1 - i : i, n, part));
					if (i >= again && i == RTE_MAX(after, again) && i + 1 < n)
						receive(b, nth(b, at, n, part));
				}
				bench_expect_only_drop(b, VX_DROP_FRAG_DUPLICATE, again + 1 < n);
				expect_whole(b, inner, INNER_LEN, n);
			}
		}
	}
}

/* Each fragment in segments that end at each byte of its headers, and beyond. */
static void
test_splits(void **state)
{
	const uint32_t n = 3, part = 544;
	uint8_t bytes[700];
	struct bench *b = *state;

	for (uint32_t which = 0; which < n; which++) {
		for (uint32_t cut_1 = 1; cut_1 < HEADERS + 20; cut_1++) {
			for (uint32_t more = 0; more < 60; more += more < 3 ? 1 : 13) {
				bench_mark(b);
				for (uint32_t i = 0; i < n; i++) {
					const uint32_t total = INNER_LEN + 16;
					const uint32_t end = RTE_MIN((i + 1) * part, total);
					const uint32_t len = piece_bytes(bytes, packet, i * part,
									 end, i + 1 < n);

					receive(b,
						bench_split(b, bytes, len, i == which ? cut_1 : 0,
							    i == which ? cut_1 + more : 0));
				}
				bench_expect_only_drop(b, VX_DROP_NONE, 0);
				expect_whole(b, inner, INNER_LEN, n);
			}
		}
	}
}

/* Options or a priority tag on the first, padding behind short ones. */
static void
test_odd_headers(void **state)
{
	uint8_t bytes[2000];
	struct bench *b = *state;
	uint32_t len;

	for (unsigned int kind = 0; kind < 3; kind++) {
		for (unsigned int reversed = 0; reversed < 2; reversed++) {
			bench_mark(b);
			for (unsigned int k = 0; k < 3; k++) {
				const unsigned int i = reversed == 1 ? 2 - k : k;
				const uint32_t end = i == 0 ? 8 : i == 1 ? 1600 : 1616;

				len = piece_bytes(bytes, packet,
						  i == 0   ? 0
						  : i == 1 ? 8
							   : 1600,
						  end, i < 2);
				if (kind == 1 && i == 0) { /* a router alert */
					memmove(bytes + 38, bytes + 34, len - 34);
					memcpy(bytes + 34, (const uint8_t[]){0x94, 4, 0, 0}, 4);
					bytes[14] = 0x46;
					put16(bytes + 16, 24 + end);
					fix_ip(bytes);
					len += 4;
				}
				if (kind == 2 && i == 0) {
					memmove(bytes + 16, bytes + 12, len - 12);
					put16(bytes + 12, 0x8100);
					put16(bytes + 14, 0xe000);
					len += 4;
				}
				if (len < 60) {
					memset(bytes + len, 0xee, 60 - len);
					len = 60;
				}
				receive(b, bench_mbuf(b, bytes, len));
			}
			bench_expect_only_drop(b, VX_DROP_NONE, 0);
			expect_whole(b, inner, INNER_LEN, 3);
		}
	}
}

/* CE of any fragment is the datagram's, whose header is right again. */
static void
test_header_and_ecn(void **state)
{
	struct bench *b = *state;
	struct vx_lcore *lcore = b->lcore[0];
	static uint8_t found[2000];

	lcore->view = b->tables->view;
	for (unsigned int congested = 0; congested < 4; congested++) {
		struct rte_mbuf *whole = NULL;

		packet[15] = 2;
		for (unsigned int i = 0; i < 3; i++) {
			struct rte_mbuf *m;

			packet[15] = i == congested ? 3 : 2;
			m = nth(b, i, 3, 544);
			vx_lcore_count(lcore, VX_COUNT_RX, 1);
			assert_null(whole);
			m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD;
			whole = vx_reassemble(lcore, m, 14, 20);
		}
		assert_non_null(whole);
		assert_int_equal(whole->ol_flags, 0);
		assert_int_equal(rte_mbuf_check(whole, 1, &(const char *){NULL}), 0);
		assert_int_equal(bench_bytes(whole, found, sizeof(found)), INNER_LEN + OUTER_LEN);
		packet[15] = congested < 3 ? 3 : 2;
		fix_ip(packet);
		assert_memory_equal(found, packet, INNER_LEN + OUTER_LEN);
		vx_lcore_count(lcore, VX_COUNT_CONSUMED, 1);
		rte_pktmbuf_free(whole);
	}
	/* Through decapsulation: the inner packet says so too, or is dropped if it cannot. */
	for (unsigned int capable = 0; capable < 2; capable++) {
		inner[15] = capable == 1 ? 2 : 0;
		put16(inner + 24, 0);
		put16(inner + 24, plain_checksum(inner + 14, 20));
		make_vxlan(packet, 2, VNI, inner, INNER_LEN);
		bench_mark(b);
		for (unsigned int i = 0; i < 3; i++) {
			packet[15] = i == 1 ? 3 : 2;
			receive(b, nth(b, i, 3, 544));
		}
		bench_expect_only_drop(b, VX_DROP_INNER_ECN, capable == 0);
		if (capable == 1) {
			inner[15] = 3;
			put16(inner + 24, 0);
			put16(inner + 24, plain_checksum(inner + 14, 20));
			expect_whole(b, inner, INNER_LEN, 3);
		}
	}
}

/* The same ID in another protocol, from another source and to another address is another one. */
static void
test_key(void **state)
{
	static uint8_t other[5][2000];
	struct bench *b = *state;
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < 5; i++)
		memcpy(other[i], packet, INNER_LEN + OUTER_LEN);
	other[1][33] = 5; /* destination */
	other[2][29] = 3; /* source */
	other[3][23] = 1; /* ICMP echo */
	other[4][19] ^= 1;
	memset(other[3] + 34, 0, 8);
	other[3][34] = 8;
	put16(other[3] + 36, plain_checksum(other[3] + 34, INNER_LEN + 16));
	fix_udp(other[1]);
	fix_udp(other[2]);
	bench_mark(b);
	for (unsigned int i = 0; i < 15; i++) {
		const uint32_t k = i / 5;

		assert_int_equal(b->n_sent[1], i > 10 ? i - 10 - (i > 13) : 0);
		m = piece_make(b, other[i % 5], k * 544, RTE_MIN(k * 544 + 544, INNER_LEN + 16),
			       k < 2);
		receive(b, m);
	}
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(b->n_sent[1], 4);
	assert_int_equal(bench_since(b, VX_COUNT_ECHO_REPLIES), 1);
	for (unsigned int i = 0; i < 4; i++)
		bench_expect_bytes(b->sent[1][i], inner, INNER_LEN);
}

/* A thousand destinations: some share a place in the table by chance, none its fragments. */
static void
test_key_by_chance(void **state)
{
	struct bench *b = *state;
	struct vx_lcore *lcore = b->lcore[0];

	lcore->view = b->tables->view;
	bench_mark(b);
	for (unsigned int i = 0; i < 1000; i++) {
		put16(packet + 30, rnd(65536));
		put16(packet + 32, i);
		vx_lcore_count(lcore, VX_COUNT_RX, 1);
		assert_null(vx_reassemble(lcore, piece_make(b, packet, 0, 8, true), 14, 20));
	}
	bench_expect_only_drop(b, VX_DROP_NONE, 0);
	assert_int_equal(vx_reassembly_state(lcore->reassembly).datagrams, 1000);
}

/* The whole datagram is checked like one that came whole. */
static void
test_checked_again(void **state)
{
	struct bench *b = *state;

	packet[800] ^= 1; /* against the UDP checksum */
	bench_mark(b);
	for (uint32_t i = 0; i < 3; i++)
		receive(b, nth(b, i, 3, 544));
	bench_expect_only_drop(b, VX_DROP_OUTER_UDP_CHECKSUM, 1);
	assert_int_equal(bench_since(b, VX_COUNT_MERGED), 2);
	packet[800] ^= 1;
	packet[48]++; /* another VNI */
	fix_udp(packet);
	bench_mark(b);
	for (uint32_t i = 0; i < 3; i++)
		receive(b, nth(b, i, 3, 544));
	bench_expect_only_drop(b, VX_DROP_VNI_UNKNOWN, 1);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_orders),	  TEST(test_largest),	     TEST(test_number_of_fragments),
		TEST(test_duplicates),	  TEST(test_splits),	     TEST(test_odd_headers),
		TEST(test_key),		  TEST(test_header_and_ecn), TEST(test_key_by_chance),
		TEST(test_checked_again),
	};

	return cmocka_run_group_tests_name("path_reassemble", tests, NULL, NULL);
}
