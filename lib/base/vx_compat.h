/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between DPDK 22.11 and 25.11, in one place, so that no function needs an #ifdef. */
#ifndef VX_COMPAT_H
#define VX_COMPAT_H

#include <rte_version.h>

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "DPDK 22.11 or later is needed"
#endif

#include <rte_icmp.h>

/* The names of 22.11 are deprecated later, those of later releases do not exist in 22.11. */
#ifndef RTE_ICMP_TYPE_ECHO_REQUEST
#define RTE_ICMP_TYPE_ECHO_REPLY   0
#define RTE_ICMP_TYPE_ECHO_REQUEST 8
#endif

#endif
