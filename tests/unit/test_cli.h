/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the command language share: a program to ask, commands, and the last result. */
#ifndef TEST_CLI_H
#define TEST_CLI_H

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

static inline int
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
	ROW("vni add VNI [local IP:local] [mtu MTU:inner]", "add a segment\nwith more about it"),
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

static inline int
set_up(void **state __rte_unused)
{
	grammar = cli_grammar_create(tables, &err);
	return grammar == NULL ? -1 : 0;
}

static inline int
tear_down(void **state __rte_unused)
{
	cli_grammar_destroy(grammar);
	return 0;
}

static inline int
run(const char *line)
{
	int ret;

	memset(&match, 0xff, sizeof(match));
	err.text[0] = '\0';
	ret = cli_words_split(&words, line, strlen(line), &err);
	return ret < 0 ? ret : cli_grammar_match(grammar, &the_app, &words, &match, &err);
}

static inline void
assert_row(const char *line, const char *syntax)
{
	if (run(line) != 0)
		fail_msg("\"%s\": %s", line, err.text);
	assert_non_null(match.row);
	assert_string_equal(match.row->syntax, syntax);
}

static inline void
assert_error(const char *line, const char *text)
{
	assert_int_equal(run(line), -EINVAL);
	assert_string_equal(err.text, text);
}

#endif
