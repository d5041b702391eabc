/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that one worker writes: counters, transmit buffers, scratch arrays of the burst in work,
 * rings to and from the control thread. One cache-aligned block per worker on its own NUMA node;
 * nobody else writes it, readers of counters load relaxed.
 */
#ifndef VX_LCORE_H
#define VX_LCORE_H

#include <stdint.h>

#include <rte_config.h>
#include <rte_mbuf.h>

#include "vx_bucket.h"
#include "vx_count.h"
#include "vx_fdb.h"
#include "vx_fdb_cache.h"
#include "vx_tables.h"
#include "vx_view.h"

struct rte_mempool;
struct rte_ring;
struct vx_reassembly;
struct vx_segment;

#define VX_PATH_BURST  VX_FDB_BULK /* packets that go through the stages together */
#define VX_TX_BUFFER   128u	   /* packets waiting for one port, */
#define VX_TX_SEGMENTS 256u	   /* but no more mbufs than this and one packet's */
#define VX_POSTED      1024u	   /* filter of learn records, entries */
#define VX_SEEN_MARKS  256u	   /* the same for struct vx_seen */

struct vx_traffic {
	uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes;
};

/* Did the FDB know where a frame goes, or was it flooded? */
enum vx_kind {
	VX_KIND_UNICAST,
	VX_KIND_FLOODED,
	VX_KINDS,
};

/* What a segment, an attachment or a remote VTEP counts: inner frames, one cache line. */
struct vx_kinds {
	struct vx_traffic of[VX_KINDS];
};
_Static_assert(sizeof(struct vx_kinds) == 64, "one cache line");

/* `set storm`: the frames of one access port that may still be flooded. */
struct vx_storm {
	uint32_t rate; /* that the bucket was made for; 0: none was */
	struct vx_bucket bucket;
};

struct vx_tx_buffer {
	uint32_t n;
	uint32_t n_segments;
	struct rte_mbuf *m[VX_TX_BUFFER];
};

/* A burst on its way: parallel arrays, compacted as packets leave it. */
struct vx_burst {
	uint16_t n;
	uint16_t port; /* where it came from */
	struct rte_mbuf *m[VX_PATH_BURST];
	const struct vx_segment *segment[VX_PATH_BURST];
	uint64_t source[VX_PATH_BURST]; /* FDB keys of the inner MACs */
	uint64_t destination[VX_PATH_BURST];
	uint32_t origin[VX_PATH_BURST]; /* where it came from, as FDB destination */
	uint32_t dest[VX_PATH_BURST];	/* where it goes, VX_DEST_NONE: flood */
	uint32_t trace[VX_PATH_BURST];	/* trace id, 0: not traced */
	/* From classify to decap: */
	uint32_t offset[VX_PATH_BURST]; /* of the inner frame */
	uint32_t vni[VX_PATH_BURST];
	struct vx_ip remote[VX_PATH_BURST]; /* outer source */
	uint8_t ecn[VX_PATH_BURST];	    /* outer ECN field */
};

/* A learned or moved MAC on its way to the control thread. */
struct vx_learn {
	uint64_t key;
	uint32_t dest; /* VX_DEST_NONE: a remote VTEP not seen before, see remote */
	uint32_t vni;  /* so that a new segment under the same index is not taken for the old */
	struct vx_ip remote;
};
_Static_assert(sizeof(struct vx_learn) == 32, "ring element");

enum vx_punt_kind {
	VX_PUNT_HOLD,  /* an encapsulated packet whose next hop is being resolved */
	VX_PUNT_ARP,   /* what an ARP packet said */
	VX_PUNT_ND,    /* what a neighbour solicitation or advertisement said */
	VX_PUNT_QUERY, /* what an IGMP or MLD querier asks */
	VX_PUNT_PMTU,  /* what an ICMP "fragmentation needed" said of the path to a VTEP */
};

