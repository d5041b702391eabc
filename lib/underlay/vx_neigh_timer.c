/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a neighbour and their timers. */
#include "vx_neigh.h"

#include "vx_underlay_state.h"

/* Requests per tick: thousands that fall due together are spread over the next ticks, which also
 * keeps their later refreshes apart. */
#define TICK_REQUESTS_MAX 256u

static void
set_deadline(struct vx_underlay *u, const struct vx_neigh *n, uint64_t at_ms)
{
	u->deadlines[n->id] = at_ms;
	if (at_ms < u->deadline_next_ms)
		u->deadline_next_ms = at_ms;
}

void
vx_neigh_enter(struct vx_underlay *u, struct vx_neigh *n, enum vx_neigh_state state,
	       uint64_t wait_ms)
{
	n->state = state;
	n->since_ms = u->now_ms;
	n->asked = 0;
	n->backoff_ms = VX_NEIGH_ASK_MS;
	set_deadline(u, n, wait_ms == VX_UNDERLAY_NEVER ? VX_UNDERLAY_NEVER : u->now_ms + wait_ms);
}

/* Send a request, if the last one was long enough ago; if not, the timer will come back to it. A
 * request that cannot be sent (no address, link down) counts as one without an answer. */
static bool
ask(struct vx_underlay *u, struct vx_neigh *n, bool is_broadcast, uint64_t wait_ms)
{
	const uint16_t port = (uint16_t)n->key.port;
	const struct vx_address *local;

	if (u->now_ms < n->may_ask_ms) {
		set_deadline(u, n, n->may_ask_ms);
		return false;
	}
	n->asked++;
	n->may_ask_ms = u->now_ms + VX_NEIGH_ASK_MS;
	set_deadline(u, n, u->now_ms + wait_ms);
	local = vx_address_on_link(u, port, &n->key.ip);
	if (local != NULL && vx_underlay_port_is_up(u, port))
		vx_underlay_request(u, port, &local->prefix.ip, &n->key.ip,
				    is_broadcast ? NULL : &n->mac);
	return true;
}

void
vx_neigh_resolve(struct vx_underlay *u, struct vx_neigh *n)
{
	vx_neigh_enter(u, n, VX_NEIGH_INCOMPLETE, VX_NEIGH_ASK_MS);
	ask(u, n, true, VX_NEIGH_ASK_MS);
}

static void
give_up(struct vx_underlay *u, struct vx_neigh *n)
{
	n->mac = (struct rte_ether_addr){.addr_bytes = {0}};
	vx_neigh_enter(u, n, VX_NEIGH_FAILED, VX_NEIGH_ASK_MS);
	vx_underlay_count(u, vx_ip_is_v4(&n->key.ip) ? VX_COUNT_ARP_FAILED : VX_COUNT_ND_FAILED);
	vx_neigh_flush(u, n, VX_DROP_NEIGH_FAILED);
	u->is_changed = true;
}

static void
on_failed(struct vx_underlay *u, struct vx_neigh *n)
{
	const uint32_t next = RTE_MIN(2 * n->backoff_ms, VX_NEIGH_BACKOFF_MS);

	if (ask(u, n, true, next)) {
		n->backoff_ms = next;
		n->asked = 1; /* it would overflow in time */
	}
}

/* The timer of a neighbour that is in use. */
static void
on_deadline(struct vx_underlay *u, struct vx_neigh *n)
{
	switch (n->state) {
	case VX_NEIGH_INCOMPLETE:
		if (n->asked < VX_NEIGH_ASK_MAX)
			ask(u, n, true, VX_NEIGH_ASK_MS);
		else
			give_up(u, n);
		break;
	case VX_NEIGH_REACHABLE:
	case VX_NEIGH_STALE:
	case VX_NEIGH_DELAY:
		vx_neigh_enter(u, n, VX_NEIGH_PROBE, VX_NEIGH_ASK_MS);
		ask(u, n, false, VX_NEIGH_ASK_MS);
		break;
	case VX_NEIGH_PROBE:
		if (n->asked < 2 * VX_NEIGH_ASK_MAX)
			ask(u, n, n->asked >= VX_NEIGH_ASK_MAX, VX_NEIGH_ASK_MS);
		else
			give_up(u, n);
		break;
	case VX_NEIGH_FAILED:
		on_failed(u, n);
		break;
	case VX_NEIGH_PERMANENT:
		break;
	}
}

