/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of struct vx_groups, for vx_group*.c only. */
#ifndef VX_GROUP_STATE_H
#define VX_GROUP_STATE_H

#include <rte_config.h>

#include "vx_group.h"
#include "vx_group_message.h"

#define VX_GROUP_NEVER UINT64_MAX

/* Families, as indexes. */
#define VX_GROUP_V4	  0u
#define VX_GROUP_V6	  1u
#define VX_GROUP_FAMILIES 2u

struct vx_group {
	struct vx_ip ip;
	uint16_t port;
	enum vx_group_state state;
	uint32_t users;
	uint8_t repeats;    /* reports of the state that are still to be sent */
	uint64_t repeat_ms; /* the next of them */
	uint64_t answer_ms; /* a query is to be answered then */
};

/* What is known of the queriers of one family on one port. */
struct vx_group_link {
	uint8_t version;	/* that is spoken: the oldest a querier speaks */
	uint8_t robustness;	/* RFC 3376 section 8.1 */
	uint32_t interval_ms;	/* section 8.2 */
	uint64_t old_ms[2];	/* versions 1 and 2 are spoken until then */
	uint64_t querier_ms;	/* until then, a querier is taken to be there */
	uint64_t answer_all_ms; /* a general query is to be answered then */
};

struct vx_group_port {
	struct vx_groups_port now;
	struct vx_group_link link[VX_GROUP_FAMILIES];
};

struct vx_groups {
	struct vx_groups_conf conf;
	uint64_t now_ms;
	uint64_t due_ms; /* nothing is earlier */
	struct vx_group *groups;
	uint32_t n;
	uint32_t changes;
	struct vx_group_record *records; /* of the reports being made */
	struct vx_group_port ports[RTE_MAX_ETHPORTS];
};

static inline unsigned int
vx_group_family(const struct vx_ip *ip)
{
	return vx_ip_is_v4(ip) ? VX_GROUP_V4 : VX_GROUP_V6;
}

/* vx_group.c */
bool vx_group_is_active(const struct vx_groups *g, uint16_t port, unsigned int family);
void vx_group_remove(struct vx_groups *g, struct vx_group *group); /* moves those behind it */

/* vx_group_timer.c */

/* As if nobody had been heard. */
void vx_group_link_reset(struct vx_group_link *link, unsigned int family);
/* Enter a state whose reports are due from now on: JOINING or LEAVING. */
void vx_group_begin(struct vx_groups *g, struct vx_group *group, enum vx_group_state state);
/* Send what is due. */
void vx_groups_run(struct vx_groups *g);

#endif
