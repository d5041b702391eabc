/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between DPDK 22.11 and 25.11, in one place, so that no function needs an #ifdef. */
#ifndef VX_COMPAT_H
#define VX_COMPAT_H

#include <rte_version.h>

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "DPDK 22.11 or later is needed"
#endif

#include <rte_icmp.h>

/* Addresses of rte_rib6 are arrays before 24.11, structures since. */
#if RTE_VERSION < RTE_VERSION_NUM(24, 11, 0, 0)
#define VX_RIB6_ADDRESS(bytes) (bytes)
#else
#define VX_RIB6_ADDRESS(bytes) ((const struct rte_ipv6_addr *)(const void *)(bytes))
#endif

/* The names of 22.11 are deprecated later, those of later releases do not exist in 22.11. */
#ifndef RTE_ICMP_TYPE_ECHO_REQUEST
#define RTE_ICMP_TYPE_ECHO_REPLY   0
#define RTE_ICMP_TYPE_ECHO_REQUEST 8
#endif

#endif
