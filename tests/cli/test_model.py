"""`memtui model` and `memtui model log`."""

import subprocess
import sys

import pytest

import sentence_daemon
from memtui.base import clock_hot, ids_hot, installer, paths_hot
from memtui.cli import parser
from memtui.cli.output import Output
from memtui.models import log
from memtui.models.call import ModelUsage
from memtui.models.subconscious import block_files_hot, blocks, control, runs
from memtui.recall import sentences
from memtui.worker import sentence_vectors
from waiting import eventually


def test_calls_are_listed_with_what_they_used_and_what_is_left_today(bare):
    now = log.clock_hot.parse(bare.env["MEMTUI_NOW"]) if "MEMTUI_NOW" in bare.env else log.clock_hot.now()
    used = ModelUsage(1200, 80, 3000, 0, 0.0123)
    root = bare.json("status", "--paths")["root"]
    for number, outcome in enumerate(["ok", "late", "refused"]):
        call = log.LoggedCall(
            ids_hot.new_id(now), now - number, "dream", "api", "claude-haiku-5-5", used, outcome, 2.5, 2
        )
        log.append(root, call)
    bare("config", "set", "llm_backend", "api")
    bare("config", "set", "llm_daily_dollars", "2.5")
    said = bare("model", "log").out
    for words in ("dream", "answered", "too slow", "refused", "1,200", "3,000", "$0.0123", "2.5 s", "haiku-5-5"):
        assert words in said
    assert "of $2.50" in said
    assert max(map(len, said.splitlines())) <= 80
    data = bare.json("model", "log", "--limit", "1")
    assert (len(data["calls"]), data["more"]) == (1, True)
    assert (data["calls"][0]["cost"], data["today"]["tokens"]) == (0.0123, 3 * 4280)


@pytest.mark.slow
def test_no_command_that_asks_no_model_imports_a_backend(bare):
    code = (
        "import sys; from memtui.cli.main import main\n"
        "for words in (['model'], ['model', 'log'], ['doctor'], ['config'], ['status']): main(words)\n"
        "assert 'textual' not in sys.modules\n"
        "import memtui.tui.app\n"
        "print(sorted(each for each in sys.modules if each in {'anthropic', 'memtui.models.backends'}))"
    )
    env = {**bare.env, "PYTHONPATH": str(parser.__file__).rsplit("/memtui/", 1)[0]}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=bare.cwd, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


# --- `memtui model`: what reads sessions in the background, its state, its blocks, what it did and said, and the switch


SESSION = "5e55aaaa-1"


@pytest.fixture
def on(memtui, world):
    memtui("config", "set", "llm_backend", "api")
    memtui("config", "set", "subconscious", "full")
    memtui.env["ANTHROPIC_API_KEY"] = "sk-loopback"
    return memtui


def test_blocks_are_listed_with_who_wrote_them_and_printed(memtui, world):
    slug = paths_hot.project_key(world.shop)
    blocks.Blocks(world.root, slug).edit("guidance", "", "Ask before a migration.", run="r1", session=SESSION)
    assert memtui("model", "blocks", "guidance").out == "Ask before a migration.\n"
    rows = {each["block"]: each for each in memtui.json("model", "blocks")["blocks"]}
    assert rows["guidance"]["by"] == "model"
    assert set(rows) == set(block_files_hot.BLOCKS)


def test_at_first_it_is_off_and_a_setting_that_needs_a_model_says_so(memtui):
    out = memtui("model").out
    assert "memtui config set llm_backend auto" in out
    assert "reads along" not in out
    data = memtui.json("model")["reads_along"]
    assert (data["mode"], data["tools"]) == ("off", "read-only")
    assert data["reason"]
    for words, code, said in ((("blocks", "secrets"), 3, "There is no block"), (("sentences", "maybe"), 2, "on, off")):
        done = memtui("model", *words, check=False)
        assert (done.code, said in done.err) == (code, True)
    for key, value in (("subconscious", "notes"), ("recall_select", "true")):
        out = " ".join(memtui("config", "set", key, value).out.split())
        assert "But: No model may be asked: llm_backend is off." in out
        assert "memtui config set llm_backend auto" in out
    assert "But:" not in memtui("config", "set", "subconscious", "off").out
    memtui("config", "set", "llm_backend", "api")
    assert "There is no ANTHROPIC_API_KEY" in memtui("config", "set", "subconscious", "full").out
    memtui.env["ANTHROPIC_API_KEY"] = "sk-loopback"
    assert "But:" not in memtui("config", "set", "subconscious", "notes").out


