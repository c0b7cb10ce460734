"""Git's conflict markers, but in fenced code. Hot path: look for MARK before calling `first` for many texts."""

MARK = b"<<<<<<<"
OURS, BASE, MIDDLE, THEIRS = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


class MarkedConflict:
    """A conflict by the lines (from 0) of its markers; `base` is `middle` without one; `names` of both versions."""

    __slots__ = ("base", "end", "middle", "names", "start")

    def __init__(self, lines: "list[str]", start: int, base: int, middle: int, end: int) -> None:
        self.start, self.base, self.middle, self.end = start, base, middle, end
        self.names = (lines[start][len(OURS) :].strip() or "ours", lines[end][len(THEIRS) :].strip() or "theirs")


def first(data: bytes) -> int:
    """Return the number, from 1, of the first line with a conflict; 0 if there is none."""
    if MARK not in data:
        return 0
    hunks = conflicts(data.decode("utf-8", "replace").split("\n"))
    return hunks[0].start + 1 if hunks else 0


def conflicts(lines: "list[str]") -> "list[MarkedConflict]":
    """List the conflicts among lines, which may have their ends."""
    result: list[MarkedConflict] = []
    fence = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        conflict = _conflict(lines, at) if not fence and _is(line, OURS) else None
        if conflict is not None:
            result.append(conflict)
            at = conflict.end
        else:
            text = line.strip()
            if fence:
                fence = "" if text.startswith(fence) and not text.strip(fence[0]) else fence
            elif text.startswith(("```", "~~~")):
                fence = text[: len(text) - len(text.lstrip(text[0]))]
        at += 1
    return result


def _conflict(lines: "list[str]", start: int) -> "MarkedConflict | None":
    base = middle = 0
    for at in range(start + 1, len(lines)):
        if _is(lines[at], OURS):
            return None
        if _is(lines[at], BASE) and not middle:
            base = base or at
        elif lines[at].rstrip() == MIDDLE:
            middle = middle or at
        elif _is(lines[at], THEIRS) and middle:
            return MarkedConflict(lines, start, base or middle, middle, at)
    return None


def _is(line: str, mark: str) -> bool:
    return line.startswith(mark) and line[len(mark) : len(mark) + 1] in ("", " ", "\r", "\n")


def resolved(data: bytes, side: str) -> bytes:
    """Return a text with one side (ours, theirs, both: ours first) in the place of each conflict."""
    lines = [line + "\n" for line in data.decode("utf-8", "surrogateescape").split("\n")]
    for conflict in reversed(conflicts(lines)):
        ours = lines[conflict.start + 1 : conflict.base] if side != "theirs" else []
        theirs = lines[conflict.middle + 1 : conflict.end] if side != "ours" else []
        lines[conflict.start : conflict.end + 1] = [*ours, *theirs]
    return "".join(lines)[:-1].encode("utf-8", "surrogateescape")
