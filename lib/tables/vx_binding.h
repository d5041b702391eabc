/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bindings: (segment, IP) of a tenant to its MAC, learned from ARP and ND or entered by a command.
 *
 * The value is one 64-bit word in the hash itself. A learned binding lives as long as the FDB knows
 * its MAC: workers use it only then, and ageing deletes it afterwards.
 */
#ifndef VX_BINDING_H
#define VX_BINDING_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_hash.h>

#include "vx_err.h"
#include "vx_ip.h"
#include "vx_tables.h"

#define VX_BINDINGS_MAX		65536u /* if the tables' conf does not say */
#define VX_BINDINGS_SEGMENT_MAX 4096u  /* that one segment may learn */

/* Value: bits 0..47 the MAC as vx_fdb_load_mac() has it. Never zero for a present entry. */
#define VX_BINDING_MAC(value) ((value)&0xffffffffffffu)
#define VX_BINDING_STATIC     (UINT64_C(1) << 48)
#define VX_BINDING_ROUTER     (UINT64_C(1) << 49) /* the flags that ND answers have */
#define VX_BINDING_OVERRIDE   (UINT64_C(1) << 50)
#define VX_BINDING_PRESENT    (UINT64_C(1) << 51)

struct vx_binding_key {
	struct vx_ip ip;
	uint32_t segment;
	uint32_t zero;
};
_Static_assert(sizeof(struct vx_binding_key) == 24, "hash key without padding");

struct vx_bindings {
	struct rte_hash *hash; /* read by workers */

	/* The control thread's own. */
	uint32_t *n_learned; /* by segment index */
	uint32_t max, n;
	uint32_t age_cursor;
	uint32_t deleted; /* since readers were last waited for */
};

/* One binding as displays see it. */
struct vx_binding_entry {
	struct vx_ip ip;
	uint32_t segment; /* index */
	uint64_t value;
};

struct vx_bindings *vx_bindings_create(uint32_t max, uint32_t max_segments, struct vx_rcu *rcu);
void vx_bindings_destroy(struct vx_bindings *bindings);

enum vx_bound {
	VX_BOUND_SAME,
	VX_BOUND_NEW,
	VX_BOUND_MOVED,	   /* another MAC */
	VX_BOUND_UNKNOWN,  /* the FDB does not have the MAC: nothing would age it */
	VX_BOUND_CONFLICT, /* a static one says otherwise */
	VX_BOUND_FULL,
};

/* Control thread: what a packet said. @value without VX_BINDING_STATIC. */
enum vx_bound vx_binding_learn(struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip,
			       uint64_t value);

/* Control thread: a static one. 0 or -EINVAL, -ENOENT, -EEXIST, -ENOSPC with @err. */
int vx_binding_add(struct vx_tables *tables, uint32_t vni, const struct vx_ip *ip,
		   const struct rte_ether_addr *mac, struct vx_err *err);

/* Control thread: static or learned. 0 or -ENOENT with @err. */
int vx_binding_del(struct vx_tables *tables, uint32_t vni, const struct vx_ip *ip,
		   struct vx_err *err);

/* Delete those of a segment (an index). */
void vx_binding_flush(struct vx_tables *tables, uint32_t segment, bool with_static);

/* Delete learned ones whose MAC the FDB has forgotten; 1/@steps of the table a call. How many. */
uint32_t vx_binding_age(struct vx_tables *tables, unsigned int steps);

/* Walk; *iterator begins with 0. False at the end. */
bool vx_binding_next(const struct vx_tables *tables, uint32_t *iterator,
		     struct vx_binding_entry *entry);

/* Workers: the value, or 0. */
static inline uint64_t
vx_binding_lookup(const struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip)
{
	const struct vx_binding_key key = {.ip = *ip, .segment = segment};
	void *data;

	if (rte_hash_lookup_data(tables->bindings->hash, &key, &data) < 0)
		return 0;
	return (uint64_t)(uintptr_t)data;
}

/* Write the MAC of a value into @text (RTE_ETHER_ADDR_FMT_SIZE bytes) and return @text. */
const char *vx_binding_mac_format(uint64_t value, char *text, uint16_t size);

static inline uint64_t
vx_binding_value(uint64_t mac48, bool is_router, bool is_override)
{
	return VX_BINDING_PRESENT | mac48 | (is_router ? VX_BINDING_ROUTER : 0) |
	       (is_override ? VX_BINDING_OVERRIDE : 0);
}

#endif
