# SPDX-License-Identifier: BSD-3-Clause
"""
Neighbour discovery and ICMPv6 for the program's own addresses, byte for byte.

    A ── dpdk-vxlan ── U 2001:db8::1, fe80::ff:fe00:1 ── 2001:db8::2 (the test)
"""
import pytest

import nd_packets as nd
import packets as pk
import packets6 as p6
from tunnel import CONFIG, OWN, R2, REMOTE_MAC, Live, run_files
from vtep import CliError

OURS, PEER = "2001:db8::1", "2001:db8::2"
LINK_LOCAL = nd.link_local(OWN)
PEER_MAC = REMOTE_MAC[R2]
ADDRESS = "address add 2001:db8::1/64 port {U}\n"
IPV6 = CONFIG + ADDRESS

SOLICIT = nd.solicit(PEER_MAC, PEER, OURS)
ANSWER = nd.advert(PEER_MAC, OWN, PEER, OURS, nd.SOLICITED | nd.OVERRIDE)


class Live6(Live):
    """With an address whose detection is over, unless @settled is false."""

    def __init__(self, config=IPV6, settled=True, **arguments):
        super().__init__(config, **arguments)
        self.settled = settled

    def open(self, forward=True):
        super().open(forward)
        if self.settled:
            self.until(lambda: "tentative" not in self.cli("show address"), "detection to end")
        return self

    def state(self, address=OURS):
        """(what `show address` says of it: origin, state), or None."""
        for line in self.cli("show address").split("\n"):
            if line.startswith(address + "/"):
                words = line.split(None, 4)
                return words[3], words[4].strip()
        return None

    def discovery(self, wanted, timeout=5.0):
        """Wait for exactly this frame; what else comes of neighbour discovery is put aside."""
        assert self.ports["U"].receive_arp(lambda frame: frame == wanted, timeout), (
            "did not come: " + wanted.hex())

    def nothing(self, unwanted):
        assert not self.ports["U"].receive_arp(lambda frame: frame == unwanted, 0.2)


def test_detection_and_announcement():
    """Each address is probed for once, and announced when nobody answered for a second."""
    with Live6(settled=False) as vtep:
        for address in (OURS, LINK_LOCAL):
            vtep.discovery(nd.probe(OWN, address))
        for address in (OURS, LINK_LOCAL):
            vtep.discovery(nd.announcement(OWN, address))
        assert vtep.state() == ("given", "up")
        assert vtep.state(LINK_LOCAL) == ("mac", "up")
        assert vtep.stats()["nd_solicits_sent"] == 2


def test_used_while_tentative():
    """A solicitation is answered at once, without override; another's probe is not."""
    with Live6(CONFIG, settled=False) as vtep:
        vtep.run("stop")  # the link is down: the address stays tentative
        vtep.run(ADDRESS)
        vtep.run("start")
        vtep.ports["U"].send(SOLICIT)
        vtep.discovery(nd.advert(PEER_MAC, OWN, PEER, OURS, nd.SOLICITED))


@pytest.mark.parametrize("claim", [nd.announcement(PEER_MAC, OURS), nd.probe(PEER_MAC, OURS)],
                         ids=["advertisement", "probe"])
def test_duplicate(claim):
    """Somebody else has it: it is out of use, and said so, until the link comes up again."""
    with Live6(IPV6, settled=False) as vtep:
        vtep.live_at_end = False
        vtep.discovery(nd.probe(OWN, OURS))
        vtep.ports["U"].send(claim)
        vtep.until(lambda: vtep.state()[1].startswith("duplicate"), "the duplicate to be seen")
        assert vtep.state(LINK_LOCAL)[1].startswith("up")
        assert "2001:db8::1 is also claimed by 02:00:00:00:00:02" in vtep.log()
        assert "not usable: its local address is another host's" in vtep.cli("show route")
        vtep.until(lambda: vtep.stats()["nd_adverts_sent"] >= 1, "the other one's announcement")
        vtep.ports["U"].send(nd.solicit(PEER_MAC, PEER, OURS, dst=OWN))
        vtep.await_drops({"outer_dst_ip": 1})
        vtep.run("stop\nstart")
        vtep.until(lambda: vtep.state()[1] == "up", "it to be ours")
        vtep.ports["U"].send(SOLICIT)
        vtep.discovery(ANSWER)


