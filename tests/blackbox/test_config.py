# SPDX-License-Identifier: BSD-3-Clause
"""Configuration at run time, with traffic: what the public cases of mark C ask for."""
import itertools
import random
import shutil
import subprocess

import pytest

import packets as pk
from ports import PcapPort, VethPort
from tunnel import (BASE, CONFIG, H1, H2, LOCAL, NEIGHBOURS, OWN, R2, R3, R4, REMOTE_MAC, UNKNOWN,
                    Live, encapsulated)
from vtep import Cli, CliError, Space, Vtep, alone

case = pytest.mark.case
FRAME = pk.udp_frame(UNKNOWN, H1, size=100)
BROADCAST = pk.arp(1, H1, "203.0.113.1", bytes(6), "203.0.113.2")
R5 = "192.0.2.5"
NULLS = ("net_null0", "net_null1")


@case(73)
def test_remove_a_flood_member_in_the_middle():
    config = BASE + NEIGHBOURS + "neigh add 192.0.2.5 02:00:00:00:00:05 port {U}\n" + "".join(
        "flood add %s vni 100\n" % ip for ip in (R2, R3, R4, R5))
    with Live(config) as vtep:
        vtep.live_at_end = False
        members = [R2, R3, R4, R5]
        for action, remote in (("", ""), ("del", R3), ("del", R2), ("del", R5), ("add", R3),
                               ("del", R4), ("del", R3)):
            if action:
                vtep.run("flood %s %s vni 100" % (action, remote))
                (members.remove if action == "del" else members.append)(remote)
            vtep.ports["A"].send(BROADCAST)
            vtep.to_remotes(BROADCAST, *members)
        vtep.await_drops({"no_target": 1})


@case(74)
def test_own_address_as_remote():
    with Live() as vtep:
        assert LOCAL in vtep.refuse("flood add 192.0.2.1 vni 100")
        vtep.refuse("fdb add %s vni 100 vtep 192.0.2.1" % pk.mac_text(H2))
        vtep.ports["A"].send(BROADCAST)
        vtep.to_remotes(BROADCAST, R2)
    # the other order: a remote that becomes local is refused, or no longer sent to
    with Live(CONFIG + "flood add 192.0.2.77 vni 100\n") as vtep:
        vtep.live_at_end = False
        try:
            vtep.run("address add 192.0.2.77/24 port {U}")
        except CliError as error:
            assert "192.0.2.77" in str(error)
        vtep.ports["A"].send(BROADCAST)
        vtep.to_remotes(BROADCAST, R2)


@case(82)
def test_outer_source_is_the_vtep_address():
    config = "address add 192.0.2.50/24 port {U}\n" + CONFIG.replace(
        "vni add 100", "vni add 100 local 192.0.2.1") + \
        "route add 198.51.100.0/24 via 192.0.2.254\nflood add 198.51.100.2 vni 100\n"
    with Live(config) as vtep:
        vtep.ports["A"].send(FRAME)
        request = vtep.ports["U"].receive_arp(lambda f: f[38:42] == pk.ip("192.0.2.254"))
        assert request is not None
        vtep.ports["U"].send(pk.arp(2, pk.mac("02:00:00:00:00:fe"), "192.0.2.254", OWN, LOCAL))
        outers = vtep.to_remotes(FRAME, R2, "198.51.100.2")
        assert {o.src for o in outers} == {LOCAL}
    loopback = CONFIG.replace("vni add 100", "address add 203.0.113.77/32 port {U}\n"
                              "vni add 100 local 203.0.113.77")
    with Live(loopback) as vtep:
        vtep.ports["A"].send(FRAME)
        outer, = vtep.to_remotes(FRAME, R2)
        assert outer.src == "203.0.113.77"
        back = pk.udp_frame(UNKNOWN, H2, size=100)
        vtep.from_remote(back, dst="203.0.113.77")
        vtep.on("A", back)


