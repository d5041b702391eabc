/* SPDX-License-Identifier: BSD-3-Clause */
/* Local addresses and routes. */
#include "test_underlay.h"

/* The hop's next hop and source, as text: "-" without a route. */
static void
assert_path(struct bench *b, const char *remote, const char *next_hop, const char *source)
{
	const struct vx_hop hop = path(b, remote);
	char text[VX_IP_TEXT_MAX];

	if (hop.state == VX_HOP_NO_ROUTE) {
		assert_string_equal(next_hop, "-");
		return;
	}
	assert_string_equal(vx_ip_format(&hop.next_hop, text, sizeof(text)), next_hop);
	assert_string_equal(vx_ip_format(&hop.source, text, sizeof(text)), source);
}

/* The routing table as one line of text, as `show route` would have it. */
static const char *
show(struct bench *b, char *line, size_t size)
{
	char network[VX_IP_TEXT_MAX], via[VX_IP_TEXT_MAX];
	struct vx_route_info info;
	uint32_t iterator = 0;
	size_t len = 0;

	line[0] = '\0';
	while (vx_route_next(b->u, &iterator, &info)) {
		vx_ip_format(&info.prefix.ip, network, sizeof(network));
		snprintf(via, sizeof(via), "direct");
		if (!info.is_connected)
			vx_ip_format(&info.gateway, via, sizeof(via));
		assert_int_equal(info.is_usable, info.why[0] == '\0');
		len += (size_t)snprintf(line + len, size - len, "%s/%u %s %d%s; ", network,
					info.prefix.len, via,
					info.port == VX_UNDERLAY_PORT_NONE ? -1 : info.port,
					info.is_usable ? "" : "!");
	}
	return line;
}

static void
test_address_refused(void **state)
{
	struct bench *b = bench_with_port();

	(void)state;
	assert_int_equal(add_address(b, "224.0.0.1/24", 0), -EINVAL);
	assert_string_equal(b->err.text, "224.0.0.1 cannot be a host's address");
	assert_int_equal(add_address(b, "127.0.0.1/8", 0), -EINVAL);
	assert_int_equal(add_address(b, "0.0.0.1/8", 0), -EINVAL);
	assert_int_equal(add_address(b, "255.255.255.255/32", 0), -EINVAL);
	assert_int_equal(add_address(b, "10.0.0.0/24", 0), -EINVAL);
	assert_string_equal(b->err.text,
			    "10.0.0.0 is the network or broadcast address of its own /24");
	assert_int_equal(add_address(b, "10.0.0.255/24", 0), -EINVAL);
	assert_int_equal(add_address(b, "10.0.0.1/0", 0), -EINVAL);
	assert_string_equal(b->err.text, "prefix length 0 of 10.0.0.1: expected 1..32");
	assert_int_equal(add_address(b, "10.0.0.1/24", 1), -ENODEV);
	assert_string_equal(b->err.text, "port 1 is not an underlay port: see show port info all");
	assert_int_equal(add_address(b, "10.0.0.1/24", 65535), -ENODEV);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), -EEXIST);
	assert_string_equal(b->err.text, "192.0.2.1/24 is already an address of port 0");
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/25", 1), -EEXIST);
	assert_string_equal(b->err.text, "192.0.2.1/24 is an address of port 0: an address can be "
					 "on one port");
	assert_int_equal(add_route(b, "10.0.0.0/8", "192.0.2.254"), 0);
	assert_int_equal(add_address(b, "192.0.2.254/24", 0), -EEXIST);
	assert_string_equal(b->err.text, "192.0.2.254 is the gateway of the route to 10.0.0.0/8");
	assert_int_equal(add_neigh(b, "192.0.2.9", &peer_mac, 0), 0);
	assert_int_equal(add_address(b, "192.0.2.9/24", 0), -EEXIST);
	assert_string_equal(b->err.text, "192.0.2.9 is a static neighbour");
	assert_int_equal(del_address(b, "192.0.2.2"), -ENOENT);
	assert_string_equal(b->err.text, "192.0.2.2 is not a local address");
	/* nothing was changed or announced by all that */
	assert_int_equal(b->sent_n, 0);
	/* no text wanted is no reason to crash */
	assert_int_equal(vx_address_del(b->u, &(struct vx_ip){.words = {0, 0}}, NULL), -ENOENT);
	bench_destroy(b, 0);
}

