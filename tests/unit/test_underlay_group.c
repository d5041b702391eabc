/* SPDX-License-Identifier: BSD-3-Clause */
/* Membership: what is reported when, by a clock that the test turns. */
#include "test_underlay.h"
#include "vx_group.h"
#include "vx_group_message.h"

#define GROUPS_MAX 40

/* A report of ours, taken apart: one entry a record. */
struct said {
	uint64_t at_ms;
	uint16_t port;
	unsigned int packet; /* which one it was in */
	uint8_t type;	     /* of the message */
	uint8_t change;	     /* enum vx_group_change; 0: of an older version */
	struct vx_ip group;
};

struct hall {
	struct vx_groups *g;
	uint64_t now;
	struct said said[LOG_MAX];
	unsigned int n, packets;
	uint64_t counts[VX_COUNT_MAX];
	struct vx_err err;
};

static void
note(struct hall *h, uint16_t port, const uint8_t *message, uint8_t change, const uint8_t *group,
     bool is_v6)
{
	struct said *said = &h->said[h->n++];
	rte_be32_t group4;

	assert_true(h->n < LOG_MAX);
	*said = (struct said){.at_ms = h->now,
			      .port = port,
			      .packet = h->packets,
			      .type = message[0],
			      .change = change};
	memcpy(&group4, group, sizeof(group4));
	if (is_v6)
		memcpy(said->group.bytes, group, 16);
	else
		said->group = vx_ip_from_v4(group4);
}

static void
hall_send(void *ctx, uint16_t port, struct rte_mbuf *m)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	const bool is_v6 = bytes[12] == 0x86;
	const uint8_t *message = bytes + (is_v6 ? 62 : 38);
	struct hall *h = ctx;

	rte_mbuf_sanity_check(m, 1);
	if (message[0] == 0x22 || message[0] == 143)
		for (unsigned int i = 0; i < message[7]; i++) {
			const uint8_t *record = message + 8 + i * (is_v6 ? 20 : 8);

			note(h, port, message, record[0], record + 4, is_v6);
		}
	else
		note(h, port, message, 0, message + (is_v6 ? 8 : 4), is_v6);
	h->packets++;
	rte_pktmbuf_free(m);
}

static void
hall_count(void *ctx, enum vx_count which, uint64_t n)
{
	((struct hall *)ctx)->counts[which] += n;
}

static void
port_set(struct hall *h, uint16_t port, bool is_up, bool has_address)
{
	struct vx_groups_port now = {.mac = mac0, .is_up = is_up};

	if (has_address) {
		now.source4 = ip("192.0.2.1");
		now.source6 = ip("fe80::1");
	}
	vx_groups_port_set(h->g, port, &now);
}

/* Two ports, both up. */
static struct hall *
hall_open(void)
{
	struct hall *h = calloc(1, sizeof(*h));
	const struct vx_groups_conf conf = {
		.ops = {.send = hall_send, .count = hall_count},
		.ctx = h,
		.pool = bench_pool(),
		.max = GROUPS_MAX,
		.now_ms = 5000,
	};

	assert_non_null(h);
	h->now = 5000;
	h->g = vx_groups_create(&conf);
	assert_non_null(h->g);
	port_set(h, 0, true, true);
	port_set(h, 1, true, true);
	return h;
}

static void
hall_close(struct hall *h)
{
	assert_int_equal(h->counts[VX_COUNT_GROUP_REPORTS], h->packets);
	assert_int_equal(h->counts[VX_COUNT_ORIGINATED], h->packets);
	vx_groups_destroy(h->g);
	free(h);
	assert_int_equal(rte_mempool_in_use_count(bench_pool()), 0);
}

static void
pass(struct hall *h, uint64_t ms)
{
	for (const uint64_t end = h->now + ms; h->now < end;) {
		h->now += TICK_MS;
		vx_groups_tick(h->g, h->now);
	}
}

static void
forget(struct hall *h)
{
	h->n = 0;
}

static void
join(struct hall *h, uint16_t port, const char *group)
{
	const struct vx_ip address = ip(group);

	assert_int_equal(vx_groups_join(h->g, port, &address, &h->err), 0);
}

static void
leave(struct hall *h, uint16_t port, const char *group)
{
	const struct vx_ip address = ip(group);

	vx_groups_leave(h->g, port, &address);
}

static void
ask(struct hall *h, uint16_t port, uint8_t version, bool is_v6, const char *group, uint32_t ms)
{
	struct vx_group_query query = {.version = version, .is_v6 = is_v6, .max_response_ms = ms};

	if (group != NULL)
		query.group = ip(group);
	vx_groups_query_seen(h->g, port, &query, h->now);
}

