# SPDX-License-Identifier: BSD-3-Clause
"""IGMP and MLD snooping: which ports and remote VTEPs get tenants' multicast, byte by byte."""
import ipaddress
import struct

import pytest

import packets as pk
from tunnel import CONFIG, H1, H2, H3, R2, R3, THREE, Live

ON = "set snooping on vni 100\n"
PORTS = "access add {A2} vni 100\naccess add {A3} vni 100\n"
G1, G2, MDNS = "239.129.1.1", "239.1.1.2", "224.0.0.251"
QUERY, REPORT1, REPORT2, LEAVE, REPORT3 = 0x11, 0x12, 0x16, 0x17, 0x22
ALERT4 = b"\x94\4\0\0"


def group_mac(group):
    packed = ipaddress.ip_address(group).packed
    if len(packed) == 4:
        return b"\1\0\x5e" + bytes([packed[1] & 0x7f]) + packed[2:]
    return b"\x33\x33" + packed[12:]


def igmp(src_mac, dst, kind, group="0.0.0.0", *, src="10.0.0.1", rest=b"", damage=0, ttl=1):
    body = struct.pack("!BBH", kind, 100 if kind == QUERY else 0, 0) + pk.ip(group) + rest
    total = pk.checksum(body) ^ damage
    body = body[:2] + struct.pack("!H", total) + body[4:]
    return pk.padded(pk.ethernet(group_mac(dst), src_mac, 0x0800,
                                 pk.ipv4(src, dst, 2, body, ttl=ttl, options=ALERT4)))


def query(src_mac, src="10.0.0.254", **fields):
    return igmp(src_mac, "224.0.0.1", QUERY, src=src, **fields)


def join(src_mac, group, **fields):
    return igmp(src_mac, group, REPORT2, group, **fields)


def leave(src_mac, group):
    return igmp(src_mac, "224.0.0.2", LEAVE, group)


def report3(src_mac, *records):
    """IGMPv3: (type, group) of each record."""
    rest = b"".join(struct.pack("!BBH", kind, 0, 0) + pk.ip(group) for kind, group in records)
    return igmp(src_mac, "224.0.0.22", REPORT3, "0.0.0.%d" % len(records), rest=rest)


def mld(src_mac, dst, kind, rest, src="fe80::1"):
    source, target = (ipaddress.IPv6Address(text).packed for text in (src, dst))
    body = struct.pack("!BBH", kind, 0, 0) + rest
    total = pk.checksum(source + target + struct.pack("!II", len(body), 58) + body)
    body = body[:2] + struct.pack("!H", total) + body[4:]
    alert = b"\x3a\0\5\2\0\0\1\0"
    return pk.ethernet(group_mac(dst), src_mac, 0x86dd,
                       struct.pack("!IHBB", 6 << 28, len(alert + body), 0, 1) + source + target +
                       alert + body)


def mld_query(src_mac):
    return mld(src_mac, "ff02::1", 130, struct.pack("!HH", 1000, 0) + bytes(16))


def mld_report(src_mac, kind, group):
    """MLDv2, one record."""
    return mld(src_mac, "ff02::16", 143, struct.pack("!HHBBH", 0, 1, kind, 0, 0) +
               ipaddress.IPv6Address(group).packed)


def data(src_mac, group):
    if ":" not in group:
        return pk.udp_frame(group_mac(group), src_mac, "10.0.0.7", group)
    body = struct.pack("!HHHH", 1000, 2000, 24, 0x1234) + b"multicast".ljust(16)
    return pk.ethernet(group_mac(group), src_mac, 0x86dd,
                       struct.pack("!IHBB", 6 << 28, len(body), 17, 9) +
                       ipaddress.IPv6Address("2001:db8::7").packed +
                       ipaddress.IPv6Address(group).packed + body)


class Tenants(Live):
    """A, A2 and A3; R2, R3 and R4."""

    def __init__(self, config=THREE + PORTS + ON, **arguments):
        super().__init__(config, ("U", "A", "A2", "A3"), **arguments)

    def known(self):
        """{(querier or member, IP, where)}"""
        rows = [line.split() for line in self.cli("show snooping vni 100").split("\n")]
        return {(row[1], row[2], " ".join(row[3:5])) for row in rows if row and row[0] == "100"}

    def knows(self, *entry, there=True):
        self.until(lambda: (entry in self.known()) == there,
                   "%s %s; now %s" % (entry, "known" if there else "forgotten", self.known()))

    def reaches(self, label, frame, *where):
        """@frame, sent on port @label, leaves by exactly the ports and remotes @where."""
        self.ports[label].send(frame)
        self.arrives(frame, where, label)

    def arrives(self, frame, where, label=None):
        self.to_remotes(frame, *(place for place in where if place[0] != "A"), strict=False)
        for port in ("A", "A2", "A3"):
            self.on(port, *([pk.padded(frame)] if port in where else []), strict=False)
        self.silent(*self.ports)

    def comes(self, frame, *where, src=R2):
        """The same for one that comes from remote @src."""
        self.from_remote(frame, src)
        self.arrives(frame, where)


ALL = ("A", "A2", "A3", "192.0.2.2", "192.0.2.3", "192.0.2.4")


