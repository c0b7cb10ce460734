"""The names of projects: the directory's name, or as much of the path as tells it from others of that name."""

from collections import Counter
from collections.abc import Iterable, Mapping


def names(roots: Iterable[str]) -> dict[str, str]:
    """Return the name of each project by its root's path; what is no path (a slug) is its own name."""
    left = {root: [part for part in root.split("/") if part] or [root] for root in roots}
    found: dict[str, str] = {}
    parts = 1
    while left:
        given = {root: "/".join(path[-parts:]) for root, path in left.items()}
        counts = Counter(given.values())
        for root, name in given.items():
            if counts[name] == 1 or parts >= len(left[root]):
                found[root] = name
                del left[root]
        parts += 1
    return found


def with_paths(roots: Iterable[str], paths: Mapping[str, str | None]) -> dict[str, str]:
    """Return the name of each project as `names`, where some are slugs whose paths are known."""
    known = {root: paths.get(root) or root for root in roots}
    named = names(set(known.values()))
    return {root: named[path] for root, path in known.items()}
