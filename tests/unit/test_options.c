/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: numbers, flags, strings, and what is no option at all. */
#include "test_options.h"

#include <inttypes.h>

struct number {
	const char *name;
	size_t offset;
	uint64_t min, max;
	uint32_t standard;
	const char *zero; /* what follows the range in the text where 0 is allowed too */
	/* What must stand beside it for the options together to make sense. */
	const char *with, *with_value;
};

#define OF(member) offsetof(struct options, member)
#define DRIVER	   ", or 0 for what suits the driver"

static const struct number numbers[] = {
	{"mtu", OF(mtu), 68, 65485, 1500, NULL, NULL, NULL},
	{"underlay-mtu", OF(underlay_mtu), 68, 65535, 0, NULL, NULL, NULL},
	{"vni", OF(vni), 1, 16777215, 0, NULL, "--local", "192.0.2.1/24"},
	{"rxq", OF(rxq), 1, 256, 0, NULL, NULL, NULL},
	{"txq", OF(txq), 1, 256, 0, NULL, NULL, NULL},
	{"rxd", OF(rxd), 32, 32768, 0, DRIVER, NULL, NULL},
	{"txd", OF(txd), 32, 32768, 0, DRIVER, NULL, NULL},
	{"burst", OF(burst), 1, 512, 32, NULL, NULL, NULL},
	{"mbuf-size", OF(mbuf_size), 256, 65535, 2176, NULL, NULL, NULL},
	{"total-num-mbufs", OF(total_num_mbufs), 1024, 16777216, 0, NULL, NULL, NULL},
	{"mbcache", OF(mbcache), 0, 512, 250, NULL, NULL, NULL},
	{"nb-cores", OF(nb_cores), 1, 127, 0, NULL, NULL, NULL},
	{"stats-period", OF(stats_period), 0, 86400, 0, NULL, NULL, NULL},
	{"max-vnis", OF(max_vnis), 1, 65535, 4096, NULL, NULL, NULL},
	{"max-macs", OF(max_macs), 1, 16777216, 0, NULL, NULL, NULL},
	{"max-vteps", OF(max_vteps), 1, 65535, 4096, NULL, NULL, NULL},
};

static uint32_t
number_of(const struct options *options, const struct number *number)
{
	uint32_t value;

	memcpy(&value, (const char *)options + number->offset, sizeof(value));
	return value;
}

/* Accepted, in both spellings, and stored where it belongs; all other numbers stay as they were. */
static void
accept_number(const struct number *number, const char *value, uint32_t wanted)
{
	struct options options;
	char name[40], joined[80];

	snprintf(name, sizeof(name), "--%s", number->name);
	snprintf(joined, sizeof(joined), "--%s=%s", number->name, value);
	ACCEPT(&options, name, value, number->with, number->with_value);
	assert_int_equal(number_of(&options, number), wanted);
	ACCEPT(&options, joined, number->with, number->with_value);
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		assert_int_equal(number_of(&options, &numbers[i]),
				 &numbers[i] == number ? wanted : numbers[i].standard);
}

static void
refuse_number(const struct number *number, const char *value)
{
	char name[40], joined[160], text[240];

	snprintf(name, sizeof(name), "--%s", number->name);
	snprintf(joined, sizeof(joined), "--%s=%s", number->name, value);
	snprintf(text, sizeof(text),
		 "--%s: \"%.64s\" is not allowed: expected %" PRIu64 " to %" PRIu64 "%s",
		 number->name, value, number->min, number->max,
		 number->zero != NULL ? number->zero : "");
	REFUSE(text, joined, number->with, number->with_value);
	/* As a word of its own, what begins like an option is one. */
	if (value[0] != '-' || (value[1] >= '0' && value[1] <= '9'))
		REFUSE(text, name, value, number->with, number->with_value);
}

static void
test_number_limits(void **state)
{
	char text[40];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(numbers); i++) {
		const struct number *number = &numbers[i];

		snprintf(text, sizeof(text), "%" PRIu64, number->min);
		accept_number(number, text, (uint32_t)number->min);
		snprintf(text, sizeof(text), "%" PRIu64, number->max);
		accept_number(number, text, (uint32_t)number->max);
		snprintf(text, sizeof(text), "000%" PRIu64, number->max);
		accept_number(number, text, (uint32_t)number->max);
		snprintf(text, sizeof(text), "%" PRIu64, number->max + 1);
		refuse_number(number, text);
		if (number->min > 1 || (number->min == 1 && number->zero == NULL)) {
			snprintf(text, sizeof(text), "%" PRIu64, number->min - 1);
			refuse_number(number, text);
		}
		if (number->zero != NULL)
			accept_number(number, "0", 0);
		else if (number->min > 0)
			refuse_number(number, "0");
	}
}

