/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vx_err.h"
#include "vx_underlay_state.h"

static const char link_down[] = "the link of its port is down";
static const char no_subnet[] = "the gateway is on no subnet of a local address";

static uint32_t
rib_ip(const struct vx_ip *ip)
{
	return rte_be_to_cpu_32(vx_ip_v4(ip));
}

/* The entries of a node of the trie. */
static struct vx_route_entry *
node_entries(const struct rte_rib_node *node)
{
	uint64_t next_hop;

	if (node == NULL || rte_rib_get_nh(node, &next_hop) != 0)
		return NULL;
	return (struct vx_route_entry *)(uintptr_t)next_hop;
}

static void
set_node_entries(struct rte_rib_node *node, struct vx_route_entry *first)
{
	rte_rib_set_nh(node, (uint64_t)(uintptr_t)first);
}

static struct vx_route_entry *
find_prefix(const struct vx_underlay *u, const struct vx_prefix *prefix)
{
	return node_entries(rte_rib_lookup_exact(u->rib4, rib_ip(&prefix->ip), prefix->len));
}

/* Order of display: by prefix, then connected before static. */
static int
compare(const struct vx_route_entry *a, const struct vx_route_entry *b)
{
	const int ips = memcmp(a->prefix.ip.bytes, b->prefix.ip.bytes, sizeof(a->prefix.ip.bytes));

	if (ips != 0)
		return ips;
	if (a->prefix.len != b->prefix.len)
		return a->prefix.len - b->prefix.len;
	return (a->address == NULL) - (b->address == NULL);
}

static void
insert_sorted(struct vx_underlay *u, struct vx_route_entry *entry)
{
	uint32_t at = u->routes_n;

	while (at > 0 && compare(u->routes[at - 1], entry) > 0)
		at--;
	memmove(&u->routes[at + 1], &u->routes[at], (u->routes_n - at) * sizeof(*u->routes));
	u->routes[at] = entry;
	u->routes_n++;
}

static int
insert_entry(struct vx_underlay *u, struct vx_route_entry *entry)
{
	const uint32_t ip = rib_ip(&entry->prefix.ip);
	struct rte_rib_node *node = rte_rib_lookup_exact(u->rib4, ip, entry->prefix.len);
	struct vx_route_entry *first = node_entries(node), **link;

	if (node == NULL) {
		node = rte_rib_insert(u->rib4, ip, entry->prefix.len);
		if (node == NULL)
			return -ENOSPC;
	}
	for (link = &first; *link != NULL && compare(*link, entry) <= 0; link = &(*link)->next)
		;
	entry->next = *link;
	*link = entry;
	set_node_entries(node, first);
	insert_sorted(u, entry);
	return 0;
}

static void
remove_entry(struct vx_underlay *u, struct vx_route_entry *entry)
{
	const uint32_t ip = rib_ip(&entry->prefix.ip);
	struct rte_rib_node *node = rte_rib_lookup_exact(u->rib4, ip, entry->prefix.len);
	struct vx_route_entry *first = node_entries(node), **link;
	uint32_t at;

	for (link = &first; *link != entry; link = &(*link)->next)
		;
	*link = entry->next;
	if (first == NULL)
		rte_rib_remove(u->rib4, ip, entry->prefix.len);
	else
		set_node_entries(node, first);
	for (at = 0; u->routes[at] != entry; at++)
		;
	u->routes_n--;
	memmove(&u->routes[at], &u->routes[at + 1], (u->routes_n - at) * sizeof(*u->routes));
}

int
vx_route_connect(struct vx_underlay *u, struct vx_address *address)
{
	struct vx_route_entry *entry = &address->route;

	entry->prefix = address->prefix;
	vx_prefix_mask(&entry->prefix);
	entry->address = address;
	return insert_entry(u, entry);
}

void
vx_route_disconnect(struct vx_underlay *u, struct vx_address *address)
{
	remove_entry(u, &address->route);
}

/* The most specific subnet with @ip; one whose link is up is preferred to any that is down. */
static const struct vx_address *
find_subnet(const struct vx_underlay *u, const struct vx_ip *ip)
{
	struct rte_rib_node *node = rte_rib_lookup(u->rib4, rib_ip(ip));
	const struct vx_address *down = NULL;

	for (; node != NULL; node = rte_rib_lookup_parent(node)) {
		for (const struct vx_route_entry *e = node_entries(node); e != NULL; e = e->next) {
			if (e->address == NULL || vx_prefix_is_edge(&e->prefix, ip))
				continue;
			if (vx_underlay_port_is_up(u, e->address->port))
				return e->address;
			if (down == NULL)
				down = e->address;
		}
	}
	return down;
}

