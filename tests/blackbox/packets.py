# SPDX-License-Identifier: BSD-3-Clause
"""Packets as plain bytes: builders that can be told to build wrong ones, and a strict reader of
what the VTEP sends. Shares no code with the program and none with scapy."""
import ipaddress
import struct

VXLAN_PORT = 4789
BROADCAST = b"\xff" * 6


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def mac_text(raw):
    return ":".join("%02x" % byte for byte in raw)


def ip(text):
    return ipaddress.IPv4Address(text).packed


def checksum(data):
    """The Internet checksum (RFC 1071) of data, in host order."""
    if len(data) & 1:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ethernet(dst, src, ethertype, payload=b""):
    return dst + src + struct.pack("!H", ethertype) + payload


def vlan(frame, vid, ethertype=0x8100, pcp=0):
    """Put a VLAN tag into a frame."""
    return frame[:12] + struct.pack("!HH", ethertype, pcp << 13 | vid) + frame[12:]


def ipv4(src, dst, proto, payload, *, ttl=64, tos=0, ident=0, flags=0, options=b"", version=4,
         ihl=None, total=None, header_checksum=None):
    words = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH4s4s", version << 4 | (words if ihl is None else ihl), tos,
                       words * 4 + len(payload) if total is None else total, ident, flags, ttl,
                       proto, 0, ip(src), ip(dst)) + options
    if header_checksum is None:
        header_checksum = checksum(head)
    return head[:10] + struct.pack("!H", header_checksum) + head[12:] + payload


def udp(src, dst, sport, dport, payload, *, length=None, sum_on=False, udp_checksum=None):
    size = 8 + len(payload)
    head = struct.pack("!HHHH", sport, dport, size if length is None else length, 0)
    if sum_on and udp_checksum is None:
        pseudo = ip(src) + ip(dst) + struct.pack("!BBH", 0, 17, size)
        udp_checksum = checksum(pseudo + head + payload) or 0xffff
    return head[:6] + struct.pack("!H", udp_checksum or 0) + payload


def udp_frame(dst, src, src_ip="203.0.113.2", dst_ip="203.0.113.1", sport=1000, dport=2000,
              size=None, data=b"", tos=0, **ip_fields):
    """A tenant's UDP frame; @size is that of the whole frame, filled with a running pattern."""
    if size is not None:
        data = pattern(size - 14 - 20 - 8, sport)
    return ethernet(dst, src, 0x0800, ipv4(src_ip, dst_ip, 17,
                    udp(src_ip, dst_ip, sport, dport, data, sum_on=True), tos=tos, **ip_fields))


