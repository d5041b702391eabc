/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of both families: text and kinds. */
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

/* Bit @i of the family's own address, 0 is the first. */
static void
flip_bit(struct vx_ip *address, unsigned int i)
{
	i += vx_ip_is_v4(address) ? 96 : 0;
	address->bytes[i / 8] ^= (uint8_t)(0x80 >> i % 8);
}

static void
test_v4_is_held_mapped(void **state)
{
	static const uint8_t want[16] = {[10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 1};
	const struct vx_ip from_word = vx_ip_from_v4(RTE_BE32(0xc0000201));
	const struct vx_ip from_text = ip("192.0.2.1"), mapped = ip("::ffff:192.0.2.1"),
			   mapped_hex = ip("::ffff:c000:201");

	(void)state;
	assert_memory_equal(from_word.bytes, want, sizeof(want));
	assert_memory_equal(from_text.bytes, want, sizeof(want));
	assert_true(vx_ip_is_equal(&mapped, &from_word));
	assert_true(vx_ip_is_equal(&mapped_hex, &from_word));
	assert_true(vx_ip_is_v4(&mapped));
	assert_int_equal(rte_be_to_cpu_32(vx_ip_v4(&mapped)), 0xc0000201);
}

static void
test_v6_is_not_v4(void **state)
{
	static const char *const texts[] = {"::",
					    "::1",
					    "::192.0.2.1",
					    "::fffe:192.0.2.1",
					    "::1:ffff:192.0.2.1",
					    "1::ffff:192.0.2.1",
					    "64:ff9b::192.0.2.1",
					    "2001:db8::1"};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(texts); i++) {
		const struct vx_ip address = ip(texts[i]);

		assert_false(vx_ip_is_v4(&address));
	}
}

static void
test_equal_compares_every_bit(void **state)
{
	const struct vx_ip address = ip("2001:db8::1");
	const struct vx_ip none = {0};

	(void)state;
	assert_true(vx_ip_is_equal(&address, &address));
	assert_true(vx_ip_is_none(&none));
	for (unsigned int i = 0; i < 128; i++) {
		struct vx_ip other = address, one_bit = none;

		flip_bit(&other, i);
		assert_false(vx_ip_is_equal(&address, &other));
		flip_bit(&one_bit, i);
		assert_false(vx_ip_is_none(&one_bit));
	}
}

static void
test_parse_refuses(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"1.2.3",
		"1.2.3.4.5",
		"256.1.1.1",
		" 1.2.3.4",
		"1.2.3.4 ",
		"01.2.3.4",
		"1.2.3.-4",
		"0x1.2.3.4",
		"1.2.3.4/24",
		"1234",
		"::g",
		":",
		":::",
		"1::2::3",
		"fe80::1%eth0",
		"2001:db8::12345",
		"1:2:3:4:5:6",
		"host",
		"2001:db8:",
		"::1.2.3.256",
		"1:2:3:4:5:6:7:8:9",
	};
	struct vx_ip address;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(texts); i++) {
		if (vx_ip_parse(texts[i], &address) != -EINVAL)
			fail_msg("'%s' was taken as an address", texts[i]);
	}
}

static void
test_format(void **state)
{
	static const char *const texts[][2] = {
		{"192.0.2.1", "192.0.2.1"},
		{"0.0.0.0", "0.0.0.0"},
		{"255.255.255.255", "255.255.255.255"},
		{"::ffff:198.51.100.7", "198.51.100.7"},
		{"::", "::"},
		{"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
		{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	};
	char text[VX_IP_TEXT_MAX];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(texts); i++) {
		const struct vx_ip address = ip(texts[i][0]);
		struct vx_ip again;

		assert_ptr_equal(vx_ip_format(&address, text, sizeof(text)), text);
		assert_string_equal(text, texts[i][1]);
		again = ip(text);
		assert_true(vx_ip_is_equal(&again, &address));
	}
}

/* A text that does not fit is left out, not cut: a cut address is another address. */
static void
test_format_without_room(void **state)
{
	const struct vx_ip v4 = ip("192.0.2.100"), v6 = ip("2001:db8::1");

	(void)state;
	for (size_t size = 0; size <= 12; size++) {
		char text[16];

		memset(text, '#', sizeof(text));
		assert_ptr_equal(vx_ip_format(&v4, text, size), text);
		for (size_t i = size; i < sizeof(text); i++)
			assert_int_equal(text[i], '#');
		if (size > 0)
			assert_string_equal(text, size < 12 ? "" : "192.0.2.100");
		vx_ip_format(&v6, text, size);
		if (size > 0)
			assert_string_equal(text, size < 12 ? "" : "2001:db8::1");
	}
}

static void
test_kinds(void **state)
{
	static const struct {
		const char *text;
		bool is_host, is_multicast;
	} kinds[] = {
		{"0.0.0.0", false, false},
		{"0.255.255.255", false, false},
		{"1.0.0.0", true, false},
		{"126.255.255.255", true, false},
		{"127.0.0.1", false, false},
		{"127.255.255.255", false, false},
		{"128.0.0.0", true, false},
		{"223.255.255.255", true, false},
		{"224.0.0.0", false, true},
		{"239.255.255.255", false, true},
		{"240.0.0.0", false, false},
		{"255.255.255.255", false, false},
		{"::", false, false},
		{"::1", false, false},
		{"2001:db8::1", true, false},
		{"fe80::1", true, false},
		{"::1:0:0:1", true, false},
		{"feff::", true, false},
		{"ff00::", false, true},
		{"ff02::1", false, true},
		{"ffff:ffff::ffff", false, true},
		{"fd00::1", true, false},
		{"::ffff:224.0.0.1", false, true},
		{"::ffff:10.0.0.1", true, false},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++) {
		const struct vx_ip address = ip(kinds[i].text);

		if (vx_ip_is_host(&address) != kinds[i].is_host)
			fail_msg("is %s a host's?", kinds[i].text);
		if (vx_ip_is_multicast(&address) != kinds[i].is_multicast)
			fail_msg("is %s multicast?", kinds[i].text);
		if (vx_ip_is_v4(&address))
			assert_int_equal(vx_ip4_is_host(vx_ip_v4(&address)), kinds[i].is_host);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v4_is_held_mapped),
		cmocka_unit_test(test_v6_is_not_v4),
		cmocka_unit_test(test_equal_compares_every_bit),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_format_without_room),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests_name("ip", tests, NULL, NULL);
}
