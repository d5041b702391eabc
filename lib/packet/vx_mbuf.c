/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_mbuf.h"

#include <string.h>

/* Room for @more bytes behind the data of the first segment, moving the data forward if needed. */
static bool
make_tailroom(struct rte_mbuf *m, uint32_t more)
{
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *);

	if (rte_pktmbuf_tailroom(m) >= more)
		return true;
	if ((uint32_t)rte_pktmbuf_tailroom(m) + rte_pktmbuf_headroom(m) < more)
		return false;
	memmove(m->buf_addr, data, m->data_len);
	m->data_off = 0;
	return true;
}

bool
vx_mbuf_pull_slow(struct rte_mbuf *m, uint32_t len)
{
	const uint32_t more = len - m->data_len;

	if (m->pkt_len < len || !vx_mbuf_is_direct(m) || rte_mbuf_refcnt_read(m) != 1 ||
	    !make_tailroom(m, more))
		return false;
	for (uint32_t left = more; left > 0;) {
		struct rte_mbuf *next = m->next;
		const uint16_t part = (uint16_t)RTE_MIN(left, next->data_len);

		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len),
		       rte_pktmbuf_mtod(next, uint8_t *), part);
		m->data_len = (uint16_t)(m->data_len + part);
		next->data_off = (uint16_t)(next->data_off + part);
		next->data_len = (uint16_t)(next->data_len - part);
		left -= part;
		if (next->data_len == 0) {
			m->next = next->next;
			m->nb_segs--;
			rte_pktmbuf_free_seg(next);
		}
	}
	return true;
}

void
vx_mbuf_truncate(struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *segment = m, *rest;
	uint32_t left = len;
	uint16_t n = 1;

	while (segment->data_len < left) {
		left -= segment->data_len;
		segment = segment->next;
		n++;
	}
	segment->data_len = (uint16_t)left;
	rest = segment->next;
	segment->next = NULL;
	m->nb_segs = n;
	m->pkt_len = len;
	rte_pktmbuf_free(rest);
}

struct rte_mbuf *
vx_mbuf_strip_slow(struct rte_mbuf *m, uint32_t len)
{
	const uint32_t pkt_len = m->pkt_len - len;
	uint16_t n = m->nb_segs;

	while (m->data_len <= len) {
		struct rte_mbuf *next = m->next;

		len -= m->data_len;
		next->port = m->port;
		next->packet_type = m->packet_type;
		/* The packet's flags move on; what the buffer is stays with each buffer. */
		next->ol_flags = (next->ol_flags & VX_MBUF_BUFFER_FLAGS) |
				 (m->ol_flags & ~VX_MBUF_BUFFER_FLAGS);
		rte_pktmbuf_free_seg(m);
		m = next;
		n--;
	}
	m->data_off = (uint16_t)(m->data_off + len);
	m->data_len = (uint16_t)(m->data_len - len);
	m->pkt_len = pkt_len;
	m->nb_segs = n;
	return m;
}

void
vx_mbuf_write(struct rte_mbuf *m, uint32_t offset, const void *from, uint32_t len)
{
	const uint8_t *bytes = from;

	while (offset >= m->data_len) {
		offset -= m->data_len;
		m = m->next;
	}
	while (len > 0) {
		const uint32_t part = RTE_MIN(len, m->data_len - offset);

		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, offset), bytes, part);
		bytes += part;
		len -= part;
		offset = 0;
		m = m->next;
	}
}
