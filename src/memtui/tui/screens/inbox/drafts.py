"""Drafts and todos in the inbox: what each would become and why, their form, and their commands."""

from collections.abc import Callable, Mapping, Sequence

from rich import get_console
from rich.text import Text

from memtui import keymap
from memtui.base import fastjson_hot, ids_hot
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.base.phrasing_hot import cut, many, share, some
from memtui.client import applied_settings
from memtui.review import approvals
from memtui.review.approvals import Approval, Choices, Draft
from memtui.review.evidence import Evidence
from memtui.review.waiting_entries import Waiting
from memtui.rules import rule_lines
from memtui.store import memory
from memtui.store.memory import TYPES, Memory
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.subject import CHOICE, NOTHING, TEXT, FormField, Options, Saved, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import ENTRIES, RowCommands
from memtui.tui.widgets import prose
from memtui.tui.widgets.prose import draw
from memtui.views import drafts, notes, safe_text
from memtui.views.decisions import EntryRow
from memtui.views.memories import loader, scopes_explained
from memtui.views.parts import heading

# The fields of a draft that its form edits besides the text.
LINES, CHOICES = ("name", "description", "trigger"), ("type", "scope")
FIELDS, RULES = (*LINES, *CHOICES), "rules"
GONE = "It is gone: it was decided on or removed meanwhile. What you typed stays here to be copied."
MEASURED = 6000  # characters of a text whose lines are counted
LEAST_SHOWN = 1000  # characters of one entry among many
RENAME = "{inbox.merge} merges into it, {inbox.edit} gives another name"
LEFT_OUT = f"! not written, as a memory of this name is there already; in the list {RENAME}"
LONGEST_NAME, NAME_SHOWN = 32, 30  # columns of a name before its description; characters of one in a note
Values = Mapping[str, str]


