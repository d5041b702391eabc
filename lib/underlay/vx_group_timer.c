/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which reports are due when: answers to queries, and changes that are reported unasked. A switch
 * that hears nothing of us would soon send us nothing.
 */
#include <rte_mbuf.h>
#include <rte_random.h>

#include "vx_group_state.h"
#include "vx_igmp.h"
#include "vx_mld.h"
#include "vx_multicast.h"

/* RFC 3376 section 8, RFC 3810 section 9. */
#define ROBUSTNESS	 2u
#define QUERY_MS	 125000u
#define UNSOLICITED_MS	 1000u
#define UNSOLICITED_1_MS 10000u /* IGMPv1, IGMPv2 and MLDv1 (RFC 2236 section 8.10) */

/* The timer's own grain, so that an answer is never later than asked for. */
#define GRAIN_MS 200u

static uint8_t
newest_version(unsigned int family)
{
	return family == VX_GROUP_V4 ? VX_IGMP_VERSION : VX_MLD_VERSION;
}

void
vx_group_link_reset(struct vx_group_link *link, unsigned int family)
{
	*link = (struct vx_group_link){
		.version = newest_version(family),
		.robustness = ROBUSTNESS,
		.interval_ms = QUERY_MS,
		.answer_all_ms = VX_GROUP_NEVER,
	};
}

static struct vx_group_link *
link_of(struct vx_groups *g, const struct vx_group *group)
{
	return &g->ports[group->port].link[vx_group_family(&group->ip)];
}

static void
set_due(struct vx_groups *g, uint64_t at_ms)
{
	g->due_ms = RTE_MIN(g->due_ms, at_ms);
}

/* A moment in the next @most_ms. */
static uint64_t
some_time(struct vx_groups *g, uint32_t most_ms)
{
	const uint64_t at = g->now_ms + (most_ms > GRAIN_MS ? rte_rand_max(most_ms - GRAIN_MS) : 0);

	set_due(g, at);
	return at;
}

void
vx_group_begin(struct vx_groups *g, struct vx_group *group, enum vx_group_state state)
{
	group->state = state;
	group->answer_ms = VX_GROUP_NEVER;
	group->repeats = link_of(g, group)->robustness;
	group->repeat_ms = g->now_ms;
	set_due(g, g->now_ms);
}

/* --- sending --- */

static void
send(struct vx_groups *g, uint16_t port, struct rte_mbuf *m)
{
	g->conf.ops.count(g->conf.ctx, VX_COUNT_ORIGINATED, 1);
	if (m == NULL) {
		g->conf.ops.count(g->conf.ctx, VX_COUNT_DROP_NO_MBUF, 1);
		return;
	}
	g->conf.ops.count(g->conf.ctx, VX_COUNT_GROUP_REPORTS, 1);
	g->conf.ops.send(g->conf.ctx, port, m);
}

static void
send_old(struct vx_groups *g, uint16_t port, const struct vx_group_record *record, uint8_t version)
{
	const struct vx_groups_port *now = &g->ports[port].now;
	const bool is_leave = record->change == VX_GROUP_TO_INCLUDE;

	if (vx_group_family(&record->group) == VX_GROUP_V6) {
		send(g, port,
		     vx_mld_old_make(g->conf.pool, &now->mac, &now->source6, &record->group,
				     is_leave));
		return;
	}
	if (version == 1 && is_leave)
		return;
	send(g, port,
	     vx_igmp_old_make(g->conf.pool, &now->mac, vx_ip_v4(&now->source4),
			      vx_ip_v4(&record->group), version, is_leave));
}

