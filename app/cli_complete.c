/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion: what could stand where the line ends. */
#include "cli_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A cli_add_fn. There may be a million values: all narrow the common beginning, few are kept. */
static void
add_candidate(void *ctx, const char *text)
{
	struct cli_candidates *candidates = ctx;
	size_t same = 0;
	char *copy;

	if (!begins_with(text, candidates->prefix))
		return;
	if (candidates->total++ == 0)
		snprintf(candidates->common, sizeof(candidates->common), "%s", text);
	while (candidates->common[same] != '\0' && candidates->common[same] == text[same])
		same++;
	candidates->common[same] = '\0';
	if (candidates->count == CLI_CANDIDATES_MAX)
		return;
	copy = strdup(text);
	if (copy != NULL)
		candidates->text[candidates->count++] = copy;
}

static int
add_hint(struct cli_candidates *candidates, const char *name, const char *text)
{
	/* Without the variant, which only we know. */
	const int len = (int)strcspn(name, ":");

	if (candidates->num_hints == CLI_CANDIDATES_MAX)
		return 0;
	if (asprintf(&candidates->hint[candidates->num_hints], "%.*s%s%s", len, name,
		     text[0] == '\0' ? "" : ": ", text) < 0)
		return -ENOMEM;
	candidates->num_hints++;
	return 0;
}

static int
add_expected(const struct cli_grammar *grammar, struct app *app,
	     const struct cli_expected *expected, struct cli_candidates *candidates)
{
	struct cli_expected commands;
	int ret = 0;

	for (unsigned int i = 0; i < expected->count && ret == 0; i++) {
		const struct cli_alt *alt = &expected->alts[i];

		if (alt->type != NULL && alt->type->is_command) {
			/* Any command's first word: a command does not begin with a parameter. */
			cli_grammar_expect(grammar, app, &candidates->words, 0, 0, &commands);
			ret = add_expected(grammar, app, &commands, candidates);
		} else if (alt->type != NULL) {
			if (alt->type->complete != NULL)
				alt->type->complete(app, add_candidate, candidates);
			ret = add_hint(candidates, alt->type->name, alt->type->expected);
		} else if (begins_with(alt->literal, candidates->prefix)) {
			add_candidate(candidates, alt->literal);
			ret = add_hint(candidates, alt->literal, "");
		}
	}
	if (ret == 0 && expected->can_end && candidates->prefix[0] == '\0')
		ret = add_hint(candidates, "Enter", "the command is complete");
	return ret;
}

/*
 * The index of the first word of which a candidate depends: 0, but where a parameter takes the
 * words of a command ("help vni ...") that of the first of these.
 */
static unsigned int
find_first(const struct cli_grammar *grammar, struct app *app, const struct cli_words *words,
	   unsigned int end)
{
	for (unsigned int i = 0; i < grammar->count; i++) {
		const struct cli_pattern *pattern = &grammar->pattern[i];
		const struct cli_item *last = &pattern->items[pattern->num_items - 1];
		struct cli_place place;
		unsigned int rest;

		if (!last->is_rest || !pattern->alts[last->first_alt].type->is_command)
			continue;
		if (cli_pattern_try(pattern, app, words, 0, end, &place, NULL, &rest) == end &&
		    rest < end)
			return rest;
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int
cli_grammar_complete(const struct cli_grammar *grammar, struct app *app, const char *line,
		     struct cli_candidates *candidates)
{
	struct cli_words *words = &candidates->words;
	struct cli_expected expected;
	unsigned int end, first;
	int ret;

	memset(candidates, 0, offsetof(struct cli_candidates, words));
	candidates->prefix = "";
	/* An open quote is no error while it is being typed; the other errors leave no words. */
	(void)cli_words_split(words, line, strlen(line), NULL);
	if (words->in_comment)
		return 0;
	end = words->count;
	if (words->in_word)
		candidates->prefix = cli_word(words, --end);
	first = find_first(grammar, app, words, end);
	if (cli_grammar_expect(grammar, app, words, first, end, &expected) != end - first)
		return 0;
	ret = add_expected(grammar, app, &expected, candidates);
	qsort(candidates->text, candidates->count, sizeof(candidates->text[0]), compare);
	return ret;
}

void
cli_candidates_free(struct cli_candidates *candidates)
{
	for (unsigned int i = 0; i < candidates->count; i++)
		free(candidates->text[i]);
	for (unsigned int i = 0; i < candidates->num_hints; i++)
		free(candidates->hint[i]);
	candidates->count = candidates->num_hints = 0;
}
