"""Memories that a tool or a session's start brings: bound to paths that a tool touches, or pinned. Hot path.

Two files under the data root list them, by directory and file, the one with the values of their field `paths`, and a
third those with own checks. A worker writes these (worker/index_updates.py); without such memories there is no file."""

from memtui.base import fastjson_hot, fs_hot, globs_hot

PATHS, PINNED, CHECKS = "recall/paths", "recall/pinned", "recall/checks"
VERSION = 1
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # (scope, directory); a bound memory has also its file there, and why it is given.
    Place = tuple[str, str]
    Bound = tuple[str, str, str, str]


def of_paths(root: str, where: "Sequence[Place]", touched: "Sequence[str]", project_root: str) -> "list[Bound]":
    """List the memories of some places that are bound to any of the paths `touched`, with why."""
    fits = lambda glob: any(globs_hot.matches(glob, path, project_root) for path in touched)
    bound = _matching(root, PATHS, where, fits)
    return [(scope, directory, file, f"bound to {glob}") for scope, directory, file, glob in bound]


def pinned(root: str, where: "Sequence[Place]") -> "list[Bound]":
    """List the memories of some places that every session begins with."""
    return _matching(root, PINNED, where, bool)


def _matching(root: str, name: str, where: "Sequence[Place]", fits: "Callable[[str], bool]") -> "list[Bound]":
    """List the memories of which a value fits, each with the first one."""
    bound = []
    rows_by_place = listed(root, name)
    for scope, directory in where:
        rows = fastjson_hot.table(rows_by_place, directory)
        for file in rows:
            for value in fastjson_hot.rows(rows, file):
                if fits(str(value)):
                    bound.append((scope, directory, file, str(value)))
                    break
    return bound


def listed(root: str, file: str) -> "dict[str, object]":
    """Return what a file under the data root lists, by directory; `{}` if it lists nothing or can't be read."""
    table = fs_hot.read_table(f"{root}/{file}")
    return fastjson_hot.table(table, "dirs") if table.get("v") == VERSION else {}
