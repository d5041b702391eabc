/* SPDX-License-Identifier: BSD-3-Clause */
/* What rte_mbuf lacks for chains. */
#ifndef VX_MBUF_H
#define VX_MBUF_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/* vx_mbuf_pull() for a packet whose first segment is too short. */
bool vx_mbuf_pull_slow(struct rte_mbuf *m, uint32_t len);

/*
 * Make the first @len bytes of @m contiguous. False if @m is shorter, or if its first buffer is
 * shared or too small for them; @m is unchanged then. Pointers into @m are invalid afterwards.
 */
static inline bool
vx_mbuf_pull(struct rte_mbuf *m, uint32_t len)
{
	if (likely(m->data_len >= len))
		return true;
	return vx_mbuf_pull_slow(m, len);
}

/* Cut the packet to @len bytes (at most pkt_len, at least 1), freeing segments that become empty.
 */
void vx_mbuf_truncate(struct rte_mbuf *m, uint32_t len);

/* Remove @len bytes (less than pkt_len) in front, across segments. Returns the new head: emptied
 * leading segments are freed. */
struct rte_mbuf *vx_mbuf_strip_slow(struct rte_mbuf *m, uint32_t len);

static inline struct rte_mbuf *
vx_mbuf_strip(struct rte_mbuf *m, uint32_t len)
{
	if (unlikely(m->data_len <= len))
		return vx_mbuf_strip_slow(m, len);
	m->data_off = (uint16_t)(m->data_off + len);
	m->data_len = (uint16_t)(m->data_len - len);
	m->pkt_len -= len;
	return m;
}

/* Copy @len bytes into the packet at @offset, across segments; the range must exist. */
void vx_mbuf_write(struct rte_mbuf *m, uint32_t offset, const void *from, uint32_t len);

/* May bytes be written into and in front of the first segment's data? */
static inline bool
vx_mbuf_is_direct(const struct rte_mbuf *m)
{
	return (m->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) == 0;
}

/* The flags that say what the buffer is; everything else is about the packet. */
#define VX_MBUF_BUFFER_FLAGS (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)

/* Forget what the receiving driver said of the packet, before it gets new headers. */
static inline void
vx_mbuf_clear_offloads(struct rte_mbuf *m)
{
	m->ol_flags &= VX_MBUF_BUFFER_FLAGS;
}

#endif
