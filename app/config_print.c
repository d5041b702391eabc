/* SPDX-License-Identifier: BSD-3-Clause */
/* `show config` and `save`: the commands that make what is configured now. */
#include <errno.h>

#include "app.h"
#include "cli.h"
#include "tenant.h"
#include "vlan_text.h"
#include "vx_address.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_group.h"
#include "vx_neigh.h"
#include "vx_route.h"
#include "vx_segment.h"
#include "vx_vtep.h"

/* The settings of the kinds in @which; VNI 0: those of all segments. */
static void
print_flooding(FILE *out, uint8_t off, uint8_t which, uint32_t vni)
{
	const char *const kind[] = {[VX_FLOOD_UNKNOWN] = "unknown",
				    [VX_FLOOD_MULTICAST] = "multicast",
				    [VX_FLOOD_BROADCAST] = "broadcast"};

	for (unsigned int i = 0; i < VX_FLOOD_KINDS; i++) {
		if ((which >> i & 1) == 0)
			continue;
		fprintf(out, "set flood %s %s", kind[i], (off >> i & 1) != 0 ? "off" : "on");
		if (vni != 0)
			fprintf(out, " vni %u", vni);
		fprintf(out, "\n");
	}
}

/* VNI 0: for all segments without their own, like the next two. */
static void
print_vni(FILE *out, uint32_t vni)
{
	if (vni != 0)
		fprintf(out, " vni %u", vni);
	fprintf(out, "\n");
}

static void
print_df(FILE *out, enum vx_df df, uint32_t vni)
{
	const char *const name[] = {
		[VX_DF_ON] = "on", [VX_DF_OFF] = "off", [VX_DF_INHERIT] = "inherit"};

	fprintf(out, "set df %s", name[df]);
	print_vni(out, vni);
}

/* A setting of which one value means "inherit". */
static void
print_inherited(FILE *out, const char *name, uint8_t value, uint8_t inherit, uint32_t vni)
{
	if (value == inherit)
		fprintf(out, "set %s inherit", name);
	else
		fprintf(out, "set %s %u", name, value);
	print_vni(out, vni);
}

static void
print_settings(const struct app *app, FILE *out)
{
	const struct vx_tables *tables = app->tables;
	const struct vx_view *view = tables->view;
	const char *const oversize[] = {[VX_OVERSIZE_OUTER] = "outer",
					[VX_OVERSIZE_INNER] = "inner",
					[VX_OVERSIZE_REPLY] = "reply",
					[VX_OVERSIZE_DROP] = "drop"};
	const char *const checksum[] = {[VX_UDP_CHECKSUM_ON] = "on",
					[VX_UDP_CHECKSUM_OFF] = "off",
					[VX_UDP_CHECKSUM_AUTO] = "auto"};

	fprintf(out, "set mtu %u\n", tables->conf.mtu);
	fprintf(out, "set udp-port %u", rte_be_to_cpu_16(view->udp_port_be));
	for (unsigned int i = 0; i < view->n_other_ports; i++)
		fprintf(out, ",%u", rte_be_to_cpu_16(view->other_port_be[i]));
	fprintf(out, "\n");
	fprintf(out, "set source-ports %u %u\n", view->source_port_lo,
		view->source_port_lo + view->source_ports - 1);
	fprintf(out, "set oversize %s\n", oversize[view->oversize]);
	print_df(out, view->df, 0);
	print_inherited(out, "ttl", view->ttl, VX_TTL_INHERIT, 0);
	print_inherited(out, "dscp", view->dscp, VX_DSCP_INHERIT, 0);
	fprintf(out, "set ecn %s\n", view->ecn_mask != 0 ? "on" : "off");
	fprintf(out, "set multicast-ttl %u\n", app->multicast_ttl);
	fprintf(out, "set reassembly %s\n", view->is_reassembling ? "on" : "off");
	fprintf(out, "set reassembly timeout %u\n", view->reassembly_ms);
	fprintf(out, "set reassembly max %u\n", view->reassembly_max);
	fprintf(out, "set udp-checksum %s\n", checksum[view->udp_checksum]);
	fprintf(out, "set learning %s\n", tables->conf.learning ? "on" : "off");
	fprintf(out, "set ageing %u\n", tables->conf.ageing);
	print_flooding(out, tables->conf.flood_off, UINT8_MAX, 0);
	fprintf(out, "set peers %s\n", view->is_peers_known ? "known" : "any");
	tenant_print_settings(app, out);
}

