/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 fragments cut and joined byte by byte, without the code under test. */
#ifndef TEST_PATH_PIECES_H
#define TEST_PATH_PIECES_H

#include "test_path_bench.h"

#define HEADERS 34u /* Ethernet and IPv4 without options */

/* Bytes @first to @end of the IP payload of @packet, as a fragment: a frame at @to, its length. */
uint32_t piece_bytes(uint8_t *to, const uint8_t *packet, uint32_t first, uint32_t end,
		     bool is_more);
struct rte_mbuf *piece_make(struct bench *b, const uint8_t *packet, uint32_t first, uint32_t end,
			    bool is_more);

/*
 * Join the frames @m, each behind @skip bytes, to the frame they were cut from; its length. Fails
 * unless each is a right IPv4 fragment of at most @mtu bytes, they are as few as they can be, in
 * order, and without empty segments. One frame alone is taken for whole.
 */
uint32_t pieces_join(uint8_t *to, struct rte_mbuf *const *m, unsigned int n, uint32_t skip,
		     uint32_t mtu);

/* How many packets of at most @mtu bytes an IPv4 packet of @ip_len bytes makes. */
unsigned int pieces_expected(uint32_t ip_len, uint32_t mtu);

/* Frames of @len bytes from host A to host B, an IP packet with UDP inside: 10.0.0.1 to 10.0.0.2,
 * 2001:db8::1 to 2001:db8::2. */
void make_ipv4(uint8_t *to, uint32_t len, bool has_df);
void make_ipv6(uint8_t *to, uint32_t len);

/* Change the view. */
#define BENCH_VIEW(b, member, value)                                                               \
	do {                                                                                       \
		struct vx_view *view_ = vx_view_edit((b)->tables);                                 \
                                                                                                   \
		assert_non_null(view_);                                                            \
		view_->member = (value);                                                           \
		vx_view_publish((b)->tables, view_);                                               \
	} while (0)

#endif