/* Report g->records[0..n-1] in as few packets as hold them. */
static void
send_records(struct vx_groups *g, uint16_t port, unsigned int family, unsigned int n)
{
	const uint8_t version = g->ports[port].link[family].version;
	const struct vx_groups_port *now = &g->ports[port].now;
	unsigned int done;

	for (unsigned int i = 0; i < n; i += done) {
		done = 1;
		if (version < newest_version(family)) {
			send_old(g, port, &g->records[i], version);
			continue;
		}
		if (family == VX_GROUP_V6) {
			send(g, port,
			     vx_mld_report_make(g->conf.pool, &now->mac, &now->source6,
						&g->records[i], n - i, &done));
			continue;
		}
		send(g, port,
		     vx_igmp_report_make(g->conf.pool, &now->mac, vx_ip_v4(&now->source4),
					 &g->records[i], n - i, &done));
	}
}

/* --- what is due --- */

/* Is a report of a change due? Then the next one is set. */
static bool
take_change(struct vx_groups *g, struct vx_group *group, uint8_t version)
{
	const bool is_old = version < newest_version(vx_group_family(&group->ip));

	if (group->repeat_ms > g->now_ms)
		return false;
	group->repeats--;
	/* The older versions say once that they leave. */
	if (is_old && group->state == VX_GROUP_LEAVING)
		group->repeats = 0;
	group->repeat_ms = VX_GROUP_NEVER;
	if (group->repeats > 0)
		group->repeat_ms = some_time(g, is_old ? UNSOLICITED_1_MS : UNSOLICITED_MS);
	else if (group->state == VX_GROUP_JOINING)
		group->state = VX_GROUP_MEMBER;
	return true;
}

/* Is an answer due, to a query for this group or for all? */
static bool
take_answer(const struct vx_groups *g, struct vx_group *group, bool is_for_all)
{
	if (group->state == VX_GROUP_LEAVING || (!is_for_all && group->answer_ms > g->now_ms))
		return false;
	group->answer_ms = VX_GROUP_NEVER;
	return true;
}

/* What one group has to say now: a change says more than an answer. */
static bool
take_record(struct vx_groups *g, struct vx_group *group, bool is_for_all, uint8_t version,
	    struct vx_group_record *record)
{
	const bool is_leaving = group->state == VX_GROUP_LEAVING;

	record->group = group->ip;
	if (take_change(g, group, version)) {
		record->change = is_leaving ? VX_GROUP_TO_INCLUDE : VX_GROUP_TO_EXCLUDE;
		if (is_for_all || group->answer_ms <= g->now_ms)
			group->answer_ms = VX_GROUP_NEVER;
		return true;
	}
	record->change = VX_GROUP_IS_EXCLUDE;
	return take_answer(g, group, is_for_all);
}

static void
run_family(struct vx_groups *g, uint16_t port, unsigned int family)
{
	struct vx_group_link *link = &g->ports[port].link[family];
	const bool is_for_all = link->answer_all_ms <= g->now_ms;
	unsigned int n = 0;

	if (is_for_all)
		link->answer_all_ms = VX_GROUP_NEVER;
	set_due(g, link->answer_all_ms);
	for (uint32_t i = 0; i < g->n; i++) {
		struct vx_group *group = &g->groups[i];

		if (group->port != port || vx_group_family(&group->ip) != family)
			continue;
		if (take_record(g, group, is_for_all, link->version, &g->records[n]))
			n++;
		set_due(g, RTE_MIN(group->repeat_ms, group->answer_ms));
		/* All users may also be gone only for the time that the port is down. */
		if (group->state == VX_GROUP_LEAVING && group->repeats == 0 && group->users == 0)
			vx_group_remove(g, &g->groups[i--]);
	}
	send_records(g, port, family, n);
}

void
vx_groups_run(struct vx_groups *g)
{
	if (g->now_ms < g->due_ms)
		return;
	g->due_ms = VX_GROUP_NEVER;
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned int family = 0; family < VX_GROUP_FAMILIES; family++)
			if (vx_group_is_active(g, port, family))
				run_family(g, port, family);
}

/* --- queriers --- */

