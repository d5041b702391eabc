/* SPDX-License-Identifier: BSD-3-Clause */
#include "stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "app.h"

struct stats_baseline {
	struct vx_counts counts;
	struct vx_traffic port[RTE_MAX_ETHPORTS];
	struct vx_kinds *kinds[STATS_PLACES]; /* by index */
	struct worker_load *load;	      /* by worker */
};

static uint32_t
places_max(const struct app *app, enum stats_place place)
{
	const struct vx_tables_conf *conf = &app->tables->conf;
	const uint32_t max[] = {[STATS_SEGMENT] = conf->max_vnis,
				[STATS_ATTACH] = conf->max_attaches,
				[STATS_VTEP] = conf->max_vteps};

	return max[place];
}

int
stats_create(struct app *app)
{
	struct stats_baseline *base;

	base = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(sizeof(*base)));
	if (base == NULL)
		return -ENOMEM;
	*base = (struct stats_baseline){0};
	app->baseline = base;
	base->load = calloc(app->n_workers, sizeof(*base->load));
	for (unsigned int i = 0; i < STATS_PLACES; i++) {
		base->kinds[i] = calloc(places_max(app, i), sizeof(*base->kinds[i]));
		if (base->kinds[i] == NULL)
			return -ENOMEM;
	}
	return base->load == NULL ? -ENOMEM : 0;
}

void
stats_destroy(struct app *app)
{
	if (app->baseline == NULL)
		return;
	for (unsigned int i = 0; i < STATS_PLACES; i++)
		free(app->baseline->kinds[i]);
	free(app->baseline->load);
	free(app->baseline);
	app->baseline = NULL;
}

static uint64_t
load(const uint64_t *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static void
traffic_add(struct vx_traffic *sum, const struct vx_traffic *from)
{
	sum->rx_frames += load(&from->rx_frames);
	sum->rx_bytes += load(&from->rx_bytes);
	sum->tx_frames += load(&from->tx_frames);
	sum->tx_bytes += load(&from->tx_bytes);
}

static struct vx_traffic
traffic_less(struct vx_traffic sum, const struct vx_traffic *base)
{
	sum.rx_frames -= base->rx_frames;
	sum.rx_bytes -= base->rx_bytes;
	sum.tx_frames -= base->tx_frames;
	sum.tx_bytes -= base->tx_bytes;
	return sum;
}

static void
counts_sum(const struct app *app, struct vx_counts *sum)
{
	*sum = app->counts;
	for (unsigned int i = 0; i < app->n_workers; i++)
		vx_counts_add(sum, &app->worker[i]->lcore.counts);
}

static struct vx_traffic
port_sum(const struct app *app, uint16_t port)
{
	struct vx_traffic sum = {0};

	for (unsigned int i = 0; i < app->n_workers; i++)
		traffic_add(&sum, &app->worker[i]->lcore.port_traffic[port]);
	return sum;
}

/* Where one worker keeps a place's traffic. */
static const struct vx_kinds *
kinds_of(const struct vx_lcore *lcore, enum stats_place place, uint32_t index)
{
	switch (place) {
	case STATS_SEGMENT:
		return &lcore->segment_traffic[index];
	case STATS_ATTACH:
		return &lcore->attach_traffic[index];
	default:
		return &lcore->vtep_traffic[index];
	}
}

static struct vx_kinds
kinds_sum(const struct app *app, enum stats_place place, uint32_t index)
{
	struct vx_kinds sum = {0};

	for (unsigned int i = 0; i < app->n_workers; i++) {
		const struct vx_kinds *from = kinds_of(&app->worker[i]->lcore, place, index);

		for (unsigned int kind = 0; kind < VX_KINDS; kind++)
			traffic_add(&sum.of[kind], &from->of[kind]);
	}
	return sum;
}

void
stats_counts(const struct app *app, struct vx_counts *sum)
{
	counts_sum(app, sum);
	vx_counts_subtract(sum, &app->baseline->counts);
}

struct vx_traffic
stats_port(const struct app *app, uint16_t port)
{
	return traffic_less(port_sum(app, port), &app->baseline->port[port]);
}

struct vx_kinds
stats_kinds(const struct app *app, enum stats_place place, uint32_t index)
{
	const struct vx_kinds *base = &app->baseline->kinds[place][index];
	struct vx_kinds sum = kinds_sum(app, place, index);

	for (unsigned int kind = 0; kind < VX_KINDS; kind++)
		sum.of[kind] = traffic_less(sum.of[kind], &base->of[kind]);
	return sum;
}

static struct worker_load
load_now(const struct app *app, unsigned int worker)
{
	const struct worker_load *from = &app->worker[worker]->load;

	return (struct worker_load){
		.busy_cycles = load(&from->busy_cycles),
		.idle_cycles = load(&from->idle_cycles),
		.bursts = load(&from->bursts),
		.packets = load(&from->packets),
	};
}

struct worker_load
stats_load(const struct app *app, unsigned int worker)
{
	const struct worker_load *base = &app->baseline->load[worker];
	struct worker_load now = load_now(app, worker);

	now.busy_cycles -= base->busy_cycles;
	now.idle_cycles -= base->idle_cycles;
	now.bursts -= base->bursts;
	now.packets -= base->packets;
	return now;
}

void
stats_place_new(struct app *app, enum stats_place place, uint32_t index)
{
	app->baseline->kinds[place][index] = kinds_sum(app, place, index);
}

void
stats_port_new(struct app *app, uint16_t port)
{
	app->baseline->port[port] = port_sum(app, port);
}

void
stats_clear(struct app *app)
{
	struct stats_baseline *base = app->baseline;
	struct vx_counts sum;

	counts_sum(app, &sum);
	/* Frames in work or waiting have been counted on one side of the account only. They stay in
	 * it, or it would never balance again: the baseline itself has to balance. */
	sum.value[VX_COUNT_HELD] = sum.value[VX_COUNT_UNHELD];
	sum.value[VX_COUNT_RX] = sum.value[VX_COUNT_TX] + vx_counts_drops(&sum) +
				 sum.value[VX_COUNT_CONSUMED] + sum.value[VX_COUNT_MERGED] -
				 sum.value[VX_COUNT_COPIES] - sum.value[VX_COUNT_ORIGINATED] -
				 sum.value[VX_COUNT_FRAGMENTS];
	base->counts = sum;
	for (uint16_t i = 0; i < RTE_MAX_ETHPORTS; i++)
		stats_port_new(app, i);
	for (unsigned int place = 0; place < STATS_PLACES; place++)
		for (uint32_t i = 0; i < places_max(app, place); i++)
			stats_place_new(app, place, i);
	for (unsigned int i = 0; i < app->n_workers; i++)
		base->load[i] = load_now(app, i);
}

void
stats_print_kinds_title(FILE *out)
{
	fprintf(out, " %12s %15s %12s %15s %12s %15s %12s %15s", "rx-frames", "rx-bytes",
		"tx-frames", "tx-bytes", "rx-flooded", "rx-fl-bytes", "tx-flooded", "tx-fl-bytes");
}

void
stats_print_kinds(const struct app *app, FILE *out, enum stats_place place, uint32_t index)
{
	const struct vx_kinds kinds = stats_kinds(app, place, index);
	const struct vx_traffic *flooded = &kinds.of[VX_KIND_FLOODED];
	struct vx_traffic all = *flooded;

	traffic_add(&all, &kinds.of[VX_KIND_UNICAST]);
	fprintf(out,
		" %12" PRIu64 " %15" PRIu64 " %12" PRIu64 " %15" PRIu64 " %12" PRIu64 " %15" PRIu64
		" %12" PRIu64 " %15" PRIu64,
		all.rx_frames, all.rx_bytes, all.tx_frames, all.tx_bytes, flooded->rx_frames,
		flooded->rx_bytes, flooded->tx_frames, flooded->tx_bytes);
}

static void
print_line(FILE *out, const char *name, uint64_t value, const char *text)
{
	fprintf(out, "%-20s %16" PRIu64 "  %s\n", name, value, text);
}

static void
print_ports(const struct app *app, FILE *out)
{
	fprintf(out, "%-4s %-20s %-8s %16s %18s %16s %18s\n", "port", "name", "role", "rx-frames",
		"rx-bytes", "tx-frames", "tx-bytes");
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct port *port = &app->ports.port[id];
		struct vx_traffic traffic;

		if (port->role == VX_ROLE_NONE)
			continue;
		traffic = stats_port(app, id);
		fprintf(out,
			"%-4u %-20s %-8s %16" PRIu64 " %18" PRIu64 " %16" PRIu64 " %18" PRIu64 "\n",
			id, port->name, port_role_name(port->role), traffic.rx_frames,
			traffic.rx_bytes, traffic.tx_frames, traffic.tx_bytes);
	}
}

