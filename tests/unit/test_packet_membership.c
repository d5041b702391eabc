/* SPDX-License-Identifier: BSD-3-Clause */
/* Tenants' IGMP and MLD: cut at every length, split at every byte, damaged in every byte. */
#include "test_path_bench.h"
#include "vx_membership.h"

#define FRAME_MAX 200

static void
put_ip(uint8_t *to, const char *text)
{
	struct vx_ip ip;

	assert_int_equal(vx_ip_parse(text, &ip), 0);
	if (vx_ip_is_v4(&ip))
		memcpy(to, &ip.bytes[12], 4);
	else
		memcpy(to, ip.bytes, 16);
}

/* An IGMP message with router alert from 10.0.0.1; its checksum is filled in. The length. */
static uint32_t
make_igmp(uint8_t *to, const char *group, const uint8_t *message, uint32_t len)
{
	memset(to, 0, FRAME_MAX);
	memcpy(to + 6, host_a, 6);
	memcpy(to + 12, (const uint8_t[]){8, 0, 0x46}, 3);
	put16(to + 16, 24 + len);
	to[22] = 1;
	to[23] = 2;
	put_ip(to + 26, "10.0.0.1");
	put_ip(to + 30, group);
	memcpy(to, (const uint8_t[]){1, 0, 0x5e, to[31] & 0x7f, to[32], to[33]}, 6);
	to[34] = 0x94;
	to[35] = 4;
	put16(to + 24, plain_checksum(to + 14, 24));
	memcpy(to + 38, message, len);
	put16(to + 40, 0);
	put16(to + 40, plain_checksum(to + 38, len));
	return 38 + len;
}

/* An MLD message from fe80::1, likewise. */
static uint32_t
make_mld(uint8_t *to, const char *group, const uint8_t *message, uint32_t len)
{
	uint8_t pseudo[40 + FRAME_MAX] = {0};

	memset(to, 0, FRAME_MAX);
	memcpy(to + 6, host_a, 6);
	memcpy(to + 12, (const uint8_t[]){0x86, 0xdd, 0x60}, 3);
	put16(to + 18, 8 + len);
	to[21] = 1;
	put_ip(to + 22, "fe80::1");
	put_ip(to + 38, group);
	memcpy(to, (const uint8_t[]){0x33, 0x33, to[50], to[51], to[52], to[53]}, 6);
	memcpy(to + 54, (const uint8_t[]){58, 0, 5, 2, 0, 0, 1, 0}, 8);
	memcpy(to + 62, message, len);
	put16(to + 64, 0);
	memcpy(pseudo, to + 22, 32);
	put16(pseudo + 34, len);
	pseudo[39] = 58;
	memcpy(pseudo + 40, to + 62, len);
	put16(to + 64, plain_checksum(pseudo, 40 + len));
	return 62 + len;
}

static enum vx_cast
cast_of(struct bench *b, const uint8_t *bytes, uint32_t len, uint32_t cut)
{
	struct rte_mbuf *m = bench_split(b, bytes, len, cut, 0);
	struct vx_membership what;

	vx_membership_parse(m, &what);
	rte_pktmbuf_free(m);
	return what.cast;
}

/* "+GROUP" for each member, "-GROUP" for each that leaves. */
static void
expect_report(struct bench *b, const uint8_t *bytes, uint32_t len, uint32_t cut,
	      const char *expected)
{
	struct rte_mbuf *m = bench_split(b, bytes, len, cut, 0);
	char found[256] = "", ip[VX_IP_TEXT_MAX];
	struct vx_membership what;
	struct vx_ip group;
	bool is_leave;

	vx_membership_parse(m, &what);
	assert_int_equal(what.cast, VX_CAST_REPORT);
	while (vx_membership_next(m, &what, &group, &is_leave)) {
		strcat(found, is_leave ? "-" : "+");
		strcat(found, vx_ip_format(&group, ip, sizeof(ip)));
	}
	rte_pktmbuf_free(m);
	assert_string_equal(found, expected);
}

