"""Rules that hooks enforce, in one file under the data root, by directory and file of their memories. Hot path.

A worker writes it (worker/index_updates.py), with the rules as rows of frontmatter; without such a rule there is none.
What it lists may be older than the memory: who refuses a call looks into that (hooks/refusals_hot.py)."""

from memtui.base import fastjson_hot
from memtui.rules import match_hot, rule_hot

FILE = "rules/enforced"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Breach:
    """A rule of the memory `place` (scope, directory, file) that a call breaks, by its `line` (a command, path or
    line)."""

    __slots__ = ("line", "place", "rule")

    def __init__(self, place: "tuple[str, str, str]", rule: rule_hot.Rule, line: str) -> None:
        self.place, self.rule, self.line = place, rule, line


def rules_of(
    rows_by_directory: "dict[str, object]", where: "Sequence[tuple[str, str]]"
) -> "list[tuple[tuple[str, str, str], rule_hot.Rule]]":
    """List the enforced rules of some places, (scope, directory) each; a row that is no rule is left out."""
    rules = []
    for scope, directory in where:
        files = fastjson_hot.table(rows_by_directory, directory)
        for file in files:
            for row in fastjson_hot.rows(files, file):
                try:
                    rules.append(((scope, directory, file), rule_hot.parse(row)))
                except rule_hot.RuleError:
                    continue
    return rules


def breaches(
    rules: "Sequence[tuple[tuple[str, str, str], rule_hot.Rule]]", call: match_hot.Call, project_root: str
) -> "list[Breach]":
    """List what a call breaks, rules that refuse first."""
    broken = []
    for place, rule in rules:
        line = match_hot.breach(rule, call, project_root)
        if line:
            broken.append(Breach(place, rule, line))
    broken.sort(key=lambda breach: breach.rule.enforce != "refuse")
    return broken


def stands(rule: rule_hot.Rule, fields: "Mapping[str, object]") -> bool:
    """Tell whether a memory with these fields still has a rule, enforced in the same way."""
    return any((other.key(), other.enforce) == (rule.key(), rule.enforce) for other in rule_hot.parse_all(fields)[0])
