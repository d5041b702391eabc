/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: counters. */
#include "cli_nouns.h"
#include "stats.h"

static int
run_show_fwd(struct cli_call *call)
{
	stats_print(call->app, call->out);
	return 0;
}

static int
run_show_drops(struct cli_call *call)
{
	stats_print_drops(call->app, call->out);
	return 0;
}

static int
run_clear(struct cli_call *call)
{
	stats_clear(call->app);
	return 0;
}

/* clang-format off */
const struct cli_row cli_stats_rows[] = {
	{"show fwd stats all",
	 "frames and bytes per port, and where every frame went\n"
	 "Nothing is lost silently: received + flood_copies + originated is always forwarded + dropped\n"
	 "+ consumed + held, apart from what is in work at the moment.",
	 run_show_fwd},
	{"show drops", "every reason for which frames were dropped, and how many", run_show_drops},
	{"clear fwd stats all", "reset these counters, and those of segments, VTEPs and workers", run_clear},
	{0},
};
/* clang-format on */
