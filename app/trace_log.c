/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "app.h"
#include "dest_text.h"
#include "vx_fdb.h"
#include "vx_ip.h"
#include "vx_rcu.h"
#include "vx_trace.h"
#include "vx_vtep.h"
#include "worker.h"

#define RECORDS_MAX 65536u
#define BATCH	    64u

struct trace_log {
	struct vx_trace_record *record;
	uint32_t n, lost;
	uint32_t next_id; /* of frames traced before; ids go on, so that they stay apart */
};

struct trace_log *
trace_log_create(void)
{
	struct trace_log *log = calloc(1, sizeof(*log));

	if (log == NULL)
		return NULL;
	log->record = calloc(RECORDS_MAX, sizeof(*log->record));
	if (log->record == NULL) {
		free(log);
		return NULL;
	}
	return log;
}

void
trace_log_destroy(struct trace_log *log)
{
	if (log == NULL)
		return;
	free(log->record);
	free(log);
}

bool
trace_log_drain(struct trace_log *log, struct rte_ring *ring)
{
	struct vx_trace_record record[BATCH];
	const unsigned int n =
		rte_ring_sc_dequeue_burst_elem(ring, record, sizeof(record[0]), BATCH, NULL);

	for (unsigned int i = 0; i < n; i++) {
		if (log->n == RECORDS_MAX)
			log->lost++;
		else
			log->record[log->n++] = record[i];
	}
	return n > 0;
}

/* Replace what the workers trace. */
static int
view_set_trace(struct app *app, struct vx_trace *trace)
{
	struct vx_view *view = vx_view_edit(app->tables);
	struct vx_trace *old = app->tables->view->trace;

	if (view == NULL)
		return -ENOMEM;
	view->trace = trace;
	vx_view_publish(app->tables, view);
	vx_rcu_free(app->tables->rcu, old);
	return 0;
}

static void
keep_next_id(struct app *app)
{
	const struct vx_trace *trace = app->tables->view->trace;

	if (trace != NULL)
		app->trace_log->next_id = __atomic_load_n(&trace->next_id, __ATOMIC_RELAXED);
}

void
trace_log_tick(struct app *app)
{
	const struct vx_trace *trace = app->tables->view->trace;

	if (trace == NULL || __atomic_load_n(&trace->remaining, __ATOMIC_RELAXED) > 0)
		return;
	keep_next_id(app);
	view_set_trace(app, NULL); /* no memory: again at the next tick */
}

