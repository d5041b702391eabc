/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_snoop.h"

#include "vx_mdb.h"
#include "vx_membership.h"
#include "vx_seen.h"
#include "vx_segment.h"
#include "vx_tenants.h"

static void
report(struct vx_lcore *lcore, const struct vx_burst *burst, unsigned int i, const struct vx_ip *ip,
       enum vx_seen_kind kind)
{
	const struct vx_seen seen = {
		.ip = *ip,
		.value = burst->source[i],
		.segment = burst->segment[i]->index,
		.vni = burst->segment[i]->vni,
		.origin = burst->origin[i],
		.kind = kind,
	};

	vx_seen_post(lcore, &seen);
}

/* Who asks from 0.0.0.0 is a switch that stands in for a querier, and wants no reports (RFC 4541
 * section 2.1.1). */
static bool
is_querier(const struct vx_membership *what)
{
	return !vx_ip_is_v4(&what->source) || vx_ip4_is_host(vx_ip_v4(&what->source));
}

static void
report_members(struct vx_lcore *lcore, const struct vx_burst *burst, unsigned int i,
	       struct vx_membership *what)
{
	struct vx_ip group;
	bool is_leave;

	while (vx_membership_next(burst->m[i], what, &group, &is_leave))
		report(lcore, burst, i, &group, is_leave ? VX_SEEN_LEAVE : VX_SEEN_JOIN);
}

/* The segment as it is for a frame of this kind; NULL: everybody gets it. */
static const struct vx_segment *
narrow(const struct vx_tables *tables, uint32_t segment, const struct vx_membership *what)
{
	const struct vx_segment *queried = vx_mdb_queried(tables, segment, what->is_v6);
	const struct vx_mdb_group *group;

	/* Without a querier hosts do not repeat what they asked for. */
	if (queried == NULL || what->cast == VX_CAST_REPORT)
		return queried;
	group = vx_mdb_lookup(tables, segment, &what->group);
	if (group != NULL)
		return vx_mdb_narrow(group);
	return (vx_watch_of(tables, segment) & VX_WATCH_CROWDED) != 0 ? NULL : queried;
}

static void
snoop_one(struct vx_lcore *lcore, struct vx_burst *burst, unsigned int i)
{
	const uint32_t segment = burst->segment[i]->index;
	const struct vx_segment *narrowed;
	struct vx_membership what;

	if (!vx_fdb_is_group(burst->destination[i]) ||
	    (vx_watch_of(lcore->tables, segment) & VX_WATCH_SNOOP) == 0)
		return;
	vx_membership_parse(burst->m[i], &what);
	if (what.cast == VX_CAST_QUERY && is_querier(&what))
		report(lcore, burst, i, &what.source, VX_SEEN_QUERY);
	if (what.cast == VX_CAST_ALL || what.cast == VX_CAST_QUERY)
		return;
	if (what.cast == VX_CAST_REPORT)
		report_members(lcore, burst, i, &what);
	narrowed = narrow(lcore->tables, segment, &what);
	if (narrowed == NULL)
		return;
	burst->segment[i] = narrowed;
	vx_lcore_count(lcore, VX_COUNT_SNOOPED, 1);
}

void
vx_snoop_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	for (unsigned int i = 0; i < burst->n; i++)
		snoop_one(lcore, burst, i);
}
