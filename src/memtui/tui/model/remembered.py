"""The state of the screens from one start to the next: sort, place, folds. A cache: without it all start fresh."""

from memtui.base import fastjson, fs

VERSION = 1


class State:
    """The file `run/tui.json`: a table for each screen."""

    def __init__(self, root: str, *, read_only: bool = False) -> None:
        self.path = root + "/run/tui.json"
        self.read_only = read_only

    def get(self, screen: str) -> dict[str, object]:
        value = self._read().get(screen)
        return value if isinstance(value, dict) else {}

    def put(self, screen: str, table: dict[str, object]) -> None:
        """Write a screen's table. A failure is ignored."""
        whole = self._read()
        if self.read_only or whole.get(screen) == table:
            return
        try:
            data = fastjson.dumps({**whole, "v": VERSION, screen: table}).encode() + b"\n"
            fs.write_atomic(self.path, data, durable=False)
        except OSError:
            return

    def _read(self) -> dict[str, object]:
        try:
            table = fastjson.loads_dict(fs.read_or_empty(self.path))
        except (OSError, ValueError):
            return {}
        return table if table.get("v") == VERSION else {}
