# SPDX-License-Identifier: BSD-3-Clause
"""Multicast groups in flood lists: what is joined, how that is reported by IGMP and MLD, and which
tunnel packets are sent to groups and taken from them."""
import struct
import time

import pytest

import packets as pk
from tunnel import BASE, H1, H2, LOCAL, NEIGHBOURS, OWN, R2, UNKNOWN, Live, encapsulated
from vtep import CliError

GROUP = "239.1.1.1"
GROUP_MAC = pk.mac("01:00:5e:01:01:01")
CONFIG = BASE + NEIGHBOURS + "flood add 239.1.1.1 vni 100\n"
ALL_SYSTEMS, V3_ROUTERS, ALL_ROUTERS = "224.0.0.1", "224.0.0.22", "224.0.0.2"

IS_EXCLUDE, TO_INCLUDE, TO_EXCLUDE = 2, 3, 4


def group_mac(group):
    raw = pk.ip(group)
    return b"\x01\x00\x5e" + bytes([raw[1] & 0x7f]) + raw[2:]


def igmp(kind, code, group, more=b"", dst=ALL_SYSTEMS, src=R2, bad_sum=False, **ip_fields):
    """An IGMP message as a querier on the link sends it."""
    body = struct.pack("!BBH4s", kind, code, 0, pk.ip(group)) + more
    total = pk.checksum(body) ^ (0x0101 if bad_sum else 0)
    body = body[:2] + struct.pack("!H", total) + body[4:]
    fields = {"ttl": 1, "tos": 0xc0, "options": b"\x94\x04\0\0", **ip_fields}
    return pk.ethernet(group_mac(dst), pk.mac("02:00:00:00:00:02"), 0x0800,
                       pk.ipv4(src, dst, 2, body, **fields)).ljust(60, b"\0")


def query3(group="0.0.0.0", code=10, robustness=2, interval=125, sources=(), **fields):
    more = struct.pack("!BBH", robustness, interval, len(sources)) + b"".join(map(pk.ip, sources))
    return igmp(0x11, code, group, more, dst=ALL_SYSTEMS if group == "0.0.0.0" else group, **fields)


def query2(group="0.0.0.0", code=10, **fields):
    return igmp(0x11, code, group, dst=ALL_SYSTEMS if group == "0.0.0.0" else group, **fields)


def report3(*records):
    """What the program sends, byte for byte."""
    body = b"\x22\0\0\0\0\0" + struct.pack("!H", len(records)) + b"".join(
        struct.pack("!BBH4s", change, 0, 0, pk.ip(group)) for change, group in records)
    return own(V3_ROUTERS, body)


def own(dst, body):
    body = body[:2] + struct.pack("!H", pk.checksum(body)) + body[4:]
    return pk.ethernet(group_mac(dst), OWN, 0x0800, pk.ipv4(
        LOCAL, dst, 2, body, ttl=1, tos=0xc0, flags=0x4000, options=b"\x94\x04\0\0")
    ).ljust(60, b"\0")


def message2(kind, group, dst=None):
    return own(dst or group, struct.pack("!BBH4s", kind, 0, 0, pk.ip(group)))


JOIN, ANSWER, LEAVE = (report3((change, GROUP)) for change in (TO_EXCLUDE, IS_EXCLUDE, TO_INCLUDE))


def is_igmp(frame):
    return frame[12:14] == b"\x08\x00" and frame[23] == 2


