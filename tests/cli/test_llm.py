"""`memtui model` and `memtui model log`."""

import subprocess
import sys

import pytest

from memtui.base import ids
from memtui.cli import parser
from memtui.models import log
from memtui.models.call import ModelUsage


def test_off_says_how_to_switch_it_on(bare):
    said = bare("model").out
    assert "memtui config set llm_backend auto" in said
    assert bare.json("model")["backend"] is None
    assert "No model was asked" in bare("model", "log").out


def test_calls_are_listed_with_what_they_used_and_what_is_left_today(bare):
    now = log.clock.parse(bare.env["MEMTUI_NOW"]) if "MEMTUI_NOW" in bare.env else log.clock.now()
    used = ModelUsage(1200, 80, 3000, 0, 0.0123)
    root = bare.json("status", "--paths")["root"]
    for number, outcome in enumerate(["ok", "late", "refused"]):
        call = log.LoggedCall(ids.new_id(now), now - number, "dream", "api", "claude-haiku-5-5", used, outcome, 2.5, 2)
        log.append(root, call)
    bare("config", "set", "llm_backend", "api")
    bare("config", "set", "llm_daily_dollars", "2.5")
    said = bare("model", "log").out
    for words in (
        "dream",
        "answered",
        "too slow",
        "refused",
        "1,200",
        "3,000",
        "$0.0123",
        "2.5 s",
        "haiku-5-5",
    ):
        assert words in said
    assert "of $2.50" in said
    assert max(map(len, said.splitlines())) <= 80
    data = bare.json("model", "log", "--limit", "1")
    assert (len(data["calls"]), data["more"]) == (1, True)
    assert data["calls"][0]["cost"] == 0.0123
    assert data["today"]["tokens"] == 3 * 4280


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