class DraftCommands(RowCommands[EntryRow]):
    def why_not(self, verb: str) -> str:
        if verb == "merge" and len({item.slug for item in self.items if item.slug}) > 1:
            return "These drafts are of several projects: merge those of one project at a time."
        return self.why_too_long() if verb == "edit" else ""

    def describe(self, row: EntryRow) -> Described:
        """Return what it would become, and why; that it was edited and not saved comes first."""
        view, item, evidence = self.view, row.item, self.view.evidence.get(row.key)
        states, proposed = drafts.states(view.data.settings(), item, view.now), view.draft(item)
        is_taken = isinstance(proposed, Draft) and proposed.taken
        if isinstance(proposed, Draft) and is_taken:
            states = [*states, f"{view.home(proposed)} has a {proposed.name} already: {keymap.keyed(RENAME)}"]
        text = draw([self.own_text(row)]).append_text(_whole(item, proposed))
        view.needed = lines_of(text, view.detail_width)
        text.rstrip()
        text.append("\n").append_text(draw(drafts.warnings(states)))
        text.append_text(draw(drafts.conversation(item, evidence))).append("\n")
        text.append_text(self._facts(item, proposed, evidence))
        text.append_text(draw(drafts.checks(evidence.rules if evidence is not None else ())))
        if isinstance(proposed, Draft) and not is_taken:
            text.append(f"\nbecomes {safe_text.line(view.data.tilde(proposed.path))}", style="dim")
        return Described(text)

    def _facts(self, item: Waiting, draft: Draft | MemtuiError, evidence: Evidence | None) -> Text:
        """Return where a draft comes from, what it changes, and the memories that are similar."""
        text = draw(drafts.facts(item, evidence, self.view.now))
        if isinstance(draft, MemtuiError):
            return text
        if draft.replaced is not None:
            text.append(*heading("what it changes in the memory that is there"))
            text.append_text(prose.difference(draft.replaced.raw, draft.data))
        similars = evidence.similar[: drafts.SIMILAR_SHOWN] if evidence is not None else ()
        if similars:
            text.append(*heading(f"similar · {keymap.key_of('inbox.merge')} merges"))
        for similar in similars:
            text.append(f"{share(similar.score)} {self.view.named(similar.memory, item)}", style="bold")
            text.append(f"  {safe_text.line(similar.memory.description)}\n")
        return text

    async def approve(self) -> None:
        """Approve the chosen drafts. Several of them, or one that is not fully on the screen, are shown first."""
        is_seen, view = self.chosen.is_seen(), self.view
        if await self.goes_on_with_own(self.edit):
            return
        rules = [self._rules(item) for item in self.items]
        outcomes = [
            view.draft(item) if is_seen and not lines else view.propose(item, Choices(rules=lines))
            for item, lines in zip(self.items, rules, strict=True)
        ]
        errors = [outcome for outcome in outcomes if isinstance(outcome, MemtuiError)]
        proposed = [outcome for outcome in outcomes if isinstance(outcome, Draft)]
        if not proposed:
            raise errors[0]
        if len(outcomes) == 1 and proposed[0].taken:
            message = f"Not approved: {view.home(proposed[0])} has a memory called {proposed[0].name} already."
            raise ConflictError(message, keymap.keyed(f"{RENAME}."))
        if is_seen:
            self._write(proposed)
            return
        text, limit = Text(), _shown_of_each(len(proposed))
        for draft in proposed:
            text.append_text(_written(draft, view.home(draft), limit)).append("\n")
        if errors:
            text.append(f"! {len(errors)} can't be approved: {safe_text.line(errors[0].message)}\n", style="yellow")
        text.append(self.unsaved(), "yellow")
        free = [draft for draft in proposed if not draft.taken]
        title = f"Approve {many(len(free), 'draft')}: this will be written" if free else "This can't be approved"
        if await self.chosen.agrees(title, text, f"write {many(len(free), 'memory', 'memories')}" if free else ""):
            self._write(free)

    def _rules(self, item: Waiting) -> str:
        """Return the rules of a draft that past sessions had to do with, as the form has them."""
        evidence = self.view.evidence.get(item.key)
        rules = evidence.rules if evidence else ()
        return "; ".join(rule_lines.line(proposed.rule) for proposed in rules if proposed.opportunities)

    def _write(self, proposed: Sequence[Draft]) -> None:
        """Write the drafts, and say so. Raises the error of the first draft that could not be written."""
        outcomes = approvals.approve_all(proposed[0].store.journal, proposed)
        memories = [approval.memory for approval in outcomes if approval.memory is not None]
        if memories:
            self.services.data.approved = memories[0].path
            words = cut(memories[0].stem, NAME_SHOWN) if len(memories) == 1 else f"{len(memories)} memories"
            self.services.say(f"Approved: {words}.{self._when_loaded(outcomes)} {keymap.takes_back()}")
            self.chosen.take_off([approval.item.key for approval in outcomes if approval.error is not None])
        self.services.read(ENTRIES)
        for draft, approval in zip(proposed, outcomes, strict=True):
            if approval.error is not None:
                raise type(approval.error)(f"{draft.name}: {approval.error.message}", approval.error.hint)

    def _when_loaded(self, outcomes: Sequence[Approval]) -> str:
        """Say, after a blank, from when on sessions get what was written; of several only why none does yet."""
        data = self.services.data
        approved = [(approval.item, approval.memory) for approval in outcomes if approval.memory is not None]
        if why_unheard := notes.keyed(data.unheard({memory.scope_label for _, memory in approved})):
            return f" No session gets it yet: {why_unheard}."
        if len(approved) > 1:
            return ""
        ((item, written),) = approved
        label, project, way = written.scope_label, self.view.project_name(item), data.way_of(written)
        words = loader(label, project, way)
        if words and (label != "auto" or way == applied_settings.LOADED):  # all is as usual: in short words
            words = f"The next session{f' in {project}' if project else ''} gets it"
        return f" {words}." if words else ""

    def reject(self, *, never: bool = False) -> None:
        items, review = self.items, self.services.data.review()
        words = self.rejected(self.rows, never=never)
        self.chosen.act(lambda: review.reject(items, never=never), words, ENTRIES)

    def never(self) -> None:
        self.reject(never=True)

    async def edit(self) -> None:
        item, data = self.items[0], self.services.data
        store = (approvals.home_store(data.store(), item) if item.slug else None) or data.store()
        places = [scope for scope in store.scopes() if scope.writable and not scope.problem]
        title, save = "Edit and approve the draft", lambda item, values: self._write([self._proposed(item, values)])
        choices = scopes_explained(places, self.view.project_name(item) or data.facts.project)
        subject = EntrySubject(
            data, item, self._values, title=title, verb="approve", check=self._check, save=save, scopes=choices
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()

    def _values(self, item: Waiting) -> dict[str, str]:
        first, _, rest = item.text.partition("\n")
        fields, proposed = item.entry.fields, self.view.draft(item)
        return {
            "name": fields.get("name") or memory.slugify(first),
            "type": fields.get("type") or "feedback",
            "scope": proposed.scope.label if isinstance(proposed, Draft) else approvals.label_of(item),
            "description": fields.get("description") or first.strip(),
            "body": fields.get("body") or rest.strip("\n") or first.strip(),
            **({"trigger": request} if (request := fields.get("request")) else {}),
            **({RULES: rules} if (rules := self._rules(item)) else {}),
        }

    def _proposed(self, item: Waiting, values: Values) -> Draft:
        if not values.get("name", "-").strip():
            raise UsageError("A memory needs a name.", "Such as prefer-pnpm.")
        proposed = self.view.propose(item, Choices(**values))
        if isinstance(proposed, MemtuiError):
            raise proposed
        if proposed.taken:
            raise ConflictError(f"{self.view.home(proposed)} has a {proposed.name} already.", "Give another name.")
        return proposed

    def _check(self, item: Waiting, values: Values) -> str:
        proposed = self._proposed(item, values)
        return f"{proposed.name}.md in {self.view.home(proposed)}"

    async def merge(self) -> None:
        """Ask for the memory to merge into, the most similar first; then show what it becomes, and write it."""
        items, view = self.items, self.view
        if await self.goes_on_with_own(self.edit):
            return
        first = items[0]
        proposed, evidence = view.draft(first), view.evidence.get(first.key)
        similars = view.similar(first) if evidence is None else evidence.similar
        ranks = {similar.memory.path: share(similar.score) for similar in similars}
        near = [similar.memory for similar in similars]
        near += [mem for mem in view.near(first) if mem.path not in ranks and mem.broken is None]
        near.sort(key=lambda mem: isinstance(proposed, MemtuiError) or mem.path != proposed.path)  # its namesake first
        able, untrusted = approvals.mergeable(approvals.store_of(self.services.data.store(), items), near)
        hidden = f"Not listed, as not trusted: {some([mem.stem for mem in untrusted])}." if untrusted else ""
        if not able:
            self.services.say(f"There is no memory to merge into. {hidden}".strip())
            return
        by_path = {mem.path: mem for mem in able}
        names = {mem.path: view.named(mem, first) for mem in able}
        wide, longest = 5 if ranks else 0, min(LONGEST_NAME, max(map(len, names.values())))
        options = [
            (path, f"{ranks.get(path, ''):<{wide}}{names[path]:<{longest}}  {safe_text.line(mem.description, 100)}")
            for path, mem in by_path.items()
        ]
        question = f"Merge {many(len(items), 'draft') if len(items) > 1 else 'the draft'} into"
        choice = Choice(question, options, about=lambda path: _target(by_path[path], names[path]), below=hidden)
        if path := await self.services.ask(choice):
            await self._merge_into(items, by_path[path], names[path])

    async def _merge_into(self, items: Sequence[Waiting], target: Memory, name: str) -> None:
        store = approvals.store_of(self.services.data.store(), items)
        after = approvals.merged(store, items, target).raw
        text = Text().append(safe_text.line(self.services.data.tilde(target.path)) + "\n", "dim")
        text.append_text(prose.difference(target.raw, after))
        if unsaved := self.unsaved():
            text.append(f"\n{unsaved}", "yellow")
        if await self.services.ask(Preview(f"{name} becomes", text, "write it")):
            self.chosen.act(lambda: approvals.merge(store, items, target), f"Merged into {name}.")
            self.services.data.approved = target.path


def _whole(item: Waiting, draft: Draft | MemtuiError) -> Text:
    text = Text()
    if isinstance(draft, MemtuiError):
        text.append(safe_text.line(item.entry.fields.get("name", "")) + "\n", style="bold")
        text.append(f"! {safe_text.line(draft.message)} {safe_text.line(draft.hint)}\n", style="yellow")
        return prose.cut(text, item.text, item.path)
    return prose.cut(text, _content(draft.memory), item.path, head=0).append("\n")


def _content(memory: Memory) -> str:
    body = memory.body.strip()
    return body if body == memory.description.strip() else f"{memory.description}\n\n{body}".strip()


def _target(memory: Memory, name: str) -> Text:
    text = Text().append(name, style="bold").append(f"  {safe_text.line(memory.type)}\n\n", style="dim")
    return prose.cut(text, _content(memory), memory.path, head=0)


def _written(draft: Draft, home: str, limit: int) -> Text:
    """Return what approving a draft writes into its scope, `home`: its file, up to `limit` characters, and its line."""
    text = Text()
    text.append(f"{safe_text.line(home)}: {safe_text.line(draft.name)}\n", style="bold")
    text.append(safe_text.line(draft.path) + "\n", style="dim")
    text.append(f"{keymap.keyed(LEFT_OUT)}\n" if draft.taken else "", style="yellow")
    content, body = draft.data.decode("utf-8", "replace").rstrip("\n"), draft.memory.body.strip("\n")
    head = max(0, content.rfind(body)) if body else len(content)
    prose.cut(text, content, draft.item.path, limit=limit, before="  │ ", head=head)
    if draft.index_lines:
        text.append("and in MEMORY.md\n", style="dim")
    for line in draft.index_lines:
        text.append("  │ ", style="dim").append(safe_text.line(line) + "\n")
    return text


class EntrySubject(Subject):
    name, gone, action = "this entry", GONE, "inbox.edit"

    def __init__(
        self,
        data: Data,
        item: Waiting,
        values: Callable[[Waiting], Values],  # what the form shows of an entry
        *,
        title: str,
        verb: str,
        check: Callable[[Waiting, Values], str],  # returns which file would be written
        save: Callable[[Waiting, Values], None],  # as `check`, it raises MemtuiError
        scopes: Options = (),
    ) -> None:
        self.data, self.item = data, item
        self._values, self._check, self._save = values, check, save
        initial = values(item)
        self.autosave = autosave.kept(data.root, item.id) or Autosave(item.id, self._base())
        self.title, self.verb = title, verb
        options: dict[str, Options] = {"type": [(kind_name, kind_name) for kind_name in TYPES], "scope": scopes}
        self.fields: Sequence[FormField] = (
            *(FormField(key, safe_text.line(initial[key])) for key in LINES if key in initial),
            *(FormField(key, initial[key], CHOICE, options=options[key]) for key in CHOICES if key in initial),
            *(FormField(key, safe_text.line(initial[key]), label="rules") for key in (RULES,) if key in initial),
            FormField("body", safe_text.clean(initial["body"]), TEXT),
        )

    def _base(self) -> str:
        """Return a digest of what a person can edit. Counts that the extractor updates are no change."""
        fields = {key: self.item.entry.fields.get(key, "") for key in (*FIELDS, "request")}
        return ids_hot.digest(fastjson_hot.dumps({**fields, "text": self.item.text}))

    def check(self, typed: Typed) -> Text:
        return safe_text.styled(self._check(self.item, typed.values))

    def there(self) -> str | None:
        """Find the entry as it is now, one without an id by its place; return its digest, None if it is gone."""
        before, entries = self.item, self.data.waiting((self.item.kind,), every=True)
        same = [entry for entry in entries if entry.key == before.key]
        if not same and not before.entry.fields.get("id"):
            place = (before.path, before.entry.start)
            same = [e for e in entries if (e.path, e.entry.start) == place and not e.entry.fields.get("id")]
        if not same:
            return None
        self.item = same[0]
        return self._base()

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        theirs = self._values(self.item)
        return _lines(theirs), _lines({**theirs, **typed.changed})

    def save(self, typed: Typed) -> Saved:
        self._save(self.item, {**self._values(self.item), **typed.changed})
        return Saved(self.item.id)


def _lines(values: Values) -> bytes:
    words = "".join(f"{key}: {values[key]}\n" for key in FIELDS if key in values)
    return f"{words}{chr(10) * bool(words)}{values['body'].rstrip()}".encode("utf-8", "replace")


class TodoCommands(RowCommands[EntryRow]):
    def why_not(self, verb: str) -> str:
        return self.why_too_long() if verb == "edit" else ""

    def describe(self, row: EntryRow) -> Described:
        """Return the todo, and where it comes from; that it was edited and not saved comes first."""
        view, item, evidence = self.view, row.item, self.view.evidence.get(row.key)
        states = drafts.states(view.data.settings(), item, view.now)
        view.needed = lines_of(Text(item.text), view.detail_width)
        todo = prose.cut(Text(), item.text, item.path)
        todo.stylize("bold", 0, min(len(item.text), prose.SHOWN))
        facts = drafts.todo_facts(item, evidence.title if evidence else "", states, view.now)
        text = draw([self.own_text(row)]).append_text(todo).append("\n").append_text(draw([facts]))
        text.append(f"\n{safe_text.line(view.data.tilde(item.path))}\n", style="dim")
        return Described(text)

    async def approve(self) -> None:
        """Mark the chosen todos done; those that are not on the screen are shown first."""
        items, review = self.items, self.services.data.review()
        what = f"ark {many(len(items), 'todo')} done"
        text = Text()
        for item in items:
            prose.cut(text, item.text, item.path, limit=_shown_of_each(len(items)), before="  │ ").append("\n")
        if self.chosen.is_seen() or await self.chosen.agrees(f"M{what}", text, f"m{what}"):
            self.chosen.act(lambda: review.done(items), f"Done: {drafts.named(items)}.", ENTRIES)

    def reject(self) -> None:
        items, review = self.items, self.services.data.review()
        self.chosen.act(lambda: review.reject(items), self.rejected(self.rows), ENTRIES)

    async def edit(self) -> None:
        data, item, values = self.services.data, self.items[0], lambda item: {"body": item.text}
        title, check, save = "Edit the todo", self._check, self._save
        subject = EntrySubject(data, item, values, title=title, verb="save", check=check, save=save)
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()

    def _check(self, item: Waiting, values: Values) -> str:
        if not values["body"].strip():
            raise UsageError("The text is empty.", keymap.keyed("{inbox.approve} marks a todo done."))
        return f"changes {item.path}"

    def _save(self, item: Waiting, values: Values) -> None:
        if values["body"].strip() in {item.text.strip(), safe_text.clean(item.text).strip()}:
            self.services.say(NOTHING)
        else:
            edit = self.services.data.review().edit
            self.services.make(lambda: edit(item, values["body"]), f"Edited: {drafts.named([item])}.")


def lines_of(text: Text, width: int) -> int:
    """Return how many lines a text takes; for a long one, which may be cut, more than it can take."""
    text = text.copy()
    text.rstrip()
    return len(text.wrap(get_console(), width)) if len(text.plain) <= MEASURED else prose.SHOWN * 2


def _shown_of_each(count: int) -> int:
    """Return how many characters are drawn of each of `count` entries."""
    return max(LEAST_SHOWN, prose.SHOWN // max(1, count))
