/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_mld.h"

#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_group_message.h"
#include "vx_icmp6.h"
#include "vx_ip6.h"
#include "vx_multicast.h"
#include "vx_wire.h"

#define HOPS_ON_LINK 1

#define OPTION_PAD1	    0
#define OPTION_ROUTER_ALERT 5 /* RFC 2711 */

static const struct vx_ip all_routers = {.bytes = {0xff, 2, [15] = 2}};
static const struct vx_ip all_mldv2 = {.bytes = {0xff, 2, [15] = 0x16}};

/* RFC 2710: the whole message of version 1, and what a query of version 2 begins with. */
struct mld {
	uint8_t type, code;
	uint16_t checksum;
	rte_be16_t response_be; /* query: the longest time to answer */
	rte_be16_t reserved_be;
	uint8_t group[16];
} __attribute__((packed));
_Static_assert(sizeof(struct mld) == 24, "wire format");

struct query_v2 {
	struct mld head;
	uint8_t flags; /* lowest 3 bits: robustness */
	uint8_t interval_code;
	rte_be16_t sources_be;
} __attribute__((packed));
_Static_assert(sizeof(struct query_v2) == 28, "wire format");

struct report_v2 {
	uint8_t type, code;
	uint16_t checksum;
	rte_be16_t reserved_be;
	rte_be16_t records_be;
} __attribute__((packed));
_Static_assert(sizeof(struct report_v2) == 8, "wire format");

struct record {
	uint8_t type;
	uint8_t aux_words;
	rte_be16_t sources_be;
	uint8_t group[16];
} __attribute__((packed));
_Static_assert(sizeof(struct record) == 20, "wire format");

/* Router alert is an option of the hop-by-hop header. */
struct headers {
	uint8_t ether_dst[RTE_ETHER_ADDR_LEN], ether_src[RTE_ETHER_ADDR_LEN];
	rte_be16_t ether_type_be;
	struct rte_ipv6_hdr ip;
	uint8_t hop_by_hop[8];
} __attribute__((packed));
_Static_assert(sizeof(struct headers) == 62, "wire format");

/* --- reading --- */

/* RFC 3810 section 5.1.3: like the 8-bit numbers, with 12 bits of mantissa. */
static uint32_t
code16(uint16_t code)
{
	return code < 0x8000 ? code : ((code & 0xfffu) | 0x1000u) << ((code >> 12 & 7u) + 3);
}

static bool
has_router_alert(const struct rte_ipv6_hdr *ip, uint32_t len)
{
	const uint8_t *bytes = (const uint8_t *)(ip + 1);
	uint32_t at = 2;

	if (ip->proto != IPPROTO_HOPOPTS || len < 8)
		return false;
	len = RTE_MIN(len, (bytes[1] + 1u) * 8);
	while (at + 2 <= len) {
		if (bytes[at] == OPTION_ROUTER_ALERT)
			return true;
		at += bytes[at] == OPTION_PAD1 ? 1u : 2u + bytes[at + 1];
	}
	return false;
}

static bool
is_from_link(const struct rte_ipv6_hdr *ip, uint32_t extensions)
{
	struct vx_ip source;

	memcpy(&source, &ip->src_addr, sizeof(source));
	return vx_ip6_is_link_local(&source) && ip->hop_limits == HOPS_ON_LINK &&
	       has_router_alert(ip, extensions);
}

static void
read_query(const struct query_v2 *bytes, uint32_t len, struct vx_group_query *query)
{
	const uint16_t response = rte_be_to_cpu_16(bytes->head.response_be);

	memcpy(query->group.bytes, bytes->head.group, sizeof(query->group.bytes));
	query->is_v6 = true;
	if (len == sizeof(bytes->head)) {
		query->version = 1;
		query->max_response_ms = response;
		return;
	}
	query->version = VX_MLD_VERSION;
	query->max_response_ms = code16(response);
	query->robustness = bytes->flags & 7u;
	query->interval_s = (uint16_t)vx_group_code8(bytes->interval_code);
}

