/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of struct vx_underlay, for the files of this folder only. */
#ifndef VX_UNDERLAY_STATE_H
#define VX_UNDERLAY_STATE_H

#include <sys/queue.h>

#include <rte_config.h>
#include <rte_hash.h>
#include <rte_rib6.h>

#include "vx_address.h"
#include "vx_neigh.h"
#include "vx_underlay.h"

#define VX_UNDERLAY_NEVER UINT64_MAX

#define VX_NEIGH_REACHABLE_MS 30000u /* RFC 4861 10 */
#define VX_NEIGH_DELAY_MS     5000u  /* RFC 4861 10 */
#define VX_NEIGH_ASK_MS	      1000u  /* between two requests (RFC 1122 2.3.2.1: at most 1/s) */
#define VX_NEIGH_ASK_MAX      3u     /* of each kind, before the next kind or giving up */
#define VX_NEIGH_BACKOFF_MS   30000u /* the longest pause between retries */
#define VX_NEIGH_STALE_MS     60000u /* until an unreferenced entry is forgotten */

struct vx_underlay_port {
	struct rte_ether_addr mac;
	bool is_present;
	bool is_up;
};

/* A line of the routing table. Those with the same prefix are linked, connected ones first. */
struct vx_route_entry {
	struct vx_prefix prefix;    /* masked */
	struct vx_address *address; /* NULL: static */
	struct vx_ip gateway;	    /* static only */
	struct vx_route_entry *next;
};

struct vx_address {
	struct vx_prefix prefix;
	uint16_t port;
	bool is_automatic; /* link-local, made from the port's MAC */
	bool is_probed;	   /* the solicitation of duplicate address detection is out */
	enum vx_address_state state;
	uint8_t announcements;	  /* still to be sent */
	uint64_t may_announce_ms; /* not before; the probe too */
	struct vx_route_entry route;
};

/* A hash key: no padding. */
struct vx_neigh_key {
	struct vx_ip ip;
	uint64_t port;
};
_Static_assert(sizeof(struct vx_neigh_key) == 24, "padding in a hash key is a silent miss");

struct vx_neigh {
	struct vx_neigh_key key;
	uint32_t id;
	uint32_t references;
	uint64_t since_ms;
	uint64_t may_ask_ms; /* no request before */
	uint32_t backoff_ms;
	enum vx_neigh_state state;
	struct rte_ether_addr mac;
	uint8_t asked; /* requests sent in this state */
	uint8_t held_n;
	bool is_used;
	bool is_idle;		    /* in the list of those that may be evicted */
	TAILQ_ENTRY(vx_neigh) idle; /* least recently heard of first */
	struct rte_mbuf *held[VX_NEIGH_HOLD_MAX];
};

TAILQ_HEAD(vx_neigh_list, vx_neigh);

/* A remote VTEP whose path is kept ready. */
struct vx_underlay_remote {
	struct vx_ip ip;
	uint32_t references;	/* 0: free */
	bool is_without_room;	/* there is a route, but the neighbour table is full */
	struct vx_neigh *neigh; /* referenced; NULL without a route */
};

enum vx_underlay_log {
	VX_UNDERLAY_LOG_DUPLICATE,
	VX_UNDERLAY_LOG_FULL,
	VX_UNDERLAY_LOG_MAX,
};

struct vx_underlay {
	struct vx_underlay_conf conf;
	uint64_t now_ms;
	uint64_t log_ms[VX_UNDERLAY_LOG_MAX]; /* next line of this kind not before */
	bool is_changed;		      /* to be reported when the call ends */
	bool is_address_changed;	      /* likewise */
	struct vx_underlay_port ports[RTE_MAX_ETHPORTS];

	struct vx_address **addresses; /* in the order of adding */
	uint32_t addresses_n;
	uint64_t announce_next_ms;

	/* Prefix -> first struct vx_route_entry. Both families in one, as struct vx_ip holds
	 * them: an IPv4 prefix of length N is one of 96 + N bits. */
	struct rte_rib6 *rib;
	struct vx_route_entry **routes; /* sorted */
	uint32_t routes_n;
	uint32_t static_n;

	struct rte_hash *neigh_hash; /* its positions are indexes of the two arrays */
	struct vx_neigh *neighs;
	uint64_t *deadlines; /* apart from the entries, so that the tick walks little memory */
	uint32_t neigh_slots;
	uint32_t neighs_n;
	struct vx_neigh_list idle;
	uint64_t deadline_next_ms; /* none is earlier */
	uint32_t tick_from;	   /* where the next walk begins */
	uint32_t tick_requests;	   /* that this tick may still send */

	struct rte_hash *remote_hash;
	struct vx_underlay_remote *remotes;
	uint32_t remote_slots;
	uint32_t remotes_n;
	uint32_t without_room_n;
	uint64_t retrack_ms;
};

/* vx_underlay.c */

/* At the end of each public function that may have changed a path. */
void vx_underlay_report(struct vx_underlay *u);
void vx_underlay_set_now(struct vx_underlay *u, uint64_t now_ms);
bool vx_underlay_may_log(struct vx_underlay *u, enum vx_underlay_log kind);
bool vx_underlay_port_is_up(const struct vx_underlay *u, uint16_t port);
bool vx_underlay_port_is_present(const struct vx_underlay *u, uint16_t port);

/* Ask for @target by ARP or by ND; @to NULL: everybody who may have it. */
void vx_underlay_request(struct vx_underlay *u, uint16_t port, const struct vx_ip *source,
			 const struct vx_ip *target, const struct rte_ether_addr *to);
