# SPDX-License-Identifier: BSD-3-Clause
"""
Tunnels over IPv6, byte for byte:

    A ── 2001:db8::1, 192.0.2.1 ── U ── 2001:db8::2, 2001:db8::3; 192.0.2.2
"""
import pytest

import packets as pk
import packets6 as p6
from cases import frames_of, matches_expected
from tunnel import CONFIG, H1, H2, PCAP_MAC, R2, UNKNOWN, Live, run_files

case = pytest.mark.case

OURS, PEER, PEER2 = "2001:db8::1", "2001:db8::2", "2001:db8::3"
PEER_MAC = pk.mac("02:00:00:00:00:02")
CONFIG6 = """address add 2001:db8::1/64 port {U}
neigh add 2001:db8::2 02:00:00:00:00:02 port {U}
neigh add 2001:db8::3 02:00:00:00:00:03 port {U}
vni add 100
access add {A} vni 100
flood add 2001:db8::2 vni 100
"""
GOOD = pk.udp_frame(UNKNOWN, H2, size=100)
TENANT = pk.udp_frame(UNKNOWN, H1, size=100)


def encapsulated(inner, *, vni=100, src=PEER, dst=OURS, sport=50000, dport=pk.VXLAN_PORT,
                 smac=PEER_MAC, dmac=PCAP_MAC, udp_fields=None, **ip_fields):
    """@inner as remote VTEP @src would send it; the dictionary breaks single fields."""
    datagram = p6.udp(src, dst, sport, dport, pk.vxlan(vni, inner), **(udp_fields or {}))
    return pk.ethernet(dmac, smac, 0x86dd, p6.ipv6(src, dst, 17, datagram, **ip_fields))


def is_discovery(frame):
    return frame[12:14] == b"\x86\xdd" and frame[20] in (0, 58)


def run(inputs, config=CONFIG6, **arguments):
    """run_files() without what the program says of its own addresses."""
    result = run_files(inputs, config, live=False, **arguments)
    result.out["U"] = [frame for frame in result.out["U"] if not is_discovery(frame)]
    return result


def whole(result, mtu=1500):
    frames, sizes, _ = p6.reassemble(result.out["U"], mtu)
    return [p6.Outer6(frame) for frame in frames], sizes


def test_encapsulate():
    frames = [pk.udp_frame(H2, H1, sport=i, size=100 + i, tos=i) for i in range(40)]
    result = run({"A": frames + frames}, drops={})
    outers, _ = whole(result)
    assert [o.inner for o in outers] == frames + frames
    for i, o in enumerate(outers):
        assert (o.src, o.dst, o.vni, o.hops) == (OURS, PEER, 100, 64)
        assert (o.src_mac, o.dst_mac) == (PCAP_MAC, PEER_MAC)
        assert o.traffic_class == i % 40 % 4 and o.udp_checksum
        assert 49152 <= o.sport <= 65535
    # one flow, one label and port; different flows differ
    assert [(o.label, o.sport) for o in outers[:40]] == [(o.label, o.sport) for o in outers[40:]]
    assert len({o.label for o in outers}) == 40


@pytest.mark.parametrize("setting, has_checksum", [("on", True), ("off", False), ("auto", True)])
def test_udp_checksum(setting, has_checksum):
    result = run({"A": [TENANT]}, CONFIG6 + "set udp-checksum %s\n" % setting, drops={})
    assert [bool(o.udp_checksum) for o in whole(result)[0]] == [has_checksum]


def test_both_families_in_one_segment():
    """To each remote of the flood list, learned from both, and back by what was learned."""
    config = CONFIG + CONFIG6.replace("vni add 100\naccess add {A} vni 100\n", "")
    result = run({"U": [encapsulated(GOOD)], "A": [TENANT]}, config, drops={})
    assert result.out["A"] == [GOOD]
    assert PEER in result.fdb[pk.mac_text(H2)].line
    outer6, = [p6.Outer6(f) for f in result.out["U"] if f[12:14] == b"\x86\xdd"]
    outer4, = [pk.Outer(f) for f in result.out["U"] if f[12:14] == b"\x08\x00"]
    assert (outer6.dst, outer4.dst) == (PEER, R2)
    assert outer6.inner == outer4.inner == TENANT


