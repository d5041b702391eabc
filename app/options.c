/* SPDX-License-Identifier: BSD-3-Clause */
#include "options_row.h"

#include <errno.h>
#include <string.h>

#include <rte_common.h>

/* getopt_long() is not used: it accepts abbreviations, which break when an option is added, and
 * keeps its place in globals. */

/* The column of the help in which the explanations begin. */
#define USAGE_COLUMN 28

#define AT(member) .offset = offsetof(struct options, member)
#define NUMBER(member, lowest, highest, normal)                                                    \
	AT(member), .value = "N", .parse = options_value_number, .min = lowest, .max = highest,    \
		    .standard = normal

#define STARTUP_FILE VX_SYSCONFDIR "/startup.conf"

/* A table reads best in rows of its own making. */
/* clang-format off */
static const struct options_row rows[] = {
	{.heading = "Ports",
	 .name = "underlay", .value = "P[,P...]", AT(underlay), .parse = options_value_ports,
	 .expected = "port ids or device names, separated by commas",
	 .help = "underlay ports: ids or device names", .fallback = "the first"},
	{.name = "access", .value = "P[,P...]", AT(access), .parse = options_value_ports,
	 .expected = "port ids or device names, separated by commas",
	 .help = "access ports: ids or device names", .fallback = "all others"},
	{.name = "mtu", NUMBER(mtu, 68, 65485, 1500), .help = "inner MTU"},
	{.name = "underlay-mtu", NUMBER(underlay_mtu, 68, 65535, 0),
	 .help = "MTU of underlay ports", .fallback = "as they are"},

	{.heading = "A tunnel in short, on the first underlay port and every access port",
	 .name = "local", .value = "IP/LEN", .parse = options_value_local,
	 .expected = "a host's IP address with prefix length, as 192.0.2.1/24",
	 .help = "this end's address", .fallback = "none"},
	{.name = "gateway", .value = "IP", .parse = options_value_gateway,
	 .expected = "a host's IP address",
	 .help = "next hop for all outside the prefix", .fallback = "none"},
	{.name = "remote", .value = "IP", .is_repeatable = true, .parse = options_value_remote,
	 .expected = "a unicast IP address",
	 .help = "a VTEP to flood to; up to 256 times", .fallback = "none"},
	{.name = "vni", NUMBER(vni, 1, 16777215, 0), .help = "VNI", .fallback = "none"},

	{.heading = "Commands",
	 .name = "interactive", .letter = 'i', AT(interactive),
	 .help = "prompt on the terminal; forwarding begins with the\ncommand \"start\"",
	 .fallback = "off: forward at once"},
	{.name = "auto-start", .letter = 'a', AT(auto_start),
	 .help = "with -i: forward at once", .fallback = "off"},
	{.name = "cmdline-file", .value = "FILE", AT(cmdline_file), .parse = options_value_file,
	 .expected = "a file of commands",
	 .help = "commands to run at start\n", .fallback = STARTUP_FILE " if it exists"},
	{.name = "cli-socket", .value = "PATH", AT(cli_socket), .parse = options_value_socket,
	 .expected = "a path of 1 to 107 characters",
	 .help = "Unix socket with the same prompt\n",
	 .fallback = "cli.sock in the EAL's runtime directory"},

	{.heading = "Queues, memory and cores",
	 .name = "rxq", NUMBER(rxq, 1, 256, 0),
	 .help = "RX queues of a port", .fallback = "one per worker"},
	{.name = "txq", NUMBER(txq, 1, 256, 0),
	 .help = "TX queues of a port", .fallback = "one per worker"},
	{.name = "rxd", NUMBER(rxd, 32, 32768, 0), .zero = "what suits the driver",
	 .help = "descriptors of an RX queue,\n", .fallback = "0"},
	{.name = "txd", NUMBER(txd, 32, 32768, 0), .zero = "what suits the driver",
	 .help = "descriptors of a TX queue,\n", .fallback = "0"},
	{.name = "burst", NUMBER(burst, 1, 512, 32), .help = "frames taken at once"},
	{.name = "mbuf-size", NUMBER(mbuf_size, 256, 65535, 2176),
	 .help = "packet buffer with headroom"},
	{.name = "total-num-mbufs", NUMBER(total_num_mbufs, 1024, 16777216, 0),
	 .help = "buffers", .fallback = "computed"},
	{.name = "mbcache", NUMBER(mbcache, 0, 512, 250), .help = "buffers cached by an lcore"},
	{.name = "nb-cores", NUMBER(nb_cores, 1, 127, 0),
	 .help = "workers", .fallback = "all lcores but the main"},
	{.name = "stats-period", NUMBER(stats_period, 0, 86400, 0),
	 .help = "seconds between reports", .fallback = "0: none"},

	{.heading = "Table sizes",
	 .name = "max-vnis", NUMBER(max_vnis, 1, 65535, 4096), .help = "segments"},
	{.name = "max-macs", NUMBER(max_macs, 1, 16777216, 0),
	 .help = "MAC addresses", .fallback = "1000000;\n16384 with little memory"},
	{.name = "max-vteps", NUMBER(max_vteps, 1, 65535, 4096), .help = "remote VTEPs"},

	{.heading = "Other",
	 .name = "help", .letter = 'h', AT(help), .help = "print this text"},
	{.name = "version", AT(version), .help = "print the version"},
};
/* clang-format on */

