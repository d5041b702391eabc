# SPDX-License-Identifier: BSD-3-Clause
"""The public cases that are a sequence in time, or a load: on veth pairs, a tap, or endless files.
Liveness, log, memory and the accounting law are checked by the harness after each."""
import os
import threading
import time

import pytest

import packets as pk
from cases import frames_of, matches_expected
from ports import PcapPort, TapPort, VethPort
from tunnel import (BASE, CONFIG, H1, H2, H3, LOCAL, OWN, R2, R3, R4, REMOTE_MAC, THREE, UNKNOWN,
                    Live, encapsulated, run_files, to_port)
from vtep import Cli, Vtep

case = pytest.mark.case


# -- learning -------------------------------------------------------------------------------------

@case(67)
def test_invalid_inner_source_mac():
    result = run_files({"U": frames_of("067_invalid")}, THREE, drops={"bad_source_mac": 4})
    assert result.out["A"] == [] and not result.fdb
    with Live(THREE) as vtep:
        for frame in frames_of("067_invalid"):
            vtep.ports["U"].send(frame)
        vtep.await_drops({"bad_source_mac": 4})
        assert not vtep.fdb()
        frame, = frames_of("067_broadcast")
        vtep.ports["A"].send(frame)
        vtep.to_remotes(frame, R2, R3, R4)


@case(68)
def test_own_and_local_mac_from_tunnel():
    with Live() as vtep:
        hello = pk.udp_frame(UNKNOWN, H1, size=60)
        vtep.ports["A"].send(hello)
        vtep.to_remotes(hello, R2)
        vtep.learned(H1)
        own, moved = frames_of("068")
        vtep.ports["U"].send(own)
        got = vtep.ports["A"].receive(1, 0.2)
        assert got in ([], [pk.padded(own[50:])])
        assert getattr(vtep.fdb().get(pk.mac_text(OWN)), "vtep", None) is None
        before = vtep.stats()["moved"]
        vtep.ports["U"].send(moved)
        vtep.on("A", pk.padded(moved[50:]))
        vtep.learned(H1, R2)
        vtep.ports["A"].send(hello)
        vtep.to_remotes(hello, R2)
        vtep.learned(H1)
        assert vtep.stats()["moved"] == before + 2


@case(70)
def test_arp_through_a_mesh():
    with Live(THREE) as vtep:
        request, = frames_of("070_arp_request")
        vtep.ports["U"].send(request)
        got = vtep.ports["A"].receive(1)
        matches_expected(got, "070_arp_request")
        vtep.learned(H3, R3)
        reply, = frames_of("070_arp_reply")
        vtep.ports["A"].send(reply)
        vtep.to_remotes(reply, R3)


@case(80)
def test_mac_move():
    with Live(THREE + "access add {A2} vni 100\n", ("U", "A", "A2")) as vtep:
        for frame, remote in zip(frames_of("080_gratuitous"), (R2, R3)):
            vtep.ports["U"].send(frame)
            for label in ("A", "A2"):
                vtep.on(label, pk.padded(frame[50:]))
            vtep.learned(H2, remote)
        unicast, = frames_of("080_unicast")
        vtep.ports["A"].send(unicast)
        vtep.to_remotes(unicast, R3)
        vtep.silent("A2")
        hello = pk.arp(1, H2, "203.0.113.2", bytes(6), "203.0.113.2")
        vtep.ports["A2"].send(hello)
        vtep.on("A", hello)
        vtep.to_remotes(hello, R2, R3, R4)
        vtep.learned(H2)
        vtep.ports["A"].send(unicast)
        vtep.on("A2", unicast)
        vtep.silent("U")
        vtep.ports["U"].send(frames_of("080_gratuitous")[1])
        vtep.learned(H2, R3)
        vtep.ports["A"].pending()
        vtep.ports["A"].send(unicast)
        vtep.to_remotes(unicast, R3)
        assert vtep.stats()["moved"] == 3
        vtep.ports["A2"].pending()


