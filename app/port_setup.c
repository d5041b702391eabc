/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "port.h"
#include "port_plan.h"
#include "vx_log.h"

/* --- buffers --- */

/* Mbufs that workers may hold of one pool: in caches, in a burst on its way, in the transmit
 * buffer of every port, and packets that wait. */
static uint32_t
software_base(const struct port_conf *conf, uint32_t frame, uint16_t data_room,
	      unsigned int n_ports)
{
	const uint32_t buffer = (uint32_t)data_room - RTE_PKTMBUF_HEADROOM;
	/* A chain may begin with a buffer that is not full. */
	const uint32_t segments = frame <= buffer ? 1 : (frame + buffer - 1) / buffer + 1;
	const uint32_t frames = conf->n_workers * conf->burst * (2 + n_ports) + conf->held_packets;

	return (conf->n_workers + 1u) * conf->mbcache * 3 / 2 + frames * segments;
}

static void
add_need(struct pool_need *needs, unsigned int *n, int node, uint16_t data_room, uint32_t share,
	 bool receives)
{
	unsigned int i = 0;

	while (i < *n && (needs[i].node != node || needs[i].data_room != data_room))
		i++;
	if (i == *n) {
		needs[i] = (struct pool_need){.node = node, .data_room = data_room};
		*n += 1;
	}
	needs[i].share += share;
	needs[i].receives |= receives;
}

/* Pools for @ports with @plans (@n of each) together, so that they share. */
static int
ensure_pools(struct port_table *table, struct port *const *ports,
	     const struct port_plan *const *plans, unsigned int n, struct vx_err *err)
{
	const struct port_conf *conf = &table->conf;
	struct pool_need needs[2 * RTE_MAX_ETHPORTS];
	unsigned int n_needs = 0;
	uint32_t frame = 0;
	int rc = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct port_plan *plan = plans[i];

		add_need(needs, &n_needs, ports[i]->node, plan->data_room, plan->pool_share, true);
		/* Large buffers that few use: never as many as a person wants to receive into. */
		if (plan->linear_room > plan->data_room)
			add_need(needs, &n_needs, ports[i]->node, plan->linear_room,
				 plan->linear_share, false);
		frame = RTE_MAX(frame, plan->frame);
	}
	for (unsigned int i = 0; i < n_needs && rc == 0; i++) {
		if (needs[i].receives) {
			needs[i].base = software_base(conf, frame, needs[i].data_room, n);
			needs[i].fixed = conf->total_mbufs;
			needs[i].cache = conf->mbcache;
		}
		rc = pool_ensure(&table->pools, &needs[i], err);
	}
	return rc;
}

static void
release_buffers(struct port_buffers *buffers)
{
	pool_release(buffers->pool, buffers->share);
	pool_release(buffers->linear, buffers->linear_share);
	memset(buffers, 0, sizeof(*buffers));
}

static int
take_buffers(struct port_table *table, const struct port *port, const struct port_plan *plan,
	     struct port_buffers *buffers, struct vx_err *err)
{
	memset(buffers, 0, sizeof(*buffers));
	buffers->share = plan->pool_share;
	buffers->linear_share = plan->linear_share;
	buffers->pool = pool_take(&table->pools, port->node, plan->data_room, plan->pool_share);
	if (buffers->pool == NULL)
		goto err_none;
	if (plan->linear_room <= plan->data_room)
		return 0;
	buffers->linear =
		pool_take(&table->pools, port->node, plan->linear_room, plan->linear_share);
	if (buffers->linear != NULL)
		return 0;
	release_buffers(buffers);
err_none:
	return vx_err_set(err, ENOMEM, "port %u (%s): no packet buffers are left for it", port->id,
			  port->name);
}

static void
use_buffers(struct port *port, const struct port_plan *plan, const struct port_buffers *buffers)
{
	port->plan = *plan;
	port->buffers = *buffers;
	port->mempool = buffers->pool->mempool;
	port->linear_mempool = NULL;
	if (plan->linear_room != 0)
		port->linear_mempool =
			buffers->linear != NULL ? buffers->linear->mempool : port->mempool;
}

/* --- the driver --- */

