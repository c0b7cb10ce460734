"""A stage for pictures of the screens: the sample world with hooks and a client, where and when nothing else shows.

The snapshots here and screenshots/make.py draw on it. Whatever machine draws, the picture is the same.
"""

import asyncio
import dataclasses
import json
import os
import re
import secrets
import shutil
import time
from contextlib import contextmanager

from textual.widgets import TextArea

from memtui import recall_preview
from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.deliver.blocks_hot import Part
from memtui.demo import content, sessions, world
from memtui.hooks.install import entries
from memtui.hooks.install import installation as install
from memtui.inbox import file_hot
from memtui.tui.app import MemtuiApp
from memtui.tui.files import COMMAND
from memtui.tui.screens.activity.sessions import DeliveryEntry, SessionGroup
from memtui.views import safe_text
from waiting import eventually

NOW = 1_795_000_000.0
# Lengths of paths count in what was delivered: the world's path has this length everywhere.
LENGTH = 40
CLIENT = "2.1.197"
NOTE = """The payment sandbox is down until Friday.
Mock it in `checkout.spec.ts`, and leave the retry limits as they are."""
SOURCES = os.path.dirname(os.path.dirname(entries.launcher_path()))
PATIENCE = 60.0
# What was said in an earlier session, and notes of elsewhere.
PAST = (
    "Never use npm here, from now on always use pnpm for packages.",
    "From now on, always run the linter before each commit.",
    "thanks, what is in this file?",
    "No, that is wrong, the second button is called Send.",
)
NOTES = {
    "backups.md": "# Backups\n\nThe database is saved each night at 3, to the second region.\n",
    "staging.md": "# Staging\n\nAsk in #sales before you reset it: the key is ghp_" + "wJ4kQ9z" * 5 + "x.\n",
}
# Milliseconds that a dry run of recall takes here, and a prompt for one.
TOOK = 1.4
PROMPT = "how do we put the new version live? with pnpm publish?"
# What the prompt brings, and how likely each is: the weights of recall are fitted anew now and then, pictures are not.
LIKELY = {"release-steps": 0.83, "prefer-pnpm": 0.22, "test-database": 0.06, "conventional-commits": 0.03}
PARTS = {"lexical": 16.0, "share": 0.9, "cosine": 0.5, "overlap": 0.1}
# The draft of the sample world that becomes a memory.
APPROVED = "no-snapshot-tests"
# The digits at the end of a project's key follow from the place.
KEY_OF_PLACE = re.compile(r"(-home-you[\w-]*)\.[0-9a-f]{6}")
SIZE_ON_DISK = re.compile(r"\b\d{2,3} kB(?= · | in all)")  # files name the interpreter, whose path is longer elsewhere
# Longer than any screen waits for the cursor to rest before it reads.
REST, RESTS = 0.05, 5


@contextmanager
def environment(**more):
    """In UTC, with colours, whatever the machine's environment says; `more` is set in it."""
    told = {name for name in os.environ if name.startswith("TEXTUAL")} | {"NO_COLOR", "TZ", *more}
    before = {name: os.environ.pop(name, None) for name in told}
    os.environ.update(TZ="UTC", **more)
    time.tzset()
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        time.tzset()


@contextmanager
def place():
    """An empty directory whose path has a fixed length. What is drawn says `~` for it, before lines are broken."""
    base = os.path.realpath("/tmp") + "/memtui-"
    top = base + secrets.token_hex(LENGTH)[: LENGTH - len(base)]
    os.mkdir(top, 0o700)
    names = {
        top + "/home": "~",
        top: "~",
        paths_hot.slug(top): "-home-you",
        SOURCES: "~/.venv/memtui",
        entries.choose_interpreter(): "/usr/bin/python3",
    }
    line, clean = safe_text.line, safe_text.clean

    def named(text):
        for old, new in names.items():
            text = text.replace(old, new)
        return SIZE_ON_DISK.sub("70 kB", KEY_OF_PLACE.sub(r"\1.5a7e0f", text))

    safe_text.line = lambda text, limit=safe_text.MAX_LINE: line(named(text), limit)
    safe_text.clean = lambda text: clean(named(text))
    try:
        yield top
    finally:
        safe_text.line, safe_text.clean = line, clean
        # What a command left to the background may still write there.
        eventually(lambda: shutil.rmtree(top, ignore_errors=True) or not os.path.exists(top))


def build(top):
    """The sample world in a place, with hooks and a client."""
    made = world.build(top, NOW)
    client(made.env)
    settings = install.settings_path(made.env, made.shop, "user")
    install.apply(install.plan(settings, "install", env=made.env), now=lambda: NOW)
    return made


