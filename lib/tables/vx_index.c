/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_index.h"

#include <errno.h>
#include <stdlib.h>

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
