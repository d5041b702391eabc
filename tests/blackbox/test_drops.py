# SPDX-License-Identifier: BSD-3-Clause
"""Each reason of lib/base/vx_drop.h is provoked on the real program, and by the right packets."""
import os
import re
import subprocess

import pytest

import nd_packets as nd
import packets as pk
from ports import PcapPort, TapPort, VethPort
from tunnel import (BASE, CONFIG, H1, H2, LOCAL, OWN, R2, R3, UNKNOWN, Live, encapsulated,
                    run_files)
from vtep import REPO, Space, Vtep, eal_arguments

provokes = pytest.mark.provokes

SAME, BEHIND = pk.mac("02:00:00:00:0a:77"), pk.mac("02:00:00:00:0b:77")
GOOD = pk.udp_frame(UNKNOWN, H2, size=100)
TENANT = pk.udp_frame(UNKNOWN, H1, size=100)

# U, A, C alone in VNI 200, D without attachment, E in VNI 300 whose only remote has no route
SINGLE_CONFIG = CONFIG + """address add 2001:db8::1/64 port {U}
vni add 200
access add {C} vni 200
vni add 300
access add {E} vni 300
set flood multicast off vni 300
flood add 198.51.100.7 vni 300
fdb add 02:00:00:00:0a:77 vni 100 port {A}
fdb add 02:00:00:00:0b:77 vni 100 vtep 192.0.2.3
set reassembly off
set oversize drop
"""


def outer_ip(**fields):
    return encapsulated(GOOD, ip_fields=fields)


def outer_udp(**fields):
    return encapsulated(GOOD, udp_fields=fields)


def to_host(proto, payload, src=R2):
    """An IPv4 packet for the local address."""
    return pk.ethernet(encapsulated(GOOD)[:6], encapsulated(GOOD)[6:12], 0x0800,
                       pk.ipv4(src, LOCAL, proto, payload))


def tenant(size=100, **fields):
    return pk.udp_frame(UNKNOWN, H1, size=size, **fields)


PORT_MAC, R2_MAC = encapsulated(GOOD)[:6], encapsulated(GOOD)[6:12]

