/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats on the wire that DPDK's rte_net does not give in the form used here. */
#ifndef VX_WIRE_H
#define VX_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#define VX_UDP_PORT 4789 /* RFC 7348 section 5 */
#define VX_VNI_MAX  0xffffffu

/* RFC 792: "fragmentation needed and DF set" is a code of this type. */
#define VX_ICMP_UNREACHABLE	3
#define VX_ICMP_FRAGMENT_NEEDED 4

/* RFC 4443; for others see vx_nd_wire.h and vx_mld.h. */
#define VX_ICMP6_TOO_BIG      2
#define VX_ICMP6_ECHO_REQUEST 128
#define VX_ICMP6_ECHO_REPLY   129

#define VX_ETHER_HDR_LEN 14u /* untagged */
#define VX_ETHER_MIN_LEN 60u /* without FCS (IEEE 802.3) */
#define VX_VLAN_TAG_LEN	 4u

/* VXLAN header, RFC 7348 section 5: flags, reserved, VNI in the upper 24 bits of the last word. */
struct vx_vxlan_hdr {
	rte_be32_t flags_be;
	rte_be32_t vni_be;
} __attribute__((packed));
_Static_assert(sizeof(struct vx_vxlan_hdr) == 8, "wire format");

#define VX_VXLAN_FLAG_I RTE_BE32(0x08000000)

/* What goes in front of an inner frame on an IPv4 underlay. Without any alignment, which struct
 * rte_ether_hdr would ask for: a frame may begin anywhere. */
struct vx_outer4 {
	uint8_t ether_dst[RTE_ETHER_ADDR_LEN], ether_src[RTE_ETHER_ADDR_LEN];
	rte_be16_t ether_type_be;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct vx_vxlan_hdr vxlan;
} __attribute__((packed));
_Static_assert(sizeof(struct vx_outer4) == 50, "wire format");

/* The same on an IPv6 underlay. */
struct vx_outer6 {
	uint8_t ether_dst[RTE_ETHER_ADDR_LEN], ether_src[RTE_ETHER_ADDR_LEN];
	rte_be16_t ether_type_be;
	struct rte_ipv6_hdr ip;
	struct rte_udp_hdr udp;
	struct vx_vxlan_hdr vxlan;
} __attribute__((packed));
_Static_assert(sizeof(struct vx_outer6) == 70, "wire format");

/* Bytes from the outer IP header to the inner frame. */
#define VX_OUTER4_IP_LEN (sizeof(struct vx_outer4) - VX_ETHER_HDR_LEN)
#define VX_OUTER6_IP_LEN (sizeof(struct vx_outer6) - VX_ETHER_HDR_LEN)

/* The first word of an IPv6 header: version, traffic class, flow label (RFC 8200 section 3). */
#define VX_IP6_VERSION	 (6u << 28)
#define VX_IP6_ECN_SHIFT 20u /* of the traffic class: DSCP, then ECN in its last two bits */

/* IPv6 fragment header, RFC 8200 section 4.5. */
struct vx_ip6_fragment {
	uint8_t next_header, reserved;
	rte_be16_t
		offset_be; /* in bytes in the upper 13 bits, VX_IP6_FRAGMENT_MORE in the lowest */
	rte_be32_t id_be;
} __attribute__((packed));
_Static_assert(sizeof(struct vx_ip6_fragment) == 8, "wire format");

#define VX_IP6_FRAGMENT_OFFSET 0xfff8u
#define VX_IP6_FRAGMENT_MORE   1u
#define VX_IP6_MTU_MIN	       1280u /* RFC 8200 section 5 */

/* The largest inner MTU: what fits a 65,535-byte outer packet with an untagged inner frame. */
#define VX_INNER_MTU_MAX4 (65535u - VX_OUTER4_IP_LEN - VX_ETHER_HDR_LEN)
#define VX_INNER_MTU_MIN  68u /* RFC 791 */

/* The EtherType of a frame, which need not be aligned: inner frames may begin anywhere. */
static inline rte_be16_t
vx_ether_type(const void *frame)
{
	rte_be16_t type;

	__builtin_memcpy(&type, (const uint8_t *)frame + 2 * RTE_ETHER_ADDR_LEN, sizeof(type));
	return type;
}

static inline bool
vx_is_vlan_tag(rte_be16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
}

static inline rte_be32_t
vx_vni_to_be(uint32_t vni)
{
	return rte_cpu_to_be_32(vni << 8);
}

static inline uint32_t
vx_vni_from_be(rte_be32_t vni_be)
{
	return rte_be_to_cpu_32(vni_be) >> 8;
}

#endif
