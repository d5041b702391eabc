/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The underlay as the control thread sees it: local addresses (vx_address.h), routes (vx_route.h),
 * neighbours (vx_neigh.h) and, made from them, the path to each remote VTEP.
 *
 * One thread only. There is no clock inside: time is what vx_underlay_tick(),
 * vx_underlay_arp_seen() and vx_underlay_nd_seen() were last told, so call the tick before a batch
 * of other calls.
 */
#ifndef VX_UNDERLAY_H
#define VX_UNDERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_count.h"
#include "vx_drop.h"
#include "vx_ip.h"

struct rte_mbuf;
struct rte_mempool;
struct vx_arp_notice;
struct vx_nd_notice;
struct vx_underlay;

#define VX_UNDERLAY_PORT_NONE UINT16_MAX

/* What the underlay asks of its owner; all are given @ctx of the configuration. Only changed() may
 * call back: vx_underlay_path(), vx_underlay_track(), vx_underlay_untrack(). */
struct vx_underlay_ops {
	/* Send @m, which now belongs to the callee. */
	void (*send)(void *ctx, uint16_t port, struct rte_mbuf *m);
	/* The path to a tracked remote may differ from before: at most once per call or tick. */
	void (*changed)(void *ctx);
	/* A held packet is given up: the callee counts @reason and frees it. */
	void (*drop)(void *ctx, struct rte_mbuf *m, enum vx_drop reason);
	/*
	 * Add @n to the control thread's counter. Counted here: ARP_REQUESTS, ND_SOLICITS,
	 * ND_ADVERTS and with each of them ORIGINATED, DROP_NO_MBUF for one that found no buffer,
	 * ARP_FAILED, ND_FAILED, and UNHELD for each packet that was handed to vx_underlay_hold(),
	 * when it is sent or given up. HELD is for whoever hands the packet over.
	 */
	void (*count)(void *ctx, enum vx_count which, uint64_t n);
	/* What vx_address_next(), which may be called from here, tells has changed by itself: at
	 * most once per call or tick. */
	void (*address_changed)(void *ctx);
};

/* A limit of 0 means its default. */
struct vx_underlay_conf {
	struct vx_underlay_ops ops;
	void *ctx;
	struct rte_mempool *pool; /* for what is sent from here: ARP and ND */
	uint64_t now_ms;
	uint32_t max_addresses;	 /* 256 */
	uint32_t max_routes;	 /* 4096, static ones */
	uint32_t max_neighbours; /* 4096 */
	uint32_t max_remotes;	 /* 4096 */
};

/* NULL with rte_errno on failure. */
struct vx_underlay *vx_underlay_create(const struct vx_underlay_conf *conf);

/* Held packets are given back with VX_DROP_TX_PORT_DOWN. NULL is allowed. */
void vx_underlay_destroy(struct vx_underlay *u);

/*
 * A port of the underlay is there, or its MAC or link state has changed. Link down makes routes
 * through it unusable and forgets its learned neighbours; link up announces its addresses.
 * 0; -EINVAL for a port number out of range or a MAC that is no host's.
 */
int vx_underlay_port_set(struct vx_underlay *u, uint16_t port, const struct rte_ether_addr *mac,
			 bool is_up);

/* The port is gone, and with it its addresses and neighbours, static ones included. */
void vx_underlay_port_del(struct vx_underlay *u, uint16_t port);

/* Timers; about every 100 ms. */
void vx_underlay_tick(struct vx_underlay *u, uint64_t now_ms);

/* A worker saw this valid ARP packet. */
void vx_underlay_arp_seen(struct vx_underlay *u, const struct vx_arp_notice *notice,
			  uint64_t now_ms);

/* A worker saw this valid neighbour solicitation or advertisement. */
void vx_underlay_nd_seen(struct vx_underlay *u, const struct vx_nd_notice *notice, uint64_t now_ms);

enum vx_hop_state {
	VX_HOP_NO_ROUTE,
	VX_HOP_RESOLVING, /* hand packets over with vx_underlay_hold() */
	VX_HOP_READY,
	VX_HOP_FAILED,
};

/* The way to a remote VTEP. With VX_HOP_NO_ROUTE only @state and @why mean something, and
 * @next_hop_mac only with VX_HOP_READY. */
struct vx_hop {
	enum vx_hop_state state;
	uint16_t port;
	struct vx_ip source; /* the local address in the next hop's subnet; behind a link-local
			      * gateway another one of that port */
	struct vx_ip next_hop;
	struct rte_ether_addr source_mac;
	struct rte_ether_addr next_hop_mac;
	const char *why; /* for people; a constant */
};

void vx_underlay_path(struct vx_underlay *u, const struct vx_ip *remote, struct vx_hop *hop);

/*
 * From now on, keep the next hop towards @remote resolved, whatever happens to routes and
 * addresses. Counted: as many untrack calls undo it. 0, or -ENOSPC when there are too many.
 * Neither changes the path of another remote.
 */
int vx_underlay_track(struct vx_underlay *u, const struct vx_ip *remote);
void vx_underlay_untrack(struct vx_underlay *u, const struct vx_ip *remote);

/*
 * Take @m, a complete outer frame for the tracked @remote but for its destination MAC, whose
 * first 6 bytes nobody else shares: send it when the next hop is known, or give it back.
 */
void vx_underlay_hold(struct vx_underlay *u, const struct vx_ip *remote, struct rte_mbuf *m);

#endif
