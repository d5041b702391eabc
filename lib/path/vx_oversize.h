/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to an inner frame that is too big for the underlay: the four answers of RFC 4459. */
#ifndef VX_OVERSIZE_H
#define VX_OVERSIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_flow.h"
#include "vx_lcore.h"

struct vx_segment;
struct vx_vtep;

/* An inner frame on its way into a tunnel. */
struct vx_inner {
	struct rte_mbuf *m;
	const struct vx_segment *segment;
	const struct vx_vtep *vtep;
	struct vx_flow flow; /* the frame's own, see vx_flow_of() */
	uint32_t origin;     /* where it came from, as FDB destination */
	enum vx_kind kind;
};

/* Will the outer packet carry DF, as `set df` says? */
static inline bool
vx_oversize_has_df(const struct vx_view *view, struct vx_flow flow)
{
	return view->df == VX_DF_ON || (view->df == VX_DF_INHERIT && flow.has_df);
}

/*
 * The outer packet would be larger than @inner->vtep's MTU. True: go on, and cut the outer packet.
 * False: the frame has been dealt with, ownership was taken.
 */
bool vx_oversize(struct vx_lcore *lcore, const struct vx_inner *inner);

#endif
