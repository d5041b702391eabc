/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_flood.h"

#include <rte_cycles.h>

#include "vx_deliver.h"
#include "vx_drop_packet.h"
#include "vx_fdb.h"
#include "vx_mbuf.h"
#include "vx_tag.h"
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

/* A target that has been removed since the segment was loaded gets nothing. */
static void
deliver(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t target, struct vx_inner *frame)
{
	if (unlikely(!vx_deliver(lcore, m, target, frame)))
		vx_drop_packet(lcore, m, VX_DROP_NO_TARGET);
}

/* The @i-th target, as FDB destination. */
static inline uint32_t
target_at(const struct vx_segment *segment, unsigned int i)
{
	return segment->target[i] | (i < segment->n_attaches ? 0 : VX_DEST_VTEP);
}

static inline enum vx_flood_kind
kind_of(struct rte_mbuf *m)
{
	/* The stages before this one have made the Ethernet header contiguous. */
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	if ((frame[0] & 1) == 0)
		return VX_FLOOD_UNKNOWN;
	return rte_is_broadcast_ether_addr((const struct rte_ether_addr *)frame)
		       ? VX_FLOOD_BROADCAST
		       : VX_FLOOD_MULTICAST;
}

/* Take a frame of the access port off its limit. False: it is over it. */
static bool
is_below_storm(struct vx_lcore *lcore, uint16_t port)
{
	const uint32_t rate = lcore->view->port[port].storm_rate;
	struct vx_storm *storm = &lcore->storm[port];

	if (storm->rate != rate) {
		storm->rate = rate;
		storm->bucket =
			vx_bucket_make(rte_get_tsc_hz(), rate,
				       RTE_MAX(rate / VX_STORM_BURST_PART, VX_STORM_BURST_MIN));
	}
	return vx_bucket_take(&storm->bucket, lcore->now);
}

static inline enum vx_drop
check(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_segment *segment, uint32_t origin)
{
	const uint16_t port = lcore->burst.port;

	if (unlikely(segment->flood_off != 0) && (segment->flood_off >> kind_of(m) & 1) != 0)
		return VX_DROP_FLOOD_OFF;
	if ((origin & VX_DEST_VTEP) == 0 && unlikely(lcore->view->port[port].storm_rate != 0) &&
	    !is_below_storm(lcore, port))
		return VX_DROP_STORM;
	return VX_DROP_NONE;
}

void
vx_flood(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_segment *segment,
	 uint32_t origin)
{
	const bool is_from_tunnel = (origin & VX_DEST_VTEP) != 0;
	const unsigned int end = segment->n_attaches + (is_from_tunnel ? 0 : segment->n_vteps);
	/* Only attachments that carry tags get tagged frames, and tunnels (RFC 7348 section 6.1).
	 */
	const unsigned int first = segment->n_tagged > 0 && vx_tag_is_in(m)
					   ? segment->n_attaches - segment->n_tagged
					   : 0;
	unsigned int last = end;
	struct vx_inner frame = {.segment = segment, .origin = origin, .kind = VX_KIND_FLOODED};
	const enum vx_drop reason = check(lcore, m, segment, origin);

	if (unlikely(reason != VX_DROP_NONE)) {
		vx_drop_packet(lcore, m, reason);
		return;
	}
	vx_lcore_count(lcore, VX_COUNT_FLOODED, 1);
	/* The last target is the one before the end, unless that is where the frame came from. */
	while (last > first && last <= segment->n_attaches && segment->target[last - 1] == origin)
		last--;
	vx_trace_note(lcore, m, VX_TRACE_FLOOD, last);
	if (unlikely(last == first)) {
		vx_drop_packet(lcore, m, VX_DROP_NO_TARGET);
		return;
	}
	if (!is_from_tunnel && segment->n_vteps > 0)
		frame.flow = vx_flow_of(m);
	for (unsigned int i = first; i + 1 < last; i++) {
		const uint32_t target = target_at(segment, i);
		struct rte_mbuf *copy;

		if (target == origin)
			continue;
		vx_lcore_count(lcore, VX_COUNT_COPIES, 1);
		copy = share(lcore, m);
		if (unlikely(copy == NULL)) {
			lcore->counts.value[VX_DROP_NO_MBUF]++;
			continue;
		}
		deliver(lcore, copy, target, &frame);
	}
	deliver(lcore, m, target_at(segment, last - 1), &frame);
}
