/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that start, stop, come and go while others forward. The order is always the same: show the
 * workers that the port is not to be used, wait until all have seen it, touch the port, show it
 * again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "net.h"
#include "net_group.h"
#include "stats.h"
#include "vx_attach.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_underlay.h"
#include "worker.h"

/* Workers follow what app->is_forwarding and the ports' states say now. */
static int
apply(struct app *app, struct vx_err *err)
{
	int rc = workers_assign_tx(app, err);

	if (rc == 0)
		rc = net_show_ports(app, err);
	/* Before the first packet, or it would be dropped for want of a route. */
	net_resolve(app);
	if (rc == 0)
		rc = workers_assign(app, err);
	return rc;
}

/* Take one port out of the workers' hands; it keeps its state. */
static int
release(struct app *app, struct port *port, struct vx_err *err)
{
	const enum port_state state = port->state;
	int rc;

	if (state != PORT_STARTED)
		return 0;
	net_groups_leave(app, port->id);
	port->state = PORT_STOPPED;
	rc = apply(app, err);
	port->state = state;
	if (rc < 0)
		apply(app, NULL);
	return rc;
}

int
net_forwarding_set(struct app *app, bool is_on, struct vx_err *err)
{
	int rc;

	if (app->is_forwarding == is_on)
		return vx_err_set(err, EALREADY, "forwarding is %s already", is_on ? "on" : "off");
	for (uint16_t id = 0; is_on && id < RTE_MAX_ETHPORTS; id++) {
		if (app->ports.port[id].state != PORT_STOPPED || app->is_port_stopped[id])
			continue;
		rc = port_start(&app->ports, id, err);
		if (rc < 0)
			return rc;
	}
	for (uint16_t id = 0; !is_on && id < RTE_MAX_ETHPORTS; id++)
		net_groups_leave(app, id);
	app->is_forwarding = is_on;
	rc = apply(app, err);
	if (rc < 0) {
		app->is_forwarding = !is_on;
		apply(app, NULL);
	}
	return rc;
}

static int
check_present(const struct app *app, uint16_t id, struct vx_err *err)
{
	if (port_is_set_up(&app->ports.port[id]))
		return 0;
	return vx_err_set(err, ENODEV,
			  "port %u is not in working order: port detach %u and attach it "
			  "again",
			  id, id);
}

int
net_port_start(struct app *app, uint16_t id, struct vx_err *err)
{
	int rc = check_present(app, id, err);

	if (rc < 0)
		return rc;
	if (app->ports.port[id].state == PORT_STARTED)
		return vx_err_set(err, EALREADY, "port %u is started already", id);
	rc = port_start(&app->ports, id, err);
	if (rc < 0)
		return rc;
	app->is_port_stopped[id] = false;
	return apply(app, err);
}

int
net_port_stop(struct app *app, uint16_t id, struct vx_err *err)
{
	int rc = check_present(app, id, err);

	if (rc < 0)
		return rc;
	if (app->ports.port[id].state != PORT_STARTED)
		return vx_err_set(err, EALREADY, "port %u is stopped already", id);
	rc = release(app, &app->ports.port[id], err);
	if (rc < 0)
		return rc;
	rc = port_stop(&app->ports, id, err);
	app->is_port_stopped[id] = rc == 0;
	apply(app, NULL);
	return rc;
}

/* Take ports that just came in out again: one of them could not be set up. */
static void
undo_attach(struct app *app, const uint16_t *id, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		release(app, &app->ports.port[id[i]], NULL);
	port_remove(&app->ports, id, n, NULL);
	apply(app, NULL);
}

