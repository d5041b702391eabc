/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over headers and datagrams, against sums done here by the definition. */
#include "test_packet.h"
#include "vx_csum.h"

/* Headers and sums that were worked out elsewhere: the words add up to 0xffff. */
static const uint8_t known[][20] = {
	{0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 192, 168, 0, 1, 192, 168, 0, 199},
	{0x45, 0,    0,	  0x3c, 0x1c, 0x46, 0x40, 0,  0x40, 6,
	 0xb1, 0xe6, 172, 16,	10,   99,   172,  16, 10,   12},
};

/* 16-bit words of a test, as they lie in memory. */
static uint32_t
in_memory(uint32_t big_endian)
{
	uint16_t word;

	set16((uint8_t *)&word, big_endian);
	return word;
}

static uint64_t
next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 24;
}

static void
test_fold(void **state)
{
	static const uint32_t sums[] = {0,	    1,	     0xffff,	 0x10000,    0x1ffff,
					0xfffe0001, 0xfffff, 0x1fffe,	 0xffff0000, 0xffffffff,
					0x80008000, 0x12345, 0xfffeffff, 0xffff0001};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(sums); i++)
		assert_int_equal(vx_csum_fold(sums[i]), reference_fold(sums[i]));
	/* The example in section 3 of RFC 1071. */
	assert_int_equal(vx_csum_fold(in_memory(0x0001) + in_memory(0xf203) + in_memory(0xf4f5) +
				      in_memory(0xf6f7)),
			 in_memory(0xddf2));
}

static uint16_t
header_sum(const uint8_t *header)
{
	struct rte_ipv4_hdr ip;

	memcpy(&ip, header, sizeof(ip));
	return vx_csum_ipv4_header(&ip);
}

static void
test_known_headers(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		assert_int_equal(header_sum(known[i]), 0xffff);
		assert_true(vx_csum_is_ipv4_header_right(known[i], 20));
		for (uint32_t bit = 0; bit < 160; bit++) {
			uint8_t wrong[20];

			memcpy(wrong, known[i], sizeof(wrong));
			wrong[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_int_not_equal(header_sum(wrong), 0xffff);
			assert_false(vx_csum_is_ipv4_header_right(wrong, 20));
		}
	}
}

static void
test_header_sum_of_anything(void **state)
{
	uint64_t seed = 3;
	uint8_t header[20];

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		for (uint32_t i = 0; i < sizeof(header); i++)
			header[i] = (uint8_t)(round % 3 == 0 ? 0xff : next(&seed));
		header[round % 20] = (uint8_t)next(&seed);
		assert_int_equal(header_sum(header),
				 in_memory(reference_fold(reference_sum(header, 20, 0))));
	}
}

static void
test_header_with_options(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (uint32_t len = 20; len <= 60; len += 4) {
		uint8_t header[60];

		for (uint32_t i = 0; i < len; i++)
			header[i] = (uint8_t)next(&seed);
		set16(header + 10, 0);
		set16(header + 10, (uint16_t)~reference_fold(reference_sum(header, len, 0)));
		assert_true(vx_csum_is_ipv4_header_right(header, len));
		header[len - 1] ^= 1;
		assert_false(vx_csum_is_ipv4_header_right(header, len));
	}
	/* Nothing but zero has the sum zero, and its checksum is not right. */
	assert_false(vx_csum_is_ipv4_header_right((uint8_t[20]){0}, 20));
}

/* Every range of a chain split everywhere: of heavy bytes, so that each segment's sum carries. */
static void
test_range_every_split(void **state)
{
	static const uint32_t rests[] = {1, 2, 3, 5, 64};
	uint8_t bytes[24];

	(void)state;
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(0xff - i % 3);
	for (uint32_t i = 0; i < 25 * RTE_DIM(rests); i++) {
		struct rte_mbuf *m = make_chain(bytes, sizeof(bytes), i % 25, rests[i / 25]);

		for (uint32_t range = 0; range < 25 * 25; range++) {
			const uint32_t offset = range / 25, len = range % 25;

			if (offset + len > sizeof(bytes))
				continue;
			assert_int_equal(
				vx_csum_range(m, offset, len),
				in_memory(reference_fold(reference_sum(bytes + offset, len, 0))));
		}
		rte_pktmbuf_free(m);
	}
}

#define SOURCE	    0xc0000201u
#define DESTINATION 0xcb007105u

/* A UDP datagram of @len bytes with the right checksum. */
static void
make_datagram(uint8_t *udp, uint32_t len)
{
	uint64_t sum = (SOURCE >> 16) + (SOURCE & 0xffff) + (DESTINATION >> 16) +
		       (DESTINATION & 0xffff) + IPPROTO_UDP + len;

	for (uint32_t i = 0; i < len; i++)
		udp[i] = (uint8_t)(i * 0x9d + 0x71);
	set16(udp + 4, len);
	set16(udp + 6, 0);
	set16(udp + 6, (uint16_t)~reference_fold(reference_sum(udp, len, sum)));
}

