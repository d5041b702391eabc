/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of the prompt itself. */
#include "cli_private.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_errno.h>

static int
run_help(struct cli_call *call)
{
	const char *text = call->v[0].is_set ? call->v[0].text : "";
	struct cli_words words;
	int ret = cli_words_split(&words, text, strlen(text), call->err);

	if (ret < 0)
		return ret;
	return cli_grammar_help(call->cli->grammar, &words, call->out, call->err);
}

static int
run_load(struct cli_call *call)
{
	return cli_execute_file(call->cli, call->client, call->depth + 1, call->v[0].text,
				call->out, call->err);
}

static int
run_sleep(struct cli_call *call)
{
	int ret;

	if (call->client != NULL && call->depth == 0) {
		cli_client_pause(call->client, call->v[0].number);
		return 0;
	}
	ret = cli_wait(call->cli, call->v[0].number);
	return ret < 0 ? vx_err_set(call->err, -ret, "interrupted") : 0;
}

static int
run_quit(struct cli_call *call)
{
	cli_quit(call->cli);
	return 0;
}

/* Write the configuration to @fd, down to the disk. 0 or -errno. Closes @fd. */
static int
write_config(struct app *app, int fd)
{
	FILE *file = fdopen(fd, "w");
	int ret;

	if (file == NULL) {
		close(fd);
		return -ENOMEM;
	}
	ret = app_config_print(app, file);
	if (ret == 0 && (fflush(file) != 0 || fsync(fd) < 0))
		ret = -errno;
	if (fclose(file) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

/* A rename is only on the disk when its directory is. */
static void
sync_directory(const char *path)
{
	char copy[PATH_MAX];
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* Make @path hold the configuration, or leave it as it was. @mode: for the file. 0 or -errno. */
static int
replace_file(struct app *app, const char *path, mode_t mode)
{
	char temporary[PATH_MAX];
	int fd, ret;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fchmod(fd, mode) < 0 ? -errno : 0;
	if (ret < 0)
		close(fd);
	else
		ret = write_config(app, fd);
	if (ret == 0 && rename(temporary, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlink(temporary);
	else
		sync_directory(path);
	return ret;
}

static int
run_save(struct cli_call *call)
{
	const char *path = call->v[0].text;
	mode_t mode = 0644;
	char real[PATH_MAX];
	struct stat st;
	int ret;

	/* Of a symbolic link the target is replaced; a device or directory is nothing to replace.
	 */
	if (stat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return vx_err_set(call->err, EINVAL,
					  "cannot save %.100s: expected a regular file", path);
		mode = st.st_mode & 07777;
		if (realpath(path, real) != NULL)
			path = real;
	}
	ret = replace_file(call->app, path, mode);
	if (ret < 0)
		return vx_err_set(call->err, -ret, "cannot save %.100s: %s", call->v[0].text,
				  rte_strerror(-ret));
	return 0;
}

/* clang-format off */
const struct cli_row cli_base_rows[] = {
	{"help [COMMAND...]", "list the commands, or tell more about some",
	 run_help},
	{"load FILE",
	 "run the commands in a file\n"
	 "Stops at the first that fails, with file, line and reason; those before it have been\n"
	 "done. Files may load others, up to 8 inside each other.",
	 run_load},
	{"save FILE",
	 "write the configuration to a file\n"
	 "It holds what `show config` prints, for `load` or --cmdline-file. The old file is replaced\n"
	 "only when the new one is complete on the disk.",
	 run_save},
	{"sleep SECONDS:ms",
	 "wait before the next command of this client or file\n"
	 "Forwarding and other clients go on. Fractions such as 0.5 are allowed.",
	 run_sleep},
	{"quit",
	 "end the program\n"
	 "To leave only a prompt at the socket, press Ctrl-D.",
	 run_quit},
	{0},
};
/* clang-format on */
