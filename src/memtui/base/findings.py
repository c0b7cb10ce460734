"""The registry of findings: the sentence of each code, what to do, and the fix, as findings.txt has them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from memtui.base import shell, word_lists
from memtui.base.finding import NOTE, OK, PROBLEM, Finding
from memtui.base.phrasing_hot import ago, many, share, size, some

_SECTIONS = word_lists.read(__file__.removesuffix("py") + "txt")
AREAS = dict(row.split(": ") for row in _SECTIONS.pop("areas").split("\n"))


class Kind(NamedTuple):
    """The words of a code: `words` and `remedy` are templates filled with its data, `flag` is a short form for lists,
    `several` the template for more than one memory, `{files}`. In a remedy each place, or several joined by colons, is
    one word of a shell command. `{name:memory|memories}` is a count, or the length of a list; for others see FORMATS.
    `fix` is the id of the fix that CLI and TUI offer, empty if only a person can fix it. `by` names the facts that a
    cause has: findings of a code that agree in them are one problem; where it is empty each is one of its own.
    `letter` is that of the flag in lists (store/status.py)."""

    words: str = ""
    remedy: str = ""
    fix: str = ""
    flag: str = ""
    by: tuple[str, ...] = ()
    several: str = ""
    letter: str = ""


# How a template writes a value; all others are counts.
FORMATS: dict[str, Callable[[Any], str]] = {
    "": str,
    "moved": lambda path: f"; it is {path} now" if path else "",
    "commit": lambda words: f" ({words})" if words else "",
    "similar": lambda score: share(score / 100),
    "because": lambda why: f": {why}" if why else " yet",
    "since": lambda time: f" (since {time[:10]})" if time else "",
    "unmerged": lambda why: f" No merge is proposed: {why}." if why else "",
    "age": lambda seconds: f" (the oldest made {ago(0.0, seconds)})" if seconds is not None else "",
    "size": size,
    "texts": lambda days: f"their texts for {many(days, 'day')}" if days else "with all texts",
}


class Fact:
    """A value, formatted as a template asks; see `Kind`."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __format__(self, how: str) -> str:
        if isinstance(self.value, list):
            return many(len(self.value), *how.split("|")) if how else some(self.value)
        if how not in FORMATS and isinstance(self.value, int):
            return many(self.value, *how.split("|"))
        return FORMATS.get(how, str)(self.value)


def fill(template: str, facts: Mapping[str, object]) -> str:
    return template.format_map({key: Fact(value) for key, value in facts.items()})


def _read_kinds() -> dict[str, Kind]:
    kinds = {}
    for code, text in _SECTIONS.items():
        fields = {"words": ""}
        for line in text.replace("\n  ", " ").split("\n"):
            name, colon, rest = line.partition(": ")
            if not (is_part := colon and name in PARTS) and fields["words"]:
                raise ValueError(f"{code} has a second sentence, or a part of no such name: {line}")
            fields |= {name: rest} if is_part else {"words": line}
        fields["remedy"] = fields.pop("do", "")
        kinds[code] = Kind(**{**fields, "by": tuple(fields.get("by", "").split())})  # type: ignore[arg-type]
    return kinds


_PLACE = re.compile(r"\{\w+\}(?::\{\w+\})*")  # a word of a remedy that facts fill, as `{scope}:{memory}`
PARTS = frozenset({"do", "fix", "flag", "by", "several", "letter"})  # the names of lines of a code but its sentence
UNCHECKED = Kind("This can't be checked: {why}.", "Check the owner and mode of the files it names.")
REGISTRY = {f"{area}.ok": Kind() for area in AREAS} | {f"{area}.failed": UNCHECKED for area in AREAS} | _read_kinds()
_OF_MEMORIES = re.compile(r"(?:memories|rules)\.(?!ok$|failed$)")  # of memories and their index, the worst first
OF_MEMORIES = {code: kind for code, kind in REGISTRY.items() if _OF_MEMORIES.match(code)}


def message(finding: Finding) -> str:
    """Return the sentence of a finding; empty for an area that is all right."""
    kind, files = REGISTRY[finding.code], finding.data.get("files")
    is_several = bool(kind.several) and isinstance(files, list) and len(files) > 1
    return fill(kind.several if is_several else kind.words, finding.data)


def remedy(finding: Finding) -> str:
    """Return what to do about a finding; empty if there is nothing to do."""
    return _PLACE.sub(lambda place: shell.shell_word(fill(place[0], finding.data)), REGISTRY[finding.code].remedy)


def flag(finding: Finding, do: str = "memtui trust") -> str:
    """Return the short form of a finding for a list. `do`: the command or key that trusts a memory."""
    return fill(REGISTRY[finding.code].flag, {**finding.data, "do": do})


