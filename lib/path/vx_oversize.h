/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to an inner frame that is too big for the underlay: the four answers of RFC 4459. */
#ifndef VX_OVERSIZE_H
#define VX_OVERSIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_flow.h"
#include "vx_lcore.h"
#include "vx_segment.h"

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
vx_oversize_has_df(const struct vx_view *view, const struct vx_inner *inner)
{
	const struct vx_segment *segment = inner->segment;
	enum vx_df df = view->df;

	if (unlikely(segment->has_own_outer) && segment->own_outer.has_df)
		df = segment->own_outer.df;
	return df == VX_DF_ON || (df == VX_DF_INHERIT && inner->flow.has_df);
}

/*
 * The outer packet would be larger than @inner->vtep's MTU. True: go on, and cut the outer packet.
 * False: the frame has been dealt with, ownership was taken.
 */
bool vx_oversize(struct vx_lcore *lcore, const struct vx_inner *inner);

#endif
