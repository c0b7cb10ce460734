"""Breaks of rules that a session is to be told of: two parts of its state. Hot path.

A worker notes in the part `tell` what was broken, each [path of the memory, line], once for each rule of a session, for
which the part `told` has [path, key of the rule]; the next prompt or tool takes that, and brings the memories again."""

import posix

from memtui.base import fastjson_hot, session_state_hot

DUE, TOLD = "tell", "told"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def note(root: str, session_id: str, breaks: "Iterable[tuple[str, str, str]]") -> None:
    """Note breaks (path of the memory, key of the rule, line) of which the session is not told yet. Raises OSError."""
    told_rules = fastjson_hot.rows(session_state_hot.load_part(root, session_id, TOLD), "rules")
    due = fastjson_hot.rows(session_state_hot.load_part(root, session_id, DUE), "breaks")
    count = len(told_rules)
    for path, key, line in breaks:
        if [path, key] not in told_rules:
            told_rules.append([path, key])
            due.append([path, line])
    if len(told_rules) > count:
        session_state_hot.save_part(root, session_id, TOLD, {"rules": told_rules})
        session_state_hot.save_part(root, session_id, DUE, {"breaks": due})


def take(root: str, session_id: str) -> "dict[str, str]":
    """Take what the session is to be told: by the path of the memory, what broke its first rule. Raises OSError."""
    part = f"{DUE}-{posix.getpid()}"
    try:
        posix.rename(session_state_hot.path(root, session_id, DUE), session_state_hot.path(root, session_id, part))
    except OSError:
        return {}  # another hook at the same moment has it
    breaks = fastjson_hot.rows(session_state_hot.load_part(root, session_id, part), "breaks")
    posix.unlink(session_state_hot.path(root, session_id, part))
    lines: dict[str, str] = {}
    for row in breaks:
        if isinstance(row, list) and len(row) == 2:
            lines.setdefault(str(row[0]), str(row[1]))
    return lines
