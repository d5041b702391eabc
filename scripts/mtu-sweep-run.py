#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The packet path's part of scripts/mtu-sweep, which chooses the CPU and reserves the memory.

Runs tests/perf/perf_path for each direction and underlay MTU and writes one .dat file each, one plot
of all, and what stands out.
"""
import argparse
import os
import shutil
import subprocess
import sys

DIRECTIONS = ("encap", "decap")
UNDERLAYS = (0, 9000, 1500)
SWEEP = "1500-16100:50,17000-65000:1000"
QUICK = "1500-8500:1000,8900,9500,10100-16100:2000,24000-64000:8000,65000"
BOUND = 0.97
REPEATS = 8
COLORS = {0: "#1b6ca8", 9000: "#2e8b57", 1500: "#c8553d"}

GNUPLOT = """\
set terminal pngcairo size 1400,1000 font "sans,11"
set output "{png}"
set multiplot layout 2,1 title "dpdk-vxlan: the packet path alone on one core, {conditions}"
set xlabel "inner MTU, bytes"
set ylabel "Gbit/s of inner frames"
set logscale xy
set xrange [{low}:{high}]
set format x "%.0f"
set format y "%.0f"
set xtics ({tics})
set grid
set key top left
{plots}
unset multiplot
"""


class Failure(Exception):
    pass


class Point:
    """One line of perf_path."""

    def __init__(self, line):
        words = line.split()
        self.mtu, self.frame, self.packets = map(int, words[:3])
        self.cycles, self.least, self.p90 = map(float, words[3:6])
        self.mbit, self.loop_cycles, self.loop_mbit = float(words[7]), float(words[8]), float(words[9])


def underlay_name(mtu):
    return str(mtu) if mtu else "any"


class Meter:
    """Progress of several runs as one share of the whole."""

    def __init__(self, runs):
        self.runs, self.run, self.shown = runs, 0, -1

    def show(self, what, share):
        percent = min(int(100 * (self.run + share) / self.runs), 100)
        if percent == self.shown:
            return
        if sys.stdout.isatty():
            print(f"\r    {percent:3d} %  {what:<40}", end="", flush=True)
        elif percent // 10 != max(self.shown, 0) // 10:
            print(f"    {percent:3d} %  {what}", flush=True)
        self.shown = percent

    def next(self):
        self.run += 1

    def clear(self):
        if sys.stdout.isatty():
            print("\r" + " " * 60 + "\r", end="", flush=True)


def perf_path(args, meter, what, direction, underlay, checksum, mtus, rounds=None):
    """([Point], the TSC's frequency) of one run."""
    argv = [args.program, *args.eal.split(), "--", "--direction", direction, "--underlay-mtu",
            str(underlay), "--checksum", checksum, "--mtu", mtus, "--flows", str(args.flows),
            "--data-room", str(args.data_room), "--windows", str(args.windows), "--rounds",
            str(rounds or args.rounds), "--quantile", str(args.quantile), "--progress"]
    said = []
    with subprocess.Popen(argv, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          preexec_fn=lambda: os.sched_setaffinity(0, {args.cpu})) as process:
        try:
            for line in process.stderr:
                words = line.split()
                if len(words) == 2 and all(word.isdigit() for word in words):
                    meter.show(what, int(words[0]) / int(words[1]))
                else:
                    said.append(line)
            lines = process.stdout.read().split("\n")
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise Failure(f"{' '.join(argv)} ended with status {process.returncode}:\n"
                      + "".join(said[-10:]))
    if rounds is None:
        meter.next()
    hz = int(next(line for line in lines if line.startswith("# tsc_hz")).split()[2])
    return [Point(line) for line in lines if line and line[0].isdigit()], hz


class Curve:
    """All MTUs of one direction over one underlay MTU."""

    def __init__(self, args, direction, underlay, points, hz):
        self.direction, self.underlay, self.points, self.hz = direction, underlay, points, hz
        self.path = f"{args.out}/{direction}-{underlay_name(underlay)}.dat"
        self.again = set()  # MTUs measured twice

    def measure_again(self, args, meter):
        """A dip may have been another program's doing: both its MTUs once more, in the same run and with
        more rounds; what counts is what they show then."""
        for _ in range(REPEATS):
            ratio, mtu, best = self.worst()
            if ratio >= BOUND:
                return
            points, _ = perf_path(args, meter, "a dip again", self.direction, self.underlay,
                                  args.checksum, f"{best},{mtu}", 2 * args.rounds)
            fresh = {point.mtu: point for point in points}
            self.points = [fresh.get(point.mtu, point) for point in self.points]
            self.again |= set(fresh)

    def write(self, args):
        with open(self.path, "w", encoding="ascii") as file:
            over = f"underlay MTU {self.underlay}" if self.underlay else "an underlay as large as needed"
            file.write(f"# dpdk-vxlan, scripts/mtu-sweep: {self.direction} over {over}, {args.flows} "
                       f"flows, UDP checksum {args.checksum},\n"
                       f"# one core, buffers of {args.data_room} bytes, TSC {self.hz / 1e9:.2f} GHz\n"
                       "# inner MTU (bytes), Mbit/s of inner frames in the path alone, TSC cycles a "
                       "frame, outer packets a frame,\n"
                       "# Mbit/s with taking and giving back buffers\n")
            for p in self.points:
                file.write(f"{p.mtu} {p.mbit:.0f} {p.cycles:.1f} {p.packets} {p.loop_mbit:.0f}\n")

    def worst(self, value=lambda p: p.mbit):
        """(ratio to the best at a smaller MTU, MTU, that smaller one) where it is least."""
        result, best = (float("inf"), 0, 0), None
        for p in sorted(self.points, key=lambda p: p.mtu):
            if best is not None:
                result = min(result, (value(p) / value(best), p.mtu, best.mtu))
            if best is None or value(p) > value(best):
                best = p
        return result

    def name(self):
        return f"{self.direction} over " + (str(self.underlay) if self.underlay else "any underlay")


def plot_gnuplot(args, curves, png):
    mtus = [p.mtu for curve in curves for p in curve.points]
    plots = []
    for direction in DIRECTIONS:
        lines = [f'"{c.path}" using 1:($2/1000) with lines lw 2 lc rgb "{COLORS[c.underlay]}" '
                 f'title "underlay MTU {c.underlay or "as large as needed"}"'
                 for c in curves if c.direction == direction]
        plots.append(f'set title "{direction}"\nplot ' + ", ".join(lines))
    tics = ", ".join(str(mtu) for mtu in (1500, 2000, 3000, 4000, 6000, 9000, 12000, 16000, 24000, 32000,
                                          48000, 65000))
    text = GNUPLOT.format(png=png, conditions=conditions(args), low=min(mtus) * 0.98,
                          high=max(mtus) * 1.02, tics=tics, plots="\n".join(plots))
    subprocess.run(["gnuplot"], input=text, text=True, check=True, stderr=subprocess.PIPE)


def plot_matplotlib(args, curves, png):
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    figure, axes = pyplot.subplots(len(DIRECTIONS), 1, figsize=(14, 10))
    figure.suptitle("dpdk-vxlan: the packet path alone on one core, " + conditions(args))
    for axis, direction in zip(axes, DIRECTIONS):
        for c in curves:
            if c.direction == direction:
                axis.loglog([p.mtu for p in c.points], [p.mbit / 1000 for p in c.points],
                            color=COLORS[c.underlay],
                            label=f"underlay MTU {c.underlay or 'as large as needed'}")
        axis.set(title=direction, xlabel="inner MTU, bytes", ylabel="Gbit/s of inner frames")
        axis.grid(True)
        axis.legend()
    figure.savefig(png)


def plot(args, curves):
    png = args.out + "/mtu-sweep.png"
    try:
        if shutil.which("gnuplot"):
            plot_gnuplot(args, curves, png)
        else:
            plot_matplotlib(args, curves, png)
    except (ImportError, subprocess.CalledProcessError) as error:
        raise Failure(f"no plot: {getattr(error, 'stderr', '') or error}; install gnuplot") from None
    return png


def conditions(args):
    return f"{args.flows} flows, buffers of {args.data_room} bytes, UDP checksum {args.checksum}"


def jumbo(args, meter):
    """8900-byte frames in fragments beside 1450-byte ones that fit, in the same runs."""
    lines = []
    for direction in DIRECTIONS:
        for checksum in ("off", "auto"):
            (small, large), _ = perf_path(args, meter, f"{direction} of 8900 over 1500", direction, 1500,
                                          checksum, "1450,8900")
            lines.append((direction, checksum, small, large, large.mbit / small.mbit))
    print("\nInner MTU 8900 over an underlay MTU of 1500 beside 1450, which fits:\n")
    print("direction  checksum  fragments  cycles 8900 (least..p90)     cycles 1450 (least..p90)    "
          "Gbit/s 8900 / 1450 = share")
    for direction, checksum, small, large, share in lines:
        print(f"{direction:<9}  {checksum:<8}  {large.packets:>9}  {large.cycles:7.0f} "
              f"({large.least:.0f}..{large.p90:.0f})".ljust(60)
              + f"{small.cycles:6.0f} ({small.least:.0f}..{small.p90:.0f})".ljust(28)
              + f"{large.mbit / 1000:.0f} / {small.mbit / 1000:.0f} = {share:.2f}")


def summary(curves):
    """The last lines: where a curve falls most below what a smaller MTU reached."""
    print("\nleast ratio of Mbit/s to the best at any smaller MTU:")
    for curve in curves:
        ratio, mtu, best = curve.worst()
        loop = curve.worst(lambda p: p.loop_mbit)
        print(f"  {curve.name():<26} {ratio:.3f} at {mtu} (best before: {best});  with buffers "
              f"{loop[0]:.3f} at {loop[1]} (best before: {loop[2]})"
              + (f"; {len(curve.again)} MTUs measured again" if curve.again else ""))
    free = [curve for curve in curves if curve.underlay == 0]
    worst = min(free, key=lambda curve: curve.worst()[0])
    ratio, mtu, best = worst.worst()
    print(f"{'no dip' if ratio >= BOUND else 'DIP'}: with the underlay as large as needed the worst ratio "
          f"is {ratio:.3f} (bound {BOUND}), {worst.direction} at MTU {mtu} against {best}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("program", "out", "eal"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--cpu", type=int, required=True)
    parser.add_argument("--mtu")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--checksum", choices=("on", "off", "auto"), default="off")
    parser.add_argument("--flows", type=int, default=1024)
    parser.add_argument("--data-room", type=int, default=2048)
    args = parser.parse_args()
    args.windows, args.rounds, args.quantile = (5, 2, 25) if args.quick else (9, 3, 20)
    args.mtu = args.mtu or (QUICK if args.quick else SWEEP)
    return args


def main():
    args = parse()
    os.makedirs(args.out, exist_ok=True)
    curves = []
    meter = Meter(len(DIRECTIONS) * (len(UNDERLAYS) + 2))
    try:
        for direction in DIRECTIONS:
            for underlay in UNDERLAYS:
                points, hz = perf_path(args, meter, f"{direction} over {underlay_name(underlay)}",
                                       direction, underlay, args.checksum, args.mtu)
                curve = Curve(args, direction, underlay, points, hz)
                if underlay == 0:
                    curve.measure_again(args, meter)
                curve.write(args)
                curves.append(curve)
        jumbo(args, meter)
        png = plot(args, curves)
    except (Failure, OSError) as error:
        sys.exit(f"\nerror: {error}")
    finally:
        meter.clear()
    print("\nwritten: " + ", ".join(os.path.basename(c.path) for c in curves)
          + f" and {os.path.basename(png)} in {args.out}")
    summary(curves)


if __name__ == "__main__":
    main()
