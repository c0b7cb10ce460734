"""Rules that a memory's own words say, in a few plain forms. What holds only sometimes, or is said otherwise, gives no
rule: a wrong rule is worse than none. `proposals.txt` has the words, as patterns of a clause."""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import NamedTuple

from memtui.base import word_lists
from memtui.rules.rule_hot import ALWAYS, NEVER, Pattern, Rule

_SECTIONS = word_lists.read(__file__.removesuffix("py") + "txt")
# The endings of a language's files.
LANGUAGES = dict(line.split() for line in _SECTIONS["languages"].split("\n"))
_SECTIONS["language"] = rf"(?:\b(?:{'|'.join(map(re.escape, LANGUAGES))})(?![\w+#]))"
_LISTS = (
    "programs", "with_subcommand", "libraries", "subcommands", "code_only", "endings", "files", "directories",
    "not_files",
)  # fmt: skip
PLAIN, WITH_SUBCOMMAND, LIBRARIES, SUBCOMMANDS, CODE_ONLY, ENDINGS, FILES, DIRECTORIES, NOT_FILES = (
    frozenset(_SECTIONS[name].split()) for name in _LISTS
)
PROGRAMS = PLAIN | WITH_SUBCOMMAND | CODE_ONLY
# Code and names stand in a sentence as one sign each: by kind, the first sign. C: a command; P: a path; T: other code;
# W: code that is a command if it is run; D: quoted words, and dashes; the last: what no rule can name.
SIGNS = {"C": 0xE000, "P": 0xE100, "T": 0xE200, "W": 0xE300, "D": 0xE380, "": 0xE400}
MOST_NAMES = 0x80  # in a line
MOST_RULES, MOST_CHARS, MOST_COMMAND, LEAST_TEXT = 8, 20_000, 100, 4
# The command of a moment, by the words that name it.
MOMENTS = {
    "commit|提交|コミット|커밋": "git commit *",
    "push|推送|プッシュ|푸시": "git push *",
    r"\bprs?\b|pull.request|submit\w* (?:\w+ )*(?:changes|code)": "gh pr create *",
}
# Options that say by themselves what they belong to, and words for them.
OPTIONS = dict(line.split(": ") for line in _SECTIONS["options"].split("\n"))
# Any file of a project, for what is to be done after each change.
ANY_FILE = Pattern(path="**")
SCRIPTS = (".sh", ".py")
# Where absolute paths begin; others that begin with a slash begin in the project.
OUTSIDE = tuple(f"/{name}" for name in _SECTIONS["outside"].split())


@cache
def _expanded(name: str) -> str:
    """Return the lines of a section with the sections and kinds that they name; inside of […] a kind is a range."""
    return f"[{_range(name)}]" if name in SIGNS else _filled(re.sub(r"\n\s+", "", _SECTIONS[name]))


def _filled(text: str) -> str:
    text = re.sub(r"\[((?:«\w»)+)\]", lambda kinds: f"[{''.join(map(_range, kinds[1].strip('«»').split('»«')))}]", text)
    return re.sub(r"«(\w+)»", lambda section: _expanded(section[1]), text)


def _range(kind: str) -> str:
    return f"\\u{SIGNS[kind]:04x}-\\u{SIGNS[kind] + MOST_NAMES - 1:04x}"


def _compiled(name: str) -> re.Pattern[str]:
    return re.compile(_expanded(name), re.IGNORECASE)


class _Form:
    """A form of a clause, up to a mark or the end; compiled when one of the words before its `~` is in a sentence."""

    def __init__(self, line: str) -> None:
        words, _, self.source = line.rpartition(" ~ ")
        self.words = words.split("|")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(_filled(self.source) + f"(?={_expanded('rest')})", re.IGNORECASE)


_FORMS = {
    name: [_Form(line) for line in re.sub(r"\n\s+", "", text).split("\n")]
    for name, text in _SECTIONS.items()
    if name.startswith("for_")
}


