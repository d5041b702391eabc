/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include <rte_ether.h>

#include "port.h"

#define ROW "  %-14s %-22s %-22s %s\n"

/* "N bytes", or "any size". */
static const char *
frame_text(uint32_t bytes, char *text, size_t size)
{
	if (bytes == UINT32_MAX)
		snprintf(text, size, "any size");
	else
		snprintf(text, size, "%u bytes", bytes);
	return text;
}

static void
print_head(FILE *out, const struct port *port)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE];
	char link[RTE_ETH_LINK_MAX_STR_LEN];

	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	rte_eth_link_to_str(link, sizeof(link), &port->link);
	fprintf(out, "port %u: %s\n", port->id, port->name);
	fprintf(out, "  %-14s %s, %s\n", "role", port_role_name(port->role),
		port_state_name(port->state));
	fprintf(out, "  %-14s %s%s%s, NUMA node %d\n", "driver", port->info.driver_name,
		port->iface[0] == '\0' ? "" : " on ", port->iface, port->node);
	fprintf(out, "  %-14s %s\n", "MAC", mac);
	fprintf(out, "  %-14s %s%s\n", "link", link,
		port->has_lsc ? ", changes by interrupt" : ", polled");
	fprintf(out, "  %-14s %s\n", "promiscuous", port->is_promisc ? "on" : "off");
}

static void
print_mtu(FILE *out, const struct port *port)
{
	const struct port_plan *plan = &port->plan;
	char asked[16], got[32], size[24];

	if (plan->mtu_asked != 0)
		snprintf(asked, sizeof(asked), "%u", plan->mtu_asked);
	else
		snprintf(asked, sizeof(asked), "what it has");
	if (plan->is_mtu_untold)
		snprintf(got, sizeof(got), "%u", plan->mtu);
	else
		snprintf(got, sizeof(got), "%u, driver %u", plan->mtu, plan->driver_mtu);
	fprintf(out, ROW, "MTU", asked, got,
		plan->is_mtu_untold ? "limit kept here, driver not told" : "-");
	snprintf(asked, sizeof(asked), "%u bytes", plan->frame);
	fprintf(out, ROW, "receive frame", asked,
		frame_text(plan->limits.max_rx_frame, size, sizeof(size)),
		(port->quirk->flags & PORT_QUIRK_CUTS) != 0 ? "cut frames detected" : "-");
	fprintf(out, ROW, "send frame", asked,
		frame_text(plan->limits.max_tx_frame, size, sizeof(size)),
		plan->limits.max_tx_frame < plan->frame ? "longer ones dropped" : "-");
}

/* "2" or "one per worker". */
static const char *
count_text(uint16_t n, const char *otherwise, char *text, size_t size)
{
	if (n == 0)
		snprintf(text, size, "%s", otherwise);
	else
		snprintf(text, size, "%u", n);
	return text;
}

static void
print_rss(FILE *out, const struct port *port)
{
	if (port->plan.rss_hf == 0) {
		fprintf(out, ROW, "RSS", "no", "by the other end", "-");
	} else {
		fprintf(out, "  %-14s ", "RSS asked for");
		port_rss_print(out, port_rss_wanted(port->role));
		fprintf(out, "  %-14s ", "RSS got");
		port_rss_print(out, port->rss_got);
	}
	if (port->role == VX_ROLE_UNDERLAY)
		fprintf(out, ROW, "fragments", "on one worker",
			port_fragments_name(port_fragments(port)), "-");
}

static void
print_queues(FILE *out, const struct port *port)
{
	const struct port_plan *plan = &port->plan;
	char asked[24], got[24], rest[64];

	snprintf(got, sizeof(got), "%u", plan->n_rxq);
	fprintf(out, ROW, "receive queues",
		count_text(plan->rxq_asked, "one per worker", asked, sizeof(asked)), got,
		plan->n_rxq > plan->n_workers ? "workers poll several" : "-");
	snprintf(got, sizeof(got), "%u", plan->n_txq);
	snprintf(rest, sizeof(rest), "%u workers take turns", plan->n_workers);
	fprintf(out, ROW, "send queues",
		count_text(plan->txq_asked, "one per worker", asked, sizeof(asked)), got,
		plan->n_txq < plan->n_workers ? rest : "-");
	snprintf(got, sizeof(got), "%u", plan->n_rxd);
	fprintf(out, ROW, "receive ring",
		count_text(plan->rxd_asked, "driver's choice", asked, sizeof(asked)), got, "-");
	snprintf(got, sizeof(got), "%u", plan->n_txd);
	fprintf(out, ROW, "send ring",
		count_text(plan->txd_asked, "driver's choice", asked, sizeof(asked)), got, "-");
	if (plan->n_rxq > 1)
		print_rss(out, port);
}

