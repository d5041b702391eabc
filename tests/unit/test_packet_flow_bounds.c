/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow hash of frames that are cut or scattered: never a byte too far, never another hash. */
#include "test_packet.h"

#include <sys/mman.h>
#include <unistd.h>

#include "vx_flow.h"

/* A page with unreadable ones on both sides. */
static uint8_t *page;
static uint32_t page_size;

struct golden {
	const char *name;
	struct frame frame;
	uint32_t headers; /* bytes that decide the hash */
};

static void
add_mpls(struct frame *f, unsigned int labels)
{
	put16(f, 0x8847);
	for (unsigned int i = 0; i < labels; i++)
		put32(f, (100 + i) << 12 | (i + 1 == labels ? 0x140 : 0x40));
}

/* The part in front of the ports. */
static void
build(struct golden *g, unsigned int which)
{
	static const char *const names[] = {
		"IPv4",	  "IPv4 with options",	  "VLAN, IPv4",	   "QinQ, IPv6",     "IPv6",
		"3 tags", "IPv6 with extensions", "MPLS, 1 label", "MPLS, 3 labels", "ARP",
	};
	struct frame *f = &g->frame;

	g->name = which < RTE_DIM(names) ? names[which] : NULL;
	put_macs(f);
	switch (which) {
	case 0:
		put_ipv4(f, IPPROTO_TCP, 28, 0, 0);
		break;
	case 1:
		put_ipv4(f, IPPROTO_TCP, 28, 10, 0);
		break;
	case 2:
		put_tag(f, 0x8100, 5);
		put_ipv4(f, IPPROTO_TCP, 28, 0, 0);
		break;
	case 3:
		put_tag(f, 0x88a8, 5);
		put_tag(f, 0x8100, 6);
		put_ipv6(f, IPPROTO_TCP, 28);
		break;
	case 4:
		put_ipv6(f, IPPROTO_TCP, 28);
		break;
	case 5:
		put_tag(f, 0x88a8, 5);
		put_tag(f, 0x8100, 6);
		put_tag(f, 0x8100, 7);
		put_ipv4(f, IPPROTO_TCP, 28, 0, 0);
		break;
	case 6:
		put_ipv6(f, IPPROTO_HOPOPTS, 8 + 16 + 28);
		put_ext(f, IPPROTO_DSTOPTS, 1);
		put_ext(f, IPPROTO_TCP, 2);
		break;
	case 7:
		add_mpls(f, 1);
		break;
	case 8:
		add_mpls(f, 3);
		break;
	default:
		put16(f, 0x0806);
		break;
	}
	g->headers = f->len + (which < 7 ? 4 : 0);
	put_tcp(f, 1000, 2000, 8);
}

#define GOLDEN 10u

/* The frame at the end of the readable page. */
static struct vx_flow
flow_at_end(const uint8_t *data, uint32_t len)
{
	uint8_t *at = page + page_size - len;

	memcpy(at, data, len);
	return vx_flow_of_bytes(at, len);
}

static void
test_truncated_anywhere(void **state)
{
	(void)state;
	for (unsigned int which = 0; which < GOLDEN; which++) {
		struct vx_flow whole;
		struct golden g;

		build(&g, which);
		assert_non_null(g.name);
		whole = vx_flow_of_bytes(g.frame.data, g.frame.len);
		assert_int_not_equal(whole.hash, 0);
		for (uint32_t len = 0; len <= g.frame.len; len++) {
			const struct vx_flow flow = flow_at_end(g.frame.data, len);

			if (len < 14)
				assert_int_equal(flow.hash, 0);
			if (len >= g.headers && flow.hash != whole.hash)
				fail_msg("%s: another hash from %u bytes", g.name, len);
		}
	}
}

/* Lengths inside the headers that point outside the frame. */
static void
test_any_byte_changed(void **state)
{
	(void)state;
	for (unsigned int which = 0; which < GOLDEN; which++) {
		struct golden g;

		build(&g, which);
		for (uint32_t i = 12; i < g.headers; i++) {
			const uint8_t saved = g.frame.data[i];

			for (unsigned int value = 0; value < 256; value++) {
				g.frame.data[i] = (uint8_t)value;
				flow_at_end(g.frame.data, g.frame.len);
				flow_at_end(g.frame.data, g.headers);
				flow_at_end(g.frame.data, g.headers - 3);
			}
			g.frame.data[i] = saved;
		}
	}
}

