/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP packets. Without state: the workers call this. */
#ifndef VX_ARP_H
#define VX_ARP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_ether.h>

#include "vx_drop.h"
#include "vx_ip.h"

struct rte_mbuf;
struct rte_mempool;

/* What a worker tells the control thread about an ARP packet. */
struct vx_arp_notice {
	struct vx_ip sender;
	struct rte_ether_addr sender_mac;
	uint16_t port;
	bool is_reply;
	bool is_for_us; /* its target is a local address: set by the caller of vx_arp_parse() */
};
_Static_assert(sizeof(struct vx_arp_notice) <= 32, "copied through a ring");

/*
 * Check an untagged ARP frame and take out what it says. VX_DROP_NONE, or VX_DROP_ARP_BAD with
 * @notice and @target_be untouched. A request may have the sender 0.0.0.0 (RFC 5227: a probe).
 */
enum vx_drop vx_arp_parse(const struct rte_mbuf *m, struct vx_arp_notice *notice,
			  rte_be32_t *target_be);

/*
 * Turn a request that vx_arp_parse() has accepted into the reply to it: 60 bytes in one segment.
 * Further segments are freed. False, with @m as it was: its first segment is shared with another
 * packet, or too small.
 */
bool vx_arp_reply_in_place(struct rte_mbuf *m, const struct rte_ether_addr *our_mac);

/* A request, 60 bytes. @to NULL: broadcast. @target_be equal to @our_ip_be: an announcement
 * (RFC 5227 2.3). NULL: no mbuf. */
struct rte_mbuf *vx_arp_request_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
				     rte_be32_t our_ip_be, rte_be32_t target_be,
				     const struct rte_ether_addr *to);

#endif
