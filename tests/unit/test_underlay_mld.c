/* SPDX-License-Identifier: BSD-3-Clause */
/* MLD packets, byte by byte, from RFC 2710 and RFC 3810. */
#include "test_underlay_packet.h"
#include "vx_group_message.h"
#include "vx_ip6.h"
#include "vx_mld.h"

static uint16_t
sum(uint32_t total, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		total += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (total > 0xffff)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)~total;
}

/* Of the message of @len bytes at 62, with its pseudo-header; 0: it is right. */
static uint16_t
icmp6_sum(const uint8_t *frame, uint32_t len)
{
	uint32_t total = len + 58;

	for (unsigned int i = 0; i < 32; i += 2)
		total += (uint32_t)frame[22 + i] << 8 | frame[23 + i];
	return sum(total, frame + 62, len);
}

static void
test_source(void **state)
{
	const struct vx_ip want = ip("fe80::ff:fe00:1"), got = vx_ip6_link_local(&mac0);

	(void)state;
	assert_true(vx_ip_is_equal(&want, &got));
}

/* Everything in front of the message. */
static void
expect_headers(const struct rte_mbuf *m, const char *destination, uint32_t len)
{
	const struct vx_ip source = ip("fe80::ff:fe00:1"), to = ip(destination);
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

	assert_int_equal(m->pkt_len, 62 + len);
	assert_memory_equal(bytes, ((const uint8_t[]){0x33, 0x33}), 2);
	assert_memory_equal(bytes + 2, to.bytes + 12, 4);
	assert_memory_equal(bytes + 6, &mac0, 6);
	assert_memory_equal(bytes + 12, ((const uint8_t[]){0x86, 0xdd, 0x60, 0, 0, 0}), 6);
	assert_int_equal(bytes[18] << 8 | bytes[19], 8 + len);
	assert_int_equal(bytes[20], 0); /* hop-by-hop */
	assert_int_equal(bytes[21], 1);
	assert_memory_equal(bytes + 22, source.bytes, 16);
	assert_memory_equal(bytes + 38, to.bytes, 16);
	assert_memory_equal(bytes + 54, ((const uint8_t[]){58, 0, 5, 2, 0, 0, 1, 0}), 8);
	assert_int_equal(icmp6_sum(bytes, len), 0);
}

static void
test_report(void **state)
{
	const struct vx_group_record records[] = {
		{.group = ip("ff05::239:1"), .change = VX_GROUP_TO_EXCLUDE},
		{.group = ip("ff02::1:ff00:1"), .change = VX_GROUP_TO_INCLUDE},
	};
	uint8_t want[48] = {143, 0, 0, 0, 0, 0, 0, 2, 4, [28] = 3};
	const struct vx_ip source = vx_ip6_link_local(&mac0);
	unsigned int done = 0;
	const uint8_t *bytes;
	struct rte_mbuf *m;

	(void)state;
	memcpy(want + 12, records[0].group.bytes, 16);
	memcpy(want + 32, records[1].group.bytes, 16);
	m = vx_mld_report_make(bench_pool(), &mac0, &source, records, 2, &done);
	assert_non_null(m);
	assert_int_equal(done, 2);
	expect_headers(m, "ff02::16", 48);
	bytes = rte_pktmbuf_mtod(m, const uint8_t *) + 62;
	assert_memory_equal(bytes, want, 2);
	assert_memory_equal(bytes + 4, want + 4, 44);
	rte_pktmbuf_free(m);
}

static void
test_report_of_many(void **state)
{
	static struct vx_group_record records[300];
	const struct vx_ip source = vx_ip6_link_local(&mac0);
	unsigned int done, total = 0;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(records); i++) {
		records[i].group = ip("ff05::");
		records[i].group.bytes[15] = (uint8_t)i;
		records[i].change = VX_GROUP_IS_EXCLUDE;
	}
	for (; total < RTE_DIM(records); total += done) {
		struct rte_mbuf *m =
			vx_mld_report_make(bench_pool(), &mac0, &source, &records[total],
					   (unsigned int)RTE_DIM(records) - total, &done);

		assert_non_null(m);
		assert_in_range(done, 1, 102);
		expect_headers(m, "ff02::16", 8 + 20 * done);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(total, RTE_DIM(records));
}

static void
test_old_messages(void **state)
{
	const struct vx_ip group = ip("ff05::239:1"), source = vx_ip6_link_local(&mac0);

	(void)state;
	for (unsigned int is_leave = 0; is_leave < 2; is_leave++) {
		struct rte_mbuf *m =
			vx_mld_old_make(bench_pool(), &mac0, &source, &group, is_leave == 1);
		const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *) + 62;

		expect_headers(m, is_leave ? "ff02::2" : "ff05::239:1", 24);
		assert_int_equal(bytes[0], is_leave ? 132 : 131);
		assert_memory_equal(bytes + 8, group.bytes, 16);
		rte_pktmbuf_free(m);
	}
}

