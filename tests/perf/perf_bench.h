/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One worker without ports, for measurements: tables, a worker's state, pools, and a flush that
 * frees what would be sent. Port 0 is the underlay's, port 1 the tenants' side.
 *
 *	tenants 02:0a:.. -- port 1, VNI 100, port 0 192.0.2.1 ~~~ VTEP 198.51.100.1 -- 02:0b:..
 */
#ifndef PERF_BENCH_H
#define PERF_BENCH_H

#include <stdint.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "vx_lcore.h"

#define PERF_UNDERLAY 0
#define PERF_ACCESS   1
#define PERF_VNI      100u

struct perf_bench {
	struct vx_tables *tables;
	struct vx_lcore *lcore;
	struct rte_mempool *copy_pool;
	uint32_t vtep; /* index */
	/* What flush does with a packet instead of freeing it; NULL: free. */
	void (*keep)(void *ctx, struct rte_mbuf *m);
	void *keep_ctx;
	/* Of the window in work: */
	uint64_t sent, free_cycles;
	uint64_t clock_cycles; /* what reading the clock twice costs: not part of any result */
};

/* @flows MACs on each side, known to the FDB. Ends the program with a message if it fails. */
struct perf_bench *perf_bench_create(uint32_t flows);

/* Every mbuf must be back. */
void perf_bench_destroy(struct perf_bench *b);

void perf_bench_set_underlay_mtu(struct perf_bench *b, uint16_t mtu);
void perf_bench_set_checksum(struct perf_bench *b, enum vx_udp_checksum checksum);

/* The MAC addresses of flow @i. */
void perf_bench_tenant_mac(uint8_t *mac, uint32_t i);
void perf_bench_remote_mac(uint8_t *mac, uint32_t i);

/* One round of a worker with packets just received; the TSC cycles that the path took, without
 * those of freeing what it sent, which are added to free_cycles. */
uint64_t perf_bench_round(struct perf_bench *b, uint16_t port, struct rte_mbuf **m, uint16_t n);

/* Print and end the program. */
void perf_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Instructions before it are complete, those behind it have not begun. */
static inline uint64_t
perf_clock(void)
{
	return rte_rdtsc_precise();
}

#endif
