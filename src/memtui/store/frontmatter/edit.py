"""Changes of one field of frontmatter at the place that PyYAML finds; the caller checks the result."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memtui.base.errors import MemtuiError
from memtui.store.frontmatter import subset_hot
from memtui.store.frontmatter.subset_hot import NotInSubsetError, indent_of, odd_character, split_key

# Plain text that some YAML reader would take for a number, a date, a boolean or null.
TYPED = re.compile(r"[-+.]?\d[\w.,:+ -]*|[-+]?\.(?:inf|nan)|~|=|<<|null|true|false|yes|no|on|off|[yn]", re.IGNORECASE)


def refusal() -> MemtuiError:
    """Return the error for a field whose place can't be found, or that can't be changed alone."""
    hint = "open the file in an editor and change it there"
    return MemtuiError("this field can't be changed without touching others", hint)


def set_field(block: str, path: Sequence[str], old: object, new: object, newline: str) -> str:
    """Return the block with one field set in the form of its `old` value, or added. Raises MemtuiError."""
    root = _compose(block)
    if root is None:  # empty, or only comments
        return block + field_lines(_nested(path, new), 0, newline)
    chain = _chain(root, path)
    if len(chain) == len(path):
        return _with_value(block, *chain[-1], old, new, newline)
    parent = chain[-1][2] if chain else root
    missing = path[len(chain) :]
    if parent.id == "mapping" and parent.flow_style:
        at = _end(block, parent.value[-1][1]) if parent.value else parent.end_mark.index - 1
        added = (", " if parent.value else "") + _flow(_nested(missing, new))[1:-1]
        return block[:at] + added + block[at:]
    if parent.id == "mapping":
        column = parent.value[0][0].start_mark.column
        at = _place(block, parent, missing[0]) if parent is root else _next_line(block, _end(block, parent))
    else:  # a key without a value
        column = chain[-1][1].start_mark.column + 2
        at = _next_line(block, parent.end_mark.index)
    return block[:at] + field_lines(_nested(missing, new), column, newline) + block[at:]


def drop_field(block: str, path: Sequence[str]) -> str:
    """Return the block without one field, and without a parent that would be left empty. Raises MemtuiError."""
    chain = _chain(_compose(block), path)
    if len(chain) < len(path):
        raise refusal()
    while len(chain) > 1 and all(key.value == chain[-1][1].value for key, _ in chain[-1][0].value):
        chain.pop()
    mapping, dropped, _ = chain[-1]
    if mapping.flow_style:
        rest = [block[k.start_mark.index : _end(block, v)] for k, v in mapping.value if k.value != dropped.value]
        return block[: mapping.start_mark.index] + "{" + ", ".join(rest) + "}" + block[mapping.end_mark.index :]
    for key, value in reversed(mapping.value):
        if key.value == dropped.value:
            block = block[: _line(block, key.start_mark.index)] + block[_next_line(block, _end(block, value)) :]
    return block


def field_lines(fields: Mapping[str, object], column: int = 0, newline: str = "\n") -> str:
    """Format new fields as lines of YAML, indented to `column`."""
    lead = " " * column
    lines = ""
    for name, value in fields.items():
        key = name if split_key(name + ":") == (name, len(name) + 1) and not TYPED.fullmatch(name) else quoted(name)
        lines += f"{lead}{key}:"
        if isinstance(value, dict):
            lines += newline + field_lines(value, column + 2, newline)
        elif isinstance(value, list) and value:
            lines += newline + "".join(f"{lead}  - {scalar(item)}{newline}" for item in value)
        else:
            lines += " " + ("[]" if isinstance(value, list) else scalar(str(value))) + newline
    return lines


def _compose(block: str) -> Any:
    """Return PyYAML's tree of nodes with their places; None if there are no fields. Raises MemtuiError."""
    import yaml

    class Loader(yaml.BaseLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            """Return an alias as a node of its own; PyYAML would give the node it stands for, with its place."""
            if not self.check_event(yaml.AliasEvent):
                return super().compose_node(parent, index)
            event = self.get_event()  # type: ignore[no-untyped-call]
            return yaml.ScalarNode("", f"*{event.anchor}", event.start_mark, event.end_mark)

    try:
        # YAML 1.2 allows a tab inside a plain value, PyYAML does not. Only the places matter here.
        return yaml.compose(re.sub(r"(?<=\S)[ \t]+", lambda gap: " " * len(gap[0]), block), Loader)
    except yaml.YAMLError:
        raise refusal() from None


def _chain(root: Any, path: Sequence[str]) -> list[tuple[Any, Any, Any]]:
    """List (mapping, key, value) for each step of the path that exists; of a key that is there twice, the last."""
    chain: list[tuple[Any, Any, Any]] = []
    for name in path:
        mapping = chain[-1][2] if chain else root
        pairs = mapping.value if mapping.id == "mapping" else []
        matches = [(mapping, key, value) for key, value in pairs if key.value == name]
        if mapping.id == "sequence":
            matches = [(mapping, item, item) for at, item in enumerate(mapping.value) if str(at) == name]
        if not matches:
            break
        chain.append(matches[-1])
    return chain


def line_of(block: str, path: Sequence[str]) -> int:
    """Return the line, from 0, where a field begins, or the last part of its path that exists. Raises MemtuiError."""
    chain = _chain(_compose(block), path)
    return int(chain[-1][1].start_mark.line) if chain else 0


def _is_block(node: Any) -> bool:
    return node.id != "scalar" and not node.flow_style


def _end(block: str, node: Any) -> int:
    """Return where a node's own text ends. PyYAML's mark includes the blank lines and comments below a block."""
    while _is_block(node):
        node = node.value[-1][1] if node.id == "mapping" else node.value[-1]
    if node.id == "scalar" and node.style in ("|", ">"):
        return _line_end(block, len(block[: node.end_mark.index].rstrip(" \t\r\n")))
    return int(node.end_mark.index)


def _line(block: str, at: int) -> int:
    return block.rfind("\n", 0, at) + 1


def _next_line(block: str, at: int) -> int:
    return block.find("\n", at) + 1 or len(block)


def _line_end(block: str, at: int) -> int:
    return at + len(block[at : _next_line(block, at)].rstrip("\r\n"))


def _comment(line: str) -> str:
    match = re.search(" +#.*", line)
    return match[0] if match else ""


def _place(block: str, root: Any, name: str) -> int:
    """Return where a new field of the top level goes: the name first, the description after it, others last."""
    if name not in ("name", "description"):
        return _next_line(block, _end(block, root))
    behind = [_end(block, value) for key, value in root.value if name == "description" and key.value == "name"]
    return _next_line(block, behind[-1]) if behind else _line(block, root.value[0][0].start_mark.index)


def _with_value(block: str, mapping: Any, key: Any, node: Any, old: object, new: object, newline: str) -> str:
    start, end = node.start_mark.index, _end(block, node)
    style = node.style if node.id == "scalar" else ""
    if isinstance(new, list) and new and isinstance(old, list) and _is_block(node):
        edited = _with_items(block, node.value, old, new, newline)
        if edited:
            return edited
    if not isinstance(new, str):
        text = _flow(new)
    elif style in ("|", ">") and (literal := _literal(new, block[start:end], key.start_mark.column + 2, newline)):
        text = literal
    else:
        typed = node.id == "scalar" and not style and TYPED.fullmatch(node.value) is not None
        text = scalar(new, style, typed=typed, flow=mapping.flow_style)
    if mapping.flow_style and start == end:
        text = " " + text
    elif start == end or _is_block(node) or (style in ("|", ">") and "\n" not in text):
        # Between the colon and the comment of its line.
        start = block.find(":", key.end_mark.index) + 1
        text = " " + text + _comment(block[start : _line_end(block, start)])
        end = _line_end(block, end)
    return block[:start] + text + block[end:]


def _with_items(block: str, nodes: Sequence[Any], old: Sequence[object], new: Sequence[str], newline: str) -> str:
    """Return the block with other items in a block list, those at its ends untouched; empty for odd layouts."""
    leads = [block[_line(block, node.start_mark.index) : node.start_mark.index] for node in nodes]
    if any(lead.strip() != "-" for lead in leads):
        return ""
    most = min(len(old), len(new))
    front = next((n for n in range(most) if old[n] != new[n]), most)
    back = next((n for n in range(most - front) if old[-1 - n] != new[-1 - n]), most - front)
    starts = [_line(block, node.start_mark.index) for node in nodes]
    ends = [_next_line(block, _end(block, node)) for node in nodes]
    if len(nodes) > front + back:
        start, end = starts[front], ends[len(nodes) - back - 1]
    else:
        start = end = ends[front - 1] if front else starts[0]
    added = [leads[0].rstrip() + " " + scalar(item) + newline for item in new[front : len(new) - back]]
    return block[:start] + "".join(added) + block[end:]


def _nested(path: Sequence[str], value: object) -> dict[str, object]:
    for name in reversed(path):
        value = {name: value}
    return value  # type: ignore[return-value]


def _flow(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(below)}" for key, below in value.items()) + "}"
    return scalar(str(value), flow=True)


