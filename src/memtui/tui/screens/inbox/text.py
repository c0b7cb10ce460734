"""The detail pane of the inbox: a draft (what would be written, why, similar memories) or a todo."""

from collections.abc import Sequence

from rich import get_console
from rich.text import Text

from memtui import actions
from memtui.consolidate import similarity
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many, share
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.core.review.draft import Draft
from memtui.core.review.evidence import Evidence, Similar
from memtui.core.review.waiting import Waiting
from memtui.present import dates, drafts, memories, safe_text
from memtui.tui.model import line_diff
from memtui.tui.widgets import markdown
from memtui.tui.widgets.key_lines import append_keys
from memtui.tui.widgets.wrapping import side_by_side

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
LEFT_OUT = f"! not written, as a memory of this name is there already; in the list {RENAME}"
# What can be done with a todo.
ITEM_KEYS = (
    ("inbox.accept", "mark it done and remove it"),
    ("inbox.edit", "edit its text"),
    ("inbox.reject", "drop it"),
    ("inbox.later", "hide it until later; it stays, whatever the next session leaves"),
)
LEGEND = "underlined is what only one of them says"


def cut(text: Text, words: str, path: str, *, limit: int = SHOWN, before: str = "", head: int = -1) -> Text:
    """Append the first `limit` characters of `words`, each line after `before`, and say if more are in the file. What
    comes after `head` characters is Markdown, drawn for reading; by default nothing."""
    plain = words[:limit] if head < 0 else words[: min(head, limit)]
    shown = Text(safe_text.clean(plain)).append_text(markdown.render(words[len(plain) : limit]))
    for line in shown.split("\n", allow_blank=True):
        text.append(before).append_text(line).append("\n")
    if len(words) > limit:
        rest = f"{len(words) - limit:,} more characters are not shown here: they are in {safe_text.line(path)}"
        text.append(f"! … {rest}\n", style="yellow")
    return text


def _heading(text: Text, words: str) -> None:
    """Append a heading between two parts."""
    text.append(f"\n{words}\n", style="dim underline")


def draft_head(
    item: Waiting,
    draft: Draft | MemtuiError,
    found: Evidence | None,
    width: int,
    *,
    project_name: str = "",
    beside: bool,
) -> Text:
    """Return the whole memory that a draft would become. `project_name`: of the draft's project;
    `beside`: put the most similar memory next to it."""
    text = Text()
    if isinstance(draft, MemtuiError):
        text.append(safe_text.line(item.entry.fields.get("name", "")) + "\n", style="bold")
        text.append(f"! {safe_text.line(draft.message)} {safe_text.line(draft.hint)}\n", style="yellow")
        return cut(text, item.text, item.path)
    proposed = draft.memory
    text.append(safe_text.line(draft.name), style="bold")
    text.append(f"   {safe_text.line(proposed.type)} memory in ", style="dim")
    text.append(safe_text.line(memories.scope_name(draft.scope, project_name)) + "\n")
    words = _content(proposed)
    closest = found.similar[0] if found and found.similar else None
    if closest is None or len(words) > DRAFT_LENGTH:
        return cut(text, words, item.path, head=0).append("\n")
    own, theirs = _marked(markdown.render(words), closest.memory)
    if not beside:
        return text.append_text(own).append("\n\n")
    left = Text("the draft\n", style="").append_text(own)
    right = Text().append(safe_text.line(closest.memory.ref), "bold").append(f" similar {score(closest)}")
    text.append_text(side_by_side(left, right.append("\n").append_text(theirs), width))
    legend = f"{LEGEND} · " if _is_marked(own) or _is_marked(theirs) else ""
    return text.append(f"\n{legend}{actions.key_of('inbox.merge')} merges\n\n", style="dim")


def draft_text(
    item: Waiting,
    draft: Draft | MemtuiError,
    found: Evidence | None,
    states: Sequence[str],
    now: float,
    *,
    beside: bool,
    read_only: bool,
) -> Text:
    """Return why a draft was made, what is similar, and unless `read_only` what approving writes. `found` None: the
    worker is still looking for it."""
    text = Text()
    _facts(text, item, found, now)
    for state in states:
        text.append(f"! {safe_text.line(state)}\n", style="yellow")
    for each in (found.refused if found is not None else ())[: drafts.SIMILAR_SHOWN]:
        text.append(f"! {drafts.like_refused(each, now)}\n", style="yellow")
    if isinstance(draft, Draft) and draft.replaced is not None:
        _heading(text, "what it changes in the memory that is there")
        before, after = (each.decode("utf-8", "replace").rstrip("\n") for each in (draft.replaced.raw, draft.data))
        text.append_text(line_diff.drawn(before, after, ("the present text", "the draft")))
    taken = isinstance(draft, Draft) and draft.taken
    if isinstance(draft, Draft) and taken:
        text.append(_name_taken(draft) + "\n", style="yellow")
    if isinstance(draft, Draft) and item.entry.fields.get("request"):
        trigger = safe_text.line(item.entry.fields["request"])
        text.append(f"trigger: “{trigger}” (your prompt before the correction)\n", style="dim")
    _quotes(text, item, found)
    if found is not None and isinstance(draft, Draft):
        _similar(text, found.similar, draft.memory, beside=beside)
    if isinstance(draft, Draft) and not taken and not read_only:
        text.append(f"\n{actions.key_of('inbox.accept')} writes {safe_text.line(draft.path)}", style="dim")
    return text


