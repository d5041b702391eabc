/* SPDX-License-Identifier: BSD-3-Clause */
/* The command language: splitting, matching, values, errors, completion and help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>

#include "cli_grammar.h"

/* The program that the types ask: two ports, three VNIs and a few addresses. */
struct app {
	int unused;
};

static struct app the_app;

bool
app_port_find(struct app *app, const char *text, uint16_t *id)
{
	assert_ptr_equal(app, &the_app);
	if (strcmp(text, "0") == 0 || strcmp(text, "net_tap0") == 0)
		*id = 0;
	else if (strcmp(text, "1") == 0 || strcmp(text, "net_tap1") == 0)
		*id = 1;
	else
		return false;
	return true;
}

void
cli_values_vni(struct app *app, cli_add_fn *add, void *ctx)
{
	assert_ptr_equal(app, &the_app);
	add(ctx, "100");
	add(ctx, "1000");
	add(ctx, "27");
}

void
cli_values_port(struct app *app __rte_unused, cli_add_fn *add, void *ctx)
{
	add(ctx, "net_tap1");
	add(ctx, "net_tap0");
}

void
cli_values_ip(struct app *app __rte_unused, cli_add_fn *add, void *ctx)
{
	add(ctx, "192.0.2.2");
}

void
cli_values_local(struct app *app __rte_unused, cli_add_fn *add, void *ctx)
{
	add(ctx, "192.0.2.1");
}

/* More than are kept: 02:00:00:00:00:00 to 02:00:00:00:03:e7. */
void
cli_values_mac(struct app *app __rte_unused, cli_add_fn *add, void *ctx)
{
	char text[18];

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "02:00:00:00:%02x:%02x", i >> 8, i & 0xff);
		add(ctx, text);
	}
}

static int
run_nothing(struct cli_call *call __rte_unused)
{
	return 0;
}

#define ROW(syntax, help)                                                                          \
	{                                                                                          \
		syntax, help, run_nothing                                                          \
	}

static const struct cli_row first_rows[] = {
	ROW("start", "begin"),
	ROW("help [COMMAND...]", "help"),
	ROW("vni add VNI [local IP:local] [mtu MTU]", "add a segment\nwith more about it"),
	ROW("vni del VNI", "delete a segment"),
	ROW("fdb add MAC vni VNI vtep IP", "behind a VTEP"),
	ROW("fdb add MAC vni VNI port P [vlan V]", "behind a port"),
	ROW("fdb del MAC vni VNI", "delete"),
	ROW("access add P vni VNI [vlan V|all]", "attach"),
	{0},
};

static const struct cli_row second_rows[] = {
	ROW("set learning on|off [vni VNI]", "learning"),
	ROW("set source-ports LO HI", "source ports"),
	ROW("show port info|stats|xstats P|all", "ports"),
	ROW("show vni [VNI]", "segments"),
	ROW("port attach DEVARGS underlay|access", "attach a device"),
	ROW("trace add N [vni VNI] [mac MAC] [port P]", "trace"),
	ROW("route del PREFIX [via IP]", "route"),
	ROW("address add IP/LEN port P", "address"),
	ROW("sleep SECONDS:ms", "wait"),
	ROW("reset [force] [N]", "a flag"),
	{0},
};

static const struct cli_row *const tables[] = {first_rows, second_rows, NULL};

static struct cli_grammar *grammar;
static struct cli_words words;
static struct cli_match match;
static struct vx_err err;

static int
set_up(void **state __rte_unused)
{
	grammar = cli_grammar_create(tables, &err);
	return grammar == NULL ? -1 : 0;
}

static int
tear_down(void **state __rte_unused)
{
	cli_grammar_destroy(grammar);
	return 0;
}

static int
run(const char *line)
{
	int ret;

	memset(&match, 0xff, sizeof(match));
	err.text[0] = '\0';
	ret = cli_words_split(&words, line, strlen(line), &err);
	return ret < 0 ? ret : cli_grammar_match(grammar, &the_app, &words, &match, &err);
}

static void
assert_row(const char *line, const char *syntax)
{
	if (run(line) != 0)
		fail_msg("\"%s\": %s", line, err.text);
	assert_non_null(match.row);
	assert_string_equal(match.row->syntax, syntax);
}