# reason: [(port, frame), …]: all of them in one run; each frame is dropped for that reason
SINGLE = {
    "access_runt": [("A", TENANT[:13]), ("A", TENANT[:6])],
    "access_no_segment": [("D", TENANT)],
    "access_vlan": [("A", pk.vlan(TENANT, 7)), ("A", pk.vlan(TENANT, 7, 0x88a8))],
    "bad_source_mac": [("A", pk.udp_frame(UNKNOWN, b"\1" + H1[1:], size=100)),
                       ("A", pk.udp_frame(UNKNOWN, bytes(6), size=100)),
                       ("U", encapsulated(pk.udp_frame(UNKNOWN, pk.BROADCAST, size=100)))],
    "inner_too_big": [("A", tenant(1515)), ("A", tenant(1900)), ("A", tenant(5000))],
    "outer_runt": [("U", encapsulated(GOOD)[:13]), ("U", encapsulated(GOOD)[:14]),
                   ("U", encapsulated(GOOD)[:33])],
    "outer_mac": [("U", encapsulated(GOOD, dmac=pk.mac("02:00:00:00:00:77")))],
    "outer_vlan": [("U", pk.vlan(encapsulated(GOOD), 10))],
    "outer_ethertype": [("U", pk.ethernet(PORT_MAC, R2_MAC, 0x88b5, bytes(60)))],
    "outer_ip_header": [("U", pk.ethernet(PORT_MAC, R2_MAC, 0x86dd, bytes(60))),
                        ("U", outer_ip(version=5)), ("U", outer_ip(ihl=4))],
    "outer_ip_length": [("U", outer_ip(total=2000)), ("U", outer_ip(total=137))],
    "outer_ip_checksum": [("U", outer_ip(header_checksum=0x1234)),
                          ("U", outer_ip(header_checksum=0))],
    "outer_dst_ip": [("U", encapsulated(GOOD, dst="192.0.2.99"))],
    "outer_src_ip": [("U", encapsulated(GOOD, src=src))
                     for src in (LOCAL, "0.0.0.0", "127.0.0.1", "224.0.0.9", "255.255.255.255")],
    "outer_fragment": [("U", outer_ip(flags=0x2000)), ("U", outer_ip(flags=5))],
    "outer_protocol": [("U", to_host(6, bytes(20))), ("U", to_host(47, bytes(20)))],
    "outer_udp_length": [("U", outer_udp(length=7)), ("U", outer_udp(length=500)),
                         ("U", to_host(17, b"\xc3\x50\x12\xb5\0\x08\0"))],
    "outer_udp_port": [("U", encapsulated(GOOD, dport=4788)),
                       ("U", encapsulated(GOOD, dport=8472))],
    "outer_udp_checksum": [("U", outer_udp(udp_checksum=0x1234))],
    "vxlan_header": [("U", encapsulated(GOOD, vx={"flags": 0})),
                     ("U", encapsulated(GOOD, vx={"flags": 0xf7})),
                     ("U", to_host(17, pk.udp(R2, LOCAL, 50000, 4789, bytes(7))))],
    "vni_unknown": [("U", encapsulated(GOOD, vni=999)), ("U", encapsulated(GOOD, vni=0))],
    "inner_runt": [("U", encapsulated(GOOD[:13])), ("U", encapsulated(b""))],
    "inner_vlan": [("U", encapsulated(pk.vlan(GOOD, 7)))],
    "inner_ecn": [("U", outer_ip(tos=3))],
    "same_port": [("A", pk.udp_frame(SAME, H1, size=100))],
    "split_horizon": [("U", encapsulated(pk.udp_frame(BEHIND, H2, size=100)))],
    "flood_off": [("E", pk.udp_frame(pk.mac("01:00:5e:00:00:05"), H1, size=100)),
                  ("E", pk.udp_frame(pk.mac("33:33:00:00:00:05"), H1, size=100))],
    "no_target": [("C", TENANT), ("C", pk.udp_frame(pk.BROADCAST, H1, size=100))],
    "too_big": [("A", tenant(1465)), ("A", tenant(1514))],
    "no_route": [("E", TENANT)],
    "group_bad": [("U", to_host(2, b"\x11\x0a\xee\xf5\0\0\0\0")),  # right but for its TTL
                  ("U", to_host(2, bytes(7)))],
    "arp_bad": [("U", pk.arp(1, R2_MAC, R2, bytes(6), LOCAL, hlen=5)),
                ("U", pk.arp(1, R2_MAC, R2, bytes(6), LOCAL, htype=6))],
    "nd_bad": [("U", nd.solicit(R2_MAC, "2001:db8::2", "2001:db8::1", hop_limit=64)),
               ("U", nd.solicit(R2_MAC, "2001:db8::2", "2001:db8::1", bad_sum=True))],
    "icmp6_ignored": [("U", nd.icmp6(PORT_MAC, R2_MAC, "fe80::2", "2001:db8::1",
                                     nd.ROUTER_ADVERT, bytes(12)))],
    "icmp_bad": [("U", nd.echo(PORT_MAC, R2_MAC, "2001:db8::2", "2001:db8::1", bad_sum=True)),
                 ("U", pk.icmp_echo(PORT_MAC, R2_MAC, R2, LOCAL, bad_sum=True)),
                 ("U", pk.icmp_echo(PORT_MAC, R2_MAC, R2, LOCAL, kind=13))],
}


@pytest.fixture(scope="module")
def single():
    """One run with a frame for each of the reasons of SINGLE, liveness included."""
    inputs = {label: [] for label in ("U", "A", "C", "D", "E")}
    for frames in SINGLE.values():
        for label, frame in frames:
            inputs[label].append(frame)
    return run_files(inputs, SINGLE_CONFIG, underlay_mtu=1500)


@pytest.mark.parametrize("reason", SINGLE)
def test_single_packets(single, reason):
    assert single.drops.get(reason, 0) == len(SINGLE[reason]), single.drops


def test_single_packets_nothing_else(single):
    """No other reason counts, no frame leaves, and no MAC is learned from a dropped one except
    where the drop comes after learning (it came in properly, but had nowhere to go)."""
    assert set(single.drops) == set(SINGLE)
    # forwarded as they should be: nothing but the liveness frames, which are not in out any more
    assert single.out == {label: [] for label in single.out}
    static = {pk.mac_text(SAME), pk.mac_text(BEHIND)}
    arrived_well = {pk.mac_text(H1), pk.mac_text(H2)}
    assert set(single.fdb) <= static | arrived_well
    assert static <= set(single.fdb)


