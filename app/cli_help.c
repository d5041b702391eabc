/* SPDX-License-Identifier: BSD-3-Clause */
/* `help`: the rows of the grammar for people to read. */
#include "cli_pattern.h"

#include <errno.h>
#include <string.h>

/* The column of the explanations; a longer syntax has them on the next line. */
#define HELP_COLUMN 40

#define SHOWN_MAX 40

/* Print a syntax without the variants of types. Returns the width. */
static int
print_syntax(const char *syntax, FILE *out)
{
	int width = 0;

	while (*syntax != '\0') {
		const size_t len = strcspn(syntax, ":");

		width += fprintf(out, "%.*s", (int)len, syntax);
		syntax += len;
		syntax += strcspn(syntax, " []|.");
	}
	return width;
}

static void
print_short(const struct cli_row *row, FILE *out)
{
	int width = 2;

	fputs("  ", out);
	width += print_syntax(row->syntax, out);
	if (width + 2 > HELP_COLUMN) {
		putc('\n', out);
		width = 0;
	}
	fprintf(out, "%*s%.*s\n", HELP_COLUMN - width, "", (int)strcspn(row->help, "\n"),
		row->help);
}

static void
print_full(const struct cli_row *row, FILE *out)
{
	const char *line = row->help;

	print_syntax(row->syntax, out);
	putc('\n', out);
	for (;;) {
		const size_t len = strcspn(line, "\n");

		fprintf(out, "    %.*s\n", (int)len, line);
		if (line[len] == '\0')
			return;
		line += len + 1;
	}
}

/* Do two commands begin with the same word? */
static bool
is_same_noun(const struct cli_row *a, const struct cli_row *b)
{
	const size_t len = strcspn(a->syntax, " ");

	return len == strcspn(b->syntax, " ") && memcmp(a->syntax, b->syntax, len) == 0;
}

/* How many of the other commands, from @from on, begin with the same word as @index? */
static unsigned int
count_noun(const struct cli_grammar *grammar, unsigned int index, unsigned int from,
	   unsigned int to)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < to; i++)
		n += is_same_noun(grammar->pattern[i].row, grammar->pattern[index].row) ? 1 : 0;
	return n;
}

/* All commands, those of one noun together wherever their tables are; single ones first. */
static void
print_all(const struct cli_grammar *grammar, FILE *out)
{
	const unsigned int count = grammar->count;
	bool is_begun = false;

	for (unsigned int i = 0; i < count; i++) {
		if (count_noun(grammar, i, 0, count) > 1)
			continue;
		print_short(grammar->pattern[i].row, out);
		is_begun = true;
	}
	for (unsigned int i = 0; i < count; i++) {
		if (count_noun(grammar, i, 0, count) == 1 || count_noun(grammar, i, 0, i) > 0)
			continue;
		if (is_begun)
			putc('\n', out);
		is_begun = true;
		for (unsigned int j = i; j < count; j++) {
			if (is_same_noun(grammar->pattern[i].row, grammar->pattern[j].row))
				print_short(grammar->pattern[j].row, out);
		}
	}
	fputs("\n`help COMMAND` tells more. A # begins a comment; \"...\" keeps blanks in a "
	      "word.\n",
	      out);
}

/*
 * How many of @words can this command begin with? Parameters stand for any word here: what is asked
 * for is the command, not whether a value is right.
 */
static unsigned int
count_begin(const struct cli_pattern *pattern, const struct cli_words *words)
{
	unsigned int n;

	for (n = 0; n < words->count && n < pattern->num_items; n++) {
		const struct cli_item *item = &pattern->items[n];
		bool is_match = false;

		/* From here on the order is free. */
		if (item->group != 0)
			return words->count;
		for (unsigned int i = 0; i < item->num_alts && !is_match; i++) {
			const struct cli_alt *alt = &pattern->alts[item->first_alt + i];

			is_match =
				alt->type != NULL || strcmp(alt->literal, cli_word(words, n)) == 0;
		}
		if (!is_match)
			break;
	}
	return n;
}

int
cli_grammar_help(const struct cli_grammar *grammar, const struct cli_words *words, FILE *out,
		 struct vx_err *err)
{
	char word[4 * SHOWN_MAX + 8];
	unsigned int best = 0, printed = 0;

	if (words->count == 0) {
		print_all(grammar, out);
		return 0;
	}
	for (unsigned int i = 0; i < grammar->count; i++) {
		const unsigned int n = count_begin(&grammar->pattern[i], words);

		best = RTE_MAX(best, n);
		if (n < words->count)
			continue;
		if (printed++ > 0)
			putc('\n', out);
		print_full(grammar->pattern[i].row, out);
	}
	if (printed > 0)
		return 0;
	cli_escape(word, sizeof(word), cli_word(words, best), SHOWN_MAX);
	return vx_err_set(err, EINVAL, "unknown word \"%s\": no command has it in this place",
			  word);
}
