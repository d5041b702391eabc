/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: attachments of access ports to segments. */
#include "cli_nouns.h"
#include "stats.h"
#include "vlan_text.h"
#include "vx_attach.h"

/* Of the choice `V|all`, which may be missing. */
static uint16_t
vlan_of(const struct cli_value *value)
{
	if (!value->is_set)
		return VX_VLAN_UNTAGGED;
	return value->word == 1 ? VX_VLAN_ALL : (uint16_t)value->number;
}

static int
run_add(struct cli_call *call)
{
	return vx_attach_add_vlan(call->app->tables, (uint16_t)call->v[0].number,
				  vlan_of(&call->v[2]), (uint32_t)call->v[1].number, call->err);
}

static int
run_del(struct cli_call *call)
{
	return vx_attach_del_vlan(call->app->tables, (uint16_t)call->v[0].number,
				  vlan_of(&call->v[1]), call->err);
}

static void
show_one(struct cli_call *call, const struct vx_attach *attach)
{
	const char *name = call->app->ports.port[attach->port].name;
	char vlan[VLAN_TEXT_MAX];

	fprintf(call->out, "%-4u %-20s %-9s %-8u", attach->port, name,
		attach->vlan == VX_VLAN_UNTAGGED ? "untagged" : vlan_text(attach->vlan, vlan),
		attach->vni);
	stats_print_kinds(call->app, call->out, STATS_ATTACH, attach->index);
	fprintf(call->out, "\n");
}

static int
run_show(struct cli_call *call)
{
	const struct vx_tables *tables = call->app->tables;

	fprintf(call->out, "%-4s %-20s %-9s %-8s", "port", "name", "vlan", "vni");
	stats_print_kinds_title(call->out);
	fprintf(call->out, "\n");
	for (uint32_t i = 0; i < tables->conf.max_attaches; i++)
		if (tables->attach[i] != NULL)
			show_one(call, tables->attach[i]);
	return 0;
}

/* clang-format off */
const struct cli_row cli_access_rows[] = {
	{"access add P vni VNI [vlan V|all]",
	 "attach frames of an access port to a segment\n"
	 "Without vlan: the untagged frames, and those with a priority tag (VLAN id 0).\n"
	 "vlan V: the frames with this 802.1Q tag, which is removed on the way in and put on again\n"
	 "on the way out.\n"
	 "vlan all: all frames of the port, which has no other attachment then; VLAN tags stay in\n"
	 "them inside the tunnel. Tagged frames leave by such attachments and tunnels only.",
	 run_add},
	{"access del P [vlan V|all]",
	 "delete an attachment; MACs learned there are forgotten", run_del},
	{"show access",
	 "attachments and their traffic\n"
	 "rx: from the port, tx: to the port, without the VLAN tag of the attachment; flooded,\n"
	 "fl-bytes: those of them whose destination was unknown or a group.",
	 run_show},
	{0},
};
/* clang-format on */
