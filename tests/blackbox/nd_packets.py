# SPDX-License-Identifier: BSD-3-Clause
"""ICMPv6 and neighbour discovery (RFC 4443, RFC 4861) as plain bytes, and a strict reader of them."""
import ipaddress
import struct

import packets as pk

ALL_NODES, ALL_NODES_MAC = "ff02::1", pk.mac("33:33:00:00:00:01")
ECHO, SOLICIT, ADVERT, TOO_BIG, ROUTER_ADVERT = 128, 135, 136, 2, 134
SOLICITED, OVERRIDE = 0x40, 0x20


def ip6(text):
    return ipaddress.IPv6Address(text).packed


def group_of(address):
    """(address, MAC) of the solicited-node group of @address."""
    tail = ip6(address)[13:]
    return (str(ipaddress.IPv6Address(ip6("ff02::1:ff00:0")[:13] + tail)),
            b"\x33\x33\xff" + tail)


def link_local(mac):
    """The address that an interface with @mac makes for itself."""
    tail = bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" + mac[3:]
    return str(ipaddress.IPv6Address(ip6("fe80::")[:8] + tail))


def icmp6(dst, src, src_ip, dst_ip, kind, body, *, code=0, hop_limit=255, bad_sum=False):
    """A frame with an ICMPv6 message whose @body follows the checksum."""
    message = struct.pack("!BBH", kind, code, 0) + body
    pseudo = ip6(src_ip) + ip6(dst_ip) + struct.pack("!II", len(message), 58)
    total = pk.checksum(pseudo + message) ^ (0x1111 if bad_sum else 0)
    message = message[:2] + struct.pack("!H", total) + message[4:]
    head = struct.pack("!IHBB", 6 << 28, len(message), 58, hop_limit) + ip6(src_ip) + ip6(dst_ip)
    return pk.ethernet(dst, src, 0x86dd, head + message)


def solicit(src, src_ip, target, *, dst=None, with_mac=True, **fields):
    """Who has @target? To its group, or to the host with the MAC @dst."""
    group, group_mac = group_of(target)
    option = b"\x01\x01" + src if with_mac else b""
    return icmp6(dst or group_mac, src, src_ip, group if dst is None else target, SOLICIT,
                 bytes(4) + ip6(target) + option, **fields)


def probe(src, target):
    """Duplicate address detection (RFC 4862 5.4.2)."""
    return solicit(src, "::", target, with_mac=False)


def advert(dst, src, dst_ip, target, flags, *, mac=None, **fields):
    option = b"\x02\x01" + (src if mac is None else mac)
    return icmp6(dst, src, target, dst_ip, ADVERT,
                 bytes([flags, 0, 0, 0]) + ip6(target) + option, **fields)


def announcement(src, target):
    """An unsolicited advertisement."""
    return advert(ALL_NODES_MAC, src, ALL_NODES, target, OVERRIDE)


def echo(dst, src, src_ip, dst_ip, data=b"x" * 32, *, kind=ECHO, hop_limit=64, **fields):
    return icmp6(dst, src, src_ip, dst_ip, kind, struct.pack("!HH", 7, 1) + data,
                 hop_limit=hop_limit, **fields)
