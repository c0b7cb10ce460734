"""How both user interfaces say who wrote a version of a memory, what memtui did, and what the memory was called."""

import os
from collections.abc import Sequence

from memtui.base.phrasing import cut
from memtui.base.short_ids import short_id
from memtui.store import references
from memtui.store.journal import acts
from memtui.store.journal.ledger import MODEL
from memtui.store.scopes import Scope
from memtui.store.versions.versions import AGENT, FIRST, GONE, PERSON, Version, Writer


def writer(version: Version, title: str = "", other: Writer | None = None) -> str:
    """Say who wrote a version, or that `other` did; `title` is that of the agent's session."""
    what = other or version.writer
    if what.by == AGENT:
        return f"Claude in “{title}”" if title else f"Claude in session {short_id(what.session)}"
    if what.by == MODEL:
        return f"the model, session {what.session[:8]}" if what.session else "the model"
    if what.by == FIRST:
        return "found on the first run"
    if what.by == PERSON:
        return "you, with memtui"
    return "deleted outside memtui" if version.digest == GONE else "outside memtui"


def scope_of(directory: str, scopes: Sequence[Scope]) -> Scope | None:
    """Return the scope of a directory, which a link may have called otherwise; None if it is not known."""
    exact = next((scope for scope in scopes if scope.directory == directory), None)
    real = os.path.realpath(directory)
    return exact or next((scope for scope in scopes if os.path.realpath(scope.directory) == real), None)


def ref(directory: str, file: str, scopes: Sequence[Scope]) -> str:
    """Say what a memory is called in a directory: `scope:name`; only its name where that scope is not known."""
    scope = scope_of(directory, scopes)
    stem = references.stem(file)
    return stem if scope is None else f"{scope.shown}:{stem}"


def deed(version: Version, scopes: Sequence[Scope]) -> str:
    """Say what memtui did where it wrote a version; empty for others'."""
    did = version.op if version.op in {"undo", "redo"} else acts.done(version.op)
    if version.op == "move" and version.was is not None:
        scope = scope_of(version.was[0], scopes)
        return f"{did} from {scope.shown}" if scope is not None else did
    return did


def called(version: Version, newest: Version, scopes: Sequence[Scope]) -> str:
    """Say what a memory was called then, if that is not what it is called now."""
    name, now = references.stem(version.file), references.stem(newest.file)
    if version.directory == newest.directory:
        return f"called {name}" if name != now else ""
    scope = scope_of(version.directory, scopes)
    where = "another scope" if scope is None else scope.shown
    return f"was {ref(version.directory, version.file, scopes)}" if name != now else f"was in {where}"


def told(version: Version, newest: Version, title: str = "", scopes: Sequence[Scope] = ()) -> str:
    """Say who wrote a version, what memtui did, and what the memory was called then; `title`: of its session."""
    did, then = deed(version, scopes), called(version, newest, scopes)
    if version.writer.by != PERSON and version.op in {"undo", "redo"}:
        did = f"put back by {did}"
    who = writer(version, title)
    return (f"{who}: {did}" if did else who) + (f", {then}" if then else "")


def prompted(words: str, most: int = 200) -> str:
    """Say which prompt a version came from; empty if that is not known."""
    words = " ".join(words.split())
    return f"You said: “{cut(words, most)}”" if words else ""
