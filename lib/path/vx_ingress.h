/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 1 of the access side: from port to segment. */
#ifndef VX_INGRESS_H
#define VX_INGRESS_H

#include "vx_lcore.h"

/*
 * Checks each frame of the burst and finds its segment, FDB keys and origin. Frames that end here
 * are dropped and leave the burst. Completes unfinished inner checksums
 * (RTE_MBUF_F_RX_L4_CKSUM_NONE).
 */
void vx_ingress_burst(struct vx_lcore *lcore, struct vx_burst *burst);

#endif
