/* SPDX-License-Identifier: BSD-3-Clause */
/* Each reason to drop, provoked once; a reason added without a case here fails the last test. */
#include "test_path_bench.h"

#define INNER(at) (OUTER_LEN + (at))

/* One packet that must end for one reason. @edit gets a valid one and returns its new length. */
struct drop_case {
	enum vx_drop reason;
	bool is_access; /* comes in on port 1, else from VTEP 2 */
	bool is_ip_fixed;
	uint32_t (*edit)(uint8_t *packet, uint32_t len);
};

static uint32_t
cut_to_13(uint8_t *packet, uint32_t len)
{
	(void)packet;
	(void)len;
	return 13;
}

static uint32_t
cut_to_60(uint8_t *packet, uint32_t len)
{
	(void)packet;
	(void)len;
	return 60;
}

/* An edit that sets one byte. */
#define SET(name, at, value)                                                                       \
	static uint32_t name(uint8_t *packet, uint32_t len)                                        \
	{                                                                                          \
		packet[at] = (value);                                                              \
		return len;                                                                        \
	}

SET(tag_access, 12, 0x81)
SET(group_source, 6, 3)
SET(other_mac, 5, 0x99)
SET(type_unknown, 12, 0x88)
SET(version_6, 14, 0x65)
SET(header_4_words, 14, 0x44)
SET(wrong_checksum, 25, 0x01)
SET(dst_other, 33, 99)
SET(dst_multicast, 30, 239)
SET(src_multicast, 26, 224)
SET(src_loopback, 26, 127)
SET(src_zero, 26, 0)
SET(more_fragments, 20, 0x20)
SET(later_fragment, 21, 1)
SET(protocol_tcp, 23, 6)
SET(udp_port, 37, 0xb6)
SET(udp_checksum, 41, 1)
SET(no_i_flag, 42, 0xf7)
SET(udp_longer, 39, 77)
SET(udp_7, 39, 7)
SET(udp_15, 39, 15)
SET(udp_29, 39, 29)
SET(other_vni, 48, 101)
SET(inner_tag, INNER(12), 0x81)
SET(inner_group_source, INNER(6), 1)

static uint32_t
inner_zero_source(uint8_t *packet, uint32_t len)
{
	memset(packet + INNER(6), 0, 6);
	return len;
}

static uint32_t
zero_source(uint8_t *packet, uint32_t len)
{
	memset(packet + 6, 0, 6);
	return len;
}

static uint32_t
tag_qinq(uint8_t *packet, uint32_t len)
{
	put16(packet + 12, 0x88a8);
	return len;
}

static uint32_t
tag_in_front(uint8_t *packet, uint32_t len)
{
	memmove(packet + 16, packet + 12, len - 12);
	put16(packet + 12, 0x8100);
	put16(packet + 14, 5);
	return len + 4;
}

static uint32_t
two_tags(uint8_t *packet, uint32_t len)
{
	len = tag_in_front(packet, len);
	len = tag_in_front(packet, len);
	put16(packet + 14, 0);
	return len;
}

static uint32_t
source_is_ours(uint8_t *packet, uint32_t len)
{
	memcpy(packet + 26, (const uint8_t[]){192, 0, 2, 5}, 4);
	return len;
}

static uint32_t
total_19(uint8_t *packet, uint32_t len)
{
	put16(packet + 16, 19);
	return len;
}

static uint32_t
ecn_ce(uint8_t *packet, uint32_t len)
{
	packet[15] = 3;
	packet[INNER(15)] = 0;
	return len;
}

static uint32_t
too_big(uint8_t *packet, uint32_t len)
{
	memset(packet + len, 0, 1515 - len);
	return 1515;
}

static uint32_t
to_ourselves(uint8_t *packet, uint32_t len)
{
	memcpy(packet, host_a, 6);
	return len;
}

static uint32_t
behind_a_tunnel(uint8_t *packet, uint32_t len)
{
	memcpy(packet + OUTER_LEN, host_c, 6);
	return len;
}

static uint32_t
cut_by_driver(uint8_t *packet, uint32_t len)
{
	put16(packet + 16, 1000);
	return len;
}

static uint32_t
cut_by_driver_ipv6(uint8_t *packet, uint32_t len)
{
	put16(packet + 12, 0x86dd);
	put16(packet + 18, 7);
	return len;
}

