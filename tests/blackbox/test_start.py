# SPDX-License-Identifier: BSD-3-Clause
"""The program's options and how it starts; what is wrong gets one line and exit status 1."""
import os
import re
import shutil
import subprocess
import time

import pytest

import packets as pk
import vtep as harness
from ports import PcapPort, pcap_write
from tunnel import CONFIG, H1, R2, UNKNOWN
from vtep import Space, Vtep, alone, eal_arguments

NULLS = ("net_null0", "net_null1")


def files():
    return {"U": PcapPort(), "A": PcapPort()}


def assert_refused(done, *words):
    """Exit status 1 and one line of the program's own that has all @words."""
    text = done.stdout + done.stderr
    assert done.returncode == 1, "status %d: %s" % (done.returncode, text)
    lines = [l for l in text.split("\n") if l.startswith("dpdk-vxlan: ")]
    assert lines and all(word in lines[-1] for word in words), "expected %s in: %s" % (words, text)
    assert sum(all(word in l for word in words) for l in lines) == 1


@pytest.mark.parametrize("options, words", [
    (["--nosuch"], ["--nosuch"]),
    (["stray"], ["stray"]),
    (["--mtu"], ["--mtu"]),
    (["--mtu", "67"], ["--mtu", "67", "68", "65485"]),
    (["--mtu", "65486"], ["--mtu", "65486", "65485"]),
    (["--mtu", "x"], ["--mtu", "x"]),
    (["--mtu", "-1"], ["--mtu", "-1"]),
    (["--underlay-mtu", "65536"], ["--underlay-mtu", "65536"]),
    (["--vni", "0"], ["--vni", "0", "16777215"]),
    (["--vni", "16777216"], ["--vni", "16777216", "16777215"]),
    (["--local", "192.0.2.1"], ["--local", "192.0.2.1"]),
    (["--local", "192.0.2.0/24"], ["--local", "192.0.2.0/24"]),
    (["--local", "2001:db8::1/0"], ["--local", "2001:db8::1/0"]),
    (["--local", "2001:db8::1/64", "--mtu", "65466"], ["--mtu", "65466", "65465"]),
    (["--local", "192.0.2.1/24", "--remote", "224.0.0.1"], ["--remote", "224.0.0.1"]),
    (["--local", "192.0.2.1/24", "--vni", "5", "--gateway", "203.0.113.1"], ["--gateway"]),
    (["--remote", "192.0.2.2"], ["--remote"]),
    (["--burst", "0"], ["--burst"]),
    (["--rxq", "0"], ["--rxq"]),
    (["--rxd", "31"], ["--rxd"]),
    (["--mbuf-size", "100"], ["--mbuf-size"]),
    (["--total-num-mbufs", "0"], ["--total-num-mbufs"]),
    (["--max-vnis", "0"], ["--max-vnis"]),
    (["--max-macs", "99999999"], ["--max-macs"]),
    (["--nb-cores", "0"], ["--nb-cores"]),
    (["--underlay", "net_null0,net_null0"], ["--underlay", "net_null0"]),
    (["--underlay", ""], ["--underlay"]),
    (["--cli-socket", "/tmp/" + "x" * 200], ["--cli-socket"]),
    (["--cmdline-file", "/nonexistent/file"], ["/nonexistent/file"]),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_wrong_options(options, words):
    assert_refused(alone(*options, vdevs=NULLS), *words)


def test_wrong_option_touches_no_port(folder):
    """It is refused before a device is even opened: the file it would write to is not made."""
    pcap_write(folder + "/in", [])
    vdev = "net_pcap0,rx_pcap=%s/in,tx_pcap=%s/out" % (folder, folder)
    assert_refused(alone("--mtu", "1", vdevs=[vdev, "net_null0"]), "--mtu")
    assert os.listdir(folder) == ["in"]


@pytest.mark.parametrize("options, word", [
    (["--underlay", "nosuch"], "nosuch"), (["--access", "99"], "99"),
    (["--underlay", "net_null0", "--access", "net_null0"], "net_null0"),
])
def test_absent_ports(options, word):
    assert_refused(alone(*options, vdevs=NULLS), word)


def test_no_ports():
    assert_refused(alone(), "port")


def test_one_port_only():
    """An underlay port without an access port: refused, or a program that answers."""
    with Vtep({"U": PcapPort()}) as vtep:
        vtep.cli("show port info all")


def test_one_lcore_only():
    """Without a worker there is no forwarding: said in one line."""
    assert_refused(alone(vdevs=NULLS, lcores="0"), "lcore")


def test_error_in_line_7():
    """A start file that fails: file, line, reason, exit status 1."""
    config = "# comment\n\nvni add 5\nset mtu 1400\nvni add 6\n\nvni add 16777216\nvni add 7\n"
    assert_refused(alone(vdevs=NULLS, config=config), "startup.conf:7:", "16777216")


def test_missing_start_file_is_no_error():
    done = subprocess.run([harness.BINARY, "--version"], capture_output=True, text=True,
                          timeout=20, check=False)
    assert done.returncode == 0 and re.search(r"\d+\.\d+", done.stdout)


def test_tunnel_from_the_command_line():
    """--local, --gateway, --remote, --vni: the same as the commands."""
    frame = pk.udp_frame(UNKNOWN, H1, size=100)
    ports = {"U": PcapPort(), "A": PcapPort([frame]), "A2": PcapPort()}
    options = ["--local", "192.0.2.1/24", "--gateway", "192.0.2.254", "--remote", R2, "--remote",
               "198.51.100.2", "--vni", "100"]
    config = ("neigh add 192.0.2.2 02:00:00:00:00:02 port {U}\n"
              "neigh add 192.0.2.254 02:00:00:00:00:fe port {U}\n")
    with Vtep(ports, config, options=options) as vtep:
        vtep.settle(1)
        text = vtep.cli("show config")
        for word in ("192.0.2.1/24", "192.0.2.254", "vni add 100", "flood add 192.0.2.2",
                     "flood add 198.51.100.2"):
            assert word in text
        vtep.finish()
        outers = [pk.Outer(f) for f in ports["U"].sent() if f[12:14] == b"\x08\x00"]
        assert {o.dst: o.dst_mac[5] for o in outers} == {R2: 2, "198.51.100.2": 0xfe}
        assert ports["A2"].sent() == [frame]


@pytest.mark.parametrize("interactive, options, forwards", [
    (False, [], True), (True, [], False), (True, ["-a"], True), (True, ["--auto-start"], True)])
def test_when_forwarding_begins(interactive, options, forwards):
    frame = pk.udp_frame(UNKNOWN, H1, size=100)
    ports = {"U": PcapPort(), "A": PcapPort([frame])}
    vtep = Vtep(ports, CONFIG, interactive=interactive, options=options)
    try:
        vtep.open(forward=False)
        if forwards:
            vtep.settle(1)
        else:
            time.sleep(0.2)
            assert vtep.stats()["received"] == 0
            vtep.cli("start")
            vtep.settle(1)
        vtep.finish()
        assert frame in [f[50:] for f in ports["U"].sent()]
    finally:
        vtep.kill()


def test_commands_from_a_pipe():
    """With -i and no terminal: commands without echo or prompt noise; the end of the pipe quits."""
    folder = "/tmp/vxbb-pipe-%d" % os.getpid()
    done = subprocess.run(
        [harness.BINARY, *eal_arguments(os.path.basename(folder)), "--vdev", "net_null0", "--vdev",
         "net_null1", "--", "-i", "--cli-socket", folder + ".sock"],
        input="vni add 4242\nnosuch\nshow vni\n", capture_output=True, text=True,
        timeout=20 * harness.SLOW, check=False)
    assert done.returncode == 0
    assert "4242" in done.stdout and "vni add 4242" not in done.stdout
    assert sum(l.startswith("error: ") for l in (done.stdout + done.stderr).split("\n")) == 1


@pytest.mark.parametrize("before_dashes", [True, False])
def test_help_for_everyone(before_dashes):
    """--help: no root, no hugepages, no EAL arguments."""
    copy = "/tmp/vxbb-help-%d" % os.getpid()
    shutil.copy(harness.BINARY, copy)
    os.chmod(copy, 0o755)
    try:
        done = subprocess.run([copy, *([] if before_dashes else ["--"]), "--help"], cwd="/",
                              capture_output=True, text=True, timeout=20, user=65534,
                              group=65534, extra_groups=[], check=False)
    finally:
        os.unlink(copy)
    assert done.returncode == 0, done.stderr
    for option in ("--mtu", "--underlay", "--access", "--local", "--cmdline-file", "--cli-socket",
                   "--max-macs", "-i"):
        assert option in done.stdout


def test_startup_with_no_huge(monkeypatch):
    """No hugepages: said in one line by whoever starts it; --no-huge works."""
    monkeypatch.setattr(Space, "hugepages", False)
    with Vtep(files()) as vtep:
        vtep.cli("show memory")
