/* SPDX-License-Identifier: BSD-3-Clause */
/* The packet path: the stages in their order. */
#ifndef VX_PATH_H
#define VX_PATH_H

#include <stdint.h>

struct rte_mbuf;
struct vx_lcore;

/*
 * Frames just received on an access or underlay port, any number; ownership is taken. What is to
 * be sent ends in lcore->tx, whose buffers the caller empties afterwards. lcore->view and now are
 * set by the caller.
 */
void vx_path_access(struct vx_lcore *lcore, uint16_t port, struct rte_mbuf **m, uint16_t n);
void vx_path_underlay(struct vx_lcore *lcore, uint16_t port, struct rte_mbuf **m, uint16_t n);

/* Packets that the control thread made or held, whole frames for m->port; ownership is taken. */
void vx_path_inject(struct vx_lcore *lcore, struct rte_mbuf **m, uint16_t n);

#endif
