"""The detail pane of the inbox: a draft (what would be written, why, similar memories) or an unfinished item."""

import itertools
import textwrap
from collections.abc import Sequence

from rich import get_console
from rich.text import Text

from memtui import actions
from memtui.consolidate import similar
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many
from memtui.core.memories.memory import Memory
from memtui.core.review.draft import Draft
from memtui.core.review.evidence import Evidence, Similar
from memtui.core.review.waiting import Waiting
from memtui.present import drafts, safe_text

# Characters of a memory that are compared with a draft.
ALIKE_LENGTH = 2000
# Characters of a draft that is compared word by word; a longer one is not.
DRAFT_LENGTH = 6000
# Characters of an entry that are drawn: more would take noticeably long after a key.
SHOWN = 12_000
LEAST_SHOWN = 1000
# The styles of words that only the draft has, and that only the memory has.
ONLY_HERE = ("underline green", "underline")
RENAME = "{inbox.merge} merges into it, {inbox.edit} gives another name"
LEGEND = "underlined is what only one of them says"


def cut(text: Text, words: str, path: str, *, limit: int = SHOWN, before: str = "") -> Text:
    """Append the first `limit` characters of `words`, each line after `before`, and say if more are in the file."""
    shown = safe_text.clean(words[:limit])
    text.append("".join(f"{before}{line}\n" for line in shown.split("\n")))
    if len(words) > limit:
        rest = f"{len(words) - limit:,} more characters are not shown here: they stand in {safe_text.line(path)}"
        text.append(f"! … {rest}\n", style="yellow")
    return text


def rule(text: Text, words: str) -> None:
    """Append a heading between two parts."""
    text.append(f"\n{words}\n", style="dim underline")


def draft_head(
    item: Waiting, draft: Draft | MemtuiError, found: Evidence | None, width: int, *, whose: str = "", beside: bool
) -> Text:
    """Return the whole memory that a draft would become. `whose`: the name of the draft's project, if not this one;
    `beside`: put the most similar memory next to it."""
    text = Text()
    if isinstance(draft, MemtuiError):
        text.append(safe_text.line(item.entry.fields.get("name", "")) + "\n", style="bold")
        text.append(f"! {safe_text.line(draft.message)} {safe_text.line(draft.hint)}\n", style="yellow")
        return cut(text, item.text, item.path)
    made = draft.memory
    text.append(safe_text.line(draft.name), style="bold")
    text.append(f"   {safe_text.line(made.type)} → {safe_text.line(draft.scope.label)}", style="dim")
    text.append(f" of {whose}\n" if whose and draft.scope.label in {"project", "auto"} else "\n", style="bold")
    words = _content(made)
    best = found.similar[0] if found and found.similar else None
    if best is None or len(words) > DRAFT_LENGTH:
        return cut(text, words, item.path).append("\n")
    own, theirs = marked(safe_text.clean(words), best.memory)
    if not beside:
        return text.append_text(own).append("\n\n")
    left = Text("the draft\n", style="").append_text(own)
    right = Text(f"alike {score(best)} ").append(safe_text.line(best.memory.ref), "bold")
    text.append_text(columns(left, right.append("\n").append_text(theirs), width))
    return text.append(f"\n{LEGEND}: {actions.key_of('inbox.merge')} merges\n\n", style="dim")


def draft_text(
    item: Waiting,
    draft: Draft | MemtuiError,
    found: Evidence | None,
    states: Sequence[str],
    now: float,
    width: int,
    *,
    beside: bool,
) -> Text:
    """Return why a draft was made, and what is similar. `found` None: the worker is still looking for it."""
    text = Text()
    _facts(text, item, found, now)
    for state in states:
        text.append(f"! {safe_text.line(state)}\n", style="yellow")
    if not isinstance(draft, MemtuiError) and draft.taken:
        text.append(_taken(draft) + "\n", style="yellow")
    _said(text, item, found, width)
    if found is not None and not isinstance(draft, MemtuiError):
        _similar(text, found.similar, draft.memory, beside=beside)
    if not isinstance(draft, MemtuiError) and not draft.taken:
        text.append(f"\n{actions.key_of('inbox.approve')} writes {safe_text.line(draft.path)}", style="dim")
    return text


def _facts(text: Text, item: Waiting, found: Evidence | None, now: float) -> None:
    fields = item.entry.fields
    facts = [fields.get("kind", "note")]
    if fields.get("confidence"):
        facts.append(f"confidence {fields['confidence']}")
    facts += [f"seen {fields.get('seen', '1')}×", ago(item.entry.time(), now)]
    text.append(safe_text.line(" · ".join(facts)) + "\n", style="dim")
    where = fields.get("project", "").rstrip("/").rpartition("/")[2]
    source = [f"from {where}"] if where else []
    if fields.get("session"):
        source.append("session " + fields["session"][:8] + (f" “{found.title[:60]}”" if found and found.title else ""))
    elif not item.entry.fields:
        source.append("hand-written")
    if source:
        text.append(safe_text.line(" · ".join(source)) + "\n", style="dim")


