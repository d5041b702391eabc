/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_nd.h"

#include <stddef.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_icmp6.h"
#include "vx_ip6.h"
#include "vx_multicast.h"
#include "vx_nd_wire.h"
#include "vx_reuse.h"
#include "vx_wire.h"

/* Options that mean nothing here may come along; more than this is no message of a neighbour. */
#define MESSAGE_MAX 1280u

struct nd_frame {
	struct rte_ether_hdr ether;
	struct rte_ipv6_hdr ip;
	struct vx_nd_hdr message;
	struct vx_nd_option option;
} __attribute__((packed, aligned(2)));
_Static_assert(sizeof(struct nd_frame) == 86, "wire format");

/* --- what is received --- */

/* The MAC of the option @type, if there is one, to @mac. False: options that cannot be. */
static bool
walk_options(const uint8_t *bytes, uint32_t len, uint8_t type, struct rte_ether_addr *mac,
	     bool *has_mac)
{
	uint32_t at = 0;

	*has_mac = false;
	while (at < len) {
		struct vx_nd_option option;
		uint32_t size;

		if (len - at < sizeof(option))
			return false;
		memcpy(&option, bytes + at, sizeof(option));
		size = option.units * 8u;
		if (size == 0 || size > len - at)
			return false;
		if (option.type == type) {
			/* one unit: an Ethernet address (RFC 2464 section 6) */
			if (option.units != 1 || !rte_is_valid_assigned_ether_addr(&option.mac))
				return false;
			*mac = option.mac;
			*has_mac = true;
		}
		at += size;
	}
	return true;
}

/* RFC 4861 7.1.1 */
static bool
is_solicit_right(const struct vx_ip *source, const struct vx_ip *destination,
		 const struct vx_ip *target, bool has_mac)
{
	const struct vx_ip group = vx_ip6_solicited_node(target);

	if (vx_ip_is_none(source))
		return !has_mac && vx_ip_is_equal(destination, &group);
	return vx_ip_is_host(source);
}

/* RFC 4861 7.1.2 */
static bool
is_advert_right(const struct vx_ip *source, const struct vx_ip *destination,
		const struct vx_nd_hdr *message)
{
	return vx_ip_is_host(source) &&
	       (!vx_ip_is_multicast(destination) || (message->flags & VX_ND_FLAG_SOLICITED) == 0);
}

static uint8_t
flags_of(const struct vx_nd_hdr *message, bool is_probe, bool has_mac)
{
	uint8_t flags = 0;

	if (message->type == VX_ND_ADVERT) {
		flags |= VX_ND_IS_ADVERT;
		flags |= (message->flags & VX_ND_FLAG_SOLICITED) != 0 ? VX_ND_IS_SOLICITED : 0;
		flags |= (message->flags & VX_ND_FLAG_OVERRIDE) != 0 ? VX_ND_IS_OVERRIDE : 0;
	}
	return flags | (is_probe ? VX_ND_IS_PROBE : 0) | (has_mac ? VX_ND_HAS_MAC : 0);
}

enum vx_drop
vx_nd_parse(const struct rte_mbuf *m, uint32_t ip_offset, uint32_t l4_offset,
	    struct vx_nd_notice *notice, struct vx_ip *target)
{
	const uint32_t len = m->pkt_len - l4_offset;
	uint8_t scratch[MESSAGE_MAX];
	const uint8_t *bytes = NULL;
	struct vx_ip source, destination, asked;
	struct vx_nd_hdr message;
	struct rte_ether_hdr ether;
	struct rte_ipv6_hdr ip;
	struct rte_ether_addr mac;
	bool has_mac, is_advert;
	const void *found;

	if (m->pkt_len < l4_offset + sizeof(message) || len > MESSAGE_MAX)
		return VX_DROP_ND_BAD;
	found = rte_pktmbuf_read(m, ip_offset, sizeof(ip), scratch);
	if (found == NULL)
		return VX_DROP_ND_BAD;
	memcpy(&ip, found, sizeof(ip));
	memcpy(&source, &ip.src_addr, sizeof(source));
	memcpy(&destination, &ip.dst_addr, sizeof(destination));
	memcpy(&ether, rte_pktmbuf_read(m, 0, sizeof(ether), scratch), sizeof(ether));
	bytes = rte_pktmbuf_read(m, l4_offset, len, scratch);
	memcpy(&message, bytes, sizeof(message));
	memcpy(&asked, message.target, sizeof(asked));
	is_advert = message.type == VX_ND_ADVERT;
	mac = ether.src_addr;
	if (ip.hop_limits != VX_ND_HOP_LIMIT || message.code != 0 || !vx_ip_is_host(&asked) ||
	    vx_ip_is_v4(&asked) || !rte_is_valid_assigned_ether_addr(&ether.src_addr) ||
	    !walk_options(bytes + sizeof(message), len - (uint32_t)sizeof(message),
			  is_advert ? VX_ND_OPTION_TARGET : VX_ND_OPTION_SOURCE, &mac, &has_mac))
		return VX_DROP_ND_BAD;
	if (is_advert ? !is_advert_right(&source, &destination, &message)
		      : !is_solicit_right(&source, &destination, &asked, has_mac))
		return VX_DROP_ND_BAD;
	if (!vx_icmp6_is_right(m, ip_offset, l4_offset))
		return VX_DROP_ND_BAD;
	*target = asked;
	*notice = (struct vx_nd_notice){
		.ip = is_advert || vx_ip_is_none(&source) ? asked : source,
		.mac = mac,
		.port = m->port,
		.flags = flags_of(&message, vx_ip_is_none(&source), has_mac),
	};
	return VX_DROP_NONE;
}

