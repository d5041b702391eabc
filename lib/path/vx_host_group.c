/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_host_group.h"

#include "vx_drop_packet.h"
#include "vx_group_message.h"
#include "vx_host.h"
#include "vx_igmp.h"
#include "vx_mld.h"
#include "vx_trace.h"
#include "vx_wire.h"

static void
tell_control(struct vx_lcore *lcore, uint16_t port, const struct vx_group_query *query)
{
	struct vx_punt punt = {
		.kind = VX_PUNT_QUERY,
		.port = port,
		.remote = query->group,
		.query.max_response_ms = query->max_response_ms,
		.query.interval_s = query->interval_s,
		.query.version = query->version,
		.query.robustness = query->robustness,
		.is_v6 = query->is_v6,
	};

	vx_lcore_count(lcore, VX_COUNT_GROUP_QUERIES, 1);
	vx_host_tell(lcore, &punt);
}

/* Where what @query says goes: the message itself ends here. */
static void
finish(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port,
       const struct vx_group_query *query, uint32_t protocol)
{
	vx_trace_note(lcore, m, VX_TRACE_HOST, protocol);
	/* Reports of other members change nothing here: ours are never held back for them, as a
	 * forged one could then make us leave. */
	if (query->version != 0)
		tell_control(lcore, port, query);
	vx_host_consume(lcore, m);
}

void
vx_host_igmp(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
	     uint32_t ip_header)
{
	const struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, ip_offset);
	struct vx_group_query query;

	if (!vx_bucket_take(&lcore->group_bucket, lcore->now))
		vx_drop_packet(lcore, m, VX_DROP_HOST_RATE);
	else if (vx_igmp_parse(m, ip_offset + ip_header, ip->time_to_live, &query) != VX_DROP_NONE)
		vx_drop_packet(lcore, m, VX_DROP_GROUP_BAD);
	else
		finish(lcore, m, port, &query, IPPROTO_IGMP);
}

void
vx_host_mld(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
	    uint32_t l4_offset)
{
	struct vx_group_query query;

	if (!vx_bucket_take(&lcore->group_bucket, lcore->now))
		vx_drop_packet(lcore, m, VX_DROP_HOST_RATE);
	else if (vx_mld_parse(m, ip_offset, l4_offset, &query) != VX_DROP_NONE)
		vx_drop_packet(lcore, m, VX_DROP_GROUP_BAD);
	else
		finish(lcore, m, port, &query, IPPROTO_ICMPV6);
}
