/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 1 of the underlay side: is it a VXLAN packet for us, something else for us, or neither? */
#ifndef VX_CLASSIFY_H
#define VX_CLASSIFY_H

#include "vx_lcore.h"

/*
 * Check each packet from Ethernet to VXLAN header. What stays in the burst is VXLAN, with offset,
 * vni, remote and ecn filled in and cut to its UDP length. ARP, ICMP and ICMPv6 for local addresses
 * is answered (vx_host.h, vx_host6.h); everything else is dropped under its reason.
 */
void vx_classify_burst(struct vx_lcore *lcore, struct vx_burst *burst);

#endif
