/* SPDX-License-Identifier: BSD-3-Clause */
/* From an FDB destination to the place itself. */
#ifndef VX_DELIVER_H
#define VX_DELIVER_H

#include <stdbool.h>

#include "vx_lcore.h"
#include "vx_oversize.h"

struct vx_attach;

/*
 * Send @m out of the attachment or into the tunnel that @dest names. @frame: segment and origin,
 * and for tunnels the flow, filled in by the caller. Ownership of @m is taken. False, with @m
 * untouched: the place has just been removed.
 */
bool vx_deliver(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t dest, struct vx_inner *frame);

/* Send @m out of an attachment: with its VLAN tag, and padded. Ownership is taken. */
void vx_deliver_attach(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_attach *attach);

#endif
