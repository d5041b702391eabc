#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The measurements of scripts/bench, which reserves the memory and chooses the CPUs."""
import argparse
import csv
import os
import re
import socket
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROMPT = b"dpdk-vxlan> "
UNDERLAY_MAC = "02:70:63:61:70:00"  # what net_pcap gives its first port
PEER_MAC = "02:00:00:00:00:02"
VNI = 100
OVERHEAD = 50
HEADROOM = 128


class Failure(Exception):
    pass


def wait_until(condition, what, timeout=20.0):
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result is not None:
            return result
        if time.monotonic() > end:
            raise Failure(f"waited in vain for {what}")
        time.sleep(0.02)


def make_pcap(*arguments):
    return subprocess.run([sys.executable, HERE + "/make-pcap.py", *arguments], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


class Case:
    """One direction and inner frame size: its input file and how the program is told to forward."""

    def __init__(self, direction, size, flows, folder):
        self.direction, self.size, self.flows, self.folder = direction, size, flows, folder
        self.pcap = f"{folder}/{direction}-{size}.pcap"
        self.startup = f"{folder}/{direction}-{size}.conf"
        vxlan = ["--vxlan", UNDERLAY_MAC, "--vni", str(VNI)] if direction == "decap" else []
        make_pcap("--size", str(size), "--flows", str(flows), *vxlan, self.pcap)
        self._write_startup(make_pcap("--macs", "--flows", str(flows)).split())

    def _write_startup(self, macs):
        underlay = "net_null0" if self.direction == "encap" else "net_pcap0"
        target = "vtep 192.0.2.2" if self.direction == "encap" else "port net_null0"
        with open(self.startup, "w", encoding="ascii") as file:
            file.write(f"neigh add 192.0.2.2 {PEER_MAC} port {underlay}\n")
            file.writelines(f"fdb add {mac} vni {VNI} {target}\n" for mac in macs)

    @property
    def frame(self):
        """The largest frame on either side."""
        return self.size + OVERHEAD

    def mbufs(self):
        """Data room for a whole frame: infinite_rx plays no chains."""
        if self.frame + HEADROOM <= 2176:
            return 2176, 16384
        return (self.frame + HEADROOM + 255) // 256 * 256, 8192

    def remove(self):
        os.unlink(self.pcap)
        os.unlink(self.startup)


class Forwarder:
    """A process that forwards a case's frames; `sent` reads how many it has sent so far."""

    def __init__(self, args, case):
        self.args, self.case = args, case
        self.log_path = f"{args.dir}/{self.name}.log"
        self.process = None

    def eal(self):
        lcores = ["-l", f"{self.args.main_cpu},{self.args.worker_cpu}"]
        if self.args.main_cpu == self.args.worker_cpu:
            lcores = ["--lcores", f"0@{self.args.main_cpu},1@{self.args.worker_cpu}"]
        memory = ["--in-memory", "--single-file-segments"]
        if self.args.no_huge:
            memory = ["--no-huge", "-m", "512", "--no-shconf", "--no-telemetry"]
        return [*lcores, "--no-pci", "--file-prefix", self.args.prefix, *memory,
                "--vdev", f"net_pcap0,rx_pcap={self.case.pcap},infinite_rx=1",
                "--vdev", "net_null0,no-rx=1"]

    def launch(self, argv, stdin):
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                argv, stdin=stdin, stdout=log, stderr=subprocess.STDOUT,
                preexec_fn=lambda: os.sched_setaffinity(
                    0, {self.args.main_cpu, self.args.worker_cpu}))

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended with status {self.process.returncode}")

    def __enter__(self):
        try:
            self.start()
            before = self.sent()
            wait_until(lambda: True if self.sent() > before + 10 * self.case.flows else None,
                       f"{self.name} to forward")
        except (Failure, OSError) as error:
            self.__exit__()
            raise Failure(f"{self.name}: {error}; the end of its log:\n{self.log()[-2000:]}") \
                from None
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def cpu_times(self):
        """Seconds on a CPU of each thread."""
        times = {}
        folder = f"/proc/{self.process.pid}/task"
        for task in os.listdir(folder):
            with open(f"{folder}/{task}/schedstat", encoding="ascii") as file:
                times[task] = int(file.read().split()[0]) / 1e9
        return times

    def windows(self, count, seconds):
        """[(packets a second of the worker's time, its share of the CPU)] of @count windows."""
        result = []
        last = self.sent(), self.cpu_times(), time.monotonic()
        for _ in range(count):
            time.sleep(seconds)
            now = self.sent(), self.cpu_times(), time.monotonic()
            # The worker is the thread that never sleeps.
            worker = max(spent - last[1].get(task, 0) for task, spent in now[1].items())
            if worker <= 0:
                raise Failure("the worker did not run")
            result.append(((now[0] - last[0]) / worker, worker / (now[2] - last[2])))
            last = now
        return result