@case(89)
def test_remote_behind_a_gateway():
    config = CONFIG + "route add 0.0.0.0/0 via 192.0.2.254\nflood add 198.51.100.2 vni 100\n"
    gateway = pk.mac("02:00:00:00:00:fe")
    with Live(config) as vtep:
        vtep.ports["A"].send(FRAME)
        assert vtep.ports["U"].receive_arp(lambda f: f[38:42] == pk.ip("192.0.2.254"))
        vtep.ports["U"].send(pk.arp(2, gateway, "192.0.2.254", OWN, LOCAL))
        for outer in vtep.to_remotes(FRAME, R2, "198.51.100.2"):
            assert outer.src == LOCAL
            assert outer.dst_mac == (gateway if outer.dst == "198.51.100.2" else REMOTE_MAC[R2])
        asked = {f[38:42] for f in vtep.ports["U"].arps if f[20:22] == b"\0\1"}
        assert asked <= {pk.ip("192.0.2.254"), pk.ip(LOCAL)}  # ours: announcements


@case(91)
def test_remote_changes_its_address():
    with Live() as vtep:
        hello = pk.udp_frame(UNKNOWN, H2, size=80)
        vtep.from_remote(hello)
        vtep.on("A", hello)
        vtep.learned(H2, R2)
        path = vtep.folder + "/change"
        with open(path, "w", encoding="ascii") as file:
            file.write("flood del 192.0.2.2 vni 100\nflood add 192.0.2.4 vni 100\n")
        vtep.run("load " + path)
        unicast = pk.udp_frame(H2, H1, size=90)
        vtep.ports["A"].send(unicast)
        vtep.to_remotes(unicast, R4)
        vtep.from_remote(hello, R4)
        vtep.on("A", hello)
        vtep.learned(H2, R4)
        vtep.run("address add 192.0.2.7/24 port {U}\naddress del 192.0.2.1")
        vtep.ports["A"].send(unicast)
        outer, = vtep.to_remotes(unicast, R4)
        assert outer.src == "192.0.2.7"
        vtep.from_remote(hello, R4)  # to the old address
        vtep.await_drops({"outer_dst_ip": 1})
        vtep.silent("A")
        vtep.run("address add 192.0.2.1/24 port {U}\naddress del 192.0.2.7")


@case(92)
def test_mapped_address_as_remote():
    with Live() as vtep:
        # ::ffff:192.0.2.2 is 192.0.2.2, which is a member already: refused either way
        vtep.refuse("flood add ::ffff:192.0.2.2 vni 100")
        vtep.refuse("flood add ::192.0.2.2 vni 100")
        vtep.refuse("flood add 2001:db8::2 vni 100")  # IPv4 local, IPv6 remote
        try:
            vtep.run("flood add ::ffff:192.0.2.3 vni 100")
            vtep.refuse("flood add 192.0.2.3 vni 100")
            vtep.run("flood del 192.0.2.3 vni 100")
        except CliError:
            pass
        vtep.ports["A"].send(BROADCAST)
        vtep.to_remotes(BROADCAST, R2)


SHOWS = ["show vni", "show vni 5", "show access", "show fdb", "show fdb vni 5",
         "show fdb mac 02:00:00:00:00:01", "show flood", "show flood vni 5", "show vtep",
         "show address", "show neigh", "show route", "show port info all", "show port stats all",
         "show port xstats all", "show port info 7", "show port stats nosuch",
         "show fwd stats all", "show drops", "show worker", "show memory", "show config",
         "show version", "show trace", "clear port stats all", "clear fwd stats all",
         "clear trace", "help"]