/* Speak as old as the oldest querier heard lately. A change ends what was going on: it would be in
 * words that are no longer understood (RFC 3376 section 7.2.1). */
static void
choose_version(struct vx_groups *g, uint16_t port, unsigned int family)
{
	struct vx_group_link *link = &g->ports[port].link[family];
	uint8_t version = 1;

	while (version < newest_version(family) && link->old_ms[version - 1] <= g->now_ms)
		version++;
	if (version == link->version)
		return;
	link->version = version;
	link->answer_all_ms = VX_GROUP_NEVER;
	for (uint32_t i = 0; i < g->n; i++) {
		struct vx_group *group = &g->groups[i];

		if (group->port != port || vx_group_family(&group->ip) != family)
			continue;
		group->repeats = 0;
		group->repeat_ms = VX_GROUP_NEVER;
		group->answer_ms = VX_GROUP_NEVER;
		if (group->state == VX_GROUP_JOINING)
			group->state = VX_GROUP_MEMBER;
		if (group->state == VX_GROUP_LEAVING)
			vx_group_remove(g, &g->groups[i--]);
	}
}

static void
learn_querier(struct vx_groups *g, uint16_t port, unsigned int family,
	      const struct vx_group_query *query)
{
	struct vx_group_link *link = &g->ports[port].link[family];
	uint64_t until;

	if (query->robustness != 0)
		link->robustness = query->robustness;
	if (query->interval_s != 0)
		link->interval_ms = query->interval_s * 1000u;
	/* RFC 3376 section 8.12: Older Version Querier Present Timeout. */
	until = g->now_ms + (uint64_t)link->robustness * link->interval_ms + query->max_response_ms;
	link->querier_ms = until;
	/* IGMPv1 asks for all groups only; RFC 3376 section 7.2.1 wants a general query anyway. */
	if (query->version < newest_version(family) && vx_ip_is_none(&query->group))
		link->old_ms[query->version - 1] = until;
	choose_version(g, port, family);
}

/* Have the group's answer ready in time; an earlier one that waits does as well. */
static void
schedule_answer(struct vx_groups *g, struct vx_group *group, uint32_t most_ms)
{
	if (group->state != VX_GROUP_LEAVING)
		group->answer_ms = RTE_MIN(group->answer_ms, some_time(g, most_ms));
}

void
vx_groups_query_seen(struct vx_groups *g, uint16_t port, const struct vx_group_query *query,
		     uint64_t now_ms)
{
	const unsigned int family = query->is_v6 ? VX_GROUP_V6 : VX_GROUP_V4;
	const bool is_general = vx_ip_is_none(&query->group);
	struct vx_group_link *link = &g->ports[port].link[family];

	g->now_ms = RTE_MAX(g->now_ms, now_ms);
	if (query->version == 0 || query->version > newest_version(family) ||
	    !vx_group_is_active(g, port, family))
		return;
	learn_querier(g, port, family, query);
	if (is_general && link->version == newest_version(family)) {
		/* One answer for all, which RFC 3376 section 5.2 spreads as a whole. */
		link->answer_all_ms =
			RTE_MIN(link->answer_all_ms, some_time(g, query->max_response_ms));
		return;
	}
	/* A query for certain sources is answered for all: we want every source. */
	for (uint32_t i = 0; i < g->n; i++) {
		struct vx_group *group = &g->groups[i];

		if (group->port == port && vx_group_family(&group->ip) == family &&
		    (is_general || vx_ip_is_equal(&group->ip, &query->group)))
			schedule_answer(g, group, query->max_response_ms);
	}
}

void
vx_groups_tick(struct vx_groups *g, uint64_t now_ms)
{
	g->now_ms = RTE_MAX(g->now_ms, now_ms);
	for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++)
		for (unsigned int family = 0; family < VX_GROUP_FAMILIES; family++)
			if (vx_group_is_active(g, port, family))
				choose_version(g, port, family);
	vx_groups_run(g);
}
