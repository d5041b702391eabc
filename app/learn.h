/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers report of source MACs becomes FDB entries (RFC 7348 section 4.1). */
#ifndef LEARN_H
#define LEARN_H

struct app;
struct vx_learn;

/* Enter these reports, or refuse and count them. */
void learn(struct app *app, const struct vx_learn *record, unsigned int n);

#endif