@case(143)
def test_known_unicast_to_one_port():
    with Live(CONFIG + "access add {A2} vni 100\n", ("U", "A", "A2")) as vtep:
        hello, = frames_of("143_h1")
        vtep.ports["A"].send(hello)
        vtep.to_remotes(hello, R2)
        vtep.on("A2", hello)
        vtep.learned(H1)
        flooded = vtep.stats()["flooded"]
        known, unknown = frames_of("143_known")
        vtep.ports["U"].send(known)
        vtep.on("A", known[50:])
        vtep.silent("A2")
        vtep.ports["U"].send(unknown)
        vtep.on("A", unknown[50:])
        vtep.on("A2", unknown[50:])
        assert vtep.stats()["flooded"] == flooded + 1


@case(85)
def test_zero_destination_mac():
    with Live(THREE) as vtep:
        frame, = frames_of("085")
        vtep.ports["A"].send(frame)
        vtep.to_remotes(frame, R2, R3, R4)
        vtep.refuse("vni add 0")
        # learned, deleted, unknown at once
        vtep.from_remote(pk.udp_frame(UNKNOWN, H2, size=60))
        vtep.learned(H2, R2)
        vtep.ports["A"].pending()
        unicast = pk.udp_frame(H2, H1, size=60)
        vtep.ports["A"].send(unicast)
        vtep.to_remotes(unicast, R2)
        vtep.run("fdb del %s vni 100" % pk.mac_text(H2))
        vtep.ports["A"].send(unicast)
        vtep.to_remotes(unicast, R2, R3, R4)


def station(number):
    return b"\x02\x10\0" + number.to_bytes(3, "big")


def learn_many(vtep, count, first=0, src=R2):
    """@count MACs speak from behind @src and are waited for."""
    frames = [encapsulated(pk.ethernet(UNKNOWN, station(first + i), 0x88b5, bytes(46)), src=src,
                           dmac=vtep.ports["U"].mac) for i in range(count)]
    for start in range(0, count, 500):  # af_packet's ring is finite
        vtep.ports["U"].send(*frames[start:start + 500])
        vtep.ports["A"].receive(len(frames[start:start + 500]))
    vtep.until(lambda: sum(mac.startswith("02:10:00") for mac in vtep.fdb()) >= count,
               "%d MACs learned" % count, 10)


@case(76)
def test_ageing_with_static_entries():
    with Live(CONFIG + "set ageing 2\nfdb add %s vni 100 vtep 192.0.2.2\n" %
              pk.mac_text(H2)) as vtep:
        learn_many(vtep, 1000)
        vtep.until(lambda: len(vtep.fdb()) == 1, "learned entries gone", 6)
        entry = vtep.fdb()[pk.mac_text(H2)]
        assert entry.static and entry.vtep == R2
        assert vtep.stats()["aged"] == 1000


@case(77)
def test_learn_and_age_cycles():
    with Live(options=["--max-macs", "10000"]) as vtep:
        for cycle in range(3):
            learn_many(vtep, 9000, cycle * 9000)
            for i in range(100):
                vtep.run("fdb add 02:20:00:00:00:%02x vni 100 vtep 192.0.2.2" % i)
            assert len(vtep.fdb()) == 9100
            for i in range(100):
                vtep.run("fdb del 02:20:00:00:00:%02x vni 100" % i)
            assert len(vtep.fdb()) == 9000
            vtep.run("fdb flush vni 100")
            assert len(vtep.fdb()) == 0
        stats = vtep.stats()
        assert stats["fdb_full"] == 0 and stats["learned"] == 27000


@case(79)
def test_refresh_by_traffic():
    """The entry lives as long as its host speaks, and ages out when it has stopped."""
    with Live(CONFIG + "flood add 192.0.2.3 vni 100\nset ageing 2\n") as vtep:
        hello = pk.udp_frame(UNKNOWN, H2, size=60)
        unicast = pk.udp_frame(H2, H1, size=60)
        for _ in range(7):
            vtep.from_remote(hello)
            vtep.on("A", hello)
            vtep.learned(H2, R2)
            vtep.ports["A"].send(unicast)
            vtep.to_remotes(unicast, R2)
            time.sleep(0.6)
        stopped = time.monotonic()
        vtep.forgotten(H2, 6)
        assert time.monotonic() - stopped >= 0.3, "forgotten before its time"
        vtep.ports["A"].send(unicast)
        vtep.to_remotes(unicast, R2, R3)


