/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_vtep.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>
#include <rte_random.h>

#include "vx_ip6.h"
#include "vx_rcu.h"
#include "vx_vtep_refs.h"

static bool
is_named(const struct vx_vtep_refs *refs)
{
	return refs->n[VX_VTEP_FLOOD] + refs->n[VX_VTEP_STATIC] > 0;
}

/* The one's-complement sum of the IPv4 header's constant fields: not the source, and not what is
 * zero in the template.
 */
static uint32_t
header_sum(const struct rte_ipv4_hdr *ip)
{
	return (uint16_t)~rte_ipv4_cksum(ip);
}

/* TTL and DSCP of the ready-made header; where they are inherited, those of frames without any. */
static uint8_t
header_ttl(const struct vx_vtep_path *path, const struct vx_view *view)
{
	if (path->ttl != 0)
		return path->ttl;
	return view->ttl == VX_TTL_INHERIT ? VX_TTL_DEFAULT : view->ttl;
}

static uint8_t
header_tos(const struct vx_view *view)
{
	return view->dscp == VX_DSCP_INHERIT ? 0 : (uint8_t)(view->dscp << 2);
}

static void
header_fill4(struct vx_vtep *vtep, const struct vx_view *view)
{
	struct vx_outer4 *outer = &vtep->outer4;
	const struct vx_vtep_path *path = &vtep->path;

	memcpy(outer->ether_dst, path->next_hop_mac.addr_bytes, sizeof(outer->ether_dst));
	memcpy(outer->ether_src, path->source_mac.addr_bytes, sizeof(outer->ether_src));
	outer->ether_type_be = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	outer->ip.version_ihl = RTE_IPV4_VHL_DEF;
	outer->ip.type_of_service = header_tos(view);
	outer->ip.time_to_live = header_ttl(path, view);
	outer->ip.next_proto_id = IPPROTO_UDP;
	outer->ip.dst_addr = vx_ip_v4(&vtep->remote);
	outer->vxlan.flags_be = VX_VXLAN_FLAG_I;
	vtep->ip_sum = header_sum(&outer->ip);
	/* After the sum: a segment may have a source address of its own. */
	outer->ip.src_addr = vx_ip_v4(&path->source);
}

static void
header_fill6(struct vx_vtep *vtep, const struct vx_view *view)
{
	struct vx_outer6 *outer = &vtep->outer6;
	const struct vx_vtep_path *path = &vtep->path;

	memcpy(outer->ether_dst, path->next_hop_mac.addr_bytes, sizeof(outer->ether_dst));
	memcpy(outer->ether_src, path->source_mac.addr_bytes, sizeof(outer->ether_src));
	outer->ether_type_be = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	outer->ip.vtc_flow =
		rte_cpu_to_be_32(VX_IP6_VERSION | (uint32_t)header_tos(view) << VX_IP6_ECN_SHIFT);
	outer->ip.proto = IPPROTO_UDP;
	outer->ip.hop_limits = header_ttl(path, view);
	memcpy(&outer->ip.src_addr, path->source.bytes, sizeof(path->source.bytes));
	memcpy(&outer->ip.dst_addr, vtep->remote.bytes, sizeof(vtep->remote.bytes));
	outer->vxlan.flags_be = VX_VXLAN_FLAG_I;
}

/* A VTEP for this index, with @path, the settings of @view and the current references. */
static struct vx_vtep *
make(const struct vx_tables *tables, const struct vx_view *view, uint32_t index,
     const struct vx_ip *remote, const struct vx_vtep_path *path)
{
	const struct vx_vtep_refs *refs = &tables->vtep_refs[index];
	struct vx_vtep *vtep;

	vtep = rte_zmalloc("vx_vtep", sizeof(*vtep), RTE_CACHE_LINE_SIZE);
	if (vtep == NULL)
		return NULL;
	vtep->index = index;
	vtep->remote = *remote;
	vtep->path = *path;
	vtep->state = (uint8_t)path->state;
	vtep->port = path->port;
	vtep->mtu = path->mtu;
	if (refs->path_mtu != 0 && refs->path_mtu < vtep->mtu)
		vtep->mtu = refs->path_mtu;
	vtep->is_inheriting = view->ttl == VX_TTL_INHERIT || view->dscp == VX_DSCP_INHERIT;
	vtep->is_named = is_named(refs);
	vtep->is_v6 = !vx_ip_is_v4(remote);
	vtep->fragment_id = refs->fragment_id;
	/* No link of IPv6's (RFC 8200 section 5). */
	if (vtep->is_v6 && path->mtu < VX_IP6_MTU_MIN)
		vtep->state = VX_VTEP_NO_ROUTE;
	if (vtep->is_v6)
		header_fill6(vtep, view);
	else
		header_fill4(vtep, view);
	return vtep;
}

/* In the place of the one before under its index. */
static void
replace(struct vx_tables *tables, const struct vx_vtep *vtep)
{
	const struct vx_vtep *old = tables->vtep[vtep->index];

	__atomic_store_n(&tables->vtep[vtep->index], vtep, __ATOMIC_RELEASE);
	vx_rcu_free(tables->rcu, old);
}

