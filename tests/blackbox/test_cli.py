# SPDX-License-Identifier: BSD-3-Clause
"""The command language: right and wrong input, and what it gets."""
import os
import socket
import stat
import threading
import time

import pytest

import packets as pk
from ports import PcapPort
from tunnel import CONFIG, H2
from vtep import Cli, CliError, Vtep


# Each: commands that work one after the other, and a text that `show config` or the last one's
# output then has
RIGHT = [
    ("address add 192.0.2.10/24 port {U}", "192.0.2.10/24"),
    ("show address", "192.0.2.10"),
    ("route add 198.51.100.0/24 via 192.0.2.254", "198.51.100.0/24"),
    ("show route", "198.51.100.0/24"),
    ("neigh add 192.0.2.20 02:00:00:00:00:20 port {U}", "192.0.2.20"),
    ("show neigh", "02:00:00:00:00:20"),
    ("address add 2001:db8::10/64 port {U}", "2001:db8::10/64"),
    ("show address", "2001:db8::10/64"),
    ("route add 2001:db8:5::/48 via 2001:db8::fe", "2001:db8:5::/48 via 2001:db8::fe"),
    ("route add ::/0 via fe80::fe", "::/0 via fe80::fe"),
    ("neigh add 2001:db8::20 02:00:00:00:00:26 port {U}", "2001:db8::20"),
    ("show neigh", "02:00:00:00:00:26"),
    ("vni add 16777215 max-macs 12345", "max-macs 12345"),
    ("vni add 1 local 192.0.2.10 mtu 1400", "1400"),
    ("show vni", "16777215"),
    ("show vni 1", "1400"),
    ("access add {A} vni 1", "access add"),
    ("access add {A} vni 1 vlan 1", "vni 1 vlan 1"),
    ("access add {A} vni 1 vlan 4094", "vni 1 vlan 4094"),
    ("show access", "4094"),
    ("flood add 192.0.2.30 vni 1", "192.0.2.30"),
    ("show flood", "192.0.2.30"),
    ("flood add 239.1.1.1 vni 1 port {U}", "239.1.1.1"),
    ("show group", "239.1.1.1"),
    ("flood add 239.1.1.2 vni 1", "239.1.1.2"),
    ("set multicast-ttl 7", "multicast-ttl 7"),
    ("set multicast-ttl 1", "multicast-ttl 1"),
    ("show flood vni 1", "192.0.2.30"),
    ("show vtep", "192.0.2.30"),
    ("fdb add 02:00:00:00:0b:02 vni 1 vtep 192.0.2.40", "192.0.2.40"),
    ("fdb add 02:00:00:00:0a:01 vni 1 port {A}", "02:00:00:00:0a:01"),
    ("fdb add 02:00:00:00:0a:02 vni 1 port {A} vlan 4094", "vlan 4094"),
    ("show fdb", "192.0.2.40"),
    ("show fdb vni 1", "192.0.2.40"),
    ("show fdb mac 02:00:00:00:0b:02", "192.0.2.40"),
    ("show fdb vni 1 mac 02:00:00:00:0b:02", "192.0.2.40"),
    ("show fdb port {A}", "02:00:00:00:0a:01"),
    ("show fdb vtep 192.0.2.40 vni 1", "02:00:00:00:0b:02"),
    ("set mtu 1450", "1450"),
    ("set udp-port 8472", "set udp-port 8472\n"),
    ("set udp-port 8472,4789,1,65535", "set udp-port 8472,4789,1,65535\n"),
    ("set udp-port 8472,4789,1,2,3,4,5,6", "set udp-port 8472,4789,1,2,3,4,5,6\n"),
    ("set ttl 1", "set ttl 1\n"),
    ("set ttl inherit", "set ttl inherit\n"),
    ("set ttl 255 vni 1", "set ttl 255 vni 1\n"),
    ("set ttl inherit vni 1", "set ttl inherit vni 1\n"),
    ("set ttl 64", "set ttl 64\n"),
    ("set dscp 63", "set dscp 63\n"),
    ("set dscp inherit", "set dscp inherit\n"),
    ("set dscp 0 vni 1", "set dscp 0 vni 1\n"),
    ("set dscp inherit vni 1", "set dscp inherit vni 1\n"),
    ("set dscp 0", "set dscp 0\n"),
    ("set ecn off", "set ecn off\n"),
    ("set ecn on", "set ecn on\n"),
    ("set df on vni 1", "set df on vni 1\n"),
    ("set df inherit vni 1", "set df inherit vni 1\n"),
    ("set df off vni 1", "set df off vni 1\n"),
    ("set source-ports 50000 50999", "50999"),
    ("set udp-checksum on", "udp-checksum on"),
    ("set learning off", "learning off"),
    ("set learning on vni 1", "vni 1"),
    ("set flood unknown off", "set flood unknown off"),
    ("set flood multicast off vni 1", "set flood multicast off vni 1"),
    ("set flood broadcast on vni 1", "set flood broadcast on vni 1"),
    ("set flood unknown on", "set flood unknown on"),
    ("set storm {A} 5000", "5000"),
    ("set storm {A} 0", ""),
    ("set ageing 77", "77"),
    ("set ageing 0", "ageing 0"),
    ("set peers known", "known"),
    ("set suppress on", "set suppress on"),
    ("set suppress off", "set suppress off"),
    ("set suppress on vni 1", "set suppress on vni 1"),
    ("set snooping on", "set snooping on"),
    ("set snooping off", "set snooping off"),
    ("set snooping on vni 1", "set snooping on vni 1"),
    ("show snooping", "groups in all segments"),
    ("show snooping vni 1", "groups in all segments"),
    ("binding add 203.0.113.2 02:00:00:00:0b:02 vni 1", "binding add 203.0.113.2 "),
    ("binding add 2001:db8::2 02:00:00:00:0b:02 vni 1", "binding add 2001:db8::2 "),
    ("show binding", "2001:db8::2"),
    ("show binding vni 1", "203.0.113.2"),
    ("binding del 203.0.113.2 vni 1", ""),
    ("set oversize inner", "oversize inner"),
    ("set oversize reply", "oversize reply"),
    ("set oversize drop", "oversize drop"),
    ("set oversize outer", "oversize outer"),
    ("set df on", "df on"),
    ("set df inherit", "df inherit"),
    ("set df off", "df off"),
    ("set reassembly off", "reassembly off"),
    ("set reassembly on", "reassembly on"),
    ("set reassembly timeout 60000", "reassembly timeout 60000"),
    ("set reassembly timeout 1", "reassembly timeout 1"),
    ("set reassembly max 65536", "reassembly max 65536"),
    ("set reassembly max 1", "reassembly max 1"),
    ("set path-mtu 192.0.2.30 576", "path-mtu 192.0.2.30 576"),
    ("set path-mtu 192.0.2.30 65535", "path-mtu 192.0.2.30 65535"),
    ("set path-mtu 192.0.2.30 0", ""),
    ("show reassembly", "at most 1 datagrams"),
    ("port config mtu {U} 1600", "1600"),
    ("show port info {U}", "net_pcap0"),
    ("show port info 0", "net_pcap0"),
    ("show port info all", "net_pcap1"),
    ("show port stats {U}", ""),
    ("show port stats all", ""),
    ("show port xstats all", ""),
    ("show fwd stats all", "received"),
    ("show drops", "access_runt"),
    ("show worker", ""),
    ("show memory", "pool"),
    ("show version", ""),
    ("clear port stats all", ""),
    ("clear port stats {A}", ""),
    ("clear fwd stats all", ""),
    ("trace add 5", ""),
    ("trace add 5 vni 1 mac 02:00:00:00:0b:02 port {A}", ""),
    ("show trace", ""),
    ("clear trace", ""),
    ("fdb flush vni 1", ""),
    ("fdb flush vni 1 port {A} vtep 192.0.2.40", "0 learned entries removed"),
    ("fdb flush", ""),
    ("port stop {A}", ""),
    ("port start {A}", ""),
    ("help", "show"),
    ("help vni", "vni add"),
    ("help vni add", "vni add"),
    ("sleep 0", ""),
    ("stop", ""),
    ("start", ""),
    ("fdb del 02:00:00:00:0b:02 vni 1", ""),
    ("flood del 192.0.2.30 vni 1", ""),
    ("access del {A} vlan 4094", ""),
    ("access del {A} vlan 1", ""),
    ("access del {A}", ""),
    ("access add {A} vni 1 vlan all", "vlan all"),
    ("access del {A} vlan all", ""),
    ("vni del 1", ""),
    ("neigh del 192.0.2.20", ""),
    ("route del 198.51.100.0/24 via 192.0.2.254", ""),
    ("address del 192.0.2.10", ""),
    ("route del ::/0", ""),
    ("route del 2001:db8:5::/48 via 2001:db8::fe", ""),
    ("neigh del 2001:db8::20", ""),
    ("address del 2001:db8::10", ""),
]

