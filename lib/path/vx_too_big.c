/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_too_big.h"

#include <string.h>

#include "vx_attach.h"
#include "vx_csum.h"
#include "vx_deliver.h"
#include "vx_ip.h"
#include "vx_tag.h"
#include "vx_wire.h"

#define REPLY_TTL 64

#define ICMP6_ERRORS_END 128 /* types below are errors (RFC 4443 section 2.1) */

/* Of the packet that was too big: the IPv4 header and 8 bytes (RFC 792), for IPv6 the same. */
#define QUOTE4_MAX (60u + 8u)
#define QUOTE6	   (40u + 8u)

/* The parts that both families have alike: type, code, checksum, then the MTU. */
struct icmp_too_big {
	uint8_t type, code;
	uint16_t checksum;
	rte_be32_t mtu_be; /* IPv4: in the lower half (RFC 1191 section 4) */
} __attribute__((packed));
_Static_assert(sizeof(struct icmp_too_big) == 8, "wire format");

/* Ethernet header and VLAN tags: those of the frame that was too big. */
#define L2_MAX	  (VX_ETHER_HDR_LEN + VX_TAGS_MAX * VX_VLAN_TAG_LEN)
#define REPLY_MAX (L2_MAX + 40u + 8u + QUOTE4_MAX)

static bool
is_icmp_error4(uint8_t type)
{
	return type != 8 && type != 0 && type != 13 && type != 14; /* echo, timestamp */
}

/* Is an error due to the sender of this IPv4 packet? @ip: at least 28 bytes. */
static bool
is_due4(const struct rte_ipv4_hdr *ip, const uint8_t *payload)
{
	if (ip->version_ihl >> 4 != 4 || (ip->version_ihl & 0x0f) < 5)
		return false;
	if ((ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) != 0)
		return false;
	if (!vx_ip4_is_host(ip->src_addr) || !vx_ip4_is_host(ip->dst_addr))
		return false;
	return ip->next_proto_id != IPPROTO_ICMP || !is_icmp_error4(payload[0]);
}

/* Writes the reply behind the Ethernet header; its length in bytes, 0 if none is due. */
static uint32_t
make4(uint8_t *to, const uint8_t *packet, uint32_t len, uint16_t mtu)
{
	struct icmp_too_big icmp = {.type = VX_ICMP_UNREACHABLE, .code = VX_ICMP_FRAGMENT_NEEDED};
	struct rte_ipv4_hdr ip, reply = {.version_ihl = RTE_IPV4_VHL_DEF};
	uint32_t quote, total;

	memcpy(&ip, packet, sizeof(ip));
	quote = (ip.version_ihl & 0x0fu) * 4u + 8u;
	if (len < quote || !is_due4(&ip, packet + quote - 8))
		return 0;
	total = (uint32_t)(sizeof(reply) + sizeof(icmp)) + quote;
	reply.total_length = rte_cpu_to_be_16((uint16_t)total);
	reply.time_to_live = REPLY_TTL;
	reply.next_proto_id = IPPROTO_ICMP;
	reply.src_addr = ip.dst_addr;
	reply.dst_addr = ip.src_addr;
	reply.hdr_checksum = (uint16_t)~vx_csum_ipv4_header(&reply);
	icmp.mtu_be = rte_cpu_to_be_32(mtu);
	memcpy(to, &reply, sizeof(reply));
	memcpy(to + sizeof(reply), &icmp, sizeof(icmp));
	memcpy(to + sizeof(reply) + sizeof(icmp), packet, quote);
	icmp.checksum = (uint16_t)~rte_raw_cksum(to + sizeof(reply), sizeof(icmp) + quote);
	memcpy(to + sizeof(reply), &icmp, sizeof(icmp));
	return total;
}

static bool
is_due6(const struct rte_ipv6_hdr *ip, const uint8_t *payload)
{
	struct vx_ip source, destination;

	if (*(const uint8_t *)ip >> 4 != 6)
		return false;
	memcpy(source.bytes, &ip->src_addr, sizeof(source.bytes));
	memcpy(destination.bytes, &ip->dst_addr, sizeof(destination.bytes));
	/* To a group an answer would be due, but not from the group's own address. */
	if (!vx_ip_is_host(&source) || !vx_ip_is_host(&destination))
		return false;
	return ip->proto != IPPROTO_ICMPV6 || payload[0] >= ICMP6_ERRORS_END;
}

