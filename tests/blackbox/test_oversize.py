# SPDX-License-Identifier: BSD-3-Clause
"""Frames larger than the underlay takes: outer and inner fragments, answers to the sender, the path
MTU of a remote VTEP, and what is put together again, at every boundary."""
import random
import struct
import time

import pytest

import packets as pk
from ports import PcapPort
from tunnel import (CONFIG, H1, H2, LOCAL, PCAP_MAC, R2, R3, REMOTE_MAC, THREE, UNKNOWN, Live,
                    encapsulated, run_files)
from vtep import Vtep

LARGEST = 65499  # 65,535 bytes of outer IPv4, less 36


def tenant(size, **fields):
    return pk.udp_frame(UNKNOWN, H1, size=size, **fields)


def without_udp(size, seed=0):
    """A frame that is no IP packet."""
    return pk.ethernet(UNKNOWN, H1, 0x88b5, pk.pattern(size - 14, seed))


# -- outer fragments ------------------------------------------------------------------------------

@pytest.mark.parametrize("mtu", [576, 1280, 1499, 1500, 1501, 2048, 9000])
def test_every_boundary_sent(mtu):
    """Around one, two … pieces, and around the sizes of buffers."""
    part = (mtu - 20) & ~7
    sizes = {min(mtu - 36 + d, 16000) for d in range(-2, 3)}
    sizes |= {n * part - 16 + d for n in (2, 3, 7) for d in range(-2, 3)}
    sizes |= {n * 2048 + d for n in (1, 2, 3) for d in (-129, -128, -127, -1, 0, 1)}
    frames = [tenant(size, sport=size) for size in sorted(sizes)]
    run = run_files({"A": frames}, drops={}, mtu=65000, underlay_mtu=mtu)
    outers, pieces = run.whole(mtu)
    assert [o.inner for o in outers] == frames
    for outer, sizes in zip(outers, pieces):
        if outer.total <= mtu:
            assert len(sizes) == 1
        else:
            assert set(sizes[:-1]) == {part} and len(sizes) == -(-(outer.total - 20) // part)


@pytest.mark.parametrize("mtu", [1500, 9000, 20000])
def test_largest_frame_sent(mtu):
    frames = [tenant(LARGEST - 1), without_udp(LARGEST, 7)]
    run = run_files({"A": frames}, drops={}, mtu=65485, underlay_mtu=mtu)
    outers, _ = run.whole(mtu)
    assert [o.inner for o in outers] == frames
    assert [o.total for o in outers] == [65534, 65535]


@pytest.mark.parametrize("part", [1480, 8976, 512])
def test_largest_frame_received(part):
    """65,535 bytes of outer datagram; one more cannot be."""
    frame = without_udp(LARGEST, 9)
    pieces = pk.fragments(encapsulated(frame), part)
    run = run_files({"U": pieces}, drops={}, mtu=65485, underlay_mtu=9000)
    assert run.out["A"] == [frame]
    assert run.stats["reassembled"] == 1 and run.stats["merged"] == len(pieces) - 1


def test_outer_df_inherit():
    """An inner IPv4 packet's DF forbids to cut the outer one too; IPv6 counts as DF."""
    six = pk.ethernet(UNKNOWN, H1, 0x86dd, struct.pack("!IHBB", 6 << 28, 1446, 59, 64) +
                      bytes(15) + b"\1" + bytes(15) + b"\2" + bytes(1446))
    frames = [tenant(1000), tenant(1000, flags=0x4000), tenant(1500), tenant(1500, flags=0x4000),
              six, without_udp(1500)]
    run = run_files({"A": frames}, CONFIG + "set df inherit\n", drops={"needs_fragment_df": 2},
                    underlay_mtu=1500)
    outers, sizes = run.whole()
    assert [(o.inner, o.df, len(s)) for o, s in zip(outers, sizes)] == [
        (frames[0], False, 1), (frames[1], True, 1), (frames[2], False, 2), (frames[5], False, 2)]


@pytest.mark.parametrize("setting, whole, cut", [("on", True, True), ("off", False, False),
                                                 ("auto", False, True)])
def test_udp_checksum_of_fragments(setting, whole, cut):
    """Over the whole datagram, odd lengths and pieces included; Outer has verified it."""
    frames = [tenant(100), tenant(1465), tenant(3333), without_udp(8999, 3)]
    run = run_files({"A": frames}, CONFIG + "set udp-checksum %s\n" % setting, drops={}, mtu=9000,
                    underlay_mtu=1500)
    outers, _ = run.whole()
    assert [o.inner for o in outers] == frames
    assert [o.udp_checksum != 0 for o in outers] == [whole, cut, cut, cut]


def test_fragments_keep_ecn():
    run = run_files({"A": [tenant(3000, tos=2)]}, drops={}, mtu=3000, underlay_mtu=1500)
    outer, = run.whole()[0]
    assert outer.tos == 2


def test_fragments_wait_for_the_neighbour():
    """All of them, in order, if no more than wait at all."""
    config = CONFIG.replace("neigh add 192.0.2.2 02:00:00:00:00:02 port {U}\n", "")
    assert config != CONFIG
    frame = tenant(4000)
    with Live(config, device_mtu=9000, mtu=8900) as vtep:
        vtep.live_at_end = False
        vtep.run("port config mtu {U} 1500")
        vtep.ports["A"].send(frame)
        vtep.until(lambda: vtep.stats()["held"] == 3, "three fragments held")
        vtep.run("neigh add 192.0.2.2 02:00:00:00:00:02 port {U}")
        got, sizes = pk.reassemble(vtep.ports["U"].receive(3), 1500)
        assert pk.inners(got) == [frame] and len(sizes[0]) == 3
        assert vtep.drops() == {}


# -- inner fragments ------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [1465, 1500, 2898, 4000, 9014])
def test_inner_fragments(size):
    """Each piece travels on its own, so that any VTEP can take it; the tenants' receiver puts them
    together."""
    frame = tenant(size, ident=0x4321, ttl=33, tos=0x28)
    run = run_files({"A": [frame]}, CONFIG + "set oversize inner\n", drops={}, mtu=9000,
                    underlay_mtu=1500)
    outers = run.outers()
    assert all(o.total <= 1500 and not o.df for o in outers)
    assert len({o.sport for o in outers}) <= 2  # a fragment's ports are not in the hash
    whole, sizes = pk.reassemble([o.inner for o in outers], 1450)
    assert whole == [frame]
    assert set(sizes[0][:-1]) == {1424}
    assert run.stats["fragmented"] == 1 and run.stats["encapsulated"] == len(outers) + 1


def test_inner_fragments_flooded():
    frame = tenant(3000)
    run = run_files({"A": [frame]}, THREE + "set oversize inner\n", drops={}, mtu=3000,
                    underlay_mtu=1500)
    outers = run.outers()
    assert len(outers) == 9
    for remote in {o.dst for o in outers}:
        mine = [o.inner for o in outers if o.dst == remote]
        assert pk.reassemble(mine, 1450)[0] == [frame]


def test_inner_that_cannot_be_cut():
    """DF, no IP, or a fragment with DF: told where it can be, dropped in any case."""
    frames = [tenant(1500, flags=0x4000), without_udp(1500)]
    run = run_files({"A": frames}, CONFIG + "set oversize inner\n",
                    drops={"too_big_replied": 1, "too_big": 1}, underlay_mtu=1500)
    assert run.out["U"] == [] and len(run.out["A"]) == 1


def test_inner_fragment_is_cut_again():
    """It keeps its place in its own datagram."""
    frame = tenant(6000, ident=0x55)
    run = run_files({"A": pk.fragments(frame, 2000)}, CONFIG + "set oversize inner\n", drops={},
                    mtu=3000, underlay_mtu=1500)
    whole, _ = pk.reassemble([o.inner for o in run.outers()], 1450)
    assert whole == [frame]


# -- answers to the sender ------------------------------------------------------------------------

def ipv6(payload, proto, src=b"\x20" + bytes(14) + b"\1", dst=b"\x20" + bytes(14) + b"\2"):
    return pk.ethernet(UNKNOWN, H1, 0x86dd, struct.pack("!IHBB", 6 << 28, len(payload), proto, 64) +
                       src + dst + payload)


def test_answer_over_ipv6():
    frame = ipv6(bytes(1440), 59)
    run = run_files({"A": [frame]}, CONFIG + "set oversize reply\n", underlay_mtu=1500,
                    drops={"too_big_replied": 1})
    answer, = run.out["A"]
    assert answer[:14] == frame[6:12] + frame[:6] + b"\x86\xdd"
    assert answer[22:54] == frame[38:54] + frame[22:38]
    size, proto = struct.unpack("!HB", answer[18:21])
    icmp = answer[54:]
    assert proto == 58 and size == len(icmp) and 40 + size <= 1280
    assert pk.checksum(answer[22:54] + struct.pack("!II", size, 58) + icmp) == 0
    assert icmp[:2] == b"\2\0" and icmp[4:8] == (1450).to_bytes(4, "big")
    assert frame[14:].startswith(icmp[8:]) and len(icmp) > 8 + 40


@pytest.mark.parametrize("frame", [
    pk.ethernet(UNKNOWN, H1, 0x88b5, bytes(1486)),
    tenant(1500, src_ip="0.0.0.0"), tenant(1500, dst_ip="224.0.0.5"),
    tenant(1500, src_ip="255.255.255.255"), tenant(1500, dst_ip="255.255.255.255"),
    pk.icmp_echo(UNKNOWN, H1, "203.0.113.2", "203.0.113.1", kind=3, data=bytes(1450)),
    pk.fragment(tenant(3000, flags=0), 1480, 2960, True),
    pk.BROADCAST + tenant(1500)[6:], b"\1\0\x5e\0\0\5" + tenant(1500)[6:],
    ipv6(b"\1" + bytes(1440), 58), ipv6(bytes(1440), 59, src=bytes(16)),
    ipv6(bytes(1440), 59, src=b"\xff" + bytes(15)),
], ids=["no IP", "from 0.0.0.0", "to a group", "from broadcast", "to broadcast", "ICMP error",
        "later fragment", "broadcast MAC", "group MAC", "ICMPv6 error", "from ::", "from a group"])
def test_no_answer(frame):
    """RFC 1122 section 3.2.2 and RFC 4443 section 2.4: to these none is due."""
    run = run_files({"A": [frame]}, CONFIG + "set oversize reply\n", underlay_mtu=1500,
                    drops={"too_big": 1})
    assert run.out == {"U": [], "A": []}


def test_answers_are_limited():
    frames = [tenant(1500, sport=i) for i in range(5000)]
    run = run_files({"A": frames}, CONFIG + "set oversize reply\n", underlay_mtu=1500)
    assert 0 < run.drops["too_big_replied"] == len(run.out["A"]) < 2500
    assert run.drops["too_big_replied"] + run.drops["too_big"] == 5000


def test_one_answer_for_a_flood():
    """The frame goes to three remotes that it does not fit; its sender need hear it but once."""
    run = run_files({"A": [tenant(1500)]}, THREE + "set oversize reply\n", underlay_mtu=1500)
    assert 1 <= len(run.out["A"]) <= 3
    assert sum(run.drops.values()) == 3 and len(set(run.out["A"])) == 1


# -- path MTU -------------------------------------------------------------------------------------

def path_mtu(vtep, remote=R2):
    line, = [l for l in vtep.cli("show vtep").split("\n") if remote in l.split()]
    return line


def needed(quote, mtu, src="192.0.2.250", kind=3, code=4, bad_sum=False, dmac=PCAP_MAC):
    """ICMP "fragmentation needed" that quotes the IP packet @quote."""
    body = struct.pack("!BBHHH", kind, code, 0, 0, mtu) + quote[:28]
    total = pk.checksum(body) ^ (0x1111 if bad_sum else 0)
    body = body[:2] + struct.pack("!H", total) + body[4:]
    return pk.ethernet(dmac, REMOTE_MAC[R2], 0x0800, pk.ipv4(src, LOCAL, 1, body))


def test_set_path_mtu():
    """Of one remote VTEP; the port's MTU is the limit in any case."""
    frame = tenant(3000)
    config = THREE + "set path-mtu 192.0.2.2 1000\nset path-mtu 192.0.2.3 9000\n"
    run = run_files({"A": [frame]}, config, drops={}, mtu=3000, underlay_mtu=1500)
    for remote, part in ((R2, 976), (R3, 1480)):
        mine = [f for f in run.out["U"] if f[30:34] == pk.ip(remote)]
        whole, sizes = pk.reassemble(mine, part + 24)
        assert pk.inners(whole) == [frame] and set(sizes[0][:-1]) == {part}


def test_path_mtu_goes_with_its_vtep():
    """Whoever takes its place in the table has none; and it is not there when it comes back."""
    with Live() as vtep:
        vtep.run("set path-mtu 192.0.2.2 1000\nflood del 192.0.2.2 vni 100\n"
                 "flood add 192.0.2.9 vni 100")
        assert "path-mtu" not in vtep.cli("show config")
        assert "1000" not in path_mtu(vtep, "192.0.2.9")
        vtep.run("flood del 192.0.2.9 vni 100\nflood add 192.0.2.2 vni 100")
        assert "path-mtu" not in vtep.cli("show config") and "1500" in path_mtu(vtep)


def test_path_mtu_of_a_learned_vtep(folder):
    """What is saved can be loaded, also where nothing but learning names the remote VTEP."""
    with Live() as vtep:
        vtep.from_remote(pk.udp_frame(UNKNOWN, H2, size=100), src=R3)
        vtep.ports["A"].receive(1)
        vtep.learned(H2, R3)
        vtep.run("set path-mtu 192.0.2.3 1000")
        vtep.run("save %s/saved" % folder)
        with open(folder + "/saved", encoding="ascii") as file:
            assert "vni add 100" in file.read()
    with Live("") as vtep:
        vtep.live_at_end = False
        vtep.run("load %s/saved" % folder)


@pytest.fixture(name="router")
def fixture_router():
    """A VTEP with DF on, and one of its packets: (vtep, IP packet)."""
    with Live(CONFIG + "set df on\n") as vtep:
        frame = tenant(1400)
        vtep.ports["A"].send(frame)
        sent, = vtep.ports["U"].receive(1)
        assert pk.Outer(sent).inner == frame
        yield vtep, sent[14:]


def test_path_mtu_learned(router):
    vtep, quote = router
    u, mac = vtep.ports["U"], vtep.ports["U"].mac
    u.send(needed(quote, 1300, dmac=mac))
    vtep.until(lambda: vtep.stats()["pmtu_lowered"] == 1, "path MTU lowered")
    assert "1300" in path_mtu(vtep)
    vtep.ports["A"].send(tenant(1264), tenant(1265))
    vtep.to_remotes(tenant(1264), R2)
    vtep.await_drops({"needs_fragment_df": 1})
    vtep.run("set df off")
    vtep.ports["A"].send(tenant(1265))
    whole, sizes = pk.reassemble(u.receive(2), 1300)
    assert pk.inners(whole) == [tenant(1265)] and sizes == [[1280, 1]]
    # what is learned is no configuration; what is set overrules it, and 0 forgets both
    assert "path-mtu" not in vtep.cli("show config")
    vtep.run("set path-mtu 192.0.2.2 1400")
    assert "set path-mtu 192.0.2.2 1400" in vtep.cli("show config") and "1400" in path_mtu(vtep)
    u.send(needed(quote, 1250, dmac=mac))
    vtep.until(lambda: vtep.stats()["pmtu_ignored"] == 1, "ignored beside a set one")
    vtep.run("set path-mtu 192.0.2.2 0")
    assert "1500" in path_mtu(vtep)


def test_path_mtu_not_believed(router):
    """Forged, useless or stale: counted, and nothing changes."""
    vtep, quote = router
    mac = vtep.ports["U"].mac
    before = path_mtu(vtep)

    def changed(offset, data):
        return quote[:offset] + data + quote[offset + len(data):]
    wrong = [needed(quote, 575, dmac=mac), needed(quote, 0, dmac=mac),
             needed(quote, 1450, dmac=mac),                   # larger than the packet
             needed(changed(12, pk.ip("192.0.2.77")), 1300, dmac=mac),   # not from us
             needed(changed(16, pk.ip("192.0.2.77")), 1300, dmac=mac),   # to no VTEP
             needed(changed(9, b"\6"), 1300, dmac=mac),
             needed(changed(20, b"\0\x50"), 1300, dmac=mac),  # not our range of ports
             needed(changed(22, b"\0\x35"), 1300, dmac=mac)]
    for i, frame in enumerate(wrong, 1):
        vtep.ports["U"].send(frame)
        vtep.until(lambda: vtep.stats()["pmtu_ignored"] == i, "number %d ignored" % i)
    vtep.ports["U"].send(needed(quote, 1300, bad_sum=True, dmac=mac),
                         needed(quote, 1300, code=3, dmac=mac))
    vtep.await_drops({"icmp_bad": 2})
    assert vtep.stats()["pmtu_lowered"] == 0 and path_mtu(vtep) == before


# -- reassembly -----------------------------------------------------------------------------------

def test_fragments_in_any_order():
    """A few thousand datagrams in random pieces and orders, interleaved, some with doubles."""
    rng = random.Random(20)
    want, inputs = [], []
    for ident in range(1500):
        frame = pk.udp_frame(UNKNOWN, H2, size=rng.choice((200, 1514, 2048, 4014, 9014)),
                             sport=ident)
        outer = encapsulated(frame, ip_fields={"ident": ident}, sport=50000 + ident % 100)
        want.append(frame)
        size = len(outer) - 34
        cuts = sorted({0, size} | {rng.randrange(8, size, 8) for _ in range(rng.randint(1, 20))})
        pieces = [pk.fragment(outer, a, b, b < size) for a, b in zip(cuts, cuts[1:])]
        rng.shuffle(pieces)
        double = rng.random() < 0.3 and len(pieces) > 2
        inputs.append(pieces[:1] + pieces if double else pieces)
    doubles = sum(len(p) != len(set(p)) for p in inputs)
    stream = []
    while inputs:  # 30 datagrams under way at any time
        pick = rng.randrange(min(30, len(inputs)))
        stream.append(inputs[pick].pop(0))
        if not inputs[pick]:
            inputs.pop(pick)
    run = run_files({"U": stream}, CONFIG + "set reassembly timeout 5000\n",
                    drops={"frag_duplicate": doubles}, mtu=9000)
    assert sorted(run.out["A"]) == sorted(want)


def test_same_identification():
    """Told apart by source, destination and protocol."""
    frames = [encapsulated(pk.udp_frame(UNKNOWN, H2, size=1514, sport=i), src=src,
                           ip_fields={"ident": 5}) for i, src in enumerate((R2, R3))]
    ping = pk.icmp_echo(PCAP_MAC, REMOTE_MAC[R2], R2, LOCAL, ident=5, data=bytes(2000))
    first, second, third = (pk.fragments(f) for f in (*frames, ping))
    run = run_files({"U": [first[0], second[0], third[0], third[1], second[1], first[1]]},
                    drops={})
    assert run.out["A"] == [frames[1][50:], frames[0][50:]]
    assert run.stats["echo_replies_sent"] == 1


def test_ping_in_fragments():
    """An echo request in fragments is answered if the answer fits. One that is larger than the
    port's MTU is dropped, or answered in fragments; a packet above the MTU never leaves."""
    fits, large = (pk.icmp_echo(PCAP_MAC, REMOTE_MAC[R2], R2, LOCAL, ident=size, echo_id=size,
                                data=pk.pattern(size)) for size in (1400, 5000))
    run = run_files({"U": pk.fragments(fits, 600) + pk.fragments(large)}, underlay_mtu=1500)
    whole, _ = pk.reassemble(run.out["U"], 1500)
    answered = [(frame[34:36], frame[42:]) for frame in whole]
    assert answered[0] == (b"\0\0", fits[42:])
    assert answered[1:] in ([], [(b"\0\0", large[42:])])
    assert len(answered) + sum(run.drops.values()) == 2


def test_congestion_in_one_fragment():
    """CE on any fragment is CE on the datagram (RFC 3168 section 5.3), and so on the frame."""
    inner = pk.udp_frame(UNKNOWN, H2, size=3014, tos=2)
    for which in range(3):
        outer = encapsulated(inner, ip_fields={"tos": 2})
        marked = encapsulated(inner, ip_fields={"tos": 3})
        pieces = pk.fragments(outer)
        pieces[which] = pk.fragments(marked)[which]
        run = run_files({"U": pieces}, drops={}, mtu=3000)
        frame, = run.out["A"]
        assert frame[15] & 3 == 3 and pk.checksum(frame[14:34]) == 0 and frame[34:] == inner[34:]


@pytest.mark.parametrize("good", [True, False])
def test_udp_checksum_of_reassembled(good):
    fields = {"sum_on": True} if good else {"udp_checksum": 0x1234}
    frame = encapsulated(pk.udp_frame(UNKNOWN, H2, size=4001), udp_fields=fields)
    pieces = [p for a, b in ((0, 808), (808, 1616), (1616, len(frame) - 34))
              for p in [pk.fragment(frame, a, b, b < len(frame) - 34)]]
    run = run_files({"U": pieces[::-1]}, drops={} if good else {"outer_udp_checksum": 1}, mtu=4000)
    assert run.out["A"] == ([frame[50:]] if good else [])


def test_headers_in_pieces():
    """A first fragment that ends within the headers of UDP, VXLAN and the frame."""
    inner = pk.udp_frame(UNKNOWN, H2, size=300)
    frame = encapsulated(inner)
    size = len(frame) - 34
    inputs = []
    for ident, cut in enumerate(range(8, 64, 8)):
        one = encapsulated(inner, ip_fields={"ident": ident})
        inputs += [pk.fragment(one, 0, cut, True), pk.fragment(one, cut, size, False)]
        one = encapsulated(inner, ip_fields={"ident": 100 + ident})
        inputs += [pk.fragment(one, a, min(a + 8, size), a + 8 < size) for a in range(0, size, 8)]
    run = run_files({"U": inputs}, drops={})
    assert run.out["A"] == [inner] * 14


def test_held_fragments_leave_buffers():
    """However many pieces of datagrams that never become whole: what comes whole is received."""
    whole = encapsulated(pk.udp_frame(UNKNOWN, H2, size=200))
    frames = []
    for ident in range(250):
        jumbo = encapsulated(pk.udp_frame(UNKNOWN, H2, size=60000), ip_fields={"ident": ident})
        frames += pk.fragments(jumbo)[:-1] + [whole]
    with Vtep({"U": PcapPort(frames), "A": PcapPort()},
              CONFIG + "set reassembly timeout 3000\n", small=False) as vtep:
        vtep.settle(len(frames))
        vtep.until(lambda: vtep.stats()["held"] == 0, "all given up", 10)
        vtep.finish()
        assert vtep.ports["A"].sent() == [whole[50:]] * 250


def test_identifications_go_on():
    """They do not begin anew when the counters do: the remote VTEP may hold fragments of before."""
    with Live() as vtep:
        idents = []
        for i in range(6):
            frame = tenant(1500, sport=i)
            vtep.ports["A"].send(frame)
            whole, _ = pk.reassemble(vtep.ports["U"].receive(2), 1500)
            outer, = map(pk.Outer, whole)
            assert outer.inner == frame
            idents.append(outer.ident)
            if i % 2:
                vtep.run("clear fwd stats all")
        assert len(set(idents)) == 6, idents


def test_shorter_timeout_acts():
    """What comes after the change waits no longer, although something older still does."""
    one, two = (pk.fragments(encapsulated(pk.udp_frame(UNKNOWN, H2, size=1514),
                                          ip_fields={"ident": ident}))[0] for ident in (1, 2))
    with Live(CONFIG + "set reassembly timeout 8000\n", takes_fragments=True) as vtep:
        vtep.ports["U"].send(one)
        vtep.until(lambda: vtep.stats()["held"] == 1, "one held")
        vtep.run("set reassembly timeout 100")
        time.sleep(0.1)
        vtep.ports["U"].send(two)
        vtep.until(lambda: vtep.drops().get("frag_timeout", 0) >= 1, "the younger one given up", 3)
        vtep.until(lambda: vtep.stats()["held"] == 0, "both given up", 10)


def test_clear_while_fragments_are_held():
    with Live(CONFIG + "set reassembly timeout 1000\n", takes_fragments=True) as vtep:
        frame = encapsulated(pk.udp_frame(UNKNOWN, H2, size=1514))
        first, last = pk.fragments(frame)
        vtep.ports["U"].send(first)
        vtep.until(lambda: vtep.stats()["held"] == 1, "one held")
        vtep.run("clear fwd stats all")
        assert vtep.stats()["held"] == 1
        vtep.check_law()
        vtep.ports["U"].send(last)
        vtep.on("A", frame[50:])
        vtep.check_law()


def test_trace_shows_fragments():
    with Live(takes_fragments=True) as vtep:
        vtep.run("trace add 1 port {A}")
        time.sleep(0.1)
        vtep.ports["A"].send(tenant(1500))
        assert len(vtep.ports["U"].receive(2)) == 2
        vtep.until(lambda: "at most 1500 bytes" in vtep.cli("show trace"), "the cut in the trace")
        vtep.run("trace add 2 port {U}")
        time.sleep(0.1)  # the round in which it was said may take frames yet without tracing
        frame = encapsulated(pk.udp_frame(UNKNOWN, H2, size=1514))
        vtep.ports["U"].send(*pk.fragments(frame))
        vtep.on("A", frame[50:])
        for text in ("byte 0 of its datagram", "byte 1480 of its datagram"):
            vtep.until(lambda: text in vtep.cli("show trace"), text)
        vtep.run("clear trace")


def test_show_reassembly():
    with Live(CONFIG + "set reassembly timeout 2000\n", takes_fragments=True) as vtep:
        frame = encapsulated(pk.udp_frame(UNKNOWN, H2, size=1514))
        first, last = pk.fragments(frame)
        vtep.ports["U"].send(first)
        vtep.until(lambda: vtep.stats()["held"] == 1, "one held")

        def held():
            row = [line.split() for line in vtep.cli("show reassembly").split("\n")][1]
            return [int(word) for word in row[2:5]]
        assert held() == [1, 1, 1480]
        vtep.ports["U"].send(last)
        vtep.on("A", frame[50:])
        assert held() == [0, 0, 0]
        assert "timeout 2000 ms" in vtep.cli("show reassembly")


def test_stop_and_quit_with_fragments_held():
    """After `stop` they still expire; `quit` gives back what is held (check_exit_log)."""
    first = pk.fragments(encapsulated(pk.udp_frame(UNKNOWN, H2, size=1514)))[0]
    with Live(CONFIG + "set reassembly timeout 500\n", takes_fragments=True) as vtep:
        vtep.ports["U"].send(first)
        vtep.until(lambda: vtep.stats()["held"] == 1, "one held")
        vtep.run("stop")
        vtep.await_drops({"frag_timeout": 1})
        vtep.run("set reassembly timeout 60000\nstart")
        vtep.ports["U"].send(first)
        vtep.until(lambda: vtep.stats()["held"] == 1, "one held")
        vtep.live_at_end = vtep.check = False
        assert vtep.quit() == 0
        vtep.check_exit_log()
