/* SPDX-License-Identifier: BSD-3-Clause */
/* A packet's buffer for another, short one. */
#ifndef VX_REUSE_H
#define VX_REUSE_H

#include <stdint.h>

struct rte_mbuf;

/*
 * Make @m one segment of @len bytes and return them; what is in them is undefined. Further segments
 * are freed, and what was said of the packet is forgotten. NULL, with @m as it was: its first
 * segment is shared with another packet, or too small.
 */
uint8_t *vx_reuse_mbuf(struct rte_mbuf *m, uint16_t len);

#endif
