"""MEMORY.md is kept up in the line concerned and nowhere else, and its budget is the client's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recorded
from memtui.store.index import index as memory_index
from memtui.store.index import index_lines
from memtui.store.index.index import budget, loaded, parse_index
from memtui.store.index.index_state import passages
from tables import rows

INDEX = """---
name: MEMORY
see: "[not](an-entry.md)"
---
<!-- - [Hidden](hidden.md) — no -->
# Memory

## User
- [Role](role.md) — who

## Feedback

* [Tests: run them](run%20tests.md#how) - always
  - and more of it
* [Sub](sub/deep.md "Title") — nested directory
  * [Child](<a child (1).md>): x
* Prose with a [mention](mention.md) in it
* [Elsewhere](https://example.org/x.md) — a URL
* [Above](../up.md), [Text](notes.txt), ![Image](image.md)

```
- [Code](code.md) — no
```
1. [x] [Numbered](numbered.md)

Last words.
"""


def entries(text):
    return [(e.line, e.title, e.target, e.hook, e.separator) for e in parse_index(text.encode()).entries]


def test_what_is_a_memory_of_the_index_dangling_or_missing():
    assert entries(INDEX) == [
        (9, "Role", "role.md", "who", "—"),
        (13, "Tests: run them", "run tests.md", "always", "-"),
        (15, "Sub", "sub/deep.md", "nested directory", "—"),
        (16, "Child", "a child (1).md", "x", ":"),
        (24, "Numbered", "numbered.md", "", ""),
    ]
    index = parse_index(INDEX.encode())
    assert [(e.line, e.target) for e in index.mentions] == [(17, "mention.md")]
    index = parse_index(INDEX.encode())
    files = ["role.md", "run%20tests.md", "sub/deep.md", "MEMORY.md", "mention.md", "new.md", "a.txt"]
    assert [e.target for e in memory_index.dangling(index, files)] == ["a child (1).md", "numbered.md"]
    assert memory_index.missing(index, files) == ["new.md"]
    index = parse_index("- [É](e\u0301te\u0301.md)\n".encode())
    assert memory_index.dangling(index, ["\u00e9t\u00e9.md"]) == []


def added(text, *, kind="", hook="a hook", target="new one.md", title="New"):
    new = index_lines.add_line(text.encode(), target, title, hook, kind=kind).decode()
    old, made = text.split("\n"), new.split("\n")
    at = next((n for n, (a, b) in enumerate(zip(old, made)) if a != b), len(old) - 1)
    return at + 1, made[at : at + len(made) - len(old)], new


@pytest.mark.parametrize(
    ("text", "kind", "line", "made"), rows(__file__, "a new line goes below the last one of its section")
)
def test_a_new_line_goes_below_the_last_one_of_its_section(text, kind, line, made):
    at, lines, new = added(text, kind=kind)
    assert (at, lines) == (line, made)
    assert [n for n in new.split("\n") if n not in lines] == [n for n in text.split("\n") if n not in lines]


def test_a_removed_or_renamed_memory_changes_its_lines_alone():
    without = index_lines.remove_line(INDEX.encode(), "run tests.md").decode()
    assert without == INDEX.replace("* [Tests: run them](run%20tests.md#how) - always\n  - and more of it\n", "")
    without = index_lines.remove_line(INDEX.encode(), "sub/deep.md").decode()
    assert without == INDEX.replace('* [Sub](sub/deep.md "Title") — nested directory\n', "")
    assert index_lines.remove_line(INDEX.encode(), "mention.md") == INDEX.encode()
    assert index_lines.remove_line(INDEX.encode(), "nothing.md") == INDEX.encode()
    assert index_lines.remove_line(b"- [A](a.md)\n- [B](b.md)\n- [A again](a.md)", "a.md") == b"- [B](b.md)"
    titles = {"old_title": "Tests: run them", "new_title": "Do it"}
    new = index_lines.replace_target(INDEX.encode(), "run tests.md", "do (it).md", **titles)
    assert new.decode() == INDEX.replace("[Tests: run them](run%20tests.md#how)", "[Do it](do%20%28it%29.md#how)")
    new = index_lines.replace_target(INDEX.encode(), "a child (1).md", "b c.md", old_title="no", new_title="x")
    assert new.decode() == INDEX.replace("<a child (1).md>", "<b c.md>")
    new = index_lines.replace_target(INDEX.encode(), "mention.md", "m2.md")
    assert new.decode() == INDEX.replace("(mention.md)", "(m2.md)")
    data = b"- [A](a.md) - old\n- [Mine](a.md) - what I wrote\n"
    new = index_lines.set_hook(data, "a.md", "new", "old")
    assert new == b"- [A](a.md) - new\n- [Mine](a.md) - what I wrote\n"


@pytest.mark.parametrize("tail", rows(__file__, "a new line is never put where nobody sees it"))
def test_a_new_line_is_never_put_where_nobody_sees_it(tail):
    for head in ("- [A](a.md) - x\n", "# Memory\n\n", ""):
        data = (head + tail).encode()
        new = index_lines.add_line(data, "fresh.md", "Fresh", "hook")
        assert "fresh.md" in [e.target for e in parse_index(new).entries]
        assert index_lines.remove_line(new, "fresh.md").split() == data.split()


def test_the_first_200_lines_or_25_000_units_are_loaded_with_comments():
    assert [e[2] for e in entries("- [A](a.md) - about <!--\n- [B](b.md) - x\n")] == ["a.md", "b.md"]
    assert [e[2] for e in entries("- [A](a.md) <!-- x\n- [B](b.md)\n-->\n- [C](c.md)\n")] == ["a.md", "c.md"]
    text = "- a\n  <!-- in the item -->\n```\n<!-- code -->\n```\n<!-- gone -->\n\n- b <!-- inline -->\n"
    assert [number for number, _ in memory_index.loaded_lines(text.encode())] == [1, 2, 3, 4, 5, 8]
    text = "".join(f"- [M{n}](m{n}.md) — hook\n" for n in range(1, 203))
    found = budget(text.encode())
    assert (found.lines, found.cut_line) == (202, 201)
    assert [e.target for e in found.below] == ["m201.md", "m202.md"]
    assert found.share > 1
    assert budget("\n".join(text.split("\n")[:200]).encode()).cut_line is None
    line = "- [A](a.md) — " + "x" * 985 + "\n"  # 1,000 units with its line end
    assert budget((line * 25).encode()).cut_line is None
    found = budget((line * 26).encode())
    assert (found.units, found.cut_line, len(found.below)) == (25_999, 26, 1)
    assert budget(("漢" * 24_999 + "\n").encode()).cut_line is None
    assert budget(("🎉" * 12_501).encode()).cut_line == 1
    assert budget(b"") == memory_index.Budget(0, 0, None, ())
    placed = index_lines.place_line(index(200), "new.md", "new", "New")
    assert where(placed, "new.md") == (201, 201)
    assert loaded(index(200)) <= loaded(placed)


pieces = st.sampled_from(
    ["- ", "* ", "[", "]", "](", ")", "a.md", "b c.md", "<", ">", " — ", " - ", "\n", "\r\n", "\n\n", "# H", "## User", "  ", "<!--", "-->", "```", "---\n", "x: y\n", "\t", "é", "\ufeff", "- [T](t.md) - x\n", "  - [N](n.md)\n"]
)  # fmt: skip


@settings(max_examples=5 * settings.default.max_examples)
@given(st.lists(pieces, max_size=25).map("".join), st.sampled_from(["", "user"]))
def test_adding_and_removing_leave_every_other_line_alone(text, kind):
    data = text.encode()
    new = index_lines.add_line(data, "fresh.md", "Fresh", "hook", kind=kind)
    index = parse_index(new)
    assert [e for e in index.entries if e.target == "fresh.md"]
    mark = "\ufeff".encode()
    assert index_lines.remove_line(new, "fresh.md").replace(mark, b"").split() == data.replace(mark, b"").split()
    old = [e.target for e in parse_index(data).entries]
    assert [e.target for e in index.entries if e.target != "fresh.md"] == old
    for change in (
        index_lines.set_hook(data, "t.md", "y", "x"),
        index_lines.replace_target(data, "t.md", "u.md"),
        index_lines.remove_line(data, "t.md"),
    ):
        assert len(change.splitlines()) <= len(data.splitlines())


@settings(max_examples=2 * settings.default.max_examples)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_and_kept(data):
    index = parse_index(data)
    assert index_lines.replace_target(data, "a.md", "b.md") == data or index.entries or index.mentions
    assert index_lines.remove_line(data, "zz.md") == data
    budget(data)


# --- an index of which the client does not load everything


def index(count, hook="M"):
    return "".join(f"- [m{n}](m{n}.md) — {hook}\n" for n in range(count)).encode()


def where(data, file):
    """The line of a file, and the first one that is not loaded."""
    (entry,) = [each for each in parse_index(data).entries if each.is_for(file)]
    return entry.line, budget(data).cut_line


STORE = """# Memory

An index of my memories, one line each.

- [pnpm](pnpm.md) — Use pnpm
  and nothing else
- ports.md: the ports, without a link

| memory | about |
| --- | --- |
| [tides](tides.md) | when to leave |

Money is stored in cents,
never in floats.

- The API runs on port 8081.
  - In tests it is 9081.
- Ask Ann.

<!-- not for anybody -->

## Deploy

Before a release:

- run `make check`

```sh
make release
```

## Feedback

Rules of the user:

- [tabs](tabs.md) — Tabs
"""


def found(text, files=()):
    return [(each.title, each.text) for each in passages(parse_index(text.encode()), files)]


def test_text_beside_the_lines_of_memories_is_told_in_passages():
    assert found(STORE, ["pnpm.md", "ports.md"]) == [
        ("", "Money is stored in cents,\nnever in floats."),
        ("", "- The API runs on port 8081.\n  - In tests it is 9081."),
        ("", "- Ask Ann."),
        ("Deploy", "Before a release:\n\n- run `make check`\n\n```sh\nmake release\n```"),
    ]
    assert (found("# Memory Index\n\n## Project\n- [a](a.md) — A\n\n---\n"), found("")) == ([], [])
    assert found("---\nname: MEMORY\n---\n<!-- note -->\n# Memory\n") == []
    text = "# Shop\n\n## Ports\n- API 8081\n- Web 3000\n\n### Later\nMove them.\r\n"
    assert found(text) == [("Ports", "- API 8081\n- Web 3000"), ("Later", "Move them.")]


def test_indexes_read_and_change_as_ever():
    change = lambda name, text, given, more: getattr(index_lines, name)(text.encode(), *given, **more)
    recorded.check(__file__, "index_changes", change)
    read = [
        lambda index, read=read: [read(index, entry) for entry in index.entries]
        for read in (index_lines.text_of, index_lines.joined)
    ]
    read += [
        lambda index: index,
        lambda index: passages(index, ["a.md"]),
        index_lines.repeated,
        index_lines.empty_sections,
    ]
    of_text = [lambda text, read=read: read(parse_index(text.encode())) for read in read]
    recorded.check(
        __file__, "index_texts", *of_text, lambda text: [budget(text.encode()), loaded(text.encode(), agent=True)]
    )
