# SPDX-License-Identifier: BSD-3-Clause
"""One laboratory of scripts/topo.sh as an object: namespaces, kernel peers, the program, traffic."""
import itertools
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("VX_BUILD", os.path.join(REPO, "build"))
os.environ.setdefault("VX_BINARY", os.path.join(BUILD, "app/dpdk-vxlan"))
# How to speak to the program, and what its answers mean, stands in one place.
sys.path.append(os.path.join(REPO, "tests/blackbox"))
from ports import CLONE_NEWNET, LIBC, Hugepages  # noqa: E402,F401
from vtep import (  # noqa: E402,F401
    LAW, SLOW, Cli, CliError, Entry, MAC_TEXT, Space, Vtep, counters)

BINARY = os.environ["VX_BINARY"]
TENANT = "198.51.100.1"
OUR_VTEP = "192.0.2.1"
NUMBERS = itertools.count()
# scripts/lib.sh gives the last CPU to the worker alone: traffic stays off it.
CPUS = sorted(os.sched_getaffinity(0))
TRAFFIC_CPUS = CPUS[:-1] or CPUS


def off_worker():
    os.sched_setaffinity(0, TRAFFIC_CPUS)


def keep_cpu():
    """A worker has its CPU to itself in use: another program's turn would cost packets."""
    try:
        os.nice(-15)
    except PermissionError:
        pass


def peer_inner(number=1):
    return f"198.51.100.{number + 1}"


def peer_outer(number=1):
    return f"192.0.2.{number + 1}"