class Vxlan(Forwarder):
    name = "dpdk-vxlan"

    def __init__(self, args, case):
        super().__init__(args, case)
        self.path = f"{args.dir}/cli.sock"
        self.sock = None

    def start(self):
        encap = self.case.direction == "encap"
        underlay, access = ("net_null0", "net_pcap0") if encap else ("net_pcap0", "net_null0")
        room, count = self.case.mbufs()
        self.launch([
            self.args.program, *self.eal(), "--", "--underlay", underlay, "--access", access,
            "--mtu", str(max(self.case.size - 14, 68)),
            "--underlay-mtu", str(max(self.case.frame - 14, 1500)), "--mbuf-size", str(room),
            "--total-num-mbufs", str(count), "--local", "192.0.2.1/24", "--remote", "192.0.2.2",
            "--vni", str(VNI), "--cmdline-file", self.case.startup, "--cli-socket", self.path,
        ], subprocess.DEVNULL)
        self.sock = wait_until(self._connect, "the CLI socket")
        self._answer()

    def _connect(self):
        self.check_alive()
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(10)
        try:
            sock.connect(self.path)
        except OSError:
            sock.close()
            return None
        return sock

    def _answer(self):
        data = b""
        while not data.endswith(PROMPT):
            more = self.sock.recv(65536)
            if not more:
                raise Failure("the CLI socket was closed")
            data += more
        return data.decode(errors="replace")

    def sent(self):
        self.sock.sendall(b"show fwd stats all\n")
        text = self._answer()
        found = re.search(r"^\s*forwarded\s+(\d+)", text, re.M)
        if found is None:
            raise Failure("no line \"forwarded\" in show fwd stats all:\n" + text)
        return int(found.group(1))

    def __exit__(self, *_):
        if self.sock is not None:
            self.sock.close()
        super().__exit__()


class Testpmd(Forwarder):
    name = "testpmd"

    def start(self):
        room, count = self.case.mbufs()
        # Line by line, or the counters would stay in its buffer.
        self.launch(["stdbuf", "-oL", "dpdk-testpmd", "--log-level=lib.eal:debug", *self.eal(), "--",
                     "-i", "--forward-mode=io", "--nb-cores=1", f"--mbuf-size={room}",
                     f"--total-num-mbufs={count}"], subprocess.PIPE)
        self.process.stdin.write(b"start\n")
        self.process.stdin.flush()

    def sent(self):
        """TX-packets of port 1, the sink, asked for and waited for."""
        offset = os.path.getsize(self.log_path)
        self.process.stdin.write(b"show port stats 1\n")
        self.process.stdin.flush()

        def answer():
            self.check_alive()
            with open(self.log_path, "rb") as log:
                log.seek(offset)
                text = log.read().decode(errors="replace")
            found = re.search(r"TX-packets: (\d+)", text)
            return int(found.group(1)) if found and "TX-bytes" in text else None
        return wait_until_fast(answer)

    def tsc_hz(self):
        found = re.search(r"TSC frequency is ~(\d+) (KHz|Hz)", self.log(), re.I)
        if found is None:
            return None
        return int(found.group(1)) * (1000 if found.group(2).lower() == "khz" else 1)

    def __exit__(self, *_):
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
        super().__exit__()


