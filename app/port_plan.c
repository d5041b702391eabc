/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_plan.h"

#include <errno.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#define VLAN_TAG 4u
/* Descriptors where the driver has no preference: enough for a burst of every worker. */
#define DESCRIPTORS 1024u
/* Receive buffers of NICs come in steps. */
#define BUFFER_STEP 1024u
#define ROOM_MAX    65535u

static uint16_t
min16(uint16_t a, uint16_t b)
{
	return a < b ? a : b;
}

static uint16_t
max16(uint16_t a, uint16_t b)
{
	return a > b ? a : b;
}

static bool
has_flag(const struct port *port, uint32_t flag)
{
	return (port->quirk->flags & flag) != 0;
}

uint16_t
port_plan_mbuf_size(const struct port_conf *conf)
{
	return conf->mbuf_size != 0 ? conf->mbuf_size : RTE_MBUF_DEFAULT_BUF_SIZE;
}

/* What the driver adds to its MTU to make a frame; as ethdev reckons. */
static uint32_t
driver_overhead(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

static uint16_t
driver_mtu_max(const struct rte_eth_dev_info *info)
{
	const uint32_t by_frame = info->max_rx_pktlen - driver_overhead(info);

	return (uint16_t)RTE_MIN((uint32_t)info->max_mtu, by_frame);
}

/* The MTU that a driver needs to be told so that frames of @plan pass, VLAN tags included. */
static uint16_t
driver_mtu_for(const struct port *port, const struct port_plan *plan)
{
	const uint32_t with_tags = plan->frame + RTE_ETHER_CRC_LEN;
	const uint32_t overhead = driver_overhead(&port->info);
	uint32_t mtu = plan->mtu;

	/* Where a kernel interface is behind the port, its MTU is seen by people: no surprises. */
	if (port->iface[0] == '\0' && with_tags > mtu + overhead)
		mtu = with_tags - overhead;
	mtu = RTE_MAX(mtu, (uint32_t)port->info.min_mtu);
	return (uint16_t)RTE_MIN(mtu, (uint32_t)driver_mtu_max(&port->info));
}

static int
plan_mtu(const struct port *port, const struct port_conf *conf, uint16_t mtu,
	 struct port_plan *plan, struct vx_err *err)
{
	const uint16_t max = driver_mtu_max(&port->info);
	const uint16_t kernel_mtu = port_quirk_kernel_mtu(port->iface);
	const bool is_access = port->role == VX_ROLE_ACCESS;
	const uint16_t has = max16(min16(port->found_mtu, max), port->info.min_mtu);

	plan->mtu_asked = mtu;
	if (mtu == 0)
		plan->mtu_asked = is_access ? conf->inner_mtu : conf->underlay_mtu;
	plan->mtu = plan->mtu_asked;
	if (plan->mtu == 0)
		plan->mtu = kernel_mtu != 0 ? kernel_mtu : port->found_mtu;
	plan->frame = plan->mtu + RTE_ETHER_HDR_LEN + (is_access ? 2 * VLAN_TAG : VLAN_TAG);
	plan->driver_mtu = has;
	plan->is_mtu_untold = plan->mtu != has;
	/* An MTU that nobody asked for is what the port has: there is nothing to tell. */
	if (plan->mtu_asked == 0 || has_flag(port, PORT_QUIRK_MTU_NEVER))
		return 0;
	if (plan->mtu > max) {
		if (has_flag(port, PORT_QUIRK_MTU_SOFT))
			return 0;
		return vx_err_set(err, ERANGE,
				  "port %u (%s) refuses MTU %u: its driver %s allows %u to %u",
				  port->id, port->name, plan->mtu, port->info.driver_name,
				  port->info.min_mtu, max);
	}
	plan->driver_mtu = driver_mtu_for(port, plan);
	plan->tells_driver = !has_flag(port, PORT_QUIRK_MTU_CONF);
	plan->is_mtu_untold = false;
	return 0;
}

/* An outer packet over the limits would be lost: the MTU gives way if nobody asked for it. */
static int
plan_limits(const struct port *port, const struct port_conf *conf, struct port_plan *plan,
	    struct vx_err *err)
{
	struct rte_kvargs *args = port_quirk_args(&port->info);
	const struct port_probe probe = {
		.info = &port->info,
		.args = args,
		.iface = port->iface,
		.kernel_mtu = port_quirk_kernel_mtu(port->iface),
		.driver_mtu = plan->driver_mtu,
		.data_room = port_plan_mbuf_size(conf),
		.frame = plan->frame,
	};
	uint32_t max;

	port_quirk_limits(port->quirk, &probe, &plan->limits);
	rte_kvargs_free(args);
	max = RTE_MIN(plan->limits.max_tx_frame, plan->limits.max_rx_frame);
	if (max < RTE_ETHER_MIN_LEN)
		return vx_err_set(err, EINVAL, "port %u (%s): its driver carries %u bytes a frame",
				  port->id, port->name, max);
	max -= RTE_ETHER_HDR_LEN;
	if (port->role != VX_ROLE_UNDERLAY || plan->mtu <= max)
		return 0;
	if (plan->mtu_asked != 0)
		return vx_err_set(err, ERANGE,
				  "port %u (%s) refuses MTU %u: %s carries at most %u there%s%s",
				  port->id, port->name, plan->mtu, port->info.driver_name, max,
				  max == probe.kernel_mtu ? ", the MTU of " : "",
				  max == probe.kernel_mtu ? port->iface : "");
	plan->mtu = (uint16_t)max;
	plan->frame = max + RTE_ETHER_HDR_LEN + VLAN_TAG;
	return 0;
}

static void
plan_queues(const struct port *port, const struct port_conf *conf, struct port_plan *plan)
{
	const struct rte_eth_dev_info *info = &port->info;
	const uint16_t n = has_flag(port, PORT_QUIRK_ONE_QUEUE) ? 1 : conf->n_workers;
	uint16_t n_rxq = min16(conf->n_rxq != 0 ? conf->n_rxq : n, info->max_rx_queues);
	uint16_t n_txq = min16(conf->n_txq != 0 ? conf->n_txq : n, info->max_tx_queues);

	if (has_flag(port, PORT_QUIRK_POLL_ALL))
		n_rxq = info->max_rx_queues;
	if (n_rxq > 1)
		plan->rss_hf = port_rss_choose(port->role, info->flow_type_rss_offloads);
	if (has_flag(port, PORT_QUIRK_POLL_ALL | PORT_QUIRK_SPREADS))
		plan->rss_hf = 0;
	else if (plan->rss_hf == 0)
		n_rxq = min16(n_rxq, 1); /* nothing would ever arrive on the others */
	if (has_flag(port, PORT_QUIRK_PAIRED))
		n_rxq = n_txq = has_flag(port, PORT_QUIRK_POLL_ALL) ? n_rxq : max16(n_rxq, n_txq);
	plan->n_rxq = n_rxq;
	plan->n_txq = n_txq;
	plan->rxq_asked = conf->n_rxq;
	plan->txq_asked = conf->n_txq;
	plan->n_workers = conf->n_workers;
}

static int
plan_descriptors(const struct port *port, const struct port_conf *conf, struct port_plan *plan,
		 struct vx_err *err)
{
	const uint16_t prefers_rx = plan->limits.n_rxd != 0
					    ? plan->limits.n_rxd
					    : port->info.default_rxportconf.ring_size;
	const uint16_t prefers_tx = port->info.default_txportconf.ring_size;
	int rc;

	plan->rxd_asked = conf->n_rxd;
	plan->txd_asked = conf->n_txd;
	plan->n_rxd = conf->n_rxd != 0 ? conf->n_rxd : prefers_rx;
	plan->n_txd = conf->n_txd != 0 ? conf->n_txd : prefers_tx;
	if (plan->n_rxd == 0)
		plan->n_rxd = DESCRIPTORS;
	if (plan->n_txd == 0)
		plan->n_txd = DESCRIPTORS;
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &plan->n_rxd, &plan->n_txd);
	if (rc != 0)
		return vx_err_set(err, -rc, "port %u (%s): no descriptor counts that it allows",
				  port->id, port->name);
	return 0;
}

