# SPDX-License-Identifier: BSD-3-Clause
"""What the FDB learns from, forgets about and keeps of a kernel peer.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2
"""
import time

from lab import peer_inner, peer_outer, until


def peer_mac(lab):
    return lab.mac("peer", "vxlan100")


def test_both_sides_are_learned(lab):
    lab.until_ping()
    fdb = until(lambda: len(lab.fdb()) >= 2 and lab.fdb(), "two MACs in the FDB")
    assert fdb[peer_mac(lab)].vtep == peer_outer()
    assert fdb[lab.mac("tenant", "t0")].vtep is None
    assert not any(entry.static for entry in fdb.values())


def test_ageing(lab):
    lab("set ageing 2")
    lab.until_ping()
    mac = peer_mac(lab)
    until(lambda: mac in lab.fdb(), "the peer's MAC in the FDB")
    began = time.monotonic()
    # Used entries stay: pings for longer than the ageing time.
    while time.monotonic() < began + 4:
        assert lab.ping()
        assert mac in lab.fdb(), "aged out although in use"
    until(lambda: mac not in lab.fdb(), "the peer's MAC to age out", 8)
    assert lab.stats()["aged"] >= 1
    lab.until_ping()
    until(lambda: mac in lab.fdb(), "the peer's MAC to be learned again")


def test_peer_with_a_new_mac(lab):
    lab.until_ping()
    old = peer_mac(lab)
    new = "02:00:00:00:be:ef"
    until(lambda: old in lab.fdb(), "the peer's MAC in the FDB")
    lab.run("peer", "ip", "link", "set", "vxlan100", "down")
    lab.run("peer", "ip", "link", "set", "vxlan100", "address", new, "up")
    lab.run("tenant", "ip", "neigh", "flush", "dev", "t0")
    lab.until_ping()
    assert until(lambda: lab.fdb().get(new), "the new MAC in the FDB").vtep == peer_outer()


def test_learning_off(lab):
    lab("set learning off")
    lab("fdb flush")
    lab.until_ping()
    assert lab.ping(count=5)
    assert lab.fdb() == {}
    # Everything is flooded instead.
    assert lab.stats()["flooded"] >= 10


def test_static_entry_without_flooding(lab):
    """With a static FDB entry and static neighbours nothing needs the flood list."""
    mac = peer_mac(lab)
    lab("set learning off")
    lab(f"flood del {peer_outer()} vni 100")
    lab("fdb flush")
    lab.run("tenant", "ip", "neigh", "replace", peer_inner(), "lladdr", mac, "dev", "t0")
    lab.run("peer", "ip", "neigh", "replace", "198.51.100.1", "lladdr", lab.mac("tenant", "t0"),
            "dev", "vxlan100")
    assert not lab.ping(wait=0.3)
    lab(f"fdb add {mac} vni 100 vtep {peer_outer()}")
    assert lab.fdb()[mac].static
    # The reply is unknown unicast from a tunnel: to every attachment.
    lab.until_ping()
    lab(f"fdb del {mac} vni 100")
    assert not lab.ping(wait=0.3)


def test_static_entry_is_not_overwritten(lab):
    mac = peer_mac(lab)
    lab(f"fdb add {mac} vni 100 vtep 192.0.2.99")
    before = lab.stats().get("static_conflict", 0)
    # The peer's frames come from 192.0.2.2, which contradicts the entry.
    lab.run("peer", "ping", "-n", "-q", "-c", "3", "-i", "0.05", "-W", "0.3", "198.51.100.1",
            check=False)
    until(lambda: lab.stats().get("static_conflict", 0) > before, "static_conflict to be counted")
    entry = lab.fdb()[mac]
    assert entry.static and entry.vtep == "192.0.2.99"
