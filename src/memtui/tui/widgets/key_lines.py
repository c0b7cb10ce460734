"""The keys that work on what a detail shows: a line each, at its end."""

from collections.abc import Iterable

from rich.text import Text

from memtui import actions


def append_keys(text: Text, keys: Iterable[tuple[str, str]]) -> None:
    """Append a blank line, then a line for each action: its key, and in words what it does. `keys`: (action id, words)
    each."""
    shown = [(actions.key_of(action), words) for action, words in keys]
    wide = max((len(key) for key, _ in shown), default=0)
    text.append("\n")
    for key, words in shown:
        text.append(f"  {key:<{wide}}  ", style="bold").append(words + "\n", style="dim")
