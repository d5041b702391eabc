/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_quirk.h"

#include <dirent.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_dev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#define FRAME_MAX 65535u

/* The value of a device argument, or NULL. */
static const char *
arg_text(const struct port_probe *probe, const char *key)
{
	return probe->args == NULL ? NULL : rte_kvargs_get(probe->args, key);
}

static uint32_t
arg_number(const struct port_probe *probe, const char *key, uint32_t otherwise)
{
	const char *text = arg_text(probe, key);

	return text == NULL ? otherwise : (uint32_t)strtoul(text, NULL, 0);
}

static uint32_t
kernel_frame(const struct port_probe *probe)
{
	return probe->kernel_mtu == 0 ? FRAME_MAX : (uint32_t)probe->kernel_mtu + RTE_ETHER_HDR_LEN;
}

/* A packet socket takes a frame of MTU size with one VLAN tag, but no other that is longer. */
static void
limit_packet_socket(const struct port_probe *probe, uint32_t room, struct port_limits *limits)
{
	limits->max_tx_frame = RTE_MIN(room, kernel_frame(probe));
	limits->tx_tag = (uint8_t)RTE_MIN(room - limits->max_tx_frame, RTE_VLAN_HLEN);
}

/*
 * net_af_packet shares a ring of equal frames with the kernel. On receipt the packet starts 66
 * bytes into a frame, and what goes beyond its end is cut off. On sending 32 bytes are the header.
 * The queue set-up wants mbufs for a frame less that header.
 */
static void
limit_af_packet(const struct port_probe *probe, struct port_limits *limits)
{
	const uint32_t frame = arg_number(probe, "framesz", 2048);

	limits->max_rx_frame = frame > 66 ? frame - 66 : 0;
	limit_packet_socket(probe, frame > 32 ? frame - 32 : 0, limits);
	limits->min_data_room = frame - 32 + RTE_PKTMBUF_HEADROOM;
	limits->is_rx_linear = true;
}

/*
 * net_af_xdp receives straight into mbufs, each with the kernel's 256 bytes of headroom after ours,
 * and an mbuf with its mempool header has to lie within one page.
 */
static void
limit_af_xdp(const struct port_probe *probe, struct port_limits *limits)
{
	const uint32_t lost = RTE_PKTMBUF_HEADROOM + 256;
	const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	/* An object of exactly one page is refused, so one cache line less. */
	const uint32_t room_max = page - (uint32_t)sizeof(struct rte_mbuf) -
				  (uint32_t)sizeof(struct rte_mempool_objhdr) - RTE_CACHE_LINE_SIZE;
	const uint32_t room =
		RTE_MIN(RTE_ALIGN_CEIL(RTE_MAX(probe->frame + lost, (uint32_t)probe->data_room),
				       RTE_CACHE_LINE_SIZE),
			room_max & ~(RTE_CACHE_LINE_SIZE - 1u));

	limits->min_data_room = room;
	limits->max_rx_frame = room - lost;
	limits->max_tx_frame = RTE_MIN(room - lost, kernel_frame(probe));
	limits->max_tx_chain = 0;
	limits->is_rx_linear = true;
	/* the fill ring takes twice the receive ring, the completion ring as much as one */
	limits->rx_held = 3 * 2048;
}

/*
 * net_tap never finishes a burst with a frame over MTU + 22 bytes in it: the frame stays first for
 * ever. It reads each packet into as many mbufs as there are descriptors, and the kernel looks at
 * all of them each time, so there should be no more than the largest packet needs.
 */
static void
limit_tap(const struct port_probe *probe, struct port_limits *limits)
{
	const uint32_t buffer = probe->data_room - RTE_PKTMBUF_HEADROOM;

	limits->max_tx_frame = probe->driver_mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 4u;
	limits->max_rx_frame = 65014;
	limits->n_rxd = (uint16_t)(FRAME_MAX / buffer + 2);
	limits->rx_held = limits->n_rxd;
}

/* Each side's buffers as its peer sees them: a frame that needs two leaves a stale flag behind,
 * which glues later frames together. */
static void
limit_memif(const struct port_probe *probe, struct port_limits *limits)
{
	limits->max_tx_frame = arg_number(probe, "bsize", 2048);
	limits->max_rx_frame = 65000;
}

static void
limit_vhost(const struct port_probe *probe, struct port_limits *limits)
{
	RTE_SET_USED(probe);
	limits->max_tx_frame = FRAME_MAX + RTE_ETHER_HDR_LEN;
	limits->max_rx_frame = FRAME_MAX + RTE_ETHER_HDR_LEN;
}

