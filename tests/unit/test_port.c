/* SPDX-License-Identifier: BSD-3-Clause */
/* Port set-up with devices that need neither root nor hugepages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "port.h"
#include "port_plan.h"

static const struct port_conf ordinary = {
	.n_workers = 1,
	.burst = 32,
	.mbcache = 32,
	.held_packets = 16,
	.inner_mtu = 1500,
};

static struct port_table *
new_table(void)
{
	struct port_table *table = calloc(1, sizeof(*table));

	assert_non_null(table);
	return table;
}

static uint16_t
attach(struct port_table *table, const char *devargs, enum vx_role role)
{
	struct vx_err err = {""};
	uint16_t id = UINT16_MAX;
	unsigned int n = 1;

	if (port_attach(table, devargs, role, &id, &n, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(n, 1);
	assert_int_equal(table->port[id].state, PORT_NEW);
	return id;
}

static void
set_up(struct port_table *table, const struct port_conf *conf)
{
	struct vx_err err = {""};

	table->conf = *conf;
	if (port_setup(table, &err) != 0)
		fail_msg("%s", err.text);
}

/* Detach all ports; every mbuf has to be back. */
static void
tear_down(struct port_table *table)
{
	struct vx_err err = {""};

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		if (table->port[id].state != PORT_UNUSED && port_remove(table, &id, 1, &err) != 0)
			fail_msg("%s", err.text);
	assert_int_equal(rte_eth_dev_count_avail(), 0);
	assert_int_equal(pool_destroy_all(&table->pools), 0);
	free(table);
}

/* A chain of @n_segs mbufs with @len bytes each. */
static struct rte_mbuf *
chain(struct rte_mempool *mempool, unsigned int n_segs, uint16_t len)
{
	struct rte_mbuf *head = NULL;

	for (unsigned int i = 0; i < n_segs; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(mempool);

		assert_non_null(mbuf);
		memset(rte_pktmbuf_append(mbuf, len), (int)i, len);
		if (head == NULL)
			head = mbuf;
		else
			assert_int_equal(rte_pktmbuf_chain(head, mbuf), 0);
	}
	return head;
}

