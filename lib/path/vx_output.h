/* SPDX-License-Identifier: BSD-3-Clause */
/* Last stage: into the transmit buffer of a port, in a form that its driver can send. */
#ifndef VX_OUTPUT_H
#define VX_OUTPUT_H

#include "vx_lcore.h"

/* A whole frame for @port; ownership is taken. Copied to one segment where the port needs it. */
void vx_output(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port);

/* A frame that may be shorter than Ethernet allows: padded with zeros first, and cleared of what
 * its receiver's driver said of it. Ownership is taken; buffers of a short one must not be shared.
 */
void vx_output_padded(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port);

#endif
