/* SPDX-License-Identifier: BSD-3-Clause */
/* From a remote VTEP's address to its next hop, and the remotes for which that is kept ready. */
#include <errno.h>

#include <rte_hash.h>
#include <rte_mbuf.h>

#include "vx_log.h"
#include "vx_route.h"
#include "vx_underlay_state.h"

/* How often a full neighbour table is tried again. */
#define RETRACK_MS 1000u

static struct vx_underlay_remote *
find_remote(const struct vx_underlay *u, const struct vx_ip *ip)
{
	const int32_t position = rte_hash_lookup(u->remote_hash, ip);

	return position < 0 ? NULL : &u->remotes[position];
}

static void
set_without_room(struct vx_underlay *u, struct vx_underlay_remote *remote, bool is_without_room)
{
	if (remote->is_without_room == is_without_room)
		return;
	remote->is_without_room = is_without_room;
	if (!is_without_room) {
		u->without_room_n--;
		return;
	}
	u->without_room_n++;
	if (vx_underlay_may_log(u, VX_UNDERLAY_LOG_FULL))
		VX_LOG(WARNING, "all %u neighbours are in use: some remote VTEPs have none",
		       u->conf.max_neighbours);
}

/* Let @remote hold a reference to the neighbour that its route now leads to. */
static void
retrack_one(struct vx_underlay *u, struct vx_underlay_remote *remote)
{
	struct vx_neigh *before = remote->neigh;
	struct vx_route_result result;
	bool is_without_room = false;

	remote->neigh = NULL;
	if (vx_route_lookup(u, &remote->ip, &result)) {
		/* the new reference is taken first: it may be the same neighbour */
		remote->neigh = vx_neigh_get(u, result.address->port, &result.next_hop);
		is_without_room = remote->neigh == NULL;
	}
	set_without_room(u, remote, is_without_room);
	if (before != NULL)
		vx_neigh_put(u, before);
}

void
vx_underlay_retrack(struct vx_underlay *u)
{
	for (uint32_t i = 0; i < u->remote_slots; i++)
		if (u->remotes[i].references > 0)
			retrack_one(u, &u->remotes[i]);
	u->is_changed = true;
}

void
vx_underlay_retrack_tick(struct vx_underlay *u)
{
	const uint32_t before = u->without_room_n;

	if (before == 0 || u->now_ms < u->retrack_ms)
		return;
	u->retrack_ms = u->now_ms + RETRACK_MS;
	for (uint32_t i = 0; i < u->remote_slots; i++)
		if (u->remotes[i].is_without_room)
			retrack_one(u, &u->remotes[i]);
	if (u->without_room_n != before)
		u->is_changed = true;
}

int
vx_underlay_track(struct vx_underlay *u, const struct vx_ip *ip)
{
	struct vx_underlay_remote *remote = find_remote(u, ip);
	int32_t position;

	if (remote != NULL) {
		remote->references++;
		return 0;
	}
	if (u->remotes_n == u->conf.max_remotes)
		return -ENOSPC;
	position = rte_hash_add_key(u->remote_hash, ip);
	if (position < 0)
		return -ENOSPC;
	remote = &u->remotes[position];
	*remote = (struct vx_underlay_remote){.ip = *ip, .references = 1};
	u->remotes_n++;
	retrack_one(u, remote);
	return 0;
}

void
vx_underlay_untrack(struct vx_underlay *u, const struct vx_ip *ip)
{
	struct vx_underlay_remote *remote = find_remote(u, ip);

	if (remote == NULL || --remote->references > 0)
		return;
	set_without_room(u, remote, false);
	if (remote->neigh != NULL)
		vx_neigh_put(u, remote->neigh);
	remote->neigh = NULL;
	rte_hash_del_key(u->remote_hash, ip);
	u->remotes_n--;
}

static void
fill_from_neighbour(const struct vx_neigh *n, struct vx_hop *hop)
{
	const bool is_v4 = vx_ip_is_v4(&n->key.ip);

	hop->next_hop_mac = n->mac;
	if (n->state == VX_NEIGH_INCOMPLETE) {
		hop->state = VX_HOP_RESOLVING;
		hop->why = is_v4 ? "waiting for an ARP reply of the next hop"
				 : "waiting for a neighbour advertisement of the next hop";
	} else if (n->state == VX_NEIGH_FAILED) {
		hop->state = VX_HOP_FAILED;
		hop->why = is_v4 ? "the next hop does not answer ARP"
				 : "the next hop does not answer neighbour solicitations";
	} else {
		hop->state = VX_HOP_READY;
		hop->why = vx_neigh_state_name(n->state);
	}
}

void
vx_underlay_path(struct vx_underlay *u, const struct vx_ip *ip, struct vx_hop *hop)
{
	const struct vx_underlay_remote *remote;
	struct vx_route_result result;
	const struct vx_neigh *n;

	*hop = (struct vx_hop){.state = VX_HOP_NO_ROUTE};
	if (!vx_route_lookup(u, ip, &result)) {
		hop->why = result.why;
		return;
	}
	hop->port = result.address->port;
	hop->source = result.source->prefix.ip;
	hop->next_hop = result.next_hop;
	hop->source_mac = u->ports[hop->port].mac;
	n = vx_neigh_find(u, hop->port, &result.next_hop);
	if (n != NULL) {
		fill_from_neighbour(n, hop);
		return;
	}
	remote = find_remote(u, ip);
	if (remote != NULL && remote->is_without_room) {
		hop->state = VX_HOP_FAILED;
		hop->why = "the neighbour table is full";
	} else {
		hop->state = VX_HOP_RESOLVING;
		hop->why = "the next hop has not been asked for yet";
	}
}

void
vx_underlay_hold(struct vx_underlay *u, const struct vx_ip *ip, struct rte_mbuf *m)
{
	const struct vx_underlay_remote *remote = find_remote(u, ip);

	if (remote != NULL && remote->neigh != NULL) {
		vx_neigh_hold(u, remote->neigh, m);
		return;
	}
	vx_underlay_count(u, VX_COUNT_UNHELD);
	u->conf.ops.drop(u->conf.ctx, m,
			 remote != NULL && remote->is_without_room ? VX_DROP_NEIGH_FAILED
								   : VX_DROP_NO_ROUTE);
}
