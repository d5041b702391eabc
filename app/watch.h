/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WATCH_H
#define WATCH_H

#include <stdint.h>

/*
 * One descriptor in the control thread's epoll set: event.data.ptr points to this, which is the
 * first member of whatever owns the descriptor.
 */
struct cli_watch {
	void (*ready)(struct cli_watch *watch, uint32_t events);
};

#endif
