/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker of test_path_bench.h with an IPv6 underlay besides, and its packets byte by byte:
 *
 *	2001:db8::1 (port 0) ~~~ next hop 02:..:fe ~~~ 2001:db8:1::N, VTEP N
 */
#ifndef TEST_PATH_BENCH6_H
#define TEST_PATH_BENCH6_H

#include "test_path_bench.h"

#define OUTER6_LEN 70u
#define HEADERS6   54u /* Ethernet and IPv6 without extension headers */
#define FRAGMENT6  8u

extern const uint8_t our_ip6[16];

/* cmocka's fixture: bench_setup() and the local addresses 2001:db8::1 and fe80::1. */
int bench6_setup(void **state);

struct vx_ip bench6_remote(unsigned int vtep);
struct vx_vtep_path bench6_path(enum vx_vtep_state state);
uint32_t bench6_flood(struct bench *b, uint32_t vni, unsigned int vtep, enum vx_vtep_state state);

/* A VXLAN packet from VTEP @vtep to 2001:db8::1 around @inner: valid, traffic class 0, UDP checksum
 * right. Its length. */
uint32_t make_vxlan6(uint8_t *to, unsigned int vtep, uint32_t vni, const uint8_t *inner,
		     uint32_t len);

/* Set the UDP checksum of a packet whose UDP header is at @l4. */
void fix_udp6(uint8_t *frame, uint32_t l4);

/* 0xffff folded over pseudo header and datagram at @l4 means right: returns what is left, 0. */
uint16_t plain_udp6(const uint8_t *frame, uint32_t l4);

/* Put @n bytes of extension headers behind the IPv6 header of the frame of @len bytes: the first
 * of them is of type @type, and the last one's next header is filled in. The new length. */
uint32_t insert_ext(uint8_t *frame, uint32_t len, uint8_t type, const uint8_t *ext, uint32_t n);

/* Bytes @first to @end of what follows the IPv6 header of @packet, as a fragment @id: a frame at
 * @to, its length. */
uint32_t piece6_bytes(uint8_t *to, const uint8_t *packet, uint32_t first, uint32_t end,
		      bool is_more, uint32_t id);
struct rte_mbuf *piece6_make(struct bench *b, const uint8_t *packet, uint32_t first, uint32_t end,
			     bool is_more, uint32_t id);

/* How many packets of at most @mtu bytes an IPv6 packet of @ip_len bytes makes. */
unsigned int pieces6_expected(uint32_t ip_len, uint32_t mtu);

/*
 * Join the frames @m to the one they were cut from; its length, and to @id its identification.
 * Fails unless each is a right fragment of at most @mtu bytes, they are as few as they can be, in
 * order, and without empty segments. One frame alone is taken for whole.
 */
uint32_t pieces6_join(uint8_t *to, struct rte_mbuf *const *m, unsigned int n, uint32_t mtu,
		      uint32_t *id);

static inline uint32_t
get32(const uint8_t *from)
{
	return (uint32_t)get16(from) << 16 | get16(from + 2);
}

static inline void
put32(uint8_t *to, uint32_t value)
{
	put16(to, value >> 16);
	put16(to + 2, value & 0xffff);
}

#endif