WRONG = """nosuch
address add fe80::1/0 port 0
address add ff02::5/64 port 0
address del 2001:db8::77
route add 2001:db8:5::1/48 via 2001:db8::fe
route add ::/0 via 192.0.2.254
neigh add 2001:db8:77::1 02:00:00:00:00:20 port 0
show
show nosuch
set oversize
set oversize nosuch
set df
set df maybe
set reassembly
set reassembly maybe
set reassembly timeout
set reassembly timeout 0
set reassembly timeout 60001
set reassembly max 0
set reassembly max 65537
set path-mtu 192.0.2.2
set path-mtu 192.0.2.2 575
set path-mtu 192.0.2.2 65536
set path-mtu 192.0.2.99 1400
set path-mtu x 1400
show reassembly now
show vni x
show vni 77
show fdb vni 0
show fdb mac 02:00
show port info nosuch
show port info 99
show port nosuch all
vni
vni add
vni add 0
vni add 16777216
vni add -1
vni add 1x
vni add 0x10
vni add 100
vni add 101 mtu 67
vni add 101 mtu 65486
vni add 101 mtu
vni add 101 max-macs 0
vni add 101 max-macs 16777217
vni add 101 local 192.0.2.99
vni add 101 local x
vni add 101 nosuch
vni del 101
vni del 0
vni del 100 now
access add {A} vni 999
access add {U} vni 100
access add nosuch vni 100
access add 99 vni 100
access add {A} vni 100
access add {A} vni 0
access add {A}
access add {A} vni 100 vlan
access add {A} vni 100 vlan 0
access add {A} vni 100 vlan 4095
access add {A} vni 100 vlan any
access add {A} vlan 7 vni
access add {A} vni 100 vlan all
access del {A} vlan 7
access del {A} vlan all
access del {A} vlan 0
fdb add 02:00:00:00:00:77 vni 100 port {A} vlan 7
fdb add 02:00:00:00:00:77 vni 100 port {A} vlan all
access del {U}
access del {A2}
access del nosuch
flood add 192.0.2.2 vni 100
flood add 192.0.2.3 vni 999
flood add x vni 100
flood add 192.0.2.3
flood add 224.0.0.1 vni 100
flood add 239.1.1.1 vni 999
flood add 239.1.1.1 vni 100 port {A}
flood del 239.1.1.1 vni 100
set multicast-ttl 0
set multicast-ttl x
flood del 192.0.2.3 vni 100
flood del 192.0.2.2 vni 999
fdb add 02:00:00:00:0b:02 vni 999 vtep 192.0.2.2
fdb add 02:00:00:00:0b:02 vni 100
fdb add 02:00:00:00:0b:02 vni 100 vtep
fdb add 02:00:00:00:0b:02 vni 100 port {U}
fdb add 02:00:00:00:0b:02 vni 100 port {A2}
fdb add 01:00:00:00:0b:02 vni 100 vtep 192.0.2.2
fdb add nonsense vni 100 vtep 192.0.2.2
fdb del 02:00:00:00:0b:02 vni 100
fdb del 02:00:00:00:0b:02 vni 999
fdb flush vni 999
fdb flush vni x
fdb flush port nosuch
fdb flush vtep x
show fdb port nosuch
show fdb vtep x
address add 192.0.2.1/24 port {U}
address add 192.0.2.9/24 port {A}
address add 192.0.2.9/24 port nosuch
address add 192.0.2.9 port {U}
address add 192.0.2.9/24
address del 192.0.2.9
route add 198.51.100.0/24 via 203.0.113.1
route add 198.51.100.0/24
route del 198.51.100.0/24
neigh add 192.0.2.2 02:00:00:00:00:02 port {U}
neigh add 192.0.2.9 02:00:00:00:00:09 port {A}
neigh add 192.0.2.9 x port {U}
neigh del 192.0.2.9
set
set mtu 67
set mtu 65486
set mtu x
set udp-port 0
set udp-port 65536
set udp-port 4789,
set udp-port ,4789
set udp-port 4789,0
set udp-port 4789,65536
set udp-port 4789,4789
set udp-port 4789 8472
set udp-port 1,2,3,4,5,6,7,8,9
set ttl
set ttl 0
set ttl 256
set ttl x
set ttl 64 vni 999
set ttl 64 vni
set ttl inherit vni 999
set dscp 64
set dscp -1
set dscp ef
set dscp 0 vni 999
set dscp inherit vni 999
set ecn
set ecn maybe
set ecn on vni 100
set df maybe
set df on vni 999
set source-ports 2000 1000
set source-ports 0 10
set source-ports 1
set udp-checksum maybe
set learning maybe
set learning on vni 999
set flood unknown
set flood nosuch on
set flood unknown maybe
set flood unknown off vni 999
set storm {A}
set storm {A} 10000001
set storm {U} 5
set storm nosuch 5
set ageing -1
set ageing x
set peers nobody
set suppress
set suppress maybe
set suppress on vni 999
set snooping
set snooping maybe
set snooping on vni 999
show snooping vni 999
show snooping nosuch
binding add 203.0.113.2 02:00:00:00:0b:02
binding add 203.0.113.2 02:00:00:00:0b:02 vni 999
binding add 203.0.113.2 03:00:00:00:0b:02 vni 100
binding add 224.0.0.5 02:00:00:00:0b:02 vni 100
binding add x 02:00:00:00:0b:02 vni 100
binding del 203.0.113.2 vni 100
binding del 203.0.113.2 vni 999
show binding vni 999
port
port stop nosuch
port start 99
port config mtu {U} 67
port config mtu nosuch 1500
port config speed {U} 5
load
load /nonexistent/file
save
save /nonexistent/folder/file
sleep
sleep x
sleep -1
trace add
trace add 0
trace add x
trace add 1 vni 0
trace add 1 port nosuch
clear
clear nosuch
help nosuch
start now
quit now""".split("\n")


