/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "vx_fdb.h"
#include "vx_rcu.h"
#include "vx_segment.h"

/* " vlan 10", " vlan all", or nothing: as commands have it. */
#define VLAN_TEXT_MAX 16

static const char *
vlan_text(uint16_t vlan, char *text)
{
	text[0] = '\0';
	if (vlan == VX_VLAN_ALL)
		snprintf(text, VLAN_TEXT_MAX, " vlan all");
	else if (vlan != VX_VLAN_UNTAGGED)
		snprintf(text, VLAN_TEXT_MAX, " vlan %u", vlan);
	return text;
}

/* The attachment with exactly this VLAN, or NULL. */
static const struct vx_attach *
find(const struct vx_tables *tables, uint16_t port, uint16_t vlan)
{
	const struct vx_view_port *view = &tables->view->port[port];
	uint32_t index = view->untagged;

	if (vlan != VX_VLAN_UNTAGGED && vlan != VX_VLAN_ALL)
		index = view->vlans == NULL ? VX_ATTACH_NONE : view->vlans->attach[vlan];
	else if (view->carries_tags != (vlan == VX_VLAN_ALL))
		index = VX_ATTACH_NONE;
	return index == VX_ATTACH_NONE ? NULL : tables->attach[index];
}

const struct vx_attach *
vx_attach_find_vlan(const struct vx_tables *tables, uint16_t port, uint16_t vlan,
		    struct vx_err *err)
{
	const struct vx_attach *attach = find(tables, port, vlan);

	if (attach != NULL)
		return attach;
	if (vlan == VX_VLAN_UNTAGGED)
		vx_err_set(err, ENOENT, "port %u has no attachment for untagged frames", port);
	else if (vlan == VX_VLAN_ALL)
		vx_err_set(err, ENOENT, "port %u has no attachment with vlan all", port);
	else
		vx_err_set(err, ENOENT, "port %u has no attachment for VLAN %u", port, vlan);
	return NULL;
}

/* Tell workers which attachment the port's untagged frames, or all its frames, have now. */
static int
view_set_untagged(struct vx_tables *tables, uint16_t port, uint32_t attach, bool carries_tags)
{
	struct vx_view *view = vx_view_edit(tables);

	if (view == NULL)
		return -ENOMEM;
	view->port[port].untagged = attach;
	view->port[port].carries_tags = carries_tags;
	vx_view_publish(tables, view);
	return 0;
}

static int
view_set_vlans(struct vx_tables *tables, uint16_t port, struct vx_vlans *vlans)
{
	struct vx_view *view = vx_view_edit(tables);

	if (view == NULL)
		return -ENOMEM;
	view->port[port].vlans = vlans;
	vx_view_publish(tables, view);
	return 0;
}

/* Its first VLAN gives a port its table. */
static int
set_first_vlan(struct vx_tables *tables, uint16_t port, uint16_t vlan, uint32_t attach)
{
	struct vx_vlans *vlans = rte_malloc("vx_vlans", sizeof(*vlans), RTE_CACHE_LINE_SIZE);

	if (vlans == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < VX_VLANS; i++)
		vlans->attach[i] = VX_ATTACH_NONE;
	vlans->attach[vlan] = attach;
	vlans->n = 1;
	if (view_set_vlans(tables, port, vlans) < 0) {
		rte_free(vlans);
		return -ENOMEM;
	}
	return 0;
}

/* Show workers the attachment. 0 or -ENOMEM. */
static int
show(struct vx_tables *tables, const struct vx_attach *attach)
{
	struct vx_vlans *vlans = tables->view->port[attach->port].vlans;

	if (attach->vlan == VX_VLAN_UNTAGGED || attach->vlan == VX_VLAN_ALL)
		return view_set_untagged(tables, attach->port, attach->index,
					 attach->vlan == VX_VLAN_ALL);
	if (vlans == NULL)
		return set_first_vlan(tables, attach->port, attach->vlan, attach->index);
	__atomic_store_n(&vlans->attach[attach->vlan], attach->index, __ATOMIC_RELEASE);
	vlans->n++;
	return 0;
}

