"""The session files of all agents that write JSON lines: who spoke, what arrived, what a torn or a large file gives."""

import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.client import agents
from memtui.client.agents import agents_hot, programs
from memtui.client.transcripts.conversation import Conversation
from memtui.client.transcripts.transcript_hot import Reader
from memtui.deliver import receipts_hot

from . import readings

DATA = Path(__file__).resolve().parents[2] / "data" / "agents"
IDS = (b'"id":"', b'"parentId":"', b'"uuid":"', b'"parentUuid":"')


class Sample(NamedTuple):
    """A session: its file under the agent's home, its data, what the person said, what became of its texts (one that
    arrived first), what makes of its version one that nobody tested; and words that are taken for the person's if the line
    before them is missing."""

    path: str
    data: str
    said: list[str]
    receipts: dict[str, str]
    version: tuple[bytes, bytes]
    doubtful: str = ""


SAMPLES = {
    "codex": Sample(
        ".codex/sessions/2026/11/30/rollout-2026-11-30T14-03-11-01a22cc4-4962-7a20-954f-865468865e0c.jsonl",
        "codex/session.jsonl",
        [
            *("RUN the tests, please", "DENY: push it", "PATCH the notes"),
            *("No, never write French: use plain English in notes.txt", "a long one", "after it"),
        ],
        {
            # What is too long has lost its middle. A blocked prompt's text (4) goes along with the next prompt.
            "arrived": "prompt7 start1 prompt1 tool1 prompt2 tool2 prompt3 tool3 prompt4 prompt5 start7",
            "previewed": "prompt6",
        },
        (b'"cli_version":"0.171.0"', b'"cli_version":"0.999.0"'),
    ),
    "gemini": Sample(
        ".gemini/tmp/shop/chats/session-2026-11-30T14-04-91b667c6.jsonl",
        "gemini/tmp/shop/chats/session-2026-11-30T14-04-91b667c6.jsonl",
        [
            *("Use tabs in Makefiles, please.", "A quiet word: always sign your commits."),
            *("Please look at @note.md now", "This one fails, I fear.", "Please run `echo done`."),
            *("Tell me a long story", "And a long one more", "No, not like that: use British spelling."),
            *("Please run `rm -r build`.", "A quiet word again: never delete build."),
            *("Go on after the resume, please.", "What do these logs say?"),
            "A quiet word a minute later: keep the changelog short.",
        ],
        {"arrived": "p45 p2 p8 p14 t17 p20 p23 p27 p30 p40", "dropped": "p11"},  # the request failed
        (b'"projectHash"', b'"projectName"'),
        "No, not like that: use British spelling.",  # a copy
    ),
    "qwen": Sample(
        ".qwen/projects/-home-ada-shop/chats/6d0f7f6a-2c8e-4c57-9d0e-000000000001.jsonl",
        "qwen/session.jsonl",
        [
            *("Why is the build red?", "Install it then.", "never use npm here, always use pnpm"),
            *("read @notes.txt", "Remove dist", "thanks"),
        ],
        {"arrived": "DELIVERY1 DELIVERY2"},
        (b'"version":"0.24.4"', b'"version":"0.25.0"'),
        "Review all files. Always be strict.",  # a command's text
    ),
    "copilot": Sample(
        ".copilot/session-state/5f0e6c1a-7d2b-4c3e-9a10-2b6d8e4f1c33/events.jsonl",
        "copilot/events.jsonl",
        [
            *("Set up the tests of the shop", "no, this is a Python project: always use uv here"),
            *("Don't use mocks in these tests, use a real database", "and go on with the cart", "Write the docs"),
        ],
        {"arrived": "d1 d2"},
        (b'"version":1', b'"version":2'),
        "Always run the linter before you stop.",  # of a hook
    ),
}


@pytest.fixture(params=SAMPLES)
def sample(request):
    return SAMPLES[request.param]


@pytest.fixture
def session(tmp_path, sample):
    return place(tmp_path, sample, (DATA / sample.data).read_bytes())


def place(home, sample, data):
    path = home / sample.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def turns(path, start=0):
    conversation = Conversation()
    for record in Reader(str(path), start):
        conversation.feed(record)
    return conversation.turns


def test_the_words_heard_are_the_persons_alone_and_once(session, sample):
    heard = turns(session)
    assert [turn.text for turn in heard] == sample.said
    assert len({turn.uuid for turn in heard}) == len(heard)
    assert len({turn.session for turn in heard}) == 1
    assert agents_hot.of_session(str(session)).name == sample.path[1:].partition("/")[0]
    home = str(session).removesuffix("/" + sample.path)
    assert programs.session_file({"HOME": home}, heard[0].session) == str(session)


def test_a_session_reads_as_the_same_records_as_ever(session, sample):
    readings.check(sample.data.partition("/")[0], list(Reader(str(session))))


