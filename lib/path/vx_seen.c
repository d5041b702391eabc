/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_seen.h"

#include <rte_hash_crc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "vx_lcore.h"

/* TSC cycles for which what was reported is not reported again: 2^24, about 8 ms at 2 GHz. */
#define POSTED_SHIFT 24

/* Was the same reported a moment ago, or too much of anything? Remembers it if not. */
static bool
is_held_back(struct vx_lcore *lcore, const struct vx_seen *seen)
{
	const uint32_t hash = rte_hash_crc(&seen->ip, sizeof(seen->ip), seen->segment);
	const uint32_t where = rte_hash_crc_4byte(seen->origin, seen->kind);
	const uint64_t epoch = lcore->now >> POSTED_SHIFT;
	const uint64_t mark = seen->value ^ (uint64_t)hash << 32 ^ (uint64_t)where << 16 ^ epoch;
	uint64_t *slot = &lcore->seen_posted[hash % VX_SEEN_MARKS];

	if (*slot == mark)
		return true;
	*slot = mark;
	if (vx_bucket_take(&lcore->seen_bucket, lcore->now))
		return false;
	vx_lcore_count(lcore, VX_COUNT_TENANT_EVENTS_LOST, 1);
	return true;
}

void
vx_seen_post(struct vx_lcore *lcore, const struct vx_seen *seen)
{
	struct vx_seen record = *seen; /* the ring takes no pointer to const */

	if (is_held_back(lcore, seen))
		return;
	if (rte_ring_sp_enqueue_elem(lcore->seen_ring, &record, sizeof(record)) != 0)
		vx_lcore_count(lcore, VX_COUNT_TENANT_EVENTS_LOST, 1);
	else
		vx_lcore_count(lcore, VX_COUNT_TENANT_EVENTS, 1);
}