static void
test_number_junk(void **state)
{
	static const char *const junk[] = {
		"",
		" ",
		"x",
		"-0",
		"-1",
		"-100",
		"+100",
		" 100",
		"100 ",
		"100x",
		"x100",
		"0x64",
		"1e2",
		"100.0",
		"1,000",
		"100\n",
		"4294967296",		/* 2^32 */
		"4294967396",		/* 2^32 + 100 */
		"18446744073709551616", /* 2^64 */
		"18446744073709551716", /* 2^64 + 100 */
		"99999999999999999999999999999999999999999999999999999999999999999999999999999",
		"\xd9\xa1\xd9\xa0\xd9\xa0", /* digits of another script */
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		for (size_t k = 0; k < RTE_DIM(junk); k++)
			refuse_number(&numbers[i], junk[k]);
}

static void
test_number_missing_and_twice(void **state)
{
	char name[40], text[240], value[40];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(numbers); i++) {
		const struct number *number = &numbers[i];

		snprintf(name, sizeof(name), "--%s", number->name);
		snprintf(value, sizeof(value), "%" PRIu64, number->max);
		snprintf(text, sizeof(text),
			 "%s: the value is missing: expected %" PRIu64 " to %" PRIu64 "%s", name,
			 number->min, number->max, number->zero != NULL ? number->zero : "");
		REFUSE(text, name);
		REFUSE(text, name, "-i");
		REFUSE(text, name, "--interactive");
		REFUSE(text, name, "--", "5");

		snprintf(text, sizeof(text),
			 "%s: \"%s\" is a second value: expected this option once", name, value);
		REFUSE(text, name, value, name, value);
		/* A second value is refused as such even where it would be a wrong one. */
		snprintf(text, sizeof(text),
			 "%s: \"x\" is a second value: expected this option once", name);
		REFUSE(text, name, value, name, "x");
	}
}

static void
test_defaults(void **state)
{
	struct options options;

	(void)state;
	ACCEPT(&options, NULL);
	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		assert_int_equal(number_of(&options, &numbers[i]), numbers[i].standard);
	assert_false(options.help);
	assert_false(options.version);
	assert_false(options.interactive);
	assert_false(options.auto_start);
	assert_int_equal(options.underlay.count, 0);
	assert_int_equal(options.access.count, 0);
	assert_true(vx_ip_is_none(&options.local.ip));
	assert_true(vx_ip_is_none(&options.gateway));
	assert_int_equal(options.num_remotes, 0);
	assert_null(options.cmdline_file);
	assert_null(options.cli_socket);
}

static void
test_flags(void **state)
{
	struct options options;

	(void)state;
	ACCEPT(&options, "-i");
	assert_true(options.interactive);
	assert_false(options.auto_start);
	ACCEPT(&options, "--interactive");
	assert_true(options.interactive);
	ACCEPT(&options, "-i", "-a");
	assert_true(options.interactive && options.auto_start);
	ACCEPT(&options, "-ai");
	assert_true(options.interactive && options.auto_start);
	ACCEPT(&options, "--auto-start", "--interactive");
	assert_true(options.interactive && options.auto_start);
	/* Nothing contradicts itself when a flag is given twice. */
	ACCEPT(&options, "-i", "--interactive", "-i");
	assert_true(options.interactive);

	REFUSE("--interactive: \"yes\" is not allowed: expected no value", "--interactive=yes");
	REFUSE("--auto-start: \"\" is not allowed: expected no value", "-i", "--auto-start=");
	REFUSE("--auto-start: meaningless alone: expected --interactive too (without it forwarding "
	       "starts at once)",
	       "-a");
}

static void
test_help_and_version(void **state)
{
	struct options options;

	(void)state;
	ACCEPT(&options, "--help");
	assert_true(options.help);
	assert_false(options.version);
	ACCEPT(&options, "-ih");
	assert_true(options.help && options.interactive);
	ACCEPT(&options, "--version");
	assert_true(options.version);
	assert_false(options.help);
	/* Who asks for help is not told what else is missing. */
	ACCEPT(&options, "-a", "--remote", "192.0.2.2", "--help");
	assert_true(options.help);
	ACCEPT(&options, "--vni", "5", "--version");
	assert_true(options.version);
	REFUSE("--help: \"mtu\" is not allowed: expected no value", "--help=mtu");
}

