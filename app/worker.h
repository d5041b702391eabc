/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: one per lcore, run to completion. */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_spinlock.h>

#include "vx_err.h"
#include "vx_lcore.h"

struct app;

#define WORKER_QUEUES_MAX 256u
#define WORKER_BURST_MAX  512u
#define WORKER_INJECT	  64u /* packets of the control thread taken in one loop */

/* The receive queues that a worker polls; immutable once published. */
struct worker_queues {
	unsigned int n;
	struct {
		uint16_t port, queue;
		bool is_underlay;
	} queue[];
};

/* The queue on which a worker sends to a port. @lock is not NULL where workers share it. */
struct worker_tx {
	uint16_t queue;
	rte_spinlock_t *lock;
};

/* How a worker spends its time; it writes, others read relaxed. */
struct worker_load {
	uint64_t busy_cycles; /* of loops that had packets */
	uint64_t idle_cycles;
	uint64_t bursts; /* receive calls that returned packets */
	uint64_t packets;
};

struct worker {
	struct vx_lcore lcore;		    /* first: the path gets a pointer to it */
	const struct worker_queues *queues; /* the control thread publishes, RCU frees */
	struct rte_ring *inject;	    /* packets of the control thread, struct rte_mbuf * */
	struct worker_tx tx[RTE_MAX_ETHPORTS]; /* written while the port is not in use */
	struct worker_load load;
	uint32_t burst; /* packets asked for in one receive call */
	unsigned int lcore_id;
	bool is_stopping; /* set once by the control thread, atomic */
} __rte_cache_aligned;

/* Make and start @app->n_workers workers, one an lcore. 0 or negative with @err. */
int workers_start(struct app *app, struct vx_err *err);

/* Stop all, free what they still hold (counted as `tx_port_down`), free them. */
void workers_stop(struct app *app);

/* Choose the queues on which workers send to ports that are about to come up. 0 or -ENOMEM. */
int workers_assign_tx(struct app *app, struct vx_err *err);

/* Give the receive queues of started ports to the workers; with forwarding stopped, none. Waits
 * until all workers follow. 0, or -ENOSPC or -ENOMEM with nothing changed. */
int workers_assign(struct app *app, struct vx_err *err);

/* The main function of a worker's lcore: @arg is its struct worker. */
int worker_main(void *arg);

#endif