static void
test_address_list(void **state)
{
	const struct vx_underlay_conf limits = {.max_addresses = 3};
	struct bench *b = bench_create(&limits);
	const struct vx_ip second = ip("203.0.113.77");
	struct vx_address_info info;
	uint32_t iterator = 0;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, false), 0);
	assert_false(vx_address_next(b->u, &iterator, &info));
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	assert_int_equal(add_address(b, "203.0.113.77/32", 1), 0);
	assert_int_equal(add_address(b, "192.0.2.50/24", 0), 0);
	assert_int_equal(add_address(b, "192.0.2.51/24", 0), -ENOSPC);
	assert_int_equal(del_address(b, "192.0.2.1"), 0);
	assert_true(vx_address_next(b->u, &iterator, &info));
	assert_true(vx_ip_is_equal(&info.prefix.ip, &second));
	assert_int_equal(info.prefix.len, 32);
	assert_int_equal(info.port, 1);
	assert_false(info.is_up);
	assert_true(vx_address_next(b->u, &iterator, &info));
	assert_int_equal(info.port, 0);
	assert_true(info.is_up);
	assert_false(vx_address_next(b->u, &iterator, &info));
	bench_destroy(b, 0);
}

static void
check_announcement(const struct sent *s, const char *address, uint64_t at_ms)
{
	assert_true(s->is_arp);
	assert_true(s->is_broadcast);
	assert_int_equal(s->sender, host(address));
	assert_int_equal(s->target, host(address));
	assert_int_equal(s->at_ms, at_ms);
}

static void
test_announce(void **state)
{
	struct bench *b = bench_create(NULL);
	const uint64_t start = b->now;

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, false), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	bench_run(b, 5000);
	assert_int_equal(b->sent_n, 0); /* link is down */
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	bench_run(b, 10000);
	assert_int_equal(b->sent_n, 2);
	check_announcement(&b->sent[0], "192.0.2.1", start + 5000);
	check_announcement(&b->sent[1], "192.0.2.1", start + 6000);
	assert_int_equal(add_address(b, "192.0.2.2/24", 0), 0);
	bench_run(b, 10000);
	assert_int_equal(b->sent_n, 4);
	check_announcement(&b->sent[2], "192.0.2.2", start + 15000);
	check_announcement(&b->sent[3], "192.0.2.2", start + 16000);
	/* a new MAC is announced as well */
	assert_int_equal(vx_underlay_port_set(b->u, 0, &other_mac, true), 0);
	bench_run(b, 10000);
	assert_int_equal(b->sent_n, 8);
	for (unsigned int i = 4; i < 8; i++)
		assert_memory_equal(&b->sent[i].src, &other_mac, 6);
	/* the same again is nothing new */
	assert_int_equal(vx_underlay_port_set(b->u, 0, &other_mac, true), 0);
	bench_run(b, 2000);
	assert_int_equal(b->sent_n, 8);
	/* a flapping link does not make a storm of them */
	for (unsigned int i = 0; i < 100; i++) {
		assert_int_equal(vx_underlay_port_set(b->u, 0, &other_mac, i % 2 == 1), 0);
		bench_run(b, 10);
	}
	assert_true(b->sent_n >= 8 + 2);
	assert_true(b->sent_n <= 8 + 2 * 2);
	bench_destroy(b, 0);
}

