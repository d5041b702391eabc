/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: ports and addresses, alone and together. */
#include "test_options.h"

static void
test_ports(void **state)
{
	struct options options;
	char longest[OPTIONS_PORT_NAME_MAX];

	(void)state;
	ACCEPT(&options, "--underlay", "0");
	assert_int_equal(options.underlay.count, 1);
	assert_string_equal(options.underlay.name[0], "0");
	assert_int_equal(options.access.count, 0);
	ACCEPT(&options, "--access=net_tap0,0000:03:00.1,7", "--underlay", "net_af_packet0,1");
	assert_int_equal(options.access.count, 3);
	assert_string_equal(options.access.name[0], "net_tap0");
	assert_string_equal(options.access.name[1], "0000:03:00.1");
	assert_string_equal(options.access.name[2], "7");
	assert_int_equal(options.underlay.count, 2);
	assert_string_equal(options.underlay.name[0], "net_af_packet0");
	assert_string_equal(options.underlay.name[1], "1");

	memset(longest, 'p', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ACCEPT(&options, "--access", longest);
	assert_string_equal(options.access.name[0], longest);
}

static void
test_ports_refused(void **state)
{
	static const char *const sides[] = {"underlay", "access"};
	static const char *const wrong[] = {"",	    ",",       "0,",	",0", "0,,1",
					    "0, 1", "net tap", "0,1\t", " "};
	char too_long[OPTIONS_PORT_NAME_MAX + 1], option[40], text[240];

	(void)state;
	memset(too_long, 'p', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	for (size_t side = 0; side < RTE_DIM(sides); side++) {
		snprintf(option, sizeof(option), "--%s", sides[side]);
		for (size_t i = 0; i <= RTE_DIM(wrong); i++) {
			const char *value = i < RTE_DIM(wrong) ? wrong[i] : too_long;

			snprintf(text, sizeof(text),
				 "%s: \"%s\" is not allowed: expected port ids or device names, "
				 "separated by commas",
				 option, value);
			REFUSE(text, option, value);
		}
		snprintf(text, sizeof(text),
			 "%s: the value is missing: expected port ids or device names, separated "
			 "by commas",
			 option);
		REFUSE(text, option);
		snprintf(text, sizeof(text), "%s: \"1\" is named twice: expected each port once",
			 option);
		REFUSE(text, option, "0,1,2,1");
		snprintf(text, sizeof(text),
			 "%s: \"1\" is a second value: expected this option once", option);
		REFUSE(text, option, "0", option, "1");
	}
	REFUSE("--access: \"net_tap1\" is not allowed: it is an underlay port too; expected each "
	       "port on one side",
	       "--access", "0,net_tap1", "--underlay", "net_tap1");
}

static void
test_ports_many(void **state)
{
	char list[OPTIONS_PORTS_MAX * 4 + 8];
	struct options options;
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i < OPTIONS_PORTS_MAX; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u", i > 0 ? "," : "",
					 i);
	ACCEPT(&options, "--access", list);
	assert_int_equal(options.access.count, OPTIONS_PORTS_MAX);
	assert_string_equal(options.access.name[OPTIONS_PORTS_MAX - 1], "63");
	snprintf(list + used, sizeof(list) - used, ",64");
	REFUSE("--access: too many ports: expected at most 64", "--access", list);
}

static void
assert_ip(const struct vx_ip *ip, const char *wanted)
{
	char text[VX_IP_TEXT_MAX];

	assert_string_equal(vx_ip_format(ip, text, sizeof(text)), wanted);
}

static void
test_local(void **state)
{
	/* The edges of a prefix are hosts where it has none (RFC 3021), or is one host. */
	static const char *const right[] = {"192.0.2.1/24",	  "192.0.2.254/24", "10.0.0.0/31",
					    "10.0.0.1/31",	  "10.0.0.255/32",  "10.0.0.0/32",
					    "223.255.255.254/30", "1.0.0.1/1",	    "fd00::1/64",
					    "2001:db8::1/128",	  "fe80::1/64"};
	static const char *const wrong[] = {"",
					    "192.0.2.1",
					    "192.0.2.1/",
					    "192.0.2.1/33",
					    "192.0.2.1/-1",
					    "192.0.2.1/+8",
					    "192.0.2.1/ 8",
					    "192.0.2.1/8x",
					    "192.0.2/24",
					    "192.0.2.256/24",
					    "/24",
					    "host/24",
					    "0.0.0.1/24",
					    "127.0.0.1/8",
					    "224.0.0.1/24",
					    "240.0.0.1/24",
					    "1.2.3.4/24/8",
					    "192.0.2.1 /24",
					    " 192.0.2.1/24",
					    "192.0.2.1/0",
					    "fd00::1",
					    "fd00::1/129",
					    "fd00::1/0",
					    "::1/128",
					    "::/64",
					    "ff02::1/16"};
	static const char *const edges[] = {"192.0.2.0/24", "192.0.2.255/24", "10.0.0.4/30",
					    "10.0.0.7/30", "255.255.255.255/8"};
	struct options options;
	char text[240];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(right); i++) {
		char ip[VX_IP_TEXT_MAX];

		ACCEPT(&options, "--local", right[i]);
		snprintf(text, sizeof(text), "%s/%u",
			 vx_ip_format(&options.local.ip, ip, sizeof(ip)), options.local.len);
		assert_string_equal(text, right[i]);
	}
	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		snprintf(text, sizeof(text),
			 "--local: \"%s\" is not allowed: expected a host's IP address with "
			 "prefix length, as 192.0.2.1/24",
			 wrong[i]);
		REFUSE(text, "--local", wrong[i]);
	}
	for (size_t i = 0; i < RTE_DIM(edges); i++) {
		snprintf(text, sizeof(text),
			 "--local: \"%s\" is not allowed: it is the network or broadcast address "
			 "of its prefix; expected a host address",
			 edges[i]);
		REFUSE(text, "--local", edges[i]);
	}
	REFUSE("--local: the value is missing: expected a host's IP address with prefix length, "
	       "as 192.0.2.1/24",
	       "--local");
	REFUSE("--local: \"10.0.0.1/8\" is a second value: expected this option once", "--local",
	       "192.0.2.1/24", "--local", "10.0.0.1/8");
}

