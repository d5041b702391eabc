/* SPDX-License-Identifier: BSD-3-Clause */
/* The command language: completion, help, syntaxes and types. */
#include "test_cli.h"

/* @expected: the candidates with a blank after each. */
static void
assert_complete(const char *line, const char *expected, const char *common)
{
	struct cli_candidates *candidates = malloc(sizeof(*candidates));
	char text[2000] = "";

	assert_non_null(candidates);
	assert_int_equal(cli_grammar_complete(grammar, &the_app, line, candidates), 0);
	for (unsigned int i = 0; i < candidates->count; i++)
		strcat(strcat(text, candidates->text[i]), " ");
	assert_string_equal(text, expected);
	assert_string_equal(candidates->common, common);
	cli_candidates_free(candidates);
	free(candidates);
}

static void
test_complete(void **state __rte_unused)
{
	assert_complete(
		"", "access address fdb help port reset route set show sleep start trace vni ", "");
	assert_complete("s", "set show sleep start ", "s");
	assert_complete("st", "start ", "start");
	assert_complete("start", "start ", "start");
	assert_complete("start ", "", "");
	assert_complete("  vni  a", "add ", "add");
	assert_complete("vni add ", "27 100 1000 ", "");
	assert_complete("vni add 1", "100 1000 ", "100");
	assert_complete("vni add 5 ", "local mtu ", "");
	assert_complete("vni add 5 mtu 1400 ", "local ", "local");
	assert_complete("vni add 5 local ", "192.0.2.1 ", "192.0.2.1");
	assert_complete("vni add 5 local 1.2.3.4 mtu 1400 ", "", "");
	assert_complete("vni add 0 ", "", "");
	assert_complete("fdb add 02:00:00:00:00:01 vni 5 ", "port vtep ", "");
	assert_complete("fdb add 02:00:00:00:00:01 vni 5 port ", "net_tap0 net_tap1 ", "net_tap");
	assert_complete("access add 0 vni 5 vlan ", "all ", "all");
	assert_complete("show port info ", "all net_tap0 net_tap1 ", "");
	assert_complete("show port ", "info stats xstats ", "");
	assert_complete("trace add 5 port 0 vni 5 ", "mac ", "mac");
	assert_complete("port attach \"a b\" u", "underlay ", "underlay");
	assert_complete("port attach \"a b", "", "");
	assert_complete("vni add 5 # l", "", "");
	assert_complete("foo ", "", "");
	/* help takes the words of a command. */
	assert_complete("help st", "start ", "start");
	assert_complete("help vni ", "add del ", "");
	assert_complete("help show port x", "xstats ", "xstats");
	assert_complete("help help v", "vni ", "vni");
}

static void
test_complete_many(void **state __rte_unused)
{
	struct cli_candidates *candidates = malloc(sizeof(*candidates));

	assert_non_null(candidates);
	assert_int_equal(cli_grammar_complete(grammar, &the_app, "fdb del ", candidates), 0);
	assert_int_equal(candidates->total, 1000);
	assert_int_equal(candidates->count, CLI_CANDIDATES_MAX);
	/* All count for the common beginning, those that are not kept too. */
	assert_string_equal(candidates->common, "02:00:00:00:0");
	cli_candidates_free(candidates);
	assert_int_equal(
		cli_grammar_complete(grammar, &the_app, "fdb del 02:00:00:00:03:e7", candidates),
		0);
	assert_int_equal(candidates->total, 1);
	cli_candidates_free(candidates);
	/* Hints: what is expected where there is nothing to choose from, without variants. */
	assert_int_equal(cli_grammar_complete(grammar, &the_app, "vni add 5 local ", candidates),
			 0);
	assert_int_equal(candidates->num_hints, 1);
	assert_string_equal(candidates->hint[0], "IP: a local IP address");
	cli_candidates_free(candidates);
	assert_int_equal(cli_grammar_complete(grammar, &the_app, "start ", candidates), 0);
	assert_int_equal(candidates->num_hints, 1);
	assert_string_equal(candidates->hint[0], "Enter: the command is complete");
	cli_candidates_free(candidates);
	free(candidates);
}

/* The text of `help LINE`, to be freed; NULL: refused. */
static char *
help(const char *line)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret;

	assert_non_null(out);
	assert_int_equal(cli_words_split(&words, line, strlen(line), &err), 0);
	ret = cli_grammar_help(grammar, &words, out, &err);
	fclose(out);
	if (ret == 0)
		return text;
	assert_int_equal(size, 0);
	free(text);
	return NULL;
}

