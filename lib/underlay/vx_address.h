/* SPDX-License-Identifier: BSD-3-Clause */
/* Local addresses of underlay ports. Each makes a connected route and is announced by ARP. */
#ifndef VX_ADDRESS_H
#define VX_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_ip.h"

struct vx_err;
struct vx_underlay;

struct vx_address_info {
	struct vx_prefix prefix; /* with its host bits */
	uint16_t port;
	bool is_up; /* the port's link */
};

/* 0, or -EINVAL, -EEXIST, -ENODEV, -ENOSPC, -EAFNOSUPPORT with the reason in @err. */
int vx_address_add(struct vx_underlay *u, const struct vx_prefix *prefix, uint16_t port,
		   struct vx_err *err);

/* Routes whose gateway is in the address's subnet stay, unusable until it comes back. */
int vx_address_del(struct vx_underlay *u, const struct vx_ip *ip, struct vx_err *err);

/* The next one in the order of adding; *@iterator starts at 0. False: there is none left. */
bool vx_address_next(const struct vx_underlay *u, uint32_t *iterator, struct vx_address_info *info);

#endif
