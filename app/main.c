/* SPDX-License-Identifier: BSD-3-Clause */
/* Start in order, run, stop in the opposite order. The only place that chooses an exit status. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_version.h>

#include "app.h"
#include "cli_nouns.h"
#include "control.h"
#include "memory.h"
#include "net.h"
#include "net_group.h"
#include "stats.h"
#include "trace_log.h"
#include "vx_attach.h"
#include "vx_group.h"
#include "vx_log.h"
#include "vx_route.h"
#include "vx_segment.h"
#include "vx_underlay.h"
#include "worker.h"

#define DEFAULT_START_FILE VX_SYSCONFDIR "/startup.conf"

#define MACS_DEFAULT   1000000u
#define MACS_SMALL     16384u
#define SMALL_MEMORY   (512u << 20)
#define ATTACHES_MAX   65535u
#define AGEING_DEFAULT 300u
#define COPY_MBUFS     16384u /* beyond what caches and transmit rings hold */
/* One packet may be cut into more buffers than an ordinary cache holds: then all of the pool would
 * go round, cold. */
#define COPY_CACHE   RTE_MEMPOOL_CACHE_MAX_SIZE
#define COPY_ROOM    (RTE_PKTMBUF_HEADROOM + 128u)
#define HOST_MBUFS   1024u
#define HOST_ROOM    (RTE_PKTMBUF_HEADROOM + 256u)
#define HELD_PACKETS 2048u

static const struct cli_row *const all_rows[] = {
	cli_forward_rows, cli_address_rows, cli_route_rows, cli_neigh_rows,
	cli_vni_rows,	  cli_access_rows,  cli_flood_rows, cli_group_rows,
	cli_fdb_rows,	  cli_set_rows,	    cli_port_rows,  cli_vtep_rows,
	cli_stats_rows,	  cli_tenant_rows,  cli_trace_rows, cli_system_rows,
	cli_base_rows,	  cli_snoop_rows,   NULL,
};

/* --- start --- */

/* Clones and headers of flooded frames: what workers cache and what transmit rings may hold. */
static uint32_t
copies_needed(const struct app *app)
{
	uint32_t n = COPY_MBUFS + (app->n_workers + 1) * COPY_CACHE * 3 / 2;

	for (unsigned int id = 0; id < RTE_MAX_ETHPORTS; id++)
		n += (uint32_t)app->ports.port[id].plan.n_txq * app->ports.port[id].plan.n_txd;
	return rte_align32pow2(n + 1) - 1;
}

static int
start_pools(struct app *app, struct vx_err *err)
{
	const uint32_t copies = copies_needed(app);

	app->copy_pool =
		rte_pktmbuf_pool_create("copies", copies, COPY_CACHE, 0, COPY_ROOM, SOCKET_ID_ANY);
	app->host_pool =
		rte_pktmbuf_pool_create("host", HOST_MBUFS - 1, 0, 0, HOST_ROOM, SOCKET_ID_ANY);
	if (app->copy_pool == NULL || app->host_pool == NULL)
		return vx_err_set(err, ENOMEM,
				  "no memory for packet buffers (%" PRIu64 " MiB): reserve more "
				  "hugepages, or give more with -m",
				  pool_memory(copies, COPY_ROOM) >> 20);
	return 0;
}

static int
start_tables(struct app *app, struct vx_err *err)
{
	const struct options *options = &app->options;
	struct vx_tables_conf conf = {
		.max_vnis = options->max_vnis,
		.max_macs = options->max_macs,
		.max_vteps = options->max_vteps,
		.max_attaches = ATTACHES_MAX,
		.max_readers = app->n_workers,
		.mtu = (uint16_t)options->mtu,
		.learning = true,
		.ageing = AGEING_DEFAULT,
	};
	const struct vx_tables_hooks hooks = net_tables_hooks(app);

	if (conf.max_macs == 0)
		conf.max_macs = memory_available() < SMALL_MEMORY ? MACS_SMALL : MACS_DEFAULT;
	app->tables = vx_tables_create(&conf, &hooks);
	if (app->tables == NULL)
		return vx_err_set(
			err, ENOMEM,
			"no memory for tables of %u MACs: give more hugepages or -m, or a "
			"smaller --max-macs",
			conf.max_macs);
	if (stats_create(app) < 0)
		return vx_err_set(err, ENOMEM, "no memory for counters");
	app->trace_log = trace_log_create();
	if (app->trace_log == NULL)
		return vx_err_set(err, ENOMEM, "no memory for traces");
	return 0;
}

