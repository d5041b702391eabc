/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Membership of multicast groups, as a host reports it to the multicast routers and snooping
 * switches of a link: IGMPv3 (RFC 3376) and MLDv2 (RFC 3810), the older versions where a querier
 * speaks them. Every group is joined from all sources.
 *
 *   idle     its port is down or has no address of the family
 *   joining  reported unasked, and to be repeated: a report may be lost
 *   member   reported; queries are answered, each after a random part of the time it allows
 *   leaving  the last user is gone, which is to be repeated
 *
 * One thread only. There is no clock inside: time is what vx_groups_tick() and
 * vx_groups_query_seen() were last told.
 */
#ifndef VX_GROUP_H
#define VX_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_count.h"
#include "vx_ip.h"

struct rte_mbuf;
struct rte_mempool;
struct vx_err;
struct vx_group_query;
struct vx_groups;

enum vx_group_state {
	VX_GROUP_IDLE,
	VX_GROUP_JOINING,
	VX_GROUP_MEMBER,
	VX_GROUP_LEAVING,
};

/* What the owner does for it; all are given @ctx of the configuration. None may call back. */
struct vx_groups_ops {
	/* Send @m, which now belongs to the callee. */
	void (*send)(void *ctx, uint16_t port, struct rte_mbuf *m);
	/* Counted here: GROUP_REPORTS and ORIGINATED, DROP_NO_MBUF where there was no buffer. */
	void (*count)(void *ctx, enum vx_count which, uint64_t n);
};

struct vx_groups_conf {
	struct vx_groups_ops ops;
	void *ctx;
	struct rte_mempool *pool; /* for reports */
	uint32_t max;		  /* groups, those that are being left included */
	uint64_t now_ms;
};

/* How a port is now. */
struct vx_groups_port {
	struct rte_ether_addr mac;
	bool is_up;
	struct vx_ip source4; /* none: no IPv4 group is joined there */
	struct vx_ip source6; /* link-local; none: no IPv6 group is joined there */
};

struct vx_group_info {
	struct vx_ip ip;
	uint16_t port;
	uint32_t users;
	enum vx_group_state state;
	uint8_t version; /* of the protocol that is spoken for it */
	bool is_queried; /* a querier was heard lately */
};

/* NULL with rte_errno on failure. */
struct vx_groups *vx_groups_create(const struct vx_groups_conf *conf);
/* Nothing is sent. NULL is allowed. */
void vx_groups_destroy(struct vx_groups *g);

/* The port has become so. What is joined there is reported when it comes up. */
void vx_groups_port_set(struct vx_groups *g, uint16_t port, const struct vx_groups_port *now);

/* The port is about to go down: all its groups are left, once, and joined again when it is up. */
void vx_groups_port_leave(struct vx_groups *g, uint16_t port);

/* One more user of the group. 0, or -EINVAL, -ENOSPC with the reason in @err. */
int vx_groups_join(struct vx_groups *g, uint16_t port, const struct vx_ip *ip, struct vx_err *err);
/* One less; with the last one, the group is left. Nothing happens if there is none. */
void vx_groups_leave(struct vx_groups *g, uint16_t port, const struct vx_ip *ip);

/* The port on which the group is in use; UINT16_MAX: none. */
uint16_t vx_groups_port_of(const struct vx_groups *g, const struct vx_ip *ip);

/* Grows whenever a group gets its first user, loses its last one, comes up or goes down. */
uint32_t vx_groups_changes(const struct vx_groups *g);

/* A worker saw a query. */
void vx_groups_query_seen(struct vx_groups *g, uint16_t port, const struct vx_group_query *query,
			  uint64_t now_ms);

/* Timers; about every 100 ms. */
void vx_groups_tick(struct vx_groups *g, uint64_t now_ms);

/* The next one, in the order of joining, those that are being left included; *@iterator starts at
 * 0. False: there is none left. */
bool vx_groups_next(const struct vx_groups *g, uint32_t *iterator, struct vx_group_info *info);

const char *vx_group_state_name(enum vx_group_state state);

/*
 * May tunnels use this group: is it one that is forwarded and tracked by routers and snooping
 * switches? 0, or -EINVAL with the reason in @err.
 */
int vx_group_check(const struct vx_ip *ip, struct vx_err *err);

#endif