def test_solicitations():
    with Live6() as vtep:
        send = vtep.ports["U"].send
        for frame in (SOLICIT, nd.solicit(PEER_MAC, PEER, OURS, dst=OWN),
                      nd.solicit(PEER_MAC, PEER, OURS, dst=OWN, with_mac=False),
                      SOLICIT + b"\xee" * 9):
            send(frame)
            vtep.discovery(ANSWER)
        # from and for the link-local address
        send(nd.solicit(PEER_MAC, "fe80::2", LINK_LOCAL))
        vtep.discovery(nd.advert(PEER_MAC, OWN, "fe80::2", LINK_LOCAL, nd.SOLICITED | nd.OVERRIDE))
        # the MAC of the option counts
        other = pk.mac("02:00:00:00:00:99")
        send(nd.icmp6(nd.group_of(OURS)[1], PEER_MAC, PEER, nd.group_of(OURS)[0], nd.SOLICIT,
                      bytes(4) + nd.ip6(OURS) + b"\1\1" + other))
        vtep.discovery(nd.advert(other, OWN, PEER, OURS, nd.SOLICITED | nd.OVERRIDE))
        # somebody probes for what is ours: everybody is told
        vtep.ports["U"].arps.clear()
        send(nd.probe(PEER_MAC, OURS))
        vtep.discovery(nd.announcement(OWN, OURS))
        assert vtep.state() == ("given", "up")
        # not ours, in our group or in another
        before = vtep.stats()["nd_adverts_sent"]
        send(nd.solicit(PEER_MAC, PEER, "2001:db8:7::1"))
        send(nd.solicit(PEER_MAC, PEER, "2001:db8::9"))
        vtep.await_drops({"outer_dst_ip": 1})
        assert vtep.stats()["nd_adverts_sent"] == before
        vtep.run("clear fwd stats all")


def test_neighbours_known():
    """Who asks for us is known then; a later MAC counts at once; advertisements make no entry."""
    with Live6() as vtep:
        vtep.ports["U"].send(nd.announcement(PEER_MAC, "2001:db8::3"), SOLICIT)
        vtep.until(lambda: PEER in vtep.cli("show neigh"), "the asker known")
        lines = [line.split() for line in vtep.cli("show neigh").split("\n")]
        line, = [words for words in lines if words and words[0] == PEER]
        assert line[:4] == [PEER, "0", pk.mac_text(PEER_MAC), "stale"]
        assert "2001:db8::3" not in vtep.cli("show neigh")
        new = pk.mac("02:00:00:00:00:55")
        vtep.ports["U"].send(nd.announcement(new, PEER))
        vtep.until(lambda: pk.mac_text(new) in vtep.cli("show neigh"), "the new MAC")
        vtep.run("neigh add 2001:db8::2 02:00:00:00:00:02 port {U}")
        vtep.ports["U"].send(nd.announcement(new, PEER), SOLICIT)
        vtep.discovery(ANSWER)
        assert pk.mac_text(new) not in vtep.cli("show neigh")
        assert "neigh add 2001:db8::2 02:00:00:00:00:02 port" in vtep.cli("show config")


@pytest.mark.parametrize("size", [0, 1, 56, 1452])
def test_echo(size):
    data = pk.pattern(size)
    with Live6() as vtep:
        for ours, peer in ((OURS, PEER), (LINK_LOCAL, "fe80::2")):
            vtep.ports["U"].send(nd.echo(OWN, PEER_MAC, peer, ours, data))
            vtep.on("U", nd.echo(PEER_MAC, OWN, ours, peer, data, kind=129))
        # to everybody: from the address of the asker's kind
        vtep.ports["U"].send(nd.echo(nd.ALL_NODES_MAC, PEER_MAC, "fe80::2", nd.ALL_NODES, data))
        vtep.on("U", nd.echo(PEER_MAC, OWN, LINK_LOCAL, "fe80::2", data, kind=129))
        assert vtep.stats()["echo_replies_sent"] == 3


