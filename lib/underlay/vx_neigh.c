/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of neighbours, their references and the packets that wait for them. */
#include "vx_neigh.h"

#include <errno.h>
#include <string.h>

#include <rte_hash.h>
#include <rte_mbuf.h>

#include "vx_address.h"
#include "vx_err.h"
#include "vx_underlay_state.h"

const char *
vx_neigh_state_name(enum vx_neigh_state state)
{
	static const char *const names[] = {
		[VX_NEIGH_INCOMPLETE] = "incomplete", [VX_NEIGH_REACHABLE] = "reachable",
		[VX_NEIGH_STALE] = "stale",	      [VX_NEIGH_DELAY] = "delay",
		[VX_NEIGH_PROBE] = "probe",	      [VX_NEIGH_FAILED] = "failed",
		[VX_NEIGH_PERMANENT] = "permanent",
	};

	return names[state];
}

struct vx_neigh *
vx_neigh_find(const struct vx_underlay *u, uint16_t port, const struct vx_ip *ip)
{
	const struct vx_neigh_key key = {.ip = *ip, .port = port};
	const int32_t position = rte_hash_lookup(u->neigh_hash, &key);

	return position < 0 ? NULL : &u->neighs[position];
}

struct vx_neigh *
vx_neigh_find_static(const struct vx_underlay *u, const struct vx_ip *ip)
{
	for (uint32_t i = 0; i < u->neigh_slots; i++) {
		struct vx_neigh *n = &u->neighs[i];

		if (n->is_used && n->state == VX_NEIGH_PERMANENT && vx_ip_is_equal(&n->key.ip, ip))
			return n;
	}
	return NULL;
}

/* Nobody references it: may it be evicted? Static ones never. */
static void
update_idle(struct vx_underlay *u, struct vx_neigh *n)
{
	const bool is_idle = n->references == 0 && n->state != VX_NEIGH_PERMANENT;

	if (n->is_idle)
		TAILQ_REMOVE(&u->idle, n, idle);
	n->is_idle = is_idle;
	if (is_idle)
		TAILQ_INSERT_TAIL(&u->idle, n, idle);
}

struct vx_neigh *
vx_neigh_create(struct vx_underlay *u, uint16_t port, const struct vx_ip *ip)
{
	const struct vx_neigh_key key = {.ip = *ip, .port = port};
	struct vx_neigh *n;
	int32_t position;

	if (u->neighs_n == u->conf.max_neighbours) {
		if (TAILQ_EMPTY(&u->idle))
			return NULL;
		vx_neigh_remove(u, TAILQ_FIRST(&u->idle), VX_DROP_NO_ROUTE);
	}
	position = rte_hash_add_key(u->neigh_hash, &key);
	if (position < 0)
		return NULL;
	n = &u->neighs[position];
	*n = (struct vx_neigh){.key = key, .id = (uint32_t)position, .is_used = true};
	u->neighs_n++;
	vx_neigh_enter(u, n, VX_NEIGH_INCOMPLETE, VX_NEIGH_ASK_MS);
	update_idle(u, n);
	return n;
}

void
vx_neigh_remove(struct vx_underlay *u, struct vx_neigh *n, enum vx_drop reason)
{
	vx_neigh_flush(u, n, reason);
	if (n->is_idle)
		TAILQ_REMOVE(&u->idle, n, idle);
	rte_hash_del_key(u->neigh_hash, &n->key);
	u->deadlines[n->id] = VX_UNDERLAY_NEVER;
	*n = (struct vx_neigh){.is_used = false};
	u->neighs_n--;
}

/* Something is about to send to it. */
static void
wake(struct vx_underlay *u, struct vx_neigh *n)
{
	if (!vx_neigh_is_usable(n))
		vx_neigh_resolve(u, n);
	else if (n->state == VX_NEIGH_STALE)
		vx_neigh_enter(u, n, VX_NEIGH_DELAY, VX_NEIGH_DELAY_MS);
}

struct vx_neigh *
vx_neigh_get(struct vx_underlay *u, uint16_t port, const struct vx_ip *ip)
{
	struct vx_neigh *n = vx_neigh_find(u, port, ip);

	if (n == NULL)
		n = vx_neigh_create(u, port, ip);
	if (n == NULL)
		return NULL;
	if (n->references++ == 0) {
		update_idle(u, n);
		wake(u, n);
	}
	return n;
}

