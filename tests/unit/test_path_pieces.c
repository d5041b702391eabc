/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_path_pieces.h"

uint32_t
piece_bytes(uint8_t *to, const uint8_t *packet, uint32_t first, uint32_t end, bool is_more)
{
	memcpy(to, packet, HEADERS);
	put16(to + 16, 20 + end - first);
	put16(to + 20, first / 8 | (is_more ? 0x2000u : 0));
	memcpy(to + HEADERS, packet + HEADERS + first, end - first);
	fix_ip(to);
	return HEADERS + end - first;
}

struct rte_mbuf *
piece_make(struct bench *b, const uint8_t *packet, uint32_t first, uint32_t end, bool is_more)
{
	static uint8_t bytes[66000];

	return bench_mbuf(b, bytes, piece_bytes(bytes, packet, first, end, is_more));
}

unsigned int
pieces_expected(uint32_t ip_len, uint32_t mtu)
{
	const uint32_t part = (mtu - 20) / 8 * 8;

	return ip_len <= mtu ? 1 : (ip_len - 20 + part - 1) / part;
}

uint32_t
pieces_join(uint8_t *to, struct rte_mbuf *const *m, unsigned int n, uint32_t skip, uint32_t mtu)
{
	static uint8_t frame[66000];
	uint32_t at = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *f = frame + skip;
		uint32_t len = bench_bytes(m[i], frame, sizeof(frame)) - skip;

		for (const struct rte_mbuf *s = m[i]; s != NULL; s = s->next)
			assert_true(s->data_len > 0);
		assert_int_equal(m[i]->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL), 0);
		assert_int_equal(f[14], 0x45);
		assert_int_equal(plain_checksum(f + 14, 20), 0);
		assert_int_equal(get16(f + 16), len - 14);
		assert_true(len - 14 <= mtu);
		if (i == 0)
			memcpy(to, f, HEADERS);
		/* Ethernet, type of service; ID; TTL, protocol; addresses: those of the first. */
		assert_memory_equal(f, to, 16);
		assert_memory_equal(f + 18, to + 18, 2);
		assert_memory_equal(f + 22, to + 22, 2);
		assert_memory_equal(f + 26, to + 26, 8);
		if (n > 1) {
			assert_int_equal(get16(f + 20), at / 8 | (i + 1 < n ? 0x2000u : 0));
			assert_true(i + 1 == n || (len - HEADERS) % 8 == 0);
		}
		len -= HEADERS;
		memcpy(to + HEADERS + at, f + HEADERS, len);
		at += len;
	}
	assert_int_equal(n, pieces_expected(20 + at, mtu));
	put16(to + 16, 20 + at);
	if (n > 1)
		put16(to + 20, 0);
	fix_ip(to);
	return HEADERS + at;
}

void
make_ipv4(uint8_t *to, uint32_t len, bool has_df)
{
	make_frame(to, len, host_b, host_a);
	memcpy(to + 12, inner_golden + 12, 30);
	to[15] = 0;
	put16(to + 16, len - 14);
	put16(to + 20, has_df ? 0x4000 : 0);
	put16(to + 38, len - HEADERS);
	fix_ip(to);
}

void
make_ipv6(uint8_t *to, uint32_t len)
{
	make_frame(to, len, host_b, host_a);
	put16(to + 12, 0x86dd);
	memset(to + 14, 0, 40);
	to[14] = 0x60;
	put16(to + 18, len - 54);
	to[20] = 17;
	to[21] = 64;
	memcpy(to + 22, (const uint8_t[]){0x20, 1, 0x0d, 0xb8}, 4);
	memcpy(to + 38, to + 22, 4);
	to[37] = 1;
	to[53] = 2;
	put16(to + 58, len - 54);
}
