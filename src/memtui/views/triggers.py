"""How both user interfaces say where a trigger comes from, and how a line of a form has several."""

from collections.abc import Iterable

from memtui.base.phrasing import age
from memtui.store.triggers import Trigger

ORIGINS = {
    "file": "in its file",
    "person": "yours",
    "draft": "asked when you corrected",
    "use": "asked before it was opened",
}


def origin(trigger: Trigger, now: float) -> str:
    """Say where a trigger comes from and how old it is: `yours · 3d`, `asked before it was opened · 2× · 1d`."""
    times = f"{round(trigger.uses)}×" if trigger.origin == "use" and trigger.uses >= 1.5 else ""
    old = age(trigger.time, now) if trigger.time else ""
    return " · ".join(filter(None, [ORIGINS[trigger.origin], times, old]))


def from_text(text: str, phrases: Iterable[str]) -> list[str]:
    """Return the triggers between semicolons of a line; one of `phrases` that has a semicolon itself stays whole."""
    whole = {f"\0{number}\0": phrase for number, phrase in enumerate(phrases) if ";" in phrase}
    for mark, phrase_with_semicolon in whole.items():
        text = text.replace(phrase_with_semicolon, mark)
    parts = []
    for part in text.split(";"):
        line = part.strip()
        for mark, phrase_with_semicolon in whole.items():
            line = line.replace(mark, phrase_with_semicolon)
        parts.append(line)
    return list(dict.fromkeys(filter(None, parts)))
