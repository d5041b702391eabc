# SPDX-License-Identifier: BSD-3-Clause
"""Our own IPv6 address on the underlay, as the kernel sees it: neighbour discovery and ICMPv6 echo.

    dut                                   peer
    dpdk-vxlan  u0 2001:db8::1 ---- p0 2001:db8::2
"""
import pytest

from lab import until

OURS, PEER = "2001:db8::1", "2001:db8::2"


@pytest.fixture
def lab6(lab):
    lab.run("peer", "sysctl", "-qw", "net.ipv6.conf.p0.disable_ipv6=0")
    lab.run("peer", "ip", "addr", "add", PEER + "/64", "dev", "p0", "nodad")
    # the first port of the laboratory is the underlay's
    lab("address add %s/64 port 0" % OURS)
    return lab


def state_of(lab, address):
    line, = [line for line in lab("show address").split("\n") if line.startswith(address + "/")]
    return line.split(None, 4)[4]


def test_ping_and_neighbours(lab6):
    """At once, while detection runs; the kernel finds us, and we know it from its question."""
    lab6.until_ping(OURS, part="peer")
    mac, _ = lab6.neighbour("peer", OURS)
    assert mac == lab6.mac("dut", "u0")
    assert lab6.stats()["nd_adverts_sent"] >= 1
    # again, when it is over
    until(lambda: "tentative" not in lab6("show address"), "detection to end")
    lab6.run("peer", "ip", "neigh", "flush", "dev", "p0")
    lab6.until_ping(OURS, part="peer")
    assert lab6.neighbour("peer", OURS)[0] == lab6.mac("dut", "u0")
    # the kernel asks from its link-local address or from the global one
    assert lab6.mac("peer", "p0") in lab6("show neigh").lower()
    assert not lab6.ping("2001:db8::77", part="peer", wait=2)


def test_echo_of_sizes(lab6):
    lab6.until_ping(OURS, part="peer")
    for size in (0, 1, 56, 1232, 1500 - 48):
        assert lab6.run("peer", "ping", "-6", "-n", "-q", "-c", "1", "-W", "2", "-s", str(size), OURS)


def test_kernel_has_it_already(lab6):
    """Duplicate address detection: the kernel defends what is its own."""
    lab6("address add %s/64 port 0" % "2001:db8::3")
    lab6.run("peer", "ip", "addr", "add", "2001:db8::4/64", "dev", "p0", "nodad")
    lab6("address add %s/64 port 0" % "2001:db8::4")
    until(lambda: state_of(lab6, "2001:db8::4").startswith("duplicate"), "the duplicate")
    until(lambda: state_of(lab6, "2001:db8::3") == "up", "the other one")


def test_we_have_it_already(lab6):
    """The kernel's detection: what is ours is defended."""
    until(lambda: state_of(lab6, OURS) == "up", "detection to end")
    lab6.run("peer", "ip", "addr", "add", OURS + "/64", "dev", "p0")
    until(lambda: "dadfailed" in lab6.run("peer", "ip", "addr", "show", "dev", "p0").stdout,
          "the kernel to see the duplicate")
    assert state_of(lab6, OURS) == "up"
