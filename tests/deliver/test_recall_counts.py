"""What came of recalling memories is counted alike, wherever reading the log begins."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.base import fs_hot
from memtui.deliver import uses_hot
from memtui.deliver.log_queries import DeliveryRow
from memtui.deliver.record import Delivery
from memtui.deliver.statistics import RecallCounter, Statistics, day_of

OTHERS = [
    *({"kind": "use", "action": action} for action in ("read", "wrote")),
    {"kind": "corrected"},
    {"kind": "index", "chars": 80},
    {"kind": "recall", "left_out": "no room", "chars": 80},
]
RECALLS = st.builds(lambda chars: {"kind": "recall", "chars": chars}, st.integers(0, 4000))
ITEM = RECALLS | st.sampled_from(OTHERS)
LINE = st.tuples(st.sampled_from("ab"), st.sampled_from(["/m/one.md", "/m/two.md"]), ITEM)


def delivery(number, session, path, item):
    time = f"2026-11-21T09:00:{number % 60:02d}.000Z"
    return Delivery({"session_id": session, "time": time, "items": [{"path": path, **item}]})


def counted(log, newer):
    """Count a log that is read back from `newer`, and then on from there."""
    counter = RecallCounter()
    for each in reversed(log[:newer]):
        counter.count(each)
    for each in log[newer:]:
        counter.count(each, newest=True)
    names = ("recalled", "opened", "corrected", "tokens")
    return {path: {name: getattr(each, name) for name in names} for path, each in counter.memories.items() if each}


def plainly(log):
    """The same, counted forwards by the definition."""
    found, unread = {}, set()
    for each in log:
        for item in each.items:
            counts = found.setdefault(item.path, {"recalled": 0, "opened": 0, "corrected": 0, "chars": 0})
            key = (each.session, item.path)
            if item.kind == "recall" and not item.left_out:
                counts["recalled"] += 1
                counts["chars"] += item.chars
                unread.add(key)
            elif item.kind == "use" and item.action == "read" and key in unread:
                counts["opened"] += 1
                unread.remove(key)
            elif item.kind == "corrected":
                counts["corrected"] += 1
    return {
        path: {"recalled": c["recalled"], "opened": c["opened"], "corrected": c["corrected"], "tokens": c["chars"] // 4}
        for path, c in found.items()
        if c["recalled"] or c["corrected"]
    }


def test_deliveries_are_counted_by_outcome_in_all_and_for_a_day():
    statistics = Statistics("", lambda: 0.0)
    days = {"one": 21, "two": 19, "unknown": 19}
    statistics.recent = [
        DeliveryRow(Delivery({"id": name, "time": f"2026-11-{day}T12:00:00.000Z"})) for name, day in days.items()
    ]
    outcomes = {"one": "failed", "two": "arrived"}
    assert statistics.outcomes(outcomes) == {"failed": 1, "arrived": 1}
    assert statistics.outcomes(outcomes, day_of(statistics.recent[1].time)) == {"arrived": 1}


@given(lines=st.lists(LINE, max_size=12), newer=st.integers(0, 12))
def test_backwards_and_forwards_give_what_the_definition_says(lines, newer):
    log = [delivery(number, *each) for number, each in enumerate(lines)]
    assert counted(log, newer) == plainly(log)


def test_a_read_counts_for_the_session_that_had_the_memory():
    log = [
        delivery(1, "a", "/m/one.md", {"kind": "recall", "chars": 400}),
        delivery(2, "b", "/m/one.md", {"kind": "use", "action": "read"}),
        delivery(3, "a", "/m/one.md", {"kind": "use", "action": "read"}),
        delivery(4, "a", "/m/one.md", {"kind": "use", "action": "read"}),
    ]
    assert counted(log, 4) == {"/m/one.md": {"recalled": 1, "opened": 1, "corrected": 0, "tokens": 100}}


# --- recall/uses: what a hook knows of the memories that were recalled


COUNTS = st.integers(0, 1 << 40)
USES = st.dictionaries(
    st.text(st.characters(exclude_categories=())), st.tuples(COUNTS, COUNTS, COUNTS, st.floats(0, 1e10))
)


def save(root, known):
    fs_hot.write_atomic(f"{root}/{uses_hot.FILE}", uses_hot.pack(known), durable=False)


@given(known=USES)
def test_every_path_is_found_again(tmp_path_factory, known):
    root = tmp_path_factory.mktemp("root")
    save(root, known)
    assert uses_hot.load(str(root), [*known, "/never/recalled.md"]) == known


def test_a_missing_torn_or_foreign_file_says_nothing(tmp_path):
    path = tmp_path / uses_hot.FILE
    assert uses_hot.load(str(tmp_path), ["/m/1.md"]) == {}
    save(tmp_path, {"/m/1.md": (1, 0, 0, 5.0)})
    whole = path.read_bytes()
    for data in (b"", whole[:3], whole[:-1], b"x" + whole[1:], whole + b"x", uses_hot.pack({})):
        path.write_bytes(data)
        assert uses_hot.load(str(tmp_path), ["/m/1.md"]) == {}
    path.write_bytes(whole)
    assert uses_hot.load(str(tmp_path), ["/m/1.md"])
