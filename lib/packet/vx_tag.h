/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN tags in frames: IEEE 802.1Q (customer) and 802.1ad (service) tags. */
#ifndef VX_TAG_H
#define VX_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "vx_wire.h"

struct rte_mempool;

#define VX_TAG_ID_MASK 0x0fffu /* of the tag control information: the VLAN id */
#define VX_TAGS_MAX    8u      /* what follows so many tags counts as payload */

/* Tags that a driver took out of the frame and reports apart. */
#define VX_TAG_STRIPPED (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED)

/* Does the frame, whose Ethernet header is contiguous, carry a tag? */
static inline bool
vx_tag_is_in(const struct rte_mbuf *m)
{
	return vx_is_vlan_tag(vx_ether_type(rte_pktmbuf_mtod(m, const void *)));
}

/*
 * Bytes of all tags in a frame of at least 14 bytes; to @type_be the EtherType behind them. A tag
 * that the frame ends in is not counted as one.
 */
uint32_t vx_tag_len(const struct rte_mbuf *m, rte_be16_t *type_be);

/*
 * Remove the outermost tag of a frame whose first 18 bytes are contiguous, or put one in. The MACs
 * move in place or, where the first buffer is shared or has no room, into one from @pool in front.
 * Returns the head; NULL: no buffer, @m is unchanged.
 */
struct rte_mbuf *vx_tag_pop(struct rte_mbuf *m, struct rte_mempool *pool);
struct rte_mbuf *vx_tag_push(struct rte_mbuf *m, struct rte_mempool *pool, rte_be16_t type_be,
			     uint16_t tci);

/* Put back what the driver took out (VX_TAG_STRIPPED); *@m is the head then. False: no buffer. */
bool vx_tag_restore(struct rte_mbuf **m, struct rte_mempool *pool);

#endif
