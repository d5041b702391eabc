/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_path_bench.h"

#include <rte_malloc.h>

#include "eal_fixture.h"
#include "vx_reassemble.h"
#include "vx_seen.h"

#define RING_SIZE 64u

static void
check_whole(const struct rte_mbuf *m)
{
	const char *reason;

	if (rte_mbuf_check(m, 1, &reason) != 0)
		fail_msg("%s", reason);
	for (const struct rte_mbuf *segment = m; segment != NULL; segment = segment->next) {
		assert_true(segment->data_off + segment->data_len <= segment->buf_len);
		assert_true(rte_mbuf_refcnt_read(segment) >= 1);
	}
}

static void
keep(struct vx_lcore *lcore, uint16_t port)
{
	struct vx_tx_buffer *buffer = &lcore->tx[port];
	struct bench *b = lcore->owner;

	assert_true(port < N_PORTS);
	assert_true(buffer->n > 0 && buffer->n <= VX_TX_BUFFER);
	assert_true((lcore->tx_pending >> port & 1) != 0);
	vx_lcore_count(lcore, VX_COUNT_TX, buffer->n);
	for (uint32_t i = 0; i < buffer->n; i++) {
		check_whole(buffer->m[i]);
		if (!b->is_keeping) {
			rte_pktmbuf_free(buffer->m[i]);
			continue;
		}
		assert_true(b->n_sent[port] < SENT_MAX);
		b->sent[port][b->n_sent[port]++] = buffer->m[i];
	}
	buffer->n = 0;
	buffer->n_segments = 0;
	lcore->tx_pending &= ~(UINT64_C(1) << port);
}

static struct rte_ring *
make_ring(const char *name, unsigned int lcore, unsigned int size)
{
	char text[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(text, sizeof(text), "%s_%u", name, lcore);
	ring = rte_ring_create_elem(text, size, RING_SIZE, SOCKET_ID_ANY,
				    RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(ring);
	return ring;
}

static void
make_lcore(struct bench *b, unsigned int i)
{
	struct vx_lcore *lcore = rte_zmalloc("lcore", sizeof(*lcore), RTE_CACHE_LINE_SIZE);

	assert_non_null(lcore);
	lcore->tables = b->tables;
	lcore->copy_pool = b->copy_pool;
	lcore->learn_ring = make_ring("learn", i, sizeof(struct vx_learn));
	lcore->punt_ring = make_ring("punt", i, sizeof(struct vx_punt));
	lcore->trace_ring = make_ring("trace", i, sizeof(struct vx_trace_record));
	lcore->seen_ring = make_ring("seen", i, sizeof(struct vx_seen));
	lcore->flush = keep;
	lcore->owner = b;
	lcore->segment_traffic = calloc(b->tables->conf.max_vnis, sizeof(struct vx_kinds));
	lcore->attach_traffic = calloc(b->tables->conf.max_attaches, sizeof(struct vx_kinds));
	lcore->vtep_traffic = calloc(b->tables->conf.max_vteps, sizeof(struct vx_kinds));
	lcore->index = (uint16_t)i;
	lcore->id_shift = 1;
	lcore->now = UINT64_C(1) << 40;
	lcore->arp_bucket = vx_bucket_make(1u << 30, 1000, 100);
	lcore->arp_bucket.last = lcore->now;
	lcore->other_arp_bucket = lcore->arp_bucket;
	lcore->nd_bucket = lcore->arp_bucket;
	lcore->other_nd_bucket = lcore->arp_bucket;
	lcore->icmp_bucket = lcore->arp_bucket;
	lcore->too_big_bucket = lcore->arp_bucket;
	lcore->seen_bucket = lcore->arp_bucket;
	lcore->group_bucket = lcore->arp_bucket;
	lcore->reassembly = rte_zmalloc("reassembly", vx_reassembly_size(), 0);
	assert_non_null(lcore->reassembly);
	vx_reassembly_init(lcore->reassembly, i + 1, 1u << 20);
	b->lcore[i] = lcore;
}

static void
make_view(struct bench *b)
{
	struct vx_view *view = vx_view_edit(b->tables);

	assert_non_null(view);
	view->n_locals = 2;
	view->local[0].ip = vx_ip_from_v4(RTE_BE32(0xc0000201));
	view->local[0].port = UNDERLAY;
	view->local[1].ip = vx_ip_from_v4(RTE_BE32(0xc0000205));
	view->local[1].port = UNDERLAY_2;
	for (unsigned int i = 0; i < N_PORTS; i++) {
		struct vx_view_port *port = &view->port[i];

		port->role = i == UNDERLAY || i == UNDERLAY_2 ? VX_ROLE_UNDERLAY : VX_ROLE_ACCESS;
		port->max_tx_frame = UINT32_MAX;
		port->max_tx_chain = UINT32_MAX;
		port->mtu = 65535;
		port->is_up = true;
		port->takes_indirect = true;
		port->linear_pool = b->linear_pool;
		port->mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, (uint8_t)(i == 0 ? 1 : i)}};
	}
	vx_view_publish(b->tables, view);
}

