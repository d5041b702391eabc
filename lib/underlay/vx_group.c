/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and ports: who is a member of what. When reports are due: vx_group_timer.c. */
#include "vx_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "vx_err.h"
#include "vx_group_state.h"
#include "vx_multicast.h"

struct vx_groups *
vx_groups_create(const struct vx_groups_conf *conf)
{
	struct vx_groups *g = calloc(1, sizeof(*g));

	if (g == NULL)
		goto err_none;
	g->conf = *conf;
	g->now_ms = conf->now_ms;
	g->groups = calloc(conf->max, sizeof(*g->groups));
	g->records = calloc(conf->max, sizeof(*g->records));
	if (g->groups == NULL || g->records == NULL)
		goto err_free;
	for (unsigned int port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned int family = 0; family < VX_GROUP_FAMILIES; family++)
			vx_group_link_reset(&g->ports[port].link[family], family);
	return g;

err_free:
	vx_groups_destroy(g);
err_none:
	rte_errno = ENOMEM;
	return NULL;
}

void
vx_groups_destroy(struct vx_groups *g)
{
	if (g == NULL)
		return;
	free(g->records);
	free(g->groups);
	free(g);
}

static struct vx_group *
find(const struct vx_groups *g, uint16_t port, const struct vx_ip *ip)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->groups[i].port == port && vx_ip_is_equal(&g->groups[i].ip, ip))
			return &g->groups[i];
	return NULL;
}

void
vx_group_remove(struct vx_groups *g, struct vx_group *group)
{
	const size_t at = (size_t)(group - g->groups);

	g->n--;
	memmove(group, group + 1, (g->n - at) * sizeof(*group));
}

bool
vx_group_is_active(const struct vx_groups *g, uint16_t port, unsigned int family)
{
	const struct vx_groups_port *now = &g->ports[port].now;

	if (!now->is_up)
		return false;
	return family == VX_GROUP_V6 ? !vx_ip_is_none(&now->source6)
				     : !vx_ip_is_none(&now->source4);
}

/* The family has come or gone on the port. */
static void
family_set(struct vx_groups *g, uint16_t port, unsigned int family, bool was_active)
{
	const bool is_active = vx_group_is_active(g, port, family);

	if (was_active == is_active)
		return;
	vx_group_link_reset(&g->ports[port].link[family], family);
	g->changes++;
	for (uint32_t i = 0; i < g->n; i++) {
		struct vx_group *group = &g->groups[i];

		if (group->port != port || vx_group_family(&group->ip) != family)
			continue;
		group->answer_ms = VX_GROUP_NEVER;
		group->repeat_ms = VX_GROUP_NEVER;
		if (group->users == 0)
			vx_group_remove(g, &g->groups[i--]);
		else if (is_active)
			vx_group_begin(g, group, VX_GROUP_JOINING);
		else
			group->state = VX_GROUP_IDLE;
	}
	vx_groups_run(g);
}

void
vx_groups_port_set(struct vx_groups *g, uint16_t port, const struct vx_groups_port *now)
{
	bool was_active[VX_GROUP_FAMILIES];

	for (unsigned int family = 0; family < VX_GROUP_FAMILIES; family++)
		was_active[family] = vx_group_is_active(g, port, family);
	g->ports[port].now = *now;
	for (unsigned int family = 0; family < VX_GROUP_FAMILIES; family++)
		family_set(g, port, family, was_active[family]);
}

void
vx_groups_port_leave(struct vx_groups *g, uint16_t port)
{
	struct vx_groups_port down = g->ports[port].now;

	for (uint32_t i = 0; i < g->n; i++)
		if (g->groups[i].port == port && g->groups[i].state != VX_GROUP_IDLE)
			vx_group_begin(g, &g->groups[i], VX_GROUP_LEAVING);
	vx_groups_run(g);
	down.is_up = false;
	vx_groups_port_set(g, port, &down);
}

