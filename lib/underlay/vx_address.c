/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vx_err.h"
#include "vx_ip6.h"
#include "vx_log.h"
#include "vx_underlay_state.h"

/* RFC 5227 1.1: ANNOUNCE_NUM and ANNOUNCE_INTERVAL. RFC 4861 10 has 1 s, too, and up to 3 times. */
#define ANNOUNCE_MAX 2u
#define ANNOUNCE_MS  1000u

/* How long the one solicitation of RFC 4862 5.1 may go unanswered (RFC 4861 10: RETRANS_TIMER). */
#define PROBE_MS ANNOUNCE_MS

const struct vx_address *
vx_address_find(const struct vx_underlay *u, const struct vx_ip *ip)
{
	for (uint32_t i = 0; i < u->addresses_n; i++)
		if (vx_ip_is_equal(&u->addresses[i]->prefix.ip, ip))
			return u->addresses[i];
	return NULL;
}

struct vx_address *
vx_address_find_on(const struct vx_underlay *u, uint16_t port, const struct vx_ip *ip)
{
	for (uint32_t i = 0; i < u->addresses_n; i++)
		if (u->addresses[i]->port == port &&
		    vx_ip_is_equal(&u->addresses[i]->prefix.ip, ip))
			return u->addresses[i];
	return NULL;
}

const struct vx_address *
vx_address_on_link(const struct vx_underlay *u, uint16_t port, const struct vx_ip *ip)
{
	const struct vx_address *best = NULL;

	for (uint32_t i = 0; i < u->addresses_n; i++) {
		const struct vx_address *a = u->addresses[i];

		if (a->port != port || a->state == VX_ADDRESS_DUPLICATE ||
		    !vx_prefix_has(&a->prefix, ip) || vx_prefix_is_edge(&a->prefix, ip))
			continue;
		if (best == NULL || a->prefix.len > best->prefix.len)
			best = a;
	}
	return best;
}

unsigned int
vx_address_links(const struct vx_underlay *u, const struct vx_ip *ip)
{
	uint64_t ports = 0;

	_Static_assert(RTE_MAX_ETHPORTS <= 64, "one bit each");
	for (uint32_t i = 0; i < u->addresses_n; i++)
		if (vx_prefix_has(&u->addresses[i]->prefix, ip))
			ports |= UINT64_C(1) << u->addresses[i]->port;
	return (unsigned int)__builtin_popcountll(ports);
}

/* How many bits two IPv6 addresses have in common. */
static unsigned int
common_bits(const struct vx_ip *a, const struct vx_ip *b)
{
	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t differ = rte_be_to_cpu_64(a->words[i] ^ b->words[i]);

		if (differ != 0)
			return 64 * i + (unsigned int)__builtin_clzll(differ);
	}
	return 128;
}

const struct vx_address *
vx_address_source(const struct vx_underlay *u, const struct vx_address *address,
		  const struct vx_ip *ip)
{
	const struct vx_address *best = NULL;

	if (!vx_ip6_is_link_local(&address->prefix.ip) || vx_ip6_is_link_local(ip))
		return address;
	for (uint32_t i = 0; i < u->addresses_n; i++) {
		const struct vx_address *a = u->addresses[i];

		if (a->port != address->port || !vx_address_is_usable(u, a) ||
		    vx_ip_is_v4(&a->prefix.ip) || vx_ip6_is_link_local(&a->prefix.ip))
			continue;
		/* RFC 6724 section 5, rule 8 */
		if (best == NULL ||
		    common_bits(&a->prefix.ip, ip) > common_bits(&best->prefix.ip, ip))
			best = a;
	}
	return best;
}

/* Only IPv6 has duplicate address detection. */
static void
begin(struct vx_address *a)
{
	a->announcements = ANNOUNCE_MAX;
	a->is_probed = false;
	a->state = vx_ip_is_v4(&a->prefix.ip) ? VX_ADDRESS_PREFERRED : VX_ADDRESS_TENTATIVE;
}

