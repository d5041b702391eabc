/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: the program itself: workers, memory, version, configuration. */
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_version.h>

#include "cli_nouns.h"
#include "stats.h"
#include "vx_reassemble.h"
#include "worker.h"

static void
print_queues(FILE *out, const struct worker *worker)
{
	const struct worker_queues *queues = worker->queues;

	if (queues->n == 0)
		fprintf(out, " none");
	for (unsigned int i = 0; i < queues->n; i++)
		fprintf(out, " %u/%u", queues->queue[i].port, queues->queue[i].queue);
	fprintf(out, "\n");
}

/* Workers reassemble each for itself: say where that may not be enough. */
static void
print_scattered(FILE *out, const struct app *app)
{
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct port *port = &app->ports.port[id];

		if (port->role != VX_ROLE_UNDERLAY || !port_is_set_up(port) ||
		    port_fragments(port) != PORT_FRAGMENTS_SCATTERED)
			continue;
		fprintf(out,
			"port %u (%s): fragments of one datagram may reach several workers, and "
			"are then dropped as frag_timeout: %s does not promise to keep them on "
			"one of %u receive queues; give it one queue\n",
			id, port->name, port->info.driver_name, port->plan.n_rxq);
	}
}

static int
run_show_worker(struct cli_call *call)
{
	const struct app *app = call->app;

	fprintf(call->out, "%-6s %5s %4s %6s %14s %15s %13s  %s\n", "worker", "lcore", "node",
		"busy", "packets", "packets/burst", "cycles/packet", "receives port/queue");
	for (unsigned int i = 0; i < app->n_workers; i++) {
		const struct worker *worker = app->worker[i];
		const struct worker_load load = stats_load(app, i);
		const uint64_t cycles = load.busy_cycles + load.idle_cycles;

		fprintf(call->out, "%-6u %5u %4d %5.1f%% %14" PRIu64 " %15.1f %13.0f ", i,
			worker->lcore_id, (int)rte_lcore_to_socket_id(worker->lcore_id),
			cycles == 0 ? 0.0 : 100.0 * (double)load.busy_cycles / (double)cycles,
			load.packets,
			load.bursts == 0 ? 0.0 : (double)load.packets / (double)load.bursts,
			load.packets == 0 ? 0.0 : (double)load.busy_cycles / (double)load.packets);
		print_queues(call->out, worker);
	}
	fprintf(call->out,
		"TSC %.3f GHz; busy and cycles: of rounds with packets, since start or "
		"clear fwd stats all\n",
		(double)rte_get_tsc_hz() / 1e9);
	print_scattered(call->out, app);
	return 0;
}

static void
print_pool(FILE *out, const struct rte_mempool *pool, unsigned int data_room)
{
	const unsigned int available = rte_mempool_avail_count(pool);

	fprintf(out, "pool %-26s size %8u free %8u in-use %8u room %6u node %d\n", pool->name,
		pool->size, available, pool->size - available, data_room, pool->socket_id);
}

static int
run_show_memory(struct cli_call *call)
{
	const struct pool_table *pools = &call->app->ports.pools;
	const struct app *app = call->app;

	for (unsigned int i = 0; i < POOL_MAX; i++)
		if (pools->pool[i].mempool != NULL)
			print_pool(call->out, pools->pool[i].mempool, pools->pool[i].data_room);
	print_pool(call->out, app->copy_pool, rte_pktmbuf_data_room_size(app->copy_pool));
	print_pool(call->out, app->host_pool, rte_pktmbuf_data_room_size(app->host_pool));
	for (unsigned int node = 0; node < rte_socket_count(); node++) {
		struct rte_malloc_socket_stats heap;

		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(node), &heap) != 0)
			continue;
		fprintf(call->out, "heap node %d size %zu MiB free %zu MiB\n",
			rte_socket_id_by_idx(node), heap.heap_totalsz_bytes >> 20,
			heap.heap_freesz_bytes >> 20);
	}
	return 0;
}

static int
run_show_reassembly(struct cli_call *call)
{
	const struct vx_view *view = call->app->tables->view;

	fprintf(call->out, "%-6s %5s %10s %10s %12s\n", "worker", "lcore", "datagrams", "fragments",
		"bytes");
	for (unsigned int i = 0; i < call->app->n_workers; i++) {
		const struct worker *worker = call->app->worker[i];
		const struct vx_reassembly_state state =
			vx_reassembly_state(worker->lcore.reassembly);

		fprintf(call->out, "%-6u %5u %10u %10u %12" PRIu64 "\n", i, worker->lcore_id,
			state.datagrams, state.fragments, state.bytes);
	}
	fprintf(call->out, "reassembly %s, timeout %u ms, at most %u datagrams a worker\n",
		view->is_reassembling ? "on" : "off", view->reassembly_ms, view->reassembly_max);
	return 0;
}

static int
run_show_version(struct cli_call *call)
{
	fprintf(call->out, "dpdk-vxlan %s, %s\n", VX_VERSION, rte_version());
	return 0;
}

static int
run_show_config(struct cli_call *call)
{
	return app_config_print(call->app, call->out);
}

/* clang-format off */
const struct cli_row cli_system_rows[] = {
	{"show worker",
	 "workers: how busy, and which queues they poll\n"
	 "Names each underlay port that may scatter the fragments of a datagram over workers.",
	 run_show_worker},
	{"show memory",
	 "packet buffers, and memory of each NUMA node\n"
	 "in-use: in the receive rings of drivers, or in packets.",
	 run_show_memory},
	{"show reassembly", "outer fragments that wait for others", run_show_reassembly},
	{"show version", "versions of the program and of DPDK", run_show_version},
	{"show config", "the configuration, as commands that recreate it", run_show_config},
	{0},
};
/* clang-format on */
