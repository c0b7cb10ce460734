"""Drafts: the memory that a pending update would become, and where; its approval writes it, as one step of undo."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import takewhile
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, ids_hot, paths_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.client.agents import programs
from memtui.client.transcripts import transcript_hot
from memtui.review.entries import removal
from memtui.review.waiting_entries import Waiting, from_the_end
from memtui.rules import counts, proposal_evidence, proposals, rule_lines
from memtui.rules.proposal_evidence import ProposedRule
from memtui.settings import config_hot
from memtui.store import memory, references, scopes, sidecars, triggers
from memtui.store.frontmatter import document
from memtui.store.journal.journal import Journal
from memtui.store.journal.own_files import BesideEdit
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.store import Store

# What a draft's fields become below `metadata`. Only one that was imported has more than its session.
IN_METADATA = {"tags": "tags", "created": "created", "modified": "modified", "session": "originSessionId"}


class Choices(NamedTuple):
    """A person's choices for a draft; empty ones replace nothing, but `body` and `trigger`; `rules`: lines to check."""

    name: str = ""
    type: str = ""
    scope: str = ""
    description: str = ""
    body: str | None = None
    trigger: str | None = None
    rules: str = ""


AS_DRAFTED = Choices()


@dataclass(frozen=True)
class Draft:
    """The memory that an update proposes: its file's `data`, its `store`, the memory `replaced`, its `trigger`."""

    item: Waiting
    store: Store
    scope: Scope
    name: str
    data: bytes
    replaced: Memory | None = None
    trigger: str = ""

    @property
    def path(self) -> str:
        if self.replaced is not None:
            return self.replaced.path
        return f"{self.scope.directory}/{self.name}.md"

    @property
    def taken(self) -> bool:
        """Whether another memory has this name already, so that the draft can't be approved."""
        return self.replaced is None and any(file == f"{self.name}.md" for file, _ in scopes.files(self.scope))

    @cached_property
    def index_lines(self) -> list[str]:
        """The lines that MEMORY.md gets with it; none where approving it will fail, and say why."""
        try:
            has_line = self.replaced is not None or self.taken
            return [] if has_line else self.store.lines_added(self.scope, self.path, self.data)
        except MemtuiError:
            return []

    @cached_property
    def memory(self) -> Memory:
        return memory.from_bytes(self.path, self.scope.label, self.data)


def propose(store: Store, item: Waiting, choices: Choices = AS_DRAFTED) -> Draft:
    """Return what approving an update writes, and where. Raises MemtuiError."""
    stem, data = content(item, choices)
    label = label_of(item, choices)
    own = _store_for(store, item, label)
    scope = own.scope(label)
    if not choices.scope and scope.kind == "project" and not scope.exists and _reads_auto(own, item):
        scope = own.scope("auto")
    # The person's own words, which another text took the place of in a sync with the team.
    is_own = scope.kind == "remote" and item.entry.fields.get("from", "").startswith("machine:")
    own.shared = own.shared or store.shared or is_own
    references.writable(scope, shared=own.shared)
    request = item.entry.fields.get("request", "")
    if choices.trigger is not None:
        typed = choices.trigger.strip()
        request = triggers.checked(typed, partial(scopes.memories, scope)) if typed else ""
    replaced = _replaced(scope, item, stem)
    rules = rule_lines.rules_of_line(choices.rules)
    if replaced is not None:
        mem = memory.from_bytes(replaced.path, scope.label, data)
        fields = {"description": mem.description, "type": mem.type, "body": mem.body}
        data = rule_lines.with_rules(memory.with_fields(replaced, fields), rules)
        return Draft(item, own, scope, replaced.stem, data, replaced, request)
    return Draft(item, own, scope, references.check_name(stem), rule_lines.with_rules(data, rules), trigger=request)


def _reads_auto(store: Store, item: Waiting) -> bool:
    """Tell whether the agent of a draft's session gets the memories that Claude Code keeps itself."""
    session_id = item.entry.fields.get("session", "")
    if transcript_hot.find(paths_hot.config_dir(store.env), session_id):
        return True
    is_shared = config_hot.value(config_hot.load(store.root), paths_hot.project_root(store.cwd), "share_auto")
    return bool(is_shared) or programs.session_file(store.env, session_id) is None