def _literal(text: str, before: str, column: int, newline: str) -> str:
    """Return text as a `|` block, indented as the one `before`; empty for one line, or if it can't be kept exactly."""
    content = text.removesuffix("\n")
    if "\n" not in text or content.endswith("\n") or content[:1] in ("", " ", "\n", "\t"):
        return ""
    if odd_character(text) or "---" in text:
        return ""
    head, *below = before.split("\n")
    lead = " " * next((indent_of(line) for line in below if line.strip()), column)
    lines = [lead + line if line else "" for line in content.split("\n")]
    return newline.join([("|" if text.endswith("\n") else "|-") + _comment(head.rstrip("\r")), *lines])


def is_plain(text: str, *, typed: bool = False, flow: bool = False) -> bool:
    """Tell whether every YAML reader, Claude Code's included, reads text without quotes as this text."""
    if not text or "\t" in text or "\n" in text or "---" in text or odd_character(text):
        return False
    if (TYPED.fullmatch(text) and not typed) or (flow and (text[0] == "-" or set(",[]{}?#:'\"") & set(text))):
        return False
    try:
        return subset_hot.load(f"k: {text}\n") == {"k": text}
    except NotInSubsetError:
        return False


def quoted(text: str) -> str:
    """Return text in double quotes on one line. `---` is escaped: Claude Code would end the frontmatter there."""
    plain = json.dumps(text, ensure_ascii=False)
    escaped = "".join(f"\\u{ord(char):04x}" if odd_character(char) else char for char in plain)
    return escaped.replace("--", "-\\x2d") if "---" in escaped else escaped


def scalar(text: str, style: str = "", *, typed: bool = False, flow: bool = False) -> str:
    """Return one line of YAML that is read as this text; `typed`: plain if it may be a number, `flow`: in brackets."""
    if style not in ("'", '"') and is_plain(text, typed=typed, flow=flow):
        return text
    if style == "'" and "\n" not in text and "---" not in text and not odd_character(text):
        return "'" + text.replace("'", "''") + "'"
    return quoted(text)
