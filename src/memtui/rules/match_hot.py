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
    lines; `removed`: the lines that these replace; `texts_after`: path and the whole text after the
    edit, None where unknown; `replies`: words to the person."""

    __slots__ = ("added", "commands", "paths", "removed", "replies", "texts_after")

    def __init__(self, replies: "Sequence[str]" = ()) -> None:
        self.commands: list[list[str]] = []
        self.paths: list[str] = []
        self.added: list[tuple[str, str]] = []
        self.removed: list[str] = []
        self.texts_after: list[tuple[str, str | None]] = []
        self.replies = list(replies)

    def add_edit(self, path: str, edits: "Sequence[tuple[str, str]]", text: "str | None") -> None:
        """Add an edit of a file: (old, new) of its parts, and the whole text after it."""
        self.paths.append(path)
        self.added.append((path, "\n".join([_added_lines(old, new) for old, new in edits])))
        self.removed.append("\n".join([_added_lines(new, old) for old, new in edits]))
        self.texts_after.append((path, text))


def call_of(tool_name: str, tool_input: "Mapping[str, object]", result: object = None) -> Call:
    """Return what a tool call does. `result`: what the client says of its result."""
    call = Call()
    if tool_name in SHELLS:
        line = _text(tool_input, "command")
        if tool_name == "PowerShell":  # of which the same grammar reads what has no blocks and expressions
            code = "".join(line.split("'")[::2])
            is_more = "@'" in line or any(text in code for text in ("`", "(", "{", '@"'))
            line = "" if is_more else line.replace("\\", "/")
        call.commands = shell_hot.simple_commands(line.replace("\r\n", "\n")) or []
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
    """Return the command, path or line that fits a pattern, empty for none. `root`: what paths are relative to."""
    return _fits(pattern, None, call, root)


def _fits(pattern: "Pattern", allowed: "Pattern | None", call: Call, root: str) -> str:
    """Return what fits a pattern; a command or line that fits the `allowed` one does not count."""
    if pattern.command:
        words, others = _words_of(pattern.command), _words_of(allowed.command) if allowed else None
        commands = [command for command in call.commands if _fits_words(words, command)]
        return next((" ".join(command) for command in commands if not (others and _fits_words(others, command))), "")
    if pattern.text:
        texts = _added(pattern.path, call, root)
        lines = [line for added, removed in texts for line in _lines_with(pattern.text, added, removed)]
        return next((line for line in lines if not (allowed and allowed.text in line)), "")
    if pattern.reply:
        return next((line for text in call.replies for line in _lines_with(pattern.reply, text)), "")
    return next((path for path in call.paths if _is_at(pattern.path, path, root)), "")


def _is_at(glob: str, path: str, root: str) -> bool:
    is_inside = not path.startswith("/") or path.startswith(root.rstrip("/") + "/")
    return (is_inside or glob.startswith("/")) and globs_hot.matches(glob, path, root)


def _added(glob: str, call: Call, root: str) -> "list[tuple[str, str]]":
    """List the texts that a call adds to files at a path, to any if it is empty, and those that it removes there."""
    texts = zip(call.added, call.removed, strict=True)
    return [(text, removed) for (path, text), removed in texts if not glob or _is_at(glob, path, root)]


def _lines_with(text: str, lines: str, removed: str = "") -> "list[str]":
    """List the lines that have a text in them, but for as many as had it before."""
    if text not in lines:
        return []
    rows = [text] if "\n" in text else [line.strip() for line in lines.split("\n") if text in line]
    return rows[len(_lines_with(text, removed)) :] if removed else rows


def _words_of(command: str) -> "list[str]":
    """Split the pattern of a command; text in quotes is in one word. The first one goes without its directory."""
    words, quote = command.split(), ""
    if "'" in command or '"' in command:
        words = [""]
        for char in command:
            if char in ("'", '"') and quote in ("", char):
                quote = "" if quote else char
            elif char == " " and not quote:
                words.append("")
            else:
                words[-1] += char
    return [words[0].rpartition("/")[2], *words[1:]]


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
    """Tell whether a word fits a pattern, in which `*` stands for any letters, also none."""
    first, *middle = glob.split("*")
    if not middle:
        return glob == word
    last = middle.pop()
    at = len(first)
    for piece in filter(None, middle):
        at = word.find(piece, at) + len(piece) if piece in word[at:] else len(word) + 1
    return word.startswith(first) and word.endswith(last) and at <= len(word) - len(last)


def is_opportunity(rule: "Rule", call: Call, root: str) -> bool:
    """Tell whether a call could keep or break a rule: `never`, or `always` one text with another.

    With `instead`, what fits either side. Without: a command whose first word fits that of the pattern (any command if
    that is `*`), any edit for a path, any edit of files at its path for a text (that adds lines if it has none), any
    reply. One text with another: an edit that adds the `with` text, where the whole file is known."""
    subject, other = rule.subject, rule.other
    if other is not None and rule.relation == "with":
        return bool(_pairs(subject, other, call, root))
    if other is not None:
        return bool(fits(subject, call, root) or fits(other, call, root))
    if subject.command:
        first = _words_of(subject.command)[:1]
        return any(first == ["*"] or _fits_words(first, command[:1]) for command in call.commands)
    if subject.reply:
        return bool(call.replies)
    if subject.text:
        return any(subject.path or text for text, _ in _added(subject.path, call, root))
    return bool(call.paths)


def breach(rule: "Rule", call: Call, root: str) -> str:
    """Return the command, path or line that breaks a rule of those that `is_opportunity` knows, empty for none."""
    if rule.other is None:
        return fits(rule.subject, call, root)
    if rule.relation == "with":
        return next((line for line, is_kept in _pairs(rule.subject, rule.other, call, root) if not is_kept), "")
    return _fits(rule.subject, rule.other if _is_case(rule.other, rule.subject) else None, call, root)


def _is_case(narrower: "Pattern", wider: "Pattern") -> bool:
    if wider.command and narrower.command:
        return _fits_words(_words_of(wider.command), _words_of(narrower.command))
    return bool(wider.text and wider.text in narrower.text)


def _pairs(subject: "Pattern", other: "Pattern", call: Call, root: str) -> "list[tuple[str, bool]]":
    """List the lines that add the text of `other`, and whether their file has that of the subject."""
    pairs = []
    for (path, added), removed, (_, text) in zip(call.added, call.removed, call.texts_after, strict=True):
        is_meant = all(not pattern.path or _is_at(pattern.path, path, root) for pattern in (subject, other))
        lines = _lines_with(other.text, added, removed) if is_meant else []
        if lines and (text is not None or subject.text in added):
            pairs.append((lines[0], subject.text in (text or added)))
    return pairs