static void
assert_error(const char *line, const char *text)
{
	assert_int_equal(run(line), -EINVAL);
	assert_string_equal(err.text, text);
}

static void
test_match(void **state __rte_unused)
{
	assert_row("start", "start");
	assert_row("  start\t", "start");
	assert_row("start\r", "start");
	assert_row("vni add 5", "vni add VNI [local IP:local] [mtu MTU]");
	assert_int_equal(match.v[0].number, 5);
	assert_string_equal(match.v[0].text, "5");
	assert_false(match.v[1].is_set);
	assert_false(match.v[2].is_set);
	/* Two rows with the same beginning. */
	assert_row("fdb add 02:00:00:00:00:01 vni 5 vtep 192.0.2.2", "fdb add MAC vni VNI vtep IP");
	assert_int_equal(match.v[0].mac.addr_bytes[5], 1);
	assert_int_equal(match.v[1].number, 5);
	assert_true(vx_ip_is_v4(&match.v[2].ip));
	assert_int_equal(match.v[2].ip.bytes[15], 2);
	assert_row("fdb add 02:00:00:00:00:01 vni 5 port net_tap1",
		   "fdb add MAC vni VNI port P [vlan V]");
	assert_int_equal(match.v[2].number, 1);
	assert_string_equal(match.v[2].text, "net_tap1");
	assert_row("address add 192.0.2.1/24 port 0", "address add IP/LEN port P");
	assert_int_equal(match.v[0].prefix.len, 24);
	assert_row("sleep 0.25", "sleep SECONDS:ms");
	assert_int_equal(match.v[0].number, 250);
	assert_row("sleep 2", "sleep SECONDS:ms");
	assert_int_equal(match.v[0].number, 2000);
}

static void
test_groups(void **state __rte_unused)
{
	static const char *const group[] = {"vni 7", "mac 02:00:00:00:00:01", "port 1"};
	const char *syntax = "trace add N [vni VNI] [mac MAC] [port P]";
	char line[200];

	/* Every subset in every order. */
	for (unsigned int code = 0; code < 64; code++) {
		const unsigned int pick[] = {code & 3, code >> 2 & 3, code >> 4 & 3};
		unsigned int seen = 0;
		bool is_twice = false;

		strcpy(line, "trace add 9");
		for (unsigned int i = 0; i < 3; i++) {
			if (pick[i] == 3)
				continue;
			is_twice = is_twice || (seen & (1u << pick[i])) != 0;
			seen |= 1u << pick[i];
			strcat(strcat(line, " "), group[pick[i]]);
		}
		if (is_twice) {
			assert_int_equal(run(line), -EINVAL);
			continue;
		}
		assert_row(line, syntax);
		assert_int_equal(match.v[0].number, 9);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(match.v[1 + i].is_set, (seen >> i) & 1);
		if (match.v[1].is_set)
			assert_int_equal(match.v[1].number, 7);
		if (match.v[3].is_set)
			assert_int_equal(match.v[3].number, 1);
	}
	/* A flag has a place of its own. */
	assert_row("reset", "reset [force] [N]");
	assert_false(match.v[0].is_set);
	assert_row("reset force", "reset [force] [N]");
	assert_true(match.v[0].is_set);
	assert_false(match.v[1].is_set);
	assert_row("reset 3 force", "reset [force] [N]");
	assert_true(match.v[0].is_set);
	assert_int_equal(match.v[1].number, 3);
}

static void
test_choices(void **state __rte_unused)
{
	assert_row("set learning off vni 3", "set learning on|off [vni VNI]");
	assert_int_equal(match.v[0].word, 1);
	assert_int_equal(match.v[1].number, 3);
	assert_row("set learning on", "set learning on|off [vni VNI]");
	assert_int_equal(match.v[0].word, 0);
	assert_row("show port xstats all", "show port info|stats|xstats P|all");
	assert_int_equal(match.v[0].word, 2);
	assert_int_equal(match.v[1].word, 1);
	assert_row("show port info net_tap1", "show port info|stats|xstats P|all");
	assert_int_equal(match.v[1].word, 0);
	assert_int_equal(match.v[1].number, 1);
	assert_row("access add 0 vni 5 vlan all", "access add P vni VNI [vlan V|all]");
	assert_int_equal(match.v[2].word, 1);
	assert_row("access add 0 vni 5 vlan 4094", "access add P vni VNI [vlan V|all]");
	assert_int_equal(match.v[2].number, 4094);
	/* No abbreviations: a script stays right when a word is added. */
	assert_int_equal(run("set learning of"), -EINVAL);
	assert_int_equal(run("sta"), -EINVAL);
	assert_int_equal(run("START"), -EINVAL);
}

