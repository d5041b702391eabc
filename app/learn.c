/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn.h"

#include <errno.h>

#include "app.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_lcore.h"
#include "vx_segment.h"
#include "vx_vtep.h"

/* Is it the MAC of one of our own ports? Such a frame is a loop or a forgery: never learned. */
static bool
is_own_mac(const struct app *app, uint64_t mac48)
{
	const struct vx_view *view = app->tables->view;

	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (view->port[i].role != VX_ROLE_NONE &&
		    vx_fdb_key_of(0, &view->port[i].mac) == mac48)
			return true;
	return false;
}

/* A record may be older than a command that removed what it names. */
static bool
is_still_there(const struct vx_tables *tables, const struct vx_learn *record)
{
	const struct vx_segment *segment = tables->segment[record->key >> 48];

	if (segment == NULL || segment->vni != record->vni || !segment->is_learning)
		return false;
	if (record->dest == VX_DEST_NONE)
		return vx_view_find_local(tables->view, &record->remote) == NULL;
	if ((record->dest & VX_DEST_VTEP) != 0) {
		const struct vx_vtep *vtep = tables->vtep[record->dest & VX_DEST_INDEX];

		return vtep != NULL && vx_ip_is_equal(&vtep->remote, &record->remote);
	}
	return tables->attach[record->dest] != NULL &&
	       tables->attach[record->dest]->segment == segment->index;
}

/* Count and tell a MAC that moves all the time. Before the entry changes: its old place may be gone
 * afterwards. */
static void
watch(struct app *app, const struct vx_learn *record, uint32_t dest)
{
	struct vx_fdb_entry old;

	if (vx_fdb_get(app->tables->fdb, record->key, &old) && !old.is_static && old.dest != dest &&
	    flap_note(app, record->vni, record->key, old.dest, dest))
		app->counts.value[VX_COUNT_FLAPPING]++;
}

/* Enter the MAC, with its place known. Returns the counter that tells the outcome, or
 * VX_COUNT_MAX: the same as before. @is_known: it was there a moment ago. */
static enum vx_count
enter(struct app *app, const struct vx_learn *record, uint32_t dest, bool is_known)
{
	struct vx_tables *tables = app->tables;
	const uint32_t used = vx_fdb_used(tables->fdb);
	bool moved;

	if (is_known)
		watch(app, record, dest);
	switch (vx_fdb_set(tables, record->key, dest, false, &moved)) {
	case 0:
		break;
	case -EPERM:
		return VX_COUNT_STATIC_CONFLICT;
	case -EDQUOT:
		return VX_COUNT_FDB_VNI_FULL;
	default:
		return VX_COUNT_FDB_FULL;
	}
	if (moved)
		return VX_COUNT_MOVED;
	return vx_fdb_used(tables->fdb) > used ? VX_COUNT_LEARNED : VX_COUNT_MAX;
}

static enum vx_count
learn_one(struct app *app, const struct vx_learn *record, bool is_known)
{
	struct vx_tables *tables = app->tables;
	struct vx_fdb_entry entry;
	enum vx_count outcome;
	int64_t vtep;
	int room;

	if (!is_still_there(tables, record) || is_own_mac(app, record->key & 0xffffffffffffu))
		return VX_COUNT_MAX;
	if (record->dest != VX_DEST_NONE)
		return enter(app, record, record->dest, is_known);
	/* Not for a MAC that will be refused: a VTEP comes with its underlay state. */
	room = vx_fdb_room(tables, record->key);
	if (room < 0 && !vx_fdb_get(tables->fdb, record->key, &entry))
		return room == -EDQUOT ? VX_COUNT_FDB_VNI_FULL : VX_COUNT_FDB_FULL;
	/* A VTEP seen for the first time: hold it until the entry does. */
	vtep = vx_vtep_get(tables, &record->remote, VX_VTEP_LEARNED);
	if (vtep < 0)
		return VX_COUNT_VTEP_FULL;
	outcome = enter(app, record, VX_DEST_VTEP | (uint32_t)vtep, is_known);
	vx_vtep_unref(tables, (uint32_t)vtep, VX_VTEP_LEARNED);
	return outcome;
}

void
learn(struct app *app, const struct vx_learn *record, unsigned int n)
{
	for (unsigned int done = 0; done < n; done += VX_FDB_BULK) {
		const unsigned int part = RTE_MIN(n - done, VX_FDB_BULK);
		uint64_t key[VX_FDB_BULK], known;

		for (unsigned int i = 0; i < part; i++)
			key[i] = record[done + i].key;
		known = vx_fdb_prefetch(app->tables->fdb, key, part);
		for (unsigned int i = 0; i < part; i++) {
			const enum vx_count outcome =
				learn_one(app, &record[done + i], (known >> i & 1) != 0);

			if (outcome != VX_COUNT_MAX)
				app->counts.value[outcome]++;
		}
	}
}
