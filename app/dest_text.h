/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DEST_TEXT_H
#define DEST_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct app;

#define DEST_TEXT_MAX 80

/* An FDB destination for people: "vtep 192.0.2.2" or "port 1". Returns @text. */
const char *dest_text(const struct app *app, uint32_t dest, char *text, size_t size);

#endif
