/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input and output as a client. */
#include "cli_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_errno.h>

/*
 * A descriptor of our own for the terminal or pipe @fd, which never waits. O_NONBLOCK on @fd itself
 * would also change it for the shell that started us; a file opened anew has its own flags. What
 * cannot be opened anew is shared: files never wait, and sockets are asked not to with each call.
 */
static int
open_again(int fd, int flags)
{
	char path[32];
	struct stat st;
	int again = -1;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISFIFO(st.st_mode) || isatty(fd)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		again = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	if (again < 0)
		again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return again < 0 ? -errno : again;
}

static void
restore(struct cli_tty *tty)
{
	if (tty->is_raw)
		tcsetattr(tty->fd, TCSANOW, &tty->saved);
	tty->is_raw = false;
}

/* For ways out of the program that do not pass cli_destroy(). A child has no business here. */
static void
restore_at_exit(int status __rte_unused, void *arg)
{
	struct cli_tty *tty = arg;

	if (tty->pid != getpid())
		return;
	restore(tty);
	free(tty);
}

int
cli_tty_raw(struct cli *cli, int fd)
{
	struct cli_tty *tty = calloc(1, sizeof(*tty));
	struct termios raw;

	if (tty == NULL)
		return -ENOMEM;
	tty->fd = fd;
	tty->pid = getpid();
	if (tcgetattr(fd, &tty->saved) < 0 || on_exit(restore_at_exit, tty) != 0) {
		free(tty);
		return -ENOTTY;
	}
	raw = tty->saved;
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
	raw.c_lflag |= ISIG;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	/* A key that stops the whole program, and all forwarding with it, is no use here. */
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	cli->tty = tty;
	if (tcsetattr(fd, TCSANOW, &raw) < 0)
		return -errno;
	tty->is_raw = true;
	return 0;
}

void
cli_tty_restore(struct cli *cli)
{
	if (cli->tty != NULL)
		restore(cli->tty);
	cli->tty = NULL; /* freed at exit */
}

int
cli_open_terminal(struct cli *cli, struct vx_err *err)
{
	const bool is_tty = isatty(STDIN_FILENO);
	const int in = open_again(STDIN_FILENO, O_RDONLY);
	const int out = open_again(STDOUT_FILENO, O_WRONLY);
	int ret;

	if (in < 0 || out < 0) {
		if (in >= 0)
			close(in);
		if (out >= 0)
			close(out);
		return vx_err_set(err, EBADF,
				  "cannot use standard input and output for commands: %s",
				  rte_strerror(in < 0 ? -in : -out));
	}
	if (is_tty) {
		ret = cli_tty_raw(cli, STDIN_FILENO);
		if (ret < 0) {
			close(in);
			close(out);
			return vx_err_set(err, -ret, "cannot set up the terminal: %s",
					  rte_strerror(-ret));
		}
	}
	if (cli_client_create(cli, is_tty ? CLI_KIND_TTY : CLI_KIND_PIPE, in, out) == NULL) {
		cli_tty_restore(cli);
		return vx_err_set(err, ENOMEM, "no memory for the terminal");
	}
	return 0;
}