int
trace_log_start(struct app *app, const struct trace_want *want, struct vx_err *err)
{
	struct vx_trace *trace = rte_zmalloc("vx_trace", sizeof(*trace), RTE_CACHE_LINE_SIZE);

	if (trace == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	keep_next_id(app);
	*trace = (struct vx_trace){
		.remaining = (int32_t)want->frames,
		.next_id = app->trace_log->next_id,
		.vni = want->vni,
		.port = want->port,
		.has_mac = want->has_mac,
		.mac48 = want->mac48,
	};
	if (view_set_trace(app, trace) < 0) {
		rte_free(trace);
		return vx_err_set(err, ENOMEM, "no memory");
	}
	return 0;
}

int
trace_log_clear(struct app *app)
{
	if (view_set_trace(app, NULL) < 0)
		return -ENOMEM;
	vx_rcu_synchronize(app->tables->rcu);
	/* What workers wrote until then belongs to what is forgotten. */
	for (unsigned int i = 0; i < app->n_workers; i++)
		while (trace_log_drain(app->trace_log, app->worker[i]->lcore.trace_ring))
			;
	app->trace_log->n = 0;
	app->trace_log->lost = 0;
	app->trace_log->next_id = 0;
	return 0;
}

static void
print_vtep(const struct app *app, FILE *out, const char *words, uint32_t index)
{
	const struct vx_vtep *vtep = app->tables->vtep[index];
	char text[VX_IP_TEXT_MAX];

	fprintf(out, "%s %s", words,
		vtep == NULL ? "(removed since)" : vx_ip_format(&vtep->remote, text, sizeof(text)));
}

static const char *
host_protocol(uint32_t value)
{
	if (value == RTE_ETHER_TYPE_ARP)
		return "ARP";
	if (value == IPPROTO_ICMPV6)
		return "ICMPv6";
	return value == IPPROTO_IGMP ? "IGMP" : "ICMP";
}

static void
print_decision(const struct app *app, FILE *out, const struct vx_trace_record *record)
{
	char text[DEST_TEXT_MAX];

	switch ((enum vx_trace_stage)record->stage) {
	case VX_TRACE_RX:
		fprintf(out, "rx       port %u", record->value);
		break;
	case VX_TRACE_ATTACH:
		fprintf(out, "attach   VNI %u", record->value);
		break;
	case VX_TRACE_FRAGMENT:
		fprintf(out, "fragment for byte %u of its datagram, waiting for the others",
			record->value);
		break;
	case VX_TRACE_CUT:
		fprintf(out, "cut      into packets of at most %u bytes", record->value);
		break;
	case VX_TRACE_DECAP:
		fprintf(out, "decap    VNI %u", record->value);
		break;
	case VX_TRACE_LEARN:
		fprintf(out, "learn    source reported as new or moved");
		break;
	case VX_TRACE_FORWARD:
		fprintf(out, "forward  %s",
			record->value == VX_DEST_NONE
				? "destination unknown or a group: flood"
				: dest_text(app, record->value, text, sizeof(text)));
		break;
	case VX_TRACE_FLOOD:
		fprintf(out, "flood    up to %u targets", record->value);
		break;
	case VX_TRACE_ENCAP:
		print_vtep(app, out, "encap    to", record->value);
		break;
	case VX_TRACE_HELD:
		print_vtep(app, out, "held     until the next hop answers, for", record->value);
		break;
	case VX_TRACE_HOST:
		fprintf(out, "host     %s for this VTEP, answered or noted",
			host_protocol(record->value));
		break;
	case VX_TRACE_TX:
		fprintf(out, "tx       port %u", record->value);
		break;
	case VX_TRACE_DROP:
		fprintf(out, "drop     %s", vx_drop_name((enum vx_drop)record->value));
		break;
	case VX_TRACE_STAGES:
		break;
	}
}

static void
print_bytes(FILE *out, const struct vx_trace_record *record)
{
	for (unsigned int i = 0; i < record->n_bytes; i++) {
		if (i % 32 == 0)
			fprintf(out, "%s%14s", i == 0 ? "" : "\n", "");
		fprintf(out, "%s%02x", i % 2 == 0 ? " " : "", record->bytes[i]);
	}
	fprintf(out, "\n");
}

/* Records of one frame are together and in the order of time. */
static int
compare(const void *a, const void *b)
{
	const struct vx_trace_record *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

void
trace_log_print(const struct app *app, FILE *out)
{
	const double cycles_per_us = (double)rte_get_tsc_hz() / 1e6;
	const struct vx_trace *trace = app->tables->view->trace;
	struct trace_log *log = app->trace_log;
	uint64_t first = 0;
	int32_t left = 0;

	qsort(log->record, log->n, sizeof(log->record[0]), compare);
	for (uint32_t i = 0; i < log->n; i++) {
		const struct vx_trace_record *record = &log->record[i];
		const bool is_new = i == 0 || record->id != log->record[i - 1].id;

		if (is_new) {
			first = record->tsc;
			fprintf(out, "frame %u  at %.6f s, lcore %u\n", record->id,
				(double)(first - app->start_tsc) / (cycles_per_us * 1e6),
				app->worker[record->worker]->lcore_id);
		}
		fprintf(out, "  %+9.3f us  ", (double)(record->tsc - first) / cycles_per_us);
		print_decision(app, out, record);
		fprintf(out, "  (%u bytes, %u segment%s)\n", record->pkt_len, record->nb_segs,
			record->nb_segs == 1 ? "" : "s");
		if (record->stage == VX_TRACE_RX || record->stage == VX_TRACE_TX)
			print_bytes(out, record);
	}
	if (trace != NULL)
		left = RTE_MAX(0, __atomic_load_n(&trace->remaining, __ATOMIC_RELAXED));
	fprintf(out, "%u records, %d frames still to come, %u records did not fit\n", log->n, left,
		log->lost);
}
