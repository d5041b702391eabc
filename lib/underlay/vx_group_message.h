/* SPDX-License-Identifier: BSD-3-Clause */
/* What IGMP and MLD messages say, in one form for both. */
#ifndef VX_GROUP_MESSAGE_H
#define VX_GROUP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "vx_ip.h"

/* The newest versions: what is spoken unless a querier speaks an older one. */
#define VX_IGMP_VERSION 3u /* RFC 3376 */
#define VX_MLD_VERSION	2u /* RFC 3810 */

/* A querier's question. */
struct vx_group_query {
	struct vx_ip group;	  /* none: a general query */
	uint32_t max_response_ms; /* the answer is due within it */
	uint16_t interval_s;	  /* between two general queries; 0: not told */
	uint8_t robustness;	  /* how often to repeat what nobody confirms; 0: not told */
	uint8_t version;	  /* of IGMP or MLD; 0: the message was no query */
	bool is_v6;		  /* MLD */
};

/* RFC 3376 section 4.2.12 and RFC 3810 section 5.2.12: the same numbers. All are without sources:
 * EXCLUDE of nothing is "from everybody", INCLUDE of nothing is "from nobody". */
enum vx_group_change {
	VX_GROUP_IS_EXCLUDE = 2, /* an answer: we are a member */
	VX_GROUP_TO_INCLUDE = 3, /* we leave */
	VX_GROUP_TO_EXCLUDE = 4, /* we join */
};

/* One entry of a report. */
struct vx_group_record {
	struct vx_ip group;
	enum vx_group_change change;
};

/* An 8-bit floating point number of RFC 3376 section 4.1.1: 3 bits exponent, 4 bits mantissa. */
static inline uint32_t
vx_group_code8(uint8_t code)
{
	return code < 128 ? code : ((code & 0x0fu) | 0x10u) << ((code >> 4 & 7u) + 3);
}

#endif
