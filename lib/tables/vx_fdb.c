/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_fdb.h"

#include <errno.h>

#include <rte_malloc.h>

#include "vx_attach.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_vtep.h"

/* Wait for readers after this many deletions: fewer than the hash's queue of deferred slots. */
#define SYNC_EVERY 16384u

/* The control thread's copy of an entry, so that walks never touch the hash. value 0: unused. */
struct vx_fdb_slot {
	uint64_t key;
	uint64_t value;
};

static uint64_t
make_value(uint32_t slot, uint32_t dest, bool is_static)
{
	return VX_FDB_PRESENT | (is_static ? VX_FDB_STATIC : 0) | (uint64_t)dest << 24 | slot;
}

struct vx_fdb *
vx_fdb_create(uint32_t max_macs, uint32_t max_segments, struct vx_rcu *rcu)
{
	struct vx_fdb *fdb = rte_zmalloc("vx_fdb", sizeof(*fdb), RTE_CACHE_LINE_SIZE);

	if (fdb == NULL)
		return NULL;
	fdb->hash = vx_tables_hash("fdb", rcu, max_macs, sizeof(uint64_t), true);
	fdb->stamp = rte_calloc("vx_fdb_stamp", max_macs, sizeof(*fdb->stamp), RTE_CACHE_LINE_SIZE);
	fdb->slot = calloc(max_macs, sizeof(*fdb->slot));
	fdb->count = calloc(max_segments, sizeof(*fdb->count));
	if (fdb->hash == NULL || fdb->stamp == NULL || fdb->slot == NULL || fdb->count == NULL ||
	    vx_index_init(&fdb->index, max_macs) < 0) {
		vx_fdb_destroy(fdb);
		return NULL;
	}
	return fdb;
}

void
vx_fdb_destroy(struct vx_fdb *fdb)
{
	if (fdb == NULL)
		return;
	vx_index_fini(&fdb->index);
	free(fdb->count);
	free(fdb->slot);
	rte_free(fdb->stamp);
	rte_hash_free(fdb->hash);
	rte_free(fdb);
}

/* The VTEP's reference that an entry holds. */
static void
dest_ref(struct vx_tables *tables, uint32_t dest, bool is_static)
{
	if ((dest & VX_DEST_VTEP) != 0)
		vx_vtep_ref(tables, dest & VX_DEST_INDEX,
			    is_static ? VX_VTEP_STATIC : VX_VTEP_LEARNED);
}

static void
dest_unref(struct vx_tables *tables, uint64_t value)
{
	if ((VX_FDB_DEST(value) & VX_DEST_VTEP) != 0)
		vx_vtep_unref(tables, VX_FDB_DEST(value) & VX_DEST_INDEX,
			      (value & VX_FDB_STATIC) != 0 ? VX_VTEP_STATIC : VX_VTEP_LEARNED);
}

/* What workers have copied may be out of date. After the change of the hash. */
static void
tell_changed(struct vx_fdb *fdb)
{
	__atomic_store_n(&fdb->changes, fdb->changes + 1, __ATOMIC_RELEASE);
}

/* One entry with this value more (@n is 1) or less (-1). */
static void
count(struct vx_fdb *fdb, uint64_t key, uint64_t value, int n)
{
	struct vx_fdb_count *of_segment = &fdb->count[key >> 48];

	if (value == 0)
		return;
	if ((value & VX_FDB_STATIC) != 0) {
		fdb->n_static += (uint32_t)n;
		of_segment->fixed += (uint32_t)n;
	} else {
		of_segment->learned += (uint32_t)n;
	}
}

/* Store @value for @key in the hash, new or over the old one. */
static int
store(struct vx_fdb *fdb, uint64_t key, uint64_t value)
{
	const uint32_t slot = VX_FDB_SLOT(value);

	if (rte_hash_add_key_data(fdb->hash, &key, (void *)(uintptr_t)value) != 0)
		return -ENOSPC;
	count(fdb, key, fdb->slot[slot].value, -1);
	count(fdb, key, value, 1);
	fdb->slot[slot] = (struct vx_fdb_slot){.key = key, .value = value};
	return 0;
}

