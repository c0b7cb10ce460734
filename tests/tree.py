"""A directory that is put back as it was, in less time than a copy takes."""

import errno
import os
import time

from waiting import PATIENCE


class Tree:
    """All files below a directory, to be put back as they were, with their times."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.files: list[tuple[str, int, int, bytes]] = []
        self.links: list[tuple[str, str]] = []
        self.dirs: list[tuple[str, int, int]] = []
        for place, dirs, files in os.walk(top):
            found = os.stat(place)
            self.dirs.append((place, found.st_mode & 0o7777, found.st_mtime_ns))
            for name in [*files, *dirs]:
                path = f"{place}/{name}"
                if os.path.islink(path):
                    self.links.append((path, os.readlink(path)))
                elif name in files:
                    found = os.stat(path)
                    with open(path, "rb") as file:
                        self.files.append((path, found.st_mode & 0o7777, found.st_mtime_ns, file.read()))

    def restore(self) -> None:
        clear(self.top)
        for path, _, _ in self.dirs:
            if path != self.top:
                os.mkdir(path, 0o700)
        for path, mode, mtime, data in self.files:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(fd, data)
            os.fchmod(fd, mode)
            os.utime(fd, ns=(mtime, mtime))
            os.close(fd)
        for path, target in self.links:
            os.symlink(target, path)
        for path, mode, mtime in reversed(self.dirs):
            os.chmod(path, mode)
            os.utime(path, ns=(mtime, mtime))


def clear(top: str) -> None:
    """Remove all that is below a directory; a process that is still ending may write there meanwhile."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return _clear(top)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.ENOENT} or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _clear(top: str) -> None:
    for entry in os.scandir(top):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            _clear(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def link_worktree(repo, place):
    """Make a linked work tree of a repository, laid out as git does it, but without git; its directory."""
    place.mkdir(parents=True, exist_ok=True)
    git = repo / ".git" / "worktrees" / place.name
    git.mkdir(parents=True)
    (git / "commondir").write_text("../..\n")
    (git / "gitdir").write_text(f"{place}/.git\n")
    (place / ".git").write_text(f"gitdir: {git}\n")
    return place
