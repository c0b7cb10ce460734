"""Rules that a memory's own words say, in a few plain forms. What holds only sometimes, or is said otherwise, gives no
rule: a wrong rule is worse than none. `proposals.txt` has the words, a letter each, and the forms of these letters."""

import re
from collections.abc import Iterator
from functools import cache

from memtui.rules import sentences
from memtui.rules.rule_hot import ALWAYS, NEVER, Pattern, Rule
from memtui.rules.sentences import MaskedSentence, compiled, filled, kind_of

MOST_RULES, MOST_CHARS, LEAST_TEXT = 8, 20_000, 4
MOMENTS = {"c": "git commit *", "h": "git push *", "q": "gh pr create *"}  # the command of a moment, by its letter
# The commands of options that say by themselves what they belong to; of other tools; of languages.
OPTIONS, RIVALS, RUN_BY = (
    dict(line.split(": ") for line in sentences.SECTIONS[name].split("\n")) for name in ("options", "rivals", "run_by")
)
BRANCHES, SCRIPTS = {"main", "master", "develop", "trunk"}, (".sh", ".py")
_HOLE, _ALWAYS, _AT_ROOT, _PREPARATION, _CUT = map(compiled, ("hole", "always", "at_root", "preparation", "cut"))
_UNIVERSAL, _WRAPPER = map(compiled, ("universal", "wrapper"))
_SHELL = re.compile(r"/-|[|;&<>(){}$`\\\"'\n,]")
_CD = re.compile(r"\s*cd(?:\s|$)")  # no check, and no use of a tool: where the shell is may differ
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{7,40}")  # what was run in one case; and what a text of a file can't have
_OPEN_END = re.compile(r"(?:<[^<>]*>|\[[^\[\]]*\]|\s[A-Z][A-Z_]*)$")
_HAS_FORM = re.compile(r"[^\w\s-]|[a-z][A-Z]|\w_\w")
# What words stand for: a letter each, and how they begin and end.
_LETTERS, _SOURCES = zip(*(line.split(" ", 1) for line in sentences.SECTIONS["words"].split("\n")), strict=True)
_MARKS = dict(zip(".,;:()/—-，、；：。．！!？?（）–→|", ".,;:()/——,,;:......()———", strict=True))
_START = re.compile(r"[.,;:(—]|\)[jO,]+|[jO]+(?=n)|(?<=O)(?=[reEkuvch])|(?<=,)(?=[rek][^.;:—(]*O[reEkvgcw])")
_SIGNED = re.compile(r"^git commit (-s|-S|--signoff|--gpg-sign)$")
_REASON = re.compile(r"T[^.;]*")


def rules_of_text(text: str) -> list[Rule]:
    """Return the rules that a text says, at most MOST_RULES, each once."""
    pairs = [pair for sentence in sentences.sentences(text[:MOST_CHARS]) for pair in _rules_of(sentence)]
    named = [rule for build, rule in pairs if build is not _chosen]
    uses, words = {str(rule.subject).split()[0] for rule in named}, set(re.findall(r"[\w-]+", text))
    chosen = [(str(rule.subject).split()[0], str(rule.other), rule) for build, rule in pairs if build is _chosen]
    uses.update(str(rule.other) for rule in named)
    uses.update(tool for tool, other, _ in chosen if tool in words - {*other.split()})
    named += [rule for tool, other, rule in chosen if uses.isdisjoint((tool, other))]  # of which the text says no more
    rules = {rule.key(): rule for rule in named}
    wanted = {str(rule.other) for rule in rules.values() if rule.relation == "instead"}
    return [rule for rule in rules.values() if rule.kind == ALWAYS or str(rule.subject) not in wanted][:MOST_RULES]


@cache
def _words() -> re.Pattern[str]:
    """Return the form of what has a letter, compiled at first use: words, names that have no code, and marks."""
    bounds = (("(", ")") if letters[-1] == "~" else (r"(\b(?:", r")(?![\w'-]))") for letters in _LETTERS)
    names = "|".join(before + filled(source) + after for source, (before, after) in zip(_SOURCES, bounds, strict=True))
    unknown = r"(?P<word>-?[A-Za-z\u00c0-\u024f\u0400-\u04ff\d_][\w'-]*(?:\.\w+)*|\w)|(?P<mark>\s-+\s|[^\w\s])"
    named = filled("(?P<language>«language»)|(?P<branch>«branch»)")
    return re.compile(f"{names}|{named}|{unknown}", re.IGNORECASE)


@cache
def _forms() -> list[list[re.Pattern[str]]]:
    texts = (text for name, text in sentences.SECTIONS.items() if name.startswith("for_"))
    return [[re.compile(filled(form)) for form in text.split("\n")] for text in texts]


