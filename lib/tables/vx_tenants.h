/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is looked at of the traffic by which tenants find each other, by segment: ARP and ND
 * (`set suppress`), IGMP and MLD (`set snooping`). One byte a segment, so that a frame of a segment
 * without any of it costs nothing more.
 */
#ifndef VX_TENANTS_H
#define VX_TENANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_err.h"
#include "vx_tables.h"

/* Bits. */
enum vx_watch {
	VX_WATCH_SUPPRESS = 1,
	VX_WATCH_SNOOP = 2,
	VX_WATCH_CROWDED = 4, /* no setting: there was no room for some of the groups */
};

struct vx_tenants {
	uint8_t *watch; /* bits by segment index; the control thread stores, workers read */

	/* The control thread's own. */
	uint8_t *own;	    /* likewise: not the setting of `set` without VNI */
	uint8_t by_default; /* bits of segments without a setting of their own */
};

struct vx_tenants *vx_tenants_create(uint32_t max_segments);
void vx_tenants_destroy(struct vx_tenants *tenants);

/* Control thread: for one segment, or (VNI 0) for all that have no setting of their own. What was
 * learned by it is forgotten where it is switched off. 0 or -ENOENT. */
int vx_watch_set(struct vx_tables *tables, uint32_t vni, enum vx_watch what, bool is_on,
		 struct vx_err *err);

/* Used by vx_segment.c. */
void vx_tenants_segment_added(struct vx_tables *tables, uint32_t segment);
void vx_tenants_segment_removed(struct vx_tables *tables, uint32_t segment);

static inline uint8_t
vx_watch_of(const struct vx_tables *tables, uint32_t segment)
{
	return __atomic_load_n(&tables->tenants->watch[segment], __ATOMIC_RELAXED);
}

#endif
