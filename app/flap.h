/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MACs that move to and fro: two hosts with one address, or a loop. Told in the log, at a bounded
 * rate. A MAC is remembered by a small table without collision chains: of two that share a place,
 * one may go unnoticed for some seconds.
 */
#ifndef FLAP_H
#define FLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_bucket.h"

struct app;

#define FLAP_PLACES    1024u
#define FLAP_MOVES     5u    /* so many moves are a host's; one more within */
#define FLAP_WINDOW_MS 5000u /* this time is flapping */

struct flaps {
	struct {
		uint64_t key;
		uint64_t since; /* milliseconds of app_now(): the first move */
		uint32_t moves;
	} place[FLAP_PLACES];
	struct vx_bucket log; /* in milliseconds */
	uint32_t untold;      /* not logged for the limit, since the last line */
};

/* The MAC of the FDB key @key moves from one place (FDB destination) to another. True: it has begun
 * to flap. */
bool flap_note(struct app *app, uint32_t vni, uint64_t key, uint32_t from, uint32_t to);

#endif
