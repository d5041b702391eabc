# SPDX-License-Identifier: BSD-3-Clause
"""Every way to end the program, with TCP flowing both ways through it.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2
"""
import signal
import time

import pytest

from lab import until


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, "quit"], ids=str)
def test_end_under_load(lab, how):
    lab.until_ping()
    lab.load()
    # Within two seconds, every mbuf back in its pool: end() checks both.
    assert lab.end(how) == 0
    assert "ended; all packet buffers are back" in lab.log()


def test_stop_and_start_under_load(lab):
    lab.until_ping()
    lab.load()
    began = time.monotonic()
    lab("stop")
    assert time.monotonic() - began < 2
    assert not lab.ping(wait=0.3)
    lab("start")
    lab.until_ping()
    before = lab.stats()["forwarded"]
    until(lambda: lab.stats()["forwarded"] > before + 5000, "TCP to flow again", 30)
    lab("stop")
    assert lab.end("quit") == 0


def test_sighup_changes_nothing(lab):
    lab.until_ping()
    before = lab("show config")
    lab.process.send_signal(signal.SIGHUP)
    assert lab.ping(count=3)
    assert lab("show config") == before
