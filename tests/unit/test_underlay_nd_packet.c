/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers do with solicitations and advertisements, however they are cut. */
#include "test_packet6.h"
#include "test_underlay_packet.h"
#include "vx_nd.h"

#define PEER  peer_mac.addr_bytes
#define OURS  mac0.addr_bytes
#define GROUP ((const uint8_t *)"\x33\x33\xff\x00\x00\x01")

static uint32_t
make_solicit(uint8_t *to)
{
	return make_nd(to, GROUP, PEER, ip6_peer, ip6_our_group, 135, 0, ip6_ours, PEER);
}

static uint32_t
make_probe(uint8_t *to)
{
	return make_nd(to, GROUP, PEER, ip6_nobody, ip6_our_group, 135, 0, ip6_ours, NULL);
}

static uint32_t
make_advert(uint8_t *to)
{
	return make_nd(to, OURS, PEER, ip6_peer, ip6_ours, 136, 0xe0, ip6_peer, PEER);
}

static enum vx_drop
parse(struct rte_mbuf *m, struct vx_nd_notice *notice, struct vx_ip *target)
{
	memset(notice, 0x55, sizeof(*notice));
	memset(target, 0x55, sizeof(*target));
	return vx_nd_parse(m, 14, ICMP6_AT, notice, target);
}

static void
assert_bad(const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = make_chain(bytes, len, len, 1);
	struct vx_nd_notice notice, untouched;
	struct vx_ip target;

	memset(&untouched, 0x55, sizeof(untouched));
	assert_int_equal(parse(m, &notice, &target), VX_DROP_ND_BAD);
	assert_memory_equal(&notice, &untouched, sizeof(notice));
	rte_pktmbuf_free(m);
}

static void
assert_right(const uint8_t *bytes, uint32_t len, uint32_t first, uint32_t rest, const uint8_t *who,
	     const uint8_t *asked, uint8_t flags)
{
	struct rte_mbuf *m = make_chain(bytes, len, first, rest);
	struct vx_nd_notice notice;
	struct vx_ip target;

	m->port = 3;
	assert_int_equal(parse(m, &notice, &target), VX_DROP_NONE);
	assert_memory_equal(notice.ip.bytes, who, 16);
	assert_memory_equal(target.bytes, asked, 16);
	assert_memory_equal(&notice.mac, PEER, 6);
	assert_int_equal(notice.port, 3);
	assert_int_equal(notice.flags, flags);
	rte_pktmbuf_free(m);
}

static void
test_parse(void **state)
{
	uint8_t bytes[200];
	uint32_t len;

	(void)state;
	for (uint32_t first = 0; first < 86; first++) {
		for (uint32_t rest = 1; rest < 30; rest += 7) {
			len = make_solicit(bytes);
			assert_right(bytes, len, first, rest, ip6_peer, ip6_ours, VX_ND_HAS_MAC);
			len = make_probe(bytes);
			assert_right(bytes, len, first, rest, ip6_ours, ip6_ours, VX_ND_IS_PROBE);
			len = make_advert(bytes);
			assert_right(bytes, len, first, rest, ip6_peer, ip6_peer,
				     VX_ND_HAS_MAC | VX_ND_IS_ADVERT | VX_ND_IS_SOLICITED |
					     VX_ND_IS_OVERRIDE);
		}
	}
	/* without option: the frame's source; with others in front: they are skipped */
	len = make_nd(bytes, OURS, PEER, ip6_peer, ip6_ours, 136, 0x20, ip6_peer, NULL);
	assert_right(bytes, len, len, 1, ip6_peer, ip6_peer, VX_ND_IS_ADVERT | VX_ND_IS_OVERRIDE);
	memset(bytes + len, 0, 24);
	bytes[len] = 14;
	bytes[len + 1] = 2;
	bytes[len + 16] = 2;
	bytes[len + 17] = 1;
	memcpy(bytes + len + 18, PEER, 6);
	fix_icmp6(bytes, len + 24);
	assert_right(bytes, len + 24, len, 5, ip6_peer, ip6_peer,
		     VX_ND_IS_ADVERT | VX_ND_IS_OVERRIDE | VX_ND_HAS_MAC);
}

static void
test_truncated(void **state)
{
	uint8_t bytes[200];

	(void)state;
	for (uint32_t (**make)(uint8_t *) =
		     (uint32_t(*[])(uint8_t *)){make_solicit, make_probe, make_advert, NULL};
	     *make != NULL; make++) {
		const uint32_t full = (*make)(bytes);

		for (uint32_t len = ICMP6_AT + 4; len < full; len++) {
			(*make)(bytes);
			fix_icmp6(bytes, len); /* all but the length is right */
			if (len != ICMP6_AT + 24)
				assert_bad(bytes, len);
		}
	}
}

