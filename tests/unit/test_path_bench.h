/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker without ports: tables, two worker states, pools, and a flush that keeps what would be
 * sent. Port 0 is the underlay's, 1 to 4 access ports, 5 a second underlay port.
 *
 *	192.0.2.1 (port 0, 02:00:00:00:00:01) ~~~ next hop 02:..:fe ~~~ 198.51.100.N, VTEP N
 *	192.0.2.5 (port 5, 02:00:00:00:00:05)
 */
#ifndef TEST_PATH_BENCH_H
#define TEST_PATH_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_mbuf.h>
#include <rte_ring_elem.h>

#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_lcore.h"
#include "vx_path.h"
#include "vx_rcu.h"
#include "vx_segment.h"
#include "vx_trace.h"
#include "vx_vtep.h"
#include "vx_wire.h"

#define UNDERLAY   0
#define UNDERLAY_2 5
#define N_PORTS	   6
#define N_LCORES   2
#define SENT_MAX   1024
#define POOL_MBUFS 1023
#define COPY_MBUFS 2047
#define OUTER_LEN  50u
#define VNI	   100u

struct bench {
	struct vx_tables *tables;
	struct vx_lcore *lcore[N_LCORES];
	struct rte_mempool *pool, *copy_pool, *linear_pool;
	struct vx_trace trace;
	struct vx_err err;
	bool is_keeping; /* what is sent; else it is checked, counted and freed */
	uint32_t n_sent[N_PORTS];
	struct rte_mbuf *sent[N_PORTS][SENT_MAX];
	uint64_t held;		/* taken from the punt rings */
	struct vx_counts saved; /* by bench_mark() */
};

/* cmocka's fixtures. The teardown checks the law and that every mbuf came back. */
int bench_setup(void **state);
int bench_teardown(void **state);

/* Frees what was sent and held, fragments too; the law holds and all pools are full again. */
void bench_settle(struct bench *b);

/* Configuration. */
void bench_vni(struct bench *b, uint32_t vni, unsigned int n_ports, uint16_t first_port);
uint32_t bench_attach_index(struct bench *b, uint16_t port);
struct vx_ip bench_remote(unsigned int vtep);
struct vx_vtep_path bench_path(enum vx_vtep_state state);
uint32_t bench_flood(struct bench *b, uint32_t vni, unsigned int vtep, enum vx_vtep_state state);
/* The MTU of the path to the VTEP @index. */
void bench_path_mtu(struct bench *b, uint32_t index, uint16_t mtu);
void bench_fdb(struct bench *b, uint32_t vni, const uint8_t *mac, uint32_t dest, bool is_static);

/* Run frames through the path as a worker does: one loop, then what is buffered is flushed. */
void bench_access(struct bench *b, unsigned int lcore, uint16_t port, struct rte_mbuf **m,
		  uint16_t n);
void bench_underlay(struct bench *b, unsigned int lcore, uint16_t port, struct rte_mbuf **m,
		    uint16_t n);

/* Frames. @len bytes at @bytes; with cuts (0: none) in up to three segments. */
struct rte_mbuf *bench_mbuf(struct bench *b, const uint8_t *bytes, uint32_t len);
struct rte_mbuf *bench_split(struct bench *b, const uint8_t *bytes, uint32_t len, uint32_t cut_1,
			     uint32_t cut_2);

/* The whole of a chain in @bytes; its length. */
uint32_t bench_bytes(const struct rte_mbuf *m, uint8_t *bytes, uint32_t size);
void bench_expect_bytes(const struct rte_mbuf *m, const uint8_t *bytes, uint32_t len);

/* Counters. */
uint64_t bench_count(const struct bench *b, unsigned int which);
void bench_mark(struct bench *b);
uint64_t bench_since(const struct bench *b, unsigned int which);
void bench_expect_only_drop(const struct bench *b, enum vx_drop reason, uint64_t n);
enum vx_drop bench_one_drop(const struct bench *b); /* VX_DROP_NONE: nothing was dropped */

/* The next record of a ring of worker 0; false: it is empty. */
bool bench_punt(struct bench *b, struct vx_punt *punt);
bool bench_learn(struct bench *b, struct vx_learn *learn);

/* RFC 1071, byte by byte and without the code under test. 0: a checksum inside is right. */
uint16_t plain_checksum(const uint8_t *bytes, uint32_t len);

static inline void
put16(uint8_t *to, unsigned int value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static inline unsigned int
get16(const uint8_t *from)
{
	return (unsigned int)from[0] << 8 | from[1];
}

/* 60 bytes: 10.0.0.1 to 10.0.0.2, UDP 4096 to 8192, ECT(0), from host A to host B. */
extern const uint8_t inner_golden[60];
extern const uint8_t host_a[6], host_b[6], host_c[6];
extern const uint8_t our_mac[6], our_mac_2[6], next_hop_mac[6];

/*
 * Write a VXLAN packet from VTEP @vtep to 192.0.2.1 around @inner: valid, ECN 0, UDP checksum 0.
 * Its length.
 */
uint32_t make_vxlan(uint8_t *to, unsigned int vtep, uint32_t vni, const uint8_t *inner,
		    uint32_t len);

/* Set the IPv4 header's checksum of the frame at @frame, after a change. */
void fix_ip(uint8_t *frame);

/* Set the outer UDP checksum of a packet of make_vxlan(). */
void fix_udp(uint8_t *frame);

/* An Ethernet frame with a counting payload of EtherType 0x88b5 (local experiments). */
void make_frame(uint8_t *to, uint32_t len, const uint8_t *destination, const uint8_t *source);

#endif
