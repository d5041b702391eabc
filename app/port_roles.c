/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "port.h"

const char *
port_role_name(enum vx_role role)
{
	switch (role) {
	case VX_ROLE_ACCESS:
		return "access";
	case VX_ROLE_UNDERLAY:
		return "underlay";
	case VX_ROLE_NONE:
		break;
	}
	return "none";
}

const char *
port_state_name(enum port_state state)
{
	static const char *const names[] = {
		[PORT_UNUSED] = "not in use", [PORT_NEW] = "not set up",
		[PORT_STOPPED] = "stopped",   [PORT_STARTED] = "started",
		[PORT_FAILED] = "unusable",
	};

	return names[state];
}

/* The next port that no other DPDK component has claimed, from @id on; RTE_MAX_ETHPORTS: none. */
static uint16_t
next_port(unsigned int id)
{
	return (uint16_t)rte_eth_find_next_owned_by((uint16_t)id, RTE_ETH_DEV_NO_OWNER);
}

/* "0 net_tap0, 1 net_null0": all ports of DPDK, as far as they fit. */
static const char *
list_ports(char *text, size_t size)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	size_t used = 0;
	uint16_t id;

	snprintf(text, size, "none");
	for (id = next_port(0); id < RTE_MAX_ETHPORTS; id = next_port(id + 1u)) {
		int n;

		if (rte_eth_dev_get_name_by_port(id, name) != 0)
			continue;
		n = snprintf(text + used, size - used, "%s%u %s", used == 0 ? "" : ", ", id, name);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
	}
	return text;
}

/* A port id or device name to the id of any DPDK port. */
static int
resolve(const char *text, uint16_t *id, struct vx_err *err)
{
	char ports[160];
	char *end;
	const unsigned long number = strtoul(text, &end, 10);

	if (text[0] >= '0' && text[0] <= '9' && *end == '\0') {
		if (number < RTE_MAX_ETHPORTS && rte_eth_dev_is_valid_port((uint16_t)number)) {
			*id = (uint16_t)number;
			return 0;
		}
	} else if (text[0] != '\0' && rte_eth_dev_get_port_by_name(text, id) == 0) {
		return 0;
	}
	return vx_err_set(err, ENODEV, "no port \"%.40s\"; there are: %s", text,
			  list_ports(ports, sizeof(ports)));
}

int
port_find(const struct port_table *table, const char *text, uint16_t *id, struct vx_err *err)
{
	int rc = resolve(text, id, err);

	if (rc == 0 && table->port[*id].state == PORT_UNUSED)
		rc = vx_err_set(err, ENODEV, "port %u is neither access nor underlay", *id);
	return rc;
}

int
port_adopt(struct port_table *table, uint16_t id, enum vx_role role, struct vx_err *err)
{
	struct port *port = &table->port[id];
	struct rte_kvargs *args;
	int rc;

	memset(port, 0, sizeof(*port));
	rc = rte_eth_dev_info_get(id, &port->info);
	if (rc == 0)
		rc = rte_eth_dev_get_name_by_port(id, port->name);
	if (rc == 0)
		rc = rte_eth_dev_get_mtu(id, &port->found_mtu);
	if (rc != 0)
		return vx_err_set(err, -rc, "port %u tells nothing of itself: %s", id,
				  rte_strerror(-rc));
	port->id = id;
	port->role = role;
	port->quirk = port_quirk_find(port->info.driver_name);
	port->node = pool_node(rte_eth_dev_socket_id(id));
	args = port_quirk_args(&port->info);
	port_quirk_iface(&port->info, args, port->iface);
	rte_kvargs_free(args);
	port->state = PORT_NEW;
	return 0;
}

/* Mark the ports of one list; @roles is by port id. */
static int
mark(const char *const *names, unsigned int n, enum vx_role role, enum vx_role *roles,
     struct vx_err *err)
{
	for (unsigned int i = 0; i < n; i++) {
		uint16_t id;
		const int rc = resolve(names[i], &id, err);

		if (rc != 0)
			return rc;
		if (roles[id] == role)
			return vx_err_set(err, EEXIST, "port %u is named twice as %s port", id,
					  port_role_name(role));
		if (roles[id] != VX_ROLE_NONE)
			return vx_err_set(err, EEXIST,
					  "port %u is named as access and as underlay port: a port "
					  "is on one side",
					  id);
		roles[id] = role;
	}
	return 0;
}

int
port_roles(struct port_table *table, const char *const *underlay, unsigned int n_underlay,
	   const char *const *access, unsigned int n_access, struct vx_err *err)
{
	enum vx_role roles[RTE_MAX_ETHPORTS] = {VX_ROLE_NONE};
	bool has_underlay = n_underlay > 0;
	uint16_t id;
	int rc;

	if (rte_eth_dev_count_avail() == 0)
		return vx_err_set(err, ENODEV,
				  "no ports: give --vdev DRIVER,ARGS before --, or bind a network "
				  "card to a DPDK driver");
	rc = mark(underlay, n_underlay, VX_ROLE_UNDERLAY, roles, err);
	if (rc == 0)
		rc = mark(access, n_access, VX_ROLE_ACCESS, roles, err);
	for (id = next_port(0); id < RTE_MAX_ETHPORTS; id = next_port(id + 1u)) {
		if (roles[id] != VX_ROLE_NONE)
			continue;
		if (!has_underlay)
			roles[id] = VX_ROLE_UNDERLAY;
		else if (n_access == 0)
			roles[id] = VX_ROLE_ACCESS;
		has_underlay = true;
	}
	for (id = next_port(0); id < RTE_MAX_ETHPORTS; id = next_port(id + 1u)) {
		if (rc == 0 && roles[id] != VX_ROLE_NONE)
			rc = port_adopt(table, id, roles[id], err);
	}
	return rc;
}
