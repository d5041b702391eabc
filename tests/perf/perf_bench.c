/* SPDX-License-Identifier: BSD-3-Clause */
#include "perf_bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring_elem.h>

#include "vx_attach.h"
#include "vx_path.h"
#include "vx_rcu.h"
#include "vx_reassemble.h"
#include "vx_segment.h"
#include "vx_trace.h"
#include "vx_vtep.h"

#define RING_SIZE    1024u
#define COPY_MBUFS   16383u
#define CLOCK_PROBES 10000u

void
perf_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("error: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void
make_mac(uint8_t *mac, uint8_t side, uint32_t i)
{
	mac[0] = 2;
	mac[1] = side;
	mac[2] = 0;
	mac[3] = (uint8_t)(i >> 16);
	mac[4] = (uint8_t)(i >> 8);
	mac[5] = (uint8_t)i;
}

void
perf_bench_tenant_mac(uint8_t *mac, uint32_t i)
{
	make_mac(mac, 0x0a, i);
}

void
perf_bench_remote_mac(uint8_t *mac, uint32_t i)
{
	make_mac(mac, 0x0b, i);
}

static void
flush(struct vx_lcore *lcore, uint16_t port)
{
	struct vx_tx_buffer *buffer = &lcore->tx[port];
	struct perf_bench *b = lcore->owner;
	const uint64_t begin = perf_clock();

	for (uint32_t i = 0; i < buffer->n; i++) {
		if (unlikely(b->keep != NULL))
			b->keep(b->keep_ctx, buffer->m[i]);
		else
			rte_pktmbuf_free(buffer->m[i]);
	}
	b->sent += buffer->n;
	vx_lcore_count(lcore, VX_COUNT_TX, buffer->n);
	buffer->n = 0;
	buffer->n_segments = 0;
	lcore->tx_pending &= ~(UINT64_C(1) << port);
	b->free_cycles += perf_clock() - begin;
}

static struct rte_ring *
make_ring(const char *name, unsigned int size)
{
	struct rte_ring *ring = rte_ring_create_elem(name, size, RING_SIZE, SOCKET_ID_ANY,
						     RING_F_SP_ENQ | RING_F_SC_DEQ);

	if (ring == NULL)
		perf_fail("ring %s: %s", name, rte_strerror(rte_errno));
	return ring;
}

static void *
must(void *memory, const char *what)
{
	if (memory == NULL)
		perf_fail("no memory for %s: more hugepages, or a larger -m", what);
	return memory;
}

static struct vx_lcore *
make_lcore(struct perf_bench *b)
{
	struct vx_lcore *lcore =
		must(rte_zmalloc("lcore", sizeof(*lcore), RTE_CACHE_LINE_SIZE), "the worker");

	lcore->tables = b->tables;
	lcore->copy_pool = b->copy_pool;
	lcore->learn_ring = make_ring("learn", sizeof(struct vx_learn));
	lcore->punt_ring = make_ring("punt", sizeof(struct vx_punt));
	lcore->trace_ring = make_ring("trace", sizeof(struct vx_trace_record));
	lcore->flush = flush;
	lcore->owner = b;
	lcore->segment_traffic =
		must(calloc(b->tables->conf.max_vnis, sizeof(struct vx_kinds)), "the counters");
	lcore->attach_traffic =
		must(calloc(b->tables->conf.max_attaches, sizeof(struct vx_kinds)), "the counters");
	lcore->vtep_traffic =
		must(calloc(b->tables->conf.max_vteps, sizeof(struct vx_kinds)), "the counters");
	lcore->reassembly = must(
		rte_zmalloc("reassembly", vx_reassembly_size(), RTE_CACHE_LINE_SIZE), "reassembly");
	vx_reassembly_init(lcore->reassembly, 1, 1u << 20);
	return lcore;
}

static void
make_view(struct perf_bench *b)
{
	struct vx_view *view = must(vx_view_edit(b->tables), "the view");

	view->n_locals = 1;
	view->local[0].ip = vx_ip_from_v4(RTE_BE32(0xc0000201));
	view->local[0].port = PERF_UNDERLAY;
	for (unsigned int i = 0; i < 2; i++) {
		struct vx_view_port *port = &view->port[i];

		port->role = i == PERF_UNDERLAY ? VX_ROLE_UNDERLAY : VX_ROLE_ACCESS;
		port->max_tx_frame = UINT32_MAX;
		port->max_tx_chain = UINT32_MAX;
		port->mtu = UINT16_MAX;
		port->is_up = true;
		port->takes_indirect = true;
		port->mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, (uint8_t)(i + 1)}};
	}
	vx_view_publish(b->tables, view);
}

void
perf_bench_set_underlay_mtu(struct perf_bench *b, uint16_t mtu)
{
	const struct vx_vtep_path path = {
		.state = VX_VTEP_READY,
		.port = PERF_UNDERLAY,
		.mtu = mtu,
		.source = vx_ip_from_v4(RTE_BE32(0xc0000201)),
		.source_mac = {{2, 0, 0, 0, 0, 1}},
		.next_hop_mac = {{2, 0, 0, 0, 0, 0xfe}},
	};

	vx_vtep_set_path(b->tables, b->vtep, &path);
	vx_rcu_reclaim(b->tables->rcu);
}

