/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <numa.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "vx_log.h"

#define MEBIBYTE (1024u * 1024u)

int
pool_node(int socket)
{
	int best = rte_socket_id_by_idx(0);
	int best_distance = INT_MAX;

	if (socket < 0)
		return best < 0 ? 0 : best;
	for (unsigned int i = 0; i < rte_socket_count(); i++) {
		const int node = rte_socket_id_by_idx(i);
		int distance = 0;

		if (node == socket)
			return node;
		if (numa_available() >= 0)
			distance = numa_distance(socket, node);
		/* 0 says that the kernel does not know this pair */
		if (distance == 0)
			distance = INT_MAX - 1;
		if (distance < best_distance) {
			best = node;
			best_distance = distance;
		}
	}
	return best < 0 ? 0 : best;
}

uint64_t
pool_memory(uint32_t n, uint16_t data_room)
{
	struct rte_mempool_objsz size;
	const uint32_t each =
		rte_mempool_calc_obj_size((uint32_t)sizeof(struct rte_mbuf) + data_room, 0, &size);

	/* each mbuf has a slot in the pool's ring, which has a power of two of them */
	return (uint64_t)n * each + (uint64_t)rte_align64pow2(n + 1ull) * sizeof(void *);
}

static bool
has_room(const struct pool *pool, uint32_t share)
{
	return pool->is_fixed || pool->size - pool->promised >= share;
}

static struct pool *
find(struct pool_table *table, int node, uint16_t data_room, uint32_t share)
{
	for (unsigned int i = 0; i < POOL_MAX; i++) {
		struct pool *pool = &table->pool[i];

		if (pool->mempool != NULL && pool->node == node && pool->data_room == data_room &&
		    has_room(pool, share))
			return pool;
	}
	return NULL;
}

static uint32_t
computed_size(const struct pool_need *need)
{
	/* A reserve for what no formula foresees, such as bursts that drivers keep back. */
	const uint64_t sum = (uint64_t)need->share + need->base;
	const uint64_t size = sum + sum / 8;

	return (uint32_t)RTE_MIN(RTE_MAX(size, 256u), (uint64_t)UINT32_MAX / 2);
}

static int
create(struct pool_table *table, const struct pool_need *need, struct vx_err *err)
{
	const uint32_t size = need->fixed != 0 ? need->fixed : computed_size(need);
	/* rte_mempool insists on 1.5 caches at least; a small pool gets small caches. */
	const uint32_t cache =
		RTE_MIN(RTE_MIN(need->cache, (uint32_t)RTE_MEMPOOL_CACHE_MAX_SIZE), size / 4);
	struct pool *pool = NULL;

	for (unsigned int i = 0; i < POOL_MAX && pool == NULL; i++)
		if (table->pool[i].mempool == NULL)
			pool = &table->pool[i];
	if (pool == NULL)
		return vx_err_set(err, ENOSPC, "more than %d different packet buffer pools",
				  POOL_MAX);
	memset(pool, 0, sizeof(*pool));
	snprintf(pool->name, sizeof(pool->name), "vx%u_n%d_%u", table->serial++, need->node,
		 need->data_room);
	pool->mempool =
		rte_pktmbuf_pool_create(pool->name, size, cache, 0, need->data_room, need->node);
	if (pool->mempool == NULL)
		return vx_err_set(
			err, rte_errno,
			"%u packet buffers of %u bytes need %" PRIu64 " MiB on NUMA node %d: %s; "
			"reserve more hugepages (with --no-huge: a larger -m) or ask for fewer "
			"(--total-num-mbufs, --rxd, --txd, --rxq)",
			size, need->data_room, pool_memory(size, need->data_room) / MEBIBYTE + 1,
			need->node, rte_strerror(rte_errno));
	pool->size = size;
	pool->promised = RTE_MIN(need->base, size);
	pool->data_room = need->data_room;
	pool->node = need->node;
	pool->is_fixed = need->fixed != 0;
	VX_LOG(INFO, "pool %s: %u mbufs of %u bytes on NUMA node %d, %" PRIu64 " MiB", pool->name,
	       size, pool->data_room, pool->node, pool_memory(size, pool->data_room) / MEBIBYTE);
	return 0;
}

int
pool_ensure(struct pool_table *table, const struct pool_need *need, struct vx_err *err)
{
	if (find(table, need->node, need->data_room, need->share) != NULL)
		return 0;
	return create(table, need, err);
}

struct pool *
pool_take(struct pool_table *table, int node, uint16_t data_room, uint32_t share)
{
	struct pool *pool = find(table, node, data_room, share);

	if (pool != NULL) {
		pool->promised += share;
		pool->n_users++;
	}
	return pool;
}

uint32_t
pool_out(const struct pool *pool)
{
	uint32_t out;

	if (pool->mempool == NULL)
		return 0;
	out = pool->size - rte_mempool_avail_count(pool->mempool);
	return out > pool->kept ? out - pool->kept : 0;
}

void
pool_release(struct pool *pool, uint32_t share)
{
	if (pool == NULL)
		return;
	pool->promised -= share;
	pool->n_users--;
}

uint32_t
pool_missing(const struct pool_table *table)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < POOL_MAX; i++)
		sum += pool_out(&table->pool[i]);
	return sum;
}

uint32_t
pool_destroy_all(struct pool_table *table)
{
	const uint32_t sum = pool_missing(table);

	for (unsigned int i = 0; i < POOL_MAX; i++) {
		rte_mempool_free(table->pool[i].mempool);
		table->pool[i].mempool = NULL;
	}
	return sum;
}
