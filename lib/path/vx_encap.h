/* SPDX-License-Identifier: BSD-3-Clause */
/* Encapsulation, RFC 7348 section 5: the outer header in front of an inner frame. */
#ifndef VX_ENCAP_H
#define VX_ENCAP_H

#include "vx_flow.h"
#include "vx_lcore.h"
#include "vx_segment.h"
#include "vx_vtep.h"

/*
 * Put the inner frame @m into the tunnel to @vtep and send it, or have it held while the next hop
 * is being resolved. Ownership is taken. @flow is the frame's own (vx_flow_of()).
 */
void vx_encap(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_segment *segment,
	      const struct vx_vtep *vtep, struct vx_flow flow);

#endif
