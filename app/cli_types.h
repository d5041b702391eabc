/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of parameters that commands can have: what a word of each looks like, how it is parsed
 * and which values there are to complete. A new type is one row in cli_types.c.
 */
#ifndef CLI_TYPES_H
#define CLI_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ether.h>

#include "vx_ip.h"

struct app;

#define CLI_UDP_PORTS_MAX 8

/* One parameter or choice of a command that was given. */
struct cli_value {
	bool is_set;
	uint8_t word;	  /* of a choice: which alternative, counted from 0 */
	const char *text; /* the word as it was given */
	union {
		uint64_t number; /* a port's id too */
		struct vx_ip ip;
		struct vx_prefix prefix;
		struct rte_ether_addr mac;
		struct {
			uint16_t port[CLI_UDP_PORTS_MAX];
			uint8_t n;
		} udp;
	};
};

/* Takes one present value as text; it is copied. */
typedef void cli_add_fn(void *ctx, const char *text);

struct cli_type {
	/* As in a syntax. What follows a colon tells types apart, and people do not see it. */
	const char *name;
	const char *what;     /* "bad <what> ..." in errors */
	const char *expected; /* "expected <expected>" in errors and in the help of a word */
	int (*parse)(const struct cli_type *type, struct app *app, const char *word,
		     struct cli_value *value); /* 0 or -EINVAL */
	/* Offers the values there are now. May be NULL. */
	void (*complete)(struct app *app, cli_add_fn *add, void *ctx);
	uint64_t min, max; /* numbers only */
	bool is_command;   /* its words are those of a command: completed as such */
};

/* The type called @name (@len bytes of it), or NULL. */
const struct cli_type *cli_type_find(const char *name, size_t len);

/* What the types need from the rest of the program. */
bool app_port_find(struct app *app, const char *text, uint16_t *id);
void cli_values_vni(struct app *app, cli_add_fn *add, void *ctx);
void cli_values_port(struct app *app, cli_add_fn *add, void *ctx);
void cli_values_ip(struct app *app, cli_add_fn *add, void *ctx);    /* remote VTEPs, neighbours */
void cli_values_local(struct app *app, cli_add_fn *add, void *ctx); /* local addresses */
void cli_values_mac(struct app *app, cli_add_fn *add, void *ctx);

#endif
