"""The texts of the inbox: the detail of a draft or a todo, and of an empty list."""

from collections.abc import Callable, Sequence

from rich import get_console
from rich.text import Text

from memtui import actions
from memtui.base.errors import MemtuiError
from memtui.base.phrasing import share
from memtui.review.draft import Draft
from memtui.review.evidence import Evidence, Similar
from memtui.review.waiting_entries import Waiting
from memtui.store.memory import Memory
from memtui.tidy import similarity
from memtui.tui.model import line_diff
from memtui.tui.screens.inbox.row import InboxView
from memtui.tui.widgets import markdown
from memtui.tui.widgets.parts import SHOWN, cut, draw
from memtui.views import drafts, notes, safe_text
from memtui.views.parts import heading

EMPTY = """Sessions save drafts here when you correct or confirm the agent, and the work they did not finish. \
Memories that overlap, have expired or are broken are listed here, each with its fix."""
EMPTY_UNHEARD = "Sessions will save no drafts here.\n{}"
# What else can be done where nothing waits; the first only where something may be written.
SHOWS = "{app.memories} shows the memories."
ELSEWHERE = ("To find drafts in earlier sessions: {app.palette}, past sessions. {app.note} writes a note, ", SHOWS)
PLANNING = "\nLooking for what can be merged, fixed or removed …"
# Characters of a memory, and of a draft, that are compared word by word.
ALIKE_LENGTH, DRAFT_LENGTH = 2000, 6000
LEAST_SHOWN = 1000  # characters of one entry among many
# The styles of words that only the draft has, and that only the memory has.
ONLY_HERE = ("underline green", "underline")
LEGEND = "underlined is what only one of them says"
REJECT = "reject ({inbox.reject} again on its grey row: never again)"
RENAME = "{inbox.merge} merges into it, {inbox.edit} gives another name"
LEFT_OUT = f"! not written, as a memory of this name is there already; in the list {RENAME}"


def why_empty(unheard_code: str, *, planning: bool, read_only: bool) -> str:
    """Return the text of an inbox in which nothing waits: what will fill it, and what else can be done."""
    why_unheard = notes.keyed(unheard_code, read_only=read_only)
    words = EMPTY_UNHEARD.format(why_unheard[:1].upper() + why_unheard[1:] + ".") if why_unheard else EMPTY
    return words + PLANNING * planning + "\n" + actions.keyed("".join(ELSEWHERE[read_only:]))


def draft_head(item: Waiting, draft: Draft | MemtuiError, evidence: Evidence | None) -> Text:
    """Return the whole memory that a draft would become."""
    text = Text()
    if isinstance(draft, MemtuiError):
        text.append(safe_text.line(item.entry.fields.get("name", "")) + "\n", style="bold")
        text.append(f"! {safe_text.line(draft.message)} {safe_text.line(draft.hint)}\n", style="yellow")
        return cut(text, item.text, item.path)
    words = _content(draft.memory)
    if not (evidence and evidence.similar) or len(words) > DRAFT_LENGTH:
        return cut(text, words, item.path, head=0).append("\n")
    own = markdown.render(words)
    _marked(own, evidence.similar[0].memory)
    return text.append_text(own).append("\n\n")


def draft_texts(
    head: Text, item: Waiting, draft: Draft | MemtuiError, states: Sequence[str], view: InboxView
) -> tuple[Text, Text]:
    """Return the detail and the preview of a draft, with what the worker has looked up so far."""
    evidence, head = view.evidence.get(item.key), head.copy()
    head.rstrip()
    head.append("\n").append_text(draw(drafts.warnings(states, evidence, view.now)))
    facts = draw(drafts.facts(item, evidence, view.now))
    if isinstance(draft, Draft):
        if draft.replaced is not None:
            facts.append(*heading("what it changes in the memory that is there"))
            facts.append_text(line_diff.drawn(draft.replaced.raw, draft.data, ("the present text", "the draft")))
        if evidence is not None:
            _similar(facts, evidence.similar, draft.memory, lambda memory: view.named(memory, item))
    glance = head.copy()
    for quote in drafts.quoted(item):
        if quote.who == "you":
            glance.append(f"› {quote.who:<6}", style="bold").append(drafts.indented(quote.text))
    head.append_text(draw(drafts.conversation(item, evidence)))
    return head.append("\n").append_text(facts), glance.append_text(facts)


