/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_membership.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "vx_csum.h"
#include "vx_multicast.h"
#include "vx_wire.h"

/* IGMP, RFC 3376 section 4. */
#define IGMP_QUERY     0x11
#define IGMP_REPORT_V1 0x12
#define IGMP_REPORT_V2 0x16
#define IGMP_LEAVE     0x17
#define IGMP_REPORT_V3 0x22

/* MLD, RFC 2710 and RFC 3810. */
#define MLD_QUERY     130
#define MLD_REPORT_V1 131
#define MLD_DONE      132
#define MLD_REPORT_V2 143

/* Record types, RFC 3376 section 4.2.12. */
enum {
	IS_INCLUDE = 1,
	IS_EXCLUDE,
	TO_INCLUDE,
	TO_EXCLUDE,
	ALLOW_NEW,
	BLOCK_OLD,
};

#define ON_LINK	     1 /* TTL and hop limit of all these messages */
#define ROUTER_ALERT 5 /* RFC 2711 */
#define HOP_MAX	     64u

struct headers4 {
	uint8_t ether[VX_ETHER_HDR_LEN];
	struct rte_ipv4_hdr ip;
} __attribute__((packed));

struct headers6 {
	uint8_t ether[VX_ETHER_HDR_LEN];
	struct rte_ipv6_hdr ip;
} __attribute__((packed));

struct igmp {
	uint8_t type, code;
	uint16_t checksum;
	rte_be32_t group_be; /* version 3 report: the lower half is the number of records */
	uint8_t flags, interval_code;
	rte_be16_t sources_be; /* the last three: query of version 3 */
} __attribute__((packed));
_Static_assert(sizeof(struct igmp) == 12, "wire format");

#define IGMP_LEN 8u /* of all messages but queries of version 3 */

struct mld {
	uint8_t type, code;
	uint16_t checksum;
	uint8_t response[2];
	rte_be16_t records_be; /* version 2 report, which has nothing after it but records */
	uint8_t group[16];
	uint8_t flags, interval_code;
	rte_be16_t sources_be; /* the last three: query of version 2 */
} __attribute__((packed));
_Static_assert(sizeof(struct mld) == 28, "wire format");

#define MLD_LEN	       24u
#define MLD_REPORT_LEN 8u

/* Both families: before the group. */
struct record {
	uint8_t type, aux_words;
	rte_be16_t sources_be;
	uint8_t group[16]; /* IPv4: 4 of them */
} __attribute__((packed));
_Static_assert(sizeof(struct record) == 20, "wire format");

/* @len bytes at @offset into @to. False: they are not there. */
static bool
copy_out(const struct rte_mbuf *m, uint32_t offset, uint32_t len, void *to)
{
	const void *bytes = rte_pktmbuf_read(m, offset, len, to);

	if (bytes == NULL)
		return false;
	if (bytes != to)
		memcpy(to, bytes, len);
	return true;
}

static uint32_t
address_len(const struct vx_membership *what)
{
	return what->is_v6 ? 16 : 4;
}

/* Read the record at @offset; its length, or 0: it is not within @end. */
static uint32_t
record_at(const struct rte_mbuf *m, const struct vx_membership *what, uint32_t offset, uint32_t end,
	  struct record *record)
{
	const uint32_t fixed = 4 + address_len(what);
	uint32_t len;

	if (offset + fixed > end || !copy_out(m, offset, fixed, record))
		return 0;
	len = fixed + rte_be_to_cpu_16(record->sources_be) * address_len(what) +
	      record->aux_words * 4u;
	return offset + len > end ? 0 : len;
}

/* A report of the newest version: are all its records there? */
static bool
are_records_whole(const struct rte_mbuf *m, const struct vx_membership *what, uint32_t end)
{
	uint32_t offset = what->offset;
	struct record record;

	for (unsigned int i = 0; i < what->n; i++) {
		const uint32_t len = record_at(m, what, offset, end, &record);

		if (len == 0)
			return false;
		offset += len;
	}
	return true;
}

/* The IGMP message of @len bytes at @offset, its checksum being right. */
static enum vx_cast
read_igmp(const struct rte_mbuf *m, struct vx_membership *what, uint32_t offset, uint32_t len)
{
	struct igmp igmp = {.type = 0};

	if (!copy_out(m, offset, RTE_MIN(len, (uint32_t)sizeof(igmp)), &igmp))
		return VX_CAST_ALL;
	switch (igmp.type) {
	case IGMP_QUERY:
		if (igmp.group_be != 0 && !vx_multicast_is_group4(igmp.group_be))
			return VX_CAST_ALL;
		if (len == IGMP_LEN)
			return VX_CAST_QUERY;
		if (len < sizeof(igmp) ||
		    len - sizeof(igmp) < 4u * rte_be_to_cpu_16(igmp.sources_be))
			return VX_CAST_ALL;
		return VX_CAST_QUERY;
	case IGMP_REPORT_V1:
	case IGMP_REPORT_V2:
	case IGMP_LEAVE:
		what->single = igmp.type;
		what->offset = offset + 4;
		what->n = 1;
		return VX_CAST_REPORT;
	case IGMP_REPORT_V3:
		what->offset = offset + IGMP_LEN;
		what->n = (uint16_t)rte_be_to_cpu_32(igmp.group_be);
		return are_records_whole(m, what, offset + len) ? VX_CAST_REPORT : VX_CAST_ALL;
	default:
		return VX_CAST_ALL;
	}
}