def hanging(text: Text, words: str, indent: int, width: int, style: str) -> None:
    """Append words, wrapped and with all lines after the first indented by `indent` cells."""
    room = max(16, width - indent)
    lines = [part for line in words.split("\n") for part in textwrap.wrap(line, room) or [""]]
    text.append(("\n" + " " * indent).join(lines) + "\n", style=style)


def _said(text: Text, item: Waiting, found: Evidence | None, width: int) -> None:
    if found is not None and found.said:
        rule(text, "in its setting")
        for said in drafts.setting(found):
            text.append(f"{'▸' if said.hit else ' '} {said.who:<6}", style="bold" if said.hit else "dim")
            hanging(text, safe_text.clean(said.text), 8, width, "" if said.hit else "dim")
        return
    if item.evidence:
        rule(text, "evidence")
        for said in drafts.quoted(item):
            text.append(f"  {safe_text.line(said.who):<6}", style="dim")
            hanging(text, safe_text.clean(said.text), 8, width, "")
    if found is None:
        text.append("  looking for it in the transcript …\n", style="dim")
    elif found.problem:
        text.append(f"  {safe_text.line(found.problem)}\n", style="dim")


def draft_glance(
    item: Waiting, draft: Draft | MemtuiError, found: Evidence | None, *, whose: str = ""
) -> tuple[Text, Text]:
    """Return the memory that a draft would become; and a line each on what was said and on the most similar memory."""
    text = Text().append("── ", "dim").append_text(draft_head(item, draft, None, 0, whose=whose, beside=False))
    text.rstrip()
    tail = []
    said = next((each.text for each in reversed(drafts.quoted(item)) if each.who == "you"), "")
    if said:
        tail.append(Text().append("you said  ", "dim").append(f"“{safe_text.line(said, 300)}”"))
    best = found.similar[0] if found and found.similar else None
    if isinstance(draft, Draft) and draft.taken:
        tail.append(Text(_taken(draft), "yellow"))
    elif best is not None:
        where = safe_text.line(best.memory.ref)
        tail.append(
            Text()
            .append(f"alike {score(best)} ", "dim")
            .append(where)
            .append(f"  {actions.key_of('inbox.merge')} merges", "dim")
        )
    return text, Text("\n", no_wrap=True, overflow="ellipsis").join(tail)


def item_glance(item: Waiting, states: Sequence[str], now: float) -> Text:
    """Return the age of an unfinished item, and its text."""
    facts = ["unfinished", *states, ago(item.entry.time(), now) if item.entry.time() else "no date"]
    text = Text().append("── ", "dim").append(safe_text.line(" · ".join(facts)) + "\n", style="dim")
    return text.append(safe_text.clean(item.text[:SHOWN]))


def _taken(draft: Draft) -> str:
    there = f"{safe_text.line(draft.scope.label)} has a {safe_text.line(draft.name)} already"
    return f"! {there}: {actions.keyed(RENAME)}"


def score(each: Similar) -> str:
    """`.97`"""
    return f"{each.score:.2f}".removeprefix("0")


def _content(made: Memory) -> str:
    body = made.body.strip()
    return f"{made.description}\n\n{body}".strip()


def marked(draft: str, there: Memory) -> tuple[Text, Text]:
    """Return the texts of a draft and a memory, with the words underlined that only one of them has."""
    whole = _content(there)
    theirs = safe_text.clean(whole[:ALIKE_LENGTH]) + (" …" if len(whole) > ALIKE_LENGTH else "")
    pair = Text(draft), Text(theirs)
    for text, spans, style in zip(pair, similar.apart(draft, theirs), ONLY_HERE, strict=True):
        for start, end in spans:
            text.stylize(style, start, end)
    return pair


def lines_of(text: Text, width: int) -> int:
    """Return how many lines a text takes; for a long one, which may be cut, more than it can ever take."""
    return len(text.wrap(get_console(), width)) if len(text.plain) <= DRAFT_LENGTH else SHOWN * 2


def columns(left: Text, right: Text, width: int) -> Text:
    """Put two texts side by side, wrapped."""
    room = (width - 3) // 2
    sides = [list(each.wrap(get_console(), room, overflow="fold")) for each in (left, right)]
    text = Text()
    for one, other in itertools.zip_longest(*sides, fillvalue=Text()):
        text.append_text(one).append(" " * (room - one.cell_len) + " │ ", style="dim").append_text(other)
        text.append("\n")
    return text