@provokes("inner_vlan", "vni_unknown", "inner_ecn", "outer_src_ip", "bad_source_mac")
def test_nothing_learned_from_dropped():
    """Here each frame has a source MAC of its own, which must not turn up."""
    source = [b"\x02\x30\0\0\0" + bytes([i]) for i in range(8)]
    frames = [pk.udp_frame(UNKNOWN, mac, size=100) for mac in source]
    run = run_files({"U": [
        encapsulated(pk.vlan(frames[0], 7)), encapsulated(frames[1], vni=999),
        encapsulated(frames[2], ip_fields={"tos": 3}), encapsulated(frames[3], src="127.0.0.1"),
        encapsulated(frames[4], udp_fields={"udp_checksum": 1}),
        encapsulated(frames[5], vx={"flags": 0})],
        "A": [pk.vlan(frames[6], 7), pk.udp_frame(UNKNOWN, source[7], size=2000)]})
    assert not run.fdb
    assert sum(run.drops.values()) == 8


def pieces(ident, size=1514, part=1480):
    """The fragments of a good datagram from R2."""
    frame = encapsulated(pk.udp_frame(UNKNOWN, H2, size=size, sport=ident),
                         ip_fields={"ident": ident})
    return pk.fragments(frame, part)


def bad_fragment(ident, first, end, more):
    whole = encapsulated(pk.udp_frame(UNKNOWN, H2, size=9014), ip_fields={"ident": ident})
    return pk.fragment(whole, first, end, more)


@provokes("frag_bad")
@pytest.mark.parametrize("frames, count", [
    ([bad_fragment(1, 0, 0, True)], 1), ([bad_fragment(1, 8, 8, False)], 1),
    ([bad_fragment(1, 0, 7, True)], 1),
    # beyond 65,535 bytes by 1, the header included
    ([pk.ethernet(PORT_MAC, R2_MAC, 0x0800, pk.ipv4(R2, LOCAL, 17, bytes(28), flags=8189))], 1),
    # two ends; a piece behind the end; an end before what is there: the datagram is given up
    ([bad_fragment(1, 800, 900, False), bad_fragment(1, 1600, 1700, False)], 2),
    ([bad_fragment(1, 800, 900, False), bad_fragment(1, 1600, 1608, True)], 2),
    ([bad_fragment(1, 1600, 1608, True), bad_fragment(1, 800, 900, False)], 2),
    # ... and what still comes of it
    ([pieces(1)[0], bad_fragment(1, 8000, 8007, True), pieces(1)[1]], 3)])
def test_frag_bad(frames, count):
    run = run_files({"U": frames + pieces(2)}, drops={"frag_bad": count})
    assert len(run.out["A"]) == 1 and run.out["A"][0][34:36] == b"\0\2"


@provokes("frag_bad", "frag_timeout")
def test_frag_largest():
    """The last fragment of a datagram of exactly 65,535 bytes can be one."""
    last = pk.ipv4(R2, LOCAL, 17, bytes(27), flags=8186)
    run_files({"U": [pk.ethernet(PORT_MAC, R2_MAC, 0x0800, last)]}, drops={"frag_timeout": 1})


@provokes("frag_overlap")
@pytest.mark.parametrize("cuts", [
    [(0, 800), (792, 1600)], [(792, 1600), (0, 800)], [(0, 1600), (800, 1592)],
    [(800, 1592), (0, 1600)], [(0, 800), (0, 808)], [(0, 808), (0, 800)],
    [(0, 800), (1600, 2400), (792, 1608)]])
def test_frag_overlap(cuts):
    """Whatever overlaps, even by the same bytes, ends the whole datagram."""
    frames = [bad_fragment(1, first, end, True) for first, end in cuts]
    rest = [bad_fragment(1, 2400, 9030, False), bad_fragment(1, 0, 2400, True)]
    run = run_files({"U": frames + rest + pieces(2)}, drops={"frag_overlap": len(cuts) + 2},
                    mtu=9000)
    assert len(run.out["A"]) == 1


@provokes("frag_duplicate")
@pytest.mark.parametrize("order", [[0, 0, 1, 2], [0, 1, 1, 2], [1, 1, 0, 2], [2, 2, 1, 0],
                                   [2, 0, 2, 0, 2, 1]])
def test_frag_duplicate(order):
    three = pieces(1, 4000)
    run = run_files({"U": [three[i] for i in order]}, drops={"frag_duplicate": len(order) - 3},
                    mtu=4000)
    assert len(run.out["A"]) == 1 and len(run.out["A"][0]) == 4000