/* Publish a VTEP under its index, as make() makes it. */
static int
publish(struct vx_tables *tables, uint32_t index, const struct vx_ip *remote,
	const struct vx_vtep_path *path)
{
	const struct vx_vtep *vtep = make(tables, tables->view, index, remote, path);

	if (vtep == NULL)
		return -ENOMEM;
	replace(tables, vtep);
	return 0;
}

int
vx_vtep_publish_view(struct vx_tables *tables, struct vx_view *view)
{
	const uint32_t max = tables->conf.max_vteps;
	struct vx_vtep **made = calloc(max, sizeof(*made));
	bool is_short = made == NULL;

	for (uint32_t i = 0; i < max && !is_short; i++) {
		const struct vx_vtep *vtep = tables->vtep[i];

		if (vtep == NULL)
			continue;
		made[i] = make(tables, view, i, &vtep->remote, &vtep->path);
		is_short = made[i] == NULL;
	}
	if (is_short)
		rte_free(view);
	else
		vx_view_publish(tables, view);
	for (uint32_t i = 0; i < max && made != NULL; i++) {
		if (is_short)
			rte_free(made[i]);
		else if (made[i] != NULL)
			replace(tables, made[i]);
	}
	free(made);
	return is_short ? -ENOMEM : 0;
}

/* Without a local address of its family no packet could ever leave for the remote: a slip. Without
 * any address at all, they are still to come. */
static bool
is_family_local(const struct vx_view *view, const struct vx_ip *remote)
{
	bool is_other = false;

	for (unsigned int i = 0; i < view->n_locals; i++) {
		if (vx_ip6_is_link_local(&view->local[i].ip))
			continue;
		if (vx_ip_is_v4(&view->local[i].ip) == vx_ip_is_v4(remote))
			return true;
		is_other = true;
	}
	return !is_other;
}

int
vx_vtep_check(const struct vx_tables *tables, const struct vx_ip *remote, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX];

	vx_ip_format(remote, text, sizeof(text));
	if (vx_ip_is_multicast(remote))
		return vx_err_set(err, EINVAL, "%s is a multicast group: expected a host's address",
				  text);
	if (!vx_ip_is_host(remote))
		return vx_err_set(err, EINVAL,
				  "%s cannot be a remote VTEP: expected a host's "
				  "unicast address",
				  text);
	if (vx_ip6_is_link_local(remote))
		return vx_err_set(err, EINVAL,
				  "%s is a link-local address: expected one that is the same on "
				  "every link",
				  text);
	if (!is_family_local(tables->view, remote))
		return vx_err_set(err, EINVAL,
				  "there is no local %s address to reach %s from: add one first "
				  "with address add IP/LEN port P",
				  vx_ip_is_v4(remote) ? "IPv4" : "IPv6", text);
	for (unsigned int i = 0; i < tables->view->n_locals; i++) {
		const struct vx_view_local *local = &tables->view->local[i];
		const struct vx_prefix prefix = {.ip = local->ip, .len = local->prefix_len};

		if (vx_ip_is_equal(&local->ip, remote))
			return vx_err_set(err, EINVAL, "%s is this VTEP's own address", text);
		if (vx_prefix_is_edge(&prefix, remote))
			return vx_err_set(
				err, EINVAL,
				"%s is the network or broadcast address of a local subnet: "
				"expected a host's address",
				text);
	}
	return 0;
}

int64_t
vx_vtep_find(const struct vx_tables *tables, const struct vx_ip *remote)
{
	void *data;

	if (rte_hash_lookup_data(tables->vtep_hash, remote, &data) < 0)
		return -ENOENT;
	return (int64_t)(uintptr_t)data - 1;
}

int64_t
vx_vtep_get(struct vx_tables *tables, const struct vx_ip *remote, enum vx_vtep_use use)
{
	const struct vx_vtep_path none = {.state = VX_VTEP_NO_ROUTE};
	int64_t found = vx_vtep_find(tables, remote);
	const struct vx_vtep *vtep;
	uint32_t index;

	if (found >= 0) {
		vx_vtep_ref(tables, (uint32_t)found, use);
		return found;
	}
	index = vx_index_take_late(&tables->vtep_index, tables->rcu);
	if (index == VX_INDEX_NONE)
		return -ENOSPC;
	memset(&tables->vtep_refs[index], 0, sizeof(tables->vtep_refs[index]));
	tables->vtep_refs[index].n[use] = 1;
	tables->vtep_refs[index].fragment_id = (uint32_t)rte_rand();
	if (publish(tables, index, remote, &none) < 0)
		goto err_give_index;
	if (rte_hash_add_key_data(tables->vtep_hash, remote, (void *)(uintptr_t)(index + 1)) != 0)
		goto err_unpublish;
	if (tables->hooks.vtep_added != NULL)
		tables->hooks.vtep_added(tables->hooks.ctx, index, remote);
	return index;

err_unpublish:
	vtep = tables->vtep[index];
	__atomic_store_n(&tables->vtep[index], NULL, __ATOMIC_RELEASE);
	vx_rcu_free(tables->rcu, vtep);
err_give_index:
	vx_index_give_late(&tables->vtep_index, index, tables->rcu);
	return -ENOMEM;
}