static void
print_ports(const struct app *app, FILE *out)
{
	for (unsigned int id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct port *port = &app->ports.port[id];

		if (app->attached[id] != NULL) {
			fprintf(out, "port attach ");
			cli_word_print(out, app->attached[id]);
			fprintf(out, " %s\n", port_role_name(port->role));
		}
		if (port->role != VX_ROLE_NONE && app->is_mtu_set[id])
			fprintf(out, "port config mtu %s %u\n", port->name, port->plan.mtu);
		if (app->storm[id] != 0)
			fprintf(out, "set storm %s %u\n", port->name, app->storm[id]);
	}
}

static void
print_underlay(const struct app *app, FILE *out)
{
	struct vx_address_info address;
	struct vx_route_info route;
	struct vx_neigh_info neigh;
	char ip[VX_IP_TEXT_MAX], mac[RTE_ETHER_ADDR_FMT_SIZE];
	uint32_t iterator = 0;

	while (vx_address_next(app->underlay, &iterator, &address)) {
		if (address.is_automatic)
			continue;
		fprintf(out, "address add %s/%u port %s\n",
			vx_ip_format(&address.prefix.ip, ip, sizeof(ip)), address.prefix.len,
			app->ports.port[address.port].name);
	}
	iterator = 0;
	while (vx_route_next(app->underlay, &iterator, &route)) {
		if (route.is_connected)
			continue;
		fprintf(out, "route add %s/%u via ", vx_ip_format(&route.prefix.ip, ip, sizeof(ip)),
			route.prefix.len);
		fprintf(out, "%s\n", vx_ip_format(&route.gateway, ip, sizeof(ip)));
	}
	iterator = 0;
	while (vx_neigh_next(app->underlay, &iterator, &neigh)) {
		if (neigh.state != VX_NEIGH_PERMANENT)
			continue;
		rte_ether_format_addr(mac, sizeof(mac), &neigh.mac);
		fprintf(out, "neigh add %s %s port %s\n", vx_ip_format(&neigh.ip, ip, sizeof(ip)),
			mac, app->ports.port[neigh.port].name);
	}
}

static void
print_segment_outer(FILE *out, const struct vx_segment *segment)
{
	const struct vx_segment_outer *own = &segment->own_outer;

	if (own->has_df)
		print_df(out, own->df, segment->vni);
	if (own->has_ttl)
		print_inherited(out, "ttl", own->ttl, VX_TTL_INHERIT, segment->vni);
	if (own->has_dscp)
		print_inherited(out, "dscp", own->dscp, VX_DSCP_INHERIT, segment->vni);
}

