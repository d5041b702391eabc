/* SPDX-License-Identifier: BSD-3-Clause */
/* Tenants' ARP and ND packets: cut at every length, split at every byte, damaged in every byte. */
#include "test_path_bench.h"
#include "vx_resolve.h"

/* 10.0.0.1 at host A asks for 10.0.0.2. */
static const uint8_t arp_request[42] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,	0, 0, 0, 0, 1, 8, 6, /* Ethernet */
	0,    1,    8,	  0,	6,    4,    0,	1,		     /* request */
	2,    0,    0,	  0,	0,    1,    10, 0, 0, 1,	     /* sender */
	0,    0,    0,	  0,	0,    0,    10, 0, 0, 2,	     /* target */
};

/* The answer to a solicitation, made by the code under test and checked by hand in test_answer().
 */
static uint32_t
make_advert(uint8_t *to)
{
	struct vx_resolve asked = {.is_nd = true, .sender_mac = {{2, 0, 0, 0, 0, 1}}};
	const struct vx_resolve_owner owner = {.mac = {{2, 0, 0, 0, 0, 2}}, .is_router = true};

	assert_int_equal(vx_ip_parse("2001:db8::1", &asked.sender), 0);
	assert_int_equal(vx_ip_parse("2001:db8::2", &asked.target), 0);
	return vx_resolve_answer(to, &asked, &owner);
}

static bool
parse(struct bench *b, const uint8_t *bytes, uint32_t len, uint32_t cut, struct vx_resolve *resolve)
{
	struct rte_mbuf *m = bench_split(b, bytes, len, cut, 0);
	const bool is_valid = vx_resolve_parse(m, resolve);

	rte_pktmbuf_free(m);
	return is_valid;
}

static void
expect_arp(const struct vx_resolve *resolve)
{
	assert_false(resolve->is_nd);
	assert_int_equal(vx_ip_v4(&resolve->sender), RTE_BE32(0x0a000001));
	assert_int_equal(vx_ip_v4(&resolve->target), RTE_BE32(0x0a000002));
	assert_memory_equal(&resolve->sender_mac, arp_request + 6, 6);
}

static void
expect_advert(const struct vx_resolve *resolve)
{
	const struct rte_ether_addr mac = {{2, 0, 0, 0, 0, 2}};
	char text[VX_IP_TEXT_MAX];

	assert_true(resolve->is_nd && resolve->is_advert && resolve->is_router);
	assert_false(resolve->is_override);
	assert_true(vx_ip_is_none(&resolve->target));
	assert_string_equal(vx_ip_format(&resolve->sender, text, sizeof(text)), "2001:db8::2");
	assert_memory_equal(&resolve->sender_mac, &mac, 6);
}

/* Nothing but the whole packet is one, and how it lies in memory makes no difference. */
static void
test_cut_and_split(void **state)
{
	struct bench *b = *state;
	struct vx_resolve resolve;
	uint8_t advert[86];

	for (uint32_t len = 14; len < sizeof(arp_request); len++)
		assert_false(parse(b, arp_request, len, 0, &resolve));
	for (uint32_t cut = 0; cut < sizeof(arp_request); cut++) {
		assert_true(parse(b, arp_request, sizeof(arp_request), cut, &resolve));
		expect_arp(&resolve);
	}
	assert_int_equal(make_advert(advert), sizeof(advert));
	for (uint32_t len = 14; len < sizeof(advert); len++)
		assert_false(parse(b, advert, len, 0, &resolve));
	for (uint32_t cut = 0; cut < sizeof(advert); cut++) {
		assert_true(parse(b, advert, sizeof(advert), cut, &resolve));
		expect_advert(&resolve);
	}
}

/* Every other value of every byte that the checksum covers is refused. */
static void
test_damaged(void **state)
{
	struct bench *b = *state;
	struct vx_resolve resolve;
	uint8_t advert[86];

	make_advert(advert);
	for (uint32_t at = 22; at < sizeof(advert); at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			advert[at] ^= (uint8_t)(1u << bit);
			assert_false(parse(b, advert, sizeof(advert), 0, &resolve));
			advert[at] ^= (uint8_t)(1u << bit);
		}
	}
	for (unsigned int hops = 0; hops < 255; hops++) {
		advert[21] = (uint8_t)hops;
		assert_false(parse(b, advert, sizeof(advert), 0, &resolve));
	}
}

