/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_encap.h"

#include <string.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "vx_csum.h"
#include "vx_drop_packet.h"
#include "vx_fragment.h"
#include "vx_mbuf.h"
#include "vx_output.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_vtep.h"
#include "vx_wire.h"

/* Room for the outer header: in front of the frame, or in a buffer of its own where the frame's
 * buffer is shared or has none. Returns the packet's head; NULL: no buffer, @m is unchanged. */
static inline struct rte_mbuf *
make_room(struct vx_lcore *lcore, struct rte_mbuf *m)
{
	struct rte_mbuf *head;

	if (likely(vx_mbuf_is_direct(m) && rte_pktmbuf_headroom(m) >= sizeof(struct vx_outer4))) {
		rte_pktmbuf_prepend(m, sizeof(struct vx_outer4));
		return m;
	}
	head = rte_pktmbuf_alloc(lcore->copy_pool);
	if (unlikely(head == NULL))
		return NULL;
	head->data_len = sizeof(struct vx_outer4);
	head->pkt_len = m->pkt_len + (uint32_t)sizeof(struct vx_outer4);
	head->nb_segs = (uint16_t)(m->nb_segs + 1);
	head->port = m->port;
	head->next = m;
	return head;
}

/* Everything that the ready-made header leaves open. @ip_len: the outer IP packet's, in bytes. */
static inline void
write_header(struct rte_mbuf *m, const struct vx_lcore *lcore, const struct vx_inner *inner,
	     uint16_t ip_len)
{
	struct vx_outer4 *outer = rte_pktmbuf_mtod(m, struct vx_outer4 *);
	const struct vx_view *view = lcore->view;
	const struct vx_vtep *vtep = inner->vtep;
	const struct vx_kinds *kinds = &lcore->vtep_traffic[vtep->index];
	const uint64_t sent =
		kinds->of[VX_KIND_UNICAST].tx_frames + kinds->of[VX_KIND_FLOODED].tx_frames;
	const rte_be16_t ip_len_be = rte_cpu_to_be_16(ip_len);
	/* Unique per remote VTEP over all workers: each counts in its own lane (RFC 6864). */
	const rte_be16_t id_be =
		rte_cpu_to_be_16((uint16_t)(sent << lcore->id_shift | lcore->index));
	const rte_be16_t df_be =
		vx_oversize_has_df(view, inner->flow) ? RTE_BE16(RTE_IPV4_HDR_DF_FLAG) : 0;
	uint32_t sum = vtep->ip_sum;
	rte_be32_t source_be;

	memcpy(outer, &vtep->header, sizeof(*outer));
	if (unlikely(inner->segment->has_local))
		outer->ip.src_addr = inner->segment->local_be;
	source_be = outer->ip.src_addr;
	outer->ip.type_of_service = inner->flow.ecn; /* RFC 6040 section 4.1, normal mode */
	outer->ip.total_length = ip_len_be;
	outer->ip.packet_id = id_be;
	outer->ip.fragment_offset = df_be;
	sum += rte_cpu_to_be_16(inner->flow.ecn);
	sum += ip_len_be;
	sum += id_be;
	sum += df_be;
	sum += (source_be & 0xffff) + (source_be >> 16);
	outer->ip.hdr_checksum = (uint16_t)~vx_csum_fold(sum);
	outer->udp.src_port = rte_cpu_to_be_16(
		vx_flow_port(inner->flow.hash, view->source_port_lo, view->source_ports));
	outer->udp.dst_port = view->udp_port_be;
	outer->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(ip_len - sizeof(struct rte_ipv4_hdr)));
	outer->vxlan.vni_be = inner->segment->vni_be;
}

/* RFC 768, over the whole chain. A computed zero is sent as all ones: zero means "none". */
static void
write_udp_checksum(struct rte_mbuf *m, uint16_t ip_len)
{
	struct vx_outer4 *outer = rte_pktmbuf_mtod(m, struct vx_outer4 *);
	const uint32_t udp_len = ip_len - (uint32_t)sizeof(struct rte_ipv4_hdr);
	uint32_t sum = rte_ipv4_phdr_cksum(&outer->ip, 0);
	uint16_t checksum;

	sum += vx_csum_range(m, VX_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr), udp_len);
	checksum = (uint16_t)~vx_csum_fold(sum);
	outer->udp.dgram_cksum = checksum == 0 ? 0xffff : checksum;
}

