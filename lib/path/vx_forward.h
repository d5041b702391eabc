/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 3: destination MACs to places (RFC 7348 section 4.1). */
#ifndef VX_FORWARD_H
#define VX_FORWARD_H

#include "vx_lcore.h"

/*
 * Fills burst->dest: an attachment, a remote VTEP, or VX_DEST_NONE for what is to be flooded.
 * Drops what would go back to where it came from, or from a tunnel into a tunnel.
 */
void vx_forward_burst(struct vx_lcore *lcore, struct vx_burst *burst);

#endif
