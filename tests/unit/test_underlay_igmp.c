/* SPDX-License-Identifier: BSD-3-Clause */
/* IGMP packets, byte by byte. The goldens were written by hand from RFC 1112, 2236 and 3376. */
#include "test_underlay_packet.h"
#include "vx_group_message.h"
#include "vx_igmp.h"

/* To 224.0.0.22 from 192.0.2.1: 239.1.1.1 joined, 239.129.2.3 left. */
static const uint8_t report[62] = {
	0x01, 0x00, 0x5e, 0x00, 0x00, 0x16, 2,	  0,	0,    0,    0,	  1,
	0x08, 0x00,								/* Ethernet */
	0x46, 0xc0, 0x00, 0x30, 0x00, 0x00, 0x40, 0x00, 0x01, 0x02, 0x41, 0xf0, /* IPv4 */
	192,  0,    2,	  1,	224,  0,    0,	  22,	0x94, 0x04, 0x00, 0x00, /* router alert */
	0x22, 0x00, 0xf5, 0x75, 0x00, 0x00, 0x00, 0x02,				/* 2 records */
	0x04, 0x00, 0x00, 0x00, 239,  1,    1,	  1,				/* TO_EX */
	0x03, 0x00, 0x00, 0x00, 239,  129,  2,	  3,				/* TO_IN */
};

static uint16_t
sum(const uint8_t *bytes, uint32_t len)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < len; i++)
		total += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (total > 0xffff)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)~total;
}

static void
test_report(void **state)
{
	const struct vx_group_record records[] = {
		{.group = ip("239.1.1.1"), .change = VX_GROUP_TO_EXCLUDE},
		{.group = ip("239.129.2.3"), .change = VX_GROUP_TO_INCLUDE},
	};
	const struct vx_ip source = ip("192.0.2.1");
	unsigned int done = 0;
	struct rte_mbuf *m;

	(void)state;
	m = vx_igmp_report_make(bench_pool(), &mac0, vx_ip_v4(&source), records, 2, &done);
	assert_non_null(m);
	assert_int_equal(done, 2);
	assert_int_equal(sum(report + 14, 24), 0);
	assert_int_equal(sum(report + 38, 24), 0);
	assert_chain(m, report, sizeof(report));
}

/* More records than a buffer holds: the rest is for the next packet. */
static void
test_report_of_many(void **state)
{
	static struct vx_group_record records[600];
	const struct vx_ip source = ip("192.0.2.1");
	unsigned int done, total = 0, packets = 0;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(records); i++) {
		records[i].group = vx_ip_from_v4(rte_cpu_to_be_32(0xef010000u + i));
		records[i].change = VX_GROUP_IS_EXCLUDE;
	}
	for (; total < RTE_DIM(records); total += done, packets++) {
		struct rte_mbuf *m =
			vx_igmp_report_make(bench_pool(), &mac0, vx_ip_v4(&source), &records[total],
					    (unsigned int)RTE_DIM(records) - total, &done);
		const uint8_t *bytes;

		assert_non_null(m);
		assert_true(done > 0);
		bytes = rte_pktmbuf_mtod(m, const uint8_t *);
		assert_int_equal(bytes[44] << 8 | bytes[45], done);
		assert_int_equal(bytes[16] << 8 | bytes[17], 32 + 8 * done);
		assert_int_equal(m->pkt_len, 46 + 8 * done);
		assert_int_equal(sum(bytes + 38, 8 + 8 * done), 0);
		assert_memory_equal(bytes + 46 + 4, &records[total].group.bytes[12], 4);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(total, RTE_DIM(records));
	assert_int_equal(packets, 3);
}

static void
test_old_messages(void **state)
{
	static const struct {
		uint8_t version, type, destination[4], mac[3];
		bool is_leave;
	} cases[] = {
		{1, 0x12, {239, 129, 2, 3}, {1, 2, 3}, false},
		{2, 0x16, {239, 129, 2, 3}, {1, 2, 3}, false},
		{2, 0x17, {224, 0, 0, 2}, {0, 0, 2}, true},
	};
	const struct vx_ip group = ip("239.129.2.3"), source = ip("192.0.2.1");

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_mbuf *m =
			vx_igmp_old_make(bench_pool(), &mac0, vx_ip_v4(&source), vx_ip_v4(&group),
					 cases[i].version, cases[i].is_leave);
		const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

		assert_int_equal(m->pkt_len, 60);
		assert_memory_equal(bytes + 3, cases[i].mac, 3);
		assert_memory_equal(bytes + 30, cases[i].destination, 4);
		assert_int_equal(bytes[17], 32);
		assert_int_equal(bytes[38], cases[i].type);
		assert_memory_equal(bytes + 42, ((const uint8_t[]){239, 129, 2, 3}), 4);
		assert_int_equal(sum(bytes + 38, 8), 0);
		assert_int_equal(sum(bytes + 14, 24), 0);
		rte_pktmbuf_free(m);
	}
}

