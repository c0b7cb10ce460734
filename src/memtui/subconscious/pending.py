"""An answer of the model that is not acted on yet, as the state of its session holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtui.core.base import ids
from memtui.core.redaction.redact import redacted
from memtui.subconscious import runs
from memtui.subconscious.agent import Wishes
from memtui.subconscious.runs import Run

# What each wish is made of.
FORMS: dict[str, tuple[type, ...]] = {
    "edits": (str, str, str),
    "whispers": (str, str, bool),
    "replies": (str, str),
    "looks": (),
    "refused": (),
}


@dataclass
class PendingAnswer:
    """What a `run` wishes, with an id for each of its whispers and replies; `time`: when it was answered, in seconds
    since the epoch."""

    run: Run
    wishes: Wishes
    names: list[str]
    time: float

    @classmethod
    def of(cls, run: Run, wishes: Wishes, now: float) -> "PendingAnswer":
        """Return an answer that was given just now."""
        return cls(run, wishes, [ids.new_id(now) for _ in (*wishes.whispers, *wishes.replies)], now)

    def data(self) -> dict[str, Any]:
        """Return it as the state holds it, without secrets."""
        run = self.run.data()
        said = {key: _cleaned(run[key]) for key in ("note", "looks", "refused") if key in run}
        wishes = _cleaned(vars(self.wishes))
        return {"run": run | said, "wishes": wishes, "ids": self.names, "time": self.time}


def read(given: object) -> PendingAnswer | None:
    """Read an answer of a state; None if it is none."""
    if not isinstance(given, Mapping):
        return None
    row, wished, names, when = (given.get(key) for key in ("run", "wishes", "ids", "time"))
    run = runs.of_row({"v": runs.VERSION, **row}) if isinstance(row, Mapping) else None
    if run is None or not isinstance(wished, Mapping) or not isinstance(names, list):
        return None
    note, wishes = wished.get("note", ""), Wishes()
    for key, form in FORMS.items():
        items = wished.get(key, [])
        if not isinstance(items, list) or not all(_fits(each, form) for each in items):
            return None
        setattr(wishes, key, [tuple(each) if form else each for each in items])
    wishes.note = note if isinstance(note, str) else ""
    if len(names) != len(wishes.whispers) + len(wishes.replies) or not isinstance(when, (int, float)):
        return None
    return PendingAnswer(run, wishes, list(map(str, names)), float(when))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, (list, tuple)):
        return [_cleaned(part) for part in value]
    return {key: _cleaned(part) for key, part in value.items()} if isinstance(value, dict) else value


def _fits(item: object, form: tuple[type, ...]) -> bool:
    if not form:
        return isinstance(item, str)
    return isinstance(item, (list, tuple)) and list(map(type, item)) == list(form)
