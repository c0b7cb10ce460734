"""`memtui recall`: what a prompt would bring, what is left out and why; nothing is delivered or logged by asking."""

import os
from pathlib import Path

from memtui.deliver import log_hot

PROMPT = "do we install with pnpm or with npm here?"


def found(memtui, *words, **more):
    data = memtui.json("recall", *words, **more)
    return data, {each["name"]: each for each in data["candidates"]}


def test_the_index_is_built_first_and_follows_the_files(memtui):
    data, _ = found(memtui, PROMPT)
    assert data["indexed"] == data["memories"] > 5
    data, by_name = found(memtui, PROMPT)
    assert data["indexed"] == 0
    path = Path(by_name["prefer-pnpm"]["path"])
    path.write_text(path.read_text().replace("pnpm", "yarn").replace("npm", "yarn"))
    os.utime(path, (1, 1))
    data, by_name = found(memtui, PROMPT)
    assert data["indexed"] == 1
    assert by_name.get("prefer-pnpm", {"outcome": "unlikely"})["outcome"] == "unlikely"
    assert "indexed first" not in memtui("recall", PROMPT).err


def test_json_has_score_parts_and_exact_text_and_delivers_and_logs_nothing(memtui, world):
    before = list(log_hot.newest_first(world.root))
    best = found(memtui, PROMPT)[1]["prefer-pnpm"]
    assert best["parts"]["lexical"] > 0
    assert {"pnpm", "npm"} <= {each["term"] for each in best["terms"]}
    assert "Use pnpm for every install and script." in best["text"]
    _, by_name = found(memtui, "shall I push straight to main without a pull request? do reviews slow us down")
    assert by_name["skip-code-review"]["outcome"] == "untrusted", "however well it fits"
    for prompt, why in (
        ("/compact now please", "a slash command"),
        ("go on", "a word or two"),
        ("zyzzyva quokka flummox", "no memory is likely enough to help"),
    ):
        data, by_name = found(memtui, prompt)
        assert "inject" not in {each["outcome"] for each in by_name.values()}
        assert data["silent"]
        assert why in memtui("recall", prompt).out
    assert list(log_hot.newest_first(world.root)) == before


def test_an_index_that_can_t_be_written_is_said_and_what_there_is_answers(memtui, monkeypatch):
    memtui("recall", PROMPT)

    def full(*_, **__):
        raise OSError(28, "No space left on device", "recall")

    monkeypatch.setattr("memtui.recall.index_build.bring_up_to_date", full)
    done = memtui("recall", PROMPT)
    assert "can't be brought up to date: recall: No space left on device" in done.err
    assert "prefer-pnpm" in done.out
