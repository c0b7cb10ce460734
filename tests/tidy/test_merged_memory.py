"""Merging memories: fields side by side with a default for each, bodies combined; nothing that one of them says is lost, and
what both say stands there once."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.rules import rule_hot
from memtui.store import memory
from memtui.tidy import changeset, coverage, merged_memory
from tables import rows


def made(name, text):
    return memory.from_bytes(f"/x/{name}.md", "auto", text.encode())


def simple(name, description, body, more=""):
    text = f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: feedback\n{more}---\n\n{body}\n"
    return made(name, text)


PNPM = simple(
    "prefer-pnpm",
    "Use pnpm, never npm",
    "Use pnpm for every install.\n\n**Why:** the lock file is pnpm's.\n**How to apply:** `pnpm add`.",
)
AGAIN = simple(
    "pnpm-only",
    "Use pnpm, never npm",
    "Use pnpm for every install. The cache is shared.\n\n**Why:** npm broke CI twice.\n**How to apply:** `pnpm add`.\n",
)


def text(*memories):
    return merged_memory.merged(memories).decode()


def test_what_both_say_stands_there_once_and_what_one_says_in_the_body():
    assert text(PNPM, AGAIN).partition("---\n\n")[2] == (
        "Use pnpm for every install.\n\n**Why:** the lock file is pnpm's.\n**Why:** npm broke CI twice.\n"
        "**How to apply:** `pnpm add`.\n\nThe cache is shared.\n"
    )
    one = simple("one", "One", "# Setup\n\n- install\n\n# Run\n\nRun it.")
    two = simple(
        "two", "One", "# Run\n\nTwice.\n\n```\nmake\n```\n\n# Stop\n\nPress q.\n\n# Setup\n\n- install\n- build"
    )
    assert text(one, two).partition("---\n\n")[2] == (
        "# Setup\n\n- install\n- build\n\n# Run\n\nRun it.\n\nTwice.\n\n```\nmake\n```\n\n# Stop\n\nPress q.\n"
    )
    other = simple("two", "Never npm on CI", "Use pnpm for every install.")
    assert text(PNPM, other).endswith("`pnpm add`.\n\nNever npm on CI\n")
    for body in ("It is slow.", "The tests need it on port 5433.", "`make db` starts PostgreSQL on port 15433."):
        assert "\nStart it with `make db`\n" in text(DATABASE, simple("two", "Start it with `make db`", body))
    one, two = simple("one", "Port", "The port is 8080."), simple("two", "Port", "The port is 8081.")
    assert all(port in text(one, two) for port in ("8080", "8081"))


DATABASE = simple("one", "Start it with `make db`, on port 5433", "`make db` starts PostgreSQL on port 5433.")


def test_a_field_takes_its_first_value_and_a_description_is_no_repeat():
    one = simple("one", "One", "x", "  owner: anna\n  tags: [a, b]\n")
    two = simple("two", "Two", "x", "  owner: bob\n  tags:\n    - b\n    - c\n  expires: 2027-01-01\n")
    found = memory.from_bytes("/one.md", "auto", text(one, two).encode())
    assert (found.name, found.fields["metadata"]["owner"]) == ("one", "anna")
    assert found.fields["metadata"]["tags"] == ["a", "b", "c"]
    assert 'expires: "2027-01-01"' in text(one, two)
    dropped = changeset.covered(merged_memory.proposal([one, two])).dropped
    assert [each.statement.text for each in dropped] == ["owner: bob"]
    other = simple("two", "Start it with `make db`", "`make db` starts PostgreSQL on port 5433. It is slow.")
    merged = text(DATABASE, other)
    assert merged.partition("---\n\n")[2] == "`make db` starts PostgreSQL on port 5433. It is slow.\n"
    assert changeset.covered(merged_memory.proposal([DATABASE, other])).is_verbatim


def test_rules_of_all_are_there_and_the_fuller_of_two():
    npm = simple("a", "No npm", "No npm.", 'rules:\n  - never: {command: "npm *"}\n')
    pnpm = simple("b", "Use pnpm", "Pnpm.", 'rules:\n  - never: {command: "npm *"}\n    instead: {command: "pnpm *"}\n')
    other = simple("c", "No tabs", "Tabs.", 'rules:\n  - never: {path: "migrations/**"}\n')
    rules = [rule.key() for rule in rule_hot.parse_all(made("m", text(npm, pnpm, other)).fields)[0]]
    assert rules == ["never npm *, instead pnpm *", "never migrations/**"]


def test_the_one_kept_has_most_text_or_is_referred_to_and_keeps_its_bytes():
    assert [each.name for each in merged_memory.best_first([PNPM, AGAIN])] == ["pnpm-only", "prefer-pnpm"]
    renamed = made("a-file-of-another-name", AGAIN.raw.decode())
    assert merged_memory.best_first([PNPM, renamed])[0] is renamed
    windows = made("w", "---\r\nname: w # mine\r\ndescription: W\r\n---\r\nOne.\r\n")
    assert text(windows, simple("x", "W", "Two.")).startswith("---\r\nname: w # mine\r\n")
    assert "One.\r\n\r\nTwo.\r\n" in text(windows, simple("x", "W", "Two."))
    one, two = simple("one", "D", "See [[two]] and [[three]]."), simple("two", "D", "After [[one]].")
    assert "See two and [[three]]." in text(one, two)
    assert "After one." in text(one, two)
    assert merged_memory.best_first([PNPM, AGAIN], {PNPM.path})[0] is PNPM


PARAGRAPHS = rows(__file__, "paragraphs")
PIECES = st.lists(st.sampled_from(PARAGRAPHS), max_size=7)


@given(PIECES, PIECES, PIECES, st.sampled_from(["Use pnpm", "Other words", ""]))
def test_no_statement_is_lost_and_none_is_there_that_nobody_made(one, two, three, description):
    bodies = ("\n\n".join(paragraphs) for paragraphs in (one, two, three))
    memories = [simple(name, description, body) for name, body in zip("abc", bodies, strict=True)]
    found = merged_memory.proposal(memories)
    assert changeset.covered(found).dropped == []
    own = [each for m in memories for each in coverage.of_file(m.path, m.raw)]
    assert changeset.covered(found).is_verbatim
    made_up = coverage.cover(coverage.of_file("/x/a.md", found.written[0].after), own).dropped
    texts = "\n".join(each.text for each in own)
    assert [each for each in made_up if coverage.LABEL.sub("", each.statement.text) not in texts] == []


@given(st.text(alphabet="ab.- #`|*>1:\n", max_size=80))
def test_the_pieces_of_any_text_are_the_text(text):
    assert coverage.join(coverage.chunks(text)) == text
