"""Rows of the inbox that a person hides until later, or for good."""

from memtui.core.base.phrasing import many
from memtui.core.base.when import NEVER
from memtui.core.review import later, snoozing
from memtui.present import dates, drafts, safe_text
from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.row import InboxRow
from memtui.tui.services import Command, Services

# When a row may wait until, in words that `snoozing.moment` reads: words for the person.
DAYS = {"tomorrow": "tomorrow", "3d": "in 3 days", "monday": "next week"}
NOW, DATE = "now", "date"
# Characters of a row's sentence in a note.
GIST_SHOWN = 40


async def ask_until(services: Services, what: str, *, asleep: bool) -> tuple[bool, float | None]:
    """Ask until when something is hidden. Return whether the person answered, and the time in seconds since the epoch;
    None to show it again, which is offered for what is `asleep`."""
    now = services.data.now()
    days: dict[str, str] = {}  # each once: on Sundays next week begins tomorrow
    for given in sorted(DAYS, key=lambda words: snoozing.moment(words, now) or now):
        days.setdefault(dates.day(snoozing.moment(given, now) or now, now), given)
    rows = [(NOW, "now: back into the list")] * asleep
    rows += [(given, f"{DAYS[given]:<10}  {day}") for day, given in days.items()]
    answer = await services.ask(Choice(f"Hide {what} until", [*rows, (DATE, "another time …")]))
    if answer == DATE:
        asked = Line("Hide until", below=snoozing.TAKEN, check=lambda words: snoozing.moment(words, now))
        answer = await services.ask(asked)
    return bool(answer), snoozing.moment(answer, now) if answer else None


class HideCommands:
    """What hides rows that are no entries of an inbox: until later, or for good."""

    def __init__(self, chosen: Chosen) -> None:
        self.services, self.chosen = chosen.services, chosen

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return {"later": Command(self.later)}

    async def later(self) -> None:
        """Ask until when the chosen rows are hidden, and hide them."""
        rows, now = self.chosen.same_kind(), self.services.data.now()
        what = self.named(rows)
        answered, until = await ask_until(self.services, what, asleep=any(row.until for row in rows))
        if not answered:
            return
        self._hide(rows, until, drafts.put_off("" if len(rows) == 1 else what, until, now))

    def never(self) -> None:
        """Hide the chosen rows for good."""
        rows = self.chosen.same_kind()
        self._hide(rows, NEVER, f"Rejected: {self.named(rows)}.")

    def named(self, rows: list[InboxRow]) -> str:
        """Name rows: one by its sentence, several by their number."""
        if len(rows) == 1:
            return f"“{safe_text.line(rows[0].gist, GIST_SHOWN)}”"
        return many(len(rows), rows[0].kind.singular, rows[0].kind.plural)

    def _hide(self, rows: list[InboxRow], until: float | None, words: str) -> None:
        keys = [row.later_key for row in rows]
        what = safe_text.line(rows[0].gist, 60) if len(rows) == 1 else self.named(rows)
        step = later.step(what, until)
        self.chosen.act(lambda: later.hide(self.services.data.journal(), keys, until, step), words)
