/* SPDX-License-Identifier: BSD-3-Clause */
/* From transmit buffers to the drivers. */
#ifndef TX_H
#define TX_H

#include <stdint.h>

struct vx_lcore;
struct worker;

/* Send what waits for @port: the path calls it when the buffer is full. What the port does not take
 * after some tries is dropped, `tx_full`. */
void tx_flush(struct vx_lcore *lcore, uint16_t port);

/* Send what waits for any port. */
void tx_flush_pending(struct worker *worker);

#endif
