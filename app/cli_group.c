/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: multicast groups, which flood commands make. */
#include "cli_nouns.h"
#include "vx_group.h"
#include "vx_vtep.h"

static int
run_show(struct cli_call *call)
{
	const struct vx_tables *tables = call->app->tables;
	struct vx_group_info info;
	uint32_t iterator = 0;

	fprintf(call->out, "%-16s %-4s %-5s %-8s %-8s %s\n", "group", "port", "users", "state",
		"protocol", "querier");
	while (vx_groups_next(call->app->groups, &iterator, &info)) {
		const int64_t vtep = vx_vtep_find(tables, &info.ip);
		char group[VX_IP_TEXT_MAX], protocol[8];

		snprintf(protocol, sizeof(protocol), "%sv%u",
			 vx_ip_is_v4(&info.ip) ? "IGMP" : "MLD", info.version % 10);
		fprintf(call->out, "%-16s %-4u %-5u %-8s %-8s %s\n",
			vx_ip_format(&info.ip, group, sizeof(group)), info.port,
			vtep < 0 ? info.users : vx_vtep_uses(tables, (uint32_t)vtep, VX_VTEP_FLOOD),
			vx_group_state_name(info.state), protocol,
			info.is_queried ? "heard" : "none");
	}
	return 0;
}

/* clang-format off */
const struct cli_row cli_group_rows[] = {
	{"show group",
	 "multicast groups: on which port, in how many flood lists, and how they are reported\n"
	 "querier: whether one was heard lately. Without one, snooping switches may forget members.",
	 run_show},
	{0},
};
/* clang-format on */
