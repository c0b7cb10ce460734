"""What the workers of recall do: bring the indexes up to date, run a prompt, read the prompts that can be chosen."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from textual.message import Message
from textual.worker import get_current_worker

from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, cut
from memtui.core.base.storage import file_error
from memtui.present import safe_text
from memtui.recalling import Recalling, RecallRun

if TYPE_CHECKING:
    from memtui.core.client.prompts import Prompt
    from memtui.tui.model.data import Data

# Prompts that are offered, and the characters of one in the list.
PROMPTS, PROMPT_SHOWN = 60, 160


class RecallView(Protocol):
    """What shows the results."""

    def show_run(self, run: RecallRun) -> None:
        """Show what a prompt would bring."""

    def show_progress(self, words: str) -> None:
        """Show what is indexed now."""

    def show_indexed(self, problem: str) -> None:
        """Show that the indexes are up to date, or the problem that keeps them from it."""

    def show_error(self, error: MemtuiError) -> None:
        """Show why a prompt could not be run."""

    def show_prompts(self, prompts: "list[Prompt]") -> None:
        """Offer the prompts that the person typed lately."""


@dataclass
class RecallNews(Message):
    """A worker has a result: `show` shows it."""

    show: Callable[[RecallView], None]


class RecallReader:
    """The work of the workers. `post` takes their messages."""

    def __init__(self, data: "Data", post: Callable[[Message], object], *, writes: bool) -> None:
        self.data, self.post = data, post
        self.recalling = Recalling(data, writes=writes)
        self._has_indexed = False
        self._lock = threading.Lock()

    def _news(self, show: Callable[[RecallView], None]) -> None:
        self.post(RecallNews(show))

    def run(self, prompt: str, *, fresh: bool) -> None:
        """Run a prompt as for a new session, and post what it brings. `fresh`: first bring the indexes up to date."""
        worker = get_current_worker()
        with self._lock:  # of several that wait only the newest goes on
            if worker.is_cancelled:
                return
            if fresh or not self._has_indexed:
                self._has_indexed = True
                self._bring_up_to_date()
            try:
                run = self.recalling.run(prompt)
            except (MemtuiError, OSError) as error:
                failure = error if isinstance(error, MemtuiError) else file_error(error)
                self._news(lambda view: view.show_error(failure))
            else:
                if not worker.is_cancelled:
                    self._news(lambda view: view.show_run(run))

    def _bring_up_to_date(self) -> None:
        """Bring the indexes up to date. Where that fails, what there is of them may still do."""
        problem = ""
        try:
            self.recalling.bring_up_to_date(lambda words: self._news(lambda view: view.show_progress(words)))
        except OSError as error:
            problem = f"The index can't be brought up to date: {file_error(error).message}"
        self._news(lambda view: view.show_indexed(problem))

    def read_prompts(self) -> None:
        """Read the prompts that the person typed lately in this project."""
        prompts = self.recalling.prompts(PROMPTS)
        self._news(lambda view: view.show_prompts(prompts))

    def prompts_to_choose(self, prompts: "list[Prompt]") -> list[tuple[str, str]]:
        """Return the prompts as options: (number, words)."""
        now = self.data.now()
        return [
            (str(number), f"{age(each.time or None, now):>4}  {cut(safe_text.line(each.text), PROMPT_SHOWN)}")
            for number, each in enumerate(prompts)
        ]
