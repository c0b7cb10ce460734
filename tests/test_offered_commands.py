"""Commands that memtui offers: a name in one is one word of it, whatever the name is."""

import ast
import os
import re
import shlex
import string
import subprocess
from pathlib import Path

import pytest

import memtui
from memtui.base import findings
from memtui.base.finding import problem
from memtui.base.shell import shell_word
from memtui.cli import parser
from memtui.views import safe_text

SOURCES = Path(memtui.__file__).parent
HOSTILE = [
    "notes$(touch PWNED)", "b; touch P b", "Copy of ports", "ports (conflicted copy 2026-11-20)", "it's `touch P`",
    'say "no" && touch P', "a|b>c<d&e", "-rf", "--help", "*", "~", "#x", "!!", "new\nline; touch P", "tab\tin it",
    "\u2019; touch P; \u2019", "\u201c$(touch P)\u201d", "two  blanks", "\u202egnp.exe", "hid\u3164den", "back\\slash",
    "\x1b[31mred", "\u65b0\u805e $(touch P)", "Entwu\u0308rfe", "$'; touch P; '", "x\r\ntouch P", "{scope}", "",
]  # fmt: skip
# A command in a sentence, up to a fact in it: the rest of the sentence is not looked at.
COMMAND = re.compile(
    rf"(?:^|[\s(`:,;|])(?:memtui (?:--|(?:{'|'.join(parser.COMMANDS)})\b)|(?:claude|cd|rm|mv|cp|chmod|chown|sudo) )[^.;`\n]*\0"
)
# Facts that are words of memtui's own, by the file of the sentence.
OWN = {
    "cli/commands/note.py": {"short"},
    "cli/commands/config.py": {"args.key", "key"},
    "cli/commands/demo.py": {"name", "quoted"},
    "cli/commands/change.py": {"trashed"},
    "cli/commands/setup.py": {"name", "more"},
    "hooks/install/agents.py": {"program.name"},
    "cli/commands/decide.py": {"args.kind", "many(earlier, 'earlier session')"},
    "base/findings.py": {"WITHDRAW"},
    "demo/content.py": {"number"},
    "views/deliveries.py": {"command"},
    "views/notes.py": {"line(where)"},
    "recall/segment_hot.py": {"VERSION"},
    "sync/membership.py": {"team"},
}


def arguments(text, tmp_path):
    """The arguments that a shell gives to the programs of a command line; they are stubs that write them down."""
    stub = tmp_path / "bin" / "memtui"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text('#!/bin/sh\nfor each; do printf "%s\\0" "$each"; done >> "$SEEN"\n')
    stub.chmod(0o755)
    work, seen = tmp_path / "work", tmp_path / "seen"
    work.mkdir(exist_ok=True)
    seen.write_bytes(b"")
    env = {"PATH": f"{stub.parent}:/usr/bin:/bin", "SEEN": str(seen), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", text], cwd=work, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr, os.listdir(work)) == (0, b"", []), text
    return [os.fsdecode(each) for each in seen.read_bytes().split(b"\0")[:-1]]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_argument_and_nothing_else_runs(name, tmp_path):
    word = shell_word(name)
    option = ["--"] if name.startswith("-") else []
    assert arguments(f"memtui edit {word}", tmp_path) == ["edit", *option, name]
    assert arguments(f"memtui edit auto:{shell_word(name) if not option else name}", tmp_path) == [
        "edit",
        f"auto:{name}",
    ]
    if "$'" not in word:
        assert shlex.split(word) == [*option, name]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_screen_shows_a_word_as_it_is_copied(name):
    from memtui.cli import output
    from memtui.views import glyphs

    word = shell_word(name)
    assert safe_text.line(word) == safe_text.clean(word) == output.line(word) == word
    plain = word.encode("ascii", glyphs.ERRORS).decode()
    assert plain.replace("\\u65b0\\u805e", "\u65b0\u805e") == word


@pytest.mark.parametrize("name", [each for each in HOSTILE if "'" in each or "\n" in each])
def test_a_shell_without_octal_quotes_runs_nothing_either(name, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run(["sh", "-c", f": {shell_word(name)}"], cwd=work, check=True, capture_output=True)
    assert os.listdir(work) == []


def places(template):
    return [name for _, name, _, _ in string.Formatter().parse(template) if name]


OFFERING = [code for code, kind in findings.REGISTRY.items() if places(kind.remedy)]


@pytest.mark.every(step=5)
@pytest.mark.parametrize("code", OFFERING)
def test_each_fact_of_each_remedy_is_one_word(code, tmp_path):
    assert len(OFFERING) > 30
    template = findings.REGISTRY[code].remedy
    for name in HOSTILE:
        said = findings.remedy(problem(code, **dict.fromkeys(places(template), name)))
        for part, whole in zip(re.split(r"(?:, or |; or )", template), re.split(r"(?:, or |; or )", said), strict=True):
            start = part.find("memtui ")
            if start < 0 or not places(part):
                continue
            command = whole[whole.index("memtui ") :].split("   (")[0]
            wanted = []
            for word in part[start:].split("   (")[0].split(" ")[1:]:
                if word == "--" or not word:
                    continue
                option = ["--"] if re.match(r"\{\w+\}", word) and name.startswith("-") else []
                wanted += [*option, re.sub(r"\{\w+\}", lambda _: name, word)]
            assert arguments(command, tmp_path) == wanted, said


def test_the_advice_on_a_file_of_a_repository_opens_that_file_alone(tmp_path):
    facts = {"scope": "project", "memory": "notes$(touch PWNED)"}
    said = findings.remedy(problem("memories.no_frontmatter", **facts))
    assert said == "If it is a memory: memtui edit 'project:notes$(touch PWNED)' --description …"
    apart = findings.remedy(problem("memories.alike", scope="auto", memory="Copy of ports", other="auto:-x"))
    assert apart.endswith("memtui check --apart 'auto:Copy of ports' auto:-x")


def is_word(value, own):
    """Whether an expression is memtui's own words, a number or a quoted word."""
    if ast.unparse(value) in own:
        return True
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.IfExp):
        return is_word(value.body, own) and is_word(value.orelse, own)
    if isinstance(value, ast.BinOp):
        return is_word(value.left, own)
    if isinstance(value, ast.Call):
        called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return called in {"shell_word", "short_id", "len"}
    return False


@pytest.mark.slow
def test_no_command_in_the_sources_has_a_fact_that_is_not_quoted():
    wrong = []
    for file in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.JoinedStr):
                continue
            said = "".join(str(e.value) if isinstance(e, ast.Constant) else "\0" for e in node.values)
            facts = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
            asked = {
                said[: m.end()].count("\0") - 1 - i for m in COMMAND.finditer(said) for i in range(m[0].count("\0"))
            }
            wrong += [
                f"{file.relative_to(SOURCES)}:{node.lineno}: {ast.unparse(facts[at])} in {said!r}"
                for at in sorted(asked)
                if not is_word(facts[at], OWN.get(str(file.relative_to(SOURCES)), ()))
            ]
    assert not wrong, "\n".join(wrong)