static void
limit_memory(const struct port_probe *probe, struct port_limits *limits)
{
	RTE_SET_USED(probe);
	limits->max_tx_frame = UINT32_MAX;
	limits->max_rx_frame = UINT32_MAX;
}

/* Number of packets in a capture file and the longest of them; 0 if it is none that we know. */
static uint32_t
pcap_file_packets(const char *path, uint32_t *longest)
{
	uint32_t header[6], record[4];
	uint32_t n = 0;
	FILE *file = fopen(path, "rbe");

	if (file == NULL)
		return 0;
	if (fread(header, sizeof(header), 1, file) == 1) {
		const bool is_swapped = header[0] == rte_bswap32(0xa1b2c3d4) ||
					header[0] == rte_bswap32(0xa1b23c4d);

		while (fread(record, sizeof(record), 1, file) == 1) {
			const uint32_t len = is_swapped ? rte_bswap32(record[2]) : record[2];

			if (fseek(file, (long)len, SEEK_CUR) != 0)
				break;
			*longest = RTE_MAX(*longest, len);
			n++;
		}
	}
	fclose(file);
	return n;
}

/*
 * net_pcap. An interface sends what the kernel's MTU allows. A file takes chains only up to the
 * size of the driver's own buffer and silently cuts the rest off; linear frames go in whole. With
 * infinite_rx the whole file is kept in mbufs, one each.
 */
static void
limit_pcap(const struct port_probe *probe, struct port_limits *limits)
{
	const char *file = arg_text(probe, "rx_pcap");

	limits->max_rx_frame = probe->iface[0] != '\0' ? 16128 : FRAME_MAX;
	limit_packet_socket(probe, FRAME_MAX, limits);
	limits->max_tx_chain = RTE_ETHER_MAX_JUMBO_FRAME_LEN;
	if (file != NULL && arg_number(probe, "infinite_rx", 0) != 0) {
		uint32_t longest = 0;

		limits->rx_held = pcap_file_packets(file, &longest);
		limits->min_data_room =
			RTE_MIN(longest, FRAME_MAX - RTE_PKTMBUF_HEADROOM) + RTE_PKTMBUF_HEADROOM;
		limits->is_rx_linear = true;
	}
}

static const struct port_quirk quirks[] = {
	{
		.driver = "net_af_packet",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_MTU_NEVER | PORT_QUIRK_CUTS |
			 PORT_QUIRK_POLL_ALL | PORT_QUIRK_RX_COPIES | PORT_QUIRK_TX_COPIES |
			 PORT_QUIRK_JOINS,
		.limit = limit_af_packet,
	},
	{
		.driver = "net_af_xdp",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_MTU_NEVER | PORT_QUIRK_POLL_ALL |
			 PORT_QUIRK_PAIRED | PORT_QUIRK_NO_INDIRECT | PORT_QUIRK_KEEPS_MBUFS,
		.limit = limit_af_xdp,
	},
	{
		.driver = "net_tap",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_PAIRED | PORT_QUIRK_SPREADS |
			 PORT_QUIRK_RX_COPIES | PORT_QUIRK_TX_COPIES,
		.limit = limit_tap,
	},
	{
		.driver = "net_vhost",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_RX_CHAINS | PORT_QUIRK_POLL_ALL |
			 PORT_QUIRK_RX_COPIES | PORT_QUIRK_TX_COPIES,
		.limit = limit_vhost,
	},
	{
		.driver = "net_virtio_user",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_RX_CHAINS | PORT_QUIRK_SPREADS,
		.limit = limit_vhost,
	},
	{
		.driver = "net_virtio",
		.flags = PORT_QUIRK_SPREADS,
	},
	{
		.driver = "net_memif",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_RX_CHAINS | PORT_QUIRK_SPREADS |
			 PORT_QUIRK_ONE_QUEUE,
		.limit = limit_memif,
	},
	{
		.driver = "net_pcap",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_RX_CHAINS | PORT_QUIRK_TX_CHAINS |
			 PORT_QUIRK_POLL_ALL | PORT_QUIRK_RX_COPIES | PORT_QUIRK_TX_COPIES |
			 PORT_QUIRK_HEARS_ITSELF,
		.limit = limit_pcap,
	},
	{
		.driver = "net_ring",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_RX_CHAINS | PORT_QUIRK_TX_CHAINS |
			 PORT_QUIRK_SPREADS | PORT_QUIRK_PAIRED | PORT_QUIRK_DRAIN,
		.limit = limit_memory,
	},
	{
		.driver = "net_null",
		.flags = PORT_QUIRK_MTU_SOFT | PORT_QUIRK_RX_CHAINS | PORT_QUIRK_TX_CHAINS |
			 PORT_QUIRK_SPREADS | PORT_QUIRK_RX_COPIES | PORT_QUIRK_TX_COPIES,
		.limit = limit_memory,
	},
	{
		/* counts a VLAN tag that the device need not have room for */
		.driver = "net_e1000_em",
		.flags = PORT_QUIRK_MTU_CONF,
	},
};

