/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_deliver.h"

#include "vx_attach.h"
#include "vx_encap.h"
#include "vx_fdb.h"
#include "vx_output.h"
#include "vx_vtep.h"

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
	vx_output_padded(lcore, m, attach->port);
	return true;
}
