/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours: the MAC addresses behind underlay IP addresses, found by ARP (RFC 826) or ND (RFC
 * 4861), with the states of the latter. What is referenced is kept resolved and fresh; what is not
 * is forgotten after a while. For IPv6 read "solicited-node multicast" for "broadcast".
 *
 *   incomplete  asked by broadcast, up to 3 times, 1 s apart; packets are held
 *   reachable   answered less than 30 s ago
 *   stale       known, not referenced: forgotten after 60 s
 *   delay       referenced, but known from hearsay only: probed after 5 s
 *   probe       asked by unicast 3 times, then by broadcast 3 times, 1 s apart, still in use
 *   failed      no answer; asked again after 1, 2, 4 … 30 s while referenced
 *   permanent   configured
 */
#ifndef VX_NEIGH_H
#define VX_NEIGH_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_ip.h"

struct rte_mbuf;
struct vx_err;
struct vx_neigh;
struct vx_underlay;

#define VX_NEIGH_HOLD_MAX 8u /* packets that wait for one neighbour */

enum vx_neigh_state {
	VX_NEIGH_INCOMPLETE,
	VX_NEIGH_REACHABLE,
	VX_NEIGH_STALE,
	VX_NEIGH_DELAY,
	VX_NEIGH_PROBE,
	VX_NEIGH_FAILED,
	VX_NEIGH_PERMANENT,
};

struct vx_neigh_info {
	uint16_t port;
	enum vx_neigh_state state;
	struct vx_ip ip;
	struct rte_ether_addr mac; /* zero while none is known */
	uint32_t references;
	uint32_t held;	   /* packets waiting */
	uint64_t since_ms; /* for how long in this state */
};

const char *vx_neigh_state_name(enum vx_neigh_state state);

/* A reference to the neighbour, which is made and asked for if need be. NULL: the table is full of
 * neighbours in use. */
struct vx_neigh *vx_neigh_get(struct vx_underlay *u, uint16_t port, const struct vx_ip *ip);

/* Give a reference back; with the last one, packets held are given back with VX_DROP_NO_ROUTE. */
void vx_neigh_put(struct vx_underlay *u, struct vx_neigh *n);

/* Take a packet: see vx_underlay_hold(). The oldest is given up with VX_DROP_NEIGH_QUEUE where too
 * many wait, each one with VX_DROP_NEIGH_FAILED where the neighbour has failed. */
void vx_neigh_hold(struct vx_underlay *u, struct vx_neigh *n, struct rte_mbuf *m);

/*
 * A static neighbour; takes the place of a learned one. A second one for the same IP is refused.
 * 0, or -EINVAL, -EEXIST, -ENODEV, -ENOSPC with the reason in @err.
 */
int vx_neigh_add(struct vx_underlay *u, const struct vx_ip *ip, const struct rte_ether_addr *mac,
		 uint16_t port, struct vx_err *err);

/* Delete a static neighbour; if it is in use, it is asked for by ARP or ND. */
int vx_neigh_del(struct vx_underlay *u, const struct vx_ip *ip, struct vx_err *err);

/* The next one, in no order; *@iterator starts at 0. */
bool vx_neigh_next(const struct vx_underlay *u, uint32_t *iterator, struct vx_neigh_info *info);

#endif
