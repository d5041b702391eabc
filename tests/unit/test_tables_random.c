/* SPDX-License-Identifier: BSD-3-Clause */
/* Random commands against tables and against a simple model of them. */
#include "test_tables.h"

#define VNIS  6u
#define MACS  24u
#define VTEPS 5u
#define PORTS 6u
#define STEPS 60000u

enum kind {
	ABSENT,
	LEARNED,
	STATIC
};

struct model {
	bool vni[VNIS];
	int port_vni[PORTS + 1]; /* -1: not attached; ports 1..PORTS */
	bool flood[VNIS][VTEPS];
	struct {
		enum kind kind;
		int port; /* 0: behind vtep */
		unsigned int vtep;
	} mac[VNIS][MACS];
};

static struct vx_ip
remote(unsigned int n)
{
	struct vx_ip address = ip("198.51.100.0");

	address.bytes[15] = (uint8_t)(n + 1);
	return address;
}

static bool
vtep_is_there(const struct model *m, unsigned int vtep, bool named_only)
{
	for (unsigned int v = 0; v < VNIS; v++) {
		if (m->flood[v][vtep])
			return true;
		for (unsigned int i = 0; i < MACS; i++)
			if (m->mac[v][i].kind > (named_only ? LEARNED : ABSENT) &&
			    m->mac[v][i].port == 0 && m->mac[v][i].vtep == vtep)
				return true;
	}
	return false;
}

static void
forget_macs(struct model *m, unsigned int v, int port, int vtep, bool with_static)
{
	for (unsigned int i = 0; i < MACS; i++)
		if ((with_static || m->mac[v][i].kind != STATIC) &&
		    (port < 0 || m->mac[v][i].port == port) &&
		    (vtep < 0 ||
		     (m->mac[v][i].port == 0 && m->mac[v][i].vtep == (unsigned int)vtep)))
			m->mac[v][i].kind = ABSENT;
}

static void
do_vni(struct shelf *s, struct model *m, unsigned int v)
{
	const struct vx_segment_conf conf = {.vni = v + 1};

	if (random() % 4 != 0) {
		assert_int_equal(vx_segment_add(s->tables, &conf, &s->err),
				 m->vni[v] ? -EEXIST : 0);
		m->vni[v] = true;
		return;
	}
	assert_int_equal(vx_segment_del(s->tables, v + 1, &s->err), m->vni[v] ? 0 : -ENOENT);
	m->vni[v] = false;
	memset(m->flood[v], 0, sizeof(m->flood[v]));
	for (unsigned int p = 1; p <= PORTS; p++)
		if (m->port_vni[p] == (int)v)
			m->port_vni[p] = -1;
	forget_macs(m, v, -1, -1, true);
}

static void
do_attach(struct shelf *s, struct model *m, unsigned int v)
{
	const uint16_t port = (uint16_t)(1 + random() % PORTS);
	const int was = m->port_vni[port];

	if (random() % 3 != 0) {
		assert_int_equal(vx_attach_add(s->tables, port, v + 1, &s->err),
				 !m->vni[v] ? -ENOENT
				 : was >= 0 ? -EEXIST
					    : 0);
		if (m->vni[v] && was < 0)
			m->port_vni[port] = (int)v;
		return;
	}
	assert_int_equal(vx_attach_del(s->tables, port, &s->err), was >= 0 ? 0 : -ENOENT);
	if (was >= 0)
		forget_macs(m, (unsigned int)was, port, -1, true);
	m->port_vni[port] = -1;
}

static void
do_flood(struct shelf *s, struct model *m, unsigned int v)
{
	const unsigned int vtep = (unsigned int)random() % VTEPS;
	const struct vx_ip address = remote(vtep);

	if (random() % 3 != 0) {
		assert_int_equal(vx_segment_flood_add(s->tables, v + 1, &address, &s->err),
				 !m->vni[v]	     ? -ENOENT
				 : m->flood[v][vtep] ? -EEXIST
						     : 0);
		m->flood[v][vtep] = m->vni[v];
		return;
	}
	assert_int_equal(vx_segment_flood_del(s->tables, v + 1, &address, &s->err),
			 m->flood[v][vtep] ? 0 : -ENOENT);
	if (m->flood[v][vtep])
		forget_macs(m, v, -1, (int)vtep, false);
	m->flood[v][vtep] = false;
}

/* Learn or configure a MAC of a VNI that is there, behind one of its ports or any VTEP. */
static void
do_mac(struct shelf *s, struct model *m, unsigned int v)
{
	const unsigned int i = (unsigned int)random() % MACS, vtep = (unsigned int)random() % VTEPS;
	const struct vx_segment *segment = vx_segment_find(s->tables, v + 1, NULL);
	const bool is_static = random() % 3 == 0;
	const struct vx_ip address = remote(vtep);
	int port = (int)(random() % (PORTS + 1)), rc;
	bool moved, is_same, was_there = m->mac[v][i].kind != ABSENT, is_refused;
	uint64_t key;

	if (segment == NULL || (port > 0 && m->port_vni[port] != (int)v))
		return;
	key = vx_fdb_key(segment->index, mac48(i));
	if (random() % 3 == 0) {
		assert_int_equal(vx_fdb_del(s->tables, key), was_there ? 0 : -ENOENT);
		m->mac[v][i].kind = ABSENT;
		return;
	}
	is_same = was_there && m->mac[v][i].port == port && (port > 0 || m->mac[v][i].vtep == vtep);
	is_refused = m->mac[v][i].kind == STATIC && !is_static && !is_same;
	if (port > 0) {
		rc = vx_fdb_set(s->tables, key,
				vx_attach_find(s->tables, (uint16_t)port, NULL)->index, is_static,
				&moved);
	} else {
		const int64_t index = vx_vtep_get(s->tables, &address, VX_VTEP_LEARNED);

		rc = vx_fdb_set(s->tables, key, VX_DEST_VTEP | (uint32_t)index, is_static, &moved);
		vx_vtep_unref(s->tables, (uint32_t)index, VX_VTEP_LEARNED);
	}
	assert_int_equal(rc, is_refused ? -EPERM : 0);
	assert_int_equal(moved, was_there && !is_same && !is_refused);
	if (is_refused)
		return;
	if (is_static || !was_there || m->mac[v][i].kind == LEARNED)
		m->mac[v][i].kind = is_static ? STATIC : LEARNED;
	m->mac[v][i].port = port;
	m->mac[v][i].vtep = vtep;
}