def _replaced(scope: Scope, item: Waiting, stem: str) -> Memory | None:
    """Return the memory for which an update proposes another text; None if it is new, or that changed since."""
    fields = item.entry.fields
    file = fields.get("replaces", "")
    if not file or scope.label != fields.get("scope") or stem != fields.get("name"):
        return None
    if (file, "") not in scopes.files(scope):
        return None
    mem = memory.read_memory(f"{scope.directory}/{file}", scope.label)
    return mem if mem.broken is None and ids_hot.digest(mem.raw) == fields.get("base") else None


def label_of(item: Waiting, choices: Choices = AS_DRAFTED) -> str:
    return choices.scope or item.entry.fields.get("scope") or item.scope


def content(item: Waiting, choices: Choices = AS_DRAFTED) -> tuple[str, bytes]:
    """Return the name of the memory that a pending update would become, and its whole file, without the evidence."""
    first, _, rest = item.text.partition("\n")
    fields = item.entry.fields
    description = choices.description or first.strip()
    stem = choices.name or fields.get("name") or memory.slugify(first)
    text = (rest.strip("\n") or first.strip()) if choices.body is None else choices.body.strip("\n") or description
    data = memory.new_memory_bytes(stem, description, choices.type or fields.get("type", "feedback"), text)
    doc = document.parse(data)
    for key, field in IN_METADATA.items():
        if fields.get(key):
            value = [tag.strip() for tag in fields[key].split(",")] if key == "tags" else fields[key]
            doc = doc.with_field(("metadata", field), value)
    return stem, doc.raw


def project_of(item: Waiting) -> str:
    """Return the directory of the project that a pending update came from; empty if it names none, or a wrong one."""
    directory = item.entry.fields.get("project", "")
    is_right = directory.startswith("/") and paths_hot.project_key(paths_hot.project_root(directory)) == item.slug
    return directory if is_right else ""


def home_store(store: Store, item: Waiting) -> Store | None:
    """Return the store of an entry's project, on the same journal (`store` for its own and global); None if unknown."""
    if item.slug in {None, paths_hot.project_key(paths_hot.project_root(store.cwd))}:
        return store
    directory = project_of(item)
    if not directory:
        return None
    other = Store(store.env, directory, by=store.journal.by, now=store.journal.now)
    other.journal = store.journal
    return other


def _store_for(store: Store, item: Waiting, label: str) -> Store:
    """Return the store to approve an entry with. Raises UsageError if the entry's project can't be found."""
    if label not in {"project", "auto"}:
        return store
    other = home_store(store, item)
    if other is None:
        hint = "Use --project DIR with its directory, or the scope global."
        raise UsageError(f"{item.id} belongs to another project, {item.slug}.", hint)
    return other


def neighbours(store: Store, item: Waiting) -> list[Memory]:
    """Return the memories that a pending update may be merged into: its project's and the global ones."""
    home = home_store(store, item)
    places = [scope for scope in (home or store).scopes() if home is not None or scope.label == "global"]
    places = [scope for scope in places if scope.exists and scope.writable and not scope.problem]
    return [mem for scope in places for mem in scopes.memories(scope)]


def proposed_rules(
    store: Store, item: Waiting, choices: Choices, seconds: float, go_on: Callable[[], bool] = lambda: True
) -> list[ProposedRule]:
    """Return the rules that the words of a pending update say, with their evidence, as long as `go_on` says so. Those
    that no past session could keep come last: they are proposed once one can."""
    place = project_of(item) or paths_hot.project_root(store.cwd)
    texts = (choices.description, item.text if choices.body is None else choices.body)
    rules = proposals.rules_of_text("\n\n".join(texts))
    if not rules or config_hot.value(config_hot.load(store.root), place, "rules") == "off":
        return []
    wanted = "" if label_of(item, choices) == "global" else place
    now = store.journal.now()
    transcripts = proposal_evidence.recent_transcripts(store.env, wanted, now, seconds)
    transcripts = takewhile(lambda _: go_on(), transcripts)
    moments = counts.count_in(transcripts, rules, now - proposal_evidence.DAYS * clock_hot.DAY)
    without = [ProposedRule(rule) for rule in rules if not moments.get(rule.key())]
    return proposal_evidence.with_evidence(rules, moments) + without


