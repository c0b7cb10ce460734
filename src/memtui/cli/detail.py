"""`memtui inbox ID`, and `memtui show ID`: one decision whole: what it says, where it comes from, what it would do."""

from collections.abc import Callable, Sequence

from memtui.cli import entries
from memtui.cli.context import Context
from memtui.cli.decisions import DecisionRow, Decisions, Untrusted, as_data, difference
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff, proposals
from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, share, some, until
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.health.problems import Problem
from memtui.core.memories.store import Store
from memtui.core.memories.writers import Occasions
from memtui.core.review import draft, evidence, merge
from memtui.core.review.changed import Changed
from memtui.core.review.draft import Draft
from memtui.core.review.evidence import LikeRefused, Similar
from memtui.core.review.waiting import Waiting
from memtui.present import changed as words
from memtui.present import dates, drafts
from memtui.present import versions as version_words
from memtui.present.drafts import Quote

TITLES = {"guidance": "Note", "updates": "Draft", "items": "Todo"}
WHO_WIDTH = 6  # columns for who spoke

Printer = Callable[[Output], None]


def one(ctx: Context, ref: str) -> Result:
    """Show what an id or a name means. Raises NotFoundError, ConflictError."""
    row = Decisions(ctx).find(ref)
    thing = row.thing
    if isinstance(thing, Waiting):
        more, text = _entry(ctx, row, thing)
    elif isinstance(thing, Changed):
        more, text = {}, lambda out: _print_changed(ctx, out, thing)
    elif isinstance(thing, Problem):
        more, text = {}, lambda out: _print_problem(out, row, thing)
    elif isinstance(thing, Untrusted):
        more, text = (
            {"text": thing.memory.raw.decode("utf-8", "replace")},
            lambda out: _print_untrusted(ctx, out, thing),
        )
    else:
        more, text = proposals.whole(ctx, thing.proposal)
    return Result({**more, **as_data(ctx, row)}, text)


def _print_problem(out: Output, row: DecisionRow, found: Problem) -> None:
    out.paragraph(found.sentence)
    if len(found.memories) > 1:
        out.paragraph(some(found.memories), "  ")
    out.remedy(found.remedy)
    out.say(f"memtui reject {short_id(row.id)} does not list it again.")


def _print_untrusted(ctx: Context, out: Output, found: Untrusted) -> None:
    out.heading(line(found.memory.ref), "came with the repository, not trusted")
    out.print("  " + out.style(line(ctx.tilde(found.memory.path)), "dim"))
    out.print()
    out.print(safe(found.memory.raw.decode("utf-8", "replace").rstrip("\n")))
    ref = found.memory.ref
    out.say(f"memtui approve {shell_word(ref)} trusts it as it is now, memtui reject {shell_word(ref)} asks no more.")


def _print_changed(ctx: Context, out: Output, item: Changed) -> None:
    occasion = Occasions(ctx.env).of(item.writer)
    out.heading(line(item.ref), ago(item.now.written, ctx.now()))
    facts = [words.by(item, occasion.title), version_words.prompted(occasion.prompt), ctx.tilde(item.key)]
    for fact in filter(None, facts):
        out.print("  " + out.style(line(fact), "dim"))
    out.print()
    diff.show_lines(out, difference(ctx, item), "  ")
    ref = item.ref
    out.say(f"memtui approve {shell_word(ref)} marks it as seen, memtui reject {shell_word(ref)} undoes it.")


# entries


def _entry(ctx: Context, row: DecisionRow, item: Waiting) -> "tuple[dict[str, object], Printer]":
    more = None if item.kind == "guidance" else DraftDetails(ctx, item)

    def text(out: Output) -> None:
        now = ctx.now()
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        for state in entries.states(ctx, item):
            out.print("  " + (state if item.kind == "items" else out.style(f"! {state}", "yellow")))
        target = more.draft.scope.label if more is not None and more.draft is not None else ""
        for fact in [line(row.where), *facts_of(item, now, target), line(ctx.tilde(item.path))]:
            if fact:
                out.print("  " + out.style(fact, "dim"))
        out.print()
        out.paragraph(item.text)
        if more is not None:
            more.print(out)

    return more.data() if more is not None else {}, text


