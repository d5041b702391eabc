/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What drivers do not say of themselves, one row per driver: whether they take chains without
 * offering it, which frames they cut, lose or never finish sending, and where their limits come
 * from. A driver without a row is believed: PCI NICs are.
 */
#ifndef PORT_QUIRK_H
#define PORT_QUIRK_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_kvargs.h>

/* A refused MTU is no limit: the driver carries larger frames all the same. */
#define PORT_QUIRK_MTU_SOFT 0x0001u
/* Never call rte_eth_dev_set_mtu(): it would change an interface that belongs to somebody else. */
#define PORT_QUIRK_MTU_NEVER 0x0002u
/* The MTU is taken at configuration; the call to change it refuses more than the device does. */
#define PORT_QUIRK_MTU_CONF 0x0004u
/* Receives chains without offering SCATTER. */
#define PORT_QUIRK_RX_CHAINS 0x0008u
/* Sends chains without offering MULTI_SEGS. */
#define PORT_QUIRK_TX_CHAINS 0x0010u
/* Cuts frames that are too long and says nothing; only their IP length tells. */
#define PORT_QUIRK_CUTS 0x0020u
/* Each receive queue is a source of its own: all of them have to be polled. */
#define PORT_QUIRK_POLL_ALL 0x0040u
/* As many transmit as receive queues. */
#define PORT_QUIRK_PAIRED 0x0080u
/* The other end spreads flows over the queues without RSS being asked for. */
#define PORT_QUIRK_SPREADS 0x0100u
/* One queue unless a person asks for more. */
#define PORT_QUIRK_ONE_QUEUE 0x0200u
/* Copies into or out of mbufs: its rings hold none. */
#define PORT_QUIRK_RX_COPIES 0x0400u
#define PORT_QUIRK_TX_COPIES 0x0800u
/* Looks for the data inside the mbuf it is given: an indirect mbuf (a clone) is sent as rubbish. */
#define PORT_QUIRK_NO_INDIRECT 0x1000u
/* Never gives back the mbufs that its set-up took, not even when it is closed, and those that are
 * being sent only when it is asked to send more. */
#define PORT_QUIRK_KEEPS_MBUFS 0x2000u
/* Frames on their way stay in its rings when it is closed: they have to be taken out before. */
#define PORT_QUIRK_DRAIN 0x4000u
/* The kernel reassembles IP packets before the device sees them. */
#define PORT_QUIRK_JOINS 0x8000u
/* Its packet socket gets what is sent as well, and only then forgets it. */
#define PORT_QUIRK_HEARS_ITSELF 0x10000u

/* What is known when the limits of a port are worked out. */
struct port_probe {
	const struct rte_eth_dev_info *info;
	const struct rte_kvargs *args; /* its device arguments; NULL: none */
	const char *iface;	       /* its kernel interface; "": none */
	uint16_t kernel_mtu;	       /* of that interface; 0: none */
	uint16_t driver_mtu;	       /* what the driver has or is going to have */
	uint16_t data_room;	       /* bytes of an ordinary mbuf, headroom included */
	uint32_t frame;		       /* largest frame that is to be carried, bytes without FCS */
};

/* Frames in bytes of Ethernet frame without FCS. */
struct port_limits {
	uint32_t max_tx_frame;	/* longer ones must not be given to the driver */
	uint8_t tx_tag;		/* by which a frame with an 802.1Q tag may be longer */
	uint32_t max_tx_chain;	/* longer ones must be linear; 0: no chains at all */
	uint32_t max_rx_frame;	/* longer ones are lost or cut */
	uint32_t min_data_room; /* the driver's own demand; 0: none */
	uint32_t rx_held;	/* mbufs held apart from those of the descriptors */
	uint16_t n_rxd;		/* a better default than the driver's; 0: none */
	bool is_rx_linear;	/* no chains, whatever the driver offers */
};

struct port_quirk {
	const char *driver;
	uint32_t flags; /* PORT_QUIRK_* */
	void (*limit)(const struct port_probe *,
		      struct port_limits *); /* NULL: as the driver says */
};

/* The row for a driver; never NULL. */
const struct port_quirk *port_quirk_find(const char *driver);

/* Work out the limits of one port. */
void port_quirk_limits(const struct port_quirk *quirk, const struct port_probe *probe,
		       struct port_limits *limits);

/* The device's arguments, to be freed by the caller; NULL: none. */
struct rte_kvargs *port_quirk_args(const struct rte_eth_dev_info *info);

/* The name of the port's kernel interface, or "" (IF_NAMESIZE bytes). */
void port_quirk_iface(const struct rte_eth_dev_info *info, const struct rte_kvargs *args,
		      char *iface);

/* MTU of a kernel interface; 0: cannot be told. */
uint16_t port_quirk_kernel_mtu(const char *iface);

/* Have the kernel keep what is sent on @iface from this process's own packet sockets: a burst of
 * fragments would fill their rings and leave no room for what arrives. */
void port_quirk_ignore_sent(const char *iface);

#endif