class Approval(NamedTuple):
    """The outcome for one pending update: the memory as it is now, or as it would be; or the error."""

    item: Waiting
    memory: Memory | None
    error: MemtuiError | None = None


def approve_all(journal: Journal, drafts: Sequence[Draft]) -> list[Approval]:
    """Write the memories of drafts. A failure stops none of the others. The outcomes are in the order of `drafts`."""
    by_key = {draft.item.key: draft for draft in drafts}
    outcomes: dict[str, Approval] = {}
    with journal.together():
        for item in from_the_end(draft.item for draft in drafts):
            by_key[item.key].store.journal = journal
            try:
                outcomes[item.key] = Approval(item, _write(by_key[item.key]))
            except MemtuiError as error:
                outcomes[item.key] = Approval(item, None, error)
    return [outcomes[draft.item.key] for draft in drafts]


def _write(draft: Draft, verb: str = "") -> Memory:
    """Write the memory of a draft, with its triggers, and take the draft out of the inbox. Raises MemtuiError."""
    extra = [removal(draft.item), *_triggers_added(draft)]
    if draft.replaced is None:
        return draft.store.add(draft.scope, draft.name, draft.data, op="approve", extra=extra)
    return draft.store.edit(draft.replaced, draft.data, seen=not verb, op="approve", verb=verb, extra=extra)


def _triggers_added(draft: Draft) -> list[BesideEdit]:
    """Return the edit that adds to a memory the trigger of a draft, but for such as would fire with most prompts."""
    store, directory = draft.store, draft.scope.directory
    phrases = fastjson_hot.loads_dict(f'{{"of": {draft.item.entry.fields.get("triggers") or "[]"}}}').get("of")
    more = [phrase for phrase in phrases if isinstance(phrase, str)] if isinstance(phrases, list) else []
    file = references.relative(draft.scope, draft.path)
    rows = sidecars.rows(store.root, sidecars.TRIGGERS, directory).get(file, {})
    of_scope = partial(scopes.memories, draft.scope)
    lines = [line for line in (draft.trigger, *more) if not triggers.is_everywhere(line, of_scope)]
    after = triggers.after_adding(rows, lines, "draft", store.journal.now())
    return sidecars.edit(store.root, sidecars.TRIGGERS, directory, file, after)


def refusal(store: Store, memory: Memory) -> MemtuiError | None:
    """Return why no update can be merged into a memory: it is broken, or untrusted text would be trusted; else None."""
    if not store.is_trusted(memory):
        return references.not_trusted(memory.stem)
    if memory.broken is not None:
        return MemtuiError(f"{memory.path} is broken: {memory.broken}.", "Fix it in an editor first.")
    return None


def mergeable(store: Store, memories: Sequence[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Return the memories that updates can be merged into, and those that are not trusted, as `refusal` tells."""
    trusts = {scope.label: scopes.trust_of(store.root, scope) for scope in store.scopes()}
    whole = [mem for mem in memories if mem.broken is None]
    new = [mem for mem in whole if mem.scope_label in trusts and not trusts[mem.scope_label].allows(mem.raw)]
    paths = {mem.path for mem in new}
    return [mem for mem in whole if mem.path not in paths], new


def merged(store: Store, items: Sequence[Waiting], mem: Memory) -> Memory:
    """Return a memory of the store, as it will be with pending updates at its end. Raises the error of `refusal`."""
    refused = refusal(store, mem)
    if refused is not None:
        raise refused
    doc = document.parse(mem.raw)
    for item in items:
        doc = doc.with_body(doc.body.rstrip("\n") + "\n\n" + item.text + "\n")
    return memory.from_bytes(mem.path, mem.scope_label, doc.raw)


def store_of(store: Store, items: Sequence[Waiting]) -> Store:
    """Return the store that pending updates are merged with: that of their project, if one is of a project."""
    return next((home for item in items if item.slug and (home := home_store(store, item))), store)


def merge(store: Store, items: Sequence[Waiting], memory: Memory) -> Memory:
    """Put updates at a memory's end, one after the other, as one undo. Raises as `merged`, ConflictError."""
    scope = store.scope(memory.scope_label)
    with store.journal.together():
        for item in items:
            data = merged(store, [item], memory).raw
            draft = Draft(item, store, scope, memory.stem, data, memory, item.entry.fields.get("request", ""))
            memory = _write(draft, verb="merge a draft into")
    return memory
