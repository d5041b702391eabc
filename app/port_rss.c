/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets of a port meet on one receive queue. */
#include <stdio.h>

#include "port.h"
#include "port_plan.h"

#define ADDRESSES_IPV4 (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER)
#define ADDRESSES_IPV6                                                                             \
	(RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |               \
	 RTE_ETH_RSS_IPV6_EX)

uint64_t
port_rss_wanted(enum vx_role role)
{
	if (role == VX_ROLE_ACCESS)
		return RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;
	/* The flow is in the UDP source port. Not the ports of IPv6 behind extension headers: the
	 * fragment header is one of them. */
	return ADDRESSES_IPV4 | ADDRESSES_IPV6 | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
	       RTE_ETH_RSS_NONFRAG_IPV6_UDP;
}

/* Is @udp hashed only together with a type that takes the fragments? "NONFRAG" says that those are
 * not hashed by ports, the first one included; who takes them is the device's to name. */
static bool
has_fragments(uint64_t hf, uint64_t udp, uint64_t fragments)
{
	return (hf & udp) == 0 || (hf & fragments) != 0;
}

static const uint64_t fragments_ipv4 = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4;
static const uint64_t fragments_ipv6 = RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6;

uint64_t
port_rss_choose(enum vx_role role, uint64_t offered)
{
	uint64_t hf = port_rss_wanted(role) & offered;

	if (role != VX_ROLE_UNDERLAY)
		return hf;
	if (!has_fragments(hf, RTE_ETH_RSS_NONFRAG_IPV4_UDP, fragments_ipv4))
		hf &= ~RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	if (!has_fragments(hf, RTE_ETH_RSS_NONFRAG_IPV6_UDP, fragments_ipv6))
		hf &= ~RTE_ETH_RSS_NONFRAG_IPV6_UDP;
	return hf;
}

enum port_fragments
port_fragments(const struct port *port)
{
	const struct port_plan *plan = &port->plan;

	if (plan->n_rxq <= 1 || plan->n_workers <= 1)
		return PORT_FRAGMENTS_ONE_WORKER;
	if ((port->quirk->flags & PORT_QUIRK_JOINS) != 0)
		return PORT_FRAGMENTS_JOINED;
	if (plan->rss_hf != 0 &&
	    has_fragments(port->rss_got, RTE_ETH_RSS_NONFRAG_IPV4_UDP, fragments_ipv4) &&
	    has_fragments(port->rss_got, RTE_ETH_RSS_NONFRAG_IPV6_UDP, fragments_ipv6))
		return PORT_FRAGMENTS_BY_ADDRESS;
	return PORT_FRAGMENTS_SCATTERED;
}

const char *
port_fragments_name(enum port_fragments fragments)
{
	static const char *const names[] = {
		[PORT_FRAGMENTS_ONE_WORKER] = "one worker polls",
		[PORT_FRAGMENTS_BY_ADDRESS] = "by IP addresses",
		[PORT_FRAGMENTS_JOINED] = "joined by the kernel",
		[PORT_FRAGMENTS_SCATTERED] = "not promised",
	};

	return names[fragments];
}

void
port_rss_print(FILE *out, uint64_t hf)
{
	static const struct {
		uint64_t hf;
		const char *name;
	} types[] = {
		{RTE_ETH_RSS_IPV4, "ipv4"},
		{RTE_ETH_RSS_FRAG_IPV4, "ipv4-frag"},
		{RTE_ETH_RSS_NONFRAG_IPV4_TCP, "ipv4-tcp"},
		{RTE_ETH_RSS_NONFRAG_IPV4_UDP, "ipv4-udp"},
		{RTE_ETH_RSS_NONFRAG_IPV4_OTHER, "ipv4-other"},
		{RTE_ETH_RSS_IPV6, "ipv6"},
		{RTE_ETH_RSS_FRAG_IPV6, "ipv6-frag"},
		{RTE_ETH_RSS_NONFRAG_IPV6_TCP, "ipv6-tcp"},
		{RTE_ETH_RSS_NONFRAG_IPV6_UDP, "ipv6-udp"},
		{RTE_ETH_RSS_NONFRAG_IPV6_OTHER, "ipv6-other"},
		{RTE_ETH_RSS_IPV6_EX, "ipv6-ex"},
		{RTE_ETH_RSS_IPV6_TCP_EX, "ipv6-tcp-ex"},
		{RTE_ETH_RSS_IPV6_UDP_EX, "ipv6-udp-ex"},
	};
	const char *between = "";

	for (unsigned int i = 0; i < RTE_DIM(types); i++) {
		if ((hf & types[i].hf) == 0)
			continue;
		fprintf(out, "%s%s", between, types[i].name);
		between = " ";
	}
	fprintf(out, "%s\n", between[0] == '\0' ? "none" : "");
}
