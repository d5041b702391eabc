/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands: settings. */
#include <errno.h>

#include "cli_nouns.h"
#include "net.h"
#include "vx_segment.h"
#include "vx_vtep.h"

/* Publish a view with one change made by @change. */
static int
view_change(struct cli_call *call, void (*change)(struct vx_view *view, const struct cli_value *v))
{
	struct vx_view *view = vx_view_edit(call->app->tables);

	if (view == NULL)
		return vx_err_set(call->err, ENOMEM, "no memory");
	change(view, call->v);
	vx_view_publish(call->app->tables, view);
	return 0;
}

static int
run_mtu(struct cli_call *call)
{
	return net_mtu(call->app, (uint16_t)call->v[0].number, call->err);
}

_Static_assert(CLI_UDP_PORTS_MAX == VX_UDP_PORTS_MAX, "all that can be typed have room");

static void
change_udp_port(struct vx_view *view, const struct cli_value *v)
{
	view->udp_port_be = rte_cpu_to_be_16(v[0].udp.port[0]);
	view->n_other_ports = (uint8_t)(v[0].udp.n - 1);
	for (unsigned int i = 1; i < v[0].udp.n; i++)
		view->other_port_be[i - 1] = rte_cpu_to_be_16(v[0].udp.port[i]);
}

static int
run_udp_port(struct cli_call *call)
{
	return view_change(call, change_udp_port);
}

static void
change_source_ports(struct vx_view *view, const struct cli_value *v)
{
	view->source_port_lo = (uint16_t)v[0].number;
	view->source_ports = (uint32_t)(v[1].number - v[0].number + 1);
}

static int
run_source_ports(struct cli_call *call)
{
	if (call->v[0].number > call->v[1].number)
		return vx_err_set(call->err, EINVAL,
				  "the range %s to %s is empty: expected the lower port first",
				  call->v[0].text, call->v[1].text);
	return view_change(call, change_source_ports);
}

static int
run_learning(struct cli_call *call)
{
	return vx_segment_set_learning(call->app->tables,
				       call->v[1].is_set ? (uint32_t)call->v[1].number : 0,
				       call->v[0].word == 0, call->err);
}

static int
run_flood(struct cli_call *call)
{
	/* The words of the choice are in the order of the enum. */
	return vx_segment_set_flood(
		call->app->tables, call->v[2].is_set ? (uint32_t)call->v[2].number : 0,
		(enum vx_flood_kind)call->v[0].word, call->v[1].word == 0, call->err);
}

static int
run_storm(struct cli_call *call)
{
	const uint16_t port = (uint16_t)call->v[0].number;
	const uint32_t before = call->app->storm[port];
	int rc;

	if (call->app->ports.port[port].role != VX_ROLE_ACCESS)
		return vx_err_set(call->err, EINVAL,
				  "port %u is not an access port: see show port info all", port);
	call->app->storm[port] = (uint32_t)call->v[1].number;
	rc = net_show_ports(call->app, call->err);
	if (rc < 0)
		call->app->storm[port] = before;
	return rc;
}

static int
run_ageing(struct cli_call *call)
{
	call->app->tables->conf.ageing = (uint32_t)call->v[0].number;
	return 0;
}

static void
change_udp_checksum(struct vx_view *view, const struct cli_value *v)
{
	/* The words of the choice are in the order of the enum. */
	view->udp_checksum = (enum vx_udp_checksum)v[0].word;
}

static int
run_udp_checksum(struct cli_call *call)
{
	return view_change(call, change_udp_checksum);
}

static void
change_oversize(struct vx_view *view, const struct cli_value *v)
{
	view->oversize = (enum vx_oversize)v[0].word;
}

static int
run_oversize(struct cli_call *call)
{
	return view_change(call, change_oversize);
}

static void
change_df(struct vx_view *view, const struct cli_value *v)
{
	view->df = (enum vx_df)v[0].word;
}

/* A setting of the outer header for one segment: @outer has it. */
static int
segment_change(struct cli_call *call, const struct vx_segment_outer *outer)
{
	return vx_segment_set_outer(call->app->tables, (uint32_t)call->v[1].number, outer,
				    call->err);
}