/* Undo show(). 0 or -ENOMEM. */
static int
hide(struct vx_tables *tables, const struct vx_attach *attach)
{
	struct vx_vlans *vlans = tables->view->port[attach->port].vlans;

	if (attach->vlan == VX_VLAN_UNTAGGED || attach->vlan == VX_VLAN_ALL)
		return view_set_untagged(tables, attach->port, VX_ATTACH_NONE, false);
	__atomic_store_n(&vlans->attach[attach->vlan], VX_ATTACH_NONE, __ATOMIC_RELEASE);
	/* Without memory for another view the empty table stays, for the next VLAN. */
	if (--vlans->n == 0 && view_set_vlans(tables, attach->port, NULL) == 0)
		vx_rcu_free(tables->rcu, vlans);
	return 0;
}

/* Why the port's frames with @vlan are not to be had. */
static int
refuse(const struct vx_attach *present, uint16_t vlan, uint32_t vni, struct vx_err *err)
{
	char text[VLAN_TEXT_MAX];
	const uint16_t port = present->port;

	vlan_text(present->vlan, text);
	if (present->vlan == vlan && present->vni == vni)
		return vx_err_set(err, EEXIST, "port %u%s is attached to VNI %u already", port,
				  text, vni);
	if (present->vlan == VX_VLAN_ALL)
		return vx_err_set(err, EEXIST,
				  "all frames of port %u belong to VNI %u: remove that first with "
				  "access del %u vlan all",
				  port, present->vni, port);
	if (vlan == VX_VLAN_ALL)
		return vx_err_set(err, EEXIST,
				  "vlan all takes all frames of port %u, but some belong to "
				  "VNI %u: remove that first with access del %u%s",
				  port, present->vni, port, text);
	if (vlan == VX_VLAN_UNTAGGED)
		return vx_err_set(err, EEXIST,
				  "the untagged frames of port %u belong to VNI %u: remove that "
				  "first with access del %u",
				  port, present->vni, port);
	return vx_err_set(err, EEXIST,
			  "VLAN %u of port %u belongs to VNI %u: remove that first with "
			  "access del %u%s",
			  vlan, port, present->vni, port, text);
}

/* The attachment that excludes a new one for @vlan, or NULL. */
static const struct vx_attach *
find_conflict(const struct vx_tables *tables, uint16_t port, uint16_t vlan)
{
	const struct vx_attach *present = find(tables, port, VX_VLAN_ALL);

	if (present != NULL || vlan != VX_VLAN_ALL)
		return present != NULL ? present : find(tables, port, vlan);
	for (uint16_t other = 0; other <= VX_VLAN_MAX && present == NULL; other++)
		present = find(tables, port, other);
	return present;
}

static int
check(const struct vx_tables *tables, uint16_t port, uint16_t vlan, uint32_t vni,
      struct vx_err *err)
{
	const struct vx_attach *present;

	if (vlan > VX_VLAN_MAX && vlan != VX_VLAN_ALL)
		return vx_err_set(err, EINVAL, "VLAN %u is out of range: expected 1 to %u", vlan,
				  VX_VLAN_MAX);
	if (tables->view->port[port].role != VX_ROLE_ACCESS)
		return vx_err_set(err, EINVAL,
				  "port %u is not an access port: see show port info all", port);
	present = find_conflict(tables, port, vlan);
	return present == NULL ? 0 : refuse(present, vlan, vni, err);
}

/* Into the segment's list, and visible. 0 or -ENOMEM with nothing changed. */
static int
enter(struct vx_tables *tables, const struct vx_attach *attach)
{
	__atomic_store_n(&tables->attach[attach->index], attach, __ATOMIC_RELEASE);
	if (vx_segment_attach(tables, attach, true) < 0)
		goto err_forget;
	if (show(tables, attach) < 0)
		goto err_detach;
	return 0;

err_detach:
	vx_segment_attach(tables, attach, false);
err_forget:
	tables->attach[attach->index] = NULL;
	vx_rcu_synchronize(tables->rcu);
	return -ENOMEM;
}

