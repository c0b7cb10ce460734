"""The text of a MEMORY.md that belongs to no memory."""

from memtui.store.index.index import parse_index
from memtui.store.index.index_state import passages

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


def test_rules_paragraphs_and_sections_are_passages_and_lines_of_memories_are_none():
    assert found(STORE, ["pnpm.md", "ports.md"]) == [
        ("", "Money is stored in cents,\nnever in floats."),
        ("", "- The API runs on port 8081.\n  - In tests it is 9081."),
        ("", "- Ask Ann."),
        ("Deploy", "Before a release:\n\n- run `make check`\n\n```sh\nmake release\n```"),
    ]


def test_an_index_of_lines_alone_has_no_text():
    assert found("# Memory Index\n\n## Project\n- [a](a.md) — A\n\n---\n") == []
    assert found("") == []
    assert found("---\nname: MEMORY\n---\n<!-- note -->\n# Memory\n") == []


def test_a_section_without_a_memory_is_one_passage():
    text = "# Shop\n\n## Ports\n- API 8081\n- Web 3000\n\n### Later\nMove them.\r\n"
    assert found(text) == [("Ports", "- API 8081\n- Web 3000"), ("Later", "Move them.")]
