# SPDX-License-Identifier: BSD-3-Clause
"""ARP and ND suppression: who is answered for whom, byte by byte, and what still reaches all."""
import ipaddress
import struct

import pytest

import packets as pk
from tunnel import CONFIG, H1, H2, H3, R2, R3, THREE, Live

ON = "set suppress on vni 100\n"
TWO = CONFIG + "access add {A2} vni 100\n"
IP1, IP2, IP3 = "203.0.113.1", "203.0.113.2", "203.0.113.3"
V1, V2 = "2001:db8::1", "2001:db8::2"
ROUTER, SOLICITED, OVERRIDE = 0x80, 0x40, 0x20
FOREIGN = b"\x0e\x01123456"  # an option of another kind


def v6(text):
    return ipaddress.IPv6Address(text).packed


def icmp6(dst_mac, src_mac, src, dst, body, *, hops=255, bad_sum=False, length=None):
    """An ICMPv6 frame; @body with a zero checksum."""
    pseudo = v6(src) + v6(dst) + struct.pack("!II", len(body), 58)
    total = pk.checksum(pseudo + body) ^ (0x1111 if bad_sum else 0)
    body = body[:2] + struct.pack("!H", total) + body[4:]
    size = len(body) if length is None else length
    return pk.ethernet(dst_mac, src_mac, 0x86dd, struct.pack("!IHBB", 6 << 28, size, 58, hops) +
                       v6(src) + v6(dst) + body)


def solicit(src_mac, src, target, *, option=True, options=None, code=0, **fields):
    group = "ff02::1:ff%02x:%02x%02x" % tuple(v6(target)[13:])
    if options is None:
        options = b"\1\1" + src_mac if option else b""
    return icmp6(b"\x33\x33" + v6(group)[12:], src_mac, src, group,
                 struct.pack("!BBHI", 135, code, 0, 0) + v6(target) + options, **fields)


def advert(src_mac, target, flags, *, dst_mac=None, dst="ff02::1", **fields):
    return icmp6(dst_mac or pk.mac("33:33:00:00:00:01"), src_mac, target, dst,
                 struct.pack("!BBHB3x", 136, 0, 0, flags) + v6(target) + b"\2\1" + src_mac,
                 **fields)


def request(src_mac, src, target, **fields):
    return pk.arp(1, src_mac, src, bytes(6), target, **fields)


class Tenants(Live):
    """A with H1, A2, and R2 with H2 behind it."""

    def __init__(self, config=TWO + ON, **arguments):
        super().__init__(config, ("U", "A", "A2"), **arguments)

    def bindings(self, vni=100):
        """{ip: (mac, static or learned, is a router)}"""
        rows = [line.split() for line in self.cli("show binding vni %d" % vni).split("\n")]
        return {row[1]: (pk.mac(row[2]), row[3], "router" in row) for row in rows
                if len(row) >= 4 and row[0] == str(vni)}

    def bound(self, ip, mac, router=False):
        self.until(lambda: self.bindings().get(ip) == (mac, "learned", router),
                   "%s bound to %s; now %s" % (ip, pk.mac_text(mac), self.bindings()))

    def remote_speaks(self, frame, src=R2):
        self.from_remote(frame, src)
        self.on("A", pk.padded(frame))
        self.on("A2", pk.padded(frame))

    def flooded(self, frame):
        """@frame, sent on A, reaches everybody."""
        self.ports["A"].send(frame)
        self.to_remotes(frame, R2)
        self.on("A2", frame)
        self.silent("A")

    def answered(self, frame, answer, label="A"):
        """@frame is answered where it was sent, and nobody else sees it."""
        self.ports[label].send(frame)
        self.on(label, answer)
        self.silent("U", "A", "A2")


def test_arp_answered_for_a_host_behind_a_tunnel():
    with Tenants() as vtep:
        vtep.flooded(request(H1, IP1, IP2))
        vtep.bound(IP1, H1)
        vtep.remote_speaks(request(H2, IP2, IP3))
        vtep.bound(IP2, H2)
        vtep.answered(request(H1, IP1, IP2), pk.arp(2, H2, IP2, H1, IP1))
        # the other way, across ports, for the host at A
        vtep.answered(request(H3, IP3, IP1), pk.arp(2, H1, IP1, H3, IP3), "A2")
        stats = vtep.stats()
        assert stats["suppressed_arp"] == 2 and stats["suppressed_nd"] == 0
        assert stats["originated"] >= 2 and stats["bound"] == 3