void
vx_address_set_duplicate(struct vx_underlay *u, struct vx_address *a)
{
	a->state = VX_ADDRESS_DUPLICATE;
	a->announcements = 0;
	u->is_address_changed = true;
	vx_underlay_retrack(u);
}

/* The next packet that is due: the probe, and when nobody answered it, the announcements. */
static void
advance(struct vx_underlay *u, struct vx_address *a)
{
	const struct vx_ip nobody = {.words = {0}};

	if (a->state == VX_ADDRESS_TENTATIVE && !a->is_probed) {
		a->is_probed = true;
		a->may_announce_ms = u->now_ms + PROBE_MS;
		vx_underlay_request(u, a->port, &nobody, &a->prefix.ip, NULL);
		return;
	}
	if (a->state == VX_ADDRESS_TENTATIVE) {
		a->state = VX_ADDRESS_PREFERRED;
		u->is_address_changed = true;
	}
	a->announcements--;
	a->may_announce_ms = u->now_ms + ANNOUNCE_MS;
	vx_underlay_announce(u, a->port, &a->prefix.ip);
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
			advance(u, a);
		if (a->announcements > 0 && a->may_announce_ms < u->announce_next_ms)
			u->announce_next_ms = a->may_announce_ms;
	}
}

void
vx_address_port_up(struct vx_underlay *u, uint16_t port)
{
	for (uint32_t i = 0; i < u->addresses_n; i++) {
		struct vx_address *a = u->addresses[i];

		if (a->port != port)
			continue;
		/* RFC 4862 5.4: detection runs anew; what was a duplicate may be none here. */
		if (!vx_ip_is_v4(&a->prefix.ip))
			u->is_address_changed = true;
		if (a->state == VX_ADDRESS_DUPLICATE)
			vx_underlay_retrack(u);
		begin(a);
	}
	u->announce_next_ms = u->now_ms;
	vx_address_tick(u);
}

