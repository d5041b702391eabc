/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: the forwarding database. */
#include <errno.h>

#include "cli_nouns.h"
#include "dest_text.h"
#include "vx_fdb.h"
#include "vx_segment.h"

static int
run_add_vtep(struct cli_call *call)
{
	return vx_fdb_add_static_vtep(call->app->tables, (uint32_t)call->v[1].number,
				      &call->v[0].mac, &call->v[2].ip, call->err);
}

static int
run_add_port(struct cli_call *call)
{
	return vx_fdb_add_static_port(call->app->tables, (uint32_t)call->v[1].number,
				      &call->v[0].mac, (uint16_t)call->v[2].number,
				      call->v[3].is_set ? (uint16_t)call->v[3].number : 0,
				      call->err);
}

static int
run_del(struct cli_call *call)
{
	const struct vx_segment *segment =
		vx_segment_find(call->app->tables, (uint32_t)call->v[1].number, call->err);

	if (segment == NULL)
		return -ENOENT;
	if (vx_fdb_del(call->app->tables, vx_fdb_key_of(segment->index, &call->v[0].mac)) < 0)
		return vx_err_set(call->err, ENOENT, "%s is not in VNI %u", call->v[0].text,
				  segment->vni);
	return 0;
}

static int
run_flush(struct cli_call *call)
{
	struct vx_fdb_filter filter = {.segment = VX_INDEX_NONE, .dest = VX_DEST_NONE};
	const struct vx_segment *segment;

	if (call->v[0].is_set) {
		segment =
			vx_segment_find(call->app->tables, (uint32_t)call->v[0].number, call->err);
		if (segment == NULL)
			return -ENOENT;
		filter.segment = segment->index;
	}
	fprintf(call->out, "%u learned entries removed\n",
		vx_fdb_flush(call->app->tables, &filter));
	return 0;
}

static void
show_one(struct cli_call *call, const struct vx_fdb_entry *entry)
{
	const struct vx_segment *segment = call->app->tables->segment[entry->segment];
	char mac[RTE_ETHER_ADDR_FMT_SIZE], dest[DEST_TEXT_MAX];

	rte_ether_format_addr(mac, sizeof(mac), &entry->mac);
	fprintf(call->out, "%-8u %-17s %-24s %-7s", segment == NULL ? 0 : segment->vni, mac,
		dest_text(call->app, entry->dest, dest, sizeof(dest)),
		entry->is_static ? "static" : "learned");
	if (entry->is_static)
		fprintf(call->out, " %7s\n", "-");
	else
		fprintf(call->out, " %7u\n", entry->age);
}

static int
run_show(struct cli_call *call)
{
	const struct vx_tables *tables = call->app->tables;
	const struct vx_segment *only = NULL;
	struct vx_fdb_entry entry;
	uint32_t shown = 0;

	if (call->v[0].is_set) {
		only = vx_segment_find(tables, (uint32_t)call->v[0].number, call->err);
		if (only == NULL)
			return -ENOENT;
	}
	fprintf(call->out, "%-8s %-17s %-24s %-7s %7s\n", "vni", "mac", "where", "origin",
		"seconds");
	for (uint32_t slot = 0; vx_fdb_next(tables->fdb, slot, &entry); slot = entry.slot + 1) {
		if (only != NULL && entry.segment != only->index)
			continue;
		if (call->v[1].is_set && !rte_is_same_ether_addr(&entry.mac, &call->v[1].mac))
			continue;
		show_one(call, &entry);
		shown++;
	}
	fprintf(call->out, "%u of %u entries, room for %u\n", shown, vx_fdb_used(tables->fdb),
		tables->conf.max_macs);
	return 0;
}

/* clang-format off */
const struct cli_row cli_fdb_rows[] = {
	{"fdb add MAC vni VNI vtep IP", "a static entry: the MAC is behind a remote VTEP", run_add_vtep},
	{"fdb add MAC vni VNI port P [vlan V]",
	 "a static entry: the MAC is at an access port, without vlan behind its untagged attachment\n"
	 "or the one with vlan all",
	 run_add_port},
	{"fdb del MAC vni VNI", "delete an entry, static or learned", run_del},
	{"fdb flush [vni VNI]", "forget learned entries", run_flush},
	{"show fdb [vni VNI] [mac MAC]",
	 "forwarding entries; seconds: since last use", run_show},
	{0},
};
/* clang-format on */
