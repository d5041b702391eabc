/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The prompt: commands from the terminal or a pipe, from the clients of a Unix socket and from
 * files, all through one grammar. Everything runs in the control thread, and nothing here waits:
 * descriptors are in the control thread's epoll set (watch.h), the rest is done by cli_poll().
 */
#ifndef CLI_H
#define CLI_H

#include <stdio.h>

#include "cli_grammar.h"
#include "vx_err.h"
#include "watch.h"

/* Also what tells a program at the socket that a command's answer is complete. */
#define CLI_PROMPT "dpdk-vxlan> "

/* help, load, save, sleep, quit: to be one of the tables. */
extern const struct cli_row cli_base_rows[];

/*
 * @tables: arrays of rows, NULL after the last. SIGPIPE is ignored from here on. NULL with @err on
 * failure.
 */
struct cli *cli_create(struct app *app, int epoll_fd, const struct cli_row *const *tables,
		       struct vx_err *err);

/* Close everything, restore the terminal, remove the socket. NULL is allowed. */
void cli_destroy(struct cli *cli);

/*
 * Take commands from standard input: a prompt with editing where that is a terminal, else lines
 * without echo, whose end is `quit`.
 */
int cli_open_terminal(struct cli *cli, struct vx_err *err);

/*
 * Take commands from clients of a Unix socket at @path (mode 0600). Refused where somebody answers
 * there already or where something is that is no socket; one left behind is replaced.
 */
int cli_open_socket(struct cli *cli, const char *path, struct vx_err *err);

/*
 * To be called in each round of the event loop, outside of ready() calls. Returns the milliseconds
 * after which it wants to be called again, 0: at once, -1: when something is ready.
 */
int cli_poll(struct cli *cli);

/*
 * Run the commands of a file; stops at the first that fails, what was done before stays. @out gets
 * their output. 0 (also after a `quit` in it, at which it stops), or negative with @err
 * "FILE:LINE: reason"; -ECANCELED: a signal ends the program.
 */
int cli_run_file(struct cli *cli, const char *path, FILE *out, struct vx_err *err);

/*
 * An answer too long for one piece: what the command's function leaves behind, in memory of its own
 * that free() gives back. @print appends the next piece of some thousand lines at most and says
 * whether there is more; in between, the rest of the program runs, so that it must look everything
 * up again. A client that does not read is given no further piece.
 */
struct cli_more {
	bool (*print)(struct cli_more *more, struct app *app, FILE *out);
};

/* Answer the command in pieces. @more becomes the prompt's. 0, or negative with call->err. */
int cli_answer_more(struct cli_call *call, struct cli_more *more);

/* Between the steps of a long command: let the rest of the program run for a round. 0, or negative
 * with call->err: the program is to end. */
int cli_breathe(struct cli_call *call);

/* What the prompt needs from the rest of the program, beside the values of cli_types.h. */

/* `quit`: let the event loop end after this round. */
void app_quit(struct app *app);

/*
 * Run the event loop for a time, without cli_poll(): for `sleep` in a file, and now and then, for 0
 * milliseconds, between the lines of a long one. 0, or -ECANCELED: the program is to end.
 */
int app_pump(struct app *app, uint64_t milliseconds);

/* After each command: what it changed has taken effect before the answer is given. */
void app_settle(struct app *app);

/* `show config`: print the commands that recreate the configuration. 0 or -errno. */
int app_config_print(struct app *app, FILE *out);

#endif
