/* SPDX-License-Identifier: BSD-3-Clause */
#include "net.h"

#include <errno.h>

#include <rte_errno.h>
#include <rte_ring.h>

#include "app.h"
#include "net_group.h"
#include "stats.h"
#include "vx_address.h"
#include "vx_arp.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_group.h"
#include "vx_group_message.h"
#include "vx_lcore.h"
#include "vx_log.h"
#include "vx_mdb.h"
#include "vx_nd.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_vtep.h"
#include "worker.h"

/* --- callbacks --- */

static void
count(void *ctx, enum vx_count which, uint64_t n)
{
	struct app *app = ctx;

	app->counts.value[which] += n;
}

static void
drop(void *ctx, struct rte_mbuf *m, enum vx_drop reason)
{
	count(ctx, (enum vx_count)reason, 1);
	rte_pktmbuf_free(m);
}

/* Only workers touch ports: the first one sends what the control thread makes. */
static void
send_by_worker(void *ctx, uint16_t port, struct rte_mbuf *m)
{
	struct app *app = ctx;

	m->port = port;
	if (rte_ring_sp_enqueue(app->worker[0]->inject, m) != 0)
		drop(app, m, VX_DROP_TX_FULL);
}

static void
path_changed(void *ctx)
{
	((struct app *)ctx)->is_path_stale = true;
}

static void
vtep_added(void *ctx, uint32_t index, const struct vx_ip *remote)
{
	struct app *app = ctx;

	stats_place_new(app, STATS_VTEP, index);
	if (!vx_ip_is_multicast(remote))
		vx_underlay_track(app->underlay, remote);
	app->is_path_stale = true;
}

static void
vtep_removed(void *ctx, uint32_t index, const struct vx_ip *remote)
{
	RTE_SET_USED(index);
	if (vx_ip_is_multicast(remote))
		net_group_unused(ctx, remote);
	else
		vx_underlay_untrack(((struct app *)ctx)->underlay, remote);
}

static void
segment_added(void *ctx, uint32_t index)
{
	stats_place_new(ctx, STATS_SEGMENT, index);
}

static void
attach_added(void *ctx, uint32_t index)
{
	stats_place_new(ctx, STATS_ATTACH, index);
}

struct vx_tables_hooks
net_tables_hooks(struct app *app)
{
	return (struct vx_tables_hooks){.ctx = app,
					.vtep_added = vtep_added,
					.vtep_removed = vtep_removed,
					.segment_added = segment_added,
					.attach_added = attach_added};
}

/* --- what workers see --- */

static bool
is_up(const struct app *app, const struct port *port)
{
	return app->is_forwarding && port->state == PORT_STARTED &&
	       port->link.link_status == RTE_ETH_LINK_UP;
}

/* What each worker may flood of the port's frames: of those that receive from it, an equal share.
 */
static uint32_t
storm_share(const struct app *app, const struct port *port)
{
	const uint32_t receivers = RTE_MAX(1u, RTE_MIN(port->plan.n_rxq, app->n_workers));

	return (app->storm[port->id] + receivers - 1) / receivers;
}

static void
view_port_fill(const struct app *app, const struct port *port, struct vx_view_port *view)
{
	const struct port_limits *limits = &port->plan.limits;

	view->role = port->role;
	view->is_up = is_up(app, port);
	view->max_tx_frame = limits->max_tx_frame;
	view->max_tx_chain = limits->max_tx_chain;
	view->tx_tag = limits->tx_tag;
	view->takes_indirect = (port->quirk->flags & PORT_QUIRK_NO_INDIRECT) == 0;
	view->cut_len = (port->quirk->flags & PORT_QUIRK_CUTS) != 0 ? limits->max_rx_frame : 0;
	view->storm_rate = storm_share(app, port);
	view->mtu = port->plan.mtu;
	view->mac = port->mac;
	view->linear_pool = port->linear_mempool != NULL ? port->linear_mempool : port->mempool;
}

