"""What README.md and docs/*.md name that a person can type: commands, options, and keys of the TUI."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memtui.cli import parser

REPO = Path(__file__).resolve().parents[2]
CODE = re.compile(r"`([^`]+)`")
PROGRAMS = {
    "memtui",
    ".venv/bin/memtui",
    "echo",
    "source",
    "pip",
    "pipx",
    "python",
    "python3",
    "claude",
    "cd",
    "export",
}
OPTION = re.compile(r"--[a-z][a-z-]*")
KEY = re.compile(r"[^\w\s]|[a-zA-Z0-9]|ctrl\+\w")
COMMENT = re.compile(r"\s{2,}#.*")


@dataclass(frozen=True, order=True)
class Documented:
    """A command as it stands in a text, or an option of one (`command` and its option)."""

    text: str
    file: str
    line: int


def files() -> list[Path]:
    """The texts."""
    return [REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]


def command_names() -> set[str]:
    """memtui's commands."""
    return {*parser.COMMANDS, "help"}


def commands() -> list[Documented]:
    """Every command that stands in indented code, in a table of commands, or within a sentence."""
    found: list[Documented] = []
    for path in files():
        in_fence, table = False, ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            here = Documented("", path.name, number)
            if line.startswith("```"):
                in_fence = not in_fence
                continue
            if in_fence or line.startswith("    "):
                text = COMMENT.sub("", line).strip()
                if text.split()[:1] and (not in_fence or text.split()[0] in PROGRAMS):
                    found.append(Documented(text, path.name, number))
                continue
            table = _table(line, table)
            found += [Documented(text, here.file, number) for text in _within(line, table, path.name)]
    return found


def options() -> set[tuple[str, str]]:
    """(command, option) for each option that the tables of docs/cli.md name."""
    found, table, about = set(), "", ""
    for line in (REPO / "docs" / "cli.md").read_text().splitlines():
        table = _table(line, table)
        first = CODE.search(line)
        named = first[1].split()[0] if first else ""
        if line.startswith("|"):
            command = named if table == "command" else about
            spans = [_unescaped(each) for each in CODE.findall(line)] if table in {"command", "option"} else []
            found |= {(_of(span, command), option) for span in spans for option in OPTION.findall(span)}
        elif line and line.startswith("`") and named in command_names():
            about = named
    return found


def keys() -> list[Documented]:
    """Every key of the TUI that a text names; what is one character in docs/file-formats.md stands in files."""
    return [
        Documented(text, path.name, number)
        for path in files()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if not line.startswith("    ")
        for text in CODE.findall(line)
        if KEY.fullmatch(text) and (len(text) > 1 or path.name != "file-formats.md")
    ]


def _of(span: str, command: str) -> str:
    """The command that an option in a span belongs to: one that is named there, or that of the row."""
    first = span.removeprefix("memtui ").split()[0]
    return first if first in command_names() else command


def _table(line: str, before: str) -> str:
    """The name of the first column of the table in which a line stands, empty outside."""
    if not line.startswith("|"):
        return ""
    return before or line.strip("| ").partition("|")[0].strip()


def _within(line: str, table: str, file: str) -> Iterator[str]:
    for span in map(_unescaped, CODE.findall(line)):
        words = span.split()
        first = words[0] if words else ""
        if (
            (first in PROGRAMS and words[1:])
            or first == "memtui"
            or (file == "cli.md" and table != "option" and first in command_names())
        ):
            yield span


def _unescaped(text: str) -> str:
    return text.replace("\\|", "|")