def until(condition, what, timeout=10.0):
    """Poll until @condition is true; its value."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, f"waited {timeout:.0f} s in vain: {what}"
        time.sleep(0.02)


class Lab:
    """@options: of the program, as a list; the rest as scripts/lab has them. Without @program only
    namespaces and devices."""

    def __init__(self, inner=1500, phys=1600, device="af_packet", peers=1, options=(),
                 access=None, program=True):
        self.name = f"t{os.getpid()}.{next(NUMBERS)}"
        self.inner, self.phys = inner, phys
        self.device, self.peers, self.options = device, peers, list(options)
        self.program = program
        self.access = ["--access-device", access] if access and access != device else []
        self.process = self._cli = None
        self.children = []
        self.folder = f"/run/dpdk-vxlan-lab/{self.name}"
        self.log_path = self.folder + "/log"

    # -- set-up and end ---------------------------------------------------------------------------

    def _script(self, verb, *arguments):
        result = subprocess.run([REPO + "/scripts/lab", verb, self.name, *arguments], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=60)
        assert result.returncode == 0, f"scripts/lab {verb}: {result.stderr}"
        return result.stdout

    def up(self):
        self._script("up", "--inner-mtu", str(self.inner), "--phys-mtu", str(self.phys), "--device",
                     self.device, *self.access, "--peers", str(self.peers),
                     "--no-program")
        if self.program:
            self.start()
        return self

    def start(self):
        """Start the program and wait until it answers."""
        argv = self._script("command", "--build", BUILD, "--", *self.options).strip().split("\n")
        with open(self.log_path, "wb") as log:
            # ip becomes the program: the process is the program's own.
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", self.namespace("dut"), *argv], stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, preexec_fn=keep_cpu)
        self._cli = None
        until(self._connect, "the program's CLI socket", 20)

    def _connect(self):
        assert self.process.poll() is None, (
            f"ended with status {self.process.returncode} at start:\n{self.log()[-3000:]}")
        try:
            self._cli = Cli(self.folder + "/cli.sock")
        except OSError:
            return False
        return True

    def end(self, how=signal.SIGTERM, seconds=2.0):
        """End the program by a signal or a command; its exit status."""
        if isinstance(how, str):
            self._cli.sock.sendall(how.encode() + b"\n")
        else:
            self.process.send_signal(how)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running {seconds} s after {how}") from None
        self._cli.close()
        self._cli = None
        assert "ended; all packet buffers are back" in self.log(), self.log()[-3000:]
        return status

    def judge(self):
        """After each test: every frame accounted for, a clean end."""
        for child in self.children:
            if child.poll() is None:
                child.terminate()
                child.wait()
        if self.process is None or self.process.poll() is not None:
            return
        until(lambda: Vtep.balance(counters(self("show fwd stats all"))) == 0,
              LAW)
        status = self.end()
        assert status == 0, f"exit status {status}:\n{self.log()[-3000:]}"

    def down(self):
        for child in self.children + [self.process]:
            if child is not None and child.poll() is None:
                child.kill()
                child.wait()
        subprocess.run([REPO + "/scripts/lab", "down", self.name], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)

    # -- asking the program -----------------------------------------------------------------------

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def __call__(self, command):
        return self._cli(command)

    def stats(self):
        return counters(self("show fwd stats all"))

    def drops(self):
        found = counters(self("show drops"))
        return {name: value for name, value in found.items() if value and name != "total"}

    def fdb(self):
        lines = filter(MAC_TEXT.search, self("show fdb").split("\n"))
        return {entry.mac: entry for entry in map(Entry, lines)}

    # -- the kernel's side ------------------------------------------------------------------------

    def namespace(self, part):
        return f"vx-{self.name}-{part}"

    def run(self, part, *argv, check=True, timeout=30, stdin=""):
        """A command in a namespace: tenant, dut, peer, peer2 …; the finished process."""
        result = subprocess.run(["ip", "netns", "exec", self.namespace(part), *argv], text=True,
                                input=stdin, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=timeout,
                                preexec_fn=off_worker)
        if check:
            assert result.returncode == 0, f"{' '.join(argv)}: {result.stdout}{result.stderr}"
        return result

    def begin(self, part, *argv):
        """The same in the background; ended with the laboratory."""
        child = subprocess.Popen(["ip", "netns", "exec", self.namespace(part), *argv], text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, preexec_fn=off_worker)
        self.children.append(child)
        return child

    def mac(self, part, device):
        links = json.loads(self.run(part, "ip", "-j", "link", "show", device).stdout)
        return links[0]["address"]

    def neighbour(self, part, address):
        """(MAC, state) that the kernel has for @address; (None, None) without an entry."""
        for entry in json.loads(self.run(part, "ip", "-j", "neigh").stdout or "[]"):
            if entry["dst"] == address:
                return entry.get("lladdr"), entry["state"][0]
        return None, None

    # -- traffic ----------------------------------------------------------------------------------

    def ping(self, address=peer_inner(), part="tenant", count=1, wait=1.0):
        """Whether all @count requests are answered."""
        return self.run(part, "ping", "-n", "-q", "-c", str(count), "-i", "0.05", "-W", str(wait),
                        address, check=False).returncode == 0

    def until_ping(self, address=peer_inner(), part="tenant", timeout=10.0):
        until(lambda: self.ping(address, part), f"ping {address} from {part}", timeout)

    def ping_sizes(self, sizes, address=peer_inner(), part="tenant"):
        """A request of each size of IP payload; the reply must be the same bytes."""
        result = self.run(part, sys.executable, HERE + "/echo_sizes.py", address, str(sizes.start),
                          str(sizes.stop), str(sizes.step), check=False, timeout=120)
        assert result.returncode == 0, result.stdout + result.stderr

    def iperf_server(self, part="peer"):
        server = self.begin(part, "iperf3", "-s")
        until(lambda: "LISTEN" in self.run(part, "ss", "-Hltn", "sport = :5201").stdout,
              "iperf3's server")
        return server

    def iperf(self, *arguments, seconds=1, address=peer_inner()):
        """iperf3's result from the tenant to the peer, as it writes it in JSON."""
        result = self.run("tenant", "iperf3", "-c", address, "-t", str(seconds), "-J", *arguments,
                          check=False, timeout=seconds + 20)
        answer = json.loads(result.stdout or "{}")
        assert result.returncode == 0 and "error" not in answer, answer.get("error", result.stderr)
        return answer["end"]

    def load(self):
        """TCP both ways until the test ends; returns once it flows."""
        before = self.stats()["forwarded"]
        self.iperf_server()
        self.begin("tenant", "iperf3", "-c", peer_inner(), "-C", "cubic", "-t", "60", "--bidir")
        until(lambda: self.stats()["forwarded"] > before + 20000, "TCP to flow", 20)
