/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's own small copy of the FDB entries it uses, in front of the shared hash: one cache line
 * for four entries, found without a chain of dependent loads.
 *
 * An entry is good as long as nothing in the FDB has been moved or deleted since it was copied: the
 * FDB counts its changes (new entries are none), and every copy carries a tag of the count it was
 * made under. One writer and reader, the worker.
 */
#ifndef VX_FDB_CACHE_H
#define VX_FDB_CACHE_H

#include <stdint.h>

#include <rte_common.h>

#include "vx_fdb.h"

#define VX_FDB_CACHE_BUCKETS 1024u
#define VX_FDB_CACHE_WAYS    4u

struct vx_fdb_bucket {
	uint64_t key[VX_FDB_CACHE_WAYS];
	uint64_t value[VX_FDB_CACHE_WAYS]; /* the tag in its upper bits */
} __rte_cache_aligned;

/* Zeroed memory is an empty one. */
struct vx_fdb_cache {
	uint32_t changes; /* of the FDB, when the tag was last renewed */
	uint32_t next_way;
	uint64_t tag;
	struct vx_fdb_bucket bucket[VX_FDB_CACHE_BUCKETS];
};

/* Once a burst, before its first lookup: forget what may be out of date. */
void vx_fdb_cache_renew(struct vx_fdb_cache *cache, const struct vx_fdb *fdb);

/*
 * Look up @n keys, at most VX_FDB_BULK. value[i]: the entry's (only for the macros of vx_fdb.h), or
 * 0 where there is none, as there never is for a group address.
 */
void vx_fdb_cache_lookup(struct vx_fdb_cache *cache, const struct vx_fdb *fdb, const uint64_t *key,
			 unsigned int n, uint64_t *value);

#endif