@provokes("frag_limit")
def test_frag_limit():
    """128 fragments of a datagram are held, not 129."""
    for count, drops in ((128, {}), (129, {"frag_limit": 129})):
        frame = encapsulated(pk.udp_frame(UNKNOWN, H2, size=count * 64 - 16),
                             ip_fields={"ident": count})
        frames = pk.fragments(frame, 64)
        assert len(frames) == count
        run = run_files({"U": frames}, drops=drops, mtu=9000)
        assert run.out["A"] == ([] if drops else [frame[50:]])


@provokes("frag_limit")
def test_frag_limit_of_datagrams():
    """The oldest makes room."""
    first, second, third = (pieces(i) for i in (1, 2, 3))
    frames = [first[0], second[0], third[0], second[1], third[1]]
    run = run_files({"U": frames}, CONFIG + "set reassembly max 2\n", drops={"frag_limit": 1})
    assert [frame[34:36] for frame in run.out["A"]] == [b"\0\2", b"\0\3"]


@provokes("frag_timeout")
def test_frag_timeout():
    with Live(CONFIG + "set reassembly timeout 400\n", takes_fragments=True) as vtep:
        first, last = pieces(1)
        vtep.ports["U"].send(first)
        vtep.until(lambda: vtep.stats()["held"] == 1, "one held")
        assert vtep.drops() == {}
        vtep.await_drops({"frag_timeout": 1})
        vtep.ports["U"].send(last)
        vtep.await_drops({"frag_timeout": 2})
        vtep.silent("A")


@provokes("outer_fragment")
def test_fragments_without_reassembly():
    run = run_files({"U": pieces(1) + pieces(2)}, CONFIG + "set reassembly off\n",
                    drops={"outer_fragment": 4})
    assert run.out["A"] == []


@provokes("needs_fragment_df")
def test_needs_fragment_df():
    frames = [tenant(1464), tenant(1465), tenant(1514)]
    run = run_files({"A": frames}, CONFIG + "set df on\n", drops={"needs_fragment_df": 2},
                    underlay_mtu=1500)
    assert pk.inners(run.out["U"], df=True) == frames[:1]


@provokes("too_big_replied")
def test_too_big_replied():
    frames = [tenant(1464), tenant(1465)]
    run = run_files({"A": frames}, CONFIG + "set oversize reply\n", drops={"too_big_replied": 1},
                    underlay_mtu=1500)
    assert pk.inners(run.out["U"]) == frames[:1] and len(run.out["A"]) == 1
    assert run.stats["originated"] >= 1


@provokes("peer_unknown")
def test_peer_unknown():
    """Known are the VTEPs that flood lists and static entries name."""
    config = CONFIG + "fdb add %s vni 100 vtep 192.0.2.3\nset peers known\n" % pk.mac_text(BEHIND)
    frames = [encapsulated(GOOD, src=src) for src in (R2, R3, "192.0.2.9")]
    run = run_files({"U": frames}, config, drops={"peer_unknown": 1})
    assert run.out["A"] == [GOOD, GOOD]
    assert run.fdb[pk.mac_text(H2)].vtep in (R2, R3)


@provokes("egress_vlan")
def test_egress_vlan():
    """A tagged frame may come in where tags are carried, but its destination is elsewhere."""
    config = CONFIG.replace("access add {A} vni 100", "access add {A} vni 100 vlan all") + \
        "access add {C} vni 100\nfdb add %s vni 100 port {C}\n" % pk.mac_text(SAME)
    inner = pk.vlan(pk.udp_frame(SAME, H1, size=100), 7)
    result = run_files({"A": [inner, TENANT], "U": [encapsulated(inner)], "C": []}, config,
                       drops={"egress_vlan": 2}, live=False)
    assert result.out["C"] == [TENANT]


@provokes("access_cut")
def test_access_cut():
    """net_af_packet cuts what does not fit into its ring; the IP length gives it away."""
    with Live(device_mtu=9000, mtu=8900) as vtep:
        vtep.ports["A"].space.ip("link", "set", "vx1", "mtu", "30000")
        vtep.ports["A"].space.ip("link", "set", "far1", "mtu", "30000")
        vtep.ports["A"].send(tenant(20000))
        vtep.until(lambda: sum(vtep.drops().values()) == 1, "the drop")
        assert vtep.drops() == {"access_cut": 1}
        vtep.silent("U")


@provokes("neigh_failed")
def test_neigh_failed():
    """Nobody answers for R2: what waited is dropped, and what comes later at once."""
    with Live(BASE + "flood add 192.0.2.2 vni 100\n") as vtep:
        vtep.live_at_end = False
        vtep.ports["A"].send(TENANT)
        vtep.await_drops({"neigh_failed": 1}, 10)
        vtep.silent("U")
        assert vtep.stats()["arp_failed"] >= 1


