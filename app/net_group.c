/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_group.h"

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_ring.h>

#include "app.h"
#include "net.h"
#include "vx_address.h"
#include "vx_group.h"
#include "vx_ip6.h"
#include "vx_multicast.h"
#include "vx_rcu.h"
#include "vx_route.h"
#include "vx_segment.h"
#include "vx_view_group.h"
#include "vx_vtep.h"
#include "worker.h"

/* Rounds of the workers to wait for what was said last, each with at most WORKER_INJECT packets. */
#define LAST_WORDS_MAX 64u

/* 224.0.0.1, "all systems", where queriers ask; of IPv6 it is ff02::1, "all nodes". */
#define ALL_SYSTEMS RTE_BE32(0xe0000001)

int
net_groups_create(struct app *app, struct vx_err *err)
{
	const struct vx_underlay_ops ops = net_underlay_ops();
	const struct vx_groups_conf conf = {
		.ops = {.send = ops.send, .count = ops.count},
		.ctx = app,
		.pool = app->host_pool,
		.max = VX_GROUPS_MAX,
		.now_ms = app_now(app),
	};

	app->multicast_ttl = 1;
	app->groups = vx_groups_create(&conf);
	if (app->groups == NULL)
		return vx_err_set(err, ENOMEM, "no memory for multicast groups");
	return 0;
}

/* --- which port --- */

/* The port of a usable default route. */
static uint16_t
default_port(const struct app *app, bool is_v4)
{
	struct vx_route_info route;
	uint32_t iterator = 0;

	while (vx_route_next(app->underlay, &iterator, &route))
		if (route.prefix.len == 0 && vx_ip_is_v4(&route.prefix.ip) == is_v4 &&
		    route.is_usable)
			return route.port;
	return VX_UNDERLAY_PORT_NONE;
}

static int
choose_port(const struct app *app, const struct vx_ip *group, uint16_t *port, struct vx_err *err)
{
	unsigned int n = 0;
	char text[VX_IP_TEXT_MAX];

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (app->ports.port[id].role == VX_ROLE_UNDERLAY && n++ == 0)
			*port = id;
	vx_ip_format(group, text, sizeof(text));
	if (n == 0)
		return vx_err_set(err, ENODEV, "there is no underlay port that could join %s",
				  text);
	if (n > 1)
		*port = default_port(app, vx_ip_is_v4(group));
	if (*port != VX_UNDERLAY_PORT_NONE)
		return 0;
	return vx_err_set(err, EINVAL,
			  "%s could be joined on any of %u underlay ports, and no default route "
			  "tells which: expected port P",
			  text, n);
}

/* To *@port the one that joins @group; what a person asked for before. */
static int
check_port(const struct app *app, const struct vx_ip *group, uint16_t *port, struct vx_err *err)
{
	const uint16_t used = vx_groups_port_of(app->groups, group);
	char text[VX_IP_TEXT_MAX];

	if (*port == VX_UNDERLAY_PORT_NONE && used == VX_UNDERLAY_PORT_NONE)
		return choose_port(app, group, port, err);
	if (*port == VX_UNDERLAY_PORT_NONE)
		*port = used;
	if (app->ports.port[*port].role != VX_ROLE_UNDERLAY)
		return vx_err_set(err, EINVAL,
				  "port %u is an access port: expected an underlay port", *port);
	if (used != VX_UNDERLAY_PORT_NONE && used != *port)
		return vx_err_set(err, EEXIST,
				  "%s is joined on port %u: expected the same port for all VNIs",
				  vx_ip_format(group, text, sizeof(text)), used);
	return 0;
}

int
net_flood_add(struct app *app, uint32_t vni, const struct vx_ip *ip, uint16_t port,
	      struct vx_err *err)
{
	const bool is_group = vx_ip_is_multicast(ip);
	char text[VX_IP_TEXT_MAX];
	bool is_new;
	int rc;

