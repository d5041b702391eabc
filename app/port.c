/* SPDX-License-Identifier: BSD-3-Clause */
#include "port.h"

#include <errno.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "vx_log.h"

/* In the interrupt thread of EAL: nothing but a flag; the control thread looks at the ports. */
static int
on_event(uint16_t id, enum rte_eth_event_type type, void *arg, void *unused)
{
	struct port_table *table = arg;

	RTE_SET_USED(unused);
	if (type == RTE_ETH_EVENT_INTR_RMV)
		atomic_store_explicit(&table->port[id].is_removed, true, memory_order_relaxed);
	atomic_store_explicit(&table->has_event, true, memory_order_release);
	return 0;
}

static void
watch(struct port_table *table, uint16_t id)
{
	rte_eth_dev_callback_register(id, RTE_ETH_EVENT_INTR_LSC, on_event, table);
	rte_eth_dev_callback_register(id, RTE_ETH_EVENT_INTR_RMV, on_event, table);
}

static void
unwatch(struct port_table *table, uint16_t id)
{
	rte_eth_dev_callback_unregister(id, RTE_ETH_EVENT_INTR_LSC, on_event, table);
	rte_eth_dev_callback_unregister(id, RTE_ETH_EVENT_INTR_RMV, on_event, table);
}

/* A bridge has to receive what is for everybody; an underlay port what is for itself. Drivers that
 * know no filter receive everything anyway. */
static void
set_promiscuous(struct port *port)
{
	const bool wanted = port->role == VX_ROLE_ACCESS;
	const int rc = wanted ? rte_eth_promiscuous_enable(port->id)
			      : rte_eth_promiscuous_disable(port->id);

	if (rc != 0 && rc != -ENOTSUP && wanted)
		VX_LOG(WARNING, "port %u (%s) receives only what is for its own MAC address: %s",
		       port->id, port->name, rte_strerror(-rc));
	port->is_promisc = rte_eth_promiscuous_get(port->id) == 1;
}

void
port_hear_groups(struct port *port, bool wanted)
{
	int rc = 0;

	/* A driver without either hears everything, or nothing can be done about it. */
	if (wanted && rte_eth_allmulticast_enable(port->id) != 0) {
		rc = rte_eth_promiscuous_enable(port->id);
		port->is_promisc = rte_eth_promiscuous_get(port->id) == 1;
	} else if (!wanted) {
		set_promiscuous(port);
	}
	if (rc != 0 && rc != -ENOTSUP)
		VX_LOG(WARNING, "port %u (%s) may not hear the multicast groups it has joined: %s",
		       port->id, port->name, rte_strerror(-rc));
}

/* Only a device that runs can say what it hashes; one that says nothing is taken at its word. */
static void
read_rss(struct port *port)
{
	struct rte_eth_rss_conf conf = {0};

	port->rss_got = port->plan.rss_hf;
	if (port->plan.rss_hf != 0 && rte_eth_dev_rss_hash_conf_get(port->id, &conf) == 0)
		port->rss_got = conf.rss_hf;
}

/* IPv6 neighbours are asked for at multicast addresses (RFC 4861 7.2.2), one for each local
 * address, that come and go while the port runs: taking all of them is what every driver with a
 * filter can do, and classify drops the rest. */
static void
set_allmulticast(struct port *port)
{
	const int rc = port->role == VX_ROLE_UNDERLAY ? rte_eth_allmulticast_enable(port->id) : 0;

	if (rc != 0 && rc != -ENOTSUP)
		VX_LOG(WARNING,
		       "port %u (%s) receives no multicast, IPv6 neighbours cannot find it: %s",
		       port->id, port->name, rte_strerror(-rc));
}

int
port_start(struct port_table *table, uint16_t id, struct vx_err *err)
{
	struct port *port = &table->port[id];
	int rc;

	if (port->state == PORT_STARTED)
		return 0;
	if (port->state != PORT_STOPPED)
		return vx_err_set(err, ENODEV, "port %u cannot be started: it is %s", id,
				  port_state_name(port->state));
	watch(table, id);
	rc = rte_eth_dev_start(id);
	if (rc != 0) {
		unwatch(table, id);
		return vx_err_set(err, -rc, "port %u (%s) does not start: %s", id, port->name,
				  rte_strerror(-rc));
	}
	port->state = PORT_STARTED;
	set_promiscuous(port);
	set_allmulticast(port);
	read_rss(port);
	if ((port->quirk->flags & PORT_QUIRK_HEARS_ITSELF) != 0 && port->iface[0] != '\0')
		port_quirk_ignore_sent(port->iface);
	rte_eth_link_get_nowait(id, &port->link);
	return 0;
}

/* Free the frames that a driver would leave in its rings for ever. */
static void
drain(const struct port *port)
{
	struct rte_mbuf *frames[32];

	for (uint16_t q = 0; q < port->plan.n_rxq; q++) {
		uint16_t n;

		while ((n = rte_eth_rx_burst(port->id, q, frames, RTE_DIM(frames))) > 0)
			rte_pktmbuf_free_bulk(frames, n);
	}
	/* an empty burst makes the driver look at what has been sent */
	for (uint16_t q = 0; q < port->plan.n_txq; q++)
		rte_eth_tx_burst(port->id, q, frames, 0);
}

