/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 6040 at the tunnel's end: the whole of its figure 4, and the checksum it must not repair. */
#include "test_packet.h"
#include "vx_ecn.h"

#define IPV4_TYPE RTE_BE16(0x0800)
#define IPV6_TYPE RTE_BE16(0x86dd)
#define OFFSET	  14u

#define NOT_ECT 0
#define ECT_1	1
#define ECT_0	2
#define CE	3
#define DROP	(-1)

/* Figure 4 of RFC 6040; the columns are in the order of the field's values. */
static const int figure4[4][4] = {
	/* inner      outer: Not-ECT, ECT(1), ECT(0), CE */
	[NOT_ECT] = {NOT_ECT, NOT_ECT, NOT_ECT, DROP},
	[ECT_1] = {ECT_1, ECT_1, ECT_1, CE},
	[ECT_0] = {ECT_0, ECT_1, ECT_0, CE},
	[CE] = {CE, CE, CE, CE},
};

static struct frame
make_frame(bool is_v6, uint32_t traffic_class)
{
	struct frame f;

	put_macs(&f);
	if (is_v6) {
		put_ipv6(&f, IPPROTO_UDP, 12);
		f.data[OFFSET] = (uint8_t)(0x60 | traffic_class >> 4);
		f.data[OFFSET + 1] = (uint8_t)(traffic_class << 4 | 0x0a);
	} else {
		put_ipv4(&f, IPPROTO_UDP, 12, 0, 0x4000);
		f.data[OFFSET + 1] = (uint8_t)traffic_class;
		set16(f.data + OFFSET + 10, 0);
		set16(f.data + OFFSET + 10,
		      (uint16_t)~reference_fold(reference_sum(f.data + OFFSET, 20, 0)));
	}
	put_udp(&f, 1, 2, 4);
	return f;
}

/* Run it on @f split after @first bytes, which must become @want. */
static void
check(const struct frame *f, uint32_t first, rte_be16_t type, uint32_t outer,
      const struct frame *want, enum vx_drop drop)
{
	struct rte_mbuf *m = make_chain(f->data, f->len, first, 3);

	assert_int_equal(vx_ecn_decap(m, OFFSET, type, (uint8_t)outer), drop);
	assert_bytes(m, want->data, want->len);
	rte_pktmbuf_free(m);
}

/* Every DSCP, both families, every field in and out. All other bits stay, the checksum is right. */
static void
test_figure_4(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 256 * 8; i++) {
		const uint32_t class = i % 256, outer = i / 256 % 4, inner = class % 4;
		const bool is_v6 = i >= 1024;
		const struct frame f = make_frame(is_v6, class);
		const int ecn = figure4[inner][outer];
		struct frame want = f;

		if (ecn != DROP)
			want = make_frame(is_v6, (class & 0xfc) | (uint32_t)ecn);
		check(&f, FRAME_MAX, is_v6 ? IPV6_TYPE : IPV4_TYPE, outer, &want,
		      ecn == DROP ? VX_DROP_INNER_ECN : VX_DROP_NONE);
	}
}

static void
test_split_headers(void **state)
{
	(void)state;
	for (unsigned int is_v6 = 0; is_v6 < 2; is_v6++) {
		const rte_be16_t type = is_v6 ? IPV6_TYPE : IPV4_TYPE;
		const struct frame ect0 = make_frame(is_v6, 0xb8 | ECT_0);
		const struct frame ect1 = make_frame(is_v6, 0xb8 | ECT_1);
		const struct frame none = make_frame(is_v6, 0xb8 | NOT_ECT);
		const struct frame ce = make_frame(is_v6, 0xb8 | CE);

		for (uint32_t first = 0; first <= ect0.len; first++) {
			check(&ect0, first, type, CE, &ce, VX_DROP_NONE);
			check(&ect0, first, type, ECT_1, &ect1, VX_DROP_NONE);
			check(&ect1, first, type, CE, &ce, VX_DROP_NONE);
			check(&none, first, type, ECT_1, &none, VX_DROP_NONE);
			check(&none, first, type, CE, &none, VX_DROP_INNER_ECN);
		}
	}
}

static bool
is_header_right(const uint8_t *ip)
{
	return reference_fold(reference_sum(ip, 20, 0)) == 0xffff;
}

