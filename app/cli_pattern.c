/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli_pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One alternative: the text [@from, @from + @len) becomes a literal or is a type's name. */
static int
add_alt(struct cli_pattern *pattern, char *from, size_t len)
{
	struct cli_alt *alt = &pattern->alts[pattern->num_alts];

	if (len == 0 || pattern->num_alts == CLI_ALTS_MAX)
		return -EINVAL;
	*alt = (struct cli_alt){0};
	if (isupper((unsigned char)*from)) {
		alt->type = cli_type_find(from, len);
		if (alt->type == NULL)
			return -EINVAL;
	} else {
		alt->literal = from;
	}
	pattern->num_alts++;
	pattern->items[pattern->num_items].num_alts++;
	return 0;
}

/*
 * One position from the text [@from, @from + @len), in the optional @group (0: none). A group that
 * is one literal gets a slot too, or its command could not see it.
 */
static int
add_item(struct cli_pattern *pattern, char *from, size_t len, unsigned int group, bool is_alone)
{
	struct cli_item *item = &pattern->items[pattern->num_items];
	bool is_plain;

	if (pattern->num_items == CLI_ITEMS_MAX)
		return -EINVAL;
	*item = (struct cli_item){
		.first_alt = (uint8_t)pattern->num_alts, .slot = -1, .group = (uint8_t)group};
	if (len > 3 && memcmp(from + len - 3, "...", 3) == 0) {
		item->is_rest = true;
		len -= 3;
	}
	for (char *end = from + len; from <= end;) {
		char *bar = memchr(from, '|', (size_t)(end - from));
		char *stop = bar == NULL ? end : bar;

		if (add_alt(pattern, from, (size_t)(stop - from)) < 0)
			return -EINVAL;
		from = stop + 1;
	}
	is_plain = item->num_alts == 1 && pattern->alts[item->first_alt].type == NULL;
	if (is_plain && item->is_rest)
		return -EINVAL;
	if (!is_plain || is_alone) {
		if (pattern->num_slots == CLI_VALUES_MAX)
			return -EINVAL;
		item->slot = (int8_t)pattern->num_slots++;
	}
	pattern->num_items++;
	return 0;
}

static int
compile(struct cli_pattern *pattern)
{
	unsigned int group = 0, in_group = 0;

	for (char *at = pattern->text; *at != '\0';) {
		const size_t len = strcspn(at, " []");

		if (len > 0) {
			const bool is_alone = group != 0 && in_group == 0 && at[len] == ']';

			if (add_item(pattern, at, len, group, is_alone) < 0)
				return -EINVAL;
			in_group++;
			at += len;
		} else if (*at == '[') {
			if (group != 0 || pattern->num_groups == CLI_GROUPS_MAX)
				return -EINVAL;
			group = ++pattern->num_groups;
			in_group = 0;
			at++;
		} else {
			if (*at == ']') {
				if (group == 0 || in_group == 0)
					return -EINVAL;
				group = 0;
			}
			at++;
		}
	}
	return group == 0 && pattern->num_items > 0 ? 0 : -EINVAL;
}

int
cli_pattern_compile(struct cli_pattern *pattern, const struct cli_row *row, struct vx_err *err)
{
	memset(pattern, 0, sizeof(*pattern));
	pattern->row = row;
	pattern->text = strdup(row->syntax);
	if (pattern->text == NULL)
		return vx_err_set(err, ENOMEM, "no memory for the command line");
	if (compile(pattern) < 0) {
		cli_pattern_free(pattern);
		return vx_err_set(err, EINVAL, "syntax of a command not understood: %s",
				  row->syntax);
	}
	/* Only now, for until here the ends of words were looked for. */
	for (size_t i = 0, len = strlen(row->syntax); i < len; i++) {
		if (strchr(" []|", pattern->text[i]) != NULL)
			pattern->text[i] = '\0';
	}
	return 0;
}

void
cli_pattern_free(struct cli_pattern *pattern)
{
	free(pattern->text);
	pattern->text = NULL;
}

/* The item after the optional groups that begin at @base (@base itself where none does). */
static unsigned int
after_groups(const struct cli_pattern *pattern, unsigned int base)
{
	while (base < pattern->num_items && pattern->items[base].group != 0)
		base++;
	return base;
}

