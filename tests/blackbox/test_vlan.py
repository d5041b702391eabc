# SPDX-License-Identifier: BSD-3-Clause
"""
Access VLANs, byte by byte:

    A ── untagged ──┐
    B ── VLAN 20 ───┤ VNI 100 ── R2, R3
    C ── VLAN 30 ───┘
    C ── VLAN 40 ───┐
    D ── all ───────┤ VNI 200 ── R4
    B ── untagged ──┘
"""
import pytest

import packets as pk
from ports import PcapPort
from tunnel import (BASE, CONFIG, H1, H2, NEIGHBOURS, R2, R3, R4, UNKNOWN, Live, encapsulated,
                    run_files)
from vtep import Vtep

BRIDGE = BASE + NEIGHBOURS + """access add {B} vni 100 vlan 20
access add {C} vni 100 vlan 30
flood add 192.0.2.2 vni 100
flood add 192.0.2.3 vni 100
vni add 200
access add {D} vni 200 vlan all
access add {C} vni 200 vlan 40
access add {B} vni 200
flood add 192.0.2.4 vni 200
"""
LABELS = ("U", "A", "B", "C", "D")


def frame(number, size=100, src=H1):
    """Told apart by its ports; to nobody known."""
    return pk.udp_frame(UNKNOWN, src, size=size, sport=number)


def tags(inner, *vids):
    """The first of @vids is the outermost: (VLAN id, type, priority) or an id."""
    for vid in reversed(vids):
        inner = pk.vlan(inner, *(vid if isinstance(vid, tuple) else (vid,)))
    return inner


def bridge(inputs, drops=None):
    inputs = {**{label: [] for label in LABELS}, **inputs}
    return run_files(inputs, BRIDGE, drops=drops or {}, live=False)


def expect(result, tunnel=(), **out):
    """@out: the frames of each port; @tunnel: (remote, inner frame)."""
    for label in LABELS[1:]:
        want = sorted(pk.padded(f) for f in out.get(label, []))
        assert sorted(result.out[label]) == want, label
    assert sorted((o.dst, o.inner) for o in result.outers()) == sorted(tunnel)


def test_translation_and_several_segments():
    """Frames of every attachment reach the others of its segment with their tags, tunnels without
    any. Short ones are padded behind the tag."""
    a, b, c, other, short = (frame(i) for i in range(5))
    short = short[:46]
    result = bridge({"A": [a, short], "B": [tags(b, (20, 0x8100, 5))],
                     "C": [tags(c, 30), tags(other, 40)]})
    expect(result, A=[b, c], B=[tags(a, 20), tags(short, 20), tags(c, 20), other],
           C=[tags(a, 30), tags(short, 30), tags(b, 30)], D=[other],
           tunnel=[(remote, f) for remote in (R2, R3) for f in (a, b, c, short)] + [(R4, other)])


def test_from_the_tunnel():
    one, two, tagged = frame(1), frame(2)[:50], frame(3)
    result = bridge({"U": [encapsulated(one), encapsulated(two, vni=200, src=R4),
                           encapsulated(tags(tagged, 7), vni=200, src=R4),
                           encapsulated(tags(tagged, (9, 0x88a8), 7, 8), vni=200, src=R4),
                           encapsulated(tags(tagged, 20))]}, {"inner_vlan": 1})
    expect(result, A=[one], B=[tags(one, 20), two], C=[tags(one, 30), tags(two, 40)],
           D=[two, tags(tagged, 7), tags(tagged, (9, 0x88a8), 7, 8)])


def test_all_carries_tags():
    """Tags of any kind and number go into the tunnel as they are, and to no attachment that does
    not carry them; untagged frames go everywhere."""
    plain = frame(1)
    tagged = [tags(frame(2), 20), tags(frame(3), (40, 0x8100, 7)), tags(frame(4), (0, 0x8100, 3)),
              tags(frame(5), (10, 0x88a8), 20), tags(frame(6), 1, 2, 3), frame(7)[:12] + b"\x81\0\0\1"]
    result = bridge({"D": [plain] + tagged})
    expect(result, B=[plain], C=[tags(plain, 40)], tunnel=[(R4, f) for f in [plain] + tagged])


def test_priority_tag_counts_as_untagged():
    one, two = frame(1), frame(2)
    result = bridge({"A": [tags(one, (0, 0x8100, 5))], "C": [tags(two, 0)]},
                    {"access_no_segment": 1})
    expect(result, B=[tags(one, 20)], C=[tags(one, 30)], tunnel=[(R2, one), (R3, one)])


def test_tags_that_belong_nowhere():
    f = frame(1)
    bad = [tags(f, 21), tags(f, 4095), tags(f, (20, 0x88a8)), tags(f, 20, 5), tags(f, 0, 20),
           tags(f, 20)[:17], tags(f, 20)[:14]]
    expect(bridge({"B": bad}, {"access_vlan": len(bad)}))


