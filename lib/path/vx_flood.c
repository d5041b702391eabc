/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_flood.h"

#include "vx_attach.h"
#include "vx_drop_packet.h"
#include "vx_encap.h"
#include "vx_mbuf.h"
#include "vx_output.h"
#include "vx_vtep.h"
#include "vx_wire.h"

/* A copy for one more target: buffers of its own for the header, the payload shared. Frames that
 * will be padded are copied whole, as padding must not be written into a shared buffer. */
static struct rte_mbuf *
share(struct vx_lcore *lcore, struct rte_mbuf *m)
{
	if (m->pkt_len < VX_ETHER_MIN_LEN)
		return rte_pktmbuf_copy(m, lcore->copy_pool, 0, UINT32_MAX);
	return rte_pktmbuf_clone(m, lcore->copy_pool);
}

static void
deliver(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_segment *segment,
	uint32_t target, bool is_vtep, struct vx_flow flow)
{
	if (is_vtep) {
		const struct vx_vtep *vtep = vx_vtep_at(lcore->tables, target);

		if (likely(vtep != NULL)) {
			vx_encap(lcore, m, segment, vtep, flow);
			return;
		}
	} else {
		const struct vx_attach *attach =
			__atomic_load_n(&lcore->tables->attach[target], __ATOMIC_ACQUIRE);

		if (likely(attach != NULL)) {
			vx_output_padded(lcore, m, attach->port);
			return;
		}
	}
	/* Removed between the load of the segment and now. */
	vx_drop_packet(lcore, m, VX_DROP_NO_TARGET);
}

void
vx_flood(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_segment *segment,
	 uint32_t origin)
{
	const bool is_from_tunnel = (origin & VX_DEST_VTEP) != 0;
	const unsigned int end = segment->n_attaches + (is_from_tunnel ? 0 : segment->n_vteps);
	unsigned int last = end;
	struct vx_flow flow = {0};

	vx_lcore_count(lcore, VX_COUNT_FLOODED, 1);
	/* The last target is the one before the end, unless that is where the frame came from. */
	while (last > 0 && last <= segment->n_attaches && segment->target[last - 1] == origin)
		last--;
	vx_trace_note(lcore, m, VX_TRACE_FLOOD, last);
	if (unlikely(last == 0)) {
		vx_drop_packet(lcore, m, VX_DROP_NO_TARGET);
		return;
	}
	if (!is_from_tunnel && segment->n_vteps > 0)
		flow = vx_flow_of(m);
	for (unsigned int i = 0; i + 1 < last; i++) {
		const bool is_vtep = i >= segment->n_attaches;
		struct rte_mbuf *copy;

		if (!is_vtep && segment->target[i] == origin)
			continue;
		vx_lcore_count(lcore, VX_COUNT_COPIES, 1);
		copy = share(lcore, m);
		if (unlikely(copy == NULL)) {
			lcore->counts.value[VX_DROP_NO_MBUF]++;
			continue;
		}
		deliver(lcore, copy, segment, segment->target[i], is_vtep, flow);
	}
	deliver(lcore, m, segment, segment->target[last - 1], last > segment->n_attaches, flow);
}