static int
configure(struct port *port, struct vx_err *err)
{
	const struct port_plan *plan = &port->plan;
	const uint32_t dev_flags = *port->info.dev_flags;
	struct rte_eth_conf conf = {
		.rxmode = {.mtu = plan->driver_mtu, .offloads = plan->rx_offloads},
		.txmode = {.offloads = plan->tx_offloads},
		.intr_conf = {.lsc = (dev_flags & RTE_ETH_DEV_INTR_LSC) != 0,
			      .rmv = (dev_flags & RTE_ETH_DEV_INTR_RMV) != 0},
	};
	int rc;

	if (plan->rss_hf != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = plan->rss_hf;
	}
	port->has_lsc = conf.intr_conf.lsc != 0;
	rc = rte_eth_dev_configure(port->id, plan->n_rxq, plan->n_txq, &conf);
	if (rc != 0)
		return vx_err_set(err, -rc,
				  "port %u (%s) refuses %u receive and %u transmit queues, MTU %u: "
				  "%s",
				  port->id, port->name, plan->n_rxq, plan->n_txq, plan->driver_mtu,
				  rte_strerror(-rc));
	return 0;
}

static int
tell_mtu(struct port *port, struct vx_err *err)
{
	struct port_plan *plan = &port->plan;
	int rc;

	if (!plan->tells_driver)
		return 0;
	rc = rte_eth_dev_set_mtu(port->id, plan->driver_mtu);
	if (rc == 0)
		return 0;
	plan->tells_driver = false;
	plan->is_mtu_untold = true;
	if (rc == -ENOTSUP || (port->quirk->flags & PORT_QUIRK_MTU_SOFT) != 0)
		return 0;
	return vx_err_set(err, -rc, "port %u (%s) refuses MTU %u: its driver %s says: %s", port->id,
			  port->name, plan->mtu, port->info.driver_name, rte_strerror(-rc));
}

static int
setup_queues(struct port *port, struct vx_err *err)
{
	const struct port_plan *plan = &port->plan;
	struct rte_eth_rxconf rxconf = port->info.default_rxconf;
	struct rte_eth_txconf txconf = port->info.default_txconf;
	const unsigned int node = (unsigned int)port->node;
	int rc;

	rxconf.offloads = plan->rx_offloads;
	txconf.offloads = plan->tx_offloads;
	for (uint16_t q = 0; q < plan->n_rxq; q++) {
		rc = rte_eth_rx_queue_setup(port->id, q, plan->n_rxd, node, &rxconf, port->mempool);
		if (rc != 0)
			return vx_err_set(err, -rc,
					  "port %u (%s) refuses receive queue %u: %s; it has %u "
					  "descriptors, frames up to %u bytes and %u mbufs of %u "
					  "(--rxd, --mtu, --total-num-mbufs, --mbuf-size)",
					  port->id, port->name, q, rte_strerror(-rc), plan->n_rxd,
					  plan->frame, port->buffers.pool->size, plan->data_room);
	}
	for (uint16_t q = 0; q < plan->n_txq; q++) {
		rc = rte_eth_tx_queue_setup(port->id, q, plan->n_txd, node, &txconf);
		if (rc != 0)
			return vx_err_set(err, -rc,
					  "port %u (%s) refuses transmit queue %u: %s; it has %u "
					  "descriptors (--txd)",
					  port->id, port->name, q, rte_strerror(-rc), plan->n_txd);
	}
	return 0;
}

/* Configure, MTU, queues: drivers want them in this order. */
static int
apply(struct port *port, struct vx_err *err)
{
	int rc = configure(port, err);

	if (rc == 0)
		rc = tell_mtu(port, err);
	if (rc == 0)
		rc = setup_queues(port, err);
	return rc;
}

/* One line for each thing that is not as a person would expect. */
static void
log_differences(const struct port *port)
{
	const struct port_plan *plan = &port->plan;
	const uint32_t needed = (uint32_t)plan->mtu + RTE_ETHER_HDR_LEN;

	if (plan->is_mtu_untold)
		VX_LOG(NOTICE, "port %u (%s): %s was not told the MTU %u, the limit is kept here",
		       port->id, port->name, port->info.driver_name, plan->mtu);
	if (plan->limits.max_tx_frame < needed)
		VX_LOG(WARNING, "port %u (%s): %s sends at most %u bytes, MTU %u needs %u",
		       port->id, port->name, port->info.driver_name, plan->limits.max_tx_frame,
		       plan->mtu, needed);
	if (plan->limits.max_rx_frame < needed)
		VX_LOG(WARNING, "port %u (%s): %s receives at most %u bytes, MTU %u needs %u",
		       port->id, port->name, port->info.driver_name, plan->limits.max_rx_frame,
		       plan->mtu, needed);
	if (port->has_fallen_back)
		VX_LOG(WARNING, "port %u (%s): several queues do not work, one is used", port->id,
		       port->name);
}

