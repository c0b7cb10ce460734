"""Rules of a memory: what the agent is never or always to do, in a form that can be checked."""

NEVER, ALWAYS = "never", "always"
# What a part of a rule may name: a shell command (words, `*` for any words), a file (a glob), text that an edit adds,
# and the agent's own words to the person. A text may have a path beside it.
TARGETS = ("command", "path", "text", "reply")
# What may stand beside each kind: what is to be done instead; before which the subject is to be done; with which.
BESIDE = {NEVER: ("instead",), ALWAYS: ("before", "with")}
ENFORCE = ("refuse", "ask")  # a hook refuses what breaks the rule, or the client asks the person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class RuleError(ValueError):
    """An entry of `rules:` that is no rule; the text says what is wrong and what would be right."""


class Pattern:
    """One side of a rule. `command`, `path`, `text`, `reply`: patterns, empty where nothing is named."""

    __slots__ = TARGETS

    def __init__(self, command: str = "", path: str = "", text: str = "", reply: str = "") -> None:
        self.command, self.path, self.text, self.reply = command, path, text, reply

    def as_row(self) -> "dict[str, object]":
        """Return the part as it stands in frontmatter, without empty targets."""
        return {target: value for target in TARGETS if (value := getattr(self, target))}

    def __str__(self) -> str:
        if self.text:
            return f"“{self.text}”" + (f" in {self.path}" if self.path else "")
        return f"“{self.reply}” in a reply" if self.reply else self.command or self.path


class Rule:
    """A rule, `never` or `always` a subject; `relation`: instead, before, with; `enforce`: refuse, ask, or empty."""

    __slots__ = ("enforce", "kind", "other", "relation", "subject")

    def __init__(
        self, kind: str, subject: Pattern, relation: str = "", other: "Pattern | None" = None, enforce: str = ""
    ) -> None:
        self.kind, self.subject, self.relation, self.other, self.enforce = kind, subject, relation, other, enforce

    def as_row(self) -> "dict[str, object]":
        """Return the rule as one entry of `rules:`; `parse` reads it back."""
        row: dict[str, object] = {self.kind: self.subject.as_row()}
        if self.other is not None:
            row[self.relation] = self.other.as_row()
        if self.enforce:
            row["enforce"] = self.enforce
        return row

    @property
    def is_enforceable(self) -> bool:
        """Whether a hook can decide it by one call of a tool: not over a session or turn, nor by what is said."""
        sides = (self.subject, self.other or self.subject)
        within_call = self.relation == "instead" or not self.relation or all(side.text for side in sides)
        return self.relation != "before" and within_call and not any(side.reply for side in sides)

    def key(self) -> str:
        """Return what tells this rule from others of the memory, however it is enforced: its words."""
        return str(self)

    def __str__(self) -> str:
        comma = "," * (self.relation == "instead")
        beside = "" if self.other is None else f"{comma} {self.relation} {self.other}"
        return f"{self.kind} {self.subject}{beside}"


def parse(entry: object) -> Rule:
    """Read one entry of `rules:`. What stands beside the kind may also stand in its mapping. Raises RuleError."""
    if not isinstance(entry, dict):
        raise RuleError('a rule is a mapping, as in: - never: {command: "npm install *"}')
    kinds = [kind for kind in (NEVER, ALWAYS) if kind in entry]
    if len(kinds) != 1:
        raise RuleError("a rule has either `never` or `always`")
    kind = kinds[0]
    subject = entry[kind]
    if not isinstance(subject, dict):
        raise RuleError(f"`{kind}` needs a mapping with one of {', '.join(TARGETS)}")
    beside = {key: subject[key] for key in BESIDE[kind] if key in subject}
    beside |= {key: entry[key] for key in BESIDE[kind] if key in entry}
    for key in entry.keys() - {kind, "enforce", *BESIDE[kind]}:
        raise RuleError(f"a rule with `{kind}` has no `{key}`")
    if len(beside) > 1 or (kind == ALWAYS and not beside):
        raise RuleError("`always` needs one of `before` and `with`")
    enforce = entry.get("enforce", "")
    if enforce not in ("", *ENFORCE):
        raise RuleError("`enforce` is refuse or ask")
    main = _pattern(kind, {key: value for key, value in subject.items() if key not in BESIDE[kind]})
    relation = next(iter(beside), "")
    other = _pattern(relation, beside[relation]) if relation else None
    rule = Rule(kind, main, relation, other, str(enforce))
    if enforce and not rule.is_enforceable:
        raise RuleError(
            "`enforce` needs a rule that one call breaks, not `before`, a reply or `with` between files: without it"
            " the rule is counted"
        )
    return rule


def _pattern(name: str, value: object) -> Pattern:
    """Read one side of a rule. Raises RuleError."""
    if not isinstance(value, dict) or not value:
        raise RuleError(f"`{name}` needs a mapping with one of {', '.join(TARGETS)}")
    for key, pattern in value.items():
        if key not in TARGETS:
            raise RuleError(f"`{name}` has no `{key}`: it is one of {', '.join(TARGETS)}")
        if not isinstance(pattern, str) or not pattern.strip():
            raise RuleError(f"`{key}` of `{name}` needs a text, in quotes")
    if len(value) > 1 and value.keys() != {"text", "path"}:
        raise RuleError(f"`{name}` names one thing: only a text has a path beside it")
    return Pattern(**{key: " ".join(words.split()) if key == "command" else words for key, words in value.items()})


def parse_all(fields: "Mapping[str, object]") -> "tuple[list[Rule], list[tuple[str, int, str]]]":
    """Read `rules:` and its short form `forbids:` of a memory's frontmatter: rules, and what is wrong with others, each
    (field, number of its entry, words)."""
    rules: list[Rule] = []
    problems: list[tuple[str, int, str]] = []
    nested = fields.get("metadata")
    fields = {**nested, **fields} if isinstance(nested, dict) else fields
    entries = fields.get("rules") or []
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        try:
            rules.append(parse(entry))
        except RuleError as error:
            problems.append(("rules", number, str(error)))
    forbids = fields.get("forbids") or []
    if isinstance(forbids, str):
        forbids = forbids.split("\n" if "\n" in forbids else ",")
    for number, command in enumerate(forbids if isinstance(forbids, list) else [forbids]):
        if not isinstance(command, str):
            problems.append(("forbids", number, "`forbids` is a list of commands, as in: forbids: npm install, npm ci"))
        elif command.strip():
            rules.append(Rule(NEVER, Pattern(command=" * ".join(command.split()) + " *"), enforce="refuse"))
    return rules, problems
