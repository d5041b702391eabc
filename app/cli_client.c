/* SPDX-License-Identifier: BSD-3-Clause */
/* One who gives commands: bytes in, lines run, answers out, without ever waiting. */
#include "cli_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

void
cli_client_put(struct cli_client *client, const char *data, size_t len)
{
	if (client->is_out_dead || client->is_dead)
		return;
	if (cli_out_add(&client->out, data, len) == 0)
		return;
	/* A terminal only misses what it did not read; a program must not take a part for the
	 * whole. */
	if (client->kind == CLI_KIND_SOCKET)
		client->is_dead = true;
}

/* An answer; at an editing prompt the far end may be a terminal that needs the carriage return. */
static void
put_text(struct cli_client *client, const char *text, size_t len)
{
	if (client->rdl == NULL) {
		cli_client_put(client, text, len);
		return;
	}
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		const size_t n = end == NULL ? len : (size_t)(end - text);

		cli_client_put(client, text, n);
		if (end == NULL)
			return;
		cli_client_put(client, "\r\n", 2);
		text += n + 1;
		len -= n + 1;
	}
}

static void
prompt(struct cli_client *client)
{
	client->owes_prompt = client->paused_until != 0 || client->more != NULL;
	if (client->owes_prompt)
		return;
	if (client->rdl == NULL) {
		if (client->kind == CLI_KIND_SOCKET)
			cli_client_put(client, CLI_PROMPT, strlen(CLI_PROMPT));
	} else if (!client->cli->is_quitting) {
		cli_edit_prompt(client);
	}
}

static void
put_error(FILE *out, const struct vx_err *err)
{
	char text[4 * sizeof(err->text) + 8];

	fprintf(out, "error: %s\n", cli_escape(text, sizeof(text), err->text, sizeof(err->text)));
}

/* Run one line (or, where @ret says so, only report why it was not) and answer it. */
static void
answer(struct cli_client *client, const char *line, size_t len)
{
	struct vx_err err;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL) {
		client->is_dead = true;
		return;
	}
	if (cli_execute(client->cli, client, 0, line, len, out, &err) < 0)
		put_error(out, &err);
	if (fclose(out) == 0) {
		put_text(client, text, size);
		/* The prompt begins a line whatever was printed before it. */
		if (size > 0 && text[size - 1] != '\n')
			put_text(client, "\n", 1);
	} else {
		client->is_dead = true; /* no memory in the middle of an answer */
	}
	free(text);
	prompt(client);
}

static bool
is_interactive_on(const char *line, size_t len)
{
	static const char wanted[] = "interactive on";

	if (len > 0 && line[len - 1] == '\r')
		len--;
	return len == sizeof(wanted) - 1 && memcmp(line, wanted, len) == 0;
}

static void
run_line(struct cli_client *client, const char *line, size_t len)
{
	const bool is_first = client->is_first;

	client->is_first = false;
	if (is_first && client->kind == CLI_KIND_SOCKET && is_interactive_on(line, len)) {
		if (cli_edit_start(client) < 0)
			client->is_dead = true;
		else
			prompt(client);
		return;
	}
	answer(client, line, len);
}

/*
 * Take one line of line mode. False: there is no whole one yet. A line that is too long is answered
 * when that is known, and what is left of it thrown away as it comes.
 */
static bool
take_line(struct cli_client *client)
{
	const char *line = client->data + client->head;
	size_t len = client->tail - client->head, taken;
	const char *end = memchr(line, '\n', len);
	bool is_whole = end != NULL;

	if (end != NULL)
		len = (size_t)(end - line);
	else if (client->is_eof && len > 0)
		is_whole = true; /* the last line may lack its end */
	else if (!client->is_discarding && len <= CLI_LINE_MAX)
		return false;
	taken = len + (end != NULL ? 1 : 0);
	if (!client->is_discarding)
		run_line(client, line, len); /* refuses what is too long */
	client->is_discarding = !is_whole;
	client->head += taken;
	return is_whole;
}

/* Take one key of an editing prompt. Returns what it cost; 0: there is none. */
static unsigned int
take_key(struct cli_client *client)
{
	int ret;

	if (client->head == client->tail)
		return 0;
	ret = cli_edit_key(client, client->data[client->head++]);
	if (ret == 0)
		return 1;
	if (ret > 0) {
		answer(client, client->line, strlen(client->line));
	} else {
		client->is_eof = true;
		client->head = client->tail;
		cli_client_put(client, "\r\n", 2);
	}
	return CLI_COST_LINE;
}

/* May the client's next command run now? */
static bool
is_runnable(const struct cli_client *client)
{
	return !client->is_dead && !client->cli->is_busy && !client->cli->is_quitting &&
	       client->paused_until == 0 && client->more == NULL &&
	       cli_out_pending(&client->out) < CLI_OUT_HIGH;
}

/* Is there a further piece of an answer, and room for it? */
static bool
has_more(const struct cli_client *client)
{
	return client->more != NULL && !client->is_dead && !client->cli->is_busy &&
	       cli_out_pending(&client->out) < CLI_OUT_HIGH;
}

static void
answer_more(struct cli_client *client)
{
	bool is_complete = true;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out != NULL)
		is_complete = !client->more->print(client->more, client->cli->app, out);
	if (out != NULL && fclose(out) == 0)
		put_text(client, text, size);
	else
		client->is_dead = true;
	free(text);
	if (!is_complete && !client->is_out_dead)
		return;
	free(client->more);
	client->more = NULL;
	prompt(client);
}