/* A query from fe80::2 with its checksum; @frame has room. Its length. */
static uint32_t
make_query(uint8_t *frame, const uint8_t *message, uint32_t len)
{
	const struct vx_ip source = ip("fe80::2"), to = ip("ff02::1");
	uint16_t checksum;

	memset(frame, 0, 62);
	memcpy(frame + 12, (const uint8_t[]){0x86, 0xdd, 0x60}, 3);
	frame[19] = (uint8_t)(8 + len);
	frame[21] = 1;
	memcpy(frame + 22, source.bytes, 16);
	memcpy(frame + 38, to.bytes, 16);
	memcpy(frame + 54, (const uint8_t[]){58, 0, 5, 2, 0, 0, 1, 0}, 8);
	memcpy(frame + 62, message, len);
	frame[64] = frame[65] = 0;
	checksum = icmp6_sum(frame, len);
	frame[64] = (uint8_t)(checksum >> 8);
	frame[65] = (uint8_t)checksum;
	return 62 + len;
}

static enum vx_drop
parse(const uint8_t *frame, uint32_t len, struct vx_group_query *query)
{
	struct rte_mbuf *m = make_chain(frame, len, 62 + 3, 7);
	const enum vx_drop reason = vx_mld_parse(m, 14, 62, query);

	rte_pktmbuf_free(m);
	return reason;
}

static void
test_queries(void **state)
{
	static const struct {
		uint8_t response[2], flags, interval;
		uint32_t len, max_response_ms;
		uint16_t interval_s;
		uint8_t version, robustness;
		const char *group;
	} cases[] = {
		{{0x27, 0x10}, 0, 0, 24, 10000, 0, 1, 0, NULL},
		{{0, 100}, 0, 0, 24, 100, 0, 1, 0, "ff05::239:1"},
		{{0x27, 0x10}, 2, 125, 28, 10000, 125, 2, 2, NULL},
		{{0x7f, 0xff}, 0x0f, 0x80, 28, 32767, 128, 2, 7, "ff05::239:1"},
		/* 0x8fff = 0x1fff << 3, 0xffff = 0x1fff << 10 */
		{{0x8f, 0xff}, 8, 0, 28, 65528, 0, 2, 0, NULL},
		{{0xff, 0xff}, 2, 0, 28, 8387584, 0, 2, 2, NULL},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		uint8_t message[28] = {130}, frame[128];
		struct vx_ip group = {.bytes = {0}};
		struct vx_group_query query;
		uint32_t len;

		if (cases[i].group != NULL)
			group = ip(cases[i].group);
		memcpy(message + 4, cases[i].response, 2);
		memcpy(message + 8, group.bytes, 16);
		message[24] = cases[i].flags;
		message[25] = cases[i].interval;
		len = make_query(frame, message, cases[i].len);
		assert_int_equal(parse(frame, len, &query), VX_DROP_NONE);
		assert_true(query.is_v6);
		assert_int_equal(query.version, cases[i].version);
		assert_int_equal(query.max_response_ms, cases[i].max_response_ms);
		assert_int_equal(query.interval_s, cases[i].interval_s);
		assert_int_equal(query.robustness, cases[i].robustness);
		assert_true(vx_ip_is_equal(&query.group, &group));
		frame[65] ^= 1;
		assert_int_equal(parse(frame, len, &query), VX_DROP_GROUP_BAD);
	}
}

/* RFC 3810 section 5.1.14, lengths, and what is no group. */
static void
test_malformed(void **state)
{
	uint8_t message[60] = {130, 0, 0, 0, 0, 10, 0, 0, 0xff, 5, [24] = 2, 125, 0, 2};
	struct vx_group_query query;
	uint8_t frame[128];
	uint32_t len;

	(void)state;
	for (uint32_t n = 0; n <= 60; n++) {
		const bool is_right = n == 24 || n == 60;

		len = make_query(frame, message, n);
		assert_int_equal(parse(frame, len, &query),
				 is_right ? VX_DROP_NONE : VX_DROP_GROUP_BAD);
	}
	frame[21] = 2; /* hop limit */
	assert_int_equal(parse(frame, len, &query), VX_DROP_GROUP_BAD);
	len = make_query(frame, message, 60);
	frame[56] = 1; /* padding in place of router alert */
	assert_int_equal(parse(frame, len, &query), VX_DROP_GROUP_BAD);
	len = make_query(frame, message, 60);
	frame[57] = 250; /* an option beyond its header */
	assert_int_equal(parse(frame, len, &query), VX_DROP_NONE);
	frame[56] = 7;
	assert_int_equal(parse(frame, len, &query), VX_DROP_GROUP_BAD);
	len = make_query(frame, message, 60);
	frame[20] = 60; /* destination options */
	assert_int_equal(parse(frame, len, &query), VX_DROP_GROUP_BAD);
	len = make_query(frame, message, 60);
	frame[22] = 0x20; /* a global source, and the sum is right again */
	frame[64] = (uint8_t)(frame[64] + 0xde);
	assert_int_equal(parse(frame, len, &query), VX_DROP_GROUP_BAD);
	message[8] = 0x20;
	len = make_query(frame, message, 60);
	assert_int_equal(parse(frame, len, &query), VX_DROP_GROUP_BAD);
	message[0] = 143;
	len = make_query(frame, message, 60);
	assert_int_equal(parse(frame, len, &query), VX_DROP_NONE);
	assert_int_equal(query.version, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source),	       cmocka_unit_test(test_report),
		cmocka_unit_test(test_report_of_many), cmocka_unit_test(test_old_messages),
		cmocka_unit_test(test_queries),	       cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, setup_pool, NULL);
}
