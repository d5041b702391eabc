/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets as a NIC would deliver them, without one. Buffers pass through a ring of descriptors and
 * a mempool with a cache, as in a driver, so that as many buffers are touched in turn at each frame
 * size. What stands in them is written once: the first buffer of a frame keeps its flow's headers,
 * since the path changes nothing behind its headroom. Only fragments get theirs each time.
 */
#ifndef PERF_FEED_H
#define PERF_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "perf_bench.h"

#define PERF_HEADERS_LEN   34u /* Ethernet and IPv4 */
#define PERF_FRAGMENTS_MAX 128u
#define PERF_RING_SIZE	   1024u

struct perf_ring {
	struct rte_mempool *pool;
	uint32_t next;
	struct rte_mbuf *m[PERF_RING_SIZE];
};

/* One packet of a frame: the whole, or a fragment. */
struct perf_piece {
	uint32_t len;
	uint8_t headers[PERF_HEADERS_LEN]; /* of a fragment, with ID 0 */
};

struct perf_feed {
	struct perf_ring heads, bodies;
	uint32_t flows;
	uint32_t room;	   /* bytes of a frame in one buffer */
	uint8_t *contents; /* what the first buffer of each flow's frames holds */
	uint16_t port;
	bool is_reversed; /* fragments, last first */
	bool is_dirty;	  /* headers of fragments stand in bodies */
	uint32_t n_pieces, at_piece;
	struct rte_mbuf *head; /* of the frame in work */
	struct perf_piece piece[PERF_FRAGMENTS_MAX];
};

/* @room: of each buffer, without headroom. @largest: frame, in bytes. @in_flight: frames. */
struct perf_feed *perf_feed_create(uint32_t flows, uint32_t room, uint32_t largest,
				   uint32_t in_flight);

/* Every mbuf must be back. */
void perf_feed_destroy(struct perf_feed *feed);

/* From now on tenants' frames of @len bytes, IPv4 and UDP, each flow with its own MACs. */
void perf_feed_access(struct perf_feed *feed, uint32_t len);

/* From now on what the VTEP sends for such frames: made by our own path, @b as it is configured
 * now, and turned round. In fragments where they are larger than its underlay MTU. */
void perf_feed_underlay(struct perf_feed *feed, struct perf_bench *b, uint32_t len);

/* The next packet. */
struct rte_mbuf *perf_feed_next(struct perf_feed *feed);

#endif
