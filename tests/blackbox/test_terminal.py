# SPDX-License-Identifier: BSD-3-Clause
"""The prompt on a terminal: completion, history, editing."""
import fcntl
import os
import pty
import select
import subprocess
import termios
import time

import pytest

import vtep as harness
from vtep import PROMPT, eal_arguments


class Terminal:
    """The program behind a pseudo-terminal."""

    def __init__(self):
        self.master, slave = pty.openpty()
        self.path = "/tmp/vxbb-tty-%d" % os.getpid()
        self.process = subprocess.Popen(
            [harness.BINARY, *eal_arguments(os.path.basename(self.path)), "--vdev", "net_null0",
             "--vdev", "net_null1", "--", "-i", "--cli-socket", self.path + ".sock",
             "--max-macs", "16384"], stdin=slave, stdout=slave, stderr=subprocess.DEVNULL,
            preexec_fn=self._take_terminal)
        os.close(slave)

    @staticmethod
    def _take_terminal():
        """In the child: the slave is its controlling terminal, so that keys become signals."""
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def until(self, wanted, timeout=10):
        """Read until @wanted was printed; everything read."""
        text, end = b"", time.monotonic() + timeout * harness.SLOW
        while wanted not in text:
            assert time.monotonic() < end, "no %r in %r" % (wanted, text)
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    text += os.read(self.master, 65536)
                except OSError:
                    raise AssertionError("ended after %r" % text) from None
        return text

    def type(self, keys):
        os.write(self.master, keys)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal():
    term = Terminal()
    try:
        term.until(PROMPT)
        yield term
    finally:
        term.close()


def test_completion(terminal):
    """Tab completes words, and values that exist now: VNIs, ports, addresses."""
    terminal.type(b"vni add 4242\r")
    terminal.until(PROMPT)
    terminal.type(b"vn\t")
    terminal.until(b"vni ")
    terminal.type(b"de\t42\t")
    terminal.until(b"4242")
    terminal.type(b"\r")
    terminal.until(PROMPT)
    terminal.type(b"address add 192.0.2.77/24 port net_nu\t")
    terminal.until(b"net_null")
    terminal.type(b"0\r")
    terminal.until(PROMPT)
    terminal.type(b"address del 192\t")
    terminal.until(b"192.0.2.77")
    terminal.type(b"\r")
    assert b"error" not in terminal.until(PROMPT)
    terminal.type(b"show \t\t")
    text = terminal.until(b"version")
    for word in (b"vni", b"fdb", b"config", b"drops"):
        assert word in text
    terminal.type(b"\x7f" * 5 + b"quit\r")
    assert terminal.process.wait(10 * harness.SLOW) == 0


def test_history_and_editing(terminal):
    """The arrow up brings the last line back; keys edit it."""
    terminal.type(b"vni add 31\r")
    terminal.until(PROMPT)
    terminal.type(b"\x1b[A\x7f2\r")  # last line, backspace, 2: vni add 32
    terminal.until(PROMPT)
    terminal.type(b"show vni\r")
    text = terminal.until(b"32")
    assert b"31" in text
    terminal.type(b"quit\r")
    assert terminal.process.wait(10 * harness.SLOW) == 0


def test_interrupt_key_ends_cleanly(terminal):
    """Ctrl-C is SIGINT: status 0, and the terminal is as it was."""
    before = termios.tcgetattr(terminal.master)
    terminal.type(b"\x03")
    assert terminal.process.wait(10 * harness.SLOW) == 0
    after = termios.tcgetattr(terminal.master)
    assert not before[3] & termios.ECHO and after[3] & termios.ECHO
