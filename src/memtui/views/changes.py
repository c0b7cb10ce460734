"""Words for changes: undo and redo, who wrote a version, and what others wrote since a person saw it."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.base import clock_hot
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.phrasing_hot import ago, cut, many, some
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.settings import config_hot
from memtui.store import references
from memtui.store.journal import acts
from memtui.store.journal.acts import REJECTS
from memtui.store.journal.journal import takes_back
from memtui.store.journal.ledger import MODEL, SHARED, here
from memtui.store.journal.undo import decided
from memtui.store.scopes import Scope
from memtui.store.versions.versions import AGENT, FIRST, GONE, PERSON, Version, Writer
from memtui.views import safe_text
from memtui.views.colours import QUIET, WARNING
from memtui.views.parts import File, Part, TextDifference, Words, line
from memtui.views.words import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.review.outside_changes import Changed
    from memtui.store.journal.ledger import Transaction
    from memtui.store.journal.undo import Elsewhere, Undone
    from memtui.workspace import Workspace

# Operations that change one memory each: several of one act are counted, such as "remove 3 memories".
ON_MEMORIES = frozenset(
    ("approve", "copy", "create", "delete", "edit", "move", "pin", "purge", "rename", "restore", "retype", "triggers")
)
# What became of a change, by its state in the journal.
STATES = {"done": "done", "undone": "undone", "purged": "gone for good", "back": "interrupted"}
# By operation: what is done instead of an undo, where the settings file was changed since.
INSTEAD = {"install": "removes the hooks from its present version.", "uninstall": "adds them to its present version."}
# What does that, and lists the versions of a memory: commands, and keys in the TUI.
COMMANDS = {"install": "`memtui setup hooks --remove`", "uninstall": "`memtui setup hooks`", "": "memtui history"}
KEYS = TABLES["keys of changes"]


def undone_as_one(undone: "Undone", ways: "Mapping[str, str]" = COMMANDS) -> "Transaction":
    """Return the first change undone, its summary counting all; if there is none, raise MemtuiError naming `ways`."""
    if not undone.done and undone.failed:
        raise refusal(undone.op, *undone.failed[0], ways)
    first = decided(undone.done)[0]
    summary = together(undone.done, undone.total) if undone.total > 1 else first.summary
    is_rejected = undone.op == "undo" and summary.startswith(f"{acts.NEVER} ")
    return replace(first, summary=summary + "; it is rejected as before" * is_rejected)


def act(transaction: "Transaction") -> str:
    """Return what a change is among the acts: its operation, or that a person rejected what others wrote."""
    return REJECTS if takes_back(transaction.record) else transaction.op


def together(transactions: "Sequence[Transaction]", total: int) -> str:
    """Return one summary for changes that were made together: these, of `total`. Only what a person decided counts."""
    own = decided(transactions)
    first, count = own[0], len(own)
    total -= len(transactions) - count
    if total == 1:
        return first.summary
    if first.op not in ON_MEMORIES or len({act(transaction) for transaction in own}) > 1:
        return f"{first.summary} and {count - 1} more"
    return acts.summary(act(first), f"{f'{count} of {total}' if count < total else count} memories")


def refusal(op: str, transaction: "Transaction", error: MemtuiError, ways: "Mapping[str, str]") -> MemtuiError:
    """Explain in one sentence why a change was not undone (`op`: undo or redo), and what to do instead."""
    if not isinstance(error, ConflictError | NotFoundError):
        return error
    files = (os.path.basename(path) for path in transaction.paths)
    memory = next((file for file in files if file.endswith(".md") and file not in SHARED), "")
    hint = f" Its versions: {ways['']} {shell_word(memory.removesuffix('.md'))}" if memory else ""
    if op == "undo" and transaction.op in INSTEAD:
        hint = f" {ways[transaction.op]} {INSTEAD[transaction.op]}"
    words = f"Can't {op} {_quoted(transaction)}: {reason(transaction, error)}."
    return type(error)(words, f"Nothing was written.{hint}")


def reason(transaction: "Transaction", error: MemtuiError) -> str:
    """Say why a change was not undone or redone, as the end of a sentence."""
    if transaction.op == "guide" and isinstance(error, ConflictError):
        return "it was delivered, withdrawn or changed meanwhile"
    words = error.message.removesuffix(".")
    return words[:1].lower() + words[1:]


def _quoted(transaction: "Transaction") -> str:
    return transaction.summary if "“" in transaction.summary else f"“{transaction.summary}”"


# Where a change was made, by the journal's names: in the list of commands, and in the narrow one of the TUI.
PLACES = {
    "cli": {"": "this shell", "cli": "a shell", "tui": "the terminal UI", "demo": "the sample world"},
    "tui": {"": "here", "cli": "shell", "tui": "TUI", "demo": "sample"},
}


def place(transaction: "Transaction", door: str) -> str:
    """Return from where a change came, in a few words. `door`: the journal's name for the one that asks."""
    is_here = transaction.actor == here(door) and transaction.by in PLACES
    return PLACES[door].get("" if is_here else transaction.by, transaction.by)


