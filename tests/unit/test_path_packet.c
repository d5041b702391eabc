/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets made byte by byte, without the code under test. */
#include "test_path_bench.h"

#include <netinet/in.h>

const uint8_t host_a[6] = {2, 0xaa, 0, 0, 0, 1};
const uint8_t host_b[6] = {2, 0xbb, 0, 0, 0, 1};
const uint8_t host_c[6] = {2, 0xcc, 0, 0, 0, 1};
const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1};
const uint8_t our_mac_2[6] = {2, 0, 0, 0, 0, 5};
const uint8_t next_hop_mac[6] = {2, 0, 0, 0, 0, 0xfe};

const uint8_t inner_golden[60] = {
	2,    0xbb, 0,	  0,	0,    1,    2,	0xaa, 0,  0,  0,  1,  0x08, 0, /* Ethernet */
	0x45, 2,    0,	  0x2e, 0x12, 0x34, 0,	0,    64, 17,		       /* IPv4 */
	0x54, 0x87, 10,	  0,	0,    1,    10, 0,    0,  2,		       /* IPv4 */
	0x10, 0,    0x20, 0,	0,    0x1a, 0,	0,			       /* UDP */
	0,    1,    2,	  3,	4,    5,    6,	7,    8,  9,  10, 11, 12,   13, 14, 15, 16, 17,
};

uint16_t
plain_checksum(const uint8_t *bytes, uint32_t len)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < len; i++)
		sum += (uint64_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void
fix_ip(uint8_t *frame)
{
	put16(frame + 24, 0);
	put16(frame + 24, plain_checksum(frame + 14, (frame[14] & 0x0fu) * 4u));
}

void
fix_udp(uint8_t *frame)
{
	const unsigned int len = get16(frame + 38);
	uint8_t *pseudo = malloc(12 + len);
	uint16_t checksum;

	assert_non_null(pseudo);
	put16(frame + 40, 0);
	memcpy(pseudo, frame + 26, 8);
	put16(pseudo + 8, IPPROTO_UDP);
	put16(pseudo + 10, len);
	memcpy(pseudo + 12, frame + 34, len);
	checksum = plain_checksum(pseudo, 12 + len);
	put16(frame + 40, checksum == 0 ? 0xffff : checksum);
	free(pseudo);
}

uint32_t
make_vxlan(uint8_t *to, unsigned int vtep, uint32_t vni, const uint8_t *inner, uint32_t len)
{
	memset(to, 0, OUTER_LEN);
	memcpy(to, our_mac, 6);
	memcpy(to + 6, next_hop_mac, 6);
	put16(to + 12, 0x0800);
	to[14] = 0x45;
	put16(to + 16, len + 36);
	put16(to + 18, 0x4711);
	to[22] = 61;
	to[23] = IPPROTO_UDP;
	memcpy(to + 26, (const uint8_t[]){198, 51, 100, (uint8_t)vtep, 192, 0, 2, 1}, 8);
	put16(to + 34, 50000);
	put16(to + 36, 4789);
	put16(to + 38, len + 16);
	to[42] = 0x08;
	put16(to + 46, vni >> 8);
	to[48] = (uint8_t)vni;
	memcpy(to + OUTER_LEN, inner, len);
	fix_ip(to);
	return OUTER_LEN + len;
}

void
make_frame(uint8_t *to, uint32_t len, const uint8_t *destination, const uint8_t *source)
{
	uint8_t header[14];

	memcpy(header, destination, 6);
	memcpy(header + 6, source, 6);
	put16(header + 12, 0x88b5);
	for (uint32_t i = 0; i < len; i++)
		to[i] = i < 14 ? header[i] : (uint8_t)(i * 7 + i / 251);
}
