/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 addresses and neighbours: duplicate address detection, the rules of RFC 4861 7.2. */
#include "test_underlay.h"

#include "vx_ip6.h"
#include "vx_nd.h"
#include "vx_nd_wire.h"

#define LOCAL	   "2001:db8::1"
#define LINK_LOCAL "fe80::ff:fe00:1" /* of mac0 */
#define R2	   "2001:db8::2"

#define SOLICITED 0x40
#define OVERRIDE  0x20

static void
assert_ip_is(const struct vx_ip *address, const char *text)
{
	char found[VX_IP_TEXT_MAX];

	assert_string_equal(vx_ip_format(address, found, sizeof(found)), text);
}

/* A solicitation for @target from @source ("::": a probe) at @mac. */
static void
hear_solicit(struct bench *b, const char *source, const char *target,
	     const struct rte_ether_addr *mac, bool is_for_us)
{
	const bool is_probe = strcmp(source, "::") == 0;
	const struct vx_nd_notice notice = {
		.ip = ip(is_probe ? target : source),
		.mac = *mac,
		.flags = (is_probe ? VX_ND_IS_PROBE : VX_ND_HAS_MAC) |
			 (is_for_us ? VX_ND_IS_FOR_US : 0),
	};

	vx_underlay_nd_seen(b->u, &notice, b->now);
}

/* An advertisement of @target; @mac NULL: without option. */
static void
hear_advert(struct bench *b, const char *target, const struct rte_ether_addr *mac, uint8_t flags)
{
	struct vx_nd_notice notice = {
		.ip = ip(target),
		.mac = mac != NULL ? *mac : peer_mac,
		.flags = VX_ND_IS_ADVERT | (mac != NULL ? VX_ND_HAS_MAC : 0),
	};

	if ((flags & SOLICITED) != 0)
		notice.flags |= VX_ND_IS_SOLICITED | VX_ND_IS_FOR_US;
	if ((flags & OVERRIDE) != 0)
		notice.flags |= VX_ND_IS_OVERRIDE;
	vx_underlay_nd_seen(b->u, &notice, b->now);
}

static bool
address_info(struct bench *b, const char *text, struct vx_address_info *info)
{
	const struct vx_ip wanted = ip(text);
	uint32_t iterator = 0;

	while (vx_address_next(b->u, &iterator, info))
		if (vx_ip_is_equal(&info->prefix.ip, &wanted))
			return true;
	return false;
}

static enum vx_address_state
address_state(struct bench *b, const char *text)
{
	struct vx_address_info info;

	assert_true(address_info(b, text, &info));
	return info.state;
}

/* What was sent for @target since bench_forget(). */
static const struct sent *
sent_for(const struct bench *b, const char *target, unsigned int which)
{
	const struct vx_ip wanted = ip(target);

	for (unsigned int i = 0; i < b->sent_n; i++)
		if (b->sent[i].nd_type != 0 && vx_ip_is_equal(&b->sent[i].nd_target, &wanted) &&
		    which-- == 0)
			return &b->sent[i];
	return NULL;
}

static unsigned int
sent_count(const struct bench *b, const char *target)
{
	unsigned int n = 0;

	while (sent_for(b, target, n) != NULL)
		n++;
	return n;
}

/* A port 0 with 2001:db8::1/64 whose detection and announcements are over. */
static struct bench *
bench_with_ipv6(void)
{
	struct bench *b = bench_create(NULL);

	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, LOCAL "/64", 0), 0);
	bench_run(b, 4000);
	bench_forget(b);
	return b;
}

/* --- local addresses --- */

