"""What `memtui inbox ID` adds to a draft: the memory it would become, its conversation, similar memories, and drafts
like it that were rejected."""

from collections.abc import Sequence

from memtui.cli.context import Context
from memtui.cli.output import Output, line
from memtui.consolidate import similarity
from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import likeness
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.inbox import refused
from memtui.core.memories.store import Store
from memtui.core.review import draft, evidence, merge
from memtui.core.review.draft import Draft
from memtui.core.review.evidence import LikeRefused, Similar
from memtui.core.review.waiting import Waiting
from memtui.present import drafts
from memtui.present.drafts import Quote

WHO_WIDTH = 6  # columns for who spoke


class DraftDetails:
    """The details of a draft or an item: the memory it would become, its evidence, similar memories.

    `problem` is why no memory can be made of it, or empty.
    """

    def __init__(self, ctx: Context, item: Waiting) -> None:
        self.item = item
        self.draft: Draft | None = None
        self.problem = ""
        self.store = store = ctx.store()
        if item.kind == "updates":
            try:
                self.draft = draft.propose(store, item)
            except MemtuiError as error:
                self.problem = f"{error.message} {error.hint}".strip()
        self.now = ctx.now()
        near: list[Similar] = []
        rejected: list[LikeRefused] = []
        if self.draft is not None:
            near = similarity.to_draft(self.draft.name, item.text, draft.neighbours(store, item))
            known = refused.near([item.directory, paths.inbox_dir(store.root, None)])
            rejected = similarity.to_refused(self.draft.name, item.text, known)
        self.evidence = evidence.evidence_of(ctx.env, item, near, rejected)

    def data(self) -> "dict[str, object]":
        """Return them for --json."""
        found = self.evidence
        said = [{"who": s.who, "text": s.text, "time": s.time, "evidence": s.hit} for s in found.said]
        data: dict[str, object] = {"setting": {"title": found.title, "said": said, "problem": found.problem or None}}
        if self.item.kind != "updates":
            return data
        proposed = self.draft
        data["becomes"] = proposed and {
            "name": proposed.name,
            "scope": proposed.scope.label,
            "path": proposed.path,
            "taken": proposed.taken,
        }
        data["problem"] = self.problem or None
        data["alike"] = [
            {
                "name": each.memory.name,
                "scope": each.memory.scope_label,
                "path": each.memory.path,
                "description": each.memory.description,
                "score": each.score,
            }
            for each in found.similar
        ]
        data["rejected_alike"] = [
            {
                "text": each.draft.description,
                "time": None if each.draft.time is None else clock.iso_seconds(each.draft.time),
                "never": each.draft.never,
                "score": each.score,
            }
            for each in found.refused
        ]
        return data

    def print(self, out: Output) -> None:
        """Print them for a person."""
        if self.problem:
            out.print()
            out.paragraph(f"! {self.problem}")
        elif self.draft is not None:
            out.print()
            name = f"{line(self.draft.scope.label)}:{line(self.draft.name)}"
            out.print(f"becomes  {out.style(name, 'bold')}")
            if self.draft.taken:
                ways = "--name or --into" if takes_draft(self.draft) else "--name"
                words = f"! a memory of this name is there already: approve with {ways}"
                out.print("  " + out.style(words, "yellow"))
            if asked := self.item.entry.fields.get("request"):
                out.print(f"trigger  “{line(asked)}” (your prompt before the correction; --no-trigger leaves it out)")
        for each in self.evidence.refused[: drafts.SIMILAR_SHOWN]:
            out.paragraph(f"! {drafts.like_refused(each, self.now)}")
        self._print_evidence(out)
        self._print_similar(out)

    def _print_evidence(self, out: Output) -> None:
        found = self.evidence
        title = f"“{line(found.title)}”" if found.title else ""
        heading, quotes = "In context", drafts.setting(found)
        if not quotes:
            heading, quotes = "Evidence", drafts.quoted(self.item)
        if quotes:
            out.print()
            out.heading(heading, title)
            for quote in quotes:
                _print_quote(out, quote)
        elif title:
            out.print()
            out.print(f"Its session began with {title}.")
        if found.problem:
            out.print("  " + out.style(line(found.problem), "dim"))

    def _print_similar(self, out: Output) -> None:
        shown = self.evidence.similar[: drafts.SIMILAR_SHOWN]
        if not shown:
            return
        out.print()
        out.heading("Similar memories")
        cells = [
            [
                likeness(each.score),
                (f"{line(each.memory.scope_label)}:{line(each.memory.name)}", "bold"),
                line(each.memory.description),
            ]
            for each in shown
        ]
        out.table(["", "", ""], cells, flex=(2, 1), indent="  ")
        out.print(f"Merge: {line(how_to_merge(self.store, self.item, shown))}")


def how_to_merge(store: Store, item: Waiting, near: Sequence[Similar]) -> str:
    """Return the command that merges a draft into the most similar of these memories that takes one; why it is not
    possible if none does. `near` must not be empty."""
    owner = merge.store_of(store, [item])
    refused = {each.memory.ref: merge.refusal(owner, each.memory) for each in near}
    for ref, error in refused.items():
        if error is None:
            return f"memtui approve {short_id(item.id)} --into {shell_word(ref)}"
    first = next(error for error in refused.values() if error is not None)
    return f"{first.message} {first.hint}"


def takes_draft(proposed: Draft) -> bool:
    """Return whether the draft can be merged into the memory that has its name already."""
    there = [each for each in draft.neighbours(proposed.store, proposed.item) if each.path == proposed.path]
    return any(merge.refusal(proposed.store, each) is None for each in there)


def _print_quote(out: Output, quote: Quote) -> None:
    indent = WHO_WIDTH + 3
    for number, piece in enumerate(out.wrapped(quote.text, indent)):
        head = f"{'▸' if quote.hit else ' '} {line(quote.who):<{WHO_WIDTH}} " if number == 0 else " " * indent
        out.print((head + out.style(piece, "" if quote.hit else "dim")).rstrip())
