"""Put the manual page into the wheel: pip installs it as share/man/man1/memtui.1, where man(1) looks."""

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from argparse_manpage.manpage import Manpage
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def page() -> str:
    """Return the page of the command line, which says of each command what its help says."""
    import memtui
    from memtui.cli import parser

    root = parser.build()
    facts = {
        "project_name": "memtui",
        "version": memtui.__version__,
        "manual_title": "User commands",
        "description": root.description,
        "date": "",
    }
    for _, command in parser.walk("memtui", root):
        # argparse-manpage leaves out what stands at the end of a command's help.
        command.description = "\n\n".join(filter(None, [command.description, command.epilog]))
    text = str(Manpage(root, _data=facts, format="pretty"))
    # It does not guard lines of text that begin as a request of roff does.
    text = re.sub(r"(?m)^(?='|\.(?!(?:TH|SH|TP|B|PP|SS)\b))", r"\\&", text)
    return "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)


class ManualPage(BuildHookInterface):  # type: ignore[type-arg]
    """Make the page before the wheel is built; the parser needs nothing but the standard library."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Write the page into a temporary file, and name it to the builder."""
        sys.path.insert(0, str(Path(self.root) / "src"))
        self.made = tempfile.TemporaryDirectory()
        path = Path(self.made.name) / "memtui.1"
        path.write_text(page(), encoding="utf-8")
        build_data["shared_data"][str(path)] = "share/man/man1/memtui.1"
