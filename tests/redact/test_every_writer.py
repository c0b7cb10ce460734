"""Whoever writes below the data root takes secrets out first: thirty kinds of them, in all that is given to each writer."""

import json
from pathlib import Path

import pytest

from e2e.model import use
from learn.backfill.test_backfill import Past
from memtui.models.subconscious import blocks
from memtui.models.subconscious.run_process import Along
from memtui.worker import gate_drafts
from models.subconscious.conftest import Read
from transfer.conftest import Desk

from .secretkinds import NAMES, PLACED_KINDS, SHAPED_KINDS, leaks, planted, texts_below

KINDS = [*SHAPED_KINDS[::7], *PLACED_KINDS[::7], *[(name, f"{name} <<{{P12}}>>") for name in NAMES[::12]]]
QUOTE = "and never by hand"


def wish(text):
    return f"No, that is wrong. From now on always deploy with {text} {QUOTE}."


class Scene:
    """Where a writer writes: a place with a project, a loopback model, and the secrets that are not to be in it."""

    def __init__(self, base, api, patch, made):
        self.base, self.api, self.patch = base, api, patch
        self.texts = [f"this: {text}" for _, text, _ in made]  # nothing tells 40 letters by themselves from a path
        self.secrets = [(name, secret) for name, _, secret in made]
        self.root, self.shop = base / "root", base / "shop"
        self.env = {"HOME": str(base), "CLAUDE_CONFIG_DIR": str(base / "config"), "MEMTUI_HOME": str(self.root)}

    def project(self):
        (self.shop / ".git").mkdir(parents=True)

    def portions(self, size=8):
        for start in range(0, len(self.texts), size):
            yield self.texts[start : start + size]

    def check(self):
        """No piece of a secret is in a file below a data root."""
        texts = [(path, text) for path, text in texts_below(self.base) if {"memtui", "root"} & {*path.parts}]
        assert leaks(texts, self.secrets) == []


def backfill(scene):
    past = Past(scene.base)
    past.say("one", *map(wish, scene.texts))
    past.say("one", *[f"{text} is what I use." for text in scene.texts])
    past.fill(most=0)
    assert past.drafts()


def imports(scene):
    desk = Desk(scene.base)
    (scene.base / "notes").mkdir()
    for number, text in enumerate(scene.texts):
        about = f"---\nname: note-{number}\ndescription: With {text}\n---\n"
        (scene.base / "notes" / f"{number}.md").write_text(
            f"{about}# Note {number} {text}\n\nIt is deployed with {text} only.\n"
        )
    desk.take(scene.base / "notes")
    assert desk.drafts()


class _KilledError(BaseException):
    pass


def killed_subconscious(scene):
    """It is killed when the answer is saved, and nothing of it done yet."""

    def killed(*_):
        raise _KilledError

    read = Read(scene.base, scene.api)
    for some in scene.portions():
        read.says("\n\n".join([wish("it"), *some]), "\n\n".join(["I will deploy it.", *some]))
        quote = {"quote": "From now on always deploy with"}
        answer = {
            "note": "\n".join(some),
            "edits": [{"block": "project_context", "old": "", "new": each, **quote} for each in some],
            "whispers": [{"text": each, **quote} for each in some[:2]],
        }
        with scene.patch.context() as patched:
            patched.setattr(Along, "_act", killed)
            with pytest.raises(_KilledError):
                read.run(use("answer", **answer))
        assert "answer" in (Path(read.root) / "subconscious/sessions" / f"{read.session}.json").read_text()
        scene.check()
        read.run()


def mentions(scene):
    read = Read(scene.base, scene.api)
    for some in scene.portions():
        read.says("\n\n".join(f"@memtui remember this: {text}" for text in some))
        read.run(use("answer"))
        scene.check()


def blocks_by_hand(scene):
    """The block itself is the person's own file; of its text nothing is kept elsewhere."""
    read = Read(scene.base, scene.api)
    for some in scene.portions():
        read.block("project_context", "\n".join(some))
        try:
            read.blocks.edit("project_context", "", "Deploys on Tuesdays.", run="r", session="s")
        except blocks.RefusedEditError as error:
            assert "secret" in error.message  # noqa: PT017
    read.block("project_context", "")


def refused_writes(scene):
    scene.project()
    for number, text in enumerate(scene.texts):
        transcript = scene.base / f"s{number}.jsonl"
        row = {"type": "user", "sessionId": f"s{number}", "message": {"content": f"deploy it with {text} to staging"}}
        transcript.write_text(json.dumps(row) + "\n")
        path = str(scene.base / "config" / "memory" / f"m{number}.md")
        given = {"file_path": path, "content": f"---\nname: m\ndescription: {text}\n---\n\n{text}\n"}
        payload = {"transcript_path": str(transcript), "tool_input": given}
        assert gate_drafts.keep(scene.env, str(scene.shop), f"s{number}", path, "Write", payload)
    found = "".join(each.read_text() for each in scene.root.rglob("pending-updates.md"))
    assert "request=" in found


WRITERS = [
    backfill, imports, killed_subconscious, mentions, blocks_by_hand, refused_writes,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS, ids=lambda each: each.__name__)
def test_no_secret_of_any_kind_gets_into_a_file(tmp_path, api, monkeypatch, writer):
    assert len(KINDS) >= 30
    made = [(name, *planted(template, writer.__name__)) for name, template in KINDS]
    scene = Scene(tmp_path, api, monkeypatch, made)
    writer(scene)
    scene.check()
