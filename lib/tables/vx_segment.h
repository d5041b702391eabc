/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments: one VNI's broadcast domain, with its flood list (RFC 7348 sections 4.1, 4.2). */
#ifndef VX_SEGMENT_H
#define VX_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_hash.h>

#include "vx_err.h"
#include "vx_ip.h"
#include "vx_tables.h"

/* What is flooded, and can be switched off: `set flood`. The words of that command, in order. */
enum vx_flood_kind {
	VX_FLOOD_UNKNOWN, /* unicast to a MAC that is not in the FDB */
	VX_FLOOD_MULTICAST,
	VX_FLOOD_BROADCAST,
	VX_FLOOD_KINDS,
};

/* What its outer IP headers have that differs from the view: `set ttl`, `set dscp`, `set df`. */
struct vx_segment_outer {
	bool has_ttl, has_dscp, has_df;
	uint8_t ttl;  /* or VX_TTL_INHERIT */
	uint8_t dscp; /* or VX_DSCP_INHERIT */
	enum vx_df df;
};

/* Immutable once published; a change publishes a new one under the same index. */
struct vx_segment {
	uint32_t vni;
	rte_be32_t vni_be; /* second word of the VXLAN header */
	uint32_t index;
	uint16_t mtu; /* inner MTU in bytes */
	bool is_learning;
	bool has_local;	 /* local replaces the address that the route chose, */
	bool has_local4; /* towards VTEPs of its family: IPv4, then local_be too */
	bool has_local6;
	bool has_own_mtu;      /* not the one of `set mtu` */
	bool has_own_learning; /* not the one of `set learning` */
	uint8_t flood_off;     /* bit by enum vx_flood_kind: such frames are dropped */
	uint8_t own_flood;     /* likewise: not the setting of `set flood` without VNI */
	bool has_own_outer;    /* any of own_outer */
	uint32_t max_macs;     /* that it may learn; 0: no limit of its own */
	rte_be32_t local_be;
	struct vx_ip local;
	uint16_t n_attaches; /* target[0..n_attaches-1] are attachments, */
	uint16_t n_tagged;   /* the last n_tagged of these carry VLAN tags, */
	uint16_t n_vteps;    /* the n_vteps after them are the flood list's remote VTEPs */
	struct vx_segment_outer own_outer;
	uint32_t target[];
};

struct vx_segment_conf {
	uint32_t vni;
	struct vx_ip local; /* none: what the route chooses */
	uint16_t mtu;	    /* 0: as `set mtu` */
	uint32_t max_macs;  /* that it may learn; 0: as many as there is room for */
};

/* Control thread. 0 or -EINVAL, -EEXIST, -ENOSPC, -ENOMEM with the reason in @err. */
int vx_segment_add(struct vx_tables *tables, const struct vx_segment_conf *conf,
		   struct vx_err *err);

/* Deletes the segment with its attachments, flood list and FDB entries. 0 or -ENOENT. */
int vx_segment_del(struct vx_tables *tables, uint32_t vni, struct vx_err *err);

/* NULL (with the reason in @err, which may be NULL) if there is none. */
const struct vx_segment *vx_segment_find(const struct vx_tables *tables, uint32_t vni,
					 struct vx_err *err);

/* The inner MTU of all segments that have none of their own. */
int vx_segment_set_mtu(struct vx_tables *tables, uint16_t mtu, struct vx_err *err);

/* Learning: of one segment, or (VNI 0) of all that have no setting of their own. */
int vx_segment_set_learning(struct vx_tables *tables, uint32_t vni, bool is_on, struct vx_err *err);

/* Flooding of one kind of frames: of one segment, or (VNI 0) of all without their own setting. */
int vx_segment_set_flood(struct vx_tables *tables, uint32_t vni, enum vx_flood_kind kind,
			 bool is_on, struct vx_err *err);

/* Give one segment its own of what @outer has; what @outer has not stays as it is. */
int vx_segment_set_outer(struct vx_tables *tables, uint32_t vni,
			 const struct vx_segment_outer *outer, struct vx_err *err);

/* The flood list: a remote VTEP, or a multicast group of them. 0 or -EINVAL, -EEXIST, -ENOENT,
 * -ENOSPC, -ENOMEM. Deleting also forgets what the segment has learned behind that VTEP. */
int vx_segment_flood_add(struct vx_tables *tables, uint32_t vni, const struct vx_ip *remote,
			 struct vx_err *err);
int vx_segment_flood_del(struct vx_tables *tables, uint32_t vni, const struct vx_ip *remote,
			 struct vx_err *err);

/* Used by vx_attach.c: publish the segment with one attachment more or less. 0 or -ENOMEM. */
int vx_segment_attach(struct vx_tables *tables, const struct vx_attach *attach, bool is_added);

/* The next segment by ascending VNI after @vni (0: the first), NULL at the end. */
const struct vx_segment *vx_segment_next(const struct vx_tables *tables, uint32_t vni);

/* Workers: the segment of a VNI as it stands in the header, or NULL. */
static inline const struct vx_segment *
vx_segment_lookup(const struct vx_tables *tables, uint32_t vni)
{
	void *data;

	if (rte_hash_lookup_data(tables->segment_hash, &vni, &data) < 0)
		return NULL;
	return __atomic_load_n(&tables->segment[(uintptr_t)data - 1], __ATOMIC_ACQUIRE);
}

#endif
