/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_ingress.h"

#include <string.h>

#include "vx_attach.h"
#include "vx_csum.h"
#include "vx_drop_packet.h"
#include "vx_mbuf.h"
#include "vx_segment.h"
#include "vx_wire.h"

/* Does the IP header say that the packet was longer? Only asked of frames of the length to which
 * the port's driver cuts. */
static bool
is_cut(const struct rte_mbuf *m)
{
	uint8_t scratch[VX_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr)];
	const uint8_t *bytes = rte_pktmbuf_read(m, 0, sizeof(scratch), scratch);
	uint32_t len;

	if (bytes == NULL)
		return false;
	if (vx_ether_type(bytes) == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		struct rte_ipv4_hdr ip;

		memcpy(&ip, bytes + VX_ETHER_HDR_LEN, sizeof(ip));
		len = rte_be_to_cpu_16(ip.total_length);
	} else if (vx_ether_type(bytes) == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		struct rte_ipv6_hdr ip;

		memcpy(&ip, bytes + VX_ETHER_HDR_LEN, sizeof(ip));
		len = rte_be_to_cpu_16(ip.payload_len) + (uint32_t)sizeof(ip);
	} else {
		return false;
	}
	return VX_ETHER_HDR_LEN + len > m->pkt_len;
}

static inline enum vx_drop
ingress_one(struct rte_mbuf *m, const struct vx_view_port *port, const struct vx_segment *segment,
	    uint64_t *source, uint64_t *destination)
{
	const uint8_t *frame;
	uint64_t source_mac;

	if (unlikely(!vx_mbuf_pull(m, VX_ETHER_HDR_LEN)))
		return m->pkt_len < VX_ETHER_HDR_LEN ? VX_DROP_ACCESS_RUNT : VX_DROP_NO_MBUF;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	/* Some drivers take the tag out of the frame and report it apart; id 0 is a priority tag.
	 */
	if (unlikely((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 &&
		     (m->vlan_tci & 0x0fff) != 0))
		return VX_DROP_ACCESS_VLAN;
	if (unlikely(vx_is_vlan_tag(vx_ether_type(frame))))
		return VX_DROP_ACCESS_VLAN;
	if (unlikely(m->pkt_len == port->cut_len && is_cut(m)))
		return VX_DROP_ACCESS_CUT;
	source_mac = vx_fdb_load_mac(frame + RTE_ETHER_ADDR_LEN);
	if (unlikely(vx_fdb_is_group(source_mac) || source_mac == 0))
		return VX_DROP_BAD_SOURCE_MAC;
	if (unlikely(m->pkt_len > segment->mtu + VX_ETHER_HDR_LEN))
		return VX_DROP_INNER_TOO_BIG;
	*source = vx_fdb_key(segment->index, source_mac);
	*destination = vx_fdb_key(segment->index, vx_fdb_load_mac(frame));
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
	const struct vx_attach *attach = NULL;
	const struct vx_segment *segment = NULL;
	uint16_t kept = 0;

	if (likely(port->untagged != VX_ATTACH_NONE))
		attach = vx_attach_at(lcore->tables, port->untagged);
	if (likely(attach != NULL))
		segment =
			__atomic_load_n(&lcore->tables->segment[attach->segment], __ATOMIC_ACQUIRE);
	if (unlikely(segment == NULL)) {
		drop_all(lcore, burst, VX_DROP_ACCESS_NO_SEGMENT);
		return;
	}
	for (unsigned int i = 0; i < burst->n; i++) {
		struct rte_mbuf *m = burst->m[i];
		enum vx_drop reason;

		vx_trace_enter(lcore, burst, i);
		reason = ingress_one(m, port, segment, &burst->source[kept],
				     &burst->destination[kept]);
		if (unlikely(reason != VX_DROP_NONE)) {
			vx_drop_packet(lcore, m, reason);
			continue;
		}
		complete_checksum(lcore, m);
		vx_trace_note(lcore, m, VX_TRACE_ATTACH, segment->vni);
		burst->m[kept] = m;
		burst->segment[kept] = segment;
		burst->origin[kept] = attach->index;
		burst->trace[kept] = burst->trace[i];
		kept++;
	}
	burst->n = kept;
}
