/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line of text to words. Blanks separate words; "..." keeps blanks and # in a word, and inside it
 * \" and \\ stand for a quote and a backslash; # at the beginning of a word starts a comment.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vx_err.h"

/* The longest line anywhere, without its end of line. */
#define CLI_LINE_MAX 4096

/* A word and a blank take two bytes. */
#define CLI_WORDS_MAX (CLI_LINE_MAX / 2 + 1)

struct cli_words {
	unsigned int count;
	bool in_word;	 /* the line ends inside or directly after its last word */
	bool in_comment; /* the line ends in a comment */
	uint16_t start[CLI_WORDS_MAX];
	char text[CLI_LINE_MAX + 2]; /* each word followed by one NUL, in order */
};

/*
 * 0, or -EINVAL with a reason: too long, a NUL byte, a quote that is not closed. After the last of
 * these @words is filled in all the same, for the completion of a line that is still being typed.
 */
int cli_words_split(struct cli_words *words, const char *line, size_t len, struct vx_err *err);

/* Put back together the words from @first on, with one blank between them. They are one word then.
 */
const char *cli_words_join(struct cli_words *words, unsigned int first);

static inline const char *
cli_word(const struct cli_words *words, unsigned int index)
{
	return words->text + words->start[index];
}

/*
 * Foreign text made fit for a message or a terminal: control bytes and what is not ASCII as \xNN,
 * at most @max bytes of it, then "...". Returns @out, which is always terminated.
 */
const char *cli_escape(char *out, size_t size, const char *text, size_t max);

/* Print @word so that it is read back as one word: quoted where it has to be. */
void cli_word_print(FILE *out, const char *word);

#endif
