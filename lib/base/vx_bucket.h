/* SPDX-License-Identifier: BSD-3-Clause */
/* A token bucket, for one thread: bounds what a flood from the network can cost. */
#ifndef VX_BUCKET_H
#define VX_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct vx_bucket {
	uint64_t last;	   /* TSC when tokens were last added */
	uint64_t interval; /* TSC cycles for one token */
	uint32_t tokens;
	uint32_t burst;
};

/* @rate tokens a second, at most @burst saved up; @hz: TSC cycles a second. */
static inline struct vx_bucket
vx_bucket_make(uint64_t hz, uint32_t rate, uint32_t burst)
{
	return (struct vx_bucket){.interval = hz / rate, .tokens = burst, .burst = burst};
}

/* Take one token; false: none is left. @now: the current TSC. */
static inline bool
vx_bucket_take(struct vx_bucket *bucket, uint64_t now)
{
	if (bucket->tokens == 0) {
		const uint64_t earned = (now - bucket->last) / bucket->interval;

		if (earned == 0)
			return false;
		bucket->tokens = (uint32_t)(earned < bucket->burst ? earned : bucket->burst);
		bucket->last = now;
	}
	bucket->tokens--;
	return true;
}

#endif