static void
on_deadline_idle(struct vx_underlay *u, struct vx_neigh *n)
{
	if (n->state == VX_NEIGH_REACHABLE)
		vx_neigh_enter(u, n, VX_NEIGH_STALE, VX_NEIGH_STALE_MS);
	else
		vx_neigh_remove(u, n, VX_DROP_NO_ROUTE);
}

void
vx_neigh_tick(struct vx_underlay *u)
{
	const uint32_t from = u->tick_from;

	if (u->now_ms < u->deadline_next_ms)
		return;
	u->deadline_next_ms = VX_UNDERLAY_NEVER;
	u->tick_requests = TICK_REQUESTS_MAX;
	for (uint32_t i = 0; i < u->neigh_slots; i++) {
		const uint32_t at =
			from + i < u->neigh_slots ? from + i : from + i - u->neigh_slots;
		const uint64_t deadline = u->deadlines[at];
		const bool is_due = deadline <= u->now_ms;

		if (is_due && u->tick_requests > 0) {
			if (u->neighs[at].references > 0)
				on_deadline(u, &u->neighs[at]);
			else
				on_deadline_idle(u, &u->neighs[at]);
			continue;
		}
		if (is_due && u->tick_from == from)
			u->tick_from = at; /* the next tick begins with it */
		if (deadline < u->deadline_next_ms)
			u->deadline_next_ms = deadline;
	}
}

/* A MAC that was only heard of is used at once, and probed soon. */
static void
enter_unconfirmed(struct vx_underlay *u, struct vx_neigh *n)
{
	if (n->references > 0)
		vx_neigh_enter(u, n, VX_NEIGH_DELAY, VX_NEIGH_DELAY_MS);
	else
		vx_neigh_enter(u, n, VX_NEIGH_STALE, VX_NEIGH_STALE_MS);
}

void
vx_neigh_update(struct vx_underlay *u, struct vx_neigh *n, const struct rte_ether_addr *mac,
		bool is_confirmed)
{
	const bool is_news = !vx_neigh_is_usable(n) || !rte_is_same_ether_addr(&n->mac, mac);

	if (n->state == VX_NEIGH_PERMANENT)
		return;
	n->mac = *mac;
	if (is_confirmed)
		vx_neigh_enter(u, n, VX_NEIGH_REACHABLE, VX_NEIGH_REACHABLE_MS);
	else if (is_news || n->state == VX_NEIGH_STALE)
		enter_unconfirmed(u, n);
	if (n->is_idle) { /* heard of last: evicted last */
		TAILQ_REMOVE(&u->idle, n, idle);
		TAILQ_INSERT_TAIL(&u->idle, n, idle);
	}
	if (is_news && n->references > 0)
		u->is_changed = true;
	vx_neigh_send_held(u, n);
}

void
vx_neigh_advertised(struct vx_underlay *u, struct vx_neigh *n, const struct rte_ether_addr *mac,
		    bool is_solicited, bool is_override)
{
	const bool is_usable = vx_neigh_is_usable(n);

	if (n->state == VX_NEIGH_PERMANENT || (mac == NULL && !is_usable))
		return;
	if (is_usable && mac != NULL && !is_override && !rte_is_same_ether_addr(mac, &n->mac)) {
		/* not to be believed against what is known, but reason to ask */
		if (n->state == VX_NEIGH_REACHABLE)
			enter_unconfirmed(u, n);
		return;
	}
	vx_neigh_update(u, n, mac != NULL ? mac : &n->mac, is_solicited);
}