def _letters(words: str, names: dict[str, str]) -> str:
    """Return words as a letter each, with the signs of names and marks between them; what says nothing is left out."""

    def letter(match: re.Match[str]) -> str:
        if match["language"] or match["branch"] or names.get(match[0], "").removeprefix("origin/") in BRANCHES:
            kind = "L" if match["language"] else "B"
            sign = chr(sentences.SIGNS[kind] + min(len(names), sentences.MOST_NAMES - 1))
            names[sign] = names.get(match[0], match[0]).lower()
            return sign
        if match["mark"]:
            return match[0] if match[0] in names else _MARKS.get(match[0].strip()[:1], "")
        return "w" if match["word"] else _LETTERS[(match.lastindex or 1) - 1][:-1].strip("-")

    return re.sub(r"w(?=w{2})", "", re.sub(r"\s|F(?=\s*:)", "", _words().sub(letter, words)))


def _rules_of(sentence: MaskedSentence) -> Iterator[tuple[object, Rule]]:
    """Yield what a sentence says, and by which form: itself, and its clauses, unless what is beside them limits it."""
    sentence = sentence._replace(names=dict(sentence.names))
    words = _letters(sentence.words, sentence.names).replace("n:", "n")
    words = "N" + words[1:] if words[:1] == "o" else words
    opening = len(_letters(sentence.words[: sentence.opening], sentence.names)) if sentence.opening else 0
    end = 0
    for start, clause in _clauses(words, opening):
        forms = zip(_BUILDERS, _forms(), strict=True) if start >= end else ()
        for build, match in ((build, form.match(clause)) for build, several in forms for form in several):
            rest = clause[match.end() :] if match else ""
            is_inverted = sentence.inverted and build is not _instead and not clause.startswith("n")
            if match is None or len(words) - len(rest) <= opening or is_inverted:
                continue
            if rules := list(build(sentence, match)):
                if not re.search("[KBl]", re.split(r"\.|;(?=n)", _REASON.sub("", rest))[0]):
                    yield from ((build, rule) for rule in rules)
                end = len(words) - len(rest)
                break


def _clauses(words: str, opening: int) -> Iterator[tuple[int, str]]:
    """Yield where clauses begin that nothing above limits, and their letters; behind “or” with the “never” above."""
    yield 0, words
    for start in (match.end() for match in _START.finditer(words)):
        above = _REASON.sub("T", words[:start])
        before = re.split(r"[.;(—]", above)[-1] if above[-1] in ",:" else ""
        if (opening < start and opening) or re.search("[KBl]", above.rpartition(".")[2]):
            continue
        if re.match(r"O[reEkuvch]|,[rek][^.;:—(]*O[reEkvgcw]", words[start - 1 :]) and re.search(r"n[^.;:—]*$", above):
            yield start, f"n{words[start:]}"
        elif above[-1] != "O" and not re.search(r"[LFI]|a(?!c)|^j?D|[\ue100-\ue17f]\)+:", before):
            yield from () if "b" not in words[start:] and re.match("j?b", before) else ((start, words[start:]),)


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
    is_bundle = name.endswith((".xcodeproj", ".xcworkspace"))  # a directory
    above, name = "**/" if is_bundle or name.rstrip("/") in sentences.ANYWHERE else "", name + "/" * is_bundle
    name = name.removeprefix("./").removeprefix("/")
    is_file = name not in sentences.DIRECTORIES and ("*" in name or "." in name.rpartition("/")[2] or "/" not in name)
    return Pattern(path=above + (f"{name}**" if name.endswith("/") else name if is_file else f"{name}/**"))


def _paths(sentence: MaskedSentence, part: str) -> list[Pattern]:
    """Return the patterns of paths; of a package, which has no other sign of a path, the directory of its name."""
    names = [(sentence.names[sign], kind_of(sign)) for sign in sentence.signs(part)]
    packages = [f"**/{name}/**" for name, kind in names if kind == "W" and "-" in name and " " not in name]
    return [_path(name) for name, kind in names if kind == "P"] or [Pattern(path=path) for path in packages]


def _text(name: str, path: str = "") -> Pattern | None:
    """Return the text by which code is seen in a file; None for what is a word, or part of many."""
    name, hole, _ = _CUT.sub("…", name).partition("…")
    if len(name) < LEAST_TEXT or name.startswith("-") or name.endswith("*") or not _HAS_FORM.search(name):
        return None
    if hole and (name[-1].isalnum() or " " in name):
        return None
    return Pattern(text=name[:-1] if name.endswith("()") else name, path=path)


