/* SPDX-License-Identifier: BSD-3-Clause */
/* Tenants' multicast as a snooping switch sees it: IGMP and MLD messages, and the rest (RFC 4541).
 */
#ifndef VX_MEMBERSHIP_H
#define VX_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_ip.h"

struct rte_mbuf;

enum vx_cast {
	VX_CAST_ALL,	/* for everybody: no IP group, one that is not tracked, or not understood */
	VX_CAST_DATA,	/* for the members of a group */
	VX_CAST_QUERY,	/* a querier asks */
	VX_CAST_REPORT, /* a host says of what it is a member, or no longer */
};

struct vx_membership {
	enum vx_cast cast;
	bool is_v6;
	struct vx_ip source; /* VX_CAST_QUERY; 0.0.0.0: who asks is no querier itself */
	struct vx_ip group;  /* VX_CAST_DATA */

	/* For vx_membership_next(). */
	uint32_t offset;
	uint16_t n;
	uint8_t single; /* 0, or the type of a message about one group */
};

/*
 * Read the frame in @m, which goes to a group MAC address. Headers may be split anywhere. Of IGMPv1
 * to v3 and MLDv1 and v2 all lengths, the checksum and what shows that it is from this link are
 * checked; a message that fails counts as VX_CAST_ALL.
 */
void vx_membership_parse(const struct rte_mbuf *m, struct vx_membership *what);

/* The next group of a VX_CAST_REPORT; false: there is none. Skips what does not concern a switch
 * that forwards by group alone: single sources that are blocked, and groups that are for all. */
bool vx_membership_next(const struct rte_mbuf *m, struct vx_membership *what, struct vx_ip *group,
			bool *is_leave);

#endif