@pytest.mark.parametrize("size", [1453, 9000, 65000])
def test_echo_in_fragments(size):
    """A request that came in fragments is answered in fragments."""
    data = pk.pattern(size)
    with Live6() as vtep:
        vtep.ports["U"].send(*p6.fragments(nd.echo(OWN, PEER_MAC, PEER, OURS, data)))
        count = -(-(size + 8) // 1448)
        frames = vtep.ports["U"].receive(count)
        whole, sizes, _ = p6.reassemble(frames, 1500, protocol=58)
        assert whole == [nd.echo(PEER_MAC, OWN, OURS, PEER, data, kind=129)]
        assert len(sizes[0]) == count
        assert vtep.stats()["echo_replies_sent"] == 1


def test_flood_of_solicitations():
    """It is answered up to a limit, and costs ARP nothing."""
    count = 20000
    arp = pk.arp(1, PEER_MAC, R2, bytes(6), "192.0.2.1")
    solicit = nd.solicit(PEER_MAC, PEER, OURS)
    run = run_files({"U": [solicit] * count + [arp] * 50}, IPV6)
    assert set(run.drops) == {"host_rate"}
    assert run.stats["arp_replies_sent"] == 50
    assert run.drops["host_rate"] > count / 2


def test_commands():
    """IPv6 beside IPv4 in every command; what the program makes itself is not configuration."""
    with Live6(CONFIG, settled=False) as vtep:
        assert vtep.state(LINK_LOCAL) is None
        vtep.run(ADDRESS)
        assert vtep.state(LINK_LOCAL)[0] == "mac"
        assert "up" in vtep.state()[1]
        vtep.run("route add ::/0 via fe80::fe\nroute add 2001:db8:5::/48 via 2001:db8::fe\n"
                 "neigh add 2001:db8:0::fe 02:00:00:00:00:20 port {U}")
        lines = vtep.config_lines()
        assert "fe80::ff:fe00:1" not in vtep.cli("show config")
        for line in ("address add 2001:db8::1/64 port %s", "route add ::/0 via fe80::fe",
                     "route add 2001:db8:5::/48 via 2001:db8::fe",
                     "neigh add 2001:db8::fe 02:00:00:00:00:20 port %s"):
            assert (line % vtep.ports["U"].name if "%s" in line else line) in lines
        route, = [line.split() for line in vtep.cli("show route").split("\n")
                  if line.startswith("::/0")]
        assert route == ["::/0", "fe80::fe", "0", "usable"]
        vtep.refuse("address del " + LINK_LOCAL)
        vtep.refuse("address add 2001:db8::1/64 port {U}")
        vtep.refuse("route add 2001:db8:6::/48 via 192.0.2.2")
        vtep.run("route del ::/0\nroute del 2001:db8:5::/48 via 2001:db8::fe\n"
                 "neigh del 2001:db8::fe\naddress del 2001:db8::1")
        assert vtep.state() is None and vtep.state(LINK_LOCAL) is None


def test_config_reloads(tmp_path):
    """What `save` writes makes the same again."""
    extra = ADDRESS + "address add 2001:db8:1::1/64 port {U}\nroute add ::/0 via fe80::fe\n"
    with Live6(CONFIG + extra, settled=False) as vtep:
        vtep.run("save %s" % (tmp_path / "saved.conf"))
        before = vtep.config_lines()
    saved = (tmp_path / "saved.conf").read_text()
    with Live6(saved, settled=False) as vtep:
        vtep.live_at_end = False
        assert vtep.config_lines() == before


def test_options():
    options = ["--local", "2001:db8::1/64", "--gateway", "fe80::fe", "--vni", "100"]
    with Live6("", settled=False, options=options) as vtep:
        vtep.live_at_end = False
        assert vtep.state() is not None
        assert "::/0" in vtep.cli("show route")
        with pytest.raises(CliError, match="already an address"):
            vtep.run(ADDRESS)
