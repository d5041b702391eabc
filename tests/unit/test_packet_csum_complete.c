/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing inner checksums: right to the bit wherever headers are split, and hands off the rest.
 */
#include "test_packet.h"
#include "vx_csum.h"

#define PADDING 5u

struct packet {
	struct frame frame;
	uint32_t ip;	 /* where the IP header starts */
	uint32_t layer4; /* where TCP or UDP starts */
	uint32_t end;	 /* of the IP packet: padding follows */
	uint8_t protocol;
	bool is_v6;
};

static uint32_t
checksum_at(const struct packet *p)
{
	return p->layer4 + (p->protocol == IPPROTO_TCP ? 16 : 6);
}

/* What RFC 793, RFC 768 and RFC 8200 say the checksum is. */
static uint16_t
right_checksum(const struct packet *p)
{
	const uint8_t *data = p->frame.data;
	const uint32_t len = p->end - p->layer4;
	uint64_t sum = (uint64_t)p->protocol + len;
	uint16_t checksum;

	if (p->is_v6)
		sum = reference_sum(data + p->ip + 8, 32, sum);
	else
		sum = reference_sum(data + p->ip + 12, 8, sum);
	sum = reference_sum(data + p->layer4, len, sum) - get16(data + checksum_at(p));
	checksum = (uint16_t)~reference_fold(sum);
	return checksum == 0 && p->protocol == IPPROTO_UDP ? 0xffff : checksum;
}

static void
put_layer4(struct packet *p, uint32_t payload)
{
	p->layer4 = p->frame.len;
	if (p->protocol == IPPROTO_TCP)
		put_tcp(&p->frame, 40000, 443, payload);
	else
		put_udp(&p->frame, 40000, 4789, payload);
	p->end = p->frame.len;
	put_payload(&p->frame, PADDING, 9);
}

static struct packet
make_packet(bool is_v6, uint8_t protocol, unsigned int tags, uint32_t payload, uint32_t options)
{
	static const uint16_t types[] = {0x88a8, 0x8100, 0x8100};
	const uint32_t len = (protocol == IPPROTO_TCP ? 20 : 8) + payload;
	struct packet p = {.is_v6 = is_v6, .protocol = protocol};

	put_macs(&p.frame);
	for (unsigned int i = 0; i < tags; i++)
		put_tag(&p.frame, types[i + (tags == 1)], 100 + i);
	p.ip = p.frame.len + 2;
	if (!is_v6) {
		put_ipv4(&p.frame, protocol, len, options, 0x4000);
	} else if (options == 0) {
		put_ipv6(&p.frame, protocol, len);
	} else {
		put_ipv6(&p.frame, IPPROTO_HOPOPTS, 8 + options * 8 + len);
		put_ext(&p.frame, IPPROTO_DSTOPTS, 1);
		put_ext(&p.frame, protocol, options);
	}
	put_layer4(&p, payload);
	return p;
}

/* Complete it, split after @first and then every @rest bytes: only the checksum may change. */
static void
check_split(const struct packet *p, uint32_t first, uint32_t rest)
{
	struct rte_mbuf *m = make_chain(p->frame.data, p->frame.len, first, rest);
	struct packet want = *p;

	set16(want.frame.data + checksum_at(p), right_checksum(p));
	assert_true(vx_csum_complete(m));
	assert_bytes(m, want.frame.data, want.frame.len);
	rte_pktmbuf_free(m);
}

static void
check_every_split(const struct packet *p)
{
	for (uint32_t first = 0; first <= p->frame.len; first++) {
		check_split(p, first, FRAME_MAX);
		check_split(p, first, 3);
	}
	check_split(p, 1, 1);
}

/* Families, protocols, up to two tags, odd and even lengths. */
static void
test_complete_every_split(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		const uint8_t protocol = i & 1 ? IPPROTO_TCP : IPPROTO_UDP;

		for (uint32_t payload = 0; payload < 4; payload++) {
			const struct packet p = make_packet(i & 2, protocol, i / 4, payload, 0);

			check_every_split(&p);
		}
	}
}

