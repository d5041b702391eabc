# SPDX-License-Identifier: BSD-3-Clause
"""scripts/mtu-sweep of the packet path: its files and its judgement, whatever the speed."""
import os
import re
import shutil
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts/mtu-sweep")
MTUS = [1500, 2050, 9000]
# Outer packets of a frame at each of them: 36 + 14 bytes more, 1480 or 8976 in a fragment.
PACKETS = {"any": [1, 1, 1], "9000": [1, 1, 2], "1500": [2, 2, 7]}


def sweep(*arguments):
    return subprocess.run([SCRIPT, *arguments], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)


@pytest.mark.skipif(shutil.which("gnuplot") is None, reason="gnuplot is not installed")
def test_files_of_the_path(tmp_path):
    build = os.environ.get("VX_BUILD", os.path.join(os.path.dirname(SCRIPT), "../build"))
    result = sweep("--quick", "--flows", "64", "--mtu", ",".join(map(str, MTUS)), "--out",
                   str(tmp_path), "--build", build)
    assert result.returncode == 0, result.stdout
    for direction in ("encap", "decap"):
        for underlay, packets in PACKETS.items():
            text = (tmp_path / f"{direction}-{underlay}.dat").read_text()
            lines = [line.split() for line in text.split("\n") if line and line[0] != "#"]
            assert [int(line[0]) for line in lines] == MTUS
            assert [int(line[3]) for line in lines] == packets
            assert all(float(line[1]) > 0 for line in lines)
            assert "Mbit/s" in text.split("\n")[2]
    assert (tmp_path / "mtu-sweep.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    last = result.stdout.strip().split("\n")[-1]
    assert re.match(r"(no dip|DIP): .* worst ratio is \d\.\d{3} .* at MTU \d+ against \d+$|"
                    r"no dip: .* worst ratio is \d+\.\d{3}", last), last
    for direction in ("encap", "decap"):
        assert len(re.findall(rf"^{direction} +(?:off|auto) +7 ", result.stdout, re.M)) == 2


def test_wrong_options(tmp_path):
    for arguments, word in ((["--mtu"], "--mtu"), (["--fast"], "--fast"), (["--rows", "1/2"], "--lab"),
                            (["--lab", "--mtu", "1500"], "--mtu"),
                            (["--build", str(tmp_path)], "perf_path")):
        result = sweep(*arguments)
        assert result.returncode == 1 and word in result.stdout, result.stdout