@case(127)
def test_show_on_an_empty_system():
    """Without VNIs: every show and clear; unknown names, silly numbers, control bytes, long and
    half-typed lines, a session closed in the middle of output."""
    with Vtep({"U": PcapPort()}) as vtep:
        for line in SHOWS:
            text = vtep.cli.raw(line)
            assert not text.startswith("error: ") or text.count("\n") <= 1, line
        for line in ("show fdb vni -1", "show fdb vni 4294967296", "show port info -1",
                     "show port info 4294967296", "show vni 99999999999999999999", "show",
                     "show nosuch", "nosuch", "clear", "show fdb mac xx", "vni", "help nosuch"):
            vtep.refuse(line)
        for line in ("a" * 4096, "show " + "b" * 4096, "vni add " + "9" * 4000,
                     "\x01\x02\x03", "show \x1b[A", "show\tfdb\t\t", "\x7f\x7f", "%s%n%d"):
            vtep.cli.raw(line)
        assert vtep.cli.raw("") == "" and vtep.cli.raw("   # only a comment") == ""
        for piece in (b"show vni", b"show config\nshow co", b"show config\n" * 500, b"\0\0\n",
                      b"\xff\xfe\xfd\n"):
            client = Cli(vtep.socket_path)
            client.sock.sendall(piece)
            client.close()
        vtep.cli("show version")


@case(128)
def test_bad_addresses():
    bad = ["0.0.0.0", "255.255.255.255", "127.0.0.1", "::", "::1", "224.0.0.1", "192.0.2.255",
           "192.0.2.1", "192.0.2", "192.0.2.256", "1.2.3.4.5", "x", "192.0.2.2/24", "0x7f.1"]
    with Live() as vtep:
        for remote in bad:
            first = vtep.refuse("flood add %s vni 100" % remote)
            vtep.refuse("fdb add %s vni 100 vtep %s" % (pk.mac_text(H2), remote))
            for _ in range(70):  # the same answer a thousand times in all
                assert vtep.cli.raw("flood add %s vni 100" % remote).strip() == first.strip()
        for address in ("0.0.0.0/24", "127.0.0.1/8", "224.0.0.1/24", "192.0.2.255/24",
                        "192.0.2.0/24", "255.255.255.255/32", "192.0.2.9", "192.0.2.9/33",
                        "192.0.2.9/-1", "192.0.2.9/x", "x/24"):
            vtep.refuse("address add %s port {U}" % address)
        vtep.refuse("vni add 300 local 192.0.2.99")
        for gateway in ("0.0.0.0", "192.0.2.1", "203.0.113.9", "224.0.0.1", "x"):
            vtep.refuse("route add 198.51.100.0/24 via " + gateway)
        for prefix in ("198.51.100.1/24", "198.51.100.0/33", "198.51.100.0", "224.0.0.0/4", "x/8"):
            vtep.refuse("route add %s via 192.0.2.254" % prefix)
        for neighbour in ("0.0.0.0 02:00:00:00:00:09", "192.0.2.9 01:00:5e:00:00:01",
                          "192.0.2.9 00:00:00:00:00:00", "192.0.2.9 ff:ff:ff:ff:ff:ff",
                          "192.0.2.9 02:00:00:00:00", "192.0.2.1 02:00:00:00:00:09"):
            vtep.refuse("neigh add %s port {U}" % neighbour)
        for mac in ("01:00:5e:00:00:01", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "02:00:00:00:00",
                    "02:00:00:00:00:0g", "x"):
            vtep.refuse("fdb add %s vni 100 vtep 192.0.2.2" % mac)


@case(130)
def test_duplicates():
    """The second one is refused, the first keeps working without loss."""
    with Live(CONFIG + "vni add 200\n") as vtep:
        frames = [pk.udp_frame(UNKNOWN, H1, size=100, sport=i) for i in range(200)]
        vtep.ports["A"].send(*frames[:100])
        for line in ("vni add 100", "flood add 192.0.2.2 vni 100", "access add {A} vni 200",
                     "access add {A} vni 100", "address add 192.0.2.1/24 port {U}",
                     "neigh add 192.0.2.2 02:00:00:00:00:99 port {U}"):
            vtep.refuse(line)
        vtep.run("route add 198.51.100.0/24 via 192.0.2.2")
        vtep.refuse("route add 198.51.100.0/24 via 192.0.2.2")
        vtep.run("route del 198.51.100.0/24")
        vtep.run("address add 192.0.2.50/24 port {U}\naddress del 192.0.2.50")
        vtep.ports["A"].send(*frames[100:])
        assert pk.inners(vtep.ports["U"].receive(200), dst=R2, src=LOCAL) == frames