def facts_of(item: Waiting, now: float, target: str = "") -> "list[str]":
    """Return the facts about an entry, a few words each. `target`: the scope that approving a draft writes into."""
    fields = item.entry.fields
    found = []
    if item.kind == "updates":
        found += [f"until {dates.day(end, now)}"] if (end := item.until(now)) is not None else []
        found.append(" · ".join(filter(None, (drafts.kind(item), *drafts.odds_of(item), drafts.by_model(fields)))))
        becomes = [part for part in (fields.get("type"), fields.get("name")) if part]
        found += [f"→ {'/'.join([target or draft.label_of(item), *becomes])}"] if fields.get("scope") or becomes else []
    elif item.kind == "guidance":
        found.append(f"from {fields['from']}" if "from" in fields else "hand-written")
        found += ["urgent"] if item.entry.flag("urgent") else []
        found += ["for " + fields["for"]] if fields.get("for") else []
        found += ["may have been delivered before"] if item.entry.flag("repeat") else []
        expires = clock.parse(fields.get("expires"))
        found += [f"expires {until(expires, now)}"] if expires is not None and expires > now else []
    else:
        found.append("left by a session" if fields.get("session") else "hand-written")
    return [line(each) for each in found]


class DraftDetails:
    """The details of a draft or a todo: the memory it would become, its evidence, similar memories.

    `problem` is why no memory can be made of it, or empty.
    """

    def __init__(self, ctx: Context, item: Waiting) -> None:
        from memtui.consolidate import similarity
        from memtui.core.inbox import refused

        self.item, self.now = item, ctx.now()
        self.draft: Draft | None = None
        self.problem = ""
        self.store = store = ctx.store()
        near: Sequence[Similar] = []
        rejected: Sequence[LikeRefused] = []
        if item.kind == "updates":
            try:
                self.draft = draft.propose(store, item)
            except MemtuiError as error:
                self.problem = f"{error.message} {error.hint}".strip()
        if self.draft is not None:
            near = similarity.to_draft(self.draft.name, item.text, draft.neighbours(store, item))
            known = refused.near([item.directory, paths.inbox_dir(store.root, None)])
            rejected = similarity.to_refused(self.draft.name, item.text, known)
        self.evidence = evidence.evidence_of(ctx.env, item, near, rejected)

    def data(self) -> "dict[str, object]":
        found, proposed = self.evidence, self.draft
        said = [{"who": s.who, "text": s.text, "time": s.time, "evidence": s.hit} for s in found.said]
        data: dict[str, object] = {"setting": {"title": found.title, "said": said, "problem": found.problem or None}}
        if self.item.kind != "updates":
            return data
        becomes = proposed and {
            "name": proposed.name,
            "scope": proposed.scope.label,
            "path": proposed.path,
            "taken": proposed.taken,
            "text": proposed.data.decode("utf-8", "replace"),
        }
        alike = [
            {"name": m.name, "scope": m.scope_label, "path": m.path, "description": m.description, "score": score}
            for m, score in ((each.memory, each.score) for each in found.similar)
        ]
        rejected = [
            {
                "text": each.draft.description,
                "time": None if each.draft.time is None else clock.iso_seconds(each.draft.time),
                "never": each.draft.never,
                "score": each.score,
            }
            for each in found.refused
        ]
        return {**data, "becomes": becomes, "problem": self.problem or None, "alike": alike, "rejected_alike": rejected}

    def print(self, out: Output) -> None:
        if self.problem:
            out.print()
            out.paragraph(f"! {self.problem}")
        elif self.draft is not None:
            out.print()
            name = f"{line(self.draft.scope.label)}:{line(self.draft.name)}"
            out.print(f"becomes  {out.style(name, 'bold')}")
            if self.draft.taken:
                ways = "--name or --into" if takes_draft(self.draft) else "--name"
                out.print("  " + out.style(f"! a memory of this name is there already: approve with {ways}", "yellow"))
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
        names = [f"{line(each.memory.scope_label)}:{line(each.memory.name)}" for each in shown]
        cells = [
            [share(each.score), (name, "bold"), line(each.memory.description)]
            for each, name in zip(shown, names, strict=True)
        ]
        out.table(["", "", ""], cells, flex=(2, 1), indent="  ")
        out.print(f"Merge: {line(_how_to_merge(self.store, self.item, shown))}")


def _how_to_merge(store: Store, item: Waiting, near: "Sequence[Similar]") -> str:
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
