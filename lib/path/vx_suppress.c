/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_suppress.h"

#include <string.h>

#include "vx_binding.h"
#include "vx_deliver.h"
#include "vx_drop_packet.h"
#include "vx_resolve.h"
#include "vx_seen.h"
#include "vx_segment.h"
#include "vx_tenants.h"
#include "vx_wire.h"

/* What the packet says, as it would stand in the table: flags that it does not give stay as they
 * were last seen. */
static uint64_t
value_of(const struct vx_resolve *resolve, uint64_t known)
{
	const uint64_t mac48 = vx_fdb_key_of(0, &resolve->sender_mac);

	if (resolve->is_advert)
		return vx_binding_value(mac48, resolve->is_router, resolve->is_override);
	if (VX_BINDING_MAC(known) == mac48)
		return known & ~VX_BINDING_STATIC;
	return vx_binding_value(mac48, false, true);
}

static void
observe(struct vx_lcore *lcore, const struct vx_segment *segment, const struct vx_resolve *resolve)
{
	const uint64_t known = vx_binding_lookup(lcore->tables, segment->index, &resolve->sender);
	struct vx_seen seen = {
		.ip = resolve->sender,
		.value = value_of(resolve, known),
		.segment = segment->index,
		.vni = segment->vni,
	};
	const bool is_moved = known != 0 && VX_BINDING_MAC(known) != VX_BINDING_MAC(seen.value);

	if ((known & ~VX_BINDING_STATIC) == seen.value)
		return;
	if (is_moved && (known & VX_BINDING_STATIC) != 0) {
		vx_lcore_count(lcore, VX_COUNT_BINDING_CONFLICT, 1);
		return;
	}
	/* Without the override flag it does not replace what is known (RFC 4861 7.2.5). */
	if (is_moved && resolve->is_advert && !resolve->is_override)
		return;
	vx_seen_post(lcore, &seen);
}

/* The binding by which a request from @origin is to be answered, or 0. */
static uint64_t
find_owner(const struct vx_tables *tables, const struct vx_segment *segment, uint32_t origin,
	   const struct vx_ip *target)
{
	const uint64_t binding = vx_binding_lookup(tables, segment->index, target);
	const uint64_t key = vx_fdb_key(segment->index, VX_BINDING_MAC(binding));
	void *data;

	if (binding == 0)
		return 0;
	/* A learned one counts for as long as its MAC is known, also between two rounds of ageing.
	 */
	if (rte_hash_lookup_data(tables->fdb->hash, &key, &data) < 0)
		return (binding & VX_BINDING_STATIC) != 0 ? binding : 0;
	return VX_FDB_DEST((uint64_t)(uintptr_t)data) == origin ? 0 : binding;
}

/* A buffer of its own for the answer: the request's may be shared, or in pieces. */
static struct rte_mbuf *
make_answer(struct vx_lcore *lcore, const struct vx_resolve *asked, uint64_t binding)
{
	const rte_le64_t mac = rte_cpu_to_le_64(VX_BINDING_MAC(binding));
	struct vx_resolve_owner owner = {
		.is_router = (binding & VX_BINDING_ROUTER) != 0,
		.is_override = (binding & VX_BINDING_OVERRIDE) != 0,
	};
	struct rte_mbuf *answer = rte_pktmbuf_alloc(lcore->copy_pool);
	uint32_t len;

	if (answer == NULL)
		return NULL;
	memcpy(&owner.mac, &mac, sizeof(owner.mac));
	len = vx_resolve_answer(rte_pktmbuf_mtod(answer, uint8_t *), asked, &owner);
	answer->data_len = (uint16_t)len;
	answer->pkt_len = len;
	return answer;
}

/* True: the request in @m has been answered, and is gone. */
static bool
answer_one(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_segment *segment,
	   uint32_t origin, const struct vx_resolve *asked)
{
	struct vx_inner frame = {.segment = segment, .origin = origin};
	const uint64_t binding = find_owner(lcore->tables, segment, origin, &asked->target);
	struct rte_mbuf *answer;

	if (binding == 0)
		return false;
	answer = make_answer(lcore, asked, binding);
	if (answer == NULL)
		return false; /* the owner can still answer by itself */
	vx_lcore_count(lcore, VX_COUNT_CONSUMED, 1);
	vx_lcore_count(lcore, VX_COUNT_ORIGINATED, 1);
	vx_lcore_count(lcore, asked->is_nd ? VX_COUNT_SUPPRESSED_ND : VX_COUNT_SUPPRESSED_ARP, 1);
	vx_trace_note(lcore, m, VX_TRACE_HOST, asked->is_nd ? IPPROTO_ICMPV6 : RTE_ETHER_TYPE_ARP);
	/* It does not come to where others are counted; it would have been flooded. */
	vx_traffic_rx(&lcore->attach_traffic[origin].of[VX_KIND_FLOODED], m->pkt_len);
	answer->port = m->port;
	rte_pktmbuf_free(m);
	if (!vx_deliver(lcore, answer, origin, &frame))
		vx_drop_packet(lcore, answer, VX_DROP_NO_TARGET);
	return true;
}

/* True: packet @i has left the burst. */
static bool
suppress_one(struct vx_lcore *lcore, const struct vx_burst *burst, unsigned int i)
{
	const struct vx_segment *segment = burst->segment[i];
	struct vx_resolve resolve;

	if ((vx_watch_of(lcore->tables, segment->index) & VX_WATCH_SUPPRESS) == 0 ||
	    !vx_resolve_parse(burst->m[i], &resolve))
		return false;
	vx_trace_enter(lcore, burst, i);
	if (!vx_ip_is_none(&resolve.sender))
		observe(lcore, segment, &resolve);
	/* Unicast requests, by which a host is asked whether it is still there, it answers itself;
	 * what comes out of a tunnel was let through there. */
	if (vx_ip_is_none(&resolve.target) || !vx_fdb_is_group(burst->destination[i]) ||
	    (burst->origin[i] & VX_DEST_VTEP) != 0)
		return false;
	return answer_one(lcore, burst->m[i], segment, burst->origin[i], &resolve);
}

void
vx_suppress_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	uint16_t kept = 0;

	for (unsigned int i = 0; i < burst->n; i++) {
		if (suppress_one(lcore, burst, i))
			continue;
		burst->m[kept] = burst->m[i];
		burst->segment[kept] = burst->segment[i];
		burst->source[kept] = burst->source[i];
		burst->destination[kept] = burst->destination[i];
		burst->origin[kept] = burst->origin[i];
		burst->trace[kept] = burst->trace[i];
		kept++;
	}
	burst->n = kept;
}
