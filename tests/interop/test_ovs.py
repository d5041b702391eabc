# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch's user-space datapath as the peer, in place of the Linux kernel's VXLAN.

    tenant                      dut                               peer
    t0 198.51.100.1 ---- a0  dpdk-vxlan  u0 ---- p0 on br-phy 192.0.2.2
                                                 vxlan0 on br-int 198.51.100.2

Both bridges are of datapath_type netdev: Open vSwitch encapsulates itself. It sends no packet over
the physical MTU and reassembles none. Its two daemons are ours, with their own database and sockets
in the laboratory's folder.
"""
import os
import re
import shutil
import signal
import subprocess

import pytest

from lab import TENANT, off_worker, peer_inner, peer_outer, until

NEEDS = ["ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-appctl"]
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
MISSING = [name for name in NEEDS if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{', '.join(MISSING)} not installed (Debian: openvswitch-switch)")


class OpenVswitch:
    """ovsdb-server and ovs-vswitchd in the peer's namespace, both in the foreground."""

    def __init__(self, lab):
        self.lab, self.folder = lab, lab.folder + "/ovs"
        os.mkdir(self.folder)
        self.environment = dict(os.environ, **{
            name: self.folder for name in ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR",
                                           "OVS_SYSCONFDIR")})
        self.daemons = []

    def _daemon(self, name, *arguments):
        with open(f"{self.folder}/{name}.out", "wb") as out:
            self.daemons.append(subprocess.Popen(
                ["ip", "netns", "exec", self.lab.namespace("peer"), name, *arguments,
                 f"--unixctl={self.folder}/{name}.ctl", "--no-chdir",
                 f"--log-file={self.folder}/{name}.log", "-vconsole:off"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                env=self.environment, preexec_fn=off_worker))

    def _run(self, *argv, check=True):
        result = subprocess.run(argv, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, timeout=30, env=self.environment,
                                check=False)
        assert not check or result.returncode == 0, f"{' '.join(argv)}: {result.stdout}"
        return result.stdout

    def control(self, *words):
        return self._run("ovs-appctl", "-t", self.folder + "/ovs-vswitchd.ctl", *words)

    def configure(self, *words):
        return self._run("ovs-vsctl", f"--db=unix:{self.folder}/db.sock", "--timeout=15", *words)

    def up(self):
        self._run("ovsdb-tool", "create", self.folder + "/conf.db", SCHEMA)
        self._daemon("ovsdb-server", self.folder + "/conf.db",
                     f"--remote=punix:{self.folder}/db.sock")
        until(lambda: os.path.exists(self.folder + "/db.sock"), "ovsdb-server's socket")
        self.configure("--no-wait", "init")
        self._daemon("ovs-vswitchd", f"unix:{self.folder}/db.sock")
        until(lambda: os.path.exists(self.folder + "/ovs-vswitchd.ctl"), "ovs-vswitchd's socket")
        return self

    def join(self):
        """Bridges, tunnel and addresses, in place of what the laboratory has made for the kernel."""
        run, lab = self.lab.run, self.lab
        run("peer", "ip", "link", "delete", "vxlan100")
        run("peer", "ip", "address", "flush", "dev", "p0")
        self.configure("add-br", "br-phy", "--", "set", "bridge", "br-phy", "datapath_type=netdev",
                       "--", "add-port", "br-phy", "p0",
                       "--", "set", "interface", "br-phy", f"mtu_request={lab.phys}",
                       "--", "add-br", "br-int", "--", "set", "bridge", "br-int",
                       "datapath_type=netdev",
                       "--", "set", "interface", "br-int", f"mtu_request={lab.inner}",
                       "--", "add-port", "br-int", "vxlan0", "--", "set", "interface", "vxlan0",
                       "type=vxlan", "options:remote_ip=192.0.2.1", "options:key=100")
        for bridge, address, mtu in (("br-phy", peer_outer(), lab.phys),
                                     ("br-int", peer_inner(), lab.inner)):
            run("peer", "ip", "address", "add", address + "/24", "dev", bridge)
            run("peer", "ip", "link", "set", bridge, "mtu", str(mtu), "up")
            run("peer", "ethtool", "-K", bridge, "tx", "off", check=False)

    def learned(self):
        """{MAC: port} of the inner bridge."""
        return {mac: port for port, mac in re.findall(
            r"^\s*(\S+)\s+\d+\s+([0-9a-f:]{17})", self.control("fdb/show", "br-int"), re.M)}

    def port_number(self, name):
        return self.configure("get", "interface", name, "ofport").strip()

    def down(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


@pytest.fixture(name="ovs")
def fixture_ovs(request, make_lab):
    inner, phys = request.param
    lab = make_lab(inner=inner, phys=phys)
    ovs = OpenVswitch(lab)
    try:
        ovs.up().join()
        lab.until_ping(timeout=20)
        yield ovs
    finally:
        ovs.down()


both_mtus = pytest.mark.parametrize("ovs", [(1500, 1600), (8900, 9000)], indirect=True,
                                    ids=["1500", "8900"])


@both_mtus
def test_open_vswitch(ovs):
    """One set-up, all questions: it takes longer to start than to ask."""
    lab = ovs.lab
    # every size it carries, both ways, begun by either side
    lab.ping_sizes(range(28, lab.inner + 1, 7 if lab.inner <= 1500 else 61))
    lab.ping_sizes(range(lab.inner - 3, lab.inner + 1))
    lab.ping_sizes(range(lab.inner - 3, lab.inner + 1), TENANT, "peer")
    # both learn: its address here, our tenant's there
    mac = lab.mac("peer", "br-int")
    assert lab.fdb()[mac].vtep == peer_outer()
    assert ovs.learned()[lab.mac("tenant", "t0")] == ovs.port_number("vxlan0")
    # and after forgetting they learn again
    lab("fdb flush")
    ovs.control("fdb/flush", "br-int")
    lab.until_ping()
    assert lab.fdb()[mac].vtep == peer_outer()
    # (it notes a source only when it makes or reconsiders a flow)
    until(lambda: lab.ping() and lab.mac("tenant", "t0") in ovs.learned(), "the tenant's MAC")
    lab.iperf_server()
    for direction in ([], ["-R"]):
        end = lab.iperf("-C", "cubic", *direction)
        assert end["sum_received"]["bytes"] > 1_000_000, f"hardly anything came through: {end}"
        print("%s %.2f Gbit/s" % (direction, end["sum_received"]["bits_per_second"] / 1e9))
    assert not set(lab.drops()) & {"outer_ip_length", "outer_udp_checksum", "inner_too_big",
                                   "access_cut", "frag_bad"}, lab.drops()
