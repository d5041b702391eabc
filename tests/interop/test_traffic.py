# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of every size between a tenant and a Linux kernel VXLAN peer.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2
       inner MTU              192.0.2.1          physical MTU
"""
import pytest

from lab import peer_inner

MTUS = [(1500, 9000), (8900, 9000), (1450, 1500)]
both_mtus = pytest.mark.parametrize("inner,phys", MTUS, ids=lambda n: str(n))


@both_mtus
def test_ping_of_every_size(make_lab, inner, phys):
    lab = make_lab(inner=inner, phys=phys)
    lab.until_ping()
    step = 1 if inner <= 1500 else 7
    lab.ping_sizes(range(28, inner + 1, step))
    lab.ping_sizes(range(inner - 30, inner + 1, 1))


@both_mtus
def test_tcp_both_ways(make_lab, inner, phys):
    lab = make_lab(inner=inner, phys=phys)
    lab.until_ping()
    lab.iperf_server()
    for direction in ([], ["-R"]):
        end = lab.iperf("-C", "cubic", *direction)
        assert end["sum_received"]["bytes"] > 1_000_000, f"hardly anything came through: {end}"
    # Each segment went through the tunnel as one frame of full size, not as many small ones.
    stats = lab.stats()
    assert stats["encapsulated"] > 1000 and stats["decapsulated"] > 1000
    assert "inner_too_big" not in lab.drops() and "access_cut" not in lab.drops()


@both_mtus
def test_udp_both_ways(make_lab, inner, phys):
    lab = make_lab(inner=inner, phys=phys)
    lab.until_ping()
    lab.iperf_server()
    for direction in ([], ["-R"]):
        end = lab.iperf("-u", "-b", "20M", "-l", str(inner - 28), *direction)
        assert end["sum"]["packets"] > 100
        assert end["sum"]["lost_percent"] < 2, f"lost {end['sum']['lost_percent']:.1f} %"


def test_one_byte_too_big_is_counted(make_lab):
    """What exceeds the inner MTU is dropped under its own name, and nothing else is."""
    lab = make_lab(inner=1500, phys=1600)
    lab.until_ping()
    lab.run("tenant", "ip", "link", "set", "t0", "mtu", "1501")
    lab.run("dut", "ip", "link", "set", "a0", "mtu", "1501")
    before = lab.drops().get("inner_too_big", 0)
    assert not lab.run("tenant", "ping", "-n", "-q", "-c", "3", "-i", "0.05", "-W", "1", "-M", "do",
                       "-s", str(1501 - 28), peer_inner(), check=False).returncode == 0
    assert lab.drops()["inner_too_big"] == before + 3
    assert lab.ping()