/* What --gateway and --remote refuse alike; @expected is how each describes an address. */
static void
refuse_addresses(const char *option, const char *expected)
{
	static const char *const wrong[] = {
		"",	      "host",	    "192.0.2",	 "192.0.2.2/24",
		"192.0.2.2 ", "0.0.0.0",    "0.1.2.3",	 "127.0.0.1",
		"224.0.0.1",  "239.1.1.1",  "240.0.0.1", "255.255.255.255",
		"1.2.3.4.5",  "0x7f000001", "::",	 "::1",
		"ff02::1",    "fd00::1/64"};
	char text[240];

	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		snprintf(text, sizeof(text), "%s: \"%s\" is not allowed: expected %s", option,
			 wrong[i], expected);
		REFUSE(text, "--local", "192.0.2.1/24", "--vni", "5", option, wrong[i]);
	}
	snprintf(text, sizeof(text), "%s: the value is missing: expected %s", option, expected);
	REFUSE(text, "--local", "192.0.2.1/24", "--vni", "5", option);
	REFUSE(text, option, "--vni", "5", "--local", "192.0.2.1/24");
}

static void
test_gateway(void **state)
{
	static const char *const wrong[] = {"192.0.2.1", "192.0.2.0", "192.0.2.255", "192.0.3.2",
					    "10.0.0.1",	 "fe80::1",   "fd00::1"};
	struct options options;
	char text[240];

	(void)state;
	ACCEPT(&options, "--local", "192.0.2.1/24", "--gateway", "192.0.2.254");
	assert_ip(&options.gateway, "192.0.2.254");
	ACCEPT(&options, "--gateway", "10.0.0.0", "--local", "10.0.0.1/31");
	assert_ip(&options.gateway, "10.0.0.0");
	ACCEPT(&options, "--local", "fd00::1/64", "--gateway", "fd00::fe");
	ACCEPT(&options, "--gateway", "fe80::1", "--local", "fd00::1/64");
	assert_ip(&options.gateway, "fe80::1");
	REFUSE("--gateway: \"fd00:0:0:1::1\" is not allowed: expected another host's address in "
	       "fd00::/64, the prefix of --local",
	       "--local", "fd00::1/64", "--gateway", "fd00:0:0:1::1");
	refuse_addresses("--gateway", "a host's IP address");
	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		snprintf(text, sizeof(text),
			 "--gateway: \"%s\" is not allowed: expected another host's address in "
			 "192.0.2.0/24, the prefix of --local",
			 wrong[i]);
		REFUSE(text, "--local", "192.0.2.1/24", "--gateway", wrong[i]);
		REFUSE(text, "--gateway", wrong[i], "--local", "192.0.2.1/24");
	}
	REFUSE("--gateway: \"192.0.2.2\" is not allowed: expected another host's address in "
	       "192.0.2.1/32, the prefix of --local",
	       "--local", "192.0.2.1/32", "--gateway", "192.0.2.2");
	REFUSE("--gateway: a local address is missing: expected --local IP/LEN too", "--gateway",
	       "192.0.2.2");
	REFUSE("--gateway: \"192.0.2.3\" is a second value: expected this option once", "--local",
	       "192.0.2.1/24", "--gateway", "192.0.2.2", "--gateway", "192.0.2.3");
}

