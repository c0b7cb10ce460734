"""What the command line prints in the sample world, command by command, as transcript.txt and transcripts/*.txt say.

A transcript is its own script: `$ memtui …` is run, and below stands what it prints, errors too, and `[CODE]` where it
ends with another code than 0; any other line behind `$ ` is one of a shell, there too.
The world of transcripts/bare-*.txt is an empty home with a repository; `$ laptop …` is memtui on another machine. To change one edit the commands, and let

    MEMTUI_RENEW_SNAPSHOTS=1 pytest tests/cli/test_transcript.py

write the rest; look at its diff before committing it.
"""

import difflib
import itertools
import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from memtui.base import clock_hot, paths_hot
from tui import stage
from tui.test_snapshots import RENEW, renewing

from .conftest import Shell

HERE = Path(__file__).parent
TRANSCRIPTS = [HERE / "transcript.txt", *sorted(HERE.glob("transcripts/*.txt"))]
# What is random, takes its time, or grows with the length of a path; a path that was cut.
VARYING = re.compile(
    r'(?<= )"[0-9A-HJKMNP-TV-Z]{26}"|(?<=[" /-])[0-9a-f]{16}(?=["\.])|"[0-9a-f]{10}(?:[0-9a-f]{2})?"|"[0-9a-f]{64}"|(?<="ms": )[\d.]+|(?<=· memtui )[\d.]+|(?<="version": ")[\d.]+'
    r"|\b[0-9A-HJKMNP-TV-Z]{6}\b|(?<![\w.])[0-9a-f]{6}(?=[ :]|$)|(?<=-you-\w{4}\.)\w{6}|/tmp/memtui-\w+…|\b[\d.]+(?= ms\b| kB in all)",
    re.MULTILINE,
)


def steady(text, top):
    """What was printed, with names and signs for what differs from run to run."""
    names = {top + "/home": "~", top: "~", paths_hot.slug(top): "-home-you", stage.SOURCES: "~/memtui"}
    for private, name in names.items():
        text = text.replace(private, name)
    return VARYING.sub(lambda match: "#" * (6 if len(match[0]) > 5 else 2), text).rstrip("\n").split("\n")


def bare(top):
    """An empty home and a repository, and how to call memtui there."""
    for each in ("home", "shop/.git"):
        os.makedirs(f"{top}/{each}")
    return {"HOME": f"{top}/home"}, f"{top}/shop"


def run(memtui, line):
    """What a line prints, and its exit code."""
    program, *words = shlex.split(line)
    if program == "laptop":
        home = memtui.env["HOME"].replace("/home", "/laptop")
        os.makedirs(home, exist_ok=True)
        memtui = Shell(memtui.monkeypatch, memtui.capture, {**memtui.env, "HOME": home}, memtui.cwd)
    if program in {"memtui", "laptop"}:
        stdin = Path(memtui.cwd, words.pop()).read_bytes() if words[-2:-1] == ["<"] else b""
        done = memtui(*words[: -1 if stdin else None], stdin=stdin, check=False)
        out = json.dumps(json.loads(done.out), indent=1, ensure_ascii=False) if "--json" in words else done.out
        return out + done.err, done.code
    env = {**memtui.env, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(line, shell=True, cwd=memtui.cwd, env=env, text=True, stdout=PIPE, stderr=STDOUT)
    return done.stdout, done.returncode


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_commands_print_what_they_printed(path, monkeypatch, capsysbinary):
    before, renews = path.read_text(encoding="utf-8").split("\n"), renewing()
    with stage.environment(), stage.place() as top:
        if path.name.startswith("bare-"):
            env, cwd = bare(top)
        else:
            world = stage.build(top)
            env, cwd = world.env, world.shop
        memtui = Shell(monkeypatch, capsysbinary, env | {"MEMTUI_NOW": clock_hot.iso(stage.NOW)}, cwd)
        after = list(itertools.takewhile(lambda line: not line.startswith("$ "), before))
        for line in before:
            if line.startswith("$ "):
                printed, code = run(memtui, line.removeprefix("$ "))
                for each in Path(top).rglob("*.md"):  # whatever day it is where this runs
                    if each.stat().st_mtime > stage.NOW:
                        os.utime(each, (stage.NOW, stage.NOW))
                after += [line, *filter(None, ["\n".join(steady(printed, top))]), *([f"[{code}]"] if code else []), ""]
        after = "\n".join(after).split("\n")
    if after == before:
        return
    if renews:
        path.write_text("\n".join(after), encoding="utf-8")
        return
    diff = difflib.unified_diff(before, after, "before", "now", n=2, lineterm="")
    command = f"{RENEW}=1 pytest tests/cli/test_transcript.py"
    lines = [f"That is printed otherwise now. If it is right: {command}", *itertools.islice(diff, 80)]
    pytest.fail("\n".join(lines), pytrace=False)
