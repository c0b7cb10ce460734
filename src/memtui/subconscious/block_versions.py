"""The versions of blocks, `subconscious/versions.jsonl`: every text that a block had, when, and who wrote it. Texts are
noted without secrets, also those that a person put into the file."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.core.base import backwards, clock, fastjson, fs
from memtui.core.base.storage import storage_error
from memtui.subconscious import places

VERSION = 1
SUBCONSCIOUS, PERSON, OTHER = "subconscious", "person", "other"
# Versions of one block that are kept, and the bytes of the file from which older ones are dropped.
KEPT, TRIM_BYTES = 200, 4 << 20
# The texts of blocks whose file has none.
DEFAULTS = {
    places.DIRECTIVES: """\
You are the subconscious of a coding agent: after each turn you read its session, and never act yourself.
Keep the blocks short, true and current: rewrite what has changed, remove what is done or was wrong.
Note what will matter in later sessions: what the person wants and why, decisions, pitfalls, unfinished work.
Whisper only when the agent is about to go wrong, or lacks something that you know. Most turns need no whisper."""
}


@dataclass(frozen=True)
class BlockVersion:
    """One text that a block had. `project`: the slug of its project, empty for a block for everything; `by`:
    SUBCONSCIOUS (in a `run` after a turn of `session`), PERSON or OTHER; `time`: seconds since the epoch; `undid`: the
    id of the version whose change a person undid by it; `oldest`: whether older ones were dropped, so that nobody knows
    what it changed. Of a text that nobody noted yet the id is empty."""

    id: str
    time: float
    block: str
    project: str
    by: str
    text: str
    run: str = ""
    session: str = ""
    undid: str = ""
    oldest: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What tells its block from all others."""
        return self.project, self.block

    @property
    def content(self) -> str:
        """The text that sessions and the subconscious had by it: the default of its block, if it has none."""
        return self.text or DEFAULTS.get(self.block, "")

    def row(self) -> dict[str, Any]:
        """Return its line."""
        found = {"v": VERSION, "id": self.id, "time": clock.iso(self.time), "block": self.block, "by": self.by}
        more = {key: getattr(self, key) for key in ("project", "run", "session", "undid", "oldest")}
        return found | {key: value for key, value in more.items() if value} | {"text": self.text}


class VersionLog:
    """The log of the versions of all blocks under one memtui root."""

    def __init__(self, root: str) -> None:
        self.path = places.home(root) + "/versions.jsonl"

    def read(self) -> list[BlockVersion]:
        """Return all versions, newest first; lines that can't be read are skipped."""
        try:
            return [
                found
                for _, line in backwards.lines(self.path)
                if (found := _version(fastjson.loads_dict(line))) is not None
            ]
        except OSError:
            return []

    def changes(self) -> list[tuple[BlockVersion, str]]:
        """Return all versions, newest first, each with the text that it replaced: of the oldest of a block the
        default."""
        found: list[tuple[BlockVersion, str]] = []
        last: dict[tuple[str, str], str] = {}
        for each in reversed(self.read()):
            found.append((each, last.get(each.key, DEFAULTS.get(each.block, ""))))
            last[each.key] = each.content
        return found[::-1]

    def append(self, version: BlockVersion) -> None:
        """Note a version. Raises MemtuiError."""
        try:
            fs.append(self.path, _line(version), durable=True)
            if os.stat(self.path).st_size > TRIM_BYTES:
                self._trim()
        except OSError as error:
            raise storage_error(error, self.path) from error

    def _trim(self) -> None:
        """Drop the oldest versions of each block beyond KEPT; if no block has more, as with hundreds of projects, the
        older half of all."""
        every = self.read()
        kept: list[BlockVersion] = []
        counts: Counter[tuple[str, str]] = Counter()
        for each in every:
            counts[each.key] += 1
            if counts[each.key] <= KEPT:
                kept.append(each)
        kept = kept if len(kept) < len(every) else kept[: len(kept) // 2]
        lines = [_line(each) for each in reversed(_marked(kept, every))]
        fs.write_atomic(self.path, b"".join(lines))


def _marked(kept: Sequence[BlockVersion], every: Sequence[BlockVersion]) -> list[BlockVersion]:
    """Return versions that are kept, newest first, of each block that loses older ones the last with a mark."""
    last = {each.key: each for each in kept}
    had, have = (Counter(each.key for each in several) for several in (every, kept))
    lose = {key for key in have if have[key] < had[key]}
    return [replace(each, oldest=True) if each is last[each.key] and each.key in lose else each for each in kept]


def before(versions: Sequence[BlockVersion], at: int) -> str:
    """Return the text that a version of a block replaced. `versions`: of that block, newest first."""
    return versions[at + 1].content if at + 1 < len(versions) else DEFAULTS.get(versions[at].block, "")


def _line(version: BlockVersion) -> bytes:
    return fastjson.dumps(version.row()).encode() + b"\n"


def _version(row: dict[str, object]) -> BlockVersion | None:
    texts = [row.get(key, "") for key in ("id", "block", "project", "by", "text", "run", "session", "undid")]
    when = clock.parse(row.get("time"))
    if row.get("v") != VERSION or when is None or not all(isinstance(each, str) for each in texts):
        return None
    name, block, project, by, text, run, session, undid = map(str, texts)
    if block not in places.BLOCKS:
        return None
    return BlockVersion(name, when, block, project, by, text, run, session, undid, row.get("oldest") is True)
