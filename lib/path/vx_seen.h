/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker tells the control thread of tenants' ARP and ND, through a ring of its own. */
#ifndef VX_SEEN_H
#define VX_SEEN_H

#include <stdint.h>

#include "vx_ip.h"

struct vx_seen {
	struct vx_ip ip;
	uint64_t value;	  /* as in vx_binding.h, without VX_BINDING_STATIC */
	uint32_t segment; /* index */
	uint32_t vni;	  /* so that a new segment under the same index is not taken for the old */
};
_Static_assert(sizeof(struct vx_seen) == 32, "ring element");

#endif
