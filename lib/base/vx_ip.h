/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 and IPv6 addresses as one type. */
#ifndef VX_IP_H
#define VX_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

/* An address of either family in network order. IPv4 is held as ::ffff:a.b.c.d (RFC 4291 2.5.5.2),
 * so that one compare, one hash key and one table serve both. All zero means "none". */
struct vx_ip {
	union {
		uint8_t bytes[16];
		uint64_t words[2];
		rte_be32_t words_be[4];
	};
};
_Static_assert(sizeof(struct vx_ip) == 16, "used as a hash key");

/* A network: @len counts bits of the family's own address, 0..32 or 0..128. */
struct vx_prefix {
	struct vx_ip ip;
	uint8_t len;
};

#define VX_IP_TEXT_MAX 48

static inline struct vx_ip
vx_ip_from_v4(rte_be32_t addr_be)
{
	/* In the words that comparisons load: a load of what two stores wrote would wait for both.
	 */
#if RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN
	const uint64_t word = (uint64_t)addr_be << 32 | RTE_BE32(0xffff);
#else
	const uint64_t word = (uint64_t)RTE_BE32(0xffff) << 32 | addr_be;
#endif
	struct vx_ip ip = {.words = {0, word}};

	return ip;
}

static inline bool
vx_ip_is_v4(const struct vx_ip *ip)
{
	return ip->words[0] == 0 && ip->words_be[2] == RTE_BE32(0xffff);
}

/* The IPv4 address of an IP for which vx_ip_is_v4() holds. */
static inline rte_be32_t
vx_ip_v4(const struct vx_ip *ip)
{
	return ip->words_be[3];
}

static inline bool
vx_ip_is_equal(const struct vx_ip *a, const struct vx_ip *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

static inline bool
vx_ip_is_none(const struct vx_ip *ip)
{
	return (ip->words[0] | ip->words[1]) == 0;
}

/* May this IPv4 address be one host's: not 0/8, not loopback, not 224/4 and above (RFC 1812 5.3.7).
 */
static inline bool
vx_ip4_is_host(rte_be32_t addr_be)
{
	const uint32_t top = rte_be_to_cpu_32(addr_be) >> 24;

	return top != 0 && top != 127 && top < 224;
}

bool vx_ip_is_multicast(const struct vx_ip *ip);

/* The same as vx_ip4_is_host() for both families (IPv6: not ::, not ::1, not ff00::/8). */
bool vx_ip_is_host(const struct vx_ip *ip);

/* Text to address. A v4-mapped IPv6 text is taken as the IPv4 address. 0 or -EINVAL. */
int vx_ip_parse(const char *text, struct vx_ip *ip);

/* "IP/LEN" to an address with its prefix length; @ip keeps its host bits. 0 or -EINVAL. */
int vx_prefix_parse(const char *text, struct vx_prefix *prefix);

/* Write the text into @text (VX_IP_TEXT_MAX bytes are enough) and return @text. */
const char *vx_ip_format(const struct vx_ip *ip, char *text, size_t size);

/* Is @ip inside @prefix? False where the families differ. */
bool vx_prefix_has(const struct vx_prefix *prefix, const struct vx_ip *ip);

/* Is @ip the all-zeros network address or the all-ones broadcast of an IPv4 @prefix up to /30? */
bool vx_prefix_is_edge(const struct vx_prefix *prefix, const struct vx_ip *ip);

/* Clear the bits of @prefix's address beyond its length. */
void vx_prefix_mask(struct vx_prefix *prefix);

#endif
