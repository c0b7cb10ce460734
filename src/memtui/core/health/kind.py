"""What the registry of findings says of one code (findings.py)."""

from typing import NamedTuple


class Kind(NamedTuple):
    """The words of a code: `words` and `remedy` are templates filled with its data, `flag` is a short form for lists.
    In a remedy each place, or several joined by colons, is one word of a shell command (core/base/shell.py).

    `{name:memory|memories}` is a count, or the length of a list; `{name:size}` a number of bytes, `{name:similar}` a
    likeness of 100; a list of names is cut by `some`. `fix` is the id of the fix that CLI and TUI offer, empty if only
    a person can fix it.
    `by` names the facts that a cause has: findings of a code that agree in them are one problem. Where it is empty each
    finding is a problem of its own. `several` is the template for more than one memory, where `words` are about one;
    `{files}` are their names.
    """

    words: str = ""
    remedy: str = ""
    fix: str = ""
    flag: str = ""
    by: tuple[str, ...] = ()
    several: str = ""
