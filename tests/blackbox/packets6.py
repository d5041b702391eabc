# SPDX-License-Identifier: BSD-3-Clause
"""IPv6 underlay packets as plain bytes, beside packets.py: builders and a strict reader. Shares no
code with the program."""
import ipaddress
import struct

import packets as pk

FRAGMENT, DESTINATION, HOP_BY_HOP, ROUTING = 44, 60, 0, 43


def ip(text):
    return ipaddress.IPv6Address(text).packed


def udp_sum(src, dst, datagram):
    """The checksum over pseudo header and @datagram, whose own field is counted too: 0 if right."""
    return pk.checksum(src + dst + struct.pack("!II", len(datagram), 17) + datagram)


def ipv6(src, dst, proto, payload, *, hops=64, traffic_class=0, label=0, length=None, version=6):
    return struct.pack("!IHBB", version << 28 | traffic_class << 20 | label,
                       len(payload) if length is None else length, proto, hops) + \
        ip(src) + ip(dst) + payload


def udp(src, dst, sport, dport, payload, *, length=None, udp_checksum=None):
    head = struct.pack("!HHHH", sport, dport, 8 + len(payload) if length is None else length, 0)
    if udp_checksum is None:
        udp_checksum = udp_sum(ip(src), ip(dst), head + payload) or 0xffff
    return head[:6] + struct.pack("!H", udp_checksum) + payload


def extended(frame, kind, header):
    """@frame with one more extension header in front of all others; its first byte is set."""
    return frame[:18] + struct.pack("!HB", len(frame) - 54 + len(header), kind) + frame[21:54] + \
        frame[20:21] + header[1:] + frame[54:]


def fragment(frame, first, end, more, ident):
    """What carries the bytes @first to @end of what follows the IPv6 header of @frame."""
    head = struct.pack("!BBHI", frame[20], 0, first | more, ident)
    return frame[:18] + struct.pack("!HB", 8 + end - first, FRAGMENT) + frame[21:54] + head + \
        frame[54 + first:54 + end]


def fragments(frame, part=1448, ident=0x12345678):
    size = len(frame) - 54
    return [fragment(frame, first, min(first + part, size), first + part < size, ident)
            for first in range(0, size, part)]


class Outer6:
    """An encapsulated frame taken apart; everything that must always hold is asserted here."""

    def __init__(self, frame, udp_port=pk.VXLAN_PORT):
        assert len(frame) >= 14 + 40 + 8 + 8 + 14, "too short for VXLAN: %s" % frame.hex()
        self.dst_mac, self.src_mac = frame[:6], frame[6:12]
        assert frame[12:14] == b"\x86\xdd", "outer EtherType %s" % frame[12:14].hex()
        first, self.length, proto, self.hops = struct.unpack("!IHBB", frame[14:22])
        assert first >> 28 == 6 and proto == 17
        self.traffic_class, self.label = first >> 20 & 0xff, first & 0xfffff
        assert self.label, "no flow label"
        assert self.length == len(frame) - 54, "payload length %d of %d" % (self.length,
                                                                          len(frame) - 54)
        self.src, self.dst = (str(ipaddress.IPv6Address(frame[i:i + 16])) for i in (22, 38))
        self.sport, dport, length, self.udp_checksum = struct.unpack("!HHHH", frame[54:62])
        assert dport == udp_port and length == self.length
        if self.udp_checksum:
            assert udp_sum(frame[22:38], frame[38:54], frame[54:]) == 0, "UDP checksum wrong"
        assert frame[62:66] == b"\x08\0\0\0" and frame[69] == 0, "VXLAN " + frame[62:70].hex()
        self.vni = int.from_bytes(frame[66:69], "big")
        self.inner = frame[70:]


def reassemble(frames, mtu, protocol=17):
    """
    What a sender made of @frames over @mtu: (whole frames in order, for each the sizes of the
    payloads it came in, the identifications). Asserts what RFC 8200 asks of the sender, and that
    fragments come in order, none twice and none missing.
    """
    whole, sizes, idents, parts = [], [], [], []
    for frame in frames:
        length, proto = struct.unpack("!HB", frame[18:21])
        assert length == len(frame) - 54 and len(frame) - 14 <= mtu
        if proto != FRAGMENT:
            assert not parts
            whole.append(frame)
            sizes.append([length])
            continue
        following, reserved, field, ident = struct.unpack("!BBHI", frame[54:62])
        payload, more = frame[62:], field & 1
        assert following == protocol and reserved == 0 and field & 6 == 0
        assert payload and (not more or len(payload) % 8 == 0)
        assert field & 0xfff8 == sum(map(len, parts)), "offset %d" % (field & 0xfff8)
        if not parts:
            same = frame[:18] + frame[21:54] + struct.pack("!I", ident)
        assert frame[:18] + frame[21:54] + struct.pack("!I", ident) == same
        parts.append(payload)
        if not more:
            data = b"".join(parts)
            whole.append(frame[:18] + struct.pack("!HB", len(data), protocol) + frame[21:54] + data)
            sizes.append([len(part) for part in parts])
            idents.append(ident)
            parts = []
    assert not parts, "fragments missing"
    return whole, sizes, idents
