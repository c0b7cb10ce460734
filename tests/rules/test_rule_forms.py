"""Rules in the frontmatter of memories: their forms, what is wrong with others, and that writers keep them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import findings
from memtui.rules import problems, rule_hot
from memtui.store import memory
from memtui.store.frontmatter import document
from memtui.store.status import Row
from memtui.tidy.checks import lint
from memtui.views import rules
from tables import rows

RULES = """rules:
  - instead: {command: "pnpm *"}   # any order
    never: {command:  "npm   *"}
    enforce: ask
  - always:
      command: pytest *
      before: {command: git commit *}
  # between
  - never: {text: 'console.log(', path: "src/**"}
  - {always: {text: a, with: {text: b}}, enforce: refuse}
  - never: {reply: —}
"""
SHOWN = [
    "never npm *, instead pnpm *",
    "always pytest * before git commit *",
    "never “console.log(” in src/**",
    "always “a” with “b”",
    "never “—” in a reply",
]


def read(tmp_path, head):
    path = tmp_path / "rule.md"
    path.write_text(f"---\nname: rule\n{head}---\n\nBody.\n")
    return memory.read_memory(str(path), "global")


def test_every_form_is_read_in_any_order_and_nesting(tmp_path):
    of_memory = read(tmp_path, RULES)
    parsed, wrong = rule_hot.parse_all(of_memory.fields)
    assert [str(rule) for rule in parsed] == SHOWN
    assert [rule.enforce for rule in parsed] == ["ask", "", "", "refuse", ""]
    assert wrong == problems.problems_of(of_memory) == []


@pytest.mark.parametrize(
    ("entry", "why"), rows(__file__, "test_a_wrong_entry_is_a_problem_with_its_line_and_the_others_work")
)
def test_a_wrong_entry_is_a_problem_with_its_line_and_the_others_work(tmp_path, entry, why):
    of_memory = read(tmp_path, f"rules:\n  - never: {{command: first}}\n\n  # a comment\n  - {entry}\n")
    ((line, words),) = problems.problems_of(of_memory)
    assert (line, [str(rule) for rule in rule_hot.parse_all(of_memory.fields)[0]]) == (7, ["never first"])
    assert why in words


def test_check_and_the_detail_of_a_memory_say_what_is_no_rule(tmp_path):
    of_memory = read(tmp_path, "description: A rule\ntype: user\nrules: [{never: {path: a}, enforce: block}]\n")
    wrong = [each for each in lint.check(lint.at(str(tmp_path), "/", 0.0)) if each.code == "rules.form"]
    assert [findings.message(each).partition(":rule")[2] for each in wrong] == [
        ", line 5, is no rule: `enforce` is refuse or ask."
    ]
    shown = rules.facts(Row(of_memory, "rule.md", []), 0.0)
    assert shown == [("rules", "line 5 is no rule: `enforce` is refuse or ask")]


CLIENT = """metadata:
  node_type: memory
  rules:
    - never:
        path: made/**
      enforce: refuse
    - never:
        command: touch told*
      instead:
        commands: install *
""".replace(":\n", ": \n")


def test_a_memory_that_the_client_wrote_anew_keeps_its_rules(tmp_path):
    """Versions 2.1.197 and 2.1.332 move fields into `metadata`, in block form."""
    of_memory = read(tmp_path, CLIENT)
    shown = rules.facts(Row(of_memory, "rule.md", []), 0.0)
    assert [line for _, line in shown] == [
        "never made/** (enforce: refuse)",
        "line 9 is no rule: `instead` has no `commands`: it is one of command, path, text, reply",
    ]


def test_the_short_form_and_fields_of_metadata_are_read(tmp_path):
    shown = lambda head: [str(rule) for rule in rule_hot.parse_all(read(tmp_path, head).fields)[0]]
    short = ["never npm * install *", "never git * push * --force *"]
    assert shown("forbids: npm install, git push --force\n") == short
    assert shown("metadata:\n  forbids:\n  - npm install\n  - git push --force\n") == short
    assert shown("forbids: |\n  npm install\n  echo a, b\n") == ["never npm * install *", "never echo * a, * b *"]
    assert shown("metadata:\n  rules:\n  - never: {command: npm}\n") == ["never npm"]
    wrong = problems.problems_of(read(tmp_path, "forbids:\n- a\n- {b: c}\n"))
    assert wrong == [(5, "`forbids` is a list of commands, as in: forbids: npm install, npm ci")]
    assert [line for line, _ in problems.problems_of(read(tmp_path, "rules: npm\n"))] == [3]


patterns = st.one_of(
    st.builds(rule_hot.Pattern, command=st.sampled_from(["npm *", "git push"])),
    st.builds(rule_hot.Pattern, text=st.text(min_size=1).filter(str.strip), path=st.sampled_from(["", "src/**"])),
)


@given(patterns, patterns, st.sampled_from(["", "refuse", "ask"]))
def test_a_rule_is_read_back_from_its_row(subject, other, enforce):
    for rule in (
        rule_hot.Rule("never", subject, "instead", other, enforce),
        rule_hot.Rule("always", subject, "before", other),
        rule_hot.Rule("never", subject, enforce=enforce),
    ):
        again = rule_hot.parse(rule.as_row())
        assert (again.as_row(), again.key()) == (rule.as_row(), rule.key())


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_writers_of_other_fields_keep_rules_byte_for_byte(newline):
    head = f"name: rule\ndescription: Old\n{RULES}metadata: \n  type: feedback\n"
    data = f"---\n{head}---\n\nBody.\n".replace("\n", newline).encode()
    doc = document.parse(data).with_field(("description",), "New: text").with_field(("metadata", "note"), "x")
    written = RULES.replace("\n", newline).encode()
    assert written in doc.raw
    assert written in doc.without_field(("description",)).with_body("Other.\n").raw
    enforced = doc.with_field(("rules", "2", "enforce"), "refuse")
    assert enforced.raw.replace(f"{newline}    enforce: refuse".encode(), b"", 1) == doc.raw
    assert [rule.enforce for rule in rule_hot.parse_all(enforced.fields)[0]] == ["ask", "", "refuse", "refuse", ""]
