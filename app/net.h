/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ports, addresses, routes and neighbours mean for the tables: the control thread's glue
 * between port.h, lib/underlay and lib/tables.
 */
#ifndef NET_H
#define NET_H

#include <stdint.h>

#include "vx_err.h"
#include "vx_ip.h"
#include "vx_role.h"
#include "vx_tables.h"
#include "vx_underlay.h"

struct app;
struct vx_punt;

/* What the tables and the underlay library call; @ctx is the struct app. */
struct vx_tables_hooks net_tables_hooks(struct app *app);
struct vx_underlay_ops net_underlay_ops(void);

/* Show workers the ports and local addresses as they are now, and the underlay its ports. 0, or
 * -ENOMEM with nothing changed. */
int net_show_ports(struct app *app, struct vx_err *err);

/* Tell every VTEP how it is reached now. */
void net_resolve(struct app *app);

/* A worker handed something over. */
void net_punt(struct app *app, const struct vx_punt *punt);

/* Local addresses: the commands `address add` and `address del`. 0 or negative with @err. */
int net_address_add(struct app *app, const struct vx_prefix *prefix, uint16_t port,
		    struct vx_err *err);
int net_address_del(struct app *app, const struct vx_ip *ip, struct vx_err *err);

/* `start` and `stop`. 0 or negative with @err. */
int net_forwarding_set(struct app *app, bool is_on, struct vx_err *err);

/* `port start|stop`, `port attach|detach`, `port config mtu`; traffic of other ports goes on. */
int net_port_start(struct app *app, uint16_t port, struct vx_err *err);
int net_port_stop(struct app *app, uint16_t port, struct vx_err *err);
int net_port_attach(struct app *app, const char *devargs, enum vx_role role, uint16_t *id,
		    unsigned int *n, struct vx_err *err); /* as port_attach() */
int net_port_detach(struct app *app, uint16_t port, struct vx_err *err);
int net_port_mtu(struct app *app, uint16_t port, uint16_t mtu, struct vx_err *err);

/* `set mtu N`: the inner MTU, and with it the access ports' buffers and limits. */
int net_mtu(struct app *app, uint16_t mtu, struct vx_err *err);

/* Links may have changed: tell everybody. */
void net_links_changed(struct app *app);

#endif
