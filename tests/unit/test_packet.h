/* SPDX-License-Identifier: BSD-3-Clause */
/* What the packet tests share: frames built byte by byte, chains of mbufs cut anywhere, and a
 * checksum that owes nothing to the code under test. */
#ifndef TEST_PACKET_H
#define TEST_PACKET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netinet/in.h>

#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "eal_fixture.h"

#define POOL_SIZE 255u
#define ROOM	  2048u /* bytes of a buffer behind its headroom */
#define FRAME_MAX 512u

/* --- frames --- */

struct frame {
	uint8_t data[FRAME_MAX];
	uint32_t len;
};

static inline void
put(struct frame *f, const void *bytes, uint32_t n)
{
	assert_true(f->len + n <= FRAME_MAX);
	memcpy(f->data + f->len, bytes, n);
	f->len += n;
}

static inline void
put8(struct frame *f, uint32_t value)
{
	const uint8_t byte = (uint8_t)value;

	put(f, &byte, 1);
}

static inline void
put16(struct frame *f, uint32_t value)
{
	put8(f, value >> 8);
	put8(f, value);
}

static inline void
put32(struct frame *f, uint32_t value)
{
	put16(f, value >> 16);
	put16(f, value);
}

/* @n bytes that differ from each other and, by @seed, from other calls'. */
static inline void
put_payload(struct frame *f, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		put8(f, (seed + i) * 0x9du + (i >> 3));
}

static inline uint32_t
get16(const uint8_t *from)
{
	return (uint32_t)from[0] << 8 | from[1];
}

static inline void
set16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

/* --- the checksum of RFC 1071, as its definition reads: big-endian words, odd byte padded --- */

static inline uint64_t
reference_sum(const uint8_t *bytes, uint32_t len, uint64_t sum)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint64_t)bytes[i] << 8 : bytes[i];
	return sum;
}

static inline uint16_t
reference_fold(uint64_t sum)
{
	while (sum > 0xffff)
		sum = sum % 0x10000 + sum / 0x10000;
	return (uint16_t)sum;
}

/* --- headers; the MACs are always the same --- */

static inline void
put_macs(struct frame *f)
{
	static const uint8_t macs[12] = {2, 0, 0, 0, 0x11, 0x22, 2, 0, 0, 0, 0x33, 0x44};

	f->len = 0;
	put(f, macs, sizeof(macs));
}

static inline void
put_tag(struct frame *f, uint32_t type, uint32_t tci)
{
	put16(f, type);
	put16(f, tci);
}

/* @options: words of options; @fragment: the 16-bit field of flags and offset. */
static inline void
put_ipv4(struct frame *f, uint8_t protocol, uint32_t payload, uint32_t options, uint32_t fragment)
{
	const uint32_t start = f->len + 2, header = 20 + options * 4;

	put16(f, 0x0800);
	put8(f, 0x40 | header / 4);
	put8(f, 0);
	put16(f, header + payload);
	put16(f, 0x1234);
	put16(f, fragment);
	put8(f, 64);
	put8(f, protocol);
	put16(f, 0);
	put32(f, 0xc0000205);
	put32(f, 0xc6336407);
	for (uint32_t i = 0; i < options; i++)
		put32(f, 0x01010101);
	set16(f->data + start + 10,
	      (uint16_t)~reference_fold(reference_sum(f->data + start, header, 0)));
}

static inline void
put_ipv6(struct frame *f, uint8_t next, uint32_t payload)
{
	put16(f, 0x86dd);
	put32(f, 0x60012345);
	put16(f, payload);
	put8(f, next);
	put8(f, 64);
	for (uint32_t i = 0; i < 8; i++) /* source and destination */
		put32(f, 0x20010db8u + i * 0x10203041u);
}

/* One IPv6 extension header of @units * 8 bytes. */
static inline void
put_ext(struct frame *f, uint8_t next, uint32_t units)
{
	put8(f, next);
	put8(f, units - 1);
	put_payload(f, units * 8 - 2, 3);
}

static inline void
put_udp(struct frame *f, uint32_t source, uint32_t destination, uint32_t payload)
{
	put16(f, source);
	put16(f, destination);
	put16(f, 8 + payload);
	put16(f, 0xbeef);
	put_payload(f, payload, source);
}

static inline void
put_tcp(struct frame *f, uint32_t source, uint32_t destination, uint32_t payload)
{
	put16(f, source);
	put16(f, destination);
	put32(f, 0x01020304);
	put32(f, 0x05060708);
	put32(f, 0x5018faf0);
	put16(f, 0xbeef);
	put16(f, 0);
	put_payload(f, payload, source);
}

/* --- chains --- */

static inline struct rte_mempool *
packet_pool(void)
{
	static struct rte_mempool *pool;

	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("packets", POOL_SIZE, 0, 0,
					       RTE_PKTMBUF_HEADROOM + ROOM, (int)SOCKET_ID_ANY);
	return pool;
}

static inline struct rte_mbuf *
one_segment(const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(packet_pool());

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), data, len);
	return m;
}

/* @len bytes in segments: @first bytes (may be 0), then @rest (at least 1) each. */
static inline struct rte_mbuf *
make_chain(const uint8_t *data, uint32_t len, uint32_t first, uint32_t rest)
{
	uint32_t done = RTE_MIN(first, len);
	struct rte_mbuf *head = one_segment(data, done);

	while (done < len) {
		const uint32_t part = RTE_MIN(rest, len - done);

		assert_int_equal(rte_pktmbuf_chain(head, one_segment(data + done, part)), 0);
		done += part;
	}
	return head;
}

/* Is @m well-formed and are its bytes @want? */
static inline void
assert_bytes(const struct rte_mbuf *m, const uint8_t *want, uint32_t len)
{
	const char *reason = "";
	uint32_t at = 0;

	if (rte_mbuf_check(m, 1, &reason) != 0)
		fail_msg("%s", reason);
	assert_int_equal(m->pkt_len, len);
	for (; m != NULL; m = m->next) {
		assert_true(at + m->data_len <= len);
		assert_memory_equal(rte_pktmbuf_mtod(m, const uint8_t *), want + at, m->data_len);
		at += m->data_len;
	}
	assert_int_equal(at, len);
}

static inline unsigned int
buffers_in_use(void)
{
	return rte_mempool_in_use_count(packet_pool());
}

static inline void
assert_no_leak(void)
{
	assert_int_equal(rte_mempool_avail_count(packet_pool()), POOL_SIZE);
}

static inline int
setup_pool(void **state)
{
	(void)state;
	return vx_test_eal() == 0 && packet_pool() != NULL ? 0 : -1;
}

/* Around each test: it gives back every buffer that it took. */
static inline int
note_pool(void **state)
{
	*state = (void *)(uintptr_t)buffers_in_use();
	return 0;
}

static inline int
check_pool(void **state)
{
	return buffers_in_use() == (uintptr_t)*state ? 0 : -1;
}

#define packet_test(function) cmocka_unit_test_setup_teardown(function, note_pool, check_pool)

#endif