/* The positions that may come next, most wanted first. Returns how many. */
static unsigned int
next_items(const struct cli_pattern *pattern, const struct cli_place *place,
	   uint8_t next[CLI_ITEMS_MAX])
{
	const unsigned int required = after_groups(pattern, place->base);
	unsigned int n = 0, last_group = 0;

	if (place->inside != 0) {
		next[0] = (uint8_t)place->inside;
		return 1;
	}
	for (unsigned int i = place->base; i < required; i++) {
		const unsigned int group = pattern->items[i].group;

		if (group != last_group && (place->used & (UINT32_C(1) << group)) == 0)
			next[n++] = (uint8_t)i;
		last_group = group;
	}
	if (required < pattern->num_items)
		next[n++] = (uint8_t)required;
	return n;
}

static void
advance(const struct cli_pattern *pattern, struct cli_place *place, unsigned int index)
{
	const unsigned int group = pattern->items[index].group;

	place->inside = 0;
	if (group == 0) {
		place->base = index + 1;
		return;
	}
	place->used |= UINT32_C(1) << group;
	if (index + 1 < pattern->num_items && pattern->items[index + 1].group == group)
		place->inside = index + 1;
}

/* Is @word this item's literal (@literals) or value? Then @value is filled in. */
static bool
is_match(const struct cli_pattern *pattern, const struct cli_item *item, bool literals,
	 struct app *app, const char *word, struct cli_value *value)
{
	for (unsigned int i = 0; i < item->num_alts; i++) {
		const struct cli_alt *alt = &pattern->alts[item->first_alt + i];

		if ((alt->type == NULL) != literals)
			continue;
		*value = (struct cli_value){.is_set = true, .word = (uint8_t)i, .text = word};
		if (literals ? strcmp(alt->literal, word) == 0
			     : alt->type->parse(alt->type, app, word, value) == 0)
			return true;
	}
	return false;
}

/* Take one word. The item's index, or -1. A literal goes before a value that looks the same. */
static int
take(const struct cli_pattern *pattern, const struct cli_place *place, struct app *app,
     const char *word, struct cli_value *value)
{
	uint8_t next[CLI_ITEMS_MAX];
	const unsigned int n = next_items(pattern, place, next);

	for (int literals = 1; literals >= 0; literals--) {
		for (unsigned int i = 0; i < n; i++) {
			if (is_match(pattern, &pattern->items[next[i]], literals == 1, app, word,
				     value))
				return next[i];
		}
	}
	return -1;
}

unsigned int
cli_pattern_try(const struct cli_pattern *pattern, struct app *app, const struct cli_words *words,
		unsigned int first, unsigned int end, struct cli_place *place, struct cli_value *v,
		unsigned int *rest)
{
	*place = (struct cli_place){0};
	if (v != NULL)
		memset(v, 0, CLI_VALUES_MAX * sizeof(*v));
	if (rest != NULL)
		*rest = end;
	for (unsigned int i = first; i < end; i++) {
		struct cli_value value;
		const int index = take(pattern, place, app, cli_word(words, i), &value);

		if (index < 0)
			return i - first;
		if (v != NULL && pattern->items[index].slot >= 0)
			v[pattern->items[index].slot] = value;
		advance(pattern, place, (unsigned int)index);
		if (pattern->items[index].is_rest) {
			if (rest != NULL)
				*rest = i;
			return end - first;
		}
	}
	return end - first;
}

static void
expect_alt(struct cli_expected *expected, const struct cli_alt *alt)
{
	for (unsigned int i = 0; i < expected->count; i++) {
		const struct cli_alt *known = &expected->alts[i];

		if (alt->type != NULL
			    ? known->type == alt->type
			    : known->type == NULL && strcmp(known->literal, alt->literal) == 0)
			return;
	}
	if (expected->count < CLI_EXPECTED_MAX)
		expected->alts[expected->count++] = *alt;
}

void
cli_pattern_expect(const struct cli_pattern *pattern, const struct cli_place *place,
		   struct cli_expected *expected)
{
	uint8_t next[CLI_ITEMS_MAX];
	const unsigned int n = next_items(pattern, place, next);

	for (unsigned int i = 0; i < n; i++) {
		const struct cli_item *item = &pattern->items[next[i]];

		for (unsigned int j = 0; j < item->num_alts; j++)
			expect_alt(expected, &pattern->alts[item->first_alt + j]);
	}
	if (cli_pattern_can_end(pattern, place))
		expected->can_end = true;
}

bool
cli_pattern_can_end(const struct cli_pattern *pattern, const struct cli_place *place)
{
	return place->inside == 0 && after_groups(pattern, place->base) == pattern->num_items;
}