int
vx_groups_join(struct vx_groups *g, uint16_t port, const struct vx_ip *ip, struct vx_err *err)
{
	struct vx_group *group = find(g, port, ip);

	if (group == NULL) {
		if (g->n == g->conf.max)
			return vx_err_set(err, ENOSPC,
					  "no room for another multicast group: %u "
					  "are joined, as many as can be",
					  g->n);
		group = &g->groups[g->n++];
		*group = (struct vx_group){
			.ip = *ip,
			.port = port,
			.answer_ms = VX_GROUP_NEVER,
			.repeat_ms = VX_GROUP_NEVER,
		};
	}
	if (group->users++ > 0)
		return 0;
	g->changes++;
	if (vx_group_is_active(g, port, vx_group_family(ip))) {
		vx_group_begin(g, group, VX_GROUP_JOINING);
		vx_groups_run(g);
	}
	return 0;
}

void
vx_groups_leave(struct vx_groups *g, uint16_t port, const struct vx_ip *ip)
{
	struct vx_group *group = find(g, port, ip);

	if (group == NULL || group->users == 0 || --group->users > 0)
		return;
	g->changes++;
	if (group->state == VX_GROUP_IDLE) {
		vx_group_remove(g, group);
		return;
	}
	vx_group_begin(g, group, VX_GROUP_LEAVING);
	vx_groups_run(g);
}

uint32_t
vx_groups_changes(const struct vx_groups *g)
{
	return g->changes;
}

uint16_t
vx_groups_port_of(const struct vx_groups *g, const struct vx_ip *ip)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->groups[i].users > 0 && vx_ip_is_equal(&g->groups[i].ip, ip))
			return g->groups[i].port;
	return UINT16_MAX;
}

bool
vx_groups_next(const struct vx_groups *g, uint32_t *iterator, struct vx_group_info *info)
{
	const struct vx_group_link *link;
	const struct vx_group *group;

	if (*iterator >= g->n)
		return false;
	group = &g->groups[(*iterator)++];
	link = &g->ports[group->port].link[vx_group_family(&group->ip)];
	*info = (struct vx_group_info){
		.ip = group->ip,
		.port = group->port,
		.users = group->users,
		.state = group->state,
		.version = link->version,
		.is_queried = link->querier_ms > g->now_ms,
	};
	return true;
}

const char *
vx_group_state_name(enum vx_group_state state)
{
	switch (state) {
	case VX_GROUP_IDLE:
		return "idle";
	case VX_GROUP_JOINING:
		return "joining";
	case VX_GROUP_MEMBER:
		return "member";
	case VX_GROUP_LEAVING:
		return "leaving";
	}
	return "?";
}

static int
check_v4(rte_be32_t addr_be, const char *text, struct vx_err *err)
{
	if (vx_multicast_is_control4(addr_be))
		return vx_err_set(err, EINVAL,
				  "%s is a link-local control group (224.0.0.0/24), which switches "
				  "send everywhere: expected one like 239.1.1.1",
				  text);
	if (rte_be_to_cpu_32(addr_be) >> 24 == 232)
		return vx_err_set(err, EINVAL,
				  "%s is for source-specific multicast (232.0.0.0/8): expected a "
				  "group of any source, like 239.1.1.1",
				  text);
	return 0;
}

/* RFC 4291 section 2.7: flags and scope in the second byte. */
static int
check_v6(const uint8_t *bytes, const char *text, struct vx_err *err)
{
	const unsigned int flags = bytes[1] >> 4, scope = bytes[1] & 0x0f;

	if (scope < 2 || scope == 0xf || (scope == 2 && (flags & 1) == 0))
		return vx_err_set(err, EINVAL,
				  "%s does not leave this host, or is a well-known group of the "
				  "link: expected one like ff05::239:1",
				  text);
	if ((flags & 2) != 0 && bytes[3] == 0)
		return vx_err_set(err, EINVAL,
				  "%s is for source-specific multicast (ff3x::/32): expected a "
				  "group of any source, like ff05::239:1",
				  text);
	return 0;
}

int
vx_group_check(const struct vx_ip *ip, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX];

	vx_ip_format(ip, text, sizeof(text));
	if (!vx_ip_is_multicast(ip))
		return vx_err_set(err, EINVAL, "%s is no multicast group", text);
	if (vx_ip_is_v4(ip))
		return check_v4(vx_ip_v4(ip), text, err);
	return check_v6(ip->bytes, text, err);
}
