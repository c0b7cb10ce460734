"""Small stores for tests of consolidation, and proposals about them."""

import os

from memtui.base import fs_hot
from memtui.store import memory
from memtui.store.plan import FileDiff
from memtui.store.store import Store
from memtui.tidy import changeset


class World:
    """A home with a global scope and a repository with auto memory; `files` by name in the auto scope, or with a path."""

    def __init__(self, top, files=()):
        self.top = os.path.realpath(top)
        self.env = {"HOME": self.top}
        self.repo = f"{self.top}/repo"
        os.makedirs(f"{self.repo}/.git")
        self.store = Store(self.env, self.repo)
        self.root = self.store.root
        self.auto = self.store.scope("auto").directory
        self.project = self.store.scope("project").directory
        self.everywhere = self.store.scope("global").directory
        os.makedirs(self.auto)
        for name, data in dict(files).items():
            self.write(name, data)

    def path(self, name):
        return name if name.startswith("/") else f"{self.auto}/{name}"

    def write(self, name, data):
        fs_hot.write_atomic(self.path(name), data if isinstance(data, bytes) else data.encode(), durable=False)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def text(self, name):
        return self.read(name).decode()

    def files(self):
        """All that a person has: every file but memtui's own, by path, with its content."""
        found = {}
        for place, _, names in os.walk(self.top):
            if not f"{place}/".startswith(f"{self.root}/"):
                for name in names:
                    with open(f"{place}/{name}", "rb") as file:
                        found[f"{place}/{name}"] = file.read()
        return found

    def proposal(self, kind, reads, makes):
        """A proposal of files by name; `makes`: name to content, None for gone."""
        before = {name: self.read(name) for name in reads}
        after = {name: data.encode() if isinstance(data, str) else data for name, data in makes.items()}
        files = [
            FileDiff(self.path(name), before.get(name), after.get(name, before.get(name)))
            for name in {**before, **after}
        ]
        return changeset.propose(kind, files)


def text_of(name, description="", body="", kind="feedback"):
    return memory.new_memory_bytes(name, description or f"About {name}", kind, body or f"Text of {name}.").decode()