void
perf_bench_set_checksum(struct perf_bench *b, enum vx_udp_checksum checksum)
{
	struct vx_view *view = must(vx_view_edit(b->tables), "the view");

	view->udp_checksum = checksum;
	vx_view_publish(b->tables, view);
	vx_rcu_reclaim(b->tables->rcu);
}

static void
add_mac(struct perf_bench *b, const uint8_t *mac, uint32_t dest)
{
	struct rte_ether_addr address;
	bool moved;

	memcpy(&address, mac, sizeof(address));
	if (vx_fdb_set(b->tables,
		       vx_fdb_key_of(vx_segment_find(b->tables, PERF_VNI, NULL)->index, &address),
		       dest, false, &moved) != 0)
		perf_fail("the FDB takes no more entries");
}

static void
fill_tables(struct perf_bench *b, uint32_t flows)
{
	const struct vx_ip remote = vx_ip_from_v4(RTE_BE32(0xc6336401));
	const struct vx_segment_conf segment = {.vni = PERF_VNI};
	struct vx_err err;
	uint8_t mac[RTE_ETHER_ADDR_LEN];

	if (vx_segment_add(b->tables, &segment, &err) != 0 ||
	    vx_attach_add(b->tables, PERF_ACCESS, PERF_VNI, &err) != 0 ||
	    vx_segment_flood_add(b->tables, PERF_VNI, &remote, &err) != 0)
		perf_fail("the tables refuse the configuration");
	b->vtep = (uint32_t)vx_vtep_find(b->tables, &remote);
	perf_bench_set_underlay_mtu(b, UINT16_MAX);
	for (uint32_t i = 0; i < flows; i++) {
		perf_bench_tenant_mac(mac, i);
		add_mac(b, mac, vx_attach_find(b->tables, PERF_ACCESS, NULL)->index);
		perf_bench_remote_mac(mac, i);
		add_mac(b, mac, VX_DEST_VTEP | b->vtep);
	}
}

/* The least of many: an interrupt must not be taken for the clock's price. */
static uint64_t
clock_price(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < CLOCK_PROBES; i++) {
		const uint64_t begin = perf_clock();

		least = RTE_MIN(least, perf_clock() - begin);
	}
	return least;
}

struct perf_bench *
perf_bench_create(uint32_t flows)
{
	const struct vx_tables_conf conf = {
		.max_vnis = 16,
		.max_macs = RTE_MAX(2 * flows, 256u),
		.max_vteps = 16,
		.max_attaches = 8,
		.max_readers = 1,
		.mtu = 65485,
		.learning = true,
		.ageing = 300,
	};
	const struct vx_tables_hooks hooks = {0};
	struct perf_bench *b = must(calloc(1, sizeof(*b)), "the bench");

	b->tables = must(vx_tables_create(&conf, &hooks), "the tables");
	b->copy_pool =
		must(rte_pktmbuf_pool_create("copies", COPY_MBUFS, RTE_MEMPOOL_CACHE_MAX_SIZE, 0,
					     128 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY),
		     "small buffers");
	b->lcore = make_lcore(b);
	make_view(b);
	fill_tables(b, flows);
	b->clock_cycles = clock_price();
	return b;
}

void
perf_bench_destroy(struct perf_bench *b)
{
	vx_reassembly_flush(b->lcore);
	if (rte_mempool_in_use_count(b->copy_pool) != 0)
		perf_fail("%u small buffers did not come back",
			  rte_mempool_in_use_count(b->copy_pool));
	rte_ring_free(b->lcore->learn_ring);
	rte_ring_free(b->lcore->punt_ring);
	rte_ring_free(b->lcore->trace_ring);
	free(b->lcore->segment_traffic);
	free(b->lcore->attach_traffic);
	free(b->lcore->vtep_traffic);
	rte_free(b->lcore->reassembly);
	rte_free(b->lcore);
	vx_tables_destroy(b->tables);
	rte_mempool_free(b->copy_pool);
	free(b);
}

uint64_t
perf_bench_round(struct perf_bench *b, uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	const uint64_t freed = b->free_cycles;
	struct vx_lcore *lcore = b->lcore;
	uint64_t begin, spent;

	vx_rcu_online(b->tables->rcu, 0);
	lcore->view = __atomic_load_n(&b->tables->view, __ATOMIC_ACQUIRE);
	lcore->now_seconds = __atomic_load_n(&b->tables->fdb->now, __ATOMIC_RELAXED);
	begin = perf_clock();
	lcore->now = begin;
	if (port == PERF_UNDERLAY)
		vx_path_underlay(lcore, port, m, n);
	else
		vx_path_access(lcore, port, m, n);
	/* A flush in between has read the clock twice itself. */
	spent = perf_clock() - begin - b->clock_cycles;
	spent -= RTE_MIN(spent, b->free_cycles - freed);
	while (lcore->tx_pending != 0)
		flush(lcore, (uint16_t)__builtin_ctzll(lcore->tx_pending));
	rte_rcu_qsbr_quiescent(vx_rcu_qsbr(b->tables->rcu), 0);
	vx_rcu_offline(b->tables->rcu, 0);
	return spent;
}