def _content(memory: Memory) -> str:
    body = memory.body.strip()
    return body if body == memory.description.strip() else f"{memory.description}\n\n{body}".strip()


def _marked(draft: Text, memory: Memory) -> tuple[Text, bool]:
    """Underline the words that only one of both has, if few. Return the memory, and whether any are."""
    whole = _content(memory)
    theirs = markdown.render(whole[:ALIKE_LENGTH]).append("…" if len(whole) > ALIKE_LENGTH else "")
    differing = similarity.differing(draft.plain, theirs.plain)
    for text, spans, style in zip((draft, theirs), differing, ONLY_HERE, strict=True):
        for start, end in spans:
            text.stylize(style, start, end)
    return theirs, any(differing)


def lines_of(text: Text, width: int) -> int:
    """Return how many lines a text takes; for a long one, which may be cut, more than it can take."""
    text = text.copy()
    text.rstrip()
    return len(text.wrap(get_console(), width)) if len(text.plain) <= DRAFT_LENGTH else SHOWN * 2


def _similar(text: Text, similars: Sequence[Similar], proposed: Memory, named: Callable[[Memory], str]) -> None:
    if similars:
        text.append(*heading(f"similar · {actions.key_of('inbox.merge')} merges"))
    for similar in similars[: drafts.SIMILAR_SHOWN]:
        text.append(f"{share(similar.score)} {named(similar.memory)}", style="bold")
        if similar is not similars[0]:
            text.append(f"  {safe_text.line(similar.memory.description)}\n")
            continue
        theirs, is_marked = _marked(markdown.render(_content(proposed)[:DRAFT_LENGTH]), similar.memory)
        text.append(f"  {LEGEND}\n" if is_marked else "\n", style="dim").append_text(theirs).append("\n")


def compared(draft: str, memory: Memory, name: str) -> Text:
    """Return a memory that a draft might be merged into, the words that the draft does not have underlined if few."""
    theirs, is_marked = _marked(markdown.render(draft[:DRAFT_LENGTH]), memory)
    legend = f"   {LEGEND}" if is_marked else ""
    text = Text().append(name, style="bold")
    return text.append(f"  {safe_text.line(memory.type)}{legend}\n\n", style="dim").append_text(theirs)


def item_text(item: Waiting, title: str, states: Sequence[str], now: float) -> Text:
    """Return a todo, and where it comes from; `title`: of the session that left it, empty if it is not known."""
    text = cut(Text(), item.text, item.path)
    text.stylize("bold", 0, min(len(item.text), SHOWN))
    return text.append("\n").append_text(draw([drafts.todo_facts(item, title, states, now)]))


def written_text(draft: Draft, home: str, limit: int) -> Text:
    """Return what approving a draft writes into its scope, `home`: its file, up to `limit` characters, and its line."""
    text = Text()
    text.append(f"{safe_text.line(home)}: {safe_text.line(draft.name)}\n", style="bold")
    text.append(safe_text.line(draft.path) + "\n", style="dim")
    text.append(f"{actions.keyed(LEFT_OUT)}\n" if draft.taken else "", style="yellow")
    content, body = draft.data.decode("utf-8", "replace").rstrip("\n"), draft.memory.body.strip("\n")
    head = max(0, content.rfind(body)) if body else len(content)
    cut(text, content, draft.item.path, limit=limit, before="  │ ", head=head)
    if draft.index_lines:
        text.append("and in MEMORY.md\n", style="dim")
    for line in draft.index_lines:
        text.append("  │ ", style="dim").append(safe_text.line(line) + "\n")
    return text


def note_text(items: Sequence[Waiting]) -> Text:
    """Return what the agent would be told, if these entries became notes."""
    text = Text()
    for item in items:
        cut(text, item.text, item.path, limit=shown_of_each(len(items)), before="  │ ").append("\n")
    return text


def shown_of_each(count: int) -> int:
    """Return how many characters are drawn of each of `count` entries."""
    return max(LEAST_SHOWN, SHOWN // max(1, count))
