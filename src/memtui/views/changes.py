"""Words for undo and redo, in both front doors."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.base import clock
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.phrasing import ago, cut, many
from memtui.base.shell import shell_word
from memtui.store import triggers
from memtui.store.journal import acts
from memtui.store.journal.acts import REJECTS
from memtui.store.journal.ledger import SHARED, here
from memtui.store.journal.records import takes_back
from memtui.store.journal.undo import decided

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memtui.store.journal.journal import Journal
    from memtui.store.journal.ledger import Transaction
    from memtui.store.journal.undo import Elsewhere, Undone

# Operations that change one memory each: several of one act are counted, such as "remove 3 memories".
ON_MEMORIES = frozenset(
    ("approve", "copy", "create", "delete", "edit", "move", "pin", "purge", "rename", "restore", "retype", "triggers")
)
# Those that change lines beside a memory: triggers, and prompts for which it is muted.
ON_LINES = frozenset(("triggers", "mute", "unmute"))
# Characters of a trigger or a prompt in the list of changes.
SAID = 60
# What became of a change, by its state in the journal.
STATES = {"done": "done", "undone": "undone", "purged": "gone for good", "back": "interrupted"}
# By operation: what is done instead of an undo, where the settings file was changed since.
INSTEAD = {
    "install": "removes the hooks from its present version.",
    "uninstall": "adds them to its present version.",
}
# What does that, and lists the versions of a memory: commands, and keys in the TUI.
COMMANDS = {"install": "`memtui setup hooks --remove`", "uninstall": "`memtui setup hooks`", "": "memtui history"}
KEYS = {
    "install": "{setup.remove} on the hooks of Setup",
    "uninstall": "{setup.approve} on the hooks of Setup",
    "": "{memories.history} on",
}


def worded(journal: "Journal", transaction: "Transaction") -> "Transaction":
    """Return a change whose summary names its triggers or prompts, which only the journal's contents have."""
    verb, _, rest = transaction.summary.partition(" triggers ")
    if transaction.op not in ON_LINES or (transaction.op == "triggers" and not rest):
        return transaction
    try:
        lines = [triggers.words_of(change) for change in journal.changes_of(transaction.record)]
    except MemtuiError:
        return transaction
    added, removed = ([line for side in lines for line in side[at]] for at in (0, 1))
    if transaction.op != "triggers":
        prompts = "" if "“" in transaction.summary else _named(added or removed, "prompts like")
        return replace(transaction, summary=f"{transaction.summary}{' for ' * bool(prompts)}{prompts}")
    parts = [f"{word} {_named(of, 'trigger')}" for word, of in (("add", added), ("remove", removed)) if of]
    return replace(transaction, summary=f"{' and '.join(parts) or f'{verb} triggers'} {rest}")


def _named(lines: "Sequence[str]", noun: str) -> str:
    quoted = [f"“{cut(line, SAID)}”" for line in lines[:1]]
    return (
        f"{many(len(lines), noun)} ({quoted[0]}, …)" if len(lines) > 1 else "".join(f"{noun} {text}" for text in quoted)
    )


def undone_as_one(journal: "Journal", undone: "Undone", ways: "Mapping[str, str]" = COMMANDS) -> "Transaction":
    """Return the first change undone, its summary counting all; if there is none, raise MemtuiError naming `ways`."""
    if not undone.done and undone.failed:
        raise refusal(undone.op, *undone.failed[0], ways)
    first = worded(journal, decided(undone.done)[0])
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
    return type(error)(
        f"Can't {op} {_quoted(transaction)}: {reason(transaction, error)}.", f"Nothing was written.{hint}"
    )


def reason(transaction: "Transaction", error: MemtuiError) -> str:
    """Say why a change was not undone or redone, as the end of a sentence."""
    if transaction.op == "guide" and isinstance(error, ConflictError):
        return "it was delivered, withdrawn or changed meanwhile"
    words = error.message.removesuffix(".")
    return words[:1].lower() + words[1:]


def _quoted(transaction: "Transaction") -> str:
    return transaction.summary if "“" in transaction.summary else f"“{transaction.summary}”"


def _why_final(transaction: "Transaction") -> str:
    words = _quoted(transaction)
    why = "" if transaction.op == "purge" else ": it was delivered or changed meanwhile"
    return f"{words[:1].upper()}{words[1:]} can't be undone{why}. "


# Where a change was made, by the journal's names: in the list of commands, and in the narrow one of the TUI.
PLACES = {
    "cli": {"": "this shell", "cli": "a shell", "tui": "the terminal UI", "demo": "the sample world"},
    "tui": {"": "here", "cli": "shell", "tui": "TUI", "demo": "sample"},
}


def place(transaction: "Transaction", door: str) -> str:
    """Return from where a change came, in a few words. `door`: the journal's name for the one that asks."""
    is_here = transaction.actor == here(door) and transaction.by in PLACES
    return PLACES[door].get("" if is_here else transaction.by, transaction.by)


def asked_about(elsewhere: "Elsewhere", now: float, writers: "Mapping[str, str]") -> str:
    """Ask about the change that undo or redo would take, with when and from where; `writers`: words for the latter."""
    last = elsewhere.first.latest
    others = len(elsewhere.decided) - 1
    more = f" and {many(others, 'other change')} made with it" if others else ""
    final, op = elsewhere.final, elsewhere.op.capitalize()
    why, what = (_why_final(final), f"{op} the older change") if final else ("", op)
    origin = f"{ago(clock.parse(last.time), now)} from {writers.get(last.by, last.by)}"
    return f"{why}{what} {_quoted(elsewhere.decided[0])}{more}, {origin}{', instead' if final else ''}?"