static void
test_link_local(void **state)
{
	struct bench *b = bench_create(NULL);
	struct vx_address_info info;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	assert_false(address_info(b, LINK_LOCAL, &info));
	assert_int_equal(add_address(b, LOCAL "/64", 0), 0);
	assert_true(address_info(b, LINK_LOCAL, &info));
	assert_true(info.is_automatic);
	assert_int_equal(info.prefix.len, 64);
	assert_true(address_info(b, LOCAL, &info));
	assert_false(info.is_automatic);
	assert_int_equal(del_address(b, LINK_LOCAL), -EINVAL);
	assert_string_equal(b->err.text, LINK_LOCAL " is made from port 0's MAC: it goes with the "
						    "port's last IPv6 address");
	/* the port's MAC changes */
	assert_int_equal(vx_underlay_port_set(b->u, 0, &other_mac, true), 0);
	assert_false(address_info(b, LINK_LOCAL, &info));
	assert_true(address_info(b, "fe80::ff:fe00:22", &info));
	assert_true(b->address_changed > 0);
	/* a given one is enough, and gone it is made again */
	assert_int_equal(add_address(b, "fe80::1/64", 0), 0);
	assert_false(address_info(b, "fe80::ff:fe00:22", &info));
	assert_int_equal(del_address(b, "fe80::1"), 0);
	assert_true(address_info(b, "fe80::ff:fe00:22", &info));
	assert_int_equal(del_address(b, LOCAL), 0);
	assert_false(address_info(b, "fe80::ff:fe00:22", &info));
	assert_true(address_info(b, "192.0.2.1", &info));
	bench_destroy(b, 0);
}

/* Both find room, or neither is there. */
static void
test_link_local_without_room(void **state)
{
	const struct vx_underlay_conf limits = {.max_addresses = 2};
	struct bench *b = bench_create(&limits);
	struct vx_address_info info;
	uint32_t iterator = 0;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	assert_int_equal(add_address(b, LOCAL "/64", 0), -ENOSPC);
	assert_true(vx_address_next(b->u, &iterator, &info));
	assert_false(vx_address_next(b->u, &iterator, &info));
	assert_int_equal(del_address(b, "192.0.2.1"), 0);
	assert_int_equal(add_address(b, LOCAL "/64", 0), 0);
	bench_destroy(b, 0);
}

/* RFC 4862 5.4.2, and RFC 4861 7.2.6 after it. */
static void
test_detection(void **state)
{
	struct bench *b = bench_create(NULL);
	const struct sent *s;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, LOCAL "/64", 0), 0);
	assert_int_equal(sent_count(b, LOCAL), 1);
	assert_int_equal(sent_count(b, LINK_LOCAL), 1);
	s = sent_for(b, LOCAL, 0);
	assert_int_equal(s->nd_type, VX_ND_SOLICIT);
	assert_true(vx_ip_is_none(&s->nd_source));
	assert_ip_is(&s->nd_destination, "ff02::1:ff00:1");
	assert_memory_equal(&s->dst, "\x33\x33\xff\x00\x00\x01", 6);
	assert_false(s->has_option);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_TENTATIVE);
	/* it is used meanwhile */
	assert_int_equal(path(b, R2).state, VX_HOP_RESOLVING);
	bench_run(b, 900);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_TENTATIVE);
	assert_int_equal(b->address_changed, 0);
	bench_run(b, 100);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_PREFERRED);
	assert_int_equal(b->address_changed, 1); /* both at once */
	s = sent_for(b, LOCAL, 1);
	assert_int_equal(s->nd_type, VX_ND_ADVERT);
	assert_int_equal(s->nd_flags, OVERRIDE);
	assert_ip_is(&s->nd_source, LOCAL);
	assert_ip_is(&s->nd_destination, "ff02::1");
	assert_memory_equal(&s->dst, "\x33\x33\x00\x00\x00\x01", 6);
	assert_true(s->has_option);
	bench_run(b, 5000);
	assert_int_equal(sent_count(b, LOCAL), 3);
	assert_int_equal(b->counts[VX_COUNT_ND_SOLICITS], 2);
	assert_int_equal(b->counts[VX_COUNT_ND_ADVERTS], 4);
	assert_int_equal(b->counts[VX_COUNT_ORIGINATED], 6);
	/* anew when the link comes up */
	bench_forget(b);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, false), 0);
	bench_run(b, 2000);
	assert_int_equal(sent_count(b, LOCAL), 0);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_TENTATIVE);
	assert_int_equal(b->address_changed, 1);
	assert_int_equal(sent_count(b, LOCAL), 1);
	bench_destroy(b, 0);
}

static void
expect_duplicate(void (*claim)(struct bench *b))
{
	struct bench *b = bench_create(NULL);

	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, LOCAL "/64", 0), 0);
	bench_run(b, 500);
	bench_forget(b);
	claim(b);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_DUPLICATE);
	assert_int_equal(address_state(b, LINK_LOCAL), VX_ADDRESS_TENTATIVE);
	assert_int_equal(b->address_changed, 1);
	assert_int_equal(path(b, R2).state, VX_HOP_NO_ROUTE);
	assert_string_equal(path(b, R2).why, "its local address is another host's, too");
	bench_run(b, 5000);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_DUPLICATE);
	assert_int_equal(sent_count(b, LOCAL), 0);
	assert_int_equal(address_state(b, LINK_LOCAL), VX_ADDRESS_PREFERRED);
	/* the other host may have gone */
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, false), 0);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	bench_run(b, 1000);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_PREFERRED);
	assert_int_equal(path(b, R2).state, VX_HOP_RESOLVING);
	bench_destroy(b, 0);
}

