/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups of both families: which there are, and their MAC addresses. */
#ifndef VX_MULTICAST_H
#define VX_MULTICAST_H

#include <stdbool.h>
#include <string.h>

#include <rte_ether.h>

#include "vx_ip.h"

static inline bool
vx_multicast_is_group4(rte_be32_t addr_be)
{
	return (addr_be & RTE_BE32(0xf0000000)) == RTE_BE32(0xe0000000);
}

/* 224.0.0.0/24: never routed, and no switch tracks its members (RFC 4541 section 2.1.2). */
static inline bool
vx_multicast_is_control4(rte_be32_t addr_be)
{
	return (addr_be & RTE_BE32(0xffffff00)) == RTE_BE32(0xe0000000);
}

/* The same of both families, of IPv6 the link's own groups: ff02::/16 (RFC 4291 section 2.7). */
static inline bool
vx_multicast_is_control(const struct vx_ip *group)
{
	if (vx_ip_is_v4(group))
		return vx_multicast_is_control4(vx_ip_v4(group));
	return group->bytes[0] == 0xff && group->bytes[1] == 0x02;
}

/* RFC 1112 section 6.4 (the lower 23 bits) and RFC 2464 section 7 (the lower 32 bits). */
static inline struct rte_ether_addr
vx_multicast_mac(const struct vx_ip *group)
{
	struct rte_ether_addr mac = {.addr_bytes = {0x01, 0x00, 0x5e}};

	if (vx_ip_is_v4(group)) {
		mac.addr_bytes[3] = group->bytes[13] & 0x7f;
		memcpy(&mac.addr_bytes[4], &group->bytes[14], 2);
		return mac;
	}
	memset(mac.addr_bytes, 0x33, 2);
	memcpy(&mac.addr_bytes[2], &group->bytes[12], 4);
	return mac;
}

#endif
