/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_attach.h"

#include <errno.h>

#include <rte_malloc.h>

#include "vx_fdb.h"
#include "vx_rcu.h"
#include "vx_segment.h"

const struct vx_attach *
vx_attach_find(const struct vx_tables *tables, uint16_t port, struct vx_err *err)
{
	const uint32_t index = tables->view->port[port].untagged;

	if (index == VX_ATTACH_NONE) {
		vx_err_set(err, ENOENT, "port %u has no attachment for untagged frames", port);
		return NULL;
	}
	return tables->attach[index];
}

/* Tell workers which attachment the port's untagged frames have now. */
static int
view_set_untagged(struct vx_tables *tables, uint16_t port, uint32_t attach)
{
	struct vx_view *view = vx_view_edit(tables);

	if (view == NULL)
		return -ENOMEM;
	view->port[port].untagged = attach;
	vx_view_publish(tables, view);
	return 0;
}

static int
check(const struct vx_tables *tables, uint16_t port, uint32_t vni, struct vx_err *err)
{
	const struct vx_attach *present = vx_attach_find(tables, port, NULL);

	if (tables->view->port[port].role != VX_ROLE_ACCESS)
		return vx_err_set(err, EINVAL,
				  "port %u is not an access port: see show port info all", port);
	if (present == NULL)
		return 0;
	if (present->vni == vni)
		return vx_err_set(err, EEXIST, "port %u is attached to VNI %u already", port, vni);
	return vx_err_set(err, EEXIST,
			  "the untagged frames of port %u belong to VNI %u: remove that first with "
			  "access del %u",
			  port, present->vni, port);
}

int
vx_attach_add(struct vx_tables *tables, uint16_t port, uint32_t vni, struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_find(tables, vni, err);
	struct vx_attach *attach;
	int rc;

	if (segment == NULL)
		return -ENOENT;
	rc = check(tables, port, vni, err);
	if (rc < 0)
		return rc;
	attach = rte_zmalloc("vx_attach", sizeof(*attach), 0);
	if (attach == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	attach->index = vx_index_take_late(&tables->attach_index, tables->rcu);
	if (attach->index == VX_INDEX_NONE) {
		rc = vx_err_set(err, ENOSPC, "all %u attachments are in use",
				tables->conf.max_attaches);
		goto err_free;
	}
	attach->port = port;
	attach->segment = segment->index;
	attach->vni = vni;
	__atomic_store_n(&tables->attach[attach->index], attach, __ATOMIC_RELEASE);
	rc = vx_segment_attach(tables, segment->index, attach->index, true);
	if (rc < 0)
		goto err_give_index;
	rc = view_set_untagged(tables, port, attach->index);
	if (rc < 0)
		goto err_detach;
	return 0;

err_detach:
	vx_segment_attach(tables, attach->segment, attach->index, false);
err_give_index:
	tables->attach[attach->index] = NULL;
	vx_rcu_synchronize(tables->rcu);
	vx_index_give_late(&tables->attach_index, attach->index, tables->rcu);
	vx_err_set(err, ENOMEM, "no memory");
err_free:
	rte_free(attach);
	return rc;
}

int
vx_attach_del(struct vx_tables *tables, uint16_t port, struct vx_err *err)
{
	const struct vx_attach *attach = vx_attach_find(tables, port, err);
	struct vx_fdb_filter behind = {.segment = VX_INDEX_NONE, .with_static = true};

	if (attach == NULL)
		return -ENOENT;
	if (vx_segment_attach(tables, attach->segment, attach->index, false) < 0)
		return vx_err_set(err, ENOMEM, "no memory");
	if (view_set_untagged(tables, port, VX_ATTACH_NONE) < 0) {
		vx_segment_attach(tables, attach->segment, attach->index, true);
		return vx_err_set(err, ENOMEM, "no memory");
	}
	/* Workers treat a destination without attachment as unknown: gone at once for them. */
	__atomic_store_n(&tables->attach[attach->index], NULL, __ATOMIC_RELEASE);
	behind.dest = attach->index;
	vx_fdb_flush(tables, &behind);
	vx_index_give_late(&tables->attach_index, attach->index, tables->rcu);
	vx_rcu_free(tables->rcu, attach);
	return 0;
}
