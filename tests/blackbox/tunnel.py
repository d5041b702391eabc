# SPDX-License-Identifier: BSD-3-Clause
"""
The set-up that most tests share, after the public cases:

    H1 ── A ┌──────────┐ U ── 192.0.2.2 R2 ── H2
      ── A2 │ 192.0.2.1│   ── 192.0.2.3 R3 ── H3
       ── C └──────────┘   ── 192.0.2.4 R4
    A, A2: VNI 100; C: VNI 200

and the two ways to use it: files in and out at once (run_files), or a sequence (Live).
"""
import packets as pk
from ports import PcapLivePort, PcapPort, VethPort, is_discovery
from vtep import Vtep

OWN = pk.mac("02:00:00:00:00:01")
LOCAL = "192.0.2.1"
R2, R3, R4 = "192.0.2.2", "192.0.2.3", "192.0.2.4"
REMOTE_MAC = {R2: pk.mac("02:00:00:00:00:02"), R3: pk.mac("02:00:00:00:00:03"),
              R4: pk.mac("02:00:00:00:00:04")}
H1, H2, H3 = (pk.mac("02:00:00:00:%s" % tail) for tail in ("0a:01", "0b:02", "0b:03"))
UNKNOWN = pk.mac("02:00:00:00:ee:ee")  # a MAC that nobody ever speaks from
PCAP_MAC = pk.mac("02:70:63:61:70:00")  # of the first net_pcap port

BASE = """address add 192.0.2.1/24 port {U}
vni add 100
access add {A} vni 100
"""
NEIGHBOURS = "".join("neigh add %s %s port {U}\n" % (ip, pk.mac_text(mac))
                     for ip, mac in REMOTE_MAC.items())
CONFIG = BASE + NEIGHBOURS + "flood add 192.0.2.2 vni 100\n"
THREE = CONFIG + "flood add 192.0.2.3 vni 100\nflood add 192.0.2.4 vni 100\n"
VNI200 = "vni add 200\naccess add {C} vni 200\n"

# One good packet each way: addressed to nobody known, so that it reaches every port in question
LIVE_FROM_U = pk.ethernet(UNKNOWN, pk.mac("02:00:00:00:0b:99"), 0x88b5, b"live from U".ljust(50))
LIVE_FROM_A = pk.ethernet(UNKNOWN, pk.mac("02:00:00:00:0a:99"), 0x88b5, b"live from A".ljust(50))


def encapsulated(inner, *, vni=100, src=R2, dst=LOCAL, smac=None, dmac=PCAP_MAC, sport=50000,
                 dport=pk.VXLAN_PORT, vx=None, ip_fields=None, udp_fields=None):
    """@inner as remote VTEP @src would send it; the dictionaries break single fields."""
    payload = pk.vxlan(vni, inner, **(vx or {}))
    datagram = pk.udp(src, dst, sport, dport, payload, **(udp_fields or {}))
    return pk.ethernet(dmac, smac or REMOTE_MAC.get(src, REMOTE_MAC[R2]), 0x0800,
                       pk.ipv4(src, dst, 17, datagram, **(ip_fields or {})))


def to_port(frame, mac=PCAP_MAC):
    """A frame of the cases, with the port's own address where they have 02:00:00:00:00:01."""
    return b"".join(mac if part == OWN else part for part in (frame[:6], frame[6:12])) + frame[12:]


class Result:
    """What a run of files gave: frames out by port (without the liveness frames), counters."""

    def __init__(self, out, stats, drops, fdb):
        self.out, self.stats, self.drops, self.fdb = out, stats, drops, fdb
        # ARP and ND of the program's own come when they like
        self.arps = [frame for frame in out["U"] if is_discovery(frame)]
        out["U"] = [frame for frame in out["U"] if not is_discovery(frame)]

    def outers(self, label="U"):
        return [pk.Outer(frame) for frame in self.out[label]]

    def whole(self, mtu=1500):
        """(datagrams that left U after reassembly, the sizes of the pieces of each)."""
        frames, sizes = pk.reassemble(self.out["U"], mtu)
        return [pk.Outer(frame) for frame in frames], sizes


def flood_list(config):
    """The remotes of VNI 100 that @config floods to."""
    return [line.split()[2] for line in config.split("\n")
            if line.startswith("flood add") and line.split()[-1] == "100"]


