/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_tag.h"

#include <string.h>

#include "vx_mbuf.h"

#define MACS_LEN (2u * RTE_ETHER_ADDR_LEN)

/* A tag on the wire: it goes between the MACs and the EtherType. */
struct tag {
	rte_be16_t type_be;
	rte_be16_t tci_be;
} __attribute__((packed));
_Static_assert(sizeof(struct tag) == VX_VLAN_TAG_LEN, "wire format");

static rte_be16_t
type_at(const struct rte_mbuf *m, uint32_t offset)
{
	rte_be16_t copy, type;

	memcpy(&type, rte_pktmbuf_read(m, offset, sizeof(copy), &copy), sizeof(type));
	return type;
}

uint32_t
vx_tag_len(const struct rte_mbuf *m, rte_be16_t *type_be)
{
	uint32_t len = 0;

	*type_be = type_at(m, MACS_LEN);
	while (vx_is_vlan_tag(*type_be) && len < VX_TAGS_MAX * VX_VLAN_TAG_LEN &&
	       m->pkt_len >= VX_ETHER_HDR_LEN + len + VX_VLAN_TAG_LEN) {
		len += VX_VLAN_TAG_LEN;
		*type_be = type_at(m, MACS_LEN + len);
	}
	return len;
}

/* The MACs in a buffer of their own, @tag (may be NULL) behind them, and then the frame from
 * @offset on. */
static struct rte_mbuf *
set_apart(struct rte_mbuf *m, struct rte_mempool *pool, uint32_t offset, const struct tag *tag)
{
	const uint16_t len = MACS_LEN + (tag == NULL ? 0 : VX_VLAN_TAG_LEN);
	struct rte_mbuf *head = rte_pktmbuf_alloc(pool);
	const void *macs;
	uint8_t *to = NULL;

	if (head != NULL)
		to = (uint8_t *)rte_pktmbuf_append(head, len);
	if (to == NULL) {
		rte_pktmbuf_free(head);
		return NULL;
	}
	macs = rte_pktmbuf_read(m, 0, MACS_LEN, to);
	if (macs != to)
		memcpy(to, macs, MACS_LEN);
	if (tag != NULL)
		memcpy(to + MACS_LEN, tag, sizeof(*tag));
	head->port = m->port;
	head->ol_flags |= m->ol_flags & ~VX_MBUF_BUFFER_FLAGS;
	m = vx_mbuf_strip(m, offset);
	head->pkt_len += m->pkt_len;
	head->nb_segs = (uint16_t)(m->nb_segs + 1);
	head->next = m;
	return head;
}

/* May the bytes of the first buffer be moved? A copy of a flooded frame shares it. */
static inline bool
is_own(const struct rte_mbuf *m)
{
	return vx_mbuf_is_direct(m) && rte_mbuf_refcnt_read(m) == 1;
}

struct rte_mbuf *
vx_tag_pop(struct rte_mbuf *m, struct rte_mempool *pool)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (unlikely(!is_own(m)))
		return set_apart(m, pool, MACS_LEN + VX_VLAN_TAG_LEN, NULL);
	memmove(frame + VX_VLAN_TAG_LEN, frame, MACS_LEN);
	rte_pktmbuf_adj(m, VX_VLAN_TAG_LEN);
	return m;
}

struct rte_mbuf *
vx_tag_push(struct rte_mbuf *m, struct rte_mempool *pool, rte_be16_t type_be, uint16_t tci)
{
	const struct tag tag = {.type_be = type_be, .tci_be = rte_cpu_to_be_16(tci)};
	uint8_t *frame;

	if (unlikely(!is_own(m) || m->data_len < MACS_LEN ||
		     rte_pktmbuf_headroom(m) < VX_VLAN_TAG_LEN))
		return set_apart(m, pool, MACS_LEN, &tag);
	frame = (uint8_t *)rte_pktmbuf_prepend(m, VX_VLAN_TAG_LEN);
	memmove(frame, frame + VX_VLAN_TAG_LEN, MACS_LEN);
	memcpy(frame + MACS_LEN, &tag, sizeof(tag));
	return m;
}

bool
vx_tag_restore(struct rte_mbuf **m, struct rte_mempool *pool)
{
	const uint64_t flags = (*m)->ol_flags;
	const uint16_t outer = (*m)->vlan_tci_outer, inner = (*m)->vlan_tci;
	struct rte_mbuf *head = *m;

	if ((flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) {
		head = vx_tag_push(head, pool, RTE_BE16(RTE_ETHER_TYPE_VLAN), inner);
		if (head == NULL)
			return false;
		*m = head;
	}
	/* Drivers do not report a tag's type: of two, the outer one is usually a service tag. */
	if ((flags & RTE_MBUF_F_RX_QINQ_STRIPPED) != 0) {
		head = vx_tag_push(head, pool, RTE_BE16(RTE_ETHER_TYPE_QINQ), outer);
		if (head == NULL)
			return false;
		*m = head;
	}
	head->ol_flags &= ~VX_TAG_STRIPPED;
	return true;
}
