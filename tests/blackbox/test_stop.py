# SPDX-License-Identifier: BSD-3-Clause
"""Every way to end the program, under full load: within two seconds, status 0, every mbuf back."""
import os
import signal
import time

import pytest

import packets as pk
from ports import PcapPort, VethPort
from tunnel import BASE, CONFIG, H1, H2, LOCAL, OWN, R2, UNKNOWN, encapsulated
from vtep import SLOW, Vtep

LIMIT = 2.0  # seconds


def load():
    """Both directions from endless files: forwarding, flooding, drops and ARP."""
    access = [pk.udp_frame(UNKNOWN, H1, size=64 + i * 20, sport=i) for i in range(60)]
    access.append(pk.vlan(access[0], 5))
    wire = [encapsulated(pk.udp_frame(UNKNOWN, H2, size=64 + i * 20, sport=i)) for i in range(60)]
    wire += [encapsulated(access[0], vni=999), pk.arp(1, wire[0][6:12], R2, bytes(6), LOCAL)]
    return {"U": PcapPort(wire, infinite=True, sink=True),
            "A": PcapPort(access, infinite=True, sink=True),
            "A2": PcapPort(sink=True)}


def running(config=CONFIG + "access add {A2} vni 100\n", **arguments):
    vtep = Vtep(load(), config, **arguments)
    vtep.open()
    vtep.until(lambda: vtep.stats()["received"] > 50000 / SLOW, "load", 10)
    return vtep


def ended(vtep, began):
    """The process ends in time, with status 0 and all mbufs back."""
    assert vtep.wait(LIMIT) == 0, vtep.log()[-2000:]
    took = time.monotonic() - began
    assert took < LIMIT * SLOW, "took %.2f s" % took
    vtep.check_log()
    vtep.check_exit_log()


def by_quit(vtep):
    vtep.cli.sock.sendall(b"quit\n")


def by_end_of_input(vtep):
    vtep.process.stdin.close()


def by_command_from_pipe(vtep):
    vtep.process.stdin.write(b"quit\n")
    vtep.process.stdin.flush()


def by_signal(number):
    def send(vtep):
        os.kill(vtep.process.pid, number)
    send.__name__ = number.name
    return send


@pytest.mark.parametrize("how", [by_quit, by_end_of_input, by_command_from_pipe,
                                 by_signal(signal.SIGINT), by_signal(signal.SIGTERM)],
                         ids=lambda how: how.__name__)
def test_end_under_load(how):
    vtep = running()
    try:
        began = time.monotonic()
        how(vtep)
        ended(vtep, began)
    finally:
        vtep.kill()


def test_signal_twice():
    """An impatient second signal does not turn a clean end into a crash."""
    vtep = running()
    try:
        began = time.monotonic()
        os.kill(vtep.process.pid, signal.SIGTERM)
        os.kill(vtep.process.pid, signal.SIGINT)
        ended(vtep, began)
    finally:
        vtep.kill()


def test_end_with_packets_held():
    """Packets that wait for a neighbour, and requests on their way, do not keep it."""
    vtep = running(BASE + "flood add 192.0.2.2 vni 100\nflood add 192.0.2.3 vni 100\n"
                   "access add {A2} vni 100\n")
    try:
        began = time.monotonic()
        os.kill(vtep.process.pid, signal.SIGTERM)
        ended(vtep, began)
    finally:
        vtep.kill()


def test_end_before_start():
    """Forwarding never began."""
    vtep = Vtep(load(), CONFIG)
    try:
        vtep.open(forward=False)
        began = time.monotonic()
        os.kill(vtep.process.pid, signal.SIGINT)
        ended(vtep, began)
    finally:
        vtep.kill()


def test_stop_under_load_and_start_again():
    """`stop`: nothing is taken or sent any more, all is accounted for; `start` goes on."""
    vtep = running()
    try:
        for _ in range(3):
            began = time.monotonic()
            vtep.cli("stop")
            assert time.monotonic() - began < LIMIT * SLOW
            vtep.check_law()
            stats = vtep.stats()
            time.sleep(0.1)
            assert vtep.stats() == stats, "counters move after stop"
            vtep.check_memory()
            vtep.cli("start")
            vtep.until(lambda: vtep.stats()["received"] > stats["received"], "going on")
        vtep.cli("stop")
        vtep.cli.raw("stop")  # once more: nothing happens, or one line says so
        vtep.finish()
    finally:
        vtep.kill()


def test_ends_on_veth():
    """The same with devices of the kernel, traffic arriving."""
    ports = {"U": VethPort(1500, OWN), "A": VethPort(1500)}
    vtep = Vtep(ports, CONFIG)
    try:
        vtep.open()
        ports["A"].send(*[pk.udp_frame(UNKNOWN, H1, size=100)] * 500)
        began = time.monotonic()
        os.kill(vtep.process.pid, signal.SIGTERM)
        ended(vtep, began)
    finally:
        vtep.kill()


def test_sighup_kills_nothing():
    vtep = running()
    try:
        os.kill(vtep.process.pid, signal.SIGHUP)
        before = vtep.stats()["received"]
        vtep.until(lambda: vtep.stats()["received"] > before, "going on")
        vtep.cli("stop")
        vtep.finish()
    finally:
        vtep.kill()


def test_socket_is_removed():
    vtep = Vtep(load(), CONFIG)
    try:
        vtep.open()
        assert os.path.exists(vtep.socket_path)
        assert vtep.quit() == 0
        assert not os.path.exists(vtep.socket_path)
    finally:
        vtep.kill()
