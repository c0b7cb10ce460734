"""Whether a session or an agent that a note names is known here."""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.base import paths, session_state
from memtui.client.transcripts import transcript
from memtui.deliver import log as delivery_log
from memtui.deliver.record import Delivery
from memtui.deliver.sessions import PARTS, of_state

AGENT = b'"agent": "'  # a record has the key only if the session has an agent


class Stranger(NamedTuple):
    """An addressee of whom nothing is known: a session or agent; `project`: that of a session of another."""

    kind: str
    name: str
    project: str = ""


def strangers(root: str, config_dir: str, addresses: Sequence[str], slug: str | None) -> list[Stranger]:
    """Return the addressees whom no note of a project (`slug`; None: of any) reaches, as far as is known."""
    unknown = []
    for address in addresses:
        kind, _, name = address.partition(":")
        if kind == "session" and (stranger := _session(root, config_dir, name, slug)) is not None:
            unknown.append(stranger)
        elif kind == "agent" and name not in agents(root):
            unknown.append(Stranger(kind, name))
    return unknown


def agents(root: str) -> set[str]:
    """Return the names of the agents in the newest part of the delivery log."""
    records = delivery_log.newest_first(root, needle=AGENT, most=delivery_log.WINDOW_BYTES)
    return {name for name in (Delivery(record).agent for record in records) if name}


def _session(root: str, config_dir: str, name: str, slug: str | None) -> Stranger | None:
    sessions = [name.removesuffix(".json") for name in paths.names_in(f"{root}/sessions") if not name.endswith(PARTS)]
    if ids := [session_id for session_id in sessions if session_id.startswith(name)]:
        states = [session_state.load(root, session_id).values() for session_id in ids]
        projects = {of_state(name, state).slug for state in states}
        if slug is None or slug in projects or "" in projects:
            return None
        return Stranger("session", ids[0], transcript.text_of(states[0].get("project_root")) or min(projects))
    top = f"{config_dir}/projects"
    if any(file.startswith(name) for project in paths.names_in(top) for file in paths.names_in(f"{top}/{project}")):
        return None
    needle = f'"session_id": "{name}'.encode("utf-8", "replace")
    is_logged = next(iter(delivery_log.newest_first(root, needle=needle)), None) is not None
    return None if is_logged else Stranger("session", name)
