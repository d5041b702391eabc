/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: start, stop. */
#include "cli_nouns.h"
#include "net.h"

static int
run_start(struct cli_call *call)
{
	return net_forwarding_set(call->app, true, call->err);
}

static int
run_stop(struct cli_call *call)
{
	return net_forwarding_set(call->app, false, call->err);
}

/* clang-format off */
const struct cli_row cli_forward_rows[] = {
	{"start", "begin to forward\nPorts stopped by `port stop` stay stopped.", run_start},
	{"stop",
	 "end forwarding\n"
	 "Ports stay started but nobody polls or sends; tables and configuration stay.",
	 run_stop},
	{0},
};
/* clang-format on */
