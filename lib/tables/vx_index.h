/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers 0..max-1 for table entries, given out and taken back first in, first out: a number that a
 * late record of a worker may still name is not used again before all others have been.
 */
#ifndef VX_INDEX_H
#define VX_INDEX_H

#include <stdint.h>

#define VX_INDEX_NONE UINT32_MAX

struct vx_rcu;

struct vx_index {
	uint32_t *free; /* circular, max entries */
	uint32_t head, n_free;
	uint32_t n_late; /* neither free nor in use: given back late, readers may still know them */
	uint32_t max;
};

/* 0 or -ENOMEM. */
int vx_index_init(struct vx_index *index, uint32_t max);
void vx_index_fini(struct vx_index *index);

/* VX_INDEX_NONE if all are in use. */
uint32_t vx_index_take(struct vx_index *index);
void vx_index_give(struct vx_index *index, uint32_t number);

/* The same for numbers that workers use: given back when no worker can hold it any more, so that it
 * never means something else within a burst. Taking waits for that when no other is left. */
void vx_index_give_late(struct vx_index *index, uint32_t number, struct vx_rcu *rcu);
uint32_t vx_index_take_late(struct vx_index *index, struct vx_rcu *rcu);

static inline uint32_t
vx_index_used(const struct vx_index *index)
{
	return index->max - index->n_free - index->n_late;
}

#endif
