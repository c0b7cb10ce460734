"""The detail of a change in the inbox: why something is proposed, what it drops, the texts, and the difference."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from memtui import actions
from memtui.consolidate import changeset, similarity
from memtui.consolidate.changeset import FileInput, Proposal, is_index
from memtui.consolidate.composing import FileDiff, Weighed
from memtui.consolidate.coverage import Coverage
from memtui.core.base.phrasing import cut, many
from memtui.core.memories import memory
from memtui.present import changesets, safe_text
from memtui.tui.model import line_diff
from memtui.tui.widgets import markdown
from memtui.tui.widgets.key_lines import append_keys
from memtui.tui.widgets.wrapping import side_by_side

# From this width of the detail on, in cells, the two texts of a merge stand side by side.
SIDE_BY_SIDE = 76
# Characters of a text that is shown beside others; statements and files that are listed; characters of a statement.
SHOWN, STATEMENTS, FILES, STATEMENT = 4000, 30, 12, 300
# The styles of words that only one of two texts has.
ONLY_HERE = "underline"


@dataclass(frozen=True)
class ChangeFacts:
    """What is known of a proposal: `place` names its scope; `by` made it; `file` is its saved ChangeSet, empty if it
    was planned now. `weighed` is None until it was weighed; `stale`: a file that it read has changed since."""

    proposal: Proposal
    place: str = ""
    by: str = ""
    file: str = ""
    weighed: Weighed | None = None
    stale: bool = False

    @property
    def why_not(self) -> str:
        """The reason code why it can't be made, as `Refused` has it; empty if it can."""
        if self.stale:
            return "stale"
        refused = self.weighed.refused if self.weighed is not None else None
        return refused.reason if refused is not None else ""

    @property
    def safe(self) -> bool:
        """Whether nobody needs to decide about it."""
        return self.weighed is not None and self.weighed.safe and not self.stale

    @property
    def drops(self) -> bool:
        """Whether it loses something: a statement, or a memory that nothing replaces."""
        covered = self.weighed.coverage if self.weighed is not None else None
        return (covered is not None and bool(covered.lost)) or self.proposal.kind in {"delete", "archive"}


def detail(row: ChangeFacts, width: int, *, unsaved: str = "", read_only: bool) -> Text:
    """Return all about a proposal, for a pane of so many cells: what is lost first, the keys last. `unsaved`: words for
    that its outcome was edited and not saved."""
    found = row.proposal
    text = head(row, unsaved)
    _lost(text, row)
    if found.kind == "merge":
        _texts(text, found, width)
    _changes(text, row)
    keys = [("inbox.accept", "makes this change")] if not row.why_not else []
    keys += [("inbox.edit", "opens the outcome in a form first")] if len(found.written) == 1 else []
    keys.append(("inbox.reject", "drops it; it is not proposed again"))
    keys += [("inbox.follow", "goes to the memory")] if memories_of(found) else []
    append_keys(text, keys, read_only=read_only)
    return text


def head(row: ChangeFacts, unsaved: str = "") -> Text:
    """Return what is proposed, why, what it saves, and why it can't be made, if it can't; `unsaved` as in `detail`."""
    found = row.proposal
    text = Text()
    text.append(safe_text.line(changeset.title(found), 300), style="bold")
    facts = [row.place, f"proposed by {row.by}" if row.file else ""]
    text.append(safe_text.line("".join(f"   {each}" for each in facts if each), 200) + "\n", style="dim")
    text.append(f"{unsaved}\n" if unsaved else "", style="yellow")
    for sentence in changesets.reasons(found):
        text.append(safe_text.line(sentence, 1000) + "\n")
    if row.weighed is not None and (saved := changesets.saved(row.weighed.savings)):
        text.append(f"{saved}\n", style="dim")
    if row.why_not:
        text.append(f"! {_why_not(row)}\n", style="yellow")
    return text


def _why_not(row: ChangeFacts) -> str:
    if row.why_not == "stale":
        return actions.keyed("A file that it was made from has changed since. {app.refresh} plans again.")
    refused = row.weighed.refused if row.weighed is not None else None
    return safe_text.line(f"{refused.error.message} {refused.error.hint}", 600) if refused is not None else ""


def glance(row: ChangeFacts, unsaved: str = "") -> tuple[Text, Text]:
    """Return the preview below a narrow list: why, then what changes; in its last line what is lost. `unsaved` as in
    `detail`."""
    text = head(row, unsaved)
    _changes(text, row)
    text.rstrip()
    tail = Text(no_wrap=True, overflow="ellipsis")
    covered = row.weighed.coverage if row.weighed is not None else None
    added = changesets.added(row.proposal)
    told = [count_lost(row), f"{many(len(added), 'statement is', 'statements are')} the model's own" if added else ""]
    if any(told):
        tail.append(", ".join(filter(None, told)), style="red")
    elif covered is not None:
        tail.append(changesets.covered(covered), style="dim")
    return text, tail


def count_lost(row: ChangeFacts) -> str:
    """Say what a proposal loses: how many statements, or the memory; empty if nothing."""
    covered = row.weighed.coverage if row.weighed is not None else None
    if covered is not None and covered.lost:
        return f"{many(len(covered.lost), 'statement is', 'statements are')} dropped"
    return "the memory goes, and nothing replaces it" if row.proposal.kind == "delete" else ""


def _heading(text: Text, words: str) -> None:
    text.append(f"\n{words}\n", style="dim underline")


def _lost(text: Text, row: ChangeFacts) -> None:
    if row.weighed is None:
        text.append("\ncomparing …\n", style="dim")
        return
    covered = row.weighed.coverage
    if covered is not None:
        _statements(text, covered)
    _added(text, row.proposal)