void
vx_neigh_put(struct vx_underlay *u, struct vx_neigh *n)
{
	if (--n->references > 0)
		return;
	vx_neigh_flush(u, n, VX_DROP_NO_ROUTE);
	update_idle(u, n);
	if (n->state == VX_NEIGH_DELAY || n->state == VX_NEIGH_PROBE)
		vx_neigh_enter(u, n, VX_NEIGH_STALE, VX_NEIGH_STALE_MS);
	else if (n->state == VX_NEIGH_FAILED)
		vx_neigh_enter(u, n, VX_NEIGH_FAILED, VX_NEIGH_STALE_MS);
}

static void
give_back(struct vx_underlay *u, struct rte_mbuf *m, enum vx_drop reason)
{
	vx_underlay_count(u, VX_COUNT_UNHELD);
	u->conf.ops.drop(u->conf.ctx, m, reason);
}

static void
send_to(struct vx_underlay *u, const struct vx_neigh *n, struct rte_mbuf *m)
{
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), &n->mac, sizeof(n->mac));
	vx_underlay_count(u, VX_COUNT_UNHELD);
	u->conf.ops.send(u->conf.ctx, (uint16_t)n->key.port, m);
}

void
vx_neigh_flush(struct vx_underlay *u, struct vx_neigh *n, enum vx_drop reason)
{
	for (unsigned int i = 0; i < n->held_n; i++)
		give_back(u, n->held[i], reason);
	n->held_n = 0;
}

void
vx_neigh_send_held(struct vx_underlay *u, struct vx_neigh *n)
{
	for (unsigned int i = 0; i < n->held_n; i++)
		send_to(u, n, n->held[i]);
	n->held_n = 0;
}

void
vx_neigh_hold(struct vx_underlay *u, struct vx_neigh *n, struct rte_mbuf *m)
{
	if (n->state == VX_NEIGH_FAILED) {
		give_back(u, m, VX_DROP_NEIGH_FAILED);
		return;
	}
	if (vx_neigh_is_usable(n)) {
		send_to(u, n, m);
		return;
	}
	if (n->held_n == VX_NEIGH_HOLD_MAX) {
		give_back(u, n->held[0], VX_DROP_NEIGH_QUEUE);
		n->held_n--;
		memmove(&n->held[0], &n->held[1], n->held_n * sizeof(n->held[0]));
	}
	n->held[n->held_n++] = m;
}

static int
check_static(const struct vx_underlay *u, const struct vx_ip *ip, const struct rte_ether_addr *mac,
	     uint16_t port, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX], mac_text[RTE_ETHER_ADDR_FMT_SIZE];
	const struct vx_neigh *n;

	vx_ip_format(ip, text, sizeof(text));
	rte_ether_format_addr(mac_text, sizeof(mac_text), mac);
	if (!vx_ip_is_host(ip))
		return vx_err_set(err, EINVAL, "%s cannot be a host's address", text);
	if (!rte_is_valid_assigned_ether_addr(mac))
		return vx_err_set(err, EINVAL,
				  "%s is a group address or zero: expected one host's MAC",
				  mac_text);
	if (!vx_underlay_port_is_present(u, port))
		return vx_err_set(err, ENODEV,
				  "port %u is not an underlay port: see show port info all", port);
	if (vx_address_find(u, ip) != NULL)
		return vx_err_set(err, EINVAL, "%s is a local address: expected another's", text);
	if (vx_address_on_link(u, port, ip) == NULL)
		return vx_err_set(err, EINVAL, "%s is on no subnet of an address of port %u", text,
				  port);
	n = vx_neigh_find_static(u, ip);
	if (n != NULL) {
		rte_ether_format_addr(mac_text, sizeof(mac_text), &n->mac);
		return vx_err_set(
			err, EEXIST,
			"%s is already a static neighbour, %s on port %u: delete it first", text,
			mac_text, (unsigned int)n->key.port);
	}
	return 0;
}

