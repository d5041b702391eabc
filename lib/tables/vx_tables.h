/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables that the packet path looks things up in, and who may touch them: the control thread
 * writes, workers read. Everything a worker reaches is immutable once published, or one aligned
 * word; what is replaced is freed after a grace period (vx_rcu.h).
 */
#ifndef VX_TABLES_H
#define VX_TABLES_H

#include <stdint.h>

#include "vx_count.h"
#include "vx_index.h"
#include "vx_view.h"

struct rte_hash;
struct vx_attach;
struct vx_bindings;
struct vx_fdb;
struct vx_mdb;
struct vx_rcu;
struct vx_segment;
struct vx_tenants;
struct vx_vtep;
struct vx_vtep_refs;

struct vx_tables_conf {
	uint32_t max_vnis, max_macs, max_vteps, max_attaches;
	uint32_t max_bindings; /* of tenants' IP addresses, 0: VX_BINDINGS_MAX */

	uint32_t max_readers; /* workers */
	uint16_t mtu;	      /* inner MTU of segments without their own */
	bool learning;
	uint8_t flood_off; /* bit by enum vx_flood_kind, of segments without their own */
	uint32_t ageing;   /* seconds, 0 = never */
};

/* What the tables tell their owner; called by the control thread inside a table operation. */
struct vx_tables_hooks {
	void *ctx;
	void (*vtep_added)(void *ctx, uint32_t index, const struct vx_ip *remote);
	void (*vtep_removed)(void *ctx, uint32_t index, const struct vx_ip *remote);
	void (*segment_added)(void *ctx, uint32_t index);
	void (*attach_added)(void *ctx, uint32_t index);
};

struct vx_tables {
	/* Read by workers. The arrays are fixed, their elements published with release stores. */
	const struct vx_view *view;
	const struct vx_segment **segment; /* by segment index */
	const struct vx_attach **attach;   /* by attachment index */
	const struct vx_vtep **vtep;	   /* by VTEP index */
	struct rte_hash *segment_hash;	   /* 32-bit VNI -> segment index + 1 */
	struct rte_hash *vtep_hash;	   /* struct vx_ip -> VTEP index + 1 */
	struct vx_fdb *fdb;
	struct vx_bindings *bindings;
	struct vx_tenants *tenants;
	struct vx_mdb *mdb;
	struct vx_rcu *rcu;

	/* The control thread's own. */
	struct vx_tables_conf conf;
	struct vx_tables_hooks hooks;
	struct vx_index segment_index, attach_index, vtep_index;
	uint32_t *segment_order; /* the indices of all segments, by ascending VNI */
	uint32_t n_segments;
	struct vx_vtep_refs *vtep_refs;
};

/* All sizes at least 1. NULL with rte_errno. The view starts empty: no port, no address. */
struct vx_tables *vx_tables_create(const struct vx_tables_conf *conf,
				   const struct vx_tables_hooks *hooks);

/* Workers must be offline. NULL is allowed. */
void vx_tables_destroy(struct vx_tables *tables);

/* A hash in the form that all tables use: lock-free readers, one writer, data = one word. */
struct rte_hash *vx_tables_hash(const char *name, struct vx_rcu *rcu, uint32_t entries,
				uint32_t key_size, bool with_crc8);

#endif
