"""The origin of a memory: a session, memtui, or the repository; for a session, the passage of its transcript in which
the memory was written."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from memtui.core.base import clock, paths
from memtui.core.client import transcript
from memtui.core.client.conversation import Conversation
from memtui.core.journal import ledger as journal_ledger
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope

AGENT_SHOWN = 600
PROMPT_SHOWN = 1000
# A longer record is a file's content or an image, not a turn.
LONG_LINE = 1 << 20
# `go_on` is called every so many records.
ASK_EVERY = 200
COMMON = {"that", "this", "with", "from", "have", "when", "what", "should", "would", "there", "then", "they", "into"}


@dataclass(frozen=True)
class Origin:
    """The session in which a memory was written, and the passage: `said` is the person's prompt, `agent` the end of the
    agent's text before it. `written`: the memory's file was written in answer to it; else it is the passage most
    similar to the memory. `title` is the session's first prompt."""

    session: str
    path: str
    title: str = ""
    branch: str = ""
    time: str = ""
    agent: str = ""
    said: str = ""
    written: bool = False


class Source(NamedTuple):
    """Where a memory comes from. `kind`: session (with the id `session`); approve, copy, move or made (with `when` in
    seconds since the epoch, None if not known); own, repository, model or unknown."""

    kind: str
    when: float | None = None
    session: str = ""


def creations(root: str) -> dict[str, tuple[str, float | None]]:
    """Map the path of each file that memtui made, by the journal, to (operation, seconds since the epoch)."""
    try:
        ledger = journal_ledger.shared(f"{root}/journal.jsonl").follow()
    except OSError:
        return {}
    created: dict[str, tuple[str, float | None]] = {}
    for each in ledger.all():
        if each.state != "done" or not each.is_change or each.op == "restore":
            continue
        became = each.record.get("became")  # of a consolidation, which makes and removes many files in one step
        for row in each.record["changes"]:
            if row.get("before") is None and row.get("after"):
                # A moved file has the origin of the file that the same step removed.
                gone = [
                    other["path"]
                    for other in each.record["changes"]
                    if other.get("before")
                    and not other.get("after")
                    and (not isinstance(became, dict) or became.get(other["path"]) == row["path"])
                ]
                first = next((created[path] for path in gone if path in created), None)
                if first is not None or not gone or each.op == "move":
                    created[row["path"]] = first or (each.op, clock.parse(each.time))
    return created


def source(scope: Scope, found: Memory, known: Mapping[str, tuple[str, float | None]]) -> Source:
    """Return where a memory comes from. `known`: as returned by `creations`."""
    if scope.kind == "model":
        return Source("model")
    if found.origin_session:
        return Source("session", session=found.origin_session)
    creation = known.get(os.path.realpath(found.path))
    if creation is not None:
        return Source(creation[0] if creation[0] in {"approve", "copy", "move"} else "made", creation[1])
    if scope.kind == "instructions":
        return Source("own" if scope.root_path is None else "repository")
    return Source("repository" if scope.kind == "project" or scope.label.endswith("@project") else "unknown")


def of(env: dict[str, str], found: Memory, go_on: Callable[[float], bool] = lambda _: True) -> Origin | None:
    """Return the session passage in which a memory was written; None without a session or its transcript. `go_on` is
    called with the share of the transcript that was read; if it returns False, the result is None. Reads the whole
    transcript: call it from a worker."""
    name = found.origin_session
    path = transcript.find(paths.config_dir(env), name)
    if not path:
        return None
    talk = Conversation()
    branch = ""
    written = -1
    file = "/" + found.path.rpartition("/")[2]
    reader = transcript.Reader(path, keep=lambda line: len(line) < LONG_LINE)
    try:
        size = max(1, os.stat(path).st_size)
        for number, record in enumerate(reader):
            if number % ASK_EVERY == 0 and not go_on(reader.offset / size):
                return None
            talk.feed(record)
            branch = branch or transcript.text_of(record.get("gitBranch"))
            if written < 0 and talk.turns and _writes(record, file):
                written = len(talk.turns) - 1
    except OSError:
        return None
    talk.end_queue()
    title = talk.turns[0].text.split("\n")[0] if talk.turns else ""
    turn = talk.turns[written] if written >= 0 else None
    if turn is None:  # the one that has most words in common with the memory, if any has
        wanted = _words(f"{found.name} {found.description} {found.body}")
        closest = max(talk.turns, key=lambda each: len(wanted & _words(each.text)), default=None)
        turn = closest if closest is not None and wanted & _words(closest.text) else None
    if turn is None:
        return Origin(name, path, title, branch)
    agent, said = turn.agent.strip(), turn.text.strip()
    agent = agent if len(agent) <= AGENT_SHOWN else "…" + agent[-AGENT_SHOWN:]
    said = said if len(said) <= PROMPT_SHOWN else said[:PROMPT_SHOWN] + "…"
    return Origin(name, path, title, branch, turn.time, agent, said, written >= 0)


def _writes(record: dict[str, object], file: str) -> bool:
    """Return whether the agent writes the memory's file in this record."""
    if record.get("type") != "assistant":
        return False
    for block in transcript.blocks(record):
        arguments = block.get("input")
        if block.get("type") == "tool_use" and isinstance(arguments, dict):
            target = transcript.text_of(arguments.get("file_path")) or transcript.text_of(arguments.get("path"))
            if target.endswith(file):
                return True
    return False


def _words(text: str) -> set[str]:
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return {word for word in words if len(word) > 3} - COMMON
