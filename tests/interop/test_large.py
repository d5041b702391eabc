# SPDX-License-Identifier: BSD-3-Clause
"""Inner frames up to the largest, 65,499 bytes, with a tenant that is a DPDK program on vhost-user
(no device of the kernel carries them): dpdk_tenant.c.

    dpdk_tenant                                  dpdk-vxlan
    virtio-user 0 ------------------ vhost-user  access
    virtio-user 1, a mirror -------- vhost-user  underlay: MTU 65535, 9000 or 1500

and with a Linux kernel as the peer, which answers echo requests of its own tenant address:

    virtio-user 0 ------------------ vhost-user  access
                                         net_pcap u0 ---- p0 192.0.2.2  vxlan100 198.51.100.2
"""
import ctypes
import os
import subprocess
import tempfile

import pytest

from lab import BUILD, CLONE_NEWNET, CPUS, LIBC, SLOW, Hugepages, Space, Vtep

PROGRAM = BUILD + "/tests/interop/dpdk_tenant"
LARGEST = 65499
TENANT_MAC, MIRROR_MAC = "02:00:00:00:00:a1", "02:00:00:00:00:b2"
CONFIG = """\
address add 192.0.2.1/24 port {U}
vni add 100
access add {A} vni 100
flood add 192.0.2.2 vni 100
set reassembly timeout 2000
"""
NEIGHBOUR = "neigh add 192.0.2.2 02:00:00:00:00:c3 port {U}\n"


class VhostPort:
    """The program's end of a virtio device in another process."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="vxhost-")
        self.path = self.folder + "/sock"
        self.name = None

    def open(self, index, _space):
        self.name = f"net_vhost{index}"
        return f"{self.name},iface={self.path}"

    def close(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        if os.path.exists(self.folder):
            os.rmdir(self.folder)


class LivePort:
    """A kernel interface through net_pcap, which shows fragments as they come."""

    def __init__(self, interface):
        self.interface, self.name = interface, None

    def open(self, index, _space):
        self.name = f"net_pcap{index}"
        return f"{self.name},rx_iface_in={self.interface},tx_iface={self.interface}"

    def close(self):
        pass


class Inside:
    """The namespace in which the program runs."""

    def __init__(self, name):
        self.fd = os.open("/run/netns/" + name, os.O_RDONLY)

    def enter(self):
        if LIBC.setns(self.fd, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


@pytest.fixture(autouse=True)
def hugepages():
    """Both processes: virtio-user needs memory that it can share."""
    pages = Hugepages(256)
    if not pages.available:
        pages.close()
        pytest.skip("no 256 hugepages of 2 MiB: virtio-user cannot share other memory")
    Space.hugepages = True
    yield
    Space.hugepages, Space.namespace = False, None
    pages.close()


def tenant(vtep, sizes, count, peer=MIRROR_MAC, window=8):
    """{size: (sent, answered, wrong)} of @count echo requests of each size, at most @window of them
    on their way at once."""
    prefix = os.path.basename(vtep.folder) + "-tenant"
    argv = [PROGRAM, "-l", str(CPUS[0]), "--no-pci", "--in-memory", "--single-file-segments",
            "--file-prefix", prefix, "--no-telemetry", "--log-level=warning"]
    for number, port in enumerate((vtep.ports["A"], vtep.ports["U"])):
        if isinstance(port, VhostPort):
            argv += ["--vdev", f"net_virtio_user{number},path={port.path},queue_size=1024"]
    result = subprocess.run(argv + ["--", TENANT_MAC, peer, str(window),
                             str(count), *map(str, sizes)],
                            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=60 * SLOW, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    found = {}
    for line in result.stdout.split("\n"):
        numbers = line.split()
        if len(numbers) == 4 and all(map(str.isdigit, numbers)):
            found[int(numbers[0])] = tuple(map(int, numbers[1:]))
    return found


def drops(vtep):
    """All but what is sent while no tenant's process is there: announcements of our own, and its
    first requests. (That no later frame is lost shows in its answers.)"""
    found = vtep.drops()
    for reason in ("tx_full", "tx_port_down"):
        found.pop(reason, None)
    return found


def around(*sizes):
    return [size + by for size in sizes for by in (-1, 0, 1)]


@pytest.mark.parametrize("underlay", [65535, 9000, 1500])
def test_up_to_the_largest_frame(underlay):
    """Every frame there and back with its bytes; one byte more is refused by name."""
    ports = {"U": VhostPort(), "A": VhostPort()}
    # fits exactly and one byte over; every buffer full; the largest
    sizes = around(1514, 2048, 4096, 9014, 16128, underlay - 36 if underlay < 65535 else 60000,
                   32768, 65000, LARGEST - 1)
    with Vtep(ports, CONFIG + NEIGHBOUR, mtu=65485, underlay_mtu=underlay) as vtep:
        found = tenant(vtep, sizes, 20)
        assert found == {size: (20, 20, 0) for size in sizes}, vtep.drops()
        assert not drops(vtep)
        stats = vtep.stats()
        large = 20 * sum(size > underlay - 36 for size in sizes)
        assert stats["fragmented"] == large and stats["reassembled"] == large
        assert tenant(vtep, [LARGEST + 1, 100], 3) == {LARGEST + 1: (3, 0, 0), 100: (3, 3, 0)}
        assert drops(vtep) == {"inner_too_big": 3}


@pytest.mark.parametrize("phys", [9000, 1500])
def test_with_a_kernel_peer(make_lab, phys):
    """The kernel reassembles, answers, and fragments again."""
    lab = make_lab(inner=65485, phys=phys, program=False)
    Space.namespace = Inside(lab.namespace("dut"))
    lab.run("peer", "ip", "route", "change", "198.51.100.0/24", "dev", "vxlan100", "mtu", "lock",
            "65485")
    lab.run("peer", "ip", "neigh", "replace", "198.51.100.1", "lladdr", TENANT_MAC, "dev",
            "vxlan100")
    ports = {"U": LivePort("u0"), "A": VhostPort()}
    sizes = [60, 1514, 9014, 30000, 65000, LARGEST]
    with Vtep(ports, CONFIG, mtu=65485, underlay_mtu=phys) as vtep:
        # One at a time, that no buffer of the kernel on the way can overflow.
        found = tenant(vtep, sizes, 20, lab.mac("peer", "vxlan100"), window=1)
        assert found == {size: (20, 20, 0) for size in sizes}, vtep.drops()
        stats = vtep.stats()
        assert stats["fragmented"] >= 60 and stats["reassembled"] >= 60