def files(**labels):
    return {"U": PcapPort(), "A": PcapPort(), **labels}


@pytest.fixture(scope="module")
def shared():
    """One program for the tests that leave it as it was; A2 has no attachment."""
    with Vtep(files(A2=PcapPort()), CONFIG) as vtep:
        yield vtep


def test_commands_work():
    """Each command once: accepted, acting where it shows, and the end equals the beginning."""
    with Vtep(files(), check=False) as vtep:
        before = vtep.config_lines()
        for line, shows in RIGHT:
            output = vtep.run(line)
            assert shows.lower() in (output + vtep.cli("show config")).lower(), (
                "%s: no %r in %r" % (vtep.names(line), shows, output))
        for line in ("vni del 16777215", "set mtu 1500", "set udp-port 4789",
                     "set source-ports 49152 65535", "set learning on", "set ageing 300",
                     "set peers any", "set udp-checksum auto", "set reassembly timeout 200",
                     "set reassembly max 4096"):
            vtep.run(line)
        after = [line for line in vtep.config_lines() if "1600" not in line]
        assert [line for line in before if "port config mtu" not in line] == after


@pytest.mark.parametrize("line", WRONG)
def test_wrong_commands(shared, line):
    """One line that begins with error:, nothing changed. (show config is compared.)"""
    shared.refuse(line)


