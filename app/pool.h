/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet buffers: one mempool for each (NUMA node, data room) in use, shared by the ports that need
 * it. Only the control thread calls these functions; the mempools themselves are for everybody.
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "vx_err.h"

#define POOL_MAX      64
#define POOL_NAME_MAX 27 /* RTE_MEMPOOL_NAMESIZE leaves 26 characters */

struct pool {
	char name[POOL_NAME_MAX];
	struct rte_mempool *mempool;
	uint32_t size;	    /* mbufs */
	uint32_t promised;  /* of these, what its users and the workers may need at the same time */
	uint32_t kept;	    /* lost to drivers that do not give them back */
	uint32_t n_users;   /* pool_take() minus pool_release() */
	uint16_t data_room; /* bytes, headroom included */
	int node;	    /* NUMA node */
	bool is_fixed;	    /* a person gave the size: it is shared whatever was promised */
};

/* Zeroed is a valid empty table. A slot is free when its mempool is NULL. */
struct pool_table {
	struct pool pool[POOL_MAX];
	uint32_t serial; /* makes names unique */
};

struct pool_need {
	int node;
	uint16_t data_room;
	uint32_t share; /* mbufs that the ports asking may hold */
	uint32_t base; /* mbufs that workers may hold, once in each pool: caches, bursts, waiting */
	uint32_t fixed; /* not 0: the pool's size, instead of what the two above make */
	uint32_t cache; /* mbufs cached per lcore */
	bool receives; /* ports receive into it; otherwise only for copies, with no more than @share
			*/
};

/* The NUMA node with memory that is nearest to @socket (SOCKET_ID_ANY: node 0). */
int pool_node(int socket);

/* Bytes of memory that @n mbufs with @data_room take. */
uint64_t pool_memory(uint32_t n, uint16_t data_room);

/* Make sure that @need->share mbufs can be taken from one pool; creates a pool if needed. */
int pool_ensure(struct pool_table *table, const struct pool_need *need, struct vx_err *err);

/* A pool with @share mbufs not promised to others; NULL: call pool_ensure() first. */
struct pool *pool_take(struct pool_table *table, int node, uint16_t data_room, uint32_t share);

/* Mbufs of @pool that are on their way: not in it, and not kept. */
uint32_t pool_out(const struct pool *pool);

/* Give back what pool_take() promised. The pool stays for the next who needs one like it: workers
 * may still return mbufs to it, and no count can tell when the last one has. NULL is allowed. */
void pool_release(struct pool *pool, uint32_t share);

/* The mbufs that are not in their pools, nor kept by drivers for ever: 0 once no port and no worker
 * holds any. */
uint32_t pool_missing(const struct pool_table *table);

/* Free all pools; no port or worker may use them any more. Returns pool_missing() before that. */
uint32_t pool_destroy_all(struct pool_table *table);

#endif