@case(131)
def test_removal_order():
    """A full tear-down in every order under traffic: refused with a message, or what hangs on it
    goes too; then everything is gone, and it can be built up again."""
    steps = {"vni": "vni del 100", "access": "access del {A}", "address": "address del 192.0.2.1",
             "flood": "flood del 192.0.2.2 vni 100"}
    ports = {"U": VethPort(1500, OWN), "A": VethPort(1500)}
    ports["U"].is_underlay = True
    with Vtep(ports) as vtep:
        fresh = vtep.config_lines()
        for order in itertools.permutations(steps):
            for line in CONFIG.strip().split("\n"):
                vtep.run(line)
            vtep.run("fdb add %s vni 100 vtep 192.0.2.2" % pk.mac_text(H2))
            ports["A"].send(FRAME)
            ports["U"].send(encapsulated(FRAME, dmac=OWN))
            left = list(order)
            for _ in range(len(steps)):  # what is refused now may go when the rest is gone
                for step in list(left):
                    ports["A"].send(FRAME)
                    try:
                        vtep.run(steps[step])
                        left.remove(step)
                    except CliError as error:
                        if "VNI 100" in str(error) or "not" in str(error):
                            left.remove(step)  # it went with another one
            for remote in REMOTE_MAC:
                try:
                    vtep.run("neigh del " + remote)
                except CliError:
                    pass
            assert vtep.config_lines() == fresh, "after " + " ".join(order)
            assert not vtep.fdb()
        ports["U"].pending(0.02)
        ports["A"].pending(0.02)
        vtep.run("\n".join(CONFIG.strip().split("\n")))
        ports["A"].send(FRAME)
        # The second announcement of the address may come in between.
        got = []
        while not got:
            got = pk.inners(ports["U"].receive(1), dst=R2)
        assert got == [FRAME]


@case(133)
def test_failed_command_leaves_nothing():
    with Live(options=["--max-vnis", "2", "--max-vteps", "4", "--max-macs", "64"]) as vtep:
        for line in ("vni add 300 local 198.51.100.1", "vni add 300 mtu 67",
                     "vni add 300 mtu 65486", "access add nosuch vni 100", "access add {U} vni 100",
                     "flood add 192.0.2.9 vni 300",
                     "fdb add 02:00:00:00:00:09 vni 300 vtep 192.0.2.9",
                     "fdb add 02:00:00:00:00:09 vni 100 port {U}",
                     "fdb add 02:00:00:00:00:09 vni 100 port nosuch"):
            vtep.refuse(line)
        vtep.run("vni add 300 mtu 1400")
        vtep.refuse("vni add 301")  # the table is full
        vtep.run("vni del 300")
        vtep.run("vni add 301\nvni del 301")
        full = 0
        for i in range(10, 20):
            try:
                vtep.run("flood add 192.0.2.%d vni 100" % i)
            except CliError:
                full += 1
                vtep.refuse("flood add 192.0.2.%d vni 100" % i)
        assert full >= 6
        for i in range(10, 20 - full):
            vtep.run("flood del 192.0.2.%d vni 100" % i)
        # a file that fails in the middle: says where
        path = vtep.folder + "/broken"
        with open(path, "w", encoding="ascii") as file:
            file.write("vni add 400\n# comment\nvni add 0\nvni add 401\n")
        text = vtep.cli.raw("load " + path)
        assert text.startswith("error: ") and "broken:3" in text
        assert "401" not in vtep.cli("show config")
        vtep.cli.raw("vni del 400")