/* A message in segments of 5 bytes, behind 38 bytes of headers. */
static enum vx_drop
parse(const uint8_t *message, uint32_t len, uint8_t ttl, struct vx_group_query *query)
{
	uint8_t frame[256] = {0};
	struct rte_mbuf *m;
	enum vx_drop reason;

	memcpy(frame + 38, message, len);
	m = make_chain(frame, 38 + len, 38 + 3, 5);
	reason = vx_igmp_parse(m, 38, ttl, query);
	rte_pktmbuf_free(m);
	return reason;
}

static void
seal(uint8_t *message, uint32_t len)
{
	uint16_t checksum;

	message[2] = message[3] = 0;
	checksum = sum(message, len);
	message[2] = (uint8_t)(checksum >> 8);
	message[3] = (uint8_t)checksum;
}

static void
test_queries(void **state)
{
	static const struct {
		uint8_t bytes[16];
		uint32_t len, max_response_ms;
		uint16_t interval_s;
		uint8_t version, robustness;
		const char *group;
	} cases[] = {
		{{0x11, 0}, 8, 10000, 0, 1, 0, NULL},
		{{0x11, 100}, 8, 10000, 0, 2, 0, NULL},
		{{0x11, 255, 0, 0, 239, 1, 1, 1}, 8, 25500, 0, 2, 0, "239.1.1.1"},
		{{0x11, 100, 0, 0, 0, 0, 0, 0, 2, 125}, 12, 10000, 125, 3, 2, NULL},
		{{0x11, 127, 0, 0, 0, 0, 0, 0, 0x0f, 0x80}, 12, 12700, 128, 3, 7, NULL},
		/* exponents: 0x8f = (15 + 16) << 3, 0xff = (15 + 16) << 10 */
		{{0x11, 0x8f, 0, 0, 0, 0, 0, 0, 8, 0xff}, 12, 24800, 31744, 3, 0, NULL},
		{{0x11, 0xff, 0, 0, 239, 1, 1, 1, 2, 0}, 12, 3174400, 0, 3, 2, "239.1.1.1"},
		{{0x11, 0, 0, 0, 239, 1, 1, 1, 2, 9, 0, 1, 10, 0, 0, 1},
		 16,
		 0,
		 9,
		 3,
		 2,
		 "239.1.1.1"},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct vx_group_query query;
		const struct vx_ip none = {.bytes = {0}};
		const struct vx_ip group = cases[i].group == NULL ? none : ip(cases[i].group);
		uint8_t bytes[16];

		memcpy(bytes, cases[i].bytes, sizeof(bytes));
		seal(bytes, cases[i].len);
		assert_int_equal(parse(bytes, cases[i].len, 1, &query), VX_DROP_NONE);
		assert_int_equal(query.version, cases[i].version);
		assert_int_equal(query.max_response_ms, cases[i].max_response_ms);
		assert_int_equal(query.interval_s, cases[i].interval_s);
		assert_int_equal(query.robustness, cases[i].robustness);
		assert_true(vx_ip_is_equal(&query.group, &group));
		assert_false(query.is_v6);
		/* routed; one bit wrong */
		assert_int_equal(parse(bytes, cases[i].len, 2, &query), VX_DROP_GROUP_BAD);
		bytes[7] ^= 1;
		assert_int_equal(parse(bytes, cases[i].len, 1, &query), VX_DROP_GROUP_BAD);
	}
}

static void
test_malformed(void **state)
{
	uint8_t bytes[16] = {0x11, 10, 0, 0, 239, 1, 1, 1, 2, 125, 0, 1, 10, 0, 0, 1};
	struct vx_group_query query;

	(void)state;
	/* Cut anywhere, with a right checksum: 8 bytes are a query of version 2, 16 the whole. */
	for (uint32_t len = 0; len <= 16; len++) {
		const bool is_right = len == 8 || len == 16;

		seal(bytes, len);
		assert_int_equal(parse(bytes, len, 1, &query),
				 is_right ? VX_DROP_NONE : VX_DROP_GROUP_BAD);
	}
	bytes[4] = 10; /* no group */
	seal(bytes, 16);
	assert_int_equal(parse(bytes, 16, 1, &query), VX_DROP_GROUP_BAD);
	/* What is no query asks nothing. */
	for (unsigned int type = 0; type < 256; type++) {
		if (type == 0x11)
			continue;
		bytes[0] = (uint8_t)type;
		seal(bytes, 16);
		assert_int_equal(parse(bytes, 16, 1, &query), VX_DROP_NONE);
		assert_int_equal(query.version, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),	     cmocka_unit_test(test_report_of_many),
		cmocka_unit_test(test_old_messages), cmocka_unit_test(test_queries),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, setup_pool, NULL);
}