/* --- what is sent --- */

/* From @source_mac to everybody in @group. */
static struct nd_frame
make_frame(uint8_t type, const struct rte_ether_addr *source_mac, const struct vx_ip *group)
{
	return (struct nd_frame){
		.ether = {.dst_addr = vx_multicast_mac(group),
			  .src_addr = *source_mac,
			  .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6)},
		.ip = {.vtc_flow = RTE_BE32(VX_IP6_VERSION),
		       .proto = IPPROTO_ICMPV6,
		       .hop_limits = VX_ND_HOP_LIMIT},
		.message.type = type,
		.option = {.units = 1, .mac = *source_mac},
	};
}

/* Lengths and checksum, when all else is there; @len: of the frame. */
static void
finish(struct nd_frame *frame, uint32_t len, const struct vx_ip *source,
       const struct vx_ip *destination)
{
	const uint16_t payload =
		(uint16_t)(len - sizeof(struct rte_ether_hdr) - sizeof(struct rte_ipv6_hdr));
	uint8_t bytes[sizeof(struct vx_nd_hdr) + sizeof(struct vx_nd_option)];

	memcpy(&frame->ip.src_addr, source, sizeof(*source));
	memcpy(&frame->ip.dst_addr, destination, sizeof(*destination));
	frame->ip.payload_len = rte_cpu_to_be_16(payload);
	frame->message.checksum = 0;
	memcpy(bytes, (const uint8_t *)frame + offsetof(struct nd_frame, message), payload);
	frame->message.checksum = vx_icmp6_checksum(source, destination, bytes, payload);
}

bool
vx_nd_advert_in_place(struct rte_mbuf *m, const struct vx_nd_advert *advert)
{
	const struct vx_ip everybody = vx_ip6_all_nodes();
	struct nd_frame frame = make_frame(VX_ND_ADVERT, &advert->mac, &everybody);
	const bool is_solicited = !vx_ip_is_none(&advert->to);
	uint8_t *to;

	memcpy(frame.message.target, &advert->target, sizeof(advert->target));
	frame.message.flags = (uint8_t)((is_solicited ? VX_ND_FLAG_SOLICITED : 0) |
					(advert->is_override ? VX_ND_FLAG_OVERRIDE : 0));
	frame.option.type = VX_ND_OPTION_TARGET;
	if (is_solicited)
		frame.ether.dst_addr = advert->to_mac;
	finish(&frame, sizeof(frame), &advert->target, is_solicited ? &advert->to : &everybody);
	to = vx_reuse_mbuf(m, sizeof(frame));
	if (to == NULL)
		return false;
	memcpy(to, &frame, sizeof(frame));
	return true;
}

struct rte_mbuf *
vx_nd_announce_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
		    const struct vx_ip *ip)
{
	const struct vx_nd_advert advert = {.target = *ip, .mac = *our_mac, .is_override = true};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m != NULL && !vx_nd_advert_in_place(m, &advert)) {
		rte_pktmbuf_free(m);
		m = NULL;
	}
	return m;
}

struct rte_mbuf *
vx_nd_solicit_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
		   const struct vx_ip *source, const struct vx_ip *target,
		   const struct rte_ether_addr *to)
{
	const struct vx_ip group = vx_ip6_solicited_node(target);
	struct nd_frame frame = make_frame(VX_ND_SOLICIT, our_mac, &group);
	/* A probe says nothing of whose MAC it is. */
	const bool is_probe = vx_ip_is_none(source);
	const uint16_t len =
		(uint16_t)(sizeof(frame) - (is_probe ? sizeof(struct vx_nd_option) : 0));
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *bytes;

	if (m == NULL)
		return NULL;
	bytes = vx_reuse_mbuf(m, len);
	if (bytes == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(frame.message.target, target, sizeof(*target));
	frame.option.type = VX_ND_OPTION_SOURCE;
	if (to != NULL)
		frame.ether.dst_addr = *to;
	finish(&frame, len, source, to != NULL ? target : &group);
	memcpy(bytes, &frame, len);
	return m;
}
