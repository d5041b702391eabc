# SPDX-License-Identifier: BSD-3-Clause
"""A packet's way through the program, compared byte for byte."""
import subprocess

import pytest

import packets as pk
from ports import PcapPort, VethPort
from tunnel import (BASE, CONFIG, H1, H2, H3, LOCAL, OWN, PCAP_MAC, R2, R3, R4, REMOTE_MAC, THREE,
                    UNKNOWN, VNI200, Live, encapsulated, run_files)
from vtep import Vtep

JUMBO = {"mtu": 8900, "underlay_mtu": 9000}
SIZES = [14, 15, 18, 42, 59, 60, 61, 64, 128, 590, 1024, 1463, 1464]
JUMBO_SIZES = [1465, 1514, 1919, 1920, 1921, 1985, 1997, 1998, 1999, 2000, 2047, 2048, 2049, 2175,
               2176, 2177, 3967, 3968, 4095, 4096, 4097, 6000, 8191, 8192, 8193, 8900, 8913, 8914]


def frame_of(size, dst=UNKNOWN, src=H1):
    """A frame of exactly @size bytes: raw Ethernet where UDP does not fit."""
    if size < 64:
        return pk.ethernet(dst, src, 0x88b5, pk.pattern(size - 14, size))
    return pk.udp_frame(dst, src, size=size, sport=size)


def expected_outer(inner, outer, *, vni=100, dst=R2, dmac=None, smac=PCAP_MAC, tos=0):
    """The whole frame that must be sent, given the two fields that are the program's choice."""
    return pk.ethernet(dmac or REMOTE_MAC[dst], smac, 0x0800, pk.ipv4(
        LOCAL, dst, 17, pk.udp(LOCAL, dst, outer.sport, 4789, pk.vxlan(vni, inner)),
        ident=outer.ident, tos=tos))


# -- encapsulation and decapsulation --------------------------------------------------------------

@pytest.mark.parametrize("sizes, limits", [(SIZES, {}), (JUMBO_SIZES, JUMBO)],
                         ids=["ordinary", "jumbo"])
def test_encapsulate_exact(sizes, limits):
    """Every byte of the outer header; inner frames as they came, also in chains."""
    frames = [frame_of(size) for size in sizes]
    run = run_files({"A": frames}, drops={}, **limits)
    assert len(run.out["U"]) == len(frames)
    for inner, got, outer in zip(frames, run.out["U"], run.outers()):
        assert got == expected_outer(inner, outer), "inner frame of %d bytes" % len(inner)
        assert 49152 <= outer.sport <= 65535
    assert run.stats["encapsulated"] == len(frames) + 1


@pytest.mark.parametrize("sizes, limits", [(SIZES, {}), (JUMBO_SIZES, JUMBO)],
                         ids=["ordinary", "jumbo"])
@pytest.mark.parametrize("checksum", [False, True], ids=["zero", "udp-checksum"])
def test_decapsulate_exact(sizes, limits, checksum):
    """Inner frames come out as they were, padded with zeros to 60 bytes; what follows the outer
    IP packet is cut off."""
    frames = [frame_of(size, src=H2) for size in sizes]
    wire = [encapsulated(f, udp_fields={"sum_on": checksum}) for f in frames]
    wire += [frame + b"\xee" * 9 for frame in wire[:4]]
    run = run_files({"U": wire}, drops={}, **limits)
    assert run.out["A"] == [pk.padded(f) for f in frames + frames[:4]]
    assert run.stats["decapsulated"] == len(wire) + 1


def test_identification_unique():
    """Of everything sent without DF to one remote; other remotes count for themselves."""
    frames = [pk.udp_frame(UNKNOWN, H1, size=64, sport=i) for i in range(3000)]
    run = run_files({"A": frames}, THREE, drops={})
    for remote in (R2, R3, R4):
        idents = [o.ident for o in run.outers() if o.dst == remote]
        assert len(idents) == 3000 and len(set(idents)) == 3000


def test_inner_df_not_copied():
    run = run_files({"A": [pk.udp_frame(UNKNOWN, H1, size=200, flags=0x4000, ttl=3)]}, drops={})
    outer, = run.outers()
    assert not outer.df and outer.ttl == 64


