/* SPDX-License-Identifier: BSD-3-Clause */
/* Deciding how a port is set up, from what is wanted and what its driver says; changes nothing. */
#ifndef PORT_PLAN_H
#define PORT_PLAN_H

#include "port.h"

/* @mtu: asked for, or 0 for what @conf and the port have. */
int port_plan_make(const struct port *port, const struct port_conf *conf, uint16_t mtu,
		   struct port_plan *plan, struct vx_err *err);

/* The same plan with one queue in each direction, for drivers that promise more than they do.
 * False: it has one already, or all of its queues have to be polled. */
bool port_plan_shrink(const struct port *port, const struct port_conf *conf,
		      struct port_plan *plan);

/* Would going from @a to @b need the driver, its queues or its pools to change? */
bool port_plan_differs(const struct port_plan *a, const struct port_plan *b);

/* port_rss.c: the hash types to ask of a driver that offers @offered. On underlay ports never the
 * UDP ports of a family of which fragments would be left out. */
uint64_t port_rss_choose(enum vx_role role, uint64_t offered);

/* Bytes of an ordinary mbuf's data room. */
uint16_t port_plan_mbuf_size(const struct port_conf *conf);

#endif