static void
test_errors(void **state __rte_unused)
{
	assert_error("foo", "unknown word \"foo\": expected start, help, vni, fdb, access, set, "
			    "show, port, trace, route, address, sleep or reset");
	assert_error("vni foo", "unknown word \"foo\": expected add or del");
	assert_error("vni foo 5", "unknown word \"foo\": expected add or del");
	assert_error("vni add 0", "bad VNI \"0\": expected a VNI, 1 to 16777215");
	assert_error("vni add 16777216", "bad VNI \"16777216\": expected a VNI, 1 to 16777215");
	assert_error("vni add", "incomplete command: expected a VNI, 1 to 16777215");
	assert_error("vni", "incomplete command: expected add or del");
	assert_error("vni add 5 mtu", "incomplete command: expected an MTU in bytes");
	assert_error("vni add 5 x",
		     "unknown word \"x\": expected local, mtu or the end of the command");
	assert_error("vni add 5 mtu 1400 mtu 1400",
		     "unknown word \"mtu\": expected local or the end of the command");
	assert_error("vni add 5 mtu 1400 local 192.0.2.1 x",
		     "unexpected word \"x\" after the command");
	assert_error("start now", "unexpected word \"now\" after the command");
	assert_error("show port info 7",
		     "bad port \"7\": expected a port id or device name or all");
	assert_error("fdb add 02:00:00:00:00:01 vni 5",
		     "incomplete command: expected vtep or port");
	assert_error("fdb add 02:00:00:00:00:01 vni 5 vtep 192.0.2.256",
		     "bad address \"192.0.2.256\": expected an IP address");
	assert_error("fdb add 02:00:00:00:00 vni 5 vtep 192.0.2.2",
		     "bad MAC \"02:00:00:00:00\": expected a MAC address, as in 02:00:00:00:00:01");
	/* The row that got furthest decides: not the one for vtep. */
	assert_error("fdb add 02:00:00:00:00:01 vni 5 port 1 vlan 4095",
		     "bad VLAN \"4095\": expected a VLAN id, 1 to 4094");
	assert_error("route del 192.0.2.0 via 192.0.2.1",
		     "bad prefix \"192.0.2.0\": expected a network with prefix length, as in "
		     "192.0.2.0/24");
	assert_error("vni add \"\"", "bad VNI \"\": expected a VNI, 1 to 16777215");
	assert_error("port attach \"\" access",
		     "bad device \"\": expected a device with its arguments");
	assert_error("v\xc3\xa9ni\x1b[2J\x07",
		     "unknown word \"v\\xc3\\xa9ni\\x1b[2J\\x07\": expected start, help, vni, fdb, "
		     "access, set, show, port, trace, route, address, sleep or reset");
}

static void
test_numbers(void **state __rte_unused)
{
	static const char *const bad[] = {
		"",
		"-1",
		"+1",
		"0x1",
		"1.",
		"1e3",
		" 1",
		"1 ",
		"abc",
		"18446744073709551616",
		"99999999999999999999999999",
	};

	assert_row("reset 18446744073709551615", "reset [force] [N]");
	assert_true(match.v[1].number == UINT64_MAX);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		char line[100];

		snprintf(line, sizeof(line), "trace add \"%s\"", bad[i]);
		assert_int_equal(run(line), -EINVAL);
		assert_non_null(strstr(err.text, "bad number"));
	}
	assert_int_equal(run("sleep 3601"), -EINVAL);
	assert_int_equal(run("sleep 3600.001"), -EINVAL);
	assert_int_equal(run("sleep 0.0001"), -EINVAL);
	assert_int_equal(run("sleep 1."), -EINVAL);
	assert_int_equal(run("sleep .5"), -EINVAL);
	assert_int_equal(run("set source-ports 0 5"), -EINVAL);
	assert_int_equal(run("set source-ports 1 65535"), 0);
	assert_int_equal(match.v[1].number, 65535);
}

