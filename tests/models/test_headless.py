"""A model asked through the real client, `claude -p`, which asks a loopback API. No hook of ours fires inside it."""

import json
import os
import threading

import pytest

from e2e.client import VERSIONS, World, client_or_skip
from e2e.model import Reply, say, use
from memtui.base import fs_hot
from memtui.models import backends, log
from memtui.models.call import ModelError
from memtui.models.model import LanguageModel

from .test_api import GOOD, SCHEMA, SECRET

ANSWER = use("StructuredOutput", **GOOD)
pytestmark = pytest.mark.client


@pytest.fixture(params=VERSIONS)
def world(request, tmp_path, api):
    """A home with our hooks installed, and the client on the PATH."""
    found = World(tmp_path, api, client_or_skip(request.param))
    found.install()
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "claude").symlink_to(found.binary)
    found.env["PATH"] = f"{bin_}:{os.environ['PATH']}"
    found.root.mkdir(parents=True, exist_ok=True)
    (found.root / "config.toml").write_text('llm_backend = "claude"\n')
    return found


def model(world, *lines, env=None, **more):
    (world.root / "config.toml").write_text('llm_backend = "claude"\n' + "\n".join(lines) + "\n")
    env = {name: value for name, value in (world.environment() | (env or {})).items() if value}
    return LanguageModel(env, str(world.root), str(world.root), first_wait=0.01, **more)


def ask(asked, prompt="Which?"):
    return asked.ask("test", "You judge.", prompt, SCHEMA)


def logged(world):
    return list(log.newest_first(str(world.root)))


@pytest.mark.parametrize("login", [False, True], ids=["key", "login"])
def test_an_answer_is_of_the_schema_and_no_hook_of_ours_fires(world, api, login):
    world.leave("A note that no headless client may take.", scope="global")
    world.remember("native", "A memory that no headless client may get")
    (world.home / ".claude" / "CLAUDE.md").write_text("Words of the person's CLAUDE.md.")
    # A subscription's login is not to be had in a test: a token of the environment takes its place.
    env = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "loopback-token"} if login else {}
    api.will(ANSWER)
    asked = model(world, env={**env, "CLAUDE_PROJECT_DIR": str(world.project), "CLAUDECODE": "1"})
    assert ask(asked, f"Which? The token is {SECRET}.") == GOOD
    (request,) = api.main
    sent = json.dumps(request.body)
    assert "You judge." in sent
    assert "Which?" in sent
    assert SECRET not in sent
    assert "memtui-guidance" not in sent
    assert "No headless client".lower() not in sent.lower()
    assert "CLAUDE.md" not in sent
    assert len(sent) < 4000
    assert world.waiting(scope="global")
    assert world.deliveries() == []
    assert not list(world.root.glob("sessions/*"))
    assert not list((world.config / "projects").glob("*/*.jsonl"))
    assert world.errors() == []
    (entry,) = logged(world)
    assert (entry.backend, entry.outcome, entry.usage.input, entry.usage.output) == ("claude", "ok", 1000, 10)
    assert entry.usage.cost


def test_hooks_fire_in_a_client_that_is_not_ours(world, api):
    """What the test above finds missing is there without our flags and variables."""
    world.leave("A note that a session takes.", scope="global")
    world.claude("hello")
    assert world.deliveries()


@pytest.mark.parametrize(
    "first",
    [Reply([], status=429, error="rate_limit_error"), Reply([], status=529, error="overloaded_error")],
    ids=["rate limit", "overload"],
)
def test_what_passes_is_tried_again(world, api, first):
    api.will(first, ANSWER)
    assert (ask(model(world)), len(api.main)) == (GOOD, 2)
    assert [(each.outcome, each.attempts) for each in logged(world)] == [("ok", 2)]


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [
        (["I would rather talk."] * 3, "invalid"),
        ([use("StructuredOutput", kept="a.md")] * 9, "invalid"),
        ([Reply([], status=401, error="authentication_error")] * 9, "rejected"),
        ([Reply([], stop="refusal")] * 9, "refused"),
        ([Reply([ANSWER], cut=300)] * 40, "unreachable"),
        ([Reply([], raw=b"<html>Welcome</html>")] * 40, "invalid"),
    ],
    ids=["garbage", "wrong schema", "key", "refusal", "cut stream", "no API"],
)
def test_what_gives_no_answer_is_an_error_of_its_kind(world, api, replies, outcome):
    api.will(*replies)
    api.default = replies[-1]
    with pytest.raises(ModelError) as caught:
        ask(model(world, "llm_timeout = 30"))
    assert (caught.value.outcome, logged(world)[0].outcome) == (outcome, outcome)


def test_a_slow_client_is_ended_at_the_time_limit_and_when_cancelled(world, api):
    api.will(say("late", delay=20.0))
    with pytest.raises(ModelError, check=lambda error: error.outcome == "late"):
        ask(model(world, "llm_timeout = 5"))
    cancelled = threading.Event()
    threading.Timer(1.0, cancelled.set).start()
    api.will(say("late", delay=20.0))
    with pytest.raises(ModelError, check=lambda error: error.outcome == "cancelled"):
        ask(model(world, cancelled=cancelled.is_set))
    assert [each.outcome for each in logged(world)] == ["cancelled", "late"]
    with fs_hot.Lock(f"{world.root}/run/llm-client-0.lock", 5.0):
        pass  # the client that held the place is gone


def test_over_the_budget_and_in_a_client_of_ours_no_client_is_started(world, api):
    with pytest.raises(ModelError, check=lambda error: error.outcome == "budget"):
        ask(model(world, "llm_daily_tokens = 1000"))
    with pytest.raises(ModelError, check=lambda error: error.outcome == "off"):
        ask(model(world, env=backends.ENVIRONMENT))
    assert api.requests == []
