/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to options*.c: one option as a row of a table, and the state while parsing. */
#ifndef OPTIONS_ROW_H
#define OPTIONS_ROW_H

#include "options.h"

#include <stddef.h>

/* A value is quoted in errors up to this length, so that what was expected always fits too. */
#define QUOTED "\"%.64s\""

#define OPTIONS_EXPECTED_MAX 80

struct options_parser {
	int argc;
	char **argv;
	int next;      /* the argument to look at next */
	uint64_t seen; /* a bit for each row */
	struct options *options;
	struct vx_err *err;
};

struct options_row;

/* Turn @value into the row's member. 0, or -EINVAL with the parser's err set. */
typedef int options_value_fn(struct options_parser *parser, const struct options_row *row,
			     const char *value);

/* An option. Without a parse function it is a flag, and @offset is that of its bool. */
struct options_row {
	const char *heading; /* begins a group in the help */
	const char *name;
	char letter;
	const char *value; /* name of the value in the help */
	options_value_fn *parse;
	size_t offset;		     /* of the member in struct options */
	uint32_t min, max, standard; /* of a number */
	const char *zero;	     /* of a number: what 0, allowed beside the range, means */
	bool is_repeatable;
	const char *expected; /* of what is not a number */
	const char *help, *fallback;
};

static inline void *
options_member(struct options *options, const struct options_row *row)
{
	return (char *)options + row->offset;
}

options_value_fn options_value_number;
options_value_fn options_value_file;
options_value_fn options_value_socket;
options_value_fn options_value_ports;
options_value_fn options_value_local;
options_value_fn options_value_gateway;
options_value_fn options_value_remote;

/* What @row takes, in words; @text (OPTIONS_EXPECTED_MAX bytes) may be used for it. */
const char *options_expected(const struct options_row *row, char *text, size_t size);

/* What only several options together can have wrong. 0, or -EINVAL with @err set. */
int options_check(const struct options *options, struct vx_err *err);

#endif
