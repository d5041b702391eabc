/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_tenants.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "vx_binding.h"
#include "vx_mdb.h"
#include "vx_segment.h"

struct vx_tenants *
vx_tenants_create(uint32_t max_segments)
{
	struct vx_tenants *tenants = calloc(1, sizeof(*tenants));

	if (tenants == NULL)
		return NULL;
	tenants->watch = rte_calloc("vx_watch", max_segments, 1, RTE_CACHE_LINE_SIZE);
	tenants->own = calloc(max_segments, 1);
	if (tenants->watch == NULL || tenants->own == NULL) {
		vx_tenants_destroy(tenants);
		return NULL;
	}
	return tenants;
}

void
vx_tenants_destroy(struct vx_tenants *tenants)
{
	if (tenants == NULL)
		return;
	rte_free(tenants->watch);
	free(tenants->own);
	free(tenants);
}

static void
store(struct vx_tables *tables, uint32_t segment, enum vx_watch what, bool is_on)
{
	uint8_t *watch = &tables->tenants->watch[segment];
	const uint8_t bits = (uint8_t)(is_on ? *watch | what : *watch & ~what);

	if (bits == *watch)
		return;
	__atomic_store_n(watch, bits, __ATOMIC_RELAXED);
	/* Changes are not seen from here on, so what is known would go stale. */
	if (what == VX_WATCH_SUPPRESS && !is_on)
		vx_binding_flush(tables, segment, false);
	if (what == VX_WATCH_SNOOP && !is_on)
		vx_mdb_flush(tables, segment);
}

int
vx_watch_set(struct vx_tables *tables, uint32_t vni, enum vx_watch what, bool is_on,
	     struct vx_err *err)
{
	struct vx_tenants *tenants = tables->tenants;
	const struct vx_segment *segment;

	if (vni != 0) {
		segment = vx_segment_find(tables, vni, err);
		if (segment == NULL)
			return -ENOENT;
		tenants->own[segment->index] |= (uint8_t)what;
		store(tables, segment->index, what, is_on);
		return 0;
	}
	tenants->by_default =
		(uint8_t)(is_on ? tenants->by_default | what : tenants->by_default & ~what);
	for (uint32_t i = 0; i < tables->conf.max_vnis; i++)
		if (tables->segment[i] != NULL && (tenants->own[i] & what) == 0)
			store(tables, i, what, is_on);
	return 0;
}

void
vx_tenants_segment_added(struct vx_tables *tables, uint32_t segment)
{
	struct vx_tenants *tenants = tables->tenants;

	tenants->own[segment] = 0;
	__atomic_store_n(&tenants->watch[segment], tenants->by_default, __ATOMIC_RELAXED);
}

void
vx_tenants_segment_removed(struct vx_tables *tables, uint32_t segment)
{
	__atomic_store_n(&tables->tenants->watch[segment], 0, __ATOMIC_RELAXED);
	vx_binding_flush(tables, segment, true);
	vx_mdb_flush(tables, segment);
}
