/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_binding.h"

#include <errno.h>
#include <stdlib.h>

#include "vx_fdb.h"
#include "vx_rcu.h"
#include "vx_segment.h"

/* Wait for readers after this many deletions: fewer than the hash's queue of deferred slots. */
#define SYNC_EVERY 32u

struct vx_bindings *
vx_bindings_create(uint32_t max, uint32_t max_segments, struct vx_rcu *rcu)
{
	struct vx_bindings *bindings = calloc(1, sizeof(*bindings));

	if (bindings == NULL)
		return NULL;
	bindings->max = max;
	bindings->n_learned = calloc(max_segments, sizeof(*bindings->n_learned));
	bindings->hash = vx_tables_hash("binding", rcu, max, sizeof(struct vx_binding_key), false);
	if (bindings->n_learned == NULL || bindings->hash == NULL) {
		vx_bindings_destroy(bindings);
		return NULL;
	}
	return bindings;
}

void
vx_bindings_destroy(struct vx_bindings *bindings)
{
	if (bindings == NULL)
		return;
	rte_hash_free(bindings->hash);
	free(bindings->n_learned);
	free(bindings);
}

/* Enter or replace; @old: the value that is there now. */
static int
store(struct vx_bindings *bindings, const struct vx_binding_key *key, uint64_t old, uint64_t value)
{
	if (old == 0 && bindings->n == bindings->max)
		return -ENOSPC;
	if (rte_hash_add_key_data(bindings->hash, key, (void *)(uintptr_t)value) != 0)
		return -ENOSPC;
	bindings->n += old == 0;
	if (old != 0 && (old & VX_BINDING_STATIC) == 0)
		bindings->n_learned[key->segment]--;
	if ((value & VX_BINDING_STATIC) == 0)
		bindings->n_learned[key->segment]++;
	return 0;
}

static void delete (struct vx_tables *tables, const struct vx_binding_key *key, uint64_t value)
{
	struct vx_bindings *bindings = tables->bindings;

	rte_hash_del_key(bindings->hash, key);
	bindings->n--;
	if ((value & VX_BINDING_STATIC) == 0)
		bindings->n_learned[key->segment]--;
	if (++bindings->deleted >= SYNC_EVERY) {
		bindings->deleted = 0;
		vx_rcu_synchronize(tables->rcu);
	}
}

static bool
is_in_fdb(const struct vx_tables *tables, uint32_t segment, uint64_t value)
{
	struct vx_fdb_entry entry;

	return vx_fdb_get(tables->fdb, vx_fdb_key(segment, VX_BINDING_MAC(value)), &entry);
}

enum vx_bound
vx_binding_learn(struct vx_tables *tables, uint32_t segment, const struct vx_ip *ip, uint64_t value)
{
	const struct vx_binding_key key = {.ip = *ip, .segment = segment};
	const uint64_t old = vx_binding_lookup(tables, segment, ip);
	struct vx_bindings *bindings = tables->bindings;

	if ((old & VX_BINDING_STATIC) != 0) {
		if (VX_BINDING_MAC(old) != VX_BINDING_MAC(value))
			return VX_BOUND_CONFLICT;
		/* That it is a router is learned even so: an answer that denies it would take the
		 * default route from its hosts (RFC 4861 7.2.5). */
		value |= VX_BINDING_STATIC;
	} else if (!is_in_fdb(tables, segment, value)) {
		return VX_BOUND_UNKNOWN;
	}
	if (old == value)
		return VX_BOUND_SAME;
	if (old == 0 && bindings->n_learned[segment] >= VX_BINDINGS_SEGMENT_MAX)
		return VX_BOUND_FULL;
	if (store(bindings, &key, old, value) < 0)
		return VX_BOUND_FULL;
	if (old == 0)
		return VX_BOUND_NEW;
	return VX_BINDING_MAC(old) == VX_BINDING_MAC(value) ? VX_BOUND_SAME : VX_BOUND_MOVED;
}

