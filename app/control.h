/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's event loop: prompt, timers, signals, and what workers report. */
#ifndef CONTROL_H
#define CONTROL_H

#include "vx_err.h"

struct app;

/*
 * Signals become events from here on: SIGINT and SIGTERM end the program, SIGHUP is ignored.
 * To be called before any thread is made, as they inherit what is blocked. 0 or negative with @err.
 */
int control_signals(struct app *app, struct vx_err *err);

/* The epoll set. 0 or negative with @err. */
int control_create(struct app *app, struct vx_err *err);
void control_destroy(struct app *app);

/* Until app->is_quitting. */
void control_run(struct app *app);

#endif
