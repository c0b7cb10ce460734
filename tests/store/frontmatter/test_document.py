"""Frontmatter keeps every byte that was not changed, reads every variant, and leaves what is broken alone."""

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import recorded
from memtui.base.errors import MemtuiError
from memtui.store.frontmatter import document, edit, head_hot, subset_hot
from tables import rows

NESTED = b"""---
name: prefer-pnpm
description: "Use pnpm, \\"never\\" npm"  # decided in May
metadata: \n  node_type: memory
  type: feedback
  originSessionId: 0a1b
---

Body.

---

More.
"""
FLAT = b"\xef\xbb\xbf---\r\n# by hand\r\ntype: user\r\nname: 'it''s me'\r\ntags:\r\n- a\r\n- b  # second\r\nx: 2026-01-31\r\n---\r\nText\r\n"


def lines_changed(old, new):
    """The lines of `old` that are not in `new`, and the other way round."""
    a, b = old.split("\n"), new.split("\n")
    return [line for line in a if line not in b], [line for line in b if line not in a]


def test_nested_and_flat_forms_are_read_and_a_new_field_keeps_them():
    doc = document.parse(NESTED)
    assert doc.fields == {
        "name": "prefer-pnpm",
        "description": 'Use pnpm, "never" npm',
        "metadata": {"node_type": "memory", "type": "feedback", "originSessionId": "0a1b"},
    }
    assert doc.broken is None
    assert doc.body == "\nBody.\n\n---\n\nMore.\n"
    flat = document.parse(FLAT)
    assert flat.fields == {"type": "user", "name": "it's me", "tags": ["a", "b"], "x": "2026-01-31"}
    assert (flat.bom, flat.newline, flat.body) == (True, "\r\n", "Text\n")
    doc = document.parse(b"# Title\r\ntext\r\n").with_field(("metadata", "type"), "user")
    assert doc.raw == b"---\r\nmetadata:\r\n  type: user\r\n---\r\n\r\n# Title\r\ntext\r\n"
    assert document.parse(b"").with_field(("name",), "a").raw == b"---\nname: a\n---\n"
    assert document.parse(FLAT).with_body("a\nb\n").raw == FLAT.replace(b"Text\r\n", b"a\r\nb\r\n")
    assert document.parse(b"---\na: b\n---").with_body("x").raw == b"---\na: b\n---\nx"


@pytest.mark.parametrize(
    ("text", "path", "value", "gone", "come"), rows(__file__, "changing one field changes only its lines")
)
def test_changing_one_field_changes_only_its_lines(text, path, value, gone, come):
    doc = document.parse(text.encode()).with_field(path, value)
    assert doc.get(path) == value
    assert lines_changed(text, doc.raw.decode()) == (gone, come)


def test_a_removed_field_takes_its_lines_and_odd_yaml_is_read_and_told():
    doc = document.parse(NESTED).without_field(("metadata", "originSessionId"))
    assert lines_changed(NESTED.decode(), doc.raw.decode()) == (["  originSessionId: 0a1b"], [])
    doc = doc.without_field(("metadata", "node_type")).without_field(("metadata", "type"))
    assert list(doc.fields) == ["name", "description"]
    assert document.parse(FLAT).without_field(("nothing",)).raw == FLAT
    flow = document.parse(b"---\na: {b: 'c', d: [e], b: f} # g\n---\n").without_field(("a", "b"))
    assert flow.raw == b"---\na: {d: [e]} # g\n---\n"
    assert document.parse(b"---\na: {b: c}\nd: e\n---\n").without_field(("a", "b")).raw == b"---\nd: e\n---\n"
    data = b"---\nlinks:\n  - to: a\n    why: &w b\n  - to: *w\nname: n\n---\n"
    doc = document.parse(data)
    assert doc.fields == {"links": [{"to": "a", "why": "b"}, {"to": "b"}], "name": "n"}
    assert doc.with_field(("name",), "m").raw == data.replace(b"name: n", b"name: m")
    doc = document.parse(
        b"---\nname: a\nname: b\ndescription: see #4 and #5 --- now\ntype: x\nmetadata:\n  type: y\n---\n"
    )
    assert len(doc.notes) == 4
    assert doc.broken is None
    assert document.parse(NESTED.replace(b"  # decided in May", b"")).notes == ()


@pytest.mark.parametrize(
    ("data", "fields"), rows(__file__, "broken frontmatter is read as far as it goes and never rewritten")
)
def test_broken_frontmatter_is_read_as_far_as_it_goes_and_never_rewritten(data, fields):
    data = data.encode("latin-1")
    doc = document.parse(data)
    assert doc.fields == fields
    assert doc.broken
    assert doc.body
    assert doc.raw == data
    for change in (
        lambda: doc.with_field(("name",), "b"),
        lambda: doc.without_field(("name",)),
        lambda: doc.with_body(""),
    ):
        with pytest.raises(MemtuiError) as caught:
            change()
        assert caught.value.hint