/* The fixture's port 1 may cut at 60 bytes. */
static const struct drop_case cases[] = {
	{VX_DROP_ACCESS_RUNT, true, false, cut_to_13},
	{VX_DROP_ACCESS_CUT, true, false, cut_by_driver},
	{VX_DROP_ACCESS_CUT, true, false, cut_by_driver_ipv6},
	{VX_DROP_ACCESS_VLAN, true, false, tag_access},
	{VX_DROP_ACCESS_VLAN, true, false, tag_qinq},
	{VX_DROP_BAD_SOURCE_MAC, true, false, group_source},
	{VX_DROP_BAD_SOURCE_MAC, true, false, zero_source},
	{VX_DROP_INNER_TOO_BIG, true, false, too_big},
	{VX_DROP_SAME_PORT, true, false, to_ourselves},
	{VX_DROP_OUTER_RUNT, false, false, cut_to_13},
	{VX_DROP_OUTER_MAC, false, false, other_mac},
	{VX_DROP_OUTER_VLAN, false, false, tag_in_front},
	{VX_DROP_OUTER_VLAN, false, false, two_tags},
	{VX_DROP_OUTER_VLAN, false, false, tag_qinq},
	{VX_DROP_OUTER_ETHERTYPE, false, false, type_unknown},
	{VX_DROP_OUTER_IP_HEADER, false, false, version_6},
	{VX_DROP_OUTER_IP_HEADER, false, false, header_4_words},
	{VX_DROP_OUTER_IP_LENGTH, false, true, total_19},
	{VX_DROP_OUTER_IP_LENGTH, false, false, cut_to_60},
	{VX_DROP_OUTER_IP_CHECKSUM, false, false, wrong_checksum},
	{VX_DROP_OUTER_DST_IP, false, true, dst_other},
	{VX_DROP_OUTER_DST_IP, false, true, dst_multicast},
	{VX_DROP_OUTER_SRC_IP, false, true, source_is_ours},
	{VX_DROP_OUTER_SRC_IP, false, true, src_multicast},
	{VX_DROP_OUTER_SRC_IP, false, true, src_loopback},
	{VX_DROP_OUTER_SRC_IP, false, true, src_zero},
	{VX_DROP_OUTER_FRAGMENT, false, true, more_fragments},
	{VX_DROP_OUTER_FRAGMENT, false, true, later_fragment},
	{VX_DROP_OUTER_PROTOCOL, false, true, protocol_tcp},
	{VX_DROP_OUTER_UDP_LENGTH, false, false, udp_longer},
	{VX_DROP_OUTER_UDP_LENGTH, false, false, udp_7},
	{VX_DROP_OUTER_UDP_PORT, false, false, udp_port},
	{VX_DROP_OUTER_UDP_CHECKSUM, false, false, udp_checksum},
	{VX_DROP_VXLAN_HEADER, false, false, udp_15},
	{VX_DROP_VXLAN_HEADER, false, false, no_i_flag},
	{VX_DROP_VNI_UNKNOWN, false, false, other_vni},
	{VX_DROP_INNER_RUNT, false, false, udp_29},
	{VX_DROP_INNER_VLAN, false, false, inner_tag},
	{VX_DROP_BAD_SOURCE_MAC, false, false, inner_group_source},
	{VX_DROP_BAD_SOURCE_MAC, false, false, inner_zero_source},
	{VX_DROP_INNER_ECN, false, true, ecn_ce},
	{VX_DROP_SPLIT_HORIZON, false, false, behind_a_tunnel},
};

/* Reasons whose provocation needs more than one packet: the test that does it, by file. */
static const enum vx_drop elsewhere[] = {
	VX_DROP_PEER_UNKNOWN, /* test_path_learn.c */
	VX_DROP_NO_TARGET,    /* below, test_path_flood.c */
	VX_DROP_FLOOD_OFF,
	VX_DROP_STORM,		   /* test_path_flood_limits.c */
	VX_DROP_ACCESS_NO_SEGMENT, /* below */
	VX_DROP_EGRESS_VLAN,	   /* test_path_vlan.c */
	VX_DROP_TOO_BIG,
	VX_DROP_NO_ROUTE,	   /* test_path_encap.c */
	VX_DROP_TOO_BIG_REPLIED,   /* test_path_oversize.c */
	VX_DROP_NEEDS_FRAGMENT_DF, /* test_path_fragment.c */
	VX_DROP_FRAG_BAD,
	VX_DROP_FRAG_OVERLAP, /* test_path_reassemble*.c */
	VX_DROP_FRAG_DUPLICATE,
	VX_DROP_FRAG_LIMIT,
	VX_DROP_FRAG_TIMEOUT, /* likewise */
	VX_DROP_ND_BAD,
	VX_DROP_ICMP6_IGNORED, /* test_path_host6.c */
	VX_DROP_NEIGH_QUEUE,
	VX_DROP_NEIGH_FAILED, /* test_path_encap.c */
	VX_DROP_ARP_BAD,
	VX_DROP_ICMP_BAD,
	VX_DROP_HOST_RATE, /* test_path_host.c */
	VX_DROP_TX_TOO_LONG,
	VX_DROP_TX_PORT_DOWN, /* test_path_output.c */
	VX_DROP_GROUP_BAD,    /* test_path_group.c */
	VX_DROP_NO_MBUF,      /* test_path_flood.c and others */
	VX_DROP_TX_FULL,      /* not lib/path: counted where ports are sent to */
};

