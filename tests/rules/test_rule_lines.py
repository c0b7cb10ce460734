"""Rules as a person types them on one line, and as they are written into a memory's file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base.errors import MemtuiError, UsageError
from memtui.rules.rule_hot import Pattern, Rule, parse_all
from memtui.rules.rule_lines import line, rules_of_line, with_rules
from memtui.store.frontmatter import document
from tables import rows

TEXTS = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1).filter(str.strip)
PATTERNS = st.one_of(
    st.builds(Pattern, path=TEXTS), st.builds(Pattern, reply=TEXTS), st.builds(Pattern, text=TEXTS, path=TEXTS)
)
RULES = st.one_of(
    st.builds(Rule, st.just("never"), PATTERNS),
    st.builds(Rule, st.just("never"), PATTERNS, st.just("instead"), PATTERNS),
    st.builds(Rule, st.just("always"), PATTERNS, st.sampled_from(["before", "with"]), PATTERNS),
)
PNPM = 'never: {command: "npm *"}, instead: {command: "pnpm *"}'


@given(st.lists(RULES, max_size=3))
def test_rules_are_read_back_as_they_are_shown(rules):
    assert [rule.as_row() for rule in rules_of_line("; ".join(map(line, rules)))] == [rule.as_row() for rule in rules]


def test_a_rule_is_typed_without_quotes():
    lint, npm = rules_of_line(
        "always: {command: make lint *}, before: {command: git commit *}; never: {command: npm *}, enforce: ask"
    )
    assert (str(lint), str(npm)) == ("always make lint * before git commit *", "never npm *")
    assert npm.enforce == "ask"


def test_a_rule_is_read_as_screens_show_it():
    rules = rules_of_line(
        "never npm, instead pnpm *; always CHANGELOG.md with src/**; never “x(; y” in *.ts (enforce: ask); never “—” in a reply"
    )
    assert [str(rule) for rule in rules] == [
        "never npm *, instead pnpm *", "always CHANGELOG.md with src/**", "never “x(; y” in *.ts", "never “—” in a reply",
    ]  # fmt: skip
    assert rules[2].enforce == "ask"
    mixed = rules_of_line('never npm *, instead: {command: "pnpm *"}, enforce: ask\nnever yarn before:x')
    assert ([*map(str, mixed)], mixed[0].enforce) == (["never npm *, instead pnpm *", "never yarn before:x *"], "ask")


@pytest.mark.parametrize(("text", "problem"), rows(__file__, "what is no rule says what would be one"))
def test_what_is_no_rule_says_what_would_be_one(text, problem):
    with pytest.raises(UsageError) as error:
        rules_of_line(text)
    assert problem in error.value.message
    assert error.value.hint.endswith(str(rules_of_line(PNPM)[0]))


@given(st.lists(RULES, min_size=1, max_size=3))
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_rules_written_into_a_file_leave_all_else_as_it_was(newline, rules):
    before = "---\nname: x # mine\nmetadata: \n  type: feedback\n---\n\nUse pnpm.\n".replace("\n", newline).encode()
    after = with_rules(before, rules)
    head, _, tail = before.partition(f"---{newline}{newline}".encode())
    assert after.startswith(head)
    assert after.endswith(tail)
    written, problems = parse_all(document.parse(after).fields)
    assert ([rule.as_row() for rule in written], problems) == ([rule.as_row() for rule in rules], [])


def test_rules_that_are_there_are_not_written_over():
    data = with_rules(b"---\nname: x\n---\n", rules_of_line(PNPM))
    with pytest.raises(MemtuiError, match="rules already"):
        with_rules(data, rules_of_line(PNPM))
    assert with_rules(with_rules(data, rules_of_line(PNPM), others=True), [], others=True) == b"---\nname: x\n---\n"
    assert with_rules(data.replace(b"rules", b"others"), []) == data.replace(b"rules", b"others")
