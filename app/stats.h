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
struct worker_load stats_load(const struct app *app, unsigned int worker);

/* What counts frames by kind, each by its index. */
enum stats_place {
	STATS_SEGMENT,
	STATS_ATTACH,
	STATS_VTEP,
	STATS_PLACES,
};

struct vx_kinds stats_kinds(const struct app *app, enum stats_place place, uint32_t index);

/* The columns of that, without the end of the line: all frames, then the flooded ones of them. */
void stats_print_kinds_title(FILE *out);
void stats_print_kinds(const struct app *app, FILE *out, enum stats_place place, uint32_t index);

/* An index is in use again: what its former owner counted does not belong to the new one. */
void stats_place_new(struct app *app, enum stats_place place, uint32_t index);
void stats_port_new(struct app *app, uint16_t port);

/* `clear fwd stats all`. */
void stats_clear(struct app *app);

/* `show fwd stats all`: per port, then the sums, which must balance (see vx_count.h). */
void stats_print(const struct app *app, FILE *out);

/* `show drops`: every reason. */
void stats_print_drops(const struct app *app, FILE *out);

#endif