@case(83)
def test_remove_a_remote_with_live_entries():
    with Live(CONFIG + "flood add 192.0.2.3 vni 100\n") as vtep:
        learn_many(vtep, 1000)
        frames = [pk.ethernet(station(i), H1, 0x88b5, bytes(46)) for i in range(1000)]
        vtep.ports["A"].send(*frames[:200])
        assert {pk.Outer(f).dst for f in vtep.ports["U"].receive(200)} == {R2}
        vtep.run("flood del 192.0.2.2 vni 100")
        assert not [e for e in vtep.fdb().values() if e.vtep == R2], "entries without a remote"
        vtep.ports["A"].send(*frames[:200])
        outers = [pk.Outer(f) for f in vtep.ports["U"].receive(200)]
        assert len(outers) == 200 and {o.dst for o in outers} == {R3}
        vtep.run("flood add 192.0.2.2 vni 100")
        learn_many(vtep, 1000)
        vtep.ports["A"].send(*frames[:200])
        assert {pk.Outer(f).dst for f in vtep.ports["U"].receive(200)} == {R2}
        vtep.run("vni del 100")
        assert not vtep.fdb()
        vtep.ports["A"].send(*frames[:50])
        vtep.await_drops({"access_no_segment": 50})
        vtep.silent("U")
        vtep.run("vni add 100\naccess add {A} vni 100\nflood add 192.0.2.2 vni 100\n"
                 "flood add 192.0.2.3 vni 100")


@case(86)
def test_show_and_flush_under_load():
    """Prompts in parallel while MACs come and go; every dump ends and shows the right remote."""
    frames = [encapsulated(pk.ethernet(UNKNOWN, station(i), 0x88b5, bytes(46)),
                           src=(R2, R3)[i & 1]) for i in range(8000)]
    ports = {"U": PcapPort(frames, infinite=True, sink=True), "A": PcapPort(sink=True)}
    problems, stop = [], threading.Event()

    def client(path, command):
        try:
            cli = Cli(path)
            while not stop.is_set():
                for line in cli(command).split("\n"):
                    if "02:10:00:" not in line:
                        continue
                    tail = int(line[line.index("02:10:00:"):][15:17], 16)
                    if (R2, R3)[tail & 1] not in line:
                        problems.append(line)
            cli.close()
        except Exception as error:  # noqa: any failure of a client is the test's
            problems.append(repr(error))

    with Vtep(ports, CONFIG) as vtep:
        clients = [threading.Thread(target=client, args=(vtep.socket_path, command))
                   for command in ("show fdb", "show fdb vni 100", "fdb flush vni 100",
                                   "fdb flush")]
        for thread in clients:
            thread.start()
        stop.wait(1.5)
        stop.set()
        for thread in clients:
            thread.join(20)
        assert not problems, problems[:3]
        vtep.cli("stop")
        vtep.check_law()


@case(88)
def test_neighbour_mac_changes():
    """(a) R2 announces a new MAC by gratuitous ARP: the next packet uses it."""
    with Live(BASE + "flood add 192.0.2.2 vni 100\n") as vtep:
        frame = pk.udp_frame(UNKNOWN, H1, size=60)
        resolve(vtep, frame)
        new = pk.mac("02:00:00:00:00:22")
        vtep.ports["U"].send(pk.arp(1, new, R2, bytes(6), R2))
        vtep.until(lambda: pk.mac_text(new) in vtep.cli("show neigh").lower(), "the new MAC")
        vtep.ports["A"].send(frame)
        outer, = vtep.to_remotes(frame, R2)
        assert outer.dst_mac == new