void
stats_print(const struct app *app, FILE *out)
{
	struct vx_counts sum;
	uint64_t drops;

	stats_counts(app, &sum);
	drops = vx_counts_drops(&sum);
	print_ports(app, out);
	fprintf(out, "\n");
	for (unsigned int i = VX_DROP_MAX; i < VX_COUNT_MAX; i++) {
		const struct vx_count_info *info = vx_count_info(i);

		if (i == VX_COUNT_HELD)
			print_line(out, "held",
				   sum.value[VX_COUNT_HELD] - sum.value[VX_COUNT_UNHELD],
				   "packets waiting now, for a neighbour or for other fragments");
		print_line(out, info->name, sum.value[i], info->text);
		if (i == VX_COUNT_TX)
			print_line(out, "dropped", drops, "see show drops");
	}
	fprintf(out,
		"\nreceived + flood_copies + originated + fragments = forwarded + dropped + "
		"consumed + "
		"merged + held\n"
		"%" PRIu64 " = %" PRIu64 "\n",
		sum.value[VX_COUNT_RX] + sum.value[VX_COUNT_COPIES] +
			sum.value[VX_COUNT_ORIGINATED] + sum.value[VX_COUNT_FRAGMENTS],
		sum.value[VX_COUNT_TX] + drops + sum.value[VX_COUNT_CONSUMED] +
			sum.value[VX_COUNT_MERGED] + sum.value[VX_COUNT_HELD] -
			sum.value[VX_COUNT_UNHELD]);
}

void
stats_print_drops(const struct app *app, FILE *out)
{
	struct vx_counts sum;

	stats_counts(app, &sum);
	for (unsigned int i = 0; i < VX_DROP_MAX; i++)
		print_line(out, vx_count_info(i)->name, sum.value[i], vx_count_info(i)->text);
	print_line(out, "total", vx_counts_drops(&sum), "dropped for all reasons");
}