def asked_about(elsewhere: "Elsewhere", now: float, writers: "Mapping[str, str]", project: str = "") -> str:
    """Ask about the change that undo or redo would take, with when and from where; `writers`: words for the latter,
    `project`: those for another project."""
    last = elsewhere.first.latest
    others = len(elsewhere.decided) - 1
    more = f" and {many(others, 'other change')} made with it" if others else ""
    final, op = elsewhere.final, elsewhere.op.capitalize()
    why, what = "", op
    if final:
        because = "" if final.op == "purge" else ": it was delivered or changed meanwhile"
        words, what = _quoted(final), f"{op} the older change"
        why = f"{words[:1].upper()}{words[1:]} can't be undone{because}. "
    origin = f"{ago(clock_hot.parse(last.time), now)} from {writers.get(last.by, last.by)}"
    return f"{why}{what} {_quoted(elsewhere.decided[0])}{more}{project}, {origin}{', instead' if final else ''}?"


# who wrote a version


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
    did = version.op if version.op in {"undo", "redo"} else acts.done(version.op)
    if version.op == "move" and version.was is not None and (source := scope_of(version.was[0], scopes)) is not None:
        did = f"{did} from {source.shown}"
    then = called(version, newest, scopes)
    if version.writer.by != PERSON and version.op in {"undo", "redo"}:
        did = f"put back by {did}"
    who = writer(version, title)
    return (f"{who}: {did}" if did else who) + (f", {then}" if then else "")


def prompted(words: str) -> str:
    """Say which prompt a version came from; empty if that is not known."""
    words = " ".join(words.split())
    return f"You said: “{cut(words, 200)}”" if words else ""


# what others wrote

DID = {"new": "new", "edited": "changed", "deleted": "deleted"}
NOT_TRUSTED = "not trusted: sessions get it once you keep it"
# What rejecting it does.
BACK = {"new": "it goes to the trash", "edited": "what you saw last is restored", "deleted": "it comes back"}


def by(item: "Changed", title: str = "") -> str:
    """Say what was done and by whom: `changed by Claude in “title”`."""
    if item.kind == "deleted":
        return f"deleted outside memtui{_undone(item)}"
    what = "added" if item.kind == "new" else "changed"
    if item.writer.by == AGENT:
        return f"{what} by {writer(item.now, title, item.writer)}{_undone(item)}"
    return f"{what} outside memtui{_undone(item)}"


def _undone(item: "Changed") -> str:
    """Say that an undo of the person put it back, which is why it is here again."""
    return ", put back by your undo" if item.now.op == "undo" else ""


def who(item: "Changed") -> str:
    return f"{'by Claude' if item.writer.by == AGENT else 'outside memtui'}{_undone(item)}"


def done(act: str, items: "Sequence[Changed]", failed: int = 0) -> str:
    """Say what was done: `Kept: auto:prefer-pnpm.`, `Rejected: 3 memories; one was left alone.`."""
    names = some([item.ref for item in items]) if len(items) <= 2 else many(len(items), "memory", "memories")
    rest = f"; {many(failed, 'one was', 'were')} left alone" if failed else ""
    return f"{acts.done(act).capitalize()}: {names}{rest}."


def gate_off(here: "Workspace") -> tuple[str, str] | None:
    """Say that the gate is off, and what lists what it hides; None if it is on."""
    if here.setting("gate") != "off":
        return None
    own = " --project ." if config_hot.is_own(here.settings(), here.project_root, "gate") else ""
    return "The gate is off, so what others change is not listed.", "List it: memtui config set gate show" + own


def failures(failed: "Sequence[tuple[Changed, MemtuiError]]") -> list[dict[str, str]]:
    """Return name, message and hint of each that could not be rejected."""
    return [{"name": item.ref, "message": error.message, "hint": error.hint} for item, error in failed]


# what a person is asked to trust


def describe_untrusted(name: str, content: bytes, before: bytes | None) -> list[Part]:
    """Return a memory as sessions get it once it is trusted; of one that was trusted (`before`) what changed."""
    from memtui.redact import redact

    text = content.decode("utf-8", "replace")
    parts: list[Part] = [Words("\n"), File(text.rstrip("\n"), name)]
    if before is not None and before != content:
        parts = [Words("  changed since it was trusted\n", QUIET), TextDifference(before, content)]
    kinds = redact.kinds_in(text)
    warning = f"! {redact.suspicion(kinds)}: sessions read it once it is trusted." if kinds else ""
    return [Words(safe_text.line(name, 200), "bold"), *parts, line(warning, WARNING)]
