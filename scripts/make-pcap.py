#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a pcap file of UDP frames, plain or in VXLAN, one frame a flow, for scripts/bench.

Each flow has its own source and destination MAC, addresses and source port. --macs prints the
destination MACs, one a line, and writes nothing.
"""
import argparse
import struct
import sys

OUTER_SOURCE = "192.0.2.2"
OUTER_TARGET = "192.0.2.1"
OUTER_SOURCE_MAC = "02:00:00:00:00:02"


def mac(text):
    return bytes(int(part, 16) for part in text.split(":"))


def ip(text):
    return bytes(int(part) for part in text.split("."))


def target_mac(flow):
    return f"02:00:00:02:{flow >> 8:02x}:{flow & 0xff:02x}"


def source_mac(flow):
    return f"02:00:00:01:{flow >> 8:02x}:{flow & 0xff:02x}"


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4_udp(source, target, source_port, target_port, payload):
    """An IPv4 packet with a UDP datagram; UDP checksum 0 (none)."""
    udp = struct.pack("!4H", source_port, target_port, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + source + target
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + udp


def inner_frame(flow, size):
    """A frame of `size` bytes, FCS not counted."""
    ethernet = mac(target_mac(flow)) + mac(source_mac(flow)) + b"\x08\x00"
    payload = bytes((flow + i) & 0xff for i in range(size - 14 - 20 - 8))
    source = bytes((198, 18, flow >> 8, flow & 0xff))
    target = bytes((198, 19, flow >> 8, flow & 0xff))
    return ethernet + ipv4_udp(source, target, 1024 + flow, 7, payload)


def outer_frame(flow, inner, vni, our_mac):
    vxlan = struct.pack("!II", 0x08000000, vni << 8)
    packet = ipv4_udp(ip(OUTER_SOURCE), ip(OUTER_TARGET), 49152 + flow % 16384, 4789, vxlan + inner)
    return mac(our_mac) + mac(OUTER_SOURCE_MAC) + b"\x08\x00" + packet


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flows", type=int, default=1024, help="1 to 65536 (1024)")
    parser.add_argument("--size", type=int, default=64, help="inner frame, without FCS: 42 to 65000 (64)")
    parser.add_argument("--vxlan", metavar="MAC", help="encapsulate, to this MAC (the underlay port's)")
    parser.add_argument("--vni", type=int, default=100)
    parser.add_argument("--macs", action="store_true", help="only print the destination MACs")
    parser.add_argument("file", nargs="?")
    args = parser.parse_args()
    if not 1 <= args.flows <= 65536:
        parser.error("--flows: 1 to 65536")
    if not 42 <= args.size <= 65000:
        parser.error("--size: 42 to 65000")
    if args.macs:
        print("\n".join(target_mac(flow) for flow in range(args.flows)))
        return
    if args.file is None:
        parser.error("a file to write to is missing")
    frames = (inner_frame(flow, args.size) for flow in range(args.flows))
    if args.vxlan:
        frames = (outer_frame(flow, frame, args.vni, args.vxlan) for flow, frame in enumerate(frames))
    try:
        write_pcap(args.file, frames)
    except OSError as error:
        sys.exit(f"{args.file}: {error.strerror}")


if __name__ == "__main__":
    main()
