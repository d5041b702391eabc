# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the interop tests: a laboratory (scripts/lab) of its own for each test."""
import os

import pytest

import lab as laboratory


def pytest_sessionstart(session):
    if session.config.option.collectonly:
        return
    if os.geteuid() != 0:
        pytest.exit("the interop tests need root: network namespaces and hugepages", 1)
    if not os.access(laboratory.BINARY, os.X_OK):
        pytest.exit(f"no program at {laboratory.BINARY}: build it, or set VX_BUILD", 1)


@pytest.fixture
def make_lab():
    """A function that builds a laboratory; all are judged and taken down at the end."""
    made = []

    def make(**options):
        made.append(laboratory.Lab(**options))
        return made[-1].up()

    try:
        yield make
        for one in made:
            one.judge()
    finally:
        for one in made:
            one.down()


@pytest.fixture
def lab(make_lab):
    """Inner MTU 1500 over a physical MTU of 1600, one kernel peer."""
    return make_lab()
