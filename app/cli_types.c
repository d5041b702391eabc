/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli_types.h"

#include <errno.h>
#include <string.h>

#include <rte_common.h>

/* The longest `sleep`: a client that is gone keeps its place until then. */
#define SLEEP_MAX_MS (3600u * 1000)

/* Decimal digits only: no sign, no blanks, no 0x, which strtoull() would all take. */
static int
parse_digits(const char **at, uint64_t *number)
{
	const char *from = *at;
	uint64_t sum = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++) {
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(**at - '0'), &sum))
			return -EINVAL;
	}
	*number = sum;
	return *at == from ? -EINVAL : 0;
}

static int
parse_number(const struct cli_type *type, struct app *app __rte_unused, const char *word,
	     struct cli_value *value)
{
	uint64_t number;

	if (parse_digits(&word, &number) < 0 || *word != '\0')
		return -EINVAL;
	if (number < type->min || number > type->max)
		return -EINVAL;
	value->number = number;
	return 0;
}

/* Seconds with up to three decimals, to milliseconds. */
static int
parse_milliseconds(const struct cli_type *type, struct app *app __rte_unused, const char *word,
		   struct cli_value *value)
{
	unsigned int unit = 100;
	uint64_t number;

	if (parse_digits(&word, &number) < 0 || number > type->max)
		return -EINVAL;
	number *= 1000;
	if (*word == '.') {
		if (*++word == '\0')
			return -EINVAL;
		for (; *word >= '0' && *word <= '9' && unit > 0; word++, unit /= 10)
			number += unit * (unsigned int)(*word - '0');
	}
	if (*word != '\0' || number < type->min || number > type->max)
		return -EINVAL;
	value->number = number;
	return 0;
}

static int
parse_ip(const struct cli_type *type __rte_unused, struct app *app __rte_unused, const char *word,
	 struct cli_value *value)
{
	return vx_ip_parse(word, &value->ip);
}

static int
parse_prefix(const struct cli_type *type __rte_unused, struct app *app __rte_unused,
	     const char *word, struct cli_value *value)
{
	return vx_prefix_parse(word, &value->prefix);
}

static int
parse_mac(const struct cli_type *type __rte_unused, struct app *app __rte_unused, const char *word,
	  struct cli_value *value)
{
	return rte_ether_unformat_addr(word, &value->mac) < 0 ? -EINVAL : 0;
}

static int
parse_port(const struct cli_type *type __rte_unused, struct app *app, const char *word,
	   struct cli_value *value)
{
	uint16_t id;

	if (!app_port_find(app, word, &id))
		return -EINVAL;
	value->number = id;
	return 0;
}

/* "4789,8472": all different. */
static int
parse_udp_ports(const struct cli_type *type, struct app *app __rte_unused, const char *word,
		struct cli_value *value)
{
	uint64_t number;

	value->udp.n = 0;
	for (;;) {
		if (value->udp.n == CLI_UDP_PORTS_MAX || parse_digits(&word, &number) < 0 ||
		    number < type->min || number > type->max)
			return -EINVAL;
		for (unsigned int i = 0; i < value->udp.n; i++)
			if (value->udp.port[i] == number)
				return -EINVAL;
		value->udp.port[value->udp.n++] = (uint16_t)number;
		if (*word == '\0')
			return 0;
		if (*word++ != ',')
			return -EINVAL;
	}
}

/* The text itself is the value. */
static int
parse_text(const struct cli_type *type __rte_unused, struct app *app __rte_unused, const char *word,
	   struct cli_value *value __rte_unused)
{
	return word[0] == '\0' ? -EINVAL : 0;
}

#define NUMBER(lowest, highest) .parse = parse_number, .min = lowest, .max = highest

