/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_host6.h"

#include <string.h>

#include "vx_drop_packet.h"
#include "vx_host.h"
#include "vx_host_group.h"
#include "vx_icmp6.h"
#include "vx_ip6.h"
#include "vx_mld.h"
#include "vx_nd.h"
#include "vx_nd_wire.h"
#include "vx_wire.h"

/* The address of this very port, or NULL. Two ports may have the same link-local one. */
static const struct vx_view_local *
find_own(const struct vx_view *view, const struct vx_ip *ip, uint16_t port)
{
	for (unsigned int i = 0; i < view->n_locals; i++)
		if (view->local[i].port == port && vx_ip_is_equal(&view->local[i].ip, ip))
			return &view->local[i];
	return NULL;
}

/* --- neighbours --- */

static void
tell_control(struct vx_lcore *lcore, const struct vx_nd_notice *notice)
{
	struct vx_punt what = {
		.kind = VX_PUNT_ND,
		.remote = notice->ip,
		.port = notice->port,
		.mac = notice->mac,
		.nd_flags = notice->flags,
	};

	vx_host_tell(lcore, &what);
}

/*
 * An answer to what was asked for @local. While that is tentative, whoever probes for it as well is
 * not answered (RFC 4862 5.4.3: neither may have it), and nobody's cache is overridden (RFC 4429
 * 3.3).
 */
static void
answer_solicit(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_nd_notice *notice,
	       const struct vx_view_local *local)
{
	const bool is_probe = (notice->flags & VX_ND_IS_PROBE) != 0;
	struct vx_nd_advert advert = {
		.target = local->ip,
		.mac = lcore->view->port[local->port].mac,
		.to_mac = notice->mac,
		.is_override = !local->is_tentative,
	};

	if (is_probe && local->is_tentative) {
		vx_host_consume(lcore, m);
		return;
	}
	if (!is_probe)
		advert.to = notice->ip;
	if (!vx_nd_advert_in_place(m, &advert)) {
		vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
		return;
	}
	vx_host_answer(lcore, m, local->port, VX_COUNT_ND_ADVERTS);
}

static void
host_nd(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
	uint32_t l4_offset)
{
	const struct vx_view_local *local;
	struct vx_nd_notice notice;
	struct vx_bucket *bucket;
	struct vx_ip target;
	bool is_advert;

	if (vx_nd_parse(m, ip_offset, l4_offset, &notice, &target) != VX_DROP_NONE) {
		vx_drop_packet(lcore, m, VX_DROP_ND_BAD);
		return;
	}
	notice.port = port;
	is_advert = (notice.flags & VX_ND_IS_ADVERT) != 0;
	local = find_own(lcore->view, &target, port);
	/* A solicited advertisement has come to an address of ours. */
	if (local != NULL || (notice.flags & VX_ND_IS_SOLICITED) != 0)
		notice.flags |= VX_ND_IS_FOR_US;
	bucket =
		(notice.flags & VX_ND_IS_FOR_US) != 0 ? &lcore->nd_bucket : &lcore->other_nd_bucket;
	if (!vx_bucket_take(bucket, lcore->now)) {
		vx_drop_packet(lcore, m, VX_DROP_HOST_RATE);
		return;
	}
	vx_trace_note(lcore, m, VX_TRACE_HOST, IPPROTO_ICMPV6);
	/* Solicitations for others concern nobody here (RFC 4861 7.2.3). */
	if (is_advert || local != NULL)
		tell_control(lcore, &notice);
	if (!is_advert && local != NULL)
		answer_solicit(lcore, m, &notice, local);
	else
		vx_host_consume(lcore, m);
}

/* --- packet too big --- */

/* The beginning of a "packet too big" and of the packet that it quotes (RFC 4443 3.2). */
struct too_big {
	uint8_t type, code;
	uint16_t checksum;
	rte_be32_t mtu_be;
	struct rte_ipv6_hdr ip;
	/* of the packet's payload: UDP, or a fragment header and UDP */
	uint8_t payload[8 + sizeof(struct rte_udp_hdr)];
} __attribute__((packed));

#define TOO_BIG_MIN (sizeof(struct too_big) - 8)

/* The UDP header that @icmp quotes, or NULL. @len: bytes of @icmp that are there. */
static bool
find_udp(const struct too_big *icmp, uint32_t len, struct rte_udp_hdr *udp)
{
	uint32_t at = 0;
	rte_be16_t offset_be;

	if (icmp->ip.proto == IPPROTO_FRAGMENT) {
		memcpy(&offset_be, icmp->payload + 2, sizeof(offset_be));
		if (len < sizeof(*icmp) || icmp->payload[0] != IPPROTO_UDP ||
		    (offset_be & RTE_BE16(VX_IP6_FRAGMENT_OFFSET)) != 0)
			return false;
		at = 8;
	} else if (icmp->ip.proto != IPPROTO_UDP) {
		return false;
	}
	memcpy(udp, icmp->payload + at, sizeof(*udp));
	return true;
}

/* Does @icmp quote a packet of one of our tunnels, larger than the MTU it gives? Anybody can send
 * one: it has to name our address and ports, and the control thread checks that the VTEP exists. */
