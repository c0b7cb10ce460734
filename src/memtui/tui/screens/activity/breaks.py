"""The rows of Activity for rules that a session broke; and what a session kept and broke after a delivery."""

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memtui.base.phrasing_hot import ago
from memtui.tui.screens.activity.rows import RowContext, add_line, add_title, below
from memtui.tui.screens.frame import Described
from memtui.views import colours, rules, safe_text

if TYPE_CHECKING:
    from memtui.deliver.record import Delivery
    from memtui.rules.counting import Moment
    from memtui.tui.model.data import Data

WORD = "broke"
LINES_SHOWN = 12  # lines of breaks that a delivery lists


class BreakRow:
    """A moment at which a session broke a rule. `root`: of the project that it ran in, empty if that is not known."""

    def __init__(self, broken: rules.Break, root: str) -> None:
        self.broken, self.root = broken, root
        self.session, self.time, self.key = broken.moment.session, broken.moment.time, broken.key
        self.actions: Sequence[str] = ()

    def copied(self, _context: RowContext) -> str:
        return self.broken.moment.line

    def searched(self, _context: RowContext) -> str:
        return self.broken.searched

    def cells(self, context: RowContext) -> list[Text]:
        command, rule = safe_text.line(self.broken.moment.line, 200), safe_text.line(self.broken.rule, 200)
        words = Text.assemble(command, (f" · {rule}", "dim"))
        return below(context, WORD, self.time, words, Text("✗", colours.WARNING))

    def describe(self, context: RowContext) -> Described:
        text = Text().append(safe_text.line(self.broken.rule, 300) + "\n", style="bold")
        add_line(text, f"a rule of {self.broken.memory}, broken {ago(self.time, context.data.now())}")
        text.append(f"\n{safe_text.clean(self.broken.moment.line)}\n")
        return Described(text, title=f"{WORD} · {context.project(self.root)}")


def read_breaks(root: str) -> dict[str, list[BreakRow]]:
    """Read the breaks of all rules by session, newest first."""
    from memtui.rules import counts

    by_session: dict[str, list[BreakRow]] = {}
    places = counts.places_of_breaks(root)
    for broken in rules.breaks(counts.held_by_path(root)):
        session = broken.moment.session
        by_session.setdefault(session, []).append(BreakRow(broken, places.get(session, "")))
    return by_session


def append_kept(text: Text, record: "Delivery", data: "Data") -> None:
    """Append how often the session kept the rules of the memories that a delivery brought, after it, and its breaks."""
    from memtui.rules import counts

    paths = {item.path for item in record.items if item.path and not item.left_out}
    moments = counts.moments_of(data.root, record.session) if paths else []
    after = [(path, moment) for path, moment in moments if path in paths and moment.time >= record.time]
    if not after:
        return
    add_title(text, "What it kept of that, afterwards")
    totals, kept_counts = Counter(map(_rule_of, after)), Counter(_rule_of(pair) for pair in after if pair[1].is_kept)
    for (path, rule), total in totals.items():
        words = f"{os.path.basename(path).removesuffix('.md')}: {rule}, kept {kept_counts[path, rule]:,} of {total:,}"
        add_line(text, words, "" if kept_counts[path, rule] == total else colours.WARNING)
    for _, moment in [pair for pair in after if not pair[1].is_kept][:LINES_SHOWN]:
        add_line(text, f"  ✗ {ago(moment.time, data.now())}: {moment.line}")


def _rule_of(pair: "tuple[str, Moment]") -> tuple[str, str]:
    return pair[0], pair[1].key
