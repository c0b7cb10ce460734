"""Whether a session or an agent that a note names is known here, and which similar ones are."""

import difflib
import os
from collections.abc import Sequence
from typing import NamedTuple

from memtui.core.base import session_state
from memtui.core.client import transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import Delivery
from memtui.core.deliveries.sessions import PARTS, Session

NEAR = 3  # similar ones that are named
ALIKE = 0.6  # how similar they are at least, as difflib measures it
AGENT = b'"agent": "'  # a record has the key only if the session has an agent


class Stranger(NamedTuple):
    """An addressee of whom nothing is known. `kind`: session or agent; `near`: known ones that are like it; `project`:
    of a session that is known but of another project, whose notes it does not get, the root or slug of its own."""

    kind: str
    name: str
    near: tuple[str, ...] = ()
    project: str = ""

    @property
    def address(self) -> str:
        """The addressee as a note names it."""
        return f"{self.kind}:{self.name}"


def strangers(root: str, config_dir: str, addresses: Sequence[str], slug: str | None) -> list[Stranger]:
    """Return those of these addressees whom no note of a project reaches, as far as is known: sessions without a state,
    a transcript or a delivery, or of another project than `slug` (None: the note is for any); agents without a
    delivery."""
    found = []
    for address in addresses:
        kind, _, name = address.partition(":")
        if kind == "session" and (stranger := _session(root, config_dir, name, slug)) is not None:
            found.append(stranger)
        elif kind == "agent" and name not in (known := agents(root)):
            found.append(Stranger(kind, name, tuple(difflib.get_close_matches(name, sorted(known), NEAR, ALIKE))))
    return found


def agents(root: str) -> set[str]:
    """Return the names of the agents in the newest part of the delivery log."""
    records = delivery_log.newest_first(root, needle=AGENT, most=delivery_log.WINDOW_BYTES)
    return {name for name in (Delivery.of(record).agent for record in records) if name}


def _session(root: str, config_dir: str, name: str, slug: str | None) -> Stranger | None:
    known = _with_state(root)
    found = [each for each in known if each.startswith(name)]
    if found:
        states = [session_state.load(root, each) for each in found]
        projects = {Session(name, state).slug for state in states}
        if slug is None or slug in projects or "" in projects:
            return None
        return Stranger("session", found[0], (), transcript.text_of(states[0].get("project_root")) or min(projects))
    ids = {*known, *_with_transcript(config_dir)}
    if any(each.startswith(name) for each in ids) or _is_logged(root, name):
        return None
    ending = sorted(each for each in ids if each.endswith(name))
    begun = {each[: len(name)]: each for each in sorted(ids)}
    alike = [begun[each] for each in difflib.get_close_matches(name, begun, NEAR, ALIKE)]
    return Stranger("session", name, tuple(dict.fromkeys([*ending, *alike]))[:NEAR])


def _with_state(root: str) -> list[str]:
    return [each.removesuffix(".json") for each in _names(f"{root}/sessions") if not each.endswith(PARTS)]


def _with_transcript(config_dir: str) -> list[str]:
    top = f"{config_dir}/projects"
    names = [name for project in _names(top) for name in _names(f"{top}/{project}")]
    return [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")]


def _is_logged(root: str, name: str) -> bool:
    needle = f'"session_id": "{name}'.encode("utf-8", "replace")
    return next(iter(delivery_log.newest_first(root, needle=needle)), None) is not None


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
