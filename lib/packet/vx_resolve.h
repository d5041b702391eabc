/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address resolution among tenants: what their ARP packets (RFC 826, RFC 5227) and neighbour
 * solicitations and advertisements (RFC 4861) say, and the answers given for an address's owner.
 * Without state: the workers call this.
 */
#ifndef VX_RESOLVE_H
#define VX_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_ip.h"

struct rte_mbuf;

struct vx_resolve {
	struct vx_ip sender; /* is at sender_mac; none: the packet does not say, as a probe */
	struct vx_ip target; /* asked for; none: nothing is asked, or everybody is to hear it */
	struct rte_ether_addr sender_mac;
	bool is_nd;
	bool is_advert;		     /* of ND: has the two flags */
	bool is_router, is_override; /* RFC 4861 4.4 */
};

/*
 * Take out what an untagged frame says. False: it is none of these packets, or not a valid one;
 * *@resolve is then undefined. All checks of RFC 4861 7.1 are made, the checksum's too.
 */
bool vx_resolve_parse(const struct rte_mbuf *m, struct vx_resolve *resolve);

/* The owner of an address, as it is told to who asks. */
struct vx_resolve_owner {
	struct rte_ether_addr mac;
	bool is_router, is_override;
};

#define VX_RESOLVE_ANSWER_MAX 86u

/* Write the frame that answers @asked, whose sender and target are known; its length. */
uint32_t vx_resolve_answer(uint8_t *to, const struct vx_resolve *asked,
			   const struct vx_resolve_owner *owner);

#endif