def test_errors_name_the_word(shared):
    for line, word in (("show nosuch", "nosuch"), ("vni add 16777216", "16777216"),
                       ("vni add 77 nosuch", "nosuch"), ("set peers nobody", "nobody"),
                       ("access add nosuch vni 100", "nosuch")):
        assert word in shared.refuse(line)
    assert "16777215" in shared.refuse("vni add 16777216")


def test_ports_by_id_and_name(shared):
    shared.run("vni add 500\naccess add 2 vni 500")
    assert "net_pcap2" in shared.cli("show access")
    shared.run("access del {A2}\nvni del 500")


def test_several_clients(shared):
    """Eight clients at once, each sees its own answers only; a slow and a rude one do no harm."""
    idle = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    idle.connect(shared.socket_path)
    rude = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    rude.connect(shared.socket_path)
    rude.sendall(b"show config\n" * 2000)  # and never reads
    problems = []

    def client(number):
        try:
            cli = Cli(shared.socket_path)
            for i in range(30):
                vni = 1000 + number * 100 + i
                cli("vni add %d" % vni)
                if str(vni) not in cli("show vni %d" % vni):
                    problems.append("VNI %d is not shown" % vni)
                cli("vni del %d" % vni)
            cli.close()
        except Exception as error:  # noqa: whatever a client meets is the test's failure
            problems.append(repr(error))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    idle.close()
    rude.close()
    assert not problems, problems[:3]
    shared.cli("show version")