/* A bridge hands on what it got: a wrong checksum, whichever, must not become a right one. */
static void
test_wrong_checksum_stays_wrong(void **state)
{
	static const uint8_t cases[][2] = {{ECT_0, ECT_1}, {ECT_0, CE}, {ECT_1, CE}};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct frame f = make_frame(false, 0x48 | cases[i][0]);
		struct rte_mbuf *m = make_chain(f.data, f.len, FRAME_MAX, 1);
		uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, OFFSET);
		unsigned int right = 0;

		for (uint32_t checksum = 0; checksum < 0x10000; checksum++) {
			bool was_right;

			memcpy(ip, f.data + OFFSET, 20);
			set16(ip + 10, checksum);
			was_right = is_header_right(ip);
			right += was_right;
			vx_ecn_decap(m, OFFSET, IPV4_TYPE, cases[i][1]);
			assert_int_equal(ip[1] & 3, figure4[cases[i][0]][cases[i][1]]);
			assert_int_equal(is_header_right(ip), was_right);
		}
		assert_in_range(right, 1, 2); /* two where 0 and 0xffff are both right */
		rte_pktmbuf_free(m);
	}
}

/* Whatever the header's sum, at its edges 0 and 0xffff too. */
static void
test_right_checksum_stays_right(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2 * 0x10000; i++) {
		struct frame f = make_frame(false, ECT_0);
		uint8_t *ip = f.data + OFFSET;
		struct rte_mbuf *m;

		set16(ip + 4, i / 2); /* the id: takes the sum through all its values */
		set16(ip + 10, 0);
		set16(ip + 10, (uint16_t)~reference_fold(reference_sum(ip, 20, 0)));
		m = make_chain(f.data, f.len, FRAME_MAX, 1);
		vx_ecn_decap(m, OFFSET, IPV4_TYPE, i % 2 ? ECT_1 : CE);
		ip = rte_pktmbuf_mtod_offset(m, uint8_t *, OFFSET);
		assert_int_equal(ip[1], i % 2 ? ECT_1 : CE);
		assert_true(is_header_right(ip));
		rte_pktmbuf_free(m);
	}
}

static void
test_other_types_untouched(void **state)
{
	static const uint16_t types[] = {0x0806, 0x8847, 0x8100, 0x88a8, 0, 0xffff, 0x0008, 0xdd86};

	(void)state;
	for (unsigned int is_v6 = 0; is_v6 < 2; is_v6++) {
		const struct frame f = make_frame(is_v6, NOT_ECT), ect = make_frame(is_v6, ECT_0);

		for (uint32_t i = 0; i < RTE_DIM(types) * 4; i++) {
			const rte_be16_t type = rte_cpu_to_be_16(types[i / 4]);

			check(&f, FRAME_MAX, type, i % 4, &f, VX_DROP_NONE);
			check(&ect, 20, type, i % 4, &ect, VX_DROP_NONE);
		}
		/* The EtherType says one version, the packet another. */
		for (uint32_t outer = 0; outer < 4; outer++) {
			check(&f, FRAME_MAX, is_v6 ? IPV4_TYPE : IPV6_TYPE, outer, &f,
			      VX_DROP_NONE);
			check(&ect, 15, is_v6 ? IPV4_TYPE : IPV6_TYPE, outer, &ect, VX_DROP_NONE);
		}
	}
}

static void
test_short_headers_untouched(void **state)
{
	(void)state;
	for (unsigned int is_v6 = 0; is_v6 < 2; is_v6++) {
		/* Of IPv6 only the first word is needed. */
		const uint32_t needed = OFFSET + (is_v6 ? 4 : 20);

		for (uint32_t ecn = 0; ecn < 4; ecn++) {
			struct frame f = make_frame(is_v6, ecn);

			for (f.len = OFFSET; f.len < needed; f.len++) {
				check(&f, FRAME_MAX, is_v6 ? IPV6_TYPE : IPV4_TYPE, CE, &f,
				      VX_DROP_NONE);
				check(&f, 15, is_v6 ? IPV6_TYPE : IPV4_TYPE, CE, &f, VX_DROP_NONE);
			}
		}
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		packet_test(test_figure_4),
		packet_test(test_split_headers),
		packet_test(test_wrong_checksum_stays_wrong),
		packet_test(test_right_checksum_stays_right),
		packet_test(test_other_types_untouched),
		packet_test(test_short_headers_untouched),
	};

	return cmocka_run_group_tests_name("ecn", tests, setup_pool, NULL);
}
