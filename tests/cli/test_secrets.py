"""What holds a secret is asked about before it is kept; where nobody can be asked the secret is taken out, and told."""

import os
import random
import string

import pytest

from memtui.base import paths_hot
from memtui.cli.context import Context
from memtui.inbox import format_hot

KEY = "gh" + "p_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
LOOKS = "looks like it holds a GitHub token"


@pytest.fixture
def asked(monkeypatch):
    """Somebody sits at the terminal."""
    monkeypatch.setattr(Context, "can_ask", property(lambda _: True))


def notes(shell):
    return format_hot.read(
        paths_hot.inbox_dir(shell.env["HOME"] + "/.claude/memtui", paths_hot.project_key(shell.cwd)) + "/guidance.md"
    )


def kept(shell):
    """Every byte below the home directory."""
    found = b""
    for top, _, names in os.walk(shell.env["HOME"]):
        for name in names:
            with open(os.path.join(top, name), "rb") as file:
                found += file.read()
    return found.decode("utf-8", "replace")


def test_a_script_leaves_its_note_without_the_secret_and_a_person_is_asked(bare, monkeypatch):
    done = bare("note", "CI is red,", KEY, "expired", "--from", "ci-watch")
    (note,) = notes(bare)
    assert (note.text, done.out) == ("CI is red, [redacted: GitHub token] expired", note.id[-6:] + "\n")
    assert LOOKS in done.err
    assert "--yes" in done.err
    assert KEY not in kept(bare)
    assert (bare("note", "--yes", f"use {KEY}").err, notes(bare)[1].text) == ("", f"use {KEY}")
    monkeypatch.setattr(Context, "can_ask", property(lambda _: True))
    done = bare("note", f"now use {KEY}", stdin="n\n", check=False)
    assert (done.code, len(notes(bare))) == (1, 2)
    assert LOOKS in done.err
    assert "No note was saved" in done.err
    bare("note", f"now use {KEY}", stdin="y\n")
    assert notes(bare)[2].text == f"now use {KEY}"


def test_memories_are_made_and_changed_without_the_secret(bare):
    made = bare.json("new", "deploy", "--body", f"Deploy with {KEY}.")
    assert made["redacted"] == ["GitHub token"]
    changed = bare.json("edit", "deploy", "--description", f"{KEY} deploys")
    assert changed["redacted"] == ["GitHub token"]
    assert "[redacted: GitHub token] deploys" in kept(bare)
    assert KEY not in kept(bare)
    bare("edit", "deploy", "--body", f"Deploy with {KEY}.", "--yes")
    assert KEY in kept(bare)


def test_approving_with_another_body_takes_the_secret_out(memtui):
    draft = memtui.json("inbox", "--kind", "drafts")["entries"][0]["id"]
    done = memtui("approve", draft, "--body", f"Always use {KEY}")
    assert LOOKS in done.err
    assert "[redacted: GitHub token]" in done.out
    assert KEY not in done.out