_Static_assert(RTE_DIM(rows) <= 64, "a bit of parser.seen for each");

/* The row of the long option whose name is the @len bytes at @name; NULL if there is none. */
static const struct options_row *
find_name(const char *name, size_t len)
{
	for (size_t i = 0; i < RTE_DIM(rows); i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

static const struct options_row *
find_letter(char letter)
{
	for (size_t i = 0; i < RTE_DIM(rows); i++)
		if (rows[i].letter != '\0' && rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

static int
refuse_unknown(struct options_parser *parser, const char *arg)
{
	const char *name = arg + (arg[1] == '-' ? 2 : 1);
	const size_t len = strcspn(name, "=");

	for (size_t i = 0; i < RTE_DIM(rows) && arg[1] == '-' && len > 0; i++)
		if (strncmp(rows[i].name, name, len) == 0)
			return vx_err_set(parser->err, EINVAL,
					  "unknown option " QUOTED ": names are not abbreviated, "
					  "did you mean --%s? Try --help",
					  arg, rows[i].name);
	return vx_err_set(parser->err, EINVAL,
			  "unknown option " QUOTED ": EAL options go before the \"--\"; for all "
			  "others try --help",
			  arg);
}

/* The value of @row in the next argument; NULL where that is an option or absent. */
static const char *
take_value(struct options_parser *parser)
{
	const char *arg;

	if (parser->next >= parser->argc)
		return NULL;
	arg = parser->argv[parser->next];
	/* "-1" is a value, and a wrong one; "--vni" or "-i" means that the value was forgotten. */
	if (arg[0] == '-' && (arg[1] < '0' || arg[1] > '9'))
		return NULL;
	parser->next++;
	return arg;
}

/* A long option: "--name", "--name value" or "--name=value". */
static int
parse_long(struct options_parser *parser)
{
	const char *arg = parser->argv[parser->next++];
	const size_t len = strcspn(arg + 2, "=");
	const struct options_row *row = find_name(arg + 2, len);
	const char *value = arg[2 + len] == '=' ? arg + 2 + len + 1 : NULL;
	char text[OPTIONS_EXPECTED_MAX];
	uint64_t bit;

	if (row == NULL)
		return refuse_unknown(parser, arg);
	if (row->parse == NULL) {
		if (value != NULL)
			return vx_err_set(parser->err, EINVAL,
					  "--%s: " QUOTED " is not allowed: expected no value",
					  row->name, value);
		*(bool *)options_member(parser->options, row) = true;
		return 0;
	}
	if (value == NULL)
		value = take_value(parser);
	if (value == NULL)
		return vx_err_set(parser->err, EINVAL, "--%s: the value is missing: expected %s",
				  row->name, options_expected(row, text, sizeof(text)));
	bit = UINT64_C(1) << (row - rows);
	if ((parser->seen & bit) != 0 && !row->is_repeatable)
		return vx_err_set(parser->err, EINVAL,
				  "--%s: " QUOTED " is a second value: expected this option once",
				  row->name, value);
	parser->seen |= bit;
	return row->parse(parser, row, value);
}

/* Single letters, which are all flags: "-i", "-ia". */
static int
parse_letters(struct options_parser *parser)
{
	const char *arg = parser->argv[parser->next++];

	for (const char *letter = arg + 1; *letter != '\0'; letter++) {
		const struct options_row *row = find_letter(*letter);

		if (row == NULL)
			return refuse_unknown(parser, arg);
		*(bool *)options_member(parser->options, row) = true;
	}
	return 0;
}

enum options_early
options_early(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return OPTIONS_EARLY_HELP;
		if (strcmp(argv[i], "--version") == 0)
			return OPTIONS_EARLY_VERSION;
	}
	return OPTIONS_EARLY_NONE;
}

int
options_parse(int argc, char **argv, struct options *options, struct vx_err *err)
{
	struct options_parser parser = {
		.argc = argc, .argv = argv, .next = 1, .options = options, .err = err};

	memset(options, 0, sizeof(*options));
	for (size_t i = 0; i < RTE_DIM(rows); i++)
		if (rows[i].parse == options_value_number)
			*(uint32_t *)options_member(options, &rows[i]) = rows[i].standard;

	while (parser.next < argc) {
		const char *arg = argv[parser.next];
		int ret;

		if (arg[0] != '-' || strcmp(arg, "-") == 0 || strcmp(arg, "--") == 0)
			return vx_err_set(err, EINVAL,
					  "unexpected argument " QUOTED
					  ": expected options only; try --help",
					  arg);
		ret = arg[1] == '-' ? parse_long(&parser) : parse_letters(&parser);
		if (ret < 0)
			return ret;
	}
	if (options->help || options->version)
		return 0;
	return options_check(options, err);
}

/* Print @text; each further line of it begins in the column of the explanations. */
static void
print_wrapped(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		fputc(*text, out);
		if (*text == '\n')
			fprintf(out, "%*s", USAGE_COLUMN, "");
	}
}

static void
print_row(FILE *out, const struct options_row *row)
{
	char head[64], text[OPTIONS_EXPECTED_MAX];
	bool is_broken;

	if (row->heading != NULL)
		fprintf(out, "\n%s:\n", row->heading);
	snprintf(head, sizeof(head), "  %c%c%c --%s%s%s", row->letter != '\0' ? '-' : ' ',
		 row->letter != '\0' ? row->letter : ' ', row->letter != '\0' ? ',' : ' ',
		 row->name, row->value != NULL ? " " : "", row->value != NULL ? row->value : "");
	fprintf(out, "%-*s", USAGE_COLUMN, head);
	print_wrapped(out, row->help);
	/* A help that ends in a new line wants what follows there. */
	is_broken = row->help[strlen(row->help) - 1] == '\n';
	if (row->parse == options_value_number) {
		fprintf(out, "%s%s", is_broken ? "" : ", ",
			options_expected(row, text, sizeof(text)));
		is_broken = false;
	}
	if (row->fallback != NULL) {
		fprintf(out, "%s[", is_broken ? "" : " ");
		print_wrapped(out, row->fallback);
		fprintf(out, "]");
	} else if (row->parse == options_value_number) {
		fprintf(out, " [%u]", row->standard);
	}
	fprintf(out, "\n");
}

void
options_usage(FILE *out)
{
	fprintf(out,
		"Usage: dpdk-vxlan [EAL options] -- [options]\n"
		"A VXLAN tunnel endpoint: frames of the access ports leave encapsulated on the\n"
		"underlay ports, and the other way round. Defaults stand in [].\n");
	for (size_t i = 0; i < RTE_DIM(rows); i++)
		print_row(out, &rows[i]);
	fprintf(out, "\n"
		     "Examples:\n"
		     "  Two Ethernet devices of the kernel, one peer, forwarding at once:\n"
		     "    dpdk-vxlan -l 0,1 --vdev net_af_packet0,iface=eth1 \\\n"
		     "        --vdev net_af_packet1,iface=eth2 -- \\\n"
		     "        --local 192.0.2.1/24 --remote 192.0.2.2 --vni 100\n"
		     "  Two ports of a network card, jumbo frames, a prompt:\n"
		     "    dpdk-vxlan -l 0-2 -a 0000:03:00.0 -a 0000:03:00.1 -- -i \\\n"
		     "        --underlay 0000:03:00.0 --underlay-mtu 9000 --mtu 8900\n"
		     "  Everything from a file of commands:\n"
		     "    dpdk-vxlan -l 0-2 -- --cmdline-file tunnels.conf\n");
}
