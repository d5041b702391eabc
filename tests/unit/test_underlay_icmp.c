/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo replies of every size, over segments of every kind, with checksums computed here anew. */
#include "test_underlay_packet.h"
#include "vx_icmp.h"

#define PACKET_MAX 9200

struct packet {
	uint8_t bytes[PACKET_MAX];
	uint32_t len;
	uint32_t ip_offset;
	uint32_t header_len;
};

/* RFC 1071, as it is written: words in network order, the last one filled up with zero. */
static uint16_t
checksum(const uint8_t *bytes, uint32_t len)
{
	uint64_t even = 0, odd = 0, sum;

	for (uint32_t i = 0; i + 1 < len; i += 2) {
		even += bytes[i];
		odd += bytes[i + 1];
	}
	if (len % 2 != 0)
		even += bytes[len - 1];
	for (sum = (even << 8) + odd; sum > 0xffff;)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~sum;
}

static void
put16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static void
write_checksums(struct packet *p)
{
	uint8_t *header = p->bytes + p->ip_offset, *icmp = header + p->header_len;

	put16(header + 10, 0);
	put16(header + 10, checksum(header, p->header_len));
	put16(icmp + 2, 0);
	put16(icmp + 2, checksum(icmp, p->len - p->ip_offset - p->header_len));
}

