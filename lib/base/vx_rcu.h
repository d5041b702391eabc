/* SPDX-License-Identifier: BSD-3-Clause */
/* Read-copy-update for the tables: one writer (the control thread), the workers read. */
#ifndef VX_RCU_H
#define VX_RCU_H

#include <stdint.h>

#include <rte_rcu_qsbr.h>

struct vx_rcu;

/* @max_readers workers will register with ids 0..max_readers-1. NULL with rte_errno on failure. */
struct vx_rcu *vx_rcu_create(unsigned int max_readers);

/* Frees what is still deferred; no reader may be online. NULL is allowed. */
void vx_rcu_destroy(struct vx_rcu *rcu);

/* The QSBR variable: for rte_hash, and for the workers' rte_rcu_qsbr_quiescent(). */
struct rte_rcu_qsbr *vx_rcu_qsbr(struct vx_rcu *rcu);

/* Reader side: before its first and after its last look at a table. */
void vx_rcu_online(struct vx_rcu *rcu, unsigned int reader);
void vx_rcu_offline(struct vx_rcu *rcu, unsigned int reader);

/*
 * Writer side. Call @free_fn(@arg) once every reader has passed a quiescent state; what @arg
 * points to must be unreachable for new readers already.
 * Where the queue of deferred calls is full this waits for the readers instead.
 */
void vx_rcu_defer(struct vx_rcu *rcu, void (*free_fn)(void *arg), void *arg);

/* What is immutable for readers is const; its owner frees it all the same. */
#define VX_UNCONST(pointer) ((void *)(uintptr_t)(pointer))

/* Writer side. rte_free() @memory (NULL is allowed) after a grace period. */
void vx_rcu_free(struct vx_rcu *rcu, const void *memory);

/* Writer side. Make the calls whose time has come; from a timer. */
void vx_rcu_reclaim(struct vx_rcu *rcu);

/* Writer side. Wait until every reader has passed a quiescent state, then make all deferred calls.
 */
void vx_rcu_synchronize(struct vx_rcu *rcu);

#endif
