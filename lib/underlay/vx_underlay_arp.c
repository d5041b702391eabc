/* SPDX-License-Identifier: BSD-3-Clause */
/* What ARP packets from the network may change. They may be forged: nothing is believed about an
 * address that is not on-link or is our own, and only a bounded number of entries is made. */
#include <rte_ether.h>

#include "vx_arp.h"
#include "vx_log.h"
#include "vx_underlay_state.h"

static void
log_duplicate(struct vx_underlay *u, const struct vx_arp_notice *notice)
{
	char ip[VX_IP_TEXT_MAX], mac[RTE_ETHER_ADDR_FMT_SIZE];

	if (!vx_underlay_may_log(u, VX_UNDERLAY_LOG_DUPLICATE))
		return;
	rte_ether_format_addr(mac, sizeof(mac), &notice->sender_mac);
	VX_LOG(WARNING, "duplicate address: our %s is also claimed by %s on port %u",
	       vx_ip_format(&notice->sender, ip, sizeof(ip)), mac, notice->port);
}

/* Is the sender somebody else, on the link where it was heard? */
static bool
is_credible(struct vx_underlay *u, const struct vx_arp_notice *notice)
{
	const struct vx_underlay_port *port;

	if (!vx_underlay_port_is_up(u, notice->port) ||
	    !rte_is_valid_assigned_ether_addr(&notice->sender_mac))
		return false;
	port = &u->ports[notice->port];
	if (rte_is_same_ether_addr(&notice->sender_mac, &port->mac))
		return false; /* what we sent came back */
	if (vx_address_find(u, &notice->sender) != NULL) {
		log_duplicate(u, notice);
		return false;
	}
	return vx_address_on_link(u, notice->port, &notice->sender) != NULL;
}

void
vx_underlay_arp_seen(struct vx_underlay *u, const struct vx_arp_notice *notice, uint64_t now_ms)
{
	struct vx_neigh *n;

	vx_underlay_set_now(u, now_ms);
	if (!is_credible(u, notice))
		return;
	n = vx_neigh_find(u, notice->port, &notice->sender);
	if (n == NULL) {
		/* whoever asks for us is about to send to us (RFC 826) */
		if (notice->is_reply || !notice->is_for_us)
			return;
		n = vx_neigh_create(u, notice->port, &notice->sender);
		if (n == NULL)
			return;
	}
	vx_neigh_update(u, n, &notice->sender_mac, notice->is_reply && notice->is_for_us);
	vx_underlay_report(u);
}
