"""Rules as lines that a person types, such as `never: {command: "npm *"}, instead: {command: "pnpm *"}`; and written
into a memory's file, as entries of `rules:`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from memtui.base import fastjson_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.rules.rule_hot import Rule, parse_all
from memtui.store.frontmatter import document

FIELD = "rules"
AS_IN = 'As in: never: {command: "npm *"}, instead: {command: "pnpm *"}'
# A key with its mapping, or its word; what stands between these.
_PART = re.compile(
    r"(?P<key>never|always|instead|before|with|enforce)\s*:\s*"
    r"(?P<value>\{(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^{}\"'])*\}|\w+)[\s,;]*"
)


def line(rule: Rule) -> str:
    """Return a rule on one line; `rules_of_line` reads it back."""
    return ", ".join(f"{key}: {value}" for key, value in _parts(rule))


def _parts(rule: Rule) -> Iterator[tuple[str, str]]:
    for key, value in rule.as_row().items():
        named = value.items() if isinstance(value, dict) else ()
        words = ", ".join(f"{target}: {fastjson_hot.dumps(text)}" for target, text in named)
        yield key, f"{{{words}}}" if named else str(value)


def rules_of_line(text: str) -> list[Rule]:
    """Read rules, separated by `;`. Raises UsageError."""
    entries, end = "", 0
    for match in _PART.finditer(text.strip()):
        begins = match["key"] in {"never", "always"}
        if match.start() != end or not (begins or entries):
            break
        entries += f"{'  - ' if begins else '    '}{match['key']}: {match['value']}\n"
        end = match.end()
    if end < len(text.strip()):
        raise UsageError(f"This is no rule: {text.strip()[end:]}", AS_IN)
    doc = document.parse(f"---\n{FIELD}:\n{entries}---\n".encode() if entries else b"")
    rules, problems = parse_all(doc.fields)
    if doc.broken is not None or problems:
        raise UsageError(f"This is no rule: {doc.broken or problems[0][2]}.", AS_IN)
    return rules


def stated(fields: Mapping[str, object]) -> str | None:
    """Return the entries of `rules:` on one line, separated by `;`; None where they can't be edited so."""
    nested = fields.get("metadata")
    rules, problems = parse_all({FIELD: fields.get(FIELD)})
    return None if problems or (isinstance(nested, dict) and FIELD in nested) else "; ".join(map(line, rules))


def with_rules(data: bytes, rules: Sequence[Rule], *, others: bool = False) -> bytes:
    """Return a memory's file with rules; `others`: those there are replaced. Raises MemtuiError if it has some."""
    if not (rules or others):
        return data
    doc = document.parse(data)
    if FIELD in doc.fields and not others:
        raise MemtuiError("The memory has rules already.", "Change them in its file.")
    doc = doc.without_field([FIELD])
    if not rules:
        return doc.raw
    lines = [
        f"{'    ' if number else '  - '}{key}: {value}\n"
        for rule in rules
        for number, (key, value) in enumerate(_parts(rule))
    ]
    return doc.with_lines(f"{FIELD}:\n{''.join(lines)}", FIELD, [rule.as_row() for rule in rules]).raw
