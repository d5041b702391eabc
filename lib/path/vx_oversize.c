/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_oversize.h"

#include <string.h>

#include "vx_drop_packet.h"
#include "vx_encap.h"
#include "vx_fragment.h"
#include "vx_mbuf.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_tag.h"
#include "vx_too_big.h"
#include "vx_vtep.h"
#include "vx_wire.h"

#define HEADERS_LEN (VX_ETHER_HDR_LEN + (uint32_t)sizeof(struct rte_ipv4_hdr))

/* The largest inner IP packet that the path to the VTEP takes in one piece, with the VLAN tags of
 * @m in front; 0: none worth the name. */
static uint16_t
inner_mtu(const struct vx_vtep *vtep, const struct rte_mbuf *m)
{
	rte_be16_t type;
	const uint32_t overhead = vx_vtep_overhead(vtep) + VX_ETHER_HDR_LEN + vx_tag_len(m, &type);

	return vtep->mtu < overhead + VX_INNER_MTU_MIN ? 0 : (uint16_t)(vtep->mtu - overhead);
}

/* One piece of the inner packet: small enough, and encapsulated like any other frame. */
static void
send_piece(struct vx_lcore *lcore, struct rte_mbuf *m, void *ctx)
{
	struct vx_inner piece = *(const struct vx_inner *)ctx;

	piece.m = m;
	piece.flow = vx_flow_of(m);
	vx_encap(lcore, &piece);
}

/* An IPv4 packet that may be cut: no DF, no options, nothing behind it. */
static bool
may_cut(const struct rte_mbuf *m)
{
	uint8_t scratch[HEADERS_LEN];
	const uint8_t *bytes = rte_pktmbuf_read(m, 0, sizeof(scratch), scratch);
	struct rte_ipv4_hdr ip;

	if (bytes == NULL || m->data_len < HEADERS_LEN ||
	    vx_ether_type(bytes) != RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return false;
	memcpy(&ip, bytes + VX_ETHER_HDR_LEN, sizeof(ip));
	return ip.version_ihl == RTE_IPV4_VHL_DEF &&
	       (ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_DF_FLAG)) == 0 &&
	       VX_ETHER_HDR_LEN + rte_be_to_cpu_16(ip.total_length) == m->pkt_len;
}

static bool
cut_inner(struct vx_lcore *lcore, const struct vx_inner *inner)
{
	const uint16_t mtu = inner_mtu(inner->vtep, inner->m);

	if (mtu == 0 || !may_cut(inner->m))
		return false;
	vx_trace_note(lcore, inner->m, VX_TRACE_CUT, mtu);
	if (!vx_fragment(lcore, inner->m, mtu, send_piece, VX_UNCONST(inner)))
		vx_drop_packet(lcore, inner->m, VX_DROP_NO_MBUF);
	return true;
}

/* Tell the sender, if it came from an attachment and can be told; the frame ends either way. */
static void
reply(struct vx_lcore *lcore, const struct vx_inner *inner)
{
	const bool is_told =
		(inner->origin & VX_DEST_VTEP) == 0 &&
		vx_too_big_reply(lcore, inner->m, inner_mtu(inner->vtep, inner->m), inner->origin);

	vx_drop_packet(lcore, inner->m, is_told ? VX_DROP_TOO_BIG_REPLIED : VX_DROP_TOO_BIG);
}

bool
vx_oversize(struct vx_lcore *lcore, const struct vx_inner *inner)
{
	switch (lcore->view->oversize) {
	case VX_OVERSIZE_OUTER:
		if (!vx_oversize_has_df(lcore->view, inner))
			return true;
		vx_drop_packet(lcore, inner->m, VX_DROP_NEEDS_FRAGMENT_DF);
		return false;
	case VX_OVERSIZE_INNER:
		if (!cut_inner(lcore, inner))
			reply(lcore, inner);
		return false;
	case VX_OVERSIZE_REPLY:
		reply(lcore, inner);
		return false;
	case VX_OVERSIZE_DROP:
		break;
	}
	vx_drop_packet(lcore, inner->m, VX_DROP_TOO_BIG);
	return false;
}
