/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: segments. */
#include "cli_nouns.h"
#include "stats.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_segment.h"
#include "vx_vtep.h"
#include "vx_wire.h"

static int
run_add(struct cli_call *call)
{
	struct vx_segment_conf conf = {.vni = (uint32_t)call->v[0].number};

	if (call->v[1].is_set)
		conf.local = call->v[1].ip;
	if (call->v[2].is_set)
		conf.mtu = (uint16_t)call->v[2].number;
	if (call->v[3].is_set)
		conf.max_macs = (uint32_t)call->v[3].number;
	return vx_segment_add(call->app->tables, &conf, call->err);
}

static int
run_del(struct cli_call *call)
{
	return vx_segment_del(call->app->tables, (uint32_t)call->v[0].number, call->err);
}

/* The largest inner MTU that every VTEP of the flood list takes without fragments. */
static uint32_t
unfragmented_mtu(const struct vx_tables *tables, const struct vx_segment *segment)
{
	uint32_t least = VX_INNER_MTU_MAX4;

	for (unsigned int i = 0; i < segment->n_vteps; i++) {
		const struct vx_vtep *vtep = tables->vtep[segment->target[segment->n_attaches + i]];
		uint32_t overhead;

		if (vtep == NULL || vtep->mtu == 0)
			continue;
		overhead = vx_vtep_overhead(vtep) + VX_ETHER_HDR_LEN;
		least = RTE_MIN(least, vtep->mtu - RTE_MIN(vtep->mtu, overhead));
	}
	return least;
}

/* A setting of which one value means "inherit". */
static const char *
inherited(uint8_t value, uint8_t inherit, char text[8])
{
	if (value == inherit)
		return "inherit";
	snprintf(text, 8, "%u", value);
	return text;
}

/* What the outer headers have: the segment's own, or the setting of all. */
static void
show_outer(struct cli_call *call, const struct vx_segment *segment)
{
	const char *const df[] = {
		[VX_DF_ON] = "on", [VX_DF_OFF] = "off", [VX_DF_INHERIT] = "inherit"};
	const struct vx_segment_outer *own = &segment->own_outer;
	const struct vx_view *view = call->app->tables->view;
	char ttl[8], dscp[8];

	fprintf(call->out, " %-7s %-7s %-7s",
		inherited(own->has_ttl ? own->ttl : view->ttl, VX_TTL_INHERIT, ttl),
		inherited(own->has_dscp ? own->dscp : view->dscp, VX_DSCP_INHERIT, dscp),
		df[own->has_df ? own->df : view->df]);
}

static void
show_one(struct cli_call *call, const struct vx_segment *segment)
{
	const struct vx_fdb_count *macs = &call->app->tables->fdb->count[segment->index];
	char flooding[VX_FLOOD_KINDS + 1], limit[16] = "-";
	char ip[VX_IP_TEXT_MAX];

	for (unsigned int i = 0; i < VX_FLOOD_KINDS; i++)
		flooding[i] = (segment->flood_off >> i & 1) != 0 ? '-' : "umb"[i];
	flooding[VX_FLOOD_KINDS] = '\0';
	if (segment->max_macs != 0)
		snprintf(limit, sizeof(limit), "%u", segment->max_macs);
	fprintf(call->out, "%-8u %6u %9u %-16s %-8s %6u %5u %-8s %8u %8s", segment->vni,
		segment->mtu, unfragmented_mtu(call->app->tables, segment),
		segment->has_local ? vx_ip_format(&segment->local, ip, sizeof(ip)) : "by route",
		segment->is_learning ? "on" : "off", segment->n_attaches, segment->n_vteps,
		flooding, macs->learned + macs->fixed, limit);
	show_outer(call, segment);
	stats_print_kinds(call->app, call->out, STATS_SEGMENT, segment->index);
	fprintf(call->out, "\n");
}

static int
run_show(struct cli_call *call)
{
	const struct vx_tables *tables = call->app->tables;
	const struct vx_segment *segment = NULL;

	if (call->v[0].is_set) {
		segment = vx_segment_find(tables, (uint32_t)call->v[0].number, call->err);
		if (segment == NULL)
			return -ENOENT;
	}
	fprintf(call->out, "%-8s %6s %9s %-16s %-8s %6s %5s %-8s %8s %8s %-7s %-7s %-7s", "vni",
		"mtu", "unfragm.", "local", "learning", "access", "flood", "flooding", "macs",
		"max-macs", "ttl", "dscp", "df");
	stats_print_kinds_title(call->out);
	fprintf(call->out, "\n");
	if (segment != NULL) {
		show_one(call, segment);
	} else {
		for (segment = vx_segment_next(tables, 0); segment != NULL;
		     segment = vx_segment_next(tables, segment->vni))
			show_one(call, segment);
	}
	return 0;
}

/* clang-format off */
const struct cli_row cli_vni_rows[] = {
	{"vni add VNI [local IP:local] [mtu MTU:inner] [max-macs N:macs]",
	 "create a segment\n"
	 "local: outer source address, instead of the one that the route chooses.\n"
	 "mtu: largest inner packet, instead of what `set mtu` says.\n"
	 "max-macs: how many MACs it may learn; frames to further ones are flooded.",
	 run_add},
	{"vni del VNI", "delete a segment with its attachments, flood list and MACs", run_del},
	{"show vni [VNI]",
	 "segments and their traffic\n"
	 "unfragm.: the largest inner MTU that the underlay carries without fragments, for\n"
	 "untagged inner frames; flooding: u unknown unicast, m multicast, b broadcast; - where\n"
	 "switched off; ttl, dscp, df: of the outer packets; rx: taken out of tunnels, tx: put into\n"
	 "tunnels, in inner frames and bytes; flooded, fl-bytes: those of them whose destination was unknown or a group.",
	 run_show},
	{0},
};
/* clang-format on */
