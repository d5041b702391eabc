# SPDX-License-Identifier: BSD-3-Clause
"""Tunnels over IPv6 with a Linux kernel peer.

    tenant                      dut                                 peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 2001:db8::2  vxlan100 198.51.100.2
                             2001:db8::1
"""
import json

import pytest

from lab import TENANT, peer_inner, peer_outer, until
from over6 import OURS, enable, ours, peer_outer6, socket_peer, vxlan

OVERHEAD = 70
PIECE = (1500 - 48) // 8 * 8  # of an IPv6 payload, in one fragment
# What no fragment and no tunnel may end as here
FAULTS = {"frag_bad", "frag_overlap", "frag_duplicate", "frag_limit", "frag_timeout", "too_big",
          "outer_udp_checksum", "inner_too_big"}


@pytest.fixture(name="make_lab6")
def fixture_make_lab6(make_lab):
    def make(*options, kernel=True, **arguments):
        lab = make_lab(**arguments)
        lab.run("peer", "ip", "address", "flush", "dev", "p0")  # nothing can go over IPv4
        enable(lab, "peer", "p0", peer_outer6())
        if kernel:
            vxlan(lab, 1, *options)
        else:
            socket_peer(lab)
        ours(lab)
        return lab
    return make


def lock_mtu(lab, part, device, mtu):
    """What is sent has at most this size, whatever the kernel learns of the path; TCP takes more."""
    lab.run(part, "ip", "route", "change", "198.51.100.0/24", "dev", device, "mtu", "lock", str(mtu),
            "advmss", str(lab.inner - 40))


def tcp(lab, *arguments, seconds=1):
    """Once in each direction; the bytes that arrived."""
    found = []
    for direction in ([], ["-R"]):
        end = lab.iperf("-C", "cubic", *arguments, *direction, seconds=seconds)
        found.append(end["sum_received"]["bytes"])
        print("%s %.2f Gbit/s, %d sent again; %s" % (
            direction, end["sum_received"]["bits_per_second"] / 1e9,
            end["sum_sent"]["retransmits"], lab.drops()))
    assert min(found) > 1_000_000, found
    assert not set(lab.drops()) & FAULTS, lab.drops()


def kernel(lab, name):
    """One of the peer's counters."""
    for line in lab.run("peer", "nstat", "-asz", name).stdout.split("\n"):
        if line.startswith(name):
            return int(line.split()[1])
    raise AssertionError("no counter " + name)


def kernel_fdb(lab, part="peer"):
    """{MAC: remote} of the peer's VXLAN device."""
    entries = json.loads(lab.run(part, "bridge", "-j", "fdb", "show", "dev", "vxlan100").stdout)
    return {entry["mac"]: entry.get("dst") for entry in entries}


@pytest.mark.parametrize("inner, phys", [(1500, 1600), (8900, 9000)])
def test_unfragmented(make_lab6, inner, phys):
    """Sizes in steps, TCP both ways, and each side has learned where the other's MAC is."""
    lab = make_lab6(inner=inner, phys=phys)
    lab.until_ping()
    lab.ping_sizes(range(28, inner + 1, 53))
    lab.ping_sizes(range(inner - 2, inner + 1))
    lab.ping_sizes(range(inner - 2, inner + 1), TENANT, "peer")
    fdb = lab.fdb()
    assert fdb[lab.mac("peer", "vxlan100")].vtep == peer_outer6()
    assert fdb[lab.mac("tenant", "t0")].vtep is None
    assert kernel_fdb(lab)[lab.mac("tenant", "t0")] == OURS
    lab.iperf_server()
    tcp(lab)
    assert lab.stats()["fragmented"] == 0
    assert lab.neighbour("peer", OURS)[0] == lab.mac("dut", "u0")


def test_zero_checksum(make_lab6):
    """RFC 6935: a kernel that takes and sends zero, and one that drops it."""
    lab = make_lab6("udp6zerocsumrx", "udp6zerocsumtx")
    lab.until_ping()
    for line in ("set udp-checksum off", "set udp-checksum on", "set udp-checksum off"):
        lab(line)
        assert lab.ping(count=3), line
    lab.ping_sizes(range(28, 1501, 100))
    assert not lab.drops().keys() & {"outer_udp_checksum"}
    vxlan(lab, 1, "noudp6zerocsumrx", "udp6zerocsumtx")
    lab.run("tenant", "ip", "neigh", "flush", "dev", "t0")
    lab("fdb flush")
    assert not lab.ping(wait=0.3)
    lab("set udp-checksum auto")
    lab.until_ping()


