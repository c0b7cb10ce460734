"""Content of the sample world: its paths and sessions, and the texts of its memories, notes and drafts.

Times are hours before the world's now; ids follow from its time."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from memtui.base import fs, ids, paths
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


def is_world(directory: str) -> bool:
    """Return whether a sample world was built in a directory."""
    return os.path.isfile(os.path.join(directory, SAMPLE_MARKER))


def ulid(seconds: float, number: int) -> str:
    """Make a ULID of a time in seconds, with a random part that follows from `number`."""
    return ids.ulid(seconds, blake2b(f"memtui demo {number}".encode(), digest_size=10).digest())


SESSIONS = {
    "older": "0b5d3a52-6f0e-4c2c-8f39-5d7f3f1e0a01",
    "monday": "3e8f61c4-92d7-4b0a-b1c8-0c4f7d2e9b02",
    "tuesday": "7c1e55a0-3b1f-4f6e-9a58-2f6f0d1c8b11",
    "blog": "a94d0e7b-5c3f-4a86-8d21-6b9e1f4c7d03",
    "today": "d2f7b8c9-1e64-4d53-9f70-3a8c5b6e2f04",
}


def layout(directory: str, now: float) -> World:
    """Return the paths of a world in a directory; builds nothing."""
    top = paths.resolve(os.path.abspath(directory)) or directory
    home = top + "/home"
    config = home + "/.claude"
    env = {"HOME": home, "CLAUDE_CONFIG_DIR": config, "MEMTUI_HOME": config + "/memtui"}
    return World(top, env, env["MEMTUI_HOME"], config, top + "/shop", top + "/blog", now, SESSIONS)


def transcript_path(world: World, name: str, project: str) -> str:
    """Return the path at which the client keeps a session's transcript."""
    return f"{world.config}/projects/{paths.slug(project)}/{world.sessions[name]}.jsonl"


DAY = 24.0
Entry = tuple[dict[str, str], str, float]  # fields, text, age in hours; `expires` is in hours from now


def _blocks(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the parts of each head `=== A | B`, and the text below it."""
    for block in text.split("=== ")[1:]:
        head, _, body = block.partition("\n")
        yield [part.strip() for part in head.split("|")], body


def memories(text: str) -> dict[str, tuple[float, str]]:
    """Return the files of memories, by name: age in hours, and content as Claude Code writes it, from heads `name |
    type | N days | description`. Where there is no type the text is the file as it is."""
    files = {}
    for (name, kind, age, description), body in _blocks(text):
        fields = f"name: {name}\ndescription: {description}\nmetadata:\n  type: {kind}\n"
        content = f"---\n{fields}---\n\n{body}" if kind else body
        files[f"{name}.md"] = float(age.removesuffix(" days")) * DAY, content
    return files


def entries(text: str) -> list[Entry]:
    """Return entries of an inbox, from heads `hours | key=value …`, of drafts with `kind name type scope` before. `id`
    and `time` are added later; `session` is a name."""
    rows = []
    for (hours, fields), body in _blocks(text):
        words = fields.split()
        draft = zip(("kind", "name", "type", "scope"), [word for word in words if "=" not in word], strict=False)
        pairs = (word.split("=", 1) for word in words if "=" in word)
        rows.append(({**dict(draft), **dict(pairs)}, body.removesuffix("\n"), float(hours)))
    return rows


# By name; in `content.txt` each begins with `== NAME`.
_PARTS = re.split(r"(?m)^== (\w+)\n", fs.read_bytes(__file__.removesuffix("py") + "txt").decode())[1:]
_TEXTS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))

SHOP_MEMORIES = memories(_TEXTS["SHOP_MEMORIES"])
SHOP_INDEX = _TEXTS["SHOP_INDEX"]
UNTRUSTED = "skip-code-review.md"
# What was asked for as the correction came from which a memory is, and hours since.
SHOP_TRIGGERS = {"prefer-pnpm.md": ("install the packages", 9 * DAY)}

# A memory that an agent wrote in one session, and changed in a later one: its text after each.
WRITTEN = "flaky-upload-test.md"
WRITTEN_HEAD = _TEXTS["WRITTEN_HEAD"]
FIRST_WRITTEN = WRITTEN_HEAD.format("now and then") + "**How to apply:** stop and ask me when it fails.\n"
LAST_WRITTEN = WRITTEN_HEAD.format("one time in ten, a race on the temp file") + _TEXTS["LAST_WRITTEN"]
SHOP_AUTO = memories(_TEXTS["SHOP_AUTO"])
SHOP_AUTO_INDEX = _TEXTS["SHOP_AUTO_INDEX"]
GLOBAL_MEMORIES = memories(_TEXTS["GLOBAL_MEMORIES"])
GLOBAL_INDEX = _TEXTS["GLOBAL_INDEX"]
BLOG_AUTO = memories(_TEXTS["BLOG_AUTO"])
REVIEWER_MEMORIES = memories(_TEXTS["REVIEWER_MEMORIES"])
MIGRATOR_MEMORIES = memories(_TEXTS["MIGRATOR_MEMORIES"])
USER_INSTRUCTIONS = "# Mine\n\nAsk before you delete a file.\n"
SHOP_INSTRUCTIONS = "# Shop\n\nTypeScript, pnpm, PostgreSQL. Tests: `pnpm test`.\n"

SHOP_GUIDANCE = entries(_TEXTS["SHOP_GUIDANCE"])
HAND_WRITTEN_GUIDANCE = "The design review moved to Thursday.\n"
GLOBAL_GUIDANCE = entries(_TEXTS["GLOBAL_GUIDANCE"])
SHOP_UPDATES = entries(_TEXTS["SHOP_UPDATES"])
# Hardly worth keeping: the inbox folds it.
SHOP_DOUBTFUL = entries(_TEXTS["SHOP_DOUBTFUL"])
GLOBAL_UPDATES = entries(_TEXTS["GLOBAL_UPDATES"])
BLOG_UPDATES = entries(_TEXTS["BLOG_UPDATES"])
SHOP_ITEMS = entries(_TEXTS["SHOP_ITEMS"])
HAND_WRITTEN_ITEMS = "- [ ] Ask Jo about the invoice layout\n"

RELEASES = "Releases: a tag on main, CI does the rest. No deploy script.\nPackages: pnpm, from the mirror."
# Runs of the subconscious, oldest first: session, hours ago, what it noted, and what it whispered (text, urgent, the
# words that it replied to, the words that it is about), if anything.
WHISPER = "On Monday the person said that releases go by a tag on main; there is no deploy script."
SUBCONSCIOUS_RUNS: list[tuple[str, float, str, tuple[str, bool, str, str] | None]] = [
    ("monday", 96.0, "They release by a tag; the agent looked for a deploy script first.", None),
    (
        "tuesday",
        50.94,
        "The upload test is somebody else's today. They want tests stable before anything new.",
        (WHISPER, False, "", "somebody else is already on the upload test"),
    ),
    ("today", 0.4, "Snapshot tests were refused again; assertions on what the user sees are what they want.", None),
]
# What it wrote into its blocks: in which of these runs, which block, and its text then.
SUBCONSCIOUS_NOTES: list[tuple[int, str, str]] = [
    (0, "project_context", RELEASES),
    (1, "user_preferences", "Wants tests stable before anything new."),
    (1, "pending_items", "Make the upload test stable (somebody else is on it)."),
    (2, "project_context", RELEASES + "\nTests of components: assertions on what the user sees, no snapshots."),
    (2, "session_patterns", "The agent reaches for snapshot tests; the person refuses them each time."),
]
SUBCONSCIOUS_QUESTION = "which tests still use snapshots?"
