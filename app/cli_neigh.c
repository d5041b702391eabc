/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: neighbours of the underlay. */
#include "cli_nouns.h"
#include "vx_neigh.h"

static int
run_add(struct cli_call *call)
{
	return vx_neigh_add(call->app->underlay, &call->v[0].ip, &call->v[1].mac,
			    (uint16_t)call->v[2].number, call->err);
}

static int
run_del(struct cli_call *call)
{
	return vx_neigh_del(call->app->underlay, &call->v[0].ip, call->err);
}

static int
run_show(struct cli_call *call)
{
	struct vx_neigh_info info;
	uint32_t iterator = 0;

	fprintf(call->out, "%-39s %-4s %-17s %-11s %8s %10s %5s\n", "address", "port", "mac",
		"state", "seconds", "references", "held");
	while (vx_neigh_next(call->app->underlay, &iterator, &info)) {
		char ip[VX_IP_TEXT_MAX], mac[RTE_ETHER_ADDR_FMT_SIZE];

		rte_ether_format_addr(mac, sizeof(mac), &info.mac);
		fprintf(call->out, "%-39s %-4u %-17s %-11s %8" PRIu64 " %10u %5u\n",
			vx_ip_format(&info.ip, ip, sizeof(ip)), info.port,
			rte_is_zero_ether_addr(&info.mac) ? "-" : mac,
			vx_neigh_state_name(info.state), info.since_ms / 1000, info.references,
			info.held);
	}
	return 0;
}

/* clang-format off */
const struct cli_row cli_neigh_rows[] = {
	{"neigh add IP MAC port P", "set the MAC of an underlay neighbour, without ARP or ND", run_add},
	{"neigh del IP", "delete such a static neighbour", run_del},
	{"show neigh", "neighbours, their states and for how long", run_show},
	{0},
};
/* clang-format on */
