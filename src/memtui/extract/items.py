"""Open items: the work left unfinished at the end of a turn, from the todo or task list, else from a list in a message;
and what still runs in the background.

A list in a message counts only under a heading that says that this is left to do, and only its list items count.
Guessing at unfinished work from prose has been tried elsewhere, and was wrong nine times in ten.
"""

import re

from memtui.core.client.conversation import Conversation, normalised

MAX_ITEMS = 20
MAX_ITEM = 300  # characters
OPEN_STATES = ("in_progress", "pending")

_HEADING = re.compile(
    r"^\W{0,6}(?:\d+[.)] )?(?:what(?:'s| is) (?:left|remaining)|remaining(?: (?:work|tasks?|items?|steps?|todos?))?"
    r"|still (?:to do|open|missing|pending|todo)|to-?dos?|open (?:items|tasks|points)|not (?:yet )?done(?: yet)?"
    r"|left to do|outstanding(?: (?:work|items|tasks))?|unfinished(?: work)?|pending(?: (?:work|items|tasks))?)"
    r"[^\w\n]{0,6}(?:\([^()\n]{0,60}\)[^\w\n]{0,4})?$",
    re.IGNORECASE,
)
# "Next steps" is often advice to the person; work that was agreed on is in the todo list, if there is one.
_NEXT = re.compile(r"^\W{0,6}(?:\d+[.)] )?next steps?[^\w\n]{0,6}$", re.IGNORECASE)
_ITEM = re.compile(r"^(?P<indent>\s*)(?:[-*•]|\d{1,2}[.)])\s+(?P<text>\S.*)$")
_BOX = re.compile(r"^\s*(?:[-*]|\d{1,2}[.)])\s+\[(?P<mark>[ xX])\]\s+(?P<text>\S.*)$")
_DONE = re.compile(r"^(?:\[[xX]\]|✅|✓|☑|~~)")
_ADVICE = re.compile(
    r"\?\s*$|^(?:optional(?:ly)?|you (?:can|could|may|might)|if you|consider|none|nothing|n/a)\b",
    re.IGNORECASE,
)


def open_items(conversation: Conversation, *, ended: bool = False) -> list[str]:
    """List the texts of unfinished work, in order, each once, at most MAX_ITEMS; none if all is done. `ended`: so has
    the client; commands ran as long as it, and what an agent was at is not finished."""
    todos = [todo for todo in conversation.todos() if todo.text]
    texts = [todo.text for todo in todos if todo.status in OPEN_STATES]
    if not texts:
        texts = listed(conversation.last_message, next_steps=not todos)
    running = [each for each in conversation.running.values() if each.agent or not ended]
    texts += [f"{'not finished' if ended else 'still running'}: {each.text}" for each in running]
    found: dict[str, str] = {}
    for text in texts:
        line = " ".join(text.split())[:MAX_ITEM].strip()
        if len(normalised(line)) > 2:
            found.setdefault(normalised(line), line)
    return list(found.values())[:MAX_ITEMS]


def listed(message: str, next_steps: bool = True) -> list[str]:
    """List the points of an explicit list of open work in a message: unchecked boxes, else the bullets under a heading
    such as "Remaining:" (with `next_steps` also "Next steps:")."""
    lines = _without_code(message).splitlines()
    boxes = [box for line in lines if (box := _BOX.match(line))]
    if boxes:
        return [_plain(box["text"]) for box in boxes if box["mark"] == " "]
    found: list[str] = []
    within, depth = False, 0
    for line in lines:
        item = _ITEM.match(line)
        if _HEADING.match(line) or (next_steps and _NEXT.match(line)):
            within, depth = True, -1
        elif within and item:
            depth = len(item["indent"]) if depth < 0 else depth
            if len(item["indent"]) <= depth and not (_DONE.match(item["text"]) or _ADVICE.search(_plain(item["text"]))):
                found.append(_plain(item["text"]))
        elif within and line.strip() and not line.startswith((" ", "\t")):
            within = False
    return found


def _without_code(text: str) -> str:
    return re.sub(r"(?:```|~~~)[\s\S]*?(?:```|~~~|\Z)", "\n", text)


def _plain(text: str) -> str:
    """Remove the emphasis from a list item."""
    return re.sub(r"(\*\*|__)(.+?)\1", r"\2", text).strip()
