/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes: connected ones, which addresses make, and static ones through a gateway. */
#ifndef VX_ROUTE_H
#define VX_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_ip.h"

struct vx_err;
struct vx_underlay;

struct vx_route_info {
	struct vx_prefix prefix;
	struct vx_ip gateway; /* none if connected */
	uint16_t port;	      /* VX_UNDERLAY_PORT_NONE where the gateway is on no subnet of ours */
	bool is_connected;
	bool is_usable;
	const char *why; /* "" if usable, else the reason: a constant */
};

/*
 * A static route. The gateway has to be on a connected subnet, a link-local one on one port's only;
 * one gateway per prefix. 0, or -EINVAL, -EEXIST, -ENOSPC with the reason in @err.
 */
int vx_route_add(struct vx_underlay *u, const struct vx_prefix *prefix, const struct vx_ip *gateway,
		 struct vx_err *err);

/* @gateway NULL: whichever it is. */
int vx_route_del(struct vx_underlay *u, const struct vx_prefix *prefix, const struct vx_ip *gateway,
		 struct vx_err *err);

/* The next one, sorted by prefix, connected ones first; *@iterator starts at 0. */
bool vx_route_next(const struct vx_underlay *u, uint32_t *iterator, struct vx_route_info *info);

#endif
