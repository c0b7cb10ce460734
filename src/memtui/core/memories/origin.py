"""Where a memory comes from: a session, memtui, or the repository; and the passage of the session's transcript that its
`originSessionId` names."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from memtui.core.base import clock, paths, session_state
from memtui.core.client import transcript
from memtui.core.client.conversation import Conversation, Turn
from memtui.core.journal import ledger as journal_ledger
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope

AGENT_SHOWN = 600
SAID_SHOWN = 1000
# A record this long is a file's content or an image, not a turn; asked whether to go on every so many records.
LONG_LINE = 1 << 20
ASK_EVERY = 200
COMMON = {"that", "this", "with", "from", "have", "when", "what", "should", "would", "there", "then", "they", "into"}


@dataclass(frozen=True)
class Origin:
    """`agent` is the end of what the agent had said, `said` what the person said then; `written` whether the memory's
    file was written in answer to it (else it is the passage most alike). `title` is the session's first prompt."""

    session: str
    path: str
    title: str = ""
    branch: str = ""
    time: str = ""
    agent: str = ""
    said: str = ""
    written: bool = False


class Source(NamedTuple):
    """Where a memory comes from: `kind` is session (`session`), approve, copy or made (`when`, seconds since the epoch,
    None where that is not known), own, repository or unknown."""

    kind: str
    when: float | None = None
    session: str = ""


def made(root: str) -> dict[str, tuple[str, float | None]]:
    """Path to (operation, when) of the files that memtui made and that are there, as the journal tells."""
    try:
        ledger = journal_ledger.shared(f"{root}/journal.jsonl").follow()
    except OSError:
        return {}
    found: dict[str, tuple[str, float | None]] = {}
    for each in ledger.all():
        if each.state != "done" or not each.is_change or each.op == "restore":
            continue
        for row in each.record["changes"]:
            if row.get("before") is None and row.get("after"):
                # What is moved comes from where the file was that went in the same step.
                gone = [
                    other["path"] for other in each.record["changes"] if other.get("before") and not other.get("after")
                ]
                first = next((found[path] for path in gone if path in found), None)
                if first is not None or not gone:
                    found[row["path"]] = first or (each.op, clock.parse(each.time))
    return found


def source(scope: Scope, found: Memory, known: Mapping[str, tuple[str, float | None]]) -> Source:
    """Where a memory comes from. `known` is what `made` tells."""
    if found.origin_session:
        return Source("session", session=found.origin_session)
    done = known.get(os.path.realpath(found.path))
    if done is not None:
        return Source(done[0] if done[0] in {"approve", "copy"} else "made", done[1])
    if scope.kind == "instructions":
        return Source("own" if scope.root_path is None else "repository")
    return Source("repository" if scope.kind == "project" or scope.label.endswith("@project") else "unknown")


def of(env: dict[str, str], found: Memory, go_on: Callable[[float], bool] = lambda _: True) -> Origin | None:
    """The birth of a memory; None without a session, without its transcript, or if `go_on` said no, which is asked
    with the share that is read.

    Reads the whole transcript: for a worker.
    """
    name = found.origin_session
    if not name or session_state.safe(name) != name:
        return None
    path = transcript.find(paths.config_dir(env), name)
    return _read(path, name, found, go_on) if path else None


def _read(path: str, name: str, found: Memory, go_on: Callable[[float], bool]) -> Origin | None:
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
    title = talk.turns[0].text.split("\n")[0] if talk.turns else ""
    turn = talk.turns[written] if written >= 0 else _closest(talk.turns, found)
    if turn is None:
        return Origin(name, path, title, branch)
    agent, said = turn.agent.strip(), turn.text.strip()
    agent = agent if len(agent) <= AGENT_SHOWN else "…" + agent[-AGENT_SHOWN:]
    said = said if len(said) <= SAID_SHOWN else said[:SAID_SHOWN] + "…"
    return Origin(name, path, title, branch, turn.time, agent, said, written >= 0)


def _writes(record: dict[str, object], file: str) -> bool:
    """Whether the agent writes the memory's file here."""
    if record.get("type") != "assistant":
        return False
    for block in transcript.blocks(record):
        given = block.get("input")
        if block.get("type") == "tool_use" and isinstance(given, dict):
            target = transcript.text_of(given.get("file_path")) or transcript.text_of(given.get("path"))
            if target.endswith(file):
                return True
    return False


def _closest(turns: list[Turn], found: Memory) -> Turn | None:
    """The turn that shares most words with the memory; None where none shares any."""
    wanted = _words(f"{found.name} {found.description} {found.body}")
    best = max(turns, key=lambda turn: len(wanted & _words(turn.text)), default=None)
    return best if best is not None and wanted & _words(best.text) else None


def _words(text: str) -> set[str]:
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return {word for word in words if len(word) > 3} - COMMON