@provokes("neigh_queue")
def test_neigh_queue():
    """Few packets wait for a neighbour; the rest, and what still waits at the end, is counted."""
    with Live(BASE + "flood add 192.0.2.2 vni 100\n") as vtep:
        vtep.live_at_end = False
        vtep.ports["A"].send(*[tenant(sport=i) for i in range(100)])
        # Eight wait for the neighbour, the others make room for them.
        vtep.until(lambda: vtep.stats()["held"] == 8, "eight held")
        assert vtep.drops() == {"neigh_queue": 92}
        vtep.run("stop")
        vtep.until(lambda: vtep.drops().get("tx_port_down") == 8, "held ones given up")
        assert vtep.stats()["held"] == 0


@provokes("host_rate")
def test_host_rate():
    """A flood of ARP and echo requests is answered up to a limit only."""
    count = 20000
    frames = [pk.arp(1, R2_MAC, R2, bytes(6), LOCAL)] * count
    frames += [pk.icmp_echo(PORT_MAC, R2_MAC, R2, LOCAL)] * count
    run = run_files({"U": frames})
    assert set(run.drops) == {"host_rate"}
    answered = run.stats["arp_replies_sent"] + run.stats["echo_replies_sent"]
    assert answered + run.drops["host_rate"] == 2 * count
    assert run.stats["arp_replies_sent"] > 0 and run.stats["echo_replies_sent"] > 0
    assert run.drops["host_rate"] > count


@provokes("storm")
def test_storm():
    """What an access port may have flooded, and no more; others go on as they did."""
    broadcast = [pk.udp_frame(pk.BROADCAST, H1, size=60 + i) for i in range(100)]
    from_tunnel = [encapsulated(pk.udp_frame(pk.BROADCAST, H2, size=60 + i)) for i in range(50)]
    run = run_files({"A": broadcast, "U": from_tunnel}, CONFIG + "set storm {A} 1\n", live=False)
    passed = len(run.out["U"])
    assert run.drops == {"storm": 100 - passed}
    assert 16 <= passed < 60  # 16 at once and one a second
    assert [frame[50:] for frame in run.out["U"]] == broadcast[:16] + [
        frame[50:] for frame in run.out["U"][16:]]
    assert len(run.out["A"]) == 50


@provokes("tx_too_long")
def test_tx_too_long():
    """A frame that the access port's driver would lose without a word."""
    ports = {"U": PcapPort([encapsulated(pk.udp_frame(UNKNOWN, H2, size=3000)),
                            encapsulated(GOOD)]), "A": VethPort(1500)}
    with Vtep(ports, CONFIG, mtu=8900, underlay_mtu=9000) as vtep:
        vtep.settle(2)
        assert vtep.drops() == {"tx_too_long": 1}
        assert ports["A"].pending() == [GOOD]


@provokes("tx_port_down")
def test_tx_port_down():
    with Live(CONFIG + "access add {A2} vni 100\n", ("U", "A", "A2")) as vtep:
        vtep.run("port stop {A2}")
        vtep.from_remote(GOOD)
        vtep.on("A", GOOD)
        vtep.await_drops({"tx_port_down": 1})
        vtep.silent("A2")
        vtep.run("port start {A2}")
        vtep.from_remote(GOOD)
        vtep.on("A", GOOD)
        vtep.on("A2", GOOD)


