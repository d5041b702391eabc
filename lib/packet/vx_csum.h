/* SPDX-License-Identifier: BSD-3-Clause */
/* Internet checksums (RFC 1071) over chains. */
#ifndef VX_CSUM_H
#define VX_CSUM_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_ip.h>

struct rte_mbuf;

/* Fold a sum of 16-bit words, as they lie in memory, to 16 bits. */
static inline uint16_t
vx_csum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* The sum of an IPv4 header without options, checksum field included: 0xffff if it is right. */
static inline uint16_t
vx_csum_ipv4_header(const struct rte_ipv4_hdr *ip)
{
	uint32_t word[5];
	uint64_t sum = 0;

	__builtin_memcpy(word, ip, sizeof(word));
	for (unsigned int i = 0; i < 5; i++)
		sum += word[i];
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return vx_csum_fold((uint32_t)sum);
}

/*
 * The sum of the @len bytes at @offset of @m, which must exist, however they are split. Used
 * instead of rte_raw_cksum_mbuf(): that loses the carries of a segment which begins at an odd byte.
 */
uint16_t vx_csum_range(const struct rte_mbuf *m, uint32_t offset, uint32_t len);

/* Is the sum over an IPv4 header of @len bytes (with options) right? */
bool vx_csum_is_ipv4_header_right(const void *header, uint32_t len);

/*
 * Is the UDP checksum (not zero) of the datagram at @offset in @m right? @len: UDP length in bytes;
 * false if they are not there. RFC 768.
 */
bool vx_csum_is_udp4_right(const struct rte_mbuf *m, uint32_t offset, uint32_t len,
			   rte_be32_t source_be, rte_be32_t destination_be);

/* The same over IPv6, whose header of 40 bytes is at @ip. RFC 8200 section 8.1. */
bool vx_csum_is_udp6_right(const struct rte_mbuf *m, uint32_t offset, uint32_t len,
			   const struct rte_ipv6_hdr *ip);

/*
 * Complete the TCP or UDP checksum of the frame in @m, which its sender left unfinished for a NIC
 * to fill in. IPv4 and IPv6, up to two VLAN tags, headers split anywhere. False if the frame has no
 * such checksum (not TCP or UDP, a fragment, lengths that do not fit): it is unchanged then.
 */
bool vx_csum_complete(struct rte_mbuf *m);

#endif
