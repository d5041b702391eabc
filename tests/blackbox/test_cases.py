# SPDX-License-Identifier: BSD-3-Clause
"""The public cases that files in and files out can judge (cases.py tells where they are and which
are not run yet; test_cases_live.py has those that are a sequence in time). Liveness, log, memory
and the accounting law are checked by the harness after each."""
import glob
import os
import re

import pytest

import cases
import packets as pk
from cases import digest, frames_of, matches_expected
from tunnel import (CONFIG, H1, H2, LOCAL, R2, R3, R4, REMOTE_MAC, THREE, UNKNOWN, VNI200, Live,
                    run_files)

case = pytest.mark.case
BIG = {"mtu": 20100, "underlay_mtu": 20200,  # so that nothing needs fragments
       "options": ["--total-num-mbufs", "4096"]}


def decapsulated(name):
    """The inner frames of a U file, in order, as its bytes have them."""
    return [frame[50:] for frame in frames_of(name)]


# -- sending: MTU ---------------------------------------------------------------------------------

@case(11)
def test_inner_mtu_enforced():
    config = CONFIG.replace("vni add 100", "vni add 100 mtu 1450")
    result = run_files({"A": frames_of("011")}, config, drops={"inner_too_big": 1},
                       underlay_mtu=1500)
    matches_expected(pk.inners(result.out["U"], total=1500), "011")


def sent_whole(name, underlay_mtu):
    """Send a file's frames over @underlay_mtu; (outer datagrams, sizes of their pieces), the
    content compared with expected.json."""
    result = run_files({"A": frames_of(name)}, drops={}, mtu=9100, underlay_mtu=underlay_mtu)
    outers, sizes = result.whole(underlay_mtu)
    matches_expected([o.inner for o in outers], name)
    assert result.stats["fragments"] == sum(len(pieces) - 1 for pieces in sizes)
    assert result.stats["fragmented"] == sum(len(pieces) > 1 for pieces in sizes)
    for outer, pieces in zip(outers, sizes):
        assert not outer.df and outer.ttl == 64 and outer.tos == 0
        # `set udp-checksum auto`; that it is right has been verified
        assert (outer.udp_checksum != 0) == (len(pieces) > 1)
    return outers, sizes


@case(1)
def test_just_too_big():
    outers, sizes = sent_whole("001", 1500)
    assert sizes == [[1480, 50]] and outers[0].total == 1550


@case(2)
def test_jumbo_in_fragments():
    _, sizes = sent_whole("002", 1500)
    assert sizes == [[1480] * 6 + [150]]


@case(4)
@pytest.mark.parametrize("mtu, pieces", [(1499, [1472, 1472, 86]), (1501, [1480, 1480, 70]),
                                         (1503, [1480, 1480, 70]), (1600, [1576, 1454]),
                                         (9000, [3030])])
def test_mtu_not_a_multiple_of_8(mtu, pieces):
    _, sizes = sent_whole("004", mtu)
    assert sizes == [pieces]


@case(8)
def test_outer_identification():
    outers, sizes = sent_whole("008", 1500)
    assert sizes == [[1480, 50]] * 10
    assert len({o.ident for o in outers}) == 10
    assert {o.inner[18:20] for o in outers} == {b"\x12\x34"}


@case(10)
@pytest.mark.parametrize("setting, reason", [("set df on", "needs_fragment_df"),
                                             ("set oversize drop", "too_big")])
def test_outer_df(setting, reason):
    fits = pk.udp_frame(H2, H1, size=1464)
    result = run_files({"A": frames_of("001") + [fits]}, CONFIG + setting + "\n",
                       drops={reason: 1}, underlay_mtu=1500)
    outer, = result.outers()
    assert outer.inner == fits and outer.total == 1500 and outer.df == (setting == "set df on")


@case(13)
def test_exact_fit_9000():
    _, sizes = sent_whole("013", 9000)
    assert sizes == [[8980], [8976, 5]]


@case(14)
def test_overhead_50():
    outers, sizes = sent_whole("014", 1500)
    assert sizes == [[1460], [1461], [1480], [1480, 1]]
    assert [o.total for o in outers] == [1480, 1481, 1500, 1501]


