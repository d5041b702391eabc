/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vx_err.h"
#include "vx_underlay_state.h"

/* RFC 5227 1.1: ANNOUNCE_NUM and ANNOUNCE_INTERVAL */
#define ANNOUNCE_MAX 2u
#define ANNOUNCE_MS  1000u

const struct vx_address *
vx_address_find(const struct vx_underlay *u, const struct vx_ip *ip)
{
	for (uint32_t i = 0; i < u->addresses_n; i++)
		if (vx_ip_is_equal(&u->addresses[i]->prefix.ip, ip))
			return u->addresses[i];
	return NULL;
}

const struct vx_address *
vx_address_on_link(const struct vx_underlay *u, uint16_t port, const struct vx_ip *ip)
{
	const struct vx_address *best = NULL;

	for (uint32_t i = 0; i < u->addresses_n; i++) {
		const struct vx_address *a = u->addresses[i];

		if (a->port != port || !vx_prefix_has(&a->prefix, ip) ||
		    vx_prefix_is_edge(&a->prefix, ip))
			continue;
		if (best == NULL || a->prefix.len > best->prefix.len)
			best = a;
	}
	return best;
}

static void
announce(struct vx_underlay *u, struct vx_address *a)
{
	a->announcements--;
	a->may_announce_ms = u->now_ms + ANNOUNCE_MS;
	vx_underlay_request(u, a->port, &a->prefix.ip, &a->prefix.ip, NULL);
}

/* Send what is due; called when there is something new to announce, too. */
void
vx_address_tick(struct vx_underlay *u)
{
	if (u->now_ms < u->announce_next_ms)
		return;
	u->announce_next_ms = VX_UNDERLAY_NEVER;
	for (uint32_t i = 0; i < u->addresses_n; i++) {
		struct vx_address *a = u->addresses[i];

		if (a->announcements == 0 || !vx_underlay_port_is_up(u, a->port))
			continue; /* link up starts it again */
		if (u->now_ms >= a->may_announce_ms)
			announce(u, a);
		if (a->announcements > 0 && a->may_announce_ms < u->announce_next_ms)
			u->announce_next_ms = a->may_announce_ms;
	}
}

void
vx_address_port_up(struct vx_underlay *u, uint16_t port)
{
	for (uint32_t i = 0; i < u->addresses_n; i++)
		if (u->addresses[i]->port == port)
			u->addresses[i]->announcements = ANNOUNCE_MAX;
	u->announce_next_ms = u->now_ms;
	vx_address_tick(u);
}

static int
check_prefix(const struct vx_prefix *prefix, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX];

	vx_ip_format(&prefix->ip, text, sizeof(text));
	if (!vx_ip_is_v4(&prefix->ip))
		return vx_err_set(err, EAFNOSUPPORT, "%s is IPv6: expected an IPv4 address", text);
	if (!vx_ip_is_host(&prefix->ip))
		return vx_err_set(err, EINVAL, "%s cannot be a host's address", text);
	if (prefix->len == 0 || prefix->len > 32)
		return vx_err_set(err, EINVAL, "prefix length %u of %s: expected 1..32",
				  prefix->len, text);
	if (vx_prefix_is_edge(prefix, &prefix->ip))
		return vx_err_set(err, EINVAL,
				  "%s is the network or broadcast address of its own /%u", text,
				  prefix->len);
	return 0;
}

/* Is the address already somebody's? */
static int
check_owner(const struct vx_underlay *u, const struct vx_ip *ip, uint16_t port, struct vx_err *err)
{
	const struct vx_address *a = vx_address_find(u, ip);
	const struct vx_route_entry *route = vx_route_by_gateway(u, ip);
	char text[VX_IP_TEXT_MAX], network[VX_IP_TEXT_MAX];

	vx_ip_format(ip, text, sizeof(text));
	if (a != NULL && a->port == port)
		return vx_err_set(err, EEXIST, "%s/%u is already an address of port %u", text,
				  a->prefix.len, port);
	if (a != NULL)
		return vx_err_set(err, EEXIST,
				  "%s/%u is an address of port %u: an address can be on one port",
				  text, a->prefix.len, a->port);
	if (route != NULL)
		return vx_err_set(err, EEXIST, "%s is the gateway of the route to %s/%u", text,
				  vx_ip_format(&route->prefix.ip, network, sizeof(network)),
				  route->prefix.len);
	if (vx_neigh_find_static(u, ip) != NULL)
		return vx_err_set(err, EEXIST, "%s is a static neighbour", text);
	return 0;
}

int
vx_address_add(struct vx_underlay *u, const struct vx_prefix *prefix, uint16_t port,
	       struct vx_err *err)
{
	struct vx_address *a;
	int ret;

	ret = check_prefix(prefix, err);
	if (ret < 0)
		return ret;
	if (!vx_underlay_port_is_present(u, port))
		return vx_err_set(err, ENODEV,
				  "port %u is not an underlay port: see show port info all", port);
	ret = check_owner(u, &prefix->ip, port, err);
	if (ret < 0)
		return ret;
	if (u->addresses_n == u->conf.max_addresses)
		return vx_err_set(err, ENOSPC,
				  "there are %u local addresses already, the most possible",
				  u->addresses_n);
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	a->prefix = *prefix;
	a->port = port;
	a->announcements = ANNOUNCE_MAX;
	if (vx_route_connect(u, a) < 0) {
		free(a);
		return vx_err_set(err, ENOSPC, "no room for the address's route");
	}
	u->addresses[u->addresses_n++] = a;
	u->announce_next_ms = u->now_ms;
	vx_address_tick(u);
	vx_underlay_retrack(u);
	vx_underlay_report(u);
	return 0;
}

static void
remove_at(struct vx_underlay *u, uint32_t index)
{
	struct vx_address *a = u->addresses[index];

	vx_route_disconnect(u, a);
	u->addresses_n--;
	memmove(&u->addresses[index], &u->addresses[index + 1],
		(u->addresses_n - index) * sizeof(*u->addresses));
	free(a);
}

int
vx_address_del(struct vx_underlay *u, const struct vx_ip *ip, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX];

	for (uint32_t i = 0; i < u->addresses_n; i++) {
		if (!vx_ip_is_equal(&u->addresses[i]->prefix.ip, ip))
			continue;
		remove_at(u, i);
		vx_underlay_retrack(u);
		vx_underlay_report(u);
		return 0;
	}
	return vx_err_set(err, ENOENT, "%s is not a local address",
			  vx_ip_format(ip, text, sizeof(text)));
}

void
vx_address_port_del(struct vx_underlay *u, uint16_t port)
{
	for (uint32_t i = u->addresses_n; i-- > 0;)
		if (u->addresses[i]->port == port)
			remove_at(u, i);
}

bool
vx_address_next(const struct vx_underlay *u, uint32_t *iterator, struct vx_address_info *info)
{
	const struct vx_address *a;

	if (*iterator >= u->addresses_n)
		return false;
	a = u->addresses[(*iterator)++];
	*info = (struct vx_address_info){
		.prefix = a->prefix,
		.port = a->port,
		.is_up = vx_underlay_port_is_up(u, a->port),
	};
	return true;
}

void
vx_address_destroy(struct vx_underlay *u)
{
	while (u->addresses_n > 0)
		remove_at(u, u->addresses_n - 1);
}
