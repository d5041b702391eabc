# SPDX-License-Identifier: BSD-3-Clause
"""Session set-up (namespace, hugepages) and the summary of the public cases."""
import os
import shutil

import pytest

import cases
import vtep
from ports import Hugepages, Namespace


def pytest_configure(config):
    config.addinivalue_line("markers", "case(number): covers a case of CASES.md")
    config.vx_cases, config.vx_failed = set(), set()


def pytest_sessionstart(session):
    if session.config.option.collectonly:
        return
    if os.geteuid() != 0:
        pytest.exit("the black-box tests need root: network namespaces and memory", 1)
    if not os.access(vtep.BINARY, os.X_OK):
        pytest.exit("no program at %s: build it, or set VX_BINARY" % vtep.BINARY, 1)


def pytest_collection_modifyitems(items):
    for item in items:
        for marker in item.iter_markers("case"):
            for number in set(marker.args) & set(cases.NOT_YET):
                item.add_marker(pytest.mark.skip(reason="case %03d %s" % (
                    number, cases.NOT_YET[number])))
        if not cases.PRESENT and item.get_closest_marker("case") and \
                item.path.name.startswith("test_cases"):
            item.add_marker(pytest.mark.skip(reason="no cases at %s (VX_CASES)" % cases.FOLDER))


@pytest.fixture(scope="session", autouse=True)
def space():
    """The namespace and the hugepages of this run; given back whatever happens."""
    pages = Hugepages(vtep.HUGEPAGES)
    vtep.Space.hugepages = pages.available
    try:
        vtep.Space.namespace = Namespace()
        yield vtep.Space
    finally:
        if vtep.Space.namespace is not None:
            vtep.Space.namespace.close()
        pages.close()


@pytest.fixture
def folder(tmp_path):
    yield str(tmp_path)
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when != "call":
        return
    for marker in item.iter_markers("case"):
        passed = outcome.get_result().passed
        (item.config.vx_cases if passed else item.config.vx_failed).update(marker.args)


def pytest_terminal_summary(terminalreporter, config):
    if cases.PRESENT and (config.vx_cases or config.vx_failed):
        terminalreporter.section("public cases")
        for line in cases.report(config.vx_cases - config.vx_failed, config.vx_failed):
            terminalreporter.write_line(line)