def test_sleep_holds_only_its_client(shared):
    other = Cli(shared.socket_path)
    start = time.monotonic()
    other.sock.sendall(b"sleep 0.6\n")
    shared.cli("show version")
    assert time.monotonic() - start < 0.4
    other._until_prompt()
    assert 0.5 < time.monotonic() - start < 3
    other.close()


def test_socket_mode(shared):
    assert stat.S_IMODE(os.stat(shared.socket_path).st_mode) == 0o600


def test_show_config_is_complete(folder):
    """Everything that can be set, saved, loaded into a fresh program: the same configuration."""
    lines = """address add 192.0.2.1/24 port {U}
        address add 203.0.113.77/32 port {U}
        route add 198.51.100.0/24 via 192.0.2.254
        route add 0.0.0.0/0 via 192.0.2.253
        neigh add 192.0.2.2 02:00:00:00:00:02 port {U}
        vni add 100 local 203.0.113.77 mtu 1400
        vni add 200 max-macs 4321
        access add {A} vni 100
        access add {A2} vni 200
        flood add 192.0.2.2 vni 100
        flood add 198.51.100.9 vni 100
        flood add 192.0.2.2 vni 200
        flood add 239.1.1.1 vni 200
        set multicast-ttl 9
        fdb add 02:00:00:00:0b:02 vni 100 vtep 192.0.2.9
        fdb add 02:00:00:00:0b:02 vni 200 port {A2}
        set mtu 1450
        set udp-port 8472,4789
        set ttl 17
        set ttl inherit vni 100
        set dscp inherit
        set dscp 46 vni 200
        set ecn off
        set df on vni 200
        set source-ports 50000 60000
        set learning off vni 200
        set flood unknown off
        set flood broadcast off vni 200
        set flood unknown on vni 200
        set storm {A} 777
        set ageing 60
        set peers known
        set suppress on
        set suppress off vni 200
        set snooping on
        set snooping off vni 200
        binding add 203.0.113.2 02:00:00:00:0b:02 vni 100
        port config mtu {U} 1600"""
    lines = [line.strip() for line in lines.split("\n")]
    lines += ["set udp-checksum on"]
    with Vtep(files(A2=PcapPort()), check=False) as vtep:
        for line in lines:
            vtep.run(line)
        first = vtep.cli("show config")
        path = folder + "/saved.conf"
        vtep.run("save " + path)
        vtep.run("save " + path)  # over itself
        assert os.listdir(folder) == ["saved.conf"], "temporary files are left"
        with open(path, encoding="ascii") as file:
            saved = file.read()
    for word in ("192.0.2.1/24", "203.0.113.77", "198.51.100.0/24", "0.0.0.0/0", "1400", "8472",
                 "50000", "on", "60", "239.1.1.1", "multicast-ttl 9", "known", "1600",
                 "198.51.100.9", "192.0.2.9",
                 "4321", "set flood unknown off\n", "set flood broadcast off vni 200",
                 "set flood unknown on vni 200", "777", "set udp-port 8472,4789\n", "set ttl 17\n",
                 "set ttl inherit vni 100\n", "set dscp inherit\n", "set dscp 46 vni 200\n",
                 "set ecn off\n", "set df on vni 200\n", "set snooping on\n",
                 "set snooping off vni 200"):
        assert word in first
    with Vtep(files(A2=PcapPort()), check=False) as vtep:
        vtep.run("load " + path)
        assert vtep.cli("show config") == first
    with Vtep(files(A2=PcapPort()), check=False, options=["--cmdline-file", path]) as vtep:
        assert vtep.cli("show config") == first
        second = folder + "/again.conf"
        vtep.run("save " + second)
    with open(second, encoding="ascii") as file:
        assert file.read() == saved


def test_defaults_make_a_loadable_configuration():
    with Vtep(files()) as vtep:
        before = vtep.cli("show config")
        vtep.run("save %s/conf" % vtep.folder)
        vtep.run("load %s/conf" % vtep.folder)
        assert vtep.cli("show config") == before


def test_fdb_large_output(shared):
    """A long answer arrives whole."""
    for i in range(300):
        shared.run("fdb add 02:33:00:00:%02x:%02x vni 100 vtep 192.0.2.2" % (i >> 8, i & 255))
    assert sum(mac.startswith("02:33") for mac in shared.fdb()) == 300
    for i in range(300):
        shared.run("fdb del 02:33:00:00:%02x:%02x vni 100" % (i >> 8, i & 255))
    with pytest.raises(CliError):
        shared.run("fdb del %s vni 100" % pk.mac_text(H2))