static void
test_help(void **state __rte_unused)
{
	char *text = help("");

	for (unsigned int t = 0; tables[t] != NULL; t++) {
		for (const struct cli_row *row = tables[t]; row->syntax != NULL; row++) {
			char shown[100];
			const size_t len = strcspn(row->syntax, ":");

			snprintf(shown, sizeof(shown), "\n  %.*s", (int)len, row->syntax);
			/* The first line has no end of line before it. */
			assert_true(strstr(text, shown) != NULL ||
				    strncmp(text, shown + 1, strlen(shown + 1)) == 0);
		}
	}
	assert_null(strchr(text, ':'));
	assert_null(strstr(text, "with more about it"));
	free(text);
	text = help("vni");
	assert_string_equal(text, "vni add VNI [local IP] [mtu MTU]\n    add a segment\n"
				  "    with more about it\n\nvni del VNI\n    delete a segment\n");
	free(text);
	text = help("show port stats");
	assert_string_equal(text, "show port info|stats|xstats P|all\n    ports\n");
	free(text);
	text = help("trace add 5 port");
	assert_string_equal(text, "trace add N [vni VNI] [mac MAC] [port P]\n    trace\n");
	free(text);
	assert_null(help("vni foo"));
	assert_string_equal(err.text, "unknown word \"foo\": no command has it in this place");
	assert_null(help("start x"));
}

/* Mistakes in rows are found when the program starts, not when somebody types the command. */
static void
test_bad_syntax(void **state __rte_unused)
{
	static const char *const bad[] = {
		"",
		"[",
		"a [b",
		"a b]",
		"a [b [c]]",
		"a []",
		"a FOO",
		"a b|",
		"a |b",
		"a b||c",
		"a b...",
		"a N:nothing",
		"a N N N N N N N N N N N N N N N N N",
		"a b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b",
	};

	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		const struct cli_row rows[] = {ROW("start", ""), ROW(bad[i], ""), {0}};
		const struct cli_row *const one[] = {rows, NULL};

		err.text[0] = '\0';
		assert_null(cli_grammar_create(one, &err));
		assert_non_null(strstr(err.text, "syntax of a command not understood"));
	}
}

/* Each type refuses nonsense, and says in its table what a word should be. */
static void
test_types(void **state __rte_unused)
{
	static const char *const names[] = {
		"N",	   "PORTS",	 "LO",	"HI",	"MTU",	   "MTU:inner", "N:frames",
		"SECONDS", "SECONDS:ms", "VNI", "V",	"P",	   "IP",	"IP:local",
		"IP/LEN",  "PREFIX",	 "MAC", "FILE", "DEVARGS", "COMMAND",	"N:dscp",
	};
	struct cli_value value;

	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		const struct cli_type *type = cli_type_find(names[i], strlen(names[i]));

		assert_non_null(type);
		assert_string_equal(type->name, names[i]);
		assert_non_null(type->what);
		assert_non_null(type->expected);
		assert_int_equal(type->parse(type, &the_app, "", &value), -EINVAL);
	}
	assert_null(cli_type_find("NOTHING", 7));
	assert_null(cli_type_find("VN", 2));
}

static void
test_udp_ports(void **state __rte_unused)
{
	static const char *const bad[] = {"0",
					  "65536",
					  "4789,",
					  ",4789",
					  "4789,,8472",
					  "4789,0",
					  "4789;8472",
					  "-1",
					  "+1",
					  "1 ,2",
					  "4789,8472,04789",
					  "1,2,x",
					  "1,2,3,4,5,6,7,8,9"};
	const struct cli_type *type = cli_type_find("PORTS", 5);
	struct cli_value value;

	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(type->parse(type, &the_app, bad[i], &value), -EINVAL);
	assert_int_equal(type->parse(type, &the_app, "65535", &value), 0);
	assert_int_equal(value.udp.n, 1);
	assert_int_equal(value.udp.port[0], 65535);
	assert_int_equal(type->parse(type, &the_app, "8,7,6,5,4,3,2,1", &value), 0);
	assert_int_equal(value.udp.n, 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(value.udp.port[i], 8 - i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),  cmocka_unit_test(test_complete_many),
		cmocka_unit_test(test_help),	  cmocka_unit_test(test_bad_syntax),
		cmocka_unit_test(test_udp_ports), cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests_name("cli_complete", tests, set_up, tear_down);
}
