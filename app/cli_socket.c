/* SPDX-License-Identifier: BSD-3-Clause */
/* The Unix socket that clients connect to. */
#include "cli_private.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_errno.h>

/* How long no client is accepted after descriptors or memory have run out. */
#define RETRY_MS 1000

static const char too_many[] = "error: too many clients\n";

static void
accept_ready(struct cli_watch *watch, uint32_t events __rte_unused)
{
	struct cli *cli = ((struct cli_fd *)watch)->cli;
	struct cli_listener *listener = &cli->listener;

	if (cli->is_busy || cli->is_quitting)
		return;
	/* As many as there is room for: what is left over is reported again. */
	for (unsigned int i = 0; i <= CLI_CLIENTS_MAX; i++) {
		const int fd = accept4(listener->fd.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			    errno == ENOMEM) {
				listener->retry_at = cli_now() + RETRY_MS;
				cli_listener_arm(cli);
			}
			return;
		}
		if (cli->num_clients >= CLI_CLIENTS_MAX) {
			(void)!send(fd, too_many, sizeof(too_many) - 1, MSG_NOSIGNAL);
			close(fd);
			continue;
		}
		cli_client_create(cli, CLI_KIND_SOCKET, fd, -1);
	}
}

void
cli_listener_arm(struct cli *cli)
{
	const bool is_idle = cli->is_busy || cli->is_quitting || cli->listener.retry_at != 0;

	cli_fd_want(&cli->listener.fd, is_idle ? 0 : EPOLLIN);
}

int
cli_listener_poll(struct cli *cli, uint64_t now)
{
	struct cli_listener *listener = &cli->listener;

	if (listener->retry_at == 0)
		return -1;
	if (listener->retry_at > now)
		return (int)(listener->retry_at - now);
	listener->retry_at = 0;
	cli_listener_arm(cli);
	return -1;
}

/* Make room at the address: 0, or an error where it is in use or no socket is there. */
static int
remove_stale(const struct sockaddr_un *address, struct vx_err *err)
{
	const char *path = address->sun_path;
	struct stat st;
	int fd, ret;

	if (lstat(path, &st) < 0)
		return errno == ENOENT
			       ? 0
			       : vx_err_set(err, errno, "socket %s: %s", path, rte_strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return vx_err_set(err, EEXIST, "%s is there already and is not a socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return vx_err_set(err, errno, "socket: %s", rte_strerror(errno));
	/* Somebody who listens but is slow answers EAGAIN. */
	ret = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	if (ret == 0 || errno != ECONNREFUSED) {
		close(fd);
		return vx_err_set(err, EADDRINUSE,
				  "socket %s is in use by another process: name another one", path);
	}
	close(fd);
	if (unlink(path) < 0 && errno != ENOENT)
		return vx_err_set(err, errno, "cannot remove the old socket %s: %s", path,
				  rte_strerror(errno));
	return 0;
}

int
cli_open_socket(struct cli *cli, const char *path, struct vx_err *err)
{
	struct cli_listener *listener = &cli->listener;
	struct sockaddr_un *address = &listener->address;
	struct stat st;
	int fd, ret;

	if (path[0] == '\0' || strlen(path) >= sizeof(address->sun_path))
		return vx_err_set(err, EINVAL, "socket path %.60s: expected 1 to %zu characters",
				  path, sizeof(address->sun_path) - 1);
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	strcpy(address->sun_path, path);
	ret = remove_stale(address, err);
	if (ret < 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* Linux takes the file's mode from the unbound socket: there is no moment with another. */
	if (fd < 0 || fchmod(fd, 0600) < 0 ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
	    stat(path, &st) < 0 || listen(fd, CLI_CLIENTS_MAX) < 0) {
		ret = vx_err_set(err, errno, "socket %s: %s", path, rte_strerror(errno));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	listener->dev = st.st_dev;
	listener->ino = st.st_ino;
	cli_fd_init(&listener->fd, cli, NULL, fd, accept_ready);
	cli_listener_arm(cli);
	return 0;
}

void
cli_listener_close(struct cli *cli)
{
	struct cli_listener *listener = &cli->listener;
	struct stat st;

	if (listener->fd.fd < 0)
		return;
	cli_fd_close(&listener->fd);
	/* Only what we made ourselves: another instance may have its own there by now. */
	if (lstat(listener->address.sun_path, &st) == 0 && st.st_dev == listener->dev &&
	    st.st_ino == listener->ino)
		unlink(listener->address.sun_path);
}
