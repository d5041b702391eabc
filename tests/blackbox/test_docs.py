# SPDX-License-Identifier: BSD-3-Clause
"""The documents say what the program does: names, commands, options, examples and start files."""
import glob
import html
import os
import re

import pytest

from ports import PcapPort
from vtep import COUNTER, REPO, Vtep, alone, counters

EXAMPLES = sorted(glob.glob(os.path.join(REPO, "config/examples/*.conf")))
STARTUP = os.path.join(REPO, "config/startup.conf")
WORD = re.compile(r"[a-z][a-z0-9-]*\Z")  # a literal word of a command


def read(path):
    with open(os.path.join(REPO, path), encoding="utf-8") as file:
        return file.read()


def section(text, heading, level):
    """What stands between a heading of Markdown and the next one of its level or above."""
    found = re.search(r"^%s %s\n(.*?)(?=^#{1,%d} |\Z)" % ("#" * level, re.escape(heading), level),
                      text, re.M | re.S)
    assert found, "no section %r" % heading
    return found.group(1)


def rows(text):
    """The cells of each row of the tables of Markdown in @text, heads and rules left out."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rules = [i for i, row in enumerate(cells) if set("".join(row)) <= set("-: ")]
    return [row for i, row in enumerate(cells) if i not in rules and i + 1 not in rules]


def three_ports():
    return {"U": PcapPort(), "A": PcapPort(), "A2": PcapPort()}


@pytest.fixture(scope="module", name="printed")
def fixture_printed():
    """What a program without configuration prints."""
    with Vtep({"U": PcapPort(), "A": PcapPort()}) as vtep:
        return {line: vtep.cli(line) for line in ("help", "show fwd stats all", "show drops",
                                                  "show config")}


# -- counters and drops ---------------------------------------------------------------------------

def listed(path):
    """(name, explanation) of each X() of a list in a header, in order."""
    found = re.findall(r'\bX\(\w+,\s*"(\w+)",\s*"([^"]+)"\)', read(path))
    assert len(found) > 20
    return found


@pytest.mark.parametrize("heading, path", [("Counters", "lib/base/vx_count.h"),
                                           ("Drop reasons", "lib/base/vx_drop.h")])
def test_names_are_those_of_the_header(heading, path):
    table = [(row[0].strip("`"), row[1])
             for row in rows(section(read("docs/cli.md"), heading, 3))]
    assert table == listed(path)


@pytest.mark.parametrize("line, computed", [("show fwd stats all", {"held", "dropped"}),
                                            ("show drops", {"total"})])
def test_names_that_are_printed_are_explained(printed, line, computed):
    header = "lib/base/vx_drop.h" if line == "show drops" else "lib/base/vx_count.h"
    names = [name for name, _ in COUNTER.findall(printed[line])]
    assert len(names) == len(set(names))
    assert set(counters(printed[line])) == {name for name, _ in listed(header)} | computed
    text = read("docs/cli.md")
    for name in names:
        assert "`%s`" % name in text, name


@pytest.mark.parametrize("path", ["docs/packet-walk.md", "docs/tuning.md", "docs/cli.md",
                                  "docs/architecture.md", "docs/concurrency.md", "README.md"])
def test_underscored_names_exist(path):
    """What looks like a counter in a text is one, or a name in the source."""
    known = {name for header in ("count", "drop")
             for name, _ in listed("lib/base/vx_%s.h" % header)}
    source = "".join(read(name) for pattern in ("app/*.[ch]", "lib/*/*.[ch]", "scripts/*")
                     for name in glob.glob(os.path.join(REPO, pattern)) if os.path.isfile(name))
    devices = {"af_packet", "af_xdp"}
    for name in re.findall(r"`([a-z]+(?:_[a-z0-9]+)+)(?:\(\))?`", read(path)):
        assert name in known or name in devices or name.startswith(("net_", "rte_")) or \
            re.search(r"\b%s\b" % name, source), "%s names %s" % (path, name)


# -- commands -------------------------------------------------------------------------------------

def syntaxes(text):
    """The syntax of each command of `help`."""
    found = [re.split(r"\s{2,}", line.strip())[0] for line in text.split("\n")
             if re.match(r"  \S", line)]
    assert len(found) > 40
    return found


def literals(syntax):
    """The literal words of a syntax, choices included."""
    return tuple(word for word in re.split(r"[\s|\[\]/.]+", syntax) if WORD.match(word))


def documented():
    """The commands in the tables of docs/cli.md as they are written there."""
    text = read("docs/cli.md")
    found = []
    for heading in ("Running", "Underlay", "Segments", "Settings", "Ports",
                    "Where did my packet go?"):
        # what stands before its subsections only
        for row in rows(section(text, heading, 2).split("\n### ")[0]):
            spans = re.findall(r"`([^`]+)`|<code>(.*?)</code>", row[0])
            assert spans, "no command in %r" % row
            found += [plain or html.unescape(marked) for plain, marked in spans]
    return found


def manual_items(name, macro):
    """(title, text) of the items of one section of the manual."""
    part = re.search(r"^\.Sh %s\n(.*?)^\.Sh " % name, read("docs/dpdk-vxlan.8"), re.M | re.S)
    return [tuple(item.split("\n", 1)) for item in part.group(1).split("\n.It ")[1:]
            if item.startswith(macro)]


def test_every_command_is_in_cli_md(printed):
    assert sorted(documented()) == sorted(syntaxes(printed["help"]))


def test_every_command_is_in_the_manual(printed):
    macros = {"Ic", "Ar", "Op", "Oo", "Oc", "Ns", "Cm"}
    found = [tuple(word for word in part.split() if word not in macros and WORD.match(word))
             for title, _ in manual_items("COMMANDS", "Ic ") for part in title.split(" , ")]
    assert sorted(found) == sorted(map(literals, syntaxes(printed["help"])))


@pytest.mark.parametrize("path", ["README.md", "docs/cli.md"])
def test_commands_at_a_prompt_work(path):
    """The sessions in a document, typed in as they stand there, without the waiting."""
    lines = [line.split("#")[0] for line in re.findall(r"^dpdk-vxlan> (.*)$", read(path), re.M)]
    assert len(lines) > 5
    with Vtep(three_ports()) as vtep:
        vtep.cli("stop")
        for line in lines:
            vtep.cli(re.sub(r"^sleep .*", "sleep 0", line))


# -- options --------------------------------------------------------------------------------------

def help_options():
    """{option: its text} of --help."""
    done = alone(eal=["--help"])
    assert done.returncode == 0
    text = done.stdout.split("\nExamples:")[0]
    parts = re.split(r"^  (?=(?:-\w, |    )--\w)", text, flags=re.M)[1:]
    return {re.match(r"\s*(?:-\w, *)?--([a-z-]+)", part).group(1): " ".join(part.split())
            for part in parts}


def test_every_option_is_in_the_manual():
    options = help_options()
    assert len(options) > 20
    titles = [(re.findall(r"Fl -([a-z-]+)", title), title + " " + " ".join(text.split()))
              for title, text in manual_items("OPTIONS", "Fl ")]
    assert sorted(name for names, _ in titles for name in names) == sorted(options)
    for names, text in titles:
        for name in names:
            for letter in re.findall(r"^-(\w), ", options[name]):
                assert "Fl %s ," % letter in text
            for limits in re.findall(r"\b\d+ to \d+\b", options[name]):
                assert limits in text, "--%s: %s" % (name, limits)


# -- start files ----------------------------------------------------------------------------------

def by_name(vtep, line):
    """A command as `show config` writes it: ports by name."""
    names = [port.name for port in vtep.ports.values()]
    return re.sub(r"\b(port|access add) (\d)\b",
                  lambda found: "%s %s" % (found.group(1), names[int(found.group(2))]),
                  line).lower()


def assert_configured(vtep, lines):
    found = {line.lower() for line in vtep.config_lines()}
    missing = [line for line in lines if by_name(vtep, line) not in found]
    assert not missing, "%s not in %s" % (missing, sorted(found))


def test_there_are_examples():
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("path", EXAMPLES, ids=os.path.basename)
def test_example_loads(path):
    """As it is: the ports of examples are numbers, in the order in which their text has them."""
    lines = [line for line in read(path).split("\n") if line and not line.startswith("#")]
    assert lines
    with Vtep(three_ports(), options=["--cmdline-file", path]) as vtep:
        assert_configured(vtep, lines)


def test_startup_file_changes_nothing(printed):
    assert not [line for line in read(STARTUP).split("\n") if line and line[0] != "#"]
    with Vtep({"U": PcapPort(), "A": PcapPort()}, options=["--cmdline-file", STARTUP]) as vtep:
        assert vtep.cli("show config") == printed["show config"]


def commented():
    """The commands of the start file behind their "#", for the ports of three_ports()."""
    lines = re.findall(r"^#([a-z].*)$", read(STARTUP), re.M)
    for shown, name in (("0000:03:00.0", "{U}"), ("0000:03:00.1", "{A}"), ("net_tap0", "{A2}"),
                        ("net_tap1", "net_null9")):
        assert any(shown in line for line in lines)
        lines = [line.replace(shown, name) for line in lines]
    return lines


def test_startup_file_uncommented():
    lines = commented()
    assert len(lines) > 15
    with Vtep(three_ports(), "\n".join(lines)) as vtep:
        assert_configured(vtep, [vtep.names(line) for line in lines])


def test_startup_file_has_the_defaults(printed):
    """Its settings are all that there are, and as they are by default."""
    settings = [line for line in commented() if line.startswith("set ") and " vni " not in line]
    assert settings == [line for line in printed["show config"].split("\n") if line]
