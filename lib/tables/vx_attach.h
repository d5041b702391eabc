/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attachments: which frames of which access port belong to which segment. A port has either one
 * attachment for all its frames, or any number of others: one for its untagged frames, one for each
 * VLAN.
 */
#ifndef VX_ATTACH_H
#define VX_ATTACH_H

#include <stdint.h>

#include "vx_err.h"
#include "vx_tables.h"

#define VX_VLAN_UNTAGGED 0u
#define VX_VLAN_MAX	 4094u
#define VX_VLAN_ALL	 4096u /* every frame of the port, with the tags that it has */
#define VX_VLANS	 4096u

/* Immutable once published. */
struct vx_attach {
	uint32_t index;
	uint32_t segment; /* index */
	uint32_t vni;
	uint16_t port;
	uint16_t vlan; /* VX_VLAN_UNTAGGED, 1..VX_VLAN_MAX, or VX_VLAN_ALL */
};

/* The attachments of one port's VLANs. Each element is a word of its own, published by itself. */
struct vx_vlans {
	uint32_t attach[VX_VLANS]; /* index, or VX_ATTACH_NONE */
	uint32_t n;		   /* the control thread's own: how many are not NONE */
};

/*
 * Control thread. Attach the frames of @port with @vlan (VX_VLAN_*) to the segment @vni.
 * 0 or -EINVAL (not an access port, no such VLAN), -EEXIST (they belong to a segment already),
 * -ENOENT (no such VNI), -ENOSPC, -ENOMEM.
 */
int vx_attach_add_vlan(struct vx_tables *tables, uint16_t port, uint16_t vlan, uint32_t vni,
		       struct vx_err *err);

/* Undo it and forget every MAC behind it. 0, -ENOENT or -ENOMEM. */
int vx_attach_del_vlan(struct vx_tables *tables, uint16_t port, uint16_t vlan, struct vx_err *err);

/* Remove all attachments of a port, or of a segment (an index), and forget the MACs behind them. 0,
 * or -ENOMEM with some of them left. */
int vx_attach_del_port(struct vx_tables *tables, uint16_t port, struct vx_err *err);
int vx_attach_del_segment(struct vx_tables *tables, uint32_t segment, struct vx_err *err);

/* The attachment, or NULL with the reason in @err (may be NULL). */
const struct vx_attach *vx_attach_find_vlan(const struct vx_tables *tables, uint16_t port,
					    uint16_t vlan, struct vx_err *err);

/* The same for a port's untagged frames. */
static inline int
vx_attach_add(struct vx_tables *tables, uint16_t port, uint32_t vni, struct vx_err *err)
{
	return vx_attach_add_vlan(tables, port, VX_VLAN_UNTAGGED, vni, err);
}

static inline int
vx_attach_del(struct vx_tables *tables, uint16_t port, struct vx_err *err)
{
	return vx_attach_del_vlan(tables, port, VX_VLAN_UNTAGGED, err);
}

static inline const struct vx_attach *
vx_attach_find(const struct vx_tables *tables, uint16_t port, struct vx_err *err)
{
	return vx_attach_find_vlan(tables, port, VX_VLAN_UNTAGGED, err);
}

/* Workers: the attachment of an index, NULL where it has just been removed. */
static inline const struct vx_attach *
vx_attach_at(const struct vx_tables *tables, uint32_t index)
{
	return __atomic_load_n(&tables->attach[index], __ATOMIC_ACQUIRE);
}

/* Workers: the index for a frame that came with the VLAN id @vlan, 0..4095 (0: none, or a priority
 * tag), or VX_ATTACH_NONE. */
static inline uint32_t
vx_attach_of_vlan(const struct vx_view_port *port, uint16_t vlan)
{
	if (vlan == VX_VLAN_UNTAGGED || port->carries_tags)
		return port->untagged;
	if (port->vlans == NULL)
		return VX_ATTACH_NONE;
	return __atomic_load_n(&port->vlans->attach[vlan], __ATOMIC_ACQUIRE);
}

#endif
