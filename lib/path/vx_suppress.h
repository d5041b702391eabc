/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage that answers tenants' ARP requests and neighbour solicitations (`set suppress`). */
#ifndef VX_SUPPRESS_H
#define VX_SUPPRESS_H

#include "vx_lcore.h"

/*
 * Between learn and forward. Of segments with suppression on, what ARP and ND packets say of their
 * sender is reported to the control thread; a request from an attachment for an address whose
 * owner is known, and is not behind that attachment itself, is answered there and leaves the burst.
 * Everything else stays: probes for duplicates, announcements, requests out of tunnels.
 */
void vx_suppress_burst(struct vx_lcore *lcore, struct vx_burst *burst);

#endif
