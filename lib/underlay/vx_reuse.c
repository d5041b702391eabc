/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_reuse.h"

#include <stdbool.h>

#include <rte_mbuf.h>

#include "vx_mbuf.h"

/* May the first segment be written? */
static bool
is_own(const struct rte_mbuf *m)
{
	if (RTE_MBUF_CLONED(m) || rte_mbuf_refcnt_read(m) != 1)
		return false;
	return !RTE_MBUF_HAS_EXTBUF(m) || rte_mbuf_ext_refcnt_read(m->shinfo) == 1;
}

uint8_t *
vx_reuse_mbuf(struct rte_mbuf *m, uint16_t len)
{
	if (!is_own(m) || m->buf_len < len)
		return NULL;
	if (m->next != NULL) {
		rte_pktmbuf_free(m->next);
		m->next = NULL;
		m->nb_segs = 1;
	}
	if (m->data_off + len > m->buf_len)
		m->data_off = (uint16_t)(m->buf_len - len);
	m->data_len = len;
	m->pkt_len = len;
	/* nothing that was said about the request holds for what is sent */
	vx_mbuf_clear_offloads(m);
	m->packet_type = 0;
	m->tx_offload = 0;
	return rte_pktmbuf_mtod(m, uint8_t *);
}
