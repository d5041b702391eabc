/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_forward.h"

#include "vx_attach.h"
#include "vx_drop_packet.h"
#include "vx_segment.h"
#include "vx_fdb.h"
#include "vx_vtep.h"

/* An entry may outlive what it points to by a moment: then the MAC counts as unknown. */
static inline bool
is_there(const struct vx_tables *tables, uint32_t dest)
{
	if ((dest & VX_DEST_VTEP) != 0)
		return vx_vtep_at(tables, dest & VX_DEST_INDEX) != NULL;
	return vx_attach_at(tables, dest) != NULL;
}

static inline enum vx_drop
forward_one(const struct vx_tables *tables, uint32_t origin, uint64_t value, uint32_t *dest)
{
	*dest = VX_DEST_NONE;
	if (value == 0 || unlikely(!is_there(tables, VX_FDB_DEST(value))))
		return VX_DROP_NONE;
	*dest = VX_FDB_DEST(value);
	if (unlikely((origin & VX_DEST_VTEP) != 0 && (*dest & VX_DEST_VTEP) != 0))
		return VX_DROP_SPLIT_HORIZON;
	if (unlikely(*dest == origin))
		return VX_DROP_SAME_PORT;
	return VX_DROP_NONE;
}

/* What came in, now that its kind is known. From a remote VTEP that is not in the table yet only
 * the segment counts it. */
static inline void
account(struct vx_lcore *lcore, const struct vx_segment *segment, uint32_t origin,
	enum vx_kind kind, uint32_t len)
{
	if ((origin & VX_DEST_VTEP) == 0) {
		vx_traffic_rx(&lcore->attach_traffic[origin].of[kind], len);
		return;
	}
	vx_traffic_rx(&lcore->segment_traffic[segment->index].of[kind], len);
	if (likely(origin != VX_DEST_NONE))
		vx_traffic_rx(&lcore->vtep_traffic[origin & VX_DEST_INDEX].of[kind], len);
}

/* Group addresses are never in the FDB: learning refuses them, `fdb add` too. So the lookup needs
 * no special case for them. */
void
vx_forward_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	uint64_t value[VX_PATH_BURST];
	uint16_t kept = 0;

	vx_fdb_cache_lookup(&lcore->fdb_cache, lcore->tables->fdb, burst->destination, burst->n,
			    value);
	for (unsigned int i = 0; i < burst->n; i++) {
		enum vx_drop reason;
		uint32_t dest;

		vx_trace_enter(lcore, burst, i);
		reason = forward_one(lcore->tables, burst->origin[i], value[i], &dest);
		vx_trace_note(lcore, burst->m[i], VX_TRACE_FORWARD, dest);
		account(lcore, burst->segment[i], burst->origin[i],
			dest == VX_DEST_NONE ? VX_KIND_FLOODED : VX_KIND_UNICAST,
			burst->m[i]->pkt_len);
		if (unlikely(reason != VX_DROP_NONE)) {
			vx_drop_packet(lcore, burst->m[i], reason);
			continue;
		}
		burst->m[kept] = burst->m[i];
		burst->segment[kept] = burst->segment[i];
		burst->origin[kept] = burst->origin[i];
		burst->trace[kept] = burst->trace[i];
		burst->dest[kept] = dest;
		kept++;
	}
	burst->n = kept;
}
