"""A draft and a pending item as the detail pane shows them: what would be written, why, and what is alike."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.text import Text

from memtui.core import memory
from memtui.core.alike import Alike
from memtui.core.approval import Ready
from memtui.core.errors import MemtuiError
from memtui.core.excerpt import Said
from memtui.core.memory import Memory
from memtui.core.review import Waiting
from memtui.core.words import ago
from memtui.tui import safe

ALIKE_SHOWN = 3
BODY_SHOWN = 700
HIT_SHOWN, AROUND_SHOWN = 900, 300


@dataclass
class Setting:
    """What a worker found out about a draft: what was said around it, and which memories are alike."""

    said: list[Said] = field(default_factory=list)
    title: str = ""
    alike: list[Alike] = field(default_factory=list)
    problem: str = ""


def rule(text: Text, words: str) -> None:
    """A heading between two parts."""
    text.append(f"\n{words}\n", style="dim underline")


def draft_text(
    item: Waiting, ready: Ready | MemtuiError, found: Setting | None, states: Sequence[str], now: float, width: int
) -> Text:
    """All that is to be known to decide about a pending update. `found` None: the worker is still at it."""
    text = Text()
    fields = item.entry.fields
    if isinstance(ready, MemtuiError):
        text.append(safe.line(fields.get("name", "")) + "\n", style="bold")
        text.append(f"! {safe.line(ready.message)} {safe.line(ready.hint)}\n", style="yellow")
        text.append(safe.clean(item.text) + "\n")
    else:
        made = memory.from_bytes(ready.path, ready.scope.label, ready.proposal.data)
        text.append(safe.line(ready.proposal.name), style="bold")
        text.append(f"   {safe.line(made.type)} → {safe.line(ready.scope.label)}\n", style="dim")
        text.append(safe.line(made.description) + "\n\n")
        text.append(safe.clean(made.body.strip("\n")) + "\n\n")
    _facts(text, item, found, now)
    for state in states:
        text.append(f"! {safe.line(state)}\n", style="yellow")
    if not isinstance(ready, MemtuiError) and ready.taken:
        there = f"{safe.line(ready.scope.label)} has a {safe.line(ready.proposal.name)} already"
        text.append(f"! {there}: ", style="yellow")
        text.append("m merges into it, e gives another name\n", style="yellow")
    _said(text, item, found, width)
    _alike(text, found)
    if not isinstance(ready, MemtuiError) and not ready.taken:
        text.append(f"\na writes {safe.line(ready.path)}", style="dim")
    return text


def _facts(text: Text, item: Waiting, found: Setting | None, now: float) -> None:
    fields = item.entry.fields
    facts = [fields.get("kind", "note")]
    if fields.get("confidence"):
        facts.append(f"confidence {fields['confidence']}")
    facts += [f"seen {fields.get('seen', '1')}×", ago(item.entry.time(), now)]
    text.append(safe.line(" · ".join(facts)) + "\n", style="dim")
    where = fields.get("project", "").rstrip("/").rpartition("/")[2]
    source = [f"from {where}"] if where else []
    if fields.get("session"):
        source.append("session " + fields["session"][:8] + (f" “{found.title[:60]}”" if found and found.title else ""))
    elif not item.entry.fields:
        source.append("hand-written")
    if source:
        text.append(safe.line(" · ".join(source)) + "\n", style="dim")


def hanging(text: Text, words: str, indent: int, width: int, style: str) -> None:
    """Words after something `indent` wide, all their lines beginning there."""
    room = max(16, width - indent)
    lines = [part for line in words.split("\n") for part in textwrap.wrap(line, room) or [""]]
    text.append(("\n" + " " * indent).join(lines) + "\n", style=style)


def _said(text: Text, item: Waiting, found: Setting | None, width: int) -> None:
    if found is not None and found.said:
        rule(text, "in its setting")
        for said in found.said:
            text.append(f"{'▸' if said.hit else ' '} {said.who:<6}", style="bold" if said.hit else "dim")
            limit = HIT_SHOWN if said.hit else AROUND_SHOWN
            shown = said.text if len(said.text) <= limit else said.text[:limit] + " …"
            if said.who == "tool":
                shown = " ".join(shown.split())
            hanging(text, safe.clean(shown), 8, width, "" if said.hit else "dim")
        return
    if item.evidence:
        rule(text, "evidence")
        for line in item.evidence:
            who, _, words = line[2:].partition(": ")
            text.append(f"  {safe.line(who):<6}", style="dim")
            hanging(text, safe.clean(words), 8, width, "")
    if found is None:
        text.append("  looking for it in the transcript …\n", style="dim")
    elif found.problem:
        text.append(f"  {safe.line(found.problem)}\n", style="dim")


def _alike(text: Text, found: Setting | None) -> None:
    if found is None or not found.alike:
        return
    rule(text, "alike · m merges")
    for number, each in enumerate(found.alike[:ALIKE_SHOWN]):
        there = each.memory
        text.append(f"{each.score:.2f} ".removeprefix("0"), style="bold")
        text.append(f"{safe.line(there.scope_label)}:{safe.line(there.name)}", style="bold")
        text.append(f"  {safe.line(there.description)}\n")
        if number == 0:
            body = there.body.strip()
            shown = safe.clean(body if len(body) <= BODY_SHOWN else body[:BODY_SHOWN] + " …")
            text.append("".join(f"    {line}\n" for line in shown.split("\n")), style="dim")


def item_text(item: Waiting, title: str, states: Sequence[str], now: float) -> Text:
    """A pending item, and what can be done with it."""
    text = Text()
    text.append(safe.clean(item.text) + "\n\n", style="bold")
    fields = item.entry.fields
    facts = ["unfinished", *states, ago(item.entry.time(), now) if item.entry.time() else "no date"]
    text.append(safe.line(" · ".join(facts)) + "\n", style="dim")
    if fields.get("session"):
        words = f"left by session {fields['session'][:8]}" + (f" “{title[:60]}”" if title else "")
        text.append(safe.line(words) + "\n", style="dim")
    else:
        text.append("written by hand\n", style="dim")
    text.append(safe.line(item.path) + "\n\n", style="dim")
    for key, words in (
        ("d", "it is done: it goes"),
        ("K", "keep it when the next session leaves other items"),
        ("e", "edit its text"),
        ("G", "make it guidance: the next prompt gets it, once"),
    ):
        text.append(f"  {key}  ", style="bold")
        text.append(words + "\n", style="dim")
    return text


def written_text(each: Ready, *, alone: bool) -> Text:
    """The file that approving writes, whole."""
    text = Text()
    if not alone:
        text.append(f"{safe.line(each.scope.label)}:{safe.line(each.proposal.name)}\n", style="bold")
    text.append(safe.line(each.path) + "\n", style="dim")
    if each.taken:
        text.append(
            "! a memory of this name is there already: m merges into it, e gives another name\n", style="yellow"
        )
    content = safe.clean(each.proposal.data.decode("utf-8", "replace")).rstrip("\n")
    text.append("".join(f"  │ {line}\n" for line in content.split("\n")))
    return text


def merged_text(found: Memory, data: bytes) -> Text:
    """A memory with what is put at its end, marked."""
    text = Text()
    text.append(safe.line(found.path) + "\n", style="dim")
    before = safe.clean(found.raw.decode("utf-8", "replace")).rstrip("\n").split("\n")
    after = safe.clean(data.decode("utf-8", "replace")).rstrip("\n").split("\n")
    for number, line in enumerate(after):
        old = number < len(before) and before[number] == line
        text.append(f"  {' ' if old else '+'} │ {line}\n", style="dim" if old else "green")
    return text
