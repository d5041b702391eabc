/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program as one structure: there are no writable globals, so that who owns what can be read
 * here. Everything but the workers belongs to the control thread, the main lcore.
 */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "flap.h"
#include "options.h"
#include "port.h"
#include "vx_count.h"
#include "vx_err.h"
#include "vx_lcore.h"
#include "vx_tables.h"

struct cli;
struct trace_log;
struct vx_groups;
struct vx_underlay;
struct worker;

/* A group in which an IPv6 address of ours is asked for. */
struct net_solicited {
	struct vx_ip group;
	uint16_t port;
};

struct app {
	struct options options;
	struct port_table ports;
	bool is_port_stopped[RTE_MAX_ETHPORTS]; /* by `port stop`: `start` leaves it alone */
	char *attached[RTE_MAX_ETHPORTS];  /* devargs of `port attach`, by the first port they made
					    */
	bool is_mtu_set[RTE_MAX_ETHPORTS]; /* by `port config mtu`: part of the configuration */
	uint32_t storm[RTE_MAX_ETHPORTS];  /* `set storm`: frames a second, 0: no limit */
	struct vx_tables *tables;
	struct vx_underlay *underlay;
	struct vx_groups *groups; /* multicast groups that ports are members of */
	uint32_t groups_shown;	  /* what of it the workers see: vx_groups_changes() */
	struct net_solicited solicited[VX_LOCALS_MAX];
	unsigned int n_solicited;
	uint8_t multicast_ttl;	       /* of what is sent to them */
	struct rte_mempool *copy_pool; /* small buffers: headers and clones of flooded frames */
	struct rte_mempool *host_pool; /* packets that the control thread makes */

	struct worker **worker;		 /* n_workers */
	void *tx_lock[RTE_MAX_ETHPORTS]; /* spinlocks, one a cache line, of ports whose queues are
					    shared */
	unsigned int n_workers;

	struct cli *cli;
	int epoll_fd, signal_fd;
	bool is_forwarding; /* between `start` and `stop` */
	bool is_quitting;
	uint64_t start_tsc;
	uint64_t next_tick, next_stats; /* milliseconds of app_now() */
	uint64_t last_ageing;		/* likewise */

	struct vx_counts counts; /* the control thread's own */
	struct flaps flaps;	 /* MACs that move */
	struct trace_log *trace_log;
	struct stats_baseline *baseline;
	bool is_path_stale; /* VTEPs are to be told of routes and neighbours again */
	bool is_link_stale; /* a port's link may have changed */
};

/* Milliseconds since the program started, monotonic. */
uint64_t app_now(const struct app *app);

#endif
