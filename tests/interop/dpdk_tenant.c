/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tenant that is a DPDK program: usage: dpdk_tenant EAL-OPTIONS -- OWN-MAC PEER-MAC WINDOW COUNT
 * SIZE...
 *
 * Sends ICMP echo requests from 198.51.100.1 to 198.51.100.2 on its first port, COUNT of each SIZE
 * (bytes of Ethernet frame), and waits for the answers, which must carry the same bytes. Prints
 * "SIZE SENT ANSWERED WRONG" for each size; status 0 however many were answered.
 *
 * On a second port, if there is one, it is the underlay's far end as well: a mirror that sends each
 * VXLAN packet, and each fragment of one, back to where it came from, with the MAC and IP addresses
 * exchanged, the inner ones too. (All checksums stay right.) An echo request that comes back like
 * this is an answer: only its addresses differ.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>
#include <rte_vxlan.h>

#define TENANT	       0
#define MIRROR	       1
#define BURST	       32u
#define SIZE_MAX_FRAME 65600u
#define HEADERS	       (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_icmp_hdr))
#define WARM_UP	       10
#define WARM_UP_SIZE   100u
#define WAIT_MS	       1500u

struct echo {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_icmp_hdr icmp;
} __rte_packed __rte_aligned(2);

struct outer {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct rte_vxlan_hdr vxlan;
	struct rte_ether_hdr inner;
} __rte_packed __rte_aligned(2);

struct tenant {
	struct rte_mempool *pool;
	struct rte_ether_addr own, peer;
	uint8_t request[SIZE_MAX_FRAME]; /* as it is sent */
	uint32_t size;
	unsigned int answered, wrong;
};

static void
die(const char *what)
{
	fprintf(stderr, "dpdk_tenant: %s\n", what);
	exit(1);
}

