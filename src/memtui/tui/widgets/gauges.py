"""Shares of a whole, drawn as text."""

from collections.abc import Sequence

from rich.text import Text


def shares(counts: Sequence[tuple[int, str, str]], width: int) -> Text:
    """Draw counts, (count, character, style) each, side by side in `width` cells; each above zero gets at least one."""
    total = sum(count for count, _, _ in counts)
    text = Text()
    left = width
    kept = [each for each in counts if each[0]]
    for at, (count, char, style) in enumerate(kept):
        cells = left if at == len(kept) - 1 else max(1, min(left - (len(kept) - 1 - at), round(count / total * width)))
        text.append(char * max(0, cells), style=style)
        left -= cells
    return text
