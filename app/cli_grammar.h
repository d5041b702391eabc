/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command language: rows of syntax, help and function; matching, errors that name the first
 * word that does not fit, completion and help. Knows no terminals and no sockets.
 *
 * A syntax is a line such as "trace add N [vni VNI] [mac MAC|any]":
 *   lower case    a literal word, to be given exactly
 *   UPPER CASE    a parameter, a type of cli_types.c; "NAME:variant" is shown as NAME
 *   a|b|TYPE      a choice of these
 *   [...]         optional; neighbouring groups may be given in any order, each once
 *   TYPE...       all the words that are left, as one text
 * Each parameter and each choice has the next place in v[], from left to right, and so has an
 * optional group that is one literal: v[i].is_set tells whether it was given.
 */
#ifndef CLI_GRAMMAR_H
#define CLI_GRAMMAR_H

#include <stdio.h>

#include "cli_types.h"
#include "cli_words.h"
#include "vx_err.h"

#define CLI_VALUES_MAX 16

struct cli;
struct cli_client;

/* What a command's function gets. Values and their text are valid until it returns. */
struct cli_call {
	struct app *app;
	FILE *out;
	const struct cli_value *v;
	struct vx_err *err;
	struct cli_client *client; /* NULL: from a file at start, or from the program itself */
	struct cli *cli;
	unsigned int depth; /* 0: typed by a client; else in so many nested files */
};

/* One command. Arrays of rows end with syntax == NULL. */
struct cli_row {
	const char *syntax;
	const char *help; /* one line; further lines are shown by `help COMMAND` only */
	/* 0, or negative with call->err set and nothing changed. */
	int (*run)(struct cli_call *call);
};

struct cli_match {
	const struct cli_row *row; /* NULL: an empty line or a comment */
	struct cli_value v[CLI_VALUES_MAX];
};

struct cli_grammar;

/*
 * @tables: pointers to arrays of rows, NULL after the last; all of it must stay where it is.
 * NULL with @err on failure.
 */
struct cli_grammar *cli_grammar_create(const struct cli_row *const *tables, struct vx_err *err);
void cli_grammar_destroy(struct cli_grammar *grammar);

/* 0, or -EINVAL with the reason in @err. @match points into @words, which may be changed. */
int cli_grammar_match(const struct cli_grammar *grammar, struct app *app, struct cli_words *words,
		      struct cli_match *match, struct vx_err *err);

/* `help`: all commands, or those that begin with @words, in full. 0, or -EINVAL with @err. */
int cli_grammar_help(const struct cli_grammar *grammar, const struct cli_words *words, FILE *out,
		     struct vx_err *err);

/* Candidates that are kept; more are only counted. */
#define CLI_CANDIDATES_MAX 200

struct cli_candidates {
	const char *prefix; /* the word that is being typed; may be empty. Points into words */
	unsigned int count; /* of text, sorted */
	size_t total;
	char *text[CLI_CANDIDATES_MAX];
	char common[256]; /* how all candidates begin; "" where there is none */
	/* What is expected, a line each; for where there are no candidates, and for "?". */
	unsigned int num_hints;
	char *hint[CLI_CANDIDATES_MAX];
	struct cli_words words;
};

/* What could stand at the end of @line. 0 or -ENOMEM; @candidates is to be freed in any case. */
int cli_grammar_complete(const struct cli_grammar *grammar, struct app *app, const char *line,
			 struct cli_candidates *candidates);
void cli_candidates_free(struct cli_candidates *candidates);

#endif