static void
expect(const struct hall *h, unsigned int i, uint16_t port, uint8_t type, uint8_t change,
       const char *group)
{
	const struct vx_ip address = ip(group);

	assert_true(i < h->n);
	assert_int_equal(h->said[i].port, port);
	assert_int_equal(h->said[i].type, type);
	assert_int_equal(h->said[i].change, change);
	assert_true(vx_ip_is_equal(&h->said[i].group, &address));
}

/* The state of the first group on the list, or -1. */
static int
first_state(const struct hall *h)
{
	struct vx_group_info info;
	uint32_t iterator = 0;

	return vx_groups_next(h->g, &iterator, &info) ? (int)info.state : -1;
}

/* Both families do the same in their own words. */
static const struct family {
	const char *group, *other;
	uint8_t newest, report, old_report, old_leave;
	bool is_v6;
} families[] = {
	{"239.1.1.1", "239.1.1.2", 3, 0x22, 0x16, 0x17, false},
	{"ff05::1:1", "ff05::1:2", 2, 143, 131, 132, true},
};

static void
test_join_and_leave(void **state)
{
	(void)state;
	for (const struct family *f = families; f < families + 2; f++) {
		struct hall *h = hall_open();

		join(h, 1, f->group);
		assert_int_equal(h->n, 1);
		expect(h, 0, 1, f->report, VX_GROUP_TO_EXCLUDE, f->group);
		assert_int_equal(first_state(h), VX_GROUP_JOINING);
		pass(h, 1000);
		assert_int_equal(h->n, 2);
		expect(h, 1, 1, f->report, VX_GROUP_TO_EXCLUDE, f->group);
		assert_int_equal(first_state(h), VX_GROUP_MEMBER);
		pass(h, 600000);
		assert_int_equal(h->n, 2);
		/* A second user changes nothing, nor does the first one's leaving. */
		join(h, 1, f->group);
		leave(h, 1, f->group);
		pass(h, 2000);
		assert_int_equal(h->n, 2);
		leave(h, 1, f->group);
		assert_int_equal(first_state(h), VX_GROUP_LEAVING);
		pass(h, 1000);
		assert_int_equal(h->n, 4);
		expect(h, 2, 1, f->report, VX_GROUP_TO_INCLUDE, f->group);
		expect(h, 3, 1, f->report, VX_GROUP_TO_INCLUDE, f->group);
		assert_int_equal(first_state(h), -1);
		leave(h, 1, f->group);
		pass(h, 2000);
		assert_int_equal(h->n, 4);
		hall_close(h);
	}
}

static void
test_joined_again_while_leaving(void **state)
{
	struct hall *h = hall_open();

	(void)state;
	join(h, 0, "239.1.1.1");
	pass(h, 1000);
	leave(h, 0, "239.1.1.1");
	forget(h);
	join(h, 0, "239.1.1.1");
	pass(h, 5000);
	assert_int_equal(h->n, 2);
	expect(h, 0, 0, 0x22, VX_GROUP_TO_EXCLUDE, "239.1.1.1");
	expect(h, 1, 0, 0x22, VX_GROUP_TO_EXCLUDE, "239.1.1.1");
	assert_int_equal(first_state(h), VX_GROUP_MEMBER);
	hall_close(h);
}

static void
test_robustness(void **state)
{
	struct vx_group_query query = {.version = 3, .max_response_ms = 100, .robustness = 7};
	struct hall *h = hall_open();

	(void)state;
	vx_groups_query_seen(h->g, 0, &query, h->now);
	join(h, 0, "239.1.1.1");
	pass(h, 7000);
	assert_int_equal(h->n, 7);
	hall_close(h);
}

/* A general query: one answer for all groups of that port and family, within the time. */
static void
test_general_query(void **state)
{
	uint64_t earliest = UINT64_MAX, latest = 0;

	(void)state;
	for (const struct family *f = families; f < families + 2; f++) {
		struct hall *h = hall_open();

		join(h, 0, f->group);
		join(h, 0, f->other);
		join(h, 1, f->group);
		join(h, 0, families[f == families].group);
		pass(h, 1000);
		for (unsigned int round = 0; round < 50; round++) {
			const uint64_t asked = h->now;

			forget(h);
			ask(h, 0, f->newest, f->is_v6, NULL, 10000);
			pass(h, 10000);
			assert_int_equal(h->n, 2);
			expect(h, 0, 0, f->report, VX_GROUP_IS_EXCLUDE, f->group);
			expect(h, 1, 0, f->report, VX_GROUP_IS_EXCLUDE, f->other);
			assert_int_equal(h->said[0].packet, h->said[1].packet);
			earliest = RTE_MIN(earliest, h->said[0].at_ms - asked);
			latest = RTE_MAX(latest, h->said[0].at_ms - asked);
		}
		hall_close(h);
	}
	/* spread over the time: of a hundred, some are early and some late */
	assert_true(earliest < 2500 && latest > 7500);
}

