/* SPDX-License-Identifier: BSD-3-Clause */
/* What a flow's hash depends on, and how source ports spread. */
#include "test_packet.h"
#include "vx_flow.h"

#define FIRST_PORT 49152u
#define PORTS	   16384u

static uint32_t
hash_of(const struct frame *f)
{
	return vx_flow_of_bytes(f->data, f->len).hash;
}

/*
 * Flip each bit of @f. @map has one letter a byte: '*' its bits are part of the flow, '.' they are
 * not, 'v' only the lower four are (the VLAN id), 'l' only the upper four (an MPLS label's end),
 * '?' decides how the rest is read: not looked at here.
 */
static void
check_bits(const struct frame *f, const char *map)
{
	const uint32_t hash = hash_of(f);

	assert_int_equal(strlen(map), f->len);
	for (uint32_t i = 0; i < f->len * 8; i++) {
		const uint32_t bit = i % 8; /* 0 is the lowest */
		const char kind = map[i / 8];
		struct frame other = *f;
		bool is_part = kind == '*' || (kind == 'v' && bit < 4) || (kind == 'l' && bit >= 4);

		if (kind == '?' || (kind == 'l' && bit == 0))
			continue;
		other.data[i / 8] ^= (uint8_t)(1u << bit);
		if ((hash_of(&other) != hash) != is_part)
			fail_msg("byte %u bit %u: kind '%c'", i / 8, bit, kind);
	}
}

#define MACS	  "************"
#define TYPE	  "??"
#define TAG	  "??v*"
#define IPV4	  "?.....??.?..********"
#define IPV6	  "?.....?.********************************"
#define UDP_EMPTY "****...."

static void
test_bits_of_ipv4(void **state)
{
	struct frame f;

	(void)state;
	put_macs(&f);
	put_ipv4(&f, IPPROTO_UDP, 12, 0, 0);
	put_udp(&f, 1000, 2000, 4);
	check_bits(&f, MACS TYPE IPV4 UDP_EMPTY "....");

	put_macs(&f);
	put_ipv4(&f, IPPROTO_TCP, 20, 2, 0);
	put_tcp(&f, 1000, 2000, 0);
	check_bits(&f, MACS TYPE IPV4 "........****................");

	put_macs(&f); /* no ports: the same place is payload */
	put_ipv4(&f, IPPROTO_ICMP, 8, 0, 0);
	put_udp(&f, 1000, 2000, 0);
	check_bits(&f, MACS TYPE IPV4 "........");
}

static void
test_bits_of_ipv6(void **state)
{
	struct frame f;

	(void)state;
	put_macs(&f);
	put_ipv6(&f, IPPROTO_UDP, 12);
	put_udp(&f, 1000, 2000, 4);
	check_bits(&f, MACS TYPE IPV6 UDP_EMPTY "....");

	put_macs(&f);
	put_ipv6(&f, IPPROTO_HOPOPTS, 24 + 20);
	put_ext(&f, IPPROTO_ROUTING, 1);
	put_ext(&f, IPPROTO_DSTOPTS, 1);
	put_ext(&f, IPPROTO_TCP, 1);
	put_tcp(&f, 1000, 2000, 0);
	check_bits(&f, MACS TYPE IPV6 "??......??......??......****................");
}

static void
test_bits_behind_tags(void **state)
{
	struct frame f;

	(void)state;
	put_macs(&f);
	put_tag(&f, 0x8100, 0x0064);
	put_ipv4(&f, IPPROTO_UDP, 8, 0, 0);
	put_udp(&f, 1000, 2000, 0);
	check_bits(&f, MACS TAG TYPE IPV4 UDP_EMPTY);

	put_macs(&f);
	put_tag(&f, 0x88a8, 0x2064);
	put_tag(&f, 0x8100, 0x0065);
	put_ipv6(&f, IPPROTO_SCTP, 8);
	put_udp(&f, 1000, 2000, 0);
	check_bits(&f, MACS TAG TAG TYPE IPV6 UDP_EMPTY);
}

/* TTL and traffic class may differ within a flow; the label and the label below do not. */
static void
test_bits_of_mpls(void **state)
{
	struct frame f;

	(void)state;
	put_macs(&f);
	put16(&f, 0x8847);
	put32(&f, 0x00064040); /* label 100, not the last */
	put32(&f, 0x000c9140); /* label 201, the last */
	put_payload(&f, 20, 1);
	check_bits(&f, MACS TYPE "**l.**l.....................");
}