static enum options_early
early(const char *a, const char *b, const char *c, const char *d)
{
	const char *const words[] = {"dpdk-vxlan", a, b, c, d};
	char *argv[RTE_DIM(words)];
	enum options_early found;
	int argc = 0;

	for (; argc < (int)RTE_DIM(words) && words[argc] != NULL; argc++)
		argv[argc] = strdup(words[argc]);
	found = options_early(argc, argv);
	while (argc > 0)
		free(argv[--argc]);
	return found;
}

static void
test_early(void **state)
{
	(void)state;
	assert_int_equal(early(NULL, NULL, NULL, NULL), OPTIONS_EARLY_NONE);
	assert_int_equal(early("--help", NULL, NULL, NULL), OPTIONS_EARLY_HELP);
	assert_int_equal(early("-h", NULL, NULL, NULL), OPTIONS_EARLY_HELP);
	assert_int_equal(early("--version", NULL, NULL, NULL), OPTIONS_EARLY_VERSION);
	assert_int_equal(early("-l", "0-1", "--", "--help"), OPTIONS_EARLY_HELP);
	assert_int_equal(early("-l", "0-1", "--help", "--"), OPTIONS_EARLY_HELP);
	assert_int_equal(early("--", "-h", NULL, NULL), OPTIONS_EARLY_HELP);
	assert_int_equal(early("--", "--mtu", "9000", "--version"), OPTIONS_EARLY_VERSION);
	/* The first one decides. */
	assert_int_equal(early("--version", "--help", NULL, NULL), OPTIONS_EARLY_VERSION);
	assert_int_equal(early("--help", "--version", NULL, NULL), OPTIONS_EARLY_HELP);
	/* -v is the EAL's; what only resembles them is not meant. */
	assert_int_equal(early("-v", "--helpless", "help", "-hh"), OPTIONS_EARLY_NONE);
	assert_int_equal(early("--version=1", "--help=x", "--", "-i"), OPTIONS_EARLY_NONE);
	/* argv[0] is not an argument. */
	assert_int_equal(options_early(1, (char *[]){(char[]){"--help"}, NULL}),
			 OPTIONS_EARLY_NONE);
}

static void
test_unknown(void **state)
{
	static const char *const eal[] = {"-l",	    "-n",	   "-w",    "-x",
					  "--vdev", "--in-memory", "--foo", "--foo=3",
					  "--MTU",  "--mtu_",	   "--=5",  "--mtu9000"};
	char text[240];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(eal); i++) {
		snprintf(text, sizeof(text),
			 "unknown option \"%s\": EAL options go before the \"--\"; for all others "
			 "try --help",
			 eal[i]);
		REFUSE(text, eal[i]);
		REFUSE(text, "-i", eal[i], "0-1");
	}
	REFUSE("unknown option \"-ix\": EAL options go before the \"--\"; for all others try "
	       "--help",
	       "-ix");
}

static void
test_abbreviations(void **state)
{
	(void)state;
	/* One option begins so, several do, and with a value. */
	REFUSE("unknown option \"--mt\": names are not abbreviated, did you mean --mtu? Try --help",
	       "--mt", "9000");
	REFUSE("unknown option \"--inter\": names are not abbreviated, did you mean "
	       "--interactive? Try --help",
	       "--inter");
	REFUSE("unknown option \"--max=5\": names are not abbreviated, did you mean --max-vnis? "
	       "Try --help",
	       "--max=5");
	REFUSE("unknown option \"--hel\": names are not abbreviated, did you mean --help? Try "
	       "--help",
	       "--hel");
}

static void
test_positional(void **state)
{
	static const char *const words[] = {"100", "mtu", "", "-", "--"};
	char text[240];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(words); i++) {
		snprintf(text, sizeof(text),
			 "unexpected argument \"%s\": expected options only; try --help", words[i]);
		REFUSE(text, words[i]);
		REFUSE(text, "--mtu", "1500", words[i]);
		REFUSE(text, "-i", words[i], "--mtu", "1500");
	}
}

