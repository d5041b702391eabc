# SPDX-License-Identifier: BSD-3-Clause
"""The FDB with many entries and with limits, and what is flooded and what is not."""
import os
import re
import socket

import pytest

import packets as pk
from ports import PcapPort
from tunnel import (BASE, CONFIG, H1, H2, NEIGHBOURS, R2, R3, UNKNOWN, Live, encapsulated,
                    run_files)
from vtep import PROMPT, Vtep

case = pytest.mark.case
TWO = CONFIG + "flood add 192.0.2.3 vni 100\n"
GROUP = pk.mac("33:33:00:00:00:01")


def station(i):
    return b"\x02\x10" + i.to_bytes(4, "big")


def hello(i, destination=UNKNOWN):
    return pk.ethernet(destination, station(i), 0x88b5, bytes(46))


def test_max_macs_of_a_segment():
    """Ten are learned, the frames of all others are flooded all the same."""
    config = CONFIG.replace("vni add 100", "vni add 100 max-macs 10")
    run = run_files({"U": [encapsulated(hello(i)) for i in range(30)]}, config, live=False)
    assert len(run.out["A"]) == 30 and not run.drops
    assert len(run.fdb) == 10
    assert run.stats["learned"] == 10 and run.stats["fdb_vni_full"] == 20
    assert run.stats["fdb_full"] == 0


@case(68)
def test_flapping_is_counted_and_told():
    """A MAC here and behind R2 in turn: more than five moves in five seconds."""
    frame = pk.udp_frame(UNKNOWN, H1, size=60)
    with Live() as vtep:
        vtep.ports["A"].send(frame)
        vtep.learned(H1)
        for i in range(8):
            assert vtep.stats()["flapping"] == (1 if i > 5 else 0)
            if i % 2 == 0:
                vtep.from_remote(frame)
                vtep.learned(H1, R2)
            else:
                vtep.ports["A"].send(frame)
                vtep.learned(H1)
        assert len(vtep.ports["U"].receive(5)) == 5 and len(vtep.ports["A"].receive(4)) == 4
        stats = vtep.stats()
        assert stats["moved"] == 8 and stats["flapping"] == 1
        line, = [text for text in vtep.log().split("\n") if pk.mac_text(H1) in text.lower()]
        assert "VNI 100" in line and "vtep " + R2 in line
        assert "port %d" % list(vtep.ports).index("A") in line


def test_show_and_flush_filters():
    with Live(TWO + "vni add 200\naccess add {C} vni 200\nflood add 192.0.2.2 vni 200\n"
              "fdb add 02:00:00:00:0c:01 vni 100 vtep 192.0.2.2\n", ("U", "A", "C")) as vtep:
        for i in range(12):
            vtep.from_remote(hello(i), R2 if i % 3 else R3)
        for i in range(12, 15):
            vtep.from_remote(hello(i), R2, vni=200)
        for i, label in ((20, "A"), (21, "A"), (22, "C")):
            vtep.ports[label].send(hello(i))
        vtep.until(lambda: len(vtep.fdb()) == 19, "all learned")
        for label, count in (("A", 12), ("C", 3), ("U", 2 * 2 + 1)):
            assert len(vtep.ports[label].receive(count)) == count
        static = "02:00:00:00:0c:01"

        def shown(arguments=""):
            return set(vtep.fdb(vtep.names(arguments)))

        def texts(numbers):
            return {pk.mac_text(station(i)) for i in numbers}
        behind_r2 = [i for i in range(12) if i % 3]
        assert shown("vtep 192.0.2.3") == texts(range(0, 12, 3))
        assert shown("vtep 192.0.2.2 vni 100") == texts(behind_r2) | {static}
        assert shown("vni 200") == texts([12, 13, 14, 22])
        assert shown("port {A}") == texts([20, 21])
        assert shown("port {A} vni 200") == shown("port {A} vtep 192.0.2.2") == set()
        assert shown("vtep 192.0.2.99") == set()
        assert shown("mac %s port {A}" % pk.mac_text(station(20))) == texts([20])
        assert vtep.cli(vtep.names("show fdb port {C}")).strip().split("\n")[-1].startswith(
            "1 of 19 entries, room for ")
        for arguments, count in (("port {C}", 1), ("vni 200 vtep 192.0.2.2", 3),
                                 ("vtep 192.0.2.3", 4), ("vtep 192.0.2.99", 0),
                                 ("vni 200", 0), ("port {A}", 2), ("", 8), ("", 0)):
            answer = vtep.cli(vtep.names("fdb flush " + arguments).strip())
            assert answer.strip() == "%d learned entries removed" % count, arguments
        assert shown() == {static}


