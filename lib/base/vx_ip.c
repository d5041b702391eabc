/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_ip.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

/* Bits of the 128-bit form in front of an IPv4 address. */
#define V4_OFFSET 96u

bool
vx_ip_is_multicast(const struct vx_ip *ip)
{
	if (vx_ip_is_v4(ip))
		return (ip->bytes[12] & 0xf0) == 0xe0;
	return ip->bytes[0] == 0xff;
}

bool
vx_ip_is_host(const struct vx_ip *ip)
{
	if (vx_ip_is_v4(ip))
		return vx_ip4_is_host(vx_ip_v4(ip));
	if (ip->words[0] == 0 && ip->words_be[2] == 0)
		return false; /* ::, ::1 and the deprecated ::a.b.c.d */
	return ip->bytes[0] != 0xff;
}

int
vx_ip_parse(const char *text, struct vx_ip *ip)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*ip = vx_ip_from_v4(v4.s_addr);
		return 0;
	}
	if (inet_pton(AF_INET6, text, ip->bytes) == 1)
		return 0;
	return -EINVAL;
}

int
vx_prefix_parse(const char *text, struct vx_prefix *prefix)
{
	const char *slash = strchr(text, '/');
	char address[VX_IP_TEXT_MAX];
	unsigned long len;
	char *end;

	if (slash == NULL || (size_t)(slash - text) >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	if (vx_ip_parse(address, &prefix->ip) < 0)
		return -EINVAL;
	if (slash[1] < '0' || slash[1] > '9')
		return -EINVAL;
	len = strtoul(slash + 1, &end, 10);
	if (*end != '\0' || len > (vx_ip_is_v4(&prefix->ip) ? 32 : 128))
		return -EINVAL;
	prefix->len = (uint8_t)len;
	return 0;
}

const char *
vx_ip_format(const struct vx_ip *ip, char *text, size_t size)
{
	const char *done;

	if (vx_ip_is_v4(ip))
		done = inet_ntop(AF_INET, &ip->bytes[12], text, (socklen_t)size);
	else
		done = inet_ntop(AF_INET6, ip->bytes, text, (socklen_t)size);
	if (done == NULL && size > 0)
		text[0] = '\0';
	return text;
}

/* Are the first @bits bits of the two 128-bit forms the same? */
static bool
is_same_bits(const struct vx_ip *a, const struct vx_ip *b, unsigned int bits)
{
	const unsigned int whole = bits / 8, rest = bits % 8;
	const uint8_t mask = (uint8_t)(0xff00u >> rest);

	if (memcmp(a->bytes, b->bytes, whole) != 0)
		return false;
	return rest == 0 || ((a->bytes[whole] ^ b->bytes[whole]) & mask) == 0;
}

bool
vx_prefix_has(const struct vx_prefix *prefix, const struct vx_ip *ip)
{
	const bool is_v4 = vx_ip_is_v4(&prefix->ip);

	if (is_v4 != vx_ip_is_v4(ip))
		return false;
	return is_same_bits(&prefix->ip, ip, prefix->len + (is_v4 ? V4_OFFSET : 0));
}

bool
vx_prefix_is_edge(const struct vx_prefix *prefix, const struct vx_ip *ip)
{
	uint32_t host;

	if (!vx_ip_is_v4(&prefix->ip) || prefix->len > 30 || !vx_prefix_has(prefix, ip))
		return false;
	host = UINT32_MAX >> prefix->len;
	return (rte_be_to_cpu_32(vx_ip_v4(ip)) & host) == host ||
	       (rte_be_to_cpu_32(vx_ip_v4(ip)) & host) == 0;
}

void
vx_prefix_mask(struct vx_prefix *prefix)
{
	const unsigned int bits = prefix->len + (vx_ip_is_v4(&prefix->ip) ? V4_OFFSET : 0);

	for (unsigned int i = bits; i < 128; i++)
		prefix->ip.bytes[i / 8] &= (uint8_t) ~(0x80u >> (i % 8));
}
