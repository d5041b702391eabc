/* SPDX-License-Identifier: BSD-3-Clause */
/* Tenants' multicast memberships: the control thread's side of lib/path/vx_snoop.h. */
#ifndef SNOOP_H
#define SNOOP_H

struct app;
struct vx_seen;

/* Enter what a worker has seen of IGMP and MLD. */
void snoop_learn(struct app *app, const struct vx_seen *seen);

#endif
