"""recall/uses: what a hook knows of the memories that were recalled."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.base import fs
from memtui.deliver import uses

COUNTS = st.integers(0, 1 << 40)
USES = st.dictionaries(
    st.text(st.characters(exclude_categories=())), st.tuples(COUNTS, COUNTS, COUNTS, st.floats(0, 1e10))
)


def save(root, known):
    fs.write_atomic(f"{root}/{uses.FILE}", uses.pack(known), durable=False)


@given(known=USES)
def test_every_path_is_found_again(tmp_path_factory, known):
    root = tmp_path_factory.mktemp("root")
    save(root, known)
    assert uses.load(str(root), [*known, "/never/recalled.md"]) == known


def test_only_what_is_asked_for_is_returned(tmp_path):
    known = {f"/m/{number}.md": (number, 1, 0, 5.0) for number in range(1000)}
    save(tmp_path, known)
    assert uses.load(str(tmp_path), ["/m/7.md", "/m/x.md"]) == {"/m/7.md": (7, 1, 0, 5.0)}


def test_a_missing_torn_or_foreign_file_says_nothing(tmp_path):
    path = tmp_path / uses.FILE
    assert uses.load(str(tmp_path), ["/m/1.md"]) == {}
    save(tmp_path, {"/m/1.md": (1, 0, 0, 5.0)})
    whole = path.read_bytes()
    for data in (b"", whole[:3], whole[:-1], b"x" + whole[1:], whole + b"x", uses.pack({})):
        path.write_bytes(data)
        assert uses.load(str(tmp_path), ["/m/1.md"]) == {}
    path.write_bytes(whole)
    assert uses.load(str(tmp_path), ["/m/1.md"])