/* Show workers the ports and local addresses as they are now. */
static int
publish(struct app *app, struct vx_err *err)
{
	struct vx_view *view = vx_view_edit(app->tables);
	struct vx_address_info address;
	uint32_t iterator = 0;

	if (view == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++) {
		view->port[i].role = VX_ROLE_NONE;
		view->port[i].is_up = false;
		if (port_is_set_up(&app->ports.port[i]))
			view_port_fill(app, &app->ports.port[i], &view->port[i]);
	}
	view->n_locals = 0;
	while (view->n_locals < VX_LOCALS_MAX &&
	       vx_address_next(app->underlay, &iterator, &address)) {
		if (address.state == VX_ADDRESS_DUPLICATE)
			continue;
		view->local[view->n_locals].ip = address.prefix.ip;
		view->local[view->n_locals].prefix_len = address.prefix.len;
		view->local[view->n_locals].port = address.port;
		view->local[view->n_locals].is_tentative = address.state == VX_ADDRESS_TENTATIVE;
		view->n_locals++;
	}
	vx_view_publish(app->tables, view);
	return 0;
}

static void
address_changed(void *ctx)
{
	struct app *app = ctx;

	if (publish(app, NULL) < 0)
		app->is_link_stale = true; /* the next tick tries again */
}

struct vx_underlay_ops
net_underlay_ops(void)
{
	return (struct vx_underlay_ops){.send = send_by_worker,
					.changed = path_changed,
					.drop = drop,
					.count = count,
					.address_changed = address_changed};
}

int
net_show_ports(struct app *app, struct vx_err *err)
{
	const int rc = publish(app, err);

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS && rc == 0; id++) {
		const struct port *port = &app->ports.port[id];

		if (port->role == VX_ROLE_UNDERLAY && port_is_set_up(port))
			vx_underlay_port_set(app->underlay, id, &port->mac, is_up(app, port));
	}
	return rc;
}

void
net_links_changed(struct app *app)
{
	if (net_show_ports(app, NULL) < 0)
		return; /* again at the next tick: the flag stays */
	app->is_link_stale = false;
	app->is_path_stale = true;
}

/* --- remote VTEPs --- */

static enum vx_vtep_state
vtep_state(enum vx_hop_state state)
{
	switch (state) {
	case VX_HOP_NO_ROUTE:
		return VX_VTEP_NO_ROUTE;
	case VX_HOP_RESOLVING:
		return VX_VTEP_RESOLVING;
	case VX_HOP_READY:
		return VX_VTEP_READY;
	case VX_HOP_FAILED:
		return VX_VTEP_FAILED;
	}
	return VX_VTEP_NO_ROUTE;
}

void
net_resolve(struct app *app)
{
	struct vx_tables *tables = app->tables;

	app->is_path_stale = false;
	net_groups_update(app);
	for (uint32_t i = 0; i < tables->conf.max_vteps; i++) {
		struct vx_vtep_path path = {0};
		struct vx_hop hop;

		if (tables->vtep[i] == NULL)
			continue;
		net_hop(app, &tables->vtep[i]->remote, &hop);
		path.state = vtep_state(hop.state);
		if (path.state != VX_VTEP_NO_ROUTE) {
			path.port = hop.port;
			path.mtu = app->ports.port[hop.port].plan.mtu;
			path.source = hop.source;
			path.next_hop = hop.next_hop;
			path.source_mac = hop.source_mac;
			if (vx_ip_is_multicast(&tables->vtep[i]->remote))
				path.ttl = app->multicast_ttl;
		}
		if (path.state == VX_VTEP_READY)
			path.next_hop_mac = hop.next_hop_mac;
		vx_vtep_set_path(tables, i, &path);
	}
}

/* --- what workers hand over --- */

static void
learn_path_mtu(struct app *app, const struct vx_punt *punt)
{
	const int64_t index = vx_vtep_find(app->tables, &punt->remote);
	char text[VX_IP_TEXT_MAX];

	/* Over IPv4 there is no ICMP about multicast packets (RFC 1122 section 3.2.2). */
	if (index < 0 || (vx_ip_is_v4(&punt->remote) && vx_ip_is_multicast(&punt->remote)) ||
	    !vx_vtep_learn_path_mtu(app->tables, (uint32_t)index, punt->mtu, app_now(app))) {
		count(app, VX_COUNT_PMTU_IGNORED, 1);
		return;
	}
	count(app, VX_COUNT_PMTU_LOWERED, 1);
	VX_LOG(INFO, "path to %s carries %u bytes, says ICMP",
	       vx_ip_format(&punt->remote, text, sizeof(text)), punt->mtu);
}

