/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_mdb.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "vx_fdb.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_tenants.h"
#include "vx_vtep.h"

/* Wait for readers after this many deletions: fewer than the hash's queue of deferred slots. */
#define SYNC_EVERY 32u

struct vx_mdb *
vx_mdb_create(uint32_t max_segments, struct vx_rcu *rcu)
{
	struct vx_mdb *mdb = calloc(1, sizeof(*mdb));

	if (mdb == NULL)
		return NULL;
	mdb->hash = vx_tables_hash("mdb", rcu, VX_MDB_MAX, sizeof(struct vx_mdb_key), false);
	mdb->queried = rte_calloc("vx_queried", 2 * (size_t)max_segments, sizeof(void *), 0);
	mdb->segment = calloc(max_segments, sizeof(*mdb->segment));
	if (mdb->hash == NULL || mdb->queried == NULL || mdb->segment == NULL) {
		vx_mdb_destroy(mdb);
		return NULL;
	}
	return mdb;
}

static void
group_destroy(struct vx_mdb_group *group)
{
	free(group->members.at);
	rte_free(VX_UNCONST(group->narrow));
	rte_free(group);
}

void
vx_mdb_destroy(struct vx_mdb *mdb)
{
	if (mdb == NULL)
		return;
	while (mdb->all != NULL) {
		struct vx_mdb_segment *state = mdb->all;

		mdb->all = state->next;
		while (state->groups != NULL) {
			struct vx_mdb_group *group = state->groups;

			state->groups = group->next;
			group_destroy(group);
		}
		for (unsigned int i = 0; i < 2; i++) {
			free(state->queriers[i].at);
			rte_free(VX_UNCONST(mdb->queried[2 * state->index + i]));
		}
		free(state);
	}
	free(mdb->segment);
	rte_free(mdb->queried);
	rte_hash_free(mdb->hash);
	free(mdb);
}

/* --- lists of places --- */

static struct vx_mdb_place *
place_find(const struct vx_mdb_places *places, uint32_t dest)
{
	for (uint32_t i = 0; i < places->n; i++)
		if (places->at[i].dest == dest)
			return &places->at[i];
	return NULL;
}

/* NULL: no memory. */
static struct vx_mdb_place *
place_add(struct vx_tables *tables, struct vx_mdb_places *places, uint32_t dest)
{
	struct vx_mdb_place *at = places->at;

	/* Room for a power of two. */
	if ((places->n & (places->n - 1)) == 0)
		at = realloc(at, RTE_MAX(1u, 2 * places->n) * sizeof(*at));
	if (at == NULL)
		return NULL;
	places->at = at;
	at += places->n++;
	*at = (struct vx_mdb_place){.dest = dest};
	if ((dest & VX_DEST_VTEP) != 0)
		vx_vtep_ref(tables, dest & VX_DEST_INDEX, VX_VTEP_LEARNED);
	return at;
}

/* Which places are to go. */
struct going {
	const struct vx_segment *segment; /* not NULL: attachments that it does not have */
	uint64_t now;			  /* what ended before */
	uint32_t dest;			  /* VX_DEST_NONE: no certain place */
	bool is_all;
};

static bool
has_attach(const struct vx_segment *segment, uint32_t attach)
{
	for (unsigned int i = 0; i < segment->n_attaches; i++)
		if (segment->target[i] == attach)
			return true;
	return false;
}

static bool
is_going(const struct vx_mdb_place *place, const struct going *going)
{
	if (going->is_all || place->end <= going->now || place->dest == going->dest)
		return true;
	return going->segment != NULL && (place->dest & VX_DEST_VTEP) == 0 &&
	       !has_attach(going->segment, place->dest);
}

/* Take them out; the caller publishes what that changes. False: there were none. */
static bool
places_remove(struct vx_tables *tables, struct vx_mdb_places *places, const struct going *going)
{
	uint32_t kept = 0, n = places->n;

	for (uint32_t i = 0; i < n; i++) {
		const struct vx_mdb_place place = places->at[i];

		if (!is_going(&place, going))
			places->at[kept++] = place;
		else if ((place.dest & VX_DEST_VTEP) != 0)
			/* Workers find nobody there until they see what is published next. */
			vx_vtep_unref(tables, place.dest & VX_DEST_INDEX, VX_VTEP_LEARNED);
	}
	places->n = kept;
	if (kept == 0) {
		free(places->at);
		places->at = NULL;
	}
	return kept != n;
}

/* --- narrowed segments --- */

