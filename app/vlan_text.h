/* SPDX-License-Identifier: BSD-3-Clause */
/* An attachment's VLAN as commands have it. */
#ifndef VLAN_TEXT_H
#define VLAN_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "vx_attach.h"

#define VLAN_TEXT_MAX 8

/* "10" or "all"; "" for untagged. */
static inline const char *
vlan_text(uint16_t vlan, char *text)
{
	text[0] = '\0';
	if (vlan == VX_VLAN_ALL)
		snprintf(text, VLAN_TEXT_MAX, "all");
	else if (vlan != VX_VLAN_UNTAGGED)
		snprintf(text, VLAN_TEXT_MAX, "%u", vlan);
	return text;
}

#endif
