"""A memory as a person sees it, in every form it is found in."""

import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.base.errors import MemtuiError
from memtui.store import memory, references
from memtui.store.frontmatter import document
from tables import rows


def of(text, path="/x/some-file.md"):
    return memory.from_bytes(path, "project", text.encode())


def test_a_new_memory_type_or_link_keeps_the_form_of_the_client():
    found = of(
        "---\nname: a\ndescription: d\nmetadata: \n  node_type: memory\n  type: feedback\n  originSessionId: s1\n"
        "  modified: 2026-01-31T00:00:00Z\n---\n\nSee [[other]] and [[b|label]], [[other#part]].\n"
    )
    assert (found.name, found.description, found.type, found.origin_session) == ("a", "d", "feedback", "s1")
    assert found.links == ("other", "b")
    assert found.changed_at == 1769817600.0
    assert found.broken is None
    made = memory.new_memory_bytes("prefer-pnpm", "Use pnpm: never npm", "feedback", "Use pnpm.\n\n")
    assert made.decode() == (
        '---\nname: prefer-pnpm\ndescription: "Use pnpm: never npm"\nmetadata:\n  type: feedback\n---\n\nUse pnpm.\n'
    )

    def typed(text):
        return memory.set_type(document.parse(text.encode()), "tool").raw.decode()

    assert typed("---\nname: a\ntype: user # c\n---\n") == "---\nname: a\ntype: tool # c\n---\n"
    assert typed("---\nmetadata: \n  type: 'user'\n---\n") == "---\nmetadata: \n  type: 'tool'\n---\n"
    assert typed("---\ntype: a\nmetadata:\n  type: b\n---\n") == "---\ntype: tool\nmetadata:\n  type: tool\n---\n"
    assert typed("---\nname: a\n---\nx") == "---\nname: a\nmetadata:\n  type: tool\n---\nx"
    assert typed("x") == "---\nmetadata:\n  type: tool\n---\n\nx"
    with pytest.raises(MemtuiError):
        memory.set_type(document.parse(b""), " ")
    data = b"---\nname: [[a]]\nsee: '[[a]]'\n---\r\nx [[a]] `[[a]]` [[a|b]] [[a#c]] [[ab]] \xff\r\n[[a]]\n"
    assert references.relink(data, "", "", ("zz",), "b") == data
    made = references.relink(data.replace(b"name: [[a]]\n", b""), "", "", ("a",), "new")
    assert made == b"---\nsee: '[[a]]'\n---\r\nx [[new]] `[[a]]` [[new|b]] [[new#c]] [[ab]] \xff\r\n[[new]]\n"
    broken = b"---\nname: 'a\n---\n[[a]]"
    assert references.relink(broken, "", "", ("a",), "b") == broken


def test_a_huge_file_is_shown_from_its_beginning_as_broken(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"---\nname: a\n---\n" + b"x" * memory.MAX_BYTES)
    found = memory.read_memory(str(path), "global")
    assert (found.name, found.size, found.broken) == ("a", 16 + memory.MAX_BYTES, "larger than 8 MB")


@given(st.text(max_size=30), st.text(max_size=60), st.text(max_size=20), st.text(max_size=60))
@example("a", "b", "user", "half\0binary")
def test_a_new_file_reads_back(name, description, kind, body):
    found = memory.from_bytes("/x/f.md", "", memory.new_memory_bytes(name, description, kind, body))
    assert found.broken is None
    want = [
        " ".join(text.split()).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        for text in (name, description, kind)
    ]
    assert [found.fields["name"], found.fields["description"], found.type] == want


@pytest.mark.parametrize(("name", "slug"), rows(__file__, "slugs"))
def test_slugs(name, slug):
    assert memory.slugify(name) == slug


@given(st.text())
def test_a_slug_is_a_fine_file_name(name):
    slug = memory.slugify(name)
    assert 0 < len(slug.encode()) <= 80
    assert not set(slug) & set("/\0. ")
    assert memory.slugify(slug) == slug


def test_a_slim_memory_reads_what_a_whole_one_holds():
    data = b"---\nname: a\nmetadata:\n  type: user\n---\n\nUse pnpm.\n"
    whole, slim, spooled = (memory.from_bytes("/m/a.md", "global", data) for _ in range(3))
    spool = memory.Spool()
    slim.slim()
    memory.from_bytes("/m/b.md", "global", b"b" * memory.WINDOW).slim(spool)
    spooled.slim(spool)
    memory.from_bytes("/m/c.md", "global", b"").slim(spool)
    for mem in (slim, spooled, spooled):
        assert (mem.fields, mem.body, mem.text.strip()) == (whole.fields, whole.body, "Use pnpm.")
    assert (spooled.raw, spooled, spool.read(0), spool.read(2)) == (data, whole, b"b" * memory.WINDOW, b"")


def test_a_memory_stays_whole_where_the_disk_is_full(monkeypatch):
    data, spool = b"---\nname: a\n---\nUse pnpm.\n", memory.Spool()
    mems = [memory.from_bytes(f"/m/{name}.md", "global", data) for name in "abc"]
    for mem, size in zip(mems, (len(data), 7, len(data)), strict=True):  # of the second one, a part is written
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", lambda fd, data, at, size=size, write=os.pwrite: write(fd, data[:size], at))
            mem.slim(spool)
    assert [mem.spool is spool for mem in mems] == [True, False, True]
    assert [mem.raw for mem in mems] == [data] * 3