static void
test_remote(void **state)
{
	struct options options;

	(void)state;
	ACCEPT(&options, "--remote", "192.0.2.2", "--local", "192.0.2.1/24", "--remote=10.9.8.7",
	       "--vni", "100");
	assert_int_equal(options.num_remotes, 2);
	assert_ip(&options.remote[0], "192.0.2.2");
	assert_ip(&options.remote[1], "10.9.8.7");
	assert_int_equal(options.vni, 100);
	refuse_addresses("--remote", "a unicast IP address");
	REFUSE("--remote: \"10.0.0.9\" is given twice: expected each address once", "--local",
	       "192.0.2.1/24", "--vni", "5", "--remote", "10.0.0.9", "--remote", "10.0.0.8",
	       "--remote", "10.0.0.9");
	REFUSE("--remote: \"192.0.2.1\" is not allowed: it is the address of --local; expected "
	       "another host's",
	       "--remote", "10.0.0.9", "--remote", "192.0.2.1", "--local", "192.0.2.1/24", "--vni",
	       "5");
	REFUSE("--remote: \"192.0.2.255\" is not allowed: it is the network or broadcast address "
	       "of --local's prefix; expected a host address",
	       "--local", "192.0.2.1/24", "--vni", "5", "--remote", "192.0.2.255");
	REFUSE("--remote: \"192.0.2.0\" is not allowed: it is the network or broadcast address of "
	       "--local's prefix; expected a host address",
	       "--local", "192.0.2.1/24", "--vni", "5", "--remote", "192.0.2.0");
	/* In another prefix nobody knows which addresses are a network's. */
	ACCEPT(&options, "--local", "192.0.2.1/24", "--vni", "5", "--remote", "10.0.0.255");
	assert_int_equal(options.num_remotes, 1);
	ACCEPT(&options, "--local", "fd00::1/64", "--vni", "5", "--remote", "2001:db8::2");
	assert_ip(&options.remote[0], "2001:db8::2");
}

static void
test_mtu_over_ipv6(void **state)
{
	struct options options;

	(void)state;
	ACCEPT(&options, "--local", "192.0.2.1/24", "--mtu", "65485");
	ACCEPT(&options, "--mtu", "65465", "--local", "fd00::1/64");
	REFUSE("--mtu: \"65466\" is not allowed: --local is IPv6, expected at most 65465", "--mtu",
	       "65466", "--local", "fd00::1/64");
}

static void
test_remotes_many(void **state)
{
	const char *words[2 * (OPTIONS_REMOTES_MAX + 1) + 5] = {"--local", "192.0.2.1/24", "--vni",
								"5"};
	char addresses[OPTIONS_REMOTES_MAX + 1][20];
	struct options options;
	struct vx_err err;
	size_t n = 4;

	(void)state;
	for (unsigned int i = 0; i <= OPTIONS_REMOTES_MAX; i++) {
		snprintf(addresses[i], sizeof(addresses[i]), "10.0.%u.%u", i / 200, i % 200 + 1);
		words[n++] = "--remote";
		words[n++] = addresses[i];
	}
	assert_int_equal(parse_list(&options, &err, words), -EINVAL);
	assert_string_equal(err.text,
			    "--remote: \"10.0.1.57\" is one too many: expected at most 256");
	words[n - 2] = NULL;
	assert_int_equal(parse_list(&options, &err, words), 0);
	assert_int_equal(options.num_remotes, OPTIONS_REMOTES_MAX);
	assert_ip(&options.remote[OPTIONS_REMOTES_MAX - 1], "10.0.1.56");
}

static void
test_tunnel_together(void **state)
{
	static const char alone[] =
		"--vni: a local address is missing: expected --local IP/LEN too, or --interactive "
		"or --cmdline-file for commands that give it";
	struct options options;

	(void)state;
	REFUSE("--remote: a local address is missing: expected --local IP/LEN too", "--remote",
	       "10.0.0.9");
	REFUSE("--remote: a local address is missing: expected --local IP/LEN too", "--vni", "5",
	       "--remote", "10.0.0.9", "-i");
	REFUSE("--remote: a VNI is missing: expected --vni N too", "--local", "192.0.2.1/24",
	       "--remote", "10.0.0.9");
	REFUSE(alone, "--vni", "5");
	/* Peers that are learned need no --remote; commands can give the rest. */
	ACCEPT(&options, "--vni", "5", "--local", "192.0.2.1/24");
	assert_int_equal(options.num_remotes, 0);
	ACCEPT(&options, "--local", "192.0.2.1/24");
	ACCEPT(&options, "--vni", "5", "-i");
	assert_int_equal(options.vni, 5);
	ACCEPT(&options, "--vni", "5", "--cmdline-file", "tunnels.conf");
	assert_int_equal(options.vni, 5);
	release(&options);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),		cmocka_unit_test(test_ports_refused),
		cmocka_unit_test(test_ports_many),	cmocka_unit_test(test_local),
		cmocka_unit_test(test_gateway),		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_remotes_many),	cmocka_unit_test(test_mtu_over_ipv6),
		cmocka_unit_test(test_tunnel_together),
	};

	return cmocka_run_group_tests_name("options_tunnel", tests, NULL, NULL);
}
