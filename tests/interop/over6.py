# SPDX-License-Identifier: BSD-3-Clause
"""A laboratory whose tunnels are over IPv6: the same namespaces and devices, other addresses."""
import os
import sys

from lab import HERE, peer_inner, until

OURS = "2001:db8::1"


def part_of(number):
    return "peer" if number == 1 else f"peer{number}"


def peer_outer6(number=1):
    return f"2001:db8::{number + 1}"


def enable(lab, part, device, *addresses):
    """IPv6 on a device of the kernel; its addresses serve at once."""
    conf = f"net.ipv6.conf.{device}."
    lab.run(part, "sysctl", "-qw", conf + "accept_dad=0", conf + "disable_ipv6=0")
    for address in addresses:
        lab.run(part, "ip", "address", "add", f"{address}/64", "dev", device, "nodad")


def finish(lab, number):
    """Address and state of a peer's new tenant interface; no offloads, as scripts/topo.sh has it."""
    part = part_of(number)
    lab.run(part, "ethtool", "-K", "vxlan100", "tx", "off", "gro", "off", "gso", "off", "tso", "off",
            check=False)
    lab.run(part, "ip", "address", "add", f"{peer_inner(number)}/24", "dev", "vxlan100")
    lab.run(part, "ip", "link", "set", "vxlan100", "mtu", str(lab.inner), "up")


def vxlan(lab, number, *options, to=("remote", OURS), local=None):
    """A VXLAN device of the kernel, over IPv6 or from @local, in the place of a peer's first one."""
    part = part_of(number)
    lab.run(part, "ip", "link", "del", "vxlan100")
    lab.run(part, "ip", "link", "add", "vxlan100", "mtu", str(lab.inner), "type", "vxlan", "id",
            "100", "local", local or peer_outer6(number), *to, "dstport", "4789", *options)
    finish(lab, number)


def socket_peer(lab):
    """The first peer as a tap device and a socket of the kernel (socket_peer.py)."""
    lab.run("peer", "ip", "link", "del", "vxlan100")
    lab.begin("peer", sys.executable, HERE + "/socket_peer.py", "vxlan100", peer_outer6(), OURS, "100")
    until(lambda: "vxlan100" in lab.run("peer", "ip", "-br", "link").stdout,
          "the tap device")
    finish(lab, 1)


def ours(lab):
    """Our side: an IPv6 address, and the first peer's in the flood list in place of its IPv4 one."""
    lab(f"address add {OURS}/64 port 0")
    lab("flood del 192.0.2.2 vni 100")
    lab(f"flood add {peer_outer6()} vni 100")
