/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reassembly of IPv4 datagrams (RFC 791 section 3.2, RFC 1122 section 3.3.2) and IPv6 ones (RFC
 * 8200 section 4.5); overlaps as RFC 5722 for both.
 * One table a worker: all fragments of a datagram have to reach the same one. DPDK's rte_ip_frag
 * holds 8 fragments, has no protocol in its key and takes more than 65,535 bytes (22.11).
 */
#ifndef VX_REASSEMBLE_H
#define VX_REASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct vx_lcore;
struct vx_reassembly;

#define VX_REASSEMBLY_DATAGRAMS_MAX 65536u /* most that `set reassembly max` allows */
#define VX_REASSEMBLY_FRAGMENTS	    128u   /* of one datagram */

/* What is held, for displays; read by the control thread while the worker writes. */
struct vx_reassembly_state {
	uint32_t datagrams, fragments, buffers;
	uint64_t bytes;
};

/* Bytes of memory for one, cleared and on the worker's node, that whoever starts workers brings
 * along: nothing is allocated here. */
size_t vx_reassembly_size(void);

/* @seed: of the hash, not to be guessed from outside. @max_buffers: mbufs held at most, so that
 * what waits never keeps ports from receiving. */
void vx_reassembly_init(struct vx_reassembly *reassembly, uint32_t seed, uint32_t max_buffers);

struct vx_reassembly_state vx_reassembly_state(const struct vx_reassembly *reassembly);

/*
 * A fragment, whose IPv4 header of @header_len bytes at @l3 has been checked and is contiguous, and
 * which ends with its IP packet. Ownership is taken. Returns the whole datagram, a chain with the
 * first fragment's headers made right, once this was the last piece; NULL while some are missing,
 * or when the fragment was dropped and counted.
 */
struct rte_mbuf *vx_reassemble(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t l3,
			       uint32_t header_len);

/*
 * The same for IPv6: @header_len bytes at @l3 are the header, extension headers and at their end
 * the fragment header, which the byte at @next_at announces. The whole datagram has none any more.
 */
struct rte_mbuf *vx_reassemble6(struct vx_lcore *lcore, struct rte_mbuf *m, uint32_t l3,
				uint32_t header_len, uint32_t next_at);

/* Give up what has waited too long; once a round, whether there is traffic or not. */
void vx_reassembly_expire(struct vx_lcore *lcore);

/* Give up everything: the worker ends. */
void vx_reassembly_flush(struct vx_lcore *lcore);

#endif