def run_files(inputs, config=CONFIG, *, drops=None, live=True, udp_port=pk.VXLAN_PORT,
              **vtep_arguments):
    """
    Feed {"U": frames, "A": frames, …} through pcap ports at once, then stop.
    @drops: exactly these drop counters. @live: append the liveness frames and see them arrive.
    """
    inputs = {"U": [], "A": [], **{label: list(frames) for label, frames in inputs.items()}}
    inputs["U"] = [to_port(frame) for frame in inputs["U"]]
    if live:
        inputs["U"].append(encapsulated(LIVE_FROM_U, dport=udp_port))
        inputs["A"].append(LIVE_FROM_A)
    ports = {label: PcapPort(frames) for label, frames in inputs.items()}
    with Vtep(ports, config, **vtep_arguments) as vtep:
        vtep.settle(sum(map(len, inputs.values())))
        # what waits for fragments that never come is given up, and shows as a drop only then
        vtep.until(lambda: vtep.stats()["held"] == 0, "nothing held any more")
        stats = vtep.stats()
        found, fdb = vtep.drops(), vtep.fdb()
        vtep.finish()
        result = Result({label: port.sent() for label, port in ports.items()}, stats, found, fdb)
    if live:
        take_liveness(result.out, config, udp_port)
        for frame in (LIVE_FROM_A, LIVE_FROM_U):
            fdb.pop(pk.mac_text(frame[6:12]), None)
    if drops is not None:
        assert found == drops, "drops are %s, expected %s" % (found, drops)
    assert stats["dropped"] == sum(found.values())
    return result


def take_liveness(out, config, udp_port):
    """Remove the liveness frames from @out; fails where one did not arrive exactly once."""
    remotes = flood_list(config)
    tunnel = [frame for frame in out["U"] if frame[50:] == LIVE_FROM_A]
    assert sorted(pk.Outer(f, udp_port).dst for f in tunnel) == sorted(remotes), \
        "liveness from A: %d copies, expected one to each of %s" % (len(tunnel), remotes)
    out["U"] = [frame for frame in out["U"] if frame[50:] != LIVE_FROM_A]
    for label, frames in out.items():
        if label.startswith("A"):
            assert frames.count(LIVE_FROM_U) == 1, "liveness from U on %s: %d times" % (
                label, frames.count(LIVE_FROM_U))
            out[label] = [f for f in frames if f not in (LIVE_FROM_U, LIVE_FROM_A)]


class Live(Vtep):
    """The same set-up on veth pairs: frames are sent and awaited one after the other."""

    def __init__(self, config=CONFIG, labels=("U", "A"), device_mtu=1500, takes_fragments=False,
                 **arguments):
        ports = {label: VethPort(device_mtu, OWN if label == "U" else None) for label in labels}
        if takes_fragments:
            ports["U"] = PcapLivePort(device_mtu)
            arguments.setdefault("underlay_mtu", device_mtu)
        ports["U"].is_underlay = True
        super().__init__(ports, config, **arguments)

    def from_remote(self, inner, src=R2, **fields):
        """@inner arrives from remote @src."""
        self.ports["U"].send(encapsulated(inner, src=src, dmac=self.ports["U"].mac, **fields))

    def on(self, label, *frames, strict=True):
        """Exactly @frames leave port @label next (in any order), and nothing more."""
        got = self.ports[label].receive(len(frames))
        assert sorted(got) == sorted(map(bytes, frames)), "on %s: %s, expected %s" % (
            label, [f.hex() for f in got], [f.hex() for f in frames])
        if strict:
            self.silent(label)

    def silent(self, *labels):
        for label in labels:
            got = self.ports[label].pending(0.05)
            assert not got, "unexpected on %s: %s" % (label, [f.hex() for f in got])

    def to_remotes(self, inner, *remotes, strict=True):
        """@inner leaves U encapsulated, once to each of @remotes and to nobody else."""
        outers = [pk.Outer(f) for f in self.ports["U"].receive(len(remotes))]
        assert sorted(o.dst for o in outers) == sorted(remotes), (
            "sent to %s, expected %s; drops: %s" % ([o.dst for o in outers], list(remotes),
                                                    self.drops()))
        assert all(o.inner == inner for o in outers)
        if strict:
            self.silent("U")
        return outers

    def learned(self, mac, vtep=None, vni=100):
        """Wait until @mac is in the FDB: behind remote @vtep, or on a port if None."""
        def there():
            entry = self.fdb("vni %d" % vni).get(pk.mac_text(mac))
            return entry is not None and entry.vtep == vtep
        self.until(there, "%s learned behind %s" % (pk.mac_text(mac), vtep or "a port"))

    def forgotten(self, mac, timeout=5.0):
        self.until(lambda: pk.mac_text(mac) not in self.fdb(), "%s gone" % pk.mac_text(mac),
                   timeout)

    def liveness(self):
        """One good packet each way passes."""
        self.silent(*self.ports)
        self.from_remote(LIVE_FROM_U)
        attached = [label for label in self.ports if label.startswith("A")]
        for label in attached:
            self.on(label, LIVE_FROM_U)
        self.ports["A"].send(LIVE_FROM_A)
        got = self.ports["U"].receive(len(flood_list(self.config)))
        assert got and all(pk.Outer(frame).inner == LIVE_FROM_A for frame in got)

    def finish(self):
        if self.check and self.live_at_end:
            self.liveness()
        super().finish()

    live_at_end = True