static void
test_connected(void **state)
{
	struct bench *b = bench_with_port();
	char line[1024];

	(void)state;
	assert_path(b, "192.0.2.77", "192.0.2.77", "192.0.2.1");
	assert_path(b, "192.0.2.1", "-", "");
	assert_string_equal(path(b, "192.0.2.1").why, "it is a local address");
	assert_path(b, "192.0.2.255", "-", "");
	assert_string_equal(path(b, "192.0.2.255").why,
			    "it is the network or broadcast address of a local subnet");
	assert_string_equal(path(b, "198.51.100.1").why, "no route");
	assert_string_equal(path(b, "2001:db8::1").why, "no route");
	assert_string_equal(path(b, "239.1.1.1").why, "it cannot be a host's address");
	/* two addresses in one subnet: the first is the source, then the other */
	assert_int_equal(add_address(b, "192.0.2.50/24", 0), 0);
	assert_path(b, "192.0.2.77", "192.0.2.77", "192.0.2.1");
	/* a longer prefix of the same port is nearer */
	assert_int_equal(add_address(b, "192.0.2.70/28", 0), 0);
	assert_path(b, "192.0.2.77", "192.0.2.77", "192.0.2.70");
	bench_run(b, 3000);
	b->sent_n = 0;
	assert_int_equal(track(b, "192.0.2.77"), 0); /* asked for from the same address */
	assert_int_equal(b->sent[0].sender, host("192.0.2.70"));
	assert_string_equal(show(b, line, sizeof(line)),
			    "192.0.2.0/24 direct 0; 192.0.2.0/24 direct 0; "
			    "192.0.2.64/28 direct 0; ");
	assert_int_equal(del_address(b, "192.0.2.1"), 0);
	assert_path(b, "192.0.2.9", "192.0.2.9", "192.0.2.50");
	assert_int_equal(del_address(b, "192.0.2.70"), 0);
	assert_path(b, "192.0.2.77", "192.0.2.77", "192.0.2.50");
	assert_int_equal(del_address(b, "192.0.2.50"), 0);
	assert_path(b, "192.0.2.77", "-", "");
	assert_string_equal(show(b, line, sizeof(line)), "");
	/* /31 and /32 */
	assert_int_equal(add_address(b, "203.0.113.6/31", 0), 0);
	assert_path(b, "203.0.113.7", "203.0.113.7", "203.0.113.6");
	assert_int_equal(add_address(b, "203.0.113.77/32", 0), 0);
	assert_path(b, "203.0.113.76", "-", "");
	bench_destroy(b, 0);
}

static void
test_route_refused(void **state)
{
	const struct vx_underlay_conf limits = {.max_routes = 2};
	struct bench *b = bench_create(&limits);

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(add_address(b, "192.0.2.1/24", 0), 0);
	assert_int_equal(add_route(b, "10.0.0.1/8", "192.0.2.254"), -EINVAL);
	assert_string_equal(b->err.text,
			    "10.0.0.1/8 has bits beyond its length: expected 10.0.0.0/8");
	assert_int_equal(add_route(b, "224.0.0.0/4", "192.0.2.254"), -EINVAL);
	assert_string_equal(b->err.text, "224.0.0.0/4 holds no host's addresses");
	assert_int_equal(add_route(b, "127.0.0.0/8", "192.0.2.254"), -EINVAL);
	assert_int_equal(add_route(b, "2001:db8::/32", "192.0.2.254"), -EINVAL);
	assert_string_equal(b->err.text,
			    "gateway 192.0.2.254 is IPv4: expected IPv6 like the prefix");
	assert_int_equal(add_route(b, "10.0.0.0/8", "2001:db8::1"), -EINVAL);
	assert_string_equal(b->err.text,
			    "gateway 2001:db8::1 is IPv6: expected IPv4 like the prefix");
	assert_int_equal(add_route(b, "10.0.0.0/8", "224.0.0.1"), -EINVAL);
	assert_int_equal(add_route(b, "10.0.0.0/8", "192.0.2.1"), -EINVAL);
	assert_string_equal(b->err.text,
			    "gateway 192.0.2.1 is a local address: expected another's");
	assert_int_equal(add_route(b, "10.0.0.0/8", "198.51.100.1"), -EINVAL);
	assert_string_equal(b->err.text, "gateway 198.51.100.1 is on no subnet of a local address "
					 "(see show address)");
	assert_int_equal(add_route(b, "10.0.0.0/8", "192.0.2.255"), -EINVAL);
	assert_int_equal(add_route(b, "192.0.2.0/24", "192.0.2.254"), -EEXIST);
	assert_string_equal(b->err.text, "192.0.2.0/24 is the subnet of an address of port 0");
	assert_int_equal(add_route(b, "10.0.0.0/8", "192.0.2.254"), 0);
	/* a route is no subnet: gateways are reached directly */
	assert_int_equal(add_route(b, "10.1.0.0/16", "10.0.0.1"), -EINVAL);
	assert_int_equal(add_route(b, "10.0.0.0/8", "192.0.2.254"), -EEXIST);
	assert_string_equal(b->err.text, "there is a route to 10.0.0.0/8 via 192.0.2.254 already");
	assert_int_equal(add_route(b, "10.0.0.0/8", "192.0.2.253"), -EEXIST);
	assert_int_equal(add_route(b, "0.0.0.0/0", "192.0.2.253"), 0);
	assert_int_equal(add_route(b, "10.2.0.0/16", "192.0.2.253"), -ENOSPC);
	assert_string_equal(b->err.text, "there are 2 static routes, as many as can be");
	assert_int_equal(del_route(b, "10.0.0.0/8", "192.0.2.253"), -ENOENT);
	assert_string_equal(b->err.text, "there is no static route to 10.0.0.0/8 via 192.0.2.253");
	assert_int_equal(del_route(b, "10.0.0.0/9", NULL), -ENOENT);
	assert_string_equal(b->err.text, "there is no static route to 10.0.0.0/9");
	assert_int_equal(del_route(b, "192.0.2.0/24", NULL), -ENOENT);
	assert_int_equal(del_route(b, "2001:db8::/32", NULL), -ENOENT);
	assert_int_equal(del_route(b, "10.0.0.0/8", "192.0.2.254"), 0);
	assert_int_equal(del_route(b, "0.0.0.0/0", NULL), 0);
	assert_int_equal(del_route(b, "0.0.0.0/0", NULL), -ENOENT);
	bench_destroy(b, 0);
}

