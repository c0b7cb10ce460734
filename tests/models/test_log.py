"""The log of calls: what it says of each, the budget that it counts, and how it is shown and bounded."""

import json
import os
import time

from memtui.base import clock_hot, findings, ids_hot
from memtui.models import choice, log
from memtui.models.call import ModelUsage
from memtui.tidy.checks import retention

NOW = 1_795_000_000.0  # in November 2026


def entry(at, outcome="ok", used=ModelUsage(100, 20, 30, 0, 0.001), **more):
    return log.LoggedCall(ids_hot.new_id(at), at, "test", "api", "claude-haiku-5-5", used, outcome, 1.5, 1, **more)


def test_calls_are_read_newest_first_each_as_it_ended(tmp_path):
    root = str(tmp_path)
    first, second = entry(NOW - 60, "begun"), entry(NOW - 30, "begun")
    for each in (first, second, entry(NOW, "late")):
        log.append(root, each)
    log.append(root, log.LoggedCall(first.id, first.time, "test", "api", "m", first.usage, "ok", 1.0, 1))
    with open(log.path_of(root, NOW), "ab") as file:
        file.write(b'{"v": 9}\nnot json\n{"v": 1, "id": 3, "time": "x"}\n')
    # The end of a call that took long stands among those that began later.
    assert [each.outcome for each in log.newest_first(root)] == ["ok", "late", "begun"]
    assert next(log.newest_first(root)).id == first.id


def test_the_budget_counts_what_began_since_midnight(tmp_path):
    root = str(tmp_path)
    midnight = log.midnight(NOW)
    for each in (entry(midnight - 1), entry(midnight + 1), entry(midnight + 2, used=ModelUsage(7, cost=None))):
        log.append(root, each)
    assert log.used_today(root, NOW) == ModelUsage(107, 20, 30, 0, 0.001)
    assert time.localtime(midnight).tm_hour == 0


def test_the_log_holds_no_text(tmp_path):
    log.append(str(tmp_path), entry(NOW))
    with open(log.path_of(str(tmp_path), NOW)) as file:
        (line,) = file
    assert set(json.loads(line)) == {
        *("v", "id", "time", "purpose", "backend", "model", "outcome"),
        *("input", "cached", "written", "output", "cost", "seconds", "attempts"),
    }


def test_old_months_are_removed(tmp_path):
    root = str(tmp_path)
    old, new = entry(NOW - 500 * clock_hot.DAY), entry(NOW)
    for each in (old, new):
        log.append(root, each)
    gone = os.path.basename(log.path_of(root, old.time))
    done = retention.collect(root, NOW)
    assert [os.path.basename(each) for each in done.calls] == [gone]
    assert [each.id for each in log.newest_first(root)] == [new.id]
    (tmp_path / "config.toml").write_text("keep_days = 0\n")
    assert retention.collect(root, NOW + 5000 * clock_hot.DAY).calls == []


def told(tmp_path, env, *lines):
    (tmp_path / "config.toml").write_text("\n".join(lines) + "\n")
    found = list(choice.check(env, str(tmp_path), NOW))
    return [(each.level, findings.message(each)) for each in found]


def test_health_says_which_model_is_asked_and_what_it_used(tmp_path):
    key = {"ANTHROPIC_API_KEY": "k", "PATH": ""}
    assert told(tmp_path, key) == [("ok", "off: memtui asks no model")]
    assert told(tmp_path, {"PATH": ""}, 'llm_backend = "api"') == [("note", "There is no ANTHROPIC_API_KEY.")]
    assert told(tmp_path, key, 'llm_backend = "claude"') == [("note", "`claude` is not on the PATH.")]
    assert told(tmp_path, {"PATH": ""}, 'llm_backend = "auto"')[0][0] == "note"
    log.append(str(tmp_path), entry(NOW - 5))
    asked = 'llm_backend = "auto"'
    assert told(tmp_path, key, asked) == [("ok", "haiku by api; today 1 call, 150 tokens, $0.00")]
    log.append(str(tmp_path), entry(NOW - 4, "busy"))
    assert told(tmp_path, key, asked)[1] == ("note", "The last call of a model had no answer (busy, just now).")
    log.append(str(tmp_path), entry(NOW - 3, "budget"))
    assert told(tmp_path, key, asked)[1] == ("note", "Today's budget for models is used up: 1 call not made.")
