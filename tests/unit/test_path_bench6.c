/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_path_bench6.h"

#include <netinet/in.h>

const uint8_t our_ip6[16] = {0x20, 1, 0x0d, 0xb8, [15] = 1};

int
bench6_setup(void **state)
{
	struct vx_view *view;
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	view = vx_view_edit(b->tables);
	assert_non_null(view);
	memcpy(view->local[view->n_locals].ip.bytes, our_ip6, 16);
	view->local[view->n_locals].prefix_len = 64;
	view->local[view->n_locals++].port = UNDERLAY;
	view->local[view->n_locals].ip = (struct vx_ip){.bytes = {0xfe, 0x80, [15] = 1}};
	view->local[view->n_locals].prefix_len = 64;
	view->local[view->n_locals++].port = UNDERLAY;
	vx_view_publish(b->tables, view);
	return 0;
}

struct vx_ip
bench6_remote(unsigned int vtep)
{
	return (struct vx_ip){.bytes = {0x20, 1, 0x0d, 0xb8, 0, 1, [15] = (uint8_t)vtep}};
}

struct vx_vtep_path
bench6_path(enum vx_vtep_state state)
{
	struct vx_vtep_path path = bench_path(state);

	memcpy(path.source.bytes, our_ip6, 16);
	return path;
}

uint32_t
bench6_flood(struct bench *b, uint32_t vni, unsigned int vtep, enum vx_vtep_state state)
{
	const struct vx_ip remote = bench6_remote(vtep);
	const struct vx_vtep_path path = bench6_path(state);
	uint32_t index;

	assert_int_equal(vx_segment_flood_add(b->tables, vni, &remote, &b->err), 0);
	index = (uint32_t)vx_vtep_find(b->tables, &remote);
	vx_vtep_set_path(b->tables, index, &path);
	return index;
}

uint16_t
plain_udp6(const uint8_t *frame, uint32_t l4)
{
	const unsigned int len = get16(frame + l4 + 4);
	uint8_t *pseudo = calloc(1, 40 + len);
	uint16_t checksum;

	assert_non_null(pseudo);
	memcpy(pseudo, frame + 22, 32);
	put16(pseudo + 34, len);
	pseudo[39] = IPPROTO_UDP;
	memcpy(pseudo + 40, frame + l4, len);
	checksum = plain_checksum(pseudo, 40 + len);
	free(pseudo);
	return checksum;
}

void
fix_udp6(uint8_t *frame, uint32_t l4)
{
	uint16_t checksum;

	put16(frame + l4 + 6, 0);
	checksum = plain_udp6(frame, l4);
	put16(frame + l4 + 6, checksum == 0 ? 0xffff : checksum);
}

uint32_t
make_vxlan6(uint8_t *to, unsigned int vtep, uint32_t vni, const uint8_t *inner, uint32_t len)
{
	const struct vx_ip remote = bench6_remote(vtep);

	memset(to, 0, OUTER6_LEN);
	memcpy(to, our_mac, 6);
	memcpy(to + 6, next_hop_mac, 6);
	put16(to + 12, 0x86dd);
	put32(to + 14, 0x600abcde);
	put16(to + 18, len + 16);
	to[20] = IPPROTO_UDP;
	to[21] = 61;
	memcpy(to + 22, remote.bytes, 16);
	memcpy(to + 38, our_ip6, 16);
	put16(to + 54, 50000);
	put16(to + 56, 4789);
	put16(to + 58, len + 16);
	to[62] = 0x08;
	put16(to + 66, vni >> 8);
	to[68] = (uint8_t)vni;
	memcpy(to + OUTER6_LEN, inner, len);
	fix_udp6(to, HEADERS6);
	return OUTER6_LEN + len;
}

uint32_t
insert_ext(uint8_t *frame, uint32_t len, uint8_t type, const uint8_t *ext, uint32_t n)
{
	const uint8_t next = frame[20];
	uint32_t at = 0, last = 0;

	memmove(frame + HEADERS6 + n, frame + HEADERS6, len - HEADERS6);
	memcpy(frame + HEADERS6, ext, n);
	while (at < n) {
		const bool is_fragment = (at == 0 ? type : ext[last]) == IPPROTO_FRAGMENT;

		last = at;
		at += is_fragment ? 8 : 8u * (1u + ext[at + 1]);
	}
	frame[HEADERS6 + last] = next;
	frame[20] = type;
	put16(frame + 18, get16(frame + 18) + n);
	return len + n;
}

uint32_t
piece6_bytes(uint8_t *to, const uint8_t *packet, uint32_t first, uint32_t end, bool is_more,
	     uint32_t id)
{
	memcpy(to, packet, HEADERS6);
	put16(to + 18, FRAGMENT6 + end - first);
	to[20] = IPPROTO_FRAGMENT;
	to[54] = packet[20];
	to[55] = 0;
	put16(to + 56, first | is_more);
	put32(to + 58, id);
	memcpy(to + HEADERS6 + FRAGMENT6, packet + HEADERS6 + first, end - first);
	return HEADERS6 + FRAGMENT6 + end - first;
}

struct rte_mbuf *
piece6_make(struct bench *b, const uint8_t *packet, uint32_t first, uint32_t end, bool is_more,
	    uint32_t id)
{
	static uint8_t bytes[66000];

	return bench_mbuf(b, bytes, piece6_bytes(bytes, packet, first, end, is_more, id));
}

unsigned int
pieces6_expected(uint32_t ip_len, uint32_t mtu)
{
	const uint32_t part = (mtu - 48) / 8 * 8;

	return ip_len <= mtu ? 1 : (ip_len - 40 + part - 1) / part;
}

uint32_t
pieces6_join(uint8_t *to, struct rte_mbuf *const *m, unsigned int n, uint32_t mtu, uint32_t *id)
{
	static uint8_t f[66000];
	uint32_t at = 0;

	*id = 0;
	for (unsigned int i = 0; i < n; i++) {
		uint32_t len = bench_bytes(m[i], f, sizeof(f));
		const uint32_t headers = n == 1 ? HEADERS6 : HEADERS6 + FRAGMENT6;

		for (const struct rte_mbuf *s = m[i]; s != NULL; s = s->next)
			assert_true(s->data_len > 0);
		assert_int_equal(m[i]->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL), 0);
		assert_int_equal(get16(f + 18), len - HEADERS6);
		assert_true(len - 14 <= mtu);
		if (i == 0)
			memcpy(to, f, HEADERS6);
		/* Ethernet, first word; next header to destination: those of the first. */
		assert_memory_equal(f, to, 18);
		assert_memory_equal(f + 20, to + 20, 34);
		if (n > 1) {
			assert_int_equal(f[20], IPPROTO_FRAGMENT);
			assert_int_equal(f[54], IPPROTO_UDP);
			assert_int_equal(f[55], 0);
			assert_int_equal(get16(f + 56), at | (i + 1 < n));
			assert_true(i + 1 == n || (len - headers) % 8 == 0);
			if (i == 0)
				*id = get32(f + 58);
			assert_int_equal(get32(f + 58), *id);
		}
		len -= headers;
		memcpy(to + HEADERS6 + at, f + headers, len);
		at += len;
	}
	assert_int_equal(n, pieces6_expected(40 + at, mtu));
	put16(to + 18, at);
	to[20] = IPPROTO_UDP;
	return HEADERS6 + at;
}
