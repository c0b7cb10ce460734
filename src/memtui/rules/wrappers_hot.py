"""What a command runs in turn: the command in the words of `sudo` and `xargs`, the line of `sh -c`. Hot path."""

# Commands that run the command in their words, by the letters of options that take the next word as a value.
_WRAPPERS = {
    "builtin": "", "caffeinate": "tw", "command": "", "doas": "uC", "env": "uCS", "exec": "a", "ionice": "cnpPu",
    "nice": "n", "nohup": "", "setsid": "", "stdbuf": "ioe", "sudo": "ughpCDRTUrt", "time": "fo", "timeout": "ks",
    "xargs": "InPLdEsa",
}  # fmt: skip
# The same of commands that run a line: a shell with -c, or all their words.
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh")
_EVALUATORS = {"eval": "", "parallel": "jnNIadCLPS", "watch": "nq"}
_LONG = (
    "--user", "--group", "--host", "--prompt", "--chdir", "--chroot", "--close-from", "--command-timeout",
    "--other-user", "--role", "--type", "--unset", "--split-string", "--adjustment", "--kill-after", "--signal",
    "--input", "--output", "--error", "--max-args", "--max-procs", "--max-chars", "--delimiter", "--arg-file",
    "--interval", "--jobs", "--format", "--class", "--classdata", "--rcfile", "--init-file",
)  # fmt: skip
_IDLE = {"command": "vV", "sudo": "lveK"}  # with one of these options a wrapper runs nothing
_EXEC = ("-exec", "-execdir", "-ok", "-okdir")


def commands_within(words: "list[str]") -> "list[list[str]]":
    name = words[0]
    if name == "find":
        starts = [at + 1 for at, word in enumerate(words) if word in _EXEC]
        return [words[start : _end_of_exec(words, start)] for start in starts if start < len(words)]
    letters = _WRAPPERS.get(name)
    if letters is None:
        return []
    start = _end_of_options(words, letters)
    flags = "".join([_flags(word, letters) for word in words[1:start]])
    if any(letter in flags for letter in _IDLE.get(name, "")) or _split_text(words, start):
        return []
    start += name == "timeout"
    while name in ("env", "sudo") and start < len(words) and is_assignment(words[start]):
        start += 1
    return [words[start:]] if start < len(words) else []


def line_within(words: "list[str]") -> str:
    """Return the line that a command runs as a shell does, empty for none."""
    name = words[0]
    if name in _SHELLS:
        start = _end_of_options(words, "oO")
        is_line = any("c" in _flags(word, "oO") for word in words[1:start])
        return words[start] if is_line and start < len(words) else ""
    if name == "env":
        start = _end_of_options(words, _WRAPPERS[name])
        text = _split_text(words, start)
        return " ".join([text, *words[start:]]) if text else ""
    letters = _EVALUATORS.get(name)
    if letters is None:
        return ""
    words = words[_end_of_options(words, letters) :]
    if name == "parallel":
        words = words[: next((at for at, word in enumerate(words) if word.startswith(":::")), len(words))]
    return " ".join(words)


def is_assignment(word: str) -> bool:
    """Tell whether a word, as it is written, sets a variable."""
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").partition("[")[0].isidentifier()


def _end_of_exec(words: "list[str]", start: int) -> int:
    at = start
    while at < len(words) and words[at] != ";" and (words[at] != "+" or words[at - 1] != "{}"):
        at += 1
    return at


def _split_text(words: "list[str]", end: int) -> str:
    """Return the line that `env` has in its option -S; `end`: of the options."""
    if words[0] != "env":
        return ""
    for at, word in enumerate(words[:end]):
        flags = _flags(word, _WRAPPERS["env"])
        if flags.endswith("S") or word == "--split-string":
            return word[len(flags) + 1 :] or words[min(at + 1, end - 1)]
        if word.startswith("--split-string="):
            return word.partition("=")[2]
    return ""


def _flags(option: str, letters: str) -> str:
    """Return the letters of a short option, without a value behind them. `letters`: of those that take a value."""
    if not option.startswith("-") or option.startswith("--"):
        return ""
    end = next((at for at, letter in enumerate(option) if letter in letters), len(option))
    return option[1 : end + 1]


def _end_of_options(words: "list[str]", letters: str) -> int:
    """Return where the options of a command end. `letters`: of those that take a value, if need be the next word."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        flags = _flags(word, letters)
        at += word in _LONG or (flags[-1:] in letters and flags == word[1:] and flags != "")
    return min(at, len(words))
