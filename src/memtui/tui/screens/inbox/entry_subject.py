"""An entry of the inbox as a form edits it: a draft before it becomes a memory, or the text of an item."""

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from memtui.core.base import fastjson, ids
from memtui.core.memories.memory import TYPES
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text
from memtui.tui.dialogs.subject import CHOICE, TEXT, FormField, Options, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data

# The fields of a draft that its form edits besides the text.
LINES, CHOICES = ("name", "description", "trigger"), ("type", "scope")
FIELDS = (*LINES, *CHOICES)
GONE = "It is gone: it was decided on or removed meanwhile. What you typed stays here to be copied."
Values = Mapping[str, str]


class EntrySubject(Subject):
    """The subject of the form. `values` returns what the form shows of an entry: its `body`, and for a draft also name,
    description, type and scope (of the options `scopes`). `check` returns which file would be written, `save` writes
    it; both raise MemtuiError."""

    def __init__(
        self,
        data: Data,
        item: Waiting,
        values: Callable[[Waiting], Values],
        *,
        title: str,
        verb: str,
        check: Callable[[Waiting, Values], str],
        save: Callable[[Waiting, Values], None],
        scopes: Options = (),
    ) -> None:
        self.data, self.item = data, item
        self._values, self._check, self._save = values, check, save
        given = values(item)
        self.autosave = autosave.kept(data.root, item.id) or Autosave(item.id, self._base())
        self.shape = Shape(title, verb, "this entry", GONE, "entry", across=100, left=autosave.left("inbox.edit"))
        options: dict[str, Options] = {"type": [(each, each) for each in TYPES], "scope": scopes}
        self.fields: Sequence[FormField] = (
            *(FormField(key, safe_text.line(given[key])) for key in LINES if key in given),
            *(FormField(key, given[key], CHOICE, options=options[key]) for key in CHOICES if key in given),
            FormField("body", safe_text.clean(given["body"]), TEXT),
        )

    def _base(self) -> str:
        """Return a digest of what a person can edit. Counts that the extractor updates are no change."""
        fields = {key: self.item.entry.fields.get(key, "") for key in (*FIELDS, "request")}
        return ids.digest(fastjson.dumps({**fields, "text": self.item.text}))

    def check(self, typed: Typed) -> Text:
        """Return which file would be written."""
        return safe_text.styled(self._check(self.item, typed.values))

    def there(self) -> str | None:
        """Find the entry in the inbox as it is now, and return its digest; None if it is gone. An entry without an id
        is found by its place in the file, also with other words."""
        before, entries = self.item, self.data.waiting((self.item.kind,), every=True)
        same = [each for each in entries if each.key == before.key]
        if not same and not before.entry.fields.get("id"):
            place = (before.path, before.entry.start)
            same = [e for e in entries if (e.path, e.entry.start) == place and not e.entry.fields.get("id")]
        if not same:
            return None
        self.item = same[0]
        return self._base()

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        """Return the entry as it is, and as it would be."""
        theirs = self._values(self.item)
        return _compared(theirs), _compared({**theirs, **typed.changed})

    def save(self, typed: Typed) -> Saved:
        """Save what was typed over the entry as it is now."""
        self._save(self.item, {**self._values(self.item), **typed.changed})
        return Saved(self.item.id)


def _compared(values: Values) -> bytes:
    words = "".join(f"{key}: {values[key]}\n" for key in FIELDS if key in values)
    return f"{words}{chr(10) * bool(words)}{values['body'].rstrip()}".encode("utf-8", "replace")