static int
start_underlay(struct app *app, struct vx_err *err)
{
	const struct vx_underlay_conf conf = {
		.ops = net_underlay_ops(),
		.ctx = app,
		.pool = app->host_pool,
		.now_ms = app_now(app),
		.max_addresses = VX_LOCALS_MAX,
		.max_remotes = app->options.max_vteps,
	};

	app->underlay = vx_underlay_create(&conf);
	if (app->underlay == NULL)
		return vx_err_set(err, ENOMEM, "no memory for routes and neighbours");
	return net_groups_create(app, err);
}

static unsigned int
names(const struct options_ports *ports, const char **name)
{
	for (unsigned int i = 0; i < ports->count; i++)
		name[i] = ports->name[i];
	return ports->count;
}

static int
start_ports(struct app *app, struct vx_err *err)
{
	const struct options *options = &app->options;
	const char *underlay[OPTIONS_PORTS_MAX], *access[OPTIONS_PORTS_MAX];
	const unsigned int n_underlay = names(&options->underlay, underlay);
	const unsigned int n_access = names(&options->access, access);
	int rc;

	app->ports.conf = (struct port_conf){
		.n_rxq = (uint16_t)options->rxq,
		.n_txq = (uint16_t)options->txq,
		.n_rxd = (uint16_t)options->rxd,
		.n_txd = (uint16_t)options->txd,
		.mbuf_size = (uint16_t)options->mbuf_size,
		.n_workers = (uint16_t)app->n_workers,
		.inner_mtu = (uint16_t)options->mtu,
		.underlay_mtu = (uint16_t)options->underlay_mtu,
		.burst = options->burst,
		.mbcache = options->mbcache,
		.total_mbufs = options->total_num_mbufs,
		.held_packets = HELD_PACKETS,
	};
	rc = port_roles(&app->ports, underlay, n_underlay, access, n_access, err);
	if (rc < 0)
		return rc;
	return port_setup(&app->ports, err);
}

/* The tunnel that --local, --gateway, --remote and --vni describe, by the commands' own functions.
 */
static int
start_tunnel(struct app *app, struct vx_err *err)
{
	const struct options *options = &app->options;
	const struct vx_segment_conf conf = {.vni = options->vni};
	struct vx_prefix everywhere = {.len = 0}; /* ::/0 */
	uint16_t underlay = 0;
	int rc = 0;

	while (underlay < RTE_MAX_ETHPORTS && app->ports.port[underlay].role != VX_ROLE_UNDERLAY)
		underlay++;
	if (!vx_ip_is_none(&options->local.ip))
		rc = net_address_add(app, &options->local, underlay, err);
	if (vx_ip_is_v4(&options->gateway))
		everywhere.ip = vx_ip_from_v4(0);
	if (rc == 0 && !vx_ip_is_none(&options->gateway))
		rc = vx_route_add(app->underlay, &everywhere, &options->gateway, err);
	if (rc < 0 || options->vni == 0)
		return rc;
	rc = vx_segment_add(app->tables, &conf, err);
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS && rc == 0; id++)
		if (app->ports.port[id].role == VX_ROLE_ACCESS)
			rc = vx_attach_add(app->tables, id, options->vni, err);
	for (unsigned int i = 0; i < options->num_remotes && rc == 0; i++)
		rc = vx_segment_flood_add(app->tables, options->vni, &options->remote[i], err);
	return rc;
}

static int
start_prompt(struct app *app, struct vx_err *err)
{
	const struct options *options = &app->options;
	const char *path = options->cli_socket;
	char default_path[108]; /* the length of sun_path */
	int rc;

	app->cli = cli_create(app, app->epoll_fd, all_rows, err);
	if (app->cli == NULL)
		return -ENOMEM;
	if (path == NULL) {
		snprintf(default_path, sizeof(default_path), "%s/cli.sock",
			 rte_eal_get_runtime_dir());
		path = default_path;
	}
	rc = cli_open_socket(app->cli, path, err);
	if (rc == 0)
		VX_LOG(INFO, "prompt at %s", path);
	return rc;
}

static int
run_start_file(struct app *app, struct vx_err *err)
{
	const char *path = app->options.cmdline_file;

	if (path == NULL) {
		if (access(DEFAULT_START_FILE, R_OK) != 0)
			return 0;
		path = DEFAULT_START_FILE;
	}
	return cli_run_file(app->cli, path, stdout, err);
}

