"""Whether a call of a tool, or a reply, fits a pattern of a rule, gives it an opportunity, or breaks it. Hot path."""

from memtui.base import globs_hot
from memtui.rules import shell_hot

SHELLS = ("Bash", "Monitor", "PowerShell")
PATCH_KEYS = ("patch", "input")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memtui.rules.rule_hot import Pattern, Rule


class Call:
    """What the agent did at once. `commands`: words of simple commands; `paths`: files written; `added`: path and added
    lines; `left`: path and the whole text after the edit, None where unknown; `replies`: words to the person."""

    __slots__ = ("added", "commands", "left", "paths", "replies")

    def __init__(self, replies: "Sequence[str]" = ()) -> None:
        self.commands: list[list[str]] = []
        self.paths: list[str] = []
        self.added: list[tuple[str, str]] = []
        self.left: list[tuple[str, str | None]] = []
        self.replies = list(replies)

    def add_edit(self, path: str, edits: "Sequence[tuple[str, str]]", text: "str | None") -> None:
        """Add an edit of a file: (old, new) of its parts, and the whole text after it."""
        self.paths.append(path)
        self.added.append((path, "\n".join([_added_lines(old, new) for old, new in edits])))
        self.left.append((path, text))


def call_of(tool_name: str, tool_input: "Mapping[str, object]", result: object = None) -> Call:
    """Return what a tool call does. `result`: what the client says of its result; a hook may name `originalFile`, the
    text of the file before, which tells added lines of a Write from others."""
    call = Call()
    if tool_name in SHELLS:
        call.commands = shell_hot.simple_commands(_text(tool_input, "command")) or []
    elif tool_name == "apply_patch":
        _add_patch(call, next((text for key in PATCH_KEYS if (text := _text(tool_input, key))), ""))
    elif tool_name == "NotebookEdit" and (path := _text(tool_input, "notebook_path")):
        call.add_edit(path, [("", _text(tool_input, "new_source"))], None)
    elif tool_name in ("Write", "Edit", "MultiEdit") and (path := _text(tool_input, "file_path")):
        _add_file(call, path, tool_input, result if isinstance(result, dict) else {})
    return call


def _add_file(call: Call, path: str, tool_input: "Mapping[str, object]", result: "Mapping[str, object]") -> None:
    """Add the edit of a file by Write, Edit or MultiEdit."""
    before = result.get("originalFile", result.get("originalFileContents"))
    text = before if isinstance(before, str) else None
    if "content" in tool_input:
        content = _text(tool_input, "content")
        return call.add_edit(path, [(text or "", content)], content)
    rows = tool_input.get("edits")
    edits = []
    for row in rows if isinstance(rows, list) else [tool_input]:
        if not isinstance(row, dict):
            continue
        old, new = _text(row, "old_string"), _text(row, "new_string")
        edits.append((old, new))
        if text is not None and old in text:
            text = text.replace(old, new, -1 if row.get("replace_all") else 1)
        else:
            text = None if old else new
    return call.add_edit(path, edits, text)


def _add_patch(call: Call, patch: str) -> None:
    """Add the edits of a patch in the form of apply_patch."""
    path = ""
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.split("\n"), "*** End Patch"]:
        if not line.startswith("*** "):
            (old if line[:1] == "-" else new if line[:1] == "+" else []).append(line[1:])
            continue
        action, _, name = line[4:].partition(": ")
        if action == "Move to":
            path = name
            continue
        if path:
            call.add_edit(path, [("\n".join(old), "\n".join(new))], None)
        path, old, new = name if action in ("Add File", "Update File", "Delete File") else "", [], []


def _text(table: "Mapping[str, object]", key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def _added_lines(old: str, new: str) -> str:
    """Return the lines of the new text that the old one has not, or has less often."""
    counts: dict[str, int] = {}
    for line in old.split("\n"):
        counts[line] = counts.get(line, 0) + 1
    lines = []
    for line in new.split("\n"):
        count = counts.get(line, 0)
        if count:
            counts[line] = count - 1
        else:
            lines.append(line)
    return "\n".join(lines)


def fits(pattern: "Pattern", call: Call, root: str) -> str:
    """Return the command, path or line that fits a pattern, empty for none. `root`: of the project."""
    if pattern.command:
        words = pattern_words(pattern.command)
        return next((" ".join(command) for command in call.commands if _fits_words(words, command)), "")
    if pattern.text:
        texts = [text for _, text in _added(pattern, call, root)]
        return next((_line_of(pattern.text, text) for text in texts if pattern.text in text), "")
    if pattern.reply:
        return next((_line_of(pattern.reply, text) for text in call.replies if pattern.reply in text), "")
    return next((path for path in call.paths if globs_hot.matches(pattern.path, path, root)), "")


def _added(pattern: "Pattern", call: Call, root: str) -> "list[tuple[str, str]]":
    return [row for row in call.added if not pattern.path or globs_hot.matches(pattern.path, row[0], root)]


def _line_of(text: str, lines: str) -> str:
    """Return the line in which a text starts."""
    at = lines.index(text)
    return lines[lines.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()


def pattern_words(command: str) -> "list[str]":
    """Return the words of a command's pattern; quoted text is one word."""
    return command.split()


def _fits_words(pattern: "Sequence[str]", words: "Sequence[str]") -> bool:
    """Tell whether words fit a pattern, in which `*` stands for any words, also none."""
    reached = {0}
    for piece in pattern:
        if piece == "*":
            reached = set(range(min(reached), len(words) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(words) and _fits_word(piece, words[at])}
        if not reached:
            return False
    return len(words) in reached


def _fits_word(glob: str, word: str) -> bool:
    return glob == word


def is_opportunity(rule: "Rule", call: Call, root: str) -> bool:
    """Tell whether a call could keep or break a rule: `never`, or `always` one text with another.

    With `instead`, what fits either side. Without: a command whose first word fits that of the pattern (any command if
    that is `*`), any edit for a path, any edit of files at its path for a text (that adds lines if it has none), any
    reply. One text with another: an edit that adds the `with` text, where the whole file is known."""
    subject, other = rule.subject, rule.other
    if other is not None:
        return (
            bool(fits(other, call, root))
            if rule.relation == "with"
            else bool(fits(subject, call, root) or fits(other, call, root))
        )
    if subject.command:
        first = pattern_words(subject.command)[:1]
        return any(first == ["*"] or _fits_words(first, command[:1]) for command in call.commands)
    if subject.reply:
        return bool(call.replies)
    if subject.text:
        return any(subject.path or text for _, text in _added(subject, call, root))
    return bool(call.paths)


def breach(rule: "Rule", call: Call, root: str) -> str:
    """Return the command, path or line that breaks a rule of those that `is_opportunity` knows, empty for none."""
    if rule.relation != "with":
        return fits(rule.subject, call, root)
    for (path, added), (_, text) in zip(call.added, call.left, strict=True):
        if rule.other is not None and text is not None and rule.subject.text not in text and rule.other.text in added:
            return f"{path}: {_line_of(rule.other.text, added)}"
    return ""
