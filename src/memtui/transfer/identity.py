"""Which project an export is of, told on another machine without naming a path: by hashes of what the project's
directory is called below the home directory, of its whole path, and of the address of its repository."""

import os
from dataclasses import dataclass

from memtui.core.base import ids, paths
from memtui.core.client import repository

# How sure it is that two identities are of one project.
OTHER, UNKNOWN, NAMED, SURE = -1, 0, 1, 2


@dataclass(frozen=True)
class ProjectIdentity:
    """The identity of a project: its `name`, and hashes, each empty if it is not known: `path` of the slug, `home` of
    what the slug has after that of the home directory, `remote` of the address of its repository."""

    name: str = ""
    path: str = ""
    home: str = ""
    remote: str = ""

    def __bool__(self) -> bool:
        return self != NONE

    @property
    def hashes(self) -> dict[str, str]:
        """The hashes that are known."""
        return {key: value for key in KEYS if (value := getattr(self, key))}

    def likeness(self, other: "ProjectIdentity") -> int:
        """Return how sure it is that another identity is of the same project: SURE if a hash is the same, OTHER if they
        have different repositories, NAMED if only the name is the same."""
        if self.remote and other.remote and self.remote != other.remote:
            return OTHER
        if any(value == getattr(other, key) for key, value in self.hashes.items()):
            return SURE
        return NAMED if self.name and self.name == other.name else UNKNOWN


NONE = ProjectIdentity()
KEYS = ("path", "home", "remote")


def of_project(env: dict[str, str], slug: str, root: str | None) -> ProjectIdentity:
    """Return the identity of a project by its slug, and its root, None if that is not known: then it has no name."""
    home = paths.slug(env.get("HOME", "").rstrip("/")) + "-"
    below = slug.removeprefix(home) if slug.startswith(home) else ""
    return ProjectIdentity(
        os.path.basename(root or ""), _hashed(slug), _hashed(below), _hashed(repository.remote(root)) if root else ""
    )


def of_row(name: object, row: object) -> ProjectIdentity:
    """Read an identity from a manifest: its name, and its hashes, which older versions did not write."""
    found = row if isinstance(row, dict) else {}
    texts = {key: str(found[key]) for key in KEYS if isinstance(found.get(key), str)}
    return ProjectIdentity(str(name or ""), **texts)


def _hashed(text: str) -> str:
    return ids.digest(f"memtui project\n{text}", 16) if text else ""