static void
test_words(void **state __rte_unused)
{
	assert_row("port attach \"net_tap0,iface=a b#c\" access",
		   "port attach DEVARGS underlay|access");
	assert_string_equal(match.v[0].text, "net_tap0,iface=a b#c");
	assert_int_equal(match.v[1].word, 1);
	assert_row("port attach a\"b \"c underlay", "port attach DEVARGS underlay|access");
	assert_string_equal(match.v[0].text, "ab c");
	assert_row("port attach \"a\\\"b\\\\c\\d\" underlay",
		   "port attach DEVARGS underlay|access");
	assert_string_equal(match.v[0].text, "a\"b\\c\\d");
	/* A backslash outside of quotes and a # inside a word are what they are. */
	assert_row("port attach a\\b#c underlay", "port attach DEVARGS underlay|access");
	assert_string_equal(match.v[0].text, "a\\b#c");
	assert_row("\"vni\" \"add\" 5", "vni add VNI [local IP:local] [mtu MTU]");
	assert_error("port attach \"abc underlay",
		     "quote not closed: expected \" before the end of line");
	/* Comments and empty lines. */
	assert_row("vni add 5 # mtu x \"", "vni add VNI [local IP:local] [mtu MTU]");
	assert_int_equal(run("# a comment"), 0);
	assert_null(match.row);
	assert_int_equal(run(""), 0);
	assert_null(match.row);
	assert_int_equal(run(" \t "), 0);
	assert_null(match.row);
	/* The rest of a line as one text. */
	assert_row("help  vni   add", "help [COMMAND...]");
	assert_string_equal(match.v[0].text, "vni add");
	assert_row("help", "help [COMMAND...]");
	assert_false(match.v[0].is_set);
	/* A NUL byte. */
	assert_int_equal(cli_words_split(&words, "a\0b", 3, &err), -EINVAL);
	assert_string_equal(err.text, "NUL byte in the line: expected text");
}

static void
test_word_print(void **state __rte_unused)
{
	static const char *const text[] = {"plain", "",	    "a b",   "#x",  "a#x",
					   "a\"b",  "a\\b", "\\ \"", "a\tb"};

	for (unsigned int i = 0; i < RTE_DIM(text); i++) {
		char *line = NULL;
		size_t size;
		FILE *out = open_memstream(&line, &size);

		assert_non_null(out);
		cli_word_print(out, text[i]);
		fclose(out);
		assert_int_equal(cli_words_split(&words, line, size, &err), 0);
		assert_int_equal(words.count, 1);
		assert_string_equal(cli_word(&words, 0), text[i]);
		free(line);
	}
}

static void
test_long(void **state __rte_unused)
{
	char line[CLI_LINE_MAX + 2];

	/* One word of the whole length, and one byte more. */
	memset(line, 'x', sizeof(line));
	assert_int_equal(cli_words_split(&words, line, CLI_LINE_MAX, &err), 0);
	assert_int_equal(words.count, 1);
	assert_int_equal(strlen(cli_word(&words, 0)), CLI_LINE_MAX);
	assert_int_equal(cli_words_split(&words, line, CLI_LINE_MAX + 1, &err), -EINVAL);
	assert_string_equal(err.text, "line too long: expected at most 4096 bytes");
	/* The message stays a message. */
	memcpy(line, "vni ", 4);
	line[CLI_LINE_MAX] = '\0';
	assert_error(line,
		     "unknown word \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\": expected add "
		     "or del");
	/* Even where each byte takes four, the expected words are there or cut at a whole one. */
	memset(line, 1, CLI_LINE_MAX);
	assert_int_equal(run(line), -EINVAL);
	assert_non_null(strstr(err.text, "...\": expected start, help"));
	assert_string_equal(err.text + strlen(err.text) - 5, ", ...");
	/* As many words as fit. */
	for (unsigned int i = 0; i < CLI_LINE_MAX; i++)
		line[i] = i % 2 == 0 ? 'a' : ' ';
	assert_int_equal(cli_words_split(&words, line, CLI_LINE_MAX, &err), 0);
	assert_int_equal(words.count, CLI_LINE_MAX / 2);
	memcpy(line, "help ", 5);
	assert_row(line, "help [COMMAND...]");
	assert_int_equal(strlen(match.v[0].text), CLI_LINE_MAX - 7);
}

