/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_path.h"

#include <string.h>

#include <rte_prefetch.h>

#include "vx_classify.h"
#include "vx_decap.h"
#include "vx_deliver.h"
#include "vx_drop_packet.h"
#include "vx_flood.h"
#include "vx_forward.h"
#include "vx_ingress.h"
#include "vx_learn.h"
#include "vx_output.h"
#include "vx_segment.h"
#include "vx_snoop.h"
#include "vx_suppress.h"
#include "vx_tenants.h"

/* Where forward said: out of an attachment, into a tunnel, or to everybody. */
static inline void
deliver_one(struct vx_lcore *lcore, struct vx_burst *burst, unsigned int i)
{
	struct vx_inner frame = {.segment = burst->segment[i], .origin = burst->origin[i]};
	const uint32_t dest = burst->dest[i];
	struct rte_mbuf *m = burst->m[i];

	if (dest != VX_DEST_NONE) {
		if ((dest & VX_DEST_VTEP) != 0)
			frame.flow = vx_flow_of(m);
		if (likely(vx_deliver(lcore, m, dest, &frame)))
			return;
	}
	vx_flood(lcore, m, burst->segment[i], burst->origin[i]);
}

/* What is looked at of any of the burst's segments, VX_WATCH_*: usually nothing. */
static inline unsigned int
watch_of(const struct vx_lcore *lcore, const struct vx_burst *burst)
{
	const struct vx_segment *last = NULL;
	unsigned int watch = 0;

	for (unsigned int i = 0; i < burst->n; i++) {
		if (likely(burst->segment[i] == last))
			continue;
		last = burst->segment[i];
		watch |= vx_watch_of(lcore->tables, last->index);
	}
	return watch;
}

/* The second half, the same for both sides. */
static void
switch_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	unsigned int watch;

	vx_fdb_cache_renew(&lcore->fdb_cache, lcore->tables->fdb);
	vx_learn_burst(lcore, burst);
	watch = watch_of(lcore, burst);
	if (unlikely((watch & VX_WATCH_SUPPRESS) != 0))
		vx_suppress_burst(lcore, burst);
	if (unlikely((watch & VX_WATCH_SNOOP) != 0))
		vx_snoop_burst(lcore, burst);
	vx_forward_burst(lcore, burst);
	for (unsigned int i = 0; i < burst->n; i++) {
		vx_trace_enter(lcore, burst, i);
		deliver_one(lcore, burst, i);
	}
	lcore->trace_id = 0;
}

static void
load_burst(struct vx_lcore *lcore, uint16_t port, struct rte_mbuf **m, uint16_t n, bool is_underlay)
{
	struct vx_traffic *traffic = &lcore->port_traffic[port];
	struct vx_burst *burst = &lcore->burst;
	uint64_t bytes = 0;

	burst->n = n;
	burst->port = port;
	memcpy(burst->m, m, n * sizeof(*m));
	for (unsigned int i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
		bytes += m[i]->pkt_len;
	}
	traffic->rx_frames += n;
	traffic->rx_bytes += bytes;
	vx_lcore_count(lcore, VX_COUNT_RX, n);
	if (unlikely(lcore->view->trace != NULL))
		vx_trace_pick(lcore, burst, is_underlay);
}

void
vx_path_access(struct vx_lcore *lcore, uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	for (uint16_t done = 0; done < n;) {
		const uint16_t part = (uint16_t)RTE_MIN((unsigned int)(n - done), VX_PATH_BURST);

		load_burst(lcore, port, m + done, part, false);
		vx_ingress_burst(lcore, &lcore->burst);
		switch_burst(lcore, &lcore->burst);
		done = (uint16_t)(done + part);
	}
}

void
vx_path_underlay(struct vx_lcore *lcore, uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	for (uint16_t done = 0; done < n;) {
		const uint16_t part = (uint16_t)RTE_MIN((unsigned int)(n - done), VX_PATH_BURST);

		load_burst(lcore, port, m + done, part, true);
		vx_classify_burst(lcore, &lcore->burst);
		vx_decap_burst(lcore, &lcore->burst);
		switch_burst(lcore, &lcore->burst);
		done = (uint16_t)(done + part);
	}
}

void
vx_path_inject(struct vx_lcore *lcore, struct rte_mbuf **m, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		vx_output(lcore, m[i], m[i]->port);
}