@pytest.mark.case(47)
def test_udp_checksum_setting():
    frames = [frame_of(size) for size in SIZES]
    run = run_files({"A": frames}, CONFIG + "set udp-checksum on\n", drops={})
    assert [o.inner for o in run.outers()] == frames
    assert all(o.udp_checksum for o in run.outers())
    for setting in ("off", "auto"):  # auto: zero for what is not fragmented
        run = run_files({"A": frames}, CONFIG + "set udp-checksum %s\n" % setting, drops={})
        assert not any(o.udp_checksum for o in run.outers())


def test_source_ports_setting():
    frames = [pk.udp_frame(UNKNOWN, H1, size=64, sport=i) for i in range(200)]
    run = run_files({"A": frames}, CONFIG + "set source-ports 1000 1007\n", drops={})
    assert {o.sport for o in run.outers()} == set(range(1000, 1008))


def test_same_flow_same_port_across_runs_of_size():
    """The source port depends on the flow, not on the length or payload."""
    frames = [pk.udp_frame(UNKNOWN, H1, sport=5, data=pk.pattern(size, size))
              for size in (18, 100, 1000, 1400)]
    run = run_files({"A": frames}, drops={})
    assert len({o.sport for o in run.outers()}) == 1


# -- forwarding -----------------------------------------------------------------------------------

def test_flood_from_access():
    """One copy to every other attachment and every remote, none back."""
    frames = [pk.udp_frame(pk.BROADCAST, H1, size=90), pk.arp(1, H1, "203.0.113.1", bytes(6),
                                                              "203.0.113.2"),
              pk.udp_frame(pk.mac("01:00:5e:00:00:05"), H1, size=90), frame_of(77)]
    run = run_files({"A": frames, "A2": [], "A4": [], "C": []}, THREE + VNI200 +
                    "access add {A2} vni 100\naccess add {A4} vni 100\n", drops={})
    assert run.out["A"] == [] and run.out["C"] == []
    assert run.out["A2"] == run.out["A4"] == frames
    for remote in (R2, R3, R4):
        assert [o.inner for o in run.outers() if o.dst == remote] == frames
    # liveness: from A to 2 ports and 3 remotes, from U to 3 ports
    assert run.stats["flood_copies"] == 4 * len(frames) + 4 + 2
    assert run.stats["flooded"] == len(frames) + 2


def test_flood_from_tunnel():
    """To every attachment, never back into a tunnel."""
    frames = [pk.udp_frame(pk.BROADCAST, H2, size=90), frame_of(40, src=H2)]
    run = run_files({"U": [encapsulated(f) for f in frames], "A2": []},
                    THREE + "access add {A2} vni 100\n", drops={})
    assert run.out["U"] == []
    assert run.out["A"] == run.out["A2"] == [pk.padded(f) for f in frames]


def test_flood_chain_shared():
    """Jumbo frames in chains to ports and remotes at once: every copy intact."""
    frames = [pk.udp_frame(pk.BROADCAST, H1, size=size, sport=size) for size in JUMBO_SIZES]
    back = [encapsulated(pk.udp_frame(pk.BROADCAST, H2, size=size, sport=size))
            for size in JUMBO_SIZES]
    run = run_files({"A": frames, "A2": [], "U": back},
                    THREE + "access add {A2} vni 100\n", drops={}, **JUMBO)
    inner = [f[50:] for f in back]
    assert run.out["A"] == inner
    assert [f for f in run.out["A2"] if f not in inner] == frames
    assert [f for f in run.out["A2"] if f in inner] == inner
    for remote in (R2, R3, R4):
        assert [o.inner for o in run.outers() if o.dst == remote] == frames


def test_static_unicast():
    """Known destinations: a remote, another access port."""
    config = THREE + ("access add {A2} vni 100\nfdb add %s vni 100 vtep 192.0.2.3\n"
                      "fdb add %s vni 100 port {A2}\n" % (pk.mac_text(H3), pk.mac_text(H2)))
    remote, local = frame_of(100, H3), frame_of(100, H2)
    tunnel = encapsulated(frame_of(100, H2, H3), src=R3)
    run = run_files({"A": [remote, local], "A2": [], "U": [tunnel]}, config, drops={})
    assert [(o.dst, o.inner) for o in run.outers()] == [(R3, remote)]
    assert sorted(run.out["A2"]) == sorted([local, tunnel[50:]])
    assert run.out["A"] == []