/* From PORT_NEW, with @plan's pools there. On failure the driver may hold buffers: they are given
 * back when the port is closed. */
static int
setup_first(struct port_table *table, struct port *port, const struct port_plan *plan,
	    struct vx_err *err)
{
	struct port_buffers buffers;
	uint32_t out;
	int rc = take_buffers(table, port, plan, &buffers, err);

	if (rc != 0)
		return rc;
	port->state = PORT_FAILED;
	use_buffers(port, plan, &buffers);
	out = pool_out(buffers.pool);
	rc = apply(port, err);
	if (rc != 0 && port_plan_shrink(port, &table->conf, &port->plan)) {
		port->has_fallen_back = true;
		rc = apply(port, err);
	}
	if (rc != 0)
		return rc;
	rc = rte_eth_macaddr_get(port->id, &port->mac);
	if (rc != 0)
		return vx_err_set(err, -rc, "port %u (%s) tells no MAC address: %s", port->id,
				  port->name, rte_strerror(-rc));
	if ((port->quirk->flags & PORT_QUIRK_KEEPS_MBUFS) != 0)
		port->kept = pool_out(buffers.pool) - out;
	/* net_ring has none; ARP needs one */
	if (rte_is_zero_ether_addr(&port->mac))
		rte_eth_random_addr(port->mac.addr_bytes);
	port->state = PORT_STOPPED;
	log_differences(port);
	return 0;
}

int
port_setup(struct port_table *table, struct vx_err *err)
{
	struct port_plan plans[RTE_MAX_ETHPORTS];
	const struct port_plan *planned[RTE_MAX_ETHPORTS];
	struct port *ports[RTE_MAX_ETHPORTS];
	unsigned int n = 0;
	int rc;

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		if (table->port[id].state != PORT_NEW)
			continue;
		ports[n] = &table->port[id];
		planned[n] = &plans[n];
		rc = port_plan_make(ports[n], &table->conf, 0, &plans[n], err);
		if (rc != 0)
			return rc;
		n++;
	}
	rc = ensure_pools(table, ports, planned, n, err);
	for (unsigned int i = 0; i < n && rc == 0; i++)
		rc = setup_first(table, ports[i], planned[i], err);
	return rc;
}

/* A port that is stopped gets another plan, or keeps the one it has. */
static int
replace_plan(struct port_table *table, struct port *port, const struct port_plan *plan,
	     struct vx_err *err)
{
	const struct port_plan old_plan = port->plan;
	struct port_buffers old = port->buffers;
	const struct port_plan *const plans[] = {plan};
	struct port *const ports[] = {port};
	struct port_buffers fresh;
	struct vx_err ignored;
	int rc;

	rc = ensure_pools(table, ports, plans, 1, err);
	if (rc == 0)
		rc = take_buffers(table, port, plan, &fresh, err);
	if (rc != 0)
		return rc;
	use_buffers(port, plan, &fresh);
	rc = apply(port, err);
	if (rc == 0) {
		release_buffers(&old);
		return 0;
	}
	use_buffers(port, &old_plan, &old);
	if (apply(port, &ignored) == 0)
		release_buffers(&fresh);
	else
		port->state = PORT_FAILED;
	return rc;
}

int
port_mtu_set(struct port_table *table, uint16_t id, uint16_t mtu, struct vx_err *err)
{
	struct port *port = &table->port[id];
	const bool is_started = port->state == PORT_STARTED;
	struct port_plan plan;
	struct vx_err ignored;
	int rc;

	if (!port_is_set_up(port))
		return vx_err_set(err, ENODEV, "port %u is not set up", id);
	rc = port_plan_make(port, &table->conf, mtu, &plan, err);
	if (rc != 0)
		return rc;
	if (port->has_fallen_back)
		port_plan_shrink(port, &table->conf, &plan);
	if (!port_plan_differs(&port->plan, &plan)) {
		/* nothing that the driver knows changes: what has been taken stays as it is */
		plan.tells_driver = port->plan.tells_driver;
		plan.pool_share = port->plan.pool_share;
		plan.linear_share = port->plan.linear_share;
		port->plan = plan;
		return 0;
	}
	if (is_started) {
		rc = port_stop(table, id, err);
		if (rc != 0)
			return rc;
	}
	rc = replace_plan(table, port, &plan, err);
	if (is_started && port->state == PORT_STOPPED) {
		const int start_rc = port_start(table, id, rc == 0 ? err : &ignored);

		rc = rc == 0 ? start_rc : rc;
	}
	if (rc == 0)
		log_differences(port);
	return rc;
}
