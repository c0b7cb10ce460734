"""`memtui model learned` says what decisions taught, in plain words, and how many of them wait for the next turn."""

import json

import pytest

from cli.conftest import Shell
from memtui.base import paths
from memtui.review import taught
from memtui.review.entries import Review
from memtui.review.waiting import waiting_in
from memtui.store.journal.journal import Journal
from memtui.worker import decided, main

RULES = ("From now on always use pnpm for packages here.", "From now on always ask me before you write a migration.")


@pytest.fixture
def cli(tmp_path, monkeypatch, capsysbinary):
    """The command line in an empty project."""
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    env = {"HOME": str(tmp_path), "MEMTUI_HOME": f"{tmp_path}/memtui", "CLAUDE_CONFIG_DIR": f"{tmp_path}/config"}
    shell = Shell(monkeypatch, capsysbinary, env, project)
    shell.env.pop("MEMTUI_NOW")  # the drafts are decided on now
    return shell


@pytest.fixture
def drafts(cli, tmp_path):
    """Two drafts, as the worker made them."""
    transcript = tmp_path / "s1.jsonl"
    rows = []
    for number, text in enumerate(RULES):
        rows += [
            {"type": "user", "uuid": f"u{number}", "sessionId": "s1", "message": {"content": text}},
            {"type": "assistant", "message": {"id": f"m{number}", "content": [{"type": "text", "text": "Done."}]}},
        ]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    payload = {"session_id": "s1", "transcript_path": str(transcript), "cwd": cli.cwd}
    main.run(cli.env, payload, "Stop", ("extract",))
    return waiting_in(paths.root(cli.env), [paths.project_key(cli.cwd)], ("updates",))


def test_decisions_wait_for_the_next_turn_and_then_count(cli, drafts):
    assert "approve or reject drafts" in cli("model", "learned").out
    Review(paths.root(cli.env)).reject(drafts[:1])
    assert "1 decision not applied yet" in cli("model", "learned").out
    assert cli.json("model", "learned")["waiting"] == 1
    assert "1 decision not applied yet" in " ".join(cli("doctor", check=False).out.split())
    decided.learn(paths.root(cli.env))
    out = cli("model", "learned").out
    assert "waits" not in out
    assert "1 rejected" in out
    Review(paths.root(cli.env)).reject(drafts[1:])
    assert "1 decision not applied" in cli("model", "learned").out
    assert "1 not applied yet: after the next turn" in " ".join(cli("doctor", check=False).out.split())


def test_what_waits_is_forgotten_too_and_nothing_waits_where_learning_is_off(cli, drafts):
    Review(paths.root(cli.env)).reject(drafts)
    cli("config", "set", "extract_learn", "false")
    assert "approve or reject" in cli("model", "learned").out
    cli("config", "set", "extract_learn", "true")
    assert "2 decisions not applied yet" in cli("model", "learned").out
    assert "Forgotten" in cli("model", "learned", "--reset").out
    assert "approve or reject" in cli("model", "learned").out


@pytest.mark.parametrize(
    ("feedback", "durable", "words"),
    [
        (0.0, 0.0, "No measurable change yet"),
        (0.05, 0.0, "Better than before"),
        (0.0, -0.015, "A little worse than before"),
        (0.05, -0.015, "Better in one way, a little worse in another"),
    ],
)
def test_figures_are_told_in_plain_words(feedback, durable, words):
    figures = {"feedback": (0.7, 0.7 + feedback), "durable": (0.28, 0.28 + durable)}
    found = taught.Taught({}, figures, 246, 0, 0)
    feedback_share, lasting_share = f"{0.7 + feedback:.0%}", f"{0.28 + durable:.0%}"
    shares = (
        f"in memtui's test messages, {feedback_share} of those ranked high as feedback are feedback"
        f" and {lasting_share} of those ranked high as lasting are lasting"
    )
    assert found.judged == f"{words}: {shares}"
    assert found.data()["figures"]["durable"]["shipped"] == 0.28


def test_a_journal_that_is_not_there_has_no_decisions(tmp_path):
    assert taught.look(str(tmp_path), Journal(str(tmp_path))).waiting == 0
