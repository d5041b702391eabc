/* SPDX-License-Identifier: BSD-3-Clause */
/* Attachments: which frames of which access port belong to which segment. */
#ifndef VX_ATTACH_H
#define VX_ATTACH_H

#include <stdint.h>

#include "vx_err.h"
#include "vx_tables.h"

#define VX_VLAN_UNTAGGED 0u

/* Immutable once published. */
struct vx_attach {
	uint32_t index;
	uint32_t segment; /* index */
	uint32_t vni;
	uint16_t port;
	uint16_t vlan; /* VX_VLAN_UNTAGGED */
};

/*
 * Control thread. Attach the untagged frames of @port to the segment @vni.
 * 0 or -EINVAL (not an access port), -EEXIST, -ENOENT (no such VNI), -ENOSPC, -ENOMEM.
 */
int vx_attach_add(struct vx_tables *tables, uint16_t port, uint32_t vni, struct vx_err *err);

/* Undo it and forget every MAC behind it. 0 or -ENOENT. */
int vx_attach_del(struct vx_tables *tables, uint16_t port, struct vx_err *err);

/* The attachment of a port's untagged frames, or NULL with the reason in @err (may be NULL). */
const struct vx_attach *vx_attach_find(const struct vx_tables *tables, uint16_t port,
				       struct vx_err *err);

/* Workers: the attachment of an index, NULL where it has just been removed. */
static inline const struct vx_attach *
vx_attach_at(const struct vx_tables *tables, uint32_t index)
{
	return __atomic_load_n(&tables->attach[index], __ATOMIC_ACQUIRE);
}

#endif
