/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 2 of the underlay side: out of the tunnel, into the segment (RFC 7348 section 4.1). */
#ifndef VX_DECAP_H
#define VX_DECAP_H

#include "vx_lcore.h"

/*
 * Find segment and remote VTEP of each packet, remove the outer headers, check the inner frame and
 * combine the ECN fields (RFC 6040). Fills segment, origin and the FDB keys.
 */
void vx_decap_burst(struct vx_lcore *lcore, struct vx_burst *burst);

#endif
