"""Draw a number as a bar."""

PARTS = " ▏▎▍▌▋▊▉█"


def bar(value: float, top: float, width: int) -> str:
    """Draw a bar, padded to `width` cells, which `top` fills. A value above zero shows at least an eighth of a cell."""
    if top <= 0 or value <= 0 or width <= 0:
        return " " * max(0, width)
    eighths = max(1, round(min(1.0, value / top) * width * 8))
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (PARTS[rest] if rest else "")).ljust(width)