/* Show workers whether the VTEP is a named one, after its references changed. */
static void
refresh_named(struct vx_tables *tables, uint32_t index)
{
	const struct vx_vtep *vtep = tables->vtep[index];
	const struct vx_vtep_path path = vtep->path;

	if (vtep->is_named != is_named(&tables->vtep_refs[index]))
		publish(tables, index, &vtep->remote, &path);
}

void
vx_vtep_ref(struct vx_tables *tables, uint32_t index, enum vx_vtep_use use)
{
	tables->vtep_refs[index].n[use]++;
	refresh_named(tables, index);
}

void
vx_vtep_unref(struct vx_tables *tables, uint32_t index, enum vx_vtep_use use)
{
	struct vx_vtep_refs *refs = &tables->vtep_refs[index];
	const struct vx_vtep *vtep = tables->vtep[index];
	const struct vx_ip remote = vtep->remote;

	refs->n[use]--;
	if (refs->n[VX_VTEP_FLOOD] + refs->n[VX_VTEP_STATIC] + refs->n[VX_VTEP_LEARNED] > 0) {
		refresh_named(tables, index);
		return;
	}
	rte_hash_del_key(tables->vtep_hash, &remote);
	__atomic_store_n(&tables->vtep[index], NULL, __ATOMIC_RELEASE);
	vx_rcu_free(tables->rcu, vtep);
	vx_index_give_late(&tables->vtep_index, index, tables->rcu);
	if (tables->hooks.vtep_removed != NULL)
		tables->hooks.vtep_removed(tables->hooks.ctx, index, &remote);
}

static bool
is_same_path(const struct vx_vtep_path *a, const struct vx_vtep_path *b)
{
	return a->state == b->state && a->port == b->port && a->mtu == b->mtu && a->ttl == b->ttl &&
	       vx_ip_is_equal(&a->source, &b->source) &&
	       vx_ip_is_equal(&a->next_hop, &b->next_hop) &&
	       rte_is_same_ether_addr(&a->source_mac, &b->source_mac) &&
	       rte_is_same_ether_addr(&a->next_hop_mac, &b->next_hop_mac);
}

void
vx_vtep_set_path(struct vx_tables *tables, uint32_t index, const struct vx_vtep_path *path)
{
	const struct vx_vtep *vtep = tables->vtep[index];
	const struct vx_ip remote = vtep->remote;

	if (!is_same_path(&vtep->path, path))
		publish(tables, index, &remote, path);
}

/* Publish the VTEP again, with a path MTU that has just changed. */
static void
refresh(struct vx_tables *tables, uint32_t index)
{
	const struct vx_vtep *vtep = tables->vtep[index];
	const struct vx_vtep_path path = vtep->path;
	const struct vx_ip remote = vtep->remote;

	publish(tables, index, &remote, &path);
}

bool
vx_vtep_learn_path_mtu(struct vx_tables *tables, uint32_t index, uint16_t mtu, uint64_t now_ms)
{
	struct vx_vtep_refs *refs = &tables->vtep_refs[index];

	if (mtu < vx_vtep_path_mtu_min(&tables->vtep[index]->remote) || refs->is_path_mtu_set ||
	    mtu >= tables->vtep[index]->mtu)
		return false;
	refs->path_mtu = mtu;
	refs->path_mtu_end = now_ms + VX_PATH_MTU_AGE_MS;
	refresh(tables, index);
	return true;
}

void
vx_vtep_set_path_mtu(struct vx_tables *tables, uint32_t index, uint16_t mtu)
{
	struct vx_vtep_refs *refs = &tables->vtep_refs[index];

	refs->path_mtu = mtu;
	refs->is_path_mtu_set = mtu != 0;
	refresh(tables, index);
}

void
vx_vtep_age_path_mtus(struct vx_tables *tables, uint64_t now_ms)
{
	for (uint32_t i = 0; i < tables->conf.max_vteps; i++) {
		struct vx_vtep_refs *refs = &tables->vtep_refs[i];

		if (tables->vtep[i] == NULL || refs->path_mtu == 0 || refs->is_path_mtu_set ||
		    refs->path_mtu_end > now_ms)
			continue;
		refs->path_mtu = 0;
		refresh(tables, i);
	}
}

uint32_t
vx_vtep_uses(const struct vx_tables *tables, uint32_t index, enum vx_vtep_use use)
{
	return tables->vtep_refs[index].n[use];
}

uint16_t
vx_vtep_path_mtu(const struct vx_tables *tables, uint32_t index, bool *is_set)
{
	*is_set = tables->vtep_refs[index].is_path_mtu_set;
	return tables->vtep_refs[index].path_mtu;
}

const char *
vx_vtep_state_name(enum vx_vtep_state state)
{
	switch (state) {
	case VX_VTEP_NO_ROUTE:
		return "no-route";
	case VX_VTEP_RESOLVING:
		return "resolving";
	case VX_VTEP_READY:
		return "ready";
	case VX_VTEP_FAILED:
		return "failed";
	}
	return "?";
}
