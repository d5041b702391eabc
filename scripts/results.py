#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Count the tests in what the test runners write, for scripts/test.

usage: results.py KIND FILE     KIND: meson (testlog.json), junit (pytest's xml) or tap
Prints "passed failed skipped", then "fail NAME<tab>MESSAGE" and "skip NAME<tab>REASON" lines.
Status 2 if the file is missing or holds no test at all: a suite that did not run has not passed.
"""
import json
import re
import sys
import xml.etree.ElementTree

TAP_LINE = re.compile(r"^(not ok|ok)\b\s*\d*\s*(?:-\s*)?(.*)$")


def first_line(text):
    lines = [line.strip() for line in (text or "").split("\n") if line.strip()]
    return lines[0][:160] if lines else ""


def read_tap(text, prefix=""):
    """(name, result, message) of each test; what follows a failure is its message."""
    tests = []
    for line in text.split("\n"):
        match = TAP_LINE.match(line)
        if match is None:
            if tests and tests[-1][1] == "fail" and line.startswith("# ") and not tests[-1][2]:
                tests[-1][2] = line[2:]
            continue
        state, rest = match.groups()
        name, _, directive = rest.partition("#")
        skip = re.match(r"\s*skip\S*\s*(.*)", directive, re.I)
        if skip is not None:
            # cmocka puts the name behind the word, others before it.
            tests.append([prefix + (name.strip() or skip.group(1)), "skip", skip.group(1)])
        else:
            tests.append([prefix + name.strip(), "pass" if state == "ok" else "fail", ""])
    return tests


def read_meson(path):
    tests = []
    with open(path, encoding="utf-8") as file:
        for line in filter(str.strip, file):
            entry = json.loads(line)
            name = entry["name"].split(" / ")[-1]
            output = entry.get("stdout", "") + "\n" + entry.get("stderr", "")
            found = read_tap(output, name + ": ")
            is_good = entry["result"] in ("OK", "SKIP", "EXPECTEDFAIL")
            planned = sum(int(n) for n in re.findall(r"^1\.\.(\d+)", output, re.M))
            if not is_good and not any(test[1] == "fail" for test in found):
                found.append([name, "fail", f"{entry['result']}, status {entry['returncode']}: "
                              + first_line(output.strip().split("\n")[-1])])
            elif is_good and len(found) < planned:
                found.append([name, "fail", f"{len(found)} of {planned} tests reported"])
            elif not found:
                # Not cmocka: the executable is the test.
                found.append([name, "skip" if entry["result"] == "SKIP" else "pass", ""])
            tests += found
    return tests


def read_junit(path):
    tests = []
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        folder = case.get("classname", "").replace(".", "/")
        name = f"{folder}.py::{case.get('name')}" if folder else case.get("name")
        result, message = "pass", ""
        for child in case:
            if child.tag in ("failure", "error"):
                result, message = "fail", first_line(child.get("message"))
            elif child.tag == "skipped":
                result, message = "skip", first_line(child.get("message"))
        tests.append([name, result, message])
    return tests


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: results.py meson|junit|tap FILE")
    kind, path = sys.argv[1:]
    try:
        if kind == "tap":
            with open(path, encoding="utf-8") as file:
                tests = read_tap(file.read())
        else:
            tests = {"meson": read_meson, "junit": read_junit}[kind](path)
    except (OSError, ValueError, xml.etree.ElementTree.ParseError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        sys.exit(2)
    if not tests:
        print(f"{path}: no tests in it", file=sys.stderr)
        sys.exit(2)
    print(*(sum(test[1] == result for test in tests) for result in ("pass", "fail", "skip")))
    for name, result, message in tests:
        if result != "pass":
            print(f"{result} {name}\t{message}")


if __name__ == "__main__":
    main()