class MemifPort:
    """A port whose other end, a testpmd that does not forward, takes nothing."""

    def __init__(self):
        self.name = self.mac = self.peer = self.path = None

    def open(self, index, space):
        del space
        self.name, self.mac = "net_memif%d" % index, b"\2\0\0\0\xd2" + bytes([index])
        self.path = "/tmp/vxbb-memif-%d.sock" % os.getpid()
        return "%s,role=server,socket=%s,socket-abstract=no" % (self.name, self.path)

    def connect(self):
        self.peer = subprocess.Popen(
            ["dpdk-testpmd", *eal_arguments("vxbbpeer%d" % os.getpid()), "--vdev",
             "net_memif0,role=client,socket=%s,socket-abstract=no" % self.path, "--", "-i",
             "--total-num-mbufs=4096"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=Space.namespace.enter)

    def close(self):
        if self.peer is not None:
            self.peer.stdin.close()
            self.peer.wait(20)
        if self.path and os.path.exists(self.path):
            os.unlink(self.path)


def link_up(vtep, label):
    """Wait for the port's link: these come up only when the other end is there."""
    vtep.until(lambda: re.search(r"link\W+up", vtep.run("show port info {%s}" % label), re.I),
               "link of " + label, 15)


@provokes("tx_full")
def test_tx_full():
    """The other end of a memif does not read: what its ring does not take is counted."""
    ports = {"U": VethPort(1500, OWN), "A": MemifPort()}
    wire = encapsulated(GOOD, dmac=OWN)
    with Vtep(ports, CONFIG) as vtep:
        ports["A"].connect()
        link_up(vtep, "A")
        for sent in range(500, 5001, 500):
            ports["U"].send(*[wire] * 500)
            vtep.settle(sent)
        assert set(vtep.drops()) == {"tx_full"}
        assert vtep.drops()["tx_full"] >= 5000 - 2048  # more than a ring holds


@provokes("no_mbuf")
def test_no_mbuf():
    """Copies that wait for neighbours use up the pool they are made from; when they are given up,
    it fills again and everything works as before."""
    config = "address add 198.18.255.254/16 port {U}\n"
    for vni, label in ((100, "A"), (200, "A2")):
        config += "vni add %d\naccess add {%s} vni %d\n" % (vni, label, vni)
        config += "".join("flood add 198.18.%d.%d vni %d\n" % (vni + i // 200, i % 200 + 1, vni)
                          for i in range(600))
    ports = {"U": VethPort(1500, OWN), "A": VethPort(1500), "A2": VethPort(1500)}
    ports["U"].is_underlay = True
    with Vtep(ports, config, options=["--max-vteps", "4096"]) as vtep:
        for sent in range(1, 11):
            ports["A"].send(TENANT)
            ports["A2"].send(TENANT)
            vtep.until(lambda: vtep.stats()["received"] == 2 * sent, "the frames")
        vtep.until(lambda: vtep.drops().get("no_mbuf", 0) > 0, "the pool's end")
        vtep.until(lambda: vtep.stats()["held"] == 0, "giving up", 15)
        assert set(vtep.drops()) <= {"no_mbuf", "neigh_queue", "neigh_failed"}
        vtep.check_law()
        vtep.run("neigh add 198.18.100.1 02:00:00:00:00:02 port {U}")
        ports["U"].pending(0.05)
        ports["A"].send(TENANT)
        outer, = map(pk.Outer, ports["U"].receive(1))
        assert outer.inner == TENANT and outer.dst == "198.18.100.1"


def test_tap_length_limit():
    """net_tap never finishes sending what is longer than 1,522 bytes: the rest must go on."""
    ports = {"U": VethPort(9000, OWN), "A": TapPort()}
    long = encapsulated(pk.udp_frame(UNKNOWN, H2, size=3000), dmac=OWN)
    with Vtep(ports, CONFIG, mtu=8900) as vtep:
        link_up(vtep, "A")
        ports["U"].send(*[long] * 40)
        ports["U"].send(*[encapsulated(GOOD, dmac=OWN)] * 3)
        vtep.settle(43)
        assert vtep.drops() == {"tx_too_long": 40}
        assert ports["A"].receive(3) == [GOOD] * 3


def test_every_reason_is_provoked():
    """The list in the header, the table above and the markers agree."""
    with open(os.path.join(REPO, "lib/base/vx_drop.h"), encoding="utf-8") as file:
        reasons = set(re.findall(r'^\s*X\(\w+, "(\w+)",', file.read(), re.M))
    assert len(reasons) > 30, "the list was not found"
    with open(__file__, encoding="utf-8") as file:
        marked = {name for line in re.findall(r"^@provokes\((.*)\)", file.read(), re.M)
                  for name in re.findall(r'"(\w+)"', line)}
    provoked = set(SINGLE) | marked
    assert reasons - provoked == set(), "no test provokes these"
    assert provoked - reasons == set(), "these do not exist"


def test_drops_lists_every_reason():
    """`show drops` names each reason once, with its text, even where it is zero or hidden."""
    with Live() as vtep:
        vtep.ports["A"].send(pk.vlan(TENANT, 7))
        vtep.await_drops({"access_vlan": 1})
        line, = [l for l in vtep.cli("show drops").split("\n") if "access_vlan" in l]
        assert "VLAN" in line
        vtep.run("clear fwd stats all")
        assert vtep.drops() == {}
        assert vtep.stats()["received"] == 0
