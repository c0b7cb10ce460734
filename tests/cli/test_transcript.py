"""What the command line prints in the sample world, command by command, as transcript.txt says.

The transcript is its own script: `$ memtui …` is run, and below stands what it prints, errors too, and `[CODE]` where it
ends with another code than 0. To change it edit the commands, and let

    MEMTUI_RENEW_SNAPSHOTS=1 pytest tests/cli/test_transcript.py

write the rest; look at its diff before committing it.
"""

import difflib
import itertools
import re
import shlex
from pathlib import Path

import pytest

from memtui.base import clock_hot, paths_hot
from tui import stage
from tui.test_snapshots import RENEW, renewing

from .conftest import Shell

TRANSCRIPT = Path(__file__).with_name("transcript.txt")
PROMPT = "$ memtui"
# What is random, takes its time, or grows with the length of a path; a path that was cut.
VARYING = re.compile(
    r"\b[0-9A-HJKMNP-TV-Z]{6}\b|(?<![\w.])[0-9a-f]{6}(?= )|(?<=-you-shop\.)\w{6}|/tmp/memtui-\w+…|\b[\d.]+(?= ms\b| kB in all)",
    re.MULTILINE,
)


def steady(text, top):
    """What was printed, with names and signs for what differs from run to run."""
    names = {top + "/home": "~", top: "~", paths_hot.slug(top): "-home-you", stage.SOURCES: "~/memtui"}
    for private, name in names.items():
        text = text.replace(private, name)
    return VARYING.sub(lambda match: "#" * (6 if len(match[0]) > 5 else 2), text).rstrip("\n").split("\n")


def test_commands_print_in_the_sample_world_what_they_printed(monkeypatch, capsysbinary):
    before, renews = TRANSCRIPT.read_text(encoding="utf-8").split("\n"), renewing()
    with stage.environment(), stage.place() as top:
        world = stage.build(top)
        memtui = Shell(monkeypatch, capsysbinary, world.env | {"MEMTUI_NOW": clock_hot.iso(stage.NOW)}, world.shop)
        after = []
        for line in before:
            if line.startswith(PROMPT):
                done = memtui(*shlex.split(line.removeprefix(PROMPT)), check=False)
                code = [f"[{done.code}]"] if done.code else []
                after += [line, *steady(done.out + done.err, top), *code, ""]
    if after == before:
        return
    if renews:
        TRANSCRIPT.write_text("\n".join(after), encoding="utf-8")
        return
    diff = difflib.unified_diff(before, after, "before", "now", n=2, lineterm="")
    command = f"{RENEW}=1 pytest tests/cli/test_transcript.py"
    lines = [f"That is printed otherwise now. If it is right: {command}", *itertools.islice(diff, 80)]
    pytest.fail("\n".join(lines), pytrace=False)
