# SPDX-License-Identifier: BSD-3-Clause
"""The largest inner MTU that a kernel interface gives us, over physical MTUs far below.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2
       61000                  192.0.2.1       1500 or 9000        61000

The tenant's side is net_af_packet, which takes frames up to 61,408 bytes. As the underlay net_pcap
shows fragments as they come; net_af_packet gets them put together by the kernel, and sends ours.
"""
import re

import pytest

from lab import TENANT, peer_inner

INNER = 61000
LABS = [("pcap", 1500), ("pcap", 9000), ("af_packet", 1500)]


@pytest.fixture(name="lab")
def fixture_lab(request, make_lab):
    underlay, phys = request.param
    lab = make_lab(inner=INNER, phys=phys, device=underlay, access="af_packet")
    for part, device in (("tenant", "t0"), ("peer", "vxlan100")):
        # Else the kernel learns from its own device what fits, and sends no more.
        lab.run(part, "ip", "route", "change", "198.51.100.0/24", "dev", device, "mtu", "lock",
                str(INNER))
        # No probes after a few milliseconds without an answer: they count as sent again.
        lab.run(part, "tee", "/proc/sys/net/ipv4/tcp_early_retrans", stdin="0")
    lab.until_ping()
    return lab


def missed(lab):
    """Frames that the receive rings of the devices had no room for."""
    return sum(map(int, re.findall(r"missed \(ring full\) (\d+)", lab("show port stats all"))))


@pytest.mark.parametrize("lab", LABS, indirect=True, ids=lambda lab: "%s-%d" % lab)
def test_both_ways(lab):
    """Ping, and TCP: not a frame is lost, and hardly a segment is sent twice."""
    lab.ping_sizes(range(1000, INNER + 1, 2000))
    lab.ping_sizes(range(INNER - 2, INNER + 1))
    lab.ping_sizes(range(INNER - 2, INNER + 1), TENANT, "peer")
    stats = lab.stats()
    assert stats["fragmented"] > 30
    assert (stats["reassembled"] > 30) == (lab.device == "pcap")
    lab.iperf_server()
    for direction in ([], ["-R"]):
        # libpcap's ring holds 2 MiB, in blocks that may be half empty: no more on the way.
        end = lab.iperf("-C", "cubic", "-w", "256K", *direction)
        sent, again = end["sum_sent"]["bytes"], end["sum_sent"]["retransmits"]
        segments = sent / (INNER - 52)
        print("%s %.2f Gbit/s, %d of %d segments sent again, %d missed; %s" % (
            direction, end["sum_received"]["bits_per_second"] / 1e9, again, segments, missed(lab),
            lab.drops()))
        assert segments > 100
        # 0 of them on a machine that has time; on a busy one timers send some without need
        assert again <= segments / 100 + 5, lab.drops()
    assert missed(lab) == 0
    assert not set(lab.drops()) & {"tx_full", "frag_timeout", "frag_limit", "frag_bad", "too_big",
                                   "inner_too_big", "outer_udp_checksum"}, lab.drops()
