/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vx_compat.h"
#include "vx_err.h"
#include "vx_ip6.h"
#include "vx_underlay_state.h"

static const char link_down[] = "the link of its port is down";
static const char duplicate[] = "its local address is another host's, too";
static const char no_subnet[] = "the gateway is on no subnet of a local address";

/* The length of @prefix among the 128 bits of struct vx_ip. */
static uint8_t
rib_depth(const struct vx_prefix *prefix)
{
	return (uint8_t)(prefix->len + (vx_ip_is_v4(&prefix->ip) ? 96 : 0));
}

/* The entries of a node of the trie. */
static struct vx_route_entry *
node_entries(const struct rte_rib6_node *node)
{
	uint64_t next_hop;

	if (node == NULL || rte_rib6_get_nh(node, &next_hop) != 0)
		return NULL;
	return (struct vx_route_entry *)(uintptr_t)next_hop;
}

static void
set_node_entries(struct rte_rib6_node *node, struct vx_route_entry *first)
{
	rte_rib6_set_nh(node, (uint64_t)(uintptr_t)first);
}

static struct vx_route_entry *
find_prefix(const struct vx_underlay *u, const struct vx_prefix *prefix)
{
	return node_entries(rte_rib6_lookup_exact(u->rib, VX_RIB6_ADDRESS(prefix->ip.bytes),
						  rib_depth(prefix)));
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
	const uint8_t depth = rib_depth(&entry->prefix);
	struct rte_rib6_node *node =
		rte_rib6_lookup_exact(u->rib, VX_RIB6_ADDRESS(entry->prefix.ip.bytes), depth);
	struct vx_route_entry *first = node_entries(node), **link;

	if (node == NULL) {
		node = rte_rib6_insert(u->rib, VX_RIB6_ADDRESS(entry->prefix.ip.bytes), depth);
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
	const uint8_t depth = rib_depth(&entry->prefix);
	struct rte_rib6_node *node =
		rte_rib6_lookup_exact(u->rib, VX_RIB6_ADDRESS(entry->prefix.ip.bytes), depth);
	struct vx_route_entry *first = node_entries(node), **link;
	uint32_t at;

	for (link = &first; *link != entry; link = &(*link)->next)
		;
	*link = entry->next;
	if (first == NULL)
		rte_rib6_remove(u->rib, VX_RIB6_ADDRESS(entry->prefix.ip.bytes), depth);
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

/* The entries of the most specific prefix with @ip. */
static struct rte_rib6_node *
first_node(const struct vx_underlay *u, const struct vx_ip *ip)
{
	return rte_rib6_lookup(u->rib, VX_RIB6_ADDRESS(ip->bytes));
}

/* Short IPv6 prefixes hold the IPv4 addresses, too, as the trie sees them. */
static bool
is_same_family(const struct vx_route_entry *entry, const struct vx_ip *ip)
{
	return vx_ip_is_v4(&entry->prefix.ip) == vx_ip_is_v4(ip);
}

/* The most specific subnet with @ip; one that can be used is preferred to any that cannot. */
static const struct vx_address *
find_subnet(const struct vx_underlay *u, const struct vx_ip *ip)
{
	struct rte_rib6_node *node = first_node(u, ip);
	const struct vx_address *down = NULL;

	for (; node != NULL; node = rte_rib6_lookup_parent(node)) {
		for (const struct vx_route_entry *e = node_entries(node); e != NULL; e = e->next) {
			if (e->address == NULL || !is_same_family(e, ip) ||
			    vx_prefix_is_edge(&e->prefix, ip))
				continue;
			if (vx_address_is_usable(u, e->address))
				return e->address;
			if (down == NULL)
				down = e->address;
		}
	}
	return down;
}

/* Why an address, and with it its subnet, cannot be used. */
static const char *
unusable(const struct vx_underlay *u, const struct vx_address *address)
{
	return vx_underlay_port_is_up(u, address->port) ? duplicate : link_down;
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
	if (result->address == NULL) {
		result->why = no_subnet;
		return false;
	}
	result->source = vx_address_source(u, result->address, ip);
	if (!vx_address_is_usable(u, result->address))
		result->why = unusable(u, result->address);
	else if (entry->address != NULL && vx_prefix_is_edge(&entry->prefix, ip))
		result->why = "it is the network or broadcast address of a local subnet";
	else if (result->source == NULL)
		result->why = "its port has no local address but the link-local one";
	else
		return true;
	return false;
}

bool
vx_route_lookup(const struct vx_underlay *u, const struct vx_ip *ip, struct vx_route_result *result)
{
	const char *why = "no route";
	bool has_reason = false;
	struct rte_rib6_node *node;

	*result = (struct vx_route_result){.why = NULL};
	if (!vx_ip_is_host(ip)) {
		result->why = "it cannot be a host's address";
		return false;
	}
	if (vx_address_find(u, ip) != NULL) {
		result->why = "it is a local address";
		return false;
	}
	if (vx_ip6_is_link_local(ip) && vx_address_links(u, ip) > 1) {
		result->why = "it is link-local, and several ports have IPv6: use a global address";
		return false;
	}
	for (node = first_node(u, ip); node != NULL; node = rte_rib6_lookup_parent(node)) {
		for (const struct vx_route_entry *e = node_entries(node); e != NULL; e = e->next) {
			if (!is_same_family(e, ip))
				continue;
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
	const bool is_v4 = vx_ip_is_v4(&prefix->ip);
	const unsigned int bits = is_v4 ? 32 : 128;
	char text[VX_IP_TEXT_MAX], masked_text[VX_IP_TEXT_MAX];
	struct vx_prefix masked = *prefix;

	vx_ip_format(&prefix->ip, text, sizeof(text));
	if (prefix->len > bits)
		return vx_err_set(err, EINVAL, "prefix length %u of %s: expected 0..%u",
				  prefix->len, text, bits);
	vx_prefix_mask(&masked);
	if (!vx_ip_is_equal(&masked.ip, &prefix->ip))
		return vx_err_set(err, EINVAL, "%s/%u has bits beyond its length: expected %s/%u",
				  text, prefix->len,
				  vx_ip_format(&masked.ip, masked_text, sizeof(masked_text)),
				  prefix->len);
	if (vx_ip6_is_link_local(&prefix->ip))
		return vx_err_set(err, EINVAL, "%s/%u is link-local: no gateway leads there", text,
				  prefix->len);
	if (prefix->len > 0 && !vx_ip_is_host(&prefix->ip) &&
	    (is_v4 ? vx_ip_v4(&prefix->ip) != 0 : vx_ip_is_multicast(&prefix->ip)))
		return vx_err_set(err, EINVAL, "%s/%u holds no host's addresses", text,
				  prefix->len);
	return 0;
}

static int
check_gateway(const struct vx_underlay *u, const struct vx_prefix *prefix,
	      const struct vx_ip *gateway, struct vx_err *err)
{
	const bool is_v4 = vx_ip_is_v4(&prefix->ip);
	char text[VX_IP_TEXT_MAX];

	vx_ip_format(gateway, text, sizeof(text));
	if (vx_ip_is_v4(gateway) != is_v4)
		return vx_err_set(err, EINVAL, "gateway %s is %s: expected %s like the prefix",
				  text, is_v4 ? "IPv6" : "IPv4", is_v4 ? "IPv4" : "IPv6");
	if (!vx_ip_is_host(gateway))
		return vx_err_set(err, EINVAL, "gateway %s cannot be a host's address", text);
	if (vx_address_find(u, gateway) != NULL)
		return vx_err_set(err, EINVAL, "gateway %s is a local address: expected another's",
				  text);
	if (vx_ip6_is_link_local(gateway) && vx_address_links(u, gateway) > 1)
		return vx_err_set(err, EINVAL,
				  "gateway %s is link-local and can be on several ports: expected "
				  "a global address of it",
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
		ret = check_gateway(u, prefix, gateway, err);
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

	if (prefix->len <= (vx_ip_is_v4(&prefix->ip) ? 32 : 128))
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

const struct vx_route_entry *
vx_route_link_local(const struct vx_underlay *u)
{
	for (uint32_t i = 0; i < u->routes_n; i++)
		if (u->routes[i]->address == NULL && vx_ip6_is_link_local(&u->routes[i]->gateway))
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
	is_usable = entry->address != NULL ? vx_address_is_usable(u, entry->address)
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
		info->why = is_usable ? "" : unusable(u, entry->address);
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