/* What makes a difference: nothing but the whole message is one, wherever it is split. */
static void
sweep(struct bench *b, const uint8_t *frame, uint32_t len, uint32_t message, enum vx_cast cast,
      const char *expected)
{
	uint8_t bytes[FRAME_MAX];

	for (uint32_t cut = 0; cut < len; cut++) {
		if (cast == VX_CAST_REPORT)
			expect_report(b, frame, len, cut, expected);
		assert_int_equal(cast_of(b, frame, len, cut), cast);
	}
	for (uint32_t short_len = 1; short_len < len; short_len++)
		assert_int_equal(cast_of(b, frame, short_len, short_len / 2), VX_CAST_ALL);
	/* A damaged byte is noticed by the checksum; not MLD's type, which makes it another
	 * protocol's. */
	for (uint32_t i = message; i < len; i++) {
		memcpy(bytes, frame, len);
		bytes[i] ^= 0x20;
		assert_int_equal(cast_of(b, bytes, len, 0), VX_CAST_ALL);
	}
}

static const uint8_t igmp_v3[] = {
	0x22, 0, 0, 0, 0,   0,	 0, 7,				   /* seven records */
	4,    0, 0, 0, 239, 1,	 1, 1,				   /* to EXCLUDE: joins */
	3,    0, 0, 0, 239, 1,	 1, 2,				   /* to INCLUDE: leaves */
	6,    0, 0, 1, 239, 1,	 1, 3,	 10, 0, 0, 9,		   /* blocks a source */
	5,    1, 0, 1, 239, 1,	 1, 4,	 10, 0, 0, 9, 1,  2, 3, 4, /* allows one; auxiliary data */
	1,    0, 0, 2, 239, 1,	 1, 5,	 10, 0, 0, 8, 10, 0, 0, 9, /* is INCLUDE of two */
	2,    0, 0, 0, 224, 0,	 0, 251,			   /* not tracked */
	2,    0, 0, 0, 239, 255, 0, 1,				   /* is EXCLUDE */
};

static void
test_igmp(void **state)
{
	const uint8_t v1[] = {0x12, 0, 0, 0, 239, 1, 1, 1}, v2[] = {0x16, 0, 0, 0, 239, 1, 1, 1};
	const uint8_t leave[] = {0x17, 0, 0, 0, 239, 1, 1, 1}, query[12] = {0x11, 100, 0, 0};
	const uint8_t other[] = {0x99, 0, 0, 0, 239, 1, 1, 1};
	struct bench *b = *state;
	uint8_t frame[FRAME_MAX];
	uint32_t len;

	len = make_igmp(frame, "239.1.1.1", v1, sizeof(v1));
	sweep(b, frame, len, 38, VX_CAST_REPORT, "+239.1.1.1");
	len = make_igmp(frame, "239.1.1.1", v2, sizeof(v2));
	sweep(b, frame, len, 38, VX_CAST_REPORT, "+239.1.1.1");
	len = make_igmp(frame, "224.0.0.2", leave, sizeof(leave));
	sweep(b, frame, len, 38, VX_CAST_REPORT, "-239.1.1.1");
	len = make_igmp(frame, "224.0.0.22", igmp_v3, sizeof(igmp_v3));
	sweep(b, frame, len, 38, VX_CAST_REPORT,
	      "+239.1.1.1-239.1.1.2+239.1.1.4+239.1.1.5+239.255.0.1");
	len = make_igmp(frame, "224.0.0.1", query, 8);
	sweep(b, frame, len, 38, VX_CAST_QUERY, "");
	len = make_igmp(frame, "224.0.0.1", query, 12);
	sweep(b, frame, len, 38, VX_CAST_QUERY, "");
	/* Between the versions; sources that are not there; what nobody knows. */
	len = make_igmp(frame, "224.0.0.1", query, 10);
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
	len = make_igmp(frame, "224.0.0.1", (const uint8_t[12]){0x11, [11] = 1}, 12);
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
	len = make_igmp(frame, "239.1.1.1", other, sizeof(other));
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
	/* More records than bytes. */
	len = make_igmp(frame, "224.0.0.22", (const uint8_t[16]){0x22, [6] = 255, 255, 4}, 16);
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
}

