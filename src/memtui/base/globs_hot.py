"""Match paths with globs, for guidance addressed to a path, without `fnmatch` (it imports `re`)."""


def matches(pattern: str, path: str, project_root: str) -> bool:
    """Tell whether an absolute path matches a glob; `**` spans parts. One without a slash matches any name in it."""
    if path.startswith(project_root.rstrip("/") + "/"):
        relative = path[len(project_root.rstrip("/")) + 1 :]
    else:
        relative = path.lstrip("/")
    pattern = pattern.removeprefix("./")
    if pattern.startswith("/"):
        return _parts(pattern.strip("/").split("/"), path.strip("/").split("/"))
    parts = relative.split("/")
    if "/" not in pattern.rstrip("/"):
        return any(_part(pattern.rstrip("/"), part) for part in parts)
    return _parts(pattern.rstrip("/").split("/"), parts)


def _parts(pattern: "list[str]", parts: "list[str]") -> bool:
    """Match part by part; a pattern that matches a directory matches everything below it too."""
    reached = {0}
    for piece in pattern:
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and _part(piece, parts[at])}
        if not reached:
            return False
    return True


def _part(pattern: str, text: str) -> bool:
    """Match `*` and `?` within one part, in linear space and at most quadratic time."""
    at = here = 0  # in the pattern, in the text
    star, covered = -1, 0  # the last `*`, and where in the text what it covers ends
    while here < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, covered = at, here
            at += 1
        elif at < len(pattern) and pattern[at] in {"?", text[here]}:
            at += 1
            here += 1
        elif star >= 0:
            covered += 1
            at, here = star + 1, covered
        else:
            return False
    return not pattern[at:].strip("*")