/* RFC 4861 7.1.1 and 7.1.2, a rule a row. */
static void
test_rules(void **state)
{
	static const struct {
		uint32_t (*make)(uint8_t *to);
		uint32_t at;
		uint8_t value;
	} rules[] = {
		{make_solicit, 21, 254},  {make_advert, 21, 64},   /* a router forwarded it */
		{make_solicit, 55, 1},	  {make_advert, 55, 1},	   /* code */
		{make_solicit, 62, 0xff}, {make_advert, 62, 0xff}, /* a group as target */
		{make_solicit, 79, 0},	  {make_advert, 79, 0},	   /* an option of no length */
		{make_solicit, 79, 2},	  {make_advert, 79, 2},	   /* one that is longer */
		{make_solicit, 80, 3},	  {make_advert, 80, 0xff}, /* a group as MAC */
		{make_solicit, 22, 0xff}, {make_advert, 22, 0xff}, /* a group as source */
		{make_probe, 53, 2},				   /* to another group */
		{make_probe, 38, 0x20},				   /* to a host */
		{make_advert, 38, 0xff},			   /* to a group, solicited */
		{make_solicit, 6, 3},				   /* from a group's MAC */
	};
	uint8_t bytes[200];
	uint32_t len;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rules); i++) {
		len = rules[i].make(bytes);
		assert_int_not_equal(bytes[rules[i].at], rules[i].value);
		bytes[rules[i].at] = rules[i].value;
		fix_icmp6(bytes, len);
		assert_bad(bytes, len);
	}
	/* a probe with a MAC, an advertisement from nobody, a target of zeros */
	len = make_nd(bytes, GROUP, PEER, ip6_nobody, ip6_our_group, 135, 0, ip6_ours, PEER);
	assert_bad(bytes, len);
	len = make_nd(bytes, OURS, PEER, ip6_nobody, ip6_ours, 136, 0x20, ip6_peer, PEER);
	assert_bad(bytes, len);
	len = make_nd(bytes, OURS, PEER, ip6_peer, ip6_ours, 136, 0x20, ip6_nobody, PEER);
	assert_bad(bytes, len);
}

static void
test_checksum(void **state)
{
	uint8_t bytes[200];
	const uint32_t len = make_solicit(bytes);

	(void)state;
	for (uint32_t bit = 22 * 8; bit < len * 8; bit++) {
		/* the hop limit and what is in front is not covered */
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_bad(bytes, len);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* A message longer than anybody sends is not walked. */
static void
test_long(void **state)
{
	static uint8_t bytes[2000];
	const uint32_t start =
		make_nd(bytes, OURS, PEER, ip6_peer, ip6_ours, 136, 0, ip6_peer, NULL);
	uint32_t len = start;

	(void)state;
	for (; len < 1900; len += 8) {
		bytes[len] = 14;
		bytes[len + 1] = 1;
	}
	fix_icmp6(bytes, len);
	assert_bad(bytes, len);
	fix_icmp6(bytes, start + 800);
	assert_right(bytes, start + 800, 99, 99, ip6_peer, ip6_peer, VX_ND_IS_ADVERT);
}

static struct vx_ip
address(const uint8_t *bytes)
{
	struct vx_ip ip6;

	memcpy(ip6.bytes, bytes, 16);
	return ip6;
}

static void
test_advert_in_place(void **state)
{
	uint8_t bytes[200], golden[200];
	const uint32_t len = make_solicit(bytes);
	struct vx_nd_advert advert = {
		.target = address(ip6_ours),
		.mac = mac0,
		.to = address(ip6_peer),
		.to_mac = peer_mac,
	};
	struct rte_mbuf *m, *clone;

	(void)state;
	make_nd(golden, PEER, OURS, ip6_ours, ip6_peer, 136, 0x40, ip6_ours, OURS);
	for (uint32_t first = 0; first <= len; first++) {
		m = make_chain(bytes, len, first, 17);
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
		assert_true(vx_nd_advert_in_place(m, &advert));
		assert_int_equal(m->nb_segs, 1);
		assert_int_equal(m->ol_flags, 0);
		assert_chain(m, golden, 86);
	}
	advert.is_override = true;
	make_nd(golden, PEER, OURS, ip6_ours, ip6_peer, 136, 0x60, ip6_ours, OURS);
	m = make_chain(bytes, len, len, 1);
	assert_true(vx_nd_advert_in_place(m, &advert));
	assert_chain(m, golden, 86);
	/* somebody else holds the buffer */
	m = make_chain(bytes, len, len, 1);
	clone = rte_pktmbuf_clone(m, bench_pool());
	assert_false(vx_nd_advert_in_place(clone, &advert));
	rte_pktmbuf_free(clone);
	assert_chain(m, bytes, len);
}

static void
test_made(void **state)
{
	const struct vx_ip ours = address(ip6_ours), peer = address(ip6_peer), nobody = {{{0}}};
	const uint8_t group[16] = {0xff, 2, [11] = 1, 0xff, 0, 0, 0x77};
	uint8_t golden[200];
	uint32_t len;

	(void)state;
	make_nd(golden, (const uint8_t *)"\x33\x33\0\0\0\1", OURS, ip6_ours, ip6_all_nodes, 136,
		0x20, ip6_ours, OURS);
	assert_chain(vx_nd_announce_make(bench_pool(), &mac0, &ours), golden, 86);
	make_nd(golden, (const uint8_t *)"\x33\x33\xff\0\0\x77", OURS, ip6_ours, group, 135, 0,
		ip6_peer, OURS);
	assert_chain(vx_nd_solicit_make(bench_pool(), &mac0, &ours, &peer, NULL), golden, 86);
	make_nd(golden, PEER, OURS, ip6_ours, ip6_peer, 135, 0, ip6_peer, OURS);
	assert_chain(vx_nd_solicit_make(bench_pool(), &mac0, &ours, &peer, &peer_mac), golden, 86);
	len = make_nd(golden, GROUP, OURS, ip6_nobody, ip6_our_group, 135, 0, ip6_ours, NULL);
	assert_chain(vx_nd_solicit_make(bench_pool(), &mac0, &nobody, &ours, NULL), golden, len);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse), cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_rules), cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_long),  cmocka_unit_test(test_advert_in_place),
		cmocka_unit_test(test_made),
	};

	return cmocka_run_group_tests_name("underlay_nd_packet", tests, setup_pool, teardown_pool);
}