@case(134, 137)
def test_replace_and_udp_port():
    """In one command file: VNI deleted and made anew, UDP port changed and back."""
    with Live() as vtep:
        back = pk.udp_frame(UNKNOWN, H2, size=100)
        path = vtep.folder + "/replace"
        with open(path, "w", encoding="ascii") as file:
            file.write(vtep.names("vni del 100\nvni add 100\naccess add {A} vni 100\n"
                                  "flood add 192.0.2.2 vni 100\nset udp-port 8472\n"))
        vtep.run("load " + path)
        vtep.ports["A"].send(FRAME)
        got, = vtep.ports["U"].receive(1)
        assert pk.Outer(got, 8472).inner == FRAME
        vtep.from_remote(back, dport=8472)
        vtep.on("A", back)
        vtep.from_remote(back)
        vtep.await_drops({"outer_udp_port": 1})
        vtep.silent("A")
        vtep.run("set udp-port 4789")
        vtep.ports["A"].send(FRAME)
        vtep.to_remotes(FRAME, R2)
        vtep.from_remote(back)
        vtep.on("A", back)
        for bad in ("0", "65536", "-1", "x", ""):
            vtep.refuse("set udp-port " + bad)


@case(136)
def test_conservation_of_counters():
    """A known mix of good and bad: in total, by reason, segment and remote; and clear."""
    good = [pk.udp_frame(UNKNOWN, H1, size=100, sport=i) for i in range(5000)]
    wire = [encapsulated(pk.udp_frame(UNKNOWN, H2, size=120, sport=i)) for i in range(5000)]
    bad = [encapsulated(FRAME, vni=999)] * 300 + [encapsulated(FRAME, vx={"flags": 0})] * 200
    broken = [pk.vlan(FRAME, 5)] * 100
    mixed_a, mixed_u = good + broken, wire + bad
    random.Random(1).shuffle(mixed_a)
    random.Random(2).shuffle(mixed_u)
    with Vtep({"U": PcapPort(mixed_u), "A": PcapPort(mixed_a)}, CONFIG) as vtep:
        stats = vtep.settle(len(mixed_a) + len(mixed_u), 20)
        assert vtep.drops() == {"vni_unknown": 300, "vxlan_header": 200, "access_vlan": 100}
        assert stats["encapsulated"] == 5000 and stats["decapsulated"] == 5000
        assert stats["forwarded"] >= 10000
        segment = vtep.cli("show vni 100")
        assert "5000" in segment, "frames each way: " + segment
        assert "5000" in vtep.cli("show vtep"), "frames each way of the remote"
        vtep.run("clear fwd stats all")
        after = vtep.stats()
        assert after["received"] == after["dropped"] == after["encapsulated"] == 0
        assert not vtep.drops()


@case(142)
def test_crash_and_restart():
    """kill -9, start again with the saved configuration and without cleaning up; a second instance
    with the same socket refuses and does not harm the first."""
    vtep = Live()
    try:
        vtep.open()
        for _ in range(3):
            vtep.run("save %s/saved" % vtep.folder)
            before = vtep.config_lines()
            second = alone("--cli-socket", vtep.socket_path, vdevs=NULLS)
            assert second.returncode == 1 and vtep.socket_path in second.stderr + second.stdout
            vtep.cli("show version")
            vtep.process.kill()
            vtep.process.wait()
            vtep.cli.close()
            vtep.cli = None
            shutil.copy(vtep.folder + "/saved", vtep.folder + "/startup.conf")
            argv, log = vtep.process.args, open(vtep.log_path, "ab")
            vtep.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=log, stderr=log,
                                            preexec_fn=Space.namespace.enter)
            log.close()
            vtep.until(lambda: _connect(vtep), "the prompt", 10)
            vtep.cli("start")
            assert vtep.config_lines() == before
            vtep.ports["A"].send(FRAME)
            vtep.to_remotes(FRAME, R2, strict=False)
            vtep.ports["U"].pending(0.02)
        vtep.finish()
    finally:
        vtep.kill()