/* Run commands, but not so many that the rest of the program waits for this client. */
static void
process(struct cli_client *client)
{
	unsigned int cost;

	for (unsigned int spent = 0; spent < CLI_BUDGET && is_runnable(client); spent += cost) {
		if (client->rdl != NULL)
			cost = take_key(client);
		else
			cost = take_line(client) ? CLI_COST_LINE : 0;
		if (cost == 0) {
			client->has_input = false;
			return;
		}
	}
}

static void
read_input(struct cli_client *client)
{
	ssize_t n;

	if (client->head > 0) {
		memmove(client->data, client->data + client->head, client->tail - client->head);
		client->tail -= client->head;
		client->head = 0;
	}
	if (client->is_eof || client->tail == sizeof(client->data))
		return;
	n = read(client->in.fd, client->data + client->tail, sizeof(client->data) - client->tail);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		client->tail += (size_t)n;
	} else {
		client->is_eof = true;
		/* A terminal's end of input is a key; this one has gone away. */
		client->is_hangup = client->kind == CLI_KIND_TTY;
	}
	client->has_input = true;
}

static void
flush(struct cli_client *client, size_t most)
{
	const struct cli_fd *fd = client->kind == CLI_KIND_SOCKET ? &client->in : &client->out_fd;

	if (client->is_out_dead || cli_out_flush(&client->out, fd, most) == 0)
		return;
	/* Whoever sent commands and left gets them run all the same. */
	client->is_out_dead = true;
	client->out.head = client->out.tail;
}

/* Everything is said and done. */
static void
finish(struct cli_client *client)
{
	client->is_dead = true;
	if (client->kind != CLI_KIND_SOCKET && !client->is_hangup)
		cli_quit(client->cli);
}

static void
step(struct cli_client *client)
{
	if (has_more(client))
		answer_more(client);
	else if (client->has_input && is_runnable(client))
		process(client);
	flush(client, CLI_OUT_HIGH);
	if (client->is_eof && !client->has_input && client->paused_until == 0 &&
	    client->more == NULL && cli_out_pending(&client->out) == 0 && !client->is_dead)
		finish(client);
	cli_client_arm(client);
}

static void
ready(struct cli_watch *watch, uint32_t events)
{
	struct cli_fd *fd = (struct cli_fd *)watch;
	struct cli_client *client = fd->client;

	if (client->is_dead || client->cli->is_busy)
		return;
	if (fd == &client->in && (events & ~(uint32_t)EPOLLOUT) != 0)
		read_input(client);
	step(client);
}

void
cli_client_arm(struct cli_client *client)
{
	const bool is_idle = client->is_dead || client->cli->is_busy || client->cli->is_quitting;
	uint32_t in = 0, out = 0;
	int ret;

	if (!is_idle && !client->is_eof && client->paused_until == 0 &&
	    cli_out_pending(&client->out) < CLI_OUT_HIGH &&
	    client->tail - client->head < sizeof(client->data))
		in = EPOLLIN;
	if (!client->cli->is_busy && !client->is_dead && cli_out_pending(&client->out) > 0)
		out = EPOLLOUT;
	if (client->kind == CLI_KIND_SOCKET) {
		ret = cli_fd_want(&client->in, in | out);
	} else {
		ret = cli_fd_want(&client->in, in);
		if (ret == 0)
			ret = cli_fd_want(&client->out_fd, out);
	}
	if (ret < 0)
		client->is_dead = true;
}

void
cli_client_pause(struct cli_client *client, uint64_t milliseconds)
{
	client->paused_until = cli_now() + milliseconds;
}

int
cli_client_poll(struct cli_client *client, uint64_t now)
{
	if (client->paused_until > now)
		return (int)(client->paused_until - now);
	if (client->paused_until != 0) {
		client->paused_until = 0;
		client->has_input = true;
		if (client->owes_prompt)
			prompt(client);
	}
	if (client->in.is_plain && !client->has_input && is_runnable(client))
		read_input(client);
	if (has_more(client) || client->has_input || (client->in.is_plain && !client->is_eof))
		step(client);
	if (has_more(client))
		return 0;
	if (client->paused_until != 0)
		return (int)(client->paused_until - RTE_MIN(now, client->paused_until));
	if (is_runnable(client) && (client->has_input || (client->in.is_plain && !client->is_eof)))
		return 0;
	return client->is_dead ? 0 : -1;
}

struct cli_client *
cli_client_create(struct cli *cli, enum cli_kind kind, int in, int out)
{
	struct cli_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		goto err_close;
	client->cli = cli;
	client->kind = kind;
	client->is_first = true;
	cli_fd_init(&client->in, cli, client, in, ready);
	cli_fd_init(&client->out_fd, cli, client, out, ready);
	if (kind == CLI_KIND_TTY && cli_edit_start(client) < 0)
		goto err_free;
	prompt(client);
	TAILQ_INSERT_TAIL(&cli->clients, client, next);
	cli->num_clients++;
	step(client);
	return client;

err_free:
	free(client);
err_close:
	close(in);
	if (out >= 0 && out != in)
		close(out);
	return NULL;
}

void
cli_client_free(struct cli_client *client)
{
	TAILQ_REMOVE(&client->cli->clients, client, next);
	client->cli->num_clients--;
	cli_edit_stop(client);
	cli_fd_close(&client->in);
	cli_fd_close(&client->out_fd);
	free(client->more);
	free(client->out.data);
	free(client);
}
