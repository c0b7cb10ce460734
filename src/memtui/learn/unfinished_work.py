"""Open items: the work left unfinished at the end of a turn, from the todo or task list, else from a list at the end of
a message under a heading that says so. Guesses from prose, tried elsewhere, were wrong nine times in ten."""

import re

from memtui.client.transcripts.conversation import Conversation, normalised
from memtui.learn import phrases

MAX_ITEMS = 20
MAX_ITEM = MAX_OFFER = 300  # characters
OPEN_STATES = ("in_progress", "pending")
_HEADING, _OFFER, _ADVICE = map(phrases.pattern, ("work_left", "offer", "advice"))
# "Next steps" is often advice to the person; work that was agreed on is in the todo list, if there is one.
_NEXT = re.compile(r"^\W{0,6}(?:\d+[.)] )?next steps?[^\w\n]{0,6}$", re.IGNORECASE)
_ITEM = re.compile(r"^(?P<indent>\s*)(?:[-*•]|\d{1,2}[.)])\s+(?P<text>\S.*)$")
_BOX = re.compile(r"^\s*(?:[-*]|\d{1,2}[.)])\s+\[(?P<mark>[ xX])\]\s+(?P<text>\S.*)$")
_FENCE = re.compile(r"^[\s>]*(`{3,}|~{3,})")
_DONE = re.compile(r"^(?:\[[xX]\]|✅|✓|☑|~~)")


def open_items(conversation: Conversation) -> list[str]:
    """List the texts of unfinished work, each once, at most MAX_ITEMS."""
    todos = [todo for todo in conversation.todos() if todo.text]
    texts = [todo.text for todo in todos if todo.status in OPEN_STATES]
    if not texts or not conversation.todos_changed:
        # The list at the end of the answer is newer than a todo list of an earlier turn.
        texts = listed(conversation.last_message, next_steps=not todos) or texts
    texts_by_key: dict[str, str] = {}
    for text in texts:
        line = " ".join(text.split())[:MAX_ITEM].strip()
        if len(normalised(line)) > 2:
            texts_by_key.setdefault(normalised(line), line)
    return list(texts_by_key.values())[:MAX_ITEMS]


def listed(message: str, next_steps: bool = True) -> list[str]:
    """List the points of an explicit list of open work at the end of a message (`next_steps`: also of those)."""
    heading, points = _last_list(_without_code(message.replace("’", "'")))
    boxes = [box for line in points if (box := _BOX.match(line))]
    if boxes:
        return [_plain(box["text"]) for box in boxes if box["mark"] == " "]
    if not (_HEADING.match(heading) or (next_steps and _NEXT.match(heading))):
        return []
    matches = [item for line in points if (item := _ITEM.match(line))]
    least = len(matches[0]["indent"]) if matches else 0
    return [
        _plain(item["text"])
        for item in matches
        if len(item["indent"]) <= least and not (_DONE.match(item["text"]) or _ADVICE.search(_plain(item["text"])))
    ]


def _last_list(text: str) -> tuple[str, list[str]]:
    """Return the list with which a text ends, but for an offer below it, and the line above it."""
    lines = text.rstrip().splitlines()
    end = len(lines)
    while end and lines[end - 1].strip() and not _belongs(lines[end - 1]):
        end -= 1
    closing = "\n".join(lines[end:]).strip()
    if closing and (len(closing) > MAX_OFFER or not _OFFER.search(closing)):
        return "", []
    at = end
    while at and _belongs(lines[at - 1]):
        at -= 1
    points = lines[at:end]
    while points and not _ITEM.match(points[0]):
        points.pop(0)
    return (lines[at - 1] if at else ""), points


def _belongs(line: str) -> bool:
    """Tell whether a line may be in a list: a point, a line that goes on with one, a blank."""
    return bool(_ITEM.match(line)) or not line.strip() or line.startswith((" ", "\t"))


def _without_code(text: str) -> str:
    """Leave out fenced code; a fence ends with one that is as long at least."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if not fence:
            fence = mark[1] if mark else ""
            lines.append("" if mark else line)
        elif mark and mark[1].startswith(fence) and not line.strip(" \t`~"):
            fence = ""
    return "\n".join(lines)


def _plain(text: str) -> str:
    return re.sub(r"(\*\*|__)(.+?)\1", r"\2", text).strip()