/* Can @entry be used towards @ip? If not, result->why says so. */
static bool
resolve_entry(const struct vx_underlay *u, const struct vx_route_entry *entry,
	      const struct vx_ip *ip, struct vx_route_result *result)
{
	if (entry->address != NULL) {
		result->address = entry->address;
		result->next_hop = *ip;
	} else {
		result->address = find_subnet(u, &entry->gateway);
		result->next_hop = entry->gateway;
	}
	if (result->address == NULL)
		result->why = no_subnet;
	else if (!vx_underlay_port_is_up(u, result->address->port))
		result->why = link_down;
	else if (entry->address != NULL && vx_prefix_is_edge(&entry->prefix, ip))
		result->why = "it is the network or broadcast address of a local subnet";
	else
		return true;
	return false;
}

bool
vx_route_lookup(const struct vx_underlay *u, const struct vx_ip *ip, struct vx_route_result *result)
{
	const char *why = "no route";
	bool has_reason = false;
	struct rte_rib_node *node;

	*result = (struct vx_route_result){.why = NULL};
	if (!vx_ip_is_v4(ip)) {
		result->why = "IPv6 underlay is not available";
		return false;
	}
	if (!vx_ip_is_host(ip)) {
		result->why = "it cannot be a host's address";
		return false;
	}
	if (vx_address_find(u, ip) != NULL) {
		result->why = "it is a local address";
		return false;
	}
	for (node = rte_rib_lookup(u->rib4, rib_ip(ip)); node != NULL;
	     node = rte_rib_lookup_parent(node)) {
		for (const struct vx_route_entry *e = node_entries(node); e != NULL; e = e->next) {
			if (resolve_entry(u, e, ip, result))
				return true;
			/* the most specific route's reason is the one to tell */
			if (!has_reason)
				why = result->why;
			has_reason = true;
		}
	}
	result->why = why;
	return false;
}

static int
check_prefix(const struct vx_prefix *prefix, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX], masked_text[VX_IP_TEXT_MAX];
	struct vx_prefix masked = *prefix;

	vx_ip_format(&prefix->ip, text, sizeof(text));
	if (!vx_ip_is_v4(&prefix->ip))
		return vx_err_set(err, EAFNOSUPPORT,
				  "%s/%u: IPv6 routes are not available, expected IPv4", text,
				  prefix->len);
	if (prefix->len > 32)
		return vx_err_set(err, EINVAL, "prefix length %u of %s: expected 0..32",
				  prefix->len, text);
	vx_prefix_mask(&masked);
	if (!vx_ip_is_equal(&masked.ip, &prefix->ip))
		return vx_err_set(err, EINVAL, "%s/%u has bits beyond its length: expected %s/%u",
				  text, prefix->len,
				  vx_ip_format(&masked.ip, masked_text, sizeof(masked_text)),
				  prefix->len);
	if (prefix->len > 0 && !vx_ip_is_host(&prefix->ip) && vx_ip_v4(&prefix->ip) != 0)
		return vx_err_set(err, EINVAL, "%s/%u holds no host's addresses", text,
				  prefix->len);
	return 0;
}

static int
check_gateway(const struct vx_underlay *u, const struct vx_ip *gateway, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX];

	vx_ip_format(gateway, text, sizeof(text));
	if (!vx_ip_is_v4(gateway))
		return vx_err_set(err, EAFNOSUPPORT,
				  "gateway %s: IPv6 is not available, expected IPv4", text);
	if (!vx_ip_is_host(gateway))
		return vx_err_set(err, EINVAL, "gateway %s cannot be a host's address", text);
	if (vx_address_find(u, gateway) != NULL)
		return vx_err_set(err, EINVAL, "gateway %s is a local address: expected another's",
				  text);
	if (find_subnet(u, gateway) == NULL)
		return vx_err_set(
			err, EINVAL,
			"gateway %s is on no subnet of a local address (see show address)", text);
	return 0;
}

