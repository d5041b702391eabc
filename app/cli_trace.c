/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: following single frames. */
#include <errno.h>

#include "cli_nouns.h"
#include "trace_log.h"
#include "vx_fdb.h"

static int
run_add(struct cli_call *call)
{
	const struct trace_want want = {
		.frames = (uint32_t)call->v[0].number,
		.vni = call->v[1].is_set ? (uint32_t)call->v[1].number : 0,
		.has_mac = call->v[2].is_set,
		.mac48 = call->v[2].is_set ? vx_fdb_key_of(0, &call->v[2].mac) : 0,
		.port = call->v[3].is_set ? (uint32_t)call->v[3].number : UINT32_MAX,
	};

	return trace_log_start(call->app, &want, call->err);
}

static int
run_show(struct cli_call *call)
{
	trace_log_print(call->app, call->out);
	return 0;
}

static int
run_clear(struct cli_call *call)
{
	if (trace_log_clear(call->app) < 0)
		return vx_err_set(call->err, ENOMEM, "no memory");
	return 0;
}

/* clang-format off */
const struct cli_row cli_trace_rows[] = {
	{"trace add N:frames [vni VNI] [mac MAC] [port P]",
	 "follow the next N frames through every stage\n"
	 "mac: the inner source or destination; port: where the frame is received. Replaces what an\n"
	 "earlier `trace add` still waits for; `show trace` shows what was recorded.",
	 run_add},
	{"show trace", "the traced frames, stage by stage", run_show},
	{"clear trace", "stop tracing and forget what was recorded", run_clear},
	{0},
};
/* clang-format on */
