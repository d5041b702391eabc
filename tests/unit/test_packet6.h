/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMPv6 packets as plain bytes, built without the code under test. */
#ifndef TEST_PACKET6_H
#define TEST_PACKET6_H

#include <stdint.h>
#include <string.h>

#define ICMP6_AT 54u /* Ethernet and IPv6 header in front of it */

static const uint8_t ip6_nobody[16] = {0};
static const uint8_t ip6_ours[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
static const uint8_t ip6_peer[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 0x77};
static const uint8_t ip6_other[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 9};
static const uint8_t ip6_our_group[16] = {0xff, 2, [11] = 1, 0xff, 0, 0, 1};
static const uint8_t ip6_all_nodes[16] = {0xff, 2, [15] = 1};

/* RFC 4443 2.3 over the message of the frame of @len bytes; 0: the checksum inside is right. */
static inline uint16_t
icmp6_sum(const uint8_t *frame, uint32_t len)
{
	uint32_t sum = 58 + len - ICMP6_AT;

	for (uint32_t i = 22; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)frame[i] << 8 : frame[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Lengths and checksum, after a change. */
static inline void
fix_icmp6(uint8_t *frame, uint32_t len)
{
	uint16_t sum;

	frame[18] = (uint8_t)((len - ICMP6_AT) >> 8);
	frame[19] = (uint8_t)(len - ICMP6_AT);
	frame[56] = 0;
	frame[57] = 0;
	sum = icmp6_sum(frame, len);
	frame[56] = (uint8_t)(sum >> 8);
	frame[57] = (uint8_t)sum;
}

/* Headers of an ICMPv6 message of @payload bytes, which are zero but for @type. */
static inline uint32_t
make_icmp6(uint8_t *to, const uint8_t *to_mac, const uint8_t *from_mac, const uint8_t *source,
	   const uint8_t *destination, uint8_t type, uint32_t payload)
{
	memset(to, 0, ICMP6_AT + payload);
	memcpy(to, to_mac, 6);
	memcpy(to + 6, from_mac, 6);
	to[12] = 0x86;
	to[13] = 0xdd;
	to[14] = 0x60;
	to[20] = 58;
	to[21] = 255;
	memcpy(to + 22, source, 16);
	memcpy(to + 38, destination, 16);
	to[ICMP6_AT] = type;
	fix_icmp6(to, ICMP6_AT + payload);
	return ICMP6_AT + payload;
}

/* A solicitation (135) or advertisement (136) of @target with an option that holds @mac, or none
 * where that is NULL. */
static inline uint32_t
make_nd(uint8_t *to, const uint8_t *to_mac, const uint8_t *from_mac, const uint8_t *source,
	const uint8_t *destination, uint8_t type, uint8_t flags, const uint8_t *target,
	const uint8_t *mac)
{
	const uint32_t len =
		make_icmp6(to, to_mac, from_mac, source, destination, type, mac != NULL ? 32 : 24);

	to[ICMP6_AT + 4] = flags;
	memcpy(to + ICMP6_AT + 8, target, 16);
	if (mac != NULL) {
		to[ICMP6_AT + 24] = (uint8_t)(type - 134);
		to[ICMP6_AT + 25] = 1;
		memcpy(to + ICMP6_AT + 26, mac, 6);
	}
	fix_icmp6(to, len);
	return len;
}

#endif