static int
run_df(struct cli_call *call)
{
	const struct vx_segment_outer outer = {.has_df = true, .df = (enum vx_df)call->v[0].word};

	return call->v[1].is_set ? segment_change(call, &outer) : view_change(call, change_df);
}

/* ... or for all that have none of their own: it is in the ready-made headers. */
static int
headers_change(struct cli_call *call, const struct vx_segment_outer *outer)
{
	struct vx_view *view = vx_view_edit(call->app->tables);

	if (view == NULL)
		return vx_err_set(call->err, ENOMEM, "no memory");
	if (outer->has_ttl)
		view->ttl = outer->ttl;
	if (outer->has_dscp)
		view->dscp = outer->dscp;
	if (vx_vtep_publish_view(call->app->tables, view) < 0)
		return vx_err_set(call->err, ENOMEM, "no memory");
	return 0;
}

static int
run_ttl(struct cli_call *call)
{
	const struct vx_segment_outer outer = {
		.has_ttl = true,
		.ttl = call->v[0].word == 0 ? (uint8_t)call->v[0].number : VX_TTL_INHERIT};

	return call->v[1].is_set ? segment_change(call, &outer) : headers_change(call, &outer);
}

static int
run_dscp(struct cli_call *call)
{
	const struct vx_segment_outer outer = {
		.has_dscp = true,
		.dscp = call->v[0].word == 0 ? (uint8_t)call->v[0].number : VX_DSCP_INHERIT};

	return call->v[1].is_set ? segment_change(call, &outer) : headers_change(call, &outer);
}

static void
change_ecn(struct vx_view *view, const struct cli_value *v)
{
	view->ecn_mask = v[0].word == 0 ? VX_ECN_MASK : 0;
}

static int
run_ecn(struct cli_call *call)
{
	return view_change(call, change_ecn);
}

static void
change_reassembly(struct vx_view *view, const struct cli_value *v)
{
	view->is_reassembling = v[0].word == 0;
}

static int
run_reassembly(struct cli_call *call)
{
	return view_change(call, change_reassembly);
}

static void
change_reassembly_timeout(struct vx_view *view, const struct cli_value *v)
{
	vx_view_set_reassembly_ms(view, (uint32_t)v[0].number);
}

static int
run_reassembly_timeout(struct cli_call *call)
{
	return view_change(call, change_reassembly_timeout);
}

static void
change_reassembly_max(struct vx_view *view, const struct cli_value *v)
{
	view->reassembly_max = (uint32_t)v[0].number;
}

static int
run_reassembly_max(struct cli_call *call)
{
	return view_change(call, change_reassembly_max);
}

static int
run_path_mtu(struct cli_call *call)
{
	const int64_t index = vx_vtep_find(call->app->tables, &call->v[0].ip);
	const uint16_t least = vx_vtep_path_mtu_min(&call->v[0].ip);

	if (index < 0)
		return vx_err_set(call->err, ENOENT, "there is no remote VTEP %s: see show vtep",
				  call->v[0].text);
	if (call->v[1].number != 0 && (call->v[1].number < least || call->v[1].number > UINT16_MAX))
		return vx_err_set(
			call->err, EINVAL,
			"path MTU %s is out of range: expected %u to 65535, or 0 to learn it",
			call->v[1].text, least);
	vx_vtep_set_path_mtu(call->app->tables, (uint32_t)index, (uint16_t)call->v[1].number);
	return 0;
}

static int
run_multicast_ttl(struct cli_call *call)
{
	call->app->multicast_ttl = (uint8_t)call->v[0].number;
	call->app->is_path_stale = true;
	return 0;
}

static void
change_peers(struct vx_view *view, const struct cli_value *v)
{
	view->is_peers_known = v[0].word == 1;
}

static int
run_peers(struct cli_call *call)
{
	return view_change(call, change_peers);
}

