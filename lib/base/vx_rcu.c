/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_rcu.h"

#include <limits.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>

/* The queue may hold more than it was asked for: DPDK rounds its size up. */
#define DEFER_MAX 4096
#define ALL	  UINT_MAX

struct vx_rcu {
	struct rte_rcu_qsbr *qsbr;
	struct rte_rcu_qsbr_dq *queue;
};

struct deferred {
	void (*free_fn)(void *arg);
	void *arg;
};

static void
call_deferred(void *unused, void *elements, unsigned int n)
{
	const struct deferred *element = elements;

	RTE_SET_USED(unused);
	for (unsigned int i = 0; i < n; i++)
		element[i].free_fn(element[i].arg);
}

struct vx_rcu *
vx_rcu_create(unsigned int max_readers)
{
	char name[RTE_RCU_QSBR_DQ_NAMESIZE];
	struct rte_rcu_qsbr_dq_parameters params = {
		.name = name,
		.flags = RTE_RCU_QSBR_DQ_MT_UNSAFE,
		.size = DEFER_MAX,
		.esize = sizeof(struct deferred),
		.trigger_reclaim_limit = 32,
		.max_reclaim_size = DEFER_MAX,
		.free_fn = call_deferred,
	};
	struct vx_rcu *rcu;
	size_t size;

	rcu = rte_zmalloc("vx_rcu", sizeof(*rcu), 0);
	if (rcu == NULL)
		goto err_none;
	size = rte_rcu_qsbr_get_memsize(max_readers);
	rcu->qsbr = rte_zmalloc("vx_rcu_qsbr", size, RTE_CACHE_LINE_SIZE);
	if (rcu->qsbr == NULL)
		goto err_free_rcu;
	if (rte_rcu_qsbr_init(rcu->qsbr, max_readers) != 0)
		goto err_free_qsbr;
	snprintf(name, sizeof(name), "vx_rcu_%p", (void *)rcu);
	params.v = rcu->qsbr;
	rcu->queue = rte_rcu_qsbr_dq_create(&params);
	if (rcu->queue == NULL)
		goto err_free_qsbr;
	return rcu;

err_free_qsbr:
	rte_free(rcu->qsbr);
err_free_rcu:
	rte_free(rcu);
err_none:
	if (rte_errno == 0)
		rte_errno = ENOMEM;
	return NULL;
}

void
vx_rcu_destroy(struct vx_rcu *rcu)
{
	if (rcu == NULL)
		return;
	vx_rcu_synchronize(rcu);
	rte_rcu_qsbr_dq_delete(rcu->queue);
	rte_free(rcu->qsbr);
	rte_free(rcu);
}

struct rte_rcu_qsbr *
vx_rcu_qsbr(struct vx_rcu *rcu)
{
	return rcu->qsbr;
}

void
vx_rcu_online(struct vx_rcu *rcu, unsigned int reader)
{
	rte_rcu_qsbr_thread_register(rcu->qsbr, reader);
	rte_rcu_qsbr_thread_online(rcu->qsbr, reader);
}

void
vx_rcu_offline(struct vx_rcu *rcu, unsigned int reader)
{
	rte_rcu_qsbr_thread_offline(rcu->qsbr, reader);
	rte_rcu_qsbr_thread_unregister(rcu->qsbr, reader);
}

void
vx_rcu_defer(struct vx_rcu *rcu, void (*free_fn)(void *arg), void *arg)
{
	struct deferred element = {.free_fn = free_fn, .arg = arg};

	if (arg == NULL)
		return;
	if (rte_rcu_qsbr_dq_enqueue(rcu->queue, &element) == 0)
		return;
	vx_rcu_synchronize(rcu);
	free_fn(arg);
}

void
vx_rcu_free(struct vx_rcu *rcu, const void *memory)
{
	vx_rcu_defer(rcu, rte_free, VX_UNCONST(memory));
}

void
vx_rcu_reclaim(struct vx_rcu *rcu)
{
	rte_rcu_qsbr_dq_reclaim(rcu->queue, ALL, NULL, NULL, NULL);
}

void
vx_rcu_synchronize(struct vx_rcu *rcu)
{
	rte_rcu_qsbr_synchronize(rcu->qsbr, RTE_QSBR_THRID_INVALID);
	rte_rcu_qsbr_dq_reclaim(rcu->queue, ALL, NULL, NULL, NULL);
}
