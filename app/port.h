/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: which there are, on which side, set up as far as their drivers allow. Only the control
 * thread calls these functions, with no worker using the port unless said otherwise. The table
 * belongs to struct app and must not move once a port is set up (driver callbacks point to it).
 *
 * Order: port_roles() -> port_setup() -> port_start() -> ... -> port_stop() -> port_close().
 */
#ifndef PORT_H
#define PORT_H

#include <net/if.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_ethdev.h>

#include "pool.h"
#include "port_quirk.h"
#include "vx_err.h"
#include "vx_role.h"

/* What brings the fragments of one datagram to one worker, which alone can join them. */
enum port_fragments {
	PORT_FRAGMENTS_ONE_WORKER, /* only one polls the port */
	PORT_FRAGMENTS_BY_ADDRESS, /* RSS: a fragment's hash is of its addresses alone */
	PORT_FRAGMENTS_JOINED,	   /* none arrive: the kernel reassembles first */
	PORT_FRAGMENTS_SCATTERED,  /* nothing that we know of */
};

/* What is wanted of every port; from the options. */
struct port_conf {
	uint16_t n_rxq, n_txq; /* 0: one per worker where the port can */
	uint16_t n_rxd, n_txd; /* 0: what the driver prefers */
	uint16_t mbuf_size;    /* data room in bytes, headroom included; 0: the default of DPDK */
	uint16_t n_workers;    /* at least 1 */
	uint16_t inner_mtu;    /* bytes of inner IP packet */
	uint16_t underlay_mtu; /* bytes of outer IP packet; 0: what the port has */
	uint32_t burst;	       /* frames */
	uint32_t mbcache;      /* mbufs per lcore and pool */
	uint32_t total_mbufs;  /* in each pool; 0: computed */
	uint32_t held_packets; /* packets that may wait in software: for neighbours, in rings */
};

enum port_state {
	PORT_UNUSED, /* no port, or one without a role */
	PORT_NEW,    /* has a role */
	PORT_STOPPED,
	PORT_STARTED,
	PORT_FAILED, /* half set up; only port_close() and port_remove() are of use */
};

/* What driver and settings make of a port; worked out as a whole before any of it is applied. */
struct port_plan {
	uint16_t mtu;	     /* IP packet: inner (access) or outer (underlay); the limit in force */
	uint16_t mtu_asked;  /* 0: nothing was asked for */
	uint16_t driver_mtu; /* for the driver's configuration */
	bool tells_driver;   /* with rte_eth_dev_set_mtu() as well */
	bool is_mtu_untold;  /* the driver works with another MTU than ours */
	uint32_t frame;	     /* largest frame for that MTU: with two VLAN tags (access) or one */
	struct port_limits limits;
	uint16_t rxq_asked, txq_asked; /* 0: one per worker */
	uint16_t rxd_asked, txd_asked; /* 0: what the driver prefers */
	uint16_t n_rxq, n_txq, n_rxd, n_txd;
	uint16_t n_workers;   /* they share the send queues if these are fewer */
	uint16_t data_room;   /* of the receive pool */
	uint16_t linear_room; /* of the pool for linear copies; 0: none needed */
	bool rx_chains;	      /* frames may arrive as chains */
	uint64_t rx_offloads, tx_offloads, rss_hf;
	uint32_t pool_share, linear_share; /* mbufs */
};

/* What a port has taken from the pools. */
struct port_buffers {
	struct pool *pool;   /* for receiving; never NULL when set up */
	struct pool *linear; /* a pool of its own for linear copies; NULL: none */
	uint32_t share, linear_share;
};

struct port {
	/* found out once, before the port is configured */
	uint16_t id;
	enum vx_role role;
	char name[RTE_ETH_NAME_MAX_LEN];
	char iface[IF_NAMESIZE]; /* kernel interface behind it, or "" */
	const struct port_quirk *quirk;
	struct rte_eth_dev_info info;
	uint16_t found_mtu; /* what the driver had */
	int node;	    /* NUMA node of its pools */

	/* set up */
	enum port_state state;
	struct port_plan plan;
	struct rte_ether_addr mac;
	struct rte_mempool *mempool; /* receive; never NULL when set up */
	/* For copies of what the driver does not take as it is. A copy has less than the usual
	 * headroom if it needs the space: data_off = min(RTE_PKTMBUF_HEADROOM, buf_len - pkt_len).
	 * NULL: never needed. */
	struct rte_mempool *linear_mempool;
	struct port_buffers buffers;
	bool has_lsc;	      /* link changes set port_table.has_event */
	bool is_promisc;      /* receives what is for other MAC addresses */
	uint64_t rss_got;     /* RSS hash types in force, once it has been started */
	uint32_t kept;	      /* mbufs that its driver took at set-up and will not give back */
	bool has_fallen_back; /* one queue, because several did not work */