	if (!is_group && port != VX_UNDERLAY_PORT_NONE)
		return vx_err_set(err, EINVAL,
				  "%s is no multicast group: its route tells the port, expected "
				  "none here",
				  vx_ip_format(ip, text, sizeof(text)));
	if (!is_group)
		return vx_segment_flood_add(app->tables, vni, ip, err);
	rc = vx_group_check(ip, err);
	if (rc == 0)
		rc = check_port(app, ip, &port, err);
	if (rc < 0)
		return rc;
	is_new = vx_groups_port_of(app->groups, ip) == VX_UNDERLAY_PORT_NONE;
	rc = vx_segment_flood_add(app->tables, vni, ip, err);
	if (rc < 0 || !is_new)
		return rc;
	rc = vx_groups_join(app->groups, port, ip, err);
	if (rc < 0)
		vx_segment_flood_del(app->tables, vni, ip, NULL);
	return rc;
}

void
net_group_unused(struct app *app, const struct vx_ip *group)
{
	const uint16_t port = vx_groups_port_of(app->groups, group);

	if (port != VX_UNDERLAY_PORT_NONE)
		vx_groups_leave(app->groups, port, group);
	app->is_path_stale = true;
}

int
net_groups_check_unused(const struct app *app, uint16_t port, struct vx_err *err)
{
	struct vx_group_info info;
	char text[VX_IP_TEXT_MAX];
	uint32_t iterator = 0;

	while (vx_groups_next(app->groups, &iterator, &info))
		if (info.port == port && info.users > 0 && vx_vtep_find(app->tables, &info.ip) >= 0)
			return vx_err_set(err, EBUSY,
					  "port %u is where flood lists have the group %s: delete "
					  "that first with flood del %s",
					  port, vx_ip_format(&info.ip, text, sizeof(text)), text);
	return 0;
}

/* --- what follows from ports and addresses --- */

/* The address that tunnel packets to groups come from: the port's first one of the family. */
static bool
port_source(const struct app *app, uint16_t port, bool is_v4, struct vx_ip *source)
{
	struct vx_address_info address;
	uint32_t iterator = 0;

	while (vx_address_next(app->underlay, &iterator, &address)) {
		if (address.port != port || vx_ip_is_v4(&address.prefix.ip) != is_v4 ||
		    address.state == VX_ADDRESS_DUPLICATE ||
		    vx_ip6_is_link_local(&address.prefix.ip))
			continue;
		*source = address.prefix.ip;
		return true;
	}
	return false;
}

/* The one that MLD is spoken from, if IPv6 is spoken at all. */
static struct vx_ip
port_source6(const struct app *app, uint16_t port)
{
	struct vx_ip source = {.bytes = {0}};
	struct vx_address_info address;
	uint32_t iterator = 0;

	while (vx_address_next(app->underlay, &iterator, &address)) {
		if (address.port != port || vx_ip_is_v4(&address.prefix.ip) ||
		    address.state == VX_ADDRESS_DUPLICATE)
			continue;
		if (vx_ip6_is_link_local(&address.prefix.ip))
			return address.prefix.ip;
		source = vx_ip6_link_local(&app->ports.port[port].mac);
	}
	return source;
}

void
net_hop(struct app *app, const struct vx_ip *remote, struct vx_hop *hop)
{
	const struct vx_view_port *port;

	if (!vx_ip_is_multicast(remote)) {
		vx_underlay_path(app->underlay, remote, hop);
		return;
	}
	*hop = (struct vx_hop){.state = VX_HOP_NO_ROUTE, .next_hop = *remote};
	hop->port = vx_groups_port_of(app->groups, remote);
	if (hop->port == VX_UNDERLAY_PORT_NONE) {
		hop->why = "the group is not joined";
		return;
	}
	port = &app->tables->view->port[hop->port];
	hop->why = "its port is down";
	if (!port->is_up)
		return;
	hop->why = "its port has no address of the family";
	if (!port_source(app, hop->port, vx_ip_is_v4(remote), &hop->source))
		return;
	hop->state = VX_HOP_READY;
	hop->source_mac = port->mac;
	hop->next_hop_mac = vx_multicast_mac(remote);
	hop->why = "multicast group";
}

