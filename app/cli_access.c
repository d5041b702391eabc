/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: attachments of access ports to segments. */
#include "cli_nouns.h"
#include "stats.h"
#include "vx_attach.h"

static int
run_add(struct cli_call *call)
{
	return vx_attach_add(call->app->tables, (uint16_t)call->v[0].number,
			     (uint32_t)call->v[1].number, call->err);
}

static int
run_del(struct cli_call *call)
{
	return vx_attach_del(call->app->tables, (uint16_t)call->v[0].number, call->err);
}

static int
run_show(struct cli_call *call)
{
	const struct app *app = call->app;

	fprintf(call->out, "%-4s %-20s %-9s %-8s %12s %15s %12s %15s\n", "port", "name", "vlan",
		"vni", "rx-frames", "rx-bytes", "tx-frames", "tx-bytes");
	for (uint32_t i = 0; i < app->tables->conf.max_attaches; i++) {
		const struct vx_attach *attach = app->tables->attach[i];
		struct vx_traffic traffic;

		if (attach == NULL)
			continue;
		traffic = stats_port(app, attach->port);
		fprintf(call->out,
			"%-4u %-20s %-9s %-8u %12" PRIu64 " %15" PRIu64 " %12" PRIu64 " %15" PRIu64
			"\n",
			attach->port, app->ports.port[attach->port].name, "untagged", attach->vni,
			traffic.rx_frames, traffic.rx_bytes, traffic.tx_frames, traffic.tx_bytes);
	}
	return 0;
}

/* clang-format off */
const struct cli_row cli_access_rows[] = {
	{"access add P vni VNI", "attach the untagged frames of an access port to a segment", run_add},
	{"access del P", "delete the attachment; MACs learned there are forgotten", run_del},
	{"show access", "attachments and the traffic of their ports", run_show},
	{0},
};
/* clang-format on */