	/* changes by itself */
	struct rte_eth_link link;
	atomic_bool is_removed; /* set by the driver's interrupt thread: unplugged */
};

struct port_table {
	struct port port[RTE_MAX_ETHPORTS]; /* index: port id */
	struct pool_table pools;
	struct port_conf conf; /* for the ports that are set up next */
	atomic_bool
		has_event; /* set by the driver's interrupt thread, cleared by port_link_poll() */
};

/* One receive queue of a started port, for giving queues to workers. */
struct port_queue {
	uint16_t port;
	uint16_t queue;
	int node;
};

static inline bool
port_is_set_up(const struct port *port)
{
	return port->state == PORT_STOPPED || port->state == PORT_STARTED;
}

/* --- port_roles.c: names and roles --- */

/* A port id or device name to the id of a port that has a role. */
int port_find(const struct port_table *table, const char *text, uint16_t *id, struct vx_err *err);

/*
 * Give every DPDK port its role and read its facts. Lists hold port ids or device names and may be
 * empty: without @underlay the first port not named is the underlay, without @access all others are
 * access ports. Nothing is changed on failure.
 */
int port_roles(struct port_table *table, const char *const *underlay, unsigned int n_underlay,
	       const char *const *access, unsigned int n_access, struct vx_err *err);

/* Give one present port a role: PORT_UNUSED to PORT_NEW. */
int port_adopt(struct port_table *table, uint16_t id, enum vx_role role, struct vx_err *err);

const char *port_role_name(enum vx_role role);
const char *port_state_name(enum port_state state);

/* --- port_setup.c: pools, configuration, queues --- */

/* Set up every port in PORT_NEW as @table->conf says, with pools for them. All become PORT_STOPPED,
 * or @err says why not: those touched by then are PORT_FAILED. */
int port_setup(struct port_table *table, struct vx_err *err);

/*
 * Change the MTU: the inner one of an access port, the outer one of an underlay port. Stops and
 * starts the port where its driver has to be told or its buffers change; on failure the old MTU is
 * in force again. The inner MTU for ports attached later is @table->conf.inner_mtu.
 */
int port_mtu_set(struct port_table *table, uint16_t id, uint16_t mtu, struct vx_err *err);

/* --- port.c: life of a port --- */

int port_start(struct port_table *table, uint16_t id, struct vx_err *err);
int port_stop(struct port_table *table, uint16_t id, struct vx_err *err);

/* Let a started underlay port receive what is for multicast groups, or no longer. Drivers either
 * filter single groups badly or not at all: it is all of them, and what is not joined is dropped.
 */
void port_hear_groups(struct port *port, bool wanted);

/* Release the port and its buffers; the DPDK port is gone. From any state. */
void port_close(struct port_table *table, uint16_t id);
void port_close_all(struct port_table *table);

/* May the port's device be removed: does it have no other port in use? */
int port_can_detach(const struct port_table *table, uint16_t id, struct vx_err *err);

/* port_close() for all @n ports of one device, then remove it. */
int port_remove(struct port_table *table, const uint16_t *ids, unsigned int n, struct vx_err *err);

/* Bring a device in. Its ports get @role and are PORT_NEW; @n: size of @ids, then how many. */
int port_attach(struct port_table *table, const char *devargs, enum vx_role role, uint16_t *ids,
		unsigned int *n, struct vx_err *err);

/* Read the link of every port that is set up. True if any went up or down since. Cheap; call it
 * from a timer, and soon when @table->has_event is set. */
bool port_link_poll(struct port_table *table);

/* All receive queues of started ports, port by port; returns how many there are (may exceed @max).
 */
unsigned int port_queues(const struct port_table *table, struct port_queue *queues,
			 unsigned int max);

/* --- port_rss.c: which packets meet on one queue --- */

/* The RSS hash types that suit ports of one side, whatever their drivers offer. */
uint64_t port_rss_wanted(enum vx_role role);

/* For a port that is set up. */
enum port_fragments port_fragments(const struct port *port);
const char *port_fragments_name(enum port_fragments fragments);

/* Hash types by the names that testpmd uses, and a newline. */
void port_rss_print(FILE *out, uint64_t hf);

/* --- port_info.c: for people --- */

void port_info_print(FILE *out, const struct port *port);
void port_stats_print(FILE *out, const struct port *port);
void port_xstats_print(FILE *out, const struct port *port);

#endif