/* A capture file with one packet of each length. */
static void
write_pcap(char *path, const uint32_t *lens, unsigned int n)
{
	static const uint8_t zeros[65536];
	const uint32_t header[6] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
	const int fd = mkstemp(path);
	FILE *file;

	assert_true(fd >= 0);
	file = fdopen(fd, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
	for (unsigned int i = 0; i < n; i++) {
		const uint32_t record[4] = {0, 0, lens[i], lens[i]};

		assert_int_equal(fwrite(record, sizeof(record), 1, file), 1);
		assert_int_equal(fwrite(zeros, lens[i], 1, file), 1);
	}
	assert_int_equal(fclose(file), 0);
}

static void
roles_by_default(void **state)
{
	struct port_table *table = new_table();
	struct vx_err err = {""};

	(void)state;
	assert_int_equal(port_roles(table, NULL, 0, NULL, 0, &err), -ENODEV);
	assert_non_null(strstr(err.text, "no ports"));
	assert_int_equal(rte_dev_probe("net_null0"), 0);
	assert_int_equal(rte_dev_probe("net_null1"), 0);
	assert_int_equal(rte_dev_probe("net_null2"), 0);
	assert_int_equal(port_roles(table, NULL, 0, NULL, 0, &err), 0);
	assert_int_equal(table->port[0].role, VX_ROLE_UNDERLAY);
	assert_int_equal(table->port[1].role, VX_ROLE_ACCESS);
	assert_int_equal(table->port[2].role, VX_ROLE_ACCESS);
	tear_down(table);
}

static void
roles_by_list(void **state)
{
	const char *const second[] = {"net_null1"}, *const first[] = {"0"};
	const char *const absent[] = {"net_null9"}, *const high[] = {"77"}, *const none[] = {""};
	const char *const twice[] = {"1", "net_null1"};
	struct port_table *table = new_table();
	struct vx_err err = {""};
	uint16_t id;

	(void)state;
	assert_int_equal(rte_dev_probe("net_null0"), 0);
	assert_int_equal(rte_dev_probe("net_null1"), 0);
	assert_int_equal(rte_dev_probe("net_null2"), 0);
	assert_int_equal(port_roles(table, absent, 1, NULL, 0, &err), -ENODEV);
	assert_non_null(strstr(err.text, "net_null9"));
	assert_non_null(strstr(err.text, "0 net_null0, 1 net_null1, 2 net_null2"));
	assert_int_equal(port_roles(table, high, 1, NULL, 0, &err), -ENODEV);
	assert_int_equal(port_roles(table, none, 1, NULL, 0, &err), -ENODEV);
	assert_int_equal(port_roles(table, twice, 2, NULL, 0, &err), -EEXIST);
	assert_int_equal(port_roles(table, second, 1, second, 1, &err), -EEXIST);
	assert_non_null(strstr(err.text, "one side"));
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		assert_int_equal(table->port[i].state, PORT_UNUSED);
	/* a list for one side only */
	assert_int_equal(port_roles(table, NULL, 0, first, 1, &err), 0);
	assert_int_equal(table->port[0].role, VX_ROLE_ACCESS);
	assert_int_equal(table->port[1].role, VX_ROLE_UNDERLAY);
	assert_int_equal(table->port[2].state, PORT_UNUSED);
	assert_int_equal(port_find(table, "net_null1", &id, &err), 0);
	assert_int_equal(id, 1);
	assert_int_equal(port_find(table, "net_null2", &id, &err), -ENODEV);
	assert_int_equal(port_roles(table, second, 1, NULL, 0, &err), 0);
	assert_int_equal(table->port[0].role, VX_ROLE_ACCESS);
	assert_int_equal(table->port[1].role, VX_ROLE_UNDERLAY);
	assert_int_equal(table->port[2].role, VX_ROLE_ACCESS);
	tear_down(table);
}

static void
ring_carries_chains(void **state)
{
	struct port_table *table = new_table();
	const uint16_t id = attach(table, "net_ring0", VX_ROLE_ACCESS);
	struct port *port = &table->port[id];
	struct port_queue queues[4];
	struct rte_mbuf *mbuf, *got = NULL;
	struct vx_err err = {""};

	(void)state;
	set_up(table, &ordinary);
	assert_int_equal(port->state, PORT_STOPPED);
	assert_int_equal(port_queues(table, queues, 4), 0);
	assert_false(rte_is_zero_ether_addr(&port->mac));
	assert_int_equal(port_start(table, id, &err), 0);
	assert_int_equal(port_queues(table, queues, 4), 1);
	assert_int_equal(queues[0].port, id);
	mbuf = chain(port->mempool, 5, 1800);
	assert_int_equal(rte_eth_tx_burst(id, 0, &mbuf, 1), 1);
	assert_int_equal(rte_eth_rx_burst(id, 0, &got, 1), 1);
	assert_int_equal(got->pkt_len, 9000);
	assert_int_equal(got->nb_segs, 5);
	/* a frame on its way when the port stops must not be lost with its memory */
	assert_int_equal(rte_eth_tx_burst(id, 0, &got, 1), 1);
	assert_int_equal(pool_missing(&table->pools), 5);
	assert_int_equal(port_stop(table, id, &err), 0);
	assert_int_equal(pool_missing(&table->pools), 0);
	assert_int_equal(port_start(table, id, &err), 0);
	tear_down(table);
}

static void
ports_share_a_pool(void **state)
{
	struct port_table *table = new_table();
	const uint16_t a = attach(table, "net_null0", VX_ROLE_UNDERLAY);
	const uint16_t b = attach(table, "net_null1", VX_ROLE_ACCESS);
	struct rte_mempool *mempool;
	uint16_t c;

	(void)state;
	set_up(table, &ordinary);
	mempool = table->port[a].mempool;
	assert_non_null(mempool);
	assert_ptr_equal(mempool, table->port[b].mempool);
	/* one that comes later as well, since it holds nothing in its rings */
	c = attach(table, "net_null2", VX_ROLE_ACCESS);
	set_up(table, &ordinary);
	assert_ptr_equal(mempool, table->port[c].mempool);
	tear_down(table);
}

static void
memory_that_is_not_there(void **state)
{
	struct port_table *table = new_table();
	struct port_conf conf = ordinary;
	struct vx_err err = {""};

	(void)state;
	attach(table, "net_null0", VX_ROLE_UNDERLAY);
	conf.total_mbufs = 10000000;
	table->conf = conf;
	assert_true(port_setup(table, &err) < 0);
	/* ten million times 2176 + 128 + 64 bytes, and a ring of 2^24 slots */
	assert_non_null(strstr(err.text, "MiB"));
	assert_non_null(strstr(err.text, "hugepages"));
	assert_in_range(pool_memory(10000000, 2176) >> 20, 22000, 24000);
	/* nothing half done: it works with less */
	conf.total_mbufs = 2000;
	set_up(table, &conf);
	assert_int_equal(table->port[0].buffers.pool->size, 2000);
	tear_down(table);
}

static void
mtu_told_and_untold(void **state)
{
	struct port_table *table = new_table();
	const uint16_t null = attach(table, "net_null0", VX_ROLE_UNDERLAY);
	const uint16_t ring = attach(table, "net_ring0", VX_ROLE_ACCESS);
	struct port_conf conf = ordinary;
	struct vx_err err = {""};
	uint16_t mtu = 0;

	(void)state;
	conf.underlay_mtu = 9000;
	conf.inner_mtu = 8900;
	set_up(table, &conf);
	assert_int_equal(rte_eth_dev_get_mtu(null, &mtu), 0);
	assert_in_range(mtu, 9000, 9004);
	assert_false(table->port[null].plan.is_mtu_untold);
	assert_int_equal(table->port[ring].plan.mtu, 8900);
	assert_true(table->port[ring].plan.is_mtu_untold);
	assert_int_equal(table->port[ring].plan.frame, 8900 + 14 + 8);
	assert_true(table->port[ring].plan.rx_chains);
	assert_int_equal(port_start(table, null, &err), 0);
	assert_int_equal(port_mtu_set(table, null, 1600, &err), 0);
	assert_int_equal(rte_eth_dev_get_mtu(null, &mtu), 0);
	assert_in_range(mtu, 1600, 1604);
	assert_int_equal(table->port[null].plan.mtu, 1600);
	assert_int_equal(table->port[null].state, PORT_STARTED);
	tear_down(table);
}

static void
pcap_file_limits(void **state)
{
	static const uint32_t lens[] = {60, 9014, 1514};
	char path[] = "/tmp/test_port_XXXXXX";
	struct port_table *table = new_table();
	struct port_conf conf = ordinary;
	struct rte_mbuf *frames[8];
	struct vx_err err = {""};
	const struct port *port;
	char devargs[128];
	uint16_t id;

	(void)state;
	write_pcap(path, lens, RTE_DIM(lens));
	snprintf(devargs, sizeof(devargs), "net_pcap0,rx_pcap=%s,infinite_rx=1", path);
	id = attach(table, devargs, VX_ROLE_ACCESS);
	port = &table->port[id];
	conf.inner_mtu = 20000;
	set_up(table, &conf);
	/* the replayed file lies in mbufs, each packet in one */
	assert_int_equal(port->plan.limits.rx_held, 3);
	assert_int_equal(port->plan.data_room, 9014 + RTE_PKTMBUF_HEADROOM);
	assert_false(port->plan.rx_chains);
	assert_int_equal(port_start(table, id, &err), 0);
	assert_int_equal(rte_eth_rx_burst(id, 0, frames, 3), 3);
	assert_int_equal(frames[1]->pkt_len, 9014);
	assert_int_equal(frames[1]->nb_segs, 1);
	rte_pktmbuf_free_bulk(frames, 3);
	/* long chains have to be made linear, for which there is room */
	assert_int_equal(port->plan.limits.max_tx_chain, 16128);
	assert_non_null(port->linear_mempool);
	assert_true(rte_pktmbuf_data_room_size(port->linear_mempool) >=
		    20000 + 14 + 8 + RTE_PKTMBUF_HEADROOM);
	tear_down(table);
	unlink(path);
}

static void
attach_and_detach(void **state)
{
	struct port_table *table = new_table();
	struct vx_err err = {""};
	unsigned int n = 1;
	uint16_t id = attach(table, "net_null0", VX_ROLE_ACCESS);

	(void)state;
	assert_true(port_attach(table, "net_null0", VX_ROLE_ACCESS, &id, &n, &err) < 0);
	n = 1;
	assert_true(port_attach(table, "net_nonsense0", VX_ROLE_ACCESS, &id, &n, &err) < 0);
	assert_non_null(strstr(err.text, "net_nonsense0"));
	assert_int_equal(port_start(table, 0, &err), -ENODEV);
	assert_int_equal(port_can_detach(table, 5, &err), -ENODEV);
	set_up(table, &ordinary);
	assert_int_equal(port_start(table, 0, &err), 0);
	id = 0;
	assert_int_equal(port_can_detach(table, id, &err), 0);
	assert_int_equal(port_remove(table, &id, 1, &err), 0);
	/* its pool stays for the next port, with nothing of it in use */
	assert_int_equal(table->pools.pool[0].n_users, 0);
	assert_int_equal(pool_out(&table->pools.pool[0]), 0);
	assert_int_equal(attach(table, "net_null0", VX_ROLE_UNDERLAY), 0);
	tear_down(table);
}

static struct port_limits
limits_of(const char *driver, const char *devargs, uint32_t frame)
{
	const struct rte_eth_dev_info info = {.max_rx_pktlen = 1518, .max_mtu = 1500};
	struct rte_kvargs *args = rte_kvargs_parse(devargs, NULL);
	const struct port_probe probe = {
		.info = &info,
		.args = args,
		.iface = "x",
		.kernel_mtu = 9000,
		.driver_mtu = 1500,
		.data_room = RTE_MBUF_DEFAULT_BUF_SIZE,
		.frame = frame,
	};
	struct port_limits limits;

	assert_non_null(args);
	port_quirk_limits(port_quirk_find(driver), &probe, &limits);
	rte_kvargs_free(args);
	return limits;
}

static void
limits_of_drivers(void **state)
{
	struct port_limits limits = limits_of("net_af_packet", "iface=x,framesz=9216", 9018);

	(void)state;
	assert_int_equal(limits.max_rx_frame, 9150);
	assert_int_equal(limits.max_tx_frame, 9014);
	assert_int_equal(limits.min_data_room, 9184 + RTE_PKTMBUF_HEADROOM);
	limits = limits_of("net_af_packet", "iface=x", 1518);
	assert_int_equal(limits.max_tx_frame, 2016);
	limits = limits_of("net_tap", "iface=x", 1518);
	assert_int_equal(limits.max_tx_frame, 1522);
	limits = limits_of("net_af_xdp", "iface=x", 1518);
	assert_int_equal(limits.max_rx_frame, 1792);
	assert_int_equal(limits.max_tx_chain, 0);
	limits = limits_of("net_memif", "bsize=4096", 1518);
	assert_int_equal(limits.max_tx_frame, 4096);
	/* a driver without a row is believed */
	limits = limits_of("net_ixgbe", "x=y", 1518);
	assert_int_equal(limits.max_tx_frame, 1514);
	assert_int_equal(limits.max_tx_chain, 0);
}

/* An underlay hashes UDP ports only where fragments are sure to be hashed by something else. */
static void
rss_chosen(void **state)
{
	const uint64_t udp4 = RTE_ETH_RSS_NONFRAG_IPV4_UDP, udp6 = RTE_ETH_RSS_NONFRAG_IPV6_UDP;
	const uint64_t i40e = RTE_ETH_RSS_FRAG_IPV4 | udp4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP |
			      RTE_ETH_RSS_FRAG_IPV6 | udp6;
	const uint64_t ixgbe = RTE_ETH_RSS_IPV4 | udp4 | RTE_ETH_RSS_IPV6 | udp6 |
			       RTE_ETH_RSS_IPV6_EX | RTE_ETH_RSS_IPV6_UDP_EX;

	(void)state;
	assert_int_equal(port_rss_choose(VX_ROLE_UNDERLAY, i40e),
			 i40e & ~RTE_ETH_RSS_NONFRAG_IPV4_TCP);
	assert_int_equal(port_rss_choose(VX_ROLE_ACCESS, i40e), i40e);
	assert_int_equal(port_rss_choose(VX_ROLE_UNDERLAY, ixgbe),
			 ixgbe & ~RTE_ETH_RSS_IPV6_UDP_EX);
	assert_int_equal(port_rss_choose(VX_ROLE_UNDERLAY, udp4 | udp6), 0);
	assert_int_equal(port_rss_choose(VX_ROLE_UNDERLAY, udp4 | RTE_ETH_RSS_FRAG_IPV4 | udp6),
			 udp4 | RTE_ETH_RSS_FRAG_IPV4);
	assert_int_equal(port_rss_choose(VX_ROLE_ACCESS, udp4), udp4);
	assert_int_equal(port_rss_choose(VX_ROLE_UNDERLAY, RTE_ETH_RSS_IPV4), RTE_ETH_RSS_IPV4);
	assert_int_equal(port_rss_choose(VX_ROLE_UNDERLAY, RTE_ETH_RSS_NONFRAG_IPV4_TCP), 0);
}

/* The information on a port, to be freed. */
static char *
info_of(const struct port *port)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	port_info_print(out, port);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* net_null offers every hash; whether it is believed is a matter of its row. */
static void
fragments_meet(void **state)
{
	static const struct {
		const char *driver;
		uint16_t n_workers;
		enum port_fragments fragments;
		const char *text;
	} cases[] = {
		{"net_null", 2, PORT_FRAGMENTS_SCATTERED, "not promised"},
		{"net_null", 1, PORT_FRAGMENTS_ONE_WORKER, "one worker polls"},
		{"believed", 2, PORT_FRAGMENTS_BY_ADDRESS, "by IP addresses"},
		{"net_af_packet", 2, PORT_FRAGMENTS_JOINED, "joined by the kernel"},
	};
	struct vx_err err = {""};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct port_table *table = new_table();
		const uint16_t id = attach(table, "net_null0", VX_ROLE_UNDERLAY);
		struct port *port = &table->port[id];
		struct port_conf conf = ordinary;
		char *text;

		conf.n_workers = cases[i].n_workers;
		conf.n_rxq = conf.n_txq = 2;
		if (cases[i].fragments == PORT_FRAGMENTS_BY_ADDRESS)
			port->quirk = port_quirk_find(cases[i].driver);
		set_up(table, &conf);
		port->quirk = port_quirk_find(cases[i].driver);
		if (port_start(table, id, &err) != 0)
			fail_msg("%s", err.text);
		assert_int_equal(port->plan.n_rxq, 2);
		assert_int_equal(port_fragments(port), cases[i].fragments);
		text = info_of(port);
		assert_non_null(strstr(text, cases[i].text));
		if (cases[i].fragments == PORT_FRAGMENTS_BY_ADDRESS) {
			assert_non_null(strstr(text, "RSS got        ipv4 ipv4-frag ipv4-udp"));
			assert_null(strstr(text, "udp-ex"));
		}
		free(text);
		tear_down(table);
	}
}

