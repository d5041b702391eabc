/* SPDX-License-Identifier: BSD-3-Clause */
/* Encapsulation, RFC 7348 section 5: the outer header in front of an inner frame. */
#ifndef VX_ENCAP_H
#define VX_ENCAP_H

#include "vx_lcore.h"
#include "vx_oversize.h"

/*
 * Put the inner frame into the tunnel and send it, in outer fragments if need be; while the next
 * hop is being resolved it is held. Ownership of the frame is taken.
 */
void vx_encap(struct vx_lcore *lcore, const struct vx_inner *inner);

#endif
