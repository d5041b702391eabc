/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every reason for which a packet is not sent on, once: the enum, the name that people see and its
 * explanation come from this list. A packet that ends here is counted under exactly one of them.
 */
#ifndef VX_DROP_H
#define VX_DROP_H

#include <stdint.h>

/*   X(symbol, name, explanation) in the order in which a packet meets them */
#define VX_DROP_LIST(X)                                                                            \
	/* access rx */                                                                            \
	X(ACCESS_RUNT, "access_runt", "frame from an access port shorter than 14 bytes")           \
	X(ACCESS_CUT, "access_cut", "the driver cut the frame: its IP length says more")           \
	X(ACCESS_NO_SEGMENT, "access_no_segment", "access port without attachment for the frame")  \
	X(ACCESS_VLAN, "access_vlan", "VLAN tag for which the port has no attachment")             \
	X(BAD_SOURCE_MAC, "bad_source_mac", "inner source MAC is a group address or zero")         \
	X(INNER_TOO_BIG, "inner_too_big", "inner packet larger than the segment's MTU")            \
	/* underlay rx: outer headers */                                                           \
	X(OUTER_RUNT, "outer_runt", "underlay frame too short for its headers")                    \
	X(OUTER_MAC, "outer_mac", "underlay frame for another MAC address")                        \
	X(OUTER_VLAN, "outer_vlan", "underlay frame with a VLAN tag that is not configured")       \
	X(OUTER_ETHERTYPE, "outer_ethertype", "underlay frame that is neither IP nor ARP")         \
	X(OUTER_IP_HEADER, "outer_ip_header", "outer IP version or header length wrong")           \
	X(OUTER_IP_LENGTH, "outer_ip_length", "outer IP length larger than what arrived")          \
	X(OUTER_IP_CHECKSUM, "outer_ip_checksum", "outer IPv4 header checksum wrong")              \
	X(OUTER_DST_IP, "outer_dst_ip", "outer destination is no local address or joined group")   \
	X(OUTER_SRC_IP, "outer_src_ip", "outer source is not another host's unicast address")      \
	X(OUTER_FRAGMENT, "outer_fragment", "outer IP fragment, and reassembly is off")            \
	X(FRAG_BAD, "frag_bad", "outer fragment that cannot be one, or does not fit the others")   \
	X(FRAG_OVERLAP, "frag_overlap", "outer fragments that overlap: the datagram is given up")  \
	X(FRAG_DUPLICATE, "frag_duplicate", "outer fragment that is held already")                 \
	X(FRAG_LIMIT, "frag_limit", "more fragments or datagrams than are held")                   \
	X(FRAG_TIMEOUT, "frag_timeout", "the other fragments did not come in time")                \
	X(OUTER_PROTOCOL, "outer_protocol", "for this host, but neither UDP, ICMP nor IGMP")       \
	X(OUTER_UDP_LENGTH, "outer_udp_length", "outer UDP length does not fit the IP length")     \
	X(OUTER_UDP_PORT, "outer_udp_port", "UDP, but not for the VXLAN port")                     \
	X(OUTER_UDP_CHECKSUM, "outer_udp_checksum", "outer UDP checksum wrong")                    \
	X(PEER_UNKNOWN, "peer_unknown", "source VTEP not configured (set peers known)")            \
	/* VXLAN and inner frame */                                                                \
	X(VXLAN_HEADER, "vxlan_header", "too short for VXLAN, or the I flag is not set")           \
	X(VNI_UNKNOWN, "vni_unknown", "no segment with this VNI")                                  \
	X(INNER_RUNT, "inner_runt", "inner frame shorter than 14 bytes")                           \
	X(INNER_VLAN, "inner_vlan", "inner frame from a tunnel carries a VLAN tag")                \
	X(INNER_ECN, "inner_ecn", "outer says congested, inner is not ECN capable (RFC 6040)")     \
	/* forward */                                                                              \
	X(SAME_PORT, "same_port", "destination is where the frame came from")                      \
	X(SPLIT_HORIZON, "split_horizon", "from a tunnel, and its destination is behind a tunnel") \
	X(FLOOD_OFF, "flood_off", "to be flooded, but the segment floods no such frames")          \
	X(STORM, "storm", "to be flooded, above the limit of its access port (set storm)")         \
	X(NO_TARGET, "no_target", "to be flooded, but the segment has nobody else")                \
	X(EGRESS_VLAN, "egress_vlan", "tagged frame for an attachment that carries no tags")       \
	/* encap */                                                                                \
	X(TOO_BIG, "too_big", "larger than the underlay carries")                                  \
	X(TOO_BIG_REPLIED, "too_big_replied", "the same, and the sender was told (set oversize)")  \
	X(NEEDS_FRAGMENT_DF, "needs_fragment_df", "the same, and DF forbids to fragment")          \
	X(NO_ROUTE, "no_route", "no route or no local address towards the remote VTEP")            \
	X(NEIGH_QUEUE, "neigh_queue", "more waiting for a neighbour than are held")                \
	X(NEIGH_FAILED, "neigh_failed", "the next hop does not answer ARP or ND")                  \
	/* for this host */                                                                        \
	X(ARP_BAD, "arp_bad", "ARP packet malformed")                                              \
	X(ND_BAD, "nd_bad", "neighbour solicitation or advertisement malformed (RFC 4861 7.1)")    \
	X(ICMP_BAD, "icmp_bad", "ICMP malformed, wrong checksum, or not an echo request")          \
	X(GROUP_BAD, "group_bad", "IGMP or MLD malformed, wrong checksum, or not of this link")    \
	X(ICMP6_IGNORED, "icmp6_ignored", "ICMPv6 of no use here: router advertisements, errors")  \
	X(HOST_RATE, "host_rate", "ARP, ND, ICMP or IGMP above the rate limit")                    \
	/* tx and memory */                                                                        \
	X(TX_TOO_LONG, "tx_too_long", "frame longer than the port's driver can send")              \
	X(TX_FULL, "tx_full", "the port did not take the frame")                                   \
	X(TX_PORT_DOWN, "tx_port_down", "the port is stopped, detached or its link is down")       \
	X(NO_MBUF, "no_mbuf", "no packet buffer for a copy or a header")

enum vx_drop {
#define VX_DROP_ENUM(symbol, name, text) VX_DROP_##symbol,
	VX_DROP_LIST(VX_DROP_ENUM)
#undef VX_DROP_ENUM
	VX_DROP_MAX,
	VX_DROP_NONE = VX_DROP_MAX, /* the packet goes on */
};

#endif
