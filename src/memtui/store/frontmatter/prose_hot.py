"""The sentences of a Markdown text: the one reader of its first sentence. Hook path: it imports nothing."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 150
# So many characters of a text are searched for its first sentence.
SEARCHED = 1 << 16
ABBREVIATIONS = frozenset((
    "e.g.", "i.e.", "etc.", "vs.", "approx.", "ca.", "cf.", "resp.", "incl.", "z.b.", "d.h.", "u.a.", "bzw.", "evtl.",
    "inkl.", "mr.", "mrs.", "ms.", "dr.", "prof.",
))  # fmt: skip
# Abbreviations before a number alone: elsewhere they end a sentence ("The answer is no.").
BEFORE_NUMBER = frozenset(["no.", "nr.", "fig.", "p.", "pp.", "vol.", "max.", "min.", "sec.", "art."])
SENTENCE_END = "。！？"  # of languages without blanks
ENDS, CLOSING = ".!?…", "\"'”’)]»*_"
# HTML elements without prose of their own up to their end.
OPAQUE = ("pre", "script", "style", "svg", "table")
INLINE = ("a", "b", "i", "em", "strong", "code", "kbd", "mark", "small", "span", "sub", "sup", "u", "s", "del", "ins")


def sentences(block: str) -> "list[str]":
    """Split a block of running text into its sentences, each on one line."""
    text = " ".join(block.split())
    result = []
    start = at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char in SENTENCE_END:
            end = at
        elif char not in ENDS:
            continue
        else:
            while at < len(text) and (text[at] in ENDS or text[at] in CLOSING):
                at += 1
            end = at
            if at < len(text) and (text[at] != " " or not _ends(text, start, at)):
                continue
        if sentence := text[start:end].strip():
            result.append(sentence)
        start = end
    if rest := text[start:].strip():
        result.append(rest)
    return result


def _ends(text: str, start: int, at: int) -> bool:
    """Tell whether a mark before the blank at `at` ends the sentence that begins at `start`."""
    begins = text[at:].lstrip(" \"'“‘([*_`")[:1]
    if begins.islower():
        return False
    word = text[start:at].rpartition(" ")[2].lstrip("\"'“‘([*_`").lower()
    initial = len(word) == 2 and word[0].isalpha() and word[1] == "."
    return not (word in ABBREVIATIONS or initial or (word in BEFORE_NUMBER and begins.isdigit()))


def first_sentence(text: str, limit: int = LIMIT, *, headings: bool = False) -> str:
    """Return a text's first sentence without marks, cut to `limit`; else its first heading (`headings`: as well)."""
    title = ""
    for is_title, block in blocks(text[:SEARCHED]):
        words = plain(block)
        if not any(map(str.isalnum, words)):
            continue
        if is_title and not headings:
            title = title or words
            continue
        return _cut(words if is_title else sentences(words)[0], limit)
    return _cut(title, limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return (text[: limit - 1].rpartition(" ")[0] or text[: limit - 1]) + "…"


def blocks(text: str) -> "Iterator[tuple[bool, str]]":
    """Yield paragraphs and list items with their marks, as (is a heading or title, text), without code and markup."""
    lines = _lines(_without_heads(text.replace("\r\n", "\n").replace("\r", "\n")))
    paragraph: list[str] = []
    in_list = blank = in_table = False
    for line in lines:
        bare = line.strip()
        quoted = bare.startswith(">")
        while bare.startswith(">"):
            bare = bare[1:].strip()
        marker = _marker(bare)
        level = len(bare) - len(bare.lstrip("#"))
        is_heading = 0 < level <= 6 and bare[level : level + 1] in ("", " ", "\t")
        callout = quoted and bare[:2] == "[!" and bare[2:3].isalpha() and "]" in bare
        # A line of `=` or `-` below text makes it a heading.
        if paragraph and "|" in paragraph[-1] and "|" in bare and not bare.strip("-:| "):
            paragraph.pop()
            in_table = True
        in_table = in_table and bool(bare)
        if in_table:
            continue
        underline = bool(paragraph) and not in_list and bare and not bare.strip(bare[0]) and bare[0] in "=-"
        indented = line.startswith(("    ", "\t")) and not paragraph and not in_list and not quoted
        if underline:
            yield True, " ".join(paragraph)
            paragraph = []
            continue
        over = not bare or is_heading or callout or marker or indented or _is_markup(bare)
        if over and paragraph:
            yield False, " ".join(paragraph)
            paragraph = []
        if not bare:
            blank = True
            continue
        if is_heading:
            yield True, bare.strip("#").strip()
        elif callout:
            yield True, bare[bare.index("]") + 1 :].lstrip("+-").strip()
        elif not indented and not _is_markup(bare):
            bare = bare[marker:].strip()
            if bare[:3].lower() in ("[ ]", "[x]", "[-]"):
                bare = bare[3:].strip()
            if not _is_markup(bare):
                paragraph.append(bare)
        in_list = bool(marker) or (in_list and not (blank and line[:1] not in " \t"))
        blank = False
    if paragraph:
        yield False, " ".join(paragraph)


def _without_heads(text: str) -> str:
    text = text.removeprefix("\ufeff")
    while True:
        body = text.lstrip("\n")
        first, _, rest = body.partition("\n")
        if first.rstrip() not in ("---", "+++"):
            return text
        head, fence, after = rest.partition("\n" + first.rstrip())
        if rest.startswith(first.rstrip()):
            text = rest[3:]
        elif not fence or (after and after.lstrip(" \t")[:1] not in ("\n", "")):
            return text
        elif any(":" in line or "=" in line for line in head.split("\n")):
            text = after
        else:
            return text


def _lines(text: str) -> "Iterator[str]":
    """Yield the lines of a text; those of code, formulas, comments and HTML without prose as blank ones."""
    end = ""
    at = 0
    while at <= len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop]
        at = stop + 1
        bare = line.strip().lstrip("> ")
        if end:
            fenced = end[0] in "`~"
            if (bare.startswith(end) and not bare.strip(end[0])) if fenced else end in bare.lower():
                line, end = "" if fenced else bare[bare.lower().index(end) + len(end) :], ""
            else:
                yield ""
                continue
            bare = line.strip()
        while (begin := bare.find("<!--")) >= 0:
            close = bare.find("-->", begin + 4)
            line = bare = bare[:begin] + (bare[close + 3 :] if close >= 0 else "")
            if close < 0:
                end = "-->"
        marker = _marker(bare)
        inner = bare[marker:].lstrip()
        if inner.startswith(("```", "~~~")):
            mark = inner[: len(inner) - len(inner.lstrip(inner[0]))]
            if "`" not in inner[len(mark) :]:
                line, end = "", mark
        elif bare.startswith("$$"):
            end = "" if "$$" in bare[2:] else "$$"
            line = ""
        elif bare.startswith("<"):
            name = _tag(bare)
            if name in OPAQUE:
                end = "" if f"</{name}>" in bare.lower() else f"</{name}>"
                line = ""
        yield line


