/* SPDX-License-Identifier: BSD-3-Clause */
/* The command language: splitting, matching, values and errors. */
#include "test_cli.h"

static void
test_match(void **state __rte_unused)
{
	assert_row("start", "start");
	assert_row("  start\t", "start");
	assert_row("start\r", "start");
	assert_row("vni add 5", "vni add VNI [local IP:local] [mtu MTU:inner]");
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
	assert_error("vni add 5 mtu", "incomplete command: expected an MTU in bytes, 68 to 65485");
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
		     "192.0.2.0/24 or 2001:db8::/32");
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
	assert_row("\"vni\" \"add\" 5", "vni add VNI [local IP:local] [mtu MTU:inner]");
	assert_error("port attach \"abc underlay",
		     "quote not closed: expected \" before the end of line");
	/* Comments and empty lines. */
	assert_row("vni add 5 # mtu x \"", "vni add VNI [local IP:local] [mtu MTU:inner]");
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),	   cmocka_unit_test(test_groups),
		cmocka_unit_test(test_choices),	   cmocka_unit_test(test_errors),
		cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_words),
		cmocka_unit_test(test_word_print), cmocka_unit_test(test_long),
		cmocka_unit_test(test_prefixes),   cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("cli_grammar", tests, set_up, tear_down);
}
