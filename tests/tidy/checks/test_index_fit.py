"""A MEMORY.md that is over its limit is brought under it: long lines shorter, what is used first, the rest recall-only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.store import memory
from memtui.store.index import index_lines
from memtui.store.index.index import MAX_LINES, budget, missing, normal, parse_index
from memtui.store.scopes import Scope
from memtui.tidy.checks.index_fit import fit

AUTO = Scope("auto", "auto", "/store")


def a_memory(name, description="About it", body="Words."):
    text = f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"
    return memory.from_bytes(f"/store/{name}.md", "auto", text.encode())


def store(*names, **bodies):
    return {f"{name}.md": a_memory(name, body=bodies.get(name, "Words.")) for name in (*names, *bodies)}


def lines_of(names, hook="words"):
    return "".join(f"- [{name}]({name}.md) — {hook}\n" for name in names)


MANY = [f"m{number}" for number in range(MAX_LINES + 50)]


def test_what_fits_stays_and_of_a_subagent_the_most_used():
    data = lines_of(MANY[:MAX_LINES]).encode()
    assert fit(AUTO, data, store(*MANY), {}).data == data
    data = lines_of(MANY[:150], "only the index says that " * 9).encode()
    found = fit(AUTO, data, store(*MANY), {})
    assert found.shortened == 0
    assert b"only the index says that " * 9 in found.data.replace(b"that\n", b"that \n")
    agent = Scope("agent", "agent:x", "/store")
    found = fit(agent, lines_of(MANY).encode(), store(*MANY), {"m249.md": (1, 1)})
    assert parse_index(found.data).entries[0].title == "m249"
    assert len(parse_index(found.data).entries) == len(MANY)


def test_shorter_lines_are_enough():
    long = "Deploys go out on Mondays, and then " + "a great many other words stand here " * 6
    data = lines_of(MANY[:100], long).encode()
    found = fit(AUTO, data, store(**dict.fromkeys(MANY[:100], long)), {})
    assert found.shortened > 0
    assert (found.ordered, found.recall_only) == (0, 0)
    assert budget(found.data).cut_line is None
    assert found.words == f"Shortens {found.shortened} lines."
    assert "Deploys go out on Mondays" in found.data.decode().splitlines()[0]


def test_what_is_never_used_is_only_recalled_and_renamed_as_such():
    data = ("# Shop\n\n" + lines_of(MANY) + "\nWords of a person.\n").encode()
    found = fit(AUTO, data, store(*MANY), {"m249.md": (3, 9), "m100.md": (1, 1)})
    index = parse_index(found.data)
    assert budget(found.data).cut_line is None
    assert [each.title for each in index.entries[:3]] == ["m249", "m100", "m0"]
    assert {each.title for each in index.recall_only} == set(MANY[-len(index.recall_only) - 1 : -1])
    assert missing(index, [f"{name}.md" for name in MANY]) == []
    text = found.data.decode()
    assert text.startswith("# Shop\n\n- [m249]")
    assert "\nWords of a person.\n\n<!-- recall only" in text
    assert text.endswith("-->\n")
    once = fit(AUTO, lines_of(MANY).encode(), store(*MANY), {}).data
    more = [f"n{number}" for number in range(20)]
    twice = fit(AUTO, lines_of(more).encode() + once, store(*MANY, *more), {}).data
    assert budget(twice).cut_line is None
    assert twice.count(b"<!--") == 1
    assert len(parse_index(twice).lines_of_memories) == len(MANY) + 20
    once = fit(AUTO, lines_of(MANY).encode(), store(*MANY), {}).data
    renamed = index_lines.replace_target(once, "m249.md", "new.md", old_title="m249", new_title="new")
    assert b"- [new](new.md)" in renamed
    for each in parse_index(once).recall_only:
        once = index_lines.remove_line(once, each.target)
    assert b"<!--" not in once
    assert len(parse_index(once).entries) == MAX_LINES


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_stay(end):
    found = fit(AUTO, lines_of(MANY).replace("\n", end).encode(), store(*MANY), {}).data
    assert found.count(b"\n") == found.count(end.encode())


NAMES = [f"{letter}{number}" for letter in "abc" for number in range(130)]
PIECES = st.sampled_from(
    [
        *(lines_of([name]) for name in NAMES[::9]),
        *(f"  - [{name}]({name}.md)\n" for name in NAMES[::40]),
        lines_of(NAMES[:130]),
        lines_of(NAMES[130:260], "far too many words for a line of an index " * 6),
        lines_of(NAMES[260:]),
        *("# Title\n", "## Section\n\n", "\n", "-->\n", "```\n", "---\n", "no end", "    goes on\n", "<!-- open\n"),
        *("Some words that a person wrote.\n", "See [a](a1.md) too.\n", "<!-- a comment -->\n", "words <!-- open\n"),
        "<!-- recall only: mine\n- [c9](c9.md)\n-->\n",
    ]
)
USES = st.dictionaries(
    st.sampled_from([f"{name}.md" for name in NAMES]), st.tuples(st.integers(0, 9), st.integers(0, 99))
)
EVERY = store(*NAMES)


def everything(data):
    """What an index says: its memories, and all other lines in their order."""
    index = parse_index(data)
    own = {number for each in index.lines_of_memories for number in index_lines.entry_lines(index, each)}
    return sorted(normal(each.target) for each in index.lines_of_memories), [
        line.strip() for number, line in enumerate(index.lines) if number not in own and line.strip()
    ]


def is_ours(line):
    return line.startswith(("<!-- recall only: not loaded", "#", "-->"))


@given(st.lists(PIECES, max_size=14).map("".join), USES, st.sampled_from(["auto", "agent"]))
def test_any_index_is_brought_under_its_limit_and_loses_nothing(text, uses, kind):
    scope, data = Scope(kind, kind, "/store"), text.encode()
    found = fit(scope, data, EVERY, uses)
    memories, others = everything(data)
    assert everything(found.data)[0] == memories
    assert [line for line in others if not is_ours(line)] == [
        line for line in everything(found.data)[1] if not is_ours(line)
    ]
    assert fit(scope, found.data, EVERY, uses).data == found.data
    before = {each.target for each in budget(data, agent=kind == "agent").below}
    assert len(budget(found.data, agent=kind == "agent").below) <= len(before) or kind == "agent" or before
    if kind == "auto" and not any(mark in text for mark in ("```", "open", "---", "  - ")):
        assert budget(found.data).cut_line is None