static const uint8_t mld_v2[] = {
	143,  0, 0, 0, 0, 0, 0, 3,			      /* three records */
	4,    0, 0, 0,					      /* to EXCLUDE */
	0xff, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 1, /* ff05::1 */
	2,    0, 0, 0,					      /* is EXCLUDE: not tracked */
	0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 1, /* ff02::1:ff00:1 */
	3,    0, 0, 0,					      /* to INCLUDE */
	0xff, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 2, /* ff05::2 */
};

static void
test_mld(void **state)
{
	uint8_t v1[24] = {131, [8] = 0xff, 5, [23] = 1};
	struct bench *b = *state;
	uint8_t frame[FRAME_MAX];
	uint32_t len;

	len = make_mld(frame, "ff05::1", v1, sizeof(v1));
	sweep(b, frame, len, 63, VX_CAST_REPORT, "+ff05::1");
	v1[0] = 132;
	len = make_mld(frame, "ff02::2", v1, sizeof(v1));
	sweep(b, frame, len, 63, VX_CAST_REPORT, "-ff05::1");
	len = make_mld(frame, "ff02::16", mld_v2, sizeof(mld_v2));
	sweep(b, frame, len, 63, VX_CAST_REPORT, "+ff05::1-ff05::2");
	/* Before an address is certain a host reports from :: (RFC 3590). */
	memset(frame + 22, 0, 16);
	put16(frame + 64, get16(frame + 64) + 0xfe80 + 1 > 0xffff
				  ? get16(frame + 64) + 0xfe80 + 1 - 0xffff
				  : get16(frame + 64) + 0xfe80 + 1);
	expect_report(b, frame, len, 0, "+ff05::1-ff05::2");
	len = make_mld(frame, "ff02::1", (const uint8_t[28]){130, [4] = 1}, 28);
	sweep(b, frame, len, 63, VX_CAST_QUERY, "");
	len = make_mld(frame, "ff02::1", (const uint8_t[28]){130, [4] = 1}, 24);
	sweep(b, frame, len, 63, VX_CAST_QUERY, "");
	/* Forwarded, without router alert, from further away, to another MAC. */
	for (unsigned int i = 0; i < 4; i++) {
		len = make_mld(frame, "ff02::1", (const uint8_t[28]){130, [4] = 1}, 28);
		frame[(const uint8_t[]){21, 56, 22, 5}[i]] ^= 4;
		assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
	}
}

/* Not a message: who gets it depends on the address alone. */
static void
test_data(void **state)
{
	struct bench *b = *state;
	uint8_t frame[FRAME_MAX];
	struct vx_membership what;
	struct rte_mbuf *m;
	uint32_t len;

	len = make_igmp(frame, "239.129.1.7", (const uint8_t[8]){0}, 8);
	frame[23] = 17;
	sweep(b, frame, len, len, VX_CAST_DATA, "");
	m = bench_mbuf(b, frame, len);
	vx_membership_parse(m, &what);
	assert_int_equal(vx_ip_v4(&what.group), RTE_BE32(0xef810107));
	rte_pktmbuf_free(m);
	len = make_igmp(frame, "224.0.0.251", (const uint8_t[8]){0}, 8);
	frame[23] = 17;
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
	/* A piece of IGMP is no message, but IGMP concerns all. */
	len = make_igmp(frame, "239.1.1.1", (const uint8_t[]){0x16, 0, 0, 0, 239, 1, 1, 1}, 8);
	frame[20] = 0x20;
	put16(frame + 24, 0);
	put16(frame + 24, plain_checksum(frame + 14, 24));
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
	len = make_mld(frame, "ff05::1", (const uint8_t[8]){128}, 8);
	sweep(b, frame, len, len, VX_CAST_DATA, "");
	len = make_mld(frame, "ff02::1", (const uint8_t[8]){128}, 8);
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
	memcpy(frame + 12, (const uint8_t[]){0x88, 0xb5}, 2);
	assert_int_equal(cast_of(b, frame, len, 0), VX_CAST_ALL);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)
	const struct CMUnitTest tests[] = {TEST(test_igmp), TEST(test_mld), TEST(test_data)};

	return cmocka_run_group_tests_name("packet_membership", tests, NULL, NULL);
}