/* Those for whom a copy is made. */
struct wanted {
	const struct vx_mdb_places *queriers, *members; /* members may be NULL */
};

static bool
is_wanted(const struct wanted *wanted, uint32_t dest)
{
	return place_find(wanted->queriers, dest) != NULL ||
	       (wanted->members != NULL && place_find(wanted->members, dest) != NULL);
}

static bool
is_listed(const struct vx_segment *whole, uint32_t dest)
{
	for (unsigned int i = 0; i < whole->n_vteps; i++)
		if (whole->target[whole->n_attaches + i] == (dest & VX_DEST_INDEX))
			return true;
	return false;
}

static void
copy_append_vtep(struct vx_segment *copy, uint32_t vtep)
{
	for (unsigned int i = copy->n_attaches; i < copy->n_attaches + copy->n_vteps; i++)
		if (copy->target[i] == vtep)
			return;
	copy->target[copy->n_attaches + copy->n_vteps++] = vtep;
}

/* Remote VTEPs that asked and are in no flood list: the others learn of them by a group that the
 * list has, or they are sent to by themselves. */
static void
append_unlisted(struct vx_segment *copy, const struct vx_segment *whole,
		const struct vx_mdb_places *places)
{
	for (uint32_t i = 0; places != NULL && i < places->n; i++)
		if ((places->at[i].dest & VX_DEST_VTEP) != 0 &&
		    !is_listed(whole, places->at[i].dest))
			copy_append_vtep(copy, places->at[i].dest & VX_DEST_INDEX);
}

static bool
has_unlisted(const struct vx_segment *whole, const struct vx_mdb_places *places)
{
	for (uint32_t i = 0; places != NULL && i < places->n; i++)
		if ((places->at[i].dest & VX_DEST_VTEP) != 0 &&
		    !is_listed(whole, places->at[i].dest))
			return true;
	return false;
}

static void
copy_vteps(const struct vx_tables *tables, struct vx_segment *copy, const struct vx_segment *whole,
	   const struct wanted *wanted)
{
	const bool is_short =
		has_unlisted(whole, wanted->queriers) || has_unlisted(whole, wanted->members);
	bool has_group = false;

	for (unsigned int i = 0; i < whole->n_vteps; i++) {
		const uint32_t vtep = whole->target[whole->n_attaches + i];
		const bool is_group = vx_ip_is_multicast(&tables->vtep[vtep]->remote);

		has_group |= is_group;
		if (is_group ? is_short : is_wanted(wanted, VX_DEST_VTEP | vtep))
			copy_append_vtep(copy, vtep);
	}
	if (!is_short || has_group)
		return;
	append_unlisted(copy, whole, wanted->queriers);
	append_unlisted(copy, whole, wanted->members);
}

/* The segment with only those targets, in their order. NULL: no memory. */
static struct vx_segment *
narrow(const struct vx_tables *tables, const struct vx_segment *whole, const struct wanted *wanted)
{
	const uint32_t n = whole->n_attaches + whole->n_vteps + wanted->queriers->n +
			   (wanted->members == NULL ? 0 : wanted->members->n);
	struct vx_segment *copy = rte_malloc("vx_narrow", sizeof(*copy) + n * sizeof(uint32_t), 0);

	if (copy == NULL)
		return NULL;
	*copy = *whole;
	copy->n_attaches = 0;
	copy->n_tagged = 0;
	copy->n_vteps = 0;
	for (unsigned int i = 0; i < whole->n_attaches; i++) {
		if (!is_wanted(wanted, whole->target[i]))
			continue;
		copy->target[copy->n_attaches++] = whole->target[i];
		if (i + whole->n_tagged >= whole->n_attaches)
			copy->n_tagged++;
	}
	copy_vteps(tables, copy, whole, wanted);
	return copy;
}

static void
publish(struct vx_tables *tables, const struct vx_segment **slot, const struct vx_segment *segment)
{
	const struct vx_segment *old = *slot;

	__atomic_store_n(slot, segment, __ATOMIC_RELEASE);
	vx_rcu_free(tables->rcu, old);
}

static struct vx_mdb_places *
queriers_of(struct vx_mdb_segment *state, const struct vx_mdb_group *group)
{
	return &state->queriers[!vx_ip_is_v4(&group->key.group)];
}

static void
publish_group(struct vx_tables *tables, struct vx_mdb_segment *state, struct vx_mdb_group *group)
{
	const struct vx_segment *whole = tables->segment[state->index];
	const struct wanted wanted = {queriers_of(state, group), &group->members};

	/* Without a querier nobody looks at it. */
	publish(tables, &group->narrow,
		wanted.queriers->n == 0 ? NULL : narrow(tables, whole, &wanted));
}

