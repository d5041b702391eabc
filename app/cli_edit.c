/* SPDX-License-Identifier: BSD-3-Clause */
/* The editing prompt: rdline of librte_cmdline gives keys and history, our grammar the completion.
 */
#include "cli_private.h"

#include <errno.h>
#include <string.h>

#include <cmdline_rdline.h>

/* rdline silently takes no more keys than this; a line that is so long may not be whole. */
#define EDIT_LINE_MAX 512

static int
write_char(struct rdline *rdl, char c)
{
	cli_client_put(rdline_get_opaque(rdl), &c, 1);
	return 0;
}

static void
validate(struct rdline *rdl, const char *text, unsigned int size __rte_unused)
{
	struct cli_client *client = rdline_get_opaque(rdl);
	/* @size counts only what is left of the cursor. */
	const size_t len = strcspn(text, "\n");

	memcpy(client->line, text, len);
	client->line[len] = '\0';
	if (client->line[strspn(client->line, " ")] != '\0')
		rdline_add_history(rdl, client->line);
}

/* The common beginning of all candidates goes on beyond what is typed, or there is only one. */
static bool
extend(const struct cli_candidates *candidates, char *to, size_t size)
{
	const size_t typed = strlen(candidates->prefix), common = strlen(candidates->common);

	if (candidates->total == 0 || (common == typed && candidates->total > 1))
		return false;
	/* A common beginning that was cut short is not a whole word. */
	snprintf(to, size, "%s%s", candidates->common + typed,
		 candidates->total == 1 && common + 1 < sizeof(candidates->common) ? " " : "");
	return true;
}

/*
 * Called again and again: line @*state of the list goes to @to, until there is none. @*state begins
 * with 0 after Tab and with -1 after "?".
 */
static int
complete(struct rdline *rdl, const char *line, char *to, unsigned int size, int *state)
{
	struct cli_client *client = rdline_get_opaque(rdl);
	struct cli_candidates *candidates = &client->candidates;
	unsigned int at;

	if (*state <= 0) {
		cli_candidates_free(candidates);
		if (cli_grammar_complete(client->cli->grammar, client->cli->app, line, candidates) <
		    0)
			return 0;
		if (*state == 0 && extend(candidates, to, size))
			return RDLINE_RES_COMPLETE;
		/* "?", or nothing to choose from: say what is expected. */
		if (*state < 0 || candidates->total == 0)
			*state = CLI_CANDIDATES_MAX + 2;
		else
			*state = 1;
	}
	at = (unsigned int)(*state)++;
	if (at >= CLI_CANDIDATES_MAX + 2) {
		at -= CLI_CANDIDATES_MAX + 2;
		if (at >= candidates->num_hints)
			return 0;
		snprintf(to, size, "%s", candidates->hint[at]);
		return RDLINE_RES_VALIDATED;
	}
	at--;
	if (at < candidates->count)
		snprintf(to, size, "%s", candidates->text[at]);
	else if (at == candidates->count && candidates->total > candidates->count)
		snprintf(to, size, "... and %zu more", candidates->total - candidates->count);
	else
		return 0;
	return RDLINE_RES_VALIDATED;
}

int
cli_edit_start(struct cli_client *client)
{
	client->rdl = rdline_new(write_char, validate, complete, client);
	return client->rdl == NULL ? -ENOMEM : 0;
}

void
cli_edit_stop(struct cli_client *client)
{
	cli_candidates_free(&client->candidates);
	rdline_free(client->rdl);
	client->rdl = NULL;
}

void
cli_edit_prompt(struct cli_client *client)
{
	rdline_newline(client->rdl, CLI_PROMPT);
}

int
cli_edit_key(struct cli_client *client, char key)
{
	static const char too_long[] = "error: line too long: expected at most 511 bytes here\r\n";

	switch (rdline_char_in(client->rdl, key)) {
	case RDLINE_RES_VALIDATED:
		if (strlen(client->line) < EDIT_LINE_MAX)
			return 1;
		cli_client_put(client, too_long, sizeof(too_long) - 1);
		cli_edit_prompt(client);
		return 0;
	case RDLINE_RES_EOF:
	case RDLINE_RES_EXITED:
	case RDLINE_RES_NOT_RUNNING:
		return -ENODATA;
	default:
		return 0;
	}
}
