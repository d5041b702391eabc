/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the command line share. */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>

#include "options.h"

#define ARGS_MAX 600

/* Parse the words; the list ends with NULL. */
static inline int
parse_list(struct options *options, struct vx_err *err, const char *const *words)
{
	static char name[] = "dpdk-vxlan";
	char *argv[ARGS_MAX + 1] = {name};
	int argc = 1, ret;

	for (; *words != NULL; words++) {
		assert_true(argc < ARGS_MAX);
		argv[argc++] = strdup(*words);
	}
	memset(options, 0xa5, sizeof(*options));
	memset(err, 0, sizeof(*err));
	ret = options_parse(argc, argv, options, err);
	/* Strings of the result point into argv: keep those of a success, which a test reads. */
	if (ret < 0)
		for (int i = 1; i < argc; i++)
			free(argv[i]);
	else
		for (int i = 1; i < argc; i++)
			if (argv[i] != options->cmdline_file && argv[i] != options->cli_socket)
				free(argv[i]);
	return ret;
}

static inline void
release(struct options *options)
{
	free((void *)(uintptr_t)options->cmdline_file);
	free((void *)(uintptr_t)options->cli_socket);
}

/* The words are accepted. The result is the caller's to release where it has strings. */
#define ACCEPT(options, ...)                                                                       \
	do {                                                                                       \
		struct vx_err accept_err;                                                          \
		const char *const accept_words[] = {__VA_ARGS__, NULL};                            \
		if (parse_list(options, &accept_err, accept_words) != 0)                           \
			fail_msg("refused: %s", accept_err.text);                                  \
	} while (0)

/* The words are refused with exactly this text. */
#define REFUSE(text_wanted, ...)                                                                   \
	do {                                                                                       \
		struct options refuse_options;                                                     \
		struct vx_err refuse_err;                                                          \
		const char *const refuse_words[] = {__VA_ARGS__, NULL};                            \
		assert_int_equal(parse_list(&refuse_options, &refuse_err, refuse_words), -EINVAL); \
		assert_string_equal(refuse_err.text, text_wanted);                                 \
	} while (0)

#endif
