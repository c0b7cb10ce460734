"""Rules that a memory's own words say, in a few plain forms. What holds only sometimes, or is said otherwise, gives no
rule: a wrong rule is worse than none. `proposals.txt` has the words, as patterns of a clause."""

import re
from collections.abc import Iterator
from functools import cached_property

from memtui.rules import sentences
from memtui.rules.rule_hot import ALWAYS, NEVER, Pattern, Rule
from memtui.rules.sentences import MaskedSentence, compiled, expanded, filled, kind_of, limits

MOST_RULES, MOST_CHARS, LEAST_TEXT = 8, 20_000, 4
# The command of a moment, by the words that name it.
MOMENTS = {
    "commit|提交|コミット|커밋": "git commit *",
    "push|推送|プッシュ|푸시": "git push *",
    r"\bprs?\b|pull.request|submit\w* (?:\w+ )*(?:changes|code)": "gh pr create *",
}
# Options that say by themselves what they belong to, and words for them.
OPTIONS = dict(line.split(": ") for line in sentences.SECTIONS["options"].split("\n"))
# Any file of a project, for what is to be done after each change.
ANY_FILE = Pattern(path="**")
SCRIPTS = (".sh", ".py")
_LATER, _BREAK, _BECAUSE, _HOLE = map(compiled, ("later", "break", "because", "hole"))
_FURTHER = re.compile(expanded("joint") + expanded("any"), re.IGNORECASE)  # names of a list behind a match
_MORE, _INSTALLS, _FORBIDS, _SOME = map(compiled, ("more", "installs", "forbids", "some"))
_LEAD = re.compile(expanded("lead").removesuffix("*"), re.IGNORECASE)  # a word of it
_SHELL = re.compile(r"[|;&<>(){}$`\\\"'\n,]")
# No check, and no use of a tool: where the shell is may differ.
_CD = re.compile(r"\s*cd(?:\s|$)")
# What was run in one case; and what a text of a file can't have.
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{7,40}")
_OPEN_END = re.compile(r"(?:<[^<>]*>|\[[^\[\]]*\]|\s[A-Z][A-Z_]*)$")
_CUT = re.compile(r"<[a-z_ -]+>|…|\.\.\.")
_HAS_FORM = re.compile(r"[^\w\s-]|[a-z][A-Z]|\w_\w")


class _Form:
    """A form of a clause, up to a mark or the end; compiled when one of the words before its `~` is in a sentence."""

    def __init__(self, line: str) -> None:
        words, _, source = line.rpartition(" ~ ")
        self.words, self.source = words.split("|"), source.removeprefix("«lead»")
        self.has_lead = source != self.source

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(filled(self.source) + f"(?={expanded('rest')})", re.IGNORECASE)

    def matches(self, words: str, starts: list[int]) -> Iterator[re.Match[str]]:
        """Yield where the form stands behind the longest lead, if it may have one. `starts`: the ends of leads."""
        ends = reversed(starts) if self.has_lead else starts[:1]
        yield from (match for at in ends if (match := self.pattern.match(words, at)))


_FORMS = {
    name: [_Form(line) for line in re.sub(r"\n\s+", "", text).split("\n")]
    for name, text in sentences.SECTIONS.items()
    if name.startswith("for_")
}


def rules_of_text(text: str) -> list[Rule]:
    """Return the rules that a text says, at most MOST_RULES, each once."""
    rules = {rule.key(): rule for sentence in sentences.sentences(text[:MOST_CHARS]) for rule in _rules_of(sentence)}
    wanted = {str(rule.other) for rule in rules.values() if rule.relation == "instead"}
    sure = [rule for rule in rules.values() if rule.kind == ALWAYS or str(rule.subject) not in wanted]
    return sure[:MOST_RULES]


# clauses


def _rules_of(sentence: MaskedSentence) -> Iterator[Rule]:
    """Yield what a sentence says: itself, and its clauses behind a mark; behind a comma only after an order, or what is
    forbidden."""
    words, end = sentence.words, 0
    lower = words.lower()
    breaks = [(match.end(), "(" if "." in match[0] else match[0].strip()[:1]) for match in _BREAK.finditer(words)]
    if sentence.opening:
        breaks = [(at, mark) for at, mark in breaks if at < sentence.opening]
    for start, mark in ((0, ""), *breaks):
        is_aside = mark == "," and not _FORBIDS.match(words, start)
        above = words[:start]
        is_limited = (
            limits(above) if mark in ":,：，" else sentences.CONDITION.search(above) or sentences.ONLY_FOR.match(above)
        )
        if start < end or (not end and start and (is_aside or is_limited)):
            continue
        is_inverted = sentence.inverted and not sentences.NEGATED.match(words, start)
        starts = [start]
        while (lead := _LEAD.match(words, starts[-1])) and lead.end() > starts[-1]:
            starts.append(lead.end())
        for name, forms in _FORMS.items():
            likely = (form for form in forms if any(word in lower for word in form.words))
            matches = (match for form in likely for match in form.matches(words, starts))
            match = next((match for match in matches if match.end() > sentence.opening), None)
            rules = [] if match is None else [*_BUILDERS[name](sentence, match)]
            if (
                match is None
                or (is_inverted and name != "for_instead")
                or (name in {"for_option", "for_trailer"} and not rules)
            ):
                continue
            limit = sentences.CONDITION if _FURTHER.match(words, match.end()) else _LATER
            if not limit.search(_BECAUSE.sub("", words[match.end() :])):
                yield from rules
            end = match.end()
            break


