/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding database: (segment, MAC) to attachment or remote VTEP.
 *
 * Key and value are one 64-bit word each, the value stored in the hash itself: a lookup costs no
 * second cache miss and a changed entry is one atomic store. The stamp of last use is an array
 * apart, indexed by the slot in the value, written by workers only when the second changes.
 */
#ifndef VX_FDB_H
#define VX_FDB_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_hash.h>

#include "vx_err.h"
#include "vx_tables.h"

#define VX_FDB_BULK 64u /* most keys in one lookup: width of the hit mask */

/* Where a frame goes to or comes from: an attachment's or a remote VTEP's index and its kind. */
#define VX_DEST_VTEP  (1u << 24)
#define VX_DEST_INDEX (VX_DEST_VTEP - 1)
#define VX_DEST_NONE  UINT32_MAX

/* Value: bits 0..23 slot, 24..48 destination, 49 static. Never zero for a present entry: bit 50.
 * The bits above belong to vx_fdb_cache.h. */
#define VX_FDB_SLOT(value) ((uint32_t)((value)&0xffffffu))
#define VX_FDB_DEST(value) ((uint32_t)((value) >> 24) & (VX_DEST_VTEP | VX_DEST_INDEX))
#define VX_FDB_STATIC	   (UINT64_C(1) << 49)
#define VX_FDB_PRESENT	   (UINT64_C(1) << 50)

struct vx_fdb {
	struct rte_hash *hash; /* read by workers */
	uint32_t *stamp;       /* by slot, in seconds of @now; workers store, relaxed */
	uint32_t now;	       /* seconds; the control thread stores, workers read */
	uint32_t changes;      /* entries moved or deleted so far, likewise: see vx_fdb_cache.h */

	/* The control thread's own, on a cache line that no worker reads. */
	struct vx_fdb_slot *slot __rte_cache_aligned;
	struct vx_index index;
	uint32_t high; /* slots ever used are below this */
	uint32_t age_cursor;
	struct vx_fdb_count *count; /* by segment index */
	uint32_t n_static;
	uint32_t deleted; /* since readers were last waited for */
};

/* How many entries one segment has. */
struct vx_fdb_count {
	uint32_t learned, fixed; /* fixed: static */
};

/* One entry as displays see it. */
struct vx_fdb_entry {
	uint32_t slot;
	uint32_t segment; /* index */
	uint32_t dest;
	uint32_t age; /* seconds since last use */
	bool is_static;
	struct rte_ether_addr mac;
};

/* What to flush or to show: each part may be "any" (VX_INDEX_NONE, VX_DEST_NONE, false). */
struct vx_fdb_filter {
	uint32_t segment;
	uint32_t dest;
	bool has_port; /* whatever is attached to @port */
	uint16_t port;
	bool with_static;
};

struct vx_fdb *vx_fdb_create(uint32_t max_macs, uint32_t max_segments, struct vx_rcu *rcu);
void vx_fdb_destroy(struct vx_fdb *fdb);

/*
 * Control thread: enter or move a MAC. A static entry is replaced by a static one only; learning
 * against it gives -EPERM. 0 (*moved tells whether a learned entry changed its place), -EPERM,
 * -EDQUOT (the segment has learned as many as it may) or -ENOSPC. Takes care of the VTEP's
 * reference.
 */
int vx_fdb_set(struct vx_tables *tables, uint64_t key, uint32_t dest, bool is_static, bool *moved);

/* Could @key, which is not there, be learned: 0, -EDQUOT or -ENOSPC as above. */
int vx_fdb_room(const struct vx_tables *tables, uint64_t key);

/*
 * Control thread: a static entry of the segment @vni, whose MAC is behind a remote VTEP or at an
 * access port attached to it (with @vlan as in vx_attach_of_vlan()). 0, or -EINVAL, -ENOENT,
 * -EEXIST (there is the same one), -ENOSPC, -ENOMEM with the reason in @err.
 */
int vx_fdb_add_static_vtep(struct vx_tables *tables, uint32_t vni, const struct rte_ether_addr *mac,
			   const struct vx_ip *remote, struct vx_err *err);
