/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_classify.h"

#include <string.h>

#include "vx_csum.h"
#include "vx_drop_packet.h"
#include "vx_ext6.h"
#include "vx_host.h"
#include "vx_host6.h"
#include "vx_host_group.h"
#include "vx_ip6.h"
#include "vx_mbuf.h"
#include "vx_multicast.h"
#include "vx_reassemble.h"
#include "vx_view_group.h"
#include "vx_wire.h"

/* Neighbour discovery's ICMPv6 types, from the first to the last (RFC 4861 section 4). */
#define ROUTER_SOLICITATION 133
#define REDIRECT	    137

/* What a packet turned out to be. */
enum verdict {
	VERDICT_VXLAN,
	VERDICT_ARP,
	VERDICT_ICMP,
	VERDICT_IGMP,
	VERDICT_ICMP6,
	VERDICT_FRAGMENT,
	VERDICT_FRAGMENT6,
	VERDICT_DROP,
};

struct result {
	enum verdict verdict;
	enum vx_drop reason; /* VERDICT_DROP */
	uint32_t offset;     /* VXLAN: of the inner frame; all others: of the IP header */
	uint32_t ip_header;  /* its bytes, for IPv6 with extension headers */
	uint32_t next_at;    /* FRAGMENT6: of the byte that announces the fragment header */
	uint32_t vni;
	uint8_t ecn;
	struct vx_ip *remote; /* VXLAN: its place in the burst, filled in at once */
};

/* Results are written where they are read, a member at a time: as values they would be copied as a
 * whole, which has to wait until all the small stores are done. */
static inline void
set_dropped(struct result *result, enum vx_drop reason)
{
	result->verdict = VERDICT_DROP;
	result->reason = reason;
}

static inline void
set_ip(struct result *result, enum verdict verdict, uint32_t l3, uint32_t header_len)
{
	result->verdict = verdict;
	result->offset = l3;
	result->ip_header = header_len;
}

/* RFC 2464 section 7 */
static inline bool
is_ip6_group_mac(const struct rte_ether_hdr *ether)
{
	return ether->dst_addr.addr_bytes[0] == 0x33 && ether->dst_addr.addr_bytes[1] == 0x33;
}

/* The Ethernet part: to @l3 the offset behind it, to @type the EtherType, to @is_group whether it
 * is for a multicast group that this port has joined. */
