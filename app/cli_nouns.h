/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands: one table of rows for each noun, in the file of that name. */
#ifndef CLI_NOUNS_H
#define CLI_NOUNS_H

#include <inttypes.h>
#include <stdio.h>

#include "app.h"
#include "cli.h"

extern const struct cli_row cli_access_rows[];
extern const struct cli_row cli_address_rows[];
extern const struct cli_row cli_fdb_rows[];
extern const struct cli_row cli_flood_rows[];
extern const struct cli_row cli_forward_rows[];
extern const struct cli_row cli_group_rows[];
extern const struct cli_row cli_neigh_rows[];
extern const struct cli_row cli_port_rows[];
extern const struct cli_row cli_route_rows[];
extern const struct cli_row cli_set_rows[];
extern const struct cli_row cli_snoop_rows[];
extern const struct cli_row cli_stats_rows[];
extern const struct cli_row cli_system_rows[];
extern const struct cli_row cli_tenant_rows[];
extern const struct cli_row cli_trace_rows[];
extern const struct cli_row cli_vni_rows[];
extern const struct cli_row cli_vtep_rows[];

#endif