def test_arp_answered_with_the_tag_of_the_attachment():
    with Tenants(TWO.replace("access add {A2} vni 100", "access add {A2} vni 100 vlan 7") +
                 ON) as vtep:
        asked = request(H2, IP2, IP2)
        vtep.from_remote(asked)
        vtep.on("A", asked)
        vtep.on("A2", pk.vlan(asked, 7))
        vtep.bound(IP2, H2)
        vtep.answered(pk.vlan(request(H1, IP1, IP2), 7),
                      pk.padded(pk.vlan(pk.arp(2, H2, IP2, H1, IP1, pad=False), 7)), "A2")
        vtep.live_at_end = False


def test_arp_what_reaches_everybody():
    """Probes, announcements, unknown targets, the owner's own port, unicast, from tunnels."""
    with Tenants() as vtep:
        vtep.remote_speaks(request(H2, IP2, IP2))  # gratuitous: taken, and seen by all
        vtep.bound(IP2, H2)
        vtep.flooded(request(H1, "0.0.0.0", IP2))
        vtep.flooded(request(H1, IP1, IP1))
        vtep.bound(IP1, H1)
        vtep.flooded(pk.arp(2, H1, IP1, H1, IP1, dst=pk.BROADCAST))
        vtep.flooded(request(H1, IP1, IP3))
        vtep.flooded(request(H3, IP3, IP1))  # A is where H1 is: it answers by itself
        unicast = request(H1, IP1, IP2, dst=H2)
        vtep.ports["A"].send(unicast)
        vtep.to_remotes(unicast, R2)
        vtep.remote_speaks(request(H2, IP2, IP1))
        assert vtep.stats()["suppressed_arp"] == 0


def test_arp_malformed_is_only_bridged():
    with Tenants() as vtep:
        vtep.remote_speaks(request(H2, IP2, IP2))
        vtep.bound(IP2, H2)
        for fields in ({"hlen": 7}, {"htype": 2}):
            vtep.flooded(request(H1, IP1, IP2, **fields))
        vtep.flooded(request(pk.BROADCAST, IP1, IP2)[:6] + H1 +
                     request(pk.BROADCAST, IP1, IP2)[12:])
        assert vtep.stats()["suppressed_arp"] == 0 and IP1 not in vtep.bindings()


def test_a_host_that_moves_or_changes_its_mac():
    with Tenants(THREE + "access add {A2} vni 100\n" + ON) as vtep:
        vtep.from_remote(request(H2, IP2, IP2))
        vtep.bound(IP2, H2)
        vtep.from_remote(request(H3, IP2, IP2), R3)
        vtep.bound(IP2, H3)
        assert vtep.stats()["binding_moved"] == 1
        vtep.ports["A"].receive(2)
        vtep.ports["A2"].receive(2)
        vtep.answered(request(H1, IP1, IP2), pk.arp(2, H3, IP2, H1, IP1))


def test_a_binding_lives_as_long_as_its_mac():
    with Tenants() as vtep:
        vtep.remote_speaks(request(H2, IP2, IP2))
        vtep.bound(IP2, H2)
        vtep.run("fdb del %s vni 100" % pk.mac_text(H2))
        vtep.flooded(request(H1, IP1, IP2))
        vtep.until(lambda: IP2 not in vtep.bindings(), "the binding has aged")
        assert vtep.stats()["binding_aged"] == 1
        # deleting the segment takes all of them along
        vtep.run("binding add %s %s vni 100" % (IP3, pk.mac_text(H3)))
        vtep.run("vni del 100")
        assert "\n0 of 0 " in vtep.cli("show binding")
        vtep.live_at_end = False


def test_static():
    with Tenants(TWO + ON + "binding add %s %s vni 100\n" % (IP2, pk.mac_text(H2))) as vtep:
        # the FDB need not know the MAC
        vtep.answered(request(H1, IP1, IP2), pk.arp(2, H2, IP2, H1, IP1))
        vtep.remote_speaks(request(H3, IP2, IP2))
        vtep.until(lambda: vtep.stats()["binding_conflict"] == 1, "the conflict is counted")
        assert vtep.bindings()[IP2] == (H2, "static", False)
        vtep.answered(request(H1, IP1, IP2), pk.arp(2, H2, IP2, H1, IP1))
        vtep.run("binding del %s vni 100" % IP2)
        vtep.flooded(request(H1, IP1, IP2))