/* The MLD message of @len bytes at @offset, its checksum being right. */
static enum vx_cast
read_mld(const struct rte_mbuf *m, struct vx_membership *what, uint32_t offset, uint32_t len)
{
	struct mld mld = {.type = 0};

	if (!copy_out(m, offset, RTE_MIN(len, (uint32_t)sizeof(mld)), &mld))
		return VX_CAST_ALL;
	if (mld.type == MLD_REPORT_V2) {
		what->offset = offset + MLD_REPORT_LEN;
		what->n = rte_be_to_cpu_16(mld.records_be);
		return are_records_whole(m, what, offset + len) ? VX_CAST_REPORT : VX_CAST_ALL;
	}
	if (len < MLD_LEN)
		return VX_CAST_ALL;
	if (mld.type != MLD_QUERY) {
		what->single = mld.type;
		what->offset = offset + 8;
		what->n = 1;
		return VX_CAST_REPORT;
	}
	/* Nobody may ask from :: (RFC 3810 section 5.1.14). */
	if (vx_ip_is_none(&what->source))
		return VX_CAST_ALL;
	if (len > MLD_LEN &&
	    (len < sizeof(mld) || len - sizeof(mld) < 16u * rte_be_to_cpu_16(mld.sources_be)))
		return VX_CAST_ALL;
	return VX_CAST_QUERY;
}

static enum vx_cast
parse4(const struct rte_mbuf *m, struct vx_membership *what)
{
	uint8_t scratch[sizeof(struct headers4) + 40];
	const struct headers4 *headers;
	uint32_t header_len, len;
	struct rte_ipv4_hdr ip;

	if (!copy_out(m, 0, sizeof(*headers), scratch))
		return VX_CAST_ALL;
	headers = (const struct headers4 *)scratch;
	memcpy(&ip, &headers->ip, sizeof(ip));
	header_len = (ip.version_ihl & 0xfu) * 4;
	len = rte_be_to_cpu_16(ip.total_length);
	if (ip.version_ihl >> 4 != 4 || header_len < sizeof(ip) || len < header_len ||
	    m->pkt_len < VX_ETHER_HDR_LEN + len || !vx_multicast_is_group4(ip.dst_addr))
		return VX_CAST_ALL;
	what->group = vx_ip_from_v4(ip.dst_addr);
	if (ip.next_proto_id != IPPROTO_IGMP)
		return vx_multicast_is_control4(ip.dst_addr) ? VX_CAST_ALL : VX_CAST_DATA;
	len -= header_len;
	if (ip.time_to_live != ON_LINK || len < IGMP_LEN ||
	    (ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) != 0 ||
	    !copy_out(m, VX_ETHER_HDR_LEN, header_len, scratch) ||
	    !vx_csum_is_ipv4_header_right(scratch, header_len) ||
	    vx_csum_range(m, VX_ETHER_HDR_LEN + header_len, len) != UINT16_MAX)
		return VX_CAST_ALL;
	what->source = vx_ip_from_v4(ip.src_addr);
	return read_igmp(m, what, VX_ETHER_HDR_LEN + header_len, len);
}

static bool
has_router_alert(const uint8_t *options, uint32_t len)
{
	for (uint32_t at = 2; at + 2 <= len;) {
		if (options[at] == ROUTER_ALERT)
			return true;
		at += options[at] == 0 ? 1u : 2u + options[at + 1];
	}
	return false;
}

/* Of this link: from a link-local address, or as none is known yet (RFC 3590), and not forwarded.
 */
static bool
is_mld_right(const struct rte_mbuf *m, const struct rte_ipv6_hdr *ip, const struct vx_ip *source,
	     uint32_t offset, uint32_t len)
{
	struct rte_ipv6_hdr pseudo = *ip;
	uint32_t sum;

	if (ip->hop_limits != ON_LINK || len < MLD_REPORT_LEN)
		return false;
	if (!vx_ip_is_none(source) &&
	    (source->bytes[0] != 0xfe || (source->bytes[1] & 0xc0) != 0x80))
		return false;
	pseudo.proto = IPPROTO_ICMPV6;
	pseudo.payload_len = rte_cpu_to_be_16((uint16_t)len);
	sum = (uint32_t)rte_ipv6_phdr_cksum(&pseudo, 0) + vx_csum_range(m, offset, len);
	return vx_csum_fold(sum) == UINT16_MAX;
}