/* What a worker hands to the control thread besides learning. */
struct vx_punt {
	union {
		struct rte_mbuf *m; /* VX_PUNT_HOLD: ownership goes along */
		struct {
			uint32_t max_response_ms;
			uint16_t interval_s;
			uint8_t version, robustness;
		} query; /* VX_PUNT_QUERY: as struct vx_group_query */
	};
	/* VX_PUNT_HOLD: the VTEP; VX_PUNT_ARP, VX_PUNT_ND: who speaks; VX_PUNT_QUERY: the group
	 */
	struct vx_ip remote;
	uint16_t kind; /* enum vx_punt_kind */
	uint16_t port;
	struct rte_ether_addr mac;   /* VX_PUNT_ARP, VX_PUNT_ND: the speaker's */
	uint8_t is_reply, is_for_us; /* VX_PUNT_ARP */
	uint16_t mtu;		     /* VX_PUNT_PMTU */
	uint8_t is_v6;		     /* VX_PUNT_QUERY: MLD */
	uint8_t nd_flags;	     /* VX_PUNT_ND: of struct vx_nd_notice */
};
_Static_assert(sizeof(struct vx_punt) == 40, "ring element");

struct vx_lcore {
	/* Set up before the worker runs, constant then. */
	struct vx_tables *tables;
	struct rte_mempool *copy_pool; /* small buffers: headers and clones of flooded frames */
	struct rte_ring *learn_ring;   /* struct vx_learn, this worker to the control thread */
	struct rte_ring *punt_ring;    /* struct vx_punt, this worker to the control thread */
	struct rte_ring *seen_ring;    /* struct vx_seen, likewise */
	struct rte_ring *trace_ring;   /* struct vx_trace_record, likewise */
	void (*flush)(struct vx_lcore *lcore, uint16_t port); /* empties one transmit buffer */
	struct vx_reassembly *reassembly; /* outer fragments that wait for others */
	void *owner;			  /* the worker, for flush */
	struct vx_kinds *segment_traffic; /* by segment index: out of and into tunnels */
	struct vx_kinds *attach_traffic;  /* by attachment index */
	struct vx_kinds *vtep_traffic;	  /* by VTEP index; frames sent also make IP IDs */
	uint16_t index;			  /* of this worker */
	uint8_t id_shift;		  /* IP ID = frames sent << id_shift | index */

	/* Renewed for each loop. */
	const struct vx_view *view;
	uint64_t now;	      /* TSC */
	uint32_t now_seconds; /* the FDB's clock */
	uint32_t trace_id;    /* of the packet in work, 0: not traced */
	uint64_t tx_pending;  /* bit by port: its transmit buffer is not empty */
	/* What this host is asked: each kind has its own limit, so that a flood of one costs the
	 * other nothing, least of all the ARP that the tunnels live on. */
	struct vx_bucket arp_bucket, other_arp_bucket, icmp_bucket, too_big_bucket, group_bucket;
	struct vx_bucket seen_bucket; /* reports on tenants' ARP and ND */
	struct vx_bucket nd_bucket, other_nd_bucket;

	struct vx_storm storm[RTE_MAX_ETHPORTS];
	struct vx_counts counts;
	struct vx_burst burst;
	struct vx_fdb_cache fdb_cache;
	uint64_t posted[VX_POSTED]; /* learn records of the last milliseconds */
	uint64_t seen_posted[VX_SEEN_MARKS];
	struct vx_traffic port_traffic[RTE_MAX_ETHPORTS];
	struct vx_tx_buffer tx[RTE_MAX_ETHPORTS];
} __rte_cache_aligned;

static inline void
vx_traffic_rx(struct vx_traffic *traffic, uint32_t len)
{
	traffic->rx_frames++;
	traffic->rx_bytes += len;
}

static inline void
vx_traffic_tx(struct vx_traffic *traffic, uint32_t len)
{
	traffic->tx_frames++;
	traffic->tx_bytes += len;
}

static inline void
vx_lcore_count(struct vx_lcore *lcore, enum vx_count which, uint64_t n)
{
	lcore->counts.value[which] += n;
}

#endif
