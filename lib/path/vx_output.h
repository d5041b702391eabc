/* SPDX-License-Identifier: BSD-3-Clause */
/* Last stage: into the transmit buffer of a port, in a form that its driver can send. */
#ifndef VX_OUTPUT_H
#define VX_OUTPUT_H

#include "vx_attach.h"
#include "vx_lcore.h"

/* A whole frame for @port; ownership is taken. Copied to one segment where the port needs it. */
void vx_output(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port);

/* An inner frame out of an attachment: padded to the Ethernet minimum first. Ownership is taken;
 * @m's buffers must not be shared if it is shorter than that. */
void vx_output_access(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_attach *attach);

#endif