static void
hear_query(struct app *app, const struct vx_punt *punt)
{
	const struct vx_group_query query = {
		.group = punt->remote,
		.max_response_ms = punt->query.max_response_ms,
		.interval_s = punt->query.interval_s,
		.robustness = punt->query.robustness,
		.version = punt->query.version,
		.is_v6 = punt->is_v6 != 0,
	};

	vx_groups_query_seen(app->groups, punt->port, &query, app_now(app));
}

static void
hold(struct app *app, const struct vx_punt *punt)
{
	if (vx_vtep_find(app->tables, &punt->remote) >= 0) {
		vx_underlay_hold(app->underlay, &punt->remote, punt->m);
		return;
	}
	/* The VTEP was removed while the packet was on its way here. */
	count(app, VX_COUNT_UNHELD, 1);
	drop(app, punt->m, VX_DROP_NO_ROUTE);
}

static void
arp_seen(struct app *app, const struct vx_punt *punt)
{
	const struct vx_arp_notice notice = {
		.sender = punt->remote,
		.sender_mac = punt->mac,
		.port = punt->port,
		.is_reply = punt->is_reply != 0,
		.is_for_us = punt->is_for_us != 0,
	};

	vx_underlay_arp_seen(app->underlay, &notice, app_now(app));
}

static void
nd_seen(struct app *app, const struct vx_punt *punt)
{
	const struct vx_nd_notice notice = {
		.ip = punt->remote,
		.mac = punt->mac,
		.port = punt->port,
		.flags = punt->nd_flags,
	};

	vx_underlay_nd_seen(app->underlay, &notice, app_now(app));
}

void
net_punt(struct app *app, const struct vx_punt *punt)
{
	switch ((enum vx_punt_kind)punt->kind) {
	case VX_PUNT_HOLD:
		hold(app, punt);
		break;
	case VX_PUNT_ARP:
		arp_seen(app, punt);
		break;
	case VX_PUNT_ND:
		nd_seen(app, punt);
		break;
	case VX_PUNT_QUERY:
		hear_query(app, punt);
		break;
	case VX_PUNT_PMTU:
		learn_path_mtu(app, punt);
		break;
	}
}

/* --- addresses --- */

/* An address that is a remote VTEP already would make us send to ourselves. */
static int
check_not_remote(const struct app *app, const struct vx_ip *ip, struct vx_err *err)
{
	const int64_t index = vx_vtep_find(app->tables, ip);
	char text[VX_IP_TEXT_MAX];

	if (index < 0 || !app->tables->vtep[index]->is_named)
		return 0;
	return vx_err_set(err, EINVAL,
			  "%s is a remote VTEP: remove it with flood del or fdb del "
			  "first",
			  vx_ip_format(ip, text, sizeof(text)));
}

/* Forget what was only learned, from packets that claimed an address now ours. */
static void
forget_learned(struct app *app, const struct vx_ip *ip)
{
	struct vx_fdb_filter learned = {.segment = VX_INDEX_NONE};
	const int64_t index = vx_vtep_find(app->tables, ip);

	if (index < 0)
		return;
	learned.dest = VX_DEST_VTEP | (uint32_t)index;
	vx_mdb_flush_dest(app->tables, VX_INDEX_NONE, learned.dest);
	vx_fdb_flush(app->tables, &learned);
}

int
net_address_add(struct app *app, const struct vx_prefix *prefix, uint16_t port, struct vx_err *err)
{
	int rc = check_not_remote(app, &prefix->ip, err);

	if (rc < 0)
		return rc;
	rc = vx_address_add(app->underlay, prefix, port, err);
	if (rc < 0)
		return rc;
	rc = publish(app, err);
	if (rc < 0)
		vx_address_del(app->underlay, &prefix->ip, NULL);
	else
		forget_learned(app, &prefix->ip);
	return rc;
}

int
net_address_del(struct app *app, const struct vx_ip *ip, struct vx_err *err)
{
	const struct vx_segment *segment = NULL;
	char text[VX_IP_TEXT_MAX];
	int rc;

	while ((segment = vx_segment_next(app->tables, segment == NULL ? 0 : segment->vni)) != NULL)
		if (segment->has_local && vx_ip_is_equal(&segment->local, ip))
			return vx_err_set(err, EBUSY,
					  "%s is the local address of VNI %u: delete "
					  "that first with vni del %u",
					  vx_ip_format(ip, text, sizeof(text)), segment->vni,
					  segment->vni);
	rc = vx_address_del(app->underlay, ip, err);
	if (rc < 0)
		return rc;
	return publish(app, err);
}
