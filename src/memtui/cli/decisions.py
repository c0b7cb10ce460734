"""What `memtui approve` and `reject` decide about: find what ids and names mean, all of one kind."""

import argparse

from memtui.cli import entries, memories
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.show import proposals
from memtui.core.base.errors import NotFoundError, UsageError
from memtui.core.review import changed, waiting
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import Waiting
from memtui.core.settings import config
from memtui.present import changed as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.parser import Parser
    from memtui.consolidate.proposed import Undecided

    Decided = Waiting | Changed | Undecided

NOTHING = "Nobody else has changed a memory since you saw it."
NAMES = {
    "updates": "drafts",
    "items": "todos",
    "guidance": "notes",
    "changed": "changes of others",
    "proposal": "proposals",
}
ALL = ("drafts", "changed")


def add_arguments(found: "Parser") -> None:
    """Add the arguments by which a command names what it decides about."""
    found.add_argument("ids", nargs="*", metavar="ID|NAME", help="see `memtui inbox` and `memtui consolidate`")
    found.add_argument("--all", action="store_true", help="all drafts of this project and the global ones")
    found.add_argument(
        "--kind", choices=ALL, default="drafts", help="with --all: drafts (default), or changed memories"
    )
    found.add_argument("--all-projects", action="store_true", help="with --all --kind changed: those of all projects")


def chosen(
    ctx: Context,
    args: argparse.Namespace,
    bulk: BulkResult,
    kinds: "tuple[str, ...]",
    *,
    snoozed: bool = False,
    one_offs: bool = True,
) -> "tuple[str, list[Decided]]":
    """Return the kind of what the arguments name, and what they name, each once; `kinds` are those of inboxes. With
    --all it is drafts (see `entries.drafts`) or memories that others changed. `bulk` keeps the failures of some.

    Raises UsageError for things of several kinds, NotFoundError, ConflictError.
    """
    ctx.must_have_home()
    if bool(args.ids) == bool(args.all):
        raise UsageError("Give one or more IDs or NAMEs, or --all.", "`memtui inbox` lists them.")
    if args.all and args.kind == "drafts":
        return "updates", list(entries.all_drafts(ctx, snoozed=snoozed, one_offs=one_offs))
    if args.all:
        _look(ctx)
        here = ctx.changed(every=args.all_projects)
        if not here:
            raise _gate_off(ctx) or NotFoundError(NOTHING)
        return "changed", list(here)
    finder = _Finder(ctx, kinds)
    pairs = {item.key: (kind, item) for kind, item in bulk.find(args.ids, finder.find)}
    found = list(dict.fromkeys(kind for kind, _ in pairs.values()))
    if len(found) > 1:
        both = " and ".join(NAMES[kind] for kind in found)
        raise UsageError(f"These are {both}: decide about one kind at a time.", "Nothing was changed.")
    return found[0], [item for _, item in pairs.values()]


def _look(ctx: Context) -> None:
    """Take in what was written just now: it can be decided about, too, as the inbox lists it."""
    ctx.take_in()
    ctx.look()


class _Finder:
    """Finds what an id or a name means: an entry of an inbox, a memory that somebody else wrote, or a proposal."""

    def __init__(self, ctx: Context, kinds: "tuple[str, ...]") -> None:
        self.ctx, self.kinds = ctx, kinds
        self.entries = entries.read(ctx, kinds, all_projects=True)
        self._changed: list[Changed] | None = None

    def find(self, ref: str) -> "tuple[str, Decided]":
        """Return its kind and what it is. Raises NotFoundError, ConflictError."""
        try:
            item = waiting.find(self.entries, ref, "entry")
        except NotFoundError:
            return self._other(ref)
        return item.kind, item

    def _other(self, ref: str) -> "tuple[str, Decided]":
        if self._changed is None:
            _look(self.ctx)
            self._changed = self.ctx.changed()
        try:
            return "changed", changed.find(self._changed, ref)
        except NotFoundError:
            every = self.ctx.changed(every=True)
        try:
            return "changed", changed.find(every, ref)
        except NotFoundError as error:
            if proposed := proposals.find(self.ctx, ref):
                return "proposal", proposed
            raise self._unknown(ref, error) from None

    def _unknown(self, ref: str, unchanged: NotFoundError) -> NotFoundError:
        """Return the error for what nothing that waits is called; `unchanged` is that of a memory nobody changed."""
        try:
            memories.find(self.ctx, ref)
        except NotFoundError:
            try:
                entries.pick(self.ctx, ref, self.kinds, "entry")
            except NotFoundError as error:
                short = error.hint == entries.LISTED or "4 characters" in error.hint
                if short and (close := changed.similar(self._changed or [], ref)):
                    error.hint = f"Did you mean {' or '.join(each.ref for each in close)}?"
                return error
        return _gate_off(self.ctx) or unchanged


def _gate_off(ctx: Context) -> NotFoundError | None:
    """Return the error that says that nothing is listed because the gate is off; None if it is not."""
    if ctx.setting("gate") != "off":
        return None
    own = config.is_own(ctx.settings(), ctx.project_root, "gate")
    return NotFoundError(*words.gate_off(ctx.count_hidden(), own=own))
