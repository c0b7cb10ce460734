"""Where the memories of a project go on whose git remote got another address: the machine that sees it first says so
in the tree, in `moved/projects/OLD.json`, and all others use the new name for it, whatever their clones say."""

from collections.abc import Iterable, Mapping

from memtui.base import fastjson_hot
from memtui.client.locate_hot import INDEX_NAME
from memtui.sync import notes, rows
from memtui.sync.merge import merge_index
from memtui.sync.repository import Tree, is_safe

TOP, PROJECTS = "moved", "projects/"
BESIDE = (*rows.KINDS, rows.REJECTIONS, notes.TOP)  # what stands in the tree beside the memories of each project


def top_of(path: str) -> str:
    """Return the top of the memories that a file in the tree belongs to or is about."""
    kind, _, rest = path.partition("/")
    return rows.split(rest.removesuffix(".jsonl") if kind in BESIDE else path)[0]


class Moves(dict[str, str]):
    """The new names of projects by their old ones."""

    def follow(self, top: str) -> str:
        """Return the name that stands for a project; of names that lead in a circle the first by the alphabet."""
        names = [top]
        while (top := self.get(names[-1], "")) and top not in names:
            names.append(top)
        return min(names[names.index(top) :]) if top else names[-1]

    def path(self, path: str) -> str:
        """Return the path of a file in the tree as it is now."""
        top = top_of(path)
        return path.replace(top, self.follow(top), 1) if top in self else path

    def tree(self, tree: Tree) -> Tree:
        """Return a tree with all files where they are now; one whose new place another one has stays."""
        moved = {path: data for path, data in tree.items() if self.path(path) == path}
        for path in sorted(tree.keys() - moved.keys()) if self else ():
            data, new = tree[path], self.path(path)
            if path.endswith(".jsonl"):
                moved[new] = rows.merge(b"", moved.get(new, b""), data)
            elif path.endswith("/" + INDEX_NAME):
                moved[new] = merge_index(b"", moved.get(new, b""), data, new).data
            else:
                moved[new if moved.get(new, data) == data else path] = data
        return {path: self._named_in(path, data) for path, data in moved.items()} if self else tree

    def _named_in(self, path: str, data: bytes) -> bytes:
        """Return a note, a draft or a text that does not stand, with the present name of the project in it."""
        row = fastjson_hot.loads_dict(data) if path.endswith(".json") and not path.startswith(TOP) else {}
        place, file = fastjson_hot.text(row, "place"), fastjson_hot.text(row, "path")
        if self.follow(place) == place and self.path(file) == file:
            return data
        return fastjson_hot.dumps({**row, "place": self.follow(place), "path": self.path(file)}).encode() + b"\n"

    def find_new(self, before: Mapping[str, str], now: Mapping[str, str], tree: Tree) -> "Moves":
        """Return the moves that this machine is the first to see. `before`, `now`: directories by name; `tree`: what
        has memories under a name, which then is another project's."""
        occupied = {top_of(path) for path in tree} | {self.follow(top) for top in before}
        names = {directory: self.follow(top) for top, directory in now.items()}
        new = Moves()
        for old, directory in before.items():
            name, identity = names.get(directory, ""), self.follow(old)
            if name not in occupied and identity not in names.values() and old.startswith(PROJECTS) and name:
                new.update({identity: name} if identity == old else {name: identity})
        return new

    def files(self) -> Tree:
        """Return what says so in the tree."""
        return {f"{TOP}/{old}.json": fastjson_hot.dumps({"to": new}).encode() + b"\n" for old, new in self.items()}


def read(trees: Iterable[Tree]) -> Moves:
    """Return what trees say of moves."""
    moves = Moves()
    for tree in trees:
        for path, data in tree.items():
            new = fastjson_hot.text(fastjson_hot.loads_dict(data), "to") if path.startswith(f"{TOP}/{PROJECTS}") else ""
            if new.startswith(PROJECTS) and is_safe(f"{new}/x.md"):
                moves[path[len(TOP) + 1 : -5]] = new
    return moves
