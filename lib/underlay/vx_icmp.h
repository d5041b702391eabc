/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP. Without state: the workers call this. */
#ifndef VX_ICMP_H
#define VX_ICMP_H

#include <stdint.h>

#include "vx_drop.h"

struct rte_mbuf;

/*
 * Turn the ICMP echo request in @m into its reply, in place, in whatever segments it lies.
 * The caller has checked the IPv4 header (version, lengths, checksum), that it is for a local
 * address and the frame for our MAC, and has cut what follows the IP packet. No segment that
 * holds a header byte may be shared with another packet.
 *
 * The reply has TTL 64; identification, DF and the traffic class are the request's (a request that
 * must not be fragmented is answered in kind); IP options are overwritten with zeros, "end of
 * option list", rather than reversed.
 *
 * VX_DROP_NONE: @m is now the reply. VX_DROP_ICMP_BAD, with @m as it was: not an echo request, or a
 * fragment of one, its checksum is wrong, or its source is no single host.
 */
enum vx_drop vx_icmp_echo_reply(struct rte_mbuf *m, uint32_t ip_offset, uint32_t ip_header_len);

#endif
