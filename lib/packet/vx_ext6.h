/* SPDX-License-Identifier: BSD-3-Clause */
/* Extension headers of received IPv6 packets, RFC 8200 section 4. */
#ifndef VX_EXT6_H
#define VX_EXT6_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_drop.h"

struct rte_mbuf;

/* More than these no sender has a reason for; a packet with more is dropped. */
#define VX_EXT6_HEADERS_MAX 6u
#define VX_EXT6_BYTES_MAX   256u

/* Where extension headers end. All offsets count from the start of the packet. */
struct vx_ext6 {
	uint32_t offset;  /* of what follows them */
	uint32_t next_at; /* of the byte that says what it is */
	uint8_t protocol; /* IPPROTO_FRAGMENT: the fragment header of a part of a packet */
	bool is_atomic;	  /* a fragment header of a packet in one piece was skipped (RFC 6946) */
};

/*
 * Skip what a destination may ignore behind the IPv6 header at @l3 of @m, which is contiguous and
 * in a packet that ends with its IP packet: hop-by-hop and destination options of the kind that
 * may be ignored, routing headers at their end, fragment headers of whole packets.
 * VX_DROP_NONE: bytes up to ext->offset, for a fragment up to its header's end, are contiguous.
 * Pointers into @m are invalid afterwards.
 */
enum vx_drop vx_ext6_skip(struct rte_mbuf *m, uint32_t l3, struct vx_ext6 *ext);

#endif
