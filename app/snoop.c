/* SPDX-License-Identifier: BSD-3-Clause */
#include "snoop.h"

#include "app.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_mdb.h"
#include "vx_seen.h"
#include "vx_segment.h"
#include "vx_tenants.h"
#include "vx_vtep.h"

/* Where it came from; VX_DEST_NONE: it cannot be told, or is not there any more. */
static uint32_t
place_of(const struct vx_tables *tables, const struct vx_seen *seen)
{
	uint32_t dest = seen->origin;
	struct vx_fdb_entry entry;

	/* A remote VTEP that was not known then: learning has found it meanwhile. */
	if (dest == VX_DEST_NONE && vx_fdb_get(tables->fdb, seen->value, &entry))
		dest = entry.dest;
	if (dest == VX_DEST_NONE)
		return VX_DEST_NONE;
	if ((dest & VX_DEST_VTEP) != 0)
		return tables->vtep[dest & VX_DEST_INDEX] == NULL ? VX_DEST_NONE : dest;
	return tables->attach[dest] == NULL || tables->attach[dest]->segment != seen->segment
		       ? VX_DEST_NONE
		       : dest;
}

void
snoop_learn(struct app *app, const struct vx_seen *seen)
{
	struct vx_tables *tables = app->tables;
	const struct vx_segment *segment = tables->segment[seen->segment];
	const uint64_t now = app_now(app);
	uint32_t dest;

	/* The segment, or its setting, may have changed while the record was on its way. */
	if (segment == NULL || segment->vni != seen->vni ||
	    (vx_watch_of(tables, seen->segment) & VX_WATCH_SNOOP) == 0)
		return;
	dest = place_of(tables, seen);
	if (dest == VX_DEST_NONE)
		return;
	if (seen->kind == VX_SEEN_LEAVE) {
		vx_mdb_leave(tables, seen->segment, &seen->ip, dest, now + VX_MDB_LEAVE_MS);
	} else if (seen->kind == VX_SEEN_QUERY) {
		/* Without memory everybody gets everything, as before. */
		vx_mdb_query(tables, seen->segment, &seen->ip, dest, now + VX_MDB_QUERIER_MS);
	} else if (vx_mdb_join(tables, seen->segment, &seen->ip, dest, now + VX_MDB_MEMBER_MS) <
		   0) {
		app->counts.value[VX_COUNT_GROUP_FULL]++;
	}
}