_CONDITION, _ONLY_FOR, _PART = _compiled("condition"), _compiled("only_for"), _compiled("part")
_INVERTED, _EXCEPTION, _LATER = _compiled("inverted"), _compiled("exception"), _compiled("later")
_NEGATED = re.compile(_expanded("lead") + _expanded("neg"), re.IGNORECASE)
_OPENING, _NEUTRAL, _POINT = _compiled("opening"), _compiled("neutral"), _compiled("point")
_END, _BREAK, _BECAUSE, _HOLE = map(_compiled, ("end", "break", "because", "hole"))
_TITLE, _DOING, _CROSS, _DIRECTORY = map(_compiled, ("title", "doing", "cross", "directory"))
_FORBIDS, _OPTION, _DASH, _CO_AUTHOR, _CODE = map(_compiled, ("forbids", "option", "dash", "trailer", "code"))
# A line that goes on in the next, and one that begins anew.
_WRAPS, _BEGINS = re.compile(r".{60,}[^\s.!?:|]$"), re.compile(r"\s*(?:[-*+>•|#]|\d{1,2}[.)]) |\s*$")
_FENCE = re.compile(r"^ *(```|~~~)(?P<language>[^\n]*)\n?(?P<code>.*?)(?:^ *\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_SHELLS = {"bash", "sh", "shell", "zsh", "console"}
_MARK = re.compile(r"^\s*(?P<mark>(?:[-*+>•]|\d{1,2}[.)]|#{1,6})\s+)*(?:\W*why\b.*$)?", re.IGNORECASE)
_BOLD = re.compile(r"\*\*|__|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])|[⚠\ufe0f❌✅🚫]")
_PLAIN = re.compile(f"`[^`\\n]+`|{_BOLD.pattern}")
_ASIDE = re.compile(r" ?\((?![^()]*\b(?:never|not|don't)\b)[^()\ue000-\ue4ff]*\)")
_WORD = re.compile(r"[^\s,;:!?()（），。；：、\ue000-\ue4ff\u3000-\u9fff\uac00-\ud7ff]+")
_NAMED = "|".join(sorted(map(re.escape, PLAIN | WITH_SUBCOMMAND), key=len, reverse=True))
_PROGRAM = re.compile(
    rf"(?<![\w./-])(?!git hooks?\b)(?:{_NAMED})(?: (?:{'|'.join(SUBCOMMANDS)})\b)?(?: --?[\w=-]+)*(?![\w/-]|\.\w)",
    re.ASCII,
)
_JOINED = re.compile(rf"(?<![\w`./-])(?:{_NAMED})(?:/(?:{_NAMED}))+(?![\w`/-])")
_LIBRARY = re.compile(
    rf"(?:(?<=not )|(?<=NOT )|(?<=never )|(?<=of )|(?<=than ))(?:{'|'.join(LIBRARIES)})(?![\w/-]|\.\w)"
)
_SHELL = re.compile(r"[|;&<>(){}$`\\\"'\n,]")
# What was run in one case; and what a text of a file can't have.
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{7,40}")
_OPEN_END = re.compile(r"(?:<[^<>]*>|\[[^\[\]]*\]|…|\.\.\.)$")
_CUT = re.compile(r"<[a-z_ -]+>|…|\.\.\.")
_NO_PATH = re.compile(r"[\s()\"'=<>{}$~:;|\\]|//|^(?:/|-|\.\.|@)")
_HAS_FORM = re.compile(r"[^\w\s-]|[a-z][A-Z]|\w_\w")


class _Sentence(NamedTuple):
    """A sentence in which a sign stands for each name; `names`: what it stands for; `inverted`: a point of a list of
    what not to do; `opening`: the length of what stands over the list, where that is the beginning of the sentence."""

    words: str
    names: dict[str, str]
    inverted: bool = False
    opening: int = 0

    def signs(self, part: str) -> list[str]:
        return [sign for sign in part if sign in self.names]


def rules_of_text(text: str) -> list[Rule]:
    """Return the rules that a text says, at most MOST_RULES, each once."""
    rules = {rule.key(): rule for sentence in _sentences(text[:MOST_CHARS]) for rule in _rules_of(sentence)}
    wanted = {str(rule.other) for rule in rules.values() if rule.relation == "instead"}
    sure = [rule for rule in rules.values() if rule.kind == ALWAYS or str(rule.subject) not in wanted]
    return sure[:MOST_RULES]


# sentences


def _sentences(text: str) -> Iterator[_Sentence]:
    """Yield the sentences that hold always: no code, no reasons, nothing below a heading or lead-in for some case, but
    for points that are an order together with it."""
    section, lead_in = (False, False), (False, False)  # whether it limits what is below, and lists what not to do
    heading, opening = "", ""
    for line in _lines(_FENCE.sub(_points, text.replace("’", "'"))):
        mark = _MARK.match(line)
        plain = _TITLE.sub(r"\1: ", _CROSS.sub("never ", line[mark.end() :] if mark else line))
        plain = _PLAIN.sub(lambda match: match[0] if match[0][0] == "`" else "", plain).strip()
        words, names = _masked(plain)
        is_listed = bool(mark and mark["mark"])
        above = _limits(words), bool(_INVERTED.search(words))
        if line.lstrip().startswith("#"):
            section, lead_in, is_listed = above, (False, False), False
            heading = opening = plain.rstrip(":： ") if _OPENING.match(plain) else ""
        elif not is_listed and words:
            is_lead_in = words.endswith((":", "："))
            lead_in = above if is_lead_in else (False, False)
            if is_lead_in and _OPENING.match(plain) and (heading or not section[0]):
                opening = plain.rstrip(":： ")
            elif not _NEUTRAL.match(plain):
                opening = "" if is_lead_in else heading
        is_doing = is_listed and bool(_DOING.match(plain))
        is_refused = is_listed and not is_doing and bool(_NEGATED.match(opening)) and not _NEGATED.match(plain)
        if is_listed and opening and (point := _POINT.match(plain)):
            rest = point["rest"] if _INVERTED.search(opening) else re.sub(r"^ ?(?=(?:to|and) )", " — ", point["rest"])
            yield _Sentence(*_masked(f"{opening}: {point['order']}{rest}"), opening=len(_masked(opening)[0]))
        parts = [_ASIDE.sub("", part).strip() for part in _END.split(words)]
        for part, following in zip(parts, [*parts[1:], ""], strict=True):
            is_limited = is_refused or section[0] or lead_in[0] or _EXCEPTION.match(following)
            if (
                not is_limited
                and not part.endswith(("?", "？"))
                and (names or _OPTION.search(part))
                and len(names) < MOST_NAMES
            ):
                is_inverted = is_listed and (section[1] or lead_in[1])
                words = f"never {part}" if is_inverted and is_doing else part
                yield _Sentence(words.rstrip(".!。！ "), names, is_inverted and not is_doing)


def _points(fence: re.Match[str]) -> str:
    """Return the commands of a code block behind a lead-in or heading as points of a list; nothing for other code."""
    above = fence.string[: fence.start()].rstrip().rpartition("\n")[2].rstrip("*_ ")
    is_below = above.endswith((":", "：")) or above.startswith("#") or fence[0].startswith("  ")  # of a point
    if fence["language"].strip() not in _SHELLS or not is_below:
        return ""
    commands = [re.sub(r"(?:^|\s+)#.*|^\$ ", "", line.strip()) for line in fence["code"].split("\n")]
    is_plain = not any("`" in command or command.endswith("\\") for command in commands)
    return "\n".join(f"- `{command}`" for command in commands if command and is_plain)


def _lines(text: str) -> list[str]:
    """Return the lines of a text, with those that were wrapped put together."""
    lines, above = [""], ""
    for line in text.split("\n"):
        if _WRAPS.match(above) and not _BEGINS.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
        above = line
    return lines


def _limits(words: str) -> bool:
    """Return whether words before an order say for what, or when, it holds."""
    return any((_CONDITION.search(words), _ONLY_FOR.match(words), _PART.search(words), '"' in words))


def _masked(line: str) -> tuple[str, dict[str, str]]:
    """Return the words of a line with a sign for each name, and what the signs stand for."""
    names: dict[str, str] = {}

    def sign(name: str, kind: str) -> str:
        sign = chr(SIGNS[kind] + min(len(names), MOST_NAMES - 1))
        names[sign] = name
        return sign

    def coded(match: re.Match[str]) -> str:
        code, quoted = (match["code"] or "").strip(), match["quoted"] or match["single"] or ""
        if code[:1] == "." and code[1:] in ENDINGS and code != ".env":  # all files with that ending
            return sign(f"*{code}", "P" if match.string[match.end() :].startswith(" files") else "")
        if re.fullmatch(r"[\w.-]+", code) and _DIRECTORY.match(match.string, match.end()):
            return sign(f"{code}/", "P")
        if code or (" " in quoted and _kind(quoted) == "C"):
            return sign(code or quoted, _kind(code or quoted))
        return match[0] if match["single"] else sign(quoted, "D")

    def plain(match: re.Match[str]) -> str:
        name = match[0].rstrip(".'")
        if "/" not in name and "." not in name and name[:2] != "--":
            return match[0]
        is_named = _is_path(name) and (name.endswith("/") or name.rpartition(".")[2].lower() in ENDINGS)
        kind = "P" if is_named else "T" if re.fullmatch(r"--[a-z][a-z-]+", name) else ""
        return sign(name, kind) + match[0][len(name) :] if kind else match[0]

    line = _JOINED.sub(lambda match: match[0].replace("/", ", "), line)
    words = _CO_AUTHOR.sub("`Co-Authored-By:`", line)
    words = _DASH.sub(lambda _: sign("—", "D"), words)
    words = _CODE.sub(coded, words)
    words = _PROGRAM.sub(lambda match: sign(match[0], "C"), _BOLD.sub("", words))
    words = _LIBRARY.sub(lambda match: sign(match[0], "W"), words)
    return _WORD.sub(plain, words).strip(), names


def _kind(code: str) -> str:
    program, *further = code.split() or [""]
    if "://" in code or len(code) > MOST_COMMAND or re.fullmatch(r"/[\w:-]+", code):
        return ""
    is_script = program.startswith(("./", "bin/", "scripts/")) or program.endswith(".sh")
    if program in PROGRAMS or (further and (program in LIBRARIES or is_script)):
        return "C"
    if _is_path(code) or code in FILES:
        return "P"
    may_run = re.fullmatch(r"[a-z][a-z0-9-]*" if not further else r"[a-z][\w.:-]*", program)
    return "W" if may_run and not re.search(r"[(){};=|\"']", code) else "T"


def _is_path(name: str) -> bool:
    name = name if name.startswith(OUTSIDE) else name.removeprefix("/")
    if _NO_PATH.search(name):
        return False
    stem, _, ending = name.rpartition("/")[2].rpartition(".")
    is_file = bool(stem) and ending.lower() in ENDINGS and name.lower() not in NOT_FILES
    is_directory = "/" in name.strip("/") or name.endswith("/")
    return is_file or bool(re.fullmatch(r"\.[a-z][\w.*-]*", name)) or (is_directory and any(map(str.isalpha, name)))


# clauses


def _rules_of(sentence: _Sentence) -> Iterator[Rule]:
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
        is_limited = _limits(above) if mark in ":,：，" else _CONDITION.search(above) or _ONLY_FOR.match(above)
        if start < end or (not end and start and (is_aside or is_limited)):
            continue
        is_inverted = sentence.inverted and not _NEGATED.match(words, start)
        for name, forms in _FORMS.items():
            likely = (form for form in forms if any(word in lower for word in form.words))
            matches = (match for form in likely if (match := form.pattern.match(words, start)))
            match = next((match for match in matches if match.end() > sentence.opening), None)
            rules = [] if match is None else [*_BUILDERS[name](sentence, match)]
            if (
                match is None
                or (is_inverted and name != "for_instead")
                or (name in {"for_option", "for_trailer"} and not rules)
            ):
                continue
            if not _LATER.search(_BECAUSE.sub("", words[match.end() :])):
                yield from rules
            end = match.end()
            break


def _of_kind(sign: str) -> str:
    return next(kind for kind, first in reversed(SIGNS.items()) if ord(sign) >= first)


def _kind_of(sentence: _Sentence, sign: str) -> str:
    """Return the kind of what is run: a path that is a script is a command."""
    kind, name = _of_kind(sign), sentence.names[sign]
    is_script = kind == "P" and (name.startswith(("./", "bin/", "scripts/")) or name.endswith(SCRIPTS))
    return "C" if is_script and not name.endswith("/") else kind


def _command(name: str) -> str:
    """Return the pattern of a command: with any words before its options, and behind it; empty if it has none."""
    words: list[str] = []
    for word in _HOLE.sub("*", name).split():
        is_operand = len(words) > 1 and word.startswith((".", "/"))  # options may stand before it
        if (word.startswith("-") or is_operand) and words and words[-1] != "*":
            words.append("*")
        words.append("*" if words and re.fullmatch(r"[A-Z][A-Z_]+", word) else word)
    if not words or any(map(_HASH.fullmatch, words)) or "*" in words[0] or _SHELL.search(" ".join(words)):
        return ""
    words[0] = words[0].rpartition("/")[2]  # as the shell's command is looked at
    return " ".join(words if words[-1] == "*" else [*words, "*"])


def _commands(sentence: _Sentence, part: str) -> list[Pattern]:
    """Return the patterns of what is run, each of several that `&&` joins; none if one of them has no pattern."""
    patterns = []
    for sign in sentence.signs(part):
        name = sentence.names[sign]
        if _kind_of(sentence, sign) not in {"C", "W"}:
            return []
        patterns += [Pattern(command=_command(command)) for command in name.split("&&")]
    return patterns if all(pattern.command for pattern in patterns) else []


def _path(name: str) -> Pattern:
    name = name.removeprefix("./").removeprefix("/")
    is_file = name not in DIRECTORIES and ("*" in name or "." in name.rpartition("/")[2] or "/" not in name)
    return Pattern(path=f"{name}**" if name.endswith("/") else name if is_file else f"{name}/**")


def _paths(sentence: _Sentence, part: str) -> list[Pattern]:
    return [_path(sentence.names[sign]) for sign in sentence.signs(part) if _of_kind(sign) == "P"]


def _text(name: str, path: str = "") -> Pattern | None:
    """Return the text by which code is seen in a file; None for what is a word, or part of many."""
    name, hole, _ = _CUT.sub("…", name).partition("…")
    if len(name) < LEAST_TEXT or name.startswith("-") or name.endswith("*") or not _HAS_FORM.search(name):
        return None
    if hole and (name[-1].isalnum() or " " in name):
        return None
    return Pattern(text=name[:-1] if name.endswith("()") else name, path=path)


# rules


def _instead(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield what is not to be used, with what is: both commands, or both texts; a command also without the other."""
    if _PART.search(match.groupdict().get("between") or ""):
        return
    other = match["other"]
    for sign in sentence.signs(match["subject"]):
        pair, kinds = (
            (sentence.names[sign], sentence.names[other]),
            {_kind_of(sentence, sign), _kind_of(sentence, other)},
        )
        is_same_program = pair[0].split()[0] == pair[1].split()[0] and all(" " in name for name in pair)
        if "T" in kinds and kinds <= {"T", "W"}:
            subject, wanted = _text(pair[0]), _text(pair[1])
        elif kinds == {"C"} or (kinds == {"C", "W"} and " " in "".join(pair)) or (kinds == {"W"} and is_same_program):
            subject, wanted = Pattern(command=_command(pair[0])), Pattern(command=_command(pair[1]))
        else:
            yield from (Rule(NEVER, pattern) for pattern in _commands(sentence, sign) if _of_kind(sign) == "C")
            continue
        wider = str(wanted)[:-1] if kinds == {"C"} and str(wanted) != str(subject) else ""
        if subject is not None and (wanted is None or (wider and str(subject).startswith(wider))):
            yield Rule(NEVER, subject)
        elif subject is not None and str(subject) and str(wanted) and str(subject) != str(wanted):
            yield Rule(NEVER, subject, "instead", wanted)


def _never_run(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    for sign in sentence.signs(match["subject"]):
        # With anything in the place of a last hole, also nothing, more would be forbidden than is said.
        name = sentence.names[sign]
        if match.groupdict().get("purpose") and " -" not in name:  # it may be run for other purposes
            continue
        if not _OPEN_END.search(name) or not _HOLE.sub("", name.partition(" ")[2]).strip():
            yield from (Rule(NEVER, pattern) for pattern in _commands(sentence, sign))


def _never_edit(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    yield from (Rule(NEVER, pattern) for pattern in _paths(sentence, match["subject"]))


def _never_write(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    place = _path(sentence.names[match["place"]]).path if match["place"] else ""
    texts = [_text(sentence.names[sign], place) for sign in sentence.signs(match["subject"])]
    yield from (Rule(NEVER, text) for text in texts if text is not None)


def _never_sign(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that no commit has a trailer, such as `Co-Authored-By:`."""
    name = sentence.names[match["subject"]].partition(":")[0]
    is_named = match["kind"] or match["place"] or name.lower().startswith("co-authored")
    if is_named and re.fullmatch(r"[A-Z]\w+(?:-\w+)+", name):
        yield Rule(NEVER, Pattern(command=f"git commit * *{name}:* *"))


def _never_option(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    name = sentence.names.get(match["subject"], match["subject"].lower())
    if command := next((command for option, command in OPTIONS.items() if name.startswith(option)), ""):
        yield Rule(NEVER, Pattern(command=command))


def _never_say(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    reply = sentence.names[match["subject"]]
    if reply == "—" or match.groupdict().get("place"):
        yield Rule(NEVER, Pattern(reply=reply))


def _before(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    moment = match["moment"].lower()
    names = dict.fromkeys(command for word, command in MOMENTS.items() if re.search(word, moment))
    others = _commands(sentence, moment) if sentence.signs(moment) else [Pattern(command=name) for name in names]
    pairs = [(subject, other) for other in others for subject in _commands(sentence, match["subject"])]
    yield from (Rule(ALWAYS, one, "before", other) for one, other in pairs if str(one) != str(other))


def _with(sentence: _Sentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield what goes with a change of a path, or of any; a text goes with another one in a file."""
    part, other = match["subject"], match.groupdict().get("other") or ""
    beside: list[Pattern | None] = [*_paths(sentence, other)] if other else [ANY_FILE]
    words = re.findall(_SECTIONS["language"], match.groupdict().get("when") or "", re.IGNORECASE)
    if endings := dict.fromkeys(LANGUAGES[word.lower()] for word in words):
        beside = [Pattern(path=f"**/*.{ending}") for ending in endings]
    subjects: list[Pattern | None] = [*(_commands(sentence, part) or _paths(sentence, part))]
    if _of_kind(part[0]) == "T":
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