def test_group():
    """A multicast group of VTEPs: sent to with its own MAC and TTL, and listened to."""
    config = CONFIG6 + "flood add ff05::1:9 vni 100\nset multicast-ttl 7\n"
    group_mac = b"\x33\x33\0\1\0\x09"
    result = run({"A": [TENANT], "U": [
        encapsulated(GOOD, dst="ff05::1:9", dmac=group_mac, src=PEER2, smac=PEER_MAC)]},
        config, drops={})
    assert result.out["A"] == [GOOD]
    outers = [p6.Outer6(frame) for frame in result.out["U"]]
    assert [(o.dst, o.hops) for o in outers if o.dst != PEER] == [("ff05::1:9", 7)]
    assert [o.dst_mac for o in outers if o.dst != PEER] == [group_mac]
    assert [o.inner for o in outers] == [TENANT] * 2


def test_local_of_a_vni():
    config = "address add 2001:db8::9/64 port {U}\n" + \
        CONFIG6.replace("vni add 100", "vni add 100 local 2001:db8::9")
    result = run({"A": [TENANT]}, config, drops={})
    assert [o.src for o in whole(result)[0]] == ["2001:db8::9"]


def test_decapsulate():
    """Checksum right and zero, padding, extension headers that may be skipped."""
    pad = b"\0\0\1\4\0\0\0\0"
    packet = encapsulated(GOOD)
    result = run({"U": [
        packet, packet + bytes(20), encapsulated(GOOD, udp_fields={"udp_checksum": 0}),
        p6.extended(packet, p6.DESTINATION, pad), p6.extended(packet, p6.HOP_BY_HOP, pad),
        p6.extended(packet, p6.ROUTING, b"\0\0\4\0\0\0\0\0"),
        p6.extended(packet, p6.FRAGMENT, b"\0\0\0\0\1\2\3\4"),
        p6.extended(p6.extended(packet, p6.FRAGMENT, b"\0\0\0\0\1\2\3\4"), p6.DESTINATION, pad),
        encapsulated(GOOD, src="2001:db8:5::7")]}, drops={})
    assert result.out["A"] == [GOOD] * 9


DROPS = {
    "outer_udp_checksum": [encapsulated(GOOD, udp_fields={"udp_checksum": 0x1234})],
    "outer_ip_header": [encapsulated(GOOD, version=5),
                        p6.extended(encapsulated(GOOD), p6.DESTINATION, b"\0\0\x5e\4\0\0\0\0"),
                        p6.extended(encapsulated(GOOD), p6.ROUTING, b"\0\0\4\1\0\0\0\0"),
                        p6.extended(encapsulated(GOOD), p6.HOP_BY_HOP, b"\0\0\xc2\4\0\1\0\0")],
    "outer_ip_length": [encapsulated(GOOD)[:-1], encapsulated(GOOD, length=4000)],
    "outer_dst_ip": [encapsulated(GOOD, dst="2001:db8::77"),
                     encapsulated(GOOD, dst="::ffff:192.0.2.1"),
                     encapsulated(GOOD, dst="ff02::1", dmac=b"\x33\x33\0\0\0\1")],
    "outer_mac": [encapsulated(GOOD, dmac=b"\x33\x33\0\0\0\1")],
    "outer_src_ip": [encapsulated(GOOD, src=src) for src in
                     ("::", "::1", "ff02::1", OURS, "fe80::7", "::ffff:192.0.2.2", "::1.2.3.4")],
    "outer_udp_port": [encapsulated(GOOD, dport=4790)],
    "outer_udp_length": [encapsulated(GOOD, udp_fields={"length": 4000})],
    "vni_unknown": [encapsulated(GOOD, vni=7)],
}


def test_drops():
    """Each for its own reason, and IPv4's local address stays IPv4's."""
    config = "address add 192.0.2.1/24 port {U}\n" + CONFIG6
    result = run({"U": sum(DROPS.values(), [])}, config,
                 drops={reason: len(frames) for reason, frames in DROPS.items()})
    assert result.out["A"] == [] and not result.fdb


