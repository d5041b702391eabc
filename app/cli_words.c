/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli_words.h"

#include <errno.h>
#include <string.h>

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

/* Copy the word at @from to @to without its quotes. Returns where it ends in the line. */
static const char *
take_word(const char *from, const char *end, char **to, bool *is_quoted)
{
	char *out = *to;

	*is_quoted = false;
	for (; from < end; from++) {
		if (*from == '"') {
			*is_quoted = !*is_quoted;
			continue;
		}
		if (*is_quoted) {
			if (*from == '\\' && from + 1 < end && (from[1] == '"' || from[1] == '\\'))
				from++;
		} else if (is_blank(*from)) {
			break;
		}
		*out++ = *from;
	}
	*out++ = '\0';
	*to = out;
	return from;
}

int
cli_words_split(struct cli_words *words, const char *line, size_t len, struct vx_err *err)
{
	const char *end = line + len;
	char *to = words->text;
	bool is_quoted;

	words->count = 0;
	words->in_word = words->in_comment = false;
	if (len > CLI_LINE_MAX)
		return vx_err_set(err, EINVAL, "line too long: expected at most %d bytes",
				  CLI_LINE_MAX);
	if (memchr(line, '\0', len) != NULL)
		return vx_err_set(err, EINVAL, "NUL byte in the line: expected text");
	for (const char *at = line;;) {
		while (at < end && is_blank(*at))
			at++;
		if (at == end)
			return 0;
		if (*at == '#') {
			words->in_comment = true;
			return 0;
		}
		words->start[words->count++] = (uint16_t)(to - words->text);
		at = take_word(at, end, &to, &is_quoted);
		words->in_word = at == end;
		if (is_quoted)
			return vx_err_set(err, EINVAL,
					  "quote not closed: expected \" before the end of line");
	}
}

const char *
cli_words_join(struct cli_words *words, unsigned int first)
{
	if (first >= words->count)
		return "";
	for (unsigned int i = first + 1; i < words->count; i++)
		words->text[words->start[i] - 1] = ' ';
	words->count = first + 1;
	return cli_word(words, first);
}

const char *
cli_escape(char *out, size_t size, const char *text, size_t max)
{
	static const char digits[] = "0123456789abcdef";
	const char *end = text + strnlen(text, max);
	size_t used = 0;

	/* Room for one escape, "..." and the end is always left. */
	for (; text < end && used + 8 < size; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c >= 0x20 && c < 0x7f) {
			out[used++] = (char)c;
			continue;
		}
		out[used++] = '\\';
		out[used++] = 'x';
		out[used++] = digits[c >> 4];
		out[used++] = digits[c & 0xf];
	}
	if (*text != '\0' && used + 3 < size) {
		memcpy(out + used, "...", 3);
		used += 3;
	}
	out[used] = '\0';
	return out;
}

void
cli_word_print(FILE *out, const char *word)
{
	bool is_plain = word[0] != '\0' && word[0] != '#';

	for (const char *at = word; *at != '\0'; at++)
		is_plain = is_plain && *at != '"' && !is_blank(*at);
	if (is_plain) {
		fputs(word, out);
		return;
	}
	putc('"', out);
	for (const char *at = word; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
	putc('"', out);
}
