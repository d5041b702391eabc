/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_ingress.h"

#include <string.h>

#include "vx_attach.h"
#include "vx_csum.h"
#include "vx_drop_packet.h"
#include "vx_mbuf.h"
#include "vx_segment.h"
#include "vx_tag.h"
#include "vx_wire.h"

/* Where a frame belongs. Both NULL: nowhere. */
struct place {
	const struct vx_attach *attach;
	const struct vx_segment *segment;
};

static inline struct place
find_place(const struct vx_tables *tables, uint32_t index)
{
	struct place place = {0};

	if (unlikely(index == VX_ATTACH_NONE))
		return place;
	place.attach = vx_attach_at(tables, index);
	if (unlikely(place.attach == NULL))
		return place;
	place.segment = __atomic_load_n(&tables->segment[place.attach->segment], __ATOMIC_ACQUIRE);
	return place;
}

/* Does the IP header say that the packet was longer? Only asked of frames of the length to which
 * the port's driver cuts. */
static bool
is_cut(const struct rte_mbuf *m)
{
	uint8_t scratch[sizeof(struct rte_ipv6_hdr)];
	const uint8_t *bytes;
	uint32_t l3, len;
	rte_be16_t type;

	l3 = VX_ETHER_HDR_LEN + vx_tag_len(m, &type);
	bytes = rte_pktmbuf_read(m, l3, sizeof(scratch), scratch);
	if (bytes == NULL)
		return false;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		struct rte_ipv4_hdr ip;

		memcpy(&ip, bytes, sizeof(ip));
		len = rte_be_to_cpu_16(ip.total_length);
	} else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		struct rte_ipv6_hdr ip;

		memcpy(&ip, bytes, sizeof(ip));
		len = rte_be_to_cpu_16(ip.payload_len) + (uint32_t)sizeof(ip);
	} else {
		return false;
	}
	return l3 + len > m->pkt_len;
}

/* The tag by which a frame belongs to one VLAN: read, looked up and removed. A service tag is no
 * VLAN of ours, nor may another tag be left (RFC 7348 section 6.1). */
static enum vx_drop
take_tag(const struct vx_lcore *lcore, const struct vx_view_port *port, struct rte_mbuf **mbuf,
	 struct place *place)
{
	struct rte_mbuf *m = *mbuf;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t index;
	uint16_t vlan;

	if (vx_ether_type(frame) != RTE_BE16(RTE_ETHER_TYPE_VLAN))
		return VX_DROP_ACCESS_VLAN;
	if (!vx_mbuf_pull(m, VX_ETHER_HDR_LEN + VX_VLAN_TAG_LEN))
		return m->pkt_len < VX_ETHER_HDR_LEN + VX_VLAN_TAG_LEN ? VX_DROP_ACCESS_VLAN
								       : VX_DROP_NO_MBUF;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	vlan = (uint16_t)(frame[VX_ETHER_HDR_LEN] << 8 | frame[VX_ETHER_HDR_LEN + 1]) &
	       VX_TAG_ID_MASK;
	index = vx_attach_of_vlan(port, vlan);
	if (vlan != VX_VLAN_UNTAGGED && index == VX_ATTACH_NONE)
		return VX_DROP_ACCESS_VLAN;
	m = vx_tag_pop(m, lcore->copy_pool);
	if (unlikely(m == NULL))
		return VX_DROP_NO_MBUF;
	*mbuf = m;
	if (!vx_mbuf_pull(m, VX_ETHER_HDR_LEN))
		return VX_DROP_NO_MBUF;
	if (vx_tag_is_in(m))
		return VX_DROP_ACCESS_VLAN;
	*place = find_place(lcore->tables, index);
	return VX_DROP_NONE;
}

/* A frame with a tag, in it or reported apart by the driver. @place is where untagged frames of the
 * port belong, and becomes where this one does; *tags: bytes of tags that stay in the frame. */
static __rte_noinline enum vx_drop
enter_tagged(const struct vx_lcore *lcore, const struct vx_view_port *port, struct rte_mbuf **m,
	     struct place *place, uint32_t *tags)
{
	rte_be16_t type;

