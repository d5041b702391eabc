# SPDX-License-Identifier: BSD-3-Clause
"""An inner MTU far above the physical one: outer fragments between us and a Linux kernel peer.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2
       8900                   192.0.2.1          1500             8900

The underlay is net_pcap: net_af_packet's kernel side reassembles before the program sees anything.
"""
import pytest

from lab import TENANT, peer_inner

INNER, PHYS = 8900, 1500
PIECES = 7  # of a full frame


@pytest.fixture(name="lab")
def fixture_lab(make_lab):
    lab = make_lab(inner=INNER, phys=PHYS, device="pcap")
    # Else the kernel learns from its own device that only 1450 bytes fit, and sends no more.
    for part, device in (("tenant", "t0"), ("peer", "vxlan100")):
        lab.run(part, "ip", "route", "change", "198.51.100.0/24", "dev", device, "mtu", "lock",
                str(INNER))
    lab.until_ping()
    return lab


def kernel(lab, name):
    """One of the peer's IP counters."""
    for line in lab.run("peer", "nstat", "-asz", name).stdout.split("\n"):
        if line.startswith(name):
            return int(line.split()[1])
    raise AssertionError("no counter " + name)


def test_ping_in_fragments_both_ways(lab):
    """Each size around a boundary of fragments; the answers carry the same bytes."""
    sizes = [range(n * 1480 - 50 - 3, n * 1480 - 50 + 4) for n in range(1, PIECES)]
    for some in sizes + [range(INNER - 20, INNER + 1)]:
        lab.ping_sizes(some)
    stats = lab.stats()
    assert stats["fragmented"] > 30 and stats["reassembled"] > 30
    assert kernel(lab, "IpReasmOKs") >= 30 and kernel(lab, "IpReasmFails") == 0
    assert not set(lab.drops()) & {"frag_bad", "frag_overlap", "frag_duplicate", "frag_limit",
                                   "frag_timeout", "outer_udp_checksum", "too_big"}
    # and begun by the peer
    lab.ping_sizes(range(INNER - 3, INNER + 1), TENANT, "peer")


def test_tcp_in_fragments_both_ways(lab):
    lab.iperf_server()
    for direction, counter in (([], "fragmented"), (["-R"], "reassembled")):
        before = lab.stats()[counter]
        end = lab.iperf("-C", "cubic", *direction)
        assert end["sum_received"]["bytes"] > 1_000_000, "hardly anything came through: %s" % end
        assert lab.stats()[counter] > before + 100
        print("%s: %.2f Gbit/s, %d retransmissions" % (
            counter, end["sum_received"]["bits_per_second"] / 1e9, end["sum_sent"]["retransmits"]))
    drops = lab.drops()
    assert not set(drops) & {"frag_bad", "frag_overlap", "frag_duplicate", "outer_udp_checksum",
                             "too_big", "inner_too_big"}, drops
    assert kernel(lab, "IpReasmOKs") > 100


def test_udp_in_fragments_both_ways(lab):
    """At a rate that all parts carry easily, hardly a datagram is missing."""
    lab.iperf_server()
    for direction in ([], ["-R"]):
        end = lab.iperf("-u", "-b", "40M", "-l", str(INNER - 28), *direction)
        assert end["sum"]["packets"] > 500
        assert end["sum"]["lost_percent"] < 2, "lost %.1f %%" % end["sum"]["lost_percent"]
    assert lab.stats()["reassembled"] > 400 and lab.stats()["fragmented"] > 400


def test_answers_instead_of_fragments(lab):
    """`set oversize reply`: the tenant's kernel believes the answer and sends what fits."""
    lab("set oversize reply")
    lab.run("tenant", "ip", "route", "change", "198.51.100.0/24", "dev", "t0")
    lab.run("peer", "ip", "link", "set", "vxlan100", "mtu", str(PHYS - 50))
    lab.run("peer", "ip", "route", "change", "198.51.100.0/24", "dev", "vxlan100")
    lab.run("tenant", "ping", "-n", "-q", "-c", "1", "-W", "1", "-M", "do", "-s", "4000",
            peer_inner(), check=False)
    assert lab.drops()["too_big_replied"] >= 1
    assert "mtu 1450" in lab.run("tenant", "ip", "route", "get", peer_inner()).stdout
    lab.iperf_server()
    end = lab.iperf("-C", "cubic")
    assert end["sum_received"]["bytes"] > 1_000_000
    assert lab.stats()["fragmented"] == 0


def test_inner_fragments(lab):
    """`set oversize inner`: the peer's tenant puts together what left as packets of their own."""
    lab("set oversize inner")
    lab.run("tenant", "ping", "-n", "-q", "-c", "3", "-i", "0.1", "-W", "1", "-M", "dont", "-s",
            "6000", peer_inner())
    assert lab.stats()["fragmented"] == 3 and kernel(lab, "IpReasmOKs") == 3
