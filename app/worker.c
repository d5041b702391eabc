/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a worker: receive, path, send, quiescent. Setting workers up is in workers.c. */
#include "worker.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "tx.h"
#include "vx_path.h"
#include "vx_rcu.h"
#include "vx_reassemble.h"

/* One receive call for each queue in turn. Returns the packets received. */
static unsigned int
poll_queues(struct worker *worker, const struct worker_queues *queues)
{
	struct vx_lcore *lcore = &worker->lcore;
	struct rte_mbuf *m[WORKER_BURST_MAX];
	unsigned int total = 0;

	for (unsigned int i = 0; i < queues->n; i++) {
		const uint16_t port = queues->queue[i].port;
		const uint16_t n =
			rte_eth_rx_burst(port, queues->queue[i].queue, m, (uint16_t)worker->burst);

		if (n == 0)
			continue;
		if (queues->queue[i].is_underlay)
			vx_path_underlay(lcore, port, m, n);
		else
			vx_path_access(lcore, port, m, n);
		tx_flush_pending(worker);
		worker->load.bursts++;
		total += n;
	}
	return total;
}

static void
account(struct worker *worker, unsigned int packets, uint64_t start)
{
	const uint64_t spent = rte_rdtsc() - start;

	if (packets == 0) {
		worker->load.idle_cycles += spent;
		rte_pause();
		return;
	}
	worker->load.busy_cycles += spent;
	worker->load.packets += packets;
}

int
worker_main(void *arg)
{
	struct worker *worker = arg;
	struct vx_lcore *lcore = &worker->lcore;
	struct vx_tables *tables = lcore->tables;
	struct rte_rcu_qsbr *qsbr = vx_rcu_qsbr(tables->rcu);

	vx_rcu_online(tables->rcu, lcore->index);
	while (!__atomic_load_n(&worker->is_stopping, __ATOMIC_RELAXED)) {
		const uint64_t start = rte_rdtsc();
		const struct worker_queues *queues;
		struct rte_mbuf *injected[WORKER_INJECT];
		unsigned int packets;

		/* Before the view is loaded, so that no packet meets one older than itself: what a
		 * queue or the control thread gives may count on the view that was published first.
		 */
		queues = __atomic_load_n(&worker->queues, __ATOMIC_ACQUIRE);
		packets = rte_ring_sc_dequeue_burst(worker->inject, (void **)injected,
						    WORKER_INJECT, NULL);
		lcore->now = start;
		lcore->view = __atomic_load_n(&tables->view, __ATOMIC_ACQUIRE);
		lcore->now_seconds = __atomic_load_n(&tables->fdb->now, __ATOMIC_RELAXED);
		if (packets > 0) {
			vx_path_inject(lcore, injected, (uint16_t)packets);
			tx_flush_pending(worker);
		}
		packets += poll_queues(worker, queues);
		vx_reassembly_expire(lcore);
		/* No transmit buffer holds anything here, and no pointer into a table is kept. */
		rte_rcu_qsbr_quiescent(qsbr, lcore->index);
		account(worker, packets, start);
	}
	vx_rcu_offline(tables->rcu, lcore->index);
	return 0;
}
