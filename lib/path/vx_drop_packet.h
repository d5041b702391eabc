/* SPDX-License-Identifier: BSD-3-Clause */
/* The one place where a packet ends: counted under its reason, traced, freed. */
#ifndef VX_DROP_PACKET_H
#define VX_DROP_PACKET_H

#include "vx_lcore.h"
#include "vx_trace.h"

static inline void
vx_drop_packet(struct vx_lcore *lcore, struct rte_mbuf *m, enum vx_drop reason)
{
	lcore->counts.value[reason]++;
	vx_trace_note(lcore, m, VX_TRACE_DROP, reason);
	rte_pktmbuf_free(m);
}

#endif
