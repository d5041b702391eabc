/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a large FDB costs, without ports: learning through a worker and the control thread's code,
 * forwarding between few and many MACs, forwarding while the table is being changed, replication.
 *
 *	perf_learn [EAL options, two lcores] -- [MACS [VNIS]]
 *
 * Times are those that the threads have run, so that other programs on the machine do not count;
 * those of frames are medians over windows of some thousand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_ring_elem.h>

#include "app.h"
#include "learn.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_path.h"
#include "vx_rcu.h"
#include "vx_reassemble.h"
#include "vx_segment.h"
#include "vx_vtep.h"
#include "vx_wire.h"

#define BURST	  32u
#define WINDOW	  128u /* bursts */
#define WINDOWS	  64u
#define INNER	  60u
#define OUTER	  50u
#define VTEPS	  64u
#define RING	  16384u /* as in workers.c */
#define FEW	  1000u
#define PORT_VNI  1u /* access port 1 is attached to it */
#define FLOOD_VNI 2u /* access port 2, with all VTEPs in its flood list */

enum work {
	WORK_NONE,
	WORK_LEARN,   /* new sources from tunnels, VNI by VNI, again and again */
	WORK_FORWARD, /* between the hosts 0..n_hosts-1, odd ones behind VTEPs */
	WORK_FLOOD,   /* unknown destinations from port 2 */
};

struct perf {
	struct app app;
	struct vx_lcore *lcore;
	struct rte_mempool *pool;
	uint32_t macs, vnis;
	/* The worker's orders and results. */
	enum work work;
	uint32_t n_hosts;
	uint32_t random;
	uint32_t next; /* MAC that speaks next */
	bool is_over;
	uint64_t windows; /* so many done */
	double window[WINDOWS];
};

static struct perf perf;

uint64_t
app_now(const struct app *app)
{
	return (rte_rdtsc() - app->start_tsc) / (rte_get_tsc_hz() / 1000);
}

/* Nanoseconds that this thread has run. */
static double
ran(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void
die(const char *what)
{
	fprintf(stderr, "perf_learn: %s: %s\n", what, rte_strerror(rte_errno));
	exit(1);
}

static void
forget_sent(struct vx_lcore *lcore, uint16_t port)
{
	rte_pktmbuf_free_bulk(lcore->tx[port].m, lcore->tx[port].n);
	lcore->tx[port].n = 0;
	lcore->tx[port].n_segments = 0;
	lcore->tx_pending &= ~(UINT64_C(1) << port);
}

static uint64_t
host_mac(uint32_t i)
{
	return 2 | (uint64_t)i << 16;
}

static struct vx_ip
vtep_ip(uint32_t i)
{
	return vx_ip_from_v4(rte_cpu_to_be_32(0x0a000001u + i % VTEPS));
}

static void
make_inner(uint8_t *frame, uint64_t destination, uint64_t source)
{
	memset(frame, 0, INNER);
	memcpy(frame, &destination, 6);
	memcpy(frame + 6, &source, 6);
	frame[12] = 0x88;
	frame[13] = 0xb5;
}

static void
make_outer(uint8_t *frame, uint32_t host, uint32_t vni)
{
	static const uint8_t ports[] = {0xc0, 0, 0x12, 0xb5};
	const struct vx_ip remote = vtep_ip(host);
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(OUTER - 14 + INNER),
		.time_to_live = 64,
		.next_proto_id = 17,
		.src_addr = vx_ip_v4(&remote),
		.dst_addr = RTE_BE32(0xc0000201),
	};

	memset(frame, 0, OUTER);
	frame[0] = frame[6] = 2;
	frame[5] = 1;
	frame[12] = 8;
	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	memcpy(frame + 14, &ip, sizeof(ip));
	memcpy(frame + 34, ports, sizeof(ports));
	frame[39] = OUTER - 34 + INNER;
	frame[42] = 8;
	vni = rte_cpu_to_be_32(vni << 8);
	memcpy(frame + 46, &vni, 4);
	make_inner(frame + OUTER, host_mac(0xfffffff), host_mac(host));
}

