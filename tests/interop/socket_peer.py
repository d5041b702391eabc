#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: socket_peer.py TAP LOCAL REMOTE VNI

A VTEP made of a tap device and a UDP socket over IPv6, both the kernel's. Linux's vxlan device never
sends fragments over IPv6 (Ip6FragFails); its sockets do.
"""
import fcntl
import os
import select
import socket
import struct
import sys

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000
SO_RCVBUFFORCE = 33
PORT = 4789


def main():
    name, local, remote, vni = sys.argv[1:]
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    header = struct.pack("!II", 0x08000000, int(vni) << 8)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
        sock.bind((local, PORT))
        while True:
            for ready in select.select([tap, sock], [], [])[0]:
                try:
                    if ready == tap:
                        sock.sendto(header + os.read(tap, 70000), (remote, PORT))
                    else:
                        packet = sock.recv(70000)
                        if packet[:8] == header:
                            os.write(tap, packet[8:])
                except OSError as err:  # the device is not up yet, or a buffer is full
                    print(err, file=sys.stderr)


if __name__ == "__main__":
    main()
