/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers do with ARP packets, however they are cut. */
#include "test_underlay_packet.h"

#define ARP_LEN	  42
#define FRAME_LEN 60

/* Who has 192.0.2.1? Tell 192.0.2.2 at 02:00:00:00:00:02; padded with 0xee. */
static const uint8_t request[FRAME_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,	  0,	0,    0,    0,	  2,	8,    6,    0,
	1,    8,    0,	  6,	4,    0,    1,	  2,	0,    0,    0,	  0,	2,    192,  0,
	2,    2,    0,	  0,	0,    0,    0,	  0,	192,  0,    2,	  1,	0xee, 0xee, 0xee,
	0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee,
};

/* 192.0.2.1 is at 02:00:00:00:00:01, to the asker. */
static const uint8_t reply[FRAME_LEN] = {
	2, 0, 0, 0, 0, 2, 2, 0,	  0, 0, 0, 1, 8, 6, 0, 1, 8, 0,	  6, 4, 0,
	2, 2, 0, 0, 0, 0, 1, 192, 0, 2, 1, 2, 0, 0, 0, 0, 2, 192, 0, 2, 2,
};

static const struct vx_arp_notice untouched = {.port = 0x5555, .is_reply = true};

static enum vx_drop
parse(struct rte_mbuf *m, struct vx_arp_notice *notice, rte_be32_t *target_be)
{
	*notice = untouched;
	*target_be = 0x55555555;
	return vx_arp_parse(m, notice, target_be);
}

static void
assert_bad(struct rte_mbuf *m)
{
	struct vx_arp_notice notice;
	rte_be32_t target_be;

	assert_int_equal(parse(m, &notice, &target_be), VX_DROP_ARP_BAD);
	assert_memory_equal(&notice, &untouched, sizeof(notice));
	assert_int_equal(target_be, 0x55555555);
	rte_pktmbuf_free(m);
}

static void
test_parse_request(void **state)
{
	struct rte_mbuf *m = make_chain(request, FRAME_LEN, FRAME_LEN, 1);
	const struct vx_ip sender = ip("192.0.2.2");
	struct vx_arp_notice notice;
	rte_be32_t target_be;

	(void)state;
	m->port = 3;
	assert_int_equal(parse(m, &notice, &target_be), VX_DROP_NONE);
	assert_int_equal(notice.port, 3);
	assert_false(notice.is_reply);
	assert_false(notice.is_for_us);
	assert_true(vx_ip_is_equal(&notice.sender, &sender));
	assert_memory_equal(&notice.sender_mac, &peer_mac, 6);
	assert_int_equal(rte_be_to_cpu_32(target_be), host("192.0.2.1"));
	rte_pktmbuf_free(m);

	m = make_chain(reply, FRAME_LEN, FRAME_LEN, 1);
	assert_int_equal(parse(m, &notice, &target_be), VX_DROP_NONE);
	assert_true(notice.is_reply);
	assert_memory_equal(&notice.sender_mac, &mac0, 6);
	assert_int_equal(rte_be_to_cpu_32(target_be), host("192.0.2.2"));
	rte_pktmbuf_free(m);
}

static void
test_parse_probe(void **state)
{
	struct vx_arp_notice notice;
	uint8_t bytes[FRAME_LEN];
	rte_be32_t target_be;
	struct rte_mbuf *m;

	(void)state;
	memcpy(bytes, request, sizeof(bytes));
	memset(bytes + 28, 0, 4);
	m = make_chain(bytes, FRAME_LEN, 20, 9);
	assert_int_equal(parse(m, &notice, &target_be), VX_DROP_NONE);
	assert_true(vx_ip_is_v4(&notice.sender));
	assert_int_equal(vx_ip_v4(&notice.sender), 0);
	assert_true(vx_arp_reply_in_place(m, &mac0));
	memcpy(bytes, reply, sizeof(bytes));
	memset(bytes + 38, 0, 4);
	assert_chain(m, bytes, FRAME_LEN);
}

static void
test_parse_bad(void **state)
{
	static const struct {
		uint8_t at, value;
	} bad[] = {
		{6, 3},					      /* Ethernet source is a group */
		{12, 9},				      /* EtherType */
		{13, 0},    {14, 1},	{15, 6},	      /* hardware type */
		{16, 0x86}, {17, 0xdd},			      /* protocol */
		{18, 8},    {18, 0},	{19, 16},	      /* lengths */
		{20, 1},    {21, 0},	{21, 3},   {21, 8},   /* operation */
		{22, 1},    {22, 0xff},			      /* sender MAC is a group */
		{28, 0},    {28, 127},	{28, 224}, {28, 255}, /* sender IP is no host's */
	};
	uint8_t bytes[FRAME_LEN];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		memcpy(bytes, request, sizeof(bytes));
		assert_int_not_equal(bytes[bad[i].at], bad[i].value);
		bytes[bad[i].at] = bad[i].value;
		assert_bad(make_chain(bytes, FRAME_LEN, FRAME_LEN, 1));
	}
	memcpy(bytes, request, sizeof(bytes));
	memset(bytes + 22, 0, 6); /* sender MAC zero */
	assert_bad(make_chain(bytes, FRAME_LEN, FRAME_LEN, 1));
	memcpy(bytes, reply, sizeof(bytes));
	memset(bytes + 28, 0, 4); /* a reply from 0.0.0.0 */
	assert_bad(make_chain(bytes, FRAME_LEN, FRAME_LEN, 1));
}

