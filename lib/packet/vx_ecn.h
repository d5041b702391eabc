/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit congestion notification in tunnels, RFC 6040. */
#ifndef VX_ECN_H
#define VX_ECN_H

#include <stdint.h>

#include <rte_byteorder.h>

#include "vx_drop.h"

struct rte_mbuf;

/*
 * Combine the outer ECN field (1 or 3: others change nothing, RFC 6040 figure 4) into the inner IP
 * header at @offset of @m, whose EtherType is @type. The header may be split. Frames that are not
 * IP, or too short for their header, stay as they are.
 * VX_DROP_NONE, or VX_DROP_INNER_ECN: congestion was signalled to a flow that cannot see it.
 */
enum vx_drop vx_ecn_decap(struct rte_mbuf *m, uint32_t offset, rte_be16_t type, uint8_t outer_ecn);

#endif
