# SPDX-License-Identifier: BSD-3-Clause
"""A multicast group in the place of a flood list, through a switch that snoops.

    tenant                       dut        net: br0, IGMP and MLD snooping    peer, peer2
    t0 198.51.100.1 -- a0  dpdk-vxlan  u0 -- port0     port1, port2 -- p0 192.0.2.2, .3
                                                                       vxlan100 198.51.100.2, .3
All three VTEPs are in 239.1.1.1, or from 2001:db8::1, ::2 and ::3 in ff05::100. The bridge sends group
packets only to ports on which it has heard reports, and forgets a port that does not answer its
queries.
"""
import json
import time

import pytest

from lab import peer_inner, peer_outer, until
from over6 import OURS, enable, part_of, peer_outer6, vxlan

GROUP, GROUP6 = "239.1.1.1", "ff05::100"
SOLICITED = "ff02::1:ff00:1"  # of 2001:db8::1
MEMBERSHIP = 3.0  # seconds without a report until the bridge forgets a member


def is_v6(protocol):
    return protocol.startswith("MLD")


def group_of(protocol):
    return GROUP6 if is_v6(protocol) else GROUP


def snoop(lab, protocol):
    """Ask each second, and forget those who do not answer."""
    bridge = ("net", "ip", "link", "set", "br0", "type", "bridge")
    family = "mld" if is_v6(protocol) else "igmp"
    if is_v6(protocol):
        enable(lab, "net", "br0")  # queries come from its link-local address
    lab.run(*bridge, f"mcast_{family}_version", protocol[-1], "mcast_query_interval", "100",
            "mcast_startup_query_interval", "50", "mcast_query_response_interval", "30",
            "mcast_membership_interval", str(int(MEMBERSHIP * 100)), "mcast_last_member_interval",
            "50")
    # Only now: for the response interval of this moment the bridge floods all multicast, reports too.
    # A peer that hears our IGMPv2 report keeps its own back, and is forgotten.
    lab.run(*bridge, "mcast_snooping", "1", "mcast_querier", "1")


def join_peer(lab, number, protocol):
    part = part_of(number)
    to = ("group", group_of(protocol), "dev", "p0", "ttl", "2")
    if is_v6(protocol):
        enable(lab, part, "p0", peer_outer6(number))
        vxlan(lab, number, to=to)
    else:
        vxlan(lab, number, to=to, local=peer_outer(number))


def members(lab, group):
    """The bridge's ports on which it has members of the group."""
    entries = json.loads(lab.run("net", "bridge", "-j", "mdb", "show").stdout)
    return {entry["port"] for one in entries for entry in one.get("mdb", [])
            if entry["grp"] == group}


@pytest.fixture
def group_lab(make_lab):
    def make(protocol):
        lab = make_lab(peers=2)
        snoop(lab, protocol)
        for number in (1, 2):
            join_peer(lab, number, protocol)
            lab(f"flood del {peer_outer(number)} vni 100")
        if is_v6(protocol):
            lab(f"address add {OURS}/64 port 0")
        lab(f"flood add {group_of(protocol)} vni 100")
        return lab
    return make


def group_line(lab, group):
    line, = [line.split() for line in lab("show group").split("\n") if line.startswith(group + " ")]
    return line


@pytest.mark.parametrize("protocol", ["IGMPv3", "IGMPv2", "MLDv2"])
def test_group(group_lab, protocol):
    lab, group = group_lab(protocol), group_of(protocol)
    peers = (peer_outer6(1), peer_outer6(2)) if is_v6(protocol) else (peer_outer(1), peer_outer(2))
    until(lambda: members(lab, group) == {"port0", "port1", "port2"},
          "the bridge to know all members")
    for part in ("tenant", "peer", "peer2"):
        for address in ("198.51.100.1", peer_inner(1), peer_inner(2)):
            lab.until_ping(address, part)
    # behind the peers' own addresses, not behind the group
    assert {entry.vtep for entry in lab.fdb().values()} == {None, *peers}
    until(lambda: group_line(lab, group)[-2:] == [protocol, "heard"], "the querier", 5)
    # Whoever does not answer is forgotten.
    end = time.monotonic() + MEMBERSHIP + 1
    while time.monotonic() < end:
        found = members(lab, group)
        assert found == {"port0", "port1", "port2"}, f"the bridge has forgotten one: {found}"
        time.sleep(0.1)
    if is_v6(protocol):
        # The peer's solicitation comes to us only as to a member of the group of our address.
        lab.run("net", "bridge", "link", "set", "dev", "port0", "mcast_flood", "off")
        assert "port0" in members(lab, SOLICITED)
        lab.run("peer", "ip", "neigh", "flush", "dev", "p0")
        lab.until_ping(part="peer", address="198.51.100.1")
    for line in ("fdb flush", "set learning off"):  # everything goes through the group
        lab(line)
    for number in (1, 2):
        assert lab.ping(peer_inner(number), count=5), f"{members(lab, group)} {lab.drops()}"
    lab(f"flood del {group} vni 100")
    until(lambda: members(lab, group) == {"port1", "port2"}, "the bridge to see us leave",
          MEMBERSHIP - 1)
    assert not lab.ping(peer_inner(1), wait=0.3)


@pytest.mark.parametrize("protocol", ["IGMPv3", "MLDv2"])
def test_leave_at_exit(group_lab, protocol):
    lab, group = group_lab(protocol), group_of(protocol)
    until(lambda: "port0" in members(lab, group), "the bridge to know us")
    assert lab.end() == 0
    # sooner than a member is forgotten that is merely silent
    until(lambda: "port0" not in members(lab, group), "the bridge to see us leave", MEMBERSHIP - 1)
