/* SPDX-License-Identifier: BSD-3-Clause */
/* What neighbour discovery packets from the network may change. They may be forged: nothing is
 * believed about an address that is not on-link, and only a bounded number of entries is made. */
#include <rte_ether.h>

#include "vx_log.h"
#include "vx_nd.h"
#include "vx_underlay_state.h"

static bool
has(const struct vx_nd_notice *notice, uint8_t flag)
{
	return (notice->flags & flag) != 0;
}

/* Somebody else speaks for our address, or is about to take it (RFC 4862 5.4.3, 5.4.4). */
static void
on_claim(struct vx_underlay *u, struct vx_address *a, const struct vx_nd_notice *notice)
{
	const bool is_tentative = a->state == VX_ADDRESS_TENTATIVE;
	char ip[VX_IP_TEXT_MAX], mac[RTE_ETHER_ADDR_FMT_SIZE];

	/* A probe for an address that is certainly ours has been answered by the worker. */
	if (a->state == VX_ADDRESS_DUPLICATE || (has(notice, VX_ND_IS_PROBE) && !is_tentative))
		return;
	if (is_tentative)
		vx_address_set_duplicate(u, a);
	/* Losing an address is always told; it cannot happen more often than a link comes up. */
	if (!is_tentative && !vx_underlay_may_log(u, VX_UNDERLAY_LOG_DUPLICATE))
		return;
	rte_ether_format_addr(mac, sizeof(mac), &notice->mac);
	VX_LOG(WARNING, "duplicate address: our %s is also claimed by %s on port %u%s",
	       vx_ip_format(&notice->ip, ip, sizeof(ip)), mac, notice->port,
	       is_tentative ? ": it is not used" : "");
}

/* Is the sender somebody else, on the link where it was heard? Our own addresses are dealt with
 * here. */
static bool
is_credible(struct vx_underlay *u, const struct vx_nd_notice *notice)
{
	struct vx_address *a;

	if (!vx_underlay_port_is_up(u, notice->port) ||
	    !rte_is_valid_assigned_ether_addr(&notice->mac))
		return false;
	if (rte_is_same_ether_addr(&notice->mac, &u->ports[notice->port].mac))
		return false; /* what we sent came back */
	a = vx_address_find_on(u, notice->port, &notice->ip);
	if (a != NULL)
		on_claim(u, a, notice);
	return vx_address_find(u, &notice->ip) == NULL && !has(notice, VX_ND_IS_PROBE) &&
	       vx_address_on_link(u, notice->port, &notice->ip) != NULL;
}

/* RFC 4861 7.2.3: whoever asks for us is about to send to us. */
static void
on_solicit(struct vx_underlay *u, struct vx_neigh *n, const struct vx_nd_notice *notice)
{
	if (!has(notice, VX_ND_IS_FOR_US) || !has(notice, VX_ND_HAS_MAC))
		return;
	if (n == NULL)
		n = vx_neigh_create(u, notice->port, &notice->ip);
	if (n != NULL)
		vx_neigh_update(u, n, &notice->mac, false);
}

void
vx_underlay_nd_seen(struct vx_underlay *u, const struct vx_nd_notice *notice, uint64_t now_ms)
{
	vx_underlay_set_now(u, now_ms);
	if (is_credible(u, notice)) {
		struct vx_neigh *n = vx_neigh_find(u, notice->port, &notice->ip);

		if (!has(notice, VX_ND_IS_ADVERT))
			on_solicit(u, n, notice);
		else if (n != NULL)
			vx_neigh_advertised(u, n, has(notice, VX_ND_HAS_MAC) ? &notice->mac : NULL,
					    has(notice, VX_ND_IS_SOLICITED) &&
						    has(notice, VX_ND_IS_FOR_US),
					    has(notice, VX_ND_IS_OVERRIDE));
	}
	vx_underlay_report(u);
}