/* A request with @size bytes of payload; @tags VLAN tags, @options bytes of IP options. */
static void
make_request(struct packet *p, uint32_t size, uint32_t tags, uint32_t options)
{
	static const uint8_t macs[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
	static const uint8_t addresses[] = {192, 0, 2, 2, 192, 0, 2, 1};
	uint8_t *header, *icmp;

	memset(p->bytes, 0, 200);
	p->ip_offset = 14 + 4 * tags;
	p->header_len = 20 + options;
	p->len = p->ip_offset + p->header_len + 8 + size;
	assert_true(p->len <= PACKET_MAX);
	memcpy(p->bytes, macs, sizeof(macs));
	for (uint32_t i = 0; i < tags; i++)
		put16(p->bytes + 12 + 4 * i, 0x8100);
	put16(p->bytes + p->ip_offset - 2, 0x0800);
	header = p->bytes + p->ip_offset;
	header[0] = (uint8_t)(0x40 | p->header_len / 4);
	header[1] = 0xb9;
	put16(header + 2, (uint16_t)(p->len - p->ip_offset));
	put16(header + 4, 0xbeef);
	put16(header + 6, 0x4000);
	header[8] = 17;
	header[9] = 1;
	memcpy(header + 12, addresses, sizeof(addresses));
	memset(header + 20, 7, options);
	icmp = header + p->header_len;
	icmp[0] = 8;
	put16(icmp + 4, 0x1234);
	put16(icmp + 6, 0x5678);
	for (uint32_t i = 0; i < size; i++)
		icmp[8 + i] = (uint8_t)(i * 37 + (i >> 8) + 0xc3);
	write_checksums(p);
}

static void
make_reply(const struct packet *from, struct packet *to)
{
	uint8_t *header = to->bytes + from->ip_offset;

	*to = *from;
	memcpy(to->bytes, from->bytes + 6, 6);
	memcpy(to->bytes + 6, from->bytes, 6);
	header[8] = 64;
	memcpy(header + 12, from->bytes + from->ip_offset + 16, 4);
	memcpy(header + 16, from->bytes + from->ip_offset + 12, 4);
	memset(header + 20, 0, from->header_len - 20);
	header[from->header_len] = 0;
	write_checksums(to);
}

static void
check_reply(const struct packet *p, uint32_t first, uint32_t rest)
{
	struct rte_mbuf *m = make_chain(p->bytes, p->len, first, rest);
	static struct packet want;

	make_reply(p, &want);
	assert_int_equal(vx_icmp_echo_reply(m, p->ip_offset, p->header_len), VX_DROP_NONE);
	assert_chain(m, want.bytes, want.len);
}

static void
check_bad(const struct packet *p, uint32_t first, uint32_t rest)
{
	struct rte_mbuf *m = make_chain(p->bytes, p->len, first, rest);

	assert_int_equal(vx_icmp_echo_reply(m, p->ip_offset, p->header_len), VX_DROP_ICMP_BAD);
	assert_chain(m, p->bytes, p->len);
}

/* Every size up to 9000 in odd pieces, many of them also in one, or in as few as can be. */
static void
test_sizes(void **state)
{
	static const uint32_t odd[] = {7, 13, 101, 255, 511, 999, 1501, 2047};
	static struct packet p;

	(void)state;
	for (uint32_t size = 0; size <= 9000; size++) {
		make_request(&p, size, 0, 0);
		if (size % 8 == 0 || size < 2048)
			check_reply(&p, 2048, 2048);
		check_reply(&p, 43 + size % 64, odd[size % RTE_DIM(odd)]);
	}
}

/* Split at each byte, in two and in ones, with and without options and tags. */
static void
test_split(void **state)
{
	static struct packet p;

	(void)state;
	for (uint32_t shape = 0; shape < 3 * 11; shape++) {
		make_request(&p, 33 + shape % 2, shape % 3, 4 * (shape / 3));
		for (uint32_t first = 0; first <= p.len; first++)
			check_reply(&p, first, PACKET_MAX);
		check_reply(&p, 1, 1);
		check_reply(&p, 0, 3);
	}
}

/* Each value that the checksum can have: the incremental update has two zeros to mistake. */
static void
test_checksum_values(void **state)
{
	static struct packet p;

	(void)state;
	for (uint32_t value = 0; value <= 0xffff; value++) {
		make_request(&p, 0, 0, 0);
		put16(p.bytes + 14 + 20 + 4, (uint16_t)value);
		write_checksums(&p);
		check_reply(&p, p.len, 1);
	}
}

/* Each bit of the ICMP part. */
static void
test_corrupt(void **state)
{
	static struct packet p;

	(void)state;
	for (uint32_t size = 0; size < 70; size += 23) {
		make_request(&p, size, 0, 0);
		for (uint32_t bit = (p.ip_offset + p.header_len) * 8; bit < p.len * 8; bit++) {
			p.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			check_bad(&p, p.len, 1);
			check_bad(&p, 41, 7);
			p.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		check_reply(&p, p.len, 1);
	}
}

static void
set_and_check_bad(uint32_t at, uint8_t value)
{
	static struct packet p;

	make_request(&p, 56, 0, 0);
	check_reply(&p, p.len, 1);
	assert_int_not_equal(p.bytes[at], value);
	p.bytes[at] = value;
	write_checksums(&p);
	check_bad(&p, p.len, 1);
	check_bad(&p, 11, 11);
}

static void
test_not_an_echo_request(void **state)
{
	(void)state;
	set_and_check_bad(34, 0);    /* an echo reply */
	set_and_check_bad(34, 3);    /* unreachable */
	set_and_check_bad(34, 13);   /* timestamp */
	set_and_check_bad(35, 1);    /* a code */
	set_and_check_bad(23, 17);   /* UDP */
	set_and_check_bad(20, 0x20); /* more fragments */
	set_and_check_bad(21, 1);    /* a later fragment */
	set_and_check_bad(26, 224);  /* from a group */
	set_and_check_bad(26, 0);
	set_and_check_bad(26, 127);
	set_and_check_bad(26, 255);
}

static void
test_lengths(void **state)
{
	static struct packet p;
	struct rte_mbuf *m;

	(void)state;
	/* cut within the ICMP header, or before it */
	for (uint32_t len = 0; len < 14 + 20 + 8; len++) {
		make_request(&p, 0, 0, 0);
		p.len = len;
		check_bad(&p, len, 1);
		check_bad(&p, len / 2, 1);
	}
	/* cut within the data: the checksum tells, except where what is missing is zero */
	for (uint32_t cut = 1; cut < 100; cut++) {
		make_request(&p, 100, 0, 0);
		p.bytes[p.len - cut] |= 1;
		write_checksums(&p);
		p.len -= cut;
		if (checksum(p.bytes + 34, p.len - 34) != 0)
			check_bad(&p, 61, 17);
	}
	/* offsets that cannot be */
	make_request(&p, 64, 0, 0);
	m = make_chain(p.bytes, p.len, p.len, 1);
	assert_int_equal(vx_icmp_echo_reply(m, 13, 20), VX_DROP_ICMP_BAD);
	assert_int_equal(vx_icmp_echo_reply(m, 14, 16), VX_DROP_ICMP_BAD);
	assert_int_equal(vx_icmp_echo_reply(m, 14, 90), VX_DROP_ICMP_BAD);
	assert_int_equal(vx_icmp_echo_reply(m, 100, 20), VX_DROP_ICMP_BAD);
	assert_chain(m, p.bytes, p.len);
}

/* What a driver said about the request does not stick to the reply. */
static void
test_flags(void **state)
{
	static struct packet p;
	struct rte_mbuf *m;

	(void)state;
	make_request(&p, 64, 0, 0);
	m = make_chain(p.bytes, p.len, p.len, 1);
	m->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_TX_IP_CKSUM;
	m->packet_type = 0x11;
	m->l3_len = 20;
	assert_int_equal(vx_icmp_echo_reply(m, 14, 20), VX_DROP_NONE);
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->packet_type, 0);
	assert_int_equal(m->tx_offload, 0);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_checksum_values),
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_not_an_echo_request),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests_name("underlay_icmp", tests, setup_pool, teardown_pool);
}