/* The earlier of two answers that wait does for both queries. */
static void
test_query_while_answering(void **state)
{
	struct hall *h = hall_open();

	(void)state;
	join(h, 0, "239.1.1.1");
	pass(h, 1000);
	forget(h);
	for (unsigned int i = 0; i < 100; i++)
		ask(h, 0, 3, false, NULL, 10000);
	ask(h, 0, 3, false, NULL, 100);
	pass(h, 200);
	assert_int_equal(h->n, 1);
	pass(h, 10000);
	assert_int_equal(h->n, 1);
	hall_close(h);
}

static void
test_specific_query(void **state)
{
	(void)state;
	for (const struct family *f = families; f < families + 2; f++) {
		struct hall *h = hall_open();

		join(h, 0, f->group);
		join(h, 0, f->other);
		pass(h, 1000);
		forget(h);
		ask(h, 0, f->newest, f->is_v6, f->other, 1000);
		ask(h, 0, f->newest, f->is_v6, f->is_v6 ? "ff05::9" : "239.9.9.9", 1000);
		ask(h, 1, f->newest, f->is_v6, f->group, 1000);
		pass(h, 1000);
		assert_int_equal(h->n, 1);
		expect(h, 0, 0, f->report, VX_GROUP_IS_EXCLUDE, f->other);
		/* Nobody answers for a group that is being left. */
		leave(h, 0, f->other);
		forget(h);
		ask(h, 0, f->newest, f->is_v6, f->other, 500);
		ask(h, 0, f->newest, f->is_v6, NULL, 500);
		pass(h, 2000);
		for (unsigned int i = 0; i < h->n; i++)
			if (h->said[i].change == VX_GROUP_IS_EXCLUDE)
				expect(h, i, 0, f->report, VX_GROUP_IS_EXCLUDE, f->group);
		hall_close(h);
	}
}

static void
test_older_querier(void **state)
{
	(void)state;
	for (const struct family *f = families; f < families + 2; f++) {
		struct hall *h = hall_open();

		join(h, 0, f->group);
		join(h, 0, f->other);
		pass(h, 1000);
		forget(h);
		ask(h, 0, (uint8_t)(f->newest - 1), f->is_v6, NULL, 1000);
		pass(h, 1000);
		assert_int_equal(h->n, 2); /* one packet each */
		assert_int_equal(h->said[0].change, 0);
		assert_int_equal(h->said[0].type, f->old_report);
		assert_int_not_equal(h->said[0].packet, h->said[1].packet);
		/* also to a querier of the newest version, while the older one may be there */
		forget(h);
		ask(h, 0, f->newest, f->is_v6, f->group, 1000);
		pass(h, 1000);
		assert_int_equal(h->n, 1);
		expect(h, 0, 0, f->old_report, 0, f->group);
		/* joins twice, leaves once */
		forget(h);
		join(h, 0, f->is_v6 ? "ff05::3" : "239.3.3.3");
		pass(h, 10000);
		assert_int_equal(h->n, 2);
		assert_int_equal(h->said[1].type, f->old_report);
		leave(h, 0, f->group);
		assert_int_equal(h->n, 3);
		expect(h, 2, 0, f->old_leave, 0, f->group);
		pass(h, 10000);
		assert_int_equal(h->n, 3);
		/* 2 x 125 s and the response time after its last query, it is taken to be gone */
		pass(h, 240000);
		forget(h);
		ask(h, 0, f->newest, f->is_v6, NULL, 1000);
		pass(h, 1000);
		assert_int_equal(h->n, 2);
		expect(h, 0, 0, f->report, VX_GROUP_IS_EXCLUDE, f->other);
		hall_close(h);
	}
}

/* A group-specific query of an older version does not say that its sender is the querier. */
static void
test_older_specific_query(void **state)
{
	struct hall *h = hall_open();

	(void)state;
	join(h, 0, "239.1.1.1");
	pass(h, 1000);
	forget(h);
	ask(h, 0, 2, false, "239.1.1.1", 1000);
	pass(h, 1000);
	assert_int_equal(h->n, 1);
	expect(h, 0, 0, 0x22, VX_GROUP_IS_EXCLUDE, "239.1.1.1");
	hall_close(h);
}

