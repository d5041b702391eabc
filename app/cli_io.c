/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors in the control thread's epoll set, and output that waits for its reader. */
#include "cli_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void
cli_fd_init(struct cli_fd *fd, struct cli *cli, struct cli_client *client, int number,
	    void (*ready)(struct cli_watch *watch, uint32_t events))
{
	struct stat st;

	*fd = (struct cli_fd){.watch.ready = ready, .cli = cli, .client = client, .fd = number};
	if (fstat(number, &st) == 0)
		fd->is_socket = S_ISSOCK(st.st_mode);
}

int
cli_fd_want(struct cli_fd *fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = fd};
	int op = EPOLL_CTL_MOD;

	if (fd->events == events || fd->is_plain || fd->fd < 0)
		return 0;
	if (events == 0)
		op = EPOLL_CTL_DEL; /* or a hang-up would be reported for ever */
	else if (fd->events == 0)
		op = EPOLL_CTL_ADD;
	if (epoll_ctl(fd->cli->epoll_fd, op, fd->fd, &event) < 0) {
		if (errno != EPERM)
			return -errno;
		fd->is_plain = true;
		return 0;
	}
	fd->events = events;
	return 0;
}

void
cli_fd_close(struct cli_fd *fd)
{
	if (fd->fd < 0)
		return;
	cli_fd_want(fd, 0);
	close(fd->fd);
	fd->fd = -1;
}

int
cli_out_add(struct cli_out *out, const char *data, size_t len)
{
	const size_t pending = cli_out_pending(out);

	if (len == 0)
		return 0;
	if (len > CLI_OUT_MAX - pending)
		return -ENOBUFS;
	if (out->tail + len > out->size && out->head > 0) {
		memmove(out->data, out->data + out->head, pending);
		out->head = 0;
		out->tail = pending;
	}
	if (out->tail + len > out->size) {
		const size_t size = 2 * (out->tail + len) + 256;
		char *grown = realloc(out->data, size);

		if (grown == NULL)
			return -ENOMEM;
		out->data = grown;
		out->size = size;
	}
	memcpy(out->data + out->tail, data, len);
	out->tail += len;
	return 0;
}

int
cli_out_flush(struct cli_out *out, const struct cli_fd *fd, size_t most)
{
	while (cli_out_pending(out) > 0 && most > 0) {
		const size_t len = RTE_MIN(cli_out_pending(out), most);
		const ssize_t n = fd->is_socket ? send(fd->fd, out->data + out->head, len,
						       MSG_NOSIGNAL | MSG_DONTWAIT)
						: write(fd->fd, out->data + out->head, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		out->head += (size_t)n;
		most -= (size_t)n;
	}
	if (cli_out_pending(out) > 0)
		return 0;
	/* A large answer's memory is not kept. */
	if (out->size > CLI_OUT_HIGH) {
		free(out->data);
		out->data = NULL;
		out->size = 0;
	}
	out->head = out->tail = 0;
	return 0;
}
