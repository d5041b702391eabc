# SPDX-License-Identifier: BSD-3-Clause
"""Our own address on the underlay, as the kernel sees it: ARP and ICMP echo.

    dut                               peer
    dpdk-vxlan  u0 192.0.2.1 ---- p0 192.0.2.2
"""
import pytest

from lab import OUR_VTEP, until


def test_arp_reply(lab):
    lab.until_ping(OUR_VTEP, part="peer")
    mac, _ = lab.neighbour("peer", OUR_VTEP)
    # The device is the veth end's: it has its MAC.
    assert mac == lab.mac("dut", "u0")
    # Until here our own request may have told it to the kernel.
    before = lab.stats()["arp_replies_sent"]
    lab.run("peer", "ip", "neigh", "flush", "dev", "p0")
    lab.until_ping(OUR_VTEP, part="peer")
    assert lab.stats()["arp_replies_sent"] > before


def test_no_arp_reply_for_another_address(lab):
    lab.until_ping(OUR_VTEP, part="peer")
    assert not lab.ping("192.0.2.77", part="peer", wait=2)
    until(lambda: lab.neighbour("peer", "192.0.2.77")[1] in ("FAILED", None),
          "the kernel to give up 192.0.2.77", 10)


def test_we_resolve_the_peer(lab):
    """Our request, the kernel's reply; the neighbour's MAC is the kernel's."""
    lab.until_ping()
    assert lab.mac("peer", "p0") in lab("show neigh").lower()
    assert lab.stats()["arp_requests_sent"] >= 1


@pytest.mark.parametrize("phys", [1500, 9000])
def test_echo_of_every_size(make_lab, phys):
    lab = make_lab(inner=1450, phys=phys)
    lab.until_ping(OUR_VTEP, part="peer")
    # Echo is rate-limited: a few hundred sizes, the largest ones among them.
    lab.ping_sizes(range(28, phys + 1, max(1, phys // 100)), OUR_VTEP, part="peer")
    lab.ping_sizes(range(phys - 10, phys + 1, 1), OUR_VTEP, part="peer")
    assert lab.stats()["echo_replies_sent"] >= 100
