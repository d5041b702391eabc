/* SPDX-License-Identifier: BSD-3-Clause */
/* Which side of the tunnel endpoint a port is on. */
#ifndef VX_ROLE_H
#define VX_ROLE_H

enum vx_role {
	VX_ROLE_NONE,	  /* not ours: neither polled nor sent to */
	VX_ROLE_ACCESS,	  /* the tenants' side */
	VX_ROLE_UNDERLAY, /* the network's side */
};

#endif
