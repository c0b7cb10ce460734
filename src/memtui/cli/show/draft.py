"""What `memtui inbox show` tells of a draft besides its text: what it would become, its setting, what is alike."""

from memtui.cli.context import Context
from memtui.cli.output import Output, line
from memtui.consolidate import similar
from memtui.core.base.errors import MemtuiError
from memtui.core.review import draft, evidence
from memtui.core.review.draft import Draft
from memtui.core.review.waiting import Waiting
from memtui.present import drafts
from memtui.present.drafts import Quote

WHO = 6


class DraftShown:
    """A pending update or item, with what the TUI shows beside it."""

    def __init__(self, ctx: Context, item: Waiting) -> None:
        self.item = item
        self.draft: Draft | None = None
        self.problem = ""
        store = ctx.store()
        if item.kind == "updates":
            try:
                self.draft = draft.propose(store, item)
            except MemtuiError as error:
                self.problem = f"{error.message} {error.hint}".strip()
        near: list[evidence.Similar] = []
        if self.draft is not None:
            near = similar.to_draft(self.draft.name, item.text, draft.neighbours(store, item))
        self.evidence = evidence.evidence_of(ctx.env, item, near)

    def data(self) -> "dict[str, object]":
        """For --json."""
        found = self.evidence
        said = [{"who": s.who, "text": s.text, "time": s.time, "evidence": s.hit} for s in found.said]
        data: dict[str, object] = {"setting": {"title": found.title, "said": said, "problem": found.problem or None}}
        if self.item.kind != "updates":
            return data
        made = self.draft
        data["becomes"] = made and {
            "name": made.name,
            "scope": made.scope.label,
            "path": made.path,
            "taken": made.taken,
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
        return data

    def print(self, out: Output) -> None:
        """For a person."""
        if self.problem:
            out.print()
            out.paragraph(f"! {self.problem}")
        elif self.draft is not None:
            out.print()
            name = f"{line(self.draft.scope.label)}:{line(self.draft.name)}"
            out.print(f"becomes  {out.style(name, 'bold')}")
            if self.draft.taken:
                words = "! a memory of this name is there already: approve with --name or --into"
                out.print("  " + out.style(words, "yellow"))
        self._said(out)
        self._similar(out)

    def _said(self, out: Output) -> None:
        found = self.evidence
        title = f"“{line(found.title)}”" if found.title else ""
        if found.said:
            out.print()
            out.heading("In its setting", title)
            for said in drafts.setting(found):
                _utterance(out, said)
        elif self.item.evidence:
            out.print()
            out.heading("Evidence", title)
            for said in drafts.quoted(self.item):
                _utterance(out, said)
        elif title:
            out.print()
            out.print(f"Its session began with {title}.")
        if found.problem:
            out.print("  " + out.style(line(found.problem), "dim"))

    def _similar(self, out: Output) -> None:
        shown = self.evidence.similar[: drafts.SIMILAR_SHOWN]
        if not shown:
            return
        out.print()
        best = shown[0].memory
        merge = f"memtui approve {self.item.id[-6:]} --into {line(best.scope_label)}:{line(best.stem)}"
        out.heading("Alike")
        cells = [
            [
                f"{each.score:.2f}",
                (f"{line(each.memory.scope_label)}:{line(each.memory.name)}", "bold"),
                line(each.memory.description),
            ]
            for each in shown
        ]
        out.table(["", "", ""], cells, flex=(2, 1), indent="  ")
        out.print(f"Merge: {merge}")


def _utterance(out: Output, said: Quote) -> None:
    indent = WHO + 3
    for number, piece in enumerate(out.wrapped(said.text, indent)):
        head = f"{'▸' if said.hit else ' '} {line(said.who):<{WHO}} " if number == 0 else " " * indent
        out.print((head + out.style(piece, "" if said.hit else "dim")).rstrip())