def _run_kind_of(sentence: MaskedSentence, sign: str) -> str:
    """Return the kind of what is run: a path that is a script is a command."""
    kind, name = kind_of(sign), sentence.names[sign]
    is_script = kind == "P" and (name.startswith(("./", "bin/", "scripts/")) or name.endswith(SCRIPTS))
    return "C" if is_script and not name.endswith("/") else kind


def _command(name: str) -> str:
    """Return the pattern of a command: with any words before its options, and behind it; empty if it has none."""
    words: list[str] = []
    for word in _HOLE.sub("*", name).split():
        is_operand = len(words) > 1 and word.startswith((".", "/"))  # options may stand before it
        if (word.startswith("-") or is_operand) and words and words[-1] != "*":
            words.append("*")
        words.append(word)
    if not words or any(map(_HASH.fullmatch, words)) or "*" in words[0] or _SHELL.search(" ".join(words)):
        return ""
    words[0] = words[0].rpartition("/")[2]  # as the shell's command is looked at
    return " ".join(words if words[-1] == "*" else [*words, "*"])


def _commands(sentence: MaskedSentence, part: str) -> list[Pattern]:
    """Return the patterns of what is run, each of several that `&&` joins; none if one of them has no pattern."""
    patterns = []
    for sign in sentence.signs(part):
        name = sentence.names[sign]
        if _run_kind_of(sentence, sign) not in {"C", "W"}:
            return []
        commands = [command for command in name.split("&&") if not _CD.match(command)]
        patterns += [Pattern(command=_command(command)) for command in commands]
    return patterns if all(pattern.command for pattern in patterns) else []


def _path(name: str) -> Pattern:
    name = name.removeprefix("./").removeprefix("/")
    is_file = name not in sentences.DIRECTORIES and ("*" in name or "." in name.rpartition("/")[2] or "/" not in name)
    return Pattern(path=f"{name}**" if name.endswith("/") else name if is_file else f"{name}/**")


def _paths(sentence: MaskedSentence, part: str) -> list[Pattern]:
    return [_path(sentence.names[sign]) for sign in sentence.signs(part) if kind_of(sign) == "P"]


def _text(name: str, path: str = "") -> Pattern | None:
    """Return the text by which code is seen in a file; None for what is a word, or part of many."""
    name, hole, _ = _CUT.sub("…", name).partition("…")
    if len(name) < LEAST_TEXT or name.startswith("-") or name.endswith("*") or not _HAS_FORM.search(name):
        return None
    if hole and (name[-1].isalnum() or " " in name):
        return None
    return Pattern(text=name[:-1] if name.endswith("()") else name, path=path)


# rules


