/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What workers need to know besides the tables, as one immutable snapshot: the control thread
 * copies the current view, changes the copy, publishes it, and RCU frees the old one. A worker
 * loads the pointer once per loop, so that one burst never sees two configurations.
 */
#ifndef VX_VIEW_H
#define VX_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_config.h>
#include <rte_ether.h>

#include "vx_ip.h"
#include "vx_role.h"

struct rte_mempool;
struct vx_tables;
struct vx_trace;
struct vx_vlans;

#define VX_LOCALS_MAX  32
#define VX_ATTACH_NONE UINT32_MAX

#define VX_TTL_INHERIT	 0  /* `set ttl inherit`, */
#define VX_TTL_DEFAULT	 64 /* and what it means where there is no inner IP header (RFC 1700) */
#define VX_DSCP_INHERIT	 64 /* `set dscp inherit`: one more than the field holds */
#define VX_ECN_MASK	 3u /* of the second byte of an IPv4 header */
#define VX_UDP_PORTS_MAX 8u /* of VXLAN, `set udp-port` */

#define VX_GROUPS_MAX  256u  /* multicast groups that are joined */
#define VX_GROUP_SLOTS 1024u /* a power of 2, sparse enough for short searches */

struct vx_view_port {
	uint32_t untagged;	/* attachment of untagged frames, or VX_ATTACH_NONE */
	bool carries_tags;	/* ... and of tagged ones too, as they are: vlan all */
	uint8_t tx_tag;		/* a frame with a VLAN tag may be this much longer */
	struct vx_vlans *vlans; /* attachments of VLANs; NULL: there are none */
	uint32_t max_tx_frame;	/* bytes without FCS that the driver sends */
	uint32_t max_tx_chain;	/* longer frames must be in one segment; 0: all frames */
	uint32_t cut_len; /* a frame of this length may have been cut; 0: the driver never cuts */
	uint32_t storm_rate; /* access: frames a second that one worker may flood; 0: any */
	uint16_t mtu;	     /* underlay: largest outer IP packet in bytes */
	enum vx_role role;
	bool is_up;	     /* started and link up: may be sent to */
	bool takes_indirect; /* sends mbufs whose data lies in another mbuf (clones) */
	struct rte_ether_addr mac;
	struct rte_mempool *linear_pool; /* buffers for linear copies, NULL: never needed */
};

struct vx_view_local {
	struct vx_ip ip;
	uint8_t prefix_len;
	bool is_tentative; /* IPv6: another host may still turn out to have it */
	uint16_t port;
};

/* A multicast group that a port listens to; vx_view_group.h finds them. */
struct vx_view_group {
	struct vx_ip ip; /* none: the slot is free */
	struct rte_ether_addr mac;
	uint16_t port;
};

/* `set udp-checksum`: the outer one (RFC 7348 section 5 says zero, RFC 768). */
enum vx_udp_checksum {
	VX_UDP_CHECKSUM_ON,
	VX_UDP_CHECKSUM_OFF,
	VX_UDP_CHECKSUM_AUTO, /* where the datagram needs it: not over IPv4 in one piece */
};

/* `set oversize`: what happens to a frame that is too big for the underlay (RFC 4459). */
enum vx_oversize {
	VX_OVERSIZE_OUTER, /* the outer packet is cut; RFC 7348 section 4.3 says it must not */
	VX_OVERSIZE_INNER, /* an inner IPv4 packet is cut, so that any VTEP can take it */
	VX_OVERSIZE_REPLY, /* the inner sender is told the MTU */
	VX_OVERSIZE_DROP,
};

/* `set df`: the outer "do not fragment" bit. */
enum vx_df {
	VX_DF_ON,
	VX_DF_OFF,
	VX_DF_INHERIT, /* the inner IPv4 packet's; set for IPv6 */
};

struct vx_view {
	enum vx_oversize oversize;
	enum vx_df df;	  /* this and the next two: of segments without their own */
	uint8_t ttl;	  /* outer TTL, or VX_TTL_INHERIT */
	uint8_t dscp;	  /* outer DSCP, or VX_DSCP_INHERIT */
	uint8_t ecn_mask; /* `set ecn`: VX_ECN_MASK, or 0 to leave the fields alone (RFC 6040) */
	bool is_reassembling;
	uint32_t reassembly_ms;	    /* how long a datagram may wait for its fragments, */
	uint64_t reassembly_cycles; /* the same in TSC cycles */
	uint32_t reassembly_max;    /* datagrams in one worker */
	enum vx_udp_checksum udp_checksum;
	bool is_peers_known;	 /* set peers known: only VTEPs that flood or fdb commands name */
	rte_be16_t udp_port_be;	 /* VXLAN destination port, RFC 7348 section 5 */
	uint16_t source_port_lo; /* first outer UDP source port, host order */
	uint8_t n_other_ports;	 /* that are accepted besides udp_port_be: other_port_be[] */
	uint32_t source_ports;	 /* how many, 1..65535 */
	struct vx_trace *trace;	 /* NULL: tracing is off */
	uint16_t n_locals;
	struct vx_view_local local[VX_LOCALS_MAX];
	struct vx_view_port port[RTE_MAX_ETHPORTS];
	uint16_t n_groups;
	struct vx_view_group group[VX_GROUP_SLOTS]; /* by hash, open addressing */
	rte_be16_t other_port_be[VX_UDP_PORTS_MAX - 1];
};

/*
 * Start a change: a copy of the current view that the caller may edit. The control thread only.
 * NULL with rte_errno ENOMEM. End it with vx_view_publish(), or rte_free() to give it up.
 */
struct vx_view *vx_view_edit(const struct vx_tables *tables);

/* Make @view (from vx_view_edit(), ownership taken) the one that workers see from their next loop.
 */
void vx_view_publish(struct vx_tables *tables, struct vx_view *view);

/* Set both members for the time. */
void vx_view_set_reassembly_ms(struct vx_view *view, uint32_t ms);

/* Is VXLAN accepted on this UDP port? */
static inline bool
vx_view_is_udp_port(const struct vx_view *view, rte_be16_t port_be)
{
	for (unsigned int i = 0; i < view->n_other_ports; i++)
		if (view->other_port_be[i] == port_be)
			return true;
	return port_be == view->udp_port_be;
}

/* Is @addr_be a local address? Workers; the list is short, a scan beats a hash. */
static inline const struct vx_view_local *
vx_view_find_local4(const struct vx_view *view, rte_be32_t addr_be)
{
	for (unsigned int i = 0; i < view->n_locals; i++)
		if (view->local[i].ip.words_be[3] == addr_be && vx_ip_is_v4(&view->local[i].ip))
			return &view->local[i];
	return NULL;
}

/* The same for either family. */
static inline const struct vx_view_local *
vx_view_find_local(const struct vx_view *view, const struct vx_ip *ip)
{
	for (unsigned int i = 0; i < view->n_locals; i++)
		if (vx_ip_is_equal(&view->local[i].ip, ip))
			return &view->local[i];
	return NULL;
}

#endif
