"""How a draft of the inbox becomes a memory: shown first, each approval one undo step, a bulk of them as well."""

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.core.review import approve, merge
from memtui.core.review.draft import Draft
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, unheard
from memtui.present.memories import loader
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.form import Form
from memtui.tui.dialogs.preview import Preview
from memtui.tui.model import autosave
from memtui.tui.screens.inbox.commands import Acting
from memtui.tui.screens.inbox.held import Held
from memtui.tui.screens.inbox.rows import key_of
from memtui.tui.screens.inbox.text import compared, merged_text, score, share, written_text


class Deciding(Acting):
    """Approving, as proposed, rewritten, elsewhere, or into a memory that is there."""

    # approving

    def do_inbox_approve(self) -> None:
        """Approve the draft that is on the screen; several, or one that is not, are shown first."""
        found = [self._ready(each, self.changed.get(key_of(each), {})) for each in self._chosen("updates")]
        bad = next((each for each in found if isinstance(each, MemtuiError)), None)
        good = [each for each in found if isinstance(each, Draft)]
        if not good and bad is not None:
            raise bad
        alone = len(good) == len(found) == 1 and good[0].item is self.under
        if alone and self.seen and not good[0].taken:
            self._approve(good)
            return
        text = Text()
        for each in good:
            text.append(written_text(each, alone=False, limit=share(len(good))))
            text.append("\n")
        if bad is not None:
            text.append(
                f"! {len(found) - len(good)} can't be approved: {safe_text.line(bad.message)}\n", style="yellow"
            )
        aside = self._aside("updates")[1].strip()
        text.append(f"! {aside}\n" if aside else "", style="yellow")
        free = [each for each in good if not each.taken]
        go = f"write {many(len(free), 'memory', 'memories')}" if free else ""
        title = f"Approve {many(len(free), 'draft')}: this will be written" if free else "This can't be approved"

        def then(yes: bool | None) -> None:
            if yes:
                self._approve(free)

        self.app.push_screen(Preview(title, text, go), then)

    def _approve(self, found: list[Draft]) -> None:
        left, aside = self._aside("updates")
        outcomes = approve.approve_all(found[0].store.journal, found)
        done = [each.memory for each in outcomes if each.memory is not None]
        names = {each.item.key: each.name for each in found}
        trouble = [_named(each.error, names[each.item.key]) for each in outcomes if each.error is not None]
        if trouble:
            self.main.fail(trouble[0])
        if done:
            self._unmark(left)
            words = f"{done[0].scope_label}:{done[0].stem}" if len(done) == 1 else f"{len(done)} memories"
            labels = {each.scope_label for each in done}
            deaf = unheard.keyed(self.main.data.unheard(labels))
            more = f" No session is told yet: {deaf}." if deaf else ""
            if len(labels) == 1 and not deaf and loader(min(labels)):
                more = f" From the next session on {loader(min(labels))}."
            self.main.say(f"Approved: {words}.{more}{aside} {actions.takes_back()}")
        self.main.read()

    def do_inbox_edit(self) -> None:
        """Rewrite a draft in a form, then approve it; or an item's text."""
        (item,) = self._chosen()
        if item.kind == "items":
            self._edit_item(item)
            return
        held = Held(item, self._values, self._again)

        def check(fields: dict[str, str]) -> str:
            found = self._ready(held.item, fields)
            if isinstance(found, MemtuiError):
                raise found
            if found.taken:
                raise ConflictError(f"{found.scope.label} has a {found.name} already.", "Give another name.")
            return f"writes {found.path}"

        def then(fields: dict[str, str] | None) -> None:
            found = self._ready(held.item, fields) if fields is not None else None
            if isinstance(found, MemtuiError):
                self.main.fail(found)
            elif found is not None:
                self._approve([found])
                if not any(key_of(each) == key_of(held.item) for each in self._again()):
                    autosave.drop(self.main.data.root, item.id)

        title = f"Approve, rewritten: {safe_text.line(item.text.partition(chr(10))[0], 60)}"
        labels = [scope.label for scope in self._places([item])]
        form = Form(
            self.main.data.root,
            item.id,
            held.standing,
            labels,
            title=title,
            verb="approve",
            check=check,
            there=held.now,
        )
        self.app.push_screen(form, then)

    def _values(self, item: Waiting) -> dict[str, str]:
        """What the form of a draft shows."""
        first, _, rest = item.text.partition("\n")
        return {
            "name": self._proposed(item, "name") or memory.slugify(first),
            "type": self._proposed(item, "type") or "feedback",
            "scope": self._proposed(item, "scope"),
            "description": self._proposed(item, "description") or first.strip(),
            "body": self._proposed(item, "body") or rest.strip("\n") or first.strip(),
        }

    def _change(self, field: str, value: str) -> None:
        for item in self._chosen("updates"):
            self.changed.setdefault(key_of(item), {})[field] = value
        aside = self._aside("updates")[1].strip()
        if aside:
            self.main.say(aside)
        self.table.redraw()
        self.settings_of.clear()
        self.fill()

    def do_inbox_type(self) -> None:
        """Another type for the draft."""

        def then(kind: str | None) -> None:
            if kind:
                self._change("type", kind)

        current = self._proposed(self._chosen("updates")[0], "type")
        self.app.push_screen(Choice("Type of the memory", [(kind, kind) for kind in memory.TYPES], current), then)

    def do_inbox_scope(self) -> None:
        """Another scope for the draft."""

        def then(label: str | None) -> None:
            if label:
                self._change("scope", label)

        current = self._proposed(self._chosen("updates")[0], "scope")
        rows = [(s.label, f"{s.label}  {s.directory}") for s in self._places(self._chosen("updates"))]
        self.app.push_screen(Choice("Scope of the memory", rows, current), then)

    def do_inbox_merge(self) -> None:
        """Choose the memory to merge into, the most alike first; then see what it becomes."""
        items = self._chosen("updates")
        first = self.under if self.under in items else items[0]
        known = self.settings_of.get(key_of(first))
        ranked = [(each.memory, score(each)) for each in (known.alike if known else [])]
        paths = {found.path for found, _ in ranked}
        ranked += [(each, "") for each in self._near(first) if each.path not in paths and each.broken is None]
        several = len({item.slug for item in items if item.slug}) > 1
        if several:
            ranked = [(found, alike) for found, alike in ranked if found.scope_label == "global"]
        if not ranked:
            of = " of all projects, as these drafts are of several" if several else ""
            self.main.say(f"There is no memory{of} to merge into.")
            return
        found_at = {found.path: found for found, _ in ranked}

        def chosen(path: str | None) -> None:
            if path:
                self._merge(items, found_at[path])

        rows = [
            (found.path, f"{alike:<3}  {found.scope_label}:{found.stem}  {safe_text.line(found.description, 100)}")
            for found, alike in ranked
        ]
        question = f"Merge {many(len(items), 'draft')} into" if len(items) > 1 else "Merge into"
        question += f" a memory of {self.whose(first)}, or of all projects" if self.whose(first) else ""
        draft = " ".join(first.text.split("\n")).strip()
        self.app.push_screen(Choice(question, rows, about=lambda path: compared(draft, found_at[path])), chosen)

    def _merge(self, items: list[Waiting], found: Memory) -> None:
        data = self.main.data

        def write() -> None:
            merge.merge_all(data.store(), items, found)

        def then(yes: bool | None) -> None:
            if yes:
                self._act(write, f"Merged into {found.scope_label}:{found.stem}.", "updates")

        text = merged_text(found, merge.merged(items, found).raw)
        self.app.push_screen(Preview(f"{found.scope_label}:{found.stem} becomes", text, "write it", end=True), then)


def _named(error: MemtuiError, name: str) -> MemtuiError:
    return type(error)(f"{name}: {error.message}", error.hint)