int
vx_neigh_add(struct vx_underlay *u, const struct vx_ip *ip, const struct rte_ether_addr *mac,
	     uint16_t port, struct vx_err *err)
{
	struct vx_neigh *n;
	int ret;

	ret = check_static(u, ip, mac, port, err);
	if (ret < 0)
		return ret;
	n = vx_neigh_find(u, port, ip);
	if (n == NULL)
		n = vx_neigh_create(u, port, ip);
	if (n == NULL)
		return vx_err_set(err, ENOSPC, "all %u neighbours are in use",
				  u->conf.max_neighbours);
	n->mac = *mac;
	vx_neigh_enter(u, n, VX_NEIGH_PERMANENT, VX_UNDERLAY_NEVER);
	update_idle(u, n);
	vx_neigh_send_held(u, n);
	if (n->references > 0)
		u->is_changed = true;
	vx_underlay_report(u);
	return 0;
}

int
vx_neigh_del(struct vx_underlay *u, const struct vx_ip *ip, struct vx_err *err)
{
	struct vx_neigh *n = vx_neigh_find_static(u, ip);
	char text[VX_IP_TEXT_MAX];

	if (n == NULL)
		return vx_err_set(err, ENOENT, "%s is not a static neighbour",
				  vx_ip_format(ip, text, sizeof(text)));
	n->mac = (struct rte_ether_addr){.addr_bytes = {0}};
	if (n->references == 0 && u->now_ms >= n->may_ask_ms) {
		vx_neigh_remove(u, n, VX_DROP_NO_ROUTE);
		return 0;
	}
	if (n->references == 0) { /* asked for just now: that is remembered until it may be again */
		vx_neigh_enter(u, n, VX_NEIGH_INCOMPLETE, VX_NEIGH_ASK_MS);
		update_idle(u, n);
		return 0;
	}
	vx_neigh_resolve(u, n);
	u->is_changed = true;
	vx_underlay_report(u);
	return 0;
}

bool
vx_neigh_next(const struct vx_underlay *u, uint32_t *iterator, struct vx_neigh_info *info)
{
	while (*iterator < u->neigh_slots) {
		const struct vx_neigh *n = &u->neighs[(*iterator)++];

		if (!n->is_used)
			continue;
		*info = (struct vx_neigh_info){
			.port = (uint16_t)n->key.port,
			.state = n->state,
			.ip = n->key.ip,
			.mac = n->mac,
			.references = n->references,
			.held = n->held_n,
			.since_ms = u->now_ms - n->since_ms,
		};
		return true;
	}
	return false;
}

static bool
is_on_port(const struct vx_neigh *n, uint16_t port)
{
	return n->is_used && n->key.port == port;
}

/* What was learned may be another's by the time the link comes back. Entries stay for a while, so
 * that a flapping link does not make us forget when they were last asked. */
void
vx_neigh_port_down(struct vx_underlay *u, uint16_t port)
{
	for (uint32_t i = 0; i < u->neigh_slots; i++) {
		struct vx_neigh *n = &u->neighs[i];

		if (!is_on_port(n, port))
			continue;
		vx_neigh_flush(u, n, VX_DROP_TX_PORT_DOWN);
		if (n->state == VX_NEIGH_PERMANENT)
			continue;
		n->mac = (struct rte_ether_addr){.addr_bytes = {0}};
		vx_neigh_enter(u, n, VX_NEIGH_FAILED, VX_NEIGH_STALE_MS);
	}
}

void
vx_neigh_port_up(struct vx_underlay *u, uint16_t port)
{
	for (uint32_t i = 0; i < u->neigh_slots; i++) {
		struct vx_neigh *n = &u->neighs[i];

		if (is_on_port(n, port) && n->references > 0 && n->state == VX_NEIGH_FAILED)
			vx_neigh_resolve(u, n);
	}
}

/* Whoever still has a reference keeps a failed entry until it is given back. */
void
vx_neigh_port_del(struct vx_underlay *u, uint16_t port)
{
	for (uint32_t i = 0; i < u->neigh_slots; i++) {
		struct vx_neigh *n = &u->neighs[i];

		if (!is_on_port(n, port))
			continue;
		if (n->references == 0)
			vx_neigh_remove(u, n, VX_DROP_TX_PORT_DOWN);
		else
			vx_neigh_enter(u, n, VX_NEIGH_FAILED, VX_NEIGH_STALE_MS);
	}
}