def client(env):
    """A client that tells its version, first in the path of `env`."""
    env["PATH"] = env["HOME"] + "/bin"
    os.makedirs(env["PATH"])
    with open(env["PATH"] + "/claude", "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho '{CLIENT} (Claude Code)'\n")
    os.chmod(env["PATH"] + "/claude", 0o700)


def past(env, cwd):
    """An earlier session in which a person said what is to be kept, and a folder with notes."""
    rows = []
    for number, said in enumerate(PAST):
        common = {"sessionId": "earlier", "cwd": cwd, "timestamp": f"2026-10-0{number + 1}T10:00:00Z"}
        message = {"id": f"m{number}", "content": [{"type": "text", "text": "I have changed it."}]}
        rows.append({"type": "assistant", "uuid": f"a{number}", **common, "message": message})
        rows.append({"type": "user", "uuid": f"u{number}", **common, "message": {"role": "user", "content": said}})
    path = f"{paths_hot.config_dir(env)}/projects/{paths_hot.slug(cwd)}/earlier.jsonl"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))
    os.makedirs(cwd + "/notes")
    for name, text in NOTES.items():
        with open(f"{cwd}/notes/{name}", "w", encoding="utf-8") as file:
            file.write(text)


async def past_sessions(pilot):
    """Offer the reading of past sessions, as the palette does."""
    pilot.app.action_run("inbox.backfill")


async def reading_the_past(pilot):
    """Begin a backfill that comes no further than to a third."""
    await past_sessions(pilot)
    await settled(pilot)
    pilot.app.progress.run = lambda _: asyncio.Future()
    await pilot.press("enter")
    await pilot.pause()
    pilot.app.progress.begin("31 MB of 94 MB, 12 of 40 sessions, 7 drafts, escape stops")
    await settled(pilot)


def steady(self, prompt, session="", run=recall_preview.Recalling.run):
    """What a prompt brings, with numbers that stay, and what follows from them."""
    found = run(self, prompt, session)
    if prompt != PROMPT:
        return found
    known = {each.name: each for each in found.candidates if each.name in LIKELY}
    parts = {name: {part: value * LIKELY[name] for part, value in PARTS.items()} for name in LIKELY}
    shifts = (("recent", 0.3),)
    some = [
        dataclasses.replace(
            known[name],
            probability=LIKELY[name],
            outcome=recall_preview.DELIVERED if LIKELY[name] >= found.threshold else "unlikely",
            parts=parts[name],
            shifts=shifts,
        )
        for name in LIKELY
        if name in known
    ]
    given = [each for each in some if each.delivered]
    text, units = "\n".join(each.text for each in given), sum(each.units for each in given)
    return dataclasses.replace(found, candidates=tuple(some), text=text, units=units)


def application(env, cwd, **more):
    """The application, with the clock held still and nothing moving by itself."""
    recall_preview.ms_since = lambda _: TOOK
    recall_preview.Recalling.run = steady
    app = MemtuiApp(dict(env), cwd, now=NOW, **more)
    app.animation_level = "none"
    return app


def strips(app):
    """The lines on the screen."""
    return app.screen._compositor.render_strips()


async def settled(pilot):
    """Wait until workers are done and the screen does not change any more."""
    last, same = None, 0
    end = time.monotonic() + PATIENCE
    while same < RESTS:
        if time.monotonic() > end:
            raise TimeoutError("the screen does not come to rest")
        for widget in pilot.app.screen.query("Input, TextArea"):
            widget.cursor_blink = False
        await asyncio.sleep(REST)
        now = strips(pilot.app)
        busy = any(not worker.is_finished and worker.group != COMMAND for worker in pilot.app.workers)
        busy |= any(getattr(screen, "_rest_timer", None) is not None for screen in pilot.app.screen_stack)
        same = same + 1 if now == last and not busy else 0
        if same == 2:
            # A screen over another keeps what it first saw of that one, which may have been drawn a moment later.
            pilot.app.screen.refresh()
        last = now


def assert_nothing_private(text, top):
    """Neither the place nor this checkout is in a picture."""
    for private in (top, paths_hot.slug(top), os.path.basename(top), SOURCES):
        assert private not in text, private


# what is done before a picture


def press(*keys):
    """Press keys, one after the other."""

    async def step(pilot):
        await pilot.press(*keys)

    return step


def act(action_id):
    """Run an action that only the palette has."""

    async def step(pilot):
        pilot.app.action_run(action_id)

    return step


def stand_on(fits):
    """Put the cursor on the first row that fits."""

    async def steps(pilot):
        table = pilot.app.screen.query_one("#list")
        table.move_to(next(at for at, row in enumerate(table.rows) if fits(row)))

    return steps


