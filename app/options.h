/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line after "--": text to struct options. Pure: it touches no EAL, no files and no
 * globals, prints nothing (except options_usage()) and never exits.
 *
 * What depends on the machine stays open here: ports are names or ids, to be resolved once the EAL
 * knows them, and 0 stands for "not given, choose" where a member's comment says so.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "vx_err.h"
#include "vx_ip.h"

#define OPTIONS_PORTS_MAX     64 /* ports named for one side */
#define OPTIONS_PORT_NAME_MAX 64 /* bytes, as RTE_ETH_NAME_MAX_LEN */
#define OPTIONS_REMOTES_MAX   256

/* One side's ports as they were written, in that order: ids or device names, none twice. */
struct options_ports {
	unsigned int count; /* 0: not given */
	char name[OPTIONS_PORTS_MAX][OPTIONS_PORT_NAME_MAX];
};

/* Strings point into argv. */
struct options {
	bool help, version; /* asked for: nothing else was checked */
	bool interactive, auto_start;

	struct options_ports underlay, access; /* none given: first port underlay, others access */
	uint32_t mtu;			       /* inner */
	uint32_t underlay_mtu;		       /* 0: what the ports have */

	/* The tunnel in short. Where a remote is given, local and vni are too. */
	struct vx_prefix local; /* its ip keeps the host bits; vx_ip_is_none(): not given */
	struct vx_ip gateway;	/* inside local; vx_ip_is_none(): not given */
	struct vx_ip remote[OPTIONS_REMOTES_MAX];
	unsigned int num_remotes;
	uint32_t vni; /* 0: not given */

	const char *cmdline_file; /* NULL: the default file if it exists */
	const char *cli_socket;	  /* NULL: in the EAL's runtime directory */

	uint32_t rxq, txq;	  /* 0: one per worker where the port can */
	uint32_t rxd, txd;	  /* 0: what suits the driver */
	uint32_t burst;		  /* frames taken from a queue at once */
	uint32_t mbuf_size;	  /* data room with headroom */
	uint32_t total_num_mbufs; /* 0: computed from ports, queues and workers */
	uint32_t mbcache;
	uint32_t nb_cores;     /* workers; 0: all lcores but the main one */
	uint32_t stats_period; /* seconds; 0: never */

	uint32_t max_vnis;
	uint32_t max_macs; /* 0: chosen by how much memory there is */
	uint32_t max_vteps;
};

enum options_early {
	OPTIONS_EARLY_NONE,
	OPTIONS_EARLY_HELP,
	OPTIONS_EARLY_VERSION,
};

/*
 * Look through the whole command line for --help, -h or --version, before or after "--", so that
 * they can be answered before the EAL starts. The first one found decides.
 */
enum options_early options_early(int argc, char **argv);

/*
 * @argv[0] is skipped (the program's name, or the "--"), the rest must be our options only.
 * 0, or -EINVAL with @err naming the option, its value and what is allowed; @options is then not to
 * be used.
 */
int options_parse(int argc, char **argv, struct options *options, struct vx_err *err);

/* The help text: every option with its range and default, and examples. */
void options_usage(FILE *out);

#endif