def pattern(size, seed=0):
    """Bytes in which every 4-byte word differs, so that a moved or doubled piece shows."""
    words = b"".join(struct.pack("!HH", seed & 0xffff, i & 0xffff) for i in range(size // 4 + 1))
    return words[:size]


def vxlan(vni, inner, *, flags=8, reserved=0, last=0):
    return struct.pack("!BBHI", flags, reserved >> 16, reserved & 0xffff, vni << 8 | last) + inner


def arp(op, sender_mac, sender_ip, target_mac, target_ip, *, dst=None, hlen=6, htype=1, pad=True):
    frame = ethernet(dst or (BROADCAST if op == 1 else target_mac), sender_mac, 0x0806,
                     struct.pack("!HHBBH", htype, 0x0800, hlen, 4, op) + sender_mac +
                     ip(sender_ip) + target_mac + ip(target_ip))
    return frame.ljust(60, b"\0") if pad else frame


def icmp_echo(dst, src, src_ip, dst_ip, *, kind=8, echo_id=7, seq=1, data=b"x" * 32, bad_sum=False,
              **ip_fields):
    body = struct.pack("!BBHHH", kind, 0, 0, echo_id, seq) + data
    total = checksum(body) ^ (0x1111 if bad_sum else 0)
    body = body[:2] + struct.pack("!H", total) + body[4:]
    return ethernet(dst, src, 0x0800, ipv4(src_ip, dst_ip, 1, body, **ip_fields))


class Outer:
    """An encapsulated frame taken apart; everything that must always hold is asserted here."""

    def __init__(self, frame, udp_port=VXLAN_PORT):
        assert len(frame) >= 14 + 20 + 8 + 8 + 14, "too short for VXLAN: %s" % frame.hex()
        self.dst_mac, self.src_mac = frame[:6], frame[6:12]
        assert frame[12:14] == b"\x08\x00", "outer EtherType %s" % frame[12:14].hex()
        (version, self.tos, self.total, self.ident, flags, self.ttl, proto, _) = struct.unpack(
            "!BBHHHBBH", frame[14:26])
        assert version == 0x45, "outer IP version and IHL %02x" % version
        assert proto == 17
        assert checksum(frame[14:34]) == 0, "outer IP header checksum wrong"
        assert self.total == len(frame) - 14, "outer IP length %d of %d" % (self.total,
                                                                            len(frame) - 14)
        assert flags & 0xbfff == 0, "outer fragment or reserved flag: %04x" % flags
        self.df = bool(flags & 0x4000)
        self.src, self.dst = (str(ipaddress.IPv4Address(frame[i:i + 4])) for i in (26, 30))
        self.sport, dport, length, self.udp_checksum = struct.unpack("!HHHH", frame[34:42])
        assert dport == udp_port, "outer UDP port %d" % dport
        assert length == self.total - 20
        if self.udp_checksum:
            pseudo = frame[26:34] + struct.pack("!BBH", 0, 17, length)
            assert checksum(pseudo + frame[34:]) == 0, "outer UDP checksum wrong"
        assert frame[42:46] == b"\x08\0\0\0", "VXLAN flags %s" % frame[42:46].hex()
        assert frame[49] == 0, "VXLAN reserved byte %02x" % frame[49]
        self.vni = int.from_bytes(frame[46:49], "big")
        self.inner = frame[50:]


def fragment(frame, first, end, more):
    """The fragment of an IPv4 @frame without options that carries the bytes @first to @end of its
    payload; with or without "more fragments", whatever is right."""
    head = frame[14:34]
    assert head[0] == 0x45 and first % 8 == 0
    head = head[:2] + struct.pack("!HHH", 20 + end - first, int.from_bytes(head[4:6], "big"),
                                  (0x2000 if more else 0) | first // 8) + head[8:10] + \
        b"\0\0" + head[12:]
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return frame[:14] + head + frame[34 + first:34 + end]


def fragments(frame, part=1480):
    """An IPv4 @frame cut as a router does it, @part bytes of payload in each."""
    size = len(frame) - 34
    return [fragment(frame, first, min(first + part, size), first + part < size)
            for first in range(0, size, part)]


def reassemble(frames, mtu):
    """
    What a sender made of @frames over @mtu: (whole IPv4 frames in order, for each the sizes of the
    payloads it came in). Asserts what RFC 791 asks of the sender, and that the fragments come in
    order, none twice and none missing.
    """
    whole, sizes, open_ones = [], [], {}
    for frame in frames:
        head, payload = frame[14:34], frame[34:]
        assert head[0] == 0x45 and checksum(head) == 0, "IP header: " + head.hex()
        total, ident, field = struct.unpack("!HHH", head[2:8])
        assert total == 20 + len(payload) and total <= mtu, "IP length %d, MTU %d" % (total, mtu)
        first, more = (field & 0x1fff) * 8, bool(field & 0x2000)
        if not more and first == 0:
            whole.append(frame)
            sizes.append([len(payload)])
            continue
        assert field & 0xc000 == 0, "DF or reserved bit in a fragment: %04x" % field
        assert payload and (not more or len(payload) % 8 == 0), "%d bytes" % len(payload)
        key = (ident, frame[14 + 9], frame[26:34])
        # everything that does not differ between fragments: MACs, TOS, TTL
        same = frame[:16] + frame[22:24]
        if first == 0:
            assert key not in open_ones, "identification %04x twice" % ident
            open_ones[key] = (same, [payload])
        assert key in open_ones, "no first fragment before this one"
        kept, parts = open_ones[key]
        assert kept == same, "fragments differ in their headers"
        if first > 0:
            assert first == sum(map(len, parts)), "offset %d after %d bytes" % (
                first, sum(map(len, parts)))
            parts.append(payload)
        if not more:
            del open_ones[key]
            data = b"".join(parts)
            assert 20 + len(data) <= 65535
            head = head[:2] + struct.pack("!HHH", 20 + len(data), ident, 0) + head[8:10] + \
                b"\0\0" + head[12:]
            head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
            whole.append(frame[:14] + head + data)
            sizes.append([len(part) for part in parts])
    assert not open_ones, "fragments missing of %s" % list(open_ones)
    return whole, sizes


def inners(frames, **fields):
    """The inner frames of encapsulated @frames, each checked for the outer fields named."""
    result = []
    for frame in frames:
        outer = Outer(frame)
        for name, value in fields.items():
            assert getattr(outer, name) == value, "%s is %r, expected %r" % (
                name, getattr(outer, name), value)
        result.append(outer.inner)
    return result


def padded(frame):
    """What an access port sends for an inner @frame."""
    return frame.ljust(60, b"\0")


def toeplitz_queue(outer, queues, key=bytes.fromhex(
        "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")):
    """The RSS queue a receiver with the usual key and a plain table of 128 would choose."""
    data = ip(outer.src) + ip(outer.dst) + struct.pack("!HH", outer.sport, VXLAN_PORT)
    bits = int.from_bytes(key, "big")
    width, result = len(key) * 8, 0
    for i in range(len(data) * 8):
        if data[i // 8] >> (7 - i % 8) & 1:
            result ^= bits >> (width - 32 - i) & 0xffffffff
    return (result & 127) % queues