/* Nested prefixes, deleted in every order. */
static void
test_nested(void **state)
{
	static const struct {
		const char *prefix, *via;
	} routes[4] = {
		{"0.0.0.0/0", "192.0.2.200"},
		{"10.0.0.0/8", "192.0.2.208"},
		{"10.1.0.0/16", "192.0.2.216"},
		{"10.1.2.3/32", "192.0.2.232"},
	};
	static const char *const probes[4] = {"9.9.9.9", "10.9.9.9", "10.1.9.9", "10.1.2.3"};

	(void)state;
	for (unsigned int order = 0; order < 256; order++) {
		const unsigned int at[4] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6};
		struct bench *b;
		unsigned int there = 0xf;

		if ((1u << at[0] | 1u << at[1] | 1u << at[2] | 1u << at[3]) != 0xf)
			continue;
		b = bench_with_port();
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(add_route(b, routes[at[i]].prefix, routes[at[i]].via), 0);
		for (unsigned int i = 0; i <= 4; i++) {
			for (unsigned int p = 0; p < 4; p++) {
				int want = (int)p;

				while (want >= 0 && (there & 1u << want) == 0)
					want--;
				assert_path(b, probes[p], want < 0 ? "-" : routes[want].via,
					    "192.0.2.1");
			}
			if (i == 4)
				break;
			assert_int_equal(del_route(b, routes[at[3 - i]].prefix, NULL), 0);
			there &= ~(1u << at[3 - i]);
		}
		bench_destroy(b, 0);
	}
}

#define MODEL_MAX 200

struct model {
	uint32_t net[MODEL_MAX];
	uint8_t len[MODEL_MAX];
	uint8_t via[MODEL_MAX];
	unsigned int n;
};

static uint32_t
mask_of(uint8_t len)
{
	return len == 0 ? 0 : UINT32_MAX << (32 - len);
}

/* Few distinct bits, so that prefixes nest and collide; /0 and /32 often. */
static struct vx_prefix
random_prefix(unsigned int *seed)
{
	static const uint8_t lens[] = {0, 1, 2, 8, 9, 15, 16, 23, 24, 30, 31, 32};
	struct vx_prefix p = {.len = lens[(unsigned int)rand_r(seed) % RTE_DIM(lens)]};
	uint32_t net = 0x0a000000u | ((uint32_t)rand_r(seed) & 0x00810183u);

	if (rand_r(seed) % 8 == 0)
		net ^= 0x80000000u;
	p.ip = vx_ip_from_v4(rte_cpu_to_be_32(net & mask_of(p.len)));
	return p;
}

static int
model_find(const struct model *model, uint32_t net, uint8_t len)
{
	for (unsigned int i = 0; i < model->n; i++)
		if (model->net[i] == net && model->len[i] == len)
			return (int)i;
	return -1;
}

