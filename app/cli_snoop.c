/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: where tenants' multicast goes. */
#include <errno.h>

#include "cli_nouns.h"
#include "dest_text.h"
#include "vx_mdb.h"
#include "vx_segment.h"
#include "vx_tenants.h"

static int
run_snooping(struct cli_call *call)
{
	return vx_watch_set(call->app->tables, call->v[1].is_set ? (uint32_t)call->v[1].number : 0,
			    VX_WATCH_SNOOP, call->v[0].word == 0, call->err);
}

static void
show_places(struct cli_call *call, uint32_t vni, const struct vx_ip *group,
	    const struct vx_mdb_places *places)
{
	char ip[VX_IP_TEXT_MAX], where[DEST_TEXT_MAX];
	const uint64_t now = app_now(call->app);

	for (uint32_t i = 0; i < places->n; i++) {
		const struct vx_mdb_place *place = &places->at[i];

		fprintf(call->out, "%-8u %-7s %-39s %-30s %u\n", vni,
			group == NULL ? "querier" : "member",
			vx_ip_format(group == NULL ? &place->ip : group, ip, sizeof(ip)),
			dest_text(call->app, place->dest, where, sizeof(where)),
			place->end <= now ? 0 : (uint32_t)((place->end - now + 999) / 1000));
	}
}

static void
show_segment(struct cli_call *call, const struct vx_segment *segment)
{
	const struct vx_mdb_segment *state = call->app->tables->mdb->segment[segment->index];

	if (state == NULL)
		return;
	for (unsigned int family = 0; family < 2; family++)
		show_places(call, segment->vni, NULL, &state->queriers[family]);
	for (const struct vx_mdb_group *group = state->groups; group != NULL; group = group->next)
		show_places(call, segment->vni, &group->key.group, &group->members);
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
	fprintf(call->out, "%-8s %-7s %-39s %-30s %s\n", "vni", "what", "ip", "where", "seconds");
	if (segment != NULL) {
		show_segment(call, segment);
	} else {
		for (segment = vx_segment_next(tables, 0); segment != NULL;
		     segment = vx_segment_next(tables, segment->vni))
			show_segment(call, segment);
	}
	fprintf(call->out, "%u groups in all segments, room for %u\n", tables->mdb->n_groups,
		VX_MDB_MAX);
	return 0;
}

/* clang-format off */
const struct cli_row cli_snoop_rows[] = {
	{"set snooping on|off [vni VNI]",
	 "IGMP and MLD snooping of tenants, everywhere or in one segment\n"
	 "IP multicast goes only where a host has asked for it, and to queriers, once a querier was heard.\n"
	 "off: to everybody, and what was learned for it is forgotten.",
	 run_snooping},
	{"show snooping [vni VNI]",
	 "tenants' multicast groups, where they have members, and where queriers are\n"
	 "seconds: until it is forgotten, unless it is heard of again.",
	 run_show},
	{0},
};
/* clang-format on */
