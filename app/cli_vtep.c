/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: remote VTEPs, which flood and fdb commands and learning make. */
#include "cli_nouns.h"
#include "net_group.h"
#include "stats.h"
#include "vx_underlay.h"
#include "vx_vtep.h"

static void
show_one(struct cli_call *call, const struct vx_vtep *vtep)
{
	const struct vx_vtep_path *path = &vtep->path;
	char remote[VX_IP_TEXT_MAX], source[VX_IP_TEXT_MAX] = "-", hop[VX_IP_TEXT_MAX] = "-";
	char mac[RTE_ETHER_ADDR_FMT_SIZE] = "-", port[8] = "-", mtu[8] = "-";
	struct vx_hop way;

	if (path->state != VX_VTEP_NO_ROUTE) {
		vx_ip_format(&path->source, source, sizeof(source));
		vx_ip_format(&path->next_hop, hop, sizeof(hop));
		snprintf(port, sizeof(port), "%u", path->port);
		snprintf(mtu, sizeof(mtu), "%u", vtep->mtu);
	}
	if (path->state == VX_VTEP_READY)
		rte_ether_format_addr(mac, sizeof(mac), &path->next_hop_mac);
	net_hop(call->app, &vtep->remote, &way);
	if (path->state != VX_VTEP_NO_ROUTE && vtep->state == VX_VTEP_NO_ROUTE)
		way.why = "IPv6 needs an MTU of 1280 or more";
	fprintf(call->out, "%-16s %-9s %-4s %-5s %-16s %-16s %-17s %-7s",
		vx_ip_format(&vtep->remote, remote, sizeof(remote)),
		vx_vtep_state_name((enum vx_vtep_state)vtep->state), port, mtu, source, hop, mac,
		vtep->is_named ? "config" : "learned");
	stats_print_kinds(call->app, call->out, STATS_VTEP, vtep->index);
	fprintf(call->out, "  %s\n", way.why);
}

static int
run_show(struct cli_call *call)
{
	const struct vx_tables *tables = call->app->tables;

	fprintf(call->out, "%-16s %-9s %-4s %-5s %-16s %-16s %-17s %-7s", "vtep", "state", "port",
		"mtu", "source", "next-hop", "mac", "origin");
	stats_print_kinds_title(call->out);
	fprintf(call->out, "  why\n");
	for (uint32_t i = 0; i < tables->conf.max_vteps; i++)
		if (tables->vtep[i] != NULL)
			show_one(call, tables->vtep[i]);
	return 0;
}

/* clang-format off */
const struct cli_row cli_vtep_rows[] = {
	{"show vtep",
	 "remote VTEPs: how they are reached, and their traffic\n"
	 "Frames and bytes are the inner ones, without outer headers; flooded, fl-bytes: those of\n"
	 "them whose destination was unknown or a group.",
	 run_show},
	{0},
};
/* clang-format on */