static void
model_step(struct bench *b, struct model *model, unsigned int *seed)
{
	const struct vx_prefix p = random_prefix(seed);
	const uint32_t net = rte_be_to_cpu_32(vx_ip_v4(&p.ip));
	const int at = model_find(model, net, p.len);
	const uint8_t via = (uint8_t)(2 + rand_r(seed) % 200);
	const struct vx_ip gateway = vx_ip_from_v4(rte_cpu_to_be_32(0xc0000200u + via));
	int ret;

	if (rand_r(seed) % 2 == 0 && model->n < MODEL_MAX) {
		ret = vx_route_add(b->u, &p, &gateway, &b->err);
		assert_int_equal(ret, at < 0 ? 0 : -EEXIST);
		if (at < 0) {
			model->net[model->n] = net;
			model->len[model->n] = p.len;
			model->via[model->n++] = via;
		}
		return;
	}
	ret = vx_route_del(b->u, &p, NULL, &b->err);
	assert_int_equal(ret, at < 0 ? -ENOENT : 0);
	if (at >= 0) {
		model->n--;
		model->net[at] = model->net[model->n];
		model->len[at] = model->len[model->n];
		model->via[at] = model->via[model->n];
	}
}

static void
model_check(struct bench *b, const struct model *model, unsigned int *seed)
{
	const uint32_t to = 0x0a000000u | ((uint32_t)rand_r(seed) & 0x00810183u);
	const struct vx_ip remote = vx_ip_from_v4(rte_cpu_to_be_32(to));
	struct vx_hop hop;
	int best = -1;

	for (unsigned int i = 0; i < model->n; i++)
		if ((to & mask_of(model->len[i])) == model->net[i] &&
		    (best < 0 || model->len[i] > model->len[best]))
			best = (int)i;
	vx_underlay_path(b->u, &remote, &hop);
	if (best < 0) {
		assert_int_equal(hop.state, VX_HOP_NO_ROUTE);
		return;
	}
	assert_int_not_equal(hop.state, VX_HOP_NO_ROUTE);
	assert_int_equal(rte_be_to_cpu_32(vx_ip_v4(&hop.next_hop)), 0xc0000200u + model->via[best]);
}

/* Random routes against a plain search through all of them. */
static void
test_against_model(void **state)
{
	struct bench *b = bench_with_port();
	struct vx_route_info info, last;
	unsigned int seed = 20240607, listed = 0;
	struct model model = {.n = 0};
	uint32_t iterator = 0;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		model_step(b, &model, &seed);
		for (unsigned int j = 0; j < 4; j++)
			model_check(b, &model, &seed);
	}
	assert_true(model.n > 20);
	for (; vx_route_next(b->u, &iterator, &info); listed++) {
		if (listed > 0) {
			const int order = memcmp(last.prefix.ip.bytes, info.prefix.ip.bytes, 16);

			assert_true(order < 0 || (order == 0 && last.prefix.len < info.prefix.len));
		}
		last = info;
	}
	assert_int_equal(listed, model.n + 1);
	bench_destroy(b, 0);
}

/* As many routes as were promised, spread so that the trie needs many nodes; again and again. */
static void
test_route_capacity(void **state)
{
	struct bench *b = bench_with_port();
	const struct vx_ip gateway = ip("192.0.2.254");

	(void)state;
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < 2 * 4096; i++) {
			const uint32_t at = i % 4096, net = 0x0a000000u + round * 7 + at * 0x1008u;
			const struct vx_prefix p = {
				.ip = vx_ip_from_v4(rte_cpu_to_be_32(net)),
				.len = 32,
			};

			if (i == 4096)
				assert_int_equal(add_route(b, "0.0.0.0/0", "192.0.2.254"), -ENOSPC);
			if (i < 4096)
				assert_int_equal(vx_route_add(b->u, &p, &gateway, &b->err), 0);
			else
				assert_int_equal(vx_route_del(b->u, &p, NULL, &b->err), 0);
		}
	}
	bench_destroy(b, 0);
}