def resolve(vtep, frame, remote=R2):
    """@frame goes out on A; the ARP request for @remote is answered; the frame follows."""
    vtep.ports["A"].send(frame)
    request = vtep.ports["U"].receive_arp(lambda f: f[20:22] == b"\0\1" and
                                          f[38:42] == pk.ip(remote))
    assert request is not None, "no ARP request for " + remote
    assert request[:6] == pk.BROADCAST and request[28:32] == pk.ip(LOCAL)
    vtep.ports["U"].send(pk.arp(2, REMOTE_MAC[remote], remote, vtep.ports["U"].mac, LOCAL))
    outer, = vtep.to_remotes(frame, remote)
    assert outer.dst_mac == REMOTE_MAC[remote]


@case(88)
@pytest.mark.skipif("VX_LONG" not in os.environ, reason="takes minutes: VX_LONG=1")
def test_neighbour_mac_changes_silently():
    """(b) R2 only answers requests with its new MAC; at most 3 requests a second."""
    with Live(BASE + "flood add 192.0.2.2 vni 100\n") as vtep:
        frame = pk.udp_frame(UNKNOWN, H1, size=60)
        resolve(vtep, frame)
        new, end, requests = pk.mac("02:00:00:00:00:22"), time.monotonic() + 60, []
        while time.monotonic() < end:
            vtep.ports["A"].send(frame)
            if any(f[:6] == new for f in vtep.ports["U"].pending(0.2)):
                break
            for request in vtep.ports["U"].arps:
                requests.append(time.monotonic())
                if request[:6] in (pk.BROADCAST, new):
                    vtep.ports["U"].send(pk.arp(2, new, R2, vtep.ports["U"].mac, LOCAL))
            vtep.ports["U"].arps.clear()
        assert time.monotonic() < end, "no recovery"
        assert all(b - a > 0.9 for a, b in zip(requests, requests[3:])), "too many requests"


# -- reassembly -----------------------------------------------------------------------------------

def datagram(ident, size=3014, **fields):
    """A datagram from R2 that needs fragments, addressed to nobody known."""
    return encapsulated(pk.udp_frame(UNKNOWN, H2, size=size, sport=ident & 0xffff),
                        ip_fields={"ident": ident}, **fields)


@case(31)
def test_timeout_of_incomplete_datagrams():
    """Given up by time alone, without another packet that would push; late ones find nothing."""
    with Live(CONFIG + "set reassembly timeout 300\n", takes_fragments=True) as vtep:
        start = vtep.memory()
        pieces = [pk.fragments(datagram(ident, 1514)) for ident in range(1000)]
        for i in range(0, 1000, 50):
            vtep.ports["U"].send(*[first for first, _ in pieces[i:i + 50]])
        vtep.until(lambda: vtep.stats()["received"] == 1000, "the first fragments")
        vtep.await_drops({"frag_timeout": 1000})
        assert vtep.stats()["held"] == 0
        vtep.until(lambda: vtep.memory() == start, "buffers back: %s" % start)
        for i in range(0, 1000, 50):
            vtep.ports["U"].send(*[last for _, last in pieces[i:i + 50]])
        vtep.await_drops({"frag_timeout": 2000})
        vtep.silent("A")


@case(32)
def test_flood_of_incomplete_datagrams():
    """Frames that came whole do not suffer, what is held is bounded, and fragments that come
    after the flood are put together again."""
    rounds, limit = 10, 100
    whole = [encapsulated(pk.udp_frame(UNKNOWN, H2, size=500, sport=i)) for i in range(2000)]
    flood = frames_of("032") * rounds
    step = len(flood) // len(whole)
    mixed = []
    for i, frame in enumerate(whole):
        mixed += flood[i * step:(i + 1) * step] + [frame]
    mixed += flood[len(whole) * step:]
    config = CONFIG + "set reassembly max %d\n" % limit
    result = run_files({"U": mixed}, config)
    small = [frame[50:] for frame in whole]
    assert [frame for frame in result.out["A"] if len(frame) == 500] == small
    assert set(result.drops) <= {"frag_limit", "frag_timeout", "frag_duplicate", "outer_mac"}
    assert result.drops["frag_limit"] > 1000
    with Live(config, takes_fragments=True) as vtep:
        for i in range(0, 2051, 50):
            vtep.ports["U"].send(*[to_port(f) for f in frames_of("032")[i:i + 50]])
        vtep.until(lambda: vtep.stats()["received"] > 1500, "the flood")
        assert vtep.stats()["held"] <= limit
        time.sleep(0.3)
        vtep.ports["A"].pending()
        frame = datagram(0x7777, 1514)
        vtep.ports["U"].send(*pk.fragments(frame))
        vtep.on("A", frame[50:])