static uint32_t
any(uint32_t below)
{
	perf.random = perf.random * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)perf.random * below) >> 32);
}

/* One frame of the present work into @m. */
static void
make_frame(struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	m->pkt_len = m->data_len = INNER;
	switch (perf.work) {
	case WORK_LEARN:
		m->pkt_len = m->data_len = OUTER + INNER;
		make_outer(frame, perf.next, 1 + perf.next % perf.vnis);
		perf.next = perf.next + 1 == perf.macs ? 0 : perf.next + 1;
		break;
	case WORK_FORWARD:
		make_inner(frame, host_mac(any(perf.n_hosts) | 1),
			   host_mac(any(perf.n_hosts) & ~1u));
		break;
	default:
		make_inner(frame, host_mac(0xfffffff), host_mac(2));
	}
}

static void
run_burst(struct vx_lcore *lcore)
{
	const uint16_t port = perf.work == WORK_LEARN ? 0 : perf.work == WORK_FORWARD ? 1 : 2;
	struct rte_mbuf *m[BURST];

	if (rte_pktmbuf_alloc_bulk(perf.pool, m, BURST) != 0)
		die("packet buffers");
	for (unsigned int i = 0; i < BURST; i++)
		make_frame(m[i]);
	lcore->now = rte_rdtsc();
	lcore->view = __atomic_load_n(&lcore->tables->view, __ATOMIC_ACQUIRE);
	lcore->now_seconds = __atomic_load_n(&lcore->tables->fdb->now, __ATOMIC_RELAXED);
	if (port == 0)
		vx_path_underlay(lcore, port, m, BURST);
	else
		vx_path_access(lcore, port, m, BURST);
	while (lcore->tx_pending != 0)
		forget_sent(lcore, (uint16_t)__builtin_ctzll(lcore->tx_pending));
	rte_rcu_qsbr_quiescent(vx_rcu_qsbr(lcore->tables->rcu), lcore->index);
}

static int
worker(void *unused)
{
	struct vx_lcore *lcore = perf.lcore;

	RTE_SET_USED(unused);
	vx_rcu_online(lcore->tables->rcu, 0);
	while (!__atomic_load_n(&perf.is_over, __ATOMIC_RELAXED)) {
		const double begin = ran();

		for (unsigned int i = 0; i < WINDOW; i++)
			run_burst(lcore);
		perf.window[perf.windows % WINDOWS] = (ran() - begin) / (WINDOW * BURST);
		__atomic_store_n(&perf.windows, perf.windows + 1, __ATOMIC_RELEASE);
	}
	vx_rcu_offline(lcore->tables->rcu, 0);
	return 0;
}

static void
start(enum work work, uint32_t n_hosts)
{
	perf.work = work;
	perf.n_hosts = n_hosts;
	perf.windows = 0;
	perf.is_over = false;
	rte_eal_remote_launch(worker, NULL, rte_get_next_lcore(-1, 1, 0));
}

