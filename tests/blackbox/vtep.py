# SPDX-License-Identifier: BSD-3-Clause
"""One running program: started with devices of ports.py, spoken to through its CLI socket, and
judged at its end. What the program prints is taken apart in this file only."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from ports import PcapPort, TapPort, VethPort

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
BINARY = os.environ.get("VX_BINARY", os.path.join(REPO, "build/app/dpdk-vxlan"))
PROMPT = b"dpdk-vxlan> "


def slowness():
    """How much longer than usual to wait: a build with sanitizers takes its time."""
    try:
        with open(BINARY, "rb") as file:
            return 5.0 if b"__asan_init" in file.read() else 1.0
    except OSError:
        return 1.0


SLOW = slowness()
MEMORY_MB = 512
HUGEPAGES = 400

# Lines of the log that mean that something went wrong whatever the test is about
BAD_LOG = re.compile(r"Sanitizer|runtime error:|PANIC|rte_panic|assert|Segmentation fault|"
                     r"double free|corrupt|dpdk-vxlan: .*\b(leak|lost mbuf|bug)\b", re.I)
BAD_ERROR = re.compile(r"\berror\b", re.I)
# ... of which these only describe this machine
HARMLESS = re.compile(r"TELEMETRY|EAL: (No |Probe|Detected|Selected|Multi-process|Cannot|VFIO)|"
                      r"tap_nl|tx errors|imissed", re.I)

MAC_TEXT = re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.I)
VTEP_TEXT = re.compile(r"\bvtep ([0-9a-f.:]+)")
COUNTER = re.compile(r"^\s*([a-z][a-z0-9_]*)[:=]?\s+(\d+)\b", re.M)
POOL = re.compile(r"pool\s+(\S+?):?\s+size\s+(\d+),?\s+free\s+(\d+),?\s+in-use\s+(\d+)")


LAW = ("received + flood_copies + originated + fragments = "
       "forwarded + dropped + consumed + merged + held")


class CliError(Exception):
    """The program's "error: " line, without that word."""


class Space:
    """What a test session shares: the namespace and whether there are hugepages."""
    namespace = None
    hugepages = False


def eal_arguments(prefix, lcores="0,1"):
    """The EAL's part of the command line."""
    argv = ["--lcores" if "@" in lcores else "-l", lcores, "--no-pci", "--file-prefix", prefix]
    if Space.hugepages:
        return argv + ["--in-memory", "--single-file-segments"]
    return argv + ["--no-huge", "-m", str(MEMORY_MB), "--no-shconf", "--no-telemetry"]


def forget(folder):
    """Remove a run's folder, and the EAL's own for its prefix."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree("/var/run/dpdk/" + os.path.basename(folder), ignore_errors=True)


class Cli:
    """A client of the CLI socket."""

    def __init__(self, path, timeout=10):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout * SLOW)
        self.sock.connect(path)
        self.greeting = self._until_prompt()

    def _until_prompt(self):
        data = b""
        while not data.endswith(PROMPT):
            more = self.sock.recv(65536)
            if not more:
                raise EOFError("CLI closed after %r" % data[-200:])
            data += more
        return data[:-len(PROMPT)].decode(errors="replace").replace("\r\n", "\n")

    def raw(self, line):
        """Send one line; everything printed before the next prompt."""
        self.sock.sendall(line.encode() + b"\n")
        return self._until_prompt()

    def __call__(self, line):
        text = self.raw(line)
        first = text.lstrip("\n").split("\n", 1)[0]
        if first.startswith("error: "):
            raise CliError(first[len("error: "):])
        return text

    def close(self):
        self.sock.close()


def counters(text):
    """`name value text` lines as a dictionary."""
    return {name: int(value) for name, value in COUNTER.findall(text)}


def pools(text):
    """{pool: (size, in use)} of `show memory` or the log's last lines."""
    return {name: (int(size), int(used)) for name, size, _, used in POOL.findall(text)}


class Entry:
    """A line of `show fdb`."""

    def __init__(self, line):
        self.line = line
        self.mac = MAC_TEXT.search(line).group().lower()
        address = VTEP_TEXT.search(line)
        self.vtep = address.group(1) if address else None
        self.static = "static" in line.lower()


