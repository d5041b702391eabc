/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast, unknown-unicast and multicast frames (RFC 7348 section 4.2, head-end replication). */
#ifndef VX_FLOOD_H
#define VX_FLOOD_H

#include "vx_lcore.h"
#include "vx_segment.h"

/* A port with a limit may save up a tenth of a second's frames, but at least so many. */
#define VX_STORM_BURST_PART 10u
#define VX_STORM_BURST_MIN  16u

/*
 * Send @m to every attachment of @segment but the one it came from and, if it did not come from a
 * tunnel, to every VTEP of the flood list. Ownership is taken. Copies share the payload; the last
 * target gets @m itself. @origin: where it came from, as FDB destination. Where the segment does
 * not flood such frames, or the access port has flooded as many as it may, @m is dropped.
 */
void vx_flood(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_segment *segment,
	      uint32_t origin);

#endif
