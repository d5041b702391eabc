/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage that keeps tenants' multicast from where nobody asked for it (`set snooping`). */
#ifndef VX_SNOOP_H
#define VX_SNOOP_H

#include "vx_lcore.h"

/*
 * Between suppress and forward. Of segments with snooping on, what IGMP and MLD messages say is
 * reported to the control thread, and IP multicast gets another segment: a copy of its own whose
 * flood list has only those who are to see it. Nothing leaves the burst.
 */
void vx_snoop_burst(struct vx_lcore *lcore, struct vx_burst *burst);

#endif
