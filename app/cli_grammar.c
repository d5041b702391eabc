/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli_pattern.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a wrong word that an error shows, and what it may take with escapes. */
#define SHOWN_MAX  40
#define SHOWN_SIZE (4 * SHOWN_MAX + 8)

struct cli_grammar *
cli_grammar_create(const struct cli_row *const *tables, struct vx_err *err)
{
	struct cli_grammar *grammar;
	unsigned int count = 0;

	for (unsigned int i = 0; tables[i] != NULL; i++) {
		for (const struct cli_row *row = tables[i]; row->syntax != NULL; row++)
			count++;
	}
	grammar = calloc(1, sizeof(*grammar) + count * sizeof(grammar->pattern[0]));
	if (grammar == NULL) {
		vx_err_set(err, ENOMEM, "no memory for the command line");
		return NULL;
	}
	for (unsigned int i = 0; tables[i] != NULL; i++) {
		for (const struct cli_row *row = tables[i]; row->syntax != NULL; row++) {
			if (cli_pattern_compile(&grammar->pattern[grammar->count], row, err) < 0)
				goto err_destroy;
			grammar->count++;
		}
	}
	return grammar;

err_destroy:
	cli_grammar_destroy(grammar);
	return NULL;
}

void
cli_grammar_destroy(struct cli_grammar *grammar)
{
	if (grammar == NULL)
		return;
	for (unsigned int i = 0; i < grammar->count; i++)
		cli_pattern_free(&grammar->pattern[i]);
	free(grammar);
}

unsigned int
cli_grammar_expect(const struct cli_grammar *grammar, struct app *app,
		   const struct cli_words *words, unsigned int first, unsigned int end,
		   struct cli_expected *expected)
{
	unsigned int best = 0;

	expected->count = 0;
	expected->can_end = false;
	for (unsigned int i = 0; i < grammar->count; i++) {
		const struct cli_pattern *pattern = &grammar->pattern[i];
		struct cli_place place;
		const unsigned int n =
			cli_pattern_try(pattern, app, words, first, end, &place, NULL, NULL);

		if (n < best)
			continue;
		if (n > best) {
			expected->count = 0;
			expected->can_end = false;
			best = n;
		}
		cli_pattern_expect(pattern, &place, expected);
	}
	return best;
}

/* Append to @text as far as it goes. False: it did not go, and nothing was appended. */
static bool __rte_format_printf(3, 4) append(char *text, size_t size, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text + used, size - used, format, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < size - used)
		return true;
	text[used] = '\0';
	return false;
}

/* "a, b or c" into @text; where it does not fit, what fits and "...". */
static void
list_expected(const struct cli_expected *expected, char *text, size_t size)
{
	const unsigned int count = expected->count + (expected->can_end ? 1 : 0);

	text[0] = '\0';
	for (unsigned int i = 0; i < count; i++) {
		const char *before = i == 0 ? "" : i + 1 == count ? " or " : ", ";
		const char *item = "the end of the command";
		/* All but the last one leave room for the dots of those after them. */
		const size_t room = i + 1 == count ? size : size - strlen(", ...");

		if (i < expected->count)
			item = expected->alts[i].type != NULL ? expected->alts[i].type->expected
							      : expected->alts[i].literal;
		if (!append(text, room, "%s%s", before, item)) {
			append(text, size, ", ...");
			return;
		}
	}
}

/* The type of which a wrong word was meant to be a value: the only one that could come here. */
static const struct cli_type *
wanted_type(const struct cli_expected *expected)
{
	const struct cli_type *type = NULL;

	for (unsigned int i = 0; i < expected->count; i++) {
		if (expected->alts[i].type == NULL)
			continue;
		if (type != NULL)
			return NULL;
		type = expected->alts[i].type;
	}
	return type;
}

static int
refuse(const struct cli_grammar *grammar, struct app *app, const struct cli_words *words,
       struct vx_err *err)
{
	struct cli_expected expected;
	const unsigned int n = cli_grammar_expect(grammar, app, words, 0, words->count, &expected);
	const struct cli_type *type = wanted_type(&expected);
	char word[SHOWN_SIZE], list[sizeof(err->text)];
	size_t fixed;

	if (n == words->count) {
		list_expected(&expected, list,
			      sizeof(list) - sizeof("incomplete command: expected "));
		return vx_err_set(err, EINVAL, "incomplete command: expected %s", list);
	}
	cli_escape(word, sizeof(word), cli_word(words, n), SHOWN_MAX);
	if (expected.count == 0)
		return vx_err_set(err, EINVAL, "unexpected word \"%s\" after the command", word);
	fixed = strlen(word) + sizeof("unknown word \"\": expected ");
	if (type != NULL)
		fixed = strlen(word) + strlen(type->what) + sizeof("bad  \"\": expected ");
	list_expected(&expected, list, sizeof(list) - fixed);
	if (type != NULL)
		return vx_err_set(err, EINVAL, "bad %s \"%s\": expected %s", type->what, word,
				  list);
	return vx_err_set(err, EINVAL, "unknown word \"%s\": expected %s", word, list);
}

int
cli_grammar_match(const struct cli_grammar *grammar, struct app *app, struct cli_words *words,
		  struct cli_match *match, struct vx_err *err)
{
	match->row = NULL;
	if (words->count == 0)
		return 0;
	for (unsigned int i = 0; i < grammar->count; i++) {
		const struct cli_pattern *pattern = &grammar->pattern[i];
		struct cli_place place;
		unsigned int rest;

		if (cli_pattern_try(pattern, app, words, 0, words->count, &place, match->v,
				    &rest) != words->count ||
		    !cli_pattern_can_end(pattern, &place))
			continue;
		/* The text of that value is the first of these words, hence now all of them. */
		cli_words_join(words, rest);
		match->row = pattern->row;
		return 0;
	}
	return refuse(grammar, app, words, err);
}
