/* SPDX-License-Identifier: BSD-3-Clause */
#include "dest_text.h"

#include <stdio.h>

#include "app.h"
#include "vlan_text.h"
#include "vx_attach.h"
#include "vx_fdb.h"
#include "vx_vtep.h"

const char *
dest_text(const struct app *app, uint32_t dest, char *text, size_t size)
{
	const struct vx_tables *tables = app->tables;
	char ip[VX_IP_TEXT_MAX], vlan[VLAN_TEXT_MAX];

	if ((dest & VX_DEST_VTEP) != 0) {
		const struct vx_vtep *vtep = tables->vtep[dest & VX_DEST_INDEX];

		snprintf(text, size, "vtep %s",
			 vtep == NULL ? "(removed)" : vx_ip_format(&vtep->remote, ip, sizeof(ip)));
	} else {
		const struct vx_attach *attach = tables->attach[dest];

		if (attach == NULL)
			snprintf(text, size, "port (removed)");
		else
			snprintf(text, size, "port %u%s%s", attach->port,
				 attach->vlan == VX_VLAN_UNTAGGED ? "" : " vlan ",
				 vlan_text(attach->vlan, vlan));
	}
	return text;
}
