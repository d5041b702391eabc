/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_view_group.h"

#include <string.h>

#include "vx_multicast.h"

void
vx_view_groups_clear(struct vx_view *view)
{
	memset(view->group, 0, sizeof(view->group));
	view->n_groups = 0;
}

void
vx_view_group_add(struct vx_view *view, uint16_t port, const struct vx_ip *ip)
{
	const struct rte_ether_addr mac = vx_multicast_mac(ip);
	uint32_t i = vx_view_group_slot(&mac);

	if (vx_view_is_member(view, port, ip, &mac) || view->n_groups == VX_GROUP_SLOTS / 2)
		return;
	while (!vx_ip_is_none(&view->group[i].ip))
		i = (i + 1) & (VX_GROUP_SLOTS - 1);
	view->group[i] = (struct vx_view_group){.ip = *ip, .mac = mac, .port = port};
	view->n_groups++;
}
