/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines and files of lines: split, match, run. */
#include "cli_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_errno.h>

/* Files that load each other. */
#define DEPTH_MAX 8

/* How long a file may keep the event loop waiting. */
#define FILE_SLICE_MS 20

/* Of a long path, the end is the part that tells. */
#define SHOWN_PATH_MAX 100

int
cli_execute(struct cli *cli, struct cli_client *client, unsigned int depth, const char *line,
	    size_t len, FILE *out, struct vx_err *err)
{
	struct cli_words words;
	struct cli_match match;
	struct cli_call call = {
		.app = cli->app,
		.out = out,
		.v = match.v,
		.err = err,
		.client = client,
		.cli = cli,
		.depth = depth,
	};
	int ret;

	err->text[0] = '\0';
	ret = cli_words_split(&words, line, len, err);
	if (ret < 0)
		return ret;
	ret = cli_grammar_match(cli->grammar, cli->app, &words, &match, err);
	if (ret < 0 || match.row == NULL)
		return ret;
	ret = match.row->run(&call);
	app_settle(cli->app);
	if (ret >= 0)
		return 0;
	if (err->text[0] == '\0')
		vx_err_set(err, -ret, "%s", rte_strerror(-ret));
	return ret;
}

int
cli_breathe(struct cli_call *call)
{
	const int ret = cli_wait(call->cli, 0);

	return ret < 0 ? vx_err_set(call->err, -ret, "interrupted") : 0;
}

int
cli_answer_more(struct cli_call *call, struct cli_more *more)
{
	int ret = 0;

	if (call->client != NULL && call->depth == 0) {
		call->client->more = more;
		return 0;
	}
	/* From a file, whose next line has to wait. */
	while (ret == 0 && more->print(more, call->app, call->out))
		ret = cli_breathe(call);
	free(more);
	return ret;
}

/*
 * Read one line without its end into @line (CLI_LINE_MAX + 1 bytes; what is longer is cut there,
 * and refused for its length). False: there is none.
 */
static bool
read_line(FILE *file, char *line, size_t *len)
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		if (n <= CLI_LINE_MAX)
			line[n++] = (char)c;
	}
	*len = n;
	return c != EOF || n > 0;
}

static const char *
shown_path(const char *path)
{
	const size_t len = strlen(path);

	return len > SHOWN_PATH_MAX ? path + len - SHOWN_PATH_MAX : path;
}

/* Put "FILE:LINE: " in front of the reason; of nested files, the innermost has done it. */
static int
locate(struct cli *cli, const char *path, unsigned int number, int ret, struct vx_err *err)
{
	const struct vx_err reason = *err;

	if (!cli->is_located)
		vx_err_set(err, -ret, "%s:%u: %s", shown_path(path), number, reason.text);
	cli->is_located = true;
	return ret;
}

static int
run_lines(struct cli *cli, struct cli_client *client, unsigned int depth, const char *path,
	  FILE *file, FILE *out, struct vx_err *err)
{
	uint64_t until = cli_now() + FILE_SLICE_MS;
	char line[CLI_LINE_MAX + 1];
	size_t len;

	for (unsigned int number = 1; !cli->is_quitting && read_line(file, line, &len); number++) {
		int ret;

		cli->is_located = false;
		ret = cli_execute(cli, client, depth, line, len, out, err);
		if (ret == 0 && !cli->is_quitting && cli_now() >= until) {
			ret = cli_wait(cli, 0);
			if (ret < 0)
				vx_err_set(err, -ret, "interrupted");
			until = cli_now() + FILE_SLICE_MS;
		}
		if (ret < 0)
			return locate(cli, path, number, ret, err);
	}
	if (ferror(file))
		return vx_err_set(err, EIO, "%s: read error", shown_path(path));
	return 0;
}

/* At start anything that can be read will do; later a pipe would stop the event loop. */
static FILE *
open_file(const struct cli_client *client, const char *path, struct vx_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | (client == NULL ? 0 : O_NONBLOCK));
	FILE *file = NULL;
	struct stat st;

	if (fd < 0) {
		vx_err_set(err, errno, "cannot open %s: %s", shown_path(path), rte_strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode) || (client != NULL && !S_ISREG(st.st_mode))) {
		vx_err_set(err, EINVAL, "cannot load %s: expected a regular file",
			   shown_path(path));
	} else {
		file = fdopen(fd, "r");
		if (file == NULL)
			vx_err_set(err, ENOMEM, "cannot load %s: no memory", shown_path(path));
	}
	if (file == NULL)
		close(fd);
	return file;
}

int
cli_execute_file(struct cli *cli, struct cli_client *client, unsigned int depth, const char *path,
		 FILE *out, struct vx_err *err)
{
	FILE *file;
	int ret;

	if (depth > DEPTH_MAX)
		return vx_err_set(err, ELOOP,
				  "cannot load %s: expected at most %d files inside each other",
				  shown_path(path), DEPTH_MAX);
	file = open_file(client, path, err);
	if (file == NULL)
		return -EINVAL;
	ret = run_lines(cli, client, depth, path, file, out, err);
	fclose(file);
	return ret;
}

int
cli_run_file(struct cli *cli, const char *path, FILE *out, struct vx_err *err)
{
	return cli_execute_file(cli, NULL, 1, path, out, err);
}