/* Hand a finished packet to the control thread, which sends it once the next hop is known. */
static void
hold(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_vtep *vtep)
{
	struct vx_punt punt = {
		.m = m,
		.remote = vtep->remote,
		.kind = VX_PUNT_HOLD,
		.port = vtep->port,
	};

	vx_trace_note(lcore, m, VX_TRACE_HELD, vtep->index);
	if (rte_ring_sp_enqueue_elem(lcore->punt_ring, &punt, sizeof(punt)) != 0) {
		vx_drop_packet(lcore, m, VX_DROP_NEIGH_QUEUE);
		return;
	}
	vx_lcore_count(lcore, VX_COUNT_HELD, 1);
}

static enum vx_drop
why_not(const struct vx_vtep *vtep)
{
	return vtep->state == VX_VTEP_FAILED ? VX_DROP_NEIGH_FAILED : VX_DROP_NO_ROUTE;
}

/* A finished outer packet, or a fragment of one. @ctx: the VTEP. */
static void
send_outer(struct vx_lcore *lcore, struct rte_mbuf *m, void *ctx)
{
	const struct vx_vtep *vtep = ctx;

	if (unlikely(vtep->state == VX_VTEP_RESOLVING))
		hold(lcore, m, vtep);
	else
		vx_output(lcore, m, vtep->port);
}

static void
send_fragments(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_vtep *vtep)
{
	vx_trace_note(lcore, m, VX_TRACE_CUT, vtep->mtu);
	if (!vx_fragment(lcore, m, vtep->mtu, send_outer, VX_UNCONST(vtep)))
		vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
}

static inline void
account(struct vx_lcore *lcore, const struct vx_inner *inner, uint32_t frame_len)
{
	vx_traffic_tx(&lcore->vtep_traffic[inner->vtep->index].of[inner->kind], frame_len);
	vx_traffic_tx(&lcore->segment_traffic[inner->segment->index].of[inner->kind], frame_len);
	vx_lcore_count(lcore, VX_COUNT_ENCAP, 1);
}

static inline bool
needs_checksum(const struct vx_view *view, bool is_cut)
{
	return view->udp_checksum == VX_UDP_CHECKSUM_ON ||
	       (view->udp_checksum == VX_UDP_CHECKSUM_AUTO && is_cut);
}

void
vx_encap(struct vx_lcore *lcore, const struct vx_inner *inner)
{
	const struct vx_vtep *vtep = inner->vtep;
	const uint32_t frame_len = inner->m->pkt_len;
	const uint32_t ip_len = frame_len + (uint32_t)VX_OUTER4_IP_LEN;
	const bool is_cut = ip_len > vtep->mtu;
	struct rte_mbuf *m;

	if (unlikely(vtep->state != VX_VTEP_READY && vtep->state != VX_VTEP_RESOLVING)) {
		vx_drop_packet(lcore, inner->m, why_not(vtep));
		return;
	}
	if (unlikely(ip_len > UINT16_MAX)) {
		vx_drop_packet(lcore, inner->m, VX_DROP_TOO_BIG);
		return;
	}
	if (unlikely(is_cut) && !vx_oversize(lcore, inner))
		return;
	m = make_room(lcore, inner->m);
	if (unlikely(m == NULL)) {
		vx_drop_packet(lcore, inner->m, VX_DROP_NO_MBUF);
		return;
	}
	write_header(m, lcore, inner, (uint16_t)ip_len);
	if (unlikely(needs_checksum(lcore->view, is_cut)))
		write_udp_checksum(m, (uint16_t)ip_len);
	vx_mbuf_clear_offloads(m);
	account(lcore, inner, frame_len);
	vx_trace_note(lcore, m, VX_TRACE_ENCAP, vtep->index);
	if (unlikely(is_cut))
		send_fragments(lcore, m, vtep);
	else
		send_outer(lcore, m, VX_UNCONST(vtep));
}
