/* SPDX-License-Identifier: BSD-3-Clause */
/* IGMP packets. Without state: the workers call vx_igmp_parse(). */
#ifndef VX_IGMP_H
#define VX_IGMP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_ether.h>

#include "vx_drop.h"

struct rte_mbuf;
struct rte_mempool;
struct vx_group_query;
struct vx_group_record;

/*
 * Read the IGMP message at @offset, which reaches to the end of @m; @ttl is its packet's.
 * VX_DROP_NONE: @query is filled, with version 0 where the message is no query (the report of
 * another member). VX_DROP_GROUP_BAD: too short, wrong checksum, routed, or no multicast group.
 */
enum vx_drop vx_igmp_parse(const struct rte_mbuf *m, uint32_t offset, uint8_t ttl,
			   struct vx_group_query *query);

/*
 * An IGMPv3 report with as many of the @n records as fit into one buffer of @pool, at least one;
 * *@done is how many. At least 60 bytes. NULL: no mbuf.
 */
struct rte_mbuf *vx_igmp_report_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
				     rte_be32_t our_ip_be, const struct vx_group_record *records,
				     unsigned int n, unsigned int *done);

/* A report or leave of IGMPv1 or IGMPv2 (@version) for one group. Version 1 has no leave. NULL: no
 * mbuf. */
struct rte_mbuf *vx_igmp_old_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
				  rte_be32_t our_ip_be, rte_be32_t group_be, uint8_t version,
				  bool is_leave);

#endif
