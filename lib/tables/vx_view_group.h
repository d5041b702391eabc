/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which multicast groups a port listens to. A hash table inside the view, as there may be one group
 * for each of many segments. Its key is what a group's IP and MAC addresses have in common, so that
 * frames can be judged by either.
 */
#ifndef VX_VIEW_GROUP_H
#define VX_VIEW_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_view.h"

/* Of a view that is being edited. At most VX_GROUP_SLOTS / 2 in all; adding one twice is fine. */
void vx_view_groups_clear(struct vx_view *view);
void vx_view_group_add(struct vx_view *view, uint16_t port, const struct vx_ip *ip);

static inline uint32_t
vx_view_group_slot(const struct rte_ether_addr *mac)
{
	return (mac->addr_bytes[4] << 8 | mac->addr_bytes[5]) & (VX_GROUP_SLOTS - 1);
}

/* Is @mac the address of a group that @port listens to? Workers. */
static inline bool
vx_view_hears(const struct vx_view *view, uint16_t port, const struct rte_ether_addr *mac)
{
	const struct vx_view_group *group;

	if (view->n_groups == 0 || !rte_is_multicast_ether_addr(mac))
		return false;
	for (uint32_t i = vx_view_group_slot(mac);; i = (i + 1) & (VX_GROUP_SLOTS - 1)) {
		group = &view->group[i];
		if (vx_ip_is_none(&group->ip))
			return false;
		if (group->port == port && rte_is_same_ether_addr(&group->mac, mac))
			return true;
	}
}

/* Does @port listen to the group @ip, whose address is @mac? Workers. */
static inline bool
vx_view_is_member(const struct vx_view *view, uint16_t port, const struct vx_ip *ip,
		  const struct rte_ether_addr *mac)
{
	const struct vx_view_group *group;

	for (uint32_t i = vx_view_group_slot(mac);; i = (i + 1) & (VX_GROUP_SLOTS - 1)) {
		group = &view->group[i];
		if (vx_ip_is_none(&group->ip))
			return false;
		if (group->port == port && vx_ip_is_equal(&group->ip, ip))
			return rte_is_same_ether_addr(&group->mac, mac);
	}
}

#endif
