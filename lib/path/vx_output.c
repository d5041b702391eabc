/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_output.h"

#include <string.h>

#include "vx_drop_packet.h"
#include "vx_mbuf.h"
#include "vx_wire.h"

/* For a port that takes only one plain segment: the packet again, in one. Returns the copy, or
 * NULL when it has been dropped. */
static struct rte_mbuf *
linearize(struct vx_lcore *lcore, struct rte_mbuf *m, const struct vx_view_port *port)
{
	struct rte_mbuf *copy = rte_pktmbuf_alloc(port->linear_pool);
	const uint32_t len = m->pkt_len;
	const void *bytes;
	void *room;

	if (copy == NULL) {
		vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
		return NULL;
	}
	if (len > copy->buf_len) {
		rte_pktmbuf_free(copy);
		vx_drop_packet(lcore, m, VX_DROP_TX_TOO_LONG);
		return NULL;
	}
	/* Give up headroom rather than the frame: nothing is put in front of it any more. */
	copy->data_off = (uint16_t)RTE_MIN((uint32_t)RTE_PKTMBUF_HEADROOM, copy->buf_len - len);
	copy->data_len = (uint16_t)len;
	copy->pkt_len = len;
	copy->port = m->port;
	room = rte_pktmbuf_mtod(copy, void *);
	bytes = rte_pktmbuf_read(m, 0, len, room);
	if (bytes != room)
		memcpy(room, bytes, len);
	rte_pktmbuf_free(m);
	vx_lcore_count(lcore, VX_COUNT_LINEAR_COPIES, 1);
	return copy;
}

/* Can the port's driver be given the packet as it lies in memory? */
static inline bool
takes(const struct vx_view_port *port, const struct rte_mbuf *m)
{
	if (unlikely(m->nb_segs > 1 && m->pkt_len > port->max_tx_chain))
		return false;
	if (likely(port->takes_indirect))
		return true;
	/* A flooded frame is a header of its own in front of a clone. */
	for (; m != NULL; m = m->next)
		if (!vx_mbuf_is_direct(m))
			return false;
	return true;
}

/* Is the frame too long by its VLAN tag only, and does the driver make allowance for one? */
static bool
is_tag_over(const struct vx_view_port *port, const struct rte_mbuf *m)
{
	return m->pkt_len <= port->max_tx_frame + port->tx_tag && m->data_len >= VX_ETHER_HDR_LEN &&
	       vx_ether_type(rte_pktmbuf_mtod(m, const void *)) == RTE_BE16(RTE_ETHER_TYPE_VLAN);
}

void
vx_output(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port)
{
	const struct vx_view_port *view_port = &lcore->view->port[port];
	struct vx_tx_buffer *buffer = &lcore->tx[port];

	if (unlikely(!view_port->is_up)) {
		vx_drop_packet(lcore, m, VX_DROP_TX_PORT_DOWN);
		return;
	}
	if (unlikely(m->pkt_len > view_port->max_tx_frame && !is_tag_over(view_port, m))) {
		vx_drop_packet(lcore, m, VX_DROP_TX_TOO_LONG);
		return;
	}
	if (unlikely(!takes(view_port, m))) {
		m = linearize(lcore, m, view_port);
		if (m == NULL)
			return;
	}
	vx_trace_note(lcore, m, VX_TRACE_TX, port);
	buffer->m[buffer->n++] = m;
	buffer->n_segments += m->nb_segs;
	lcore->tx_pending |= UINT64_C(1) << port;
	/* Fragments are made of many small mbufs, which should come back while they are warm. */
	if (unlikely(buffer->n == VX_TX_BUFFER || buffer->n_segments >= VX_TX_SEGMENTS))
		lcore->flush(lcore, port);
}

void
vx_output_padded(struct vx_lcore *lcore, struct rte_mbuf *m, uint16_t port)
{
	if (unlikely(m->pkt_len < VX_ETHER_MIN_LEN)) {
		const uint16_t pad = (uint16_t)(VX_ETHER_MIN_LEN - m->pkt_len);
		char *tail = rte_pktmbuf_append(m, pad);

		if (unlikely(tail == NULL)) {
			vx_drop_packet(lcore, m, VX_DROP_NO_MBUF);
			return;
		}
		memset(tail, 0, pad);
	}
	vx_mbuf_clear_offloads(m);
	vx_output(lcore, m, port);
}