static inline enum vx_drop
check_ethernet(struct rte_mbuf *m, const struct vx_view *view, uint16_t port, uint32_t *l3,
	       rte_be16_t *type, bool *is_group)
{
	const struct rte_ether_hdr *ether;

	if (unlikely(!vx_mbuf_pull(m, VX_ETHER_HDR_LEN)))
		return m->pkt_len < VX_ETHER_HDR_LEN ? VX_DROP_OUTER_RUNT : VX_DROP_NO_MBUF;
	ether = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	*l3 = VX_ETHER_HDR_LEN;
	*is_group = false;
	*type = ether->ether_type;
	if (unlikely((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 &&
		     (m->vlan_tci & 0x0fff) != 0))
		return VX_DROP_OUTER_VLAN;
	if (unlikely(*type == RTE_BE16(RTE_ETHER_TYPE_VLAN))) {
		const struct rte_vlan_hdr *tag;

		/* VLAN id 0 is a priority tag and no VLAN (IEEE 802.1Q). */
		*l3 += VX_VLAN_TAG_LEN;
		if (!vx_mbuf_pull(m, *l3))
			return m->pkt_len < *l3 ? VX_DROP_OUTER_RUNT : VX_DROP_NO_MBUF;
		ether = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
		tag = (const struct rte_vlan_hdr *)(ether + 1);
		if ((tag->vlan_tci & RTE_BE16(0x0fff)) != 0)
			return VX_DROP_OUTER_VLAN;
		*type = tag->eth_proto;
	}
	if (unlikely(vx_is_vlan_tag(*type)))
		return VX_DROP_OUTER_VLAN;
	if (unlikely(!rte_is_same_ether_addr(&ether->dst_addr, &view->port[port].mac))) {
		/* ARP requests come by broadcast; which IPv6 groups are heard is seen later. */
		*is_group = *type == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
			    vx_view_hears(view, port, &ether->dst_addr);
		if (!*is_group &&
		    !(*type == RTE_BE16(RTE_ETHER_TYPE_ARP) &&
		      rte_is_broadcast_ether_addr(&ether->dst_addr)) &&
		    !(*type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && is_ip6_group_mac(ether)))
			return VX_DROP_OUTER_MAC;
	}
	return VX_DROP_NONE;
}

/* Did @port join the group, and was the frame sent to the MAC address of just that? */
static bool
is_for_group(const struct rte_mbuf *m, const struct vx_view *view, uint16_t port,
	     const struct rte_ipv4_hdr *ip)
{
	const struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	const struct vx_ip group = vx_ip_from_v4(ip->dst_addr);

	return vx_view_is_member(view, port, &group, &ether->dst_addr);
}

/* Queriers that have no address ask from 0.0.0.0 (RFC 4541 section 2.1.1). */
static bool
is_source_right(const struct vx_view *view, const struct rte_ipv4_hdr *ip)
{
	if (ip->src_addr == 0)
		return ip->next_proto_id == IPPROTO_IGMP;
	return vx_ip4_is_host(ip->src_addr) && vx_view_find_local4(view, ip->src_addr) == NULL;
}

/* The IPv4 header at @l3; to @ip the header, pulled together with its options. */
static inline enum vx_drop
check_ipv4(struct rte_mbuf *m, const struct vx_view *view, uint16_t port, bool is_group,
	   uint32_t l3, const struct rte_ipv4_hdr **ip, uint32_t *header_len)
{
	const uint64_t known = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint32_t total;

	if (unlikely(m->pkt_len < l3 + sizeof(**ip)))
		return VX_DROP_OUTER_RUNT;
	if (unlikely(!vx_mbuf_pull(m, l3 + (uint32_t)sizeof(**ip))))
		return VX_DROP_NO_MBUF;
	*ip = rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, l3);
	*header_len = ((*ip)->version_ihl & 0x0fu) * 4u;
	total = rte_be_to_cpu_16((*ip)->total_length);
	if (unlikely((*ip)->version_ihl >> 4 != 4 || *header_len < sizeof(**ip)))
		return VX_DROP_OUTER_IP_HEADER;
	if (unlikely(total < *header_len || l3 + total > m->pkt_len))
		return VX_DROP_OUTER_IP_LENGTH;
	if (unlikely(*header_len > sizeof(**ip))) {
		if (!vx_mbuf_pull(m, l3 + *header_len))
			return VX_DROP_NO_MBUF;
		*ip = rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, l3);
		if (!vx_csum_is_ipv4_header_right(*ip, *header_len))
			return VX_DROP_OUTER_IP_CHECKSUM;
	} else if (known != RTE_MBUF_F_RX_IP_CKSUM_GOOD &&
		   unlikely(vx_csum_ipv4_header(*ip) != 0xffff)) {
		return VX_DROP_OUTER_IP_CHECKSUM;
	}
	if (unlikely(is_group ? !is_for_group(m, view, port, *ip)
			      : vx_view_find_local4(view, (*ip)->dst_addr) == NULL))
		return VX_DROP_OUTER_DST_IP;
	if (unlikely(!is_source_right(view, *ip)))
		return VX_DROP_OUTER_SRC_IP;
	/* What follows the IP packet is Ethernet padding (RFC 894). */
	if (m->pkt_len > l3 + total)
		vx_mbuf_truncate(m, l3 + total);
	return VX_DROP_NONE;
}