int
vx_attach_add_vlan(struct vx_tables *tables, uint16_t port, uint16_t vlan, uint32_t vni,
		   struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_find(tables, vni, err);
	struct vx_attach *attach;
	int rc;

	if (segment == NULL)
		return -ENOENT;
	rc = check(tables, port, vlan, vni, err);
	if (rc < 0)
		return rc;
	attach = rte_zmalloc("vx_attach", sizeof(*attach), 0);
	if (attach == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	attach->index = vx_index_take_late(&tables->attach_index, tables->rcu);
	if (attach->index == VX_INDEX_NONE) {
		rte_free(attach);
		return vx_err_set(err, ENOSPC, "all %u attachments are in use",
				  tables->conf.max_attaches);
	}
	attach->port = port;
	attach->vlan = vlan;
	attach->segment = segment->index;
	attach->vni = vni;
	if (tables->hooks.attach_added != NULL)
		tables->hooks.attach_added(tables->hooks.ctx, attach->index);
	if (enter(tables, attach) < 0) {
		vx_index_give_late(&tables->attach_index, attach->index, tables->rcu);
		rte_free(attach);
		return vx_err_set(err, ENOMEM, "no memory");
	}
	return 0;
}

/* Gone at once for workers: they treat a destination without attachment as unknown. Whoever calls
 * this gives the index back when no FDB entry names it any more. 0 or -ENOMEM, nothing changed. */
static int
take_out(struct vx_tables *tables, const struct vx_attach *attach, struct vx_err *err)
{
	if (vx_segment_attach(tables, attach, false) < 0)
		return vx_err_set(err, ENOMEM, "no memory");
	if (hide(tables, attach) < 0) {
		vx_segment_attach(tables, attach, true);
		return vx_err_set(err, ENOMEM, "no memory");
	}
	__atomic_store_n(&tables->attach[attach->index], NULL, __ATOMIC_RELEASE);
	return 0;
}

static void
give_back(struct vx_tables *tables, const struct vx_attach *attach)
{
	vx_index_give_late(&tables->attach_index, attach->index, tables->rcu);
	vx_rcu_free(tables->rcu, attach);
}

int
vx_attach_del_vlan(struct vx_tables *tables, uint16_t port, uint16_t vlan, struct vx_err *err)
{
	const struct vx_attach *attach = vx_attach_find_vlan(tables, port, vlan, err);
	struct vx_fdb_filter behind = {.segment = VX_INDEX_NONE, .with_static = true};

	if (attach == NULL)
		return -ENOENT;
	if (take_out(tables, attach, err) < 0)
		return -ENOMEM;
	behind.dest = attach->index;
	vx_fdb_flush(tables, &behind);
	give_back(tables, attach);
	return 0;
}

/* Entries that point to an attachment which is not there any more: one walk for many of them. */
static void
forget_orphans(struct vx_tables *tables)
{
	struct vx_fdb_entry entry;

	for (uint32_t slot = 0; vx_fdb_next(tables->fdb, slot, &entry); slot = entry.slot + 1)
		if ((entry.dest & VX_DEST_VTEP) == 0 && tables->attach[entry.dest] == NULL)
			vx_fdb_del(tables, vx_fdb_key_of(entry.segment, &entry.mac));
}

/* Those of one port or of one segment. */
static int
del_some(struct vx_tables *tables, bool by_port, uint32_t which, struct vx_err *err)
{
	const uint32_t max = tables->conf.max_attaches;
	const struct vx_attach **gone = calloc(max, sizeof(*gone));
	uint32_t n = 0;
	int rc = 0;

	if (gone == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	for (uint32_t i = 0; i < max && rc == 0; i++) {
		const struct vx_attach *attach = tables->attach[i];

		if (attach == NULL || (by_port ? attach->port : attach->segment) != which)
			continue;
		rc = take_out(tables, attach, err);
		if (rc == 0)
			gone[n++] = attach;
	}
	if (n > 0)
		forget_orphans(tables);
	for (uint32_t i = 0; i < n; i++)
		give_back(tables, gone[i]);
	free(gone);
	return rc;
}

int
vx_attach_del_port(struct vx_tables *tables, uint16_t port, struct vx_err *err)
{
	return del_some(tables, true, port, err);
}

int
vx_attach_del_segment(struct vx_tables *tables, uint32_t segment, struct vx_err *err)
{
	return del_some(tables, false, segment, err);
}
