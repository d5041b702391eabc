/* SPDX-License-Identifier: BSD-3-Clause */
/* A million fragments of interleaved datagrams, in random orders, with losses and duplicates. */
#include "test_path_pieces.h"

#include "vx_reassemble.h"

#define FRAGMENTS  1000000u
#define SLOTS	   64u
#define PIECES_MAX 16u
#define BURST	   32u
#define STEP	   256u /* cycles a fragment */
#define WAIT	   (4096u * STEP)
#define INNER_MAX  1100u
#define MARK	   14 /* where an inner frame says which one it is */

struct slot {
	uint8_t packet[OUTER_LEN + INNER_MAX];
	uint32_t id, total, n, left, part;
	uint32_t order[PIECES_MAX];
	bool is_lossy;
};

struct run {
	struct bench *b;
	struct slot slot[SLOTS];
	uint64_t random;
	uint32_t n_datagrams, n_whole, n_lossy, n_delivered, n_lost, n_again;
	bool *is_delivered, *is_whole; /* by datagram */
};

static uint32_t
rnd(struct run *run, uint32_t n)
{
	run->random ^= run->random << 13;
	run->random ^= run->random >> 7;
	run->random ^= run->random << 17;
	return (uint32_t)(run->random >> 32) % n;
}

static uint32_t
inner_len(uint32_t id)
{
	return 60 + id * 2654435761u % 1000;
}

static void
make_inner(uint8_t *to, uint32_t id)
{
	make_frame(to, inner_len(id), host_b, host_a);
	memcpy(to + MARK, &id, sizeof(id));
}

static void
begin(struct run *run, struct slot *slot)
{
	const uint32_t id = run->n_datagrams++, len = inner_len(id);
	uint8_t inner[INNER_MAX];

	make_inner(inner, id);
	make_vxlan(slot->packet, 2, VNI, inner, len);
	put16(slot->packet + 18, id & 0xffff);
	slot->total = len + 16;
	slot->part = 8 * RTE_MAX(1 + rnd(run, 40), slot->total / (8 * PIECES_MAX) + 1);
	slot->part = RTE_MIN(slot->part, (slot->total - 1) / 8 * 8); /* two at least */
	slot->id = id;
	slot->n = slot->left = (slot->total + slot->part - 1) / slot->part;
	slot->is_lossy = false;
	for (uint32_t i = 0; i < slot->n; i++) {
		const uint32_t j = rnd(run, i + 1);

		slot->order[i] = slot->order[j];
		slot->order[j] = i;
	}
}

static struct rte_mbuf *
piece_of(struct run *run, const struct slot *slot, uint32_t i)
{
	uint8_t bytes[OUTER_LEN + INNER_MAX];
	const uint32_t first = i * slot->part;
	const uint32_t len = piece_bytes(bytes, slot->packet, first,
					 RTE_MIN(first + slot->part, slot->total), i + 1 < slot->n);

	return bench_split(run->b, bytes, len, rnd(run, 8) == 0 ? 1 + rnd(run, len - 1) : 0, 0);
}

/* Up to two fragments more in @m; how many. */
static uint16_t
step(struct run *run, struct rte_mbuf **m)
{
	struct slot *slot = &run->slot[rnd(run, SLOTS)];
	const uint32_t i = slot->order[--slot->left];
	uint16_t n = 0;

	if (rnd(run, 64) == 0) {
		slot->is_lossy = true;
		run->n_lost++;
	} else {
		m[n++] = piece_of(run, slot, i);
	}
	if (slot->left + 1 < slot->n && slot->left > 0 && rnd(run, 32) == 0) {
		m[n++] = piece_of(run, slot,
				  slot->order[slot->left + rnd(run, slot->n - slot->left)]);
		run->n_again++;
	}
	return n;
}

static void
collect(struct run *run)
{
	struct bench *b = run->b;
	uint8_t inner[INNER_MAX];

	for (uint32_t i = 0; i < b->n_sent[1]; i++) {
		uint32_t id;

		memcpy(&id, rte_pktmbuf_read(b->sent[1][i], MARK, sizeof(id), &id), sizeof(id));
		assert_true(id < run->n_datagrams);
		assert_false(run->is_delivered[id]);
		run->is_delivered[id] = true;
		make_inner(inner, id);
		bench_expect_bytes(b->sent[1][i], inner, inner_len(id));
		rte_pktmbuf_free(b->sent[1][i]);
		run->n_delivered++;
	}
	b->n_sent[1] = 0;
}

static void
test_million(void **state)
{
	struct run *run = calloc(1, sizeof(*run));
	struct rte_mbuf *m[BURST + 2];
	struct bench *b = *state;
	uint32_t sent = 0;

	assert_non_null(run);
	run->b = b;
	run->random = 0x9e3779b97f4a7c15u;
	run->is_delivered = calloc(FRAGMENTS, 1);
	run->is_whole = calloc(FRAGMENTS, 1);
	assert_true(run->is_delivered != NULL && run->is_whole != NULL);
	BENCH_VIEW(b, reassembly_cycles, WAIT);
	for (uint32_t i = 0; i < SLOTS; i++)
		begin(run, &run->slot[i]);
	while (sent < FRAGMENTS) {
		uint16_t n = 0;

		while (n < BURST) {
			n = (uint16_t)(n + step(run, &m[n]));
			for (uint32_t i = 0; i < SLOTS; i++) {
				struct slot *slot = &run->slot[i];

				if (slot->left > 0)
					continue;
				run->n_whole += !slot->is_lossy;
				run->is_whole[slot->id] = !slot->is_lossy;
				run->n_lossy += slot->is_lossy;
				begin(run, slot);
			}
		}
		bench_underlay(b, 0, UNDERLAY, m, n);
		collect(run);
		sent += n;
		b->lcore[0]->now += STEP * n;
		vx_reassembly_expire(b->lcore[0]);
	}
	assert_int_equal(bench_count(b, VX_COUNT_RX), sent);
	/* Those without a loss, and each once; of the others a repetition filled some gaps. */
	for (uint32_t i = 0; i < run->n_datagrams; i++)
		assert_true(run->is_delivered[i] || !run->is_whole[i]);
	assert_true(run->n_delivered <= run->n_whole + run->n_lossy);
	assert_true(run->n_whole > 50000 && run->n_lossy > 5000);
	assert_int_equal(bench_count(b, VX_COUNT_REASSEMBLED), run->n_delivered);
	for (unsigned int i = 0; i < VX_DROP_MAX; i++)
		if (i != VX_DROP_FRAG_TIMEOUT && i != VX_DROP_FRAG_DUPLICATE)
			assert_int_equal(bench_count(b, i), 0);
	assert_in_range(bench_count(b, VX_DROP_FRAG_DUPLICATE), run->n_again / 2, run->n_again);
	bench_settle(b);
	free(run->is_delivered);
	free(run->is_whole);
	free(run);
}

static int
setup(void **state)
{
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 1, 1);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 1), true);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_million, setup, bench_teardown),
	};

	return cmocka_run_group_tests_name("path_reassemble_many", tests, NULL, NULL);
}
