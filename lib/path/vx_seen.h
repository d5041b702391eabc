/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker tells the control thread of tenants' ARP, ND, IGMP and MLD, through a ring of its
 * own. */
#ifndef VX_SEEN_H
#define VX_SEEN_H

#include <stdint.h>

#include "vx_ip.h"

struct vx_lcore;

enum vx_seen_kind {
	VX_SEEN_BINDING, /* of an IP address to a MAC */
	VX_SEEN_JOIN,	 /* a host is a member of a group */
	VX_SEEN_LEAVE,	 /* a host is not any more */
	VX_SEEN_QUERY,	 /* a querier's address */
};

struct vx_seen {
	struct vx_ip ip;
	uint64_t value;	  /* VX_SEEN_BINDING: as in vx_binding.h, without VX_BINDING_STATIC */
			  /* others: the FDB key of who sent it */
	uint32_t segment; /* index */
	uint32_t vni;	  /* so that a new segment under the same index is not taken for the old */
	uint32_t origin;  /* not VX_SEEN_BINDING: where it came from, as FDB destination */
	uint32_t kind;	  /* enum vx_seen_kind */
};
_Static_assert(sizeof(struct vx_seen) == 40, "ring element");

/* Workers: report it, unless the same was reported a moment ago, or too much of anything. */
void vx_seen_post(struct vx_lcore *lcore, const struct vx_seen *seen);

#endif
