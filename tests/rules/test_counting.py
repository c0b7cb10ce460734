"""What the agent did in a session keeps or breaks its rules, each deed once, in pieces as in one go."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_talk import START, Talk

from memtui.client.transcripts.transcript_hot import Reader
from memtui.rules import counts
from memtui.rules.counting import SessionCounter
from memtui.rules.rule_hot import parse
from memtui.rules.tool_calls import is_wanted
from tables import rows

NPM = {"never": {"command": "npm *"}, "instead": {"command": "pnpm *"}}
TESTED = {"always": {"command": "pytest *", "before": {"command": "git commit *"}}}
CHANGELOG = {"always": {"path": "CHANGELOG.md", "with": {"path": "src/**"}}}
STUB = {"always": {"text": "stub(", "with": {"text": "reset("}}}
RULES = [
    NPM,
    TESTED,
    CHANGELOG,
    STUB,
    {"never": {"text": "print(", "path": "src/**"}},
    {"never": {"path": "migrations/**"}},
    {"never": {"reply": "—"}},
]


def moments_of(talk, *rules):
    """Whether each moment of a talk is kept, and its line."""
    counter = SessionCounter(map(parse, rules), talk.cwd)
    moments = [moment for record in talk.records for moment in counter.feed(record)] + counter.open_moments()
    return [(moment.is_kept, moment.line) for moment in moments]


@pytest.fixture
def talk():
    talk = Talk()
    talk.says("Go on.")
    return talk


def test_a_command_and_what_stands_in_its_place_are_moments(talk):
    talk.runs("cd app && npm install left-pad")
    talk.runs("pnpm add left-pad")
    talk.runs("ls")
    assert moments_of(talk, NPM) == [(False, "npm install left-pad"), (True, "")]


def test_only_what_the_agent_itself_carried_out_counts(talk):
    talk.runs("npm test", error=True)
    talk.runs("npm ci", result={"interrupted": True, "stdout": ""})
    talk.runs("npm run lint", side=True)
    talk.says("<bash-input>npm install</bash-input>")
    talk.calls("Read", file_path="/repo/npm.md")
    talk.replies("I ran npm install.", isApiErrorMessage=True)
    talk.records[-1]["message"]["content"] += [{"type": "tool_use", "id": "t", "name": "Bash", "input": "npm"}, 3]
    assert moments_of(talk, NPM, {"never": {"reply": "npm"}}) == []


@pytest.mark.parametrize(("steps", "kept"), rows(__file__, "the order counts since the last edit in the project"))
def test_the_order_counts_since_the_last_edit_in_the_project(talk, steps, kept):
    for step in steps:
        if step.startswith("> "):
            talk.writes(step[2:]) if ".." not in step else talk.calls("Write", file_path="/plan.md", content="x")
        elif step == "!":
            talk.says("Go on.")
        else:
            talk.runs(step)
    assert [is_kept for is_kept, _ in moments_of(talk, TESTED)] == kept


def test_a_change_that_goes_with_another_may_follow_until_the_turn_ends(talk):
    talk.writes("src/a.py")
    talk.writes("src/b.py")
    assert moments_of(talk, CHANGELOG) == [(False, "/repo/src/a.py")]
    talk.writes("CHANGELOG.md")
    talk.says("And the other.")
    talk.writes("src/a.py")
    talk.says("Thanks.")
    talk.writes("CHANGELOG.md")
    assert moments_of(talk, CHANGELOG) == [(True, ""), (False, "/repo/src/a.py")]


def test_texts_and_replies_are_moments_of_their_own(talk):
    talk.writes("src/a.py", "reset()\nprint(1)\n")
    talk.writes("test/a.py", "stub(1)\nreset()\nprint(1)\n")
    talk.replies("Done — all of it.")
    talk.replies("Done.")
    kept = [is_kept for is_kept, _ in moments_of(talk, STUB, RULES[4], RULES[6])]
    assert kept == [False, False, True, False, True]


def test_a_line_is_kept_without_secrets_and_short(talk):
    talk.runs("npm publish --token=ghp_" + "a1B2c3D4e5F6" * 3 + " " + "x" * 500)
    ((_, line),) = moments_of(talk, NPM)
    assert "ghp_" not in line
    assert len(line) == 200


def talks():
    """Talks of random steps, with records as they come, copies of records, and torn lines."""
    runs = st.sampled_from(["npm ci", "pnpm i", "pytest", "git commit", "pytest; git commit", "ls"])
    paths = st.sampled_from(["src/a.py", "CHANGELOG.md", "migrations/1", "test/a.py"])
    texts = st.sampled_from(["print(1)\n", "reset()\n", "stub() reset()\n", ""])
    step = st.one_of(
        st.tuples(st.just("runs"), runs, st.booleans()),
        st.tuples(st.just("writes"), paths, texts),
        st.tuples(st.sampled_from(["replies", "says"]), st.sampled_from(["a — b", "Yes."])),
        st.tuples(st.sampled_from(["again", "torn", "glued"]), st.integers(0, 5)),
    )
    return st.lists(step, min_size=1, max_size=25).map(lines_of)


def lines_of(steps):
    talk, extra = Talk(), {}
    for step, *values in steps:
        if step == "runs":
            talk.runs(values[0], error=values[1])
        elif step == "writes":
            talk.writes(*values)
        elif step in {"replies", "says"}:
            getattr(talk, step)(*values)
        else:
            extra[len(talk.records)] = (step, values[0])
    lines = []
    for number, record in enumerate(talk.records):
        line = json.dumps(record).encode()
        step, back = extra.get(number, ("", 0))
        if step == "again":
            lines += lines[-back:] if back else []
        lines.append(line[: len(line) // 2] + (line if back % 2 else b"") if step == "torn" else line)
        if step == "glued" and len(lines) > 1:
            lines[-2:] = [lines[-2] + lines[-1]]
    return [line + b"\n" for line in lines]


def counted(counter, path, start=0):
    reader = Reader(str(path), start, is_wanted)
    return [moment for record in reader for moment in counter.feed(record)], reader.offset


@given(talks(), st.data())
def test_counting_in_pieces_is_counting_at_once(tmp_path_factory, lines, data):
    path = tmp_path_factory.getbasetemp() / "pieces.jsonl"
    path.write_bytes(b"".join(lines))
    rules = [parse(entry) for entry in RULES]
    whole = SessionCounter(rules, "/repo")
    moments, _ = counted(whole, path)
    cuts = data.draw(st.lists(st.integers(0, sum(map(len, lines))), max_size=4))
    pieces, offset, counter = [], 0, SessionCounter(rules, "/repo")
    for cut in [*sorted(cuts), None]:
        path.write_bytes(b"".join(lines)[:cut])
        piece, offset = counted(counter, path, offset)
        pieces += piece
        counter = SessionCounter(rules, "/repo", json.loads(json.dumps(counter.to_state())))
    assert pieces == moments
    assert counter.open_moments() == whole.open_moments()


def test_rules_are_counted_in_transcripts_from_a_time_on_copies_once(tmp_path):
    talk = Talk(cwd=str(tmp_path))
    talk.runs("npm ci")
    between = talk.time + 0.5
    talk.runs("npm test")
    talk.writes("src/a.py")
    for name in "a", "b":
        (tmp_path / name).write_bytes(talk.data())
    paths = [str(tmp_path / name) for name in ("a", "b", "gone")]
    npm, changelog = parse(NPM), parse(CHANGELOG)
    moments = counts.count_in(paths, [npm, changelog], START)
    assert [moment.line for moment in moments[npm.key()]] == ["npm ci", "npm test"]
    assert len(moments[changelog.key()]) == 1
    assert len(counts.count_in(paths, [npm], between)[npm.key()]) == 1
