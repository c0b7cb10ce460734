"""The keys that work on what a detail shows: a line each, at its end."""

from collections.abc import Iterable

from rich.text import Text

from memtui import actions


def append_keys(text: Text, keys: Iterable[tuple[str, str]], *, read_only: bool) -> None:
    """Append a blank line, then a line for each action: its key, and in words what it does. `keys`: (action id, words)
    each; with `read_only` those that write are left out."""
    offered = [each for each in keys if not (read_only and actions.get(each[0]).writes)]
    if not offered:
        return
    shown = [(actions.key_of(action), words) for action, words in offered]
    wide = max(len(key) for key, _ in shown)
    text.append("\n")
    for key, words in shown:
        text.append(f"  {key:<{wide}}  ", style="bold").append(words + "\n", style="dim")