/* Neither IP nor MPLS: the MACs are all there is. */
static void
test_bits_of_other_types(void **state)
{
	struct frame f;

	(void)state;
	put_macs(&f);
	put16(&f, 0x0806);
	put_payload(&f, 28, 1);
	check_bits(&f, MACS TYPE "............................");
}

static uint32_t
ipv4_fragment(uint32_t field, uint32_t seed)
{
	struct frame f;

	put_macs(&f);
	put_ipv4(&f, IPPROTO_UDP, 40, 0, field);
	put_payload(&f, 40, seed);
	return hash_of(&f);
}

static uint32_t
ipv6_fragment(uint32_t field, uint32_t seed)
{
	struct frame f;

	put_macs(&f);
	put_ipv6(&f, IPPROTO_FRAGMENT, 48);
	put8(&f, IPPROTO_UDP);
	put8(&f, 0);
	put16(&f, field);
	put32(&f, seed * 77); /* identification */
	put_payload(&f, 40, seed);
	return hash_of(&f);
}

static void
test_fragments_take_one_way(void **state)
{
	const uint32_t v4 = ipv4_fragment(0x2000, 1), v6 = ipv6_fragment(0x0001, 1);

	(void)state;
	assert_int_equal(ipv4_fragment(0x2005, 2), v4); /* from the middle */
	assert_int_equal(ipv4_fragment(0x00b9, 3), v4); /* the last */
	assert_int_equal(ipv4_fragment(0x1fff, 4), v4);
	assert_int_equal(ipv6_fragment(0x0029, 2), v6);
	assert_int_equal(ipv6_fragment(0x05c8, 3), v6);
	/* Whole packets go by their ports, whatever "don't fragment" says. */
	assert_int_not_equal(ipv4_fragment(0, 1), v4);
	assert_int_not_equal(ipv4_fragment(0, 1), ipv4_fragment(0, 2));
	assert_int_equal(ipv4_fragment(0, 1), ipv4_fragment(0x4000, 1));
}

static void
test_tos_and_ttl_are_told(void **state)
{
	struct frame f;

	(void)state;
	for (uint32_t tos = 0; tos < 256; tos++) {
		put_macs(&f);
		put_tag(&f, 0x8100, 1);
		put_ipv4(&f, IPPROTO_UDP, 8, 0, tos & 4 ? 0x2000 : 0);
		f.data[19] = (uint8_t)tos;
		f.data[26] = (uint8_t)(255 - tos);
		put_udp(&f, 1, 2, 0);
		assert_int_equal(vx_flow_of_bytes(f.data, f.len).tos, tos);
		assert_int_equal(vx_flow_of_bytes(f.data, f.len).ttl, 255 - tos);

		put_macs(&f);
		put_ipv6(&f, IPPROTO_UDP, 8);
		f.data[14] = (uint8_t)(0x60 | tos >> 4);
		f.data[15] = (uint8_t)(tos << 4 | 0xf);
		f.data[21] = (uint8_t)(255 - tos);
		put_udp(&f, 1, 2, 0);
		assert_int_equal(vx_flow_of_bytes(f.data, f.len).tos, tos);
		assert_int_equal(vx_flow_of_bytes(f.data, f.len).ttl, 255 - tos);
	}
	f.data[12] = f.data[13] = 0xff;
	assert_int_equal(vx_flow_of_bytes(f.data, f.len).tos, 0);
	assert_int_equal(vx_flow_of_bytes(f.data, f.len).ttl, 0);
}

static void
test_port_stays_in_range(void **state)
{
	(void)state;
	assert_int_equal(vx_flow_port(0, FIRST_PORT, PORTS), FIRST_PORT);
	assert_int_equal(vx_flow_port(UINT32_MAX, FIRST_PORT, PORTS), 65535);
	assert_int_equal(vx_flow_port(UINT32_MAX, 0, 65536), 65535);
	assert_int_equal(vx_flow_port(0, 0, 65536), 0);
	assert_int_equal(vx_flow_port(UINT32_MAX, 5000, 1), 5000);
	assert_int_equal(vx_flow_port(UINT32_MAX / 3, 1000, 3), 1000);
	assert_int_equal(vx_flow_port(UINT32_MAX / 3 + 1, 1000, 3), 1001);
}

/* Ports seen by a set of flows. */
struct spread {
	uint32_t seen[PORTS];
	uint32_t flows;
};