static void
claim_by_advert(struct bench *b)
{
	hear_advert(b, LOCAL, &peer_mac, OVERRIDE);
}

static void
claim_by_advert_without_mac(struct bench *b)
{
	hear_advert(b, LOCAL, NULL, 0);
}

static void
claim_by_probe(struct bench *b)
{
	hear_solicit(b, "::", LOCAL, &peer_mac, true);
}

static void
test_duplicate(void **state)
{
	(void)state;
	expect_duplicate(claim_by_advert);
	expect_duplicate(claim_by_advert_without_mac);
	expect_duplicate(claim_by_probe);
}

/* Our own packets that come back, what others say of others, and claims that come too late. */
static void
test_no_duplicate(void **state)
{
	struct bench *b = bench_create(NULL);

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, LOCAL "/64", 0), 0);
	hear_solicit(b, "::", LOCAL, &mac0, true);
	hear_advert(b, LOCAL, &mac0, OVERRIDE);
	hear_solicit(b, "::", R2, &peer_mac, false);
	hear_solicit(b, R2, LOCAL, &peer_mac, true);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_TENTATIVE);
	bench_run(b, 1000);
	hear_advert(b, LOCAL, &peer_mac, OVERRIDE);
	hear_solicit(b, "::", LOCAL, &peer_mac, true);
	assert_int_equal(address_state(b, LOCAL), VX_ADDRESS_PREFERRED);
	bench_destroy(b, 0);
}

/* --- neighbours --- */

static void
test_resolution(void **state)
{
	struct bench *b = bench_with_ipv6();
	const struct sent *s;

	(void)state;
	assert_int_equal(track(b, R2), 0);
	s = sent_for(b, R2, 0);
	assert_int_equal(s->nd_type, VX_ND_SOLICIT);
	assert_ip_is(&s->nd_source, LOCAL);
	assert_ip_is(&s->nd_destination, "ff02::1:ff00:2");
	assert_memory_equal(&s->dst, "\x33\x33\xff\x00\x00\x02", 6);
	assert_true(s->has_option);
	assert_string_equal(path(b, R2).why,
			    "waiting for a neighbour advertisement of the next hop");
	hold(b, R2, 7);
	/* an answer that names no MAC is none (RFC 4861 7.2.5) */
	hear_advert(b, R2, NULL, SOLICITED | OVERRIDE);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_INCOMPLETE);
	hear_advert(b, R2, &peer_mac, SOLICITED);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	assert_next_hop(b, R2, &peer_mac);
	assert_int_equal(b->sent[b->sent_n - 1].mark, 7);
	/* refreshed by unicast, then by multicast, then given up */
	bench_forget(b);
	bench_run(b, 30000);
	s = sent_for(b, R2, 0);
	assert_ip_is(&s->nd_destination, R2);
	assert_memory_equal(&s->dst, &peer_mac, 6);
	bench_run(b, 3000);
	assert_memory_equal(&sent_for(b, R2, 3)->dst, "\x33\x33\xff\x00\x00\x02", 6);
	bench_run(b, 3000);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_FAILED);
	assert_string_equal(path(b, R2).why,
			    "the next hop does not answer neighbour solicitations");
	assert_int_equal(b->counts[VX_COUNT_ND_FAILED], 1);
	assert_int_equal(b->counts[VX_COUNT_ARP_FAILED], 0);
	assert_int_equal(b->counts[VX_COUNT_ARP_REQUESTS], 0);
	hear_advert(b, R2, &other_mac, SOLICITED);
	assert_next_hop(b, R2, &other_mac);
	bench_destroy(b, 1);
}