enum vx_drop
vx_mld_parse(const struct rte_mbuf *m, uint32_t ip_offset, uint32_t offset,
	     struct vx_group_query *query)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, ip_offset);
	const uint32_t len = m->pkt_len - offset;
	struct query_v2 copy = {.head.type = 0};
	const void *bytes;

	*query = (struct vx_group_query){.version = 0};
	if (m->pkt_len < offset || len < sizeof(struct report_v2) ||
	    !is_from_link(ip, offset - ip_offset - (uint32_t)sizeof(*ip)))
		return VX_DROP_GROUP_BAD;
	bytes = rte_pktmbuf_read(m, offset, RTE_MIN(len, (uint32_t)sizeof(copy)), &copy);
	if (bytes != &copy)
		memcpy(&copy, bytes, RTE_MIN(len, (uint32_t)sizeof(copy)));
	if (!vx_icmp6_is_right(m, ip_offset, offset))
		return VX_DROP_GROUP_BAD;
	if (copy.head.type != VX_MLD_QUERY)
		return VX_DROP_NONE;
	/* The length tells the version (RFC 3810 section 8.1). */
	if (len < sizeof(copy.head) || (len > sizeof(copy.head) && len < sizeof(copy)))
		return VX_DROP_GROUP_BAD;
	if (len >= sizeof(copy) && len - sizeof(copy) < 16u * rte_be_to_cpu_16(copy.sources_be))
		return VX_DROP_GROUP_BAD;
	read_query(&copy, len, query);
	if (!vx_ip_is_none(&query->group) && query->group.bytes[0] != 0xff)
		return VX_DROP_GROUP_BAD;
	return VX_DROP_NONE;
}

/* --- writing --- */

/* A frame with room for @len bytes of MLD message, zeroed, to @message. NULL: no mbuf. */
static struct rte_mbuf *
frame_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
	   const struct vx_ip *source, const struct vx_ip *destination, uint16_t len,
	   void **message)
{
	static const uint8_t router_alert[] = {IPPROTO_ICMPV6,	0, OPTION_ROUTER_ALERT, 2, 0, 0,
					       1 /* padding */, 0};
	const struct rte_ether_addr mac = vx_multicast_mac(destination);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct headers *to;

	if (m == NULL)
		return NULL;
	to = (struct headers *)rte_pktmbuf_append(m, (uint16_t)(sizeof(*to) + len));
	if (to == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(to->ether_dst, mac.addr_bytes, sizeof(to->ether_dst));
	memcpy(to->ether_src, our_mac->addr_bytes, sizeof(to->ether_src));
	to->ether_type_be = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	to->ip.vtc_flow = RTE_BE32(VX_IP6_VERSION);
	to->ip.payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(to->hop_by_hop) + len));
	to->ip.proto = IPPROTO_HOPOPTS;
	to->ip.hop_limits = HOPS_ON_LINK;
	memcpy(&to->ip.src_addr, source->bytes, sizeof(source->bytes));
	memcpy(&to->ip.dst_addr, destination->bytes, sizeof(destination->bytes));
	memcpy(to->hop_by_hop, router_alert, sizeof(to->hop_by_hop));
	*message = to + 1;
	memset(*message, 0, len);
	return m;
}

struct rte_mbuf *
vx_mld_report_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
		   const struct vx_ip *source, const struct vx_group_record *records,
		   unsigned int n, unsigned int *done)
{
	const size_t room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	const size_t fixed = sizeof(struct headers) + sizeof(struct report_v2);
	struct report_v2 *report;
	struct record *to;
	struct rte_mbuf *m;
	void *message;
	uint16_t len;

	n = (unsigned int)RTE_MIN((size_t)n, (room - fixed) / sizeof(struct record));
	len = (uint16_t)(sizeof(*report) + n * sizeof(*to));
	m = frame_make(pool, our_mac, source, &all_mldv2, len, &message);
	if (m == NULL)
		return NULL;
	report = message;
	report->type = VX_MLD_REPORT_V2;
	report->records_be = rte_cpu_to_be_16((uint16_t)n);
	to = (struct record *)(report + 1);
	for (unsigned int i = 0; i < n; i++) {
		to[i].type = (uint8_t)records[i].change;
		memcpy(to[i].group, records[i].group.bytes, sizeof(to[i].group));
	}
	report->checksum = vx_icmp6_checksum(source, &all_mldv2, report, len);
	*done = n;
	return m;
}

struct rte_mbuf *
vx_mld_old_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
		const struct vx_ip *source, const struct vx_ip *group, bool is_leave)
{
	const struct vx_ip *destination = is_leave ? &all_routers : group;
	struct rte_mbuf *m;
	struct mld *report;
	void *message;

	m = frame_make(pool, our_mac, source, destination, sizeof(*report), &message);
	if (m == NULL)
		return NULL;
	report = message;
	report->type = is_leave ? VX_MLD_DONE : VX_MLD_REPORT;
	memcpy(report->group, group->bytes, sizeof(report->group));
	report->checksum = vx_icmp6_checksum(source, destination, report, sizeof(*report));
	return m;
}
