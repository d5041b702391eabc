/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_arp.h"

#include <string.h>

#include <rte_arp.h>
#include <rte_mbuf.h>

#include "vx_reuse.h"
#include "vx_wire.h"

struct arp_frame {
	struct rte_ether_hdr ether;
	struct rte_arp_hdr arp;
} __attribute__((packed, aligned(2)));
_Static_assert(sizeof(struct arp_frame) == 42, "wire format");

static bool
is_ipv4_over_ethernet(const struct arp_frame *frame)
{
	return frame->ether.ether_type == RTE_BE16(RTE_ETHER_TYPE_ARP) &&
	       frame->arp.arp_hardware == RTE_BE16(RTE_ARP_HRD_ETHER) &&
	       frame->arp.arp_protocol == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
	       frame->arp.arp_hlen == RTE_ETHER_ADDR_LEN &&
	       frame->arp.arp_plen == sizeof(rte_be32_t);
}

/* Can this be what one host sent? A probe (RFC 5227) is a request from 0.0.0.0. */
static bool
is_sender_plausible(const struct arp_frame *frame, bool is_reply)
{
	const rte_be32_t sender_be = frame->arp.arp_data.arp_sip;

	if (!rte_is_valid_assigned_ether_addr(&frame->arp.arp_data.arp_sha) ||
	    rte_is_multicast_ether_addr(&frame->ether.src_addr))
		return false;
	return vx_ip4_is_host(sender_be) || (sender_be == 0 && !is_reply);
}

enum vx_drop
vx_arp_parse(const struct rte_mbuf *m, struct vx_arp_notice *notice, rte_be32_t *target_be)
{
	struct arp_frame scratch;
	const struct arp_frame *frame;
	bool is_reply;

	frame = rte_pktmbuf_read(m, 0, sizeof(scratch), &scratch);
	if (frame == NULL || !is_ipv4_over_ethernet(frame))
		return VX_DROP_ARP_BAD;
	is_reply = frame->arp.arp_opcode == RTE_BE16(RTE_ARP_OP_REPLY);
	if (!is_reply && frame->arp.arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST))
		return VX_DROP_ARP_BAD;
	if (!is_sender_plausible(frame, is_reply))
		return VX_DROP_ARP_BAD;
	*notice = (struct vx_arp_notice){
		.sender = vx_ip_from_v4(frame->arp.arp_data.arp_sip),
		.sender_mac = frame->arp.arp_data.arp_sha,
		.port = m->port,
		.is_reply = is_reply,
	};
	*target_be = frame->arp.arp_data.arp_tip;
	return VX_DROP_NONE;
}

/* To @to, VX_ETHER_MIN_LEN bytes. */
static void
write_padded(uint8_t *to, const struct arp_frame *frame)
{
	memcpy(to, frame, sizeof(*frame));
	memset(to + sizeof(*frame), 0, VX_ETHER_MIN_LEN - sizeof(*frame));
}

static struct arp_frame
make_frame(uint16_t opcode)
{
	return (struct arp_frame){
		.ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP),
		.arp.arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER),
		.arp.arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4),
		.arp.arp_hlen = RTE_ETHER_ADDR_LEN,
		.arp.arp_plen = sizeof(rte_be32_t),
		.arp.arp_opcode = rte_cpu_to_be_16(opcode),
	};
}

bool
vx_arp_reply_in_place(struct rte_mbuf *m, const struct rte_ether_addr *our_mac)
{
	struct arp_frame scratch, reply = make_frame(RTE_ARP_OP_REPLY);
	const struct arp_frame *request = rte_pktmbuf_read(m, 0, sizeof(scratch), &scratch);
	uint8_t *to;

	if (request == NULL)
		return false;
	reply.ether.dst_addr = request->arp.arp_data.arp_sha;
	reply.ether.src_addr = *our_mac;
	reply.arp.arp_data.arp_sha = *our_mac;
	reply.arp.arp_data.arp_sip = request->arp.arp_data.arp_tip;
	reply.arp.arp_data.arp_tha = request->arp.arp_data.arp_sha;
	reply.arp.arp_data.arp_tip = request->arp.arp_data.arp_sip;
	to = vx_reuse_mbuf(m, VX_ETHER_MIN_LEN);
	if (to == NULL)
		return false;
	write_padded(to, &reply);
	return true;
}

struct rte_mbuf *
vx_arp_request_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
		    rte_be32_t our_ip_be, rte_be32_t target_be, const struct rte_ether_addr *to)
{
	struct arp_frame request = make_frame(RTE_ARP_OP_REQUEST);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *bytes;

	if (m == NULL)
		return NULL;
	bytes = vx_reuse_mbuf(m, VX_ETHER_MIN_LEN);
	if (bytes == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memset(&request.ether.dst_addr, 0xff, RTE_ETHER_ADDR_LEN);
	if (to != NULL) {
		request.ether.dst_addr = *to;
		request.arp.arp_data.arp_tha = *to;
	}
	request.ether.src_addr = *our_mac;
	request.arp.arp_data.arp_sha = *our_mac;
	request.arp.arp_data.arp_sip = our_ip_be;
	request.arp.arp_data.arp_tip = target_be;
	write_padded(bytes, &request);
	return m;
}
