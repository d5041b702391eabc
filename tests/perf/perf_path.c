/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the packet path costs, without ports: encapsulation or decapsulation on one core, for any
 * list of inner MTUs over one underlay MTU. Checks its counts, never its speed.
 */
#include "perf_bench.h"
#include "perf_feed.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ether.h>

#include "vx_reassemble.h"
#include "vx_wire.h"

#define POINTS_MAX    4096u
#define BURST_MAX     128u
#define WINDOWS_MAX   500u
#define FLOWS_MAX     65536u
#define MTU_MIN	      68u
#define MTU_MAX	      65485u
#define UNDERLAY_MIN  576u
#define AUTO_PACKETS  4096u /* in or out, in one window */
#define AUTO_FRAMES   64u
#define ETHER_LEN     ((uint32_t)sizeof(struct rte_ether_hdr))
#define OUTER_IP_LEN  ((uint32_t)sizeof(struct rte_ipv4_hdr))
#define FRAGMENT_UNIT 8u

struct options {
	bool is_decap, is_reversed, has_progress;
	uint32_t n_points, mtu[POINTS_MAX];
	uint32_t underlay_mtu; /* 0: as large as needed */
	uint32_t flows, room, burst, frames, windows, rounds;
	enum vx_udp_checksum checksum;
	double quantile;
};

/* Cycles a frame, of one window. */
struct window {
	double path;  /* the path alone */
	double freed; /* freeing what was sent */
	double base;  /* freeing such frames as they came */
	double loop;  /* all, with what a driver does */
};

struct point {
	uint32_t mtu, fragments; /* of one outer packet, 1: none */
	uint32_t n;
	struct window *window;
};

static const char usage[] =
	"usage: perf_path [EAL options --] --direction encap|decap [options]\n"
	"  --mtu LIST          inner MTUs, N or FROM-TO:STEP, with commas (1500)\n"
	"  --underlay-mtu N    0: as large as needed (0)\n"
	"  --flows N           flows, each with a MAC on either side (1024)\n"
	"  --data-room N       bytes of a frame in one buffer; larger ones are chains (2048)\n"
	"  --burst N           packets given to the path at once (32)\n"
	"  --checksum on|off|auto  outer UDP checksum (auto)\n"
	"  --reversed          decap: fragments arrive last first\n"
	"  --frames N          frames of one window, 0: by their packets (0)\n"
	"  --windows N         windows of one round (9)\n"
	"  --rounds N          rounds over all MTUs (3)\n"
	"  --progress          \"done all\" on stderr after each point of a round\n"
	"  --quantile Q        which of all windows counts: 0 the least, 50 the median (50)\n"
	"One line a point. cycles: TSC cycles that the path alone takes "
	"for\n"
	"a frame; of what it sends, freeing its own fragments is part of it, freeing what came is\n"
	"not. loop: cycles with taking buffers from a ring and giving all back, as drivers do.\n"
	"Mbit/s: of inner frames, for each second of the core. Without EAL options: --no-huge.\n";

static uint32_t
number(const char *name, const char *text, uint32_t least, uint32_t most)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value < least || value > most)
		perf_fail("--%s: a number from %u to %u expected, not '%s'", name, least, most,
			  text);
	return (uint32_t)value;
}

static void
add_point(struct options *o, uint32_t mtu)
{
	if (o->n_points == POINTS_MAX)
		perf_fail("--mtu: more than %u points", POINTS_MAX);
	o->mtu[o->n_points++] = mtu;
}

static void
parse_mtus(struct options *o, char *list)
{
	o->n_points = 0;
	for (char *save, *part = strtok_r(list, ",", &save); part != NULL;
	     part = strtok_r(NULL, ",", &save)) {
		char *to = strchr(part, '-'), *step = strchr(part, ':');
		uint32_t first, last, by = 1;

		if (step != NULL) {
			*step = '\0';
			by = number("mtu", step + 1, 1, MTU_MAX);
		}
		if (to != NULL)
			*to = '\0';
		first = number("mtu", part, MTU_MIN, MTU_MAX);
		last = to == NULL ? first : number("mtu", to + 1, MTU_MIN, MTU_MAX);
		for (uint32_t mtu = first; mtu <= last; mtu += by)
			add_point(o, mtu);
	}
	if (o->n_points == 0)
		perf_fail("--mtu: no MTU");
}