static int
start(struct app *app, struct vx_err *err)
{
	int rc;

	if (rte_lcore_count() < 2)
		return vx_err_set(err, EINVAL,
				  "one lcore only: one is needed for control and at least one for "
				  "workers; give two or more, for example -l 0,1");
	app->n_workers = rte_lcore_count() - 1;
	if (app->options.nb_cores > app->n_workers)
		return vx_err_set(err, EINVAL,
				  "--nb-cores: %u is not allowed: expected 1 to %u, as "
				  "-l gives %u lcores",
				  app->options.nb_cores, app->n_workers, app->n_workers + 1);
	if (app->options.nb_cores != 0)
		app->n_workers = app->options.nb_cores;
	rc = control_create(app, err);
	if (rc == 0)
		rc = start_ports(app, err);
	if (rc == 0)
		rc = start_pools(app, err);
	if (rc == 0)
		rc = start_tables(app, err);
	if (rc == 0)
		rc = start_underlay(app, err);
	if (rc == 0)
		rc = workers_start(app, err);
	if (rc < 0)
		return rc;
	net_links_changed(app);
	rc = start_tunnel(app, err);
	if (rc == 0)
		rc = start_prompt(app, err);
	if (rc == 0)
		rc = run_start_file(app, err);
	if (rc == 0 && app->options.interactive)
		rc = cli_open_terminal(app->cli, err);
	/* A start file may have said `start` or `quit` itself. */
	if (rc == 0 && !app->is_forwarding && !app->is_quitting &&
	    (!app->options.interactive || app->options.auto_start))
		rc = net_forwarding_set(app, true, err);
	return rc;
}

/* --- stop --- */

/* The opposite order of start(), from wherever it got to. Returns the packet buffers that did not
 * come back. */
static uint32_t
stop(struct app *app)
{
	uint32_t missing = 0;

	if (app->is_forwarding && net_forwarding_set(app, false, NULL) < 0)
		VX_LOG(WARNING, "no memory while stopping: frames in work are lost");
	cli_destroy(app->cli);
	workers_stop(app);
	vx_groups_destroy(app->groups);
	vx_underlay_destroy(app->underlay);
	trace_log_destroy(app->trace_log);
	stats_destroy(app);
	if (app->tables != NULL)
		rte_free(app->tables->view->trace);
	vx_tables_destroy(app->tables);
	port_close_all(&app->ports);
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		rte_free(app->tx_lock[i]);
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		free(app->attached[i]);
	missing += pool_destroy_all(&app->ports.pools);
	if (app->copy_pool != NULL)
		missing += rte_mempool_in_use_count(app->copy_pool);
	if (app->host_pool != NULL)
		missing += rte_mempool_in_use_count(app->host_pool);
	rte_mempool_free(app->copy_pool);
	rte_mempool_free(app->host_pool);
	control_destroy(app);
	return missing;
}

static int
fail(const struct vx_err *err)
{
	fprintf(stderr, "dpdk-vxlan: %s\n", err->text);
	return EXIT_FAILURE;
}

/* --- options --- */

/* Where ours begin: the "--" or, without one, the end. */
static int
find_separator(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

/* Before the EAL, so that help needs no hugepages and a wrong option touches no port. */
static int
read_options(struct app *app, int argc, char **argv, struct vx_err *err)
{
	const int separator = find_separator(argc, argv);

	if (separator == argc) {
		char *none[] = {argv[0], NULL};

		return options_parse(1, none, &app->options, err);
	}
	return options_parse(argc - separator, argv + separator, &app->options, err);
}

int
main(int argc, char **argv)
{
	const enum options_early early = options_early(argc, argv);
	static struct app app = {.epoll_fd = -1, .signal_fd = -1};
	struct vx_err err = {.text = "unknown error"};
	uint32_t missing;
	int status = EXIT_SUCCESS;

	if (early == OPTIONS_EARLY_HELP) {
		options_usage(stdout);
		return EXIT_SUCCESS;
	}
	if (early == OPTIONS_EARLY_VERSION) {
		printf("dpdk-vxlan %s, %s\n", VX_VERSION, rte_version());
		return EXIT_SUCCESS;
	}
	if (read_options(&app, argc, argv, &err) < 0)
		return fail(&err);
	if (control_signals(&app, &err) < 0)
		return fail(&err);
	if (rte_eal_init(argc, argv) < 0) {
		vx_err_set(&err, rte_errno,
			   "DPDK did not start (%s): see its messages above. Without hugepages: "
			   "reserve some, for example dpdk-hugepages.py --setup 1G, or try "
			   "--no-huge -m 512",
			   rte_strerror(rte_errno));
		return fail(&err);
	}
	app.start_tsc = rte_rdtsc();
	/* A signal while the start file sleeps ends the program as it does later: cleanly. */
	if (start(&app, &err) < 0 && !app.is_quitting)
		status = fail(&err);
	else
		control_run(&app);
	missing = stop(&app);
	if (status == EXIT_SUCCESS) {
		if (missing == 0)
			VX_LOG(INFO, "ended; all packet buffers are back");
		else
			VX_LOG(ERR, "ended; %" PRIu32 " packet buffers are missing", missing);
	}
	rte_eal_cleanup();
	return status;
}