static inline enum vx_drop
check_udp_checksum(const struct rte_mbuf *m, const struct rte_udp_hdr *udp, uint32_t l3,
		   uint32_t l4, const bool is_v6)
{
	const void *ip = rte_pktmbuf_mtod_offset(m, const void *, l3);
	const struct rte_ipv4_hdr *ip4 = ip;
	const struct rte_ipv6_hdr *ip6 = ip;
	const uint16_t len = rte_be_to_cpu_16(udp->dgram_len);
	const uint64_t known = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;

	/* NONE: a virtual NIC vouches for the data although the field is unfinished. Zero is right
	 * for tunnels over IPv6 too (RFC 6935 section 5). */
	if (likely(udp->dgram_cksum == 0) || known == RTE_MBUF_F_RX_L4_CKSUM_GOOD ||
	    known == RTE_MBUF_F_RX_L4_CKSUM_NONE)
		return VX_DROP_NONE;
	if (is_v6 ? vx_csum_is_udp6_right(m, l4, len, ip6)
		  : vx_csum_is_udp4_right(m, l4, len, ip4->src_addr, ip4->dst_addr))
		return VX_DROP_NONE;
	return VX_DROP_OUTER_UDP_CHECKSUM;
}

/* For both families, whose constants the compiler puts in. @l3, @l4: the headers' offsets; all
 * between them is contiguous. */
static __rte_always_inline void
classify_udp(struct rte_mbuf *m, const struct vx_view *view, uint32_t l3, uint32_t l4,
	     const bool is_v6, struct result *result)
{
	const uint32_t inner =
		l4 + (uint32_t)(sizeof(struct rte_udp_hdr) + sizeof(struct vx_vxlan_hdr));
	const struct vx_vxlan_hdr *vxlan;
	const struct rte_udp_hdr *udp;
	enum vx_drop reason;
	uint32_t udp_len;

	if (unlikely(m->pkt_len < l4 + sizeof(*udp))) {
		set_dropped(result, VX_DROP_OUTER_UDP_LENGTH);
		return;
	}
	if (unlikely(!vx_mbuf_pull(m, RTE_MIN(inner, m->pkt_len)))) {
		set_dropped(result, VX_DROP_NO_MBUF);
		return;
	}
	udp = rte_pktmbuf_mtod_offset(m, const struct rte_udp_hdr *, l4);
	udp_len = rte_be_to_cpu_16(udp->dgram_len);
	if (unlikely(udp_len < sizeof(*udp) || l4 + udp_len > m->pkt_len)) {
		set_dropped(result, VX_DROP_OUTER_UDP_LENGTH);
		return;
	}
	if (unlikely(udp->dst_port != view->udp_port_be &&
		     !vx_view_is_udp_port(view, udp->dst_port))) {
		set_dropped(result, VX_DROP_OUTER_UDP_PORT);
		return;
	}
	reason = check_udp_checksum(m, udp, l3, l4, is_v6);
	if (unlikely(reason != VX_DROP_NONE)) {
		set_dropped(result, reason);
		return;
	}
	if (unlikely(l4 + udp_len < inner)) {
		set_dropped(result, VX_DROP_VXLAN_HEADER);
		return;
	}
	vxlan = (const struct vx_vxlan_hdr *)(udp + 1);
	/* Other flags and reserved bits are ignored on receipt (RFC 7348 section 5). */
	if (unlikely((vxlan->flags_be & VX_VXLAN_FLAG_I) == 0)) {
		set_dropped(result, VX_DROP_VXLAN_HEADER);
		return;
	}
	if (unlikely(m->pkt_len > l4 + udp_len))
		vx_mbuf_truncate(m, l4 + udp_len);
	result->verdict = VERDICT_VXLAN;
	result->offset = inner;
	result->vni = vx_vni_from_be(vxlan->vni_be);
	if (is_v6) {
		const struct rte_ipv6_hdr *ip =
			rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, l3);

		memcpy(result->remote->bytes, &ip->src_addr, sizeof(result->remote->bytes));
		result->ecn = rte_be_to_cpu_32(ip->vtc_flow) >> VX_IP6_ECN_SHIFT & 3;
	} else {
		const struct rte_ipv4_hdr *ip =
			rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, l3);

		*result->remote = vx_ip_from_v4(ip->src_addr);
		result->ecn = ip->type_of_service & 3;
	}
}

