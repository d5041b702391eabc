/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: local addresses. */
#include "cli_nouns.h"
#include "net.h"
#include "vx_address.h"

static int
run_add(struct cli_call *call)
{
	return net_address_add(call->app, &call->v[0].prefix, (uint16_t)call->v[1].number,
			       call->err);
}

static int
run_del(struct cli_call *call)
{
	return net_address_del(call->app, &call->v[0].ip, call->err);
}

static const char *
state_text(const struct vx_address_info *info)
{
	if (info->state == VX_ADDRESS_DUPLICATE)
		return "duplicate: another host has it, not used";
	if (!info->is_up)
		return "down";
	return info->state == VX_ADDRESS_TENTATIVE ? "up, tentative" : "up";
}

static int
run_show(struct cli_call *call)
{
	struct vx_address_info info;
	uint32_t iterator = 0;

	fprintf(call->out, "%-43s %-4s %-20s %-6s %s\n", "address", "port", "name", "origin",
		"state");
	while (vx_address_next(call->app->underlay, &iterator, &info)) {
		char ip[VX_IP_TEXT_MAX], text[VX_IP_TEXT_MAX + 8];

		snprintf(text, sizeof(text), "%s/%u", vx_ip_format(&info.prefix.ip, ip, sizeof(ip)),
			 info.prefix.len);
		fprintf(call->out, "%-43s %-4u %-20s %-6s %s\n", text, info.port,
			call->app->ports.port[info.port].name, info.is_automatic ? "mac" : "given",
			state_text(&info));
	}
	return 0;
}

/* clang-format off */
const struct cli_row cli_address_rows[] = {
	{"address add IP/LEN port P",
	 "give an underlay port a local VTEP address\n"
	 "It is announced by ARP or ND, makes a connected route, and tunnels end at it.\n"
	 "With its first IPv6 address a port also gets a link-local one.",
	 run_add},
	{"address del IP:local", "delete a local address", run_del},
	{"show address", "local addresses", run_show},
	{0},
};
/* clang-format on */
