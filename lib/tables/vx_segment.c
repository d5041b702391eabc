/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_segment.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_ip6.h"
#include "vx_mdb.h"
#include "vx_rcu.h"
#include "vx_tenants.h"
#include "vx_vtep.h"
#include "vx_wire.h"

static size_t
segment_size(unsigned int targets)
{
	return sizeof(struct vx_segment) + targets * sizeof(uint32_t);
}

/* A copy that the caller may change, with room for one more target. NULL: no memory. */
static struct vx_segment *
segment_copy(const struct vx_segment *old)
{
	const unsigned int n = old->n_attaches + old->n_vteps;
	struct vx_segment *copy = rte_malloc("vx_segment", segment_size(n + 1), 0);

	if (copy != NULL)
		memcpy(copy, old, segment_size(n));
	return copy;
}

static void
segment_publish(struct vx_tables *tables, const struct vx_segment *segment)
{
	const struct vx_segment *old = tables->segment[segment->index];

	__atomic_store_n(&tables->segment[segment->index], segment, __ATOMIC_RELEASE);
	vx_mdb_segment_changed(tables, segment);
	vx_rcu_free(tables->rcu, old);
}

/* Put @target in at @position of the list, or take out what is there. */
static void
target_insert(struct vx_segment *segment, unsigned int position, uint32_t target)
{
	const unsigned int n = segment->n_attaches + segment->n_vteps;

	memmove(&segment->target[position + 1], &segment->target[position],
		(n - position) * sizeof(uint32_t));
	segment->target[position] = target;
}

static void
target_remove(struct vx_segment *segment, unsigned int position)
{
	const unsigned int n = segment->n_attaches + segment->n_vteps;

	memmove(&segment->target[position], &segment->target[position + 1],
		(n - position - 1) * sizeof(uint32_t));
}

/* The position of a VTEP in the flood list, or -1. */
static int
vtep_position(const struct vx_segment *segment, uint32_t vtep)
{
	for (unsigned int i = 0; i < segment->n_vteps; i++)
		if (segment->target[segment->n_attaches + i] == vtep)
			return (int)(segment->n_attaches + i);
	return -1;
}

const struct vx_segment *
vx_segment_find(const struct vx_tables *tables, uint32_t vni, struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_lookup(tables, vni);

	if (segment == NULL)
		vx_err_set(err, ENOENT, "there is no VNI %u: create it with vni add %u", vni, vni);
	return segment;
}

static int
conf_check(const struct vx_tables *tables, const struct vx_segment_conf *conf, struct vx_err *err)
{
	if (conf->vni == 0 || conf->vni > VX_VNI_MAX)
		return vx_err_set(err, EINVAL, "VNI %u is out of range: expected 1 to %u",
				  conf->vni, VX_VNI_MAX);
	if (conf->mtu != 0 && (conf->mtu < VX_INNER_MTU_MIN || conf->mtu > VX_INNER_MTU_MAX4))
		return vx_err_set(err, EINVAL, "MTU %u is out of range: expected %u to %zu",
				  conf->mtu, VX_INNER_MTU_MIN, VX_INNER_MTU_MAX4);
	if (!vx_ip_is_none(&conf->local)) {
		char text[VX_IP_TEXT_MAX];

		vx_ip_format(&conf->local, text, sizeof(text));
		if (vx_ip6_is_link_local(&conf->local))
			return vx_err_set(err, EINVAL,
					  "%s is a link-local address: expected a local address "
					  "that reaches further",
					  text);
		if (vx_view_find_local(tables->view, &conf->local) == NULL)
			return vx_err_set(err, EINVAL,
					  "%s is not a local address: add it first "
					  "with address add %s/LEN port P",
					  text, text);
	}
	if (vx_segment_lookup(tables, conf->vni) != NULL)
		return vx_err_set(err, EEXIST, "VNI %u exists already", conf->vni);
	return 0;
}