/* A group that a host has to hear: all nodes, those in which its addresses are asked for, and those
 * that @port has joined. */
static bool
is_heard(const struct vx_view *view, uint16_t port, const struct vx_ip *group,
	 const struct rte_ether_addr *mac)
{
	struct vx_ip heard = vx_ip6_all_nodes();

	if (vx_ip_is_equal(group, &heard) || vx_view_is_member(view, port, group, mac))
		return true;
	for (unsigned int i = 0; i < view->n_locals; i++) {
		if (vx_ip_is_v4(&view->local[i].ip))
			continue;
		heard = vx_ip6_solicited_node(&view->local[i].ip);
		if (vx_ip_is_equal(group, &heard))
			return true;
	}
	return false;
}

/* The IPv6 header at @l3, which has to end with the frame, and both addresses from it. */
static enum vx_drop
check_ipv6(struct rte_mbuf *m, const struct vx_view *view, uint16_t port, uint32_t l3,
	   struct vx_ip *source, struct vx_ip *destination)
{
	const struct rte_ether_hdr *ether;
	const struct rte_ipv6_hdr *ip;
	uint32_t total;

	if (m->pkt_len < l3 + sizeof(*ip))
		return VX_DROP_OUTER_RUNT;
	if (!vx_mbuf_pull(m, l3 + (uint32_t)sizeof(*ip)))
		return VX_DROP_NO_MBUF;
	ether = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	ip = rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, l3);
	total = (uint32_t)sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len);
	memcpy(source->bytes, &ip->src_addr, sizeof(source->bytes));
	memcpy(destination->bytes, &ip->dst_addr, sizeof(destination->bytes));
	if (rte_be_to_cpu_32(ip->vtc_flow) >> 28 != 6)
		return VX_DROP_OUTER_IP_HEADER;
	if (l3 + total > m->pkt_len)
		return VX_DROP_OUTER_IP_LENGTH;
	if (is_ip6_group_mac(ether) && !vx_ip_is_multicast(destination))
		return VX_DROP_OUTER_MAC;
	/* An IPv4 address in IPv6 form must not be taken for that IPv4 address. */
	if (vx_ip_is_v4(destination) || (vx_view_find_local(view, destination) == NULL &&
					 !is_heard(view, port, destination, &ether->dst_addr)))
		return VX_DROP_OUTER_DST_IP;
	if (vx_ip_is_v4(source) || vx_ip_is_multicast(source))
		return VX_DROP_OUTER_SRC_IP;
	if (m->pkt_len > l3 + total)
		vx_mbuf_truncate(m, l3 + total);
	return VX_DROP_NONE;
}

/* Is the ICMPv6 message at @l4 of neighbour discovery? */
static bool
is_discovery(const struct rte_mbuf *m, uint32_t l4)
{
	uint8_t copy;
	const uint8_t *type = rte_pktmbuf_read(m, l4, sizeof(copy), &copy);

	return type != NULL && *type >= ROUTER_SOLICITATION && *type <= REDIRECT;
}

/* Is the packet to a group that @port has joined? */
static bool
is_joined(const struct rte_mbuf *m, const struct vx_view *view, uint16_t port,
	  const struct vx_ip *group)
{
	const struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

	return vx_view_is_member(view, port, group, &ether->dst_addr);
}

static void
classify_fragment6(const struct rte_mbuf *m, const struct vx_view *view, uint32_t l3,
		   const struct vx_ext6 *ext, struct result *result)
{
	/* What it is a fragment of. Before it is held: others must not displace ours. */
	const uint8_t protocol = *rte_pktmbuf_mtod_offset(m, const uint8_t *, ext->offset);

	if (protocol != IPPROTO_UDP && protocol != IPPROTO_ICMPV6 && protocol != IPPROTO_DSTOPTS) {
		set_dropped(result, VX_DROP_OUTER_PROTOCOL);
		return;
	}
	if (!view->is_reassembling) {
		set_dropped(result, VX_DROP_OUTER_FRAGMENT);
		return;
	}
	set_ip(result, VERDICT_FRAGMENT6, l3,
	       ext->offset + (uint32_t)sizeof(struct vx_ip6_fragment) - l3);
	result->next_at = ext->next_at;
	result->reason = VX_DROP_FRAG_BAD; /* when what was put together is one again */
}