static bool
is_right(const struct rte_mbuf *m, uint32_t offset, uint32_t len)
{
	return vx_csum_is_udp4_right(m, offset, len, rte_cpu_to_be_32(SOURCE),
				     rte_cpu_to_be_32(DESTINATION));
}

/* Bytes in front and behind are not the datagram's. */
static void
test_udp_every_split(void **state)
{
	static const uint32_t lens[] = {8, 9, 10, 31, 32}, rests[] = {1, 3, 4, 200};
	uint8_t bytes[64];

	(void)state;
	for (uint32_t i = 0; i < RTE_DIM(lens) * RTE_DIM(rests); i++) {
		const uint32_t len = lens[i / RTE_DIM(rests)], rest = rests[i % RTE_DIM(rests)];

		for (uint32_t offset = 0; offset < 15; offset += 7) {
			const uint32_t total = offset + len + 5;

			memset(bytes, 0xa7, sizeof(bytes));
			make_datagram(bytes + offset, len);
			for (uint32_t first = 0; first <= total; first++) {
				struct rte_mbuf *m = make_chain(bytes, total, first, rest);

				assert_true(is_right(m, offset, len));
				assert_false(is_right(m, offset + 1, len));
				assert_false(is_right(m, offset, len + 1));
				assert_bytes(m, bytes, total);
				rte_pktmbuf_free(m);
			}
		}
	}
}

static void
test_udp_any_bit_wrong(void **state)
{
	uint8_t bytes[33];

	(void)state;
	make_datagram(bytes, sizeof(bytes));
	for (uint32_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
		struct rte_mbuf *m;

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		m = make_chain(bytes, sizeof(bytes), 11, 9);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(is_right(m, 0, sizeof(bytes)));
		rte_pktmbuf_free(m);
	}
}

static void
test_udp_pseudo_header_counts(void **state)
{
	uint8_t bytes[21];
	struct rte_mbuf *m;

	(void)state;
	make_datagram(bytes, sizeof(bytes));
	m = make_chain(bytes, sizeof(bytes), 5, 5);
	for (uint32_t bit = 0; bit < 32; bit++) {
		assert_false(vx_csum_is_udp4_right(m, 0, sizeof(bytes),
						   rte_cpu_to_be_32(SOURCE ^ 1u << bit),
						   rte_cpu_to_be_32(DESTINATION)));
		assert_false(vx_csum_is_udp4_right(m, 0, sizeof(bytes), rte_cpu_to_be_32(SOURCE),
						   rte_cpu_to_be_32(DESTINATION ^ 1u << bit)));
	}
	/* The sum does not know which is which: RFC 768 adds both alike. */
	assert_true(vx_csum_is_udp4_right(m, 0, sizeof(bytes), rte_cpu_to_be_32(DESTINATION),
					  rte_cpu_to_be_32(SOURCE)));
	rte_pktmbuf_free(m);
}

static void
test_udp_not_all_there(void **state)
{
	uint8_t bytes[21];

	(void)state;
	make_datagram(bytes, sizeof(bytes));
	for (uint32_t len = 0; len < sizeof(bytes); len++) {
		struct rte_mbuf *m = make_chain(bytes, len, len / 2, 4);

		assert_false(is_right(m, 0, sizeof(bytes)));
		assert_false(is_right(m, len, 1));
		assert_false(is_right(m, 1, UINT32_MAX));
		assert_false(is_right(m, UINT32_MAX, 8));
		rte_pktmbuf_free(m);
	}
}

/* The longest datagram there is, of the heaviest bytes, in odd segments. */
static void
test_udp_longest(void **state)
{
	const uint32_t len = 65515;
	uint8_t *bytes = malloc(len);
	uint64_t sum = (SOURCE >> 16) + (SOURCE & 0xffff) + (DESTINATION >> 16) +
		       (DESTINATION & 0xffff) + IPPROTO_UDP + len;
	struct rte_mbuf *m;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0xff, len);
	set16(bytes + 4, len);
	set16(bytes + 6, 0);
	set16(bytes + 6, (uint16_t)~reference_fold(reference_sum(bytes, len, sum)));
	m = make_chain(bytes, len, 1, 1999);
	assert_true(is_right(m, 0, len));
	bytes[len - 1] = 0xfe;
	memcpy(rte_pktmbuf_mtod_offset(rte_pktmbuf_lastseg(m), uint8_t *,
				       rte_pktmbuf_lastseg(m)->data_len - 1u),
	       &bytes[len - 1], 1);
	assert_false(is_right(m, 0, len));
	free(bytes);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		packet_test(test_fold),
		packet_test(test_known_headers),
		packet_test(test_header_sum_of_anything),
		packet_test(test_header_with_options),
		packet_test(test_range_every_split),
		packet_test(test_udp_every_split),
		packet_test(test_udp_any_bit_wrong),
		packet_test(test_udp_pseudo_header_counts),
		packet_test(test_udp_not_all_there),
		packet_test(test_udp_longest),
	};

	return cmocka_run_group_tests_name("csum", tests, setup_pool, NULL);
}
