/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of options: one at a time, then all together. */
#include "options_row.h"

#include <errno.h>
#include <string.h>
#include <sys/un.h>

#include "vx_ip6.h"

_Static_assert(sizeof(((struct sockaddr_un *)NULL)->sun_path) == 108, "named in --cli-socket");
#define MTU_MAX6 65465u

_Static_assert(OPTIONS_REMOTES_MAX == 256, "named in --remote");

const char *
options_expected(const struct options_row *row, char *text, size_t size)
{
	if (row->parse != options_value_number)
		return row->expected;
	snprintf(text, size, "%u to %u%s%s", row->min, row->max,
		 row->zero != NULL ? ", or 0 for " : "", row->zero != NULL ? row->zero : "");
	return text;
}

static int
refuse(struct options_parser *parser, const struct options_row *row, const char *value)
{
	char text[OPTIONS_EXPECTED_MAX];

	return vx_err_set(parser->err, EINVAL, "--%s: " QUOTED " is not allowed: expected %s",
			  row->name, value, options_expected(row, text, sizeof(text)));
}

/* Digits only: strtoul() would take signs, spaces and a wrapped -1. */
int
options_value_number(struct options_parser *parser, const struct options_row *row,
		     const char *value)
{
	uint64_t number = 0;

	if (value[0] == '\0')
		return refuse(parser, row, value);
	for (const char *digit = value; *digit != '\0'; digit++) {
		if (*digit < '0' || *digit > '9')
			return refuse(parser, row, value);
		number = number * 10 + (uint64_t)(*digit - '0');
		if (number > row->max)
			return refuse(parser, row, value);
	}
	if (number < row->min && (number != 0 || row->zero == NULL))
		return refuse(parser, row, value);
	*(uint32_t *)options_member(parser->options, row) = (uint32_t)number;
	return 0;
}

int
options_value_file(struct options_parser *parser, const struct options_row *row, const char *value)
{
	if (value[0] == '\0')
		return refuse(parser, row, value);
	*(const char **)options_member(parser->options, row) = value;
	return 0;
}

