# SPDX-License-Identifier: BSD-3-Clause
"""What outer headers take from settings and from the inner packet, byte for byte: TTL, DSCP, ECN, DF,
UDP ports. Each run sends the same frames into VNI 100 (A) and VNI 200 (C), over both families."""
import pytest

import packets as pk
import packets6 as p6
from test_ipv6 import CONFIG6, run
from tunnel import CONFIG, H1, H2, R2, UNKNOWN, VNI200, Live

BOTH = CONFIG + CONFIG6.replace("vni add 100\naccess add {A} vni 100\n", "") + VNI200 + \
    "flood add 192.0.2.2 vni 200\nflood add 2001:db8::2 vni 200\n"

# (inner TTL, inner TOS) of the IPv4 and of the IPv6 packet
INNER4, INNER6 = (37, 46 << 2 | 2), (211, 10 << 2 | 1)


def frames():
    """An IPv4 packet, an IPv6 packet, and ARP, which has nothing to take over."""
    data = pk.pattern(60)
    v4 = pk.ipv4("203.0.113.2", "203.0.113.1", 17, pk.udp("203.0.113.2", "203.0.113.1", 7, 8, data),
                 ttl=INNER4[0], tos=INNER4[1], flags=0x4000)
    v6 = p6.ipv6("2001:db8:7::2", "2001:db8:7::1", 17,
                 p6.udp("2001:db8:7::2", "2001:db8:7::1", 7, 8, data),
                 hops=INNER6[0], traffic_class=INNER6[1])
    return [pk.ethernet(UNKNOWN, H1, 0x0800, v4), pk.ethernet(UNKNOWN, H1, 0x86dd, v6),
            pk.arp(1, H1, "203.0.113.2", bytes(6), "203.0.113.1")]


def sent(settings):
    """{(VNI, outer family): [(TTL, TOS) of each of frames()]}, all of it sent in order."""
    wanted = frames()
    others = [frame[:6] + H2 + frame[12:] for frame in wanted]
    result = run({"A": wanted, "C": others},
                 BOTH + settings, drops={})
    found = {}
    for frame in result.out["U"]:
        if frame[12:14] == b"\x86\xdd":
            outer = p6.Outer6(frame)
            family, marks = 6, (outer.hops, outer.traffic_class)
        else:
            outer = pk.Outer(frame)
            family, marks = 4, (outer.ttl, outer.tos)
        of_one = found.setdefault((outer.vni, family), [])
        assert outer.inner == (wanted if outer.vni == 100 else others)[len(of_one)]
        of_one.append(marks)
    return found


@pytest.mark.parametrize("settings, in_100, in_200", [
    ("", [(64, 2), (64, 1), (64, 0)], None),
    ("set ttl 9\nset dscp 63\n", [(9, 254), (9, 253), (9, 252)], None),
    ("set ttl inherit\n", [(37, 2), (211, 1), (64, 0)], None),
    ("set dscp inherit\n", [(64, INNER4[1]), (64, INNER6[1]), (64, 0)], None),
    ("set ecn off\n", [(64, 0)] * 3, None),
    ("set ecn off\nset ttl inherit\nset dscp inherit\n",
     [(37, 46 << 2), (211, 10 << 2), (64, 0)], None),
    ("set ttl 32 vni 200\nset dscp inherit vni 100\n",
     [(64, INNER4[1]), (64, INNER6[1]), (64, 0)], [(32, 2), (32, 1), (32, 0)]),
    ("set ttl inherit\nset dscp inherit\nset ttl 5 vni 200\nset dscp 8 vni 200\n",
     [(37, INNER4[1]), (211, INNER6[1]), (64, 0)], [(5, 34), (5, 33), (5, 32)]),
    ("set multicast-ttl 7\nset ttl 200\n", [(200, 2), (200, 1), (200, 0)], None),
], ids=["default", "constants", "ttl", "dscp", "no-ecn", "all", "vni", "vni-constants", "groups"])
def test_ttl_dscp_ecn(settings, in_100, in_200):
    found = sent(settings)
    for family in (4, 6):
        assert found[100, family] == in_100
        assert found[200, family] == (in_100 if in_200 is None else in_200)


def test_shown_and_changed_at_run_time():
    """At once, for what is known already and for groups, and shown as it is in force."""
    frame = pk.udp_frame(UNKNOWN, H1, size=100, tos=0xb9)
    with Live() as vtep:
        def tunnelled():
            vtep.ports["A"].send(frame)
            outer, = vtep.to_remotes(frame, R2)
            return outer.ttl, outer.tos, outer.df

        def shown():
            head, line = vtep.cli("show vni 100").replace("by route", "-").strip().split("\n")
            columns = dict(zip(head.split(), line.split()))
            return columns["ttl"], columns["dscp"], columns["df"]
        assert tunnelled() == (64, 1, False) and shown() == ("64", "0", "off")
        for line, packet, columns in (
                ("set ttl 3", (3, 1, False), ("3", "0", "off")),
                ("set dscp 10", (3, 41, False), ("3", "10", "off")),
                ("set dscp inherit vni 100", (3, 0xb9, False), ("3", "inherit", "off")),
                ("set df on vni 100", (3, 0xb9, True), ("3", "inherit", "on")),
                ("set ttl inherit", (64, 0xb9, True), ("inherit", "inherit", "on")),
                ("set ttl 200 vni 100", (200, 0xb9, True), ("200", "inherit", "on")),
                ("set dscp 1", (200, 0xb9, True), ("200", "inherit", "on")),
                ("set dscp 0 vni 100", (200, 1, True), ("200", "0", "on")),
                ("set ecn off", (200, 0, True), ("200", "0", "on")),
                ("set df off vni 100", (200, 0, False), ("200", "0", "off"))):
            vtep.run(line)
            assert (tunnelled(), shown()) == (packet, columns), line


def test_ecn_off_at_decap():
    """No mark is taken over, none is a reason to drop; on again, both are."""
    back = [pk.udp_frame(UNKNOWN, H2, size=100, tos=ecn) for ecn in range(4)]
    with Live() as vtep:
        vtep.run("set ecn off")
        for outer in range(4):
            for frame in back:
                vtep.from_remote(frame, ip_fields={"tos": outer})
            vtep.on("A", *back)
        assert vtep.drops() == {}
        vtep.run("set ecn on")
        for frame in back:
            vtep.from_remote(frame, ip_fields={"tos": 3})
        vtep.on("A", *[pk.udp_frame(UNKNOWN, H2, size=100, tos=3)] * 3)
        vtep.await_drops({"inner_ecn": 1})


def test_several_udp_ports():
    """All are accepted, the first is sent to, the others of the world are not ours."""
    frame, back = pk.udp_frame(UNKNOWN, H1, size=100), pk.udp_frame(UNKNOWN, H2, size=100)
    with Live() as vtep:
        vtep.run("set udp-port 8472,4789,1")
        for port in (4789, 8472, 1):
            vtep.from_remote(back, dport=port)
            vtep.on("A", back)
        for port in (4788, 2, 65535):
            vtep.from_remote(back, dport=port)
        vtep.await_drops({"outer_udp_port": 3})
        vtep.ports["A"].send(frame)
        got, = vtep.ports["U"].receive(1)
        assert pk.Outer(got, 8472).inner == frame
        vtep.run("set udp-port 4789")
        vtep.from_remote(back, dport=8472)
        vtep.await_drops({"outer_udp_port": 4})