def _added(text: Text, found: Proposal) -> None:
    if added := changesets.added(found):
        _heading(text, f"added by the model: {many(len(added), 'statement')} that no memory has")
        text.append("".join(f"+ {_said(each)}\n" for each in added), style="yellow")


def _statements(text: Text, covered: Coverage) -> None:
    dropped, reworded = covered.lost, covered.of("reworded")
    if dropped:
        _heading(text, f"dropped: {many(len(dropped), 'statement')}")
        for each in dropped:
            text.append(f"- {_said(each.statement.text)}", style="red")
            text.append(f"  {_stem(each.statement.path)}\n", style="dim")
    if told := changesets.fields(covered):
        _heading(text, "fields")
        text.append("".join(f"{_said(each)}\n" for each in told))
    if reworded:
        _heading(text, f"in other words: {many(len(reworded), 'statement')}")
        for each in reworded:
            text.append(f"~ {_said(each.statement.text)}\n", style="dim")
            for target in each.targets:
                text.append(f"  {_said(target.text)}\n")
    if not dropped and (words := changesets.covered(covered)):
        text.append(f"\n{words}\n", style="dim")


def _said(words: str) -> str:
    return cut(safe_text.line(" ".join(words.split())), STATEMENT)


def _more(text: Text, count: int, word: str) -> None:
    text.append(f"and {many(count, 'more ' + word)}\n" if count > 0 else "", style="dim")


def _stem(path: str) -> str:
    return "MEMORY.md" if is_index(path) else safe_text.line(os.path.basename(path).removesuffix(".md"), 60)


def inputs(found: Proposal) -> list[FileInput]:
    """List the memories that become others, the one that stays first."""
    about = {each.path for each in found.outputs}
    return [each for each in found.inputs if each.sha256 and each.path in about and not is_index(each.path)]


def content(data: bytes | None) -> Text:
    """Draw a memory's description and text for reading."""
    read = memory.from_bytes("", "", data or b"")
    whole = f"{read.description}\n\n{read.body.strip()}".strip()
    text = markdown.render(whole[:SHOWN])
    return text.append("\n…" if len(whole) > SHOWN else "")


def _texts(text: Text, found: Proposal, width: int) -> None:
    """Append the texts of a merge; of two, the words are marked that only one has."""
    read = inputs(found)
    bodies = [content(each.data) for each in read]
    if len(bodies) == 2:
        for body, spans in zip(bodies, similarity.differing(bodies[0].plain, bodies[1].plain), strict=True):
            for start, end in spans:
                body.stylize(ONLY_HERE, start, end)
    heads = [named(found, each) for each in read]
    _heading(text, "the texts" + ("; underlined is what only one of them says" if len(read) == 2 else ""))
    sides = [part.append("\n").append_text(body) for part, body in zip(heads, bodies, strict=True)]
    if len(sides) == 2 and width >= SIDE_BY_SIDE:
        text.append_text(side_by_side(sides[0], sides[1], width))
        return
    for each in sides:
        text.append_text(each).append("\n\n")


def named(found: Proposal, file: FileInput) -> Text:
    """Name a memory that a merge reads, and say whether it stays."""
    stays = file.path not in found.gone
    return Text().append(_stem(file.path), "bold").append("  is kept" if stays else "  is deleted", "dim")


def _changes(text: Text, row: ChangeFacts) -> None:
    diffs = row.weighed.diffs if row.weighed is not None else ()
    for each in diffs[:FILES]:
        here = os.path.dirname(each.path) == os.path.dirname(row.proposal.outputs[0].path)
        _difference(text, each, "" if here else each.path, is_merge=row.proposal.kind == "merge")
    _more(text, len(diffs) - FILES, "file")


def _difference(text: Text, found: FileDiff, path: str, *, is_merge: bool) -> None:
    """Append the difference of a file. `path`: what to call it if it is in another directory; `is_merge`: the texts of
    those that go are shown already."""
    name = safe_text.line(path or os.path.basename(found.path), 300)
    updated = "  is updated" if found.repaired else ""
    what = "  is deleted" if found.after is None else "  is new" if found.before is None else updated
    text.append(f"\n{name}", style="bold").append(f"{what}\n", style="dim")
    if found.after is None and is_merge:
        return
    old, new = ((data or b"").decode("utf-8", "replace").rstrip("\n") for data in (found.before, found.after))
    if found.before is None or found.after is None:
        sign = line_diff.OLD if found.after is None else line_diff.NEW
        lines = (old or new)[: line_diff.SHOWN].split("\n")
        text.append("".join(f"{sign} {safe_text.clean(line)}\n" for line in lines), line_diff.STYLES[sign])
    else:
        text.append_text(line_diff.drawn(old, new, ("the file before", "the file after")))


def previewed(rows: Sequence[ChangeFacts], most: int = 60_000) -> Text:
    """Return what several proposals make, one after the other; so many characters, then only their names."""
    text = Text()
    for row in rows:
        if len(text) > most:
            text.append(f"{safe_text.line(changeset.title(row.proposal), 200)}\n")
            continue
        text.append_text(head(row))
        covered = row.weighed.coverage if row.weighed is not None else None
        if covered is not None and covered.dropped:
            _statements(text, covered)
        _added(text, row.proposal)
        _changes(text, row)
        text.append("\n")
    return text


def memories_of(found: Proposal) -> list[str]:
    """List the paths of the memories that a change reads and that are still there."""
    return [each.path for each in found.inputs if each.sha256 and not is_index(each.path)]
