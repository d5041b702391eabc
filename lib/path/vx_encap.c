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
make_room(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t len)
{
	struct rte_mbuf *head;

	if (likely(vx_mbuf_is_direct(m) && rte_pktmbuf_headroom(m) >= len)) {
		rte_pktmbuf_prepend(m, len);
		return m;
	}
	head = rte_pktmbuf_alloc(lcore->copy_pool);
	if (unlikely(head == NULL))
		return NULL;
	head->data_len = len;
	head->pkt_len = m->pkt_len + len;
	head->nb_segs = (uint16_t)(m->nb_segs + 1);
	head->port = m->port;
	head->next = m;
	return head;
}

/* By this worker, to the VTEP: what identifications are made from. */
static inline uint64_t
frames_sent(const struct vx_lcore *lcore, const struct vx_vtep *vtep)
{
	const struct vx_kinds *kinds = &lcore->vtep_traffic[vtep->index];

	return kinds->of[VX_KIND_UNICAST].tx_frames + kinds->of[VX_KIND_FLOODED].tx_frames;
}

/* Is there anything in the header that the ready-made one has not? */
static inline bool
is_special(const struct vx_inner *inner)
{
	return inner->segment->has_own_outer || inner->vtep->is_inheriting;
}

/* Outer TTL and DSCP where the segment has its own, or the inner header's are taken over. */
static void
special(const struct vx_view *view, const struct vx_inner *inner, uint8_t *ttl, uint8_t *dscp)
{
	const struct vx_segment_outer *own = &inner->segment->own_outer;

	*ttl = own->has_ttl ? own->ttl : view->ttl;
	if (*ttl == VX_TTL_INHERIT)
		*ttl = inner->flow.ttl != 0 ? inner->flow.ttl : VX_TTL_DEFAULT;
	if (inner->vtep->path.ttl != 0)
		*ttl = inner->vtep->path.ttl; /* a multicast group's */
	*dscp = own->has_dscp ? own->dscp : view->dscp;
	if (*dscp == VX_DSCP_INHERIT)
		*dscp = inner->flow.tos >> 2;
}

/* What has to be added to the sum of the header for it (RFC 1624). */
static __rte_noinline uint32_t
write_special4(struct vx_outer4 *outer, const struct vx_view *view, const struct vx_inner *inner)
{
	const uint8_t old_tos = outer->ip.type_of_service, old_ttl = outer->ip.time_to_live;
	uint8_t ttl, dscp, tos;

	special(view, inner, &ttl, &dscp);
	tos = (uint8_t)(dscp << 2 | (old_tos & VX_ECN_MASK));
	outer->ip.type_of_service = tos;
	outer->ip.time_to_live = ttl;
	return (uint16_t)~rte_cpu_to_be_16(old_tos) + (uint32_t)rte_cpu_to_be_16(tos) +
	       (uint16_t)~rte_cpu_to_be_16((uint16_t)(old_ttl << 8)) +
	       rte_cpu_to_be_16((uint16_t)(ttl << 8));
}

static __rte_noinline void
write_special6(struct vx_outer6 *outer, const struct vx_view *view, const struct vx_inner *inner)
{
	const rte_be32_t dscp_mask_be = rte_cpu_to_be_32(0x3fu << (VX_IP6_ECN_SHIFT + 2));
	uint8_t ttl, dscp;

	special(view, inner, &ttl, &dscp);
	outer->ip.vtc_flow = (outer->ip.vtc_flow & ~dscp_mask_be) |
			     rte_cpu_to_be_32((uint32_t)dscp << (VX_IP6_ECN_SHIFT + 2));
	outer->ip.hop_limits = ttl;
}

