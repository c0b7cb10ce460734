"""What the workers of the Recall screen do: bring the indexes up to date, run a prompt, read what can be chosen."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, cut
from memtui.core.base.storage import file_error
from memtui.present import safe_text, sessions
from memtui.recalling import Recalling, RecallRun

if TYPE_CHECKING:
    from memtui.core.client.prompts import Prompt
    from memtui.tui.model.data import Data

# Prompts that are offered, and the characters of one in the list.
PROMPTS, PROMPT_SHOWN = 60, 160
SESSIONS = 60


@dataclass
class RecallRan(Message):
    """A prompt was run."""

    run: RecallRun


@dataclass
class RecallProgress(Message):
    """What is indexed now, in words."""

    words: str


@dataclass
class RecallIndexed(Message):
    """The indexes are up to date, or the `problem` that keeps them from it, in words."""

    problem: str


@dataclass
class RecallFailed(Message):
    """A prompt could not be run."""

    error: MemtuiError


@dataclass
class PromptsRead(Message):
    """The prompts that the person typed lately were read."""

    found: "list[Prompt]"


class RecallReader:
    """The work of the workers. `post` takes their messages."""

    def __init__(self, data: "Data", post: Callable[[Message], object], *, writes: bool) -> None:
        self.data, self.post = data, post
        self.recalling = Recalling(data, writes=writes)
        self._has_indexed = False
        self._lock = threading.Lock()

    def run(self, prompt: str, session: str, *, fresh: bool) -> None:
        """Run a prompt for a session (empty: a new one), and post what it brings. `fresh`: first bring the indexes up
        to date."""
        worker = get_current_worker()
        with self._lock:  # of several that wait only the newest goes on
            if worker.is_cancelled:
                return
            if fresh or not self._has_indexed:
                self._has_indexed = True
                self._bring_up_to_date()
            try:
                found = self.recalling.run(prompt, session)
            except MemtuiError as error:
                self.post(RecallFailed(error))
            except OSError as error:
                self.post(RecallFailed(file_error(error)))
            else:
                if not worker.is_cancelled:
                    self.post(RecallRan(found))

    def _bring_up_to_date(self) -> None:
        """Bring the indexes up to date. Where that fails, what there is of them may still do."""
        problem = ""
        try:
            self.recalling.bring_up_to_date(lambda words: self.post(RecallProgress(words)))
        except OSError as error:
            problem = f"The index can't be brought up to date: {file_error(error).message}"
        self.post(RecallIndexed(problem))

    def read_prompts(self) -> None:
        """Read the prompts that the person typed lately in this project."""
        self.post(PromptsRead(self.recalling.prompts(PROMPTS)))

    def prompts_to_choose(self, found: "list[Prompt]") -> list[tuple[str, str]]:
        """Return the prompts as options: (number, words)."""
        now = self.data.now()
        return [
            (str(number), f"{age(each.time or None, now):>4}  {cut(safe_text.line(each.text), PROMPT_SHOWN)}")
            for number, each in enumerate(found)
        ]

    def sessions_to_choose(self) -> list[tuple[str, str]]:
        """Return the sessions of this project as options: (id, words); first a new one."""
        now = self.data.now()
        found = [("", "a new session, which has nothing yet")]
        for row in self.recalling.sessions(SESSIONS):
            mark = sessions.LIVE[0] if row.live else " "
            title = cut(safe_text.line(sessions.title(row)), PROMPT_SHOWN)
            found.append((row.id, f"{mark} {age(row.last, now):>4}  {safe_text.line(row.id)[:8]}  {title}"))
        return found
