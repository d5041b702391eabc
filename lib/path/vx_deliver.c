/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_deliver.h"

#include "vx_attach.h"
#include "vx_drop_packet.h"
#include "vx_encap.h"
#include "vx_fdb.h"
#include "vx_output.h"
#include "vx_segment.h"
#include "vx_tag.h"
#include "vx_vtep.h"

void
vx_deliver_attach(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_attach *attach)
{
	struct rte_mbuf *tagged = m;

	if (attach->vlan - 1u < VX_VLAN_MAX)
		tagged = vx_tag_push(m, lcore->copy_pool, RTE_BE16(RTE_ETHER_TYPE_VLAN),
				     attach->vlan);
	if (unlikely(tagged == NULL))
		vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
	else
		vx_output_padded(lcore, tagged, attach->port);
}

bool
vx_deliver(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t dest, struct vx_inner *frame)
{
	const struct vx_attach *attach;

	if ((dest & VX_DEST_VTEP) != 0) {
		frame->m = m;
		frame->vtep = vx_vtep_at(lcore->tables, dest & VX_DEST_INDEX);
		if (unlikely(frame->vtep == NULL))
			return false;
		vx_encap(lcore, frame);
		return true;
	}
	attach = vx_attach_at(lcore->tables, dest);
	if (unlikely(attach == NULL))
		return false;
	/* A tag of the frame's own would be taken for the attachment's at the other end. */
	if (unlikely(frame->segment->n_tagged > 0 && attach->vlan != VX_VLAN_ALL &&
		     vx_tag_is_in(m))) {
		vx_drop_packet(lcore, m, VX_DROP_EGRESS_VLAN);
		return true;
	}
	vx_traffic_tx(&lcore->attach_traffic[attach->index].of[frame->kind], m->pkt_len);
	vx_deliver_attach(lcore, m, attach);
	return true;
}