static int
setup(void **state)
{
	struct vx_view *view;
	struct bench *b;

	if (bench_setup(state) < 0)
		return -1;
	b = *state;
	bench_vni(b, VNI, 2, 1);
	bench_fdb(b, VNI, host_a, bench_attach_index(b, 1), true);
	bench_fdb(b, VNI, host_b, bench_attach_index(b, 2), true);
	bench_fdb(b, VNI, host_c, VX_DEST_VTEP | bench_flood(b, VNI, 2, VX_VTEP_READY), true);
	view = vx_view_edit(b->tables);
	view->port[1].cut_len = 60;
	view->is_reassembling = false;
	vx_view_publish(b->tables, view);
	return 0;
}

static void
run_case(struct bench *b, const struct drop_case *c, uint32_t cut)
{
	uint8_t packet[2000];
	struct rte_mbuf *m;
	uint32_t len = 60;

	memcpy(packet, inner_golden, len);
	if (!c->is_access)
		len = make_vxlan(packet, 2, VNI, inner_golden, 60);
	len = c->edit(packet, len);
	if (c->is_ip_fixed)
		fix_ip(packet);
	m = bench_split(b, packet, len, cut < len ? cut : 0, 0);
	bench_mark(b);
	if (c->is_access)
		bench_access(b, 0, 1, &m, 1);
	else
		bench_underlay(b, 0, UNDERLAY, &m, 1);
	bench_expect_only_drop(b, c->reason, 1);
	for (unsigned int port = 0; port < N_PORTS; port++)
		assert_int_equal(b->n_sent[port], 0);
}

/* Unchanged, both packets get through: what is dropped below is so for its edit. */
static uint32_t
unchanged(uint8_t *packet, uint32_t len)
{
	(void)packet;
	return len;
}

static void
test_cases(void **state)
{
	static const struct drop_case valid = {.edit = unchanged};
	uint8_t packet[200];
	struct bench *b = *state;
	struct rte_mbuf *m;

	m = bench_mbuf(b, packet, valid.edit(packet, make_vxlan(packet, 2, VNI, inner_golden, 60)));
	bench_underlay(b, 0, UNDERLAY, &m, 1);
	m = bench_mbuf(b, inner_golden, 60);
	bench_access(b, 0, 1, &m, 1);
	assert_int_equal(b->n_sent[2], 2);
	bench_settle(b);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		for (uint32_t cut = 0; cut < 120; cut++)
			run_case(b, &cases[i], cut);
}

static void
test_no_segment_and_no_target(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *m[3];

	for (unsigned int i = 0; i < 3; i++)
		m[i] = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	bench_mark(b);
	bench_access(b, 0, 4, m, 3); /* a port without attachment */
	bench_expect_only_drop(b, VX_DROP_ACCESS_NO_SEGMENT, 3);
	bench_vni(b, 200, 1, 4);
	m[0] = bench_mbuf(b, inner_golden, sizeof(inner_golden));
	bench_mark(b);
	bench_access(b, 0, 4, m, 1); /* alone in its segment */
	bench_expect_only_drop(b, VX_DROP_NO_TARGET, 1);
}

/* A header that has to be pulled together, in a buffer that must not be written. */
static void
test_shared_headers(void **state)
{
	uint8_t packet[OUTER_LEN + 60];
	struct bench *b = *state;

	make_vxlan(packet, 2, VNI, inner_golden, 60);
	for (uint32_t cut = 1; cut < OUTER_LEN + 14; cut++) {
		struct rte_mbuf *original = bench_split(b, packet, sizeof(packet), cut, 0);
		struct rte_mbuf *m = rte_pktmbuf_clone(original, b->pool);

		bench_mark(b);
		bench_underlay(b, 0, UNDERLAY, &m, 1);
		if (cut == OUTER_LEN) /* nothing to be pulled */
			bench_expect_only_drop(b, VX_DROP_NONE, 0);
		else
			bench_expect_only_drop(b, VX_DROP_NO_MBUF, 1);
		bench_expect_bytes(original, packet, sizeof(packet));
		rte_pktmbuf_free(original);
		bench_settle(b);
	}
	for (uint32_t cut = 1; cut < 14; cut++) {
		struct rte_mbuf *original = bench_split(b, inner_golden, 60, cut, 0);
		struct rte_mbuf *m = rte_pktmbuf_clone(original, b->pool);

		bench_mark(b);
		bench_access(b, 0, 1, &m, 1);
		bench_expect_only_drop(b, VX_DROP_NO_MBUF, 1);
		bench_expect_bytes(original, inner_golden, 60);
		rte_pktmbuf_free(original);
	}
}

static void
test_every_reason_has_a_case(void **state)
{
	bool has_case[VX_DROP_MAX] = {false};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		has_case[cases[i].reason] = true;
	for (unsigned int i = 0; i < RTE_DIM(elsewhere); i++)
		has_case[elsewhere[i]] = true;
	for (unsigned int i = 0; i < VX_DROP_MAX; i++)
		if (!has_case[i])
			fail_msg("no case for %s", vx_drop_name(i));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_cases),
		TEST(test_no_segment_and_no_target),
		TEST(test_shared_headers),
		cmocka_unit_test(test_every_reason_has_a_case),
	};

	return cmocka_run_group_tests_name("path_drops", tests, NULL, NULL);
}
