"""The detail of a change in the inbox: why something is proposed, what it drops, the texts, and the difference."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from memtui import actions
from memtui.base.phrasing import cut, many
from memtui.store import memory
from memtui.store.plan import FileDiff, is_index
from memtui.tidy import changeset, similarity
from memtui.tidy.changeset import Proposal
from memtui.tidy.composed_files import Refused, Weighed
from memtui.tidy.coverage import Coverage
from memtui.tui.model import line_diff
from memtui.tui.screens.inbox.text import REJECT, heading
from memtui.tui.widgets import markdown
from memtui.tui.widgets.detail import append_keys
from memtui.views import changesets, safe_text

# Characters of a text that is shown with others; files that are listed; characters of a statement; characters of
# several changes together, after which only their names are shown.
SHOWN, FILES, STATEMENT, MOST_SHOWN = 4000, 12, 300, 60_000


@dataclass(frozen=True)
class ChangeFacts:
    """A proposal, and its scope `place`; `weighed` later."""

    proposal: Proposal
    place: str = ""
    weighed: Weighed | None = None

    @property
    def refused(self) -> Refused | None:
        """Why it can't be made; None if it can, as far as is known."""
        return self.weighed.refused if self.weighed is not None else None

    @property
    def coverage(self) -> Coverage | None:
        """What becomes of the statements of its memories, if it is known."""
        return self.weighed.coverage if self.weighed is not None else None

    @property
    def drops(self) -> bool:
        """Whether it loses something: a statement, or a memory that nothing replaces."""
        return bool(self.coverage and self.coverage.lost) or self.proposal.kind in {"delete", "archive"}


def detail(facts: ChangeFacts, unsaved: str, *, read_only: bool) -> Text:
    """Return all about a proposal: what is lost first, the keys last; `unsaved`: of an edited outcome."""
    text = head(facts, unsaved)
    if facts.weighed is None:
        text.append("\ncomparing …\n", style="dim")
    else:
        _statements(text, facts.coverage)
        _added(text, facts.proposal)
    if facts.proposal.kind == "merge":
        _texts(text, facts.proposal)
    _changes(text, facts)
    keys = [("inbox.approve", "approve it: this change is made")] if facts.refused is None else []
    keys += [("inbox.edit", "edit the outcome first, in a form")] if len(facts.proposal.written) == 1 else []
    keys.append(("inbox.reject", actions.keyed(REJECT)))
    keys += [("inbox.follow", "go to the memory")] if facts.proposal.memories else []
    append_keys(text, keys, read_only=read_only)
    return text


def head(facts: ChangeFacts, unsaved: str = "") -> Text:
    """Return what is proposed, why, what it saves, and why it can't be made, if it can't; `unsaved` as in `detail`."""
    text = Text().append(safe_text.line(changeset.title(facts.proposal), 300), style="bold")
    source = [facts.place, f"proposed by {facts.proposal.by}" if facts.proposal.by != changeset.BY else ""]
    text.append(safe_text.line("".join(f"   {part}" for part in source if part), 200) + "\n", style="dim")
    text.append(unsaved, style="yellow")
    label = changesets.scope_of(facts.proposal)
    for sentence in changesets.reasons(facts.proposal):
        text.append(safe_text.line(changesets.without_scope(sentence, label, facts.place), 1000) + "\n")
    if facts.weighed is not None and (saved := changesets.saved(facts.weighed.savings)):
        text.append(f"{saved}\n", style="dim")
    if facts.refused is not None:
        error = facts.refused.error
        text.append(f"! {safe_text.line(f'{error.message} {error.hint}', 600)}\n", style="yellow")
    return text


def count_lost(facts: ChangeFacts) -> str:
    """Say what a proposal loses: how many statements, or the memory; empty if nothing."""
    if facts.coverage is not None and facts.coverage.lost:
        return f"{many(len(facts.coverage.lost), 'statement is', 'statements are')} dropped"
    return "the memory goes, and nothing replaces it" if facts.proposal.kind == "delete" else ""


def _added(text: Text, proposal: Proposal) -> None:
    if added := changesets.added(proposal):
        heading(text, f"added by the model: {many(len(added), 'statement')} that no memory has")
        text.append("".join(f"+ {_said(text_added)}\n" for text_added in added), style="yellow")