int
vx_fdb_room(const struct vx_tables *tables, uint64_t key)
{
	const struct vx_segment *segment = tables->segment[key >> 48];

	if (segment != NULL && segment->max_macs != 0 &&
	    tables->fdb->count[key >> 48].learned >= segment->max_macs)
		return -EDQUOT;
	return vx_fdb_used(tables->fdb) == tables->conf.max_macs ? -ENOSPC : 0;
}

static int
enter(struct vx_tables *tables, uint64_t key, uint32_t dest, bool is_static)
{
	struct vx_fdb *fdb = tables->fdb;
	uint32_t slot;

	if (!is_static && vx_fdb_room(tables, key) == -EDQUOT)
		return -EDQUOT;
	slot = vx_index_take(&fdb->index);
	if (slot == VX_INDEX_NONE)
		return -ENOSPC;
	__atomic_store_n(&fdb->stamp[slot], fdb->now, __ATOMIC_RELAXED);
	if (store(fdb, key, make_value(slot, dest, is_static)) < 0) {
		vx_index_give(&fdb->index, slot);
		return -ENOSPC;
	}
	dest_ref(tables, dest, is_static);
	fdb->high = RTE_MAX(fdb->high, slot + 1);
	return 0;
}

int
vx_fdb_set(struct vx_tables *tables, uint64_t key, uint32_t dest, bool is_static, bool *moved)
{
	struct vx_fdb *fdb = tables->fdb;
	uint64_t old, value;
	void *data;

	*moved = false;
	if (rte_hash_lookup_data(fdb->hash, &key, &data) < 0)
		return enter(tables, key, dest, is_static);
	old = (uint64_t)(uintptr_t)data;
	value = make_value(VX_FDB_SLOT(old), dest, is_static);
	__atomic_store_n(&fdb->stamp[VX_FDB_SLOT(old)], fdb->now, __ATOMIC_RELAXED);
	if (old == value)
		return 0;
	if ((old & VX_FDB_STATIC) != 0 && !is_static)
		return VX_FDB_DEST(old) == dest ? 0 : -EPERM;
	if (store(fdb, key, value) < 0)
		return -ENOSPC;
	tell_changed(fdb);
	*moved = VX_FDB_DEST(old) != dest;
	/* The new reference first: the same VTEP must not be removed in between. */
	dest_ref(tables, dest, is_static);
	dest_unref(tables, old);
	return 0;
}

/* The segment that a static entry for @mac is to be in; NULL with @err. */
static const struct vx_segment *
find_checked(const struct vx_tables *tables, uint32_t vni, const struct rte_ether_addr *mac,
	     struct vx_err *err)
{
	char text[RTE_ETHER_ADDR_FMT_SIZE];

	if (rte_is_valid_assigned_ether_addr(mac))
		return vx_segment_find(tables, vni, err);
	rte_ether_format_addr(text, sizeof(text), mac);
	vx_err_set(err, EINVAL, "%s cannot be a host's: expected a unicast MAC address", text);
	return NULL;
}

static int
enter_static(struct vx_tables *tables, const struct vx_segment *segment,
	     const struct rte_ether_addr *mac, uint32_t dest, struct vx_err *err)
{
	const uint64_t key = vx_fdb_key_of(segment->index, mac);
	char text[RTE_ETHER_ADDR_FMT_SIZE];
	struct vx_fdb_entry present;
	bool moved;

	if (vx_fdb_get(tables->fdb, key, &present) && present.is_static && present.dest == dest) {
		rte_ether_format_addr(text, sizeof(text), mac);
		return vx_err_set(err, EEXIST, "%s is in VNI %u already, at that place", text,
				  segment->vni);
	}
	if (vx_fdb_set(tables, key, dest, true, &moved) < 0)
		return vx_err_set(err, ENOSPC,
				  "the FDB is full: start with a larger --max-macs than %u",
				  tables->conf.max_macs);
	return 0;
}