def fix_of(finding: Finding) -> str:
    """Return the id of the fix for a finding; empty if only a person can fix it."""
    return REGISTRY[finding.code].fix


def with_remedy(finding: Finding) -> str:
    return f"{message(finding)} {remedy(finding)}".strip()


def unread_row(finding: Finding) -> dict[str, str]:
    """Return the finding on an inbox that can't be read, for --json."""
    return {"message": message(finding), "hint": remedy(finding)}


def as_row(finding: Finding) -> dict[str, object]:
    about = {"area": finding.area, "code": finding.code, "level": finding.level, "memories": memories(finding)}
    words = {"subject": finding.subject, "message": message(finding), "remedy": remedy(finding)}
    return {**about, "place": place(finding), **words}


def memories(finding: Finding) -> list[str]:
    files = finding.data.get("files") or [finding.data[key] for key in ("memory", "file") if key in finding.data][:1]
    return list(map(str, files)) if isinstance(files, list) else []


def _agreement(finding: Finding) -> tuple[str, ...]:
    """Return what the findings of one cause agree in beside their code; nothing where each is one of its own."""
    by, index = REGISTRY[finding.code].by, finding.subject if finding.subject.startswith("index:") else ""
    return (index, *(str(finding.data.get(key)) for key in by)) if by else ()


def grouped(findings: Iterable[Finding], more: Callable[[Finding], object] = lambda _: None) -> list[list[Finding]]:
    """Group findings by what they come from (`Kind.by`), in their order; those in a group agree in `more` too."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        key = (finding.code, finding.level, _agreement(finding) or number, more(finding))
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def merged(findings: Sequence[Finding]) -> Finding:
    """Return one finding for those of one cause, with the names of all memories."""
    if len(findings) == 1:
        return findings[0]
    files = list(dict.fromkeys(name for finding in findings for name in memories(finding)))
    return findings[0]._replace(data={**findings[0].data, "files": files})


def place(finding: Finding) -> str:
    """Return the place where a finding is cured: `inbox` for memories, `activity` for notes that wait, else `setup`."""
    if finding.subject.startswith("note:"):
        return "activity"
    is_of_memories = finding.area == "memories" or finding.code in {"trust.waiting", "trust.ok"}
    return "inbox" if is_of_memories and finding.code != "memories.failed" else "setup"


def of_setup(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings on what is set up: those on memories wait in the Inbox, those on notes in Activity."""
    return [finding for finding in findings if place(finding) == "setup"]


def problems(findings: Iterable[Finding]) -> int:
    """Count the problems to fix, by cause."""
    return len(grouped(finding for finding in findings if finding.level == PROBLEM))


def notes(findings: Iterable[Finding]) -> int:
    """Count what is worth knowing, by cause."""
    return len(grouped(finding for finding in findings if finding.level == NOTE))


Action = Literal["fix", "trust", "edit", "run"]  # what a person does: `run` is what `remedy` says


class Problem(NamedTuple):
    """A cause of trouble: the finding for all that it touches, its `parts`, what can be done, what to type."""

    finding: Finding
    parts: tuple[Finding, ...]
    action: Action
    remedy: str

    @property
    def cause(self) -> str:
        """The code of the findings: `memories.cut`."""
        return self.finding.code

    @property
    def key(self) -> str:
        """What tells it from all others, however many memories it touches."""
        return f"problem:{self.cause} {' '.join(_agreement(self.finding)) or self.sentence}"

    @property
    def later_key(self) -> str:
        """What it is hidden under; it shows again once it touches other memories."""
        return f"problem:{self.cause} {self.sentence}"

    @property
    def level(self) -> str:
        """PROBLEM for what is to be fixed, NOTE for what is worth knowing."""
        return self.finding.level

    @property
    def sentence(self) -> str:
        """What is wrong: `MEMORY.md of auto is over its limit: 305 memories not loaded.`"""
        return message(self.finding)

    @property
    def memories(self) -> list[str]:
        """The names of the memories and files that it touches."""
        return memories(self.finding)


def by_cause(
    findings: Iterable[Finding],
    fixable: Callable[[Finding], bool] = lambda finding: bool(fix_of(finding)),
    remedy: Callable[[Finding], str] = remedy,
) -> list[Problem]:
    """Return the problems that findings tell of. `fixable`: whether memtui fixes one; `remedy`: what to type."""
    findings = (finding for finding in findings if finding.level != OK)
    causes = [(merged(parts), tuple(parts)) for parts in grouped(findings, fixable)]
    return [Problem(whole, parts, _action(parts[0], fixable), remedy(whole)) for whole, parts in causes]


def _action(finding: Finding, fixable: Callable[[Finding], bool]) -> Action:
    if fix_of(finding) == "trust":
        return "trust"
    return "fix" if fixable(finding) else "edit" if finding.subject.startswith("memory:") else "run"