class Groups(Live):
    """Live, with reports put aside: they come when they are due."""
    live_at_end = False

    def __init__(self, config=CONFIG, **arguments):
        super().__init__(config, **arguments)
        self.reports, self.others = [], []

    def _sort(self, frames):
        for frame in frames:
            (self.reports if is_igmp(frame) else self.others).append(frame)

    def reported(self, frame, timeout=3.0):
        """Wait for the next report, which must be @frame; when it came."""
        end = time.monotonic() + timeout
        while not self.reports:
            assert time.monotonic() < end, "not reported: " + frame.hex()
            self._sort(self.ports["U"].receive(1, 0.05))
        got = self.reports.pop(0)
        assert got == frame, "reported %s, expected %s" % (got.hex(), frame.hex())
        return time.monotonic()

    def no_report(self, seconds=0.3):
        self._sort(self.ports["U"].pending(seconds))
        assert not self.reports, [frame.hex() for frame in self.reports]

    def joined(self):
        """See the two reports of joining."""
        self.reported(JOIN)
        self.reported(JOIN)

    def tunnelled(self, timeout=3.0):
        """The next tunnel packet."""
        end = time.monotonic() + timeout
        while not self.others:
            assert time.monotonic() < end, "no tunnel packet; drops: %s" % self.drops()
            self._sort(self.ports["U"].receive(1, 0.05))
        return pk.Outer(self.others.pop(0))

    def query(self, frame):
        self.ports["U"].send(frame)

    def groups(self):
        return [line.split() for line in self.cli("show group").strip().split("\n")[1:]]


def to_group(inner, group=GROUP, dmac=None, src=R2, **fields):
    return encapsulated(inner, dst=group, dmac=dmac or group_mac(group), src=src, **fields)


def test_join_is_reported_twice():
    with Groups() as vtep:
        began = vtep.reported(JOIN)
        assert vtep.groups() == [[GROUP, "0", "1", "joining", "IGMPv3", "none"]]
        assert vtep.reported(JOIN) - began < 1.2
        vtep.until(lambda: vtep.groups()[0][3] == "member", "the state member")
        vtep.no_report()
        assert vtep.stats()["group_reports_sent"] == 2


def test_leave_is_reported_twice():
    with Groups() as vtep:
        vtep.joined()
        vtep.run("flood del 239.1.1.1 vni 100")
        vtep.reported(LEAVE)
        assert vtep.groups()[0][2:4] == ["0", "leaving"]
        vtep.reported(LEAVE)
        vtep.until(lambda: vtep.groups() == [], "the group gone")


def test_users():
    """The port leaves with the last segment, and not before."""
    with Groups(CONFIG + "vni add 200\nflood add 239.1.1.1 vni 200\n") as vtep:
        vtep.joined()
        assert vtep.groups()[0][2] == "2"
        vtep.run("vni del 100")
        vtep.no_report()
        vtep.run("vni del 200")
        vtep.reported(LEAVE)


@pytest.mark.parametrize("command", ["stop", "port stop {U}"])
def test_leave_before_the_port_goes_down(command):
    with Groups() as vtep:
        vtep.joined()
        vtep.run(command)
        vtep.reported(LEAVE)
        assert vtep.groups()[0][3] == "idle"
        vtep.run(command.replace("stop", "start"))
        vtep.joined()


def test_leave_at_exit():
    with Groups() as vtep:
        vtep.joined()
        assert vtep.quit() == 0
        vtep.reported(LEAVE)
        vtep.check_exit_log()


def test_answers():
    """Within the time that the query allows: all of it may be used, and no more."""
    with Groups(CONFIG + "flood add 239.1.1.2 vni 100\n") as vtep:
        time.sleep(1.2)
        vtep._sort(vtep.ports["U"].pending(0.2))
        vtep.reports.clear()
        both = report3((IS_EXCLUDE, GROUP), (IS_EXCLUDE, "239.1.1.2"))
        for frame in (query3(), query3(src="0.0.0.0"), query3(options=b"")):
            began = time.monotonic()
            vtep.query(frame)
            assert vtep.reported(both) - began < 1.0
        assert vtep.groups()[0][5] == "heard"
        for sources in ((), ("198.51.100.1", "198.51.100.2")):
            vtep.query(query3("239.1.1.2", sources=sources))
            vtep.reported(report3((IS_EXCLUDE, "239.1.1.2")))
        vtep.query(query3("239.1.1.3", code=1))
        vtep.no_report(0.4)
        # ten seconds are not used up at once, nor is an answer sent for each of many queries
        for _ in range(20):
            vtep.query(query3(code=5))
        vtep.reported(both)
        vtep.no_report(0.6)


