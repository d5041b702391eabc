/* SPDX-License-Identifier: BSD-3-Clause */
#include "tx.h"

#include <rte_ethdev.h>
#include <rte_pause.h>

#include "worker.h"

/* Calls without progress before a full queue costs packets: bridges the moment in which a virtual
 * device's other end is catching up, and bounds what a dead one costs. */
#define TX_TRIES 64u

static uint16_t
send_all(uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n)
{
	unsigned int tries = 0;
	uint16_t sent = 0;

	while (sent < n) {
		const uint16_t now = rte_eth_tx_burst(port, queue, m + sent, (uint16_t)(n - sent));

		sent = (uint16_t)(sent + now);
		if (likely(now != 0))
			continue;
		if (++tries == TX_TRIES)
			break;
		rte_pause();
	}
	return sent;
}

void
tx_flush(struct vx_lcore *lcore, uint16_t port)
{
	const struct worker_tx *tx = &((struct worker *)lcore->owner)->tx[port];
	struct vx_traffic *traffic = &lcore->port_traffic[port];
	struct vx_tx_buffer *buffer = &lcore->tx[port];
	const uint16_t n = (uint16_t)buffer->n;
	uint64_t bytes = 0, unsent = 0;
	uint16_t sent;

	/* Before the call: the driver frees what it takes. */
	for (unsigned int i = 0; i < n; i++)
		bytes += buffer->m[i]->pkt_len;
	if (unlikely(tx->lock != NULL)) {
		rte_spinlock_lock(tx->lock);
		sent = send_all(port, tx->queue, buffer->m, n);
		rte_spinlock_unlock(tx->lock);
	} else {
		sent = send_all(port, tx->queue, buffer->m, n);
	}
	for (unsigned int i = sent; i < n; i++) {
		unsent += buffer->m[i]->pkt_len;
		rte_pktmbuf_free(buffer->m[i]);
	}
	lcore->counts.value[VX_DROP_TX_FULL] += (uint64_t)(n - sent);
	vx_lcore_count(lcore, VX_COUNT_TX, sent);
	traffic->tx_frames += sent;
	traffic->tx_bytes += bytes - unsent;
	buffer->n = 0;
	buffer->n_segments = 0;
	lcore->tx_pending &= ~(UINT64_C(1) << port);
}

void
tx_flush_pending(struct worker *worker)
{
	struct vx_lcore *lcore = &worker->lcore;

	while (lcore->tx_pending != 0)
		tx_flush(lcore, (uint16_t)__builtin_ctzll(lcore->tx_pending));
}
