"""What decisions on drafts teach: little from few, enough from many, never worse than shipped by more than a margin."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fitted_tables
from memtui.base import fastjson, fs
from memtui.learn import features, personal
from memtui.review import taught

REFUSED = features.bucket("signal", "channel tool_reject")
ROWS = personal.validation()


def decided(rows, keep, project="shop"):
    made = []
    for row in rows:
        targets, counts = personal.TARGETS[taught.APPROVED if keep(row) else taught.REJECTED]
        made.append(personal.Decided(row.values, row.scores, targets, counts, project))
    return made


def test_the_validation_figures_are_what_the_classifier_reaches_on_sessions_it_has_not_seen():
    assert len(ROWS) > 400
    shipped = [
        personal.average_precision([row.scores[at] for row in ROWS], [row.truths[at] for row in ROWS]) for at in (0, 1)
    ]
    assert shipped[0] > 0.72
    assert shipped[1] > 0.25
    assert personal.VALIDATION.stat().st_size < 100_000


def test_no_decision_moves_nothing():
    made = personal.fit([], ROWS)
    assert made.of(ROWS[0].values, "shop") == (0.0, 0.0)


def test_few_decisions_move_little_and_many_more():
    liked = [row for row in ROWS if row.scores[0] > 0]
    moved = []
    for count in (1, 10, 100):
        made = personal.fit(decided(liked[:count], lambda row: REFUSED not in row.values), ROWS)
        moved.append(sum(abs(made.of(row.values, "shop")[1]) for row in ROWS) / len(ROWS))
    assert moved[0] < 0.5
    assert moved[0] < moved[1] < moved[2]


def test_a_taste_is_learned():
    keep = lambda row: row.truths[0] and REFUSED not in row.values
    taught, left = ROWS[::2], ROWS[1::2]
    made = personal.fit(decided([row for row in taught if row.scores[0] > 0], keep), taught)
    before = personal.average_precision([row.scores[1] for row in left], [keep(row) for row in left])
    after = personal.average_precision(
        [row.scores[1] + made.of(row.values, "shop")[1] for row in left], [keep(row) for row in left]
    )
    assert after > before + 0.02


def test_a_project_has_its_own_taste_beside_that_for_everything():
    liked = [row for row in ROWS if row.scores[0] > 0][:60]
    made = personal.fit(decided(liked, lambda _: True) + decided(liked, lambda _: False, "blog"), ROWS)
    shop, blog = made.of(liked[0].values, "shop")[1], made.of(liked[0].values, "blog")[1]
    assert shop > blog
    assert made.of(liked[0].values, "elsewhere")[1] == pytest.approx((shop + blog) / 2, abs=abs(shop - blog))


@given(
    st.lists(st.tuples(st.integers(0, len(ROWS) - 1), st.sampled_from(sorted(personal.TARGETS))), max_size=80),
    st.sampled_from(["", "p"]),
)
def test_whatever_is_decided_the_validation_figures_stay_within_the_margin(picked, project):
    made = personal.fit(
        [personal.Decided(ROWS[at].values, ROWS[at].scores, *personal.TARGETS[label], project) for at, label in picked],
        ROWS,
    )
    for at, name in enumerate(personal.QUESTIONS):
        shipped = personal.average_precision([row.scores[at] for row in ROWS], [row.truths[at] for row in ROWS])
        for where in ("", project):
            now = personal.average_precision(
                [row.scores[at] + made.of(row.values, where)[at] for row in ROWS], [row.truths[at] for row in ROWS]
            )
            assert now >= shipped - personal.MARGIN - 1e-9, name


def test_a_correction_survives_its_file(tmp_path):
    liked = [row for row in ROWS if row.scores[0] > 0][:20]
    made = personal.fit(decided(liked, lambda row: REFUSED not in row.values), ROWS)
    fs.write_atomic(taught.weights_path(str(tmp_path)), fastjson.dumps(personal.data(made)).encode())
    read = personal.load(str(tmp_path))
    for row in ROWS[:50]:
        assert read.of(row.values, "shop") == pytest.approx(made.of(row.values, "shop"))
    assert read.figures == made.figures


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\x00", b'{"v": 2}', b'{"v": 1, "buckets": 7}', b'{"v": 1, "all": 7, "projects": []}']
)
def test_a_file_that_can_not_be_read_corrects_nothing(tmp_path, data):
    os.makedirs(tmp_path / "feedback")
    (tmp_path / "feedback" / "weights.json").write_bytes(data)
    assert personal.load(str(tmp_path)).of(ROWS[0].values, "shop") == (0.0, 0.0)


@pytest.mark.parametrize(
    "data", [b"", b"other", personal.MAGIC, personal.MAGIC + b"x", personal.VALIDATION.read_bytes()[:-9]]
)
def test_validation_figures_of_another_shape_are_an_error(data):
    with pytest.raises(ValueError):
        personal.unpacked(data)


def test_figures_survive_their_file():
    assert personal.unpacked(fitted_tables.validation(ROWS[:5])) == ROWS[:5]
