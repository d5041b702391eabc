/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefixes of both families: text, what they cover, and their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <rte_common.h>

#include "vx_ip.h"

static struct vx_ip
ip(const char *text)
{
	struct vx_ip parsed;

	if (vx_ip_parse(text, &parsed) != 0)
		fail_msg("'%s' is not an address", text);
	return parsed;
}

static struct vx_prefix
prefix(const char *text)
{
	struct vx_prefix parsed;

	if (vx_prefix_parse(text, &parsed) != 0)
		fail_msg("'%s' is not a prefix", text);
	return parsed;
}

/* Bit @i of the family's own address, 0 is the first. */
static void
flip_bit(struct vx_ip *address, unsigned int i)
{
	i += vx_ip_is_v4(address) ? 96 : 0;
	address->bytes[i / 8] ^= (uint8_t)(0x80 >> i % 8);
}

static void
test_prefix_parse(void **state)
{
	static const struct {
		const char *text, *address;
		uint8_t len;
	} good[] = {
		{"192.0.2.77/24", "192.0.2.77", 24},
		{"0.0.0.0/0", "0.0.0.0", 0},
		{"10.1.2.3/32", "10.1.2.3", 32},
		{"2001:db8::5/64", "2001:db8::5", 64},
		{"::/0", "::", 0},
		{"2001:db8::1/128", "2001:db8::1", 128},
		{"::ffff:10.0.0.0/8", "10.0.0.0", 8},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(good); i++) {
		const struct vx_prefix parsed = prefix(good[i].text);
		const struct vx_ip address = ip(good[i].address);

		assert_true(vx_ip_is_equal(&parsed.ip, &address));
		assert_int_equal(parsed.len, good[i].len);
	}
}

static void
test_prefix_parse_refuses(void **state)
{
	static const char *const texts[] = {
		"",
		"/",
		"/24",
		"192.0.2.0",
		"192.0.2.0/",
		"192.0.2.0/33",
		"192.0.2.0/-1",
		"192.0.2.0/+1",
		"192.0.2.0/ 1",
		"192.0.2.0/24 ",
		"192.0.2.0/24x",
		"192.0.2.0/24/1",
		"192.0.2.0/0x8",
		"192.0.2/24",
		"2001:db8::/129",
		"192.0.2.0/280",
		"192.0.2.0/4294967320",
		"192.0.2.0/18446744073709551640",
		"::ffff:10.0.0.0/104",
		"0000000000000000000000000000000000000000000000000000000000000000::1/64",
	};
	struct vx_prefix parsed;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(texts); i++) {
		if (vx_prefix_parse(texts[i], &parsed) != -EINVAL)
			fail_msg("'%s' was taken as a prefix", texts[i]);
	}
}

/* For every length: a bit in the prefix decides, a bit behind it does not, and mask clears those.
 */
static void
check_every_length(const char *text, uint8_t bits)
{
	for (unsigned int len = 0; len <= bits; len++) {
		const struct vx_prefix network = {.ip = ip(text), .len = (uint8_t)len};
		struct vx_prefix masked = network, other = network;

		vx_prefix_mask(&masked);
		assert_int_equal(masked.len, len);
		assert_true(vx_prefix_has(&network, &masked.ip));
		for (unsigned int i = 0; i < bits; i++) {
			struct vx_ip address = network.ip;

			flip_bit(&address, i);
			assert_int_equal(vx_prefix_has(&network, &address), i >= len);
			other.ip = address;
			vx_prefix_mask(&other);
			assert_int_equal(vx_ip_is_equal(&other.ip, &masked.ip), i >= len);
		}
		assert_int_equal(vx_ip_is_v4(&masked.ip), bits == 32);
	}
}

static void
test_prefix_every_length(void **state)
{
	struct vx_prefix masked = prefix("10.255.255.255/9");
	const struct vx_ip want = ip("10.128.0.0");

	(void)state;
	check_every_length("0.0.0.0", 32);
	check_every_length("172.21.85.170", 32);
	check_every_length("255.255.255.255", 32);
	check_every_length("2001:db8:5555:aaaa:ffff:0:1234:fedc", 128);
	vx_prefix_mask(&masked);
	assert_true(vx_ip_is_equal(&masked.ip, &want));
}

static void
test_prefix_has_one_family(void **state)
{
	const struct vx_prefix all_v4 = prefix("0.0.0.0/0"), all_v6 = prefix("::/0"),
			       mapped = prefix("::fffe:0:0/95");
	const struct vx_ip v4 = ip("192.0.2.1"), v6 = ip("2001:db8::1");

	(void)state;
	assert_true(vx_prefix_has(&all_v4, &v4));
	assert_false(vx_prefix_has(&all_v4, &v6));
	assert_true(vx_prefix_has(&all_v6, &v6));
	assert_false(vx_prefix_has(&all_v6, &v4));
	assert_false(vx_prefix_has(&mapped, &v4));
}

static void
test_prefix_edges(void **state)
{
	static const struct {
		const char *network, *address;
		bool is_edge;
	} cases[] = {
		{"192.0.2.9/24", "192.0.2.0", true},
		{"192.0.2.9/24", "192.0.2.255", true},
		{"192.0.2.9/24", "192.0.2.1", false},
		{"192.0.2.9/24", "192.0.2.254", false},
		{"192.0.2.9/24", "192.0.3.0", false},
		{"192.0.2.9/24", "192.0.3.255", false},
		{"192.0.2.9/24", "::c000:2ff", false},
		{"192.0.2.4/30", "192.0.2.4", true},
		{"192.0.2.4/30", "192.0.2.7", true},
		{"192.0.2.4/30", "192.0.2.5", false},
		{"192.0.2.4/30", "192.0.2.8", false},
		{"192.0.2.4/31", "192.0.2.4", false},
		{"192.0.2.4/31", "192.0.2.5", false},
		{"192.0.2.4/32", "192.0.2.4", false},
		{"10.0.0.0/8", "10.0.0.255", false},
		{"10.0.0.0/8", "10.255.255.255", true},
		{"0.0.0.0/0", "0.0.0.0", true},
		{"0.0.0.0/0", "255.255.255.255", true},
		{"0.0.0.0/0", "10.0.0.0", false},
		{"2001:db8::/64", "2001:db8::", false},
		{"2001:db8::/24", "2001:dff:ffff:ffff:ffff:ffff:ffff:ffff", false},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct vx_prefix network = prefix(cases[i].network);
		const struct vx_ip address = ip(cases[i].address);

		if (vx_prefix_is_edge(&network, &address) != cases[i].is_edge)
			fail_msg("is %s an edge of %s?", cases[i].address, cases[i].network);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefix_parse),
		cmocka_unit_test(test_prefix_parse_refuses),
		cmocka_unit_test(test_prefix_every_length),
		cmocka_unit_test(test_prefix_has_one_family),
		cmocka_unit_test(test_prefix_edges),
	};

	return cmocka_run_group_tests_name("prefix", tests, NULL, NULL);
}
