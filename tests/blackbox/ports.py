# SPDX-License-Identifier: BSD-3-Clause
"""The devices that stand for the network: pcap files (any frame, once) and pairs of veth ends or a
tap in a network namespace of our own (sequences in time). Plus hugepages and the namespace."""
import ctypes
import os
import select
import socket
import struct
import subprocess
import time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
SOL_PACKET, PACKET_IGNORE_OUTGOING, SO_RCVBUFFORCE, ETH_P_ALL = 263, 23, 33, 3
PACKET_AUXDATA, TP_STATUS_VLAN_VALID = 8, 1 << 4


def run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def pcap_read(path):
    with open(path, "rb") as file:
        data = file.read()
    frames, offset = [], 24
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    while offset + 16 <= len(data):
        size = struct.unpack(order + "I", data[offset + 8:offset + 12])[0]
        frames.append(data[offset + 16:offset + 16 + size])
        offset += 16 + size
    return frames


def pcap_write(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        file.write(b"".join(struct.pack("<IIII", 0, 0, len(f), len(f)) + f for f in frames))


class Namespace:
    """A network namespace in which nothing but the tests speaks."""

    def __init__(self):
        self.name = "vxbb%d" % os.getpid()
        run("ip", "netns", "add", self.name)
        self.fd = os.open("/run/netns/" + self.name, os.O_RDONLY)
        self.inside(self._silence)

    @staticmethod
    def _silence():
        for where in ("all", "default"):
            path = "/proc/sys/net/ipv6/conf/%s/disable_ipv6" % where
            if os.path.exists(path):
                with open(path, "w", encoding="ascii") as file:
                    file.write("1")

    def enter(self):
        """For a child process before it runs the program."""
        if LIBC.setns(self.fd, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def inside(self, function, *args):
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        try:
            self.enter()
            return function(*args)
        finally:
            LIBC.setns(home, CLONE_NEWNET)
            os.close(home)

    def ip(self, *argv):
        run("ip", "-n", self.name, *argv)

    def close(self):
        os.close(self.fd)
        run("ip", "netns", "del", self.name)


class Hugepages:
    """Reserve 2 MiB pages for the run if they are not there, and give them back."""
    PATH = "/sys/kernel/mm/hugepages/hugepages-2048kB/"

    def __init__(self, need):
        self.added = 0
        try:
            missing = need - self._get("free_hugepages")
            if missing > 0:
                before = self._get("nr_hugepages")
                self._set(before + missing)
                self.added = self._get("nr_hugepages") - before
            self.available = self._get("free_hugepages") >= need
        except OSError:
            self.available = False

    def _get(self, name):
        with open(self.PATH + name, encoding="ascii") as file:
            return int(file.read())

    def _set(self, count):
        with open(self.PATH + "nr_hugepages", "w", encoding="ascii") as file:
            file.write(str(count))

    def close(self):
        if self.added:
            self._set(max(0, self._get("nr_hugepages") - self.added))


class PcapPort:
    """A port that receives @frames once (or for ever) and writes what it is given to a file."""
    def __init__(self, frames=(), infinite=False, sink=False):
        self.frames, self.infinite, self.sink = list(frames), infinite, sink
        self.name = self.mac = self.tx = None

    def open(self, index, pcap_index, folder):
        self.name = "net_pcap%d" % index
        # net_pcap numbers its MAC addresses in the order of creation
        self.mac = bytes.fromhex("0270636170") + bytes([pcap_index])
        receive, self.tx = "%s/%d.rx.pcap" % (folder, index), "%s/%d.tx.pcap" % (folder, index)
        pcap_write(receive, [bytes(f) for f in self.frames])
        text = "%s,rx_pcap=%s" % (self.name, receive)
        if not self.sink:
            text += ",tx_pcap=" + self.tx
        return text + (",infinite_rx=1" if self.infinite else "")

    def sent(self):
        """What the program sent; complete once it has ended."""
        return pcap_read(self.tx)

    def close(self):
        pass


def is_discovery(frame):
    """ARP, IPv6 neighbour discovery, or the MLD report of the groups that this listens to."""
    if frame[12:14] != b"\x86\xdd":
        return frame[12:14] == b"\x08\x06"
    return frame[:6] == b"\x33\x33\0\0\0\x16" or frame[20] == 58 and 133 <= frame[54] <= 137


class _SocketPort:
    """A port whose other end is a raw socket in the namespace."""

    def __init__(self):
        self.name = self.mac = self.sock = None
        self.arps, self.early = [], []
        self.is_underlay = False

    def _open_socket(self, space, interface):
        def make():
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
            sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
            sock.bind((interface, ETH_P_ALL))
            return sock
        self.sock = space.inside(make)

    def send(self, *frames):
        for frame in frames:
            while True:
                try:
                    self.sock.send(frame)
                    break
                except OSError as error:  # a full queue of the device: not lost, just later
                    if error.errno != 105:
                        raise
                    time.sleep(0.001)

    def receive(self, count=1, timeout=5.0):
        """Up to @count frames, waiting at most @timeout for the last of them. An underlay port's
        ARP and ND come when they like (announcements, refreshing) and are put aside into
        self.arps."""
        end = time.monotonic() + timeout
        frames, self.early = self.early[:count], self.early[count:]
        while len(frames) < count:
            frame = self._next(end - time.monotonic())
            if frame is None:
                break
            if self.is_underlay and is_discovery(frame):
                self.arps.append(frame)
            else:
                frames.append(frame)
        return frames

    def _next(self, timeout):
        if timeout < 0 or not select.select([self.sock], [], [], timeout)[0]:
            return None
        frame, extra, _, _ = self.sock.recvmsg(70000, 128)
        for level, kind, data in extra:
            if level == SOL_PACKET and kind == PACKET_AUXDATA:
                # the kernel takes the outer VLAN tag out of a frame and tells it apart
                status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", data)
                if status & TP_STATUS_VLAN_VALID:
                    frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
        return frame

    def receive_arp(self, wanted, timeout=5.0):
        """The first ARP or ND packet for which @wanted(frame) holds; None: it did not come."""
        end = time.monotonic() + timeout
        while True:
            for i, frame in enumerate(self.arps):
                if wanted(frame):
                    del self.arps[:i + 1]
                    return frame
            if time.monotonic() > end:
                return None
            frame = self._next(0.05)
            if frame is not None:
                (self.arps if is_discovery(frame) else self.early).append(frame)

    def pending(self, quiet=0.15):
        """Everything that arrives until nothing has come for @quiet seconds."""
        frames = []
        while True:
            more = self.receive(1, quiet)
            if not more:
                return frames
            frames += more


class VethPort(_SocketPort):
    """net_af_packet on one end of a veth pair, a raw socket on the other."""
    # devargs per kernel MTU (a frame must fit into framesz, a block holds whole frames)
    RINGS = {1500: "framesz=2048,blocksz=65536,framecnt=4096",
             9000: "framesz=9216,blocksz=36864,framecnt=1024"}
    MBUF = {1500: 2176, 9000: 9600}

    def __init__(self, mtu=1500, mac=None, ring=None):
        super().__init__()
        self.mtu, self.wanted_mac, self.ring = mtu, mac, ring or mtu

    def open(self, index, space):
        self.near, self.far = "vx%d" % index, "far%d" % index
        self.space = space
        space.ip("link", "add", self.near, "type", "veth", "peer", "name", self.far)
        raw = self.wanted_mac or bytes([2, 0, 0, 0, 0xd0, index])
        space.ip("link", "set", self.near, "address", ":".join("%02x" % b for b in raw))
        for end in (self.near, self.far):
            space.ip("link", "set", end, "mtu", str(self.mtu), "up")
        self.mac, self.name = raw, "net_af_packet%d" % index
        self._open_socket(space, self.far)
        return "%s,iface=%s,%s" % (self.name, self.near, self.RINGS[self.ring])

    def close(self):
        if self.sock is not None:
            self.sock.close()
            self.space.ip("link", "del", self.near)


class PcapLivePort(_SocketPort):
    """net_pcap on one end of a veth pair: unlike net_af_packet it shows received fragments as they
    are. For the only port of this kind: net_pcap numbers its MAC addresses from 0."""

    def __init__(self, mtu=1500):
        super().__init__()
        self.mtu = mtu

    def open(self, index, space):
        self.near, self.far = "vx%d" % index, "far%d" % index
        self.space = space
        space.ip("link", "add", self.near, "type", "veth", "peer", "name", self.far)
        for end in (self.near, self.far):
            space.ip("link", "set", end, "mtu", str(self.mtu), "up")
        self.mac, self.name = bytes.fromhex("027063617000"), "net_pcap%d" % index
        self._open_socket(space, self.far)
        return "%s,rx_iface_in=%s,tx_iface=%s" % (self.name, self.near, self.near)

    def close(self):
        if self.sock is not None:
            self.sock.close()
            self.space.ip("link", "del", self.near)


class TapPort(_SocketPort):
    """net_tap; the raw socket is on the kernel's interface, made when the program starts."""

    def open(self, index, space):
        self.space, self.interface = space, "dtap%d" % index
        self.name = "net_tap%d" % index
        self.mac = bytes([2, 0, 0, 0, 0xd1, index])
        return "%s,iface=%s,mac=%s" % (self.name, self.interface,
                                       ":".join("%02x" % b for b in self.mac))

    def attach(self):
        """Once the program runs: a queue as long as the bursts that the tests send."""
        self.space.ip("link", "set", self.interface, "txqueuelen", "4000", "up")
        self._open_socket(self.space, self.interface)

    def close(self):
        if self.sock is not None:
            self.sock.close()
