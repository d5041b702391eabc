/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between DPDK 22.11 and 25.11, in one place, so that no function needs an #ifdef. */
#ifndef VX_COMPAT_H
#define VX_COMPAT_H

#include <rte_version.h>

/* The lock-free hash takes its QSBR settings in the same structure since 22.11; later releases only
 * add members, which designated initialisers leave at zero. Nothing here needs more yet. */
#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "DPDK 22.11 or later is needed"
#endif

#endif