/* Is there already a route to the same prefix? */
static int
check_free(const struct vx_underlay *u, const struct vx_prefix *prefix, struct vx_err *err)
{
	const struct vx_route_entry *entry = find_prefix(u, prefix);
	char text[VX_IP_TEXT_MAX], gateway[VX_IP_TEXT_MAX];

	if (entry == NULL)
		return 0;
	vx_ip_format(&prefix->ip, text, sizeof(text));
	if (entry->address != NULL)
		return vx_err_set(err, EEXIST, "%s/%u is the subnet of an address of port %u", text,
				  prefix->len, entry->address->port);
	return vx_err_set(err, EEXIST, "there is a route to %s/%u via %s already", text,
			  prefix->len, vx_ip_format(&entry->gateway, gateway, sizeof(gateway)));
}

int
vx_route_add(struct vx_underlay *u, const struct vx_prefix *prefix, const struct vx_ip *gateway,
	     struct vx_err *err)
{
	struct vx_route_entry *entry;
	int ret;

	ret = check_prefix(prefix, err);
	if (ret == 0)
		ret = check_gateway(u, gateway, err);
	if (ret == 0)
		ret = check_free(u, prefix, err);
	if (ret < 0)
		return ret;
	if (u->static_n == u->conf.max_routes)
		return vx_err_set(err, ENOSPC, "there are %u static routes, as many as can be",
				  u->static_n);
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	entry->prefix = *prefix;
	entry->gateway = *gateway;
	if (insert_entry(u, entry) < 0) {
		free(entry);
		return vx_err_set(err, ENOSPC, "no room for another route");
	}
	u->static_n++;
	vx_underlay_retrack(u);
	vx_underlay_report(u);
	return 0;
}

int
vx_route_del(struct vx_underlay *u, const struct vx_prefix *prefix, const struct vx_ip *gateway,
	     struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX], via[VX_IP_TEXT_MAX] = "";
	struct vx_route_entry *entry = NULL;

	if (vx_ip_is_v4(&prefix->ip) && prefix->len <= 32)
		entry = find_prefix(u, prefix);
	while (entry != NULL && (entry->address != NULL ||
				 (gateway != NULL && !vx_ip_is_equal(gateway, &entry->gateway))))
		entry = entry->next;
	if (entry == NULL) {
		if (gateway != NULL)
			vx_ip_format(gateway, via, sizeof(via));
		return vx_err_set(err, ENOENT, "there is no static route to %s/%u%s%s",
				  vx_ip_format(&prefix->ip, text, sizeof(text)), prefix->len,
				  gateway != NULL ? " via " : "", via);
	}
	remove_entry(u, entry);
	free(entry);
	u->static_n--;
	vx_underlay_retrack(u);
	vx_underlay_report(u);
	return 0;
}

const struct vx_route_entry *
vx_route_by_gateway(const struct vx_underlay *u, const struct vx_ip *gateway)
{
	for (uint32_t i = 0; i < u->routes_n; i++)
		if (u->routes[i]->address == NULL &&
		    vx_ip_is_equal(&u->routes[i]->gateway, gateway))
			return u->routes[i];
	return NULL;
}

bool
vx_route_next(const struct vx_underlay *u, uint32_t *iterator, struct vx_route_info *info)
{
	const struct vx_route_entry *entry;
	struct vx_route_result result = {.why = ""};
	bool is_usable;

	if (*iterator >= u->routes_n)
		return false;
	entry = u->routes[(*iterator)++];
	is_usable = entry->address != NULL ? vx_underlay_port_is_up(u, entry->address->port)
					   : resolve_entry(u, entry, &entry->prefix.ip, &result);
	*info = (struct vx_route_info){
		.prefix = entry->prefix,
		.gateway = entry->gateway,
		.port = VX_UNDERLAY_PORT_NONE,
		.is_connected = entry->address != NULL,
		.is_usable = is_usable,
		.why = result.why,
	};
	if (entry->address != NULL) {
		info->port = entry->address->port;
		info->why = is_usable ? "" : link_down;
	} else if (result.address != NULL) {
		info->port = result.address->port;
	}
	return true;
}

void
vx_route_destroy(struct vx_underlay *u)
{
	while (u->routes_n > 0) {
		struct vx_route_entry *entry = u->routes[u->routes_n - 1];

		remove_entry(u, entry);
		free(entry);
	}
}
