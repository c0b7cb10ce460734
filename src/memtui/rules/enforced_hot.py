"""Rules that hooks enforce, in one file under the data root, by directory and file of their memories. Hot path.

A worker writes it (worker/index_updates.py), with the rules as rows of frontmatter; without such a rule there is none.
What it lists may be older than the memory: who refuses a call looks into that (hooks/refusals_hot.py)."""

from memtui.base import fastjson_hot

FILE = "rules/enforced"
SHELLS = ("Bash", "Monitor", "PowerShell")  # tools that run a command; what others break are rules about edits
IN_NAME = "-_./+"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memtui.rules import match_hot, rule_hot

    Place = tuple[str, str, str]  # (scope, directory, file) of a memory


class Breach:
    """A rule of the memory at `place` that a call breaks, by its `line` (a command, path or line)."""

    __slots__ = ("line", "place", "rule")

    def __init__(self, place: "Place", rule: "rule_hot.Rule", line: str) -> None:
        self.place, self.rule, self.line = place, rule, line


def candidates(
    rows_by_directory: "dict[str, object]",
    where: "Sequence[tuple[str, str]]",
    tool: str,
    tool_input: "Mapping[str, object]",
) -> "list[tuple[Place, dict[str, object]]]":
    """List the rows of some places, (scope, directory) each, that a call may break by its words: a quick look."""
    texts = _texts(tool_input)
    rows: list[tuple[Place, dict[str, object]]] = []
    for scope, directory in where:
        files = fastjson_hot.table(rows_by_directory, directory)
        for file in files:
            of_file = [row for row in fastjson_hot.rows(files, file) if isinstance(row, dict)]
            place = (scope, directory, file)
            rows += [(place, row) for row in of_file if _may_break(row, tool in SHELLS, texts)]
    return rows


def _texts(value: object) -> "list[str]":
    if isinstance(value, str):
        return [value]
    values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in values for text in _texts(part)]


def _may_break(row: "dict[str, object]", is_shell: bool, texts: "Sequence[str]") -> bool:
    side = fastjson_hot.table(row, "never" if "never" in row else "with")
    command, word = fastjson_hot.text(side, "command"), fastjson_hot.text(side, "text")
    if is_shell != bool(command):
        return False
    end = 0
    while end < len(command) and (command[end].isalnum() or command[end] in IN_NAME):
        end += 1
    word = word or command[command.rfind("/", 0, end) + 1 : end]
    return not word or any(word in text for text in texts)


def breaches(
    rows: "Sequence[tuple[Place, dict[str, object]]]", call: "match_hot.Call", project_root: str
) -> "list[Breach]":
    """List what a call breaks of some rows, rules that refuse first; a row that is no rule is left out."""
    from memtui.rules import match_hot, rule_hot

    broken = []
    for place, row in rows:
        try:
            rule = rule_hot.parse(row)
        except rule_hot.RuleError:
            continue
        line = match_hot.breach(rule, call, project_root)
        if line:
            broken.append(Breach(place, rule, line))
    broken.sort(key=lambda breach: breach.rule.enforce != "refuse")
    return broken


def stands(rule: "rule_hot.Rule", fields: "Mapping[str, object]") -> bool:
    """Tell whether a memory with these fields still has a rule, enforced in the same way."""
    from memtui.rules import rule_hot

    return any((other.key(), other.enforce) == (rule.key(), rule.enforce) for other in rule_hot.parse_all(fields)[0])