/* Cut at each length, each time split at each byte. */
static void
test_truncate_and_split(void **state)
{
	struct vx_arp_notice notice;
	rte_be32_t target_be;

	(void)state;
	for (uint32_t len = 0; len <= FRAME_LEN; len++) {
		for (uint32_t first = 0; first <= len; first++) {
			struct rte_mbuf *m = make_chain(request, len, first, FRAME_LEN);

			if (len < ARP_LEN) {
				assert_bad(m);
				continue;
			}
			assert_int_equal(parse(m, &notice, &target_be), VX_DROP_NONE);
			assert_memory_equal(&notice.sender_mac, &peer_mac, 6);
			assert_true(vx_arp_reply_in_place(m, &mac0));
			assert_int_equal(m->nb_segs, 1);
			assert_chain(m, reply, FRAME_LEN);
		}
		if (len >= ARP_LEN) { /* a byte a segment */
			struct rte_mbuf *m = make_chain(request, len, 1, 1);

			assert_int_equal(parse(m, &notice, &target_be), VX_DROP_NONE);
			assert_true(vx_arp_reply_in_place(m, &mac0));
			assert_chain(m, reply, FRAME_LEN);
		}
	}
}

/* A large frame is cut; what a driver said about the request does not stick to the reply. */
static void
test_reply_shape(void **state)
{
	uint8_t bytes[1500] = {0};
	struct rte_mbuf *m;

	(void)state;
	memcpy(bytes, request, sizeof(request));
	m = make_chain(bytes, sizeof(bytes), 700, 700);
	m->ol_flags = RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_TX_IP_CKSUM;
	m->packet_type = 0x1234;
	m->l2_len = 14;
	assert_true(vx_arp_reply_in_place(m, &mac0));
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->packet_type, 0);
	assert_int_equal(m->tx_offload, 0);
	assert_chain(m, reply, FRAME_LEN);

	/* no tailroom: the data moves to the front */
	m = rte_pktmbuf_alloc(bench_pool());
	m->data_off = (uint16_t)(m->buf_len - ARP_LEN);
	memcpy(rte_pktmbuf_append(m, ARP_LEN), request, ARP_LEN);
	assert_true(vx_arp_reply_in_place(m, &mac0));
	assert_chain(m, reply, FRAME_LEN);
}

static void
test_reply_refused(void **state)
{
	struct rte_mempool *tiny =
		rte_pktmbuf_pool_create("tiny", 7, 0, 0, ARP_LEN + 1, SOCKET_ID_ANY);
	struct rte_mbuf *m = make_chain(request, FRAME_LEN, 30, 30), *copy;

	(void)state;
	rte_mbuf_refcnt_update(m, 1); /* somebody else reads it */
	assert_false(vx_arp_reply_in_place(m, &mac0));
	rte_mbuf_refcnt_update(m, -1);
	copy = rte_pktmbuf_clone(m, bench_pool());
	assert_non_null(copy);
	assert_false(vx_arp_reply_in_place(copy, &mac0));
	assert_chain(copy, request, FRAME_LEN);
	assert_chain(m, request, FRAME_LEN);

	/* a buffer that does not hold 60 bytes */
	assert_non_null(tiny);
	m = rte_pktmbuf_alloc(tiny);
	m->data_off = 0;
	memcpy(rte_pktmbuf_append(m, ARP_LEN), request, ARP_LEN);
	assert_false(vx_arp_reply_in_place(m, &mac0));
	assert_chain(m, request, ARP_LEN);
	assert_null(vx_arp_request_make(tiny, &mac0, 1, 2, NULL));
	assert_int_equal(rte_mempool_avail_count(tiny), 7);
	rte_mempool_free(tiny);

	/* too short to be one */
	m = make_chain(request, ARP_LEN - 1, 7, 7);
	assert_false(vx_arp_reply_in_place(m, &mac0));
	rte_pktmbuf_free(m);
}