def test_tagged_frame_to_an_untagged_place():
    inner = pk.udp_frame(H2, H1, size=100)
    config = BRIDGE + "fdb add %s vni 200 port {C} vlan 40\n" % pk.mac_text(H2)
    inputs = {**{label: [] for label in LABELS}, "D": [tags(inner, 40), inner]}
    result = run_files(inputs, config, drops={"egress_vlan": 1}, live=False)
    expect(result, C=[tags(inner, 40)])


def test_mtu_counts_without_tags():
    fits, over = frame(1, 1514), frame(2, 1515)
    result = bridge({"B": [tags(fits, 20), tags(over, 20)],
                     "D": [tags(fits, 1, 2), tags(over, 1, 2)]}, {"inner_too_big": 2})
    frames, _ = result.whole()
    inners = sorted((o.dst, o.inner) for o in frames)
    assert inners == sorted([(R2, fits), (R3, fits), (R4, tags(fits, 1, 2))])
    assert result.out["A"] == [fits] and result.out["C"] == [tags(fits, 30)]


def test_full_size_over_af_packet():
    """The kernel hands the tag over apart, and takes frames that are longer by one tag only."""
    with Live(BRIDGE, LABELS) as vtep:
        vtep.live_at_end = False
        one = frame(1, 1514)
        vtep.ports["B"].send(tags(one, 20))
        vtep.on("A", one)
        vtep.on("C", tags(one, 30))
        vtep.ports["U"].receive(4)  # two fragments to each of two remotes
        two = tags(frame(2, 1400), (5, 0x8100, 3), (6, 0x88a8))
        vtep.ports["D"].send(two)
        vtep.to_remotes(two, R4)
        vtep.from_remote(two, R4, vni=200)
        vtep.on("D", two)
        vtep.await_drops({})


def test_learned_by_vlan():
    """The FDB tells the VLAN; a MAC that turns up under another VLAN of its port has moved."""
    with Live(BRIDGE + "access add {C} vni 100 vlan 31\n", LABELS) as vtep:
        vtep.live_at_end = False
        hello = frame(1)
        vtep.ports["C"].send(tags(hello, 30))
        vtep.on("A", hello)
        vtep.to_remotes(hello, R2, R3)
        where = "port 3 vlan 30"
        vtep.until(lambda: where in vtep.cli("show fdb vni 100"), "learned at " + where)
        assert vtep.ports["C"].receive(1) == [tags(hello, 31)]
        answer = pk.udp_frame(H1, H2, size=80)
        vtep.ports["A"].send(answer)
        vtep.on("C", tags(answer, 30))
        vtep.ports["C"].send(tags(hello, 31))
        vtep.until(lambda: "port 3 vlan 31" in vtep.cli("show fdb vni 100"), "moved")
        vtep.on("A", hello)
        # in the other segment the same MAC is another one
        assert pk.mac_text(H1) not in vtep.fdb("vni 200")
        vtep.run("access del {C} vlan 31")
        assert pk.mac_text(H1) not in vtep.fdb()


def columns(text, *key):
    """The line that has the words @key, by the names in the head."""
    head, *lines = text.split("\n")
    line, = [l.split() for l in lines if l.split()[:len(key)] == list(key)]
    return dict(zip(head.split(), line))


def test_counted_by_kind():
    """Both ways, unicast and flooded: per attachment, segment and remote VTEP; and clear."""
    names = ("rx-frames", "rx-bytes", "tx-frames", "tx-bytes",
             "rx-flooded", "rx-fl-bytes", "tx-flooded", "tx-fl-bytes")

    def expect_counts(line, *values):
        assert [int(line[name]) for name in names] == list(values)
    known = pk.udp_frame(H2, H1, size=200)
    config = BRIDGE + "fdb add %s vni 100 vtep 192.0.2.2\n" % pk.mac_text(H2)
    inputs = {"U": [encapsulated(frame(1, 120))], "A": [],
              "B": [tags(known, 20)] * 3 + [tags(frame(2, 100), 20)], "C": [], "D": []}
    ports = {label: PcapPort(frames) for label, frames in inputs.items()}
    with Vtep(ports, config) as vtep:
        vtep.settle(5)
        shown = vtep.cli("show access")
        # in: 3 known of 200 and one flooded of 100; out: what came from the tunnel
        expect_counts(columns(shown, "2", "net_pcap2", "20"), 4, 700, 1, 120, 1, 100, 1, 120)
        expect_counts(columns(shown, "1", "net_pcap1", "untagged"), 0, 0, 2, 220, 0, 0, 2, 220)
        assert columns(shown, "4", "net_pcap4")["vlan"] == "all"
        expect_counts(columns(vtep.cli("show vni 100").replace("by route", "-"), "100"),
                      1, 120, 5, 800, 1, 120, 2, 200)
        expect_counts(columns(vtep.cli("show vtep"), R2), 1, 120, 4, 700, 1, 120, 1, 100)
        expect_counts(columns(vtep.cli("show vtep"), R3), 0, 0, 1, 100, 0, 0, 1, 100)
        vtep.run("clear fwd stats all")
        expect_counts(columns(vtep.cli("show access"), "2", "net_pcap2", "20"), *[0] * 8)
        expect_counts(columns(vtep.cli("show vtep"), R2), *[0] * 8)


