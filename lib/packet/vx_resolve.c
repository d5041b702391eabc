/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_resolve.h"

#include <string.h>

#include <rte_arp.h>
#include <rte_mbuf.h>

#include "vx_csum.h"
#include "vx_nd_wire.h"
#include "vx_wire.h"

#define OPTIONS_MAX 128u /* bytes; longer packets are left to those they are for */

struct arp_frame {
	struct rte_ether_hdr ether;
	struct rte_arp_hdr arp;
} __attribute__((packed, aligned(2)));
_Static_assert(sizeof(struct arp_frame) == 42, "wire format");

struct nd_frame {
	uint8_t ether[VX_ETHER_HDR_LEN];
	struct rte_ipv6_hdr ip;
	struct vx_nd_hdr nd;
} __attribute__((packed));

static bool
parse_arp(const struct rte_mbuf *m, struct vx_resolve *resolve)
{
	struct arp_frame frame;
	const void *bytes = rte_pktmbuf_read(m, 0, sizeof(frame), &frame);
	const struct rte_arp_ipv4 *data = &frame.arp.arp_data;

	if (bytes == NULL)
		return false;
	if (bytes != &frame)
		memcpy(&frame, bytes, sizeof(frame));
	if (frame.arp.arp_hardware != RTE_BE16(RTE_ARP_HRD_ETHER) ||
	    frame.arp.arp_protocol != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
	    frame.arp.arp_hlen != RTE_ETHER_ADDR_LEN || frame.arp.arp_plen != sizeof(rte_be32_t))
		return false;
	if (frame.arp.arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST) &&
	    frame.arp.arp_opcode != RTE_BE16(RTE_ARP_OP_REPLY))
		return false;
	if (!rte_is_valid_assigned_ether_addr(&data->arp_sha))
		return false;
	/* A probe for a duplicate has the sender 0.0.0.0, which is no host's. */
	if (!vx_ip4_is_host(data->arp_sip))
		return true;
	resolve->sender = vx_ip_from_v4(data->arp_sip);
	resolve->sender_mac = data->arp_sha;
	if (frame.arp.arp_opcode == RTE_BE16(RTE_ARP_OP_REQUEST) &&
	    data->arp_tip != data->arp_sip && vx_ip4_is_host(data->arp_tip))
		resolve->target = vx_ip_from_v4(data->arp_tip);
	return true;
}

/* Look through the options for the MAC of @type. False: they are malformed. */
static bool
parse_options(const uint8_t *option, uint32_t len, uint8_t type, struct rte_ether_addr *mac,
	      bool *has_mac)
{
	*has_mac = false;
	while (len > 0) {
		const uint32_t size = len < 2 ? 0 : option[1] * 8u;

		if (size == 0 || size > len)
			return false;
		if (option[0] == type && size == sizeof(struct vx_nd_option)) {
			memcpy(mac, option + 2, sizeof(*mac));
			*has_mac = true;
		}
		option += size;
		len -= size;
	}
	return true;
}

static bool
is_solicited_node(const uint8_t *group)
{
	const uint8_t prefix[] = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};

	return memcmp(group, prefix, sizeof(prefix)) == 0;
}

static bool
fill_solicit(struct vx_resolve *resolve, const struct nd_frame *frame, bool has_mac)
{
	struct vx_ip source;

	memcpy(source.bytes, &frame->ip.src_addr, sizeof(source.bytes));
	/* Duplicate address detection asks from ::, and everybody is to hear it. */
	if (vx_ip_is_none(&source))
		return !has_mac && is_solicited_node((const uint8_t *)&frame->ip.dst_addr);
	if (!has_mac || !vx_ip_is_host(&source))
		return true;
	resolve->sender = source;
	if (memcmp(source.bytes, frame->nd.target, sizeof(source.bytes)) != 0 &&
	    *(const uint8_t *)&frame->ip.dst_addr == 0xff)
		memcpy(resolve->target.bytes, frame->nd.target, sizeof(resolve->target.bytes));
	return true;
}

static bool
fill_advert(struct vx_resolve *resolve, const struct nd_frame *frame, bool has_mac)
{
	if (*(const uint8_t *)&frame->ip.dst_addr == 0xff &&
	    (frame->nd.flags & VX_ND_FLAG_SOLICITED) != 0)
		return false;
	resolve->is_advert = true;
	resolve->is_router = (frame->nd.flags & VX_ND_FLAG_ROUTER) != 0;
	resolve->is_override = (frame->nd.flags & VX_ND_FLAG_OVERRIDE) != 0;
	if (has_mac)
		memcpy(resolve->sender.bytes, frame->nd.target, sizeof(resolve->sender.bytes));
	return true;
}

static bool
is_checksum_right(const struct nd_frame *frame, uint32_t len)
{
	struct rte_ipv6_hdr ip;
	uint32_t sum;

	memcpy(&ip, &frame->ip, sizeof(ip));
	sum = rte_ipv6_phdr_cksum(&ip, 0);
	sum += rte_raw_cksum(&frame->nd, len);
	return vx_csum_fold(sum) == 0xffff;
}