def _facts(text: Text, item: Waiting, found: Evidence | None, now: float) -> None:
    fields = item.entry.fields
    facts = [drafts.kind(item), *drafts.odds_of(item), *filter(None, [drafts.by_model(fields)])]
    facts.append(ago(item.entry.time(), now))
    if (until := item.until(now)) is not None:
        facts.insert(0, f"later, until {dates.day(until, now)}")
    text.append(safe_text.line(" · ".join(facts)) + "\n", style="dim")
    where = fields.get("project", "").rstrip("/").rpartition("/")[2]
    source = [f"from {where}"] if where else []
    if fields.get("session"):
        source.append("session " + _session(fields["session"], found.title if found else ""))
    elif not item.entry.fields:
        source.append("hand-written")
    if source:
        text.append(safe_text.line(" · ".join(source)) + "\n", style="dim")


def _session(session_id: str, title: str) -> str:
    """Return a session's title, or where it has none the beginning of its id."""
    return f"“{title[:60]}”" if title else session_id[:8]


def _quotes(text: Text, item: Waiting, found: Evidence | None) -> None:
    """Append what was said around a draft, from the transcript, or else what the draft itself holds of it."""
    if found is not None and found.said:
        _heading(text, "in context")
        for quote in drafts.setting(found):
            mark, style = ("▸", "bold") if quote.hit else (" ", "dim")
            text.append(f"{mark} {quote.who:<6}", style=style)
            text.append(_indented(quote.text), style="" if quote.hit else "dim")
        return
    if item.evidence:
        _heading(text, "evidence")
        for quote in drafts.quoted(item):
            text.append(f"  {safe_text.line(quote.who):<6}", style="dim")
            text.append(_indented(quote.text))
    if found is None:
        text.append("  looking for it in the transcript …\n", style="dim")
    elif found.problem:
        text.append(f"  {safe_text.line(found.problem)}\n", style="dim")


def _indented(words: str) -> str:
    """Indent all lines but the first by the width of the name before it. The pane indents the lines that it wraps."""
    return safe_text.clean(words).replace("\n", "\n" + " " * 8) + "\n"


def draft_glance(
    item: Waiting, draft: Draft | MemtuiError, found: Evidence | None, *, project_name: str = ""
) -> tuple[Text, Text]:
    """Return the memory that a draft would become; and a line each on what was said and on the most similar memory."""
    head = draft_head(item, draft, None, 0, project_name=project_name, beside=False)
    text = Text().append("── ", "dim").append_text(head)
    text.rstrip()
    tail = []
    words = next((quote.text for quote in reversed(drafts.quoted(item)) if quote.who == "you"), "")
    if words:
        tail.append(Text().append("you said  ", "dim").append(f"“{safe_text.line(words, 300)}”"))
    closest = found.similar[0] if found and found.similar else None
    if isinstance(draft, Draft) and draft.taken:
        tail.append(Text(_name_taken(draft), "yellow"))
    elif closest is not None:
        where = safe_text.line(closest.memory.ref)
        tail.append(
            Text()
            .append(f"similar {score(closest)} ", "dim")
            .append(where)
            .append(f"  {actions.key_of('inbox.merge')} merges", "dim")
        )
    return text, Text("\n", no_wrap=True, overflow="ellipsis").join(tail)


def item_glance(item: Waiting, states: Sequence[str], now: float) -> Text:
    """Return the age of a todo, and its text."""
    text = Text().append("── ", "dim").append(_item_facts(item, states, now) + "\n", style="dim")
    return text.append(safe_text.clean(item.text[:SHOWN]))


def _item_facts(item: Waiting, states: Sequence[str], now: float) -> str:
    facts = ["unfinished", *states, ago(item.entry.time(), now) if item.entry.time() else "no date"]
    return safe_text.line(" · ".join(facts))


def _name_taken(draft: Draft) -> str:
    problem = f"{safe_text.line(draft.scope.label)} has a {safe_text.line(draft.name)} already"
    return f"! {problem}: {actions.keyed(RENAME)}"


def score(each: Similar) -> str:
    """`.97`"""
    return share(each.score)


def _content(found: Memory) -> str:
    body = found.body.strip()
    return f"{found.description}\n\n{body}".strip()


def _marked(draft: Text, found: Memory) -> tuple[Text, Text]:
    """Return the texts of a draft and a memory, with the words underlined that only one has, if these are few."""
    whole = _content(found)
    theirs = markdown.render(whole[:ALIKE_LENGTH]).append(" …" if len(whole) > ALIKE_LENGTH else "")
    for text, spans, style in zip(
        (draft, theirs), similarity.differing(draft.plain, theirs.plain), ONLY_HERE, strict=True
    ):
        for start, end in spans:
            text.stylize(style, start, end)
    return draft, theirs


