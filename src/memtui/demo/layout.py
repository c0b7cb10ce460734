"""Where everything of the sample world lies, its sessions, and ids that follow from its time."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from memtui.core.base import clock, paths, session_state

HOUR = 3600.0
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True)
class World:
    """Where the sample world lies. `env` has HOME, CLAUDE_CONFIG_DIR and MEMTUI_HOME, to be added to an environment;
    `sessions` names the session ids by day."""

    directory: str
    env: dict[str, str]
    root: str
    config: str
    shop: str
    blog: str
    now: float
    sessions: Mapping[str, str]


def ulid(seconds: float, number: int) -> str:
    """A ULID of a time whose random part follows from a number."""
    tail = int.from_bytes(blake2b(f"memtui demo {number}".encode(), digest_size=10).digest(), "big")
    value = int(seconds * 1000) << 80 | tail
    return "".join(ALPHABET[value >> shift & 31] for shift in range(125, -1, -5))


SESSIONS = {
    "older": "0b5d3a52-6f0e-4c2c-8f39-5d7f3f1e0a01",
    "monday": "3e8f61c4-92d7-4b0a-b1c8-0c4f7d2e9b02",
    "tuesday": "7c1e55a0-3b1f-4f6e-9a58-2f6f0d1c8b11",
    "blog": "a94d0e7b-5c3f-4a86-8d21-6b9e1f4c7d03",
    "today": "d2f7b8c9-1e64-4d53-9f70-3a8c5b6e2f04",
}


def layout(directory: str, now: float) -> World:
    """Where everything of a world in that directory lies; builds nothing."""
    top = paths.resolve(os.path.abspath(directory)) or directory
    home = top + "/home"
    config = home + "/.claude"
    env = {"HOME": home, "CLAUDE_CONFIG_DIR": config, "MEMTUI_HOME": config + "/memtui"}
    return World(top, env, env["MEMTUI_HOME"], config, top + "/shop", top + "/blog", now, SESSIONS)


def transcript_path(world: World, name: str, project: str) -> str:
    """Where the client keeps a session's transcript."""
    return f"{world.config}/projects/{paths.slug(project)}/{world.sessions[name]}.jsonl"


def state(world: World, name: str, project: str, hours: float) -> None:
    """The state file of a session, as its hooks would have left it."""
    slug = paths.slug(project)
    value: dict[str, object] = {
        "started": clock.iso(world.now - hours * HOUR),
        "cwd": project,
        "project": slug,
        "project_root": project,
        "transcript": transcript_path(world, name, project),
        "mode": "full",
        "prompted": True,
    }
    session_state.save(world.root, world.sessions[name], value)
