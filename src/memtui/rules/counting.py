"""Moments at which a session kept or broke a rule, from what the agent did in it."""

from typing import NamedTuple


class Moment(NamedTuple):
    """An opportunity: a moment at which a rule could be kept or broken. `time`: seconds since the epoch; `uuid`: of the
    transcript's record; `key`: of the rule; `line`: of a break, the command or line, without secrets."""

    time: float
    session: str
    uuid: str
    key: str
    is_kept: bool
    line: str = ""
