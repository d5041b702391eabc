/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_underlay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_jhash.h>
#include <rte_mbuf.h>

#include "vx_arp.h"
#include "vx_nd.h"
#include "vx_underlay_state.h"

#define LOG_INTERVAL_MS 10000u

/* The smallest table that rte_hash makes. */
#define HASH_ENTRIES_MIN 8u

static void
set_defaults(struct vx_underlay_conf *conf)
{
	if (conf->max_addresses == 0)
		conf->max_addresses = 256;
	if (conf->max_routes == 0)
		conf->max_routes = 4096;
	if (conf->max_neighbours == 0)
		conf->max_neighbours = 4096;
	if (conf->max_remotes == 0)
		conf->max_remotes = 4096;
}

struct rte_hash *
vx_underlay_hash(const char *what, const void *owner, uint32_t entries, uint32_t key_len)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters params = {
		.name = name,
		.entries = entries,
		.key_len = key_len,
		.hash_func = rte_jhash,
		.socket_id = SOCKET_ID_ANY,
		/* without it, a table as good as full may refuse a key */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	snprintf(name, sizeof(name), "%s_%p", what, owner);
	return rte_hash_create(&params);
}

static struct rte_rib6 *
create_rib(const struct vx_underlay *u)
{
	/* a binary trie: at most one branching node per route besides its own */
	const struct rte_rib6_conf conf = {
		.max_nodes = (int)(2 * (u->conf.max_addresses + u->conf.max_routes)),
	};
	char name[RTE_HASH_NAMESIZE];

	snprintf(name, sizeof(name), "vx_rib_%p", (const void *)u);
	return rte_rib6_create(name, SOCKET_ID_ANY, &conf);
}

static int
create_arrays(struct vx_underlay *u)
{
	u->neigh_slots = RTE_MAX(u->conf.max_neighbours, HASH_ENTRIES_MIN);
	u->remote_slots = RTE_MAX(u->conf.max_remotes, HASH_ENTRIES_MIN);
	u->addresses = calloc(u->conf.max_addresses, sizeof(*u->addresses));
	u->routes = calloc(u->conf.max_addresses + u->conf.max_routes, sizeof(*u->routes));
	u->neighs = calloc(u->neigh_slots, sizeof(*u->neighs));
	u->deadlines = calloc(u->neigh_slots, sizeof(*u->deadlines));
	u->remotes = calloc(u->remote_slots, sizeof(*u->remotes));
	if (u->addresses == NULL || u->routes == NULL || u->neighs == NULL ||
	    u->deadlines == NULL || u->remotes == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < u->neigh_slots; i++)
		u->deadlines[i] = VX_UNDERLAY_NEVER;
	return 0;
}

static void
free_arrays(struct vx_underlay *u)
{
	free(u->remotes);
	free(u->deadlines);
	free(u->neighs);
	free(u->routes);
	free(u->addresses);
}

struct vx_underlay *
vx_underlay_create(const struct vx_underlay_conf *conf)
{
	struct vx_underlay *u;
	int error = ENOMEM;

	u = calloc(1, sizeof(*u));
	if (u == NULL)
		goto err_none;
	u->conf = *conf;
	u->now_ms = conf->now_ms;
	u->announce_next_ms = VX_UNDERLAY_NEVER;
	u->deadline_next_ms = VX_UNDERLAY_NEVER;
	TAILQ_INIT(&u->idle);
	set_defaults(&u->conf);
	if (create_arrays(u) < 0)
		goto err_free_arrays;
	u->rib = create_rib(u);
	if (u->rib == NULL)
		goto err_rte;
	u->neigh_hash = vx_underlay_hash("vx_ng", u, u->neigh_slots, sizeof(struct vx_neigh_key));
	if (u->neigh_hash == NULL)
		goto err_free_rib;
	u->remote_hash = vx_underlay_hash("vx_rm", u, u->remote_slots, sizeof(struct vx_ip));
	if (u->remote_hash == NULL)
		goto err_free_neigh_hash;
	return u;

err_free_neigh_hash:
	rte_hash_free(u->neigh_hash);
err_free_rib:
	rte_rib6_free(u->rib);
err_rte:
	if (rte_errno != 0)
		error = rte_errno;
err_free_arrays:
	free_arrays(u);
	free(u);
err_none:
	rte_errno = error;
	return NULL;
}

void
vx_underlay_destroy(struct vx_underlay *u)
{
	if (u == NULL)
		return;
	for (uint32_t i = 0; i < u->neigh_slots; i++)
		if (u->neighs[i].is_used)
			vx_neigh_remove(u, &u->neighs[i], VX_DROP_TX_PORT_DOWN);
	vx_address_destroy(u);
	vx_route_destroy(u);
	rte_hash_free(u->remote_hash);
	rte_hash_free(u->neigh_hash);
	rte_rib6_free(u->rib);
	free_arrays(u);
	free(u);
}

