"""What is decided of entries of the inbox without a question: reject, tick off, keep, pass on. One undo step each."""

from collections.abc import Callable

from rich.text import Text

from memtui import actions
from memtui.actions import Action
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.core.base.phrasing import many
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.review import draft
from memtui.core.review.draft import Choices, Draft
from memtui.core.review.evidence import Evidence
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, unheard
from memtui.tui.dialogs.form import Form
from memtui.tui.dialogs.preview import Preview
from memtui.tui.model import autosave
from memtui.tui.screens.inbox.held import Held
from memtui.tui.screens.inbox.rows import Line, key_of
from memtui.tui.screens.inbox.text import guidance_text, lines_of
from memtui.tui.screens.two_panes import TwoPanes
from memtui.tui.widgets.body import fits
from memtui.tui.widgets.rows import RowList

DRAFTS = {"approve", "merge", "reject", "never", "type", "scope"}
ITEMS = {"done", "keep"}
# So many lines of an item are below the list on the smallest screen, too.
SHORT = 3
# The foot's order.
ON_DRAFT = ("approve", "edit", "merge", "reject", "never", "type", "scope", "mark", "filter", "mark_all")
ON_ITEM = ("done", "keep", "edit", "guide", "mark", "filter", "mark_all")


class Acting(TwoPanes):
    """Decisions on what is marked, or under the cursor. `changed`: what the person has changed of a draft before
    approving it, by key."""

    waiting: list[Waiting]
    memories: list[Memory]
    others: dict[str, list[Memory]]
    settings_of: dict[str, Evidence]
    changed: dict[str, dict[str, str]]
    every: bool
    readied: dict[str, tuple[Waiting, dict[str, str], Draft | MemtuiError]]
    elsewhere: int

    @property
    def table(self) -> RowList[Line]:
        """The list."""
        raise NotImplementedError

    def why_not(self, action_id: str) -> str:
        """What needs a draft, or an item."""
        verb = action_id.partition(".")[2]
        if verb in DRAFTS | ITEMS | {"guide", "edit"} and self.table.marks and not self.table.chosen():
            return "The filter hides the marked ones: escape shows them."
        if verb in DRAFTS and not self._chosen("updates"):
            ways = actions.keyed(" {inbox.done} ticks an item off.") if self._chosen("items") else ""
            return "There is no draft under the cursor." + ways
        if verb in ITEMS and not self._chosen("items"):
            ways = " {inbox.approve} approves a draft, {inbox.reject} rejects it." if self._chosen("updates") else ""
            ways = actions.keyed(ways)
            return "There is no unfinished item under the cursor." + ways
        if verb in {"mark_all", "range", "open", "next", "previous"} and not self.table.rows:
            return f"There is nothing here to {'mark' if verb in {'mark_all', 'range'} else 'read'}."
        if verb == "projects" and not self.elsewhere:
            return "Nothing waits in other projects."
        if verb in {"guide", "mark", "mark_all"} and not self._chosen():
            return "There is nothing here to mark." if verb == "mark_all" else "There is nothing under the cursor."
        return self._why_no_edit() if verb == "edit" else ""

    def _why_no_edit(self) -> str:
        chosen = self._chosen()
        if not chosen:
            return "There is nothing under the cursor to edit."
        if len(chosen) > 1:
            return f"{len(chosen)} are marked, this goes one by one: escape unmarks."
        if not fits(chosen[0].text):
            return f"It is too long to be changed here. It stands in {safe_text.line(chosen[0].path)}."
        return ""

    def footer_actions(self) -> list[Action]:
        """What can be done with the row under the cursor comes first."""
        order = ON_ITEM if self.under is not None and self.under.kind == "items" else ON_DRAFT
        return [actions.get(f"inbox.{verb}") for verb in order]

    @property
    def under(self) -> Waiting | None:
        """The entry under the cursor, whatever is marked."""
        return self.table.row.item if self.table.row is not None else None

    def _chosen(self, kind: str = "") -> list[Waiting]:
        found = [line.item for line in self.table.chosen() if line.item is not None]
        return [each for each in found if not kind or each.kind == kind]

    def _proposed(self, item: Waiting, field: str) -> str:
        """A field of the draft as it would be approved now."""
        given = self.changed.get(key_of(item), {}).get(field, "")
        if given or field != "scope":
            return given or item.entry.fields.get(field, "")
        ready = self.ready(item)
        return ready.scope.label if isinstance(ready, Draft) else item.entry.fields.get("scope") or item.scope

    def whose(self, item: Waiting) -> str:
        """The name of the project that an entry belongs to, if that is another one."""
        if item.slug in {None, self.main.data.slug}:
            return ""
        home = item.entry.fields.get("project", "").rstrip("/").rpartition("/")[2]
        return safe_text.line(home or item.slug or "", 40)

    def _near(self, item: Waiting) -> list[Memory]:
        """What a draft is compared with, and may be merged into: the memories of its project."""
        if item.slug in {None, self.main.data.slug}:
            return self.memories
        slug = item.slug or ""
        if slug not in self.others:
            data = self.main.data
            self.others[slug] = draft.neighbours(data.store(), item)
        return self.others[slug]

    def _places(self, items: list[Waiting]) -> list[Scope]:
        """The scopes that drafts may be approved to: of their project, or of this one if they are of several."""
        data = self.main.data
        homes = {item.slug for item in items if item.slug}
        store = draft.home_store(data.store(), items[0]) if len(homes) == 1 else None
        return [s for s in (store or data.store()).scopes() if s.writable and not s.problem]

    def ready(self, item: Waiting) -> Draft | MemtuiError:
        """What approving it now would write, or why it can't be approved, as of the last reading."""
        key, fields = key_of(item), self.changed.get(key_of(item), {})
        known = self.readied.get(key)
        if known is None or known[0] is not item or known[1] != fields:
            known = self.readied[key] = (item, dict(fields), self._ready(item, fields))
        return known[2]

    def _ready(self, item: Waiting, fields: dict[str, str]) -> Draft | MemtuiError:
        data = self.main.data
        try:
            return draft.propose(data.store(), item, Choices(**fields))
        except MemtuiError as error:
            return error

    def _aside(self, kind: str = "") -> tuple[set[str], str]:
        """The marked ones that a decision on one kind leaves aside, and a sentence that says so."""
        left = self.table.marks - {key_of(each) for each in self._chosen(kind)}
        kinds = [each.kind for each in self.waiting if key_of(each) in left]
        autosave, items = kinds.count("updates"), kinds.count("items")
        words = [many(autosave, "draft")] * bool(autosave) + [many(items, "item")] * bool(items)
        return left, f" Left aside, and still marked: {' and '.join(words)}." if words else ""

    def _unmark(self, left: set[str]) -> None:
        """Unmark what is decided."""
        self.table.clear_marks()
        self.table.marks = left
        self.count()

    def count(self) -> None:
        """On the right of the foot, what the filter shows and how many are marked."""
        shown = f"{len(self.table.rows)} of {len(self.waiting)}" if self.typed else ""
        marked = f"{len(self.table.marks)} marked" if self.table.marks else ""
        self.tell(" · ".join(filter(None, (shown, marked))))

    def key_escape(self) -> None:
        """Back, one step at a time."""
        super().key_escape()
        self.count()

    def _act(self, change: Callable[[], object], words: str, kind: str = "") -> bool:
        """Make a change and say so; what went wrong is told. The screen reads again either way."""
        left, aside = self._aside(kind)
        try:
            change()
        except MemtuiError as error:
            self.main.fail(error)
            self.main.read()
            return False
        self._unmark(left)
        self.main.say(f"{words}{aside} {actions.takes_back()}")
        self.main.read()
        return True

    # rejecting, items

    def do_inbox_reject(self) -> None:
        """Drop the drafts."""
        found = self._chosen("updates")
        self._act(lambda: self.main.data.review().reject(found), f"Rejected: {many(len(found), 'draft')}.", "updates")

    def do_inbox_never(self) -> None:
        """Drop the drafts, and never draft these words again."""
        found = self._chosen("updates")
        words = f"Rejected from now on: {many(len(found), 'draft')}."
        self._act(lambda: self.main.data.review().reject(found, never=True), words, "updates")

    def do_inbox_done(self) -> None:
        """Tick the items off."""
        found = self._chosen("items")
        self._act(lambda: self.main.data.review().done(found), f"Done: {many(len(found), 'item')}.", "items")

    def do_inbox_keep(self) -> None:
        """Keep the items."""
        found = self._chosen("items")
        self._act(lambda: self.main.data.review().keep(found), f"Kept: {many(len(found), 'item')}.", "items")

    def do_inbox_guide(self) -> None:
        """Make guidance of the items, or of the drafts; several, and what is not on the screen, are shown first."""
        found = self._chosen()
        if len(found) == 1 and found[0] is self.under and self.read_whole(found[0]):
            self._guide(found)
            return

        def then(yes: bool | None) -> None:
            if yes:
                self._guide(found)

        count = many(len(found), "entry", "entries")
        title = f"Make guidance of {count}: the agent will be told this"
        self.app.push_screen(Preview(title, guidance_text(found), f"make guidance of {count}"), then)

    def read_whole(self, item: Waiting) -> bool:
        """Whether the entry under the cursor is on the screen to its end; a short item is in any case."""
        short = item.kind == "items" and lines_of(Text(item.text), self.room) <= SHORT
        return short or self.seen

    def _guide(self, found: list[Waiting]) -> None:
        deaf = unheard.keyed(self.main.data.unheard())
        when = f"but nothing delivers it yet: {deaf}" if deaf else "for the next prompt"
        words = f"Now guidance: {many(len(found), 'entry', 'entries')}, {when}."
        self._act(lambda: self.main.data.review().to_guidance(found), words)

    def _edit_item(self, item: Waiting) -> None:
        root = self.main.data.root
        held = Held(item, lambda each: {"body": each.text}, self._again)

        def check(fields: dict[str, str]) -> str:
            if not fields["body"].strip():
                raise UsageError("The text is empty.", actions.keyed("{inbox.done} ticks an item off."))
            return f"changes {item.path}"

        def then(fields: dict[str, str] | None) -> None:
            if fields is None:
                return
            now, text = held.item, fields["body"]
            same = text.strip() in {now.text.strip(), safe_text.clean(now.text).strip()}
            if same or self._act(lambda: self.main.data.review().edit(now, text), "Changed."):
                autosave.drop(root, item.id)

        form = Form(root, item.id, held.standing, title="Text of the item", verb="save", check=check, there=held.now)
        self.app.push_screen(form, then)

    def _again(self) -> list[Waiting]:
        """All that waits now, of whatever project."""
        try:
            return self.main.data.waiting(every=True)
        except MemtuiError:
            return []

    # the list

    def do_inbox_mark(self) -> None:
        """Mark."""
        self.table.toggle_mark()
        self.count()

    def do_inbox_mark_all(self) -> None:
        """Mark all drafts of the list, or on an item all items; none if they all are."""
        kind = self.under.kind if self.under is not None else "updates"
        every = {line.key for line in self.table.rows if line.item is not None and line.item.kind == kind}
        self.table.marks = set() if every <= self.table.marks else every
        self.table.redraw()
        self.count()

    def do_inbox_next(self) -> None:
        """The next one, also while one is read."""
        self.table.action_move(1)

    def do_inbox_previous(self) -> None:
        """The one before."""
        self.table.action_move(-1)

    def do_inbox_range(self) -> None:
        """Mark a range."""
        self.table.mark_range()
        self.count()
        if self.table.in_range:
            self.tell(actions.keyed("a range begins here: {inbox.range} again at its end"))

    def do_inbox_projects(self) -> None:
        """This project, or all of them."""
        self.every = not self.every
        self.reload()