static uint32_t
make6(uint8_t *to, const uint8_t *packet, uint32_t len, uint16_t mtu)
{
	struct icmp_too_big icmp = {.type = VX_ICMP6_TOO_BIG};
	struct rte_ipv6_hdr ip, reply = {.vtc_flow = RTE_BE32(VX_IP6_VERSION)};
	uint32_t sum;

	memcpy(&ip, packet, sizeof(ip));
	if (len < QUOTE6 || mtu < VX_IP6_MTU_MIN || !is_due6(&ip, packet + sizeof(ip)))
		return 0;
	reply.payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(icmp) + QUOTE6));
	reply.proto = IPPROTO_ICMPV6;
	reply.hop_limits = REPLY_TTL;
	memcpy(&reply.src_addr, &ip.dst_addr, sizeof(reply.src_addr));
	memcpy(&reply.dst_addr, &ip.src_addr, sizeof(reply.dst_addr));
	icmp.mtu_be = rte_cpu_to_be_32(mtu);
	memcpy(to, &reply, sizeof(reply));
	memcpy(to + sizeof(reply), &icmp, sizeof(icmp));
	memcpy(to + sizeof(reply) + sizeof(icmp), packet, QUOTE6);
	sum = rte_ipv6_phdr_cksum(&reply, 0);
	sum += rte_raw_cksum(to + sizeof(reply), sizeof(icmp) + QUOTE6);
	icmp.checksum = (uint16_t)~vx_csum_fold(sum);
	memcpy(to + sizeof(reply), &icmp, sizeof(icmp));
	return (uint32_t)(sizeof(reply) + sizeof(icmp)) + QUOTE6;
}

bool
vx_too_big_reply(struct vx_lcore *lcore, const struct rte_mbuf *m, uint16_t mtu, uint32_t origin)
{
	const struct vx_attach *attach = vx_attach_at(lcore->tables, origin);
	uint8_t scratch[L2_MAX + QUOTE4_MAX], answer[REPLY_MAX];
	const uint32_t len = RTE_MIN(m->pkt_len, (uint32_t)sizeof(scratch));
	const uint8_t *frame = rte_pktmbuf_read(m, 0, len, scratch);
	struct rte_mbuf *reply;
	rte_be16_t type;
	const uint32_t l3 = VX_ETHER_HDR_LEN + vx_tag_len(m, &type);
	uint32_t l3_len = 0;
	char *room;

	if (attach == NULL || frame == NULL || len < l3 + sizeof(struct rte_ipv6_hdr))
		return false;
	/* Nor to what came by link-layer broadcast: the answer's source would be a group. */
	if ((frame[0] & 1) != 0)
		return false;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		l3_len = make4(answer + l3, frame + l3, len - l3, mtu);
	else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		l3_len = make6(answer + l3, frame + l3, len - l3, mtu);
	if (l3_len == 0 || !vx_bucket_take(&lcore->too_big_bucket, lcore->now))
		return false;
	reply = rte_pktmbuf_alloc(lcore->copy_pool);
	if (reply == NULL)
		return false;
	memcpy(answer, frame + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	memcpy(answer + RTE_ETHER_ADDR_LEN, frame, RTE_ETHER_ADDR_LEN);
	memcpy(answer + 2 * RTE_ETHER_ADDR_LEN, frame + 2 * RTE_ETHER_ADDR_LEN,
	       l3 - 2 * RTE_ETHER_ADDR_LEN);
	reply->port = m->port;
	room = rte_pktmbuf_append(reply, (uint16_t)(l3 + l3_len));
	if (room == NULL) { /* so many tags */
		rte_pktmbuf_free(reply);
		return false;
	}
	memcpy(room, answer, l3 + l3_len);
	vx_lcore_count(lcore, VX_COUNT_ORIGINATED, 1);
	vx_deliver_attach(lcore, reply, attach);
	return true;
}