/* The one for queriers, and with it all groups of the family, which go to them too. */
static void
publish_family(struct vx_tables *tables, struct vx_mdb_segment *state, unsigned int family)
{
	const struct vx_segment *whole = tables->segment[state->index];
	const struct wanted wanted = {&state->queriers[family], NULL};

	for (struct vx_mdb_group *group = state->groups; group != NULL; group = group->next)
		if (queriers_of(state, group) == wanted.queriers)
			publish_group(tables, state, group);
	publish(tables, &tables->mdb->queried[2 * state->index + family],
		wanted.queriers->n == 0 ? NULL : narrow(tables, whole, &wanted));
}

/* --- segments and groups --- */

/* NULL: no memory. */
static struct vx_mdb_segment *
state_get(struct vx_mdb *mdb, uint32_t index)
{
	struct vx_mdb_segment *state = mdb->segment[index];

	if (state != NULL)
		return state;
	state = calloc(1, sizeof(*state));
	if (state == NULL)
		return NULL;
	state->index = index;
	state->first_end = UINT64_MAX;
	state->next = mdb->all;
	mdb->all = state;
	mdb->segment[index] = state;
	return state;
}

static struct vx_mdb_group *
group_find(const struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip)
{
	return VX_UNCONST(vx_mdb_lookup(tables, segment, ip));
}

/* Still without members. NULL: no room. */
static struct vx_mdb_group *
group_add(struct vx_tables *tables, struct vx_mdb_segment *state, const struct vx_ip *ip)
{
	struct vx_mdb *mdb = tables->mdb;
	struct vx_mdb_group *group;

	if (mdb->n_groups == VX_MDB_MAX || state->n_groups == VX_MDB_SEGMENT_MAX)
		return NULL;
	group = rte_zmalloc("vx_group", sizeof(*group), 0);
	if (group == NULL)
		return NULL;
	group->key = (struct vx_mdb_key){.group = *ip, .segment = state->index};
	if (rte_hash_add_key_data(mdb->hash, &group->key, group) != 0) {
		rte_free(group);
		return NULL;
	}
	group->next = state->groups;
	state->groups = group;
	state->n_groups++;
	mdb->n_groups++;
	return group;
}

/* Take *@link, which has no members any more, out of its list. */
static void
group_del(struct vx_tables *tables, struct vx_mdb_segment *state, struct vx_mdb_group **link)
{
	struct vx_mdb_group *group = *link;
	struct vx_mdb *mdb = tables->mdb;

	*link = group->next;
	state->n_groups--;
	mdb->n_groups--;
	rte_hash_del_key(mdb->hash, &group->key);
	free(group->members.at);
	vx_rcu_free(tables->rcu, group->narrow);
	vx_rcu_free(tables->rcu, group);
	if (++mdb->deleted >= SYNC_EVERY) {
		mdb->deleted = 0;
		vx_rcu_synchronize(tables->rcu);
	}
}

/* Groups for which there was no room go to everybody until @end; 0: no longer. */
static void
set_crowded(struct vx_tables *tables, struct vx_mdb_segment *state, uint64_t end)
{
	uint8_t *watch = &tables->tenants->watch[state->index];
	const unsigned int bits =
		end != 0 ? *watch | VX_WATCH_CROWDED : *watch & ~(unsigned int)VX_WATCH_CROWDED;

	state->crowded_end = end;
	__atomic_store_n(watch, (uint8_t)bits, __ATOMIC_RELAXED);
}

int
vx_mdb_join(struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip, uint32_t dest,
	    uint64_t end)
{
	struct vx_mdb_segment *state = state_get(tables->mdb, segment);
	struct vx_mdb_group *group = group_find(tables, segment, ip);
	struct vx_mdb_place *place;

	if (state == NULL)
		return -ENOMEM;
	state->first_end = RTE_MIN(state->first_end, end);
	if (group == NULL)
		group = group_add(tables, state, ip);
	if (group == NULL) {
		set_crowded(tables, state, end);
		return -ENOSPC;
	}
	place = place_find(&group->members, dest);
	if (place != NULL) {
		place->end = end;
		return 0;
	}
	place = place_add(tables, &group->members, dest);
	if (place == NULL) {
		if (group->members.n == 0) /* it is the first of the list: just added */
			group_del(tables, state, &state->groups);
		return -ENOMEM;
	}
	place->end = end;
	publish_group(tables, state, group);
	return 0;
}