int
vx_fdb_add_static_vtep(struct vx_tables *tables, uint32_t vni, const struct rte_ether_addr *mac,
		       const struct vx_ip *remote, struct vx_err *err)
{
	const struct vx_segment *segment = find_checked(tables, vni, mac, err);
	int64_t vtep;
	int rc;

	if (segment == NULL)
		return -EINVAL;
	rc = vx_vtep_check(tables, remote, err);
	if (rc < 0)
		return rc;
	vtep = vx_vtep_get(tables, remote, VX_VTEP_STATIC);
	if (vtep < 0)
		return vx_err_set(err, (int)-vtep,
				  "no room for another remote VTEP: start with a larger "
				  "--max-vteps than %u",
				  tables->conf.max_vteps);
	rc = enter_static(tables, segment, mac, VX_DEST_VTEP | (uint32_t)vtep, err);
	/* The entry has its own reference now; this one only bridged the way there. */
	vx_vtep_unref(tables, (uint32_t)vtep, VX_VTEP_STATIC);
	return rc;
}

int
vx_fdb_add_static_port(struct vx_tables *tables, uint32_t vni, const struct rte_ether_addr *mac,
		       uint16_t port, uint16_t vlan, struct vx_err *err)
{
	const struct vx_segment *segment = find_checked(tables, vni, mac, err);
	const bool is_all = vlan == VX_VLAN_UNTAGGED && tables->view->port[port].carries_tags;
	const struct vx_attach *attach;

	if (segment == NULL)
		return -EINVAL;
	attach = vx_attach_find_vlan(tables, port, is_all ? VX_VLAN_ALL : vlan, err);
	if (attach == NULL)
		return -ENOENT;
	if (attach->segment != segment->index)
		return vx_err_set(err, EINVAL, "port %u is attached to VNI %u, not to VNI %u", port,
				  attach->vni, segment->vni);
	return enter_static(tables, segment, mac, attach->index, err);
}

static void
delete_slot(struct vx_tables *tables, uint32_t slot)
{
	struct vx_fdb *fdb = tables->fdb;
	const struct vx_fdb_slot entry = fdb->slot[slot];

	rte_hash_del_key(fdb->hash, &entry.key);
	tell_changed(fdb);
	count(fdb, entry.key, entry.value, -1);
	fdb->slot[slot].value = 0;
	vx_index_give(&fdb->index, slot);
	dest_unref(tables, entry.value);
	if (++fdb->deleted >= SYNC_EVERY) {
		fdb->deleted = 0;
		vx_rcu_synchronize(tables->rcu);
	}
}

int
vx_fdb_del(struct vx_tables *tables, uint64_t key)
{
	void *data;

	if (rte_hash_lookup_data(tables->fdb->hash, &key, &data) < 0)
		return -ENOENT;
	delete_slot(tables, VX_FDB_SLOT((uint64_t)(uintptr_t)data));
	return 0;
}

uint64_t
vx_fdb_prefetch(const struct vx_fdb *fdb, const uint64_t *key, unsigned int n)
{
	const void *keys[VX_FDB_BULK];
	void *data[VX_FDB_BULK];
	uint64_t hits = 0;

	for (unsigned int i = 0; i < n; i++)
		keys[i] = &key[i];
	if (n > 0)
		rte_hash_lookup_bulk_data(fdb->hash, keys, n, &hits, data);
	return hits;
}

static bool
matches(const struct vx_tables *tables, const struct vx_fdb_filter *filter, uint32_t segment,
	uint32_t dest)
{
	if (filter->segment != VX_INDEX_NONE && segment != filter->segment)
		return false;
	if (filter->dest != VX_DEST_NONE && dest != filter->dest)
		return false;
	if (!filter->has_port)
		return true;
	return (dest & VX_DEST_VTEP) == 0 && tables->attach[dest] != NULL &&
	       tables->attach[dest]->port == filter->port;
}

bool
vx_fdb_matches(const struct vx_tables *tables, const struct vx_fdb_filter *filter,
	       const struct vx_fdb_entry *entry)
{
	return matches(tables, filter, entry->segment, entry->dest);
}

