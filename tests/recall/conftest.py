"""A directory of memories with its index."""

import os

import pytest

from memtui.recall import index_build, query_hot


class Store:
    def __init__(self, base):
        self.root = str(base / "root")
        self.directory = str(base / "memory")
        self.base = base / "memory"
        self.base.mkdir()

    def remember(self, name, description="", body="", **more):
        lines = [f"{key}: {value}\n" for key, value in {"name": name, "description": description, **more}.items()]
        path = self.base / f"{name}.md"
        path.write_text(f"---\n{''.join(lines)}---\n{body}\n")
        return path

    def fill(self, count):
        for number in range(count):
            self.remember(f"memory-{number}", f"About matter {number}", f"It is {'un' * (number % 3)}known.")

    def index(self, table=None):
        """Without vectors, by which every memory is somewhat near to every prompt; `...` with them."""
        return index_build.bring_up_to_date(self.root, self.directory, table=table)

    def files(self, ending):
        return sorted(each for each in os.listdir(self.root + "/recall") if each.endswith(ending))

    def search(self, text, **more):
        return query_hot.search(self.root, [("global", self.directory)], text, **more)

    def names(self, text, **more):
        return [hit.name for hit in self.search(text, **more)]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)