static void
add_flow(struct spread *s, const struct frame *f)
{
	const uint32_t port = vx_flow_port(hash_of(f), FIRST_PORT, PORTS);

	assert_true(port >= FIRST_PORT && port <= 65535);
	s->seen[port - FIRST_PORT]++;
	s->flows++;
}

static uint32_t
distinct(const struct spread *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PORTS; i++)
		n += s->seen[i] > 0;
	return n;
}

/* Pearson's statistic over @bins equal parts of the range, in hundredths. */
static uint64_t
chi_square(const struct spread *s, uint32_t bins)
{
	const uint32_t width = PORTS / bins;
	uint64_t squares = 0;

	for (uint32_t bin = 0; bin < bins; bin++) {
		uint64_t n = 0;

		for (uint32_t i = 0; i < width; i++)
			n += s->seen[bin * width + i];
		squares += n * n;
	}
	return squares * bins * 100 / s->flows - (uint64_t)s->flows * 100;
}

static void
test_mpls_labels_spread(void **state)
{
	(void)state;
	for (unsigned int place = 0; place < 2; place++) {
		struct spread s = {.flows = 0};

		for (uint32_t label = 16; label < 16 + 64; label++) {
			struct frame f;

			put_macs(&f);
			put16(&f, 0x8847);
			put32(&f, (place == 0 ? label : 1000) << 12 | 0x40);
			put32(&f, (place == 1 ? label : 1000) << 12 | 0x140);
			put_payload(&f, 46, 0);
			add_flow(&s, &f);
		}
		assert_true(distinct(&s) >= 50);
	}
}

static void
make_flow(struct frame *f, bool is_v6, uint32_t host, uint32_t source, uint32_t destination)
{
	put_macs(f);
	if (is_v6)
		put_ipv6(f, IPPROTO_UDP, 8);
	else
		put_ipv4(f, IPPROTO_UDP, 8, 0, 0);
	set16(f->data + f->len - 2, host); /* the last bytes of the destination */
	put_udp(f, source, destination, 0);
}

static void
test_udp_flows_spread(void **state)
{
	(void)state;
	for (unsigned int varied = 0; varied < 6; varied++) {
		struct spread s = {.flows = 0};

		for (uint32_t i = 0; i < 256; i++) {
			struct frame f;

			make_flow(&f, varied >= 3, varied % 3 == 0 ? i : 7,
				  varied % 3 == 1 ? 1024 + i : 40000, varied % 3 == 2 ? i : 53);
			add_flow(&s, &f);
		}
		assert_true(distinct(&s) >= 200);
	}
}

/* 103.4 is the 99.9 % quantile of chi-square with 63 degrees of freedom. */
static void
assert_even(const struct spread *s)
{
	const uint64_t chi = chi_square(s, 64);

	assert_int_equal(s->flows, 10000);
	if (chi > 10344)
		fail_msg("chi-square %u.%02u", (unsigned int)chi / 100, (unsigned int)chi % 100);
	/* Drawn by chance, 10,000 flows hit 7,485 of 16,384 ports. */
	assert_true(distinct(s) > 7000);
}

static void
test_ten_thousand_flows_are_even(void **state)
{
	(void)state;
	for (unsigned int is_v6 = 0; is_v6 < 2; is_v6++) {
		struct spread random = {.flows = 0}, counted = {.flows = 0};
		uint64_t seed = 42;
		struct frame f;

		for (uint32_t i = 0; i < 10000; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			make_flow(&f, is_v6 != 0, (uint32_t)(seed >> 16) & 0xffff,
				  (uint32_t)(seed >> 32) & 0xffff, (uint32_t)(seed >> 48));
			add_flow(&random, &f);
			make_flow(&f, is_v6 != 0, 1 + i / 100, 32768 + i % 100, 443);
			add_flow(&counted, &f);
		}
		assert_even(&random);
		assert_even(&counted);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_of_ipv4),
		cmocka_unit_test(test_bits_of_ipv6),
		cmocka_unit_test(test_bits_behind_tags),
		cmocka_unit_test(test_bits_of_mpls),
		cmocka_unit_test(test_bits_of_other_types),
		cmocka_unit_test(test_fragments_take_one_way),
		cmocka_unit_test(test_tos_and_ttl_are_told),
		cmocka_unit_test(test_port_stays_in_range),
		cmocka_unit_test(test_mpls_labels_spread),
		cmocka_unit_test(test_udp_flows_spread),
		cmocka_unit_test(test_ten_thousand_flows_are_even),
	};

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