static __rte_noinline void
classify_ipv6(struct rte_mbuf *m, const struct vx_view *view, uint16_t port, uint32_t l3,
	      struct result *result)
{
	struct vx_ip source, destination;
	struct vx_ext6 ext;
	enum vx_drop reason;

	reason = check_ipv6(m, view, port, l3, &source, &destination);
	if (reason == VX_DROP_NONE)
		reason = vx_ext6_skip(m, l3, &ext);
	if (reason != VX_DROP_NONE) {
		set_dropped(result, reason);
		return;
	}
	/* Before an address is used its owner speaks from ::, and of a conflict from ours. */
	if (ext.protocol == IPPROTO_ICMPV6) {
		if (ext.is_atomic && is_discovery(m, ext.offset)) {
			set_dropped(result, VX_DROP_ICMP_BAD);
			return;
		} /* RFC 6980 section 5 */
		set_ip(result, VERDICT_ICMP6, l3, ext.offset - l3);
		return;
	}
	if (vx_ip_is_multicast(&destination) &&
	    (vx_multicast_is_control(&destination) || !is_joined(m, view, port, &destination))) {
		set_dropped(result, VX_DROP_OUTER_DST_IP);
		return;
	}
	if (!vx_ip_is_host(&source) || vx_view_find_local(view, &source) != NULL) {
		set_dropped(result, VX_DROP_OUTER_SRC_IP);
		return;
	}
	if (ext.protocol == IPPROTO_FRAGMENT) {
		classify_fragment6(m, view, l3, &ext, result);
		return;
	}
	if (ext.protocol != IPPROTO_UDP) {
		set_dropped(result, VX_DROP_OUTER_PROTOCOL);
		return;
	}
	/* As vx_vtep_check() refuses them: a remote VTEP has an address that routes know. */
	if (vx_ip6_is_link_local(&source)) {
		set_dropped(result, VX_DROP_OUTER_SRC_IP);
		return;
	}
	classify_udp(m, view, l3, ext.offset, true, result);
}

/* What is neither UDP nor ICMP. */
static void
classify_other(const struct rte_ipv4_hdr *ip, uint32_t l3, uint32_t header_len,
	       struct result *result)
{
	if (ip->next_proto_id != IPPROTO_IGMP)
		set_dropped(result, VX_DROP_OUTER_PROTOCOL);
	else if ((ip->fragment_offset & RTE_BE16(0x3fff)) != 0)
		set_dropped(result, VX_DROP_GROUP_BAD);
	else
		set_ip(result, VERDICT_IGMP, l3, header_len);
}

