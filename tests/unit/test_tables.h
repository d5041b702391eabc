/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of lib/tables share: tables whose hooks keep books. */
#ifndef TEST_TABLES_H
#define TEST_TABLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_malloc.h>

#include "eal_fixture.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_tables.h"
#include "vx_vtep.h"
#include "vx_vtep_refs.h"

#define N_ACCESS 8 /* ports 1..8 are access ports, port 0 is the underlay's */

struct shelf {
	struct vx_tables *tables;
	struct vx_err err;
	unsigned int n_added, n_removed, n_segments;
	uint32_t last_index;
	struct vx_ip last_remote;
};

static inline void
on_added(void *ctx, uint32_t index, const struct vx_ip *remote)
{
	struct shelf *s = ctx;

	s->n_added++;
	s->last_index = index;
	s->last_remote = *remote;
}

static inline void
on_removed(void *ctx, uint32_t index, const struct vx_ip *remote)
{
	struct shelf *s = ctx;

	s->n_removed++;
	s->last_index = index;
	s->last_remote = *remote;
}

static inline void
on_segment(void *ctx, uint32_t index)
{
	struct shelf *s = ctx;

	s->n_segments++;
	s->last_index = index;
}

static inline struct vx_ip
ip(const char *text)
{
	struct vx_ip address;

	assert_int_equal(vx_ip_parse(text, &address), 0);
	return address;
}

static inline struct vx_tables_conf
shelf_conf(void)
{
	return (struct vx_tables_conf){
		.max_vnis = 8,
		.max_macs = 64,
		.max_vteps = 8,
		.max_attaches = 6,
		.max_readers = 2,
		.mtu = 1500,
		.learning = true,
		.ageing = 300,
	};
}

/* Tables with a local address 192.0.2.1/24 on port 0 and access ports behind it. */
static inline struct shelf *
shelf_open(const struct vx_tables_conf *conf)
{
	struct shelf *s = calloc(1, sizeof(*s));
	const struct vx_tables_hooks hooks = {
		.ctx = s,
		.vtep_added = on_added,
		.vtep_removed = on_removed,
		.segment_added = on_segment,
	};
	struct vx_view *view;

	assert_non_null(s);
	s->tables = vx_tables_create(conf, &hooks);
	assert_non_null(s->tables);
	view = vx_view_edit(s->tables);
	assert_non_null(view);
	view->n_locals = 1;
	view->local[0].ip = ip("192.0.2.1");
	view->local[0].prefix_len = 24;
	view->port[0].role = VX_ROLE_UNDERLAY;
	for (unsigned int i = 1; i <= N_ACCESS; i++)
		view->port[i].role = VX_ROLE_ACCESS;
	vx_view_publish(s->tables, view);
	return s;
}

static inline void
shelf_close(struct shelf *s)
{
	vx_tables_destroy(s->tables);
	free(s);
}

static inline int
shelf_setup(void **state)
{
	const struct vx_tables_conf conf = shelf_conf();

	if (vx_test_eal() < 0)
		return -1;
	*state = shelf_open(&conf);
	return 0;
}

static inline int
shelf_teardown(void **state)
{
	shelf_close(*state);
	return 0;
}

static inline uint32_t
add_vni(struct shelf *s, uint32_t vni)
{
	const struct vx_segment_conf conf = {.vni = vni};

	assert_int_equal(vx_segment_add(s->tables, &conf, &s->err), 0);
	return vx_segment_find(s->tables, vni, NULL)->index;
}

/* The MAC 02:00:n: a host's address. */
static inline uint64_t
mac48(uint32_t n)
{
	return (uint64_t)n << 16 | 2;
}

/* Learn @mac behind @remote, as the control thread does it. */
static inline int
learn_behind(struct shelf *s, uint64_t key, const char *remote, bool *moved)
{
	const struct vx_ip address = ip(remote);
	const int64_t vtep = vx_vtep_get(s->tables, &address, VX_VTEP_LEARNED);
	int rc;

	assert_true(vtep >= 0);
	rc = vx_fdb_set(s->tables, key, VX_DEST_VTEP | (uint32_t)vtep, false, moved);
	vx_vtep_unref(s->tables, (uint32_t)vtep, VX_VTEP_LEARNED);
	return rc;
}

/* Entries seen by walking. */
static inline uint32_t
walk(const struct vx_fdb *fdb)
{
	struct vx_fdb_entry entry;
	uint32_t n = 0;

	for (uint32_t slot = 0; vx_fdb_next(fdb, slot, &entry); slot = entry.slot + 1)
		n++;
	return n;
}

#endif
