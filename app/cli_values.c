/* SPDX-License-Identifier: BSD-3-Clause */
/* Present values, for completion at the prompt (cli_types.h). */
#include "app.h"
#include "cli_types.h"
#include "vx_address.h"
#include "vx_fdb.h"
#include "vx_neigh.h"
#include "vx_segment.h"
#include "vx_vtep.h"

/* Offered of the FDB at most: a list for a person, not an export. */
#define MACS_MAX 64u

bool
app_port_find(struct app *app, const char *text, uint16_t *id)
{
	return port_find(&app->ports, text, id, NULL) == 0;
}

void
cli_values_vni(struct app *app, cli_add_fn *add, void *ctx)
{
	const struct vx_segment *segment = NULL;
	char text[16];

	while ((segment = vx_segment_next(app->tables, segment == NULL ? 0 : segment->vni)) !=
	       NULL) {
		snprintf(text, sizeof(text), "%u", segment->vni);
		add(ctx, text);
	}
}

void
cli_values_port(struct app *app, cli_add_fn *add, void *ctx)
{
	char text[8];

	for (unsigned int id = 0; id < RTE_MAX_ETHPORTS; id++) {
		if (app->ports.port[id].role == VX_ROLE_NONE)
			continue;
		snprintf(text, sizeof(text), "%u", id);
		add(ctx, text);
		add(ctx, app->ports.port[id].name);
	}
}

void
cli_values_ip(struct app *app, cli_add_fn *add, void *ctx)
{
	struct vx_neigh_info neigh;
	char text[VX_IP_TEXT_MAX];
	uint32_t iterator = 0;

	for (uint32_t i = 0; i < app->tables->conf.max_vteps; i++)
		if (app->tables->vtep[i] != NULL)
			add(ctx, vx_ip_format(&app->tables->vtep[i]->remote, text, sizeof(text)));
	while (vx_neigh_next(app->underlay, &iterator, &neigh))
		add(ctx, vx_ip_format(&neigh.ip, text, sizeof(text)));
}

void
cli_values_local(struct app *app, cli_add_fn *add, void *ctx)
{
	struct vx_address_info info;
	char text[VX_IP_TEXT_MAX];
	uint32_t iterator = 0;

	while (vx_address_next(app->underlay, &iterator, &info))
		add(ctx, vx_ip_format(&info.prefix.ip, text, sizeof(text)));
}

void
cli_values_mac(struct app *app, cli_add_fn *add, void *ctx)
{
	char text[RTE_ETHER_ADDR_FMT_SIZE];
	struct vx_fdb_entry entry = {.slot = 0};
	uint32_t slot = 0;

	for (unsigned int n = 0; n < MACS_MAX && vx_fdb_next(app->tables->fdb, slot, &entry); n++) {
		rte_ether_format_addr(text, sizeof(text), &entry.mac);
		add(ctx, text);
		slot = entry.slot + 1;
	}
}
