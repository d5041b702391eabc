/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the workers, less what `clear` has set aside. */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>
#include <stdio.h>

#include "vx_count.h"
#include "vx_lcore.h"
#include "worker.h"

struct app;

/* 0 or -ENOMEM. */
int stats_create(struct app *app);
void stats_destroy(struct app *app);

/* Counters since start or the last clear. */
void stats_counts(const struct app *app, struct vx_counts *sum);
struct vx_traffic stats_port(const struct app *app, uint16_t port);
struct vx_traffic stats_segment(const struct app *app, uint32_t index);
struct vx_traffic stats_vtep(const struct app *app, uint32_t index);
struct worker_load stats_load(const struct app *app, unsigned int worker);

/* An index is in use again: what its former owner counted does not belong to the new one. */
void stats_segment_new(struct app *app, uint32_t index);
void stats_vtep_new(struct app *app, uint32_t index);
void stats_port_new(struct app *app, uint16_t port);

/* `clear fwd stats all`. */
void stats_clear(struct app *app);

/* `show fwd stats all`: per port, then the sums, which must balance (see vx_count.h). */
void stats_print(const struct app *app, FILE *out);

/* `show drops`: every reason. */
void stats_print_drops(const struct app *app, FILE *out);

#endif