def test_igmpv2_querier():
    with Groups() as vtep:
        vtep.joined()
        vtep.query(query2())
        vtep.reported(message2(0x16, GROUP))
        assert vtep.groups()[0][4] == "IGMPv2"
        vtep.query(query2(GROUP))
        vtep.reported(message2(0x16, GROUP))
        # what another querier says in version 3 is answered in version 2
        vtep.query(query3())
        vtep.reported(message2(0x16, GROUP))
        vtep.run("flood del 239.1.1.1 vni 100")
        vtep.reported(message2(0x17, GROUP, ALL_ROUTERS))
        vtep.no_report()
        assert vtep.groups() == []


def test_bad_messages():
    with Groups() as vtep:
        vtep.joined()
        bad = [query3(code=1, bad_sum=True), query3(code=1, ttl=2), igmp(0x11, 1, "192.0.2.1"),
               igmp(0x11, 1, GROUP, b"\0\0", dst=GROUP), igmp(0x11, 1, GROUP, b"\2\0\0\1", dst=GROUP)]
        for frame in bad:
            vtep.query(frame)
        vtep.await_drops({"group_bad": len(bad)})
        # reports of other members are no news
        vtep.query(igmp(0x16, 0, GROUP, dst=GROUP))
        vtep.no_report(0.3)
        vtep.await_drops({"group_bad": len(bad)})


def test_sending():
    inner = pk.udp_frame(pk.BROADCAST, H1, size=100)
    with Groups() as vtep:
        for ttl, command in ((1, None), (9, "set multicast-ttl 9"), (255, "set multicast-ttl 255")):
            if command:
                vtep.run(command)
            vtep.ports["A"].send(inner)
            outer = vtep.tunnelled()
            assert (outer.dst_mac, outer.src_mac) == (GROUP_MAC, OWN)
            assert (outer.dst, outer.src, outer.ttl) == (GROUP, LOCAL, ttl)
            assert outer.inner == inner
        vtep.run("flood add 192.0.2.2 vni 100")
        vtep.ports["A"].send(inner)
        assert sorted((o.dst, o.ttl) for o in (vtep.tunnelled(), vtep.tunnelled())) == [
            ("192.0.2.2", 64), (GROUP, 255)]


def test_receiving():
    """Learning goes by the outer source, as from any remote VTEP."""
    inner = pk.udp_frame(pk.BROADCAST, H2, size=100)
    with Groups() as vtep:
        vtep.ports["U"].send(to_group(inner))
        vtep.on("A", inner)
        vtep.learned(H2, R2)
        vtep.ports["A"].send(pk.udp_frame(H2, H1, size=90))
        outer = vtep.tunnelled()
        assert (outer.dst, outer.ttl) == (R2, 64)
        assert "239.1.1.1" in vtep.cli("show vtep") and "239.1.1.1" in vtep.cli("show flood")


def test_only_what_is_joined():
    inner = pk.udp_frame(UNKNOWN, H2, size=100)
    alias = "239.129.1.1"  # the same MAC address as GROUP
    wrong = {
        "outer_mac": [to_group(inner, "239.1.1.9"), to_group(inner, "224.0.0.9"),
                      to_group(inner, dmac=pk.mac("33:33:00:01:01:01")),
                      to_group(inner, dmac=pk.BROADCAST)],
        "outer_dst_ip": [to_group(inner, alias), to_group(inner, dmac=OWN),
                         to_group(inner, LOCAL, dmac=GROUP_MAC), to_group(inner, ALL_SYSTEMS),
                         to_group(inner, "239.1.1.2", dmac=GROUP_MAC),
                         pk.icmp_echo(GROUP_MAC, pk.mac("02:00:00:00:00:02"), R2, GROUP)],
    }
    with Groups(CONFIG + "flood add 239.1.1.2 vni 100\n") as vtep:
        for frames in wrong.values():
            vtep.ports["U"].send(*frames)
        vtep.await_drops({reason: len(frames) for reason, frames in wrong.items()})
        vtep.silent("A")
        vtep.ports["U"].send(to_group(inner))
        vtep.on("A", inner)
        vtep.run("flood del 239.1.1.1 vni 100")
        vtep.ports["U"].send(to_group(inner), to_group(inner, "239.1.1.2"))
        vtep.on("A", inner)
        wrong["outer_mac"].append(None)
        vtep.await_drops({reason: len(frames) for reason, frames in wrong.items()})