int
options_value_socket(struct options_parser *parser, const struct options_row *row,
		     const char *value)
{
	if (strlen(value) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return refuse(parser, row, value);
	return options_value_file(parser, row, value);
}

static bool
has_port(const struct options_ports *ports, const char *name)
{
	for (unsigned int i = 0; i < ports->count; i++)
		if (strcmp(ports->name[i], name) == 0)
			return true;
	return false;
}

int
options_value_ports(struct options_parser *parser, const struct options_row *row, const char *value)
{
	struct options_ports *ports = options_member(parser->options, row);
	const char *from = value;

	for (;;) {
		const size_t len = strcspn(from, ",");
		char *name;

		if (ports->count == OPTIONS_PORTS_MAX)
			return vx_err_set(parser->err, EINVAL,
					  "--%s: too many ports: expected at most %u", row->name,
					  OPTIONS_PORTS_MAX);
		if (len == 0 || len >= OPTIONS_PORT_NAME_MAX || strcspn(from, " \t") < len)
			return refuse(parser, row, value);
		name = ports->name[ports->count];
		memcpy(name, from, len);
		name[len] = '\0';
		if (has_port(ports, name))
			return vx_err_set(parser->err, EINVAL,
					  "--%s: " QUOTED
					  " is named twice: expected each port once",
					  row->name, name);
		ports->count++;
		if (from[len] == '\0')
			return 0;
		from += len + 1;
	}
}

int
options_value_local(struct options_parser *parser, const struct options_row *row, const char *value)
{
	struct vx_prefix *local = &parser->options->local;

	if (vx_prefix_parse(value, local) < 0)
		return refuse(parser, row, value);
	if (vx_prefix_is_edge(local, &local->ip))
		return vx_err_set(parser->err, EINVAL,
				  "--%s: " QUOTED " is not allowed: it is the network or broadcast "
				  "address of its prefix; expected a host address",
				  row->name, value);
	/* Length 0 would make everything a neighbour. */
	return vx_ip_is_host(&local->ip) && local->len > 0 ? 0 : refuse(parser, row, value);
}

/* An address that can be one host's. */
static int
parse_host(struct options_parser *parser, const struct options_row *row, const char *value,
	   struct vx_ip *ip)
{
	if (vx_ip_parse(value, ip) < 0)
		return refuse(parser, row, value);
	return vx_ip_is_host(ip) ? 0 : refuse(parser, row, value);
}

int
options_value_gateway(struct options_parser *parser, const struct options_row *row,
		      const char *value)
{
	return parse_host(parser, row, value, &parser->options->gateway);
}

int
options_value_remote(struct options_parser *parser, const struct options_row *row,
		     const char *value)
{
	struct options *options = parser->options;
	struct vx_ip ip;
	int ret;

	ret = parse_host(parser, row, value, &ip);
	if (ret < 0)
		return ret;
	for (unsigned int i = 0; i < options->num_remotes; i++)
		if (vx_ip_is_equal(&options->remote[i], &ip))
			return vx_err_set(parser->err, EINVAL,
					  "--%s: " QUOTED
					  " is given twice: expected each address once",
					  row->name, value);
	if (options->num_remotes == OPTIONS_REMOTES_MAX)
		return vx_err_set(parser->err, EINVAL,
				  "--%s: " QUOTED " is one too many: expected at most %u",
				  row->name, value, OPTIONS_REMOTES_MAX);
	options->remote[options->num_remotes++] = ip;
	return 0;
}

static int
check_remotes(const struct options *options, struct vx_err *err)
{
	char text[VX_IP_TEXT_MAX];

	if (options->num_remotes == 0)
		return 0;
	if (vx_ip_is_none(&options->local.ip))
		return vx_err_set(
			err, EINVAL,
			"--remote: a local address is missing: expected --local IP/LEN too");
	if (options->vni == 0)
		return vx_err_set(err, EINVAL, "--remote: a VNI is missing: expected --vni N too");
	for (unsigned int i = 0; i < options->num_remotes; i++) {
		vx_ip_format(&options->remote[i], text, sizeof(text));
		if (vx_ip_is_equal(&options->remote[i], &options->local.ip))
			return vx_err_set(err, EINVAL,
					  "--remote: " QUOTED " is not allowed: it is the address "
					  "of --local; expected another host's",
					  text);
		if (vx_prefix_is_edge(&options->local, &options->remote[i]))
			return vx_err_set(err, EINVAL,
					  "--remote: " QUOTED " is not allowed: it is the network "
					  "or broadcast address of --local's prefix; expected a "
					  "host address",
					  text);
	}
	return 0;
}

static int
check_gateway(const struct options *options, struct vx_err *err)
{
	const struct vx_ip *gateway = &options->gateway;
	struct vx_prefix network = options->local;
	char text[VX_IP_TEXT_MAX], network_text[VX_IP_TEXT_MAX];

	if (vx_ip_is_none(gateway))
		return 0;
	if (vx_ip_is_none(&options->local.ip))
		return vx_err_set(
			err, EINVAL,
			"--gateway: a local address is missing: expected --local IP/LEN too");
	if (vx_prefix_has(&options->local, gateway) &&
	    !vx_prefix_is_edge(&options->local, gateway) &&
	    !vx_ip_is_equal(&options->local.ip, gateway))
		return 0;
	/* Every IPv6 link has it, and here only one has an address. */
	if (vx_ip6_is_link_local(gateway) && !vx_ip_is_v4(&options->local.ip))
		return 0;
	vx_prefix_mask(&network);
	return vx_err_set(err, EINVAL,
			  "--gateway: " QUOTED " is not allowed: expected another host's address "
			  "in %s/%u, the prefix of --local",
			  vx_ip_format(gateway, text, sizeof(text)),
			  vx_ip_format(&network.ip, network_text, sizeof(network_text)),
			  network.len);
}

/* What fits a packet of 65,535 bytes: 20 less over IPv6 than over IPv4. */
static int
check_mtu(const struct options *options, struct vx_err *err)
{
	if (vx_ip_is_none(&options->local.ip) || vx_ip_is_v4(&options->local.ip) ||
	    options->mtu <= MTU_MAX6)
		return 0;
	return vx_err_set(err, EINVAL,
			  "--mtu: \"%u\" is not allowed: --local is IPv6, expected at "
			  "most %u",
			  options->mtu, MTU_MAX6);
}

int
options_check(const struct options *options, struct vx_err *err)
{
	int ret;

	for (unsigned int i = 0; i < options->access.count; i++)
		if (has_port(&options->underlay, options->access.name[i]))
			return vx_err_set(err, EINVAL,
					  "--access: " QUOTED " is not allowed: it is an underlay "
					  "port too; expected each port on one side",
					  options->access.name[i]);
	ret = check_remotes(options, err);
	if (ret < 0)
		return ret;
	ret = check_gateway(options, err);
	if (ret < 0)
		return ret;
	ret = check_mtu(options, err);
	if (ret < 0)
		return ret;
	/* A segment without an address carries nothing out: that is a mistake, unless commands
	 * can still give the address. */
	if (options->vni != 0 && vx_ip_is_none(&options->local.ip) && !options->interactive &&
	    options->cmdline_file == NULL)
		return vx_err_set(err, EINVAL,
				  "--vni: a local address is missing: expected --local IP/LEN too, "
				  "or --interactive or --cmdline-file for commands that give it");
	if (options->auto_start && !options->interactive)
		return vx_err_set(err, EINVAL,
				  "--auto-start: meaningless alone: expected --interactive too "
				  "(without it forwarding starts at once)");
	return 0;
}