@pytest.mark.parametrize(
    ("block", "field", "quoted"), rows(__file__, "a value without its needed quotes is read as the client reads it")
)
def test_a_value_without_its_needed_quotes_is_read_as_the_client_reads_it(block, field, quoted):
    data = f"---\nname: x\n{block}---\nText.\n".encode()
    doc = document.parse(data)
    assert (doc.broken, doc.get(("description",)), doc.raw) == (None, field, data)
    assert subset_hot.read_loosely(block.replace("\r\n", "\n"))["description"] == field
    made = doc.with_field(("name",), "z")
    value = quoted or f'"{field}"'
    assert made.raw == data.replace(b"name: x", b"name: z").replace(
        block.partition("\n")[0].strip().encode(), f"description: {value}".encode()
    ).replace(b"\ttype", b"  type")
    assert (document.parse(made.raw).fields, made.quoted) == ({**doc.fields, "name": "z"}, "")
    assert doc.with_body("New.\n").raw == data.replace(b"Text.", b"New.")


@pytest.mark.parametrize("data", [b"\0\1\2", b"\xff\xfe-\0-\0-\0", b"---\nname: a\0\n---\n"])
def test_binary_files_are_broken(data):
    doc = document.parse(data)
    assert doc.broken
    assert doc.raw == data


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"text", b"---", b"---\n", b"\xff text", b"\n\n"),
        b"---\n\nA rule on top.\n\n---\n",
        b"a\n---\nname: b\n---\n",
    ],
)
def test_files_without_frontmatter_are_all_body(data):
    doc = document.parse(data)
    assert (doc.has_frontmatter, doc.broken, doc.fields) == (False, None, {})
    assert doc.body == data.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("block", "path"),
    [("b: c\n? a", ("a",)), ("b: &x c\nd: *x", ("b",)), ("b: &x {c: d}\ne: *x", ("e", "c")), ("b: ''", ("b", "c"))],
)
def test_a_field_that_cannot_be_changed_alone_is_refused(block, path):
    doc = document.parse(f"---\n{block}\n---\n".encode())
    assert doc.broken is None
    with pytest.raises(MemtuiError) as caught:
        doc.with_field(path, "z")
    assert caught.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("block", ["a: &a [x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d]\nf: [*e]", "a: " + "[" * 5000, '"a": "\\Uffffffff"', "? [a]\n: b\nc: d"])  # fmt: skip
def test_endless_and_silly_yaml_is_broken_not_fatal(block):
    assert document.parse(f"---\n{block}\n---\n".encode()).broken


anything = st.text(max_size=60)
key_paths = st.sampled_from(
    [("name",), ("description",), ("metadata", "type"), ("tags",), ("other",), ("metadata", "x")]
)
starts = st.sampled_from(
    [NESTED, FLAT, b"", b"text", b"---\nmetadata: \n---\nb", b"---\ntags: [a]\nother: |\n  x\n\n  y\n---\n"]
)


@pytest.mark.slow
@settings(max_examples=4 * settings.default.max_examples)
@given(starts, st.lists(st.tuples(key_paths, st.one_of(anything, st.lists(anything, max_size=3))), max_size=3))
@example(NESTED, [(("name",), "a\ud800---\n\x00")])
def test_any_text_can_be_set_and_reads_back_for_pyyaml_too(data, changes):
    doc = document.parse(data)
    body = doc.rest
    for path, value in changes:
        before = doc
        doc = doc.with_field(path, value)
        clean = document.clean(value) if isinstance(value, str) else [document.clean(item) for item in value]
        assert doc.get(path) == clean
        for key in before.fields:
            if key != path[0]:
                assert doc.fields[key] == before.fields[key]
    assert doc.raw.decode().endswith(body)
    if doc.block:
        assert yaml.load(doc.block, yaml.BaseLoader) == doc.fields
        assert all("---" not in line for line in doc.block.split("\n"))


@settings(max_examples=3 * settings.default.max_examples)
@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from([b"---", b"\n", b"\r\n", b"name: ", b"a", b'"', b"metadata:\n  type: x", b"\xff", b"\xef\xbb\xbf", b"\0", b"- ", b" ", b"|", b"\t"]), max_size=20).map(b"".join)))  # fmt: skip
def test_any_bytes_are_kept_and_reading_never_fails(data):
    doc = document.parse(data)
    assert doc.raw == data
    doc.body.encode()  # no lone surrogates where a person would see them
    str(doc.fields).encode()
    if doc.broken is None:
        assume(doc.get(("name",)) != "z")
        try:
            changed = doc.with_field(("name",), "z")
        except MemtuiError:
            return
        assert changed.fields == doc.fields | {"name": "z"}
        assert changed.rest.endswith(doc.rest)


@pytest.mark.parametrize(("data", "fields", "body"), rows(__file__, "the first line of three dashes ends the fields"))
def test_the_first_line_of_three_dashes_ends_the_fields(data, fields, body):
    data = data.encode()
    doc = document.parse(data)
    assert (doc.fields, doc.body, doc.broken) == (fields, body, None)


def test_files_read_and_change_as_ever():
    summarise = lambda text: head_hot.summarise(text.encode())
    recorded.check(__file__, "documents", lambda text: document.parse(text.encode()), summarise)
    changed = lambda text, path, value: document.parse(text.encode()).with_field(path, value).raw
    removed = lambda text, path, _: document.parse(text.encode()).without_field(path).raw
    line = lambda text, path, _: edit.line_of(document.parse(text.encode()).block, path)
    recorded.check(__file__, "edits", changed, removed, line)
