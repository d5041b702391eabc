/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "app.h"
#include "cli.h"
#include "learn.h"
#include "net.h"
#include "stats.h"
#include "tenant.h"
#include "trace_log.h"
#include "vx_fdb.h"
#include "vx_group.h"
#include "vx_log.h"
#include "vx_rcu.h"
#include "vx_underlay.h"
#include "vx_vtep.h"
#include "watch.h"
#include "worker.h"

/* Workers cannot wake this thread without a system call, so it looks at their rings this often:
 * the time a moved MAC may still be sent to its old place. */
#define IDLE_WAIT_MS 1

#define TICK_MS	      100	   /* neighbours, links */
#define AGE_MOST_MS   UINT64_C(20) /* how much ageing may be caught up in one round */
#define LEARN_BATCH   256u
#define LEARN_BATCHES 64u /* of each worker in one round, so that the prompt stays quick */
#define PUNT_BATCH    64u
#define EVENTS	      16

uint64_t
app_now(const struct app *app)
{
	return (rte_rdtsc() - app->start_tsc) / (rte_get_tsc_hz() / 1000);
}

void
app_quit(struct app *app)
{
	app->is_quitting = true;
}

int
control_signals(struct app *app, struct vx_err *err)
{
	sigset_t set;

	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return vx_err_set(err, errno, "cannot block signals: %s", strerror(errno));
	app->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (app->signal_fd < 0)
		return vx_err_set(err, errno, "cannot receive signals: %s", strerror(errno));
	return 0;
}

/* SIGINT and SIGTERM. Looked at each round rather than through epoll: one read, and no object. */
static void
check_signals(struct app *app)
{
	struct signalfd_siginfo info;

	if (read(app->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	VX_LOG(INFO, "signal %s: ending", info.ssi_signo == SIGINT ? "INT" : "TERM");
	app->is_quitting = true;
}

int
control_create(struct app *app, struct vx_err *err)
{
	app->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (app->epoll_fd < 0)
		return vx_err_set(err, errno, "cannot create an epoll set: %s", strerror(errno));
	return 0;
}

void
control_destroy(struct app *app)
{
	if (app->epoll_fd >= 0)
		close(app->epoll_fd);
	if (app->signal_fd >= 0)
		close(app->signal_fd);
}

static bool
drain_learning(struct app *app, struct worker *worker)
{
	struct vx_learn record[LEARN_BATCH];
	unsigned int n = 0, batches = 0;

	do {
		n = rte_ring_sc_dequeue_burst_elem(worker->lcore.learn_ring, record,
						   sizeof(record[0]), LEARN_BATCH, NULL);
		learn(app, record, n);
	} while (n == LEARN_BATCH && ++batches < LEARN_BATCHES);
	return n > 0;
}

static bool
drain_punts(struct app *app, struct worker *worker)
{
	struct vx_punt punt[PUNT_BATCH];
	const unsigned int n = rte_ring_sc_dequeue_burst_elem(worker->lcore.punt_ring, punt,
							      sizeof(punt[0]), PUNT_BATCH, NULL);

	for (unsigned int i = 0; i < n; i++)
		net_punt(app, &punt[i]);
	return n > 0;
}

static void
check_links(struct app *app)
{
	if (port_link_poll(&app->ports))
		app->is_link_stale = true;
	if (app->is_link_stale)
		net_links_changed(app);
}

/* What happens ten times a second. */
static void
tick(struct app *app)
{
	const uint64_t now = app_now(app);

	check_links(app);
	vx_underlay_tick(app->underlay, now);
	tenant_tick(app);
	vx_groups_tick(app->groups, now);
	vx_vtep_age_path_mtus(app->tables, now);
	trace_log_tick(app);
	vx_rcu_reclaim(app->tables->rcu);
	if (app->options.stats_period != 0 && now >= app->next_stats) {
		app->next_stats = now + app->options.stats_period * 1000u;
		stats_print(app, stdout);
		fflush(stdout);
	}
}

/* In each millisecond a thousandth of the FDB, so that even a large one holds nothing up. */
static void
age(struct app *app)
{
	const uint64_t now = app_now(app), elapsed = RTE_MIN(now - app->last_ageing, AGE_MOST_MS);

	if (elapsed == 0)
		return;
	app->last_ageing = now;
	app->counts.value[VX_COUNT_AGED] +=
		vx_fdb_age(app->tables, (uint32_t)(now / 1000), (unsigned int)(1000 / elapsed));
}

/* One round without the prompt. True if workers had something to say. */
static bool
step(struct app *app)
{
	bool is_busy = false;

	check_signals(app);
	for (unsigned int i = 0; i < app->n_workers; i++) {
		is_busy |= drain_learning(app, app->worker[i]);
		is_busy |= drain_punts(app, app->worker[i]);
		is_busy |= tenant_drain(app, app->worker[i]);
		is_busy |= trace_log_drain(app->trace_log, app->worker[i]->lcore.trace_ring);
	}
	if (atomic_load_explicit(&app->ports.has_event, memory_order_acquire))
		check_links(app);
	if (app_now(app) >= app->next_tick) {
		app->next_tick = app_now(app) + TICK_MS;
		tick(app);
	}
	age(app);
	if (app->is_path_stale)
		net_resolve(app);
	return is_busy;
}

void
app_settle(struct app *app)
{
	if (app->is_path_stale)
		net_resolve(app);
	/* A worker may be in a round that began with what was before. */
	vx_rcu_synchronize(app->tables->rcu);
}

int
app_pump(struct app *app, uint64_t milliseconds)
{
	const uint64_t end = app_now(app) + milliseconds;

	do {
		if (!step(app) && milliseconds > 0)
			rte_delay_us_sleep(IDLE_WAIT_MS * 1000);
	} while (!app->is_quitting && app_now(app) < end);
	return app->is_quitting ? -ECANCELED : 0;
}

void
control_run(struct app *app)
{
	struct epoll_event event[EVENTS];

	while (!app->is_quitting) {
		const bool is_busy = step(app);
		const int wanted = cli_poll(app->cli);
		const int n = epoll_wait(app->epoll_fd, event, EVENTS,
					 is_busy || wanted == 0 ? 0 : IDLE_WAIT_MS);

		for (int i = 0; i < n; i++) {
			struct cli_watch *watch = event[i].data.ptr;

			watch->ready(watch, event[i].events);
		}
	}
}
