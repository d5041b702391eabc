/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 2: source MACs. Workers only notice; the control thread enters (RFC 7348 section 4.1). */
#ifndef VX_LEARN_H
#define VX_LEARN_H

#include "vx_lcore.h"

/*
 * Look the sources of the burst up. A known one is marked as used; a new or moved one is posted to
 * the control thread, at most once in some milliseconds. No packet is held up or dropped.
 */
void vx_learn_burst(struct vx_lcore *lcore, struct vx_burst *burst);

#endif
