/* SPDX-License-Identifier: BSD-3-Clause */
/* Tenants' bindings of IP to MAC: the control thread's side of lib/path/vx_suppress.h. */
#ifndef TENANT_H
#define TENANT_H

#include <stdbool.h>
#include <stdio.h>

struct app;
struct vx_segment;
struct worker;

/* Enter what a worker has seen; after its learning, which bindings build on. True: there was
 * something. */
bool tenant_drain(struct app *app, struct worker *worker);

/* Ten times a second: ageing. */
void tenant_tick(struct app *app);

/* Parts of `show config`. */
void tenant_print_settings(const struct app *app, FILE *out);
void tenant_print_segment(const struct app *app, FILE *out, const struct vx_segment *segment);
void tenant_print_bindings(const struct app *app, FILE *out);

#endif