static enum vx_udp_checksum
parse_checksum(const char *text)
{
	if (strcmp(text, "on") == 0)
		return VX_UDP_CHECKSUM_ON;
	if (strcmp(text, "off") == 0)
		return VX_UDP_CHECKSUM_OFF;
	if (strcmp(text, "auto") != 0)
		perf_fail("--checksum: on, off or auto expected, not '%s'", text);
	return VX_UDP_CHECKSUM_AUTO;
}

static bool
parse_direction(const char *text)
{
	if (strcmp(text, "encap") != 0 && strcmp(text, "decap") != 0)
		perf_fail("--direction: encap or decap expected, not '%s'", text);
	return text[0] == 'd';
}

static void
parse(struct options *o, int argc, char **argv)
{
	static const struct option names[] = {
		{"direction", required_argument, NULL, 'd'},
		{"mtu", required_argument, NULL, 'm'},
		{"underlay-mtu", required_argument, NULL, 'u'},
		{"flows", required_argument, NULL, 'f'},
		{"data-room", required_argument, NULL, 'l'},
		{"burst", required_argument, NULL, 'b'},
		{"checksum", required_argument, NULL, 'c'},
		{"reversed", no_argument, NULL, 'r'},
		{"frames", required_argument, NULL, 'n'},
		{"windows", required_argument, NULL, 'w'},
		{"rounds", required_argument, NULL, 'o'},
		{"quantile", required_argument, NULL, 'q'},
		{"progress", no_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	bool has_direction = false;
	int which, i;

	while ((which = getopt_long(argc, argv, "", names, &i)) != -1) {
		switch (which) {
		case 'd':
			o->is_decap = parse_direction(optarg);
			has_direction = true;
			break;
		case 'm':
			parse_mtus(o, optarg);
			break;
		case 'u':
			o->underlay_mtu = number(names[i].name, optarg, 0, UINT16_MAX);
			if (o->underlay_mtu != 0 && o->underlay_mtu < UNDERLAY_MIN)
				perf_fail("--underlay-mtu: 0, or at least %u", UNDERLAY_MIN);
			break;
		case 'f':
			o->flows = number(names[i].name, optarg, 1, FLOWS_MAX);
			break;
		case 'l':
			o->room = number(names[i].name, optarg, 256, 65000);
			break;
		case 'b':
			o->burst = number(names[i].name, optarg, 1, BURST_MAX);
			break;
		case 'c':
			o->checksum = parse_checksum(optarg);
			break;
		case 'r':
			o->is_reversed = true;
			break;
		case 'n':
			o->frames = number(names[i].name, optarg, 0, 1u << 24);
			break;
		case 'w':
			o->windows = number(names[i].name, optarg, 1, WINDOWS_MAX);
			break;
		case 'o':
			o->rounds = number(names[i].name, optarg, 1, WINDOWS_MAX);
			break;
		case 'q':
			o->quantile = number(names[i].name, optarg, 0, 100) / 100.0;
			break;
		case 'p':
			o->has_progress = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(1);
		}
	}
	if (optind < argc)
		perf_fail("'%s' is no option (--help)", argv[optind]);
	if (!has_direction)
		perf_fail("--direction encap or decap is needed (--help)");
}

static uint64_t
count(const struct perf_bench *b, unsigned int which)
{
	return b->lcore->counts.value[which];
}

static void
expect(const char *what, uint64_t found, uint64_t expected, uint32_t mtu)
{
	if (found != expected)
		perf_fail("MTU %u: %" PRIu64 " %s, expected %" PRIu64, mtu, found, what, expected);
}

/* Every frame came through, in as few packets as possible, and nothing else happened. */
static void
check(const struct perf_bench *b, const struct vx_counts *before, const struct options *o,
      const struct point *point, uint64_t frames)
{
	const struct vx_counts *now = &b->lcore->counts;
	const uint64_t n = point->fragments;

	expect("drops", vx_counts_drops(now), vx_counts_drops(before), point->mtu);
	expect("frames flooded", count(b, VX_COUNT_FLOODED), 0, point->mtu);
	if (o->is_decap) {
		expect("frames decapsulated",
		       now->value[VX_COUNT_DECAP] - before->value[VX_COUNT_DECAP], frames,
		       point->mtu);
		expect("fragments joined",
		       now->value[VX_COUNT_MERGED] - before->value[VX_COUNT_MERGED],
		       frames * (n - 1), point->mtu);
		expect("frames sent", b->sent, frames, point->mtu);
	} else {
		expect("frames encapsulated",
		       now->value[VX_COUNT_ENCAP] - before->value[VX_COUNT_ENCAP], frames,
		       point->mtu);
		expect("packets sent", b->sent, frames * n, point->mtu);
	}
}

/* Give a window's frames back as they came: what that costs is a driver's business. */
static double
measure_base(const struct perf_bench *b, struct perf_feed *feed, const struct options *o,
	     uint32_t frames)
{
	struct rte_mbuf *m[BURST_MAX];
	uint64_t spent = 0;

	for (uint32_t left = frames; left > 0;) {
		const uint32_t n = RTE_MIN(left, o->burst);
		uint64_t begin;

		for (uint32_t i = 0; i < n; i++)
			m[i] = perf_feed_next(feed);
		begin = perf_clock();
		for (uint32_t i = 0; i < n; i++)
			rte_pktmbuf_free(m[i]);
		spent += perf_clock() - begin - b->clock_cycles;
		left -= n;
	}
	return (double)spent / frames;
}

static struct window
measure(struct perf_bench *b, struct perf_feed *feed, const struct options *o,
	const struct point *point, uint32_t frames)
{
	const struct vx_counts before = b->lcore->counts;
	uint64_t path = 0, rounds = 0, begin;
	struct rte_mbuf *m[BURST_MAX];
	struct window result = {0};

	/* Where the path makes buffers of its own, to see what freeing costs without them. */
	if (!o->is_decap && point->fragments > 1)
		result.base = measure_base(b, feed, o, frames);
	b->sent = 0;
	b->free_cycles = 0;
	begin = perf_clock();
	for (uint32_t left = frames * feed->n_pieces; left > 0; rounds++) {
		const uint32_t n = RTE_MIN(left, o->burst);

		for (uint32_t i = 0; i < n; i++)
			m[i] = perf_feed_next(feed);
		path += perf_bench_round(b, feed->port, m, (uint16_t)n);
		left -= n;
	}
	result.loop = (double)(perf_clock() - begin - 2 * rounds * b->clock_cycles) / frames;
	result.path = (double)path / frames;
	result.freed = (double)b->free_cycles / frames;
	check(b, &before, o, point, frames);
	return result;
}

/* All windows of one round for one MTU. */
static void
run_point(struct perf_bench *b, struct perf_feed *feed, const struct options *o,
	  struct point *point)
{
	const uint32_t len = point->mtu + ETHER_LEN;
	uint32_t frames = o->frames;

	if (o->is_decap)
		perf_feed_underlay(feed, b, len);
	else
		perf_feed_access(feed, len);
	if (frames == 0)
		frames = RTE_MAX(AUTO_PACKETS / point->fragments, AUTO_FRAMES);
	/* The first one warms up. */
	measure(b, feed, o, point, RTE_MIN(frames, AUTO_PACKETS));
	for (uint32_t i = 0; i < o->windows; i++)
		point->window[point->n++] = measure(b, feed, o, point, frames);
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

enum which {
	PATH,
	BASE,
	LOOP
};

/* Quantile @q of the point's windows; of freeing only what the path itself made counts. */
static double
quantile(const struct point *point, enum which which, double q)
{
	static double value[WINDOWS_MAX * WINDOWS_MAX];
	double base = 0;

	if (which == PATH && point->window[0].base > 0)
		base = quantile(point, BASE, q);
	for (uint32_t i = 0; i < point->n; i++) {
		const struct window *w = &point->window[i];

		value[i] = which == BASE ? w->base : which == LOOP ? w->loop : w->path;
		if (which == PATH && base > 0)
			value[i] += w->freed - base;
	}
	qsort(value, point->n, sizeof(value[0]), compare);
	return value[(uint32_t)(q * (point->n - 1) + 0.5)];
}

static void
print_point(const struct point *point, double q)
{
	const double hz = (double)rte_get_tsc_hz(), bits = 8.0 * (point->mtu + ETHER_LEN);
	const double cycles = quantile(point, PATH, q), loop = quantile(point, LOOP, q);

	printf("%u %u %u %.1f %.1f %.1f %.3f %.0f %.1f %.0f\n", point->mtu, point->mtu + ETHER_LEN,
	       point->fragments, cycles, quantile(point, PATH, 0), quantile(point, PATH, 0.9),
	       hz / cycles / 1e6, hz / cycles * bits / 1e6, loop, hz / loop * bits / 1e6);
}

static uint32_t
fragments_of(uint32_t mtu, uint32_t underlay_mtu)
{
	const uint32_t ip_len = mtu + ETHER_LEN + (uint32_t)VX_OUTER4_IP_LEN;
	const uint32_t part = (underlay_mtu - OUTER_IP_LEN) / FRAGMENT_UNIT * FRAGMENT_UNIT;

	return ip_len <= underlay_mtu ? 1 : (ip_len - OUTER_IP_LEN + part - 1) / part;
}

static void
run(const struct options *o)
{
	const uint16_t underlay = (uint16_t)(o->underlay_mtu == 0 ? UINT16_MAX : o->underlay_mtu);
	struct perf_bench *b = perf_bench_create(o->flows);
	/* As many buffers for each MTU, so that none is favoured. */
	struct perf_feed *feed = perf_feed_create(o->flows, o->room, UINT16_MAX, o->burst);
	struct point *points = calloc(o->n_points, sizeof(*points));

	if (points == NULL)
		perf_fail("no memory");
	feed->is_reversed = o->is_reversed;
	perf_bench_set_underlay_mtu(b, underlay);
	perf_bench_set_checksum(b, o->checksum);
	for (uint32_t i = 0; i < o->n_points; i++) {
		points[i].mtu = o->mtu[i];
		points[i].fragments = fragments_of(o->mtu[i], underlay);
		points[i].window = calloc(o->rounds * o->windows, sizeof(struct window));
		if (points[i].window == NULL)
			perf_fail("no memory");
	}
	for (uint32_t done = 0; done < o->rounds * o->n_points; done++) {
		run_point(b, feed, o, &points[done % o->n_points]);
		if (o->has_progress)
			fprintf(stderr, "%u %u\n", done + 1, o->rounds * o->n_points);
	}
	printf("# tsc_hz %" PRIu64 "\n", rte_get_tsc_hz());
	printf("# mtu frame packets cycles least p90 mpps mbit_s loop_cycles loop_mbit_s\n");
	for (uint32_t i = 0; i < o->n_points; i++) {
		print_point(&points[i], o->quantile);
		free(points[i].window);
	}
	free(points);
	perf_feed_destroy(feed);
	perf_bench_destroy(b);
}

/* EAL's options stand before "--"; alone, the program needs neither root nor hugepages. */
static int
start_eal(int argc, char **argv)
{
	static char no_huge[] = "--no-huge", no_pci[] = "--no-pci", no_shconf[] = "--no-shconf",
		    no_telemetry[] = "--no-telemetry", memory[] = "-m", megabytes[] = "256",
		    level[] = "--log-level=lib.eal:error";
	char *own[] = {argv[0], no_huge,   no_pci, no_shconf, no_telemetry,
		       memory,	megabytes, level,  NULL};

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return rte_eal_init(argc, argv);
	return rte_eal_init((int)RTE_DIM(own) - 1, own) < 0 ? -1 : 0;
}

int
main(int argc, char **argv)
{
	static struct options o = {
		.flows = 1024,
		.room = 2048,
		.burst = 32,
		.windows = 9,
		.rounds = 3,
		.checksum = VX_UDP_CHECKSUM_AUTO,
		.quantile = 0.5,
		.n_points = 1,
		.mtu = {1500},
	};
	int used;

	/* Before EAL starts, so that it can be read without memory. */
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return 0;
		}
	used = start_eal(argc, argv);
	if (used < 0)
		perf_fail("EAL did not start");
	optind = 1;
	parse(&o, argc - used, argv + used);
	run(&o);
	rte_eal_cleanup();
	return 0;
}
