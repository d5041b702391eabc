/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_index.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "vx_rcu.h"

int
vx_index_init(struct vx_index *index, uint32_t max)
{
	index->free = calloc(max, sizeof(*index->free));
	if (index->free == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < max; i++)
		index->free[i] = i;
	index->head = 0;
	index->n_free = max;
	index->n_late = 0;
	index->max = max;
	return 0;
}

void
vx_index_fini(struct vx_index *index)
{
	free(index->free);
	index->free = NULL;
}

uint32_t
vx_index_take(struct vx_index *index)
{
	uint32_t number;

	if (index->n_free == 0)
		return VX_INDEX_NONE;
	number = index->free[index->head];
	index->head = index->head + 1 == index->max ? 0 : index->head + 1;
	index->n_free--;
	return number;
}

void
vx_index_give(struct vx_index *index, uint32_t number)
{
	uint64_t tail = (uint64_t)index->head + index->n_free;

	index->free[tail % index->max] = number;
	index->n_free++;
}

/* A number on its way back, until no reader can know it any more. */
struct late {
	struct vx_index *index;
	uint32_t number;
};

static void
give_late(void *arg)
{
	struct late *late = arg;

	late->index->n_late--;
	vx_index_give(late->index, late->number);
	rte_free(late);
}

void
vx_index_give_late(struct vx_index *index, uint32_t number, struct vx_rcu *rcu)
{
	struct late *late = rte_malloc("vx_index_late", sizeof(*late), 0);

	if (late == NULL) {
		vx_rcu_synchronize(rcu);
		vx_index_give(index, number);
		return;
	}
	index->n_late++;
	*late = (struct late){.index = index, .number = number};
	vx_rcu_defer(rcu, give_late, late);
}

uint32_t
vx_index_take_late(struct vx_index *index, struct vx_rcu *rcu)
{
	uint32_t number = vx_index_take(index);

	/* The last ones may only be waiting for readers. If none is, waiting would be in vain, and
	 * whoever can have us try makes us wait as often. */
	if (number != VX_INDEX_NONE || index->n_late == 0)
		return number;
	vx_rcu_synchronize(rcu);
	return vx_index_take(index);
}