def test_agents_read_payloads_and_answer_as_ever():
    recorded.check(__file__, "payloads", lambda agent, name, *given: getattr(agents_hot.load(agent), name)(*given))


def test_a_reading_from_any_line_hears_the_same_words_under_the_same_ids(session, sample):
    whole, at = {(turn.uuid, turn.text) for turn in turns(session)}, 0
    for line in session.read_bytes().splitlines(keepends=True):
        part = {(turn.uuid, turn.text) for turn in turns(session, at)}
        assert {text for _, text in part - whole} <= {sample.doubtful}
        assert len(part - whole) <= 1
        at += len(line)


@pytest.mark.parametrize("agent", SAMPLES)
@given(share=st.floats(0, 0.999), glued=st.booleans(), junk=st.binary(max_size=40))
def test_torn_lines_lose_only_themselves(tmp_path_factory, agent, share, glued, junk):
    sample = SAMPLES[agent]
    whole = (DATA / sample.data).read_bytes()
    cut = int(share * len(whole))
    data = whole[:cut] + junk + whole[whole.index(b"\n", cut) + glued :]
    heard = [turn.text for turn in turns(place(tmp_path_factory.mktemp("torn"), sample, data))]
    assert set(heard) <= {*sample.said, sample.doubtful}
    assert len(set(sample.said) - set(heard)) <= 1 + glued


def outcome(path, name, ended=False):
    record = {"id": name, "event": "UserPromptSubmit", "prompt_id": "p", "text": "x", "chars": 1}
    return receipts_hot.outcome(record, receipts_hot.TranscriptView(str(path)).refresh(), time.time(), ended)


def test_receipts_say_what_became_of_each_text(session, sample):
    expected = {name: receipt for receipt, names in sample.receipts.items() for name in names.split()}
    assert receipts_hot.TranscriptView(str(session)).refresh().outcomes == expected


def test_a_text_waits_until_the_model_answered_it(session, sample):
    lines = session.read_bytes().splitlines(keepends=True)
    name = sample.receipts["arrived"].split()[0]
    until = next(at for at, line in enumerate(lines, 1) if name.encode() in line and b'"hook.end"' not in line)
    session.write_bytes(b"".join(lines[:until]))
    assert outcome(session, name) == receipts_hot.WAITING
    assert outcome(session, name, ended=True) == receipts_hot.BROKEN_OFF
    session.write_bytes(b"".join(lines))
    assert outcome(session, name) == receipts_hot.ARRIVED
    above = b"".join(lines[: until - 1]) + b'{"type":"user","mess'  # torn where the hook ran
    session.write_bytes(above + b"".join(lines[until - 1 :]))
    assert receipts_hot.view_from(str(session), len(above)).outcomes[name] == receipts_hot.ARRIVED


def test_what_an_untested_version_does_not_show_is_unknown(session, sample):
    texts = session.read_bytes().replace(b"memtui-", b"theirs-").replace(b"hooks.additional_context", b"another")
    session.write_bytes(texts)
    assert outcome(session, "other") == receipts_hot.FAILED
    session.write_bytes(texts.replace(*sample.version))
    assert outcome(session, "other") == receipts_hot.UNKNOWN


@pytest.mark.slow
def test_a_session_of_100_mb_is_read_fast_and_in_bounded_memory(session):
    """Over 10 MB a second of CPU, under 40 MB of memory."""
    head, *lines = session.read_bytes().splitlines(keepends=True)
    body = b"".join(lines)
    with session.open("wb") as file:
        file.write(head)
        for number in range((100 << 20) // len(body)):
            turns = body
            for name in IDS:
                turns = turns.replace(name, name + b"%d-" % number)
            file.write(turns)
    started = time.process_time()
    assert sum(1 for _ in Reader(str(session))) > 1000
    assert session.stat().st_size / (time.process_time() - started) > 10 << 20
    tracemalloc.start()
    for _ in zip(range(20_000), Reader(str(session)), strict=False):
        pass
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()


def test_two_threads_may_ask_for_an_agent_at_once(monkeypatch):
    for name in ("qwen_hot", "records_hot"):
        monkeypatch.delitem(sys.modules, f"memtui.client.agents.{name}", raising=False)
        monkeypatch.delattr(agents, name, raising=False)
    others = []

    def find_spec(name, *_):
        if name.endswith("records_hot"):  # which qwen_hot imports
            others.append(pool.submit(agents_hot.load, "qwen"))
            time.sleep(0.05)

    monkeypatch.setattr(sys, "meta_path", [SimpleNamespace(find_spec=find_spec), *sys.meta_path])
    with ThreadPoolExecutor() as pool:
        assert agents_hot.load("qwen").name == others[0].result().name == "qwen"
