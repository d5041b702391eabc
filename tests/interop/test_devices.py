# SPDX-License-Identifier: BSD-3-Clause
"""The same traffic through other DPDK devices than net_af_packet.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2

net_pcap receives and sends chains of 2 KiB mbufs; net_af_xdp sends wrong bytes if given a chain, so
that the program has to copy it into one buffer first.
"""
import pytest

DEVICES = [("pcap", 1500, 1600), ("pcap", 8900, 9000), ("af_xdp", 1500, 1600)]


@pytest.mark.parametrize("device,inner,phys", DEVICES)
def test_ping_of_every_size(make_lab, device, inner, phys):
    lab = make_lab(device=device, inner=inner, phys=phys)
    lab.until_ping()
    lab.ping_sizes(range(28, inner + 1, 7 if inner <= 1500 else 61))
    lab.ping_sizes(range(inner - 10, inner + 1, 1))


@pytest.mark.parametrize("device,inner,phys", DEVICES)
def test_tcp_both_ways(make_lab, device, inner, phys):
    lab = make_lab(device=device, inner=inner, phys=phys)
    lab.until_ping()
    lab.iperf_server()
    for direction in ([], ["-R"]):
        end = lab.iperf("-C", "cubic", *direction)
        assert end["sum_received"]["bytes"] > 1_000_000, f"hardly anything came through: {end}"