static __rte_always_inline void
classify_one(struct rte_mbuf *m, const struct vx_view *view, uint16_t port, struct result *result)
{
	const struct rte_ipv4_hdr *ip;
	uint32_t l3, header_len;
	enum vx_drop reason;
	rte_be16_t type;
	bool is_group;

	reason = check_ethernet(m, view, port, &l3, &type, &is_group);
	if (unlikely(reason != VX_DROP_NONE)) {
		set_dropped(result, reason);
		return;
	}
	if (unlikely(type != RTE_BE16(RTE_ETHER_TYPE_IPV4))) {
		if (type == RTE_BE16(RTE_ETHER_TYPE_ARP) && l3 == VX_ETHER_HDR_LEN)
			result->verdict = VERDICT_ARP;
		else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
			classify_ipv6(m, view, port, l3, result);
		else
			set_dropped(result, VX_DROP_OUTER_ETHERTYPE);
		return;
	}
	reason = check_ipv4(m, view, port, is_group, l3, &ip, &header_len);
	if (unlikely(reason != VX_DROP_NONE)) {
		set_dropped(result, reason);
		return;
	}
	/* Before fragments are held: those of other protocols must not displace ours. */
	if (unlikely(ip->next_proto_id != IPPROTO_UDP && ip->next_proto_id != IPPROTO_ICMP)) {
		classify_other(ip, l3, header_len, result);
		return;
	}
	/* Nobody pings a group of VTEPs, and no tunnel uses 224.0.0.1, which queriers ask. */
	if (unlikely(is_group && (ip->next_proto_id == IPPROTO_ICMP ||
				  vx_multicast_is_control4(ip->dst_addr)))) {
		set_dropped(result, VX_DROP_OUTER_DST_IP);
		return;
	}
	if (unlikely((ip->fragment_offset & RTE_BE16(0x3fff)) != 0)) {
		if (!view->is_reassembling)
			set_dropped(result, VX_DROP_OUTER_FRAGMENT);
		else
			set_ip(result, VERDICT_FRAGMENT, l3, header_len);
	} else if (likely(ip->next_proto_id == IPPROTO_UDP)) {
		classify_udp(m, view, l3, l3 + header_len, false, result);
	} else {
		set_ip(result, VERDICT_ICMP, l3, header_len);
	}
}

static void
finish(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, const struct result *result)
{
	switch (result->verdict) {
	case VERDICT_ARP:
		vx_host_arp(lcore, m, port);
		break;
	case VERDICT_ICMP:
		vx_host_icmp(lcore, m, port, result->offset, result->ip_header);
		break;
	case VERDICT_IGMP:
		vx_host_igmp(lcore, m, port, result->offset, result->ip_header);
		break;
	case VERDICT_ICMP6:
		vx_host_icmp6(lcore, m, port, result->offset, result->offset + result->ip_header);
		break;
	case VERDICT_VXLAN:
	case VERDICT_FRAGMENT:
	case VERDICT_FRAGMENT6:
	case VERDICT_DROP:
		vx_drop_packet(lcore, m, result->reason);
		break;
	}
}

/*
 * What is not VXLAN at first sight: a fragment is put to its others, all else ends here. NULL, or
 * the whole datagram if that is VXLAN.
 */
static __rte_noinline struct rte_mbuf *
finish_other(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port, struct result *result)
{
	if (result->verdict == VERDICT_FRAGMENT) {
		m = vx_reassemble(lcore, m, result->offset, result->ip_header);
	} else if (result->verdict == VERDICT_FRAGMENT6) {
		m = vx_reassemble6(lcore, m, result->offset, result->ip_header, result->next_at);
	} else {
		finish(lcore, m, port, result);
		return NULL;
	}
	if (m == NULL)
		return NULL;
	/* The whole datagram gets no less scrutiny than one that came whole. */
	classify_one(m, lcore->view, port, result);
	/* RFC 6980 section 5 */
	if (result->verdict == VERDICT_ICMP6 && is_discovery(m, result->offset + result->ip_header))
		set_dropped(result, VX_DROP_ICMP_BAD);
	if (likely(result->verdict == VERDICT_VXLAN))
		return m;
	finish(lcore, m, port, result);
	return NULL;
}

void
vx_classify_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	const struct vx_view *view = lcore->view;
	uint16_t kept = 0;

	for (unsigned int i = 0; i < burst->n; i++) {
		struct rte_mbuf *m = burst->m[i];
		/* Places are filled from the front, none before its packet has been read. */
		struct result result = {.remote = &burst->remote[kept]};

		vx_trace_enter(lcore, burst, i);
		classify_one(m, view, burst->port, &result);
		if (unlikely(result.verdict != VERDICT_VXLAN)) {
			m = finish_other(lcore, m, burst->port, &result);
			if (m == NULL)
				continue;
		}
		burst->m[kept] = m;
		burst->trace[kept] = burst->trace[i];
		burst->offset[kept] = result.offset;
		burst->vni[kept] = result.vni;
		burst->ecn[kept] = result.ecn;
		kept++;
	}
	burst->n = kept;
}
