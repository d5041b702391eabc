/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 addresses that are made from others (RFC 4291). */
#ifndef VX_IP6_H
#define VX_IP6_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_ip.h"

/* ff02::1, RFC 4291 2.7.1 */
static inline struct vx_ip
vx_ip6_all_nodes(void)
{
	return (struct vx_ip){.bytes = {0xff, 0x02, [15] = 1}};
}

/* The group to which solicitations for @ip are sent, ff02::1:ffXX:XXXX (RFC 4291 2.7.1). */
static inline struct vx_ip
vx_ip6_solicited_node(const struct vx_ip *ip)
{
	return (struct vx_ip){
		.bytes = {0xff, 0x02, [11] = 1, 0xff, ip->bytes[13], ip->bytes[14], ip->bytes[15]}};
}

/* The link-local address of an interface: fe80::/64 and its EUI-64 (RFC 4291 appendix A). */
static inline struct vx_ip
vx_ip6_link_local(const struct rte_ether_addr *mac)
{
	const uint8_t *from = mac->addr_bytes;

	return (struct vx_ip){.bytes = {0xfe, 0x80, [8] = from[0] ^ 2, from[1], from[2], 0xff, 0xfe,
					from[3], from[4], from[5]}};
}

/* fe80::/10; false for IPv4. */
static inline bool
vx_ip6_is_link_local(const struct vx_ip *ip)
{
	return ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

#endif
