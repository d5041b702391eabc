/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL for unit tests: no hugepages, no devices, no files left behind. */
#ifndef EAL_FIXTURE_H
#define EAL_FIXTURE_H

#include <rte_common.h>
#include <rte_eal.h>

/* Bring EAL up, once per process however often it is called. 0, or -1 if that failed. */
static inline int
vx_test_eal(void)
{
	static char name[] = "unit-test", no_huge[] = "--no-huge", no_pci[] = "--no-pci",
		    no_shconf[] = "--no-shconf", no_telemetry[] = "--no-telemetry", memory[] = "-m",
		    megabytes[] = "128", level[] = "--log-level=lib.eal:error";
	static char *argv[] = {name,   no_huge,	  no_pci, no_shconf, no_telemetry,
			       memory, megabytes, level,  NULL};
	static int state; /* 0: not yet, 1: up, -1: failed */

	if (state == 0)
		state = rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0 ? -1 : 1;
	return state > 0 ? 0 : -1;
}

#endif