static void
port_open(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {.rxmode = {.mtu = 9000}};

	if (rte_eth_dev_info_get(port, &info) != 0)
		die("no such port");
	conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (rte_eth_dev_configure(port, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(port, 0, 1024, 0, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(port, 0, 1024, 0, NULL) != 0 || rte_eth_dev_start(port) != 0)
		die("a port cannot be set up");
}

/* Into the other end's ring, however long it takes. */
static void
send_all(uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	uint16_t sent = 0;

	while (sent < n)
		sent = (uint16_t)(sent + rte_eth_tx_burst(port, 0, m + sent, (uint16_t)(n - sent)));
}

static void
request_make(struct tenant *tenant, uint32_t size, uint16_t id)
{
	struct echo *echo = (struct echo *)tenant->request;

	memset(echo, 0, sizeof(*echo));
	tenant->size = size;
	echo->ether.src_addr = tenant->own;
	echo->ether.dst_addr = tenant->peer;
	echo->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	echo->ip.version_ihl = RTE_IPV4_VHL_DEF;
	echo->ip.total_length = rte_cpu_to_be_16((uint16_t)(size - RTE_ETHER_HDR_LEN));
	echo->ip.time_to_live = 64;
	echo->ip.next_proto_id = 1;
	echo->ip.src_addr = rte_cpu_to_be_32(RTE_IPV4(198, 51, 100, 1));
	echo->ip.dst_addr = rte_cpu_to_be_32(RTE_IPV4(198, 51, 100, 2));
	echo->ip.hdr_checksum = rte_ipv4_cksum(&echo->ip);
	echo->icmp.icmp_type = RTE_IP_ICMP_ECHO_REQUEST;
	echo->icmp.icmp_ident = rte_cpu_to_be_16(id);
	for (uint32_t i = HEADERS; i < size; i++)
		tenant->request[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + id);
}

/* The request with sequence number @seq_nb, in as many mbufs as it needs. */
static struct rte_mbuf *
request_copy(struct tenant *tenant, uint16_t seq_nb)
{
	struct echo *echo = (struct echo *)tenant->request;
	struct rte_mbuf *head = NULL;
	uint32_t done = 0;

	echo->icmp.icmp_seq_nb = rte_cpu_to_be_16(seq_nb);
	echo->icmp.icmp_cksum = 0;
	echo->icmp.icmp_cksum = (uint16_t)~rte_raw_cksum(
		&echo->icmp, tenant->size - RTE_ETHER_HDR_LEN - sizeof(echo->ip));
	while (done < tenant->size) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(tenant->pool);
		uint16_t n;

		if (m == NULL)
			die("out of mbufs");
		n = (uint16_t)RTE_MIN(tenant->size - done, (uint32_t)rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_append(m, n), tenant->request + done, n);
		done += n;
		if (head == NULL)
			head = m;
		else if (rte_pktmbuf_chain(head, m) != 0)
			die("too many segments");
	}
	return head;
}

/* Count a frame that answers a request of this size; everything else is somebody's small talk. */
static void
answer_check(struct tenant *tenant, const struct rte_mbuf *m)
{
	static uint8_t copy[SIZE_MAX_FRAME];
	const struct echo *sent = (const struct echo *)tenant->request;
	const struct echo *got = (const struct echo *)copy;
	const void *data;

	if (m->pkt_len < HEADERS || m->pkt_len > sizeof(copy))
		return;
	data = rte_pktmbuf_read(m, 0, m->pkt_len, copy);
	if (data != copy)
		memcpy(copy, data, m->pkt_len);
	if (got->ether.ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || got->ip.next_proto_id != 1 ||
	    got->icmp.icmp_ident != sent->icmp.icmp_ident)
		return;
	/* frames below 60 bytes are padded */
	if (m->pkt_len != RTE_MAX(tenant->size, 60u) ||
	    !rte_is_same_ether_addr(&got->ether.dst_addr, &tenant->own) ||
	    rte_raw_cksum(&got->icmp, tenant->size - RTE_ETHER_HDR_LEN - sizeof(got->ip)) !=
		    0xffff ||
	    memcmp(copy + HEADERS, tenant->request + HEADERS, tenant->size - HEADERS) != 0)
		tenant->wrong++;
	else
		tenant->answered++;
}

static void
tenant_receive(struct tenant *tenant)
{
	struct rte_mbuf *m[BURST];
	const uint16_t n = rte_eth_rx_burst(TENANT, 0, m, BURST);

	for (uint16_t i = 0; i < n; i++)
		answer_check(tenant, m[i]);
	rte_pktmbuf_free_bulk(m, n);
}

static void
swap(void *a, void *b, size_t n)
{
	uint8_t spare[16];

	memcpy(spare, a, n);
	memcpy(a, b, n);
	memcpy(b, spare, n);
}

/* Turn a packet round; false: it is not IPv4. */
static bool
turn(struct rte_mbuf *m)
{
	struct outer *outer = rte_pktmbuf_mtod(m, struct outer *);
	const uint16_t len = rte_pktmbuf_data_len(m);

	if (len < offsetof(struct outer, udp) ||
	    outer->ether.ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return false;
	swap(&outer->ether.src_addr, &outer->ether.dst_addr, RTE_ETHER_ADDR_LEN);
	swap(&outer->ip.src_addr, &outer->ip.dst_addr, sizeof(outer->ip.src_addr));
	/* only a first fragment has the inner addresses */
	if ((outer->ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) == 0 &&
	    len >= sizeof(*outer))
		swap(&outer->inner.src_addr, &outer->inner.dst_addr, RTE_ETHER_ADDR_LEN);
	return true;
}

static void
mirror(void)
{
	struct rte_mbuf *m[BURST], *back[BURST];
	const uint16_t n = rte_eth_rx_burst(MIRROR, 0, m, BURST);
	uint16_t n_back = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (turn(m[i]))
			back[n_back++] = m[i];
		else
			rte_pktmbuf_free(m[i]);
	}
	send_all(MIRROR, back, n_back);
}

/* @count requests of one size, no more than @window of them on their way at once. Returns how many
 * were sent. */
static unsigned int
size_run(struct tenant *tenant, uint32_t size, unsigned int window, unsigned int count)
{
	const uint64_t wait = rte_get_timer_hz() / 1000 * WAIT_MS;
	const bool has_mirror = rte_eth_dev_is_valid_port(MIRROR) != 0;
	uint64_t last = rte_get_timer_cycles();
	unsigned int sent = 0, seen = 0;

	request_make(tenant, size, (uint16_t)size);
	tenant->answered = tenant->wrong = 0;
	while (seen < count && rte_get_timer_cycles() - last < wait) {
		if (sent < count && sent - seen < window) {
			struct rte_mbuf *m = request_copy(tenant, (uint16_t)sent++);

			send_all(TENANT, &m, 1);
		}
		if (has_mirror)
			mirror();
		tenant_receive(tenant);
		if (tenant->answered + tenant->wrong != seen) {
			seen = tenant->answered + tenant->wrong;
			last = rte_get_timer_cycles();
		} else {
			/* the program under test may need this CPU */
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
		}
	}
	return sent;
}

int
main(int argc, char **argv)
{
	static struct tenant tenant;
	unsigned int window, count;
	int n = rte_eal_init(argc, argv);

	if (n < 0 || argc - n < 6)
		die("usage: dpdk_tenant EAL-OPTIONS -- OWN-MAC PEER-MAC WINDOW COUNT SIZE...");
	argv += n;
	argc -= n;
	window = (unsigned int)strtoul(argv[3], NULL, 10);
	count = (unsigned int)strtoul(argv[4], NULL, 10);
	if (rte_ether_unformat_addr(argv[1], &tenant.own) != 0 ||
	    rte_ether_unformat_addr(argv[2], &tenant.peer) != 0)
		die("a MAC address expected");
	tenant.pool = rte_pktmbuf_pool_create("tenant", 8192, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	if (tenant.pool == NULL)
		die("no memory");
	for (uint16_t port = 0; port < rte_eth_dev_count_avail(); port++)
		port_open(port, tenant.pool);
	/* Until both ends of every queue have found each other; the first ones may be lost. */
	for (int i = 0; i < WARM_UP && tenant.answered == 0; i++)
		size_run(&tenant, WARM_UP_SIZE, 1, 1);
	for (int i = 5; i < argc; i++) {
		const unsigned long size = strtoul(argv[i], NULL, 10);
		unsigned int sent;

		if (size < HEADERS || size > SIZE_MAX_FRAME)
			die("a size that cannot be");
		sent = size_run(&tenant, (uint32_t)size, window, count);
		printf("%lu %u %u %u\n", size, sent, tenant.answered, tenant.wrong);
		fflush(stdout);
	}
	for (uint16_t port = 0; port < rte_eth_dev_count_avail(); port++)
		rte_eth_dev_stop(port);
	rte_eal_cleanup();
	return 0;
}
