/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multicast database: who listens to which group of tenants', and where queriers are, as IGMP and
 * MLD snooping saw it (RFC 4541).
 *
 * What workers get are copies of a segment whose flood list is narrowed to those who asked, so that
 * flooding need not know of groups. They are built anew whenever the segment is published.
 */
#ifndef VX_MDB_H
#define VX_MDB_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_hash.h>

#include "vx_ip.h"
#include "vx_tables.h"

#define VX_MDB_MAX	   16384u /* groups in all segments */
#define VX_MDB_SEGMENT_MAX 1024u  /* groups of one segment */

/* RFC 3376 sections 8.4 and 8.5 with the default values; RFC 3810 section 9 has the same. */
#define VX_MDB_MEMBER_MS  260000u
#define VX_MDB_QUERIER_MS 255000u
#define VX_MDB_LEAVE_MS	  2000u /* last member query time: 2 queries, 1 second each */

struct vx_mdb_key {
	struct vx_ip group;
	uint32_t segment;
	uint32_t zero;
};
_Static_assert(sizeof(struct vx_mdb_key) == 24, "hash key without padding");

/* A member, or a querier. */
struct vx_mdb_place {
	struct vx_ip ip; /* a querier's */
	uint64_t end;	 /* milliseconds: forgotten then */
	uint32_t dest;
};

struct vx_mdb_places {
	struct vx_mdb_place *at;
	uint32_t n;
};

struct vx_mdb_group {
	const struct vx_segment *narrow; /* published: to members and queriers; NULL: to all */

	/* The control thread's own. */
	struct vx_mdb_key key;
	struct vx_mdb_places members;
	struct vx_mdb_group *next; /* of the same segment */
};

/* The control thread's own, of a segment of which something is known. */
struct vx_mdb_segment {
	struct vx_mdb_segment *next;
	struct vx_mdb_group *groups;
	struct vx_mdb_places queriers[2]; /* IPv4, IPv6 */
	uint64_t first_end;		  /* nothing is to be forgotten before */
	uint64_t crowded_end;		  /* of VX_WATCH_CROWDED; 0: it is not set */
	uint32_t index;
	uint32_t n_groups;
};

struct vx_mdb {
	struct rte_hash *hash;		   /* struct vx_mdb_key -> struct vx_mdb_group * */
	const struct vx_segment **queried; /* 2 a segment: to queriers; NULL: none is known */

	/* The control thread's own. */
	struct vx_mdb_segment **segment; /* by index; NULL: nothing is known of it */
	struct vx_mdb_segment *all;
	uint32_t n_groups;
	uint32_t deleted; /* since readers were last waited for */
};

struct vx_mdb *vx_mdb_create(uint32_t max_segments, struct vx_rcu *rcu);
void vx_mdb_destroy(struct vx_mdb *mdb);

/* Control thread: @dest listens to @group until @end. 0, or -ENOSPC (until then, groups that are
 * not known may have members: VX_WATCH_CROWDED) or -ENOMEM. */
int vx_mdb_join(struct vx_tables *tables, uint32_t segment, const struct vx_ip *group,
		uint32_t dest, uint64_t end);

/* Control thread: one host there does not any more; @end: until when another may object. */
void vx_mdb_leave(struct vx_tables *tables, uint32_t segment, const struct vx_ip *group,
		  uint32_t dest, uint64_t end);

/* Control thread: the querier @ip is at @dest. 0 or -ENOMEM. */
int vx_mdb_query(struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip, uint32_t dest,
		 uint64_t end);

/* Control thread: forget all of a segment; or what is at @dest, in all segments (VX_INDEX_NONE) or
 * in one. */
void vx_mdb_flush(struct vx_tables *tables, uint32_t segment);
void vx_mdb_flush_dest(struct vx_tables *tables, uint32_t segment, uint32_t dest);

/* Control thread: forget what has come to its end. */
void vx_mdb_age(struct vx_tables *tables, uint64_t now);

/* Used by vx_segment.c: the segment has just been published. */
void vx_mdb_segment_changed(struct vx_tables *tables, const struct vx_segment *segment);

/* Workers: the group, or NULL: nobody asked for it. */
static inline const struct vx_mdb_group *
vx_mdb_lookup(const struct vx_tables *tables, uint32_t segment, const struct vx_ip *group)
{
	const struct vx_mdb_key key = {.group = *group, .segment = segment};
	void *data;

	return rte_hash_lookup_data(tables->mdb->hash, &key, &data) < 0 ? NULL : data;
}

/* Workers: the segment with only its queriers of this family, or NULL: there is none. */
static inline const struct vx_segment *
vx_mdb_queried(const struct vx_tables *tables, uint32_t segment, bool is_v6)
{
	return __atomic_load_n(&tables->mdb->queried[2 * segment + is_v6], __ATOMIC_ACQUIRE);
}

/* Workers: the segment with only those who asked for the group, and queriers; NULL: everybody. */
static inline const struct vx_segment *
vx_mdb_narrow(const struct vx_mdb_group *group)
{
	return __atomic_load_n(&group->narrow, __ATOMIC_ACQUIRE);
}

#endif
