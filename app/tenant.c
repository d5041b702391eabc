/* SPDX-License-Identifier: BSD-3-Clause */
#include "tenant.h"

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "app.h"
#include "snoop.h"
#include "vx_binding.h"
#include "vx_mdb.h"
#include "vx_seen.h"
#include "vx_segment.h"
#include "vx_tenants.h"
#include "worker.h"

#define SEEN_BATCH 64u
#define TICKS	   10u /* a second */

static void
learn(struct app *app, const struct vx_seen *seen)
{
	const enum vx_count counter[] = {
		[VX_BOUND_NEW] = VX_COUNT_BOUND,
		[VX_BOUND_MOVED] = VX_COUNT_BINDING_MOVED,
		[VX_BOUND_CONFLICT] = VX_COUNT_BINDING_CONFLICT,
		[VX_BOUND_FULL] = VX_COUNT_BINDING_FULL,
	};
	const struct vx_segment *segment = app->tables->segment[seen->segment];
	enum vx_bound bound;

	/* The segment, or its setting, may have changed while the record was on its way. */
	if (segment == NULL || segment->vni != seen->vni ||
	    (vx_watch_of(app->tables, seen->segment) & VX_WATCH_SUPPRESS) == 0)
		return;
	bound = vx_binding_learn(app->tables, seen->segment, &seen->ip, seen->value);
	if (bound != VX_BOUND_SAME && bound != VX_BOUND_UNKNOWN)
		app->counts.value[counter[bound]]++;
}

bool
tenant_drain(struct app *app, struct worker *worker)
{
	struct vx_seen seen[SEEN_BATCH];
	const unsigned int n = rte_ring_sc_dequeue_burst_elem(worker->lcore.seen_ring, seen,
							      sizeof(seen[0]), SEEN_BATCH, NULL);

	for (unsigned int i = 0; i < n; i++)
		if (seen[i].kind == VX_SEEN_BINDING)
			learn(app, &seen[i]);
		else
			snoop_learn(app, &seen[i]);
	return n > 0;
}

void
tenant_tick(struct app *app)
{
	app->counts.value[VX_COUNT_BINDING_AGED] += vx_binding_age(app->tables, TICKS);
	vx_mdb_age(app->tables, app_now(app));
}

void
tenant_print_settings(const struct app *app, FILE *out)
{
	const uint8_t bits = app->tables->tenants->by_default;

	fprintf(out, "set suppress %s\n", (bits & VX_WATCH_SUPPRESS) != 0 ? "on" : "off");
	fprintf(out, "set snooping %s\n", (bits & VX_WATCH_SNOOP) != 0 ? "on" : "off");
}

void
tenant_print_segment(const struct app *app, FILE *out, const struct vx_segment *segment)
{
	const uint8_t own = app->tables->tenants->own[segment->index];
	const uint8_t bits = vx_watch_of(app->tables, segment->index);

	if ((own & VX_WATCH_SUPPRESS) != 0)
		fprintf(out, "set suppress %s vni %u\n",
			(bits & VX_WATCH_SUPPRESS) != 0 ? "on" : "off", segment->vni);
	if ((own & VX_WATCH_SNOOP) != 0)
		fprintf(out, "set snooping %s vni %u\n",
			(bits & VX_WATCH_SNOOP) != 0 ? "on" : "off", segment->vni);
}

void
tenant_print_bindings(const struct app *app, FILE *out)
{
	char ip[VX_IP_TEXT_MAX], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct vx_binding_entry entry;
	uint32_t iterator = 0;

	while (vx_binding_next(app->tables, &iterator, &entry)) {
		if ((entry.value & VX_BINDING_STATIC) == 0)
			continue;
		fprintf(out, "binding add %s %s vni %u\n", vx_ip_format(&entry.ip, ip, sizeof(ip)),
			vx_binding_mac_format(entry.value, mac, sizeof(mac)),
			app->tables->segment[entry.segment]->vni);
	}
}
