#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: echo_sizes.py ADDRESS FIRST STOP STEP

Ping ADDRESS with each size of range(FIRST, STOP, STEP), in bytes of the whole IP packet (28 and
more), DF set, and compare each reply with the request. One process for thousands of sizes.
"""
import os
import select
import socket
import struct
import sys
import time

TRIES = 3
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def request(identifier, sequence, size):
    data = bytes((sequence + i * 7) & 0xff for i in range(size - 28))
    head = struct.pack("!BBHHH", 8, 0, 0, identifier, sequence)
    return struct.pack("!BBHHH", 8, 0, checksum(head + data), identifier, sequence) + data


def answered(sock, address, packet):
    """Whether the reply to @packet comes, byte for byte, within half a second."""
    sock.sendto(packet, (address, 0))
    end = time.monotonic() + 0.5
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([sock], [], [], left)[0]:
            return False
        got = sock.recv(70000)
        reply = got[(got[0] & 15) * 4:]
        if reply[0] == 0 and reply[4:] == packet[4:]:
            return True


def main():
    address = sys.argv[1]
    sizes = range(*map(int, sys.argv[2:5]))
    identifier = os.getpid() & 0xffff
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sock:
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        for sequence, size in enumerate(sizes):
            packet = request(identifier, sequence & 0xffff, size)
            if not any(answered(sock, address, packet) for _ in range(TRIES)):
                sys.exit(f"no right reply to an IP packet of {size} bytes in {TRIES} tries")
    print(f"{len(sizes)} sizes")


if __name__ == "__main__":
    main()
