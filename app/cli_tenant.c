/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: tenants' bindings of IP to MAC, and what is answered by them. */
#include <errno.h>

#include "cli_nouns.h"
#include "vx_binding.h"
#include "vx_segment.h"
#include "vx_tenants.h"

static int
run_suppress(struct cli_call *call)
{
	return vx_watch_set(call->app->tables, call->v[1].is_set ? (uint32_t)call->v[1].number : 0,
			    VX_WATCH_SUPPRESS, call->v[0].word == 0, call->err);
}

static int
run_add(struct cli_call *call)
{
	return vx_binding_add(call->app->tables, (uint32_t)call->v[2].number, &call->v[0].ip,
			      &call->v[1].mac, call->err);
}

static int
run_del(struct cli_call *call)
{
	return vx_binding_del(call->app->tables, (uint32_t)call->v[1].number, &call->v[0].ip,
			      call->err);
}

static void
show_one(struct cli_call *call, const struct vx_binding_entry *entry)
{
	char ip[VX_IP_TEXT_MAX], mac[RTE_ETHER_ADDR_FMT_SIZE];

	fprintf(call->out, "%-8u %-39s %-17s %-7s %s\n",
		call->app->tables->segment[entry->segment]->vni,
		vx_ip_format(&entry->ip, ip, sizeof(ip)),
		vx_binding_mac_format(entry->value, mac, sizeof(mac)),
		(entry->value & VX_BINDING_STATIC) != 0 ? "static" : "learned",
		(entry->value & VX_BINDING_ROUTER) != 0 ? "router" : "");
}

static int
run_show(struct cli_call *call)
{
	const struct vx_tables *tables = call->app->tables;
	const struct vx_segment *only = NULL;
	struct vx_binding_entry entry;
	uint32_t iterator = 0, shown = 0;

	if (call->v[0].is_set) {
		only = vx_segment_find(tables, (uint32_t)call->v[0].number, call->err);
		if (only == NULL)
			return -ENOENT;
	}
	fprintf(call->out, "%-8s %-39s %-17s %-7s %s\n", "vni", "ip", "mac", "origin", "flags");
	while (vx_binding_next(tables, &iterator, &entry)) {
		if (only != NULL && entry.segment != only->index)
			continue;
		show_one(call, &entry);
		shown++;
	}
	fprintf(call->out, "%u of %u bindings, room for %u\n", shown, tables->bindings->n,
		tables->bindings->max);
	return 0;
}

/* clang-format off */
const struct cli_row cli_tenant_rows[] = {
	{"set suppress on|off [vni VNI]",
	 "answer tenants' ARP requests and neighbour solicitations, everywhere or in one segment\n"
	 "At the access port, for the owner of an address whose MAC is known, instead of flooding them.\n"
	 "off: what was learned for it is forgotten.",
	 run_suppress},
	{"binding add IP MAC vni VNI",
	 "a static binding: a tenant's IP address and its MAC, for set suppress", run_add},
	{"binding del IP vni VNI", "delete a binding, static or learned", run_del},
	{"show binding [vni VNI]",
	 "tenants' IP addresses and their MACs\n"
	 "router: its last neighbour advertisement said so, and so do answers.",
	 run_show},
	{0},
};
/* clang-format on */
