"""The sentences of a text, in which a sign stands for each name: those that hold always."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from memtui.base import word_lists

SECTIONS = word_lists.read(__file__.rpartition("/")[0] + "/proposals.txt")
LANGUAGES = dict(line.split() for line in SECTIONS["languages"].split("\n"))  # the endings of a language's files
SECTIONS["language"] = rf"(?:\b(?:{'|'.join(map(re.escape, LANGUAGES))})(?![\w+#]))"
PLAIN, WITH_SUBCOMMAND, LIBRARIES, SUBCOMMANDS, CODE_ONLY, ENDINGS, FILES, DIRECTORIES, NOT_FILES, ANYWHERE = (
    frozenset(SECTIONS[name].split()) for name in SECTIONS["lists"].split()
)
PROGRAMS = PLAIN | WITH_SUBCOMMAND | CODE_ONLY
# Code and names stand in a sentence as one sign each: by kind, the first sign. C: a command; P: a path; T: other code;
# W: code that is a command if it is run; D: quoted words, and dashes; the last: what no rule can name.
SIGNS = {"C": 0xE000, "P": 0xE100, "T": 0xE200, "W": 0xE300, "D": 0xE380, "": 0xE400, "B": 0xE500, "L": 0xE580}
MOST_NAMES, MOST_COMMAND = 0x80, 100  # in a line; in a command
DEEP = " " * 9  # what stands before the commands of a block: they are below any other point
# Where absolute paths begin; others that begin with a slash begin in the project.
OUTSIDE = tuple(f"/{name}" for name in SECTIONS["outside"].split())


@cache
def expanded(name: str) -> str:
    """Return the lines of a section with the sections and kinds that they name; inside of […] a kind is a range."""
    return f"[{_range(name)}]" if name in SIGNS else filled(re.sub(r"\n\s+", "", SECTIONS[name]))


def filled(text: str) -> str:
    text = re.sub(r"(?<!\\)\[[^\]\n]*\]", lambda part: re.sub(r"«(\w+)»", lambda kind: _range(kind[1]), part[0]), text)
    return re.sub(r"«(\w+)»", lambda section: expanded(section[1]), text)


def _range(kinds: str) -> str:
    starts = [SIGNS[kind] for kind in ("CTWP" if kinds == "any" else kinds)]
    return "".join(f"\\u{start:04x}-\\u{start + MOST_NAMES - 1:04x}" for start in starts)


@cache
def compiled(name: str) -> re.Pattern[str]:
    return re.compile(expanded(name), re.IGNORECASE)


SECTIONS["named"] = "|".join(sorted(map(re.escape, PLAIN | WITH_SUBCOMMAND), key=len, reverse=True))
SECTIONS["done"], SECTIONS["library_named"] = "|".join(SUBCOMMANDS), "|".join(LIBRARIES)
NEGATED = re.compile(expanded("lead") + expanded("neg"), re.IGNORECASE)
CONDITION, ONLY_FOR, PART, _OPENING = map(compiled, ("condition", "only_for", "part", "opening"))
_NEUTRAL, _POINT, _INVERTED, _EXCEPTION = map(compiled, ("neutral", "point", "inverted", "exception"))
_TITLE, _DOING, _CROSS, _DIRECTORY, _REQUIRED = map(compiled, ("title", "doing", "cross", "directory", "required"))
_COMMENTED, _REFUSED, _REMARK, _ANOTHER, _ROW = map(compiled, ("commented", "refused", "remark", "another", "row"))
_ORDERED, _ASIDE, _END, _OPTION, _DASH, _CODE = map(compiled, ("ordered", "aside", "end", "option", "dash", "code"))
_PUSHED, _FORCED, _LINK, _MARK, _PROGRAM = map(compiled, ("pushed", "forced", "link", "mark", "program"))
_JOINED, _LIBRARY, _OF_FILES, _NO_PATH = map(compiled, ("joined", "library", "of_files", "no_path"))
_THIS_EDITED, _BRANCH = map(compiled, ("this_edited", "pushed_to"))
_NAMES = dict(line.split(" ", 1) for line in SECTIONS["names"].split("\n"))
# A line that goes on in the next, and one that begins anew.
_WRAPS, _BEGINS = re.compile(r".{60,}[^\s.!?:|]$"), re.compile(r"\s*(?:[-*+>•|#]|\d{1,2}[.)]) |\s*$")
_FENCE = re.compile(r"^ *(```|~~~)(?P<language>[^\n]*)\n?(?P<code>.*?)(?:^ *\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_SHELLS = {"bash", "sh", "shell", "zsh", "console", "powershell"}
_BOLD = re.compile(r"\*\*|__|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])|[⚠\ufe0f❌✅🚫]")
_PLAIN = re.compile(f"`[^`\\n]+`|{_BOLD.pattern}")
_WORD = re.compile(r"[^\s,;:!?()（），。；：、\ue000-\ue4ff\u3000-\u9fff\uac00-\ud7ff]+")


class MaskedSentence(NamedTuple):
    """A sentence in which a sign stands for each name; `names`: what it stands for; `inverted`: a point of a list of
    what not to do; `opening`: the length of what stands over the list, where that is the beginning of the sentence."""

    words: str
    names: dict[str, str]
    inverted: bool = False
    opening: int = 0

    def signs(self, part: str) -> list[str]:
        return [sign for sign in part if sign in self.names]


def sentences(text: str) -> Iterator[MaskedSentence]:
    """Yield the sentences that hold always: no code, no reasons, nothing below a heading or lead-in for some case, but
    for points that are an order together with it."""
    section, lead_in = (False, False), (False, False)  # whether it limits what is below, and lists what not to do
    heading, opening, subject = "", "", ""  # `subject`: a heading that is only a name
    depth, indent = -1, 0  # of the point that is the opening, and of this one
    for line in _lines(_FENCE.sub(_points, _ROW.sub(r"- run \1 \2", text.replace("’", "'")))):
        mark = _MARK.match(line)
        plain = _CROSS.sub("never ", _LINK.sub(r"\1", line[mark.end() :] if mark else line))
        plain = _REQUIRED.sub(r"\1", _TITLE.sub(r"\1: ", plain))
        plain = _PLAIN.sub(lambda match: match[0] if match[0][0] == "`" else "", plain).strip()
        words, names = _masked(plain)
        is_listed = bool(mark and mark["mark"])
        above = limits(words), bool(_INVERTED.search(words))
        if line.lstrip().startswith("#"):
            section, lead_in, is_listed = above, (False, False), False
            heading = opening = plain.rstrip(":： ") if _OPENING.match(plain) else ""
            subject = plain if [*words] == [*names] else ""
        elif not is_listed and words:
            is_lead_in = words.endswith((":", "："))
            lead_in = above if is_lead_in else (False, False)
            depth = -1
            if is_lead_in and _OPENING.match(plain) and (heading or not section[0]):
                opening = plain.rstrip(":： ")
            elif not _NEUTRAL.match(plain):
                opening = "" if is_lead_in else heading
        elif is_listed and (indent := len(line) - len(line.lstrip())) <= depth:
            opening, depth = "", -1
        is_row = line.lstrip().startswith("|")
        is_doing = is_listed and bool(_DOING.match(plain))
        is_refused = is_listed and not is_doing and bool(NEGATED.match(opening)) and not NEGATED.match(plain)
        if is_listed and opening and (point := _POINT.match(plain)):
            rest = point["rest"] if _INVERTED.search(opening) else re.sub(r"^ ?(?=(?:to|and) )", " — ", point["rest"])
            yield MaskedSentence(*_masked(f"{opening}: {point['order']}{rest}"), opening=len(_masked(opening)[0]))
        elif is_listed and not opening and words.endswith((":", "：")) and not section[0] and _OPENING.match(plain):
            opening, depth = plain.rstrip(":： "), indent
        if subject and _THIS_EDITED.match(words):
            words, names = _masked(f"{subject}: {words}")
        parts = [_ASIDE.sub("", part).strip() for part in _END.split(words)]
        for part, following in zip(parts, [*parts[1:], ""], strict=True):
            is_limited = is_refused or section[0] or (is_listed and lead_in[0]) or _EXCEPTION.match(following)
            if (
                not is_limited
                and (not is_row or NEGATED.match(part) or _ORDERED.search(part))
                and not part.endswith(("?", "？"))
                and (names or _OPTION.search(part))
                and len(names) < MOST_NAMES
            ):
                is_inverted = is_listed and (section[1] or lead_in[1])
                words = f"never {part}" if is_inverted and is_doing else part
                yield MaskedSentence(words.rstrip(".!。！ "), names, is_inverted and not is_doing)


def _points(fence: re.Match[str]) -> str:
    """Return the commands of a code block behind a lead-in, heading or comment that says before what, as points."""
    above = fence.string[: fence.start()].rstrip().rpartition("\n")[2].rstrip("*_ ")
    is_below = above.endswith((":", "：")) or above.startswith("#") or fence[0].startswith("  ")  # of a point
    language, code = fence["language"].strip(), _ANOTHER.sub("", fence["code"])
    lines = [f"- run `{command}` {moment}" for command, moment in _REMARK.findall(code)]
    titled = _COMMENTED.findall(code) or [("", code)] * is_below
    comments = [] if any(_REFUSED.search(title) for title, _ in titled) else re.findall(r"^\s*#.*", code, re.MULTILINE)
    for title, part in [] if any(map(PART.search, comments)) else titled:  # each for a part
        commands = [re.sub(r"(?:^|\s+)#.*|^\$ |^cd \S+ && ", "", line.strip()) for line in part.split("\n")]
        is_code = all(command.startswith("cd ") or _kind(command) == "C" for command in filter(None, commands))
        is_shell = language in _SHELLS or (not language and is_code)
        is_step = title and any(command.startswith("git ") for command in commands)  # of the moment itself
        is_refused = bool(_REFUSED.search(title))
        is_odd = is_step or (is_refused and (CONDITION.search(title) or PART.search(title)))
        if is_shell and not (is_odd or any("`" in command or command.endswith("\\") for command in commands)):
            lines += [f"{'Never run' if is_refused else title.rstrip(': ')}:"] if title else []
            lines += [f"{DEEP}- `{command}`" for command in commands if command]
            lines += ["", "."] if title else []  # what follows is not below it
    return "\n".join(lines)


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


def limits(words: str) -> bool:
    """Return whether words before an order say for what, or when, it holds."""
    return any((CONDITION.search(words), ONLY_FOR.match(words), PART.search(words), '"' in words))


def _masked(line: str) -> tuple[str, dict[str, str]]:
    """Return the words of a line with a sign for each name, and what the signs stand for."""
    names: dict[str, str] = {}

    def sign(name: str, kind: str) -> str:
        sign = chr(SIGNS[kind] + min(len(names), MOST_NAMES - 1))
        names[sign] = name
        return sign

    def coded(match: re.Match[str]) -> str:
        code, quoted = (match["code"] or "").strip(), match["quoted"] or match["single"] or ""
        is_of_files = _OF_FILES.match(match.string, match.end()) or match.string[: match.start()].endswith("ending in ")
        ending = code[1:].rpartition(".")[2] if is_of_files else code[1:]
        if code[:1] == "." and ending in ENDINGS and code != ".env":
            return sign(f"*{code}", "P" if is_of_files else "")  # all files with that ending
        if code and _BRANCH.fullmatch(code) and _PUSHED.search(match.string, max(0, match.start() - 99), match.start()):
            return sign(code.removeprefix("origin/"), "B")
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

    line = _FORCED.sub(r"`git push --force` to \1", line)
    line = _JOINED.sub(
        lambda match: re.sub(r"[^/]+", rf"`\g<0>{match['further'] or ''}`", match["names"]).replace("/", ", "), line
    )
    for form, name in _NAMES.items():
        parts = re.split("(`[^`]*`)", line)
        line = "".join(part if part[:1] == "`" else compiled(form).sub(name, part) for part in parts)
    words = _DASH.sub(lambda _: sign("—", "D"), line)
    words = _CODE.sub(coded, words)
    words = _BOLD.sub("", words)
    words = _PROGRAM.sub(lambda match: sign(re.sub(r"^\w+", lambda name: name[0].lower(), match[0]), "C"), words)
    words = _LIBRARY.sub(lambda match: sign(match[0], "W"), words)
    return _WORD.sub(plain, words).strip(), names


def _kind(code: str) -> str:
    program, *further = code.split() or [""]
    if "://" in code or len(code) > MOST_COMMAND or re.fullmatch(r"/[\w:-]+", code):
        return ""
    is_script = program.startswith(("./", "bin/", "scripts/")) or program.endswith(".sh")
    has_option = re.fullmatch(r"[a-z][\w-]*(?: [\w.:/-]+)* (?:--?|/)[a-z][\w-]*(?: [\w.:/-]+)*", code)
    is_program = program in PROGRAMS or (further and program.rpartition("/")[2] in PROGRAMS | LIBRARIES)
    if is_program or has_option or (further and is_script):
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


def kind_of(sign: str) -> str:
    return next(kind for kind, first in reversed(SIGNS.items()) if ord(sign) >= first)
