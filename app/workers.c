/* SPDX-License-Identifier: BSD-3-Clause */
/* Making workers, giving them queues, taking them down. The control thread's side of worker.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "app.h"
#include "tx.h"
#include "vx_log.h"
#include "vx_path.h"
#include "vx_rcu.h"
#include "vx_reassemble.h"
#include "vx_seen.h"
#include "vx_trace.h"
#include "worker.h"

#define LEARN_RING  16384u
#define PUNT_RING   1024u
#define TRACE_RING  4096u
#define SEEN_RING   4096u
#define INJECT_RING 1024u

/* Packets for this host that one worker takes in a second, of each kind. */
#define HOST_RATE  2000u
#define HOST_BURST 512u

/* "Too big" answers to inner senders: they repeat what they were told, once is enough. */
#define TOO_BIG_RATE  1000u
#define TOO_BIG_BURST 50u

/* What one worker reports of tenants' ARP and ND. */
#define SEEN_RATE  10000u
#define SEEN_BURST 2048u

/* Group-specific queries come in bursts, when another member has left. */
#define GROUP_RATE  500u
#define GROUP_BURST 256u

static struct rte_ring *
ring_create(const char *what, const struct worker *worker, unsigned int size, unsigned int element)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "vx_%s_%u", what, worker->lcore_id);
	return rte_ring_create_elem(name, element, size,
				    (int)rte_lcore_to_socket_id(worker->lcore_id),
				    RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static void
worker_destroy(struct worker *worker)
{
	if (worker == NULL)
		return;
	rte_free(worker->lcore.segment_traffic);
	rte_free(worker->lcore.attach_traffic);
	rte_free(worker->lcore.vtep_traffic);
	rte_free(worker->lcore.reassembly);
	rte_ring_free(worker->lcore.learn_ring);
	rte_ring_free(worker->lcore.punt_ring);
	rte_ring_free(worker->lcore.trace_ring);
	rte_ring_free(worker->lcore.seen_ring);
	rte_ring_free(worker->inject);
	rte_free(VX_UNCONST(worker->queues));
	rte_free(worker);
}

/* Outer fragments may keep a quarter of the smallest receive pool waiting, all workers together. */
static uint32_t
buffers_to_hold(const struct app *app)
{
	uint32_t smallest = UINT32_MAX;

	for (unsigned int i = 0; i < POOL_MAX; i++)
		if (app->ports.pools.pool[i].mempool != NULL)
			smallest = RTE_MIN(smallest, app->ports.pools.pool[i].size);
	return RTE_MAX(VX_REASSEMBLY_FRAGMENTS, smallest / 4 / app->n_workers);
}

static struct worker *
worker_create(struct app *app, unsigned int index, unsigned int lcore_id)
{
	const int node = (int)rte_lcore_to_socket_id(lcore_id);
	const struct vx_tables_conf *conf = &app->tables->conf;
	struct worker *worker;
	struct vx_lcore *lcore;

	worker = rte_zmalloc_socket("worker", sizeof(*worker), RTE_CACHE_LINE_SIZE, node);
	if (worker == NULL)
		return NULL;
	worker->lcore_id = lcore_id;
	worker->burst = app->options.burst;
	worker->queues = rte_zmalloc("worker_queues", sizeof(*worker->queues), 0);
	worker->inject = ring_create("inject", worker, INJECT_RING, sizeof(void *));
	lcore = &worker->lcore;
	lcore->tables = app->tables;
	lcore->copy_pool = app->copy_pool;
	lcore->index = (uint16_t)index;
	lcore->flush = tx_flush;
	lcore->owner = worker;
	lcore->arp_bucket = vx_bucket_make(rte_get_tsc_hz(), HOST_RATE, HOST_BURST);
	lcore->other_arp_bucket = lcore->arp_bucket;
	lcore->nd_bucket = lcore->arp_bucket;
	lcore->other_nd_bucket = lcore->arp_bucket;
	lcore->icmp_bucket = lcore->arp_bucket;
	lcore->too_big_bucket = vx_bucket_make(rte_get_tsc_hz(), TOO_BIG_RATE, TOO_BIG_BURST);
	lcore->seen_bucket = vx_bucket_make(rte_get_tsc_hz(), SEEN_RATE, SEEN_BURST);
	lcore->group_bucket = vx_bucket_make(rte_get_tsc_hz(), GROUP_RATE, GROUP_BURST);
	lcore->reassembly =
		rte_zmalloc_socket("reassembly", vx_reassembly_size(), RTE_CACHE_LINE_SIZE, node);
	if (lcore->reassembly != NULL)
		vx_reassembly_init(lcore->reassembly, (uint32_t)rte_rand(), buffers_to_hold(app));
	lcore->learn_ring = ring_create("learn", worker, LEARN_RING, sizeof(struct vx_learn));
	lcore->punt_ring = ring_create("punt", worker, PUNT_RING, sizeof(struct vx_punt));
	lcore->trace_ring =
		ring_create("trace", worker, TRACE_RING, sizeof(struct vx_trace_record));
	lcore->seen_ring = ring_create("seen", worker, SEEN_RING, sizeof(struct vx_seen));
	lcore->segment_traffic =
		rte_zmalloc_socket("segment_traffic", conf->max_vnis * sizeof(struct vx_kinds),
				   RTE_CACHE_LINE_SIZE, node);
	lcore->attach_traffic =
		rte_zmalloc_socket("attach_traffic", conf->max_attaches * sizeof(struct vx_kinds),
				   RTE_CACHE_LINE_SIZE, node);
	lcore->vtep_traffic =
		rte_zmalloc_socket("vtep_traffic", conf->max_vteps * sizeof(struct vx_kinds),
				   RTE_CACHE_LINE_SIZE, node);
	/* Lanes of IP IDs: a power of two, so that each wraps at 65,536 without meeting another. */
	while (1u << lcore->id_shift < app->n_workers)
		lcore->id_shift++;
	if (worker->queues == NULL || lcore->reassembly == NULL || worker->inject == NULL ||
	    lcore->learn_ring == NULL || lcore->punt_ring == NULL || lcore->trace_ring == NULL ||
	    lcore->seen_ring == NULL || lcore->segment_traffic == NULL ||
	    lcore->attach_traffic == NULL || lcore->vtep_traffic == NULL) {
		worker_destroy(worker);
		return NULL;
	}
	return worker;
}

int
workers_start(struct app *app, struct vx_err *err)
{
	unsigned int lcore_id, n = 0;

	app->worker = calloc(app->n_workers, sizeof(*app->worker));
	if (app->worker == NULL)
		return vx_err_set(err, ENOMEM, "no memory for workers");
	RTE_LCORE_FOREACH_WORKER (lcore_id) {
		if (n == app->n_workers)
			break;
		app->worker[n] = worker_create(app, n, lcore_id);
		if (app->worker[n] == NULL)
			return vx_err_set(err, ENOMEM,
					  "no memory for the worker on lcore %u: give more with -m "
					  "or more hugepages",
					  lcore_id);
		n++;
	}
	for (unsigned int i = 0; i < n; i++)
		rte_eal_remote_launch(worker_main, app->worker[i], app->worker[i]->lcore_id);
	return 0;
}

/* The rings of a worker that has ended: packets in them are dropped, learn records forgotten. */
static void
drain(struct app *app, struct worker *worker)
{
	struct rte_mbuf *m;
	struct vx_punt punt;

	while (rte_ring_sc_dequeue(worker->inject, (void **)&m) == 0) {
		app->counts.value[VX_DROP_TX_PORT_DOWN]++;
		rte_pktmbuf_free(m);
	}
	while (rte_ring_sc_dequeue_elem(worker->lcore.punt_ring, &punt, sizeof(punt)) == 0) {
		if (punt.kind != VX_PUNT_HOLD)
			continue;
		app->counts.value[VX_COUNT_UNHELD]++;
		app->counts.value[VX_DROP_TX_PORT_DOWN]++;
		rte_pktmbuf_free(punt.m);
	}
}

void
workers_stop(struct app *app)
{
	for (unsigned int i = 0; i < app->n_workers && app->worker != NULL; i++)
		if (app->worker[i] != NULL)
			__atomic_store_n(&app->worker[i]->is_stopping, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < app->n_workers && app->worker != NULL; i++) {
		if (app->worker[i] == NULL)
			continue;
		rte_eal_wait_lcore(app->worker[i]->lcore_id);
		drain(app, app->worker[i]);
		vx_reassembly_flush(&app->worker[i]->lcore);
		worker_destroy(app->worker[i]);
		app->worker[i] = NULL;
	}
	free(app->worker);
	app->worker = NULL;
}

/* Which worker polls the next queue of @port: queue q of every port goes to worker q, shifted by
 * the port where there is only one, so that single-queue ports spread over the workers. */
static unsigned int
worker_for(const struct app *app, const struct port_queue *queue)
{
	const struct port *port = &app->ports.port[queue->port];
	const unsigned int shift = port->plan.n_rxq == 1 ? queue->port : 0;

	return (queue->queue + shift) % app->n_workers;
}

static void
warn_remote_node(const struct app *app, const struct port_queue *queue, unsigned int index)
{
	const struct worker *worker = app->worker[index];
	const int node = (int)rte_lcore_to_socket_id(worker->lcore_id);

	if (queue->node >= 0 && node >= 0 && node != queue->node)
		VX_LOG(WARNING,
		       "lcore %u on NUMA node %d polls port %u (%s) on node %d: packets cross the "
		       "nodes; choose lcores of node %d with -l",
		       worker->lcore_id, node, queue->port, app->ports.port[queue->port].name,
		       queue->node, queue->node);
}

/* Workers that share a transmit queue of a port take turns. */
static int
assign_port_tx(struct app *app, const struct port *port, struct vx_err *err)
{
	const uint16_t n_txq = port->plan.n_txq == 0 ? 1 : port->plan.n_txq;
	rte_spinlock_t *locks = app->tx_lock[port->id];

	if (locks == NULL) {
		locks = rte_zmalloc("tx_locks", app->n_workers * RTE_CACHE_LINE_SIZE,
				    RTE_CACHE_LINE_SIZE);
		if (locks == NULL)
			return vx_err_set(err, ENOMEM, "no memory for the locks of port %u",
					  port->id);
		app->tx_lock[port->id] = locks;
	}
	for (unsigned int i = 0; i < app->n_workers; i++) {
		struct worker_tx *tx = &app->worker[i]->tx[port->id];

		tx->queue = (uint16_t)(i % n_txq);
		tx->lock = NULL;
		if (n_txq < app->n_workers)
			tx->lock = RTE_PTR_ADD(locks, tx->queue * RTE_CACHE_LINE_SIZE);
	}
	return 0;
}

int
workers_assign_tx(struct app *app, struct vx_err *err)
{
	int rc = 0;

	/* Only what no worker sends to now; the view makes the change visible. */
	for (unsigned int id = 0; id < RTE_MAX_ETHPORTS && rc == 0; id++)
		if (app->ports.port[id].state == PORT_STARTED && !app->tables->view->port[id].is_up)
			rc = assign_port_tx(app, &app->ports.port[id], err);
	return rc;
}

/* The list of one worker: those of the @n queues that it polls. NULL: no memory. */
static struct worker_queues *
queues_create(const struct app *app, unsigned int worker, const struct port_queue *queue,
	      unsigned int n)
{
	struct worker_queues *mine;

	mine = rte_zmalloc("worker_queues", sizeof(*mine) + n * sizeof(mine->queue[0]), 0);
	for (unsigned int i = 0; mine != NULL && i < n; i++) {
		if (worker_for(app, &queue[i]) != worker)
			continue;
		mine->queue[mine->n].port = queue[i].port;
		mine->queue[mine->n].queue = queue[i].queue;
		mine->queue[mine->n].is_underlay =
			app->ports.port[queue[i].port].role == VX_ROLE_UNDERLAY;
		mine->n++;
	}
	return mine;
}

int
workers_assign(struct app *app, struct vx_err *err)
{
	struct worker_queues *list[RTE_MAX_LCORE] = {NULL};
	struct port_queue queue[WORKER_QUEUES_MAX];
	const unsigned int n =
		app->is_forwarding ? port_queues(&app->ports, queue, WORKER_QUEUES_MAX) : 0;

	if (n > WORKER_QUEUES_MAX)
		return vx_err_set(err, ENOSPC,
				  "%u receive queues are too many: expected at most %u", n,
				  WORKER_QUEUES_MAX);
	/* All or none: a half-changed set of lists could have a queue polled twice. */
	for (unsigned int w = 0; w < app->n_workers; w++) {
		list[w] = queues_create(app, w, queue, n);
		if (list[w] != NULL)
			continue;
		while (w-- > 0)
			rte_free(list[w]);
		return vx_err_set(err, ENOMEM, "no memory for the lists of queues");
	}
	for (unsigned int i = 0; i < n; i++)
		warn_remote_node(app, &queue[i], worker_for(app, &queue[i]));
	for (unsigned int w = 0; w < app->n_workers; w++) {
		const struct worker_queues *old = app->worker[w]->queues;

		__atomic_store_n(&app->worker[w]->queues, list[w], __ATOMIC_RELEASE);
		vx_rcu_free(app->tables->rcu, old);
	}
	vx_rcu_synchronize(app->tables->rcu);
	return 0;
}