/* Everything that the ready-made header leaves open. @ip_len: the outer IP packet's, in bytes. */
static inline void
write_header4(struct rte_mbuf *m, const struct vx_lcore *lcore, const struct vx_inner *inner,
	      uint16_t ip_len)
{
	struct vx_outer4 *outer = rte_pktmbuf_mtod(m, struct vx_outer4 *);
	const struct vx_view *view = lcore->view;
	const struct vx_vtep *vtep = inner->vtep;
	const uint64_t sent = frames_sent(lcore, vtep);
	const rte_be16_t ip_len_be = rte_cpu_to_be_16(ip_len);
	/* Unique per remote VTEP over all workers: each counts in its own lane (RFC 6864). */
	const rte_be16_t id_be =
		rte_cpu_to_be_16((uint16_t)(sent << lcore->id_shift | lcore->index));
	const rte_be16_t df_be =
		vx_oversize_has_df(view, inner) ? RTE_BE16(RTE_IPV4_HDR_DF_FLAG) : 0;
	/* RFC 6040 section 4.1, normal mode. */
	const uint8_t ecn = inner->flow.tos & view->ecn_mask;
	uint32_t sum = vtep->ip_sum;
	rte_be32_t source_be;

	memcpy(outer, &vtep->outer4, sizeof(*outer));
	if (unlikely(inner->segment->has_local4))
		outer->ip.src_addr = inner->segment->local_be;
	source_be = outer->ip.src_addr;
	outer->ip.type_of_service = vtep->outer4.ip.type_of_service | ecn;
	outer->ip.total_length = ip_len_be;
	outer->ip.packet_id = id_be;
	outer->ip.fragment_offset = df_be;
	sum += rte_cpu_to_be_16(ecn);
	sum += ip_len_be;
	sum += id_be;
	sum += df_be;
	sum += (source_be & 0xffff) + (source_be >> 16);
	if (unlikely(is_special(inner)))
		sum += write_special4(outer, view, inner);
	outer->ip.hdr_checksum = (uint16_t)~vx_csum_fold(sum);
	outer->udp.src_port = rte_cpu_to_be_16(
		vx_flow_port(inner->flow.hash, view->source_port_lo, view->source_ports));
	outer->udp.dst_port = view->udp_port_be;
	outer->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(ip_len - sizeof(struct rte_ipv4_hdr)));
	outer->vxlan.vni_be = inner->segment->vni_be;
}

/* @udp_len: UDP header and payload, in bytes. */
static inline void
write_header6(struct rte_mbuf *m, const struct vx_view *view, const struct vx_inner *inner,
	      uint16_t udp_len)
{
	struct vx_outer6 *outer = rte_pktmbuf_mtod(m, struct vx_outer6 *);
	const uint32_t ecn = inner->flow.tos & view->ecn_mask;

	memcpy(outer, &inner->vtep->outer6, sizeof(*outer));
	if (unlikely(inner->segment->has_local6))
		memcpy(&outer->ip.src_addr, inner->segment->local.bytes,
		       sizeof(inner->segment->local.bytes));
	outer->ip.vtc_flow =
		inner->vtep->outer6.ip.vtc_flow |
		rte_cpu_to_be_32(ecn << VX_IP6_ECN_SHIFT | vx_flow_label(inner->flow.hash));
	if (unlikely(is_special(inner)))
		write_special6(outer, view, inner);
	outer->ip.payload_len = rte_cpu_to_be_16(udp_len);
	outer->udp.src_port = rte_cpu_to_be_16(
		vx_flow_port(inner->flow.hash, view->source_port_lo, view->source_ports));
	outer->udp.dst_port = view->udp_port_be;
	outer->udp.dgram_len = rte_cpu_to_be_16(udp_len);
	outer->vxlan.vni_be = inner->segment->vni_be;
}

/* RFC 768. A computed zero is sent as all ones: zero means "none". */
static inline uint16_t
udp_checksum(uint32_t sum)
{
	const uint16_t checksum = (uint16_t)~vx_csum_fold(sum);

	return checksum == 0 ? 0xffff : checksum;
}