int vx_fdb_add_static_port(struct vx_tables *tables, uint32_t vni, const struct rte_ether_addr *mac,
			   uint16_t port, uint16_t vlan, struct vx_err *err);

/* 0 or -ENOENT. */
int vx_fdb_del(struct vx_tables *tables, uint64_t key);

/* Load what setting these keys (VX_FDB_BULK at most) will need, all at a time. Returns a bit for
 * each that is there now. */
uint64_t vx_fdb_prefetch(const struct vx_fdb *fdb, const uint64_t *key, unsigned int n);

/* Does @entry match? @filter->with_static is not looked at. */
bool vx_fdb_matches(const struct vx_tables *tables, const struct vx_fdb_filter *filter,
		    const struct vx_fdb_entry *entry);

/* Deletes all that match; returns how many. */
uint32_t vx_fdb_flush(struct vx_tables *tables, const struct vx_fdb_filter *filter);

/* The same in steps: look at the next @most slots from *cursor on, which begins with 0. True: there
 * are more. *deleted is added to. What is entered meanwhile may or may not be found. */
bool vx_fdb_flush_step(struct vx_tables *tables, const struct vx_fdb_filter *filter,
		       uint32_t *cursor, uint32_t most, uint32_t *deleted);

/* Once a second: advance time and delete learned entries unused for @ageing seconds (0: none).
 * Call it with @steps > 1 to do 1/@steps of the table at each of @steps calls a second. */
uint32_t vx_fdb_age(struct vx_tables *tables, uint32_t now, unsigned int steps);

/* The entry with this key. */
bool vx_fdb_get(const struct vx_fdb *fdb, uint64_t key, struct vx_fdb_entry *entry);

/* Walk: the first entry at or after @slot; false at the end. Continue with entry->slot + 1. */
bool vx_fdb_next(const struct vx_fdb *fdb, uint32_t slot, struct vx_fdb_entry *entry);

static inline uint32_t
vx_fdb_used(const struct vx_fdb *fdb)
{
	return vx_index_used(&fdb->index);
}

/* 48 bits from memory, first byte lowest. Reads 8 bytes. */
static inline uint64_t
vx_fdb_load_mac(const void *mac)
{
	uint64_t word;

	__builtin_memcpy(&word, mac, sizeof(word));
	return rte_le_to_cpu_64(word) & 0xffffffffffffu;
}

static inline uint64_t
vx_fdb_key(uint32_t segment, uint64_t mac48)
{
	return (uint64_t)segment << 48 | mac48;
}

static inline bool
vx_fdb_is_group(uint64_t mac48)
{
	return (mac48 & 1) != 0;
}

/* The key of a MAC structure (not in the packet path: reads exactly 6 bytes). */
static inline uint64_t
vx_fdb_key_of(uint32_t segment, const struct rte_ether_addr *mac)
{
	uint8_t padded[8] = {0};

	__builtin_memcpy(padded, mac->addr_bytes, RTE_ETHER_ADDR_LEN);
	return vx_fdb_key(segment, vx_fdb_load_mac(padded));
}

/* The MAC in the lower 48 bits of a key, back as a structure. */
static inline struct rte_ether_addr
vx_fdb_mac_of(uint64_t key)
{
	const uint64_t word = rte_cpu_to_le_64(key);
	struct rte_ether_addr mac;

	__builtin_memcpy(mac.addr_bytes, &word, RTE_ETHER_ADDR_LEN);
	return mac;
}

/* Workers: note that an entry is in use. */
static inline void
vx_fdb_touch(struct vx_fdb *fdb, uint64_t value, uint32_t now)
{
	uint32_t *stamp = &fdb->stamp[VX_FDB_SLOT(value)];

	/* The store only when the second changes: the line stays shared among workers. */
	if (__atomic_load_n(stamp, __ATOMIC_RELAXED) != now)
		__atomic_store_n(stamp, now, __ATOMIC_RELAXED);
}

#endif