def test_local_switching_is_not_limited_by_the_underlay():
    """Between two access ports nothing is encapsulated: the inner MTU alone counts."""
    config = CONFIG + "access add {A2} vni 100\nfdb add %s vni 100 port {A2}\n" % pk.mac_text(H2)
    frame = pk.udp_frame(H2, H1, size=1514)
    run = run_files({"A": [frame], "A2": []}, config, drops={}, underlay_mtu=1500)
    assert run.out["A2"] == [frame] and run.out["U"] == []


def test_learning_both_sides():
    with Live(THREE + "access add {A2} vni 100\n", ("U", "A", "A2")) as vtep:
        hello = frame_of(100, pk.BROADCAST, H2)
        vtep.from_remote(hello, R3)
        vtep.on("A", hello)
        vtep.on("A2", hello)
        vtep.learned(H2, R3)
        reply = frame_of(100, H2, H1)
        vtep.ports["A"].send(reply)
        outer, = vtep.to_remotes(reply, R3)
        assert outer.dst_mac == REMOTE_MAC[R3] and outer.src_mac == OWN
        vtep.silent("A2")
        vtep.learned(H1)
        answer = frame_of(100, H1, H2)
        vtep.from_remote(answer, R3)
        vtep.on("A", answer)
        vtep.silent("A2", "U")
        across = frame_of(100, H1, H3)
        vtep.ports["A2"].send(across)
        vtep.on("A", across)
        vtep.silent("U")


def test_learning_switched_off():
    with Live() as vtep:
        vtep.run("set learning off vni 100")
        hello = frame_of(100, pk.BROADCAST, H2)
        for _ in range(3):
            vtep.from_remote(hello)
            vtep.on("A", hello)
        assert not vtep.fdb()
        vtep.run("set learning on vni 100")
        vtep.from_remote(hello)
        vtep.on("A", hello)
        vtep.learned(H2, R2)


def test_static_wins_over_learning():
    with Live(CONFIG + "fdb add %s vni 100 vtep 192.0.2.2\n" % pk.mac_text(H2)) as vtep:
        hello = frame_of(100, pk.BROADCAST, H2)
        vtep.from_remote(hello, R3)
        vtep.on("A", hello)
        vtep.until(lambda: vtep.stats()["static_conflict"] >= 1, "the conflict is counted")
        entry = vtep.fdb()[pk.mac_text(H2)]
        assert entry.static and entry.vtep == R2


def test_segments_are_isolated():
    """The same MACs in two segments lead to different places."""
    config = CONFIG + VNI200 + "flood add 192.0.2.3 vni 200\n" + "".join(
        "fdb add %s vni %d vtep %s\n" % (pk.mac_text(H2), vni, remote)
        for vni, remote in ((100, R2), (200, R3)))
    frame = frame_of(100, H2)
    run = run_files({"A": [frame], "C": [frame]}, config, drops={})
    assert sorted((o.vni, o.dst) for o in run.outers()) == [(100, R2), (200, R3)]
    broadcast = pk.udp_frame(pk.BROADCAST, H2, size=80)
    run = run_files({"U": [encapsulated(broadcast, vni=200, src=R3)], "C": []}, config, drops={})
    assert run.out["C"] == [broadcast] and run.out["A"] == []


def test_two_underlay_addresses():
    """`vni add … local` chooses the outer source; both addresses are decapsulated."""
    config = CONFIG.replace("vni add 100", "address add 192.0.2.50/24 port {U}\n"
                            "vni add 100 local 192.0.2.50")
    run = run_files({"A": [frame_of(100)], "U": [encapsulated(frame_of(100), dst="192.0.2.50")]},
                    config, drops={})
    assert [o.src for o in run.outers()] == ["192.0.2.50"]
    assert run.out["A"] == [frame_of(100)]


def test_order_is_kept():
    frames = [pk.udp_frame(UNKNOWN, H1, size=64 + 11 * (i % 90), sport=i) for i in range(2000)]
    run = run_files({"A": frames, "U": [encapsulated(f) for f in frames]}, drops={})
    assert [o.inner for o in run.outers()] == frames
    assert run.out["A"] == frames


