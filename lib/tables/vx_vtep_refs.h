/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VX_VTEP_REFS_H
#define VX_VTEP_REFS_H

#include <stdint.h>

#include "vx_vtep.h"

/* How often each VTEP is used, and for what; the control thread's own. */
struct vx_vtep_refs {
	uint32_t n[VX_VTEP_USES];
};

#endif