static int
check_prefix(const struct vx_prefix *prefix, struct vx_err *err)
{
	const unsigned int bits = vx_ip_is_v4(&prefix->ip) ? 32 : 128;
	char text[VX_IP_TEXT_MAX];

	vx_ip_format(&prefix->ip, text, sizeof(text));
	if (!vx_ip_is_host(&prefix->ip))
		return vx_err_set(err, EINVAL, "%s cannot be a host's address", text);
	if (prefix->len == 0 || prefix->len > bits)
		return vx_err_set(err, EINVAL, "prefix length %u of %s: expected 1..%u",
				  prefix->len, text, bits);
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

/* Would a second port with IPv6 make a link-local gateway ambiguous that means one port now? */
static int
check_link_local_gateway(const struct vx_underlay *u, const struct vx_prefix *prefix, uint16_t port,
			 struct vx_err *err)
{
	const struct vx_route_entry *route = vx_route_link_local(u);
	char text[VX_IP_TEXT_MAX], network[VX_IP_TEXT_MAX];

	if (vx_ip_is_v4(&prefix->ip) || route == NULL ||
	    vx_address_links(u, &route->gateway) == 0 ||
	    vx_address_on_link(u, port, &route->gateway) != NULL)
		return 0;
	return vx_err_set(err, EINVAL,
			  "port %u would be a second one that the link-local gateway %s of the "
			  "route to %s/%u can be on: give that route a global gateway first",
			  port, vx_ip_format(&route->gateway, text, sizeof(text)),
			  vx_ip_format(&route->prefix.ip, network, sizeof(network)),
			  route->prefix.len);
}

static int
check_new(const struct vx_underlay *u, const struct vx_prefix *prefix, uint16_t port,
	  struct vx_err *err)
{
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
	return check_link_local_gateway(u, prefix, port, err);
}

/* At the end of the list. */
static int
append(struct vx_underlay *u, const struct vx_prefix *prefix, uint16_t port, bool is_automatic,
       struct vx_err *err)
{
	struct vx_address *a;

	if (u->addresses_n == u->conf.max_addresses)
		return vx_err_set(err, ENOSPC,
				  "there are %u local addresses already, the most possible",
				  u->addresses_n);
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return vx_err_set(err, ENOMEM, "no memory");
	a->prefix = *prefix;
	a->port = port;
	a->is_automatic = is_automatic;
	begin(a);
	if (vx_route_connect(u, a) < 0) {
		free(a);
		return vx_err_set(err, ENOSPC, "no room for the address's route");
	}
	u->addresses[u->addresses_n++] = a;
	u->announce_next_ms = u->now_ms;
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

/* Make, replace or remove the link-local address of @port, as its other addresses now ask. */
static int
sync_link_local(struct vx_underlay *u, uint16_t port, struct vx_err *err)
{
	const struct vx_prefix wanted = {.ip = vx_ip6_link_local(&u->ports[port].mac), .len = 64};
	bool has_ipv6 = false, has_given = false;
	uint32_t found = u->addresses_n;

	for (uint32_t i = 0; i < u->addresses_n; i++) {
		const struct vx_address *a = u->addresses[i];

		if (a->port != port || vx_ip_is_v4(&a->prefix.ip))
			continue;
		if (a->is_automatic)
			found = i;
		has_ipv6 |= !a->is_automatic;
		has_given |= !a->is_automatic && vx_ip6_is_link_local(&a->prefix.ip);
	}
	if (found < u->addresses_n) {
		if (has_ipv6 && !has_given &&
		    vx_ip_is_equal(&u->addresses[found]->prefix.ip, &wanted.ip))
			return 0;
		remove_at(u, found);
	}
	return has_ipv6 && !has_given ? append(u, &wanted, port, true, err) : 0;
}

int
vx_address_add(struct vx_underlay *u, const struct vx_prefix *prefix, uint16_t port,
	       struct vx_err *err)
{
	int ret;

	ret = check_new(u, prefix, port, err);
	if (ret < 0)
		return ret;
	ret = append(u, prefix, port, false, err);
	if (ret < 0)
		return ret;
	ret = sync_link_local(u, port, err);
	if (ret < 0) {
		remove_at(u, u->addresses_n - 1);
		return ret;
	}
	vx_address_tick(u);
	vx_underlay_retrack(u);
	vx_underlay_report(u);
	return 0;
}

int
vx_address_del(struct vx_underlay *u, const struct vx_ip *ip, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX];

	vx_ip_format(ip, text, sizeof(text));
	for (uint32_t i = 0; i < u->addresses_n; i++) {
		const uint16_t port = u->addresses[i]->port;

		if (!vx_ip_is_equal(&u->addresses[i]->prefix.ip, ip))
			continue;
		if (u->addresses[i]->is_automatic)
			return vx_err_set(err, EINVAL,
					  "%s is made from port %u's MAC: it goes with the port's "
					  "last IPv6 address",
					  text, port);
		remove_at(u, i);
		/* the slot that has just become free has room for it */
		sync_link_local(u, port, NULL);
		vx_address_tick(u);
		vx_underlay_retrack(u);
		vx_underlay_report(u);
		return 0;
	}
	return vx_err_set(err, ENOENT, "%s is not a local address", text);
}

void
vx_address_port_mac(struct vx_underlay *u, uint16_t port)
{
	const uint32_t before = u->addresses_n;

	if (sync_link_local(u, port, NULL) < 0)
		VX_LOG(WARNING, "port %u has no link-local address: no memory", port);
	u->is_address_changed |= before > 0;
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
		.is_automatic = a->is_automatic,
		.state = a->state,
	};
	return true;
}

void
vx_address_destroy(struct vx_underlay *u)
{
	while (u->addresses_n > 0)
		remove_at(u, u->addresses_n - 1);
}