static void
test_strings(void **state)
{
	char path[120];
	struct options options;

	(void)state;
	ACCEPT(&options, "--cmdline-file", "/etc/a b.conf", "--cli-socket", "/run/x.sock");
	assert_string_equal(options.cmdline_file, "/etc/a b.conf");
	assert_string_equal(options.cli_socket, "/run/x.sock");
	release(&options);

	REFUSE("--cmdline-file: the value is missing: expected a file of commands",
	       "--cmdline-file");
	REFUSE("--cmdline-file: the value is missing: expected a file of commands",
	       "--cmdline-file", "-i");
	REFUSE("--cmdline-file: \"\" is not allowed: expected a file of commands", "--cmdline-file",
	       "");
	REFUSE("--cmdline-file: \"\" is not allowed: expected a file of commands",
	       "--cmdline-file=");
	REFUSE("--cmdline-file: \"b\" is a second value: expected this option once",
	       "--cmdline-file", "a", "--cmdline-file", "b");

	REFUSE("--cli-socket: the value is missing: expected a path of 1 to 107 characters",
	       "--cli-socket");
	REFUSE("--cli-socket: \"\" is not allowed: expected a path of 1 to 107 characters",
	       "--cli-socket", "");
	REFUSE("--cli-socket: \"b\" is a second value: expected this option once", "--cli-socket",
	       "a", "--cli-socket=b");
	memset(path, 'p', sizeof(path));
	path[107] = '\0';
	ACCEPT(&options, "--cli-socket", path);
	assert_string_equal(options.cli_socket, path);
	release(&options);
	path[107] = 'p';
	path[108] = '\0';
	REFUSE("--cli-socket: \"pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp\" "
	       "is not allowed: expected a path of 1 to 107 characters",
	       "--cli-socket", path);
}

/* A caller that wants no text, and two parses of one command line. */
static void
test_pure(void **state)
{
	char name[] = "dpdk-vxlan", option[] = "--mtu=70000", good[] = "--mtu=9000";
	char *wrong_argv[] = {name, option, NULL}, *argv[] = {name, good, NULL};
	struct options a, b;
	struct vx_err err;

	(void)state;
	assert_int_equal(options_parse(2, wrong_argv, &a, NULL), -EINVAL);
	assert_int_equal(options_parse(2, argv, &a, &err), 0);
	assert_int_equal(options_parse(2, argv, &b, &err), 0);
	assert_int_equal(a.mtu, 9000);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_string_equal(good, "--mtu=9000");
	/* Even without a program name. */
	assert_int_equal(options_parse(0, argv, &a, &err), 0);
	assert_int_equal(a.mtu, 1500);
}

/* The help names every option with its range and default, and fits a terminal. */
static void
test_usage(void **state)
{
	static const char *const others[] = {"underlay P[,P...]",
					     "access P[,P...]",
					     "local IP/LEN",
					     "gateway IP",
					     "remote IP",
					     "-i, --interactive",
					     "-a, --auto-start",
					     "cmdline-file FILE",
					     "cli-socket PATH",
					     "-h, --help",
					     "--version",
					     "\nExamples:\n",
					     VX_SYSCONFDIR "/startup.conf"};
	char *text = NULL, wanted[80];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	options_usage(out);
	fclose(out);
	for (size_t i = 0; i < RTE_DIM(others); i++)
		if (strstr(text, others[i]) == NULL)
			fail_msg("\"%s\" is not in the help", others[i]);
	for (size_t i = 0; i < RTE_DIM(numbers); i++) {
		const char *line;

		snprintf(wanted, sizeof(wanted), "  --%s N ", numbers[i].name);
		line = strstr(text, wanted);
		assert_non_null(line);
		snprintf(wanted, sizeof(wanted), "%" PRIu64 " to %" PRIu64, numbers[i].min,
			 numbers[i].max);
		line = strstr(line, wanted);
		assert_non_null(line);
		snprintf(wanted, sizeof(wanted), "[%u", numbers[i].standard);
		if (numbers[i].standard != 0)
			assert_non_null(strstr(line, wanted));
	}
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
		if (strlen(line) > 80 && strstr(line, VX_SYSCONFDIR) == NULL)
			fail_msg("longer than 80 columns: %s", line);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_limits),
		cmocka_unit_test(test_number_junk),
		cmocka_unit_test(test_number_missing_and_twice),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_abbreviations),
		cmocka_unit_test(test_positional),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_pure),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
