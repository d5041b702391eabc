# SPDX-License-Identifier: BSD-3-Clause
"""The public cases that this suite knows about: where they are, and which of them (or which part
of them) wait for what. What runs carries the marker `case(number)` in the test files."""
import hashlib
import json
import os
import re

from ports import pcap_read
from vtep import REPO

FOLDER = os.environ.get("VX_CASES", os.path.join(os.path.dirname(REPO), "shared/cases"))
PRESENT = os.path.exists(os.path.join(FOLDER, "CASES.md"))

UNDERLAY_VLAN = "needs an underlay VLAN"
GRO = "needs GRO"
GSO = "needs GSO"
LOAD = "a measurement under load, not a test"
LAB = "needs kernel hosts behind the ports: interop suite"

NOT_YET = {
    7: LOAD,
    49: LAB, 50: "needs a port with checksum offload", 101: LOAD, 104: GSO, 106: GSO, 107: GSO,
    110: GSO, 113: LAB,
    115: "needs port attach and detach under traffic", 116: "needs MTU changes under load",
    119: "needs 16 lcores", 121: "tap hands out 1,522 bytes at most",
    125: LOAD, 139: LOAD, 140: LOAD,
}

# What a case that is run leaves out for now; those that NOT_YET names too have their tests ready,
# which conftest.py skips until the entry in NOT_YET is removed
PARTS_NOT_YET = {
    14: "underlay VLAN: " + UNDERLAY_VLAN,
    20: "one queue and worker, 100 rounds; RSS: needs a port that has it",
    32: "as fast as a file is read, not 60 s at 100 kpps",
    34: "one worker and one pass, not 10 min at line rate",
    40: UNDERLAY_VLAN,
    59: "one queue; RSS hash: needs a port that has one",
    71: "300 times, not 100,000",
    88: "a silent change of MAC: takes a neighbour's lifetime (set VX_LONG=1)",
    94: "frames unchanged; " + GRO, 95: "frames unchanged; " + GRO, 97: "frames unchanged; " + GRO,
    98: "frames unchanged; " + GRO, 100: "frames unchanged; " + GRO,
    103: "frames unchanged; " + GRO,
    109: "GSO off; " + GSO,
    118: "net_pcap and net_af_packet only",
    124: "one second of it",
    134: "no named objects here",
}


def load_expected():
    """expected.json by file name."""
    with open(os.path.join(FOLDER, "pcaps/expected.json"), encoding="utf-8") as file:
        return {entry["file"]: entry for entry in json.load(file)}


def numbers():
    """{case number: mark} of CASES.md."""
    with open(os.path.join(FOLDER, "CASES.md"), encoding="utf-8") as file:
        return {int(n): mark for n, mark in re.findall(r"^### (\d+) \[([ABCD])\]", file.read(),
                                                       re.M)}


def pcap(name):
    """The path of a case's input file by the beginning of its name ("011", "043_short_inner")."""
    folder = os.path.join(FOLDER, "pcaps")
    found = sorted(f for f in os.listdir(folder) if f.startswith(name) and f.endswith(".pcap"))
    assert len(found) == 1, "%s: %s" % (name, found)
    return os.path.join(folder, found[0])


def frames_of(name):
    return pcap_read(pcap(name))


def digest(frame):
    return len(frame), hashlib.sha256(frame).hexdigest()


def matches_expected(frames, name, only=None):
    """@frames are, as a multiset, those that expected.json lists for the file; frames that an
    access port had to pad to 60 bytes are compared without it, and the padding is zero."""
    entry = load_expected()[pcap(name).rsplit("/", 1)[1]]
    want = sorted((e["len"], e["sha256"]) for e in entry["expect_inner"][:only])
    short = {size for size, _ in want if size < 60}
    got = []
    for frame in frames:
        choices = [digest(frame)] + [digest(frame[:size]) for size in short
                                     if len(frame) == 60 and not any(frame[size:])]
        got.append(next((c for c in choices if c in want), choices[0]))
    assert sorted(got) == want


def report(ran, failed):
    """Lines that tell which cases ran and which wait for what. Both arguments: numbers."""
    def listed(some):
        return " ".join("%03d%s" % (n, "(part)" if n in PARTS_NOT_YET else "")
                        for n in sorted(some))
    yield "cases run: " + listed(ran)
    if failed:
        yield "cases failed: " + listed(failed)
    left_out = set(numbers()) - ran - failed - set(NOT_YET)
    if left_out:
        yield "cases not selected in this run: " + listed(left_out)
    for number in sorted(ran & PARTS_NOT_YET.keys()):
        yield "cases run in part: %03d (%s)" % (number, PARTS_NOT_YET[number])
    for number, mark in sorted(numbers().items()):
        if number in NOT_YET:
            yield "cases not run yet: %03d [%s] (%s)" % (number, mark, NOT_YET[number])