def test_stop_and_start(on):
    assert on.json("model", "stop") == {"stopped": True, "changed": True, "daemon": False}
    assert "stopped by you" in on("model").out
    assert on.json("model", "stop")["changed"] is False
    assert on.json("model", "start")["changed"] is True
    assert "full, haiku by the API" in on("model").out


def test_what_it_did_and_said_is_listed(on, world):
    root, slug = world.root, paths_hot.project_key(world.shop)
    now = clock_hot.parse("2026-11-21T08:59:00Z")
    whisper = runs.Whisper("01KAQ00000000000000000000W", "Deploys are on \x1b[31mTuesdays.")
    blocks.Blocks(root, slug).edit("project_context", "", "Deploys: Tuesdays.", run="r1", session=SESSION)
    run = runs.Run(
        "r1", now, SESSION, slug, world.shop, "Stop", outcome="done", heard=4, note="They deploy.", cost=0.002
    )
    runs.append(root, runs.Run("r1", clock_hot.now(), SESSION, slug, world.shop, "Stop", limit=600))
    assert "reading now" in on("model", "log", "--runs").out
    runs.append(root, run.__class__(**{**vars(run), "changes": ("project_context: added",), "whispers": (whisper,)}))
    runs.send(root, run, whisper)
    state = {"mentions": [{"id": "m1", "who": "person", "words": "when do we deploy?", "time": clock_hot.iso(now)}]}
    control.save(root, SESSION, state)
    out = on("model").out
    assert "1 block, 1 note" in out
    assert "when do we deploy?" in out
    assert "when do we deploy?" in [each["words"] for each in on.json("model")["reads_along"]["waiting"]]
    out = on("model", "log", "--runs").out
    assert "They deploy." in out
    assert "$0.0020" in out
    out = on("note", "--list").out
    assert "from subconscious" in out
    assert "\x1b" not in out


# --- `memtui model sentences`: switched on it starts the daemon, says what that does, and ends it again


@pytest.fixture
def root(world, monkeypatch):
    sentence_daemon.prepare(world.root)
    monkeypatch.setattr(sentences, "installed", lambda: True)
    monkeypatch.setattr(sentence_vectors.processes.subprocess, "Popen", Started)
    yield world.root
    sentence_daemon.end(world.root)


class Started(sentence_vectors.processes.subprocess.Popen):
    """A process that nobody waits for: Python warns of such, which a command that ends does not see."""

    def __del__(self):
        self.returncode = 0


@pytest.mark.slow
def test_without_the_extra_it_is_not_switched_on(memtui, world):
    done = memtui("model", "sentences", "on", check=False)
    assert (done.code, installer.adding("fastembed") in done.err) == (1, True)
    assert memtui.json("model", "sentences")["on"] is False


@pytest.mark.slow
def test_on_starts_the_daemon_and_off_ends_it(memtui, root):
    memtui("config", "set", "semantic", "false")
    assert memtui.json("model", "sentences", "on") == {"changed": True, "started": True, "daemon": "running"}
    sentence_daemon.ready(root)
    said = memtui.json("model", "sentences")
    assert (said["on"], said["daemon"], said["loaded"]) == (True, "running", "tiny")
    assert said["ready"] == said["memories"] > 0
    out = memtui("model", "sentences").out
    assert f"is running, process {said['pid']}" in out
    assert f"{said['ready']} of {said['memories']} memories" in out
    assert memtui.json("model", "sentences", "off") == {"changed": True, "stopped": True}
    assert eventually(lambda: not sentence_vectors.is_held(root))
    assert memtui.json("model", "sentences")["daemon"] == "none"
    memtui("undo", "--yes")
    assert memtui.json("model", "sentences")["on"] is True


@pytest.mark.slow
def test_a_missing_network_is_told_at_once_and_a_download_has_progress(memtui, root, monkeypatch):
    sentence_daemon.prepare(root, endpoint="http://127.0.0.1:9")
    done = memtui("model", "sentences", "on", check=False)
    assert (done.code, "There is no connection to 127.0.0.1" in " ".join(done.err.split())) == (1, True)
    assert "There is no connection to 127.0.0.1" in " ".join(memtui("doctor", check=False).out.split())
    sentence_daemon.prepare(root, model="heavy")
    told = []
    monkeypatch.setattr(Output, "progress", lambda out, text: told.append(text) or setattr(out, "stderr_tty", True))
    monkeypatch.setattr(sentence_vectors, "PATIENCE", 20.0)
    assert "The daemon is running" in memtui("model", "sentences", "on").out
    assert len({text for text in told if "kB are here" in text}) > 3
    assert told[-1] == ""
    assert memtui.json("model", "stop")["daemon"] is True
    assert not sentence_vectors.is_held(root)
