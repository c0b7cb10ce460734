"""The workspace: the environment, directory, clock and actor that every use case of both front doors starts from."""

import os
from contextlib import suppress
from functools import cached_property

from memtui.base import clock_hot, paths_hot
from memtui.base.errors import UsageError
from memtui.settings import config_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Mapping

    from memtui.base.finding import Finding
    from memtui.review.entries import Review
    from memtui.review.outside_changes import Changed, Untrusted
    from memtui.review.waiting_entries import Known, Waiting
    from memtui.store.journal.journal import Journal
    from memtui.store.journal.ledger import Ledger
    from memtui.store.memory import Memory
    from memtui.store.store import Store
    from memtui.store.versions.versions import Versions
    from memtui.tidy.waiting_proposals import UndecidedSet
# The file that marks a sample world, in the directory above its home.
SAMPLE_MARKER = ".memtui-demo"


class Workspace:
    """The environment, a directory with its project, and who acts; modules are imported only when they are needed."""

    every = False  # what waits in other projects counts, too

    def __init__(self, env: "Mapping[str, str]", cwd: str, *, by: str, now: float | None = None) -> None:
        self.env = dict(env)
        self.cwd = os.path.realpath(cwd)
        self.by = by
        self.project_root = paths_hot.project_root(self.cwd)
        self.project = os.path.basename(self.project_root) or "/"
        self.slug = paths_hot.project_key(self.project_root)
        self._now = now
        self.known: dict[str, Memory] = {}  # memories by path as read last, where that is kept
        self.entries: Known | None = None  # what was read of inboxes, where that is kept

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return clock_hot.now() if self._now is None else self._now

    @property
    def root(self) -> str:
        """memtui's own directory. Raises UsageError if no environment variable gives it."""
        return self._directory(paths_hot.root)

    @property
    def config_dir(self) -> str:
        """Claude's configuration directory. Raises UsageError if no environment variable gives it."""
        return self._directory(paths_hot.config_dir)

    def _directory(self, find: "Callable[[dict[str, str]], str]") -> str:
        try:
            return find(self.env)
        except KeyError:
            raise UsageError(
                "Neither HOME nor CLAUDE_CONFIG_DIR nor MEMTUI_HOME is set, so memtui can't find its files.",
                "Set one, for example in the crontab: CLAUDE_CONFIG_DIR=/home/you/.claude",
            ) from None

    def tilde(self, path: str) -> str:
        """Write a path with `~` for the home directory."""
        home = paths_hot.home(self.env)
        return "~" + path[len(home) :] if home and path.startswith(home + "/") else path

    def elsewhere(self, paths: "Iterable[str]") -> str:
        """Return ` in PROJECT` if the first of these files that a project has is of another one, else nothing."""
        from memtui.client import locate_hot, projects

        for path in paths:
            root = path.partition(locate_hot.IN_REPOSITORY + "/")[0] if locate_hot.IN_REPOSITORY + "/" in path else None
            root = None if path.startswith(self.config_dir + "/") else root
            for top in (self.root + "/projects/", self.config_dir + "/projects/"):
                if path.startswith(top):
                    slug = path.removeprefix(top).partition("/")[0]
                    root = projects.paths_of(self.env, [slug])[slug]
            if root:
                return "" if paths_hot.project_root(root) == self.project_root else f" in {self.tilde(root)}"
        return ""

    def must_have_home(self) -> None:
        """Raise UsageError unless both memtui's and Claude's directory are known."""
        _ = self.root, self.config_dir

    def settings(self) -> "dict[str, object]":
        return config_hot.load(self.root)

    def setting(self, key: str) -> "object":
        """Return one setting, of this project if it has its own; without a default what is written, or None."""
        settings = self.settings()
        return config_hot.value(settings, self.project_root, key) if key in config_hot.DEFAULTS else settings.get(key)

    def inbox(self, everywhere: bool) -> str:
        """Return the directory of the global inbox (`everywhere`) or of this project's, to write into it."""
        if everywhere:
            return paths_hot.inbox_dir(self.root, None)
        directory = paths_hot.inbox_dir(self.root, self.slug)
        if not os.path.exists(f"{directory}/{paths_hot.PROJECT_FILE}"):
            from memtui.client import projects

            with suppress(OSError):  # whoever writes into it says why that fails
                projects.note_project(self.root, self.project_root)
        return directory

    @property
    def ledger(self) -> "Ledger":
        """The journal as far as it was read, shared in this process."""
        from memtui.store.journal import ledger as journal_ledger

        return journal_ledger.shared(self.root + "/journal.jsonl")

    def journal(self) -> "Journal":
        from memtui.store.journal.journal import Journal

        return Journal(self.root, by=self.by, now=self.now, ledger=self.ledger)

    def store(self) -> "Store":
        from memtui.store.store import Store

        self.must_have_home()
        return Store(self.env, self.cwd, by=self.by, now=self.now, ledger=self.ledger)

    def waiting(
        self, kinds: "tuple[str, ...] | None" = None, *, every: bool = False, unread: "list[Finding] | None" = None
    ) -> "list[Waiting]":
        """Return what waits here and everywhere, with `every` then in other projects. `unread`: as for `waiting_in`."""
        from memtui.review import waiting_entries

        others = [slug for slug in paths_hot.inbox_slugs(self.root) if slug != self.slug] if every else []
        kinds_wanted = waiting_entries.KINDS if kinds is None else kinds
        return waiting_entries.waiting_in(self.root, [self.slug, None, *others], kinds_wanted, unread, self.entries)

    def counts(self, unread: "list[Finding] | None" = None) -> "dict[str, int]":
        """Count the entries that wait here and everywhere, by kind, without snoozed ones. `unread` as for `waiting`."""
        from memtui.review.waiting_entries import KINDS

        totals, now = dict.fromkeys(KINDS, 0), self.now()
        for item in self.waiting(every=self.every, unread=unread):
            totals[item.kind] += not item.entry.snoozed(now)
        return totals

    def review(self) -> "Review":
        """Return the use cases for what waits in the inbox: reject, withdraw, mark done, pass on."""
        from memtui.review.entries import Review

        return Review(self.root, by=self.by, now=self.now)

    @cached_property
    def versions(self) -> "Versions":
        """The versions of memories as far as they were read, shared in this process."""
        from memtui.store.versions.versions import Versions

        return Versions(self.root, self.now)

    def take_in(self) -> None:
        """Take in the new versions of memories, unless the gate is off; `versions.problem` says what failed."""
        from memtui.store import history, scopes

        if self.setting("gate") != "off":
            history.taken_in(self.versions, scopes.discover(self.env, self.cwd))

    def look(self) -> None:
        """Know also versions too young to be taken in, and note how many are unseen. Raises MemtuiError."""
        from memtui.store import history, scopes

        if self.setting("gate") != "off":
            history.peeked(self.versions, scopes.discover(self.env, self.cwd))
            if not paths_hot.strangers(self.root):
                self.versions.note()

    def changed(self, *, every: bool = False) -> "list[Changed]":
        """Return the memories that others wrote since a person saw them, newest first; `every`: of all projects."""
        if self.setting("gate") == "off":
            return []
        from memtui.review import outside_changes
        from memtui.store import scopes

        self.versions.follow()
        return outside_changes.waiting(self.versions, scopes.discover(self.env, self.cwd, all_projects=every))

    def undecided(self, go_on: "Callable[[], bool]" = lambda: True) -> "UndecidedSet":
        """Plan what can be done about the memories, while `go_on`. Raises MemtuiError, OSError."""
        from memtui.store import sidecars
        from memtui.store.status import Usage
        from memtui.tidy import waiting_proposals
        from memtui.tidy.checks import lint

        subject = lint.here(self.env, self.cwd, self.root, self.now(), Usage(self.root), sidecars.kept_apart(self.root))
        subject.known = self.known
        return waiting_proposals.undecided(self.store(), subject, go_on)

    def untrusted(self, changes: "Iterable[Changed]" = ()) -> "list[Untrusted]":
        """Return the project's untrusted memories that are not among `changes`, and what waits from other machines."""
        from memtui.review import outside_changes
        from memtui.store import scopes

        places = scopes.discover(self.env, self.cwd)
        rows = [*outside_changes.untrusted(self.root, places, [*changes])]
        if paths_hot.exists(self.root + "/sync/own/incoming.json"):
            from memtui.sync import incoming

            rows += incoming.waiting(self.root, places)
        return rows

    def count_decisions(self, plan: "UndecidedSet") -> "Counter[str]":
        """Count what waits for a decision besides entries, by the words of the Inbox; `plan`: of `undecided`."""
        from collections import Counter
        from itertools import chain

        from memtui.review.waiting_entries import load_hidden

        hidden, changes = load_hidden(self.root), self.changed(every=self.every)
        decisions = chain(  # lazily: of 100,000 changes the keys take 20 MB
            (("changed", change.later_key) for change in changes),
            ((proposal.word, proposal.later_key) for proposal in plan.proposals),
            (("problem", problem.later_key) for problem in plan.left),
            (("trust", memory.later_key) for memory in self.untrusted(changes)),
        )
        return Counter(word for word, key in decisions if hidden.get(key, 0.0) <= self.now())

    def unheard(self, labels: "Iterable[str] | None" = None) -> str:
        """Return the code of why no session gets guidance, or the memories of these scopes; empty if sessions do."""
        among = None if labels is None else set(labels)
        code = ""
        if among is None or among & {"project", "global"}:
            hooked, disabled, unreadable = self.hooked()
            mode = self.setting("mode")
            if not hooked:
                code = "unreadable" if unreadable else "hooks"
            elif disabled:
                code = "disabled"
            elif mode == "off" or (mode == "notes" and among is not None):
                code = str(mode)
        if code or among is None or "auto" not in among:
            return code
        from memtui.client import applied_settings

        return "auto" if applied_settings.auto_memory_off(self.env, self.cwd) else ""

    def way_of(self, memory: "Memory") -> str:
        """Return how Claude Code brings a memory into sessions, if it is one of its own."""
        from memtui.client import applied_settings
        from memtui.store.index import index_state
        from memtui.store.scopes import Scope

        if not memory.scope_label.startswith("auto"):
            return applied_settings.LOADED
        directory, _, file = memory.path.rpartition("/")
        scope = Scope("auto", memory.scope_label, directory)
        way = applied_settings.way(self.env, self.cwd)
        if way != applied_settings.LOADED:
            return way
        state = index_state.IndexState(self.root, scope, index_state.index_of(scope))
        return (
            applied_settings.CUT
            if file in state.below
            else applied_settings.RECALL_ONLY
            if file in state.recall_only
            else way
        )

    def not_served(self) -> "list[Finding]":
        """Return the findings that tell why hooks that are installed may not serve sessions here."""
        from memtui.base.finding import PROBLEM
        from memtui.hooks.install import checkup
        from memtui.tidy.checks import doctor

        findings = [finding for finding in checkup.hooks(self.env, self.cwd) if finding.level == PROBLEM]
        off = doctor.mode_off(self.settings(), self.project_root)
        return findings if off is None else [*findings, off]

    def hooked(self) -> tuple[bool, bool, bool]:
        """Return whether hooks are installed, whether Claude Code runs none, and whether it skips a settings file."""
        from memtui.base.errors import MemtuiError
        from memtui.hooks.install import status

        try:
            hooks_status = status.status(self.env, self.cwd)
        except (MemtuiError, OSError):
            return True, False, False  # who can't know it says nothing
        return hooks_status.installed, hooks_status.disabled_by is not None, hooks_status.unreadable