static void
info_for_people(void **state)
{
	struct port_table *table = new_table();
	const uint16_t id = attach(table, "net_null0", VX_ROLE_ACCESS);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	set_up(table, &ordinary);
	port_info_print(out, &table->port[id]);
	port_stats_print(out, &table->port[id]);
	port_xstats_print(out, &table->port[id]);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "port 0: net_null0"));
	assert_non_null(strstr(text, "access, stopped"));
	assert_non_null(strstr(text, "asked for"));
	assert_non_null(strstr(text, "rx_good_packets"));
	free(text);
	tear_down(table);
}

static int
start_eal(void **state)
{
	char arg0[] = "test_port", arg1[] = "--no-huge", arg2[] = "--no-pci",
	     arg3[] = "--no-shconf", arg4[] = "--no-telemetry", arg5[] = "-m", arg6[] = "256",
	     arg7[] = "--log-level=error", arg8[] = "-l", arg9[] = "0";
	char *argv[] = {arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9};

	(void)state;
	return rte_eal_init((int)RTE_DIM(argv), argv) < 0 ? -1 : 0;
}

static int
stop_eal(void **state)
{
	(void)state;
	return rte_eal_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_by_default),
		cmocka_unit_test(roles_by_list),
		cmocka_unit_test(ring_carries_chains),
		cmocka_unit_test(ports_share_a_pool),
		cmocka_unit_test(memory_that_is_not_there),
		cmocka_unit_test(mtu_told_and_untold),
		cmocka_unit_test(pcap_file_limits),
		cmocka_unit_test(attach_and_detach),
		cmocka_unit_test(limits_of_drivers),
		cmocka_unit_test(info_for_people),
		cmocka_unit_test(rss_chosen),
		cmocka_unit_test(fragments_meet),
	};

	return cmocka_run_group_tests_name("port", tests, start_eal, stop_eal);
}
