"""The sample world: two projects with memories in every scope, inboxes, a delivery log of several days, and transcripts
that prove some of the deliveries. It is for trying memtui without Claude Code, for tests and for screenshots.

`build` is deterministic: the same directory and `now` give the same bytes and ids, but for inodes in counts."""

import os
import re
import shutil

from memtui.base import clock_hot, fs_hot, paths_hot
from memtui.base.errors import UsageError
from memtui.demo import content as data
from memtui.demo import sessions
from memtui.demo.content import HOUR, World, is_world, layout, transcript_path, ulid
from memtui.inbox import format_hot
from memtui.rules import counts_update
from memtui.store import sidecars, triggers, trust_grants
from memtui.store.store import Store
from memtui.workspace import SAMPLE_MARKER

ULID = re.compile(rb'"([0-9A-HJKMNP-TV-Z]{26})"')
INDEX_LINES = 203  # of the blog's index: more than the 200 that the client loads


def build(directory: str, now: float | None = None) -> World:
    """Build the sample world at the time `now` in an empty directory, or over an older one. Raises UsageError."""
    world = layout(directory, clock_hot.now() if now is None else now)
    if is_world(world.directory):
        shutil.rmtree(world.directory)
    elif os.path.lexists(world.directory) and (not os.path.isdir(world.directory) or os.listdir(world.directory)):
        raise UsageError(f"{world.directory} exists and is not a sample world.", "Name an empty or a new directory.")
    os.makedirs(world.directory, exist_ok=True)
    marker = "A sample world of memtui; memtui demo may replace it.\n"
    data.write(f"{world.directory}/{SAMPLE_MARKER}", marker, world.now)
    for project in (world.shop, world.blog):
        data.write(project + "/.git/HEAD", "ref: refs/heads/main\n", world.now - 900 * HOUR)
        for name in ("objects", "refs/heads"):  # so that git reads it as a repository without a commit
            os.makedirs(f"{project}/.git/{name}")
    data.write(world.shop + "/compose.yaml", data.TEXTS["SHOP_COMPOSE"], world.now - 900 * HOUR)
    _memories(world)
    _inboxes(world)
    sessions.write(world)
    sessions.write_subconscious(world)
    counts_update.update(world.env, [transcript_path(world, name, world.shop) for name in world.sessions], world.shop)
    _trashed(world)
    state = b'{"v": 1, "backfill": {"asked": true}}\n'  # the TUI offers earlier sessions no more
    fs_hot.write_atomic(world.root + "/run/tui.json", state, durable=False)
    return world


def _memories(world: World) -> None:
    auto = f"{world.config}/projects/{paths_hot.slug(world.shop)}/memory"
    blog = f"{world.config}/projects/{paths_hot.slug(world.blog)}/memory"
    posts = "".join(f"- Post {n}: sent, no comments\n" for n in range(1, INDEX_LINES - 4))
    places = (
        (world.shop + "/.claude/memory", "SHOP_MEMORIES", data.TEXTS["SHOP_INDEX"]),
        (auto, "SHOP_AUTO", data.TEXTS["SHOP_AUTO_INDEX"]),
        (world.config + "/memory", "GLOBAL_MEMORIES", data.TEXTS["GLOBAL_INDEX"]),
        (blog, "BLOG_AUTO", data.TEXTS["BLOG_INDEX"].format(posts=posts)),
        (world.config + "/agent-memory/reviewer", "REVIEWER_MEMORIES", ""),
        (world.shop + "/.claude/agent-memory/migrator", "MIGRATOR_MEMORIES", ""),
    )
    for directory, texts, index in places:
        for name, (hours, text) in data.memories(texts).items():
            data.write(f"{directory}/{name}", text, world.now - hours * HOUR)
        if index:
            data.write(f"{directory}/MEMORY.md", index, world.now - 48 * HOUR)
    data.write(world.config + "/CLAUDE.md", data.TEXTS["INSTRUCTIONS"], world.now - 900 * HOUR)
    data.write(world.shop + "/CLAUDE.md", data.TEXTS["SHOP_INSTRUCTIONS"], world.now - 900 * HOUR)
    memories = data.memories("SHOP_MEMORIES").items()
    trusted = [(name, text.encode()) for name, (_, text) in memories if name != data.UNTRUSTED]
    shared = world.shop + "/.claude/memory"
    trust_grants.plan(world.root, shared, trusted).make()
    for file, (asked, hours) in data.SHOP_TRIGGERS.items():
        lines = triggers.after_adding({}, [asked], "draft", world.now - hours * HOUR)
        for edit in sidecars.edit(world.root, sidecars.TRIGGERS, shared, file, lines):
            edit.make()


def _inboxes(world: World) -> None:
    shop = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    blog = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.blog))
    everywhere = paths_hot.inbox_dir(world.root, None)
    number = 1000
    for directory, kind, entries, project in (
        (shop, "guidance", "SHOP_GUIDANCE", world.shop),
        (everywhere, "guidance", "GLOBAL_GUIDANCE", ""),
        (shop, "updates", "SHOP_UPDATES", world.shop),
        (everywhere, "updates", "GLOBAL_UPDATES", world.blog),
        (blog, "updates", "BLOG_UPDATES", world.blog),
        (shop, "items", "SHOP_ITEMS", world.shop),
        (shop, "updates", "SHOP_DOUBTFUL", world.shop),
    ):
        path = f"{directory}/{format_hot.FILES[kind]}"
        source = format_hot.decode(fs_hot.read_or_empty(path))
        for given, text, hours in data.entries(entries):
            number += 1
            seconds = world.now - hours * HOUR
            fields = {"id": ulid(seconds, number), "time": clock_hot.iso_seconds(seconds), **given}
            if "session" in fields:
                fields["session"] = world.sessions[fields["session"]]
                fields.setdefault("from", "session:" + fields["session"])
                fields["project"] = project
            if "expires" in fields:
                fields["expires"] = clock_hot.iso_seconds(world.now + float(fields["expires"]) * HOUR)
            source += format_hot.render(fields, text)
        if directory == shop:
            source += data.TEXTS.get(f"HAND_WRITTEN_{kind}", "")
        fs_hot.write_atomic(path, source.encode(), durable=False)


def _trashed(world: World) -> None:
    """Create a memory and trash it, for the trash and for undo, with ids that follow from the world's time."""
    seconds = world.now - 30 * HOUR
    store = Store({**world.env}, world.shop, by="cli", now=lambda: seconds)
    memory = store.create(store.scope("global"), "prefer-tabs", "Indent with tabs", "user", "Indent with tabs, always.")
    os.utime(memory.path, (seconds, seconds))  # the journal keeps the age of what goes
    seconds += HOUR
    store.delete(memory)
    journal = world.root + "/journal.jsonl"
    content = fs_hot.read_bytes(journal)
    for number, old in enumerate(dict.fromkeys(match[1] for match in ULID.finditer(content))):
        content = content.replace(old, ulid(world.now - (30 - number) * HOUR, 5000 + number).encode())
    fs_hot.write_atomic(journal, content, durable=False)
    index = world.config + "/memory/MEMORY.md"
    os.utime(index, (world.now - 29 * HOUR, world.now - 29 * HOUR))
