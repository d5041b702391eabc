# SPDX-License-Identifier: BSD-3-Clause
"""Peers that go and come back, several of them, and a program that is restarted.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2

and with two peers, on a bridge in a namespace of its own:
                                         u0 --+-- p0 192.0.2.3  vxlan100 198.51.100.3   (peer2)
                                              +-- p0 192.0.2.2  vxlan100 198.51.100.2   (peer)
"""
from lab import peer_inner, peer_outer, until


def test_link_down_and_up(make_lab):
    # Behind the bridge: our own link stays up.
    lab = make_lab(peers=2)
    lab.until_ping()
    lab.run("peer", "ip", "link", "set", "p0", "down")
    assert not lab.ping(wait=0.5)
    assert lab.ping(peer_inner(2)), "one peer's absence stopped the other"
    lab.run("peer", "ip", "link", "set", "p0", "up")
    lab.until_ping(timeout=30)


def test_our_link_down_and_up(lab):
    lab.until_ping()
    lab.run("dut", "ip", "link", "set", "u0", "down")
    assert not lab.ping(wait=0.5)
    lab.run("dut", "ip", "link", "set", "u0", "up")
    lab.until_ping(timeout=30)


def test_peer_with_a_new_underlay_mac(lab):
    lab.until_ping()
    lab.run("peer", "ip", "link", "set", "p0", "down")
    lab.run("peer", "ip", "link", "set", "p0", "address", "02:00:00:00:ca:fe", "up")
    lab.until_ping(timeout=60)
    assert "02:00:00:00:ca:fe" in lab("show neigh").lower()


def test_vxlan_device_comes_late(lab):
    lab.until_ping()
    lab.run("peer", "ip", "link", "delete", "vxlan100")
    assert not lab.ping(wait=0.5)
    lab.run("peer", "ip", "link", "add", "vxlan100", "type", "vxlan", "id", "100", "local",
            peer_outer(), "remote", "192.0.2.1", "dstport", "4789")
    lab.run("peer", "ethtool", "-K", "vxlan100", "tx", "off")
    lab.run("peer", "ip", "address", "add", peer_inner() + "/24", "dev", "vxlan100")
    lab.run("peer", "ip", "link", "set", "vxlan100", "up")
    lab.run("tenant", "ip", "neigh", "flush", "dev", "t0")
    lab.until_ping(timeout=15)


def test_restart_under_traffic(lab):
    lab.until_ping()
    lab.load()
    assert lab.end() == 0
    lab.start()
    lab.until_ping()
    before = lab.stats()["forwarded"]
    # The same TCP connections go on.
    until(lambda: lab.stats()["forwarded"] > before + 5000, "TCP to flow again", 30)


def test_two_peers(make_lab):
    lab = make_lab(peers=2)
    for number in (1, 2):
        lab.until_ping(peer_inner(number))
    assert lab.stats()["flood_copies"] >= 1
    fdb = lab.fdb()
    assert fdb[lab.mac("peer", "vxlan100")].vtep == peer_outer(1)
    assert fdb[lab.mac("peer2", "vxlan100")].vtep == peer_outer(2)
    # A broadcast reaches both.
    lab.run("tenant", "ip", "neigh", "flush", "dev", "t0")
    for number in (1, 2):
        assert lab.ping(peer_inner(number))


def test_split_horizon(make_lab):
    """A frame from one tunnel never goes into another, be it flooded or addressed."""
    lab = make_lab(peers=2)
    for number in (1, 2):
        lab.until_ping(peer_inner(number))
    until(lambda: len(lab.fdb()) >= 3, "three MACs in the FDB")
    assert not lab.ping(peer_inner(2), part="peer", wait=0.5)
    # Addressed: the peer knows the other's MAC.
    lab.run("peer", "ip", "neigh", "replace", peer_inner(2), "lladdr", lab.mac("peer2", "vxlan100"),
            "dev", "vxlan100")
    before = lab.drops().get("split_horizon", 0)
    assert not lab.ping(peer_inner(2), part="peer", count=3, wait=0.5)
    assert lab.drops().get("split_horizon", 0) >= before + 3