/* Where chains cannot be sent, or only short ones: room for a copy of the longest frame. What would
 * not fit into the copy must not be sent, so that a sender has one limit to look at. */
static void
plan_linear(struct port_plan *plan)
{
	struct port_limits *limits = &plan->limits;
	const uint32_t frame = RTE_MIN(plan->frame, limits->max_tx_frame);
	uint32_t room;

	if (frame <= limits->max_tx_chain) {
		limits->max_tx_frame = RTE_MIN(limits->max_tx_frame, limits->max_tx_chain);
		return;
	}
	room = RTE_MAX(frame + RTE_PKTMBUF_HEADROOM, (uint32_t)plan->data_room);
	room = RTE_MIN(room, ROOM_MAX);
	plan->linear_room = (uint16_t)room;
	limits->max_tx_frame = RTE_MIN(limits->max_tx_frame, room);
}

static int
plan_buffers(const struct port *port, const struct port_conf *conf, struct port_plan *plan,
	     struct vx_err *err)
{
	const struct rte_eth_dev_info *info = &port->info;
	const uint16_t usual = port_plan_mbuf_size(conf);
	const uint32_t arriving =
		RTE_MAX(plan->frame + RTE_ETHER_CRC_LEN, plan->driver_mtu + driver_overhead(info));
	const bool is_larger = arriving > (uint32_t)usual - RTE_PKTMBUF_HEADROOM;
	const bool offers_scatter = (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	const bool can_chain = !plan->limits.is_rx_linear &&
			       (offers_scatter || has_flag(port, PORT_QUIRK_RX_CHAINS));
	const uint32_t min = RTE_MAX(info->min_rx_bufsize + RTE_PKTMBUF_HEADROOM, (uint32_t)usual);
	uint32_t room = RTE_MAX(plan->limits.min_data_room, min);

	if (is_larger && !can_chain && plan->limits.min_data_room == 0)
		room = RTE_ALIGN_CEIL(arriving, BUFFER_STEP) + RTE_PKTMBUF_HEADROOM;
	if (room > ROOM_MAX)
		return vx_err_set(err, ERANGE,
				  "port %u (%s) needs linear buffers of %u bytes, an mbuf has at "
				  "most %u: a smaller MTU or framesz is needed",
				  port->id, port->name, room, ROOM_MAX);
	plan->data_room = (uint16_t)room;
	plan->rx_chains = can_chain && (is_larger || has_flag(port, PORT_QUIRK_RX_CHAINS));
	plan->rx_offloads =
		can_chain && is_larger && offers_scatter ? RTE_ETH_RX_OFFLOAD_SCATTER : 0;
	plan->tx_offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	plan_linear(plan);
	return 0;
}

static void
plan_shares(const struct port *port, const struct port_conf *conf, struct port_plan *plan)
{
	const uint32_t rx = (uint32_t)plan->n_rxq * plan->n_rxd;
	const uint32_t tx = (uint32_t)plan->n_txq * plan->n_txd;

	plan->pool_share = plan->limits.rx_held * RTE_MAX(plan->n_rxq, 1);
	if (!has_flag(port, PORT_QUIRK_RX_COPIES))
		plan->pool_share += rx;
	if (!has_flag(port, PORT_QUIRK_TX_COPIES))
		plan->pool_share += tx;
	plan->linear_share = 0;
	if (plan->linear_room > plan->data_room)
		plan->linear_share = has_flag(port, PORT_QUIRK_TX_COPIES)
					     ? 2 * conf->burst * conf->n_workers
					     : tx + 2 * conf->burst * conf->n_workers;
}

int
port_plan_make(const struct port *port, const struct port_conf *conf, uint16_t mtu,
	       struct port_plan *plan, struct vx_err *err)
{
	int rc;

	memset(plan, 0, sizeof(*plan));
	rc = plan_mtu(port, conf, mtu, plan, err);
	if (rc == 0)
		rc = plan_limits(port, conf, plan, err);
	if (rc != 0)
		return rc;
	plan_queues(port, conf, plan);
	rc = plan_descriptors(port, conf, plan, err);
	if (rc == 0)
		rc = plan_buffers(port, conf, plan, err);
	if (rc == 0)
		plan_shares(port, conf, plan);
	return rc;
}

bool
port_plan_shrink(const struct port *port, const struct port_conf *conf, struct port_plan *plan)
{
	if ((plan->n_rxq <= 1 && plan->n_txq <= 1) ||
	    (plan->n_rxq > 1 && has_flag(port, PORT_QUIRK_POLL_ALL)))
		return false;
	plan->n_rxq = min16(plan->n_rxq, 1);
	plan->n_txq = 1;
	plan->rss_hf = 0;
	plan_shares(port, conf, plan);
	return true;
}

bool
port_plan_differs(const struct port_plan *a, const struct port_plan *b)
{
	return a->driver_mtu != b->driver_mtu || a->data_room != b->data_room ||
	       a->linear_room != b->linear_room || a->rx_offloads != b->rx_offloads;
}