def test_switched_off():
    with Tenants(TWO) as vtep:
        for _ in range(2):
            vtep.remote_speaks(request(H2, IP2, IP2))
            vtep.flooded(request(H1, IP1, IP2))
        assert vtep.bindings() == {} and vtep.stats()["tenant_events"] == 0
        vtep.run("set suppress on")
        vtep.remote_speaks(request(H2, IP2, IP2))
        vtep.bound(IP2, H2)
        vtep.run("set suppress off")
        assert vtep.bindings() == {}
        vtep.flooded(request(H1, IP1, IP2))


@pytest.mark.parametrize("flags", [OVERRIDE, ROUTER | OVERRIDE, ROUTER, 0])
def test_nd_answered_with_the_flags_last_seen(flags):
    with Tenants() as vtep:
        vtep.remote_speaks(advert(H2, V2, flags))
        vtep.bound(V2, H2, bool(flags & ROUTER))
        answer = advert(H2, V2, flags | SOLICITED, dst_mac=H1, dst=V1)
        vtep.answered(solicit(H1, V1, V2), answer)
        # what says nothing of the flags leaves them
        vtep.remote_speaks(solicit(H2, V2, "2001:db8::77"))
        vtep.answered(solicit(H1, V1, V2), answer)
        vtep.remote_speaks(advert(H2, V2, flags ^ ROUTER | OVERRIDE))
        vtep.bound(V2, H2, not flags & ROUTER)
        assert vtep.stats()["suppressed_nd"] == 2


def test_nd_from_a_solicitation():
    """A host that only ever asked is answered for, as no router; link-local works as well."""
    with Tenants() as vtep:
        vtep.remote_speaks(solicit(H2, "fe80::2", "fe80::77"))
        vtep.bound("fe80::2", H2)
        vtep.answered(solicit(H1, "fe80::1", "fe80::2"),
                      advert(H2, "fe80::2", SOLICITED | OVERRIDE, dst_mac=H1, dst="fe80::1"))


def test_nd_what_reaches_everybody():
    with Tenants() as vtep:
        vtep.remote_speaks(advert(H2, V2, OVERRIDE))
        vtep.bound(V2, H2)
        vtep.flooded(solicit(H1, "::", V2, option=False))  # duplicate address detection
        vtep.flooded(advert(H1, V1, OVERRIDE))
        vtep.flooded(solicit(H1, V1, "2001:db8::3"))
        vtep.flooded(solicit(H1, V1, V2, option=False))
        # without the override flag nothing known is replaced
        vtep.remote_speaks(advert(H3, V2, 0))
        assert vtep.bindings()[V2] == (H2, "learned", False)
        assert vtep.stats()["suppressed_nd"] == 0


MALFORMED = [
    {"hops": 254}, {"bad_sum": True}, {"code": 1}, {"length": 500}, {"length": 20},
    {"options": b"\1\0" + H1}, {"options": b"\1\2" + H1}, {"options": b"\1\1" + H1 + b"\5"},
    {"options": b"\1\1" + pk.BROADCAST}, {"options": b"\1\1" + H1 + FOREIGN * 20}]


def test_nd_malformed_is_only_bridged():
    with Tenants() as vtep:
        vtep.remote_speaks(advert(H2, V2, OVERRIDE))
        vtep.bound(V2, H2)
        for fields in MALFORMED:
            vtep.flooded(solicit(H1, V1, V2, **fields))
        assert vtep.stats()["suppressed_nd"] == 0 and V1 not in vtep.bindings()


def test_nd_other_options_are_skipped():
    with Tenants() as vtep:
        vtep.remote_speaks(advert(H2, V2, OVERRIDE))
        vtep.bound(V2, H2)
        vtep.answered(solicit(H1, V1, V2, options=FOREIGN + b"\1\1" + H1),
                      advert(H2, V2, SOLICITED | OVERRIDE, dst_mac=H1, dst=V1))