def wait_until_fast(condition):
    """For an answer within a window: the waiting must not blur it."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        result = condition()
        if result is not None:
            return result
        time.sleep(0.0005)
    raise Failure("testpmd does not answer")


def measure(args, case):
    """{program: rates of all windows}, the TSC's frequency and the smallest share of the CPU that a
    worker had; the programs in turn."""
    rates = {Vxlan: [], Testpmd: []}
    tsc, share = None, 1.0
    for _ in range(args.rounds):
        for kind in rates:
            with kind(args, case) as forwarder:
                found = forwarder.windows(args.windows, args.seconds)
                rates[kind] += [rate for rate, _ in found]
                share = min([share] + [part for _, part in found])
                if kind is Testpmd:
                    tsc = forwarder.tsc_hz()
    return {kind.name: values for kind, values in rates.items()}, tsc, share


def rows_of(case, rates, tsc):
    cycles = {name: tsc / statistics.median(values) for name, values in rates.items()}
    for name, values in rates.items():
        rate = statistics.median(values)
        yield {
            "direction": case.direction, "inner_bytes": case.size, "flows": case.flows,
            "program": name, "mpps": f"{rate / 1e6:.2f}",
            "gbit_s": f"{rate * case.size * 8 / 1e9:.1f}",
            "cycles": f"{cycles[name]:.1f}",
            "over_io": f"{cycles[name] - cycles['testpmd']:.1f}" if name != "testpmd" else "",
            "min_mpps": f"{min(values) / 1e6:.2f}", "max_mpps": f"{max(values) / 1e6:.2f}",
            "windows": len(values),
        }


def print_row(row):
    print(f"{row['direction']:<9} {row['inner_bytes']:>6}  {row['program']:<11}"
          f"{row['mpps']:>8} {row['gbit_s']:>8} {row['cycles']:>8} {row['over_io']:>8}   "
          f"{row['min_mpps']}..{row['max_mpps']}", flush=True)


def parse():
    parser = argparse.ArgumentParser()
    for name in ("program", "dir", "csv", "prefix"):
        parser.add_argument("--" + name, required=True)
    for name in ("main-cpu", "worker-cpu"):
        parser.add_argument("--" + name, required=True, type=int)
    parser.add_argument("--sizes", default="64,1500,8900")
    parser.add_argument("--flows", type=int, default=1024)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-huge", action="store_true")
    args = parser.parse_args()
    args.rounds, args.windows, args.seconds = (1, 3, 0.3) if args.quick else (2, 5, 0.5)
    args.sizes = [int(size) for size in args.sizes.split(",")]
    if not all(60 <= size <= 9100 for size in args.sizes):
        parser.error("--sizes: 60 to 9100 bytes")
    if not 1 <= args.flows <= 4096:
        parser.error("--flows: 1 to 4096, which is what net_pcap holds here")
    return args


def main():
    args = parse()
    print(f"{args.flows} flows, one worker, medians of {args.rounds * args.windows} windows of "
          f"{args.seconds} s;\nper second of the worker's CPU time; cycles are the TSC's, I/O "
          "included\n")
    print("direction  inner  program        Mpps   Gbit/s   cycles  over io   Mpps from..to")
    rows, least = [], 1.0
    try:
        for direction in ("encap", "decap"):
            for size in args.sizes:
                case = Case(direction, size, args.flows, args.dir)
                rates, tsc, share = measure(args, case)
                least = min(least, share)
                if tsc is None:
                    raise Failure("testpmd's log does not say the TSC's frequency")
                for row in rows_of(case, rates, tsc):
                    print_row(row)
                    rows.append(row)
                case.remove()
    except Failure as error:
        sys.exit(f"error: {error}")
    with open(args.csv, "w", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    print(f"\nwritten to {args.csv}")
    if least < 0.95:
        print(f"note: a worker had only {least:.0%} of its CPU in a window: something else ran there, "
              "and its caches were shared")


if __name__ == "__main__":
    main()
