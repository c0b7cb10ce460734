"""Moments at which a session kept or broke a rule, from what the agent did in it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from memtui.rules import match_hot
from memtui.rules.match_hot import Call, fits
from memtui.rules.rule_hot import Rule
from memtui.rules.tool_calls import Deed, DeedReader

READ_LINE, KEPT_LINE = 2_000, 200  # characters of a line that are looked at for secrets, and that are kept of it


class Moment(NamedTuple):
    """An opportunity: a moment at which a rule could be kept or broken. `time`: seconds since the epoch; `uuid`: of the
    transcript's record; `key`: of the rule; `line`: of a break, the command or line, without secrets; `id`: of the
    call, the same in copies of the transcript."""

    time: float
    session: str
    uuid: str
    key: str
    is_kept: bool
    line: str = ""
    id: str = ""


class SessionCounter:
    """The moments of one transcript, whose records are fed in order. `root`: of the work tree; `state`: of `to_state`,
    continues an earlier count, for the rules that it knows."""

    def __init__(self, rules: Iterable[Rule], root: str, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self._rules = {rule.key(): rule for rule in rules}
        self._root = root
        self._deeds = DeedReader(state.get("waiting"))
        # Keys of rules whose subject was done: in this turn, or with `before` since the last edit of a file.
        self._done: set[str] = set(state.get("done", ())) & self._rules.keys()
        # What fits `with` in this turn: the fields of the moment that the turn's end decides.
        rows = state.get("turn", {}).items()
        self._turn: dict[str, Moment] = {key: Moment(*row) for key, row in rows if key in self._rules}

    def to_state(self) -> dict[str, Any]:
        """Return what a later count continues from, as JSON values."""
        return {"waiting": self._deeds.waiting, "done": sorted(self._done), "turn": self._turn}

    def feed(self, record: dict[str, object]) -> Iterator[Moment]:
        for deed in self._deeds.feed(record):
            if deed.call is None:
                yield from self.open_moments()
                self._done -= {key for key, rule in self._rules.items() if rule.relation != "before"}
                self._turn.clear()
            else:
                for key, rule in self._rules.items():
                    moment = self._look(key, rule, deed, deed.call)
                    if moment is not None:
                        yield moment

    def open_moments(self) -> list[Moment]:
        """List the moments of the turn under way, as if it ended now."""
        complete = {key: self._turn[key]._replace(is_kept=True, line="") for key in self._turn.keys() & self._done}
        return [*{**self._turn, **complete}.values()]

    def _look(self, key: str, rule: Rule, deed: Deed, call: Call) -> Moment | None:
        if rule.relation == "before":
            return self._look_at_order(key, rule, deed, call)
        if rule.relation == "with" and rule.other is not None and not (rule.subject.text and rule.other.text):
            if fits(rule.subject, call, self._root):
                self._done.add(key)
            if key not in self._turn and (line := fits(rule.other, call, self._root)):
                self._turn[key] = _moment(key, deed, line)
            return None
        if not match_hot.is_opportunity(rule, call, self._root):
            return None
        return _moment(key, deed, match_hot.breach(rule, call, self._root))

    def _look_at_order(self, key: str, rule: Rule, deed: Deed, call: Call) -> Moment | None:
        """Look at commands one by one: `make test && git commit` keeps the order."""
        lines, inside = [], self._root.rstrip("/") + "/"
        for part in _parts(call):
            if fits(rule.subject, part, self._root):
                self._done.add(key)
            if rule.other is not None and (line := fits(rule.other, part, self._root)):
                lines.append("" if key in self._done else line)
            if rule.subject.command and any(path[:1] != "/" or path.startswith(inside) for path in part.paths):
                self._done.discard(key)
        return _moment(key, deed, next(filter(None, lines), "")) if lines else None


def _parts(call: Call) -> Iterator[Call]:
    """Yield the simple commands of a call one by one; a call without any as it is."""
    if len(call.commands) < 2:
        yield call
        return
    for command in call.commands:
        part = Call()
        part.commands = [command]
        yield part


def _moment(key: str, deed: Deed, line: str) -> Moment:
    """Return a moment that is broken by a line, or kept if that is empty. Secrets are removed before it is cut."""
    text = line
    if line:
        from memtui.redact.redact import redacted  # most moments are kept

        text = redacted(line[:READ_LINE])[:KEPT_LINE]
    return Moment(deed.time, deed.session, deed.uuid, key, not line, text, deed.id or deed.uuid)