@case(16)
def test_inner_df_too_big():
    result = run_files({"A": frames_of("016")}, mtu=1450, underlay_mtu=1500,
                       drops={"inner_too_big": 1})
    assert result.out == {"U": [], "A": []}


@case(16)
@pytest.mark.parametrize("oversize", ["reply", "inner"])
def test_inner_df_too_big_is_answered(oversize):
    """Once for each frame, in the name of the one that did not get it, with the MTU that fits."""
    frame, = frames_of("016")
    result = run_files({"A": [frame]}, CONFIG + "set oversize %s\n" % oversize, underlay_mtu=1500,
                       drops={"too_big_replied": 1})
    answer, = result.out["A"]
    assert result.out["U"] == []
    assert answer[:14] == frame[6:12] + frame[:6] + b"\x08\0"
    assert answer[26:34] == frame[30:34] + frame[26:30]
    assert answer[14] == 0x45 and pk.checksum(answer[14:34]) == 0 and answer[23] == 1
    total = int.from_bytes(answer[16:18], "big")
    assert 20 + 8 + 28 <= total <= 576 and len(answer) == max(60, 14 + total)
    icmp = answer[34:14 + total]
    assert pk.checksum(icmp) == 0
    assert icmp[:2] == b"\3\4" and icmp[4:8] == (1450).to_bytes(4, "big")
    assert frame[14:].startswith(icmp[8:])


@case(2, 109, 122)
@pytest.mark.parametrize("name", ["002", "109", "122_segment_boundaries.A"])
def test_jumbo_unfragmented(name):
    """The frames of the fragmentation cases over an underlay that carries them whole."""
    result = run_files({"A": frames_of(name)}, drops={}, **BIG)
    matches_expected(pk.inners(result.out["U"]), name)


@case(109)
def test_large_non_tcp_in_fragments():
    _, sizes = sent_whole("109", 1500)
    assert [len(pieces) for pieces in sizes] == [7, 7]


