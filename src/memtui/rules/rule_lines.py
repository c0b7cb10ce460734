"""Rules as lines that a person types: as screens show them, `never npm *, instead pnpm *`, or as a file has them,
`never: {command: "npm *"}, instead: {command: "pnpm *"}`; and written into a memory's file, as entries of `rules:`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from memtui.base import fastjson_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.rules.rule_hot import Rule, parse_all
from memtui.store.frontmatter import document

FIELD = "rules"
AS_IN = "As in: never npm *, instead pnpm *"
# A key with its mapping, or its word; what stands between these.
_PART = re.compile(
    r"(?P<key>never|always|instead|before|with|enforce)\s*:\s*"
    r"(?P<value>\{(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^{}\"'])*\}|\w+)[\s,;]*"
)
# A rule as screens show it, or with `enforce` and the mapping of its second part as in a file.
_SHORT = re.compile(
    r"(?P<kind>never|always)\s+(?P<subject>“[^”]*”(?: in [^;\n]+?)?|[^\s:;][^;\n]*?)"
    r"(?:,?\s+(?P<relation>instead|before|with)(?::\s*(?=\{)|\s+)(?P<other>[^\s;][^;\n]*?))?"
    r"(?:,?\s+\(?enforce:\s*(?P<enforce>\w+)\)?)?\s*(?:[;\n]\s*|$)"
)
_TEXT = re.compile(r"[“\"](?P<text>.+)[”\"](?: in (?P<path>.+))?")


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
    entries, rest = "", text.strip()
    while rest:
        if match := _SHORT.match(rest):
            parts = [(match["kind"], _side(match["subject"]))]
            parts += [(match["relation"], _side(match["other"]))] if match["other"] else []
            parts += [("enforce", match["enforce"])] if match["enforce"] else []
        elif (match := _PART.match(rest)) and (entries or match["key"] in {"never", "always"}):
            parts = [(match["key"], match["value"])]
        else:
            raise UsageError(f"This is no rule: {rest}", AS_IN)
        for key, value in parts:
            entries += f"{'  - ' if key in {'never', 'always'} else '    '}{key}: {value}\n"
        rest = rest[match.end() :]
    doc = document.parse(f"---\n{FIELD}:\n{entries}---\n".encode() if entries else b"")
    rules, problems = parse_all(doc.fields)
    if doc.broken is not None or problems:
        raise UsageError(f"This is no rule: {doc.broken or problems[0][2]}.", AS_IN)
    return rules


def _side(words: str) -> str:
    """Return the mapping of what a person named: itself, a text in quotes, a path, or a command, with more words."""
    if words.startswith("{"):
        return words
    if match := _TEXT.fullmatch(words):
        targets = {"reply": match["text"]} if match["path"] == "a reply" else match.groupdict()
    elif " " not in words and ("/" in words or re.search(r"\.\w+$", words)):
        targets = {"path": words}
    else:
        targets = {"command": words if "*" in words else f"{words} *"}
    return f"{{{', '.join(f'{key}: {fastjson_hot.dumps(value)}' for key, value in targets.items() if value)}}}"


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
    parts = [part for rule in rules for part in enumerate(_parts(rule))]
    lines = [f"{'    ' if number else '  - '}{key}: {value}\n" for number, (key, value) in parts]
    return doc.with_lines(f"{FIELD}:\n{''.join(lines)}", FIELD, [rule.as_row() for rule in rules]).raw
