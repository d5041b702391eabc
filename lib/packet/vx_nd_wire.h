/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour solicitations and advertisements on the wire (RFC 4861 4.3, 4.4). */
#ifndef VX_ND_WIRE_H
#define VX_ND_WIRE_H

#include <stdint.h>

#include <rte_ether.h>

#define VX_ND_SOLICIT 135 /* ICMPv6 types */
#define VX_ND_ADVERT  136

#define VX_ND_HOP_LIMIT 255 /* what a router forwarded has less (RFC 4861 7.1) */

#define VX_ND_FLAG_ROUTER    0x80
#define VX_ND_FLAG_SOLICITED 0x40
#define VX_ND_FLAG_OVERRIDE  0x20

#define VX_ND_OPTION_SOURCE 1 /* link-layer addresses, RFC 4861 4.6.1 */
#define VX_ND_OPTION_TARGET 2

/* Both messages up to their options, wherever they begin; solicitations have no flags. */
struct vx_nd_hdr {
	uint8_t type, code;
	uint16_t checksum;
	uint8_t flags, reserved[3];
	uint8_t target[16];
} __attribute__((packed));
_Static_assert(sizeof(struct vx_nd_hdr) == 24, "wire format");

struct vx_nd_option {
	uint8_t type, units; /* of 8 bytes */
	struct rte_ether_addr mac;
} __attribute__((packed, aligned(2)));
_Static_assert(sizeof(struct vx_nd_option) == 8, "wire format");

#endif
