/* SPDX-License-Identifier: BSD-3-Clause */
/* IGMP and MLD for this host: what queriers ask, for the control thread. */
#ifndef VX_HOST_GROUP_H
#define VX_HOST_GROUP_H

#include "vx_lcore.h"

struct rte_mbuf;

/* The packet is freed or dropped. Its IPv4 header is @ip_header bytes at @ip_offset. */
void vx_host_igmp(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
		  uint32_t ip_header);

/* MLD: a message for which the types 130 to 132 and 143 stand, at @l4_offset; what is in front of
 * it is contiguous. Its checksum is checked here. */
void vx_host_mld(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
		 uint32_t l4_offset);

#endif
