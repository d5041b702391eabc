/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicast groups as entries of flood lists: the glue between lib/underlay's membership
 * (vx_group.h), the tables, and the ports. A group is in use on one underlay port.
 */
#ifndef NET_GROUP_H
#define NET_GROUP_H

#include <stdint.h>

#include "vx_err.h"
#include "vx_ip.h"

struct app;
struct vx_hop;

int net_groups_create(struct app *app, struct vx_err *err);

/* `flood add`: a remote VTEP, or a group on @port; VX_UNDERLAY_PORT_NONE: the only underlay port,
 * or the one of the default route. 0 or negative with @err. */
int net_flood_add(struct app *app, uint32_t vni, const struct vx_ip *ip, uint16_t port,
		  struct vx_err *err);

/* No flood list has the group any more. */
void net_group_unused(struct app *app, const struct vx_ip *group);

/* How packets reach a remote VTEP or a group: vx_underlay_path() for both. */
void net_hop(struct app *app, const struct vx_ip *remote, struct vx_hop *hop);

/* Follow what ports and addresses are now: join what can be joined, and show workers and drivers
 * which groups to listen to. */
void net_groups_update(struct app *app);

/* The port is about to go down: leave its groups while it can be said. */
void net_groups_leave(struct app *app, uint16_t port);

/* -EBUSY with the reason in @err where a flood list has a group on the port. */
int net_groups_check_unused(const struct app *app, uint16_t port, struct vx_err *err);

#endif
