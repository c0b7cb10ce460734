"""Whether the subconscious may run, with which model and tools; the switch by which a person stops it; what it does and
waits for. The state of a session (`sessions/<id>.json`) is replaced as a whole, with an answer before it is acted on
and without it after that: a killed process loses none, and acts on none twice."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot
from memtui.base.storage import storing
from memtui.client import projects
from memtui.models import choice, log
from memtui.models.call import ModelUsage
from memtui.models.subconscious import block_files_hot, runs
from memtui.settings import config_hot

PURPOSE = "subconscious"  # what its calls are for, in the log of calls
AS_OTHERS = "auto"  # the value of `subconscious_model` that stands for the model of the other features
# The values of `subconscious_tools` that allow more than listening.
READ_ONLY, WEB, FULL = "read-only", "read + web", "full"
VERSION = 1
# Bytes of the state of a session; sessions that are looked through for what waits, the newest.
STATE_BYTES, SESSIONS = 4 << 20, 50
TELLINGS, WAITING_SECONDS = 3, clock_hot.DAY  # how often a mention is told of, and the seconds for which it waits


@dataclass(frozen=True)
class Powers:
    """What the subconscious may do in a project: `mode`, `tools`, those `allowed`, the `model`, `why` it can't run."""

    mode: str
    tools: str
    allowed: str
    backend: str
    model: str
    why: str
    hint: str = ""
    fewer: str = ""

    @property
    def missing(self) -> str:
        """Why it can't run and what to do, in a line; empty if it can."""
        return f"{self.why} {self.hint}".strip()

    def in_tree(self, env: dict[str, str], root: str, top: str) -> "Powers":
        """Return what it may do in a session of the work tree `top`."""
        real = (paths_hot.resolve(top) or top).rstrip("/") + "/"
        private = (env.get("HOME") or "/", paths_hot.config_dir(env), root)
        is_above = any(f"{paths_hot.resolve(place) or place}/".startswith(real) for place in private)
        if self.allowed not in {READ_ONLY, WEB} or not is_above:
            return self
        return replace(self, allowed="off", fewer="a directory with your home in it is not read")


def powers(env: dict[str, str], root: str, project_root: str | None) -> Powers:
    settings = config_hot.load(root)
    chosen = choose(env, settings)
    mode = str(config_hot.value(settings, project_root, "subconscious"))
    tools = str(config_hot.value(settings, None, "subconscious_tools"))
    why, hint = "", ""
    if mode == "off":
        why, hint = "It is switched off.", "memtui config set subconscious notes"
        hint += " && memtui model start" * (stopped(root) is not None)
    elif stopped(root) is not None:
        why, hint = "You have stopped it.", "memtui model start"
    elif config_hot.value(settings, project_root, "mode") == "off":
        why, hint = "memtui is off in this project.", "memtui config set mode full"
    elif not chosen.backend:
        why, hint = chosen.why, chosen.hint
    model = choice.asked(env, root, chosen, ask=False)
    less = tools == FULL and chosen.backend != "claude"
    allowed, fewer = (READ_ONLY, "all tools need llm_backend claude") if less else (tools, "")
    found = Powers(mode, tools, allowed, chosen.backend, model, why, hint, fewer)
    return found.in_tree(env, root, project_root) if project_root else found


def choose(env: dict[str, str], settings: dict[str, object]) -> choice.ModelChoice:
    """Choose backend and model as the settings say; `subconscious_model` comes before `llm_model`."""
    chosen = choice.choose(env, settings)
    model = str(config_hot.value(settings, None, "subconscious_model"))
    return chosen if model == AS_OTHERS else chosen._replace(model=model, chosen=True)


# The switch


def _switch(root: str) -> str:
    return block_files_hot.home(root) + "/stopped"


def stopped(root: str) -> float | None:
    """Return when a person stopped it, in seconds since the epoch; None if it may run."""
    try:
        return os.lstat(_switch(root)).st_mtime
    except OSError:
        return None


def stop(root: str) -> bool:
    """Stop it, also what it is doing now; False if it was stopped already. Raises MemtuiError."""
    if stopped(root) is not None:
        return False
    with storing(_switch(root)):
        fs_hot.makedirs(block_files_hot.home(root))
        fs_hot.write_atomic(_switch(root), clock_hot.iso_seconds(clock_hot.now()).encode() + b"\n")
    return True


