"""What a hook reads of a memory is what the whole reader says of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.recall import content_hot
from memtui.store import memory
from memtui.store.frontmatter import document, edit, head_hot
from tables import rows


def by_the_whole_reader(data):
    doc = document.parse(data)
    said = memory.text_of(doc.fields, "description") or memory.text_of(doc.fields, "title")
    if not doc.fields:
        said = "" if doc.broken and not doc.has_frontmatter else head_hot.first_line(doc.body)
    return memory.text_of(doc.fields, "name"), said, memory.text_of(doc.fields, "type")


@pytest.mark.parametrize("head", rows(__file__, "a person is shown what a session is told"))
def test_a_person_is_shown_what_a_session_is_told(head):
    data = f"---\n{head}\n---\nBody.\n".encode()
    shown = memory.from_bytes("/m/file.md", "global", data)
    name, description, kind = head_hot.summarise(data)
    assert (shown.name, shown.description, shown.type) == (name or "file", description, kind)
    differs = memory.text_of(shown.fields, "description") not in {"", description}
    assert any("as written; YAML reads" in note for note in shown.notes) == differs


@pytest.mark.parametrize(
    "text", ["---\nname: x\n---\nBody.\n", "---\nUse pnpm.\n---- for all\nNever npm.\n", "---\nA line below a rule.\n"]
)
def test_a_session_is_told_the_whole_text_that_a_person_is_shown(text):
    assert content_hot.body(text.encode()) == document.parse(text.encode()).body


texts = st.text(max_size=40)
styles = st.sampled_from(["", "'", '"'])


@st.composite
def field_lines(draw, key, indent=""):
    value = document.clean(draw(texts))
    form = draw(st.sampled_from(["scalar", "block", "folded", "comment", "list", "empty", "wrapped"]))
    head = f"{indent}{key}:"
    if form == "empty":
        return f"{head}{draw(st.sampled_from(['', ' ', ' # none']))}\n"
    if form == "list":
        return f"{head}\n{indent}  - a\n"
    if form in ("block", "folded"):
        sign = "|" if form == "block" else ">"
        return f"{head} {sign}{draw(st.sampled_from(['', '-', '+']))}\n{indent}  one: x\n{indent}   two\n\n{indent}  # three\n"
    if form == "wrapped":
        return f"{head} one\n{indent}  two\n\n{indent}  three\n"
    scalar = edit.scalar(value, draw(styles))
    return f"{head} {scalar}{'  # c' if form == 'comment' else ''}\n"


@st.composite
def documents(draw):
    parts = []
    some = lambda *keys: draw(st.permutations(keys))[: draw(st.integers(1, len(keys)))]
    for key in some("name", "description", "title", "type", "metadata", "tags", "x y"):
        if key == "metadata":
            inner = [draw(field_lines(key, "  ")) for key in some("type", "node_type", "at")]
            parts.append("metadata: \n" + "".join(inner))
        else:
            parts.append(draw(field_lines(key)))
        parts.append(draw(st.sampled_from(["", "", "", "# note: x\n", "\n"])))
    text = "---\n" + "".join(parts) + "---\n" + draw(texts)
    text = draw(st.sampled_from(["", "\ufeff"])) + text
    return draw(st.sampled_from([text, text.replace("\n", "\r\n")])).encode("utf-8", "replace")


@settings(max_examples=8 * settings.default.max_examples)
@given(documents())
@pytest.mark.slow
def test_it_agrees_with_the_whole_reader_on_well_formed_files(data):
    doc = document.parse(data)
    if doc.broken is None:
        assert head_hot.summarise(data) == by_the_whole_reader(data)


@pytest.mark.slow
@settings(max_examples=3 * settings.default.max_examples)
@given(st.binary(max_size=100) | st.builds(lambda data, end: data[:end], documents(), st.integers(0, 400)))
def test_any_bytes_give_three_texts_that_can_be_written(data):
    for text in head_hot.summarise(data):
        text.encode()
