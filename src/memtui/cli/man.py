"""The manual page memtui(1), made from the parser and from docs/cli.md: for `memtui --man`, and for the wheel."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

import memtui
from memtui.cli import parser

# Sections of docs/cli.md: heading there -> heading here.
SECTIONS = {
    "Dates": "DATES",
    "JSON": "JSON",
    "Exit codes": "EXIT STATUS",
    "Environment": "ENVIRONMENT",
}
DOCUMENT = "cli.md"
WIDTH = 80  # columns of the plain text
EXACT = "\0"  # before a line of it that is not wrapped
COMMON = {"help", "json", "project", "no_pager", "debug"}  # options that every command has; said once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def document() -> str:
    """Return docs/cli.md: beside this module in a wheel, else in the repository; empty if there is neither."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (f"{here}/{DOCUMENT}", f"{here}/../../../docs/{DOCUMENT}"):
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except OSError:
            continue
    return ""


def page() -> str:
    """Return the manual page, for man(1)."""
    root = parser.build()
    about = root.description or ""
    lines = [
        f'.TH MEMTUI 1 "" "memtui {memtui.__version__}" "User commands"',
        ".SH NAME",
        "memtui \\- " + escaped(about[:1].lower() + about[1:].rstrip(".")),
        ".SH SYNOPSIS",
        ".B memtui",
        "[\\fIOPTION\\fR]...",
        "[\\fICOMMAND\\fR [\\fIARGUMENT\\fR]...]",
        ".SH DESCRIPTION",
        escaped(about),
        ".PP",
        _prose(root.epilog or ""),
        ".SH OPTIONS",
        *_options(root, common=True),
        ".SH COMMANDS",
        *_commands(root),
    ]
    text = document()
    for heading, name in SECTIONS.items():
        if found := re.search(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL):
            lines += [f".SH {name}", *_markdown(found[1])]
    lines += [
        ".SH FILES",
        "\\fBmemtui status --paths\\fR lists them. By default:",
        *_items([("~/.claude/memtui", "what memtui keeps"), ("~/.claude/memory", "memories for every project")]),
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Write text such that man(1) shows it as it is."""
    found = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    found = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in found)
    return "\n".join("\\&" + line if line.startswith(".") else line for line in found.split("\n"))


def _prose(text: str) -> str:
    """Write a paragraph of Markdown: code is bold, a link is its words."""
    text = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", " ".join(text.split()))
    parts = re.split(r"`([^`]*)`", text)
    return "".join(f"\\fB{escaped(part)}\\fR" if at % 2 else escaped(part) for at, part in enumerate(parts))


def _items(rows: "list[tuple[str, str]]") -> "Iterator[str]":
    for name, text in rows:
        yield from (".TP", _prose(name if "`" in name else f"`{name}`"), _prose(text) or "\\&")


def _code(text: str) -> "Iterator[str]":
    yield from (".PP", ".nf", ".RS 4", escaped(text.strip("\n")), ".RE", ".fi")


def _markdown(text: str) -> "Iterator[str]":
    """Write paragraphs, tables and code of Markdown."""
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block.startswith("```"):
            yield from _code("\n".join(block.split("\n")[1:-1]))
        elif block.startswith("    "):
            yield from _code("\n".join(line[4:] for line in block.split("\n")))
        elif block.startswith("|"):
            rows = [re.split(r"(?<!\\) \| ", line.strip("| "), maxsplit=1) for line in block.split("\n")[2:]]
            yield from _items([(row[0].replace("\\|", "|"), row[-1].replace("\\|", "|")) for row in rows])
        else:
            yield from (".PP", _prose(block))


def _options(found: argparse.ArgumentParser, *, common: bool = False) -> "Iterator[str]":
    """Write the options and words of a parser."""
    for action in found._actions:  # noqa: SLF001  argparse has no public way to walk a parser
        if isinstance(action, argparse._SubParsersAction) or (action.dest in COMMON and not common):  # noqa: SLF001
            continue
        if not action.option_strings and not action.help:
            continue  # a word that the synopsis and the description say all about
        takes = action.nargs != 0
        value = str(action.metavar or action.dest.upper()) if takes else ""
        names = [f"\\fB{escaped(each)}\\fR" for each in action.option_strings]
        head = ", ".join(names) + (" " if names and value else "") + (f"\\fI{escaped(value)}\\fR" if value else "")
        about = (action.help or "").replace("%%", "%")
        if action.choices and not action.metavar and not all(str(each) in about for each in action.choices):
            about = f"{', '.join(map(str, action.choices))}; {about}".removesuffix("; ")
        yield from (".TP", head, _prose(about) or "\\&")


def _word(action: argparse.Action) -> str:
    """Write a word of a synopsis: in brackets if it may be left out, with dots if several may be given."""
    name = str(action.metavar or action.dest.upper())
    given = f"\\fI{escaped(name.strip('[]'))}\\fR" + ("..." if action.nargs in {"*", "+"} else "")
    return f"[{given}]" if action.nargs in {"*", "?"} or name.startswith("[") else given


def _commands(root: argparse.ArgumentParser) -> "Iterator[str]":
    for name, found in _paths("", root):
        words = [each for each in found._actions if not each.option_strings]  # noqa: SLF001
        usage = "".join(" " + _word(each) for each in words)
        example = (found.epilog or "").partition("example:\n")[2]
        yield from (f'.SS "{name}"', f"\\fBmemtui {escaped(name)}\\fR{usage}", ".PP", _prose(found.description or ""))
        yield from _options(found)
        yield from _code("\n".join(line[2:] for line in example.split("\n")))


def _paths(above: str, found: argparse.ArgumentParser) -> "Iterator[tuple[str, argparse.ArgumentParser]]":
    for action in found._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, below in action.choices.items():
                yield above + name, below
                yield from _paths(f"{above}{name} ", below)


def plain(text: str) -> str:
    """Return a manual page as plain text, where there is no man(1)."""
    lines: list[str] = []
    indent, verbatim, head = "  ", False, False
    for line in text.split("\n"):
        macro, _, rest = line.partition(" ") if line.startswith(".") else ("", "", line)
        shown = re.sub(r"\\f[BIR]|\\&", "", rest).replace("\\(aq", "'").replace("\\(ga", "`")
        shown = re.sub(r"\\\[u([0-9A-F]+)\]", lambda code: chr(int(code[1], 16)), shown)
        shown = shown.replace("\\-", "-").replace("\\e", "\\").strip('"' if macro == ".SS" else "")
        if macro == ".SH":
            lines, indent = [*lines, "", shown, ""], "  "
        elif macro == ".SS":
            lines, indent = [*lines, "", "  " + shown, ""], "    "
        elif macro in {".PP", ".TP"}:
            lines, head = [*lines, ""], macro == ".TP"
        elif macro in {".nf", ".fi"}:
            verbatim = macro == ".nf"
        elif macro in {".TH", ".RS", ".RE"} or not shown:
            continue
        elif verbatim:
            lines.append(EXACT + "      " + shown)
        elif head:
            lines, head = [*lines, indent + shown, indent + "   "], False
        else:
            lines[-1] = f"{lines[-1]} {shown}" if lines[-1] else indent + shown
    lines = [piece for line in lines for piece in _wrapped(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def _wrapped(line: str) -> "list[str]":
    """Wrap a line of running text, indented as it is; one behind EXACT stays as it is."""
    if line.startswith(EXACT):
        return [line.removeprefix(EXACT)]
    indent = line[: len(line) - len(line.lstrip())]
    found = textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return found or [""]


def show() -> None:
    """Show the manual page in man(1) at a terminal that has it, else print it as plain text."""
    text = page()
    if sys.stdout.isatty() and shutil.which("man"):
        with tempfile.TemporaryDirectory(prefix="memtui-") as directory:
            path = directory + "/memtui.1"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            try:
                if subprocess.run(["man", path], check=False).returncode == 0:
                    return
            except (OSError, KeyboardInterrupt):
                pass
    from memtui.cli.output import Output
    from memtui.cli.pager import show as paged

    out = Output(os.environ)

    def answer(to: Output) -> None:
        for line in plain(text).split("\n"):
            to.print(line)

    if out.tty and sys.stdin.isatty():
        paged(out, answer, os.environ)
    else:
        answer(out)
