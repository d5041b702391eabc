/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_ext6.h"

#include <string.h>

#include <netinet/in.h>

#include "vx_mbuf.h"
#include "vx_wire.h"

#define UNIT		8u /* length and alignment of extension headers */
#define OPTION_PAD1	0
#define OPTION_ACT_MASK 0xc0 /* zero: who does not know the option skips it */
#define SEGMENTS_LEFT	3    /* byte of a routing header */

/* Are there only options that may be skipped, none of them cut? */
static bool
is_skippable(const uint8_t *option, uint32_t len)
{
	while (len > 0) {
		uint32_t n = 1;

		if (option[0] != OPTION_PAD1) {
			if ((option[0] & OPTION_ACT_MASK) != 0 || len < 2)
				return false;
			n = 2u + option[1];
		}
		if (n > len)
			return false;
		option += n;
		len -= n;
	}
	return true;
}

/* Make the packet contiguous up to @end, which has to be within it. */
static enum vx_drop
reach(struct rte_mbuf *m, uint32_t end)
{
	if (end > m->pkt_len)
		return VX_DROP_OUTER_IP_LENGTH;
	return vx_mbuf_pull(m, end) ? VX_DROP_NONE : VX_DROP_NO_MBUF;
}

/* One header of options or routing at @at; to @len its length. */
static enum vx_drop
check_one(struct rte_mbuf *m, uint32_t at, uint8_t protocol, uint32_t *len)
{
	const uint8_t *header = rte_pktmbuf_mtod_offset(m, const uint8_t *, at);
	enum vx_drop reason;

	*len = UNIT * (1u + header[1]);
	if (*len > VX_EXT6_BYTES_MAX)
		return VX_DROP_OUTER_IP_HEADER;
	reason = reach(m, at + *len);
	if (reason != VX_DROP_NONE)
		return reason;
	header = rte_pktmbuf_mtod_offset(m, const uint8_t *, at);
	if (protocol == IPPROTO_ROUTING ? header[SEGMENTS_LEFT] != 0
					: !is_skippable(header + 2, *len - 2))
		return VX_DROP_OUTER_IP_HEADER;
	return VX_DROP_NONE;
}

static bool
is_part(const uint8_t *header)
{
	struct vx_ip6_fragment fragment;

	memcpy(&fragment, header, sizeof(fragment));
	return (fragment.offset_be & RTE_BE16(VX_IP6_FRAGMENT_OFFSET | VX_IP6_FRAGMENT_MORE)) != 0;
}

static bool
is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_FRAGMENT;
}

enum vx_drop
vx_ext6_skip(struct rte_mbuf *m, uint32_t l3, struct vx_ext6 *ext)
{
	const uint32_t first = l3 + (uint32_t)sizeof(struct rte_ipv6_hdr);
	const struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, l3);

	*ext = (struct vx_ext6){
		.offset = first,
		.next_at = l3 + (uint32_t)offsetof(struct rte_ipv6_hdr, proto),
		.protocol = ip->proto,
	};
	for (unsigned int i = 0; is_extension(ext->protocol); i++) {
		enum vx_drop reason = reach(m, ext->offset + UNIT);
		uint32_t len = UNIT;

		if (reason != VX_DROP_NONE)
			return reason;
		/* Hop-by-hop options come first or not at all. */
		if (i == VX_EXT6_HEADERS_MAX || (i > 0 && ext->protocol == IPPROTO_HOPOPTS))
			return VX_DROP_OUTER_IP_HEADER;
		if (ext->protocol == IPPROTO_FRAGMENT) {
			if (ext->is_atomic)
				return VX_DROP_OUTER_IP_HEADER;
			if (is_part(rte_pktmbuf_mtod_offset(m, const uint8_t *, ext->offset)))
				return VX_DROP_NONE;
			ext->is_atomic = true;
		} else {
			reason = check_one(m, ext->offset, ext->protocol, &len);
			if (reason != VX_DROP_NONE)
				return reason;
		}
		ext->next_at = ext->offset;
		ext->protocol = *rte_pktmbuf_mtod_offset(m, const uint8_t *, ext->offset);
		ext->offset += len;
		if (ext->offset - first > VX_EXT6_BYTES_MAX)
			return VX_DROP_OUTER_IP_HEADER;
	}
	return VX_DROP_NONE;
}