/* Each beginning of each complete command is refused with one line, or complete itself. */
static void
test_prefixes(void **state __rte_unused)
{
	static const char *const full[] = {
		"vni add 5 local 192.0.2.1 mtu 1400",
		"fdb add 02:00:00:00:00:01 vni 5 port net_tap1 vlan 7",
		"trace add 9 port 1 mac 02:00:00:00:00:01 vni 7",
		"show port xstats all",
		"set learning off vni 100",
		"port attach \"net_tap0,iface=a b\" underlay",
	};
	struct cli_candidates *candidates = malloc(sizeof(*candidates));

	assert_non_null(candidates);
	for (unsigned int i = 0; i < RTE_DIM(full); i++) {
		char line[100];

		strcpy(line, full[i]);
		assert_int_equal(run(line), 0);
		for (size_t len = strlen(line); len-- > 0;) {
			line[len] = '\0';
			if (run(line) < 0) {
				assert_true(strlen(err.text) > 0);
				assert_non_null(strstr(err.text, "expected "));
			}
			assert_int_equal(cli_grammar_complete(grammar, &the_app, line, candidates),
					 0);
			/* Something can follow wherever a word ends or has begun, but for numbers.
			 */
			if (len > 0 && line[len - 1] == ' ')
				assert_true(candidates->num_hints > 0 || strchr(line, '"') != NULL);
			cli_candidates_free(candidates);
		}
	}
	free(candidates);
}

static void
test_random(void **state __rte_unused)
{
	static const char *const pool[] = {"vni",  "add",  "5",	   "\"",    "#",
					   "fdb",  "\\",   "\x01", "all",   "02:00:00:00:00:01",
					   "\xff", "port", "[",	   "trace", "|"};
	struct cli_candidates *candidates = malloc(sizeof(*candidates));
	uint64_t seed = 1;
	char line[300];

	assert_non_null(candidates);
	for (unsigned int round = 0; round < 20000; round++) {
		size_t len = 0;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		for (unsigned int i = 0; i < (seed >> 60); i++) {
			const uint64_t pick = (seed >> (i * 3)) ^ (seed >> 40);
			const char *word = pool[pick % RTE_DIM(pool)];

			if (round % 4 == 0) {
				line[len++] = (char)(pick & 0xff);
				continue;
			}
			memcpy(line + len, word, strlen(word));
			len += strlen(word);
			if ((pick & 3) != 0)
				line[len++] = ' ';
		}
		line[len] = '\0';
		err.text[0] = '\0';
		if (cli_words_split(&words, line, len, &err) == 0)
			(void)cli_grammar_match(grammar, &the_app, &words, &match, &err);
		for (const char *at = err.text; *at != '\0'; at++)
			assert_in_range((unsigned char)*at, 0x20, 0x7e);
		assert_int_equal(cli_grammar_complete(grammar, &the_app, line, candidates), 0);
		cli_candidates_free(candidates);
	}
	free(candidates);
}

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
	assert_complete("vni add 5 mtu 5 ", "local ", "local");
	assert_complete("vni add 5 local ", "192.0.2.1 ", "192.0.2.1");
	assert_complete("vni add 5 local 1.2.3.4 mtu 3 ", "", "");
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
	const struct cli_type *type;
	struct cli_value value;
	unsigned int i;

	for (i = 0; (type = cli_type_get(i)) != NULL; i++) {
		assert_ptr_equal(cli_type_find(type->name, strlen(type->name)), type);
		assert_non_null(type->what);
		assert_non_null(type->expected);
		assert_int_equal(type->parse(type, &the_app, "", &value), -EINVAL);
	}
	assert_true(i > 10);
	assert_null(cli_type_find("NOTHING", 7));
	assert_null(cli_type_find("VN", 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),	   cmocka_unit_test(test_groups),
		cmocka_unit_test(test_choices),	   cmocka_unit_test(test_errors),
		cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_words),
		cmocka_unit_test(test_word_print), cmocka_unit_test(test_long),
		cmocka_unit_test(test_prefixes),   cmocka_unit_test(test_random),
		cmocka_unit_test(test_complete),   cmocka_unit_test(test_complete_many),
		cmocka_unit_test(test_help),	   cmocka_unit_test(test_bad_syntax),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests_name("cli_grammar", tests, set_up, tear_down);
}
