"""What both front doors start from: one person's memories as seen from one directory, and the clock."""

import os

from memtui.core.base import clock, paths
from memtui.core.base.errors import UsageError
from memtui.core.settings import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memtui.core.base.finding import Finding
    from memtui.core.journal.journal import Journal
    from memtui.core.journal.ledger import Ledger
    from memtui.core.memories.store import Store
    from memtui.core.review.entries import Review
    from memtui.core.review.waiting import Waiting


class Workspace:
    """The environment, a working directory with its project, and who acts (`by`: "cli" or "tui").

    `cwd` is the directory whose project it is about, with symlinks followed as the client does. `now` holds the clock
    still, in seconds since the epoch, for pictures, demonstrations and tests. Nothing is imported before it is needed:
    monitors call the command line every minute, and a person waits for the first picture.
    """

    def __init__(self, env: "Mapping[str, str]", cwd: str, *, by: str, now: float | None = None) -> None:
        self.env = dict(env)
        self.cwd = os.path.realpath(cwd)
        self.by = by
        self.project_root = paths.project_root(self.cwd)
        self.slug = paths.slug(self.project_root)
        self._now = now

    def now(self) -> float:
        """Seconds since the epoch."""
        return clock.now() if self._now is None else self._now

    @property
    def root(self) -> str:
        """memtui's own directory. Raises UsageError where nothing names it."""
        try:
            return paths.root(self.env)
        except KeyError:
            raise _homeless() from None

    @property
    def config_dir(self) -> str:
        """Claude's configuration directory. Raises UsageError where nothing names it."""
        try:
            return paths.config_dir(self.env)
        except KeyError:
            raise _homeless() from None

    def must_have_home(self) -> None:
        """Raise UsageError unless both memtui's and Claude's directory are known."""
        _ = self.root, self.config_dir

    def settings(self) -> "dict[str, object]":
        """The settings as written."""
        return config.load(self.root)

    def setting(self, key: str) -> "object":
        """One setting, of this project where it has its own; for a key without a default what is written, or None."""
        settings = self.settings()
        return config.value(settings, self.project_root, key) if key in config.DEFAULTS else settings.get(key)

    def inbox(self, everywhere: bool) -> "str":
        """The directory of the inbox of this project, or of the global one."""
        return paths.inbox_dir(self.root, None if everywhere else self.slug)

    @property
    def ledger(self) -> "Ledger":
        """What was read of the journal: only what is appended is read again."""
        from memtui.core.journal import ledger as journal_ledger

        return journal_ledger.shared(self.root + "/journal.jsonl")

    def journal(self) -> "Journal":
        """The journal, through which every change goes."""
        from memtui.core.journal.journal import Journal

        return Journal(self.root, by=self.by, now=self.now, ledger=self.ledger)

    def store(self) -> "Store":
        """The store, for changes to memories and their undo."""
        from memtui.core.memories.store import Store

        self.must_have_home()
        made = Store(self.env, self.cwd, by=self.by, now=self.now)
        made.journal = self.journal()  # which knows what was read
        return made

    def waiting(
        self,
        kinds: "tuple[str, ...] | None" = None,
        *,
        every: bool = False,
        unread: "list[Finding] | None" = None,
    ) -> "list[Waiting]":
        """What waits for this project and everywhere, of some kinds or all; `every` adds the other projects', after
        these. `unread` as in the engine."""
        from memtui.core.review import waiting

        others = [slug for slug in paths.inbox_slugs(self.root) if slug != self.slug] if every else []
        return waiting.waiting_in(self.root, [self.slug, None, *others], kinds or waiting.KINDS, unread)

    def counts(self, unread: "list[Finding] | None" = None) -> "dict[str, int]":
        """How many entries of each kind wait for this project and everywhere. `unread` as in the engine."""
        from memtui.core.review.waiting import KINDS

        found = dict.fromkeys(KINDS, 0)
        for entry in self.waiting(unread=unread):
            found[entry.kind] += 1
        return found

    def review(self) -> "Review":
        """What a person does with what waits in the inbox."""
        from memtui.core.review.entries import Review

        return Review(self.root, by=self.by, now=self.now)

    def unheard(self, labels: "Iterable[str] | None" = None) -> str:
        """Why no session is told of guidance that is left here, a code of `guidance.unheard`; with `labels`, why none
        is told of memories in the scopes of these labels. Empty if sessions are told."""
        from memtui.core.inbox import guidance

        among = None if labels is None else set(labels)
        found = ""
        if among is None or among & {"project", "global"}:
            hooked, disabled = self.hooked()
            found = guidance.unheard(self.setting("mode"), hooked, disabled=disabled, memories=among is not None)
        if found or among is None or "auto" not in among:
            return found
        from memtui.core.places import loading

        return "auto" if loading.auto_memory_off(self.env, self.cwd) else ""

    def hooked(self) -> tuple[bool, bool]:
        """Whether hooks are installed, and whether Claude Code was told to run none; where that can't be read, they are
        taken to be on."""
        from memtui.core.base.errors import MemtuiError
        from memtui.hooks.installer import status

        try:
            found = status.status(self.env, self.cwd)
        except (MemtuiError, OSError):
            return True, False
        return found.installed, found.disabled_by is not None


def _homeless() -> UsageError:
    return UsageError(
        "Neither HOME nor CLAUDE_CONFIG_DIR nor MEMTUI_HOME is set, so there is nowhere to look.",
        "Set one, for example in the crontab: CLAUDE_CONFIG_DIR=/home/you/.claude",
    )