static const struct port_quirk no_quirk;

const struct port_quirk *
port_quirk_find(const char *driver)
{
	for (unsigned int i = 0; i < RTE_DIM(quirks); i++)
		if (driver != NULL && strcmp(quirks[i].driver, driver) == 0)
			return &quirks[i];
	return &no_quirk;
}

void
port_quirk_limits(const struct port_quirk *quirk, const struct port_probe *probe,
		  struct port_limits *limits)
{
	const struct rte_eth_dev_info *info = probe->info;
	/* The longest of what the driver names in two ways, the one with FCS, the other without. */
	const uint64_t frame =
		RTE_MAX((uint64_t)info->max_rx_pktlen - RTE_MIN(info->max_rx_pktlen, 4u),
			(uint64_t)info->max_mtu + RTE_ETHER_HDR_LEN);
	const bool has_chains = (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0 ||
				(quirk->flags & PORT_QUIRK_TX_CHAINS) != 0;

	memset(limits, 0, sizeof(*limits));
	limits->max_tx_frame = (uint32_t)RTE_MIN(frame, (uint64_t)FRAME_MAX + RTE_ETHER_HDR_LEN);
	limits->max_rx_frame = limits->max_tx_frame;
	limits->max_tx_chain = has_chains ? UINT32_MAX : 0;
	if (quirk->limit != NULL)
		quirk->limit(probe, limits);
}

struct rte_kvargs *
port_quirk_args(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *devargs = rte_dev_devargs(info->device);

	if (devargs == NULL || devargs->args == NULL)
		return NULL;
	return rte_kvargs_parse(devargs->args, NULL);
}

void
port_quirk_iface(const struct rte_eth_dev_info *info, const struct rte_kvargs *args, char *iface)
{
	static const char *const keys[] = {"tx_iface", "iface", "rx_iface_in", "rx_iface"};

	iface[0] = '\0';
	if (info->if_index != 0 && if_indextoname(info->if_index, iface) != NULL)
		return;
	iface[0] = '\0';
	for (unsigned int i = 0; args != NULL && i < RTE_DIM(keys); i++) {
		const char *text = rte_kvargs_get(args, keys[i]);

		/* net_vhost names a socket's path with the same word */
		if (text != NULL && strlen(text) < IF_NAMESIZE && strchr(text, '/') == NULL) {
			snprintf(iface, IF_NAMESIZE, "%s", text);
			return;
		}
	}
}

/* An ioctl on any socket reads an interface's settings. */
static bool
ask_kernel(const char *iface, unsigned long what, struct ifreq *request)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return false;
	memset(request, 0, sizeof(*request));
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", iface);
	rc = ioctl(fd, what, request);
	close(fd);
	return rc == 0;
}

uint16_t
port_quirk_kernel_mtu(const char *iface)
{
	struct ifreq request;

	if (iface[0] == '\0' || !ask_kernel(iface, SIOCGIFMTU, &request) || request.ifr_mtu <= 0)
		return 0;
	return (uint16_t)RTE_MIN(request.ifr_mtu, UINT16_MAX);
}

/* Is @fd a packet socket on the interface @ifindex? */
static bool
is_packet_socket(int fd, unsigned int ifindex)
{
	struct sockaddr_ll address = {0};
	socklen_t size = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
	       address.sll_family == AF_PACKET && (unsigned int)address.sll_ifindex == ifindex;
}

void
port_quirk_ignore_sent(const char *iface)
{
	const unsigned int ifindex = if_nametoindex(iface);
	DIR *folder = ifindex == 0 ? NULL : opendir("/proc/self/fd");
	const struct dirent *entry;
	const int on = 1;

	if (folder == NULL)
		return;
	/* The driver does not say which sockets are its own. */
	while ((entry = readdir(folder)) != NULL) {
		const int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && is_packet_socket(fd, ifindex))
			setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	}
	closedir(folder);
}