@case(34)
def test_reassembly_with_an_almost_empty_pool():
    """Complete, overlapping and incomplete jumbo datagrams for a second with very few buffers:
    nothing corrupt comes out, nothing is lost from the pool."""
    good = [datagram(ident, 4014) for ident in range(200)]
    frames = []
    for i, frame in enumerate(good):
        frames += pk.fragments(frame)
        frames += pk.fragments(datagram(0x4000 + i, 8014))[:-1]
        frames += pk.fragments(datagram(0x8000 + i, 4014))[:2]
        frames.append(pk.fragment(datagram(0x8000 + i, 4014), 1472, 2960, True))
    ports = {"U": PcapPort(frames), "A": PcapPort()}
    with Vtep(ports, CONFIG + "set reassembly max 65536\n", mtu=9000, underlay_mtu=1500,
              options=["--total-num-mbufs", "2048"]) as vtep:
        last = -1
        while vtep.stats()["received"] != last:
            last = vtep.stats()["received"]
            time.sleep(0.3)
        vtep.until(lambda: vtep.stats()["held"] == 0, "all given up")
        assert set(vtep.drops()) <= {"frag_timeout", "frag_overlap", "frag_limit", "no_mbuf"}
        reassembled = vtep.stats()["reassembled"]
        vtep.finish()
        out = ports["A"].sent()
    assert len(out) == reassembled > 50
    assert set(out) <= {frame[50:] for frame in good}


# -- ports and drop paths -------------------------------------------------------------------------

@case(112)
def test_burst_larger_than_rx_burst():
    """1,000 frames at once into a tap, then silence: all of them leave without another push."""
    ports = {"U": VethPort(1500, OWN), "A": TapPort()}
    ports["U"].is_underlay = True
    frames = [pk.udp_frame(UNKNOWN, H1, size=100, sport=i) for i in range(1000)]
    with Vtep(ports, CONFIG):
        ports["U"].pending(0.05)
        ports["A"].send(*frames)
        start = time.monotonic()
        got = ports["U"].receive(1000)
        took = time.monotonic() - start
        assert sorted(pk.inners(got)) == sorted(frames)
        assert took < 1, "took %.3f s" % took


@case(124)
def test_every_drop_path_many_times():
    """The files of the cases that drop, in a loop at full speed: nothing is lost from the pool."""
    names = ["017", "020", "022", "023", "025", "026", "028", "032", "040", "041", "044", "053",
             "055", "064_inner_vlan_from_tunnel", "067_invalid"]
    underlay = [to_port(f) for name in names for f in frames_of(name)]
    access = frames_of("016") + frames_of("064_inner_vlan_from_access") + frames_of("065")
    ports = {"U": PcapPort(underlay, infinite=True, sink=True),
             "A": PcapPort(access, infinite=True, sink=True)}
    with Vtep(ports, CONFIG, mtu=1450, underlay_mtu=1500) as vtep:
        time.sleep(1.0)
        vtep.cli("stop")
        vtep.check_law()
        stats = vtep.stats()
        assert stats["received"] > 10000 and stats["dropped"] > 0.5 * stats["received"]
        assert stats["reassembled"] > 0
        learned = set(map(pk.mac, vtep.fdb()))
        assert bytes(6) not in learned and not any(mac[0] & 1 for mac in learned)
