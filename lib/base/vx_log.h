/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VX_LOG_H
#define VX_LOG_H

#include <rte_log.h>

/* One log type, "dpdk-vxlan", so that --log-level=dpdk-vxlan:debug works. Never used per packet. */
extern int vx_log_type;

#define VX_LOG(level, format, ...)                                                                 \
	rte_log(RTE_LOG_##level, vx_log_type, "dpdk-vxlan: " format "\n", ##__VA_ARGS__)

#endif