	if ((*m)->ol_flags & VX_TAG_STRIPPED) {
		if (!vx_tag_restore(m, lcore->copy_pool) || !vx_mbuf_pull(*m, VX_ETHER_HDR_LEN))
			return VX_DROP_NO_MBUF;
	}
	if (!port->carries_tags)
		return take_tag(lcore, port, m, place);
	*tags = vx_tag_len(*m, &type);
	return VX_DROP_NONE;
}

/* The head may change: *m. */
static inline enum vx_drop
ingress_one(const struct vx_lcore *lcore, const struct vx_view_port *port, struct rte_mbuf **mbuf,
	    struct place *place, uint64_t *source, uint64_t *destination)
{
	struct rte_mbuf *m = *mbuf;
	const uint8_t *frame;
	uint64_t source_mac;
	uint32_t tags = 0;

	if (unlikely(!vx_mbuf_pull(m, VX_ETHER_HDR_LEN)))
		return m->pkt_len < VX_ETHER_HDR_LEN ? VX_DROP_ACCESS_RUNT : VX_DROP_NO_MBUF;
	/* Longer by a tag that the driver has put back after it cut the frame. */
	if (unlikely(m->pkt_len - port->cut_len <= VX_VLAN_TAG_LEN && is_cut(m)))
		return VX_DROP_ACCESS_CUT;
	if (unlikely((m->ol_flags & VX_TAG_STRIPPED) != 0 || vx_tag_is_in(m))) {
		const enum vx_drop reason = enter_tagged(lcore, port, mbuf, place, &tags);

		if (reason != VX_DROP_NONE)
			return reason;
		m = *mbuf;
	}
	if (unlikely(place->segment == NULL))
		return VX_DROP_ACCESS_NO_SEGMENT;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	source_mac = vx_fdb_load_mac(frame + RTE_ETHER_ADDR_LEN);
	if (unlikely(vx_fdb_is_group(source_mac) || source_mac == 0))
		return VX_DROP_BAD_SOURCE_MAC;
	if (unlikely(m->pkt_len > place->segment->mtu + VX_ETHER_HDR_LEN + tags))
		return VX_DROP_INNER_TOO_BIG;
	*source = vx_fdb_key(place->segment->index, source_mac);
	*destination = vx_fdb_key(place->segment->index, vx_fdb_load_mac(frame));
	return VX_DROP_NONE;
}

/* The sender left the checksum to a NIC that is not there (virtio, vhost): do the NIC's work. */
static inline void
complete_checksum(struct vx_lcore *lcore, struct rte_mbuf *m)
{
	if (likely((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) != RTE_MBUF_F_RX_L4_CKSUM_NONE))
		return;
	if (vx_csum_complete(m))
		vx_lcore_count(lcore, VX_COUNT_INNER_CHECKSUMS, 1);
}

static void
drop_all(struct vx_lcore *lcore, struct vx_burst *burst, enum vx_drop reason)
{
	for (unsigned int i = 0; i < burst->n; i++) {
		vx_trace_enter(lcore, burst, i);
		vx_drop_packet(lcore, burst->m[i], reason);
	}
	burst->n = 0;
}

void
vx_ingress_burst(struct vx_lcore *lcore, struct vx_burst *burst)
{
	const struct vx_view_port *port = &lcore->view->port[burst->port];
	const struct place untagged = find_place(lcore->tables, port->untagged);
	uint16_t kept = 0;

	if (unlikely(untagged.segment == NULL && port->vlans == NULL)) {
		drop_all(lcore, burst, VX_DROP_ACCESS_NO_SEGMENT);
		return;
	}
	for (unsigned int i = 0; i < burst->n; i++) {
		struct rte_mbuf *m = burst->m[i];
		struct place place = untagged;
		enum vx_drop reason;

		vx_trace_enter(lcore, burst, i);
		reason = ingress_one(lcore, port, &m, &place, &burst->source[kept],
				     &burst->destination[kept]);
		if (unlikely(reason != VX_DROP_NONE)) {
			vx_drop_packet(lcore, m, reason);
			continue;
		}
		complete_checksum(lcore, m);
		vx_trace_note(lcore, m, VX_TRACE_ATTACH, place.segment->vni);
		burst->m[kept] = m;
		burst->segment[kept] = place.segment;
		burst->origin[kept] = place.attach->index;
		burst->trace[kept] = burst->trace[i];
		kept++;
	}
	burst->n = kept;
}
