/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_log.h"

/* DPDK's macro is the one place where a constructor is used: log types must exist before EAL reads
 * --log-level. */
/* clang-format off */
RTE_LOG_REGISTER(vx_log_type, dpdk-vxlan, INFO);
/* clang-format on */
