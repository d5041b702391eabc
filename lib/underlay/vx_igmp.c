/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_igmp.h"

#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_csum.h"
#include "vx_group_message.h"
#include "vx_multicast.h"
#include "vx_wire.h"

/* Types, RFC 3376 section 4. */
#define TYPE_QUERY     0x11
#define TYPE_REPORT_V1 0x12
#define TYPE_REPORT_V2 0x16
#define TYPE_LEAVE_V2  0x17
#define TYPE_REPORT_V3 0x22

#define ALL_ROUTERS RTE_BE32(0xe0000002) /* 224.0.0.2 */
#define ALL_IGMPV3  RTE_BE32(0xe0000016) /* 224.0.0.22 */

#define TTL_ON_LINK 1
#define TOS_CONTROL 0xc0 /* internetwork control, RFC 3376 section 4 */

/* What an IGMPv1 query does not say (RFC 3376 section 4.1.1 and RFC 1112). */
#define V1_RESPONSE_MS 10000u

/* All versions begin so. */
struct igmp {
	uint8_t type;
	uint8_t code; /* query: the longest time to answer */
	uint16_t checksum;
	rte_be32_t group_be; /* IGMPv3 report: reserved, and the number of records */
} __attribute__((packed));
_Static_assert(sizeof(struct igmp) == 8, "wire format");

struct query_v3 {
	struct igmp head;
	uint8_t flags; /* lowest 3 bits: robustness */
	uint8_t interval_code;
	rte_be16_t sources_be;
} __attribute__((packed));
_Static_assert(sizeof(struct query_v3) == 12, "wire format");

struct record {
	uint8_t type;
	uint8_t aux_words;
	rte_be16_t sources_be;
	rte_be32_t group_be;
} __attribute__((packed));
_Static_assert(sizeof(struct record) == 8, "wire format");

/* IPv4 with the option "router alert" (RFC 2113). */
struct headers {
	uint8_t ether_dst[RTE_ETHER_ADDR_LEN], ether_src[RTE_ETHER_ADDR_LEN];
	rte_be16_t ether_type_be;
	struct rte_ipv4_hdr ip;
	uint8_t router_alert[4];
} __attribute__((packed));
_Static_assert(sizeof(struct headers) == 38, "wire format");

#define IP_HEADER_LEN (sizeof(struct rte_ipv4_hdr) + 4)

/* --- reading --- */

static void
read_query(const struct query_v3 *bytes, uint32_t len, struct vx_group_query *query)
{
	const struct igmp *head = &bytes->head;

	if (head->group_be != 0)
		query->group = vx_ip_from_v4(head->group_be);
	if (len == sizeof(*head)) {
		query->version = head->code == 0 ? 1 : 2;
		query->max_response_ms = head->code == 0 ? V1_RESPONSE_MS : head->code * 100u;
		return;
	}
	query->version = VX_IGMP_VERSION;
	query->max_response_ms = vx_group_code8(head->code) * 100u;
	query->robustness = bytes->flags & 7u;
	query->interval_s = (uint16_t)vx_group_code8(bytes->interval_code);
}

enum vx_drop
vx_igmp_parse(const struct rte_mbuf *m, uint32_t offset, uint8_t ttl, struct vx_group_query *query)
{
	const uint32_t len = m->pkt_len - offset;
	struct query_v3 copy = {.head.type = 0};
	const void *bytes;

	*query = (struct vx_group_query){.version = 0};
	if (m->pkt_len < offset || len < sizeof(copy.head) || ttl != TTL_ON_LINK)
		return VX_DROP_GROUP_BAD;
	bytes = rte_pktmbuf_read(m, offset, RTE_MIN(len, (uint32_t)sizeof(copy)), &copy);
	if (bytes != &copy)
		memcpy(&copy, bytes, RTE_MIN(len, (uint32_t)sizeof(copy)));
	if (vx_csum_range(m, offset, len) != UINT16_MAX)
		return VX_DROP_GROUP_BAD;
	if (copy.head.type != TYPE_QUERY)
		return VX_DROP_NONE;
	/* The length tells the version, and the three between them are none (RFC 3376 7.1). */
	if (len > sizeof(copy.head) && len < sizeof(copy))
		return VX_DROP_GROUP_BAD;
	if (len >= sizeof(copy) && len - sizeof(copy) < 4u * rte_be_to_cpu_16(copy.sources_be))
		return VX_DROP_GROUP_BAD;
	if (copy.head.group_be != 0 && !vx_multicast_is_group4(copy.head.group_be))
		return VX_DROP_GROUP_BAD;
	read_query(&copy, len, query);
	return VX_DROP_NONE;
}