/* Over the whole chain. @udp_len as in the header, whose checksum is still zero. */
static void
write_udp_checksum(struct rte_mbuf *m, uint16_t udp_len, bool is_v6)
{
	struct vx_outer4 *outer4 = rte_pktmbuf_mtod(m, struct vx_outer4 *);
	struct vx_outer6 *outer6 = rte_pktmbuf_mtod(m, struct vx_outer6 *);

	if (is_v6)
		outer6->udp.dgram_cksum =
			udp_checksum(rte_ipv6_phdr_cksum(&outer6->ip, 0) +
				     (uint32_t)vx_csum_range(m, m->pkt_len - udp_len, udp_len));
	else
		outer4->udp.dgram_cksum =
			udp_checksum(rte_ipv4_phdr_cksum(&outer4->ip, 0) +
				     (uint32_t)vx_csum_range(m, m->pkt_len - udp_len, udp_len));
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

/* @id_be: IPv6: the identification of all fragments. */
static void
send_fragments(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_vtep *vtep,
	       rte_be32_t id_be)
{
	bool is_sent;

	vx_trace_note(lcore, m, VX_TRACE_CUT, vtep->mtu);
	if (vtep->is_v6)
		is_sent = vx_fragment6(lcore, m, vtep->mtu, id_be, send_outer, VX_UNCONST(vtep));
	else
		is_sent = vx_fragment(lcore, m, vtep->mtu, send_outer, VX_UNCONST(vtep));
	if (!is_sent)
		vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
}

/* Unique per remote VTEP over all workers, as each counts in its own lane. */
static rte_be32_t
fragment_id6(const struct vx_lcore *lcore, const struct vx_vtep *vtep)
{
	const uint64_t sent = frames_sent(lcore, vtep);

	return rte_cpu_to_be_32(
		(uint32_t)(vtep->fragment_id + (sent << lcore->id_shift | lcore->index)));
}

static inline void
account(struct vx_lcore *lcore, const struct vx_inner *inner, uint32_t frame_len)
{
	vx_traffic_tx(&lcore->vtep_traffic[inner->vtep->index].of[inner->kind], frame_len);
	vx_traffic_tx(&lcore->segment_traffic[inner->segment->index].of[inner->kind], frame_len);
	vx_lcore_count(lcore, VX_COUNT_ENCAP, 1);
}

static inline bool
needs_checksum(const struct vx_view *view, bool is_due)
{
	return view->udp_checksum == VX_UDP_CHECKSUM_ON ||
	       (view->udp_checksum == VX_UDP_CHECKSUM_AUTO && is_due);
}

/* The same for both families, whose constants the compiler puts in: told to, or it would test for
 * the family at each step. */
static __rte_always_inline void
encap(struct vx_lcore *lcore, const struct vx_inner *inner, const bool is_v6)
{
	const uint16_t outer_len = is_v6 ? sizeof(struct vx_outer6) : sizeof(struct vx_outer4);
	const uint32_t ip_header =
		is_v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	const struct vx_vtep *vtep = inner->vtep;
	const uint32_t frame_len = inner->m->pkt_len;
	const uint32_t ip_len = frame_len + outer_len - VX_ETHER_HDR_LEN;
	const uint32_t udp_len = ip_len - ip_header;
	const bool is_cut = ip_len > vtep->mtu;
	rte_be32_t id_be = 0;
	struct rte_mbuf *m;

	if (unlikely(vtep->state != VX_VTEP_READY && vtep->state != VX_VTEP_RESOLVING)) {
		vx_drop_packet(lcore, inner->m, why_not(vtep));
		return;
	}
	/* IPv6 counts its payload alone. */
	if (unlikely((is_v6 ? udp_len : ip_len) > UINT16_MAX)) {
		vx_drop_packet(lcore, inner->m, VX_DROP_TOO_BIG);
		return;
	}
	if (unlikely(is_cut) && !vx_oversize(lcore, inner))
		return;
	m = make_room(lcore, inner->m, outer_len);
	if (unlikely(m == NULL)) {
		vx_drop_packet(lcore, inner->m, VX_DROP_NO_MBUF);
		return;
	}
	if (is_v6)
		write_header6(m, lcore->view, inner, (uint16_t)udp_len);
	else
		write_header4(m, lcore, inner, (uint16_t)ip_len);
	if (unlikely(needs_checksum(lcore->view, is_v6 || is_cut)))
		write_udp_checksum(m, (uint16_t)udp_len, is_v6);
	if (is_v6)
		id_be = fragment_id6(lcore, vtep);
	vx_mbuf_clear_offloads(m);
	account(lcore, inner, frame_len);
	vx_trace_note(lcore, m, VX_TRACE_ENCAP, vtep->index);
	if (unlikely(is_cut))
		send_fragments(lcore, m, vtep, id_be);
	else
		send_outer(lcore, m, VX_UNCONST(vtep));
}

void
vx_encap(struct vx_lcore *lcore, const struct vx_inner *inner)
{
	if (likely(!inner->vtep->is_v6))
		encap(lcore, inner, false);
	else
		encap(lcore, inner, true);
}