/* clang-format off */
static const struct cli_type types[] = {
	{.name = "N", .what = "number", .expected = "a number", NUMBER(0, UINT64_MAX)},
	{.name = "PORTS", .what = "UDP ports",
	 .expected = "up to 8 different UDP ports, 1 to 65535, as in 4789,8472",
	 .parse = parse_udp_ports, .min = 1, .max = 65535},
	{.name = "LO", .what = "UDP port", .expected = "a UDP port, 1 to 65535", NUMBER(1, 65535)},
	{.name = "HI", .what = "UDP port", .expected = "a UDP port, 1 to 65535", NUMBER(1, 65535)},
	{.name = "N:datagrams", .what = "number", .expected = "a number of datagrams, 1 to 65536",
	 NUMBER(1, 65536)},
	{.name = "N:macs", .what = "number", .expected = "a number of MACs, 1 to 16777216",
	 NUMBER(1, 1u << 24)},
	{.name = "PPS", .what = "rate",
	 .expected = "frames a second, 1 to 10000000, or 0 for no limit", NUMBER(0, 10000000)},
	{.name = "N:dscp", .what = "DSCP", .expected = "a DSCP, 0 to 63", NUMBER(0, 63)},
	{.name = "N:ttl", .what = "TTL", .expected = "a TTL, 1 to 255", NUMBER(1, 255)},
	{.name = "MS", .what = "time", .expected = "milliseconds, 1 to 60000", NUMBER(1, 60000)},
	{.name = "N:frames", .what = "number", .expected = "a number of frames, 1 to 4096",
	 NUMBER(1, 4096)},
	{.name = "MTU", .what = "MTU", .expected = "an MTU in bytes, 68 to 65535",
	 NUMBER(68, 65535)},
	{.name = "MTU:inner", .what = "MTU", .expected = "an MTU in bytes, 68 to 65485",
	 NUMBER(68, 65485)},
	/* Stamps are 32-bit seconds: half their range keeps ages unambiguous. */
	{.name = "SECONDS", .what = "time", .expected = "seconds, 0 (never) to 2147483647",
	 NUMBER(0, INT32_MAX)},
	{.name = "SECONDS:ms", .what = "time", .expected = "seconds, 0 to 3600, as in 0.5",
	 .parse = parse_milliseconds, .max = SLEEP_MAX_MS},
	{.name = "VNI", .what = "VNI", .expected = "a VNI, 1 to 16777215", NUMBER(1, 16777215),
	 .complete = cli_values_vni},
	{.name = "V", .what = "VLAN", .expected = "a VLAN id, 1 to 4094", NUMBER(1, 4094)},
	{.name = "P", .what = "port", .expected = "a port id or device name", .parse = parse_port,
	 .complete = cli_values_port},
	{.name = "IP", .what = "address", .expected = "an IP address", .parse = parse_ip,
	 .complete = cli_values_ip},
	{.name = "IP:local", .what = "address", .expected = "a local IP address", .parse = parse_ip,
	 .complete = cli_values_local},
	{.name = "IP/LEN", .what = "address",
	 .expected = "an IP address with prefix length, as in 192.0.2.1/24 or "
		     "2001:db8::1/64", .parse = parse_prefix},
	{.name = "PREFIX", .what = "prefix",
	 .expected = "a network with prefix length, as in 192.0.2.0/24 or 2001:db8::/32", .parse = parse_prefix},
	{.name = "MAC", .what = "MAC", .expected = "a MAC address, as in 02:00:00:00:00:01",
	 .parse = parse_mac, .complete = cli_values_mac},
	{.name = "FILE", .what = "file name", .expected = "a file name", .parse = parse_text},
	{.name = "DEVARGS", .what = "device", .expected = "a device with its arguments",
	 .parse = parse_text},
	{.name = "COMMAND", .what = "command", .expected = "the beginning of a command",
	 .parse = parse_text, .is_command = true},
};
/* clang-format on */

const struct cli_type *
cli_type_find(const char *name, size_t len)
{
	for (unsigned int i = 0; i < RTE_DIM(types); i++) {
		if (strlen(types[i].name) == len && memcmp(types[i].name, name, len) == 0)
			return &types[i];
	}
	return NULL;
}