static void
print_segment(const struct app *app, FILE *out, const struct vx_segment *segment)
{
	const struct vx_tables *tables = app->tables;
	char ip[VX_IP_TEXT_MAX], vlan[VLAN_TEXT_MAX];

	fprintf(out, "vni add %u", segment->vni);
	if (segment->has_local)
		fprintf(out, " local %s", vx_ip_format(&segment->local, ip, sizeof(ip)));
	if (segment->has_own_mtu)
		fprintf(out, " mtu %u", segment->mtu);
	if (segment->max_macs != 0)
		fprintf(out, " max-macs %u", segment->max_macs);
	fprintf(out, "\n");
	if (segment->has_own_learning)
		fprintf(out, "set learning %s vni %u\n", segment->is_learning ? "on" : "off",
			segment->vni);
	print_flooding(out, segment->flood_off, segment->own_flood, segment->vni);
	print_segment_outer(out, segment);
	tenant_print_segment(app, out, segment);
	for (unsigned int i = 0; i < segment->n_attaches; i++) {
		const struct vx_attach *attach = tables->attach[segment->target[i]];

		fprintf(out, "access add %s vni %u", app->ports.port[attach->port].name,
			segment->vni);
		if (attach->vlan != VX_VLAN_UNTAGGED)
			fprintf(out, " vlan %s", vlan_text(attach->vlan, vlan));
		fprintf(out, "\n");
	}
	for (unsigned int i = 0; i < segment->n_vteps; i++) {
		const struct vx_vtep *vtep = tables->vtep[segment->target[segment->n_attaches + i]];

		fprintf(out, "flood add %s vni %u", vx_ip_format(&vtep->remote, ip, sizeof(ip)),
			segment->vni);
		if (vx_ip_is_multicast(&vtep->remote))
			fprintf(out, " port %s",
				app->ports.port[vx_groups_port_of(app->groups, &vtep->remote)]
					.name);
		fprintf(out, "\n");
	}
}

static void
print_fdb_attach(const struct app *app, FILE *out, const struct vx_attach *attach)
{
	fprintf(out, "port %s", app->ports.port[attach->port].name);
	if (attach->vlan != VX_VLAN_UNTAGGED && attach->vlan != VX_VLAN_ALL)
		fprintf(out, " vlan %u", attach->vlan);
	fprintf(out, "\n");
}

static void
print_fdb(const struct app *app, FILE *out)
{
	const struct vx_tables *tables = app->tables;
	char ip[VX_IP_TEXT_MAX], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct vx_fdb_entry entry;

	for (uint32_t slot = 0; vx_fdb_next(tables->fdb, slot, &entry); slot = entry.slot + 1) {
		if (!entry.is_static)
			continue;
		rte_ether_format_addr(mac, sizeof(mac), &entry.mac);
		fprintf(out, "fdb add %s vni %u ", mac, tables->segment[entry.segment]->vni);
		if ((entry.dest & VX_DEST_VTEP) != 0)
			fprintf(out, "vtep %s\n",
				vx_ip_format(&tables->vtep[entry.dest & VX_DEST_INDEX]->remote, ip,
					     sizeof(ip)));
		else
			print_fdb_attach(app, out, tables->attach[entry.dest]);
	}
}

static void
print_path_mtus(const struct app *app, FILE *out)
{
	const struct vx_tables *tables = app->tables;
	char ip[VX_IP_TEXT_MAX];

	for (uint32_t i = 0; i < tables->conf.max_vteps; i++) {
		uint16_t mtu;
		bool is_set;

		/* A VTEP that was only learned is not there when the file is loaded. */
		if (tables->vtep[i] == NULL || !tables->vtep[i]->is_named)
			continue;
		mtu = vx_vtep_path_mtu(tables, i, &is_set);
		if (is_set)
			fprintf(out, "set path-mtu %s %u\n",
				vx_ip_format(&tables->vtep[i]->remote, ip, sizeof(ip)), mtu);
	}
}

int
app_config_print(struct app *app, FILE *out)
{
	const struct vx_segment *segment = NULL;

	print_settings(app, out);
	print_ports(app, out);
	print_underlay(app, out);
	while ((segment = vx_segment_next(app->tables, segment == NULL ? 0 : segment->vni)) != NULL)
		print_segment(app, out, segment);
	print_fdb(app, out);
	tenant_print_bindings(app, out);
	print_path_mtus(app, out);
	for (unsigned int id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (app->is_port_stopped[id])
			fprintf(out, "port stop %s\n", app->ports.port[id].name);
	return ferror(out) != 0 ? -EIO : 0;
}
