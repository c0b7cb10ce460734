"""A prompt under a live daemon with a sentence model, and whatever may become of that daemon."""

import json
import os
import time

import pytest
from test_imports import DEAR, imported
from test_recall import RecallHome

import sentence_daemon
from memtui.worker import sentence_vectors
from waiting import eventually

pytestmark = pytest.mark.slow

# Only the model knows that these two are about the same: the words are those of another memory.
PROMPT = "the umbrella, the banana, the umbrella and the banana of the brand guide"
TEXT = "The invoice is for the treasurer."
# Words that the memory itself has.
PLAIN = "where do the charts get the palette of the brand guide from?"
GUIDE = "Charts use the palette of the brand guide."
ENOUGH = 2.0  # seconds: far less than a model that is slow here takes


class SemanticHome(RecallHome):
    """A home whose sessions start the daemon."""

    def __init__(self, base):
        super().__init__(base)
        self.keep("treasurer", TEXT)
        sentence_daemon.prepare(self.root, 'recall = "generous"', "recall_most = 1")
        self.session = 0

    def ready(self):
        self.start()
        return sentence_daemon.ready(self.root)

    def fresh(self, text):
        """What a prompt of a new session brings."""
        self.session += 1
        return self.prompt(session=f"new{self.session}", prompt=text).context

    def brings(self, text, words):
        """Whether a prompt brings these words: it is asked again, for a busy machine may be slower than a hook waits."""
        return eventually(lambda: words in self.fresh(text))

    def settings(self, **changed):
        path = self.root / "config.toml"
        lines = [line for line in path.read_text().splitlines() if line.partition(" ")[0] not in changed]
        path.write_text("\n".join([*lines, *(f"{key} = {json.dumps(value)}" for key, value in changed.items())]) + "\n")


@pytest.fixture
def home(tmp_path):
    found = SemanticHome(tmp_path)
    yield found
    sentence_daemon.end(found.root)


def test_a_session_starts_the_daemon_and_prompts_get_what_its_model_knows(home):
    home.index()
    assert GUIDE in home.fresh(PROMPT)
    assert home.ready()["model"] == "tiny"
    assert home.brings(PROMPT, TEXT)
    assert GUIDE in home.fresh(PLAIN)
    home.settings(semantic=False)
    assert GUIDE in home.fresh(PROMPT)
    assert home.errors() == []


def test_a_new_memory_is_compared_once_its_vectors_are_made(home):
    home.ready()
    home.keep("ship", "Ship on Friday.")
    home.hook("Stop")
    assert eventually(lambda: sentence_vectors.covered(str(home.root), [str(home.config / "memory")]) == (5, 5))
    assert home.brings("when is it that we publish it live to them?", "Ship on Friday.")


def test_a_hook_that_asks_the_daemon_loads_only_what_it_needs_for_that(home):
    home.ready()
    modules, printed = imported(home, "UserPromptSubmit", prompt=PLAIN)
    assert GUIDE.encode() in printed
    assert {"memtui.recall.semantic_hot", "_socket"} <= modules
    assert not modules & DEAR
    home.settings(semantic=False)
    modules, _ = imported(home, "UserPromptSubmit", prompt=PLAIN, session="another")
    assert not modules & {"memtui.recall.semantic_hot", "_socket"}


def timed(home, text):
    begin = time.monotonic()
    return home.fresh(text), time.monotonic() - begin


def test_a_killed_daemon_costs_a_prompt_nothing_and_is_started_anew(home):
    killed = home.ready()["pid"]
    found, took = timed(home, PLAIN + " die")
    assert GUIDE in found
    assert took < ENOUGH
    assert eventually(lambda: not sentence_vectors.is_held(str(home.root)))
    assert sentence_daemon.socket_is_there(home.root)
    found, took = timed(home, PLAIN)  # the socket that it left answers nobody
    assert GUIDE in found
    assert took < ENOUGH
    assert home.ready()["pid"] != killed
    assert home.brings(PROMPT, TEXT)
    assert home.errors() == []


def test_another_model_in_the_settings_replaces_the_daemon(home):
    old = home.ready()["pid"]
    home.settings(semantic_model="tiny-2")
    home.start()
    assert eventually(lambda: sentence_daemon.ready(home.root)["model"] == "tiny-2")
    assert sentence_daemon.ready(home.root)["pid"] != old
    assert home.brings(PROMPT, TEXT)


def test_a_model_that_cant_be_loaded_is_told_and_not_tried_again_at_once(home):
    home.settings(semantic_model="missing")
    home.start()
    assert eventually(lambda: sentence_vectors.why_failed(str(home.root)))
    assert "can't be loaded" in sentence_vectors.why_failed(str(home.root))
    (found,) = sentence_vectors.check(str(home.root))
    assert found.code in {"semantic.not_loaded", "semantic.not_installed"}
    assert sentence_vectors.failed_lately(str(home.root), time.time())
    assert not sentence_vectors.failed_lately(str(home.root), time.time() + sentence_vectors.APART)
    home.settings(semantic_model="tiny")
    os.utime(home.root / "config.toml", (time.time() + 1, time.time() + 1))
    assert not sentence_vectors.failed_lately(str(home.root), time.time())
    assert GUIDE in home.fresh(PLAIN)