static void
test_noise(void **state)
{
	static const uint16_t types[] = {0x0800, 0x86dd, 0x8100, 0x88a8, 0x8847};
	uint64_t seed = 7;

	(void)state;
	for (unsigned int round = 0; round < 50000; round++) {
		uint8_t noise[200];
		uint32_t len;

		for (uint32_t i = 0; i < sizeof(noise); i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			noise[i] = (uint8_t)(seed >> 56);
		}
		len = (uint32_t)(seed >> 24) % sizeof(noise);
		for (uint32_t i = 12; i < 26; i += 4)
			set16(noise + i, types[(seed >> (i + 8)) % RTE_DIM(types)]);
		if (round % 2 == 0)
			noise[20] = (uint8_t)((seed >> 40) % 2 ? IPPROTO_HOPOPTS : IPPROTO_DSTOPTS);
		flow_at_end(noise, len);
	}
}

static void
assert_same_in_chains(const struct frame *f, const char *name)
{
	const struct vx_flow whole = vx_flow_of_bytes(f->data, f->len);

	for (uint32_t first = 0; first <= f->len; first++) {
		const uint32_t rests[] = {FRAME_MAX, 7, 3};

		for (unsigned int i = 0; i < RTE_DIM(rests); i++) {
			struct rte_mbuf *m = make_chain(f->data, f->len, first, rests[i]);
			const struct vx_flow flow = vx_flow_of(m);

			if (flow.hash != whole.hash || flow.tos != whole.tos ||
			    flow.ttl != whole.ttl)
				fail_msg("%s: another flow if split at %u", name, first);
			assert_bytes(m, f->data, f->len);
			rte_pktmbuf_free(m);
		}
	}
}

static void
test_split_anywhere(void **state)
{
	(void)state;
	for (unsigned int which = 0; which < GOLDEN; which++) {
		struct golden g;

		build(&g, which);
		put_payload(&g.frame, 150, which);
		assert_same_in_chains(&g.frame, g.name);
	}
}

/* Ports far behind: whether they are found must not depend on how the frame is cut. */
static void
test_split_far_headers(void **state)
{
	(void)state;
	for (uint32_t units = 8; units < 22; units++) {
		const uint32_t rests[] = {FRAME_MAX, 50};
		struct rte_mbuf *m;
		struct frame f;
		uint32_t hash;

		put_macs(&f);
		put_ipv6(&f, IPPROTO_DSTOPTS, units * 8 + 20);
		put_ext(&f, IPPROTO_TCP, units);
		put_tcp(&f, 1000, 2000, 0);
		put_payload(&f, 64, units);
		m = make_chain(f.data, f.len, FRAME_MAX, 1);
		hash = vx_flow_of(m).hash;
		rte_pktmbuf_free(m);
		for (uint32_t first = 0; first <= f.len; first++) {
			m = make_chain(f.data, f.len, first, rests[first % 2]);
			if (vx_flow_of(m).hash != hash)
				fail_msg("%u bytes of options, split at %u", units * 8, first);
			rte_pktmbuf_free(m);
		}
	}
}

static void
test_truncated_chain(void **state)
{
	(void)state;
	for (unsigned int which = 0; which < GOLDEN; which++) {
		struct golden g;

		build(&g, which);
		for (uint32_t len = 0; len <= g.headers; len++) {
			struct rte_mbuf *m = make_chain(g.frame.data, len, len / 2, 5);

			assert_int_equal(vx_flow_of(m).hash,
					 vx_flow_of_bytes(g.frame.data, len).hash);
			rte_pktmbuf_free(m);
		}
	}
}

static int
setup(void **state)
{
	uint8_t *area;

	page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	area = mmap(NULL, 3u * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		return -1;
	page = area + page_size;
	if (mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0)
		return -1;
	return setup_pool(state);
}

static int
teardown(void **state)
{
	(void)state;
	return munmap(page - page_size, 3u * page_size);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		packet_test(test_truncated_anywhere),
		packet_test(test_any_byte_changed),
		packet_test(test_noise),
		packet_test(test_split_anywhere),
		packet_test(test_split_far_headers),
		packet_test(test_truncated_chain),
	};

	return cmocka_run_group_tests_name("flow bounds", tests, setup, teardown);
}