@case(122)
@pytest.mark.parametrize("mtu", [1500, 9000])
def test_segment_boundaries_in_fragments(mtu):
    name = "122_segment_boundaries.A"
    result = run_files({"A": frames_of(name)}, drops={}, mtu=20100, underlay_mtu=mtu)
    outers, sizes = result.whole(mtu)
    matches_expected([o.inner for o in outers], name)
    assert [len(s) for s in sizes] == [-(-(len(o.inner) + 16) // ((mtu - 20) & ~7)) for o in outers]


@case(122)
def test_segment_boundaries_reassembled():
    name = "122_segment_boundaries.U"
    result = run_files({"U": frames_of(name)}, drops={}, mtu=20100, underlay_mtu=1500)
    matches_expected(result.out["A"], name)
    assert result.stats["reassembled"] == 21


@case(71)
@pytest.mark.parametrize("mtu, pieces", [(1500, [1480] * 6 + [150]), (20200, [9030])])
def test_flood_jumbo_three_remotes(mtu, pieces):
    """Payload is shared by the copies: each must be intact, and have its own header."""
    count = 300
    result = run_files({"A": frames_of("071") * count}, THREE, drops={}, mtu=20100,
                       underlay_mtu=mtu)
    outers, sizes = result.whole(mtu)
    assert all(size == pieces for size in sizes)
    assert len(outers) == 3 * count
    for remote in (R2, R3, R4):
        mine = [o for o in outers if o.dst == remote]
        assert len(mine) == count and {o.dst_mac for o in mine} == {REMOTE_MAC[remote]}
        assert len({o.ident for o in mine}) == count, "identification not unique"
    assert {digest(o.inner) for o in outers} == {digest(frames_of("071")[0])}
    assert result.stats["flood_copies"] == 2 * (count + 1)


@case(47)
def test_checksum_odd_lengths():
    result = run_files({"A": frames_of("047")}, CONFIG + "set udp-checksum on\n", drops={}, **BIG)
    matches_expected(pk.inners(result.out["U"]), "047")
    assert all(o.udp_checksum for o in result.outers())  # Outer has verified them


@case(47)
def test_checksum_never_zero():
    """Frames that differ in one 16-bit word: one of them sums up to zero, which is sent as ffff."""
    count = 65536
    head = pk.ethernet(UNKNOWN, H1, 0x88b5)
    frames = [head + word.to_bytes(2, "big") + bytes(44) for word in range(count)]
    config = CONFIG + "set udp-checksum on\nset source-ports 50000 50000\n"
    result = run_files({"A": frames}, config, drops={})
    assert len(result.out["U"]) == count
    sums = [int.from_bytes(frame[40:42], "big") for frame in result.out["U"]]
    assert 0 not in sums and 0xffff in sums
    for frame in result.out["U"][::97]:
        pk.Outer(frame)


# -- decapsulation --------------------------------------------------------------------------------

@case(35)
def test_reserved_bits_ignored():
    result = run_files({"U": frames_of("035")}, drops={})
    matches_expected(result.out["A"], "035")
    assert result.out["A"] == decapsulated("035")


@case(37)
def test_vni_is_24_bits():
    result = run_files({"U": frames_of("037")}, drops={"vni_unknown": 2})
    matches_expected(result.out["A"], "037")
    frame = pk.udp_frame(H2, H1, size=100)
    config = CONFIG.replace(" 100", " %d" % 0x123456)
    result = run_files({"A": [frame]}, config, live=False, drops={})
    assert [f[42:50] for f in result.out["U"]] == [bytes.fromhex("0800000012345600")]


@case(38)
def test_alternating_vni_and_source():
    result = run_files({"U": frames_of("038"), "C": []}, CONFIG + VNI200,
                       drops={"vni_unknown": 8, "outer_dst_ip": 8})
    matches_expected(result.out["A"], "038")
    want = [f[50:] for f in frames_of("038")
            if f[30:34] == pk.ip(LOCAL) and int.from_bytes(f[46:49], "big") == 200]
    assert result.out["C"] == want and len(want) == 16
    sources = {f[56:62] for f in frames_of("038")}
    assert set(map(pk.mac, result.fdb)) <= sources


@case(40)
def test_outer_vlan():
    """The priority tag (VID 0) may be delivered or dropped, but is never misread."""
    frames = frames_of("040")
    result = run_files({"U": frames})
    plain, priority = frames[0][50:], frames[2][54:]
    assert result.out["A"] in ([plain], [plain, priority])
    drops = result.drops.get("outer_vlan", 0) + result.drops.get("outer_ethertype", 0)
    assert drops == sum(result.drops.values()) == 4 - len(result.out["A"])
    assert result.drops.get("outer_vlan", 0) >= 1


@case(41)
def test_outer_ipv4_options():
    frames = frames_of("041")
    result = run_files({"U": frames}, drops={"outer_udp_port": 1, "outer_ip_header": 1,
                                             "outer_udp_length": 1})
    assert result.out["A"] == [f[14 + (f[14] & 15) * 4 + 16:] for f in frames[:2]]


@case(43)
def test_short_frames():
    result = run_files({"U": frames_of("043_short_inner"), "A": frames_of("043_short_frame")},
                       drops={})
    matches_expected(result.out["A"], "043_short_inner")
    assert result.out["A"] == [pk.padded(f) for f in decapsulated("043_short_inner")]
    assert [len(f) for f in result.out["U"]] == [110]
    matches_expected(pk.inners(result.out["U"]), "043_short_frame")


@case(44)
def test_length_fields_disagree():
    result = run_files({"U": frames_of("044")})
    assert result.out["A"] == [] and sum(result.drops.values()) == 10
    header = result.drops.pop("outer_ip_header", 0)  # total length 19: header or length
    assert header <= 1
    assert result.drops == {"outer_ip_length": 2 - header, "outer_udp_length": 6,
                            "vxlan_header": 2}


# -- reassembly -----------------------------------------------------------------------------------

@case(17)
def test_two_fragments_in_order():
    result = run_files({"U": frames_of("017")}, drops={})
    matches_expected(result.out["A"], "017")
    assert result.fdb[pk.mac_text(H2)].vtep == R2
    assert (result.stats["held_total"], result.stats["reassembled"], result.stats["merged"],
            result.stats["decapsulated"]) == (2, 1, 1, 2)  # and the liveness frame


@case(20)
def test_fragments_of_many_flows():
    """64 datagrams at once, all first fragments before all second ones, again and again."""
    rounds = 100
    result = run_files({"U": frames_of("020") * rounds}, drops={})
    matches_expected(result.out["A"][:64], "020")
    assert result.out["A"] == result.out["A"][:64] * rounds
    assert result.stats["reassembled"] == 64 * rounds


@case(22)
def test_overlap_is_fatal():
    """The IPv6 half is for nobody here: there is no local IPv6 address."""
    result = run_files({"U": frames_of("022")}, drops={"frag_overlap": 3, "outer_dst_ip": 3})
    matches_expected(result.out["A"], "022")


@case(23)
def test_duplicates_are_harmless():
    """The one that comes after its datagram was whole waits for others, and is given up."""
    result = run_files({"U": frames_of("023")}, drops={"frag_duplicate": 2, "frag_timeout": 1},
                       mtu=3000)
    matches_expected(result.out["A"], "023")


@case(25)
def test_single_bad_fragments():
    """Those that could still become a datagram wait for the others in vain."""
    result = run_files({"U": frames_of("025")})
    assert result.out["A"] == [] and not result.fdb
    header = result.drops.pop("outer_ip_header", 0)  # total length 12: header or length
    assert header <= 1
    assert result.drops == {"frag_bad": 5, "frag_timeout": 2, "outer_ip_length": 2 - header}


@case(26)
def test_padded_short_fragments():
    result = run_files({"U": frames_of("026")}, drops={})
    matches_expected(result.out["A"], "026")


@case(28)
def test_reassembly_over_65535():
    result = run_files({"U": frames_of("028")}, drops={"frag_bad": 2})
    matches_expected(result.out["A"], "028")


@case(25)
def test_single_bad_fragments_without_reassembly():
    result = run_files({"U": frames_of("025")}, CONFIG + "set reassembly off\n")
    assert result.out["A"] == []
    assert sum(result.drops.values()) == 9 and not result.fdb
    assert set(result.drops) <= {"outer_fragment", "outer_ip_length", "outer_ip_header"}
    assert result.drops["outer_fragment"] >= 7


@case(55)
@pytest.mark.parametrize("peers", ["any", "known"])
def test_outer_source_address(peers):
    frames = frames_of("055")
    drops = {"outer_src_ip": 5}
    delivered = [frames[0], frames[1], frames[7]]
    if peers == "known":
        drops["peer_unknown"] = 1
        del delivered[1]
    result = run_files({"U": frames}, CONFIG + "set peers %s\n" % peers, drops=drops)
    assert result.out["A"] == [f[50:] for f in delivered]
    assert set(map(pk.mac, result.fdb)) == {f[56:62] for f in delivered}


@case(52, 56)
@pytest.mark.parametrize("name", ["052", "056"])
def test_inner_transparent(name):
    result = run_files({"A": frames_of(name)}, THREE, drops={})
    for remote in (R2, R3, R4):
        mine = [o.inner for o in result.outers() if o.dst == remote]
        matches_expected(mine, name)
    assert len(result.out["U"]) == 3 * len(frames_of(name))


@case(61)
def test_ecn_matrix():
    result = run_files({"U": frames_of("061")}, drops={"inner_ecn": 1})
    matches_expected(result.out["A"], "061")


@case(61)
def test_ecn_copied_to_outer():
    """RFC 6040 normal mode: the outer header carries the inner ECN."""
    frames = [pk.udp_frame(H2, H1, size=100, tos=0xb8 | ecn) for ecn in range(4)]
    result = run_files({"A": frames}, drops={})
    assert [(o.tos, o.inner) for o in result.outers()] == list(enumerate(frames))


@case(64, 65)
def test_inner_vlan():
    result = run_files({"U": frames_of("064_inner_vlan_from_tunnel")}, drops={"inner_vlan": 1})
    assert result.out["A"] == [] and not result.fdb
    frames = frames_of("064_inner_vlan_from_access") + frames_of("065")
    result = run_files({"A": frames}, drops={"access_vlan": 4})
    assert result.out["U"] == [] and not result.fdb


@case(64, 65)
def test_inner_vlan_mapped_or_carried():
    access, = frames_of("064_inner_vlan_from_access")
    mapped = CONFIG + "access add {A} vni 100 vlan 7\n"
    result = run_files({"A": [access] + frames_of("065"), "U": frames_of("064_inner_vlan_from_tunnel")},
                       mapped, drops={"access_vlan": 3, "inner_vlan": 1})
    assert pk.inners(result.out["U"]) == [access[:12] + access[16:]]
    carried = CONFIG.replace("access add {A} vni 100", "access add {A} vni 100 vlan all")
    inner, = (f[50:] for f in frames_of("064_inner_vlan_from_tunnel"))
    result = run_files({"A": [access] + frames_of("065"), "U": frames_of("064_inner_vlan_from_tunnel")},
                       carried, drops={})
    assert sorted(pk.inners(result.out["U"])) == sorted([access] + frames_of("065"))
    assert result.out["A"] == [pk.padded(inner)]


@case(64)
def test_inner_vlan_af_packet():
    """The kernel hands the tag over beside the frame: it must not go unseen, and not get lost."""
    access, = frames_of("064_inner_vlan_from_access")
    inner, = (f[50:] for f in frames_of("064_inner_vlan_from_tunnel"))
    with Live() as vtep:
        vtep.ports["A"].send(access)
        vtep.await_drops({"access_vlan": 1})
        vtep.silent("U")
    with Live(CONFIG.replace("access add {A} vni 100", "access add {A} vni 100 vlan all")) as vtep:
        vtep.ports["A"].send(access)
        vtep.to_remotes(access, R2)
        vtep.from_remote(inner)
        vtep.on("A", pk.padded(inner))


# -- fields of sent packets -----------------------------------------------------------------------

@case(58)
@pytest.mark.parametrize("name, ports", [("058_source_port_entropy.A", 200),
                                         ("058_source_port_entropy_mpls", 50)])
def test_source_port_entropy(name, ports):
    result = run_files({"A": frames_of(name)}, drops={})
    matches_expected(pk.inners(result.out["U"]), name)
    outers = result.outers()
    assert len({o.sport for o in outers}) >= ports
    assert all(49152 <= o.sport <= 65535 for o in outers)
    if ports == 200:
        queues = [pk.toeplitz_queue(o, 4) for o in outers]
        assert max(map(queues.count, range(4))) <= 0.4 * len(queues)


@case(59)
def test_one_flow_one_source_port():
    result = run_files({"A": frames_of("059")}, drops={})
    matches_expected(pk.inners(result.out["U"]), "059")
    outers = result.outers()
    flow = {o.sport for o in outers[:-2] if int.from_bytes(o.inner[34:36], "big") == 7777}
    assert len(flow) == 1
    assert outers[-2].sport == outers[-1].sport


# -- GRO off: a bridge changes nothing ------------------------------------------------------------

@case(94, 95, 97, 98, 100, 103)
@pytest.mark.parametrize("name", ["094", "095", "097", "098", "100", "103"])
def test_unchanged_without_gro(name):
    frames = frames_of(name)
    result = run_files({"U": frames, "C": []}, CONFIG + VNI200, drops={})
    for label, vni in (("A", 100), ("C", 200)):
        want = [f[50:] for f in frames if int.from_bytes(f[46:49], "big") == vni]
        assert [pk.padded(f) for f in want] == result.out[label]


# -- the list itself ------------------------------------------------------------------------------

def test_no_case_is_forgotten():
    """Each number of CASES.md is run somewhere, or named as waiting with a reason."""
    ran = set()
    for path in glob.glob(os.path.dirname(os.path.abspath(__file__)) + "/test_*.py"):
        with open(path, encoding="utf-8") as file:
            for numbers in re.findall(r"^@(?:pytest\.mark\.)?case\(([\d, ]+)\)", file.read(), re.M):
                ran.update(int(n) for n in numbers.split(","))
    known = set(cases.numbers())
    assert ran <= known and set(cases.NOT_YET) <= known
    assert ran | cases.NOT_YET.keys() == known, "neither run nor listed"
    assert set(cases.PARTS_NOT_YET) <= ran
