"""What scripts rely on: the JSON envelope, exit codes, help with an example, and documents that lack nothing."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli import parser
from memtui.cli.output import width
from memtui.workspace import Workspace

from .conftest import NOW

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
# Every command and action, with arguments that work in the sample world.
CALLS = [shlex.split(line) for line in Path(__file__).with_name("calls.txt").read_text().splitlines()]
FINDINGS = {"doctor", "setup", "check"}
# What prints texts, paths and scripts as they are, whatever the width.
EXACT = {
    ("activity", "2CF53G"), ("setup", "completions", "bash"), ("status", "--paths"), ("status", "--paths", "guidance"),
    ("consolidate",), ("reject", "prefer-pnpm"), ("setup", "merge-driver", "--dry-run"),  # the lines of a diff
}  # fmt: skip


@pytest.fixture
def memtui(memtui, world, request):
    """The command line; where a command decides about what others wrote, somebody wrote a memory."""
    words = getattr(request.node, "callspec", None) and request.node.callspec.params.get("words")
    if words and words[1:2] == ["prefer-pnpm"] and words[0] in {"approve", "reject"}:
        Workspace(dict(world.env), world.shop, by="cli", now=NOW).take_in()
        with open(f"{world.shop}/.claude/memory/prefer-pnpm.md", "a") as file:
            file.write("Somebody's words.\n")
        os.utime(file.name, (NOW - 100, NOW - 100))
    if words and ("merge-driver" in words or words[0] == "sync"):
        for place in ([], ["--bare", "memories.git"]):
            subprocess.run(["git", "init", "-q", *place], cwd=world.shop, check=True)
        if words[0] == "sync" and "setup" not in words:
            memtui("sync", "setup", "memories.git", "--yes", *words[2:])
    return memtui


@pytest.mark.every(step=6)
@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_every_command_writes_lines_no_wider_than_the_terminal(memtui, words):
    memtui.env["COLUMNS"] = "60"
    done = memtui(*words, check=False)
    assert done.code in {0, 5}
    assert done.out.strip()
    assert "\x1b" not in done.out
    long = [each for each in done.out.splitlines() if width(each) > 60 and tuple(words) not in EXACT]
    assert [each for each in long if max(map(len, each.split())) < 20] == []


@pytest.mark.every(step=6)
@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_every_command_answers_in_the_envelope(memtui, words):
    done = memtui(*words, "--json", check=False)
    answer = json.loads(done.out)
    assert (done.out.count("\n"), set(answer)) == (1, {"v", "command", "ok", "data"})
    assert (answer["v"], answer["ok"], answer["command"]) == (1, True, words[0] if words else "memtui")
    assert done.code in ({0, 5} if words and words[0] in FINDINGS else {0})


def every_parser():
    pending = [(["memtui"], parser.build())]
    while pending:
        path, found = pending.pop()
        for action in found._actions:
            if isinstance(action, argparse._SubParsersAction):
                pending += [([*path, name], below) for name, below in action.choices.items()]
        if len(path) > 1:
            yield path, found


PARSERS = {" ".join(path[1:]): found for path, found in every_parser()}


def test_no_command_lacks_a_call_help_or_examples_that_can_be_parsed():
    called = {" ".join(words[:n]) for words in CALLS for n in (1, 2)} | {"demo"}
    assert set(PARSERS) <= called
    assert set(parser.COMMANDS) == {name for name in PARSERS if " " not in name}
    documents = DOCS.read_text()
    for name, found in PARSERS.items():
        text = found.format_help()
        assert re.search(rf"examples?:\n  memtui {name}", text)
        assert "--json" in text
        assert re.search(rf"`{name}\b[^`]*`", documents), f"docs/cli.md says nothing of `{name}`"
    root = parser.build()
    for found in PARSERS.values():
        for line in found.epilog.splitlines()[1:]:
            example = re.search(r"(?:^|\| )memtui ([^|>]*)", line.strip())
            if example:
                root.parse_args(shlex.split(example[1].replace('"$(', "").replace('")', "")))


REFUSED = [
    ("show no-such-memory", 3),
    ("new prefer-pnpm --scope project --body x", 4),
    ("frobnicate", 2),
    ("approve", 2),
]


def test_errors_are_one_shape_and_the_exit_code_says_which_kind(memtui):
    for line, code in REFUSED:
        words = line.split()
        done = memtui(*words, "--json", check=False)
        answer = json.loads(done.out)
        assert (done.code, answer["v"], answer["ok"]) == (code, 1, False), words
        assert set(answer["error"]) == {"message", "hint"}
        plain = memtui(*words, check=False)
        assert (plain.code, plain.out) == (code, "")
        assert plain.err.startswith("memtui: ")


def test_an_unexpected_error_is_one_line_and_debug_shows_where(memtui, world, monkeypatch):
    secret = f"sk-ant-api03-{'Ab3dEf9hIj' * 4}"
    monkeypatch.setattr("memtui.cli.commands.status.locate_hot.auto_dir", lambda *_: {}[secret])
    done = memtui("status", "--paths", check=False)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "KeyError" in done.err
    (record,) = [json.loads(line) for line in Path(world.root, "log/errors.jsonl").read_text().splitlines()][-1:]
    assert (record["where"], record["error"]) == ("memtui status", "KeyError")
    assert "Ab3dEf9hIj" not in record["message"]
    assert any("status.py" in place for place in record["trace"])
    answer = json.loads(memtui("status", "--paths", "--json", check=False).out)
    assert "doctor --errors" in answer["error"]["hint"]
    assert "Traceback" in memtui("status", "--paths", "--debug", check=False).err


def test_help_is_a_command_and_options_stand_anywhere(memtui, world):
    for words in ("help", "help help", "help list", "help setup hooks"):
        named = [word for word in words.split() if word != "help"]
        assert memtui(*words.split()).out == memtui(*named, "--help").out
    for name in ["", *PARSERS]:
        assert max(map(len, memtui("help", *name.split()).out.splitlines())) <= 80, name
    before = memtui("--json", "--project", world.blog, "list").data
    assert before == memtui("list", "--project", world.blog, "--json").data
    assert before["project"] == world.blog


@pytest.mark.slow
def test_nothing_is_written_by_looking(memtui, world):
    before = snapshot(world)
    looks = (
        "list,inbox J5VMX3,show prefer-pnpm,search pnpm,check,inbox,activity,trust --list,doctor,"
        "status --paths,config,undo --list,history,setup hooks --dry-run,"
    )
    for words in looks.split(","):
        memtui(*words.split(), check=False)
    assert snapshot(world) == before


def snapshot(world):
    caches = "/memtui/run/"
    files = (path for path in Path(world.directory).rglob("*") if path.is_file() and caches not in str(path))
    return {str(path): path.read_bytes() for path in files}


def test_note_imports_what_it_needs_and_no_more(world):
    code = (
        "import sys; from memtui.cli.main import main; main(['note', 'hello'])\n"
        "heavy = {'yaml', 'rapidfuzz', 'textual', 'anthropic', 'json', 'dataclasses', 'typing', 'tomllib', 'subprocess',"
        " 'difflib', 'pathlib', 'memtui.store.journal.journal', 'memtui.store.store', 'memtui.store.scopes', 'shutil'}\n"
        "heavy -= {'dataclasses'} if sys.version_info >= (3, 14) else set()  # argparse itself imports it\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    env = {**world.env, "PYTHONPATH": str(Path(parser.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=env, cwd=world.shop, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_what_would_be_asked_is_not_done_where_nobody_can_answer(memtui, world):
    for words in (["setup", "hooks"], ["trust"], ["trust", "--always"]):
        before = snapshot(world)
        done = memtui(*words, check=False)
        assert done.code == 1
        assert "--yes" in done.err
        assert snapshot(world) == before
        memtui(*words, "--yes")
        assert snapshot(world) != before


OLD = """index keep take-back cp restore redo triggers snooze items backfill deliveries receipts sessions hooks lint gc dream
llm learned semantic subconscious paths completions tui""".split()


def test_there_are_at_most_28_commands_and_no_old_ones_but_those_called(memtui):
    shown = memtui("--help").out
    assert len(parser.COMMANDS) <= 28
    assert list(parser.GROUPS) == ["see", "decide", "change", "tidy", "bring", "set up"]
    assert len(re.findall(r"^  [a-z]+ +[a-z]", shown.partition("\noptions")[0], re.MULTILINE)) == len(parser.COMMANDS)
    assert shown.count("\n") <= 62
    for name in OLD:
        assert name not in PARSERS
        refused = memtui(name, check=False)
        assert (refused.code, refused.err.startswith(f"memtui: There is no command “{name}”.")) == (2, True), name
    assert "guide" not in shown
    assert "statusline" not in shown.replace("status line", "")
    assert len(memtui("guide", "hello").out.strip()) == 6
    assert json.loads(memtui("guide", "hello", "--json").out)["command"] == "note"
    assert "memtui note" in memtui("help", "guide").out
    assert memtui("statusline", stdin="{}").out.startswith("memtui")
    assert memtui("statusline", "--after", "echo mine", stdin="{}").out.startswith("mine · memtui")
