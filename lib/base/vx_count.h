/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of counters. Each worker (and the control thread) has one array of them with one
 * writer; readers sum relaxed. Every display walks this registry, so a counter added here appears
 * everywhere.
 *
 * The law that holds whenever nothing is in flight:
 *     RX + COPIES + ORIGINATED + FRAGMENTS  =  TX + drops + CONSUMED + MERGED + held
 */
#ifndef VX_COUNT_H
#define VX_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "vx_drop.h"

/*   X(symbol, name, explanation) */
#define VX_COUNT_LIST(X)                                                                           \
	X(RX, "received", "frames taken from ports")                                               \
	X(COPIES, "flood_copies", "further copies of flooded frames")                              \
	X(ORIGINATED, "originated", "packets made here: ARP, ND, ICMP echo replies")               \
	X(FRAGMENTS, "fragments", "further packets made by cutting large ones")                    \
	X(TX, "forwarded", "frames given to ports")                                                \
	X(CONSUMED, "consumed", "frames that ended here as they should: ARP, ND, ICMP echo")       \
	X(MERGED, "merged", "fragments that became part of another packet")                        \
	X(HELD, "held_total", "packets that had to wait: for a neighbour, for other fragments")    \
	X(UNHELD, "unheld_total", "of these, no longer waiting")                                   \
	X(ENCAP, "encapsulated", "frames put into tunnels")                                        \
	X(DECAP, "decapsulated", "frames taken out of tunnels")                                    \
	X(FRAGMENTED, "fragmented", "packets cut into fragments")                                  \
	X(REASSEMBLED, "reassembled", "packets put together from fragments")                       \
	X(FLOODED, "flooded", "frames with an unknown or group destination")                       \
	X(LINEAR_COPIES, "linear_copies", "chains copied for a port that cannot send chains")      \
	X(INNER_CHECKSUMS, "inner_checksums", "unfinished inner checksums completed")              \
	X(LEARN_EVENTS, "learn_events", "new or moved MACs reported to the control thread")        \
	X(LEARN_RING_FULL, "learn_ring_full", "reports lost because the ring was full")            \
	X(LEARNED, "learned", "MACs entered by learning")                                          \
	X(MOVED, "moved", "learned MACs that changed their place")                                 \
	X(AGED, "aged", "learned MACs that aged out")                                              \
	X(STATIC_CONFLICT, "static_conflict", "learning refused: the MAC is static elsewhere")     \
	X(FDB_FULL, "fdb_full", "learning refused: the FDB is full")                               \
	X(FDB_VNI_FULL, "fdb_vni_full", "learning refused: the segment has its max-macs")          \
	X(FLAPPING, "flapping", "of moved: MACs that move again and again")                        \
	X(VTEP_FULL, "vtep_full", "learning refused: no room for another remote VTEP")             \
	X(PMTU_LOWERED, "pmtu_lowered", "path MTUs lowered by ICMP")                               \
	X(PMTU_IGNORED, "pmtu_ignored", "ICMP about path MTUs that was forged, stale or useless")  \
	X(ARP_REQUESTS, "arp_requests_sent", "ARP requests sent")                                  \
	X(ARP_REPLIES, "arp_replies_sent", "ARP replies sent")                                     \
	X(ARP_FAILED, "arp_failed", "neighbours given up for now")                                 \
	X(ND_SOLICITS, "nd_solicits_sent", "IPv6 neighbour solicitations sent")                    \
	X(ND_ADVERTS, "nd_adverts_sent", "IPv6 neighbour advertisements sent")                     \
	X(ND_FAILED, "nd_failed", "IPv6 neighbours given up for now")                              \
	X(ECHO_REPLIES, "echo_replies_sent", "ICMP echo replies sent")                             \
	X(GROUP_QUERIES, "group_queries", "IGMP and MLD queries heard")                            \
	X(GROUP_REPORTS, "group_reports_sent", "IGMP and MLD reports and leaves sent")             \
	X(PUNT_RING_FULL, "punt_ring_full", "ARP and ND notices lost because the ring was full")   \
	X(SUPPRESSED_ARP, "suppressed_arp", "tenants' ARP requests answered here (set suppress)")  \
	X(SUPPRESSED_ND, "suppressed_nd", "the same for neighbour solicitations")                  \
	X(SNOOPED, "snooped", "multicast flooded only to who asked for it (set snooping)")         \
	X(GROUP_FULL, "group_full", "memberships refused: no room for another group")              \
	X(TENANT_EVENTS, "tenant_events", "ARP, ND, IGMP, MLD of tenants that workers reported")   \
	X(TENANT_EVENTS_LOST, "tenant_events_lost", "the same, lost: rate limit, or ring full")    \
	X(BOUND, "bound", "tenants' IP addresses entered with their MAC")                          \
	X(BINDING_MOVED, "binding_moved", "tenants' IP addresses that got another MAC")            \
	X(BINDING_AGED, "binding_aged", "tenants' IP addresses whose MAC is not known any more")   \
	X(BINDING_CONFLICT, "binding_conflict", "refused: the IP address has a static binding")    \
	X(BINDING_FULL, "binding_full", "refused: no room for another binding")                    \
	X(TRACE_LOST, "trace_lost", "trace records lost because the ring was full")

enum vx_count {
#define VX_COUNT_DROP(symbol, name, text) VX_COUNT_DROP_##symbol,
	VX_DROP_LIST(VX_COUNT_DROP)
#undef VX_COUNT_DROP
#define VX_COUNT_ENUM(symbol, name, text) VX_COUNT_##symbol,
	VX_COUNT_LIST(VX_COUNT_ENUM)
#undef VX_COUNT_ENUM
		VX_COUNT_MAX,
};

/* One thread's counters. A drop reason is its own index: counts[reason]. */
struct vx_counts {
	uint64_t value[VX_COUNT_MAX];
} __rte_cache_aligned;

struct vx_count_info {
	const char *name;
	const char *text;
	bool is_drop;
};

/* @index: 0..VX_COUNT_MAX-1. */
const struct vx_count_info *vx_count_info(unsigned int index);

const char *vx_drop_name(enum vx_drop reason);

/* Add @from to @sum, reading each value once although its owner may be writing it. */
void vx_counts_add(struct vx_counts *sum, const struct vx_counts *from);

/* @sum -= @baseline: how `clear` resets without touching another thread's counters. */
void vx_counts_subtract(struct vx_counts *sum, const struct vx_counts *baseline);

/* Sum of all drop reasons. */
uint64_t vx_counts_drops(const struct vx_counts *counts);

#endif