def _instead(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield what is not to be used, with what is: both commands, or both texts; a command also without the other."""
    other, (first, last) = match["other"], sorted(map(match.span, ("subject", "other")))
    is_part = "Q" not in match[0] and re.search(r"[FD][wmLx]", match.string[first[1] : last[0]])
    for sign in sentence.signs(match["subject"]):
        pair = (sentence.names[sign], sentence.names[other])
        kinds = {_run_kind_of(sentence, sign), _run_kind_of(sentence, other)}
        if pair[1].startswith("-") or (is_part and "T" not in kinds):  # an option; for a part only
            continue
        is_run = re.match("[wy]{0,2}[gr]|.*Q" if "C" in kinds else ".*Q", match[0]) or (
            pair[0].split()[0] == pair[1].split()[0] and all(" " in name for name in pair)
        )
        if "T" in kinds and kinds <= {"T", "W"}:
            subject, wanted = None if pair[0] in pair[1] else _text(pair[0]), _text(pair[1])  # seen in the other
        elif {kind_of(sign), kind_of(other)} == {"P"}:
            if kinds != {"P"}:  # run, or read
                continue
            subject, wanted = _path(pair[0]), _path(pair[1])
        elif kinds == {"C"} or (kinds == {"C", "W"} and " " in "".join(pair)) or (kinds <= {"C", "W"} and is_run):
            subject, wanted = Pattern(command=_command(pair[0])), Pattern(command=_command(pair[1]))
        else:
            yield from (Rule(NEVER, pattern) for pattern in _commands(sentence, sign) if kind_of(sign) == "C")
            continue
        wider = str(wanted)[:-1] if kinds == {"C"} and str(wanted) != str(subject) else ""
        is_alone = not str(wanted) or (wider and str(subject).startswith(wider))
        if subject is not None and str(subject) and (wanted is None or is_alone):
            yield Rule(NEVER, subject)
        elif subject is not None and str(subject) and str(wanted) and str(subject) != str(wanted):
            yield Rule(NEVER, subject, "instead", wanted)


def _option(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that a command is not run with an option, or not without one: one beside it, or its own."""
    groups, names = match.groupdict(), [sentence.names[sign] for sign in sentence.signs(match["command"])]
    signs = sentence.signs(groups.get("banned") or groups.get("wanted") or "")
    options = [sentence.names[sign] for sign in signs] or _SIGNED.findall(names[0])
    is_sure = re.search("[nNBf]", match[0]) or _ALWAYS.search(sentence.words)
    for name, option in ((name, option) for name in names for option in options if is_sure):
        without = name.replace(f" {option}", "")
        command = _command(f"{without} {option}") if option.startswith("-") else ""
        if command and groups.get("banned"):
            yield Rule(NEVER, Pattern(command=command))
        elif command and " " in without:
            yield Rule(NEVER, Pattern(command=_command(without)), "instead", Pattern(command=command))


def _never_run(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    signs = sentence.signs(match["subject"])
    for sign in signs:
        if sentence.names[sign].startswith("-"):  # an option, in place of what stands behind the command before
            words = sentence.names[signs[0]].split()[:2]
            if command := _command(" ".join([*words, sentence.names[sign]])):
                yield Rule(NEVER, Pattern(command=command))
        name, purpose = sentence.names[sign], match.groupdict().get("purpose")
        if purpose and " " not in name:
            yield Rule(NEVER, Pattern(command=f"{name} install *"))
        is_limited = purpose or re.match(r"[^.;:(—]*[jO][^.;:(—]*[IF]", match.string[match.end() :])
        is_word = "@" in match[0] and kind_of(sign) == "W" and " " not in name
        # It may be run for other purposes, or be no command.
        if "&&" in name or is_word or _AT_ROOT.search(sentence.words) or (is_limited and " -" not in name):
            continue
        # With anything in the place of a last hole, also nothing, more would be forbidden than is said.
        if not _OPEN_END.search(name) or not _HOLE.sub("", name.removeprefix(name.split()[0])).strip():
            yield from (Rule(NEVER, pattern) for pattern in _commands(sentence, sign))


def _never_edit(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that no file is written at a path, or at one below another; or that no file has the path as a text."""
    groups = match.groupdict()
    place = sentence.names.get(groups.get("place") or "", "")
    for path in (pattern.path for pattern in _paths(sentence, match["subject"])):
        if place and not place.endswith("/") and "." in place.rpartition("/")[2]:
            yield Rule(NEVER, Pattern(text=path, path=place))
        elif (place and not place.endswith(("/", "*"))) or path.removeprefix("*.") in sentences.LANGUAGES.values():
            continue
        else:
            is_file = place and not path.endswith("**")
            above = "**/" if groups.get("any") or (is_file and "/" not in place.strip("/")) else ""
            yield Rule(NEVER, Pattern(path=f"{above}{place.removeprefix('/')}{'**/' if is_file else ''}{path}"))


def _never_commit(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that no path is staged by its name."""
    for path in (pattern.path.removeprefix("**/") for pattern in _paths(sentence, match["subject"])):
        yield Rule(NEVER, Pattern(command=f"git add * {path[:-1] if path.endswith('/**') else path} *"))


def _never_write(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    place = _path(sentence.names[match["place"]]).path if match["place"] else ""
    texts = [_text(sentence.names[sign], place) for sign in sentence.signs(match["subject"])]
    yield from (Rule(NEVER, text) for text in texts if text is not None)


def _never_option(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that an option, a trailer of commits, or a push to a branch is not used."""
    named = [MOMENTS[letter].removesuffix(" *") for letter in "ch" if letter in match[0]]
    forced = sentence.names.get(match.groupdict().get("forced") or "")
    for sign in sentence.signs(match["subject"]):
        name = sentence.names[sign].removeprefix("origin/")
        if name in {"--force", "-A"} and not {"h", "c", "--force-with-lease"} & {*match[0], *sentence.names.values()}:
            continue
        if kind_of(sign) == "B":
            options = ("* ",) if forced in {None, "git push"} else ("* --force * ", "* -f * ") if " -" in forced else ()
            commands = [f"git push {option}{name} *" for option in options]
        elif name.lower().startswith("co-authored"):
            commands = [f"git commit * *{name.partition(':')[0]}:* *"]
        else:
            commands = [] if "trailer" in match.groupdict() else OPTIONS.get(name, "").split("; ")
            if len(named) == 1 < len(commands):
                commands = [command for command in commands if command.startswith(named[0])]
        yield from (Rule(NEVER, Pattern(command=command)) for command in filter(None, commands))


def _never_say(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    reply = sentence.names[match["subject"]]
    if reply == "—" or match.groupdict().get("place"):
        yield Rule(NEVER, Pattern(reply=reply))


def _before(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    moments = filter(None, map(MOMENTS.get, match["moment"]))
    others = _commands(sentence, match["moment"]) or [Pattern(command=command) for command in moments]
    kinds = "".join(map(kind_of, sentence.signs(match["subject"])))
    is_choice = "O" in match["subject"] or kinds.startswith("WWW")  # or words of another list
    subjects = [] if is_choice else _commands(sentence, match["subject"])
    if not subjects and _ALWAYS.search(sentence.words) and re.search("[ek]", match[0]):
        subjects = _paths(sentence, match["subject"])
    pairs = ((str(subject), subject, other) for other in others for subject in subjects)
    yield from (Rule(ALWAYS, a, "before", b) for name, a, b in pairs if name != str(b) and not _PREPARATION.match(name))


def _with(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield what goes with a change of a path, or of any; a text goes with another one in a file."""
    groups = match.groupdict()
    part, other = match["subject"], groups.get("other") or groups.get("path") or ""
    beside: list[Pattern | None] = [*_paths(sentence, other)] if other else [Pattern(path="**")]
    words = [sentence.names[sign] for sign in sentence.signs(groups.get("when") or "")]
    if endings := dict.fromkeys(sentences.LANGUAGES[word.lower()] for word in words):
        beside = [Pattern(path=f"**/*.{ending}") for ending in endings]
    subjects: list[Pattern | None] = [*(_commands(sentence, part) or _paths(sentence, part))]
    if kind_of(part[0]) == "T":
        beside = beside or [_text(sentence.names[other])]
        subjects = [_text(sentence.names[part])]
    yield from (Rule(ALWAYS, subject, "with", cause) for subject in subjects for cause in beside if subject and cause)


def _chosen(sentence: MaskedSentence, match: re.Match[str]) -> Iterator[Rule]:
    """Yield that what a tool stands for, or is always run by it, is not run otherwise."""
    name = _HOLE.sub("*", sentence.names[match["other"]]).rstrip("* ")
    subject = sentence.names.get(match.groupdict().get("subject") or "", "")
    others = "" if subject else RIVALS.get(name.removeprefix("./"), "")
    if wrapper := _WRAPPER.match(f"{name} "):
        inner = f"{name} "[wrapper.end() :].strip()
        program = inner or ("" if subject.lower() in sentences.LANGUAGES else subject)
        others = RUN_BY.get(f"run {inner}" if inner else subject.lower(), others or program * (program[:1] != "-"))
    for other in others.split("; ") if name.startswith("./") or _UNIVERSAL.search(sentence.words) else ():
        if (command := _command(other)) and (tool := _command(name)):
            yield Rule(NEVER, Pattern(command=command), "instead", Pattern(command=tool))


# In the order of the sections of their forms.
_BUILDERS = (
    _instead, _option, _never_run, _never_edit, _never_commit, _never_option, _never_option, _never_write, _before,
    _with, _never_say, _chosen,
)  # fmt: skip
