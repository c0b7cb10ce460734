"""The words of a prompt that recall goes by: the person's own, and of what they pasted the identifiers of error lines.

A log of a thousand lines would otherwise outweigh the one line that says what is wanted."""

# A prompt with no more lines and characters than this counts as a whole: what is pasted there is what it is about.
WHOLE_LINES, WHOLE_CHARS = 3, 600
HEAD, TAIL = 16_000, 8_000  # of a longer one so much of its beginning and end is looked at: a question stands there
MOST_CHARS, MOST_NAMES = 4_000, 24  # the most characters that are searched for, and the most identifiers of error lines
FEW_WORDS = 2  # a prompt of so many words or fewer recalls nothing
# What the client, not a person, sends as a prompt.
MACHINE = ("<task-notification", "<command-", "<local-command-", "<bash-", "<system-reminder", "<user-memory-input")
# How lines of logs, stack traces, diffs and shells begin.
PASTED = (
    "at ", 'File "', "Traceback (", "+++", "---", "@@", "diff --git", ">>>", "$ ", "npm ERR!", "Caused by:", "panic:",
    "goroutine ", "FAILED ", "PASSED ", "E   ", "| ", "==", "~~", "^", "* Connected", "< HTTP", "> GET", "> POST",
)  # fmt: skip
LEVELS = ("ERROR", "WARN", "INFO", "DEBUG", "TRACE", "FATAL", "CRITICAL", "NOTICE", "[error]", "[warn", "[info")
ERRORS = ("error", "exception", "fail", "fatal", "panic", "denied", "refused", "cannot", "can't", "not found", "abort")
AROUND = "\"'`()[]{}<>,;:=!?*|"  # characters around and between the words of a line of a log
CJK = "\u2e80"  # from here on each character is a syllable or a word by itself: Chinese, Japanese, Korean


def counted(prompt: str) -> "tuple[str, str]":
    """Return the text of a prompt that counts, and why none does: `command`, `machine`, `short`, `pasted` or ``."""
    text = prompt.strip()
    # A command of the client, and no path.
    if text.startswith("/") and text.split(None, 1)[0][1:].translate(dict.fromkeys(map(ord, "-_:."))).isalnum():
        return "", "command"
    if text.startswith(MACHINE):
        return "", "machine"
    if len(text) > HEAD + TAIL:
        # Half a line of a log would read as words.
        text = text[:HEAD].rpartition("\n")[0] + "\n" + text[-TAIL:].partition("\n")[2]
    lines = text.split("\n")
    if "```" in text or len(text) > WHOLE_CHARS or len(lines) > WHOLE_LINES:
        text = _own(lines)
        if not text:
            return "", "pasted"
    text = text[:MOST_CHARS]
    return (text, "") if more_words(text, FEW_WORDS) else ("", "short")


def more_words(text: str, few: int) -> bool:
    """Return whether a text has more than `few` words; of Chinese, Japanese and Korean two characters are a word."""
    halves = 0
    for word in text.split():
        dense = 0 if word.isascii() else sum([char >= CJK and char.isalnum() for char in word])
        halves += dense or 2 * any(map(str.isalnum, word))
        if halves > 2 * few:
            return True
    return False


def _own(lines: "list[str]") -> str:
    """Return the lines that a person wrote, and a line with the identifiers of the error lines among the others."""
    own: list[str] = []
    names: dict[str, None] = {}
    fenced = False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced or is_pasted(line):
            if len(names) < MOST_NAMES and is_error(line):
                names.update(dict.fromkeys(identifiers(line)))
        else:
            own.append(line)
    return "\n".join([*own, " ".join(list(names)[:MOST_NAMES])]).strip()


def is_pasted(line: str) -> bool:
    """Tell whether a line reads as one of a log, a stack trace, a diff or code."""
    text = line.strip()
    if not text:
        return False
    if text.startswith(PASTED) or line.startswith(("    ", "\t")):
        return True
    start = text[:32].lstrip("[(")
    if start[:2].isdigit() and (start[2:3] == ":" or start[4:5] in {"-", "/"} or start[8:9] == "T"):
        return True
    if any(level in text[:48] for level in LEVELS):
        return True
    # Code: it ends like a statement, or is for the most part marks.
    if text[-1] in "{};" or text.endswith(("),", "=>", "->", "\\")):
        return True
    marks = sum([not (char.isalnum() or char.isspace() or char in ",.'-?!\"") for char in text[:200]])
    return marks * 5 > min(len(text), 200)


def is_error(line: str) -> bool:
    folded = line[:400].lower()
    return any(word in folded for word in ERRORS)


def identifiers(line: str) -> "list[str]":
    """List the identifiers of a line: names with marks or capitals inside, codes of errors, files; not plain words."""
    text = line[:400]
    for mark in AROUND:
        if mark in text:
            text = text.replace(mark, " ")
    return [name for word in text.split() if (name := _identifier(word.strip(".-/\\")))]


def _identifier(word: str) -> str:
    """Return the part of a word of a log that is worth looking for; "" if it is a plain word, a number or a hash."""
    if not 3 <= len(word) <= 120:
        return ""
    if "/" in word:  # the directories of another machine say little
        word = "/".join(word.split("/")[-2:])
    letters = sum(map(str.isalpha, word))
    digits = sum(map(str.isdigit, word))
    if letters < 3 or digits > letters:
        return ""
    inner = word[1:]
    if "_" in word or "." in inner or "/" in inner or digits or "-" in inner:
        return word
    return word if inner != inner.lower() and word not in LEVELS and word.lower() not in ERRORS else ""
