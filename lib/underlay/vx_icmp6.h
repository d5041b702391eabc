/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMPv6 (RFC 4443). Without state: the workers call this. */
#ifndef VX_ICMP6_H
#define VX_ICMP6_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_drop.h"

struct rte_ether_addr;
struct rte_mbuf;
struct vx_ip;

/*
 * Is the checksum of the ICMPv6 message at @l4_offset right? The IPv6 header at @ip_offset has been
 * checked, and the packet ends with the frame.
 */
bool vx_icmp6_is_right(const struct rte_mbuf *m, uint32_t ip_offset, uint32_t l4_offset);

/* The checksum of a message of @len bytes with a checksum field of zero. */
uint16_t vx_icmp6_checksum(const struct vx_ip *source, const struct vx_ip *destination,
			   const void *message, uint32_t len);

/*
 * Turn the echo request in *@m into its reply from @source, in place, in whatever segments it lies:
 * hop limit 64, the request's traffic class and flow label, no extension headers. The request may
 * have gone to a group, hence @our_mac and @source. As for
 * vx_icmp6_is_right(), and no segment that holds a header byte may be shared with another packet.
 *
 * VX_DROP_NONE: *@m, which may be another segment of it now, is the reply. VX_DROP_ICMP_BAD, with
 * @m as it was: not an echo request, its checksum is wrong, or its source is no single host.
 */
enum vx_drop vx_icmp6_echo_reply(struct rte_mbuf **m, uint32_t ip_offset, uint32_t l4_offset,
				 const struct rte_ether_addr *our_mac, const struct vx_ip *source);

#endif
