/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_fdb_cache.h"

#include <string.h>

#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_prefetch.h>

/* A tag fills the bits of a value above VX_FDB_PRESENT. 0 is no tag: an empty way never matches. */
#define TAG_SHIFT 51
#define TAG_MAX	  ((UINT64_C(1) << (64 - TAG_SHIFT)) - 1)

/* All ways of a bucket at once, whatever vectors the machine has. */
typedef uint64_t ways __attribute__((vector_size(VX_FDB_CACHE_WAYS * sizeof(uint64_t))));

void
vx_fdb_cache_renew(struct vx_fdb_cache *cache, const struct vx_fdb *fdb)
{
	const uint32_t changes = __atomic_load_n(&fdb->changes, __ATOMIC_ACQUIRE);

	if (likely(cache->changes == changes && cache->tag != 0))
		return;
	cache->changes = changes;
	if (cache->tag == TAG_MAX) {
		memset(cache->bucket, 0, sizeof(cache->bucket));
		cache->tag = 0;
	}
	cache->tag++;
}

/* The value of the way that holds @key under the present tag, 0 if none does. */
static inline uint64_t
probe(const struct vx_fdb_bucket *bucket, uint64_t key, uint64_t tag)
{
	ways keys, values, found;

	memcpy(&keys, bucket->key, sizeof(keys));
	memcpy(&values, bucket->value, sizeof(values));
	/* A comparison gives all ones or zero for each way; at most one way matches. */
	found = values & (ways)(keys == key) & (ways)((values >> TAG_SHIFT) == tag);
	return (found[0] | found[1]) | (found[2] | found[3]);
}

static inline void
keep(struct vx_fdb_cache *cache, struct vx_fdb_bucket *bucket, uint64_t key, uint64_t value)
{
	const uint32_t way = cache->next_way++ % VX_FDB_CACHE_WAYS;

	bucket->key[way] = key;
	bucket->value[way] = value | cache->tag << TAG_SHIFT;
}

/* Those that the cache does not have; miss[] names their places. */
static void
look_up_misses(struct vx_fdb_cache *cache, const struct vx_fdb *fdb, const uint64_t *key,
	       const uint8_t *miss, unsigned int n_misses, struct vx_fdb_bucket *const *bucket,
	       uint64_t *value)
{
	const void *pointer[VX_FDB_BULK];
	void *data[VX_FDB_BULK];
	uint64_t hits = 0;

	for (unsigned int i = 0; i < n_misses; i++)
		pointer[i] = &key[miss[i]];
	rte_hash_lookup_bulk_data(fdb->hash, pointer, n_misses, &hits, data);
	for (; hits != 0; hits &= hits - 1) {
		const unsigned int hit = (unsigned int)__builtin_ctzll(hits);
		const unsigned int i = miss[hit];

		value[i] = (uint64_t)(uintptr_t)data[hit];
		/* Twice in one burst: the second finds what the first has kept. */
		if (probe(bucket[i], key[i], cache->tag) == 0)
			keep(cache, bucket[i], key[i], value[i]);
	}
}

void
vx_fdb_cache_lookup(struct vx_fdb_cache *cache, const struct vx_fdb *fdb, const uint64_t *key,
		    unsigned int n, uint64_t *value)
{
	struct vx_fdb_bucket *bucket[VX_FDB_BULK];
	uint8_t miss[VX_FDB_BULK];
	unsigned int n_misses = 0;

	for (unsigned int i = 0; i < n; i++) {
		bucket[i] = &cache->bucket[rte_hash_crc_8byte(key[i], 0) % VX_FDB_CACHE_BUCKETS];
		rte_prefetch0(bucket[i]);
	}
	for (unsigned int i = 0; i < n; i++) {
		value[i] = probe(bucket[i], key[i], cache->tag);
		if (unlikely(value[i] == 0) && !vx_fdb_is_group(key[i]))
			miss[n_misses++] = (uint8_t)i;
	}
	if (unlikely(n_misses > 0))
		look_up_misses(cache, fdb, key, miss, n_misses, bucket, value);
}
