/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_trace.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "vx_attach.h"
#include "vx_tag.h"
#include "vx_wire.h"

/* The inner frame's position and VNI in an underlay packet without options or tags. */
#define PEEK_BYTES  64u
#define PEEK_BYTES6 84u

/* The VNI in an outer header at @bytes, and to @offset its length. */
static bool
peek_outer(const uint8_t *bytes, uint32_t *vni, uint32_t *offset)
{
	const struct vx_outer4 *outer4 = (const struct vx_outer4 *)bytes;
	const struct vx_outer6 *outer6 = (const struct vx_outer6 *)bytes;

	if (outer4->ether_type_be == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
	    outer4->ip.version_ihl == RTE_IPV4_VHL_DEF && outer4->ip.next_proto_id == IPPROTO_UDP) {
		*vni = vx_vni_from_be(outer4->vxlan.vni_be);
		*offset = sizeof(*outer4);
		return true;
	}
	if (outer4->ether_type_be == RTE_BE16(RTE_ETHER_TYPE_IPV6) &&
	    outer6->ip.proto == IPPROTO_UDP) {
		*vni = vx_vni_from_be(outer6->vxlan.vni_be);
		*offset = sizeof(*outer6);
		return true;
	}
	return false;
}

/* The VLAN id of a frame from an access port, 0: none. */
static uint16_t
peek_vlan(const struct rte_mbuf *m)
{
	uint8_t scratch[VX_ETHER_HDR_LEN + VX_VLAN_TAG_LEN];
	const uint8_t *bytes = rte_pktmbuf_read(m, 0, sizeof(scratch), scratch);

	if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0)
		return m->vlan_tci & VX_TAG_ID_MASK;
	if (bytes == NULL || vx_ether_type(bytes) != RTE_BE16(RTE_ETHER_TYPE_VLAN))
		return 0;
	return (uint16_t)(bytes[VX_ETHER_HDR_LEN] << 8 | bytes[VX_ETHER_HDR_LEN + 1]) &
	       VX_TAG_ID_MASK;
}

/* Find VNI and inner MACs without the path's checks: wrong for odd packets, which then are not
 * picked by a VNI or MAC filter, never harmful. */
static bool
peek(const struct vx_lcore *lcore, const struct rte_mbuf *m, uint16_t port, bool is_underlay,
     uint32_t *vni, uint64_t mac[2])
{
	const struct vx_view_port *view_port = &lcore->view->port[port];
	const struct vx_attach *attach;
	uint8_t scratch[PEEK_BYTES6];
	const uint8_t *bytes;
	uint32_t offset = 0, index;

	if (is_underlay) {
		bytes = rte_pktmbuf_read(m, 0, PEEK_BYTES, scratch);
		if (bytes == NULL)
			return false;
		if (vx_ether_type(bytes) == RTE_BE16(RTE_ETHER_TYPE_IPV6))
			bytes = rte_pktmbuf_read(m, 0, PEEK_BYTES6, scratch);
		if (bytes == NULL || !peek_outer(bytes, vni, &offset))
			return false;
	} else {
		bytes = rte_pktmbuf_read(m, 0, VX_ETHER_HDR_LEN, scratch);
		if (bytes == NULL)
			return false;
		index = vx_attach_of_vlan(view_port, peek_vlan(m));
		attach = index == VX_ATTACH_NONE ? NULL : vx_attach_at(lcore->tables, index);
		if (attach == NULL)
			return false;
		*vni = attach->vni;
	}
	mac[0] = vx_fdb_load_mac(bytes + offset);
	mac[1] = vx_fdb_load_mac(bytes + offset + RTE_ETHER_ADDR_LEN);
	return true;
}

static bool
is_wanted(const struct vx_lcore *lcore, const struct rte_mbuf *m, uint16_t port, bool is_underlay)
{
	const struct vx_trace *trace = lcore->view->trace;
	uint64_t mac[2];
	uint32_t vni;

	if (trace->port != UINT32_MAX && trace->port != port)
		return false;
	if (trace->vni == 0 && !trace->has_mac)
		return true;
	if (!peek(lcore, m, port, is_underlay, &vni, mac))
		return false;
	if (trace->vni != 0 && trace->vni != vni)
		return false;
	return !trace->has_mac || trace->mac48 == mac[0] || trace->mac48 == mac[1];
}

void
vx_trace_pick(struct vx_lcore *lcore, struct vx_burst *burst, bool is_underlay)
{
	struct vx_trace *trace = lcore->view->trace;

	for (unsigned int i = 0; i < burst->n; i++) {
		burst->trace[i] = 0;
		if (__atomic_load_n(&trace->remaining, __ATOMIC_RELAXED) <= 0 ||
		    !is_wanted(lcore, burst->m[i], burst->port, is_underlay))
			continue;
		if (__atomic_fetch_sub(&trace->remaining, 1, __ATOMIC_RELAXED) <= 0)
			continue;
		burst->trace[i] = 1 + __atomic_fetch_add(&trace->next_id, 1, __ATOMIC_RELAXED);
		lcore->trace_id = burst->trace[i];
		vx_trace_note(lcore, burst->m[i], VX_TRACE_RX, burst->port);
	}
	lcore->trace_id = 0;
}

void
vx_trace_note_slow(struct vx_lcore *lcore, const struct rte_mbuf *m, enum vx_trace_stage stage,
		   uint32_t value)
{
	struct vx_trace_record record = {
		.tsc = rte_rdtsc(),
		.id = lcore->trace_id,
		.value = value,
		.pkt_len = m->pkt_len,
		.port = m->port,
		.worker = lcore->index,
		.stage = (uint8_t)stage,
		.nb_segs = (uint8_t)RTE_MIN(m->nb_segs, UINT8_MAX),
		.n_bytes = (uint16_t)RTE_MIN(m->pkt_len, VX_TRACE_BYTES),
	};
	const void *bytes = rte_pktmbuf_read(m, 0, record.n_bytes, record.bytes);

	if (bytes != NULL && bytes != record.bytes)
		memcpy(record.bytes, bytes, record.n_bytes);
	if (rte_ring_sp_enqueue_elem(lcore->trace_ring, &record, sizeof(record)) != 0)
		vx_lcore_count(lcore, VX_COUNT_TRACE_LOST, 1);
}