def start(root: str) -> bool:
    """Let it run again; False if it was not stopped. Raises MemtuiError."""
    if stopped(root) is None:
        return False
    with storing(_switch(root)):
        os.unlink(_switch(root))
    return True


# The state of a session


def load(root: str, session: str) -> dict[str, Any]:
    """Read the state of a session: `path`, `offset`, `mark` of its transcript, `conversation`, `mentions`, `answer`
    that is not acted on yet, `in_vain`, how often the same was sent, `answered`: what was read last was a question in
    mid-turn; `{}` if there is none."""
    try:
        state = fastjson_hot.loads_dict(fs_hot.read_bytes(block_files_hot.session(root, session), STATE_BYTES))
    except OSError:
        return {}
    return dict(state) if state.get("v") == VERSION else {}


def save(root: str, session: str, state: Mapping[str, object]) -> None:
    """Replace the state of a session. Raises OSError."""
    fs_hot.write_atomic(block_files_hot.session(root, session), fastjson_hot.dumps({**state, "v": VERSION}).encode())


def waiting_in(state: Mapping[str, Any], now: float) -> list[dict[str, Any]]:
    """Return the mentions of a state that wait for a reply: not those told of too often in vain, or too old."""
    rows = [row for row in fastjson_hot.rows(dict(state), "mentions") if isinstance(row, dict)]
    rows = [row for row in rows if all(isinstance(row.get(key), str) for key in ("id", "who", "words"))]
    for row in rows:
        row["told"] = row["told"] if isinstance(row.get("told"), int) else 0
    since = [clock_hot.parse(row.get("time")) or 0.0 for row in rows]
    fresh = [row for row, time in zip(rows, since, strict=True) if now - time < WAITING_SECONDS]
    return [row for row in fresh if row["told"] < TELLINGS]


# What it does and waits for


class WaitingMention(NamedTuple):
    """Words of `who` (person or agent) that addressed the subconscious and have no reply yet; `project`: a slug."""

    session: str
    project: str
    who: str
    words: str
    time: float


@dataclass(frozen=True)
class Overview:
    """The subconscious in a project: `today`'s use by its `calls`; `budget`: why it asks no more; runs `under_way`."""

    powers: Powers
    stopped: float | None
    today: ModelUsage
    calls: int
    budget: str
    mentions: tuple[WaitingMention, ...]
    under_way: tuple[runs.Run, ...]
    last: runs.Run | None


def look(env: dict[str, str], root: str, project_root: str, now: float) -> Overview:
    jobs = runs.newest_first(root)
    today = [call for call in log.today(root, now) if call.purpose == PURPOSE]
    is_spent = bool(today) and today[0].outcome == "budget"
    return Overview(
        powers(env, root, project_root),
        stopped(root),
        log.sum_of(today),
        sum(call.outcome != "budget" for call in today),
        "The budget of the day is used up." if is_spent else "",
        tuple(mentions(root, now)),
        tuple(run for run in jobs if run.outcome == runs.BEGUN),
        jobs[0] if jobs else None,
    )


def mentions(root: str, now: float) -> list[WaitingMention]:
    """Return what waits for a reply, in the sessions that were read last, oldest first."""
    try:
        with os.scandir(block_files_hot.home(root) + "/sessions") as entries:
            states = [(row.stat().st_mtime, row.name) for row in entries if row.name.endswith(".json")]
    except OSError:
        return []
    waiting_mentions = []
    for _, name in sorted(states, reverse=True)[:SESSIONS]:
        session = name.removesuffix(".json")
        state = load(root, session)
        for row in waiting_in(state, now):
            when, project = clock_hot.parse(row.get("time")) or 0.0, str(state.get("project") or "")
            waiting_mentions.append(WaitingMention(session, project, row["who"], row["words"], when))
    return sorted(waiting_mentions, key=lambda row: row.time)


def names(env: dict[str, str], slugs: Iterable[str]) -> dict[str, str]:
    """Return what a person calls projects, by slug."""
    return projects.names(env, projects.paths_of(env, {slug for slug in slugs if slug}))