def _statements(text: Text, coverage: Coverage | None) -> None:
    if coverage is None:
        return
    dropped, reworded = coverage.lost, coverage.of("reworded")
    if dropped:
        heading(text, f"dropped: {many(len(dropped), 'statement')}")
        for cover in dropped:
            text.append(f"- {_said(cover.statement.text)}", style="red")
            text.append(f"  {_stem(cover.statement.path)}\n", style="dim")
    if fields := changesets.fields(coverage):
        heading(text, "fields")
        text.append("".join(f"{_said(field)}\n" for field in fields))
    if reworded:
        heading(text, f"in other words: {many(len(reworded), 'statement')}")
        for cover in reworded:
            text.append(f"~ {_said(cover.statement.text)}\n", style="dim")
            text.append("".join(f"  {_said(target.text)}\n" for target in cover.targets))
    if not dropped and (words := changesets.covered(coverage)):
        text.append(f"\n{words}\n", style="dim")


def _said(words: str) -> str:
    return cut(safe_text.line(" ".join(words.split())), STATEMENT)


def _stem(path: str) -> str:
    return "MEMORY.md" if is_index(path) else safe_text.line(os.path.basename(path).removesuffix(".md"), 60)


def texts(proposal: Proposal) -> list[tuple[Text, Text]]:
    """Return the memories that become others: name and whether it stays, and its text."""
    drawn = []
    for file in proposal.outputs:
        if file.before is None or is_index(file.path):
            continue
        mem = memory.from_bytes("", "", file.before)
        whole = f"{mem.description}\n\n{mem.body.strip()}".strip()
        body = markdown.render(whole[:SHOWN]).append("\n…" if len(whole) > SHOWN else "")
        stays = "  is deleted" if file.after is None else "  is kept"
        drawn.append((Text().append(_stem(file.path), "bold").append(stays, "dim"), body))
    return drawn


def _texts(text: Text, proposal: Proposal) -> None:
    """Append the texts of a merge; of two, the words are underlined that only one has."""
    parts = texts(proposal)
    if len(parts) == 2:
        bodies = [body for _, body in parts]
        for body, spans in zip(bodies, similarity.differing(*(body.plain for body in bodies)), strict=True):
            for start, end in spans:
                body.stylize("underline", start, end)
    heading(text, "the texts" + ("; underlined is what only one of them says" if len(parts) == 2 else ""))
    for title, body in parts:
        text.append_text(title).append("\n").append_text(body).append("\n\n")


def _changes(text: Text, facts: ChangeFacts) -> None:
    diffs = facts.weighed.diffs if facts.weighed is not None else ()
    for diff in diffs[:FILES]:
        here = os.path.dirname(diff.path) == os.path.dirname(facts.proposal.files[0].path)
        name = safe_text.line(os.path.basename(diff.path) if here else diff.path, 300)
        _difference(text, diff, name, is_merge=facts.proposal.kind == "merge")
    if (rest := len(diffs) - FILES) > 0:
        text.append(f"and {many(rest, 'more file')}\n", style="dim")


def _difference(text: Text, diff: FileDiff, name: str, *, is_merge: bool) -> None:
    """Append the difference of a file. `is_merge`: the texts of those that go are shown already."""
    updated = "  is updated" if diff.repaired else ""
    what = "  is deleted" if diff.after is None else "  is new" if diff.before is None else updated
    text.append(f"\n{name}", style="bold").append(f"{what}\n", style="dim")
    if diff.after is None and is_merge:
        return
    names = ("the file before", "the file after")
    text.append_text(line_diff.drawn(diff.before or b"", diff.after or b"", names))


def previewed(changes: Sequence[ChangeFacts]) -> Text:
    """Return what several proposals make, one after the other; of those after MOST_SHOWN only the names."""
    text = Text()
    for facts in changes:
        if len(text) > MOST_SHOWN:
            text.append(f"{safe_text.line(changeset.title(facts.proposal), 200)}\n")
            continue
        text.append_text(head(facts))
        if facts.coverage is not None and facts.coverage.dropped:
            _statements(text, facts.coverage)
        _added(text, facts.proposal)
        _changes(text, facts)
        text.append("\n")
    return text
