"""Write ages, sizes and counts in a few characters, for lists, and cut texts between words."""


def age(seconds: "float | None", now: float) -> str:
    """Write an age: `now`, `4m`, `3h`, `12d`, `5mo`, `2y`; `-` for None. A time in the future has a `+` before it."""
    if seconds is None:
        return "-"
    past = int(now - seconds)
    sign = "+" if past <= -60 else ""
    past = abs(past)
    for size, unit in ((31_536_000, "y"), (2_592_000 * 2, "mo"), (86400, "d"), (3600, "h"), (60, "m")):
        if past >= size:
            return f"{sign}{past // (2_592_000 if unit == 'mo' else size)}{unit}"
    return "now"


def ago(seconds: "float | None", now: float) -> str:
    """Write an age as `just now` or `3h ago`, a time in the future as `in 3h`; `-` for None."""
    span = age(seconds, now)
    if span in {"-", "now"}:
        return span.replace("now", "just now")
    return f"in {span[1:]}" if span[0] == "+" else f"{span} ago"


def until(seconds: float, now: float) -> str:
    """Write a time in the future as `in 2h`, `in 1h 30m`, `in 3d 4h`, rounded to the smaller unit."""
    seconds_left = max(60, int(seconds - now + 0.5))
    for big, small, names in ((86400, 3600, "dh"), (3600, 60, "hm")):
        whole = (seconds_left + small // 2) // small * small
        if whole >= big:
            rest = whole % big // small
            return f"in {whole // big}{names[0]}" + (f" {rest}{names[1]}" if rest else "")
    return f"in {(seconds_left + 30) // 60}m"


def size(count: int) -> str:
    """Write a number of bytes: `420 B`, `1.2 kB`, `34 kB`, `5.1 MB`."""
    return short(count) + ("B" if count >= 1000 else " B")


def short(count: int) -> str:
    """Write a count: `420`, `1.2 k`, `34 k`, `5.1 M`."""
    for step, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")):
        if count >= step:
            number = count / step
            return f"{number:.1f} {unit}" if number < 10 else f"{number:.0f} {unit}"
    return str(count)


def share(part: float) -> str:
    """Write a share of 1, such as a likelihood or how similar two texts are: `97%`."""
    return f"{max(0.0, part):.0%}"


def cut(text: str, most: int) -> str:
    """Cut a line of text between two words to `most` characters, `…` included; a long word is cut within."""
    if len(text) <= most:
        return text
    whole = text[:most].rpartition(" ")[0].rstrip()
    return (whole if len(whole) >= most // 2 else text[: most - 1]) + "…"


def gap(text: str, end: int) -> int:
    """Return where to cut a line of text for `end` characters: at a gap between words, unless that leaves little."""
    if not (text[end : end + 1].isalnum() and text[end - 1 : end].isalnum()):
        return end
    blank = text.rfind(" ", 0, end)
    return blank if blank > end * 2 // 3 else end


def it(count: int) -> str:
    """Return the pronoun for a number of things: `it` or `them`."""
    return "it" if count == 1 else "them"


def many(count: int, one: str, several: str = "") -> str:
    """Write a count and its noun: `1 memory`, `3 memories`. The plural is `one` with an s unless given."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def some(names: "list[str]", most: int = 5) -> str:
    """Join the first `most` names, and say how many more there are: `a, b, c and 4 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def series(words: "list[str]") -> str:
    """Join words as a sentence does: `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
