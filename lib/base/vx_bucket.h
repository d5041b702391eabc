/* SPDX-License-Identifier: BSD-3-Clause */
/* A token bucket, for one thread: bounds what a flood from the network can cost. */
#ifndef VX_BUCKET_H
#define VX_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct vx_bucket {
	uint64_t last;	   /* TSC up to which tokens were added */
	uint64_t interval; /* TSC cycles for one token */
	uint32_t tokens;
	uint32_t burst;
};

/* @rate tokens a second (1..@hz), at most @burst (1 or more) saved up; @hz: TSC cycles a second. */
static inline struct vx_bucket
vx_bucket_make(uint64_t hz, uint32_t rate, uint32_t burst)
{
	return (struct vx_bucket){.interval = hz / rate, .tokens = burst, .burst = burst};
}

/* Take one token; false: none is left. @now: the current TSC. */
static inline bool
vx_bucket_take(struct vx_bucket *bucket, uint64_t now)
{
	const uint64_t earned = (now - bucket->last) / bucket->interval;

	/* Time is only saved up to a full bucket; below that no part of an interval is lost. */
	if (earned >= bucket->burst - bucket->tokens) {
		bucket->tokens = bucket->burst;
		bucket->last = now;
	} else {
		bucket->tokens += (uint32_t)earned;
		bucket->last += earned * bucket->interval;
	}
	if (bucket->tokens == 0)
		return false;
	bucket->tokens--;
	return true;
}

#endif