static void
stop(void)
{
	__atomic_store_n(&perf.is_over, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Nanoseconds a frame: the median of all windows, the first of which warm up. @meanwhile: what the
 * control thread does. */
static double
measure(enum work work, uint32_t n_hosts, void (*meanwhile)(void))
{
	start(work, n_hosts);
	while (__atomic_load_n(&perf.windows, __ATOMIC_ACQUIRE) < 2 * WINDOWS)
		if (meanwhile != NULL)
			meanwhile();
		else
			rte_pause();
	stop();
	qsort(perf.window, WINDOWS, sizeof(perf.window[0]), compare);
	return perf.window[WINDOWS / 2];
}

static void
create(void)
{
	const struct vx_tables_hooks hooks = {0};
	const struct vx_tables_conf conf = {
		.max_vnis = perf.vnis,
		.max_macs = perf.macs,
		.max_vteps = 4096,
		.max_attaches = 8,
		.max_readers = 1,
		.mtu = 1500,
		.learning = true,
		.ageing = 300,
	};
	struct vx_lcore *lcore = rte_zmalloc("lcore", sizeof(*lcore), RTE_CACHE_LINE_SIZE);
	struct vx_view *view;
	const double begin = ran();

	perf.app.start_tsc = rte_rdtsc();
	perf.app.tables = vx_tables_create(&conf, &hooks);
	perf.pool = rte_pktmbuf_pool_create("frames", 8191, 250, 0, 2176, SOCKET_ID_ANY);
	if (perf.app.tables == NULL || perf.pool == NULL || lcore == NULL)
		die("tables");
	printf("tables for %u MACs: %.0f ms\n", perf.macs, (ran() - begin) / 1e6);
	perf.lcore = lcore;
	lcore->tables = perf.app.tables;
	lcore->copy_pool = rte_pktmbuf_pool_create("copies", 8191, 250, 0, 256, SOCKET_ID_ANY);
	lcore->learn_ring = rte_ring_create_elem("learn", sizeof(struct vx_learn), RING,
						 SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	lcore->flush = forget_sent;
	lcore->segment_traffic = calloc(perf.vnis, sizeof(struct vx_kinds));
	lcore->attach_traffic = calloc(conf.max_attaches, sizeof(struct vx_kinds));
	lcore->vtep_traffic = calloc(conf.max_vteps, sizeof(struct vx_kinds));
	lcore->reassembly = rte_zmalloc("reassembly", vx_reassembly_size(), RTE_CACHE_LINE_SIZE);
	view = vx_view_edit(perf.app.tables);
	if (lcore->copy_pool == NULL || lcore->learn_ring == NULL || lcore->reassembly == NULL ||
	    lcore->segment_traffic == NULL || lcore->attach_traffic == NULL ||
	    lcore->vtep_traffic == NULL || view == NULL)
		die("a worker");
	view->n_locals = 1;
	view->local[0].ip = vx_ip_from_v4(RTE_BE32(0xc0000201));
	for (unsigned int i = 0; i < 3; i++) {
		view->port[i].role = i == 0 ? VX_ROLE_UNDERLAY : VX_ROLE_ACCESS;
		view->port[i].max_tx_frame = view->port[i].max_tx_chain = UINT32_MAX;
		view->port[i].mtu = 65535;
		view->port[i].is_up = view->port[i].takes_indirect = true;
		view->port[i].mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, (uint8_t)(i + 1)}};
	}
	vx_view_publish(perf.app.tables, view);
}

static void
configure(void)
{
	const struct vx_vtep_path path = {.state = VX_VTEP_READY, .mtu = 65535};
	struct vx_tables *tables = perf.app.tables;
	int rc = 0;

	for (uint32_t vni = 1; vni <= perf.vnis && rc == 0; vni++)
		rc = vx_segment_add(tables, &(struct vx_segment_conf){.vni = vni}, NULL);
	if (rc == 0)
		rc = vx_attach_add(tables, 1, PORT_VNI, NULL);
	if (rc == 0)
		rc = vx_attach_add(tables, 2, FLOOD_VNI, NULL);
	for (uint32_t i = 0; i < VTEPS && rc == 0; i++) {
		const struct vx_ip remote = vtep_ip(i);

		rc = vx_segment_flood_add(tables, FLOOD_VNI, &remote, NULL);
		if (rc == 0)
			vx_vtep_set_path(tables, (uint32_t)vx_vtep_find(tables, &remote), &path);
	}
	if (rc < 0)
		die("configuration");
}

/* What the control thread does with the ring. */
static unsigned int
drain(void)
{
	struct vx_learn record[256];
	const unsigned int n = rte_ring_sc_dequeue_burst_elem(
		perf.lcore->learn_ring, record, sizeof(record[0]), RTE_DIM(record), NULL);

	learn(&perf.app, record, n);
	return n;
}

static void
perf_learning(void)
{
	const struct vx_tables *tables = perf.app.tables;
	const uint64_t begin = rte_rdtsc();
	double at, spent = 0, seconds;
	uint64_t records = 0;

	start(WORK_LEARN, 0);
	while (vx_fdb_used(tables->fdb) < perf.macs) {
		if (rte_ring_count(perf.lcore->learn_ring) < RING / 2)
			continue;
		at = ran();
		for (unsigned int i = 0; i < RING / 512; i++)
			records += drain();
		spent += ran() - at;
	}
	seconds = (double)(rte_rdtsc() - begin) / (double)rte_get_tsc_hz();
	stop();
	while (drain() > 0)
		continue;
	printf("learning: %u MACs in %.3f s of wall time, %.2f million a second\n"
	       "  control thread: %.0f ns a report, it could take %.2f million a second\n"
	       "  worker: %.0f ns a frame; %" PRIu64 " reports, %" PRIu64 " lost\n",
	       perf.macs, seconds, perf.macs / seconds / 1e6, spent / (double)records,
	       1e3 * (double)records / spent, perf.window[0],
	       perf.lcore->counts.value[VX_COUNT_LEARN_EVENTS],
	       perf.lcore->counts.value[VX_COUNT_LEARN_RING_FULL]);
}

static void
flush_all(void)
{
	const struct vx_fdb_filter all = {.segment = VX_INDEX_NONE, .dest = VX_DEST_NONE};
	const double begin = ran();
	const uint32_t n = vx_fdb_flush(perf.app.tables, &all);

	if (n > 0)
		printf("flush: %u MACs, %.0f ns each\n", n, (ran() - begin) / n);
}

static void
enter_host(uint32_t i, uint32_t mac)
{
	struct vx_tables *tables = perf.app.tables;
	const struct vx_ip remote = vtep_ip(i);
	const uint32_t dest = i % 2 == 0 ? tables->view->port[1].untagged
					 : VX_DEST_VTEP | (uint32_t)vx_vtep_find(tables, &remote);
	bool moved;

	vx_fdb_set(tables,
		   vx_fdb_key(vx_segment_find(tables, PORT_VNI, NULL)->index, host_mac(mac)), dest,
		   false, &moved);
}

/* The control thread as busy as it can be: hosts come, move, and are flushed, the rest ages. */
static void
disturb(void)
{
	const uint32_t first = perf.macs / 2, n = perf.macs / 4;
	static const struct vx_fdb_filter all = {.segment = VX_INDEX_NONE, .dest = VX_DEST_NONE};
	static uint32_t next, now, cursor;
	uint32_t deleted = 0;

	for (unsigned int i = 0; i < 4096; i++, next++)
		enter_host(next / n, first + next % n); /* each round at another place */
	vx_fdb_age(perf.app.tables, now++ / 1000, 1000);
	if (!vx_fdb_flush_step(perf.app.tables, &all, &cursor, 2048, &deleted))
		cursor = 0;
	for (uint32_t i = 0; i < FEW; i++)
		enter_host(i, i);
}

int
main(int argc, char **argv)
{
	double few, many, quiet, flooded;
	const int used = rte_eal_init(argc, argv);

	if (used < 0 || rte_lcore_count() < 2)
		die("two lcores are needed");
	argc -= used;
	argv += used;
	perf.macs = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000000;
	perf.vnis = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 4096;
	if (perf.macs < 4 * FEW || perf.macs > 1u << 24 || perf.vnis < 2 || perf.vnis > 65535)
		die("expected 4000 to 16777216 MACs and 2 to 65535 VNIs");
	create();
	configure();
	perf_learning();
	flush_all();
	for (uint32_t i = 0; i < perf.macs; i++)
		enter_host(i, i);
	few = measure(WORK_FORWARD, FEW, NULL);
	many = measure(WORK_FORWARD, perf.macs, NULL);
	printf("forwarding: %.0f ns a frame between %u MACs, %.0f between %u: %.2f of the "
	       "speed\n",
	       few, FEW, many, perf.macs, few / many);
	flush_all();
	for (uint32_t i = 0; i < FEW; i++)
		enter_host(i, i);
	quiet = measure(WORK_FORWARD, FEW, NULL);
	many = measure(WORK_FORWARD, FEW, disturb);
	printf("forwarding: %.0f ns a frame, %.0f while the FDB changes: %.2f of the speed\n",
	       quiet, many, quiet / many);
	flooded = measure(WORK_FLOOD, 0, NULL);
	printf("replication to %u VTEPs: %.0f ns, %.1f frames' worth\n", VTEPS, flooded,
	       flooded / quiet);
	return 0;
}