static bool
parse_nd(const struct rte_mbuf *m, struct vx_resolve *resolve)
{
	uint8_t scratch[sizeof(struct nd_frame) + OPTIONS_MAX];
	const struct nd_frame *frame;
	uint32_t len, options;
	struct vx_ip target;
	bool has_mac;

	frame = rte_pktmbuf_read(m, 0, sizeof(*frame), scratch);
	if (frame == NULL || frame->ip.proto != IPPROTO_ICMPV6 ||
	    (frame->nd.type != VX_ND_SOLICIT && frame->nd.type != VX_ND_ADVERT))
		return false;
	len = rte_be_to_cpu_16(frame->ip.payload_len);
	if (len < sizeof(struct vx_nd_hdr) || len > sizeof(struct vx_nd_hdr) + OPTIONS_MAX ||
	    frame->nd.code != 0 || frame->ip.hop_limits != VX_ND_HOP_LIMIT ||
	    *(const uint8_t *)&frame->ip >> 4 != 6)
		return false;
	options = len - (uint32_t)sizeof(struct vx_nd_hdr);
	frame = rte_pktmbuf_read(m, 0, (uint32_t)sizeof(*frame) + options, scratch);
	if (frame == NULL || !is_checksum_right(frame, len))
		return false;
	memcpy(target.bytes, frame->nd.target, sizeof(target.bytes));
	if (!vx_ip_is_host(&target) || vx_ip_is_v4(&target))
		return false;
	resolve->is_nd = true;
	if (!parse_options((const uint8_t *)(frame + 1), options,
			   frame->nd.type == VX_ND_SOLICIT ? VX_ND_OPTION_SOURCE
							   : VX_ND_OPTION_TARGET,
			   &resolve->sender_mac, &has_mac))
		return false;
	if (has_mac && !rte_is_valid_assigned_ether_addr(&resolve->sender_mac))
		return false;
	return frame->nd.type == VX_ND_SOLICIT ? fill_solicit(resolve, frame, has_mac)
					       : fill_advert(resolve, frame, has_mac);
}

bool
vx_resolve_parse(const struct rte_mbuf *m, struct vx_resolve *resolve)
{
	uint8_t scratch[VX_ETHER_HDR_LEN];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, sizeof(scratch), scratch);

	*resolve = (struct vx_resolve){0};
	if (frame == NULL)
		return false;
	if (vx_ether_type(frame) == RTE_BE16(RTE_ETHER_TYPE_ARP))
		return parse_arp(m, resolve);
	return vx_ether_type(frame) == RTE_BE16(RTE_ETHER_TYPE_IPV6) && parse_nd(m, resolve);
}

static uint32_t
answer_arp(uint8_t *to, const struct vx_resolve *asked, const struct vx_resolve_owner *owner)
{
	const struct arp_frame frame = {
		.ether.dst_addr = asked->sender_mac,
		.ether.src_addr = owner->mac,
		.ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP),
		.arp.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
		.arp.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.arp.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp.arp_plen = sizeof(rte_be32_t),
		.arp.arp_opcode = RTE_BE16(RTE_ARP_OP_REPLY),
		.arp.arp_data.arp_sha = owner->mac,
		.arp.arp_data.arp_sip = vx_ip_v4(&asked->target),
		.arp.arp_data.arp_tha = asked->sender_mac,
		.arp.arp_data.arp_tip = vx_ip_v4(&asked->sender),
	};

	memcpy(to, &frame, sizeof(frame));
	return sizeof(frame);
}

static uint32_t
answer_nd(uint8_t *to, const struct vx_resolve *asked, const struct vx_resolve_owner *owner)
{
	struct {
		struct vx_nd_hdr nd;
		struct vx_nd_option option;
	} __attribute__((packed, aligned(2))) message = {
		.nd.type = VX_ND_ADVERT,
		.nd.flags = (uint8_t)(VX_ND_FLAG_SOLICITED |
				      (owner->is_router ? VX_ND_FLAG_ROUTER : 0) |
				      (owner->is_override ? VX_ND_FLAG_OVERRIDE : 0)),
		.option.type = VX_ND_OPTION_TARGET,
		.option.units = 1,
		.option.mac = owner->mac,
	};
	struct rte_ipv6_hdr ip = {
		.vtc_flow = RTE_BE32(VX_IP6_VERSION),
		.payload_len = RTE_BE16(sizeof(message)),
		.proto = IPPROTO_ICMPV6,
		.hop_limits = VX_ND_HOP_LIMIT,
	};
	const rte_be16_t type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	uint32_t sum;

	memcpy(&ip.src_addr, asked->target.bytes, sizeof(asked->target.bytes));
	memcpy(&ip.dst_addr, asked->sender.bytes, sizeof(asked->sender.bytes));
	memcpy(message.nd.target, asked->target.bytes, sizeof(message.nd.target));
	sum = rte_ipv6_phdr_cksum(&ip, 0);
	sum += rte_raw_cksum(&message, sizeof(message));
	message.nd.checksum = (uint16_t)~vx_csum_fold(sum);
	memcpy(to, &asked->sender_mac, RTE_ETHER_ADDR_LEN);
	memcpy(to + RTE_ETHER_ADDR_LEN, &owner->mac, RTE_ETHER_ADDR_LEN);
	memcpy(to + 2 * RTE_ETHER_ADDR_LEN, &type, sizeof(type));
	memcpy(to + VX_ETHER_HDR_LEN, &ip, sizeof(ip));
	memcpy(to + VX_ETHER_HDR_LEN + sizeof(ip), &message, sizeof(message));
	return VX_ETHER_HDR_LEN + (uint32_t)(sizeof(ip) + sizeof(message));
}

uint32_t
vx_resolve_answer(uint8_t *to, const struct vx_resolve *asked, const struct vx_resolve_owner *owner)
{
	return asked->is_nd ? answer_nd(to, asked, owner) : answer_arp(to, asked, owner);
}