def test_both_come_back(make_lab6):
    """The program restarted, while the kernel keeps its entries; then the peer with another MAC."""
    lab = make_lab6()
    lab.until_ping()
    assert lab.end() == 0
    lab.start()
    ours(lab)
    lab.until_ping()
    until(lambda: "tentative" not in lab("show address"), "detection to end")
    assert "duplicate" not in lab("show address"), "the kernel's memory of us taken for another"
    lab.run("peer", "ip", "link", "set", "p0", "down")
    lab.run("peer", "ip", "link", "set", "p0", "address", "02:00:00:00:ca:fe", "up")
    # with the link its IPv6 addresses have gone
    lab.run("peer", "ip", "address", "replace", peer_outer6() + "/64", "dev", "p0", "nodad")
    lab.until_ping(timeout=60)
    assert "02:00:00:00:ca:fe" in lab("show neigh").lower()


def test_our_fragments(make_lab6):
    """Linux's vxlan puts together what we send. It never fragments over IPv6 itself: its tenant sends
    what fits, an echo reply in inner fragments."""
    inner, phys = 8900, 1500
    lab = make_lab6(inner=inner, phys=phys, device="pcap")
    lock_mtu(lab, "tenant", "t0", inner)
    lock_mtu(lab, "peer", "vxlan100", phys - OVERHEAD)
    lab.until_ping()
    for pieces in range(1, 7):
        # one packet is full, or that many fragments are
        edge = phys - OVERHEAD if pieces == 1 else pieces * PIECE - OVERHEAD + 40
        lab.ping_sizes(range(edge - 3, edge + 4))
    lab.ping_sizes(range(inner - 3, inner + 1))
    stats = lab.stats()
    assert stats["fragmented"] == 3 + 5 * 7 + 4 and stats["reassembled"] == 0
    assert kernel(lab, "Ip6ReasmOKs") == stats["fragmented"]
    lab.iperf_server()
    tcp(lab, "-w", "256K")
    assert lab.stats()["fragmented"] > stats["fragmented"] + 100
    assert kernel(lab, "Ip6ReasmFails") == 0


@pytest.mark.parametrize("inner, phys, access", [(8900, 1500, None), (61000, 1500, "af_packet"),
                                                 (61000, 9000, "af_packet")])
def test_fragments_both_ways(make_lab6, inner, phys, access):
    """The kernel's sockets fragment over IPv6: a peer made of one."""
    lab = make_lab6(kernel=False, inner=inner, phys=phys, device="pcap", access=access)
    lock_mtu(lab, "tenant", "t0", inner)
    lock_mtu(lab, "peer", "vxlan100", inner)
    lab.until_ping()
    lab.ping_sizes(range(1000, inner + 1, inner // 30))
    lab.ping_sizes(range(inner - 3, inner + 1))
    lab.ping_sizes(range(inner - 3, inner + 1), TENANT, "peer")
    stats = lab.stats()
    assert stats["fragmented"] > 20 and stats["reassembled"] > 20
    lab.iperf_server()
    tcp(lab, "-w", "256K")
    assert lab.stats()["fragmented"] > stats["fragmented"] + 20
    assert lab.stats()["reassembled"] > stats["reassembled"] + 20
    assert kernel(lab, "Ip6ReasmFails") == 0


def test_both_families_in_one_segment(make_lab):
    """One peer over IPv6, another over IPv4: flooded to both, learned behind its own address."""
    lab = make_lab(peers=2)
    enable(lab, "peer", "p0", peer_outer6())
    vxlan(lab, 1)
    ours(lab)
    for number in (1, 2):
        lab.until_ping(peer_inner(number))
    fdb = lab.fdb()
    assert fdb[lab.mac("peer", "vxlan100")].vtep == peer_outer6()
    assert fdb[lab.mac("peer2", "vxlan100")].vtep == peer_outer(2)
    assert kernel_fdb(lab)[lab.mac("tenant", "t0")] == OURS
    assert kernel_fdb(lab, "peer2")[lab.mac("tenant", "t0")] == "192.0.2.1"
    for line in ("fdb flush", "set learning off"):
        lab(line)
    for number in (1, 2):
        lab.ping_sizes(range(28, 1501, 100), peer_inner(number))
    lab("set learning on")
    # A tenant that moves from one peer to the other, and so from one family to the other
    mac = lab.mac("peer", "vxlan100")
    assert lab.ping()
    assert lab.fdb()[mac].vtep == peer_outer6()
    lab.run("peer", "ip", "link", "set", "vxlan100", "down")
    lab.run("peer2", "ip", "link", "set", "vxlan100", "address", mac)
    lab.run("peer2", "ping", "-n", "-q", "-c", "2", "-i", "0.1", "-W", "1", TENANT, check=False)
    until(lambda: lab.fdb()[mac].vtep == peer_outer(2), "the MAC to move")
