"""Content of the sample world: its paths and sessions, and the texts of its memories, notes and drafts.

Times are hours before the world's now; ids follow from its time."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from memtui.base import fs_hot, ids_hot, paths_hot
from memtui.workspace import SAMPLE_MARKER

HOUR = 3600.0


@dataclass(frozen=True)
class World:
    """The paths of a sample world, its time and its sessions. `env`: HOME, CLAUDE_CONFIG_DIR and MEMTUI_HOME, to be
    added to an environment; `now`: seconds since the epoch; `sessions`: session ids by name."""

    directory: str
    env: dict[str, str]
    root: str
    config: str
    shop: str
    blog: str
    now: float
    sessions: Mapping[str, str]


def write(path: str, text: str, seconds: float) -> None:
    """Write a file of a sample world, as if at this time. Raises OSError."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, (seconds, seconds))


def is_world(directory: str) -> bool:
    return os.path.isfile(os.path.join(directory, SAMPLE_MARKER))


def ulid(seconds: float, number: int) -> str:
    """Make a ULID of a time in seconds, with a random part that follows from `number`."""
    return ids_hot.ulid(seconds, blake2b(f"memtui demo {number}".encode(), digest_size=10).digest())


def layout(directory: str, now: float) -> World:
    """Return the paths of a world in a directory; builds nothing."""
    top = paths_hot.resolve(os.path.abspath(directory)) or directory
    home = top + "/home"
    config = home + "/.claude"
    env = {"HOME": home, "CLAUDE_CONFIG_DIR": config, "MEMTUI_HOME": config + "/memtui"}
    return World(top, env, env["MEMTUI_HOME"], config, top + "/shop", top + "/blog", now, SESSIONS)


def transcript_path(world: World, name: str, project: str) -> str:
    """Return the path at which the client keeps a session's transcript."""
    return f"{world.config}/projects/{paths_hot.slug(project)}/{world.sessions[name]}.jsonl"


DAY = 24.0
Entry = tuple[dict[str, str], str, float]  # fields, text, age in hours; `expires` is in hours from now
# By name; in `content.txt` each begins with `== NAME`.
_PARTS = re.split(r"(?m)^== (\w+)\n", fs_hot.read_bytes(__file__.removesuffix("py") + "txt").decode())[1:]
TEXTS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
SESSIONS: dict[str, str] = dict(map(str.split, TEXTS["SESSION_IDS"].splitlines()))


def blocks(name: str) -> Iterator[tuple[list[str], str]]:
    """Yield the parts of each head `=== A | B` of a text, and what is below it."""
    for block in TEXTS[name].split("=== ")[1:]:
        head, _, body = block.partition("\n")
        yield [part.strip() for part in head.split("|")], body


def memories(name: str) -> dict[str, tuple[float, str]]:
    """Return the files of memories, by name: age in hours, and content as Claude Code writes it."""
    files = {}
    for (stem, kind, age, description), body in blocks(name):
        fields = f"name: {stem}\ndescription: {description}\nmetadata:\n  type: {kind}\n"
        files[f"{stem}.md"] = float(age.removesuffix(" days")) * DAY, f"---\n{fields}---\n\n{body}" if kind else body
    return files


def entries(name: str) -> list[Entry]:
    """Return entries of an inbox, from heads `hours | key=value …`, of drafts with `kind name type scope` before."""
    rows = []
    for (hours, fields), body in blocks(name):
        words = fields.split()
        draft = zip(("kind", "name", "type", "scope"), [word for word in words if "=" not in word], strict=False)
        pairs = (word.split("=", 1) for word in words if "=" in word)
        rows.append(({**dict(draft), **dict(pairs)}, body.removesuffix("\n"), float(hours)))
    return rows


UNTRUSTED = "skip-code-review.md"
# What was asked for as the correction came from which a memory is, and hours since.
SHOP_TRIGGERS = {"prefer-pnpm.md": ("install the packages", 9 * DAY)}
# A memory that an agent wrote in one session, and changed in a later one: its text after each.
WRITTEN = "flaky-upload-test.md"
WRITTEN_TEXTS = {
    "first": TEXTS["WRITTEN_HEAD"].format("now and then") + "**How to apply:** stop and ask me when it fails.\n",
    "last": TEXTS["WRITTEN_HEAD"].format("one time in ten, a race on the temp file") + TEXTS["LAST_WRITTEN"],
}
# Runs of the subconscious, oldest first: session, hours ago, what it noted, what it whispered about which words.
RUNS = [(head[0], float(head[1]), body.strip(), head[2:]) for head, body in blocks("RUNS")]
# What it wrote into its blocks: in which of these runs, which block, and its text then.
RUN_NOTES = [(int(run), block, body.strip()) for (run, block), body in blocks("RUN_NOTES")]
QUESTION = "which tests still use snapshots?"
