"""Words for who wrote a version of a memory, and for memories that somebody else wrote since a person saw them."""

import os
from collections.abc import Sequence

from memtui.base.errors import MemtuiError
from memtui.base.phrasing import cut, many, some
from memtui.base.short_ids import short_id
from memtui.review.outside_changes import Changed
from memtui.store import references
from memtui.store.journal import acts
from memtui.store.journal.ledger import MODEL
from memtui.store.scopes import Scope
from memtui.store.versions.versions import AGENT, FIRST, GONE, PERSON, Version, Writer
from memtui.views import safe_text
from memtui.views.colours import QUIET, WARNING
from memtui.views.parts import File, Part, TextDifference, Words, line


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


# what others wrote

DID = {"new": "new", "edited": "changed", "deleted": "deleted"}
NOT_TRUSTED = "not trusted: sessions get it once you keep it"
# What rejecting it does.
BACK = {"new": "it goes to the trash", "edited": "what you saw last is restored", "deleted": "it comes back"}


def by(item: Changed, title: str = "") -> str:
    """Say what was done and by whom: `changed by Claude in “title”`."""
    if item.kind == "deleted":
        return f"deleted outside memtui{_undone(item)}"
    what = "added" if item.kind == "new" else "changed"
    if item.writer.by == AGENT:
        return f"{what} by {writer(item.now, title, item.writer)}{_undone(item)}"
    return f"{what} outside memtui{_undone(item)}"


def _undone(item: Changed) -> str:
    """Say that an undo of the person put it back, which is why it is here again."""
    return ", put back by your undo" if item.now.op == "undo" else ""


def who(item: Changed) -> str:
    """Say in two words who wrote it."""
    return f"{'by Claude' if item.writer.by == AGENT else 'outside memtui'}{_undone(item)}"


def done(act: str, items: Sequence[Changed], failed: int = 0) -> str:
    """Say what was done: `Kept: auto:prefer-pnpm.`, `Rejected: 3 memories; one was left alone.`."""
    names = some([item.ref for item in items]) if len(items) <= 2 else many(len(items), "memory", "memories")
    rest = f"; {many(failed, 'one was', 'were')} left alone" if failed else ""
    return f"{acts.done(act).capitalize()}: {names}{rest}."


def gate_off(hidden: int, *, own: bool) -> tuple[str, str]:
    """Say that the gate hides so many memories, and what lists them; `own` if the project has its own setting."""
    which = many(hidden, "memory changed by others is", "memories changed by others are")
    return (
        f"The gate is off, so {which if hidden else 'what others change is'} not listed.",
        f"List what others change: memtui config set gate show{' --project .' if own else ''}",
    )


def failures(failed: Sequence[tuple[Changed, MemtuiError]]) -> list[dict[str, str]]:
    """Return name, message and hint of each that could not be rejected."""
    return [{"name": item.ref, "message": error.message, "hint": error.hint} for item, error in failed]


# what a person is asked to trust

TRUST_SIDES = ("the trusted text", "the text now")


def describe_untrusted(name: str, content: bytes, before: bytes | None) -> list[Part]:
    """Return a memory as sessions get it once it is trusted; of one that was trusted (`before`) what changed."""
    from memtui.redact import redact

    text = content.decode("utf-8", "replace")
    parts: list[Part] = [Words("\n"), File(text.rstrip("\n"), name)]
    if before is not None and before != content:
        parts = [Words("  changed since it was trusted\n", QUIET), TextDifference(before, content, TRUST_SIDES)]
    kinds = redact.kinds_in(text)
    warning = f"! {redact.suspicion(kinds)}: sessions read it once it is trusted." if kinds else ""
    return [Words(safe_text.line(name, 200), "bold"), *parts, line(warning, WARNING)]