def test_refused():
    with Groups(BASE) as vtep:
        for line, words in (("flood add 224.0.0.1 vni 100", "224.0.0.0/24"),
                            ("flood add 224.0.0.255 vni 100", "link-local"),
                            ("flood add 232.1.1.1 vni 100", "source-specific"),
                            ("flood add 239.1.1.1 vni 7", "7"),
                            ("flood add 239.1.1.1 vni 100 port {A}", "access port"),
                            ("flood add 239.1.1.1 vni 100 port x", "x"),
                            ("flood add 192.0.2.2 vni 100 port {U}", "no multicast group"),
                            ("flood del 239.1.1.1 vni 100", "239.1.1.1"),
                            ("fdb add 02:00:00:00:0b:02 vni 100 vtep 239.1.1.1", "multicast"),
                            ("set multicast-ttl 0", "1 to 255"),
                            ("set multicast-ttl 256", "1 to 255")):
            assert words in vtep.refuse(line), line
        vtep.run("flood add 239.1.1.1 vni 100 port {U}")
        assert "already" in vtep.refuse("flood add 239.1.1.1 vni 100")
        assert "239.1.1.1" in vtep.refuse("port detach {U}")
        assert vtep.names("flood add 239.1.1.1 vni 100 port {U}") in vtep.config_lines()
        with pytest.raises(CliError):
            vtep.run("flood add 239.1.1.1 vni 100 port {A}")


def test_two_underlay_ports():
    """The default route tells the port, or a person does; a group is on one of them."""
    with Groups(BASE + "address add 198.51.100.1/24 port {U2}\n", labels=("U", "A", "U2")) as vtep:
        assert "port P" in vtep.refuse("flood add 239.1.1.1 vni 100")
        vtep.run("route add 0.0.0.0/0 via 198.51.100.9")
        vtep.run("flood add 239.1.1.1 vni 100")
        vtep.run("flood add 239.1.1.2 vni 100 port {U}")
        assert [line[:2] for line in vtep.groups()] == [[GROUP, "2"], ["239.1.1.2", "0"]]
        vtep.run("vni add 200")
        assert "port 2" in vtep.refuse("flood add 239.1.1.1 vni 200 port {U}")
        vtep.run("flood add 239.1.1.2 vni 200")
        vtep.ports["U2"].is_underlay = True
        frame = vtep.ports["U2"].receive(1)[0]
        assert is_igmp(frame) and frame[26:30] == pk.ip("198.51.100.1")
        assert frame[6:12] == vtep.ports["U2"].mac
        # what is joined on one port is not taken from another
        inner = pk.udp_frame(UNKNOWN, H2, size=100)
        vtep.ports["U"].send(to_group(inner))
        vtep.await_drops({"outer_mac": 1})


def test_without_address():
    """Nothing can be joined or sent before there is an address."""
    config = "vni add 100\naccess add {A} vni 100\nflood add 239.1.1.1 vni 100\n"
    with Groups(config) as vtep:
        vtep.no_report()
        assert vtep.groups()[0][3] == "idle"
        assert "no address" in vtep.cli("show vtep")
        vtep.ports["A"].send(pk.udp_frame(UNKNOWN, H1, size=100))
        vtep.await_drops({"no_route": 1})
        vtep.run("address add 192.0.2.1/24 port {U}")
        vtep.joined()
        vtep.ports["A"].send(pk.udp_frame(UNKNOWN, H1, size=100))
        assert vtep.tunnelled().dst == GROUP
        vtep.run("address del 192.0.2.1")
        vtep.until(lambda: vtep.groups()[0][3] == "idle", "the state idle")
