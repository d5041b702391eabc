/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Following single frames through the stages. Off, it costs a test of one word that is in the
 * worker's own cache; on, workers write records to a ring and the control thread prints them.
 */
#ifndef VX_TRACE_H
#define VX_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>

#include "vx_lcore.h"

#define VX_TRACE_BYTES 64u

enum vx_trace_stage {
	VX_TRACE_RX,	   /* value: port */
	VX_TRACE_ATTACH,   /* value: VNI */
	VX_TRACE_FRAGMENT, /* value: where it belongs in its datagram */
	VX_TRACE_CUT,	   /* value: MTU that the packet is cut to */
	VX_TRACE_DECAP,	   /* value: VNI */
	VX_TRACE_LEARN,	   /* the source was reported as new or moved */
	VX_TRACE_FORWARD,  /* value: FDB destination, VX_DEST_NONE = flood */
	VX_TRACE_FLOOD,	   /* value: copies */
	VX_TRACE_ENCAP,	   /* value: VTEP index */
	VX_TRACE_HELD,	   /* value: VTEP index */
	VX_TRACE_HOST,	   /* value: EtherType or IP protocol answered */
	VX_TRACE_TX,	   /* value: port */
	VX_TRACE_DROP,	   /* value: enum vx_drop */
	VX_TRACE_STAGES,
};

struct vx_trace_record {
	uint64_t tsc;
	uint32_t id;	/* the frame's, from 1 */
	uint32_t value; /* by stage */
	uint32_t pkt_len;
	uint16_t port;
	uint16_t worker;
	uint8_t stage; /* enum vx_trace_stage */
	uint8_t nb_segs;
	uint16_t n_bytes;
	uint8_t bytes[VX_TRACE_BYTES];
	uint8_t unused[4];
};
_Static_assert(sizeof(struct vx_trace_record) == 96, "ring element, a multiple of 4");

/* What to trace; shared by all workers while it is in the view. */
struct vx_trace {
	int32_t remaining; /* frames still to be picked; workers decrement */
	uint32_t next_id;  /* workers increment */
	uint32_t vni;	   /* 0: any */
	uint32_t port;	   /* UINT32_MAX: any */
	bool has_mac;
	uint64_t mac48; /* inner source or destination */
};

/* Worker: decide for each packet of a burst just received; fills burst->trace. */
void vx_trace_pick(struct vx_lcore *lcore, struct vx_burst *burst, bool is_underlay);

void vx_trace_note_slow(struct vx_lcore *lcore, const struct rte_mbuf *m, enum vx_trace_stage stage,
			uint32_t value);

/* Worker: write a record if the packet in work is traced. */
static inline void
vx_trace_note(struct vx_lcore *lcore, const struct rte_mbuf *m, enum vx_trace_stage stage,
	      uint32_t value)
{
	if (unlikely(lcore->trace_id != 0))
		vx_trace_note_slow(lcore, m, stage, value);
}

/* Worker: packet @i of the burst is now the one in work. */
static inline void
vx_trace_enter(struct vx_lcore *lcore, const struct vx_burst *burst, unsigned int i)
{
	if (unlikely(lcore->view->trace != NULL))
		lcore->trace_id = burst->trace[i];
}

#endif
