"""Put the manual page into the wheel: pip installs it as share/man/man1/memtui.1, where man(1) looks."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPage(BuildHookInterface):  # type: ignore[type-arg]
    """Make the page before the wheel is built; the parser needs nothing but the standard library."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Write the page into a temporary file, and name it to the builder."""
        sys.path.insert(0, str(Path(self.root) / "src"))
        from memtui.cli import man

        self.made = tempfile.TemporaryDirectory()
        path = Path(self.made.name) / "memtui.1"
        path.write_text(man.page(), encoding="utf-8")
        build_data["shared_data"][str(path)] = "share/man/man1/memtui.1"
