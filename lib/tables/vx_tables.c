/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_tables.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "vx_attach.h"
#include "vx_binding.h"
#include "vx_fdb.h"
#include "vx_mdb.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_tenants.h"
#include "vx_vtep.h"
#include "vx_vtep_refs.h"

/* Deletions that may wait for readers before a new key has to. */
#define HASH_DEFER_MAX 65536u

static uint32_t
hash_crc8(const void *key, uint32_t length, uint32_t initial)
{
	RTE_SET_USED(length);
	return rte_hash_crc_8byte(*(const uint64_t *)key, initial);
}

struct rte_hash *
vx_tables_hash(const char *name, struct vx_rcu *rcu, uint32_t entries, uint32_t key_size,
	       bool with_crc8)
{
	char unique[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters params = {
		.name = unique,
		/* A cuckoo table gives up before it is full: leave room so that max entries fit. */
		.entries = RTE_MAX(64u, entries + entries / 4),
		.key_len = key_size,
		.hash_func = with_crc8 ? hash_crc8 : rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF,
	};
	struct rte_hash_rcu_config rcu_config = {
		.v = vx_rcu_qsbr(rcu),
		.mode = RTE_HASH_QSBR_MODE_DQ,
		.dq_size = RTE_MIN(params.entries, HASH_DEFER_MAX),
	};
	struct rte_hash *hash;

	/* The name is global in DPDK; several instances may live in one process (tests). */
	snprintf(unique, sizeof(unique), "%s_%p", name, (void *)rcu);
	hash = rte_hash_create(&params);
	if (hash == NULL)
		return NULL;
	if (rte_hash_rcu_qsbr_add(hash, &rcu_config) != 0) {
		rte_hash_free(hash);
		return NULL;
	}
	return hash;
}

struct vx_view *
vx_view_edit(const struct vx_tables *tables)
{
	struct vx_view *copy = rte_malloc("vx_view", sizeof(*copy), RTE_CACHE_LINE_SIZE);

	if (copy == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	*copy = *tables->view;
	return copy;
}

void
vx_view_publish(struct vx_tables *tables, struct vx_view *view)
{
	const struct vx_view *old = tables->view;

	__atomic_store_n(&tables->view, view, __ATOMIC_RELEASE);
	vx_rcu_free(tables->rcu, old);
}

void
vx_view_set_reassembly_ms(struct vx_view *view, uint32_t ms)
{
	view->reassembly_ms = ms;
	view->reassembly_cycles = rte_get_tsc_hz() / 1000 * ms;
}

static struct vx_view *
view_create(void)
{
	struct vx_view *view = rte_zmalloc("vx_view", sizeof(*view), RTE_CACHE_LINE_SIZE);

	if (view == NULL)
		return NULL;
	view->udp_port_be = RTE_BE16(VX_UDP_PORT);
	view->oversize = VX_OVERSIZE_OUTER;
	view->df = VX_DF_OFF;
	view->ttl = VX_TTL_DEFAULT;
	view->ecn_mask = VX_ECN_MASK;
	view->is_reassembling = true;
	view->reassembly_max = 4096;
	vx_view_set_reassembly_ms(view, 200);
	view->udp_checksum = VX_UDP_CHECKSUM_AUTO;
	view->source_port_lo = 49152;
	view->source_ports = 65536 - 49152;
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		view->port[i].untagged = VX_ATTACH_NONE;
	return view;
}

static int
arrays_create(struct vx_tables *tables)
{
	const struct vx_tables_conf *conf = &tables->conf;

	tables->segment = rte_calloc("vx_segments", conf->max_vnis, sizeof(void *), 0);
	tables->segment_order = calloc(conf->max_vnis, sizeof(*tables->segment_order));
	tables->attach = rte_calloc("vx_attaches", conf->max_attaches, sizeof(void *), 0);
	tables->vtep = rte_calloc("vx_vteps", conf->max_vteps, sizeof(void *), 0);
	tables->vtep_refs =
		rte_calloc("vx_vtep_refs", conf->max_vteps, sizeof(*tables->vtep_refs), 0);
	if (tables->segment == NULL || tables->segment_order == NULL || tables->attach == NULL ||
	    tables->vtep == NULL || tables->vtep_refs == NULL)
		return -ENOMEM;
	if (vx_index_init(&tables->segment_index, conf->max_vnis) < 0 ||
	    vx_index_init(&tables->attach_index, conf->max_attaches) < 0 ||
	    vx_index_init(&tables->vtep_index, conf->max_vteps) < 0)
		return -ENOMEM;
	return 0;
}

struct vx_tables *
vx_tables_create(const struct vx_tables_conf *conf, const struct vx_tables_hooks *hooks)
{
	struct vx_tables *tables;

	tables = rte_zmalloc("vx_tables", sizeof(*tables), RTE_CACHE_LINE_SIZE);
	if (tables == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	tables->conf = *conf;
	tables->hooks = *hooks;
	tables->rcu = vx_rcu_create(conf->max_readers);
	if (tables->rcu == NULL)
		goto err_destroy;
	tables->view = view_create();
	if (tables->view == NULL || arrays_create(tables) < 0)
		goto err_destroy;
	tables->segment_hash =
		vx_tables_hash("vni", tables->rcu, conf->max_vnis, sizeof(uint32_t), false);
	tables->vtep_hash =
		vx_tables_hash("vtep", tables->rcu, conf->max_vteps, sizeof(struct vx_ip), false);
	if (tables->segment_hash == NULL || tables->vtep_hash == NULL)
		goto err_destroy;
	tables->fdb = vx_fdb_create(conf->max_macs, conf->max_vnis, tables->rcu);
	if (tables->fdb == NULL)
		goto err_destroy;
	tables->bindings =
		vx_bindings_create(conf->max_bindings != 0 ? conf->max_bindings : VX_BINDINGS_MAX,
				   conf->max_vnis, tables->rcu);
	tables->tenants = vx_tenants_create(conf->max_vnis);
	tables->mdb = vx_mdb_create(conf->max_vnis, tables->rcu);
	if (tables->bindings == NULL || tables->tenants == NULL || tables->mdb == NULL)
		goto err_destroy;
	return tables;

err_destroy:
	vx_tables_destroy(tables);
	rte_errno = ENOMEM;
	return NULL;
}

void
vx_tables_destroy(struct vx_tables *tables)
{
	if (tables == NULL)
		return;
	if (tables->rcu != NULL)
		vx_rcu_synchronize(tables->rcu);
	vx_mdb_destroy(tables->mdb);
	vx_tenants_destroy(tables->tenants);
	vx_bindings_destroy(tables->bindings);
	vx_fdb_destroy(tables->fdb);
	rte_hash_free(tables->vtep_hash);
	rte_hash_free(tables->segment_hash);
	for (uint32_t i = 0; tables->vtep != NULL && i < tables->conf.max_vteps; i++)
		rte_free(VX_UNCONST(tables->vtep[i]));
	for (uint32_t i = 0; tables->attach != NULL && i < tables->conf.max_attaches; i++)
		rte_free(VX_UNCONST(tables->attach[i]));
	for (uint32_t i = 0; tables->segment != NULL && i < tables->conf.max_vnis; i++)
		rte_free(VX_UNCONST(tables->segment[i]));
	vx_index_fini(&tables->vtep_index);
	vx_index_fini(&tables->attach_index);
	vx_index_fini(&tables->segment_index);
	rte_free(tables->vtep_refs);
	rte_free(tables->vtep);
	rte_free(tables->attach);
	free(tables->segment_order);
	rte_free(tables->segment);
	for (unsigned int i = 0; tables->view != NULL && i < RTE_MAX_ETHPORTS; i++)
		rte_free(tables->view->port[i].vlans);
	rte_free(VX_UNCONST(tables->view));
	vx_rcu_destroy(tables->rcu);
	rte_free(tables);
}
