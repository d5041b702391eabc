/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_host.h"

#include <stddef.h>
#include <string.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "vx_arp.h"
#include "vx_csum.h"
#include "vx_drop_packet.h"
#include "vx_fragment.h"
#include "vx_icmp.h"
#include "vx_output.h"
#include "vx_wire.h"

/* Of an untagged IPv6 frame: the byte that says what follows the IP header. */
#define NEXT_HEADER_AT (VX_ETHER_HDR_LEN + offsetof(struct rte_ipv6_hdr, proto))

/* Is @target the address of this very port? Answering for another port's would draw its traffic to
 * the wrong link. */
static bool
is_ours(const struct vx_view *view, rte_be32_t target_be, uint16_t port)
{
	const struct vx_view_local *local = vx_view_find_local4(view, target_be);

	return local != NULL && local->port == port;
}

void
vx_host_tell(struct vx_lcore *lcore, struct vx_punt *punt)
{
	if (rte_ring_sp_enqueue_elem(lcore->punt_ring, punt, sizeof(*punt)) != 0)
		vx_lcore_count(lcore, VX_COUNT_PUNT_RING_FULL, 1);
}

void
vx_host_consume(struct vx_lcore *lcore, struct rte_mbuf *m)
{
	vx_lcore_count(lcore, VX_COUNT_CONSUMED, 1);
	rte_pktmbuf_free(m);
}

static void
tell_control(struct vx_lcore *lcore, const struct vx_arp_notice *notice)
{
	struct vx_punt punt = {
		.kind = VX_PUNT_ARP,
		.remote = notice->sender,
		.port = notice->port,
		.mac = notice->sender_mac,
		.is_reply = notice->is_reply,
		.is_for_us = notice->is_for_us,
	};

	vx_host_tell(lcore, &punt);
}

static void
send_fragment(struct vx_lcore *lcore, struct rte_mbuf *m, void *ctx)
{
	RTE_SET_USED(ctx);
	vx_output(lcore, m, m->port);
}

/* Counting down, so as not to meet those of tunnel packets, in this worker's lane. */
static rte_be32_t
fragment_id6(const struct vx_lcore *lcore)
{
	const uint64_t sent = lcore->counts.value[VX_COUNT_ECHO_REPLIES];

	return rte_cpu_to_be_32(~(uint32_t)(sent << lcore->id_shift | lcore->index));
}

/* An answer as large as its request, which may have come in fragments. */
static void
send_sized(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port)
{
	const uint16_t mtu = lcore->view->port[port].mtu;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const rte_be16_t type = vx_ether_type(frame);
	bool is_sent;

	if (likely(m->pkt_len <= VX_ETHER_HDR_LEN + (uint32_t)mtu)) {
		vx_output_padded(lcore, m, port);
		return;
	}
	m->port = port;
	/* Cut only where the headers are the plain ones that vx_fragment.h knows. */
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && frame[VX_ETHER_HDR_LEN] == RTE_IPV4_VHL_DEF) {
		is_sent = vx_fragment(lcore, m, mtu, send_fragment, NULL);
	} else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) &&
		   frame[NEXT_HEADER_AT] == IPPROTO_ICMPV6) {
		is_sent = vx_fragment6(lcore, m, mtu, fragment_id6(lcore), send_fragment, NULL);
	} else {
		vx_drop_packet(lcore, m, VX_DROP_TOO_BIG);
		return;
	}
	if (!is_sent)
		vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
}

void
vx_host_answer(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, enum vx_count which)
{
	vx_lcore_count(lcore, VX_COUNT_CONSUMED, 1);
	vx_lcore_count(lcore, VX_COUNT_ORIGINATED, 1);
	vx_lcore_count(lcore, which, 1);
	send_sized(lcore, m, port);
}