int
net_port_attach(struct app *app, const char *devargs, enum vx_role role, uint16_t *id,
		unsigned int *n, struct vx_err *err)
{
	char *text = strdup(devargs);
	int rc;

	if (text == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	rc = port_attach(&app->ports, devargs, role, id, n, err);
	if (rc < 0)
		goto err_free;
	rc = port_setup(&app->ports, err);
	for (unsigned int i = 0; i < *n && rc == 0; i++) {
		app->is_port_stopped[id[i]] = false;
		stats_port_new(app, id[i]);
		rc = port_start(&app->ports, id[i], err);
	}
	if (rc == 0)
		rc = apply(app, err);
	if (rc < 0)
		goto err_undo;
	app->attached[id[0]] = text;
	return 0;

err_undo:
	undo_attach(app, id, *n);
err_free:
	free(text);
	return rc;
}

/* Does a segment send from an address of this port? It would go on with one that is not ours. */
static int
check_no_local(const struct app *app, uint16_t id, struct vx_err *err)
{
	const struct vx_view *view = app->tables->view;
	const struct vx_segment *segment = NULL;
	char text[VX_IP_TEXT_MAX];

	while ((segment = vx_segment_next(app->tables, segment == NULL ? 0 : segment->vni)) != NULL)
		for (unsigned int i = 0; segment->has_local && i < view->n_locals; i++)
			if (view->local[i].port == id &&
			    vx_ip_is_equal(&view->local[i].ip, &segment->local))
				return vx_err_set(err, EBUSY,
						  "port %u has the local address %s of VNI %u: "
						  "delete that first with vni del %u",
						  id,
						  vx_ip_format(&segment->local, text, sizeof(text)),
						  segment->vni, segment->vni);
	return 0;
}

int
net_port_detach(struct app *app, uint16_t id, struct vx_err *err)
{
	struct port *port = &app->ports.port[id];
	int rc = port_can_detach(&app->ports, id, err);

	if (rc == 0)
		rc = check_no_local(app, id, err);
	if (rc == 0)
		rc = net_groups_check_unused(app, id, err);
	if (rc == 0)
		rc = release(app, port, err);
	if (rc < 0)
		return rc;
	rc = vx_attach_del_port(app->tables, id, err);
	if (rc < 0) {
		apply(app, NULL);
		return rc;
	}
	if (port->role == VX_ROLE_UNDERLAY)
		vx_underlay_port_del(app->underlay, id);
	rc = port_remove(&app->ports, &id, 1, err);
	app->is_port_stopped[id] = false;
	app->is_mtu_set[id] = false;
	app->storm[id] = 0;
	free(app->attached[id]);
	app->attached[id] = NULL;
	apply(app, NULL);
	return rc;
}

int
net_port_mtu(struct app *app, uint16_t id, uint16_t mtu, struct vx_err *err)
{
	int rc = check_present(app, id, err);

	if (rc == 0)
		rc = release(app, &app->ports.port[id], err);
	if (rc < 0)
		return rc;
	rc = port_mtu_set(&app->ports, id, mtu, err);
	apply(app, NULL);
	return rc;
}

/* Access ports that are set up for less than the inner MTU @mtu follow it, from @first on. On
 * failure *@first is the port that refused. */
static int
raise_access_mtu(struct app *app, uint16_t *first, uint16_t mtu, struct vx_err *err)
{
	for (; *first < RTE_MAX_ETHPORTS; ++*first) {
		const struct port *port = &app->ports.port[*first];
		int rc;

		if (port->role != VX_ROLE_ACCESS || port->plan.mtu >= mtu || !port_is_set_up(port))
			continue;
		rc = net_port_mtu(app, *first, mtu, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int
net_mtu(struct app *app, uint16_t mtu, struct vx_err *err)
{
	uint16_t old[RTE_MAX_ETHPORTS], id = 0;
	int rc;

	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		old[i] = app->ports.port[i].plan.mtu;
	rc = raise_access_mtu(app, &id, mtu, err);
	if (rc == 0)
		rc = vx_segment_set_mtu(app->tables, mtu, err);
	if (rc < 0) {
		while (id-- > 0)
			if (app->ports.port[id].plan.mtu != old[id])
				net_port_mtu(app, id, old[id], NULL);
		return rc;
	}
	app->ports.conf.inner_mtu = mtu;
	return 0;
}
