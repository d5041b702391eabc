/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local addresses of underlay ports. Each makes a connected route and is announced by ARP or ND. A
 * port with IPv6 addresses also gets a link-local one, made from its MAC (RFC 4291 appendix A),
 * unless one of them is link-local.
 *
 * An IPv6 address is used while duplicate address detection still runs (RFC 4862 5.4): an operator
 * gave it, and tunnels need not wait for a second. Advertisements do not override until then
 * (RFC 4429). Where another host turns out to have it, it is out of use until the link comes up
 * again.
 */
#ifndef VX_ADDRESS_H
#define VX_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_ip.h"

struct vx_err;
struct vx_underlay;

enum vx_address_state {
	VX_ADDRESS_PREFERRED,
	VX_ADDRESS_TENTATIVE, /* nobody else is known to have it, but not for long enough */
	VX_ADDRESS_DUPLICATE,
};

struct vx_address_info {
	struct vx_prefix prefix; /* with its host bits */
	uint16_t port;
	bool is_up;	   /* the port's link */
	bool is_automatic; /* made from the port's MAC */
	enum vx_address_state state;
};

/* 0, or -EINVAL, -EEXIST, -ENODEV, -ENOSPC with the reason in @err. */
int vx_address_add(struct vx_underlay *u, const struct vx_prefix *prefix, uint16_t port,
		   struct vx_err *err);

/* Routes whose gateway is in the address's subnet stay, unusable until it comes back. */
int vx_address_del(struct vx_underlay *u, const struct vx_ip *ip, struct vx_err *err);

/* The next one in the order of adding; *@iterator starts at 0. False: there is none left. */
bool vx_address_next(const struct vx_underlay *u, uint32_t *iterator, struct vx_address_info *info);

#endif
