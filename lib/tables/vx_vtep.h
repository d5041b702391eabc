/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote VTEPs, each with the outer header that every packet to it begins with. */
#ifndef VX_VTEP_H
#define VX_VTEP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_hash.h>

#include "vx_err.h"
#include "vx_ip.h"
#include "vx_tables.h"
#include "vx_wire.h"

enum vx_vtep_state {
	VX_VTEP_NO_ROUTE,  /* no route, or no local address towards it */
	VX_VTEP_RESOLVING, /* the next hop's MAC is being asked for: packets are held */
	VX_VTEP_READY,
	VX_VTEP_FAILED, /* the next hop does not answer */
};

/* How packets reach it: what routes, addresses and neighbours say now. */
struct vx_vtep_path {
	enum vx_vtep_state state;
	uint16_t port;
	uint16_t mtu; /* bytes of outer IP packet that the path carries */
	struct vx_ip source, next_hop;
	struct rte_ether_addr source_mac, next_hop_mac;
	uint8_t ttl; /* 0: as `set ttl` says */
};

/*
 * Immutable once published. The header has everything but lengths, IP ID and checksum, ECN, source
 * port and VNI; the checksum starts from ip_sum, which covers its constant fields. Only the header
 * of the remote's family is filled in: apart, so that IPv4's stays in one cache line with the rest.
 */
struct vx_vtep {
	struct vx_outer4 outer4;
	uint32_t index;
	uint32_t ip_sum;
	uint16_t port;
	uint16_t mtu;
	uint8_t state; /* enum vx_vtep_state */
	bool is_v6;
	bool is_inheriting;   /* TTL or DSCP of the header are only for frames that are not IP */
	bool is_named;	      /* by a flood list or a static FDB entry: `set peers known` */
	uint32_t fragment_id; /* IPv6: added to the identifications of fragmented packets */
	struct vx_outer6 outer6;
	struct vx_ip remote;
	struct vx_vtep_path path;
} __rte_cache_aligned;

/* Why a remote VTEP is kept. */
enum vx_vtep_use {
	VX_VTEP_FLOOD,	 /* in a flood list */
	VX_VTEP_STATIC,	 /* named by a static FDB entry */
	VX_VTEP_LEARNED, /* an inner MAC was learned behind it */
	VX_VTEP_USES,
};

/* Bytes of outer IP packet in front of the inner frame. */
static inline uint32_t
vx_vtep_overhead(const struct vx_vtep *vtep)
{
	return vtep->is_v6 ? (uint32_t)VX_OUTER6_IP_LEN : (uint32_t)VX_OUTER4_IP_LEN;
}

/*
 * May @remote be a remote VTEP: a host's address, not one of ours, of a family of which there is a
 * local address where there is any? 0 or -EINVAL.
 */
int vx_vtep_check(const struct vx_tables *tables, const struct vx_ip *remote, struct vx_err *err);

/* Control thread: find or make the VTEP and take a reference; its index, or -ENOSPC, -ENOMEM. */
int64_t vx_vtep_get(struct vx_tables *tables, const struct vx_ip *remote, enum vx_vtep_use use);

/* Take or drop one more reference. The last one removes the VTEP. */
void vx_vtep_ref(struct vx_tables *tables, uint32_t index, enum vx_vtep_use use);
void vx_vtep_unref(struct vx_tables *tables, uint32_t index, enum vx_vtep_use use);

/* How often it is in use so. */
uint32_t vx_vtep_uses(const struct vx_tables *tables, uint32_t index, enum vx_vtep_use use);

/* Publish what the underlay now knows of the way to it. Nothing is done if nothing changed. */
void vx_vtep_set_path(struct vx_tables *tables, uint32_t index, const struct vx_vtep_path *path);

/*
 * Publish @view, from vx_view_edit() with another TTL or DSCP, and all headers made anew for it.
 * Ownership is taken. 0, or -ENOMEM with nothing changed.
 */
int vx_vtep_publish_view(struct vx_tables *tables, struct vx_view *view);

/* A path MTU is believed from here on (RFC 1191 section 3; RFC 8201 section 4), and for so long. */
#define VX_PATH_MTU_MIN4   576u
#define VX_PATH_MTU_MIN6   VX_IP6_MTU_MIN
#define VX_PATH_MTU_AGE_MS (10u * 60u * 1000u)

/*
 * An ICMP error said that packets to the VTEP may have @mtu bytes. False: not believed, because it
 * is too small, no less than what is known, or set by a command.
 */
bool vx_vtep_learn_path_mtu(struct vx_tables *tables, uint32_t index, uint16_t mtu,
			    uint64_t now_ms);

/* The smallest that is believed for a remote VTEP of this family. */
static inline uint16_t
vx_vtep_path_mtu_min(const struct vx_ip *remote)
{
	return vx_ip_is_v4(remote) ? VX_PATH_MTU_MIN4 : VX_PATH_MTU_MIN6;
}

/* Set it by a command; 0: back to what the port says and ICMP tells. */
void vx_vtep_set_path_mtu(struct vx_tables *tables, uint32_t index, uint16_t mtu);

/* Forget learned path MTUs whose time has come; from a timer. */
void vx_vtep_age_path_mtus(struct vx_tables *tables, uint64_t now_ms);

/* What is known of it: 0, or the path MTU; *is_set tells whether by a command. */
uint16_t vx_vtep_path_mtu(const struct vx_tables *tables, uint32_t index, bool *is_set);

/* The index of the VTEP with this address, or -ENOENT. */
int64_t vx_vtep_find(const struct vx_tables *tables, const struct vx_ip *remote);

const char *vx_vtep_state_name(enum vx_vtep_state state);

/* Workers: the VTEP of an index, NULL where it has just been removed. */
static inline const struct vx_vtep *
vx_vtep_at(const struct vx_tables *tables, uint32_t index)
{
	return __atomic_load_n(&tables->vtep[index], __ATOMIC_ACQUIRE);
}

#endif
