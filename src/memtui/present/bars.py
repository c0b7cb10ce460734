"""Draw numbers as text: a sparkline, a bar."""

from collections.abc import Sequence

EIGHTHS = "▁▂▃▄▅▆▇█"
PARTS = " ▏▎▍▌▋▊▉█"


def spark(values: Sequence[float]) -> str:
    """Draw a line of small columns, the highest value at full height; zero and less is a low dot."""
    top = max(values, default=0.0)
    return "".join("·" if value <= 0 else EIGHTHS[min(7, int(value / top * 7.999))] for value in values)


def bar(value: float, top: float, width: int) -> str:
    """Draw a bar, padded to `width` cells, which `top` fills. A value above zero shows at least an eighth of a cell."""
    if top <= 0 or value <= 0 or width <= 0:
        return " " * max(0, width)
    eighths = max(1, round(min(1.0, value / top) * width * 8))
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (PARTS[rest] if rest else "")).ljust(width)
