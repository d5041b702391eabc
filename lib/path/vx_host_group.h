/* SPDX-License-Identifier: BSD-3-Clause */
/* IGMP for this host: what queriers ask, for the control thread. */
#ifndef VX_HOST_GROUP_H
#define VX_HOST_GROUP_H

#include "vx_lcore.h"

struct rte_mbuf;

/* The packet is freed or dropped. Its IPv4 header is @ip_header bytes at @ip_offset. */
void vx_host_igmp(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
		  uint32_t ip_header);

#endif