int
vx_binding_add(struct vx_tables *tables, uint32_t vni, const struct vx_ip *ip,
	       const struct rte_ether_addr *mac, struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_find(tables, vni, err);
	struct vx_binding_key key = {.ip = *ip};
	char text[VX_IP_TEXT_MAX], mac_text[RTE_ETHER_ADDR_FMT_SIZE];
	uint64_t old, value;

	if (segment == NULL)
		return -ENOENT;
	if (!vx_ip_is_host(ip))
		return vx_err_set(err, EINVAL, "%s cannot be a host's: expected a unicast address",
				  vx_ip_format(ip, text, sizeof(text)));
	rte_ether_format_addr(mac_text, sizeof(mac_text), mac);
	if (!rte_is_valid_assigned_ether_addr(mac))
		return vx_err_set(err, EINVAL,
				  "%s cannot be a host's: expected a unicast MAC address",
				  mac_text);
	key.segment = segment->index;
	value = vx_binding_value(vx_fdb_key_of(0, mac), false, true) | VX_BINDING_STATIC;
	old = vx_binding_lookup(tables, segment->index, ip);
	if ((old & VX_BINDING_STATIC) != 0 && VX_BINDING_MAC(old) == VX_BINDING_MAC(value))
		return vx_err_set(err, EEXIST, "%s is bound to %s in VNI %u already",
				  vx_ip_format(ip, text, sizeof(text)), mac_text, vni);
	if (store(tables->bindings, &key, old, value) < 0)
		return vx_err_set(err, ENOSPC, "all %u bindings are in use", tables->bindings->max);
	return 0;
}

int
vx_binding_del(struct vx_tables *tables, uint32_t vni, const struct vx_ip *ip, struct vx_err *err)
{
	const struct vx_segment *segment = vx_segment_find(tables, vni, err);
	struct vx_binding_key key = {.ip = *ip};
	char text[VX_IP_TEXT_MAX];
	uint64_t value;

	if (segment == NULL)
		return -ENOENT;
	key.segment = segment->index;
	value = vx_binding_lookup(tables, segment->index, ip);
	if (value == 0)
		return vx_err_set(err, ENOENT, "%s is not bound in VNI %u",
				  vx_ip_format(ip, text, sizeof(text)), vni);
	delete (tables, &key, value);
	return 0;
}

/* The entry at or after *iterator, with the key that the hash keeps. */
static const struct vx_binding_key *
next(const struct vx_bindings *bindings, uint32_t *iterator, uint64_t *value)
{
	const void *key;
	void *data;

	if (rte_hash_iterate(bindings->hash, &key, &data, iterator) < 0)
		return NULL;
	*value = (uint64_t)(uintptr_t)data;
	return key;
}

void
vx_binding_flush(struct vx_tables *tables, uint32_t segment, bool with_static)
{
	const struct vx_binding_key *at;
	uint32_t iterator = 0;
	uint64_t value;

	if (tables->bindings->n == 0)
		return;
	while ((at = next(tables->bindings, &iterator, &value)) != NULL) {
		const struct vx_binding_key key = *at;

		if (key.segment == segment && (with_static || (value & VX_BINDING_STATIC) == 0))
			delete (tables, &key, value);
	}
}

uint32_t
vx_binding_age(struct vx_tables *tables, unsigned int steps)
{
	struct vx_bindings *bindings = tables->bindings;
	uint32_t n = 0;

	if (bindings->n == 0)
		return 0;
	for (uint32_t budget = bindings->n / steps + 1; budget > 0; budget--) {
		uint64_t value;
		const struct vx_binding_key *at = next(bindings, &bindings->age_cursor, &value);
		struct vx_binding_key key;

		if (at == NULL) {
			bindings->age_cursor = 0;
			break;
		}
		key = *at;
		if ((value & VX_BINDING_STATIC) != 0 || is_in_fdb(tables, key.segment, value))
			continue;
		delete (tables, &key, value);
		n++;
	}
	return n;
}

const char *
vx_binding_mac_format(uint64_t value, char *text, uint16_t size)
{
	const struct rte_ether_addr mac = vx_fdb_mac_of(value);

	rte_ether_format_addr(text, size, &mac);
	return text;
}

bool
vx_binding_next(const struct vx_tables *tables, uint32_t *iterator, struct vx_binding_entry *entry)
{
	const struct vx_binding_key *key = next(tables->bindings, iterator, &entry->value);

	if (key == NULL)
		return false;
	entry->ip = key->ip;
	entry->segment = key->segment;
	return true;
}