/* A gateway's subnet goes: the route stays, unusable, and comes back with the address. */
static void
test_gateway_subnet(void **state)
{
	struct bench *b = bench_with_port();
	char line[1024];

	(void)state;
	assert_int_equal(add_route(b, "0.0.0.0/0", "192.0.2.254"), 0);
	assert_int_equal(track(b, "198.51.100.2"), 0);
	assert_int_equal(requests_for(b, "192.0.2.254"), 1);
	assert_int_equal(requests_for(b, "198.51.100.2"), 0);
	hear(b, "192.0.2.254", &peer_mac, 0, REPLY_TO_US);
	assert_next_hop(b, "198.51.100.2", &peer_mac);
	assert_string_equal(show(b, line, sizeof(line)),
			    "0.0.0.0/0 192.0.2.254 0; 192.0.2.0/24 direct 0; ");
	b->changed = 0;
	assert_int_equal(del_address(b, "192.0.2.1"), 0);
	assert_int_equal(b->changed, 1);
	assert_string_equal(show(b, line, sizeof(line)), "0.0.0.0/0 192.0.2.254 -1!; ");
	assert_int_equal(path(b, "198.51.100.2").state, VX_HOP_NO_ROUTE);
	assert_string_equal(path(b, "198.51.100.2").why,
			    "the gateway is on no subnet of a local address");
	assert_int_equal(add_address(b, "192.0.2.9/24", 0), 0);
	assert_int_equal(b->changed, 2);
	assert_string_equal(show(b, line, sizeof(line)),
			    "0.0.0.0/0 192.0.2.254 0; 192.0.2.0/24 direct 0; ");
	assert_path(b, "198.51.100.2", "192.0.2.254", "192.0.2.9");
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, false), 0);
	assert_string_equal(show(b, line, sizeof(line)),
			    "0.0.0.0/0 192.0.2.254 0!; 192.0.2.0/24 direct 0!; ");
	assert_string_equal(path(b, "198.51.100.2").why, "the link of its port is down");
	bench_destroy(b, 0);
}

/* What cannot be used gives way to a less specific route, or to the same subnet on another port. */
static void
test_fall_back(void **state)
{
	struct bench *b = bench_with_port();
	char line[1024];

	(void)state;
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_int_equal(add_address(b, "203.0.113.1/24", 1), 0);
	assert_int_equal(add_address(b, "192.0.2.11/24", 1), 0);
	assert_int_equal(add_route(b, "0.0.0.0/0", "192.0.2.254"), 0);
	assert_int_equal(add_route(b, "10.0.0.0/8", "203.0.113.254"), 0);
	assert_path(b, "10.1.1.1", "203.0.113.254", "203.0.113.1");
	assert_path(b, "192.0.2.7", "192.0.2.7", "192.0.2.1");
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, false), 0);
	assert_path(b, "192.0.2.7", "192.0.2.7", "192.0.2.11");
	assert_path(b, "9.9.9.9", "192.0.2.254", "192.0.2.11");
	assert_int_equal(path(b, "9.9.9.9").port, 1);
	/* of several reasons, the most specific route's is told */
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, false), 0);
	assert_int_equal(del_address(b, "203.0.113.1"), 0);
	assert_string_equal(path(b, "10.1.1.1").why,
			    "the gateway is on no subnet of a local address");
	assert_string_equal(path(b, "9.9.9.9").why, "the link of its port is down");
	assert_int_equal(vx_underlay_port_set(b->u, 1, &mac1, true), 0);
	assert_int_equal(add_address(b, "203.0.113.1/24", 1), 0);
	assert_int_equal(vx_underlay_port_set(b->u, 0, &mac0, true), 0);
	assert_int_equal(path(b, "9.9.9.9").port, 0);
	assert_int_equal(del_address(b, "203.0.113.1"), 0);
	assert_path(b, "10.1.1.1", "192.0.2.254", "192.0.2.1");
	assert_string_equal(show(b, line, sizeof(line)),
			    "0.0.0.0/0 192.0.2.254 0; 10.0.0.0/8 203.0.113.254 -1!; "
			    "192.0.2.0/24 direct 0; 192.0.2.0/24 direct 1; ");
	/* a subnet that takes the prefix of a static route is preferred to it */
	assert_int_equal(add_address(b, "10.0.0.1/8", 1), 0);
	assert_path(b, "10.1.1.1", "10.1.1.1", "10.0.0.1");
	assert_int_equal(del_route(b, "10.0.0.0/8", NULL), 0);
	assert_path(b, "10.1.1.1", "10.1.1.1", "10.0.0.1");
	assert_int_equal(del_address(b, "10.0.0.1"), 0);
	assert_path(b, "10.1.1.1", "192.0.2.254", "192.0.2.1");
	bench_destroy(b, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address_refused), cmocka_unit_test(test_address_list),
		cmocka_unit_test(test_announce),	cmocka_unit_test(test_connected),
		cmocka_unit_test(test_route_refused),	cmocka_unit_test(test_nested),
		cmocka_unit_test(test_against_model),	cmocka_unit_test(test_route_capacity),
		cmocka_unit_test(test_gateway_subnet),	cmocka_unit_test(test_fall_back),
	};

	return cmocka_run_group_tests_name("underlay_route", tests, setup_eal, NULL);
}
