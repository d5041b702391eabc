/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: the forwarding database. */
#include <errno.h>
#include <stdlib.h>

#include "cli_nouns.h"
#include "dest_text.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_segment.h"
#include "vx_vtep.h"

/* How many slots one step of `fdb flush` looks at: some milliseconds if it deletes all of them. */
#define FLUSH_STEP 16384u

/* One piece of `show fdb` looks at so many entries, of which one that is printed counts so much
 * more: about half a millisecond. */
#define SHOW_BUDGET 16384u
#define SHOW_COST   16u

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

/* Which entries a command is about, by names that stay true while entries, segments and VTEPs come
 * and go; see wanted_filter(). */
struct wanted {
	uint32_t vni; /* 0: any */
	bool has_mac, has_port, has_vtep;
	struct rte_ether_addr mac;
	uint16_t port;
	struct vx_ip vtep;
};

/* The values of "[vni VNI] [port P] [vtep IP]", or negative with call->err. */
static int
wanted_parse(struct cli_call *call, const struct cli_value *v, struct wanted *wanted)
{
	if (v[0].is_set) {
		wanted->vni = (uint32_t)v[0].number;
		if (vx_segment_find(call->app->tables, wanted->vni, call->err) == NULL)
			return -ENOENT;
	}
	wanted->has_port = v[1].is_set;
	if (wanted->has_port)
		wanted->port = (uint16_t)v[1].number;
	wanted->has_vtep = v[2].is_set;
	if (wanted->has_vtep)
		wanted->vtep = v[2].ip;
	return 0;
}

/* As it is now. False: nothing can match. */
static bool
wanted_filter(const struct vx_tables *tables, const struct wanted *wanted,
	      struct vx_fdb_filter *filter)
{
	const struct vx_segment *segment;
	int64_t vtep;

	*filter = (struct vx_fdb_filter){
		.segment = VX_INDEX_NONE,
		.dest = VX_DEST_NONE,
		.has_port = wanted->has_port,
		.port = wanted->port,
	};
	if (wanted->vni != 0) {
		segment = vx_segment_find(tables, wanted->vni, NULL);
		if (segment == NULL)
			return false;
		filter->segment = segment->index;
	}
	if (wanted->has_vtep) {
		vtep = vx_vtep_find(tables, &wanted->vtep);
		if (vtep < 0)
			return false;
		filter->dest = VX_DEST_VTEP | (uint32_t)vtep;
	}
	return true;
}

static int
run_flush(struct cli_call *call)
{
	struct vx_tables *tables = call->app->tables;
	uint32_t cursor = 0, deleted = 0;
	struct wanted wanted = {.vni = 0};
	struct vx_fdb_filter filter;
	int rc = wanted_parse(call, call->v, &wanted);

	while (rc == 0 && wanted_filter(tables, &wanted, &filter) &&
	       vx_fdb_flush_step(tables, &filter, &cursor, FLUSH_STEP, &deleted))
		rc = cli_breathe(call);
	if (rc < 0)
		return rc;
	fprintf(call->out, "%u learned entries removed\n", deleted);
	return 0;
}

static void
show_one(const struct app *app, FILE *out, const struct vx_fdb_entry *entry)
{
	const struct vx_segment *segment = app->tables->segment[entry->segment];
	char mac[RTE_ETHER_ADDR_FMT_SIZE], dest[DEST_TEXT_MAX];

	rte_ether_format_addr(mac, sizeof(mac), &entry->mac);
	fprintf(out, "%-8u %-17s %-24s %-7s", segment == NULL ? 0 : segment->vni, mac,
		dest_text(app, entry->dest, dest, sizeof(dest)),
		entry->is_static ? "static" : "learned");
	if (entry->is_static)
		fprintf(out, " %7s\n", "-");
	else
		fprintf(out, " %7u\n", entry->age);
}

/* `show fdb`, between two pieces. */
struct show {
	struct cli_more more;
	struct wanted wanted;
	uint32_t slot; /* to go on from */
	uint32_t shown;
};

static bool
show_piece(struct cli_more *more, struct app *app, FILE *out)
{
	struct show *show = (struct show *)more;
	const struct vx_tables *tables = app->tables;
	unsigned int budget = SHOW_BUDGET;
	struct vx_fdb_filter filter;
	struct vx_fdb_entry entry;
	bool is_left = wanted_filter(tables, &show->wanted, &filter);

	while (is_left && budget > 0) {
		is_left = vx_fdb_next(tables->fdb, show->slot, &entry);
		if (!is_left)
			break;
		show->slot = entry.slot + 1;
		budget--;
		if (!vx_fdb_matches(tables, &filter, &entry) ||
		    (show->wanted.has_mac &&
		     !rte_is_same_ether_addr(&entry.mac, &show->wanted.mac)))
			continue;
		show_one(app, out, &entry);
		show->shown++;
		budget -= RTE_MIN(budget, SHOW_COST);
	}
	if (is_left)
		return true;
	fprintf(out, "%u of %u entries, room for %u\n", show->shown, vx_fdb_used(tables->fdb),
		tables->conf.max_macs);
	return false;
}

static int
run_show(struct cli_call *call)
{
	/* v[] has the MAC between the VNI and the others. */
	const struct cli_value v[] = {call->v[0], call->v[2], call->v[3]};
	struct show *show = calloc(1, sizeof(*show));
	int rc;

	if (show == NULL)
		return vx_err_set(call->err, ENOMEM, "no memory");
	show->more.print = show_piece;
	rc = wanted_parse(call, v, &show->wanted);
	if (rc < 0) {
		free(show);
		return rc;
	}
	show->wanted.has_mac = call->v[1].is_set;
	if (show->wanted.has_mac)
		show->wanted.mac = call->v[1].mac;
	fprintf(call->out, "%-8s %-17s %-24s %-7s %7s\n", "vni", "mac", "where", "origin",
		"seconds");
	return cli_answer_more(call, &show->more);
}

/* clang-format off */
const struct cli_row cli_fdb_rows[] = {
	{"fdb add MAC vni VNI vtep IP", "a static entry: the MAC is behind a remote VTEP", run_add_vtep},
	{"fdb add MAC vni VNI port P [vlan V]",
	 "a static entry: the MAC is at an access port, without vlan behind its untagged attachment\n"
	 "or the one with vlan all",
	 run_add_port},
	{"fdb del MAC vni VNI", "delete an entry, static or learned", run_del},
	{"fdb flush [vni VNI] [port P] [vtep IP]",
	 "forget learned entries\n"
	 "All, or those of one segment, behind one access port, behind one remote VTEP.",
	 run_flush},
	{"show fdb [vni VNI] [mac MAC] [port P] [vtep IP]",
	 "forwarding entries; seconds: since last use\n"
	 "The last line: how many are shown, how many there are, how many there is room for.",
	 run_show},
	{0},
};
/* clang-format on */
