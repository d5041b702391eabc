# SPDX-License-Identifier: BSD-3-Clause
"""A multicast group in the place of a flood list, through a switch that snoops.

    tenant                       dut          net: br0, IGMP snooping      peer, peer2
    t0 198.51.100.1 -- a0  dpdk-vxlan  u0 -- port0     port1, port2 -- p0 192.0.2.2, .3
                                                                       vxlan100 198.51.100.2, .3
All three VTEPs are in 239.1.1.1. The bridge sends group packets only to ports on which it has heard
reports, and forgets a port that does not answer its queries.
"""
import json
import time

import pytest

from lab import peer_inner, peer_outer, until

GROUP = "239.1.1.1"


def snoop(lab, igmp_version):
    """Ask every 2 s and forget members after 5 s."""
    bridge = ("net", "ip", "link", "set", "br0", "type", "bridge")
    lab.run(*bridge, "mcast_igmp_version", str(igmp_version), "mcast_query_interval", "200",
            "mcast_startup_query_interval", "100", "mcast_query_response_interval", "50",
            "mcast_membership_interval", "500", "mcast_last_member_interval", "50")
    # Only now: for the response interval of this moment the bridge floods all multicast, reports too.
    # A peer that hears our IGMPv2 report keeps its own back, and is forgotten.
    lab.run(*bridge, "mcast_snooping", "1", "mcast_querier", "1")


def join_peer(lab, number):
    part = "peer" if number == 1 else f"peer{number}"
    lab.run(part, "ip", "link", "del", "vxlan100")
    lab.run(part, "ip", "link", "add", "vxlan100", "mtu", "1500", "type", "vxlan", "id", "100",
            "local", peer_outer(number), "group", GROUP, "dev", "p0", "dstport", "4789", "ttl", "2")
    lab.run(part, "ip", "address", "add", f"{peer_inner(number)}/24", "dev", "vxlan100")
    lab.run(part, "ethtool", "-K", "vxlan100", "tx", "off", check=False)
    lab.run(part, "ip", "link", "set", "vxlan100", "up")


def members(lab):
    """The bridge's ports on which it has members of the group."""
    entries = json.loads(lab.run("net", "bridge", "-j", "mdb", "show").stdout)
    return {entry["port"] for one in entries for entry in one.get("mdb", [])
            if entry["grp"] == GROUP}


@pytest.fixture
def group_lab(make_lab):
    def make(igmp_version):
        lab = make_lab(peers=2)
        snoop(lab, igmp_version)
        for number in (1, 2):
            join_peer(lab, number)
            lab(f"flood del {peer_outer(number)} vni 100")
        lab(f"flood add {GROUP} vni 100")
        return lab
    return make


def group_line(lab):
    return lab("show group").strip().split("\n")[1].split()


@pytest.mark.parametrize("igmp_version", [3, 2])
def test_group(group_lab, igmp_version):
    lab = group_lab(igmp_version)
    until(lambda: members(lab) == {"port0", "port1", "port2"}, "the bridge to know all members")
    for part in ("tenant", "peer", "peer2"):
        for address in ("198.51.100.1", peer_inner(1), peer_inner(2)):
            lab.until_ping(address, part)
    # behind the peers' own addresses, not behind the group
    assert {entry.vtep for entry in lab.fdb().values()} == {None, peer_outer(1), peer_outer(2)}
    until(lambda: group_line(lab)[-2:] == [f"IGMPv{igmp_version}", "heard"], "the querier", 5)
    # Whoever does not answer is forgotten after 5 s.
    end = time.monotonic() + 7
    while time.monotonic() < end:
        assert "port0" in members(lab), "the bridge has forgotten us"
        time.sleep(0.2)
    for line in ("fdb flush", "set learning off"):  # everything goes through the group
        lab(line)
    for number in (1, 2):
        assert lab.ping(peer_inner(number), count=5), f"{members(lab)} {lab.drops()}"
    lab("flood del 239.1.1.1 vni 100")
    until(lambda: members(lab) == {"port1", "port2"}, "the bridge to see us leave", 5)
    assert not lab.ping(peer_inner(1), wait=0.3)


def test_leave_at_exit(group_lab):
    lab = group_lab(3)
    until(lambda: "port0" in members(lab), "the bridge to know us")
    assert lab.end() == 0
    # sooner than the 5 s after which a member that is merely silent is forgotten
    until(lambda: "port0" not in members(lab), "the bridge to see us leave", 3)