static void
print_buffers(FILE *out, const struct port *port)
{
	const struct port_plan *plan = &port->plan;
	char asked[24], got[64], rest[64];

	if (port->buffers.pool == NULL)
		return;
	snprintf(got, sizeof(got), "%u of %u bytes", port->buffers.pool->size, plan->data_room);
	fprintf(out, ROW, "mbufs", "-", got, "-");
	snprintf(asked, sizeof(asked), "%u bytes", plan->frame);
	fprintf(out, ROW, "receive", asked, plan->rx_chains ? "in chains" : "in one mbuf", "-");
	snprintf(rest, sizeof(rest), "over %u bytes: one copy", plan->limits.max_tx_chain);
	if (plan->limits.max_tx_chain == 0)
		fprintf(out, ROW, "send chains", "yes", "no", "copied into one mbuf");
	else
		fprintf(out, ROW, "send chains", "yes", "yes",
			plan->limits.max_tx_chain < plan->frame ? rest : "-");
	if ((port->quirk->flags & PORT_QUIRK_NO_INDIRECT) != 0)
		fprintf(out, ROW, "send clones", "yes", "no", "copied into one mbuf");
}

/* An offload that others use; here the work is done in software so far, or never needed. */
static void
print_offloads(FILE *out, const struct port *port)
{
	static const struct {
		const char *name;
		uint64_t rx, tx; /* one of them is 0 */
	} rows[] = {
		{"rx IPv4 check", RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, 0},
		{"rx UDP check", RTE_ETH_RX_OFFLOAD_UDP_CKSUM, 0},
		{"tx IPv4 check", 0, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM},
		{"tx UDP check", 0, RTE_ETH_TX_OFFLOAD_UDP_CKSUM},
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		const bool is_offered = (port->info.rx_offload_capa & rows[i].rx) != 0 ||
					(port->info.tx_offload_capa & rows[i].tx) != 0;

		fprintf(out, ROW, rows[i].name, "no", is_offered ? "offered" : "not offered",
			"done here");
	}
}

void
port_info_print(FILE *out, const struct port *port)
{
	print_head(out, port);
	if (!port_is_set_up(port))
		return;
	fprintf(out, ROW, "", "asked for", "got", "in software");
	print_mtu(out, port);
	print_queues(out, port);
	print_buffers(out, port);
	print_offloads(out, port);
}

void
port_stats_print(FILE *out, const struct port *port)
{
	struct rte_eth_stats stats;

	fprintf(out, "port %u: %s\n", port->id, port->name);
	if (rte_eth_stats_get(port->id, &stats) != 0) {
		fprintf(out, "  the driver keeps no statistics\n");
		return;
	}
	fprintf(out, "  %-8s %20s %20s %14s\n", "", "frames", "bytes", "errors");
	fprintf(out, "  %-8s %20" PRIu64 " %20" PRIu64 " %14" PRIu64 "\n", "received",
		stats.ipackets, stats.ibytes, stats.ierrors);
	fprintf(out, "  %-8s %20" PRIu64 " %20" PRIu64 " %14" PRIu64 "\n", "sent", stats.opackets,
		stats.obytes, stats.oerrors);
	fprintf(out, "  missed (ring full) %" PRIu64 ", no mbuf %" PRIu64 "\n", stats.imissed,
		stats.rx_nombuf);
}

void
port_xstats_print(FILE *out, const struct port *port)
{
	const int n = rte_eth_xstats_get_names(port->id, NULL, 0);
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;

	fprintf(out, "port %u: %s\n", port->id, port->name);
	if (n <= 0)
		return;
	names = calloc((size_t)n, sizeof(*names));
	values = calloc((size_t)n, sizeof(*values));
	if (names != NULL && values != NULL &&
	    rte_eth_xstats_get_names(port->id, names, (unsigned int)n) == n &&
	    rte_eth_xstats_get(port->id, values, (unsigned int)n) == n)
		for (int i = 0; i < n; i++)
			fprintf(out, "  %-40s %" PRIu64 "\n", names[values[i].id].name,
				values[i].value);
	free(names);
	free(values);
}