static void
check_segment(struct shelf *s, const struct model *m, unsigned int v)
{
	const struct vx_segment *segment = vx_segment_find(s->tables, v + 1, NULL);
	unsigned int attaches = 0, vteps = 0;

	assert_int_equal(segment != NULL, m->vni[v]);
	if (segment == NULL)
		return;
	for (unsigned int p = 1; p <= PORTS; p++)
		attaches += m->port_vni[p] == (int)v;
	for (unsigned int t = 0; t < VTEPS; t++)
		vteps += m->flood[v][t];
	assert_int_equal(segment->n_attaches, attaches);
	assert_int_equal(segment->n_vteps, vteps);
	for (unsigned int t = 0; t < attaches; t++) {
		const struct vx_attach *attach = s->tables->attach[segment->target[t]];

		assert_non_null(attach);
		assert_int_equal(m->port_vni[attach->port], v);
		assert_int_equal(attach->segment, segment->index);
	}
	for (unsigned int t = attaches; t < attaches + vteps; t++)
		assert_true(
			m->flood[v]
				[vx_vtep_at(s->tables, segment->target[t])->remote.bytes[15] - 1]);
}

static uint32_t
check_macs(struct shelf *s, const struct model *m, unsigned int v)
{
	const struct vx_segment *segment = vx_segment_find(s->tables, v + 1, NULL);
	struct vx_fdb_entry entry;
	uint32_t n = 0;

	for (unsigned int i = 0; segment != NULL && i < MACS; i++) {
		const bool is_there =
			vx_fdb_get(s->tables->fdb, vx_fdb_key(segment->index, mac48(i)), &entry);

		assert_int_equal(is_there, m->mac[v][i].kind != ABSENT);
		if (!is_there)
			continue;
		n++;
		assert_int_equal(entry.is_static, m->mac[v][i].kind == STATIC);
		if (m->mac[v][i].port > 0)
			assert_int_equal(s->tables->attach[entry.dest]->port, m->mac[v][i].port);
		else
			assert_int_equal(
				vx_vtep_at(s->tables, entry.dest & VX_DEST_INDEX)->remote.bytes[15],
				m->mac[v][i].vtep + 1);
	}
	return n;
}

static void
check(struct shelf *s, const struct model *m)
{
	unsigned int vteps = 0;
	uint32_t macs = 0;

	for (unsigned int v = 0; v < VNIS; v++) {
		check_segment(s, m, v);
		macs += check_macs(s, m, v);
	}
	for (unsigned int t = 0; t < VTEPS; t++) {
		const struct vx_ip address = remote(t);
		const int64_t index = vx_vtep_find(s->tables, &address);

		assert_int_equal(index >= 0, vtep_is_there(m, t, false));
		if (index >= 0)
			assert_int_equal(vx_vtep_at(s->tables, (uint32_t)index)->is_named,
					 vtep_is_there(m, t, true));
		vteps += index >= 0;
	}
	assert_int_equal(vx_index_used(&s->tables->vtep_index), vteps);
	assert_int_equal(s->n_added - s->n_removed, vteps);
	assert_int_equal(vx_fdb_used(s->tables->fdb), macs);
	assert_int_equal(walk(s->tables->fdb), macs);
}

static void
run(struct shelf *s, unsigned int seed)
{
	struct model m = {0};

	srandom(seed);
	for (unsigned int p = 0; p <= PORTS; p++)
		m.port_vni[p] = -1;
	for (unsigned int step = 0; step < STEPS; step++) {
		const unsigned int v = (unsigned int)random() % VNIS;

		switch (random() % 16) {
		case 0:
			do_vni(s, &m, v);
			break;
		case 1:
		case 2:
			do_attach(s, &m, v);
			break;
		case 3:
		case 4:
			do_flood(s, &m, v);
			break;
		default:
			do_mac(s, &m, v);
			break;
		}
		if (step % 16 == 0)
			check(s, &m);
	}
	for (unsigned int v = 0; v < VNIS; v++)
		vx_segment_del(s->tables, v + 1, NULL);
	assert_int_equal(s->n_added, s->n_removed);
	assert_int_equal(vx_fdb_used(s->tables->fdb), 0);
	assert_int_equal(vx_index_used(&s->tables->attach_index), 0);
	assert_int_equal(vx_index_used(&s->tables->segment_index), 0);
}

static void
test_random(void **state)
{
	const struct vx_tables_conf small = shelf_conf();
	struct vx_tables_conf conf = small;

	(void)state;
	conf.max_macs = VNIS * MACS;
	for (unsigned int seed = 1; seed <= 3; seed++) {
		struct shelf *s = shelf_open(&conf);

		run(s, seed);
		shelf_close(s);
	}
}

static int
group_setup(void **state)
{
	(void)state;
	return vx_test_eal();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("tables_random", tests, group_setup, NULL);
}
