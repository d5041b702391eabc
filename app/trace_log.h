/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers recorded of traced frames, until somebody asks for it. */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "vx_err.h"

struct app;
struct rte_ring;
struct trace_log;

/* What to trace; see `trace add`. */
struct trace_want {
	uint32_t frames;
	uint32_t vni;  /* 0: any */
	uint32_t port; /* UINT32_MAX: any */
	bool has_mac;
	uint64_t mac48; /* inner source or destination, as vx_fdb_load_mac() */
};

struct trace_log *trace_log_create(void);
void trace_log_destroy(struct trace_log *log);

/* Take a worker's records over; true if there were any. */
bool trace_log_drain(struct trace_log *log, struct rte_ring *ring);

/* Follow the next @want->frames frames; replaces an earlier wish. 0 or negative with @err. */
int trace_log_start(struct app *app, const struct trace_want *want, struct vx_err *err);

/* From a timer: once all frames wanted have been picked, workers need not look any more. */
void trace_log_tick(struct app *app);

/* End tracing and forget all records. 0 or -ENOMEM. */
int trace_log_clear(struct app *app);

/* Frame by frame, in the order of time. */
void trace_log_print(const struct app *app, FILE *out);

#endif