int
bench_setup(void **state)
{
	const struct vx_tables_conf conf = {
		.max_vnis = 16,
		.max_macs = 256,
		.max_vteps = 320,
		.max_attaches = 8,
		.max_readers = N_LCORES,
		.mtu = 1500,
		.learning = true,
		.ageing = 300,
	};
	const struct vx_tables_hooks hooks = {0};
	struct bench *b = calloc(1, sizeof(*b));

	if (vx_test_eal() < 0 || b == NULL)
		return -1;
	b->is_keeping = true;
	b->tables = vx_tables_create(&conf, &hooks);
	assert_non_null(b->tables);
	b->pool = rte_pktmbuf_pool_create("frames", POOL_MBUFS, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM,
					  SOCKET_ID_ANY);
	b->copy_pool = rte_pktmbuf_pool_create("copies", COPY_MBUFS, 0, 0,
					       128 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	b->linear_pool = rte_pktmbuf_pool_create("linear", 63, 0, 0, 8192, SOCKET_ID_ANY);
	assert_true(b->pool != NULL && b->copy_pool != NULL && b->linear_pool != NULL);
	for (unsigned int i = 0; i < N_LCORES; i++)
		make_lcore(b, i);
	make_view(b);
	*state = b;
	return 0;
}

bool
bench_punt(struct bench *b, struct vx_punt *punt)
{
	if (rte_ring_sc_dequeue_elem(b->lcore[0]->punt_ring, punt, sizeof(*punt)) != 0)
		return false;
	b->held += punt->kind == VX_PUNT_HOLD;
	return true;
}

bool
bench_learn(struct bench *b, struct vx_learn *learn)
{
	return rte_ring_sc_dequeue_elem(b->lcore[0]->learn_ring, learn, sizeof(*learn)) == 0;
}

static void
expect_law(const struct bench *b)
{
	uint64_t came, went, fragments = 0;
	struct vx_counts sum = {0};

	for (unsigned int i = 0; i < N_LCORES; i++) {
		vx_counts_add(&sum, &b->lcore[i]->counts);
		fragments += vx_reassembly_state(b->lcore[i]->reassembly).fragments;
	}
	came = sum.value[VX_COUNT_RX] + sum.value[VX_COUNT_COPIES] +
	       sum.value[VX_COUNT_ORIGINATED] + sum.value[VX_COUNT_FRAGMENTS];
	went = sum.value[VX_COUNT_TX] + vx_counts_drops(&sum) + sum.value[VX_COUNT_CONSUMED] +
	       sum.value[VX_COUNT_MERGED] + sum.value[VX_COUNT_HELD] - sum.value[VX_COUNT_UNHELD];
	assert_int_equal(came, went);
	assert_int_equal(sum.value[VX_COUNT_HELD] - sum.value[VX_COUNT_UNHELD],
			 b->held + fragments);
}

void
bench_settle(struct bench *b)
{
	struct vx_punt punt;

	while (bench_punt(b, &punt)) {
		if (punt.kind != VX_PUNT_HOLD)
			continue;
		check_whole(punt.m);
		rte_pktmbuf_free(punt.m);
	}
	expect_law(b);
	for (unsigned int i = 0; i < N_LCORES; i++) {
		struct vx_reassembly_state state;

		vx_reassembly_flush(b->lcore[i]);
		state = vx_reassembly_state(b->lcore[i]->reassembly);
		assert_true(state.datagrams == 0 && state.fragments == 0 && state.bytes == 0);
	}
	expect_law(b);
	for (unsigned int port = 0; port < N_PORTS; port++) {
		for (uint32_t i = 0; i < b->n_sent[port]; i++)
			rte_pktmbuf_free(b->sent[port][i]);
		b->n_sent[port] = 0;
	}
	assert_int_equal(rte_mempool_avail_count(b->pool), POOL_MBUFS);
	assert_int_equal(rte_mempool_avail_count(b->copy_pool), COPY_MBUFS);
	assert_int_equal(rte_mempool_avail_count(b->linear_pool), 63);
}

int
bench_teardown(void **state)
{
	struct bench *b = *state;

	bench_settle(b);
	for (unsigned int i = 0; i < N_LCORES; i++) {
		/* A test that failed in the middle of a burst left it online: nobody would end. */
		vx_rcu_offline(b->tables->rcu, i);
		rte_ring_free(b->lcore[i]->learn_ring);
		rte_ring_free(b->lcore[i]->punt_ring);
		rte_ring_free(b->lcore[i]->trace_ring);
		rte_ring_free(b->lcore[i]->seen_ring);
		free(b->lcore[i]->segment_traffic);
		free(b->lcore[i]->attach_traffic);
		free(b->lcore[i]->vtep_traffic);
		rte_free(b->lcore[i]->reassembly);
		rte_free(b->lcore[i]);
	}
	vx_tables_destroy(b->tables);
	rte_mempool_free(b->pool);
	rte_mempool_free(b->copy_pool);
	rte_mempool_free(b->linear_pool);
	free(b);
	return 0;
}

void
bench_vni(struct bench *b, uint32_t vni, unsigned int n_ports, uint16_t first_port)
{
	const struct vx_segment_conf conf = {.vni = vni};

	assert_int_equal(vx_segment_add(b->tables, &conf, &b->err), 0);
	for (unsigned int i = 0; i < n_ports; i++)
		assert_int_equal(vx_attach_add(b->tables, (uint16_t)(first_port + i), vni, &b->err),
				 0);
}

uint32_t
bench_attach_index(struct bench *b, uint16_t port)
{
	return vx_attach_find(b->tables, port, NULL)->index;
}

struct vx_ip
bench_remote(unsigned int vtep)
{
	return vx_ip_from_v4(rte_cpu_to_be_32(0xc6336400u | vtep));
}

struct vx_vtep_path
bench_path(enum vx_vtep_state state)
{
	struct vx_vtep_path path = {
		.state = state,
		.port = UNDERLAY,
		.mtu = 65535,
		.source = vx_ip_from_v4(RTE_BE32(0xc0000201)),
	};

	memcpy(&path.source_mac, our_mac, 6);
	memcpy(&path.next_hop_mac, next_hop_mac, 6);
	return path;
}

uint32_t
bench_flood(struct bench *b, uint32_t vni, unsigned int vtep, enum vx_vtep_state state)
{
	const struct vx_ip remote = bench_remote(vtep);
	const struct vx_vtep_path path = bench_path(state);
	uint32_t index;

	assert_int_equal(vx_segment_flood_add(b->tables, vni, &remote, &b->err), 0);
	index = (uint32_t)vx_vtep_find(b->tables, &remote);
	vx_vtep_set_path(b->tables, index, &path);
	return index;
}

void
bench_path_mtu(struct bench *b, uint32_t index, uint16_t mtu)
{
	struct vx_vtep_path path = b->tables->vtep[index]->path;

	path.mtu = mtu;
	vx_vtep_set_path(b->tables, index, &path);
}

void
bench_fdb(struct bench *b, uint32_t vni, const uint8_t *mac, uint32_t dest, bool is_static)
{
	struct rte_ether_addr address;
	bool moved;

	memcpy(&address, mac, sizeof(address));
	assert_int_equal(
		vx_fdb_set(b->tables,
			   vx_fdb_key_of(vx_segment_find(b->tables, vni, NULL)->index, &address),
			   dest, is_static, &moved),
		0);
}

static void
run(struct bench *b, struct vx_lcore *lcore, uint16_t port, struct rte_mbuf **m, uint16_t n,
    void (*path)(struct vx_lcore *, uint16_t, struct rte_mbuf **, uint16_t))
{
	vx_rcu_online(b->tables->rcu, lcore->index);
	lcore->view = __atomic_load_n(&b->tables->view, __ATOMIC_ACQUIRE);
	lcore->now_seconds = __atomic_load_n(&b->tables->fdb->now, __ATOMIC_RELAXED);
	path(lcore, port, m, n);
	assert_int_equal(lcore->trace_id, 0);
	while (lcore->tx_pending != 0)
		lcore->flush(lcore, (uint16_t)__builtin_ctzll(lcore->tx_pending));
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		assert_int_equal(lcore->tx[i].n, 0);
	rte_rcu_qsbr_quiescent(vx_rcu_qsbr(b->tables->rcu), lcore->index);
	vx_rcu_offline(b->tables->rcu, lcore->index);
}

void
bench_access(struct bench *b, unsigned int lcore, uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	run(b, b->lcore[lcore], port, m, n, vx_path_access);
}

void
bench_underlay(struct bench *b, unsigned int lcore, uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	run(b, b->lcore[lcore], port, m, n, vx_path_underlay);
}

struct rte_mbuf *
bench_split(struct bench *b, const uint8_t *bytes, uint32_t len, uint32_t cut_1, uint32_t cut_2)
{
	const uint32_t end[3] = {cut_1 == 0 ? len : cut_1, cut_2 == 0 ? len : cut_2, len};
	struct rte_mbuf *head = NULL, *tail = NULL;
	uint32_t at = 0;

	for (unsigned int i = 0; i < 3 && (at < len || head == NULL); i++) {
		while (at < end[i] || head == NULL) {
			const uint32_t part = RTE_MIN(2048u, end[i] - at);
			struct rte_mbuf *m = rte_pktmbuf_alloc(b->pool);

			assert_non_null(m);
			memcpy(rte_pktmbuf_append(m, (uint16_t)part), bytes + at, part);
			at += part;
			if (head == NULL) {
				head = m;
			} else {
				tail->next = m;
				head->nb_segs++;
				head->pkt_len += part;
			}
			tail = m;
		}
	}
	return head;
}

struct rte_mbuf *
bench_mbuf(struct bench *b, const uint8_t *bytes, uint32_t len)
{
	return bench_split(b, bytes, len, 0, 0);
}

uint32_t
bench_bytes(const struct rte_mbuf *m, uint8_t *bytes, uint32_t size)
{
	const void *at;

	assert_true(m->pkt_len <= size);
	at = rte_pktmbuf_read(m, 0, m->pkt_len, bytes);
	assert_non_null(at);
	if (at != bytes)
		memcpy(bytes, at, m->pkt_len);
	return m->pkt_len;
}

void
bench_expect_bytes(const struct rte_mbuf *m, const uint8_t *bytes, uint32_t len)
{
	static uint8_t found[70000];

	assert_int_equal(bench_bytes(m, found, sizeof(found)), len);
	assert_memory_equal(found, bytes, len);
}

uint64_t
bench_count(const struct bench *b, unsigned int which)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < N_LCORES; i++)
		n += b->lcore[i]->counts.value[which];
	return n;
}

void
bench_mark(struct bench *b)
{
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++)
		b->saved.value[i] = bench_count(b, i);
}

uint64_t
bench_since(const struct bench *b, unsigned int which)
{
	return bench_count(b, which) - b->saved.value[which];
}

void
bench_expect_only_drop(const struct bench *b, enum vx_drop reason, uint64_t n)
{
	for (unsigned int i = 0; i < VX_DROP_MAX; i++)
		if (bench_since(b, i) != (i == reason ? n : 0))
			fail_msg("%s: %u, expected %s: %u", vx_drop_name(i),
				 (unsigned int)bench_since(b, i), vx_drop_name(reason),
				 (unsigned int)n);
}

enum vx_drop
bench_one_drop(const struct bench *b)
{
	enum vx_drop found = VX_DROP_NONE;

	for (unsigned int i = 0; i < VX_DROP_MAX; i++) {
		if (bench_since(b, i) == 0)
			continue;
		assert_int_equal(bench_since(b, i), 1);
		assert_int_equal(found, VX_DROP_NONE);
		found = i;
	}
	return found;
}