static void
test_complete_behind_options(void **state)
{
	(void)state;
	for (uint32_t options = 1; options <= 10; options += 3) {
		const struct packet v4 = make_packet(false, IPPROTO_TCP, 0, 7, options);
		const struct packet v6 = make_packet(true, IPPROTO_UDP, 1, 7, options);

		check_every_split(&v4);
		check_every_split(&v6);
	}
}

static void
test_complete_any_length(void **state)
{
	(void)state;
	for (uint32_t payload = 0; payload <= 300; payload++) {
		const struct packet p = make_packet(
			payload & 1, payload & 2 ? IPPROTO_TCP : IPPROTO_UDP, 0, payload, 0);

		check_split(&p, FRAME_MAX, 1);
		check_split(&p, 60, 17);
	}
}

/* Senders leave the pseudo header's sum, zero, or anything there: none of it counts. */
static void
test_old_field_does_not_count(void **state)
{
	static const uint16_t old[] = {0, 1, 0x8000, 0xfffe, 0xffff};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(old); i++) {
		struct packet p = make_packet(i & 1, IPPROTO_UDP, 0, 11, 0);

		set16(p.frame.data + checksum_at(&p), old[i]);
		check_split(&p, p.layer4 + 7, FRAME_MAX);
		set16(p.frame.data + checksum_at(&p), right_checksum(&p));
		check_split(&p, FRAME_MAX, 1);
	}
}

/* The word that makes the rest sum to 0xffff: UDP sends 0xffff for it, TCP zero. */
static void
test_computed_zero(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct packet p = make_packet(i & 1, i & 2 ? IPPROTO_TCP : IPPROTO_UDP, 0, 10, 0);
		uint8_t *word = p.frame.data + p.end - 2;
		struct rte_mbuf *m;
		uint8_t field[2];

		set16(word, 0);
		set16(word, right_checksum(&p));
		m = make_chain(p.frame.data, p.frame.len, 40, 11);
		assert_true(vx_csum_complete(m));
		memcpy(field, rte_pktmbuf_read(m, checksum_at(&p), 2, field), 2);
		assert_int_equal(get16(field), i & 2 ? 0 : 0xffff);
		rte_pktmbuf_free(m);
		check_split(&p, 50, FRAME_MAX);
	}
}

static void
check_untouched(const struct frame *f, uint32_t len, const char *why)
{
	const uint32_t firsts[] = {FRAME_MAX, 0, len / 2, len > 9 ? len - 9 : 0};

	for (unsigned int i = 0; i < RTE_DIM(firsts); i++) {
		struct rte_mbuf *m = make_chain(f->data, len, firsts[i], 13);

		if (vx_csum_complete(m))
			fail_msg("completed although %s (%u bytes)", why, len);
		assert_bytes(m, f->data, len);
		rte_pktmbuf_free(m);
	}
}

static void
test_untouched_if_cut(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		const struct packet p =
			make_packet(i & 1, i & 2 ? IPPROTO_TCP : IPPROTO_UDP, i / 4, 9, i & 1);

		for (uint32_t len = 0; len < p.end; len++)
			check_untouched(&p.frame, len, "it is cut");
		check_split(&p, FRAME_MAX, 1);
	}
}

static void
test_untouched_fragments(void **state)
{
	static const uint16_t fields[] = {0x2000, 0x0001, 0x1fff, 0x20b9, 0x6000, 0x4001};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(fields); i++) {
		struct frame f;

		put_macs(&f);
		put_ipv4(&f, IPPROTO_UDP, 20, 0, fields[i]);
		put_udp(&f, 1, 2, 12);
		check_untouched(&f, f.len, "it is an IPv4 fragment");

		put_macs(&f);
		put_ipv6(&f, IPPROTO_FRAGMENT, 28);
		put8(&f, IPPROTO_UDP);
		put8(&f, 0);
		put16(&f, fields[i]);
		put32(&f, 7);
		put_udp(&f, 1, 2, 12);
		check_untouched(&f, f.len, "it is an IPv6 fragment");
	}
}