/* Tell everybody whose MAC @ip's is: a gratuitous ARP request or an unsolicited advertisement. */
void vx_underlay_announce(struct vx_underlay *u, uint16_t port, const struct vx_ip *ip);

static inline void
vx_underlay_count(struct vx_underlay *u, enum vx_count which)
{
	u->conf.ops.count(u->conf.ctx, which, 1);
}

/* A rte_hash of exactly @entries (at least 8) keys; the name is made of @what and @owner. */
struct rte_hash *vx_underlay_hash(const char *what, const void *owner, uint32_t entries,
				  uint32_t key_len);

/* vx_underlay_path.c: routes, addresses or links have changed */
void vx_underlay_retrack(struct vx_underlay *u);
void vx_underlay_retrack_tick(struct vx_underlay *u);

/* vx_address.c */

/* The address that @port uses towards @ip on its own link; NULL: @ip is not on-link there. */
const struct vx_address *vx_address_on_link(const struct vx_underlay *u, uint16_t port,
					    const struct vx_ip *ip);
const struct vx_address *vx_address_find(const struct vx_underlay *u, const struct vx_ip *ip);
/* That of @port. */
struct vx_address *vx_address_find_on(const struct vx_underlay *u, uint16_t port,
				      const struct vx_ip *ip);
/* On how many ports' links @ip can be. */
unsigned int vx_address_links(const struct vx_underlay *u, const struct vx_ip *ip);
/* The source to be used towards the remote @ip where the next hop is in the subnet of @address;
 * NULL: there is only a link-local one. */
const struct vx_address *vx_address_source(const struct vx_underlay *u,
					   const struct vx_address *address,
					   const struct vx_ip *ip);
/* Somebody else has it, too: it is not used any more. */
void vx_address_set_duplicate(struct vx_underlay *u, struct vx_address *a);
void vx_address_port_up(struct vx_underlay *u, uint16_t port);
/* The port's MAC is new, and with it its link-local address. */
void vx_address_port_mac(struct vx_underlay *u, uint16_t port);
void vx_address_port_del(struct vx_underlay *u, uint16_t port);
void vx_address_tick(struct vx_underlay *u);
void vx_address_destroy(struct vx_underlay *u);

static inline bool
vx_address_is_usable(const struct vx_underlay *u, const struct vx_address *a)
{
	return vx_underlay_port_is_up(u, a->port) && a->state != VX_ADDRESS_DUPLICATE;
}

/* vx_route.c */

struct vx_route_result {
	const struct vx_address *address; /* in whose subnet the next hop is */
	const struct vx_address *source;  /* on the same port */
	struct vx_ip next_hop;
	const char *why; /* where there is none */
};

bool vx_route_lookup(const struct vx_underlay *u, const struct vx_ip *ip,
		     struct vx_route_result *result);
int vx_route_connect(struct vx_underlay *u, struct vx_address *address);
void vx_route_disconnect(struct vx_underlay *u, struct vx_address *address);
/* The static route through @gateway, or NULL. */
const struct vx_route_entry *vx_route_by_gateway(const struct vx_underlay *u,
						 const struct vx_ip *gateway);
/* A static route through a link-local gateway, or NULL. */
const struct vx_route_entry *vx_route_link_local(const struct vx_underlay *u);
void vx_route_destroy(struct vx_underlay *u);

/* vx_neigh.c */

struct vx_neigh *vx_neigh_find(const struct vx_underlay *u, uint16_t port, const struct vx_ip *ip);
/* The static neighbour with this IP on any port, or NULL. */
struct vx_neigh *vx_neigh_find_static(const struct vx_underlay *u, const struct vx_ip *ip);
/* A new entry without state, timer or reference; NULL: full. The caller enters a state. */
struct vx_neigh *vx_neigh_create(struct vx_underlay *u, uint16_t port, const struct vx_ip *ip);
void vx_neigh_remove(struct vx_underlay *u, struct vx_neigh *n, enum vx_drop reason);
/* Give up all packets held. */
void vx_neigh_flush(struct vx_underlay *u, struct vx_neigh *n, enum vx_drop reason);
void vx_neigh_send_held(struct vx_underlay *u, struct vx_neigh *n);
void vx_neigh_port_down(struct vx_underlay *u, uint16_t port);
void vx_neigh_port_up(struct vx_underlay *u, uint16_t port);
void vx_neigh_port_del(struct vx_underlay *u, uint16_t port);

static inline bool
vx_neigh_is_usable(const struct vx_neigh *n)
{
	return n->state != VX_NEIGH_INCOMPLETE && n->state != VX_NEIGH_FAILED;
}

/* vx_neigh_timer.c */

/* Change the state and set its timer, @wait_ms from now. */
void vx_neigh_enter(struct vx_underlay *u, struct vx_neigh *n, enum vx_neigh_state state,
		    uint64_t wait_ms);
/* Begin to ask, or begin anew. */
void vx_neigh_resolve(struct vx_underlay *u, struct vx_neigh *n);
/* Its MAC was seen; @is_confirmed: in an answer to us. */
void vx_neigh_update(struct vx_underlay *u, struct vx_neigh *n, const struct rte_ether_addr *mac,
		     bool is_confirmed);
/* A neighbour advertisement for it (RFC 4861 7.2.5); @mac NULL: it names none. */
void vx_neigh_advertised(struct vx_underlay *u, struct vx_neigh *n,
			 const struct rte_ether_addr *mac, bool is_solicited, bool is_override);
void vx_neigh_tick(struct vx_underlay *u);

#endif
