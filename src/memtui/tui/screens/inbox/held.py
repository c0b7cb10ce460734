"""The entry of the inbox that a form is about: read again when it is saved, since others write there meanwhile."""

from collections.abc import Callable

from memtui.core.base import fastjson, ids
from memtui.core.review.waiting import Waiting
from memtui.tui.dialogs.form import Standing

# The fields of a draft that its form changes, beside the text.
FIELDS = ("name", "type", "scope", "description")
Values = dict[str, str]


class HeldEntry:
    """`item` as it was read last; `values` tells what its form shows, `read` all that waits."""

    def __init__(self, item: Waiting, values: Callable[[Waiting], Values], read: Callable[[], list[Waiting]]) -> None:
        self.item, self._values, self._read = item, values, read

    @property
    def standing(self) -> Standing:
        """As it was read last. What the extractor counts is no change."""
        said = {key: self.item.entry.fields.get(key, "") for key in FIELDS}
        base = ids.digest(fastjson.dumps({**said, "text": self.item.text}))
        return Standing(base, self._values(self.item))

    def now(self) -> Standing | None:
        """As it stands now; None if it is gone. Words without an id are those that stand in their place."""
        was, every = self.item, self._read()
        same = [each for each in every if each.key == was.key]
        if not same and not was.entry.fields.get("id"):
            place = (was.path, was.entry.start)
            same = [e for e in every if (e.path, e.entry.start) == place and not e.entry.fields.get("id")]
        if not same:
            return None
        self.item = same[0]
        return self.standing