/* RFC 4861 7.2.5, row by row; what was known is reachable at peer_mac. */
static void
test_advert_rules(void **state)
{
	static const struct {
		const struct rte_ether_addr *mac;
		uint8_t flags;
		const struct rte_ether_addr *then;
		enum vx_neigh_state state;
	} rules[] = {
		{&other_mac, 0, &peer_mac, VX_NEIGH_DELAY},
		{&other_mac, SOLICITED, &peer_mac, VX_NEIGH_DELAY},
		{&other_mac, OVERRIDE, &other_mac, VX_NEIGH_DELAY},
		{&other_mac, SOLICITED | OVERRIDE, &other_mac, VX_NEIGH_REACHABLE},
		{&peer_mac, 0, &peer_mac, VX_NEIGH_REACHABLE},
		{&peer_mac, OVERRIDE, &peer_mac, VX_NEIGH_REACHABLE},
		{NULL, OVERRIDE, &peer_mac, VX_NEIGH_REACHABLE},
		{NULL, SOLICITED, &peer_mac, VX_NEIGH_REACHABLE},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rules); i++) {
		struct bench *b = bench_with_ipv6();

		assert_int_equal(track(b, R2), 0);
		hear_advert(b, R2, &peer_mac, SOLICITED);
		hear_advert(b, R2, rules[i].mac, rules[i].flags);
		assert_next_hop(b, R2, rules[i].then);
		assert_int_equal(neigh_state(b, R2), rules[i].state);
		bench_destroy(b, 0);
	}
}

/* Not reachable any more: without override another MAC changes nothing, a solicited answer with
 * the known one confirms. */
static void
test_advert_rules_delay(void **state)
{
	struct bench *b = bench_with_ipv6();

	(void)state;
	assert_int_equal(track(b, R2), 0);
	hear_advert(b, R2, &peer_mac, 0);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_DELAY);
	hear_advert(b, R2, &other_mac, SOLICITED);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_DELAY);
	assert_next_hop(b, R2, &peer_mac);
	hear_advert(b, R2, NULL, SOLICITED);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_REACHABLE);
	bench_destroy(b, 0);
}

static void
test_static_stays(void **state)
{
	struct bench *b = bench_with_ipv6();

	(void)state;
	assert_int_equal(add_neigh(b, R2, &peer_mac, 0), 0);
	hear_advert(b, R2, &other_mac, SOLICITED | OVERRIDE);
	hear_solicit(b, R2, LOCAL, &other_mac, true);
	assert_next_hop(b, R2, &peer_mac);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_PERMANENT);
	assert_int_equal(sent_count(b, R2), 0);
	assert_int_equal(del_neigh(b, R2), 0);
	bench_destroy(b, 0);
}

/* RFC 4861 7.2.3: only who asks for us is entered, and only from the link. */
static void
test_solicit_creates(void **state)
{
	struct bench *b = bench_with_ipv6();
	struct vx_neigh_info info;

	(void)state;
	hear_advert(b, R2, &peer_mac, OVERRIDE); /* nobody asked */
	hear_solicit(b, R2, "2001:db8::9", &peer_mac, false);
	hear_solicit(b, "2001:db8:9::9", LOCAL, &peer_mac, true); /* off-link */
	assert_false(neigh_info(b, R2, &info));
	assert_false(neigh_info(b, "2001:db8:9::9", &info));
	hear_solicit(b, R2, LOCAL, &peer_mac, true);
	hear_solicit(b, "fe80::2", LINK_LOCAL, &peer_mac, true);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_STALE);
	assert_int_equal(neigh_state(b, "fe80::2"), VX_NEIGH_STALE);
	assert_int_equal(track(b, R2), 0);
	assert_int_equal(neigh_state(b, R2), VX_NEIGH_DELAY);
	hear_solicit(b, R2, LOCAL, &other_mac, true); /* a new MAC counts at once */
	assert_next_hop(b, R2, &other_mac);
	bench_run(b, 5000);
	assert_int_equal(sent_count(b, R2), 1);
	assert_memory_equal(&sent_for(b, R2, 0)->dst, &other_mac, 6);
	bench_destroy(b, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_local),   cmocka_unit_test(test_link_local_without_room),
		cmocka_unit_test(test_detection),    cmocka_unit_test(test_duplicate),
		cmocka_unit_test(test_no_duplicate), cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_advert_rules), cmocka_unit_test(test_advert_rules_delay),
		cmocka_unit_test(test_static_stays), cmocka_unit_test(test_solicit_creates),
	};

	return cmocka_run_group_tests_name("underlay_nd", tests, setup_eal, NULL);
}