/* clang-format off */
const struct cli_row cli_set_rows[] = {
	{"set mtu MTU:inner",
	 "largest inner packet, for segments without an MTU of their own\n"
	 "As `ip link set vxlan0 mtu N` counts: without Ethernet header and VLAN tags. 68 to 65485.\n"
	 "Access ports that are set up for less are set up again, which loses what arrives meanwhile.",
	 run_mtu},
	{"set udp-port PORTS",
	 "UDP port of VXLAN, sent to and accepted\n"
	 "4789 (RFC 7348); Linux defaults to 8472. Of several, as in 4789,8472, all are accepted and\n"
	 "the first one is sent to; up to 8.",
	 run_udp_port},
	{"set source-ports LO HI",
	 "range of outer UDP source ports\n"
	 "Each flow has one, by a hash of its inner headers. 49152 to 65535.",
	 run_source_ports},
	{"set oversize outer|inner|reply|drop",
	 "what happens to a frame too big for the underlay\n"
	 "outer: the outer packet is fragmented (as Linux does; RFC 7348 says it must not).\n"
	 "inner: an inner IPv4 packet without DF is fragmented, anything else as reply.\n"
	 "reply: the inner sender is told the MTU by ICMP, the frame is dropped. drop: only that.",
	 run_oversize},
	{"set df on|off|inherit [vni VNI]",
	 "outer \"do not fragment\" bit, everywhere or of one segment\n"
	 "inherit: that of an inner IPv4 packet, set for IPv6. With DF, `set oversize outer` drops.",
	 run_df},
	{"set ttl N:ttl|inherit [vni VNI]",
	 "outer TTL or hop limit, everywhere or of one segment\n"
	 "inherit: the inner one, 64 for frames that are not IP. Groups have their own: set multicast-ttl.",
	 run_ttl},
	{"set dscp N:dscp|inherit [vni VNI]",
	 "outer DSCP, everywhere or of one segment\n"
	 "inherit: that of an inner IPv4 or IPv6 packet, 0 for other frames.",
	 run_dscp},
	{"set ecn on|off",
	 "explicit congestion notification in tunnels\n"
	 "on: RFC 6040, the inner field is copied to the outer header and both are combined on the way\n"
	 "out. off: the outer field is zero, and ignored on receipt.",
	 run_ecn},
	{"set path-mtu IP N",
	 "largest outer packet for a remote VTEP, in bytes\n"
	 "576 (IPv6: 1280) to 65535; 0: learn it from ICMP again. The port's MTU is the limit in any case.",
	 run_path_mtu},
	{"set multicast-ttl N:ttl",
	 "TTL of what is sent to multicast groups\n"
	 "1, the default: it stays on the link. As many more as there are routers on the way.",
	 run_multicast_ttl},
	{"set reassembly on|off", "put received outer fragments together, or drop them", run_reassembly},
	{"set reassembly timeout MS",
	 "how long a datagram may wait for its fragments\n1 to 60000 milliseconds; 200.",
	 run_reassembly_timeout},
	{"set reassembly max N:datagrams",
	 "how many datagrams may wait in one worker\n1 to 65536; 4096. The oldest makes room.",
	 run_reassembly_max},
	{"set udp-checksum on|off|auto",
	 "outer UDP checksum\n"
	 "off: zero, as RFC 7348 asks. auto: over IPv6 and for what is fragmented, else zero.\n"
	 "Received checksums are always verified unless they are zero.",
	 run_udp_checksum},
	{"set learning on|off [vni VNI]", "learn source MACs, everywhere or in one segment", run_learning},
	{"set flood unknown|multicast|broadcast on|off [vni VNI]",
	 "flood such frames, everywhere or in one segment\n"
	 "off: they are dropped, those of tenants and those from tunnels. unknown: unicast to a MAC\n"
	 "that is not in the FDB. Without broadcast there is no ARP, without multicast no ND.",
	 run_flood},
	{"set storm P PPS",
	 "how many frames of an access port may be flooded in a second\n"
	 "Unknown unicast, multicast and broadcast together; 0: no limit. A tenth of a second's worth\n"
	 "may come at once, but at least 16. The workers that receive from the port share it equally.",
	 run_storm},
	{"set ageing SECONDS", "forget a learned MAC after so long without traffic\n300; 0: never.",
	 run_ageing},
	{"set peers any|known",
	 "whose tunnel packets are taken\n"
	 "any: every source's (RFC 7348); known: only those of VTEPs that flood or fdb commands name.",
	 run_peers},
	{0},
};
/* clang-format on */
