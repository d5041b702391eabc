/* SPDX-License-Identifier: BSD-3-Clause */
/* What the underlay sends to this host itself: answered in place by the worker. */
#ifndef VX_HOST_H
#define VX_HOST_H

#include "vx_lcore.h"

/* An ARP packet: requests for local addresses are answered, what it says of its sender goes to the
 * control thread. Ownership is taken. */
void vx_host_arp(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port);

/* An ICMP packet for a local address: echo requests are answered. Ownership is taken.
 * @ip_offset, @ip_header: where the IPv4 header is and its length, in bytes. */
void vx_host_icmp(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
		  uint32_t ip_header);

/* Hand what a packet said to the control thread; counted where there is no room. */
void vx_host_tell(struct vx_lcore *lcore, struct vx_punt *punt);

/* The packet in hand ends here. Ownership is taken. */
void vx_host_consume(struct vx_lcore *lcore, struct rte_mbuf *m);

/* The packet in hand has become an answer, counted as @which too: it ends as a request and begins
 * as a reply. Ownership is taken. */
void vx_host_answer(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, enum vx_count which);

#endif
