/* SPDX-License-Identifier: BSD-3-Clause */
/* MLD packets: what IGMP is for IPv4. Without state: the workers call vx_mld_parse(). */
#ifndef VX_MLD_H
#define VX_MLD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_drop.h"
#include "vx_ip.h"

struct rte_mbuf;
struct rte_mempool;
struct vx_group_query;
struct vx_group_record;

/* ICMPv6 types of RFC 2710 and RFC 3810. */
#define VX_MLD_QUERY	 130
#define VX_MLD_REPORT	 131
#define VX_MLD_DONE	 132
#define VX_MLD_REPORT_V2 143

/*
 * Read the MLD message at @offset, which reaches to the end of @m; its IPv6 header is at @ip_offset
 * and everything up to @offset in the first segment. VX_DROP_NONE: @query is filled, with version 0
 * where the message is no query (the report of another member). VX_DROP_GROUP_BAD: too short, wrong
 * checksum, no multicast group, or not from this link (RFC 3810 section 5.1.14: link-local source,
 * hop limit 1, router alert).
 */
enum vx_drop vx_mld_parse(const struct rte_mbuf *m, uint32_t ip_offset, uint32_t offset,
			  struct vx_group_query *query);

/*
 * An MLDv2 report with as many of the @n records as fit into one buffer of @pool, at least one;
 * *@done is how many. @source: a link-local address of ours. NULL: no mbuf.
 */
struct rte_mbuf *vx_mld_report_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
				    const struct vx_ip *source,
				    const struct vx_group_record *records, unsigned int n,
				    unsigned int *done);

/* A report or "done" of MLDv1 (RFC 2710) for one group. NULL: no mbuf. */
struct rte_mbuf *vx_mld_old_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
				 const struct vx_ip *source, const struct vx_ip *group,
				 bool is_leave);

#endif