def _connect(vtep):
    try:
        vtep.cli = Cli(vtep.socket_path)
        vtep.memory_before = vtep.memory()
        return True
    except OSError:
        assert vtep.process.poll() is None, vtep.log()[-2000:]
        return False


@case(118)
@pytest.mark.parametrize("kind", ["pcap", "veth"])
def test_mtu_limits(kind):
    """`port config mtu`: taken within the limits, refused with them in the message outside."""
    make = PcapPort if kind == "pcap" else VethPort
    with Vtep({"U": make(), "A": make()}, CONFIG) as vtep:
        for bad in ("0", "67", "65536", "70000"):
            assert "68" in vtep.refuse("port config mtu {U} " + bad)
        for bad in ("-1", "x", ""):
            vtep.refuse("port config mtu {U} " + bad)
        accepted = []
        for mtu in (68, 1279, 1280, 1500, 9000, 65535):
            text = vtep.cli.raw(vtep.names("port config mtu {U} %d" % mtu))
            if not text.startswith("error: "):
                accepted.append(mtu)
            else:
                assert any(c.isdigit() for c in text)
        assert 1500 in accepted
        vtep.run("port config mtu {U} 1500")


@pytest.mark.parametrize("mtu, pieces", [(1400, [1376, 104]), (1500, [1480])])
def test_port_mtu_acts(mtu, pieces):
    with Live() as vtep:
        vtep.run("port config mtu {U} %d" % mtu)
        frame = pk.udp_frame(UNKNOWN, H1, size=1464)
        vtep.ports["A"].send(frame)
        whole, sizes = pk.reassemble(vtep.ports["U"].receive(len(pieces)), mtu)
        assert pk.inners(whole) == [frame] and sizes == [pieces]
        vtep.silent("U")
        unfragmented = vtep.cli("show vni").split("\n")[1].split()[2]
        assert unfragmented == str(mtu - 50)


def test_inner_mtu_acts():
    with Live() as vtep:
        vtep.run("set mtu 500")
        vtep.ports["A"].send(pk.udp_frame(UNKNOWN, H1, size=515))
        vtep.await_drops({"inner_too_big": 1})
        frame = pk.udp_frame(UNKNOWN, H1, size=514)
        vtep.ports["A"].send(frame)
        vtep.to_remotes(frame, R2)
        vtep.run("set mtu 1500")


def test_port_stop_start():
    """A stopped port is idle; it comes back, and nothing else suffers."""
    with Live() as vtep:
        vtep.run("port stop {A}")
        vtep.from_remote(FRAME)
        vtep.await_drops({"tx_port_down": 1})
        vtep.run("port start {A}")
        vtep.from_remote(FRAME)
        vtep.on("A", FRAME)
        vtep.run("port stop {U}\nport start {U}")
        vtep.ports["A"].pending(0.02)
        vtep.ports["A"].send(FRAME)
        vtep.to_remotes(FRAME, R2)


def test_trace():
    """The next frames that match, stage by stage, and no more than asked for."""
    with Live() as vtep:
        vtep.run("trace add 2 vni 100")
        vtep.ports["A"].send(FRAME, FRAME, FRAME)
        assert len(vtep.ports["U"].receive(3)) == 3
        vtep.until(lambda: R2 in vtep.cli("show trace"), "the remote VTEP in the trace")
        assert "100" in vtep.cli("show trace")
        vtep.run("clear trace")
        assert R2 not in vtep.cli("show trace")
        vtep.run("trace add 1")
        vtep.ports["A"].send(pk.vlan(FRAME, 7))
        vtep.until(lambda: "access_vlan" in vtep.cli("show trace"), "the drop's reason")
        vtep.refuse("trace add 0")
        vtep.refuse("trace add 1 vni 0")