def test_errors_and_configuration():
    with Vtep({label: PcapPort() for label in LABELS}, BRIDGE) as vtep:
        for line, words in (
                ("access add {B} vni 100 vlan 20", "already"),
                ("access add {B} vni 200 vlan 20", "access del 2 vlan 20"),
                ("access add {D} vni 100", "access del 4 vlan all"),
                ("access add {D} vni 200 vlan 7", "access del 4 vlan all"),
                ("access add {A} vni 200 vlan all", "access del 1"),
                ("access add {A} vni 200 vlan 0", "1 to 4094"),
                ("access add {A} vni 200 vlan 4095", "1 to 4094"),
                ("access add {U} vni 200 vlan 7", "not an access port"),
                ("access del {B} vlan 21", "VLAN 21"),
                ("access del {B} vlan all", "vlan all"),
                ("access del {D}", "untagged"),
                ("fdb add 02:00:00:00:00:99 vni 100 port {B} vlan 21", "VLAN 21"),
                ("fdb add 02:00:00:00:00:99 vni 100 port {B}", "VNI 200"),
                ("fdb add 02:00:00:00:00:99 vni 200 port {D} vlan 7", "VLAN 7")):
            assert words in vtep.refuse(line), line
        vtep.run("fdb add 02:00:00:00:00:98 vni 100 port {B} vlan 20\n"
                 "fdb add 02:00:00:00:00:99 vni 200 port {D}")
        lines = vtep.config_lines()
        for line in ("access add net_pcap2 vni 100 vlan 20", "access add net_pcap2 vni 200",
                     "access add net_pcap4 vni 200 vlan all",
                     "fdb add 02:00:00:00:00:98 vni 100 port net_pcap2 vlan 20",
                     "fdb add 02:00:00:00:00:99 vni 200 port net_pcap4"):
            assert line in lines, line
        assert "port 4 vlan all" in vtep.cli("show fdb vni 200")
    with Vtep({label: PcapPort() for label in LABELS}, "\n".join(lines)) as vtep:
        assert vtep.config_lines() == lines


@pytest.mark.parametrize("change, undo", [
    ("access del {A} vlan 3", "access add {A} vni 100 vlan 3"),
    ("access del {A}", "access add {A} vni 100"),
    ("vni del 100", "vni add 100\naccess add {A} vni 100\naccess add {A} vni 100 vlan 3\n"
     "access add {C} vni 100 vlan 9\nflood add 192.0.2.2 vni 100"),
    ("port detach {C}", None)])
def test_removed_under_traffic(change, undo):
    """No mbuf is lost, every frame is accounted for, and entries that point there are gone."""
    config = CONFIG + "access add {A} vni 100 vlan 3\naccess add {C} vni 100 vlan 9\n" \
        "fdb add 02:00:00:00:0c:01 vni 100 port {C} vlan 9\n"
    up = [encapsulated(frame(i, src=H2)) for i in range(40)] + [
        encapsulated(pk.udp_frame(mac, H2, size=90))
        for mac in (H1, pk.mac("02:00:00:00:0c:01"))] * 20
    access = [tags(frame(i), 3) for i in range(40)] + [frame(i, src=pk.mac("02:00:00:00:0a:02"))
                                                       for i in range(40)]
    ports = {"U": PcapPort(up, infinite=True, sink=True),
             "A": PcapPort(access, infinite=True, sink=True), "C": PcapPort(sink=True)}
    with Vtep(ports, config) as vtep:
        vtep.until(lambda: pk.mac_text(H1) in vtep.fdb(), "learned")
        for _ in range(10 if undo else 1):
            gone = vtep.run("show fdb")
            vtep.run(change)
            if "{C}" in change or "vni" in change:
                assert "02:00:00:00:0c:01" not in vtep.fdb(), gone
            if "vlan 3" in change:
                assert not any("vlan 3" in l for l in vtep.cli("show fdb").split("\n"))
            if undo:
                vtep.run(undo)
        before = vtep.stats()["forwarded"]
        vtep.until(lambda: vtep.stats()["forwarded"] > before + 1000, "traffic goes on")
        vtep.run("stop")
        vtep.until(lambda: Vtep.balance(vtep.stats()) == 0, "all accounted for")