static void
test_untouched_protocols(void **state)
{
	static const uint8_t protocols[] = {IPPROTO_ICMP, IPPROTO_SCTP, IPPROTO_GRE, IPPROTO_ICMPV6,
					    0x88};
	struct frame f;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		put_macs(&f);
		put_ipv4(&f, protocols[i], 28, 0, 0);
		put_tcp(&f, 1, 2, 8);
		check_untouched(&f, f.len, "it is neither TCP nor UDP");
		put_macs(&f);
		put_ipv6(&f, protocols[i], 28);
		put_tcp(&f, 1, 2, 8);
		check_untouched(&f, f.len, "it is neither TCP nor UDP");
	}
	/* With segments left the destination is another than the pseudo header's. */
	put_macs(&f);
	put_ipv6(&f, IPPROTO_ROUTING, 24 + 8);
	put_ext(&f, IPPROTO_UDP, 3);
	put_udp(&f, 1, 2, 0);
	check_untouched(&f, f.len, "it has a routing header");

	put_macs(&f);
	put16(&f, 0x0806);
	put_payload(&f, 46, 0);
	check_untouched(&f, f.len, "it is ARP");
	f = make_packet(false, IPPROTO_UDP, 3, 9, 0).frame;
	check_untouched(&f, f.len, "it has three tags");
}

/* Lengths in the headers that contradict each other or the frame. */
static void
test_untouched_bad_lengths(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		const uint8_t protocol = i == 0 ? IPPROTO_UDP : IPPROTO_TCP;
		const uint32_t least = i == 0 ? 8 : 20;
		struct packet p = make_packet(false, protocol, 0, 9, 0);
		uint8_t *ip = p.frame.data + p.ip;

		for (uint32_t total = 0; total < 20 + least; total++) {
			set16(ip + 2, total);
			check_untouched(&p.frame, p.frame.len, "IP says it is too short");
		}
		set16(ip + 2, p.frame.len - p.ip + 1);
		check_untouched(&p.frame, p.frame.len, "IP says it is longer");
		set16(ip + 2, 0xffff);
		check_untouched(&p.frame, p.frame.len, "IP says it is longer");
		set16(ip + 2, p.end - p.ip);
		for (uint8_t words = 0; words < 5; words++) {
			ip[0] = 0x40 | words;
			check_untouched(&p.frame, p.frame.len, "its IP header is too short");
		}
		ip[0] = 0x4f;
		check_untouched(&p.frame, p.frame.len, "its IP header is too long");

		p = make_packet(true, protocol, 0, 9, 0);
		for (uint32_t payload = 0; payload < least; payload++) {
			set16(p.frame.data + p.ip + 4, payload);
			check_untouched(&p.frame, p.frame.len, "IP says it is too short");
		}
		set16(p.frame.data + p.ip + 4, p.frame.len - p.ip - 40 + 1);
		check_untouched(&p.frame, p.frame.len, "IP says it is longer");

		p = make_packet(true, protocol, 0, 9, 1);
		p.frame.data[p.ip + 41] = 0xff;
		check_untouched(&p.frame, p.frame.len, "its options are too long");
		p.frame.data[p.ip + 41] = 0;
		for (unsigned int units = 2; units < 256; units++) { /* of the last header */
			p.frame.data[p.ip + 49] = (uint8_t)units;
			check_untouched(&p.frame, p.frame.len, "its options are too long");
		}
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		packet_test(test_complete_every_split),	 packet_test(test_complete_behind_options),
		packet_test(test_complete_any_length),	 packet_test(test_old_field_does_not_count),
		packet_test(test_computed_zero),	 packet_test(test_untouched_if_cut),
		packet_test(test_untouched_fragments),	 packet_test(test_untouched_protocols),
		packet_test(test_untouched_bad_lengths),
	};

	return cmocka_run_group_tests_name("csum complete", tests, setup_pool, NULL);
}
