/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VX_VTEP_REFS_H
#define VX_VTEP_REFS_H

#include <stdint.h>

#include "vx_vtep.h"

/* What the control thread alone knows of each VTEP: its uses, and the path MTU. */
struct vx_vtep_refs {
	uint32_t n[VX_VTEP_USES];
	uint16_t path_mtu;     /* bytes of outer IP packet; 0: only the port's MTU counts */
	bool is_path_mtu_set;  /* by a command: no ICMP changes it, and it stays */
	uint32_t fragment_id;  /* IPv6: where identifications begin (RFC 7739 section 4.1) */
	uint64_t path_mtu_end; /* milliseconds: when a learned one is forgotten */
};

#endif