void
vx_underlay_report(struct vx_underlay *u)
{
	if (u->is_address_changed) {
		u->is_address_changed = false;
		u->conf.ops.address_changed(u->conf.ctx);
	}
	if (u->is_changed) {
		u->is_changed = false;
		u->conf.ops.changed(u->conf.ctx);
	}
}

void
vx_underlay_set_now(struct vx_underlay *u, uint64_t now_ms)
{
	if (now_ms > u->now_ms)
		u->now_ms = now_ms;
}

bool
vx_underlay_may_log(struct vx_underlay *u, enum vx_underlay_log kind)
{
	if (u->now_ms < u->log_ms[kind])
		return false;
	u->log_ms[kind] = u->now_ms + LOG_INTERVAL_MS;
	return true;
}

bool
vx_underlay_port_is_present(const struct vx_underlay *u, uint16_t port)
{
	return port < RTE_DIM(u->ports) && u->ports[port].is_present;
}

bool
vx_underlay_port_is_up(const struct vx_underlay *u, uint16_t port)
{
	return vx_underlay_port_is_present(u, port) && u->ports[port].is_up;
}

/* Something made here; @m NULL: there was no buffer for it. */
static void
send_made(struct vx_underlay *u, uint16_t port, struct rte_mbuf *m, enum vx_count which)
{
	vx_underlay_count(u, VX_COUNT_ORIGINATED);
	if (m == NULL) {
		vx_underlay_count(u, VX_COUNT_DROP_NO_MBUF);
		return;
	}
	vx_underlay_count(u, which);
	u->conf.ops.send(u->conf.ctx, port, m);
}

void
vx_underlay_request(struct vx_underlay *u, uint16_t port, const struct vx_ip *source,
		    const struct vx_ip *target, const struct rte_ether_addr *to)
{
	const struct rte_ether_addr *mac = &u->ports[port].mac;

	if (u->tick_requests > 0)
		u->tick_requests--;
	if (vx_ip_is_v4(target))
		send_made(u, port,
			  vx_arp_request_make(u->conf.pool, mac, vx_ip_v4(source), vx_ip_v4(target),
					      to),
			  VX_COUNT_ARP_REQUESTS);
	else
		send_made(u, port, vx_nd_solicit_make(u->conf.pool, mac, source, target, to),
			  VX_COUNT_ND_SOLICITS);
}

void
vx_underlay_announce(struct vx_underlay *u, uint16_t port, const struct vx_ip *ip)
{
	if (vx_ip_is_v4(ip))
		vx_underlay_request(u, port, ip, ip, NULL);
	else
		send_made(u, port, vx_nd_announce_make(u->conf.pool, &u->ports[port].mac, ip),
			  VX_COUNT_ND_ADVERTS);
}

int
vx_underlay_port_set(struct vx_underlay *u, uint16_t port, const struct rte_ether_addr *mac,
		     bool is_up)
{
	struct vx_underlay_port before, *p;
	bool is_new_mac;

	if (port >= RTE_DIM(u->ports) || !rte_is_valid_assigned_ether_addr(mac))
		return -EINVAL;
	p = &u->ports[port];
	before = *p;
	p->mac = *mac;
	p->is_present = true;
	p->is_up = is_up;
	is_new_mac = before.is_present && !rte_is_same_ether_addr(&before.mac, mac);
	if (!is_new_mac && before.is_up == is_up)
		return 0;
	if (before.is_up && !is_up)
		vx_neigh_port_down(u, port);
	if (is_new_mac)
		vx_address_port_mac(u, port);
	vx_underlay_retrack(u);
	if (is_up) {
		vx_address_port_up(u, port);
		vx_neigh_port_up(u, port);
	}
	vx_underlay_report(u);
	return 0;
}

void
vx_underlay_port_del(struct vx_underlay *u, uint16_t port)
{
	if (!vx_underlay_port_is_present(u, port))
		return;
	u->ports[port] = (struct vx_underlay_port){.is_present = false};
	vx_neigh_port_down(u, port);
	vx_address_port_del(u, port);
	vx_underlay_retrack(u);
	vx_neigh_port_del(u, port);
	vx_underlay_report(u);
}

void
vx_underlay_tick(struct vx_underlay *u, uint64_t now_ms)
{
	vx_underlay_set_now(u, now_ms);
	vx_address_tick(u);
	vx_neigh_tick(u);
	vx_underlay_retrack_tick(u);
	vx_underlay_report(u);
}