/* The place of the first segment with a VNI above @vni in the order. */
static uint32_t
order_after(const struct vx_tables *tables, uint32_t vni)
{
	uint32_t low = 0, high = tables->n_segments;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (tables->segment[tables->segment_order[middle]]->vni > vni)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void
order_insert(struct vx_tables *tables, const struct vx_segment *segment)
{
	const uint32_t place = order_after(tables, segment->vni);
	uint32_t *at = &tables->segment_order[place];

	memmove(at + 1, at, (tables->n_segments - place) * sizeof(*at));
	*at = segment->index;
	tables->n_segments++;
}

static void
order_remove(struct vx_tables *tables, const struct vx_segment *segment)
{
	const uint32_t place = order_after(tables, segment->vni) - 1;
	uint32_t *at = &tables->segment_order[place];

	tables->n_segments--;
	memmove(at, at + 1, (tables->n_segments - place) * sizeof(*at));
}

int
vx_segment_add(struct vx_tables *tables, const struct vx_segment_conf *conf, struct vx_err *err)
{
	struct vx_segment *segment;
	int rc = conf_check(tables, conf, err);

	if (rc < 0)
		return rc;
	segment = rte_zmalloc("vx_segment", segment_size(0), 0);
	if (segment == NULL)
		return vx_err_set(err, ENOMEM, "no memory for another segment");
	segment->index = vx_index_take_late(&tables->segment_index, tables->rcu);
	if (segment->index == VX_INDEX_NONE) {
		rte_free(segment);
		return vx_err_set(err, ENOSPC,
				  "all %u segments are in use: start with a larger "
				  "--max-vnis",
				  tables->conf.max_vnis);
	}
	segment->vni = conf->vni;
	segment->vni_be = vx_vni_to_be(conf->vni);
	segment->has_own_mtu = conf->mtu != 0;
	segment->mtu = segment->has_own_mtu ? conf->mtu : tables->conf.mtu;
	segment->is_learning = tables->conf.learning;
	segment->flood_off = tables->conf.flood_off;
	segment->max_macs = conf->max_macs;
	segment->local = conf->local;
	segment->has_local = !vx_ip_is_none(&conf->local);
	segment->has_local4 = segment->has_local && vx_ip_is_v4(&conf->local);
	segment->has_local6 = segment->has_local && !segment->has_local4;
	segment->local_be = segment->has_local4 ? vx_ip_v4(&conf->local) : 0;
	vx_tenants_segment_added(tables, segment->index);
	segment_publish(tables, segment);
	if (tables->hooks.segment_added != NULL)
		tables->hooks.segment_added(tables->hooks.ctx, segment->index);
	rc = rte_hash_add_key_data(tables->segment_hash, &segment->vni,
				   (void *)(uintptr_t)(segment->index + 1));
	if (rc != 0) {
		const uint32_t index = segment->index;

		tables->segment[index] = NULL;
		rte_free(segment);
		vx_index_give_late(&tables->segment_index, index, tables->rcu);
		return vx_err_set(err, ENOSPC, "the table of segments is full");
	}
	order_insert(tables, segment);
	return 0;
}

int
vx_segment_del(struct vx_tables *tables, uint32_t vni, struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_find(tables, vni, err);
	struct vx_fdb_filter all = {.dest = VX_DEST_NONE, .with_static = true};
	uint32_t index;

	if (segment == NULL)
		return -ENOENT;
	index = segment->index;
	if (vx_attach_del_segment(tables, index, err) < 0)
		return -ENOMEM;
	/* Another one was published; the one before may have been freed already. */
	segment = tables->segment[index];
	/* First unreachable for new packets, then its MACs, so that none is learned again. */
	order_remove(tables, segment);
	rte_hash_del_key(tables->segment_hash, &vni);
	__atomic_store_n(&tables->segment[segment->index], NULL, __ATOMIC_RELEASE);
	all.segment = segment->index;
	vx_fdb_flush(tables, &all);
	vx_tenants_segment_removed(tables, segment->index);
	for (unsigned int i = 0; i < segment->n_vteps; i++)
		vx_vtep_unref(tables, segment->target[i], VX_VTEP_FLOOD);
	vx_index_give_late(&tables->segment_index, segment->index, tables->rcu);
	vx_rcu_free(tables->rcu, segment);
	return 0;
}

/* What `set mtu`, `set learning` and `set flood` change. */
struct change {
	enum {
		CHANGE_MTU,
		CHANGE_LEARNING,
		CHANGE_FLOOD,
	} what;
	uint16_t mtu;
	bool is_on;
	enum vx_flood_kind kind;
};

/* @bits with that of the change switched off or on. */
static uint8_t
flood_off_changed(uint8_t bits, const struct change *change)
{
	const uint8_t bit = (uint8_t)(1u << change->kind);

	return (uint8_t)(change->is_on ? bits & ~bit : bits | bit);
}

static void
change_apply(struct vx_segment *segment, const struct change *change)
{
	switch (change->what) {
	case CHANGE_MTU:
		segment->mtu = change->mtu;
		break;
	case CHANGE_LEARNING:
		segment->is_learning = change->is_on;
		break;
	case CHANGE_FLOOD:
		segment->flood_off = flood_off_changed(segment->flood_off, change);
		break;
	}
}

/* Has the segment a setting of its own for this? */
static bool
has_own(const struct vx_segment *segment, const struct change *change)
{
	switch (change->what) {
	case CHANGE_MTU:
		return segment->has_own_mtu;
	case CHANGE_LEARNING:
		return segment->has_own_learning;
	case CHANGE_FLOOD:
		return (segment->own_flood >> change->kind & 1) != 0;
	}
	return false;
}

/* Change all segments that have no setting of their own: all or, without memory, none. */
static int
change_all(struct vx_tables *tables, const struct change *change)
{
	const uint32_t max = tables->conf.max_vnis;
	struct vx_segment **copy = calloc(max, sizeof(*copy));
	bool is_short = copy == NULL;

	for (uint32_t i = 0; i < max && !is_short; i++) {
		const struct vx_segment *segment = tables->segment[i];

		if (segment == NULL || has_own(segment, change))
			continue;
		copy[i] = segment_copy(segment);
		if (copy[i] == NULL)
			is_short = true;
		else
			change_apply(copy[i], change);
	}
	for (uint32_t i = 0; i < max && copy != NULL; i++) {
		if (is_short)
			rte_free(copy[i]);
		else if (copy[i] != NULL)
			segment_publish(tables, copy[i]);
	}
	free(copy);
	return is_short ? -ENOMEM : 0;
}

int
vx_segment_set_mtu(struct vx_tables *tables, uint16_t mtu, struct vx_err *err)
{
	const struct change change = {.what = CHANGE_MTU, .mtu = mtu};

	if (mtu < VX_INNER_MTU_MIN || mtu > VX_INNER_MTU_MAX4)
		return vx_err_set(err, EINVAL, "MTU %u is out of range: expected %u to %zu", mtu,
				  VX_INNER_MTU_MIN, VX_INNER_MTU_MAX4);
	if (change_all(tables, &change) < 0)
		return vx_err_set(err, ENOMEM, "no memory");
	tables->conf.mtu = mtu;
	return 0;
}

/* *copy: the segment @vni with the change, to be published. 0, or negative with @err. */
static int
change_one(struct vx_tables *tables, uint32_t vni, const struct change *change,
	   struct vx_segment **copy, struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_find(tables, vni, err);

	if (segment == NULL)
		return -ENOENT;
	*copy = segment_copy(segment);
	if (*copy == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	change_apply(*copy, change);
	return 0;
}

int
vx_segment_set_learning(struct vx_tables *tables, uint32_t vni, bool is_on, struct vx_err *err)
{
	const struct change change = {.what = CHANGE_LEARNING, .is_on = is_on};
	struct vx_segment *copy;
	int rc;

	if (vni == 0) {
		if (change_all(tables, &change) < 0)
			return vx_err_set(err, ENOMEM, "no memory");
		tables->conf.learning = is_on;
		return 0;
	}
	rc = change_one(tables, vni, &change, &copy, err);
	if (rc < 0)
		return rc;
	copy->has_own_learning = true;
	segment_publish(tables, copy);
	return 0;
}

int
vx_segment_set_flood(struct vx_tables *tables, uint32_t vni, enum vx_flood_kind kind, bool is_on,
		     struct vx_err *err)
{
	const struct change change = {.what = CHANGE_FLOOD, .is_on = is_on, .kind = kind};
	struct vx_segment *copy;
	int rc;

	if (vni == 0) {
		if (change_all(tables, &change) < 0)
			return vx_err_set(err, ENOMEM, "no memory");
		tables->conf.flood_off = flood_off_changed(tables->conf.flood_off, &change);
		return 0;
	}
	rc = change_one(tables, vni, &change, &copy, err);
	if (rc < 0)
		return rc;
	copy->own_flood = (uint8_t)(copy->own_flood | 1u << kind);
	segment_publish(tables, copy);
	return 0;
}

int
vx_segment_set_outer(struct vx_tables *tables, uint32_t vni, const struct vx_segment_outer *outer,
		     struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_find(tables, vni, err);
	struct vx_segment_outer *own;
	struct vx_segment *copy;

	if (segment == NULL)
		return -ENOENT;
	copy = segment_copy(segment);
	if (copy == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	own = &copy->own_outer;
	if (outer->has_ttl)
		own->ttl = outer->ttl;
	if (outer->has_dscp)
		own->dscp = outer->dscp;
	if (outer->has_df)
		own->df = outer->df;
	own->has_ttl |= outer->has_ttl;
	own->has_dscp |= outer->has_dscp;
	own->has_df |= outer->has_df;
	copy->has_own_outer = own->has_ttl || own->has_dscp || own->has_df;
	segment_publish(tables, copy);
	return 0;
}

int
vx_segment_flood_add(struct vx_tables *tables, uint32_t vni, const struct vx_ip *remote,
		     struct vx_err *err)
{
	const struct vx_segment *old = vx_segment_find(tables, vni, err);
	char text[VX_IP_TEXT_MAX];
	struct vx_segment *segment;
	int64_t vtep;
	int rc;

	if (old == NULL)
		return -ENOENT;
	/* What a group may be is the underlay's matter. */
	rc = vx_ip_is_multicast(remote) ? 0 : vx_vtep_check(tables, remote, err);
	if (rc < 0)
		return rc;
	vtep = vx_vtep_find(tables, remote);
	if (vtep >= 0 && vtep_position(old, (uint32_t)vtep) >= 0)
		return vx_err_set(err, EEXIST, "%s is in the flood list of VNI %u already",
				  vx_ip_format(remote, text, sizeof(text)), vni);
	vtep = vx_vtep_get(tables, remote, VX_VTEP_FLOOD);
	if (vtep < 0)
		return vx_err_set(err, (int)-vtep,
				  "no room for another remote VTEP: start with a "
				  "larger --max-vteps than %u",
				  tables->conf.max_vteps);
	segment = segment_copy(old);
	if (segment == NULL) {
		vx_vtep_unref(tables, (uint32_t)vtep, VX_VTEP_FLOOD);
		return vx_err_set(err, ENOMEM, "no memory");
	}
	target_insert(segment, segment->n_attaches + segment->n_vteps, (uint32_t)vtep);
	segment->n_vteps++;
	segment_publish(tables, segment);
	return 0;
}

int
vx_segment_flood_del(struct vx_tables *tables, uint32_t vni, const struct vx_ip *remote,
		     struct vx_err *err)
{
	const struct vx_segment *old = vx_segment_find(tables, vni, err);
	struct vx_fdb_filter learned = {.with_static = false};
	char text[VX_IP_TEXT_MAX];
	struct vx_segment *segment;
	int64_t vtep;
	int position = -1;

	if (old == NULL)
		return -ENOENT;
	vtep = vx_vtep_find(tables, remote);
	if (vtep >= 0)
		position = vtep_position(old, (uint32_t)vtep);
	if (position < 0)
		return vx_err_set(err, ENOENT, "%s is not in the flood list of VNI %u",
				  vx_ip_format(remote, text, sizeof(text)), vni);
	segment = segment_copy(old);
	if (segment == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	target_remove(segment, (unsigned int)position);
	segment->n_vteps--;
	segment_publish(tables, segment);
	learned.segment = segment->index;
	learned.dest = VX_DEST_VTEP | (uint32_t)vtep;
	vx_fdb_flush(tables, &learned);
	vx_mdb_flush_dest(tables, segment->index, learned.dest);
	vx_vtep_unref(tables, (uint32_t)vtep, VX_VTEP_FLOOD);
	return 0;
}

int
vx_segment_attach(struct vx_tables *tables, const struct vx_attach *attach, bool is_added)
{
	struct vx_segment *segment = segment_copy(tables->segment[attach->segment]);
	const bool is_tagged = attach->vlan == VX_VLAN_ALL;
	unsigned int position = 0;

	if (segment == NULL)
		return -ENOMEM;
	if (is_added) {
		position = segment->n_attaches - (is_tagged ? 0u : segment->n_tagged);
		target_insert(segment, position, attach->index);
		segment->n_attaches++;
		segment->n_tagged += is_tagged;
	} else {
		while (segment->target[position] != attach->index)
			position++;
		target_remove(segment, position);
		segment->n_attaches--;
		segment->n_tagged -= is_tagged;
	}
	segment_publish(tables, segment);
	return 0;
}

const struct vx_segment *
vx_segment_next(const struct vx_tables *tables, uint32_t vni)
{
	const uint32_t place = order_after(tables, vni);

	return place == tables->n_segments ? NULL : tables->segment[tables->segment_order[place]];
}