def _instead(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield what is not to be used, with what is: both commands, or both texts; a command also without the other."""
    if sentences.PART.search(match.groupdict().get("between") or ""):
        return
    other = match["other"]
    for sign in sentence.signs(match["subject"]):
        pair, kinds = (
            (sentence.names[sign], sentence.names[other]),
            {_run_kind_of(sentence, sign), _run_kind_of(sentence, other)},
        )
        is_same_program = pair[0].split()[0] == pair[1].split()[0] and all(" " in name for name in pair)
        if "T" in kinds and kinds <= {"T", "W"}:
            subject, wanted = _text(pair[0]), _text(pair[1])
        elif {kind_of(sign), kind_of(other)} == {"P"}:
            if kinds != {"P"}:  # run, or read
                continue
            subject, wanted = _path(pair[0]), _path(pair[1])
        elif kinds == {"C"} or (kinds == {"C", "W"} and " " in "".join(pair)) or (kinds == {"W"} and is_same_program):
            subject, wanted = Pattern(command=_command(pair[0])), Pattern(command=_command(pair[1]))
        else:
            yield from (Rule(NEVER, pattern) for pattern in _commands(sentence, sign) if kind_of(sign) == "C")
            continue
        wider = str(wanted)[:-1] if kinds == {"C"} and str(wanted) != str(subject) else ""
        if subject is not None and (wanted is None or (wider and str(subject).startswith(wider))):
            yield Rule(NEVER, subject)
        elif subject is not None and str(subject) and str(wanted) and str(subject) != str(wanted):
            yield Rule(NEVER, subject, "instead", wanted)


def _never_run(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    for sign in sentence.signs(match["subject"]):
        # With anything in the place of a last hole, also nothing, more would be forbidden than is said.
        name = sentence.names[sign]
        purpose = match.groupdict().get("purpose") or ""
        if (installs := _INSTALLS.match(name + purpose)) and not sentences.PART.search(purpose):
            yield Rule(NEVER, Pattern(command=f"{name} {installs['verb']} *"))
        is_limited = purpose or _MORE.match(match.string[match.end() :])
        if "&&" in name or (is_limited and " -" not in name):  # it may be run for other purposes
            continue
        if not _OPEN_END.search(name) or not _HOLE.sub("", name.removeprefix(name.split()[0])).strip():
            yield from (Rule(NEVER, pattern) for pattern in _commands(sentence, sign))


def _never_edit(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that no file is written at a path, or at one below another; or that no file has the path as a text."""
    groups = match.groupdict()
    place = sentence.names.get(groups.get("place") or "", "")
    if re.search(r" (?:here|scripts?)$", match[0]):  # one of many, or a part of it
        return
    for path in (pattern.path for pattern in _paths(sentence, match["subject"])):
        if place and not place.endswith("/") and "." in place.rpartition("/")[2]:
            yield Rule(NEVER, Pattern(text=path, path=place))
        elif place and not place.endswith(("/", "*")):
            continue
        else:
            is_file = place and not path.endswith("**")
            above = "**/" if groups.get("any") or (is_file and "/" not in place.strip("/")) else ""
            yield Rule(NEVER, Pattern(path=f"{above}{place.removeprefix('/')}{'**/' if is_file else ''}{path}"))


def _never_write(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    place = _path(sentence.names[match["place"]]).path if match["place"] else ""
    texts = [_text(sentence.names[sign], place) for sign in sentence.signs(match["subject"])]
    yield from (Rule(NEVER, text) for text in texts if text is not None)


def _never_sign(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that no commit has a trailer, such as `Co-Authored-By:`."""
    name = sentence.names[match["subject"]].partition(":")[0]
    is_named = match["kind"] or match["place"] or name.lower().startswith("co-authored")
    if is_named and re.fullmatch(r"[A-Z]\w+(?:-\w+)+", name):
        yield Rule(NEVER, Pattern(command=f"git commit * *{name}:* *"))


def _never_option(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    if branches := match.groupdict().get("branches"):
        forced = {sentence.names[sign] for sign in sentence.signs(match[0]) if kind_of(sign) == "C"}
        names = [sentence.names.get(branch, branch) for branch in re.findall(expanded("branch"), branches)]
        options = ("--force", "-f") if forced <= {"git push --force", "git push -f"} else ()
        commands = [f"git push * {option} * {name.removeprefix('origin/')} *" for name in names for option in options]
        yield from (Rule(NEVER, Pattern(command=command)) for command in commands)
        return
    name = sentence.names.get(match["subject"], match["subject"].lower())
    named = {word for word in ("commit", "push") if word in match[0].lower()}
    for command in next((OPTIONS[option] for option in OPTIONS if name.startswith(option)), "").split("; "):
        if command and (len(named) != 1 or "; " not in OPTIONS.get(name, "") or command.split()[1] in named):
            yield Rule(NEVER, Pattern(command=command))


def _never_say(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    reply = sentence.names[match["subject"]]
    if reply == "—" or match.groupdict().get("place"):
        yield Rule(NEVER, Pattern(reply=reply))


def _before(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    moment = match["moment"].lower()
    names = dict.fromkeys(command for word, command in MOMENTS.items() if re.search(word, moment))
    others = _commands(sentence, moment) if sentence.signs(moment) else [Pattern(command=name) for name in names]
    pairs = [(subject, other) for other in others for subject in _commands(sentence, match["subject"])]
    yield from (Rule(ALWAYS, one, "before", other) for one, other in pairs if str(one) != str(other))


def _with(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield what goes with a change of a path, or of any; a text goes with another one in a file."""
    part, other = match["subject"], match.groupdict().get("other") or ""
    beside: list[Pattern | None] = [*_paths(sentence, other)] if other else [ANY_FILE]
    when = match.groupdict().get("when") or ""
    words = re.findall(sentences.SECTIONS["language"], when, re.IGNORECASE)
    if endings := dict.fromkeys(sentences.LANGUAGES[word.lower()] for word in words):
        beside = [Pattern(path=f"**/*.{ending}") for ending in endings]
    elif _SOME.match(when):
        return
    subjects: list[Pattern | None] = [*(_commands(sentence, part) or _paths(sentence, part))]
    if kind_of(part[0]) == "T":
        beside = beside or [_text(sentence.names[other])]
        subjects = [_text(sentence.names[part])]
    yield from (Rule(ALWAYS, subject, "with", cause) for subject in subjects for cause in beside if subject and cause)


_BUILDERS = {
    "for_instead": _instead,
    "for_never": _never_run,
    "for_path": _never_edit,
    "for_trailer": _never_sign,
    "for_option": _never_option,
    "for_text": _never_write,
    "for_before": _before,
    "for_with": _with,
    "for_reply": _never_say,
}