/* --- writing --- */

/* The frame around an IGMP message of @len bytes, which the caller writes behind it. */
static void
write_headers(void *frame, const struct rte_ether_addr *our_mac, rte_be32_t our_ip_be,
	      rte_be32_t destination_be, uint16_t len)
{
	const struct vx_ip destination = vx_ip_from_v4(destination_be);
	const struct rte_ether_addr mac = vx_multicast_mac(&destination);
	struct headers *to = frame;

	memcpy(to->ether_dst, mac.addr_bytes, sizeof(to->ether_dst));
	memcpy(to->ether_src, our_mac->addr_bytes, sizeof(to->ether_src));
	to->ether_type_be = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	to->ip = (struct rte_ipv4_hdr){
		.version_ihl = 0x40 | IP_HEADER_LEN / 4,
		.type_of_service = TOS_CONTROL,
		.total_length = rte_cpu_to_be_16((uint16_t)(IP_HEADER_LEN + len)),
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = TTL_ON_LINK,
		.next_proto_id = IPPROTO_IGMP,
		.src_addr = our_ip_be,
		.dst_addr = destination_be,
	};
	memcpy(to->router_alert, (const uint8_t[]){0x94, 4, 0, 0}, sizeof(to->router_alert));
	/* Of the header as a whole, options included. */
	to->ip.hdr_checksum = (uint16_t)~rte_raw_cksum(&to->ip, IP_HEADER_LEN);
}

/* An empty frame of @len bytes, padded to what Ethernet asks for; zeroed. */
static struct rte_mbuf *
frame_alloc(struct rte_mempool *pool, uint32_t len)
{
	const uint16_t padded = (uint16_t)RTE_MAX(len, VX_ETHER_MIN_LEN);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	void *data;

	if (m == NULL)
		return NULL;
	data = rte_pktmbuf_append(m, padded);
	if (data == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memset(data, 0, padded);
	return m;
}

struct rte_mbuf *
vx_igmp_report_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
		    rte_be32_t our_ip_be, const struct vx_group_record *records, unsigned int n,
		    unsigned int *done)
{
	const size_t room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	const size_t fixed = sizeof(struct headers) + sizeof(struct igmp);
	struct rte_mbuf *m;
	struct igmp *report;
	struct record *to;
	uint16_t len;

	n = (unsigned int)RTE_MIN((size_t)n, (room - fixed) / sizeof(struct record));
	len = (uint16_t)(sizeof(*report) + n * sizeof(*to));
	m = frame_alloc(pool, (uint32_t)sizeof(struct headers) + len);
	if (m == NULL)
		return NULL;
	write_headers(rte_pktmbuf_mtod(m, void *), our_mac, our_ip_be, ALL_IGMPV3, len);
	report = rte_pktmbuf_mtod_offset(m, struct igmp *, sizeof(struct headers));
	report->type = TYPE_REPORT_V3;
	report->group_be = rte_cpu_to_be_32(n);
	to = (struct record *)(report + 1);
	for (unsigned int i = 0; i < n; i++) {
		to[i].type = (uint8_t)records[i].change;
		to[i].group_be = vx_ip_v4(&records[i].group);
	}
	report->checksum = (uint16_t)~rte_raw_cksum(report, len);
	*done = n;
	return m;
}

struct rte_mbuf *
vx_igmp_old_make(struct rte_mempool *pool, const struct rte_ether_addr *our_mac,
		 rte_be32_t our_ip_be, rte_be32_t group_be, uint8_t version, bool is_leave)
{
	struct rte_mbuf *m = frame_alloc(pool, sizeof(struct headers) + sizeof(struct igmp));
	struct igmp *message;

	if (m == NULL)
		return NULL;
	write_headers(rte_pktmbuf_mtod(m, void *), our_mac, our_ip_be,
		      is_leave ? ALL_ROUTERS : group_be, sizeof(*message));
	message = rte_pktmbuf_mtod_offset(m, struct igmp *, sizeof(struct headers));
	message->type = TYPE_REPORT_V2;
	if (version == 1)
		message->type = TYPE_REPORT_V1;
	else if (is_leave)
		message->type = TYPE_LEAVE_V2;
	message->group_be = group_be;
	message->checksum = (uint16_t)~rte_raw_cksum(message, sizeof(*message));
	return m;
}