int
port_stop(struct port_table *table, uint16_t id, struct vx_err *err)
{
	struct port *port = &table->port[id];
	int rc;

	if (port->state == PORT_STOPPED)
		return 0;
	if (port->state != PORT_STARTED)
		return vx_err_set(err, ENODEV, "port %u cannot be stopped: it is %s", id,
				  port_state_name(port->state));
	if ((port->quirk->flags & (PORT_QUIRK_DRAIN | PORT_QUIRK_KEEPS_MBUFS)) != 0)
		drain(port);
	unwatch(table, id);
	rc = rte_eth_dev_stop(id);
	/* A device that has been unplugged may be unable to answer; it is stopped all the same. */
	if (rc != 0 && !atomic_load_explicit(&port->is_removed, memory_order_relaxed)) {
		watch(table, id);
		return vx_err_set(err, -rc, "port %u (%s) does not stop: %s", id, port->name,
				  rte_strerror(-rc));
	}
	port->state = PORT_STOPPED;
	port->link.link_status = RTE_ETH_LINK_DOWN;
	return 0;
}

void
port_close(struct port_table *table, uint16_t id)
{
	struct port *port = &table->port[id];
	int rc;

	if (port->state == PORT_UNUSED)
		return;
	if (port->state == PORT_STARTED)
		port_stop(table, id, NULL);
	unwatch(table, id);
	rc = rte_eth_dev_close(id);
	if (rc != 0)
		VX_LOG(WARNING, "port %u (%s) does not close cleanly: %s", id, port->name,
		       rte_strerror(-rc));
	if (port->buffers.pool != NULL)
		port->buffers.pool->kept += port->kept;
	pool_release(port->buffers.pool, port->buffers.share);
	pool_release(port->buffers.linear, port->buffers.linear_share);
	memset(port, 0, sizeof(*port));
}

void
port_close_all(struct port_table *table)
{
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		port_close(table, id);
}

int
port_can_detach(const struct port_table *table, uint16_t id, struct vx_err *err)
{
	const struct port *port = &table->port[id];

	if (port->state == PORT_UNUSED)
		return vx_err_set(err, ENODEV, "port %u does not exist", id);
	for (uint16_t i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (i != id && table->port[i].state != PORT_UNUSED &&
		    table->port[i].info.device == port->info.device)
			return vx_err_set(err, EBUSY,
					  "port %u is on the same device as port %u: both would go",
					  id, i);
	return 0;
}

int
port_remove(struct port_table *table, const uint16_t *ids, unsigned int n, struct vx_err *err)
{
	struct rte_device *device = table->port[ids[0]].info.device;
	char name[RTE_ETH_NAME_MAX_LEN];
	int rc;

	snprintf(name, sizeof(name), "%s", table->port[ids[0]].name);
	for (unsigned int i = 0; i < n; i++)
		port_close(table, ids[i]);
	rc = rte_dev_remove(device);
	if (rc != 0)
		return vx_err_set(err, -rc, "port %u is closed, but its device %s stays: %s",
				  ids[0], name, rte_strerror(-rc));
	return 0;
}

int
port_attach(struct port_table *table, const char *devargs, enum vx_role role, uint16_t *ids,
	    unsigned int *n, struct vx_err *err)
{
	const unsigned int max = *n;
	struct rte_dev_iterator iterator;
	uint16_t id;
	int rc;

	*n = 0;
	rc = rte_dev_probe(devargs);
	if (rc == -EEXIST)
		return vx_err_set(err, EEXIST, "device %s is attached already", devargs);
	if (rc != 0)
		return vx_err_set(err, -rc, "device %s cannot be attached: %s", devargs,
				  rte_strerror(-rc));
	RTE_ETH_FOREACH_MATCHING_DEV(id, devargs, &iterator)
	{
		if (rc == 0 && table->port[id].state != PORT_UNUSED)
			rc = vx_err_set(err, EEXIST, "device %s is port %u already", devargs, id);
		if (rc == 0)
			rc = port_adopt(table, id, role, err);
		if (rc == 0 && *n < max)
			ids[(*n)++] = id;
	}
	if (rc == 0 && *n == 0)
		rc = vx_err_set(err, ENODEV, "device %s has no Ethernet port", devargs);
	if (rc < 0 && *n > 0)
		port_remove(table, ids, *n, NULL);
	return rc;
}

bool
port_link_poll(struct port_table *table)
{
	bool has_changed = false;

	atomic_store_explicit(&table->has_event, false, memory_order_relaxed);
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		struct port *port = &table->port[id];
		struct rte_eth_link link;

		if (port->state != PORT_STARTED || rte_eth_link_get_nowait(id, &link) != 0)
			continue;
		if (atomic_load_explicit(&port->is_removed, memory_order_relaxed))
			link.link_status = RTE_ETH_LINK_DOWN;
		if (link.link_status != port->link.link_status) {
			has_changed = true;
			VX_LOG(NOTICE, "port %u (%s): link %s", id, port->name,
			       link.link_status == RTE_ETH_LINK_UP ? "up" : "down");
		}
		port->link = link;
	}
	return has_changed;
}

unsigned int
port_queues(const struct port_table *table, struct port_queue *queues, unsigned int max)
{
	unsigned int n = 0;

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct port *port = &table->port[id];

		for (uint16_t q = 0; port->state == PORT_STARTED && q < port->plan.n_rxq; q++) {
			if (n < max)
				queues[n] = (struct port_queue){id, q, port->node};
			n++;
		}
	}
	return n;
}