void
vx_host_arp(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port)
{
	struct vx_arp_notice notice;
	struct vx_bucket *bucket;
	rte_be32_t target_be;

	if (vx_arp_parse(m, &notice, &target_be) != VX_DROP_NONE) {
		vx_drop_packet(lcore, m, VX_DROP_ARP_BAD);
		return;
	}
	notice.port = port;
	notice.is_for_us = is_ours(lcore->view, target_be, port);
	bucket = notice.is_for_us ? &lcore->arp_bucket : &lcore->other_arp_bucket;
	if (!vx_bucket_take(bucket, lcore->now)) {
		vx_drop_packet(lcore, m, VX_DROP_HOST_RATE);
		return;
	}
	tell_control(lcore, &notice);
	vx_trace_note(lcore, m, VX_TRACE_HOST, RTE_ETHER_TYPE_ARP);
	if (notice.is_for_us && !notice.is_reply) {
		if (!vx_arp_reply_in_place(m, &lcore->view->port[port].mac)) {
			vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
			return;
		}
		vx_host_answer(lcore, m, port, VX_COUNT_ARP_REPLIES);
		return;
	}
	vx_host_consume(lcore, m);
}

/* The beginning of an ICMP "fragmentation needed" and of the packet that it quotes (RFC 1191). */
struct fragmentation_needed {
	uint8_t type, code;
	uint16_t checksum;
	rte_be16_t unused_be, mtu_be;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
} __attribute__((packed));

/*
 * Does the ICMP message at @offset quote a packet of one of our tunnels, larger than the MTU it
 * gives? Then the control thread is told. Anybody can send one: it has to name our address and
 * ports, and the control thread checks that the VTEP exists.
 */
static bool
tell_path_mtu(struct vx_lcore *lcore, const struct rte_mbuf *m, uint16_t port, uint32_t offset)
{
	const struct vx_view *view = lcore->view;
	struct vx_punt punt = {.kind = VX_PUNT_PMTU, .port = port};
	struct fragmentation_needed copy, icmp;
	const void *bytes = rte_pktmbuf_read(m, offset, sizeof(copy), &copy);
	uint32_t source_port;

	if (bytes == NULL)
		return false;
	memcpy(&icmp, bytes, sizeof(icmp));
	source_port = rte_be_to_cpu_16(icmp.udp.src_port);
	if (icmp.type != VX_ICMP_UNREACHABLE || icmp.code != VX_ICMP_FRAGMENT_NEEDED ||
	    vx_csum_range(m, offset, m->pkt_len - offset) != UINT16_MAX)
		return false;
	if (icmp.ip.version_ihl != RTE_IPV4_VHL_DEF || icmp.ip.next_proto_id != IPPROTO_UDP ||
	    vx_view_find_local4(view, icmp.ip.src_addr) == NULL ||
	    icmp.udp.dst_port != view->udp_port_be || source_port < view->source_port_lo ||
	    source_port >= view->source_port_lo + view->source_ports ||
	    rte_be_to_cpu_16(icmp.ip.total_length) <= rte_be_to_cpu_16(icmp.mtu_be)) {
		vx_lcore_count(lcore, VX_COUNT_PMTU_IGNORED, 1);
		return true;
	}
	punt.remote = vx_ip_from_v4(icmp.ip.dst_addr);
	punt.mtu = rte_be_to_cpu_16(icmp.mtu_be);
	vx_host_tell(lcore, &punt);
	return true;
}

void
vx_host_icmp(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
	     uint32_t ip_header)
{
	enum vx_drop reason;

	if (!vx_bucket_take(&lcore->icmp_bucket, lcore->now)) {
		vx_drop_packet(lcore, m, VX_DROP_HOST_RATE);
		return;
	}
	if (tell_path_mtu(lcore, m, port, ip_offset + ip_header)) {
		vx_host_consume(lcore, m);
		return;
	}
	reason = vx_icmp_echo_reply(m, ip_offset, ip_header);
	if (reason != VX_DROP_NONE) {
		vx_drop_packet(lcore, m, reason);
		return;
	}
	vx_trace_note(lcore, m, VX_TRACE_HOST, IPPROTO_ICMP);
	vx_host_answer(lcore, m, port, VX_COUNT_ECHO_REPLIES);
}