void
vx_mdb_leave(struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip, uint32_t dest,
	     uint64_t end)
{
	struct vx_mdb_group *group = group_find(tables, segment, ip);
	struct vx_mdb_place *place = group == NULL ? NULL : place_find(&group->members, dest);

	if (place == NULL || place->end <= end)
		return;
	place->end = end;
	tables->mdb->segment[segment]->first_end =
		RTE_MIN(tables->mdb->segment[segment]->first_end, end);
}

int
vx_mdb_query(struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip, uint32_t dest,
	     uint64_t end)
{
	struct vx_mdb_segment *state = state_get(tables->mdb, segment);
	const unsigned int family = !vx_ip_is_v4(ip);
	struct vx_mdb_place *place;
	bool is_new;

	if (state == NULL)
		return -ENOMEM;
	place = place_find(&state->queriers[family], dest);
	is_new = place == NULL;
	if (is_new)
		place = place_add(tables, &state->queriers[family], dest);
	if (place == NULL)
		return -ENOMEM;
	place->ip = *ip;
	place->end = end;
	state->first_end = RTE_MIN(state->first_end, end);
	if (is_new)
		publish_family(tables, state, family);
	return 0;
}

/* --- forgetting --- */

/* Queriers first: groups are published with them. */
static void
remove_queriers(struct vx_tables *tables, struct vx_mdb_segment *state, const struct going *going)
{
	for (unsigned int family = 0; family < 2; family++)
		if (places_remove(tables, &state->queriers[family], going))
			publish_family(tables, state, family);
}

static void
remove_members(struct vx_tables *tables, struct vx_mdb_segment *state, const struct going *going)
{
	struct vx_mdb_group **link = &state->groups;

	while (*link != NULL) {
		struct vx_mdb_group *group = *link;
		const bool is_less = places_remove(tables, &group->members, going);

		if (group->members.n == 0) {
			group_del(tables, state, link);
			continue;
		}
		if (is_less)
			publish_group(tables, state, group);
		link = &group->next;
	}
}

void
vx_mdb_flush(struct vx_tables *tables, uint32_t segment)
{
	const struct going all = {.is_all = true, .dest = VX_DEST_NONE};
	struct vx_mdb_segment *state = tables->mdb->segment[segment];
	struct vx_mdb_segment **link = &tables->mdb->all;

	if (state == NULL)
		return;
	remove_members(tables, state, &all);
	remove_queriers(tables, state, &all);
	set_crowded(tables, state, 0);
	while (*link != state)
		link = &(*link)->next;
	*link = state->next;
	tables->mdb->segment[segment] = NULL;
	free(state);
}

void
vx_mdb_flush_dest(struct vx_tables *tables, uint32_t segment, uint32_t dest)
{
	const struct going going = {.dest = dest};

	for (struct vx_mdb_segment *state = tables->mdb->all; state != NULL; state = state->next) {
		if (segment != VX_INDEX_NONE && segment != state->index)
			continue;
		remove_members(tables, state, &going);
		remove_queriers(tables, state, &going);
	}
}

static void
note_first_end(struct vx_mdb_segment *state, const struct vx_mdb_places *places)
{
	for (uint32_t i = 0; i < places->n; i++)
		state->first_end = RTE_MIN(state->first_end, places->at[i].end);
}

void
vx_mdb_age(struct vx_tables *tables, uint64_t now)
{
	const struct going going = {.now = now, .dest = VX_DEST_NONE};

	for (struct vx_mdb_segment *state = tables->mdb->all; state != NULL; state = state->next) {
		if (state->first_end > now)
			continue;
		remove_members(tables, state, &going);
		remove_queriers(tables, state, &going);
		if (state->crowded_end <= now)
			set_crowded(tables, state, 0);
		state->first_end = state->crowded_end != 0 ? state->crowded_end : UINT64_MAX;
		note_first_end(state, &state->queriers[0]);
		note_first_end(state, &state->queriers[1]);
		for (struct vx_mdb_group *group = state->groups; group != NULL; group = group->next)
			note_first_end(state, &group->members);
	}
}

void
vx_mdb_segment_changed(struct vx_tables *tables, const struct vx_segment *segment)
{
	const struct going going = {.segment = segment, .dest = VX_DEST_NONE};
	struct vx_mdb_segment *state = tables->mdb->segment[segment->index];

	if (state == NULL)
		return;
	remove_members(tables, state, &going);
	remove_queriers(tables, state, &going);
	publish_family(tables, state, 0);
	publish_family(tables, state, 1);
}