def _is_marked(text: Text) -> bool:
    return any(span.style in ONLY_HERE for span in text.spans)


def lines_of(text: Text, width: int) -> int:
    """Return how many lines a text takes; for a long one, which may be cut, more than it can ever take."""
    return len(text.wrap(get_console(), width)) if len(text.plain) <= DRAFT_LENGTH else SHOWN * 2


def _similar(text: Text, found: Sequence[Similar], proposed: Memory, *, beside: bool) -> None:
    if not found:
        return
    shown = found[1 : drafts.SIMILAR_SHOWN] if beside else found[: drafts.SIMILAR_SHOWN]
    if shown:
        _heading(text, "also similar" if beside else f"similar · {actions.key_of('inbox.merge')} merges")
    for each in shown:
        text.append(f"{score(each)} {safe_text.line(each.memory.ref)}", style="bold")
        if each is not found[0]:
            text.append(f"  {safe_text.line(each.memory.description)}\n")
            continue
        own, theirs = _marked(markdown.render(_content(proposed)[:DRAFT_LENGTH]), each.memory)
        text.append(f"  {LEGEND}\n" if _is_marked(own) or _is_marked(theirs) else "\n", style="dim")
        text.append_text(theirs).append("\n")


def compared(draft: str, found: Memory) -> Text:
    """Return a memory that a draft might be merged into, with the words underlined that the draft does not have, if
    these are few."""
    theirs = _marked(markdown.render(draft[:DRAFT_LENGTH]), found)[1]
    text = Text()
    text.append(safe_text.line(found.ref), style="bold")
    legend = "   underlined: what the draft does not say" if _is_marked(theirs) else ""
    text.append(f"  {safe_text.line(found.type)}{legend}\n\n", style="dim")
    return text.append_text(theirs)


def item_text(item: Waiting, title: str, states: Sequence[str], now: float, *, read_only: bool) -> Text:
    """Return a todo, and what can be done with it."""
    text = cut(Text(), item.text, item.path).append("\n")
    text.stylize("bold", 0, min(len(item.text), SHOWN))
    fields = item.entry.fields
    text.append(_item_facts(item, states, now) + "\n", style="dim")
    if fields.get("session"):
        text.append(safe_text.line(f"left by session {_session(fields['session'], title)}") + "\n", style="dim")
    else:
        text.append("written by hand\n", style="dim")
    text.append(safe_text.line(item.path) + "\n", style="dim")
    append_keys(text, ITEM_KEYS, read_only=read_only)
    return text


def written_text(draft: Draft, limit: int) -> Text:
    """Return the file that approving a draft writes, as far as its first `limit` characters."""
    text = Text()
    text.append(f"{safe_text.line(draft.scope.label)}:{safe_text.line(draft.name)}\n", style="bold")
    text.append(safe_text.line(draft.path) + "\n", style="dim")
    if draft.taken:
        text.append(f"{actions.keyed(LEFT_OUT)}\n", style="yellow")
    content = draft.data.decode("utf-8", "replace").rstrip("\n")
    return cut(text, content, draft.item.path, limit=limit, before="  │ ", head=_head(draft.memory, content))


def _head(found: Memory, whole: str) -> int:
    """Return how many characters of a memory's file come before its body."""
    return max(0, whole.rfind(found.body.strip("\n"))) if found.body.strip("\n") else len(whole)


def guidance_text(items: Sequence[Waiting]) -> Text:
    """Return what the agent would be told, if these entries became guidance."""
    text = Text()
    for item in items:
        cut(text, item.text, item.path, limit=shown_of_each(len(items)), before="  │ ").append("\n")
    return text


def shown_of_each(count: int) -> int:
    """Return how many characters are drawn of each of `count` entries."""
    return max(LEAST_SHOWN, SHOWN // max(1, count))


def merged_text(found: Memory, data: bytes) -> Text:
    """Return a memory as merging leaves it (`data`), the new lines marked; its body drawn for reading."""
    text = Text()
    text.append(safe_text.line(found.path) + "\n", style="dim")
    before = found.raw.decode("utf-8", "replace").rstrip("\n").split("\n")
    whole = data.decode("utf-8", "replace").rstrip("\n")
    head = _head(memory.from_bytes(found.path, found.scope_label, data), whole)
    drawn = Text(safe_text.clean(whole[:head])).append_text(markdown.render(whole[head:]))
    lines = drawn.split("\n", allow_blank=True)
    after = whole.split("\n")
    room, hidden = {True: SHOWN, False: SHOWN}, {True: 0, False: 0}
    for number, line in enumerate(after):
        old = number < len(before) and before[number] == line
        if room[old] <= 0:
            hidden[old] += 1
            continue
        if hidden[True] and not old:
            _hidden(text, hidden[True], "that are there already")
            hidden[True] = 0
        room[old] -= len(line) + 1
        style = "dim" if old else "green"
        text.append(f"  {' ' if old else '+'} │ ", style)
        text.append_text(Text(style=style).append_text(lines[number][: safe_text.MAX_LINE])).append("\n")
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