def _tag(line: str) -> str:
    """Return the name of the HTML element whose tag begins a line, in lower case; empty if none does."""
    at = 2 if line.startswith("</") else 1
    end = at
    while end < len(line) and (line[end].isalnum() or line[end] == "-"):
        end += 1
    name = line[at:end].lower()
    return name if line[:1] == "<" and name[:1].isalpha() and line[end : end + 1] in (">", "/", " ", "") else ""


def _marker(line: str) -> int:
    """Return the length of the mark of a list item that begins a line, 0 if none does."""
    if line[:1] in ("-", "*", "+", "•") and line[1:2] in (" ", "\t"):
        return 2
    digits = len(line) - len(line.lstrip("0123456789"))
    mark, blank = line[digits : digits + 1], line[digits + 1 : digits + 2]
    return digits + 1 if 0 < digits < 10 and mark in (".", ")") and blank in (" ", "\t") else 0


def _is_markup(line: str) -> bool:
    """Tell whether a line has no prose: a rule, a row of a table, an HTML block's tag, a property."""
    if not line.strip("-*_=~ |:"):
        return True
    if line[0] == "|":
        return True
    if line[0] == "<" and (name := _tag(line)):
        return name not in INLINE
    lower = line.lower()
    if lower in ("[toc]", "[[toc]]", "[[_toc_]]", "{:toc}"):
        return True
    key, colons, _ = line.partition("::")
    if colons and key and all(char.isalnum() or char in "-_ " for char in key) and len(key) <= 40:
        return True
    if lower.startswith(("http://", "https://")) and " " not in line:
        return True
    return "|" in line and not line.replace("|", "").strip("-: ")


def plain(text: str) -> str:
    """Return running text on one line without its inline marks: bold, code, links, images, tags."""
    pieces = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "`":
            ticks = len(text) - at - len(text[at:].lstrip("`"))
            close = text.find("`" * ticks, at + ticks)
            if close >= 0:
                pieces.append(text[at + ticks : close])
                at = close + ticks
                continue
            at += ticks
        elif text.startswith(("**", "~~"), at) and "/" not in (text[at + 2 : at + 3], text[max(at - 1, 0) : at]):
            at += 2
        elif char == "\\" and text[at + 1 : at + 2] in ("[", "]", "*", "_", "`", "|", "#", "<"):
            pieces.append(text[at + 1])
            at += 2
        elif text.startswith(("[[", "![["), at) and (close := text.find("]]", at)) >= 0:
            inner = text[at + (3 if char == "!" else 2) : close]
            name, _, label = inner.replace("\\|", "|").partition("|")
            pieces.append("" if char == "!" else label.strip() or name.partition("#")[0].strip())
            at = close + 2
        elif char in "![" and (link := _link(text, at)) is not None:
            label, at = link
            pieces.append("" if char == "!" else plain(label))
        elif char == "<" and (close := text.find(">", at)) >= 0 and _tag(text[at : close + 1]):
            at = close + 1
        else:
            pieces.append(char)
            at += 1
    words = " ".join("".join(pieces).split())
    for mark in ("_", "*"):
        if len(words) > 2 and words[0] == words[-1] == mark and mark not in words[1:-1]:
            words = words[1:-1]
    return words


def _link(text: str, at: int) -> "tuple[str, int] | None":
    """Return the label of the `[label](target)` or `![label](target)` at `at`, and where it ends; None if none is."""
    begin = at + (2 if text.startswith("![", at) else 1)
    if text[begin - 1] != "[":
        return None
    depth = 0
    close = begin
    while close < len(text):
        depth += (text[close] == "[") - (text[close] == "]")
        if depth < 0:
            break
        close += 1
    if text[close + 1 : close + 2] != "(":
        return None
    depth = 0
    for end in range(close + 1, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if not depth:
            return text[begin:close], end + 1
    return None
