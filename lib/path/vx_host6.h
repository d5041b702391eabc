/* SPDX-License-Identifier: BSD-3-Clause */
/* What the underlay sends to this host itself over IPv6: answered in place by the worker. */
#ifndef VX_HOST6_H
#define VX_HOST6_H

#include "vx_lcore.h"

/*
 * An ICMPv6 packet for a local address of @port, for all nodes or for the solicited-node group of
 * one: solicitations and echo requests are answered, what it says of neighbours and of path MTUs
 * goes to the control thread. Ownership is taken. The caller has checked the IPv6 header at
 * @ip_offset, its length and its extension headers, and that all of it is there; bytes up to
 * @l4_offset, where the ICMPv6 message begins, are contiguous. The checksum is checked here.
 */
void vx_host_icmp6(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
		   uint32_t l4_offset);

#endif
