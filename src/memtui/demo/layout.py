"""Layout of the sample world: its paths, its sessions, and ids that follow from its time."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from memtui.base import ids, paths

HOUR = 3600.0
MARKER = ".memtui-demo"


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
    return os.path.isfile(os.path.join(directory, MARKER))


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
