/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: ports. */
#include "cli_nouns.h"
#include "net.h"

static int
run_start(struct cli_call *call)
{
	return net_port_start(call->app, (uint16_t)call->v[0].number, call->err);
}

static int
run_stop(struct cli_call *call)
{
	return net_port_stop(call->app, (uint16_t)call->v[0].number, call->err);
}

static int
run_attach(struct cli_call *call)
{
	const enum vx_role role = call->v[1].word == 0 ? VX_ROLE_UNDERLAY : VX_ROLE_ACCESS;
	uint16_t id[RTE_MAX_ETHPORTS];
	unsigned int n = RTE_DIM(id);
	const int rc = net_port_attach(call->app, call->v[0].text, role, id, &n, call->err);

	for (unsigned int i = 0; i < n && rc == 0; i++)
		fprintf(call->out, "port %u: %s\n", id[i], call->app->ports.port[id[i]].name);
	return rc;
}

static int
run_detach(struct cli_call *call)
{
	return net_port_detach(call->app, (uint16_t)call->v[0].number, call->err);
}

static int
run_mtu(struct cli_call *call)
{
	const uint16_t port = (uint16_t)call->v[0].number;
	const int rc = net_port_mtu(call->app, port, (uint16_t)call->v[1].number, call->err);

	if (rc == 0)
		call->app->is_mtu_set[port] = true;
	return rc;
}

/* The three displays take one port or all. */
static int
run_show(struct cli_call *call)
{
	void (*const print[])(FILE *, const struct port *) = {port_info_print, port_stats_print,
							      port_xstats_print};
	const struct cli_value *which = &call->v[1];

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct port *port = &call->app->ports.port[id];

		if (port->role == VX_ROLE_NONE || (which->word == 0 && id != which->number))
			continue;
		print[call->v[0].word](call->out, port);
	}
	return 0;
}

static int
run_clear(struct cli_call *call)
{
	const struct cli_value *which = &call->v[0];

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct port *port = &call->app->ports.port[id];

		if (port->role == VX_ROLE_NONE || (which->word == 0 && id != which->number))
			continue;
		rte_eth_stats_reset(id);
		rte_eth_xstats_reset(id);
	}
	return 0;
}

/* clang-format off */
const struct cli_row cli_port_rows[] = {
	{"port start P", "start a port that `port stop` stopped", run_start},
	{"port stop P", "stop a port; the others go on", run_stop},
	{"port attach DEVARGS underlay|access",
	 "bring in a device while running\n"
	 "As after --vdev or -a, for example net_tap0,iface=tap0 or 0000:03:00.0.",
	 run_attach},
	{"port detach P", "remove a device with its attachments and addresses", run_detach},
	{"port config mtu P MTU",
	 "set a port's MTU\n"
	 "Underlay: largest outer IP packet. Access: largest inner packet that the port is set up for.",
	 run_mtu},
	{"show port info|stats|xstats P|all", "what a port is and does, or its driver's counters", run_show},
	{"clear port stats P|all", "reset the driver's counters", run_clear},
	{0},
};
/* clang-format on */
