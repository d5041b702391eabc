/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_decap.h"

#include "vx_drop_packet.h"
#include "vx_ecn.h"
#include "vx_mbuf.h"
#include "vx_segment.h"
#include "vx_tag.h"
#include "vx_vtep.h"
#include "vx_wire.h"

/* What the packet before had: most bursts come from one VTEP and one VNI. For one burst only, as
 * entries may go away after it. */
struct last {
	uint32_t vni;
	struct vx_ip remote;
	bool has_vni, has_remote;
	const struct vx_segment *segment;
	const struct vx_vtep *vtep;
};

static inline const struct vx_segment *
find_segment(const struct vx_tables *tables, uint32_t vni, struct last *last)
{
	if (unlikely(!last->has_vni || last->vni != vni)) {
		last->segment = vx_segment_lookup(tables, vni);
		last->vni = vni;
		last->has_vni = true;
	}
	return last->segment;
}

static inline const struct vx_vtep *
find_vtep(const struct vx_tables *tables, const struct vx_ip *remote, struct last *last)
{
	if (unlikely(!last->has_remote || !vx_ip_is_equal(&last->remote, remote))) {
		const int64_t index = vx_vtep_find(tables, remote);

		last->vtep = index < 0 ? NULL : vx_vtep_at(tables, (uint32_t)index);
		last->remote = *remote;
		last->has_remote = true;
	}
	return last->vtep;
}

/* The inner frame, now at the start of @m. */
static inline enum vx_drop
check_inner(struct rte_mbuf *m, const struct vx_segment *segment, uint8_t outer_ecn,
	    uint64_t *source, uint64_t *destination)
{
	uint32_t l3 = VX_ETHER_HDR_LEN;
	const uint8_t *frame;
	enum vx_drop reason;
	rte_be16_t type;

	if (unlikely(!vx_mbuf_pull(m, VX_ETHER_HDR_LEN)))
		return m->pkt_len < VX_ETHER_HDR_LEN ? VX_DROP_INNER_RUNT : VX_DROP_NO_MBUF;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	type = vx_ether_type(frame);
	if (unlikely(vx_is_vlan_tag(type))) {
		if (segment->n_tagged == 0)
			return VX_DROP_INNER_VLAN; /* RFC 7348 section 6.1 */
		l3 += vx_tag_len(m, &type);
	}
	*source = vx_fdb_load_mac(frame + RTE_ETHER_ADDR_LEN);
	if (unlikely(vx_fdb_is_group(*source) || *source == 0))
		return VX_DROP_BAD_SOURCE_MAC;
	*destination = vx_fdb_load_mac(frame);
	if (unlikely(outer_ecn != 0)) {
		reason = vx_ecn_decap(m, l3, type, outer_ecn);
		if (reason != VX_DROP_NONE)
			return reason;
	}
	return VX_DROP_NONE;
}

/* Packet @i; if it stays it goes to place @kept. The head may change: returned in *@m. */
static inline enum vx_drop
decap_one(struct vx_lcore *lcore, struct vx_burst *burst, unsigned int i, unsigned int kept,
	  struct last *last, struct rte_mbuf **m)
{
	const struct vx_segment *segment = find_segment(lcore->tables, burst->vni[i], last);
	const struct vx_vtep *vtep = find_vtep(lcore->tables, &burst->remote[i], last);
	enum vx_drop reason;
	uint64_t source, destination;

	if (unlikely(lcore->view->is_peers_known && (vtep == NULL || !vtep->is_named)))
		return VX_DROP_PEER_UNKNOWN;
	if (unlikely(segment == NULL))
		return VX_DROP_VNI_UNKNOWN;
	if (unlikely((*m)->pkt_len < burst->offset[i] + VX_ETHER_HDR_LEN))
		return VX_DROP_INNER_RUNT;
	*m = vx_mbuf_strip(*m, burst->offset[i]);
	reason = check_inner(*m, segment, burst->ecn[i] & lcore->view->ecn_mask, &source,
			     &destination);
	if (unlikely(reason != VX_DROP_NONE))
		return reason;
	burst->segment[kept] = segment;
	burst->origin[kept] = vtep == NULL ? VX_DEST_NONE : VX_DEST_VTEP | vtep->index;
	burst->source[kept] = vx_fdb_key(segment->index, source);
	burst->destination[kept] = vx_fdb_key(segment->index, destination);
	return VX_DROP_NONE;
}

void
vx_decap_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	struct last last = {0};
	uint16_t kept = 0;

	for (unsigned int i = 0; i < burst->n; i++) {
		struct rte_mbuf *m = burst->m[i];
		enum vx_drop reason;

		vx_trace_enter(lcore, burst, i);
		reason = decap_one(lcore, burst, i, kept, &last, &m);
		if (unlikely(reason != VX_DROP_NONE)) {
			vx_drop_packet(lcore, m, reason);
			continue;
		}
		vx_trace_note(lcore, m, VX_TRACE_DECAP, burst->vni[i]);
		burst->m[kept] = m;
		burst->remote[kept] = burst->remote[i];
		burst->trace[kept] = burst->trace[i];
		kept++;
	}
	vx_lcore_count(lcore, VX_COUNT_DECAP, kept);
	burst->n = kept;
}
