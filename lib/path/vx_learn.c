/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_learn.h"

#include <rte_hash_crc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "vx_fdb.h"
#include "vx_segment.h"
#include "vx_trace.h"

/* TSC cycles for which a posted record is not posted again: 2^24, about 8 ms at 2 GHz. */
#define POSTED_SHIFT 24

/* Where the last record of a MAC is remembered: one place a MAC, so that one which moves and comes
 * back at once is posted again. */
static inline uint64_t *
posted_slot(struct vx_lcore *lcore, uint64_t key)
{
	return &lcore->posted[rte_hash_crc_8byte(key, 0) % VX_POSTED];
}

/* Was this (MAC, place) posted a moment ago? Remembers it if not. */
static bool
is_posted(struct vx_lcore *lcore, uint64_t key, uint32_t dest, const struct vx_ip *remote)
{
	const uint64_t epoch = lcore->now >> POSTED_SHIFT;
	const uint32_t hash =
		rte_hash_crc_8byte(remote->words[1], rte_hash_crc_8byte(remote->words[0], 0));
	const uint64_t mark = key ^ (uint64_t)dest << 40 ^ (uint64_t)hash << 16 ^ epoch << 4;
	uint64_t *slot = posted_slot(lcore, key);

	if (*slot == mark)
		return true;
	*slot = mark;
	return false;
}

static void
post(struct vx_lcore *lcore, const struct vx_burst *burst, unsigned int i)
{
	struct vx_learn record = {
		.key = burst->source[i],
		.dest = burst->origin[i],
		.vni = burst->segment[i]->vni,
	};

	/* Of an access burst the array holds what an earlier burst left there. */
	if ((burst->origin[i] & VX_DEST_VTEP) != 0)
		record.remote = burst->remote[i];
	if (is_posted(lcore, record.key, record.dest, &record.remote))
		return;
	if (rte_ring_sp_enqueue_elem(lcore->learn_ring, &record, sizeof(record)) != 0) {
		vx_lcore_count(lcore, VX_COUNT_LEARN_RING_FULL, 1);
		*posted_slot(lcore, record.key) = 0;
		return;
	}
	vx_lcore_count(lcore, VX_COUNT_LEARN_EVENTS, 1);
	vx_trace_enter(lcore, burst, i);
	vx_trace_note(lcore, burst->m[i], VX_TRACE_LEARN, 1);
}

static inline void
learn_one(struct vx_lcore *lcore, const struct vx_burst *burst, unsigned int i, uint64_t value)
{
	if (likely(value != 0 && VX_FDB_DEST(value) == burst->origin[i])) {
		vx_fdb_touch(lcore->tables->fdb, value, lcore->now_seconds);
		return;
	}
	if (!burst->segment[i]->is_learning)
		return;
	if ((value & VX_FDB_STATIC) != 0) {
		vx_lcore_count(lcore, VX_COUNT_STATIC_CONFLICT, 1);
		return;
	}
	post(lcore, burst, i);
}

void
vx_learn_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	uint64_t value[VX_PATH_BURST];

	vx_fdb_cache_lookup(&lcore->fdb_cache, lcore->tables->fdb, burst->source, burst->n, value);
	for (unsigned int i = 0; i < burst->n; i++)
		learn_one(lcore, burst, i, value[i]);
}
