"""The simple commands that a shell would run for a line. Hot path."""

# What stands between the commands of a line, and words before a command that are none.
_SEPARATORS = ";|&(){}`"
_WRAPPERS = ("sudo", "env", "time", "exec", "command", "nohup", "xargs", "if", "then", "else", "do", "while", "!")


def simple_commands(line: str) -> "list[list[str]] | None":
    """Return the words of each command that a shell would run for a line, the first without its directory; None where
    the line can't be parsed."""
    for separator in _SEPARATORS:
        line = line.replace(separator, "\n")
    commands = []
    for part in line.split("\n"):
        words = [word.strip("\"'") for word in part.split()]
        while words and (words[0] in _WRAPPERS or "=" in words[0]):
            del words[0]
        if words:
            commands.append([words[0].rpartition("/")[2], *words[1:]])
    return commands