# -- ours, but not VXLAN --------------------------------------------------------------------------

def test_arp_reply_exact():
    sender = REMOTE_MAC[R2]
    request = pk.arp(1, sender, R2, bytes(6), LOCAL)
    probe = pk.arp(1, sender, "0.0.0.0", bytes(6), LOCAL)  # RFC 5227: someone checks the address
    unicast = pk.arp(1, sender, R2, bytes(6), LOCAL, dst=PCAP_MAC)
    run = run_files({"U": [request, probe, unicast]}, drops={})
    replies = [f for f in run.arps if f[20:22] == b"\0\2"]
    assert [pk.padded(f) for f in replies] == [
        pk.arp(2, PCAP_MAC, LOCAL, sender, ip) for ip in (R2, "0.0.0.0", R2)]
    assert run.stats["arp_replies_sent"] == 3


@pytest.mark.parametrize("data, limits", [([0, 1, 32, 1472], {}), ([32, 2000, 8972], JUMBO)],
                         ids=["ordinary", "jumbo"])
def test_echo_reply_exact(data, limits):
    sender = REMOTE_MAC[R2]
    wire = [pk.icmp_echo(PCAP_MAC, sender, R2, LOCAL, seq=i, data=pk.pattern(n, i))
            for i, n in enumerate(data)]
    run = run_files({"U": [pk.padded(f) for f in wire]}, drops={}, **limits)
    assert len(run.out["U"]) == len(wire)
    for i, (n, got) in enumerate(zip(data, run.out["U"])):
        ident = int.from_bytes(got[18:20], "big")
        assert got[:42 + n] == pk.icmp_echo(sender, PCAP_MAC, LOCAL, R2, kind=0, seq=i,
                                            data=pk.pattern(n, i), ident=ident)
        assert not any(got[42 + n:])
    assert run.stats["echo_replies_sent"] == len(wire)


def test_neighbour_resolved_on_demand():
    """ARP request, the held packet follows the answer, the table shows it."""
    with Live(BASE + "flood add 192.0.2.2 vni 100\n") as vtep:
        frame = frame_of(100)
        vtep.ports["A"].send(frame)
        request = vtep.ports["U"].receive_arp(lambda f: f[38:42] == pk.ip(R2))
        assert pk.padded(request) == pk.arp(1, OWN, LOCAL, bytes(6), R2)
        vtep.silent("U")
        vtep.ports["U"].send(pk.arp(2, REMOTE_MAC[R2], R2, OWN, LOCAL))
        vtep.to_remotes(frame, R2)
        assert pk.mac_text(REMOTE_MAC[R2]) in vtep.cli("show neigh").lower()


# -- ports and workers ----------------------------------------------------------------------------

def test_jumbo_single_mbufs():
    """Ports that do not scatter (af_packet): 8900-byte frames in one large mbuf, both ways."""
    with Live(device_mtu=9000, mtu=8900) as vtep:
        for size in (100, 1514, 2049, 8914):
            frame = frame_of(size)
            vtep.ports["A"].send(frame)
            vtep.to_remotes(frame, R2)
            back = frame_of(size, src=H2)
            vtep.from_remote(back)
            vtep.on("A", back)


class XdpPort(VethPort):
    """net_af_xdp: sends chains as rubbish, without a word."""

    def open(self, index, space):
        text = super().open(index, space)
        self.name = "net_af_xdp%d" % index
        return "%s,iface=%s" % (self.name, self.near) if text else None


def test_linear_copy_for_a_port_without_chains():
    """Flood copies are chains; a port that cannot send them gets linear ones, and no drop."""
    ports = {"U": XdpPort(1500, OWN), "A": PcapPort([frame_of(n) for n in (60, 100, 700, 1400)])}
    ports["U"].is_underlay = True
    with Vtep(ports, THREE) as vtep:
        vtep.memory_slack = 64  # af_xdp's fill ring
        outers = [pk.Outer(f) for f in ports["U"].receive(12)]
        assert sorted((o.dst, o.inner) for o in outers) == sorted(
            (remote, f) for remote in (R2, R3, R4) for f in ports["A"].frames)
        vtep.settle(4)
        assert vtep.drops() == {} and vtep.stats()["linear_copies"] > 0


