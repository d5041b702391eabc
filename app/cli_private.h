/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the prompt share with each other, and nobody else sees. */
#ifndef CLI_PRIVATE_H
#define CLI_PRIVATE_H

#include <sys/queue.h>
#include <sys/un.h>
#include <termios.h>

#include "cli.h"

/* A client whose answers wait for more than this gets no further command run. */
#define CLI_OUT_HIGH (1u << 20)

/* One command may print this much at once (see cli_answer_more() for the others); the client is
 * closed beyond it. */
#define CLI_OUT_MAX (128u << 20)

#define CLI_CLIENTS_MAX 64

/* What one client may have done in a row: a key at a prompt costs 1, a line this much. */
#define CLI_BUDGET    2048
#define CLI_COST_LINE 64

struct cli_fd {
	struct cli_watch watch;
	struct cli *cli;
	struct cli_client *client; /* NULL: the listening socket */
	int fd;
	uint32_t events; /* what epoll looks for now; 0: not in the set */
	bool is_plain;	 /* epoll refuses it (a regular file): always ready */
	bool is_socket;
};

/* Bytes that wait to be written: data[head..tail-1]. */
struct cli_out {
	char *data;
	size_t size, head, tail;
};

enum cli_kind {
	CLI_KIND_SOCKET,
	CLI_KIND_TTY,
	CLI_KIND_PIPE, /* standard input that is no terminal: a pipe or a file */
};

struct rdline;

struct cli_client {
	TAILQ_ENTRY(cli_client) next;
	struct cli *cli;
	enum cli_kind kind;
	struct cli_fd in, out_fd; /* of a socket: the same descriptor, and only `in` is watched */
	struct cli_out out;
	struct rdline *rdl;    /* NULL: line mode, without echo */
	struct cli_more *more; /* the answer goes on; NULL: it is complete */
	uint64_t paused_until; /* milliseconds; 0: not paused */
	bool has_input;	       /* there may be something to do in data */
	bool is_eof;	       /* nothing more will come */
	bool is_hangup;	       /* ... because the terminal went away */
	bool is_out_dead;      /* nobody reads the answers */
	bool is_dead;	       /* to be freed by cli_poll(), when no event can name it any more */
	bool is_first;	       /* before its first line */
	bool is_discarding;    /* in the rest of a line that was too long */
	bool owes_prompt;      /* to be printed when the pause or the answer is over */
	size_t head, tail;     /* data[head..tail-1] is not yet looked at */
	char data[2 * (CLI_LINE_MAX + 2)];
	char line[CLI_LINE_MAX + 1]; /* taken over from rdline */
	struct cli_candidates candidates;
};

/* The terminal's state before we changed it; lives until exit, see cli_terminal.c. */
struct cli_tty {
	int fd;
	pid_t pid;
	bool is_raw;
	struct termios saved;
};

struct cli_listener {
	struct cli_fd fd; /* fd.fd == -1: none */
	struct sockaddr_un address;
	dev_t dev;
	ino_t ino;
	uint64_t retry_at; /* milliseconds: accept again; 0: accepting */
};

struct cli {
	struct app *app;
	struct cli_grammar *grammar;
	int epoll_fd;
	unsigned int num_clients;
	bool is_busy;	  /* inside app_pump(): nothing is read or written */
	bool is_quitting; /* no further command is run */
	bool is_located;  /* the last error of a file names its file and line already */
	TAILQ_HEAD(, cli_client) clients;
	struct cli_listener listener;
	struct cli_tty *tty;
};

/* cli.c */
uint64_t cli_now(void); /* milliseconds, monotonic */
void cli_quit(struct cli *cli);
int cli_wait(struct cli *cli, uint64_t milliseconds); /* app_pump() without our descriptors */

/* cli_run.c */
int cli_execute(struct cli *cli, struct cli_client *client, unsigned int depth, const char *line,
		size_t len, FILE *out, struct vx_err *err);
int cli_execute_file(struct cli *cli, struct cli_client *client, unsigned int depth,
		     const char *path, FILE *out, struct vx_err *err);

/* cli_client.c: @in and @out become the client's, and are closed where this fails (NULL). */
struct cli_client *cli_client_create(struct cli *cli, enum cli_kind kind, int in, int out);
void cli_client_free(struct cli_client *client);
void cli_client_arm(struct cli_client *client);		      /* tell epoll what it waits for */
int cli_client_poll(struct cli_client *client, uint64_t now); /* as cli_poll() */
void cli_client_pause(struct cli_client *client, uint64_t milliseconds);
void cli_client_put(struct cli_client *client, const char *data, size_t len);

/* cli_edit.c: line editing. */
int cli_edit_start(struct cli_client *client);
void cli_edit_stop(struct cli_client *client);
void cli_edit_prompt(struct cli_client *client);
/* One byte from the keyboard. 1: client->line is to be run, -ENODATA: the end, 0: go on. */
int cli_edit_key(struct cli_client *client, char key);

/* cli_io.c */
void cli_fd_init(struct cli_fd *fd, struct cli *cli, struct cli_client *client, int number,
		 void (*ready)(struct cli_watch *watch, uint32_t events));
int cli_fd_want(struct cli_fd *fd, uint32_t events); /* 0 or -errno */
void cli_fd_close(struct cli_fd *fd);
int cli_out_add(struct cli_out *out, const char *data, size_t len); /* 0 or -errno */
/* Write what can be written without waiting, up to @most bytes. 0 or -errno (not -EAGAIN). */
int cli_out_flush(struct cli_out *out, const struct cli_fd *fd, size_t most);

static inline size_t
cli_out_pending(const struct cli_out *out)
{
	return out->tail - out->head;
}

/* cli_terminal.c */
int cli_tty_raw(struct cli *cli, int fd);
void cli_tty_restore(struct cli *cli);

/* cli_socket.c */
void cli_listener_close(struct cli *cli);
int cli_listener_poll(struct cli *cli, uint64_t now); /* as cli_poll() */
void cli_listener_arm(struct cli *cli);

#endif