static bool
is_ours(const struct vx_view *view, const struct too_big *icmp, uint32_t len)
{
	const uint32_t quoted = (uint32_t)sizeof(icmp->ip) + rte_be_to_cpu_16(icmp->ip.payload_len);
	struct rte_udp_hdr udp;
	struct vx_ip source;
	uint32_t source_port;

	memcpy(&source, &icmp->ip.src_addr, sizeof(source));
	if (icmp->code != 0 ||
	    (icmp->ip.vtc_flow & RTE_BE32(0xf0000000)) != RTE_BE32(VX_IP6_VERSION) ||
	    !find_udp(icmp, len, &udp))
		return false;
	source_port = rte_be_to_cpu_16(udp.src_port);
	return vx_view_find_local(view, &source) != NULL && udp.dst_port == view->udp_port_be &&
	       source_port >= view->source_port_lo &&
	       source_port < view->source_port_lo + view->source_ports &&
	       quoted > rte_be_to_cpu_32(icmp->mtu_be);
}

static void
host_too_big(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
	     uint32_t l4_offset)
{
	const uint32_t len = RTE_MIN(m->pkt_len - l4_offset, (uint32_t)sizeof(struct too_big));
	struct vx_punt what = {.kind = VX_PUNT_PMTU, .port = port};
	struct too_big copy, icmp = {.type = 0};
	const void *bytes;

	if (len < TOO_BIG_MIN || !vx_icmp6_is_right(m, ip_offset, l4_offset)) {
		vx_drop_packet(lcore, m, VX_DROP_ICMP_BAD);
		return;
	}
	bytes = rte_pktmbuf_read(m, l4_offset, len, &copy);
	memcpy(&icmp, bytes, len);
	if (is_ours(lcore->view, &icmp, len)) {
		memcpy(&what.remote, &icmp.ip.dst_addr, sizeof(what.remote));
		what.mtu = (uint16_t)RTE_MIN(rte_be_to_cpu_32(icmp.mtu_be), UINT16_MAX);
		vx_host_tell(lcore, &what);
	} else {
		vx_lcore_count(lcore, VX_COUNT_PMTU_IGNORED, 1);
	}
	vx_trace_note(lcore, m, VX_TRACE_HOST, IPPROTO_ICMPV6);
	vx_host_consume(lcore, m);
}

/* --- echo --- */

/* What a request to @destination is answered from: that address, or for a group one of the port's,
 * of the asker's kind if there is one. */
static const struct vx_ip *
choose_source(const struct vx_view *view, uint16_t port, const struct vx_ip *destination,
	      const struct vx_ip *asker)
{
	const struct vx_ip *best = NULL;

	if (!vx_ip_is_multicast(destination))
		return destination;
	for (unsigned int i = 0; i < view->n_locals; i++) {
		const struct vx_ip *ip = &view->local[i].ip;

		if (view->local[i].port != port || vx_ip_is_v4(ip))
			continue;
		if (best == NULL || vx_ip6_is_link_local(ip) == vx_ip6_is_link_local(asker))
			best = ip;
	}
	return best;
}

static void
host_echo(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
	  uint32_t l4_offset)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, ip_offset);
	struct vx_ip destination, asker;
	const struct vx_ip *source;
	enum vx_drop reason = VX_DROP_ICMP_BAD;

	memcpy(&destination, &ip->dst_addr, sizeof(destination));
	memcpy(&asker, &ip->src_addr, sizeof(asker));
	source = choose_source(lcore->view, port, &destination, &asker);
	if (source != NULL)
		reason = vx_icmp6_echo_reply(&m, ip_offset, l4_offset, &lcore->view->port[port].mac,
					     source);
	if (reason != VX_DROP_NONE) {
		vx_drop_packet(lcore, m, reason);
		return;
	}
	vx_trace_note(lcore, m, VX_TRACE_HOST, IPPROTO_ICMPV6);
	vx_host_answer(lcore, m, port, VX_COUNT_ECHO_REPLIES);
}

/* Does the packet claim to come from a local address? Neighbour discovery looks at that itself. */
static bool
is_from_us(const struct vx_view *view, const struct rte_mbuf *m, uint32_t ip_offset)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, ip_offset);
	struct vx_ip source;

	memcpy(&source, &ip->src_addr, sizeof(source));
	return vx_view_find_local(view, &source) != NULL;
}

void
vx_host_icmp6(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, uint32_t ip_offset,
	      uint32_t l4_offset)
{
	const uint8_t *type;
	uint8_t scratch;

	type = rte_pktmbuf_read(m, l4_offset, 1, &scratch);
	if (type == NULL) {
		vx_drop_packet(lcore, m, VX_DROP_ICMP_BAD);
		return;
	}
	switch (*type) {
	case VX_ND_SOLICIT:
	case VX_ND_ADVERT:
		host_nd(lcore, m, port, ip_offset, l4_offset);
		return;
	case VX_MLD_QUERY:
	case VX_MLD_REPORT:
	case VX_MLD_DONE:
	case VX_MLD_REPORT_V2:
		vx_host_mld(lcore, m, port, ip_offset, l4_offset);
		return;
	case VX_ICMP6_TOO_BIG:
	case VX_ICMP6_ECHO_REQUEST:
		break;
	default:
		vx_drop_packet(lcore, m, VX_DROP_ICMP6_IGNORED);
		return;
	}
	if (is_from_us(lcore->view, m, ip_offset))
		vx_drop_packet(lcore, m, VX_DROP_OUTER_SRC_IP);
	else if (!vx_bucket_take(&lcore->icmp_bucket, lcore->now))
		vx_drop_packet(lcore, m, VX_DROP_HOST_RATE);
	else if (*type == VX_ICMP6_TOO_BIG)
		host_too_big(lcore, m, port, ip_offset, l4_offset);
	else
		host_echo(lcore, m, port, ip_offset, l4_offset);
}
