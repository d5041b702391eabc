/* SPDX-License-Identifier: BSD-3-Clause */
/* One command's syntax in a form that words can be held against. Internal to the grammar. */
#ifndef CLI_PATTERN_H
#define CLI_PATTERN_H

#include "cli_grammar.h"

#define CLI_ITEMS_MAX	 32 /* positions in one syntax */
#define CLI_ALTS_MAX	 48 /* alternatives of all positions of one syntax */
#define CLI_GROUPS_MAX	 16 /* optional groups in one syntax */
#define CLI_EXPECTED_MAX 96 /* different words that can come next, over all commands */

/* What one word can be: a literal, or a value of a type. */
struct cli_alt {
	const char *literal; /* NULL: a type */
	const struct cli_type *type;
};

/* One position: one alternative, or several for a choice. */
struct cli_item {
	uint8_t first_alt, num_alts;
	int8_t slot;   /* in cli_match.v; -1: a plain literal */
	uint8_t group; /* 0: required; items of one optional group share a number */
	bool is_rest;  /* takes all words that follow */
};

struct cli_pattern {
	const struct cli_row *row;
	char *text; /* literals point into it */
	unsigned int num_items, num_alts, num_slots, num_groups;
	struct cli_item items[CLI_ITEMS_MAX];
	struct cli_alt alts[CLI_ALTS_MAX];
};

/* How far a pattern has been matched. */
struct cli_place {
	unsigned int base;   /* the required item, or the first of the groups, that is due */
	unsigned int inside; /* the next item of a group that has begun; 0: in none */
	uint32_t used;	     /* groups that were given, one bit each */
};

/* What can come next, each once, in the order of the commands. */
struct cli_expected {
	unsigned int count;
	bool can_end;
	struct cli_alt alts[CLI_EXPECTED_MAX];
};

struct cli_grammar {
	unsigned int count;
	struct cli_pattern pattern[];
};

/*
 * What can follow the words @first..@end-1, over all commands; of use to completion where all of
 * them fit, and to errors where not. Returns how many words fit the commands that got furthest:
 * @expected is what these expect next.
 */
unsigned int cli_grammar_expect(const struct cli_grammar *grammar, struct app *app,
				const struct cli_words *words, unsigned int first, unsigned int end,
				struct cli_expected *expected);

/* 0, or -errno: a syntax that cannot be understood is a mistake in the program. */
int cli_pattern_compile(struct cli_pattern *pattern, const struct cli_row *row, struct vx_err *err);
void cli_pattern_free(struct cli_pattern *pattern);

/*
 * Hold the words @first..@end-1 against the pattern. Returns how many fit, with @place after the
 * last of them; @v (CLI_VALUES_MAX, may be NULL) gets their values. @rest, if not NULL: the index
 * of the word with which a "rest of the line" parameter began, else @end.
 */
unsigned int cli_pattern_try(const struct cli_pattern *pattern, struct app *app,
			     const struct cli_words *words, unsigned int first, unsigned int end,
			     struct cli_place *place, struct cli_value *v, unsigned int *rest);

/* Add what can follow @place. */
void cli_pattern_expect(const struct cli_pattern *pattern, const struct cli_place *place,
			struct cli_expected *expected);

/* Can the command end at @place? */
bool cli_pattern_can_end(const struct cli_pattern *pattern, const struct cli_place *place);

#endif
