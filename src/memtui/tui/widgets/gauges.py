"""Gauges: how full something is, and shares of a whole, drawn as text."""

from collections.abc import Sequence

from rich.text import Text


def gauge(share: float, width: int) -> Text:
    """Draw how full something is: `│` is at a share of 1.0, what goes beyond is red."""
    whole = max(share, 1.0)
    full = max(1, round(width * share / whole)) if share else 0
    cut = min(width, round(width / whole))
    text = Text().append("━" * min(full, cut), style="green" if share < 0.8 else "yellow")
    text.append("─" * (cut - min(full, cut)), "dim")
    text.append("│", "dim" if full < cut else "")
    return text.append("━" * (full - cut), "red") if full > cut else text


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