@pytest.mark.parametrize("off, passes", [("unknown", (1, 2)), ("multicast", (0, 2)),
                                         ("broadcast", (0, 1))])
def test_flood_switches(off, passes):
    """One kind of three is off, for what comes in on either side."""
    kinds = (UNKNOWN, GROUP, pk.BROADCAST)
    run = run_files({"A": [pk.udp_frame(mac, H1, size=100) for mac in kinds],
                     "U": [encapsulated(pk.udp_frame(mac, H2, size=100)) for mac in kinds]},
                    CONFIG + "set flood %s off%s\n" % (off, " vni 100" if off == "unknown" else ""),
                    drops={"flood_off": 2}, live=False)
    assert [frame[50:56] for frame in run.out["U"]] == [kinds[i] for i in passes]
    assert [frame[:6] for frame in run.out["A"]] == [kinds[i] for i in passes]


def test_flood_to_256_remotes():
    """A small frame and a chain that is cut for each of them, whole at all 256."""
    remotes = ["10.1.%d.%d" % (i // 16, 1 + i % 16) for i in range(256)]
    config = BASE + NEIGHBOURS + "route add 10.1.0.0/16 via 192.0.2.2\n" + "".join(
        "flood add %s vni 100\n" % remote for remote in remotes)
    frames = [pk.udp_frame(UNKNOWN, H1, size=100), pk.udp_frame(pk.BROADCAST, H1, size=3000)]
    run = run_files({"A": frames}, config, drops={}, live=False, mtu=9000, underlay_mtu=1500,
                    options=["--max-vteps", "300"])
    outers, _ = run.whole()
    for frame in frames:
        got = sorted(outer.dst for outer in outers if outer.inner == frame)
        assert got == sorted(remotes)
    assert len(outers) == 512 and run.stats["flood_copies"] == 2 * 255
    assert run.stats["fragments"] == 256 * 2 and run.stats["linear_copies"] == 0


COUNT = 15000
ANSWERS = 30  # of almost a megabyte each


def memory_of(vtep):
    with open("/proc/%d/statm" % vtep.process.pid, encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_long_answer_waits_for_its_reader():
    """A client that asks for much and reads nothing holds nobody up and takes no memory; when it
    reads, everything is there, once."""
    ports = {"U": PcapPort([encapsulated(hello(i)) for i in range(COUNT)]),
             "A": PcapPort(sink=True)}
    with Vtep(ports, CONFIG) as vtep:
        vtep.until(lambda: "0 of %d entries" % COUNT in vtep.cli("show fdb vtep 192.0.2.9"),
                   "all MACs learned", 10)
        before = memory_of(vtep)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(20)
        sock.connect(vtep.socket_path)
        sock.sendall(b"show fdb\n" * ANSWERS)
        for _ in range(20):
            assert "dpdk-vxlan" in vtep.cli("show version")
        # half of them; a sanitizer keeps what is freed for a while
        assert memory_of(vtep) - before < ANSWERS << 19, "the answers are kept in memory"
        assert len(vtep.fdb("vtep 192.0.2.2")) == COUNT  # another long one goes through
        data = b""
        while data.count(PROMPT) < ANSWERS + 1:
            more = sock.recv(1 << 20)
            assert more, data[-200:]
            data += more
        sock.close()
        answers = data.decode().split(PROMPT.decode())[1:ANSWERS + 1]
        for answer in answers:
            found = re.findall(r"^100 +(02:10:\S+) +vtep 192.0.2.2 ", answer.lower(), re.M)
            assert sorted(found) == [pk.mac_text(station(i)) for i in range(COUNT)]
            assert answer.strip().endswith("%d of %d entries, room for 16384" % (COUNT, COUNT))
        # one that leaves in the middle of an answer
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.connect(vtep.socket_path)
        sock.sendall(b"show fdb\n" * 3)
        sock.recv(1000)
        sock.close()
        assert vtep.cli("fdb flush").strip() == "%d learned entries removed" % COUNT