/* Whatever stands there: no byte outside of the packet is read (checked under sanitizers), and
 * what is taken for valid names hosts only. */
static void
test_random(void **state)
{
	struct bench *b = *state;
	struct vx_resolve resolve;
	uint8_t bytes[300];

	srand(5);
	for (unsigned int round = 0; round < 20000; round++) {
		const uint32_t len = 14 + (uint32_t)rand() % (sizeof(bytes) - 14);

		for (uint32_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)rand();
		memcpy(bytes, arp_request, RTE_MIN(len, 20u));
		if (round % 2 != 0 && len > 60) {
			put16(bytes + 12, 0x86dd);
			bytes[14] = 0x60;
			put16(bytes + 18, (unsigned int)rand() % 200);
			bytes[20] = 58;
			bytes[21] = 255;
			bytes[54] = (uint8_t)(135 + rand() % 2);
			bytes[55] = 0;
		}
		if (!parse(b, bytes, len, (uint32_t)rand() % len, &resolve))
			continue;
		assert_true(vx_ip_is_none(&resolve.sender) || vx_ip_is_host(&resolve.sender));
		assert_true(vx_ip_is_none(&resolve.target) || vx_ip_is_host(&resolve.target));
	}
}

/* Probes and announcements ask nobody in particular. */
static void
test_arp_kinds(void **state)
{
	struct bench *b = *state;
	struct vx_resolve resolve;
	uint8_t arp[42];

	memcpy(arp, arp_request, sizeof(arp));
	memset(arp + 28, 0, 4);
	assert_true(parse(b, arp, sizeof(arp), 0, &resolve));
	assert_true(vx_ip_is_none(&resolve.sender) && vx_ip_is_none(&resolve.target));
	memcpy(arp + 28, arp + 38, 4);
	assert_true(parse(b, arp, sizeof(arp), 0, &resolve));
	assert_false(vx_ip_is_none(&resolve.sender));
	assert_true(vx_ip_is_none(&resolve.target));
	memcpy(arp, arp_request, sizeof(arp));
	arp[21] = 2;
	assert_true(parse(b, arp, sizeof(arp), 0, &resolve));
	assert_false(vx_ip_is_none(&resolve.sender));
	assert_true(vx_ip_is_none(&resolve.target));
	arp[21] = 3;
	assert_false(parse(b, arp, sizeof(arp), 0, &resolve));
	arp[21] = 1;
	arp[22] = 1; /* a group as sender */
	assert_false(parse(b, arp, sizeof(arp), 0, &resolve));
}

static void
test_answer(void **state)
{
	uint8_t frame[VX_RESOLVE_ANSWER_MAX], pseudo[40 + 32];
	struct bench *b = *state;
	struct vx_resolve asked;
	const struct vx_resolve_owner owner = {.mac = {{2, 0, 0, 0, 0, 9}}};

	assert_true(parse(b, arp_request, sizeof(arp_request), 0, &asked));
	assert_int_equal(vx_resolve_answer(frame, &asked, &owner), 42);
	assert_memory_equal(frame, arp_request + 6, 6);
	assert_memory_equal(frame + 6, &owner.mac, 6);
	assert_int_equal(get16(frame + 20), 2);
	assert_memory_equal(frame + 22, &owner.mac, 6);
	assert_memory_equal(frame + 28, arp_request + 38, 4);
	assert_memory_equal(frame + 32, arp_request + 22, 10);

	assert_int_equal(make_advert(frame), 86);
	assert_int_equal(get16(frame + 18), 32);
	assert_int_equal(frame[21], 255);
	assert_int_equal(frame[54], 136);
	assert_int_equal(frame[58], 0xc0); /* router, solicited */
	assert_memory_equal(frame + 62, frame + 22, 16);
	/* The sum over the pseudo header: addresses, length, next header. */
	memcpy(pseudo, frame + 22, 32);
	memset(pseudo + 32, 0, 8);
	pseudo[35] = 32;
	pseudo[39] = 58;
	memcpy(pseudo + 40, frame + 54, 32);
	assert_int_equal(plain_checksum(pseudo, sizeof(pseudo)), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_cut_and_split), TEST(test_damaged), TEST(test_random),
		TEST(test_arp_kinds),	  TEST(test_answer),
	};

	return cmocka_run_group_tests_name("packet_resolve", tests, NULL, NULL);
}
