/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: flood lists. */
#include "cli_nouns.h"
#include "net_group.h"
#include "vx_segment.h"
#include "vx_underlay.h"
#include "vx_vtep.h"

static int
run_add(struct cli_call *call)
{
	const uint16_t port =
		call->v[2].is_set ? (uint16_t)call->v[2].number : VX_UNDERLAY_PORT_NONE;

	return net_flood_add(call->app, (uint32_t)call->v[1].number, &call->v[0].ip, port,
			     call->err);
}

static int
run_del(struct cli_call *call)
{
	return vx_segment_flood_del(call->app->tables, (uint32_t)call->v[1].number, &call->v[0].ip,
				    call->err);
}

static void
show_one(struct cli_call *call, const struct vx_segment *segment)
{
	const struct vx_tables *tables = call->app->tables;

	for (unsigned int i = 0; i < segment->n_vteps; i++) {
		const struct vx_vtep *vtep = tables->vtep[segment->target[segment->n_attaches + i]];
		char ip[VX_IP_TEXT_MAX];

		fprintf(call->out, "%-8u %-16s %s\n", segment->vni,
			vx_ip_format(&vtep->remote, ip, sizeof(ip)),
			vx_vtep_state_name((enum vx_vtep_state)vtep->state));
	}
}

static int
run_show(struct cli_call *call)
{
	const struct vx_tables *tables = call->app->tables;
	const struct vx_segment *segment = NULL;

	if (call->v[0].is_set) {
		segment = vx_segment_find(tables, (uint32_t)call->v[0].number, call->err);
		if (segment == NULL)
			return -ENOENT;
	}
	fprintf(call->out, "%-8s %-16s %s\n", "vni", "vtep", "state");
	if (segment != NULL) {
		show_one(call, segment);
		return 0;
	}
	for (segment = vx_segment_next(tables, 0); segment != NULL;
	     segment = vx_segment_next(tables, segment->vni))
		show_one(call, segment);
	return 0;
}

/* clang-format off */
const struct cli_row cli_flood_rows[] = {
	{"flood add IP vni VNI [port P]",
	 "send a segment's broadcast, unknown-unicast and multicast frames to a remote VTEP too\n"
	 "Or to a multicast group of VTEPs, which the underlay port joins: P, where there are several.",
	 run_add},
	{"flood del IP vni VNI",
	 "delete a VTEP or group from the list; what the segment learned behind it is forgotten", run_del},
	{"show flood [vni VNI]", "flood lists", run_show},
	{0},
};
/* clang-format on */
