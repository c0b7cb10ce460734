"""What memories and instructions say already: a draft of it is not made. One that says more than what was written since
the person spoke, by the agent, a subagent or anyone, is an edit of that memory."""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, pairwise

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.base.similarity import SAME_SUBJECT, TextWords, holds, rule_of, similarity
from memtui.client import locate_hot
from memtui.client.transcripts.conversation import normalised
from memtui.inbox import drafts, format_hot
from memtui.learn.signals import Signal
from memtui.redact.redact import redacted
from memtui.store import scopes
from memtui.store.memory import MAX_BYTES, read_memory
from memtui.store.scopes import Scope

# For so many seconds what is saved counts as saved for what was said: the longest turn. Words of a quotation, at least.
TURN_SECONDS, QUOTED = clock_hot.DAY, 3
# The scopes besides the global one in which a line with the words of a draft is looked for, whenever it was written.
OF_PROJECT = {"project", "auto"}
# Files that are read, the newest: for the words of a line, and of those written since a person spoke.
MOST_READ, MOST_SINCE = 2000, 50
_FIELD = re.compile(r"^\s*(?:name|description):", re.MULTILINE)


class SavedText:
    """A file of a scope, or a write that was refused and waits as a draft, and when it was written."""

    def __init__(self, time: float, scope: Scope | None = None, file: str = "", text: str = "") -> None:
        self.time, self.scope, self.file = time, scope, file
        self.path = f"{scope.directory}/{file}" if scope is not None else ""
        self._text = text

    @cached_property
    def lines(self) -> list[str]:
        """Its lines that are not blank, without marks of Markdown and names of fields."""
        text = format_hot.decode(fs_hot.head(self.path, MAX_BYTES)) if self.path else self._text
        lines = (line.strip(" \t-*#>") for line in _FIELD.sub("", text).splitlines())
        return [line for line in lines if line]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Its lines as they are compared."""
        return frozenset(map(normalised, self.lines))

    @cached_property
    def _rules(self) -> list[TextWords]:
        """The words of each line, and of each two: a description and what it sums up say a rule together."""
        return [*map(rule_of, self.lines), *(rule_of(f"{one}. {other}") for one, other in pairwise(self.lines))]

    def says(self, words: str) -> bool:
        """Tell whether all of a rule stands in it, in the same words or in one place."""
        key, rule = normalised(words), rule_of(words)
        quoted = len(key.split()) >= QUOTED and key in normalised(" ".join(self.lines))
        return quoted or any(holds(rule, other) for other in self._rules)

    def similarity_to(self, words: str) -> float:
        """Return how much a rule has alike with the line that is most like it."""
        rule = rule_of(words)
        return max((similarity(rule, other).score for other in self._rules), default=0.0)


class SavedTexts:
    """What is saved in the scopes of a working directory."""

    def __init__(self, env: dict[str, str], cwd: str) -> None:
        texts = [*_written(env, cwd), *_refused(paths_hot.root(env), cwd)]
        self._texts = sorted(texts, key=lambda text: -text.time)[:MOST_READ]

    def say(self, words: str, time: object) -> bool:
        """Tell whether what a person said at a time was saved after it."""
        return any(text.says(words) for text in self._since(time))

    def know(self, draft: Signal) -> bool:
        """Tell whether a draft was saved since it was said, or is a line of a memory for the same projects."""
        kinds = {"global", *(OF_PROJECT if draft.scope == "project" else ())}
        key = normalised(draft.description)
        lasting = [text for text in self._texts if text.scope is not None and text.scope.kind in kinds]
        return self.say(draft.description, draft.time) or any(key in text.keys for text in lasting)

    def edit(self, draft: Signal) -> tuple[dict[str, str], str] | None:
        """Return the fields and the text of the memory that was saved about the same, with what a draft says added."""
        likely = [(text.similarity_to(draft.description), at, text) for at, text in enumerate(self._since(draft.time))]
        for score, _, text in sorted(likely, reverse=True, key=lambda row: row[:2]):
            scope = text.scope
            if score < SAME_SUBJECT or scope is None or not scope.writable or text.file == locate_hot.INDEX_NAME:
                continue
            memory = read_memory(text.path, scope.label)
            if memory.broken is None:
                fields = {"name": memory.stem, "type": memory.type or draft.type, "scope": scope.label}
                fields |= {"replaces": text.file, "base": ids_hot.digest(memory.raw), "adds": draft.description}
                first = " ".join(memory.description.split()) or memory.stem
                parts = (first, memory.body.strip(), draft.body or draft.description)
                return fields, "\n\n".join(redacted(part) for part in parts if part)
        return None

    def _since(self, time: object) -> list[SavedText]:
        begin = clock_hot.parse(time)
        since = (text for text in self._texts if begin is not None and -1.0 <= text.time - begin <= TURN_SECONDS)
        return [*islice(since, MOST_SINCE)]


def _written(env: dict[str, str], cwd: str) -> Iterator[SavedText]:
    """Yield the memories, indexes and instructions of a working directory."""
    for scope in scopes.discover(env, cwd):
        files = [file for file, problem in scopes.files(scope) if file and not problem]
        for file in [*files, locate_hot.INDEX_NAME] if scope.has_index and not scope.problem else files:
            try:
                yield SavedText(os.stat(f"{scope.directory}/{file}").st_mtime, scope, file)
            except OSError:
                continue


def _refused(root: str, cwd: str) -> Iterator[SavedText]:
    """Yield what the agent wanted to write to memories and waits as drafts."""
    for slug in (paths_hot.project_key(paths_hot.project_root(cwd)), None):
        for entry in format_hot.read(f"{paths_hot.inbox_dir(root, slug)}/{format_hot.FILES['updates']}"):
            if entry.fields.get("kind") in drafts.WRITES:
                yield SavedText(clock_hot.parse(entry.fields.get("time")) or 0.0, text=entry.text)