/* The same checks once more, on plain bytes. */
static bool
is_good(const uint8_t *f, uint32_t len)
{
	static const uint8_t fixed[] = {8, 6, 0, 1, 8, 0, 6, 4, 0};
	const bool is_zero_ip = (f[28] | f[29] | f[30] | f[31]) == 0;

	if (len < ARP_LEN || memcmp(f + 12, fixed, sizeof(fixed)) != 0)
		return false;
	if ((f[21] != 1 && f[21] != 2) || (f[6] & 1) != 0 || (f[22] & 1) != 0)
		return false;
	if ((f[22] | f[23] | f[24] | f[25] | f[26] | f[27]) == 0)
		return false;
	if (is_zero_ip)
		return f[21] == 1;
	return f[28] != 0 && f[28] != 127 && f[28] < 224;
}

static void
fuzz_one(unsigned int *seed, unsigned int *good)
{
	uint8_t bytes[FRAME_LEN], want[FRAME_LEN] = {0};
	const uint32_t len = rand_r(seed) % 4 == 0 ? (uint32_t)rand_r(seed) % FRAME_LEN : FRAME_LEN;
	struct vx_arp_notice notice;
	rte_be32_t target_be;
	struct rte_mbuf *m;

	memcpy(bytes, request, sizeof(bytes));
	if (rand_r(seed) % 2 == 0)
		bytes[21] = 2;
	for (int n = rand_r(seed) % 4; n > 0; n--)
		bytes[rand_r(seed) % FRAME_LEN] = (uint8_t)rand_r(seed);
	if (rand_r(seed) % 8 == 0)
		for (unsigned int i = 0; i < FRAME_LEN; i++)
			bytes[i] = (uint8_t)rand_r(seed);
	m = make_chain(bytes, len, (uint32_t)rand_r(seed) % 50, 1 + (uint32_t)rand_r(seed) % 50);
	if (!is_good(bytes, len)) {
		assert_bad(m);
		return;
	}
	++*good;
	assert_int_equal(parse(m, &notice, &target_be), VX_DROP_NONE);
	assert_int_equal(notice.is_reply, bytes[21] == 2);
	assert_memory_equal(&notice.sender_mac, bytes + 22, 6);
	assert_memory_equal(&notice.sender.bytes[12], bytes + 28, 4);
	assert_memory_equal(&target_be, bytes + 38, 4);
	assert_true(vx_arp_reply_in_place(m, &mac0));
	memcpy(want, reply, sizeof(reply));
	memcpy(want, bytes + 22, 6);
	memcpy(want + 28, bytes + 38, 4);
	memcpy(want + 32, bytes + 22, 10);
	assert_chain(m, want, FRAME_LEN);
}

static void
test_random(void **state)
{
	unsigned int seed = 4711, good = 0;

	(void)state;
	for (unsigned int i = 0; i < 4000; i++)
		fuzz_one(&seed, &good);
	assert_true(good > 800 && good < 3600); /* both ways were taken */
}

static void
test_request_make(void **state)
{
	static const uint8_t want[FRAME_LEN] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0,   0, 0, 0, 1, 8, 6, 0, 1, 8, 0,   6, 4, 0,
		1,    2,    0,	  0,	0,    0,    1, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 192, 0, 2, 2,
	};
	const rte_be32_t ours = rte_cpu_to_be_32(host("192.0.2.1")),
			 target = rte_cpu_to_be_32(host("192.0.2.2"));
	struct rte_mbuf *all[POOL_SIZE];
	uint8_t unicast[FRAME_LEN], announcement[FRAME_LEN];
	unsigned int n = 0;

	(void)state;
	assert_chain(vx_arp_request_make(bench_pool(), &mac0, ours, target, NULL), want, FRAME_LEN);
	memcpy(unicast, want, sizeof(want));
	memcpy(unicast, &peer_mac, 6);
	memcpy(unicast + 32, &peer_mac, 6);
	assert_chain(vx_arp_request_make(bench_pool(), &mac0, ours, target, &peer_mac), unicast,
		     FRAME_LEN);
	memcpy(announcement, want, sizeof(want));
	memcpy(announcement + 38, &ours, 4);
	assert_chain(vx_arp_request_make(bench_pool(), &mac0, ours, ours, NULL), announcement,
		     FRAME_LEN);
	while (n < POOL_SIZE && (all[n] = rte_pktmbuf_alloc(bench_pool())) != NULL)
		n++;
	assert_null(vx_arp_request_make(bench_pool(), &mac0, ours, target, NULL));
	while (n > 0)
		rte_pktmbuf_free(all[--n]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_request), cmocka_unit_test(test_parse_probe),
		cmocka_unit_test(test_parse_bad),     cmocka_unit_test(test_truncate_and_split),
		cmocka_unit_test(test_reply_shape),   cmocka_unit_test(test_reply_refused),
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_request_make),
	};

	return cmocka_run_group_tests_name("underlay_arp", tests, setup_pool, teardown_pool);
}