@pytest.mark.parametrize("mtu", [1280, 1499, 1500, 1501, 9000])
def test_fragment(mtu):
    """What fits exactly, one byte more, and what fills two and three exactly."""
    part = (mtu - 48) // 8 * 8
    lengths = [mtu - 56, mtu - 55, 2 * part - 16, 2 * part - 15, 3 * part - 16, 20001]
    frames = [pk.udp_frame(H2, H1, sport=i, size=size) for i, size in enumerate(lengths)]
    result = run({"A": frames}, mtu=30000, underlay_mtu=mtu, drops={})
    outers, sizes = whole(result, mtu)
    assert [o.inner for o in outers] == frames
    assert all(o.udp_checksum for o in outers)
    for size, made in zip(lengths, sizes):
        total = size + 16
        assert made == [total] if total + 40 <= mtu else \
            made == [part] * ((total - 1) // part) + [(total - 1) % part + 1]
    _, _, idents = p6.reassemble(result.out["U"], mtu)
    assert len(set(idents)) == 5


def test_largest():
    """The largest inner MTU that can be set, and the fragments of such a packet on their way in."""
    frame = pk.udp_frame(H2, H1, size=65485 + 14)
    incoming = pk.udp_frame(UNKNOWN, H2, size=65485 + 14)
    result = run({"A": [frame], "U": p6.fragments(encapsulated(incoming))}, mtu=65485,
                 underlay_mtu=1500, drops={})
    outers, sizes = whole(result)
    assert [o.inner for o in outers] == [frame] and len(sizes[0]) == 46
    assert result.out["A"] == [incoming]


@pytest.mark.parametrize("df, drops", [("on", {"needs_fragment_df": 1}), ("off", {})])
def test_df(df, drops):
    frames = [pk.udp_frame(H2, H1, size=size) for size in (1444, 1445)]
    result = run({"A": frames}, CONFIG6 + "set df %s\n" % df, underlay_mtu=1500, drops=drops)
    assert [o.inner for o in whole(result)[0]] == frames[:2 - len(drops)]


def test_oversize_reply():
    frame = pk.udp_frame(H2, H1, size=1445, flags=0x4000)
    result = run({"A": [frame]}, CONFIG6 + "set oversize reply\n", underlay_mtu=1500,
                 drops={"too_big_replied": 1})
    answer, = result.out["A"]
    assert answer[34:36] == b"\3\4" and answer[40:42] == (1430).to_bytes(2, "big")


def test_reassemble():
    """In order, reversed, with a header in front, mixed; a loss and an overlap."""
    frames = [pk.udp_frame(UNKNOWN, H2, sport=i, size=3000) for i in range(6)]
    pieces = [p6.fragments(encapsulated(frame), ident=i << 24) for i, frame in enumerate(frames)]
    pad = b"\0\0\1\4\0\0\0\0"
    good = pieces[0] + pieces[1][::-1] + [p6.extended(f, p6.HOP_BY_HOP, pad) for f in pieces[2]]
    good += [pieces[3][0], pieces[4][2], pieces[3][2], pieces[4][1], pieces[3][1], pieces[4][0]]
    lost = pieces[5][:2]
    packet = encapsulated(frames[5])
    overlap = [p6.fragment(packet, 0, 1448, True, 99), p6.fragment(packet, 1440, 2896, True, 99),
               p6.fragment(packet, 2896, 3016, False, 99)]
    result = run({"U": good + lost + overlap}, mtu=3000,
                 drops={"frag_timeout": 2, "frag_overlap": 3})
    assert sorted(result.out["A"]) == sorted(frames[:5])


def test_congestion_in_one_fragment():
    frame = pk.udp_frame(UNKNOWN, H2, size=3000, tos=2)
    pieces = p6.fragments(encapsulated(frame, traffic_class=2))
    pieces[1] = pieces[1][:15] + bytes([pieces[1][15] | 0x30]) + pieces[1][16:]
    result = run({"U": pieces}, mtu=3000, drops={})
    assert [out[15] for out in result.out["A"]] == [3]


def test_commands():
    """What is refused, and what `show` says."""
    with Live() as vtep:
        assert "no local IPv6 address" in vtep.refuse("flood add 2001:db8::2 vni 100")
    config = CONFIG + CONFIG6.replace("vni add 100\naccess add {A} vni 100\n", "")
    with Live(config) as vtep:
        vtep.live_at_end = False
        assert "link-local" in vtep.refuse("flood add fe80::2 vni 100")
        assert "multicast" in vtep.refuse(
            "fdb add 02:00:00:00:0b:99 vni 100 vtep ff0e::2")
        assert "own address" in vtep.refuse("flood add 2001:db8::1 vni 100")
        assert "1280" in vtep.refuse("set path-mtu 2001:db8::2 1279")
        assert vtep.cli("show vni 100").split("\n")[1].split()[2] == "1430"
        vtep.run("flood del 2001:db8::2 vni 100")
        assert vtep.cli("show vni 100").split("\n")[1].split()[2] == "1450"
        vtep.run("flood add 2001:db8::2 vni 100")
        vtep.run("set path-mtu 2001:db8::2 1280")
        assert vtep.cli("show vni 100").split("\n")[1].split()[2] == "1210"
        config = vtep.config_lines()
        assert "flood add 2001:db8::2 vni 100" in config
        assert "set path-mtu 2001:db8::2 1280" in config


# --- the public cases ---

@case(5)
def test_case_fragment_sizes():
    result = run({"A": frames_of("005")}, underlay_mtu=1500, drops={})
    outers, sizes = whole(result)
    assert sizes == [[1448, 82]]
    assert [f[20] for f in result.out["U"]] == [44, 44]
    assert [int.from_bytes(f[18:20], "big") for f in result.out["U"]] == [1456, 90]
    matches_expected([o.inner for o in outers], "005")


@case(14)
def test_case_overhead():
    result = run({"A": frames_of("014")}, underlay_mtu=1500, drops={})
    outers, sizes = whole(result)
    assert [len(made) for made in sizes] == [1, 2, 2, 2]
    matches_expected([o.inner for o in outers], "014")


@case(19)
def test_case_reassemble():
    result = run({"U": frames_of("019")}, mtu=9000, drops={})
    matches_expected(result.out["A"], "019")
    assert result.stats["reassembled"] == 2


@case(22)
def test_case_overlap():
    config = CONFIG + CONFIG6.replace("vni add 100\naccess add {A} vni 100\n", "")
    result = run({"U": frames_of("022")}, config, drops={"frag_overlap": 6})
    matches_expected(result.out["A"], "022")


@case(29)
def test_case_header_before_fragment_header():
    """Skipped like any other: the exact frame comes out."""
    frames = frames_of("029")
    result = run({"U": frames}, mtu=9000, drops={})
    pieces = [(frame[64:66], frame[70:]) for frame in frames]
    data = b"".join(piece for _, piece in sorted(pieces, key=lambda p: p[0]))
    assert result.out["A"] == [data[16:]]


@case(46)
def test_case_udp_checksum():
    """Zero is taken from any remote (RFC 6935)."""
    frames = frames_of("046")
    result = run({"U": frames}, drops={"outer_udp_checksum": 1})
    assert result.out["A"] == [pk.padded(frame[70:]) for frame in frames[:3]]


@case(53)
def test_case_extension_headers():
    frames = frames_of("053")
    result = run({"U": frames})
    assert result.out["A"] == [pk.padded(frames[0][78:])]
    assert sum(result.drops.values()) == 5


@case(62)
def test_case_ecn():
    result = run({"U": frames_of("062")}, drops={"inner_ecn": 1})
    matches_expected(result.out["A"], "062")


@case(124)
def test_fragment_headers_in_a_flood():
    """Cases 029, 046 and 053 as fast as files are read, and good packets between them."""
    bad = frames_of("029") + frames_of("046") + frames_of("053")
    result = run({"U": (bad + [encapsulated(GOOD)]) * 200}, mtu=9000)
    assert result.out["A"].count(GOOD) == 200
