/* SPDX-License-Identifier: BSD-3-Clause */
/* "Fragmentation needed" (RFC 1191) and "packet too big" (RFC 4443 section 3.2) to inner senders.
 */
#ifndef VX_TOO_BIG_H
#define VX_TOO_BIG_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_lcore.h"

/*
 * Tell the sender of the frame @m, which stays the caller's, that its IP packet may have @mtu
 * bytes: from the packet's own destination address, as a bridge has none, out of the attachment
 * @origin. False if it cannot be told: not IP, an answer to which none is due (RFC 1122
 * section 3.2.2, RFC 4443 section 2.4), the rate limit, or no buffer.
 */
bool vx_too_big_reply(struct vx_lcore *lcore, const struct rte_mbuf *m, uint16_t mtu,
		      uint32_t origin);

#endif
