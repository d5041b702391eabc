/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli_private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* How long the last answers may take to be read when the program ends. */
#define LINGER_MS 500

uint64_t
cli_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct cli *
cli_create(struct app *app, int epoll_fd, const struct cli_row *const *tables, struct vx_err *err)
{
	struct cli *cli = calloc(1, sizeof(*cli));

	if (cli == NULL) {
		vx_err_set(err, ENOMEM, "no memory for the command line");
		return NULL;
	}
	cli->app = app;
	cli->epoll_fd = epoll_fd;
	cli->listener.fd.fd = -1;
	TAILQ_INIT(&cli->clients);
	cli->grammar = cli_grammar_create(tables, err);
	if (cli->grammar == NULL) {
		free(cli);
		return NULL;
	}
	/* A pipe on standard output has no MSG_NOSIGNAL. */
	signal(SIGPIPE, SIG_IGN);
	return cli;
}

/* Give the last answers a moment to be read. */
static void
linger(struct cli_client *client, uint64_t deadline)
{
	const bool is_socket = client->kind == CLI_KIND_SOCKET;
	const struct cli_fd *fd = is_socket ? &client->in : &client->out_fd;

	while (!client->is_dead && !client->is_out_dead && cli_out_pending(&client->out) > 0) {
		struct pollfd waiting = {.fd = fd->fd, .events = POLLOUT};
		const uint64_t now = cli_now();

		if (cli_out_flush(&client->out, fd, SIZE_MAX) < 0 ||
		    cli_out_pending(&client->out) == 0 || now >= deadline)
			return;
		if (poll(&waiting, 1, (int)(deadline - now)) <= 0)
			return;
	}
}

void
cli_destroy(struct cli *cli)
{
	const uint64_t deadline = cli_now() + LINGER_MS;
	struct cli_client *client;

	if (cli == NULL)
		return;
	while ((client = TAILQ_FIRST(&cli->clients)) != NULL) {
		linger(client, deadline);
		cli_client_free(client);
	}
	cli_tty_restore(cli);
	cli_listener_close(cli);
	cli_grammar_destroy(cli->grammar);
	free(cli);
}

void
cli_quit(struct cli *cli)
{
	cli->is_quitting = true;
	app_quit(cli->app);
}

static void
arm_all(struct cli *cli)
{
	struct cli_client *client;

	TAILQ_FOREACH (client, &cli->clients, next) {
		cli_client_arm(client);
	}
	cli_listener_arm(cli);
}

int
cli_wait(struct cli *cli, uint64_t milliseconds)
{
	int ret;

	/* A command is being run: no other may begin before it has ended. */
	cli->is_busy = true;
	arm_all(cli);
	ret = app_pump(cli->app, milliseconds);
	cli->is_busy = false;
	arm_all(cli);
	return ret;
}

/* The sooner of two waiting times, of which -1 is for ever. */
static int
sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return RTE_MAX(a, b);
	return RTE_MIN(a, b);
}

int
cli_poll(struct cli *cli)
{
	struct cli_client *client, *next;
	uint64_t now;
	int wait;

	if (cli->is_busy)
		return -1;
	now = cli_now();
	wait = cli_listener_poll(cli, now);
	for (client = TAILQ_FIRST(&cli->clients); client != NULL; client = next) {
		const int one = cli_client_poll(client, now);

		next = TAILQ_NEXT(client, next);
		if (client->is_dead) {
			if (client->kind == CLI_KIND_TTY)
				cli_tty_restore(cli);
			cli_client_free(client);
		} else {
			wait = sooner(wait, one);
		}
	}
	return wait;
}
