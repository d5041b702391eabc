/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_host.h"

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "vx_arp.h"
#include "vx_drop_packet.h"
#include "vx_icmp.h"
#include "vx_output.h"
#include "vx_wire.h"

/* Is @target the address of this very port? Answering for another port's would draw its traffic to
 * the wrong link. */
static bool
is_ours(const struct vx_view *view, rte_be32_t target_be, uint16_t port)
{
	const struct vx_view_local *local = vx_view_find_local4(view, target_be);

	return local != NULL && local->port == port;
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

	if (rte_ring_sp_enqueue_elem(lcore->punt_ring, &punt, sizeof(punt)) != 0)
		vx_lcore_count(lcore, VX_COUNT_PUNT_RING_FULL, 1);
}

/* The packet in hand has become an answer: it ends as a request and begins as a reply. */
static void
send_answer(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, enum vx_count which)
{
	vx_lcore_count(lcore, VX_COUNT_CONSUMED, 1);
	vx_lcore_count(lcore, VX_COUNT_ORIGINATED, 1);
	vx_lcore_count(lcore, which, 1);
	vx_output_padded(lcore, m, port);
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
		send_answer(lcore, m, port, VX_COUNT_ARP_REPLIES);
		return;
	}
	vx_lcore_count(lcore, VX_COUNT_CONSUMED, 1);
	rte_pktmbuf_free(m);
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
	reason = vx_icmp_echo_reply(m, ip_offset, ip_header);
	if (reason != VX_DROP_NONE) {
		vx_drop_packet(lcore, m, reason);
		return;
	}
	vx_trace_note(lcore, m, VX_TRACE_HOST, IPPROTO_ICMP);
	send_answer(lcore, m, port, VX_COUNT_ECHO_REPLIES);
}