/* Show the workers which groups each port listens to. False: no memory, to be tried again. */
static bool
show_workers(struct app *app)
{
	struct vx_view *view = vx_view_edit(app->tables);
	const struct vx_ip all_systems = vx_ip_from_v4(ALL_SYSTEMS);
	const struct vx_ip all_nodes = vx_ip6_all_nodes();
	struct vx_group_info info;
	uint32_t iterator = 0;

	if (view == NULL)
		return false;
	vx_view_groups_clear(view);
	while (vx_groups_next(app->groups, &iterator, &info)) {
		if (info.users == 0)
			continue;
		vx_view_group_add(view, info.port, &info.ip);
		vx_view_group_add(view, info.port,
				  vx_ip_is_v4(&info.ip) ? &all_systems : &all_nodes);
	}
	vx_view_publish(app->tables, view);
	return true;
}

/* Let the driver receive what the workers listen to. */
static void
show_driver(struct app *app, struct port *port)
{
	const struct vx_view *view = app->tables->view;
	bool has_group = false;

	for (uint32_t i = 0; i < VX_GROUP_SLOTS && !has_group; i++)
		has_group = !vx_ip_is_none(&view->group[i].ip) && view->group[i].port == port->id;
	port_hear_groups(port, has_group);
}

/*
 * Solicitations for each IPv6 address come to a group that is made of it (RFC 4291 section 2.7.1).
 * A snooping switch sends them only to whom it knows to be a member (RFC 4861 section 7.2.1).
 */
static void
join_solicited_nodes(struct app *app)
{
	struct net_solicited old[VX_LOCALS_MAX], *now = app->solicited;
	const unsigned int old_n = app->n_solicited;
	struct vx_address_info address;
	uint32_t iterator = 0;

	memcpy(old, now, sizeof(old));
	app->n_solicited = 0;
	while (app->n_solicited < VX_LOCALS_MAX &&
	       vx_address_next(app->underlay, &iterator, &address)) {
		const uint8_t *ip = address.prefix.ip.bytes;

		if (vx_ip_is_v4(&address.prefix.ip))
			continue;
		now->group =
			(struct vx_ip){.bytes = {0xff, 2, [11] = 1, 0xff, ip[13], ip[14], ip[15]}};
		now->port = address.port;
		if (vx_groups_join(app->groups, now->port, &now->group, NULL) < 0)
			continue;
		now++;
		app->n_solicited++;
	}
	/* Those that are still wanted have been joined once more. */
	for (unsigned int i = 0; i < old_n; i++)
		vx_groups_leave(app->groups, old[i].port, &old[i].group);
}

void
net_groups_update(struct app *app)
{
	const struct vx_view *view = app->tables->view;

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		struct vx_groups_port now = {.is_up = false};

		if (view->port[id].role == VX_ROLE_UNDERLAY) {
			now.is_up = view->port[id].is_up;
			now.mac = view->port[id].mac;
			port_source(app, id, true, &now.source4);
			now.source6 = port_source6(app, id);
		}
		vx_groups_port_set(app->groups, id, &now);
	}
	join_solicited_nodes(app);
	if (app->groups_shown == vx_groups_changes(app->groups))
		return;
	if (!show_workers(app)) {
		app->is_path_stale = true;
		return;
	}
	app->groups_shown = vx_groups_changes(app->groups);
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (app->ports.port[id].role == VX_ROLE_UNDERLAY &&
		    app->ports.port[id].state == PORT_STARTED)
			show_driver(app, &app->ports.port[id]);
}

void
net_groups_leave(struct app *app, uint16_t port)
{
	struct rte_ring *inject = app->worker[0]->inject;

	if (app->ports.port[port].role != VX_ROLE_UNDERLAY)
		return;
	vx_groups_port_leave(app->groups, port);
	/* Once round, a worker has taken it; twice round, it has been sent. */
	for (unsigned int i = 0; i < LAST_WORDS_MAX && !rte_ring_empty(inject); i++)
		vx_rcu_synchronize(app->tables->rcu);
	vx_rcu_synchronize(app->tables->rcu);
}