def test_igmp():
    with Tenants() as vtep:
        vtep.comes(query(H2), "A", "A2", "A3")
        vtep.knows("querier", "10.0.0.254", "vtep " + R2)
        # what hosts report is for queriers, and for no other host
        vtep.reaches("A", join(H1, G1), R2)
        vtep.until(lambda: any(entry[1] == G1 for entry in vtep.known()), "A is a member")
        vtep.reaches("A2", data(H3, G1), "A", R2)
        vtep.reaches("A", data(H1, G1), R2)
        vtep.comes(data(H2, G1), "A")
        # nobody asked
        vtep.reaches("A2", data(H3, G2), R2)
        # a remote VTEP asks, by version 3; the querier is in another tunnel
        before = vtep.drops().get("no_target", 0)
        vtep.comes(report3(pk.mac("02:00:00:00:0b:33"), (4, G1), (2, G2)), src=R3)
        assert vtep.drops()["no_target"] == before + 1
        vtep.knows("member", G1, "vtep " + R3)
        vtep.knows("member", G2, "vtep " + R3)
        vtep.reaches("A2", data(H3, G1), "A", R2, R3)
        vtep.reaches("A2", data(H3, G2), R2, R3)
        # for everybody: what belongs to the link, other protocols, addresses that do not fit
        for frame in (data(H3, MDNS), pk.ethernet(group_mac(G1), H3, 0x88b5, bytes(50)),
                      group_mac(G2) + data(H3, G1)[6:]):
            vtep.reaches("A2", frame, *(place for place in ALL if place != "A2"))
        assert vtep.stats()["snooped"] == 8
        # the last one leaves
        vtep.reaches("A", leave(H1, G1), R2)
        vtep.until(lambda: len([entry for entry in vtep.known() if entry[1] == G1]) == 1,
                   "A has left", 10)
        vtep.reaches("A2", data(H3, G1), R2, R3)


def test_leave_that_another_host_objects_to():
    with Tenants() as vtep:
        vtep.comes(query(H2), "A", "A2", "A3")
        vtep.knows("querier", "10.0.0.254", "vtep " + R2)
        vtep.reaches("A", join(H1, G1), R2)
        vtep.until(lambda: any(entry[1] == G1 for entry in vtep.known()), "A is a member")
        vtep.reaches("A", report3(H1, (3, G1)), R2)

        def left():
            rows = [line.split() for line in vtep.cli("show snooping").split("\n")]
            return [int(row[-1]) for row in rows if len(row) > 3 and row[2] == G1][0]
        vtep.until(lambda: left() <= 2, "it will be forgotten")
        vtep.reaches("A", join(pk.mac("02:00:00:00:0a:77"), G1), R2)
        vtep.until(lambda: left() > 250, "it stays")
        vtep.reaches("A2", data(H3, G1), "A", R2)


def test_mld():
    with Tenants() as vtep:
        group = "ff15::1:2"
        vtep.reaches("A3", mld_query(H3), *(place for place in ALL if place != "A3"))
        vtep.until(lambda: any(entry[:2] == ("querier", "fe80::1") for entry in vtep.known()),
                   "A3 has a querier")
        vtep.comes(mld_report(H2, 4, group), "A3")
        vtep.knows("member", group, "vtep " + R2)
        vtep.reaches("A", data(H1, group), "A3", R2)
        vtep.reaches("A", data(H1, "ff15::1:3"), "A3")
        vtep.reaches("A", data(H1, "ff02::fb"), *ALL[1:])
        # IPv4 has no querier
        vtep.reaches("A", data(H1, G1), *ALL[1:])
        vtep.comes(mld(H2, "ff02::2", 132, bytes(4) + ipaddress.IPv6Address(group).packed), "A3")
        vtep.knows("member", group, "vtep " + R2, there=False)
        vtep.reaches("A", data(H1, group), "A3")


def test_a_remote_that_is_in_no_flood_list():
    """It asks with the first frame that ever comes from it."""
    with Tenants(CONFIG + PORTS + ON) as vtep:
        vtep.comes(query(H2), "A", "A2", "A3")
        vtep.knows("querier", "10.0.0.254", "vtep " + R2)
        vtep.comes(join(H3, G1), src=R3)
        vtep.knows("member", G1, "vtep " + R3)
        vtep.reaches("A", data(H1, G1), R2, R3)
        vtep.run("flood add %s vni 100" % R3)
        vtep.reaches("A", data(H1, G1), R2, R3)
        # off the list, it is forgotten; and so is the querier
        vtep.run("flood del %s vni 100" % R3)
        vtep.reaches("A", data(H1, G1), R2)
        vtep.run("flood del %s vni 100" % R2)
        vtep.reaches("A", data(H1, G1), "A2", "A3")
        assert vtep.known() == set()
        vtep.live_at_end = False


def test_without_a_querier_or_switched_off():
    with Tenants() as vtep:
        rest = ALL[1:]
        vtep.reaches("A", join(H1, G1), *rest)
        # who asks from 0.0.0.0 is none
        vtep.comes(query(H2, src="0.0.0.0"), "A", "A2", "A3")
        vtep.until(lambda: len(vtep.known()) == 1, "A is a member")
        vtep.reaches("A", data(H1, G1), *rest)
        vtep.comes(query(H2), "A", "A2", "A3")
        vtep.knows("querier", "10.0.0.254", "vtep " + R2)
        vtep.reaches("A2", data(H3, G1), "A", R2)
        vtep.run("set snooping off vni 100")
        assert vtep.known() == set()
        vtep.reaches("A", join(H1, G1), *rest)
        vtep.comes(query(H2), "A", "A2", "A3")
        vtep.reaches("A", data(H1, G2), *rest)
        assert vtep.known() == set()


@pytest.mark.parametrize("fields", [{"damage": 1}, {"ttl": 2}])
def test_malformed_is_only_bridged(fields):
    with Tenants() as vtep:
        vtep.comes(query(H2, **fields), "A", "A2", "A3")
        vtep.comes(query(H2, src="10.0.0.253"), "A", "A2", "A3")
        vtep.knows("querier", "10.0.0.253", "vtep " + R2)
        vtep.reaches("A", join(H1, G1, **fields), *ALL[1:])
        vtep.reaches("A2", data(H3, G1), R2)
        assert len(vtep.known()) == 1