/* IGMPv1: nobody is told of leaving. */
static void
test_igmpv1(void **state)
{
	struct hall *h = hall_open();

	(void)state;
	join(h, 0, "239.1.1.1");
	pass(h, 1000);
	forget(h);
	ask(h, 0, 1, false, NULL, 10000);
	ask(h, 0, 2, false, NULL, 10000);
	pass(h, 10000);
	assert_int_equal(h->n, 1);
	expect(h, 0, 0, 0x12, 0, "239.1.1.1");
	leave(h, 0, "239.1.1.1");
	pass(h, 1000);
	assert_int_equal(h->n, 1);
	assert_int_equal(first_state(h), -1);
	hall_close(h);
}

static void
test_port_goes_and_comes(void **state)
{
	struct hall *h = hall_open();

	(void)state;
	join(h, 0, "239.1.1.1");
	join(h, 0, "ff05::1:1");
	pass(h, 1000);
	forget(h);
	port_set(h, 0, false, true); /* the link is lost: nothing can be said */
	assert_int_equal(first_state(h), VX_GROUP_IDLE);
	ask(h, 0, 3, false, NULL, 100);
	pass(h, 1000);
	leave(h, 0, "ff05::1:1");
	join(h, 0, "239.1.1.2");
	assert_int_equal(h->n, 0);
	port_set(h, 0, true, true);
	pass(h, 1000);
	assert_int_equal(h->n, 4); /* both twice, and not what was left meanwhile */
	expect(h, 0, 0, 0x22, VX_GROUP_TO_EXCLUDE, "239.1.1.1");
	expect(h, 1, 0, 0x22, VX_GROUP_TO_EXCLUDE, "239.1.1.2");
	forget(h);
	vx_groups_port_leave(h->g, 0);
	assert_int_equal(h->n, 2);
	expect(h, 1, 0, 0x22, VX_GROUP_TO_INCLUDE, "239.1.1.2");
	pass(h, 5000);
	assert_int_equal(h->n, 2);
	port_set(h, 0, true, true);
	pass(h, 1000);
	assert_int_equal(h->n, 6);
	/* the address goes */
	port_set(h, 0, true, false);
	assert_int_equal(first_state(h), VX_GROUP_IDLE);
	leave(h, 0, "239.1.1.1");
	pass(h, 1000);
	assert_int_equal(h->n, 6);
	hall_close(h);
}

static void
test_limit(void **state)
{
	struct hall *h = hall_open();
	struct vx_ip group = ip("239.1.2.0");

	(void)state;
	for (unsigned int i = 0; i < GROUPS_MAX; i++) {
		group.bytes[15] = (uint8_t)i;
		assert_int_equal(vx_groups_join(h->g, 0, &group, &h->err), 0);
	}
	assert_int_equal(vx_groups_join(h->g, 0, &group, &h->err), 0); /* once more */
	group.bytes[15] = GROUPS_MAX;
	assert_int_equal(vx_groups_join(h->g, 0, &group, &h->err), -ENOSPC);
	assert_non_null(strstr(h->err.text, "40"));
	forget(h);
	pass(h, 1000);
	assert_int_equal(h->n, GROUPS_MAX);
	hall_close(h);
}

static void
test_check(void **state)
{
	static const char *const right[] = {"239.1.1.1", "224.0.1.0", "233.255.255.255", "ff05::1",
					    "ff0e::1",	 "ff12::1",   "ff38:40::1"};
	static const char *const wrong[] = {"224.0.0.1", "224.0.0.255", "232.0.0.1", "192.0.2.1",
					    "ff01::1",	 "ff02::1",	"ff0f::1",   "ff00::1",
					    "ff3e::1",	 "2001:db8::1"};
	struct vx_err err;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(right); i++) {
		const struct vx_ip group = ip(right[i]);

		if (vx_group_check(&group, &err) != 0)
			fail_msg("%s: %s", right[i], err.text);
	}
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		const struct vx_ip group = ip(wrong[i]);

		assert_int_equal(vx_group_check(&group, &err), -EINVAL);
		assert_non_null(strstr(err.text, wrong[i]));
	}
}

static int
setup(void **state)
{
	(void)state;
	return vx_test_eal();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_and_leave),
		cmocka_unit_test(test_joined_again_while_leaving),
		cmocka_unit_test(test_robustness),
		cmocka_unit_test(test_general_query),
		cmocka_unit_test(test_query_while_answering),
		cmocka_unit_test(test_specific_query),
		cmocka_unit_test(test_older_querier),
		cmocka_unit_test(test_older_specific_query),
		cmocka_unit_test(test_igmpv1),
		cmocka_unit_test(test_port_goes_and_comes),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