static enum vx_cast
parse6(const struct rte_mbuf *m, struct vx_membership *what)
{
	uint32_t len, options_len, offset = sizeof(struct headers6);
	uint8_t options[HOP_MAX];
	struct headers6 headers;
	struct rte_ipv6_hdr ip;
	enum vx_cast data;
	uint8_t type;

	what->is_v6 = true;
	if (!copy_out(m, 0, sizeof(headers), &headers))
		return VX_CAST_ALL;
	memcpy(&ip, &headers.ip, sizeof(ip));
	memcpy(what->source.bytes, &ip.src_addr, sizeof(what->source.bytes));
	memcpy(what->group.bytes, &ip.dst_addr, sizeof(what->group.bytes));
	len = rte_be_to_cpu_16(ip.payload_len);
	if (*(const uint8_t *)&ip >> 4 != 6 || what->group.bytes[0] != 0xff ||
	    m->pkt_len < offset + len)
		return VX_CAST_ALL;
	data = vx_multicast_is_control(&what->group) ? VX_CAST_ALL : VX_CAST_DATA;
	/* Without router alert it is no MLD message (RFC 3810 section 5). */
	if (ip.proto != IPPROTO_HOPOPTS || len < 8 || !copy_out(m, offset, 8, options) ||
	    options[0] != IPPROTO_ICMPV6)
		return data;
	options_len = (options[1] + 1u) * 8;
	if (options_len > HOP_MAX || options_len >= len ||
	    !copy_out(m, offset, options_len, options))
		return data;
	offset += options_len;
	len -= options_len;
	if (!copy_out(m, offset, 1, &type) ||
	    ((type < MLD_QUERY || type > MLD_DONE) && type != MLD_REPORT_V2))
		return data;
	if (!has_router_alert(options, options_len) ||
	    !is_mld_right(m, &ip, &what->source, offset, len))
		return VX_CAST_ALL;
	return read_mld(m, what, offset, len);
}

void
vx_membership_parse(const struct rte_mbuf *m, struct vx_membership *what)
{
	struct rte_ether_addr mac;
	uint8_t ether[VX_ETHER_HDR_LEN];

	*what = (struct vx_membership){.cast = VX_CAST_ALL};
	if (!copy_out(m, 0, sizeof(ether), ether))
		return;
	if (vx_ether_type(ether) == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		what->cast = parse4(m, what);
	else if (vx_ether_type(ether) == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		what->cast = parse6(m, what);
	if (what->cast == VX_CAST_ALL)
		return;
	/* Addressed otherwise, it is for others than the group's members. */
	mac = vx_multicast_mac(&what->group);
	if (memcmp(&mac, ether, sizeof(mac)) != 0)
		what->cast = VX_CAST_ALL;
}

/* What a record means for a switch that forwards by group: 1 member, -1 none any more, or 0. */
static int
meaning(const struct record *record)
{
	const bool has_sources = record->sources_be != 0;

	switch (record->type) {
	case IS_INCLUDE:
	case TO_INCLUDE:
		return has_sources ? 1 : -1;
	case IS_EXCLUDE:
	case TO_EXCLUDE:
		return 1;
	case ALLOW_NEW:
		return has_sources;
	default:
		return 0;
	}
}

static bool
is_tracked(const struct vx_ip *group)
{
	return vx_ip_is_multicast(group) && !vx_multicast_is_control(group);
}

bool
vx_membership_next(const struct rte_mbuf *m, struct vx_membership *what, struct vx_ip *group,
		   bool *is_leave)
{
	while (what->n > 0) {
		struct record record = {.type = TO_EXCLUDE};
		int means;

		what->n--;
		if (what->single != 0) {
			if (!copy_out(m, what->offset, address_len(what), record.group))
				return false;
			if (what->single == IGMP_LEAVE || what->single == MLD_DONE)
				record.type = TO_INCLUDE;
		} else {
			const uint32_t len = record_at(m, what, what->offset, m->pkt_len, &record);

			if (len == 0)
				return false;
			what->offset += len;
		}
		if (what->is_v6) {
			memcpy(group->bytes, record.group, sizeof(group->bytes));
		} else {
			rte_be32_t address_be;

			memcpy(&address_be, record.group, sizeof(address_be));
			*group = vx_ip_from_v4(address_be);
		}
		means = meaning(&record);
		*is_leave = means < 0;
		if (means != 0 && is_tracked(group))
			return true;
	}
	return false;
}
