/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour solicitations and advertisements (RFC 4861 4.3, 4.4). Without state: the workers call
 * this. */
#ifndef VX_ND_H
#define VX_ND_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_drop.h"
#include "vx_ip.h"

struct rte_mbuf;
struct rte_mempool;

/* Bits of vx_nd_notice.flags. */
#define VX_ND_IS_ADVERT	   0x01u
#define VX_ND_IS_PROBE	   0x02u /* a solicitation of duplicate address detection */
#define VX_ND_IS_SOLICITED 0x04u
#define VX_ND_IS_OVERRIDE  0x08u
#define VX_ND_HAS_MAC	   0x10u /* the MAC stood in an option */
#define VX_ND_IS_FOR_US	   0x20u /* set by the caller of vx_nd_parse() */

/* What a worker tells the control thread about such a packet. */
struct vx_nd_notice {
	struct vx_ip ip; /* who speaks: the source of a solicitation, the target of an advertisement
			  * or of a probe */
	struct rte_ether_addr mac; /* of it: of the option, else the frame's source */
	uint16_t port;
	uint8_t flags;
};
_Static_assert(sizeof(struct vx_nd_notice) <= 32, "copied through a ring");

/*
 * Check a neighbour solicitation or advertisement as RFC 4861 7.1 says, its checksum too, and take
 * out what it says. VX_DROP_NONE, or VX_DROP_ND_BAD with @notice and @target untouched. The caller
 * has checked the IPv6 header at @ip_offset and its length, and cut what follows the packet.
 */
enum vx_drop vx_nd_parse(const struct rte_mbuf *m, uint32_t ip_offset, uint32_t l4_offset,
			 struct vx_nd_notice *notice, struct vx_ip *target);

/* What an advertisement says. */
struct vx_nd_advert {
	struct vx_ip target;
	struct rte_ether_addr mac;
	struct vx_ip to; /* none: everybody, unsolicited */
	struct rte_ether_addr to_mac;
	bool is_override;
};

/* Turn @m into an advertisement, one segment of 86 bytes. False, with @m as it was: see
 * vx_reuse_mbuf(). */
bool vx_nd_advert_in_place(struct rte_mbuf *m, const struct vx_nd_advert *advert);

/* An unsolicited advertisement of @ip to everybody, which overrides. NULL: no mbuf. */
struct rte_mbuf *vx_nd_announce_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
				     const struct vx_ip *ip);

/*
 * A solicitation for @target. @to NULL: to its solicited-node group, else to this MAC only. @source
 * none: a probe of duplicate address detection (RFC 4862 5.4.2). NULL: no mbuf.
 */
struct rte_mbuf *vx_nd_solicit_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
				    const struct vx_ip *source, const struct vx_ip *target,
				    const struct rte_ether_addr *to);

#endif