def memory(stem):
    """Put the cursor on a memory."""
    return stand_on(lambda pair: pair[1].memory.stem == stem)


def draft(name):
    """Put the cursor on a draft."""
    return stand_on(lambda line: bool(line.item) and line.item.entry.fields.get("name") == name)


def to_setup_row(screen, key):
    """Unfold what a row of Setup is below, and put the cursor on it."""
    screen.unfolded.add(next(row.group for row in screen.all_rows if row.key == key))
    screen.fill()
    screen.table.move_to(screen.table.index_of(key))


prompt = stand_on(lambda row: isinstance(row, DeliveryEntry) and row.logged.event == "UserPromptSubmit")
session = stand_on(lambda row: isinstance(row, SessionGroup) and not row.live)
setting = stand_on(lambda row: row.key == "setting gate")
merge = stand_on(lambda row: row.kind.word == "merge")
fix = stand_on(lambda row: row.kind.word.endswith("fix"))


async def compose(pilot):
    """Write a note."""
    await pilot.press("c")
    await pilot.pause()
    area = pilot.app.screen.query_one("#text", TextArea)
    area.text = NOTE
    area.move_cursor(area.document.end)


async def approve(pilot):
    """Approve a draft on the screen of the inbox, and put the cursor on the memory that it became."""
    await draft(APPROVED)(pilot)
    await pilot.press("a")
    await settled(pilot)
    # Files are written at the machine's time.
    os.utime(f"{pilot.app.data.project_root}/.claude/memory/{APPROVED}.md", (NOW, NOW))
    await pilot.press("1")
    await settled(pilot)
    await memory(APPROVED)(pilot)


async def change_elsewhere(pilot):
    """Put the cursor on what another machine changed too: its text is a draft, as a sync leaves it."""
    data = pilot.app.data
    path = f"{paths_hot.config_dir(data.env)}/memory/concise-answers.md"
    base = ids_hot.digest(fs_hot.read_bytes(path))
    fields = {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "time": clock_hot.iso(NOW - 180), "from": "machine:laptop"}
    fields |= {"kind": "rewrite", "name": "concise-answers", "type": "user", "scope": "global", "base": base}
    text = "Answer in a few sentences, code first\n\nShow the change first, then explain it in three sentences."
    fields["replaces"] = "concise-answers.md"
    file_hot.add_entry(paths_hot.inbox_dir(data.root, None), "updates", fields, text)
    await settled(pilot)
    await eventually_listed(pilot, "concise-answers")


async def eventually_listed(pilot, name):
    """Wait until a draft of this name is listed, and put the cursor on it."""
    pilot.app.screen.services.read()
    for _ in range(100):
        await settled(pilot)
        table = pilot.app.screen.query_one("#list")
        if any(row.item and row.item.entry.fields.get("name") == name for row in table.rows):
            break
    await draft(name)(pilot)


async def tell(pilot):
    """Approve a draft, start a session that gets it with the index, and put the cursor on that delivery."""
    await approve(pilot)
    known = content.layout(os.path.dirname(pilot.app.data.env["HOME"]), NOW)
    known = dataclasses.replace(known, sessions={**known.sessions, "next": "f1c3a5e7-7b2d-4e86-a1d4-5c9e0b6f3a12"})
    session = sessions.DemoSession(known, "next", known.shop, 1 / 60)
    session.count = 900
    blocks = sessions.index(known, known.shop)
    path = f"{known.shop}/.claude/memory/{APPROVED}.md"
    item = {"kind": "index", "id": APPROVED, "scope": "project", "path": path, "reason": "index, feedback"}
    line = f"- [feedback] {APPROVED}: No snapshot tests for components"
    blocks[0].parts.insert(0, Part(line, APPROVED, item))
    session.delivers("SessionStart", blocks)
    session.record("user", 5.0, message={"role": "user", "content": "write the tests of the basket"})
    session.answers("I wrote them with assertions on what the user sees.")
    session.ends()
    await pilot.press("3")
    await settled(pilot)
    await stand_on(lambda row: isinstance(row, SessionGroup) and "basket" in row.title)(pilot)
    await pilot.press("right")
    await settled(pilot)
    await stand_on(lambda row: isinstance(row, DeliveryEntry) and row.session == session.id)(pilot)


async def recalled(pilot):
    """A prompt in recall, and what it would bring."""
    await settled(pilot)
    await pilot.press("r")
    await settled(pilot)
    pilot.app.screen.recall.put(PROMPT)
    pilot.app.screen.table.focus()
    await settled(pilot)