/* Is there nothing (more) of the segment that the filter names? Spares the walk. */
static bool
is_nothing_left(const struct vx_fdb *fdb, const struct vx_fdb_filter *filter)
{
	const struct vx_fdb_count *left;

	if (filter->segment == VX_INDEX_NONE)
		return vx_fdb_used(fdb) == (filter->with_static ? 0 : fdb->n_static);
	left = &fdb->count[filter->segment];
	return left->learned == 0 && (left->fixed == 0 || !filter->with_static);
}

bool
vx_fdb_flush_step(struct vx_tables *tables, const struct vx_fdb_filter *filter, uint32_t *cursor,
		  uint32_t most, uint32_t *deleted)
{
	struct vx_fdb *fdb = tables->fdb;

	for (; *cursor < fdb->high && most > 0; (*cursor)++, most--) {
		const struct vx_fdb_slot *entry = &fdb->slot[*cursor];

		if (entry->value == 0)
			continue;
		if ((entry->value & VX_FDB_STATIC) != 0 && !filter->with_static)
			continue;
		if (!matches(tables, filter, (uint32_t)(entry->key >> 48),
			     VX_FDB_DEST(entry->value)))
			continue;
		delete_slot(tables, *cursor);
		(*deleted)++;
		if (is_nothing_left(fdb, filter))
			return false;
	}
	return *cursor < fdb->high;
}

uint32_t
vx_fdb_flush(struct vx_tables *tables, const struct vx_fdb_filter *filter)
{
	uint32_t cursor = 0, n = 0;

	if (!is_nothing_left(tables->fdb, filter))
		vx_fdb_flush_step(tables, filter, &cursor, UINT32_MAX, &n);
	return n;
}

uint32_t
vx_fdb_age(struct vx_tables *tables, uint32_t now, unsigned int steps)
{
	struct vx_fdb *fdb = tables->fdb;
	const uint32_t ageing = tables->conf.ageing;
	uint32_t budget = fdb->high / steps + 1, n = 0;

	__atomic_store_n(&fdb->now, now, __ATOMIC_RELAXED);
	if (ageing == 0)
		return 0;
	for (; budget > 0 && fdb->high > 0; budget--) {
		const uint32_t slot = fdb->age_cursor;
		const struct vx_fdb_slot *entry = &fdb->slot[slot];

		fdb->age_cursor = slot + 1 >= fdb->high ? 0 : slot + 1;
		if (entry->value == 0 || (entry->value & VX_FDB_STATIC) != 0)
			continue;
		if (now - __atomic_load_n(&fdb->stamp[slot], __ATOMIC_RELAXED) <= ageing)
			continue;
		delete_slot(tables, slot);
		n++;
	}
	return n;
}

static void
fill_entry(const struct vx_fdb *fdb, uint32_t slot, struct vx_fdb_entry *entry)
{
	const struct vx_fdb_slot *from = &fdb->slot[slot];

	entry->slot = slot;
	entry->segment = (uint32_t)(from->key >> 48);
	entry->dest = VX_FDB_DEST(from->value);
	entry->is_static = (from->value & VX_FDB_STATIC) != 0;
	entry->age = fdb->now - __atomic_load_n(&fdb->stamp[slot], __ATOMIC_RELAXED);
	entry->mac = vx_fdb_mac_of(from->key);
}

bool
vx_fdb_get(const struct vx_fdb *fdb, uint64_t key, struct vx_fdb_entry *entry)
{
	void *data;

	if (rte_hash_lookup_data(fdb->hash, &key, &data) < 0)
		return false;
	fill_entry(fdb, VX_FDB_SLOT((uint64_t)(uintptr_t)data), entry);
	return true;
}

bool
vx_fdb_next(const struct vx_fdb *fdb, uint32_t slot, struct vx_fdb_entry *entry)
{
	for (; slot < fdb->high; slot++) {
		if (fdb->slot[slot].value == 0)
			continue;
		fill_entry(fdb, slot, entry);
		return true;
	}
	return false;
}
