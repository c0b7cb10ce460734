"""`memtui consolidate --ask-model`: what it costs before, what it used after, and nothing changed meanwhile."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.model import Reply, say, use
from memtui.base import paths_hot
from memtui.cli import parser
from memtui.tidy import gates, waiting_proposals
from waiting import eventually


@pytest.fixture
def dreamy(bare, api):
    """A home with two memories that say the same, and a loopback model."""
    for name, text in (("use-pnpm", "Use pnpm 9 in the web repository."), ("no-npm", "In the web repository: pnpm 9.")):
        bare("new", name, "--scope", "global", "--description", "The web repository uses pnpm", "--body", text)
    bare("config", "set", "llm_backend", "api")
    bare.env |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
    api.script = lambda request: use("answer", actions=[merge(request)])
    return bare


def begun(dreamy):
    """The command, in a process of its own."""
    env = {**dreamy.env, "PYTHONPATH": str(Path(parser.__file__).parents[2])}
    words = [sys.executable, "-m", "memtui", "consolidate", "--ask-model", "--yes"]
    return subprocess.Popen(words, env=env, cwd=dreamy.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def merge(request):
    names = list(request.notes())
    text = {"description": "The web repository uses pnpm 9", "body": "Use pnpm 9 in the web repository."}
    return {"action": "merge", "memories": names, "keep": names[0], "reason": "They say the same.", **text}


def home(bare):
    """What a person has, by path."""
    every = Path(paths_hot.config_dir(bare.env)).rglob("*")
    return {str(each): each.read_bytes() for each in every if each.is_file() and "/memtui/" not in str(each)}


def test_it_says_what_it_would_cost_or_that_there_is_no_model(dreamy, api):
    said = " ".join(dreamy("consolidate", "--ask-model", "--dry-run").out.split())
    assert re.search(r"2 memories: 1 request to claude-haiku-5-5, about [\d,]+ tokens, up to \$0\.00\d+\.", said)
    assert dreamy.json("consolidate", "--ask-model", "--dry-run")["estimate"]["cost"] > 0
    assert api.requests == []
    for backend in ("off", "claude"):
        dreamy("config", "set", "llm_backend", backend)
        dreamy.env["PATH"] = dreamy.cwd
        assert dreamy("consolidate", "--ask-model", check=False).code == 1
    assert api.requests == []


def test_proposals_are_listed_and_saved_and_nothing_is_changed(dreamy, api):
    before = home(dreamy)
    said = dreamy("consolidate", "--ask-model", "--yes").out
    assert "merge" in said
    assert "They say the same." in said
    assert "1,010 tokens, $0.0001" in said
    assert home(dreamy) == before
    assert len([*Path(dreamy.json("status", "--paths")["root"]).glob("proposals/*.json")]) == 1
    assert "dream" in dreamy("model", "log").out


def test_what_is_dropped_or_invented_is_said(dreamy, api):
    api.script = lambda request: use("answer", actions=[{**merge(request), "body": "Use npm. Ask Bob before."}])
    said = " ".join(dreamy("consolidate", "--ask-model", "--yes").out.split())
    assert "dropped: " in said
    assert "+ Ask Bob before." in said
    (path,) = Path(dreamy.json("status", "--paths")["root"]).glob("proposals/*.json")
    assert "+ Ask Bob before." in " ".join(dreamy("consolidate").out.split())
    assert path.exists()


@pytest.mark.slow
def test_an_interrupted_run_is_cancelled_at_once_and_can_be_made_again(dreamy, api):
    api.script = None
    api.will(say("late", delay=20))
    process = begun(dreamy)
    assert eventually(lambda: api.requests)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert b"Traceback" not in err
    (call,) = dreamy.json("model", "log")["calls"]
    assert call["outcome"] == "cancelled"
    assert gates.last(dreamy.json("status", "--paths")["root"], gates.GLOBAL) == 0
    api.script = lambda request: use("answer", actions=[merge(request)])
    assert dreamy.json("consolidate", "--ask-model", "--yes")["proposals"]


@pytest.mark.slow
@pytest.mark.parametrize("answered", [0, 1])
def test_a_run_that_was_killed_leaves_nothing_half_made(dreamy, api, answered):
    for number in range(30):
        words = f"Thing {number}: done yesterday. " + f"Words number {number} about it. " * 90
        dreamy("new", f"n{number}", "--scope", "global", "--description", f"A note on {number}", "--body", words)
    before, root = home(dreamy), Path(dreamy.json("status", "--paths")["root"])
    count = dreamy.json("consolidate", "--ask-model", "--dry-run")["requests"]
    assert count >= 2

    def answer(request):
        names = [name for name, title in request.notes().items() if title in {"use-pnpm", "no-npm"}]
        return use("answer", actions=[{**merge(request), "memories": names, "keep": names[0]}] if names else [])

    api.script = lambda request: say("late", delay=20) if len(api.requests) > answered else answer(request)
    process = begun(dreamy)
    assert eventually(lambda: len(api.requests) > answered)
    process.kill()
    process.communicate(timeout=60)
    assert (process.returncode, waiting_proposals.waiting(str(root))) == (-signal.SIGKILL, 0)
    assert home(dreamy) == before
    assert gates.last(str(root), gates.GLOBAL) == 0  # it does not count: the next one need not wait a day
    api.script = answer
    asked = len(api.requests)
    dreamy("consolidate", "--ask-model", "--yes")
    assert (len(api.requests[asked:]), waiting_proposals.waiting(str(root))) == (count, 1)
    assert gates.last(str(root), gates.GLOBAL) > 0


# By the fault of a model: what it answers, whether the next dream waits a day, what doctor says of it and what to do.
FAULTS = {
    "no JSON": (say("no JSON"), True, "not JSON", "memtui config set llm_model"),
    "late": (say("late", delay=7), True, "did not answer within 5 s", "memtui config set llm_timeout"),
    "cut": (Reply([use("answer", actions=[])], cut=900), False, "broke off", "Try again later"),
    "refused": (say("I can't.", stop="refusal"), True, "refused to answer", "memtui config set llm_model"),
    "form": (use("answer", actions="all"), True, "actions is not of type array", "memtui config set llm_model"),
    "rejected": (Reply([], status=400), False, "did not take the request (400)", "memtui config set llm_model"),
    "absent": (Reply([], status=404), False, "does not have the model (404)", "gives no list of its models"),
    "busy": (Reply([], status=529), False, "is busy (529)", "Try again later"),
}


@pytest.mark.every(step=4)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_dream_without_an_answer_is_told_with_what_to_do(dreamy, api, fault):
    reply, waits, why, hint = FAULTS[fault]
    dreamy("config", "set", "dream", "true")
    dreamy("config", "set", "llm_timeout", "5" if fault in {"late", "cut", "busy"} else "60")
    api.script = lambda request: reply
    before, root = home(dreamy), dreamy.json("status", "--paths")["root"]
    assert dreamy("consolidate", "--ask-model", "--unattended", check=False).code == 1
    assert (gates.last(root, gates.GLOBAL) > 0) is waits
    told = " ".join(dreamy("doctor", check=False).out.split())
    _, *dreams = told.split("The last dream had no answer:")
    assert [(why in text, hint in text) for text in dreams] == [(True, True)], told
    assert home(dreamy) == before
    dreamy("config", "set", "dream", "false")
    assert "had no answer" not in dreamy("doctor", check=False).out, "none is to come"
    dreamy("config", "set", "dream", "true")
    api.script = lambda request: use("answer", actions=[merge(request)])
    assert dreamy.json("consolidate", "--ask-model", "--yes")["proposals"]
    assert "had no answer" not in dreamy("doctor", check=False).out


def test_unattended_it_asks_nobody_and_believes_no_project(dreamy, api):
    settings = Path(dreamy.cwd) / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": api.url}}))
    assert dreamy("consolidate", "--ask-model", "--unattended", check=False).code == 1
    assert api.requests == []
    assert "ANTHROPIC_BASE_URL" in dreamy("doctor", "--errors").out
    settings.unlink()
    before = home(dreamy)
    assert dreamy.json("consolidate", "--ask-model", "--unattended")["proposals"]
    assert home(dreamy) == before
    assert gates.last(dreamy.json("status", "--paths")["root"], gates.GLOBAL) > 0
    assert "to decide: yes or no?" in " ".join(dreamy("status").out.split())
    (change,) = [each for each in dreamy.json("inbox")["entries"] if each.get("by") == "claude-haiku-5-5"]
    assert change["says"] in dreamy("inbox").out
    dreamy("reject", change["id"])
    assert change["id"] not in {each["id"] for each in dreamy.json("inbox")["entries"]}
    assert home(dreamy) == before
