/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: routes. */
#include "cli_nouns.h"
#include "vx_route.h"
#include "vx_underlay.h"

static int
run_add(struct cli_call *call)
{
	return vx_route_add(call->app->underlay, &call->v[0].prefix, &call->v[1].ip, call->err);
}

static int
run_del(struct cli_call *call)
{
	return vx_route_del(call->app->underlay, &call->v[0].prefix,
			    call->v[1].is_set ? &call->v[1].ip : NULL, call->err);
}

static int
run_show(struct cli_call *call)
{
	struct vx_route_info info;
	uint32_t iterator = 0;

	fprintf(call->out, "%-43s %-39s %-5s %s\n", "prefix", "via", "port", "state");
	while (vx_route_next(call->app->underlay, &iterator, &info)) {
		char ip[VX_IP_TEXT_MAX], prefix[VX_IP_TEXT_MAX + 8], port[8] = "-";

		snprintf(prefix, sizeof(prefix), "%s/%u",
			 vx_ip_format(&info.prefix.ip, ip, sizeof(ip)), info.prefix.len);
		if (info.port != VX_UNDERLAY_PORT_NONE)
			snprintf(port, sizeof(port), "%u", info.port);
		fprintf(call->out, "%-43s %-39s %-5s %s%s\n", prefix,
			info.is_connected ? "connected"
					  : vx_ip_format(&info.gateway, ip, sizeof(ip)),
			port, info.is_usable ? "usable" : "not usable: ", info.why);
	}
	return 0;
}

/* clang-format off */
const struct cli_row cli_route_rows[] = {
	{"route add PREFIX via IP",
	 "reach a network through a gateway\n"
	 "The gateway has to be in the subnet of a local address. 0.0.0.0/0 or ::/0 is the default\n"
	 "route. A link-local gateway will do where only one port has IPv6 addresses.",
	 run_add},
	{"route del PREFIX [via IP]", "delete a route", run_del},
	{"show route", "connected and static routes", run_show},
	{0},
};
/* clang-format on */