class Vtep:
    """
    The program with its ports. @ports: {"U": port, "A": port, ...}: names that begin with U are
    underlay ports, the others access ports; {U}, {A} … in commands stand for the devices' names.
    @config: commands, run from a start file. @options: more of the program's own options.
    """

    def __init__(self, ports, config="", mtu=1500, underlay_mtu=None, options=(), lcores="0,1",
                 interactive=True, small=True, prefix=None, check=True):
        self.ports, self.mtu, self.underlay_mtu = ports, mtu, underlay_mtu
        self.config, self.options, self.lcores = config, list(options), lcores
        self.interactive, self.small, self.check = interactive, small, check
        self.folder = tempfile.mkdtemp(prefix="vxbb-")
        self.prefix = prefix or os.path.basename(self.folder)
        self.socket_path = self.folder + "/cli.sock"
        self.log_path = self.folder + "/log"
        self.process = self.cli = None
        self.memory_before = {}
        self.memory_slack = 0  # mbufs that a driver may keep between two bursts
        self.ended = False

    # -- starting ---------------------------------------------------------------------------------

    def names(self, text):
        for label, port in self.ports.items():
            text = text.replace("{%s}" % label, port.name)
        return text

    def _devices(self):
        argv, pcaps = [], 0
        for index, port in enumerate(self.ports.values()):
            if isinstance(port, PcapPort):
                text = port.open(index, pcaps, self.folder)
                pcaps += 1
            else:
                text = port.open(index, Space.namespace)
            argv += ["--vdev", text]
        return argv

    def _own_options(self):
        argv = []
        for option, is_side in (("--underlay", True), ("--access", False)):
            names = [p.name for label, p in self.ports.items()
                     if label.startswith("U") == is_side]
            if names:
                argv += [option, ",".join(names)]
        argv += ["--mtu", str(self.mtu), "--cli-socket", self.socket_path]
        if self.underlay_mtu:
            argv += ["--underlay-mtu", str(self.underlay_mtu)]
        mbuf = max([port.MBUF[port.ring] for port in self.ports.values()
                    if isinstance(port, VethPort)], default=2176)
        if mbuf > 2176 and "--mbuf-size" not in self.options:
            argv += ["--mbuf-size", str(mbuf)]
        if self.small:
            for option, value in (("--max-macs", "16384"), ("--max-vteps", "256"),
                                  ("--total-num-mbufs", "16384" if mbuf <= 2176 else "8192")):
                if option not in self.options:
                    argv += [option, value]
        with open(self.folder + "/startup.conf", "w", encoding="ascii") as file:
            file.write(self.names(self.config) + "\n")
        if "--cmdline-file" not in self.options:
            argv += ["--cmdline-file", self.folder + "/startup.conf"]
        return argv + (["-i"] if self.interactive else []) + self.options

    def argv(self):
        return [BINARY, *eal_arguments(self.prefix, self.lcores), *self._devices(), "--",
                *self._own_options()]

    def launch(self):
        """Start the process without waiting for it."""
        namespace = Space.namespace
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                self.argv(), stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
                preexec_fn=namespace.enter if namespace is not None else None)

    def open(self, forward=True):
        """Start, wait for the prompt, and (by default) for forwarding to have begun."""
        self.launch()
        end = time.monotonic() + 10 * SLOW
        while self.cli is None:
            if self.process.poll() is not None:
                raise AssertionError("ended with status %d at start:\n%s" % (
                    self.process.returncode, self.log()[-3000:]))
            assert time.monotonic() < end, "no CLI socket:\n" + self.log()[-3000:]
            try:
                self.cli = Cli(self.socket_path)
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.01)
        for port in self.ports.values():
            if isinstance(port, TapPort):
                port.attach()
        self.memory_before = self.memory()
        if forward and self.interactive:
            self.cli("start")
        return self

    def __enter__(self):
        try:
            return self.open()
        except BaseException:
            self.kill()
            raise

    def __exit__(self, kind, value, trace):
        try:
            if kind is None and not self.ended:
                self.finish()
            elif kind is not None:
                print("log of the program:\n" + self.log()[-3000:])
        finally:
            self.kill()

    # -- asking -----------------------------------------------------------------------------------

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def run(self, text):
        """Several commands, one a line; the last one's output."""
        result = ""
        for line in self.names(text).strip().split("\n"):
            result = self.cli(line.strip())
        return result

    def refuse(self, line):
        """A command that must fail and change nothing; its message."""
        before = self.cli("show config")
        text = self.cli.raw(self.names(line))
        lines = [part for part in text.split("\n") if part.strip()]
        assert len(lines) == 1 and lines[0].startswith("error: "), (
            "%r gave %r, expected one line that begins with \"error: \"" % (line, text))
        assert self.cli("show config") == before, "%r was refused but changed something" % line
        return lines[0]

    def stats(self):
        return counters(self.cli("show fwd stats all"))

    def drops(self):
        """{reason: count} of what is not zero."""
        found = counters(self.cli("show drops"))
        total = found.pop("total", None)
        assert total is None or total == sum(found.values()), "the total is not the sum"
        return {name: value for name, value in found.items() if value}

    def memory(self):
        return pools(self.cli("show memory"))

    def fdb(self, arguments=""):
        text = self.cli(("show fdb " + arguments).strip())
        return {e.mac: e for e in map(Entry, filter(MAC_TEXT.search, text.split("\n")))}

    def config_lines(self):
        lines = [line.strip() for line in self.cli("show config").split("\n")]
        return [line for line in lines if line and not line.startswith("#")]

    # -- waiting ----------------------------------------------------------------------------------

    @staticmethod
    def until(condition, what, timeout=5.0):
        """Poll until @condition returns something true, and return that."""
        end = time.monotonic() + timeout * SLOW
        while True:
            result = condition()
            if result:
                return result
            assert time.monotonic() < end, "waited in vain: %s" % what
            time.sleep(0.01)

    def await_drops(self, expected, timeout=5.0):
        """Wait until exactly these drops are counted."""
        end = time.monotonic() + timeout * SLOW
        found = self.drops()
        while found != expected:
            assert time.monotonic() < end, "drops are %s, expected %s" % (found, expected)
            time.sleep(0.01)
            found = self.drops()

    @staticmethod
    def balance(stats):
        """What the accounting law says must be 0 when nothing is in flight."""
        return (stats["received"] + stats["flood_copies"] + stats["originated"] +
                stats["fragments"] - stats["forwarded"] - stats["dropped"] - stats["consumed"] -
                stats["merged"] - stats["held"])

    def settle(self, received, timeout=10.0):
        """Wait until @received frames came in and all of them are accounted for."""
        def done():
            stats = self.stats()
            assert stats["received"] <= received, "received %d of %d" % (stats["received"],
                                                                         received)
            return stats["received"] == received and self.balance(stats) == 0 and stats
        end = time.monotonic() + timeout * SLOW
        while True:
            stats = done()
            if stats:
                return stats
            assert time.monotonic() < end, "received %d or the law is broken: %s" % (
                received, self.stats())
            time.sleep(0.01)

    # -- ending -----------------------------------------------------------------------------------

    def check_law(self):
        self.until(lambda: self.balance(self.stats()) == 0, LAW)

    def check_memory(self):
        def same():
            allowed = self.memory_slack + self.stats()["held"]
            now = self.memory()
            return now.keys() == self.memory_before.keys() and all(
                used <= self.memory_before[name][1] + allowed for name, (_, used) in now.items())
        self.until(same, "mbufs back: before %s, now %s" % (self.memory_before, self.memory()))

    def check_log(self):
        for line in self.log().split("\n"):
            assert not BAD_LOG.search(line), "in the log: " + line
            if BAD_ERROR.search(line) and not HARMLESS.search(line):
                raise AssertionError("in the log: " + line)

    def check_exit_log(self):
        """The program's last word: no packet buffer is missing."""
        assert "all packet buffers are back" in self.log(), self.log()[-1000:]

    def wait(self, timeout=5.0):
        """Until the process has ended; its status."""
        try:
            return self.process.wait(timeout * SLOW)
        except subprocess.TimeoutExpired:
            raise AssertionError("still running after %.0f s" % (timeout * SLOW)) from None

    def quit(self, timeout=5.0):
        self.cli.sock.sendall(b"quit\n")
        status = self.wait(timeout)
        self.ended = True
        return status

    def finish(self):
        """All checks that follow every test; the program has ended afterwards."""
        if self.check:
            self.check_law()
            self.check_memory()
        assert self.quit() == 0, "exit status %d:\n%s" % (self.process.returncode,
                                                          self.log()[-3000:])
        if self.check:
            self.check_log()
            self.check_exit_log()

    def kill(self):
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdin.close()
        if self.cli is not None:
            self.cli.close()
        for port in self.ports.values():
            port.close()
        forget(self.folder)


def alone(*options, config=None, env=None, user=None, lcores="0,1", vdevs=(), eal=None,
          timeout=10, program=None):
    """Run the program to its end (for what must be refused at start); the finished process."""
    folder = tempfile.mkdtemp(prefix="vxbb-")
    try:
        if eal is None:
            eal = eal_arguments(os.path.basename(folder), lcores) + [
                word for vdev in vdevs for word in ("--vdev", vdev)] + ["--"]
            if "--cli-socket" not in options:
                options += ("--cli-socket", folder + "/cli.sock")
        argv = [program or BINARY, *eal, *options]
        if config is not None:
            with open(folder + "/startup.conf", "w", encoding="ascii") as file:
                file.write(config)
            argv += ["--cmdline-file", folder + "/startup.conf"]
        return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=timeout * SLOW, env=env,
                              user=user, check=False)
    finally:
        forget(folder)