def _similar(text: Text, found: Sequence[Similar], made: Memory, *, beside: bool) -> None:
    if not found:
        return
    shown = found[1 : drafts.SIMILAR_SHOWN] if beside else found[: drafts.SIMILAR_SHOWN]
    if shown:
        rule(text, "also alike" if beside else f"alike · {actions.key_of('inbox.merge')} merges")
    for each in shown:
        text.append(f"{score(each)} {safe_text.line(each.memory.ref)}", style="bold")
        if each is not found[0]:
            text.append(f"  {safe_text.line(each.memory.description)}\n")
            continue
        text.append(f"  {LEGEND}\n", style="dim")
        text.append_text(marked(safe_text.clean(_content(made)[:DRAFT_LENGTH]), each.memory)[1])
        text.append("\n")


def compared(draft: str, there: Memory) -> Text:
    """Return a memory that a draft might be merged into, with the words underlined that the draft does not have."""
    text = Text()
    text.append(safe_text.line(there.ref), style="bold")
    text.append(f"  {safe_text.line(there.type)}   underlined is what the draft does not say\n\n", style="dim")
    return text.append_text(marked(safe_text.clean(draft[:DRAFT_LENGTH]), there)[1])


def item_text(item: Waiting, title: str, states: Sequence[str], now: float) -> Text:
    """Return an unfinished item, and what can be done with it."""
    text = cut(Text(), item.text, item.path).append("\n")
    text.stylize("bold", 0, min(len(item.text), SHOWN))
    fields = item.entry.fields
    facts = ["unfinished", *states, ago(item.entry.time(), now) if item.entry.time() else "no date"]
    text.append(safe_text.line(" · ".join(facts)) + "\n", style="dim")
    if fields.get("session"):
        words = f"left by session {fields['session'][:8]}" + (f" “{title[:60]}”" if title else "")
        text.append(safe_text.line(words) + "\n", style="dim")
    else:
        text.append("written by hand\n", style="dim")
    text.append(safe_text.line(item.path) + "\n\n", style="dim")
    for action, words in (
        ("inbox.done", "it is done: it goes"),
        ("inbox.keep", "keep it when the next session leaves other items"),
        ("inbox.edit", "edit its text"),
        ("inbox.guide", "make it guidance: the next prompt gets it, once"),
    ):
        text.append(f"  {actions.key_of(action)}  ", style="bold")
        text.append(words + "\n", style="dim")
    return text


def written_text(each: Draft, *, alone: bool, limit: int = SHOWN) -> Text:
    """Return the file that approving a draft writes."""
    text = Text()
    if not alone:
        text.append(f"{safe_text.line(each.scope.label)}:{safe_text.line(each.name)}\n", style="bold")
    text.append(safe_text.line(each.path) + "\n", style="dim")
    if each.taken:
        text.append(f"! a memory of this name is there already: {actions.keyed(RENAME)}\n", style="yellow")
    content = each.data.decode("utf-8", "replace").rstrip("\n")
    return cut(text, content, each.item.path, limit=limit, before="  │ ")


def guidance_text(items: Sequence[Waiting]) -> Text:
    """Return what the agent would be told, if these entries became guidance."""
    text = Text()
    for item in items:
        cut(text, item.text, item.path, limit=share(len(items)), before="  │ ").append("\n")
    return text


def share(count: int) -> int:
    """Return how many characters are drawn of each of `count` entries."""
    return max(LEAST_SHOWN, SHOWN // max(1, count))


def merged_text(found: Memory, data: bytes) -> Text:
    """Return a memory as merging leaves it (`data`), the new lines marked."""
    text = Text()
    text.append(safe_text.line(found.path) + "\n", style="dim")
    before = found.raw.decode("utf-8", "replace").rstrip("\n").split("\n")
    after = data.decode("utf-8", "replace").rstrip("\n").split("\n")
    room, hidden = {True: SHOWN, False: SHOWN}, {True: 0, False: 0}
    for number, line in enumerate(after):
        old = number < len(before) and before[number] == line
        if room[old] <= 0:
            hidden[old] += 1
            continue
        if hidden[True] and not old:
            _hidden(text, hidden.pop(True), "that are there already")
            hidden[True] = 0
        room[old] -= len(line) + 1
        shown = safe_text.clean(line[: safe_text.MAX_LINE])
        text.append(f"  {' ' if old else '+'} │ {shown}\n", style="dim" if old else "green")
        if len(line) > safe_text.MAX_LINE:
            text.append(
                f"! … {len(line) - safe_text.MAX_LINE:,} more characters of this line are not shown\n", "yellow"
            )
    _hidden(text, hidden[True], "that are there already")
    _hidden(text, hidden[False], "that are new")
    return text


def _hidden(text: Text, count: int, which: str) -> None:
    if count:
        text.append(f"! … {many(count, 'more line')} {which}: not shown here\n", "yellow")