@pytest.mark.parametrize("kind", ["pcap", "veth"])
def test_two_workers(kind):
    """Fewer TX queues than workers: they share one, nothing is lost or torn."""
    frames = [pk.udp_frame(UNKNOWN, H1, size=64 + i % 1000, sport=i) for i in range(2000)]
    wire = [encapsulated(f) for f in frames]
    lcores = "0@0,1@1,2@0"
    if kind == "pcap":
        run = run_files({"A": frames, "A2": frames, "U": wire},
                        CONFIG + "vni add 200\naccess add {A2} vni 200\n"
                        "flood add 192.0.2.2 vni 200\n", live=False, drops={}, lcores=lcores)
        for vni in (100, 200):
            assert [o.inner for o in run.outers() if o.vni == vni] == frames
        assert run.out["A"] == frames
        return
    with Live(lcores=lcores) as vtep:
        for start in range(0, 2000, 250):
            part = slice(start, start + 250)
            vtep.ports["A"].send(*frames[part])
            for frame in frames[part]:
                vtep.from_remote(frame)
            assert pk.inners(vtep.ports["U"].receive(250)) == frames[part]
            assert vtep.ports["A"].receive(250) == frames[part]


def test_hugepages_absent(monkeypatch):
    """The whole path with --no-huge."""
    from vtep import Space
    monkeypatch.setattr(Space, "hugepages", False)
    frame = frame_of(100)
    run = run_files({"A": [frame], "U": [encapsulated(frame_of(80, src=H2))]}, drops={})
    assert [o.inner for o in run.outers()] == [frame]
    assert run.out["A"] == [frame_of(80, src=H2)]


# -- inner checksums ------------------------------------------------------------------------------

class VhostPort:
    """A vhost-user port; the other end is a testpmd that plays a guest with checksum offload:
    it takes @frames from a file and sends them with unfinished checksums."""

    def __init__(self, frames):
        self.frames, self.name, self.mac, self.peer, self.path = frames, None, None, None, None

    def open(self, index, space):
        del space
        self.name, self.mac = "net_vhost%d" % index, b"\2\0\0\0\xd3" + bytes([index])
        self.path = "/tmp/vxbb-vhost-%d.sock" % id(self)
        return "%s,iface=%s" % (self.name, self.path)

    def connect(self, folder):
        from ports import pcap_write
        from vtep import Space, eal_arguments
        pcap_write(folder + "/guest.pcap", self.frames)
        self.peer = subprocess.Popen(
            ["dpdk-testpmd", *eal_arguments("vxbbguest"), "--vdev",
             "net_pcap0,rx_pcap=%s/guest.pcap" % folder, "--vdev",
             "net_virtio_user0,path=%s,queues=1" % self.path, "--", "-i",
             "--total-num-mbufs=4096", "--forward-mode=csum", "--no-flush-rx",
             "--disable-device-start"], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=Space.namespace.enter)
        self.peer.stdin.write(b"csum set tcp hw 1\ncsum set udp hw 1\n"
                              b"port start all\nstart\n")
        self.peer.stdin.flush()

    def close(self):
        if self.peer is not None:
            self.peer.stdin.close()
            self.peer.wait(20)


def test_inner_checksum_completed():
    """Frames from a virtio guest that left the checksum to its device: right on the wire."""
    frames = [pk.udp_frame(H2, H1, size=size, sport=size) for size in (64, 301, 1000, 1400)]
    ports = {"U": VethPort(1500, OWN), "A": VhostPort(frames)}
    ports["U"].is_underlay = True
    with Vtep(ports, CONFIG) as vtep:
        ports["A"].connect(vtep.folder)
        got = ports["U"].receive(4, 15)
        for inner, sent in zip(pk.inners(got), frames):
            # testpmd's csum mode rewrites MACs; everything else must be as it was made
            assert inner[12:] == sent[12:]
        assert len(got) == 4  # completed by the driver, or by us if it says that they are not
        vtep.memory_slack = 64  # vhost takes mbufs for a burst ahead
