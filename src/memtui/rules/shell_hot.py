"""The simple commands that a shell runs for a line, by the grammar of bash. Hot path.

A command that only runs another one (`sudo`, `env`, `xargs`, `sh -c`, `find -exec`) stands in the list too, before the
one that it runs. Aliases, variables and globs are not followed: `$x` stays as it is written. Whether a command is
reached is not asked: both branches of an `if` are in the list."""

from memtui.rules import wrappers_hot

_META = " \t\n;&|()<>"  # ends a word
_SPECIAL = frozenset(_META + "'\"\\$`")  # everything else is text
_IN_QUOTES = frozenset('"\\$`')
_BEFORE_REDIRECTION = frozenset("0123456789<>&{")
_REDIRECTIONS = ("&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">")
_ENDS = ("then", "elif", "else", "fi", "do", "done", "esac", "}")
_BRANCH_ENDS = (";;&", ";;", ";&")  # in `case`
_KEYWORDS = ("!", "time", "coproc", "{", "if", "while", "until", "for", "select", "case", "function", "[[")
_LISTS = {"{": ("}",), "if": ("then",), "while": ("do", "done"), "until": ("do", "done")}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_HEXADECIMAL = "0123456789abcdefABCDEF"
_DIGITS = {"x": 2, "u": 4, "U": 8}  # after the letter of an escape, at most
_MOST, _DEEPEST = 100, 20  # commands that one runs in turn; lines within lines


class ShellError(ValueError):
    """A line that a shell would refuse."""


def simple_commands(line: str) -> "list[list[str]] | None":
    """Return the words of each command that a shell runs for a line; None where the line can't be parsed."""
    reader = _LineReader(line, [], {})
    try:
        reader.read_list("")
    except (ShellError, RecursionError):
        return None
    return reader.commands


class _LineReader:
    """A line and a position in it. `bodies`: commands of functions that no command has called yet; `heredocs`: those
    whose text starts with the next line: delimiter, whether tabs are stripped, whether the text is literal; `depth`:
    lines around this one; `subshells`: where `((` is no arithmetic."""

    __slots__ = ("at", "bodies", "commands", "depth", "heredocs", "line", "subshells")

    def __init__(
        self, line: str, commands: "list[list[str]]", bodies: "dict[str, list[list[str]]]", depth: int = 0
    ) -> None:
        self.line, self.at = line, 0
        self.commands, self.bodies, self.depth = commands, bodies, depth
        self.heredocs: list[tuple[str, bool, bool]] = []
        self.subshells: set[int] = set()

    def read_list(self, *ends: str) -> str:
        """Read commands to one of `ends` (a word, an operator, empty for the end of the line), and return it."""
        while True:
            self._skip_lines()
            end = self._take_end()
            if end is None:
                self._read_command()
                while self._take(("&&", "||", "|&", "|")):
                    self._skip_lines()
                    self._read_command()
                if not self.line.startswith(_BRANCH_ENDS, self.at) and self._take((";", "&", "\n")):
                    continue
                end = self._take_end()
            if end not in ends:
                raise ShellError
            return end or ""

    def _take(self, operators: "tuple[str, ...]") -> str:
        """Pass one of some operators, and return it. With the end of a line, the texts of its heredocs are passed."""
        operator = next((text for text in operators if self.line.startswith(text, self.at)), "")
        self.at += len(operator)
        if operator == "\n" and self.heredocs:
            self._read_heredocs()
        return operator

    def _take_word(self, words: "tuple[str, ...]") -> str:
        """Pass one of some words that stands without quotes, and return it."""
        line, at, size = self.line, self.at, len(self.line)
        while at < size and line[at] not in _SPECIAL:
            at += 1
        word = line[self.at : at]
        if word not in words or line[at : at + 1] not in _META:
            return ""
        self.at = at
        return word

    def _take_end(self) -> "str | None":
        """Pass what ends a list, and return it; None where a command starts."""
        if self.at == len(self.line):
            return ""
        is_operator = self.line[self.at] in ";)"
        return (self._take((")", *_BRANCH_ENDS)) if is_operator else self._take_word(_ENDS)) or None

    def _expect(self, *texts: str) -> str:
        """Pass lines and one of some words, or a parenthesis, and return it."""
        self._skip_lines()
        if not (text := self._take(texts) if ")" in texts else self._take_word(texts)):
            raise ShellError
        return text

    def _skip_blanks(self) -> None:
        """Skip blanks, continued lines and a comment."""
        line, at = self.line, self.at
        while (char := line[at : at + 1]) in (" ", "\t") or (char == "\\" and line.startswith("\\\n", at)):
            at += 2 if char == "\\" else 1
        if char == "#":
            at = line.find("\n", at)
        self.at = at if at >= 0 else len(line)

    def _skip_lines(self) -> None:
        self._skip_blanks()
        while self._take(("\n",)):
            self._skip_blanks()

    def _read_command(self) -> None:
        keyword = self._take_word(_KEYWORDS)
        if keyword in ("!", "time", "coproc"):
            self._skip_blanks()
            if keyword == "time" and self._take_word(("-p", "--")):
                self._skip_blanks()
            if self.line[self.at : self.at + 1] not in "\n;&)":
                self._read_command()
        elif keyword:
            self._read_compound(keyword)
            self._skip_redirections()
        elif self.line.startswith("(", self.at):
            if not self._take_arithmetic():
                self.at += 1
                self.read_list(")")
            self._skip_redirections()
        else:
            self._read_simple()

    def _read_compound(self, keyword: str) -> None:
        self._skip_blanks()
        for end in _LISTS.get(keyword, ()):
            self.read_list(end)
        if keyword == "if":
            while (end := self.read_list("elif", "else", "fi")) != "fi":
                if end == "elif":
                    self.read_list("then")
        elif keyword in ("for", "select"):
            if not self._take_arithmetic():
                self._read_word()
                self._skip_lines()
                if self._take_word(("in",)):
                    self._read_words()
            self._skip_blanks()
            self._take((";",))
            self.read_list("done" if self._expect("do", "{") == "do" else "}")
        elif keyword == "case":
            self._read_case()
        elif keyword == "[[":
            self._read_test()
        elif keyword == "function":
            self._define(self._read_word())

    def _read_case(self) -> None:
        """Read the branches of a `case`."""
        self._read_word()
        self._expect("in")
        end = ""
        while end != "esac":
            self._skip_lines()
            if self._take_word(("esac",)):
                return
            self._take(("(",))
            self._read_words("|")
            self._expect(")")
            end = self.read_list(*_BRANCH_ENDS, "esac")

    def _read_test(self) -> None:
        """Read `[[ … ]]`, in which operators of a shell are those of the test."""
        word = ""
        while word != "]]":
            self._skip_lines()
            start = self.at
            self._read_word()
            word = self.line[start : self.at]
            if start == len(self.line):
                raise ShellError
            self.at += not word

    def _define(self, name: str) -> None:
        """Read what follows the name of a function; its commands run where it is called."""
        self._skip_blanks()
        if self._take(("(",)):
            self._expect(")")
        self._skip_lines()
        outer, self.commands = self.commands, []
        self._read_command()
        self.bodies[name], self.commands = self.commands, outer

    def _read_simple(self) -> None:
        """Read a simple command, or the definition of a function."""
        start, words = self.at, self._read_words()
        if len(words) == 1 and self.line.startswith("(", self.at):
            self._define(words[0])
        elif start == self.at:
            raise ShellError
        elif words:
            self._run(words)

    def _run(self, words: "list[str]") -> None:
        """Add a command, and what it runs in turn."""
        self.commands += self.bodies.pop(words[0], [])
        waiting = [words]
        for command in waiting:
            name = command[0] = command[0].rpartition("/")[2]
            self.commands.append(command)
            waiting += wrappers_hot.commands_within(command)[: _MOST - len(waiting)]
            line = wrappers_hot.line_within(command)
            if line:
                self._read_within(line, self.bodies if name == "eval" else {})

    def _read_within(self, text: str, bodies: "dict[str, list[list[str]]]", *, is_line: bool = True) -> None:
        """Read the commands of a line within this one, or substituted in a text; none if a shell would refuse it."""
        count = len(self.commands)
        reader = _LineReader(text, self.commands, bodies, self.depth + 1)
        try:
            if self.depth < _DEEPEST:
                reader.read_list("") if is_line else reader._read_quoted("")
        except ShellError:
            del self.commands[count:]

    def _read_words(self, between: str = "") -> "list[str]":
        """Read words, with an operator between them, without assignments before the first one and redirections."""
        words: list[str] = []
        while True:
            self._skip_redirections()
            start = self.at
            word = self._read_word()
            if self.at == start:
                if between and self._take((between,)):
                    continue
                return words
            if words or not wrappers_hot.is_assignment(self.line[start : self.at]):
                words.append(word)

    def _skip_redirections(self) -> None:
        self._skip_blanks()
        while self.line[self.at : self.at + 1] in _BEFORE_REDIRECTION and self._take_redirection():
            self._skip_blanks()

    def _take_redirection(self) -> bool:
        line, at = self.line, self.at
        if line[at] == "{" and (end := line.find("}", at)) > 0 and line[at + 1 : end].isidentifier():
            at = end + 1
        while line[at : at + 1].isdigit():
            at += 1
        operator = next((text for text in _REDIRECTIONS if line.startswith(text, at)), "")
        if not operator or line.startswith(("<(", ">("), at):
            return False
        self.at = at + len(operator)
        self._skip_blanks()
        start = self.at
        word = self._read_word()
        if self.at == start:
            raise ShellError
        if operator in ("<<", "<<-"):
            self.heredocs.append((word, operator == "<<-", word != line[start : self.at]))
        return True

    def _read_heredocs(self) -> None:
        heredocs, self.heredocs = self.heredocs, []
        for delimiter, is_indented, is_literal in heredocs:
            start = self.at
            for row in self.line[start:].split("\n"):
                self.at = min(self.at + len(row) + 1, len(self.line))
                if (row.lstrip("\t") if is_indented else row) == delimiter:
                    break
            if not is_literal:
                self._read_within(self.line[start : self.at], self.bodies, is_line=False)

    def _read_word(self) -> str:
        """Read a word, if one starts here, and return it without its quotes; expansions stay as they are written."""
        line, size, parts = self.line, len(self.line), []
        start = at = self.at
        while at < size:
            char, begin = line[at], at
            if char not in _SPECIAL:
                while at < size and line[at] not in _SPECIAL:
                    at += 1
                parts.append(line[begin:at])
            elif char == "\\":
                at = min(at + 2, size)
                parts.append(line[begin + 1 : at].replace("\n", "") or "\\" * (begin + 1 == size))
            elif char == "'":
                self.at = at + 1
                parts.append(self._read_literal())
                at = self.at
            elif char in '"$`':
                self.at = at + (char == '"')
                parts.append(self._read_quoted('"') if char == '"' else self._read_expansion(is_quoted=False))
                at = self.at
            elif char in "<>" and line.startswith("(", at + 1):
                self.at = at + 1
                self._read_substitution()
                at = self.at
                parts.append(line[begin:at])
            elif char == "(" and line[at - 1] == "=" and wrappers_hot.is_assignment(line[start:at]):
                self.at = at + 1
                self._read_words("\n")
                self._expect(")")
                at = self.at
            else:
                break
        self.at = at
        return "".join(parts)

    def _read_literal(self) -> str:
        """Read text in single quotes behind the first one, and return it."""
        start, end = self.at, self.line.find("'", self.at)
        if end < 0:
            raise ShellError
        self.at = end + 1
        return self.line[start:end]

    def _read_quoted(self, end: str) -> str:
        """Read text in double quotes behind the first one, or of a heredoc where `end` is empty, and return it."""
        line, size, parts = self.line, len(self.line), []
        while True:
            begin = at = self.at
            while at < size and line[at] not in _IN_QUOTES:
                at += 1
            parts.append(line[begin:at])
            char = line[at : at + 1]
            self.at = at + 1
            if char == end:
                return "".join(parts)
            if not char:
                raise ShellError
            if char == "\\":
                escaped = line[at + 1 : at + 2]
                self.at += 1
                parts.append("" if escaped == "\n" else escaped if escaped in '$`"\\' else char + escaped)
            elif char == '"':
                parts.append(char)
            else:
                self.at = at
                parts.append(self._read_expansion(is_quoted=True))

    def _read_expansion(self, *, is_quoted: bool) -> str:
        """Read an expansion at `$` or a backquote, with the commands in it; return it as it is written."""
        line, start = self.line, self.at
        follower = line[start + 1 : start + 2]
        self.at += 1
        if line[start] == "`":
            self._read_backquotes(is_quoted=is_quoted)
        elif follower == "(" and not self._take_arithmetic():
            self._read_substitution()
        elif follower == "{":
            self._read_braces(is_quoted=is_quoted)
        elif follower in ("'", '"') and not is_quoted:
            self.at += 1
            return self._read_escapes() if follower == "'" else self._read_quoted('"')
        return line[start : self.at]

    def _read_substitution(self) -> None:
        """Read the commands in `(…)`. Heredocs before it start with the next line behind it."""
        outer, self.heredocs = self.heredocs, []
        self.at += 1
        self.read_list(")")
        self.heredocs = outer + self.heredocs

    def _take_arithmetic(self) -> bool:
        """Pass `((…))` and read the commands that are substituted in it; False for subshells that start in this way."""
        line, start, count, depth = self.line, self.at, len(self.commands), 2
        if not line.startswith("((", start) or start in self.subshells:
            return False
        self.at += 2
        try:
            while depth > 1 and (char := line[self.at : self.at + 1]):
                if char in "$`":
                    self._read_expansion(is_quoted=True)
                    continue
                self.at += 2 if char == "\\" else 1
                depth += (char == "(") - (char == ")")
                if char == '"':
                    self._read_quoted(char)
                elif char == "'":
                    self._read_literal()
        except ShellError:
            depth = 0
        if depth > 1:
            raise ShellError
        if depth and self._take((")",)):
            return True
        self.at = start
        del self.commands[count:]
        self.subshells.add(start)
        return False

    def _read_backquotes(self, *, is_quoted: bool) -> None:
        line, at, parts = self.line, self.at, []
        while (char := line[at : at + 1]) != "`":
            if not char:
                raise ShellError
            if char == "\\" and line[at + 1 : at + 2] in ("`", "\\", "$", '"' if is_quoted else "$"):
                at += 1
            parts.append(line[at : at + 1])
            at += 1
        self.at = at + 1
        self._read_within("".join(parts), self.bodies)

    def _read_braces(self, *, is_quoted: bool) -> None:
        """Read `${…}` from its brace on."""
        self.at += 1
        while (char := self.line[self.at : self.at + 1]) != "}":
            if not char:
                raise ShellError
            if char in "$`":
                self._read_expansion(is_quoted=is_quoted)
                continue
            self.at += 2 if char == "\\" else 1
            if char == '"':
                self._read_quoted('"')
            elif char == "'" and not is_quoted:
                self._read_literal()
        self.at += 1

    def _read_escapes(self) -> str:
        """Read `$'…'` behind its quote, and return the text."""
        parts = []
        while (char := self.line[self.at : self.at + 1]) != "'":
            if not char:
                raise ShellError
            self.at += 1
            parts.append(self._read_escape() if char == "\\" else char)
        self.at += 1
        return "".join(parts)

    def _read_escape(self) -> str:
        """Read what a backslash in `$'…'` makes of the next letters."""
        line, letter = self.line, self.line[self.at : self.at + 1]
        is_octal = letter.isdigit()
        most = 3 if is_octal else _DIGITS.get(letter, 0)
        start = end = self.at + (not is_octal)
        while end < start + most and end < len(line) and line[end] in (_HEXADECIMAL[:8] if is_octal else _HEXADECIMAL):
            end += 1
        if end > start:
            self.at = end
            return chr(int(line[start:end], 8 if is_octal else 16) % 0x110000)
        self.at += 1
        return _ESCAPES.get(letter, letter if letter in "\\'\"?" else "\\" + letter)
