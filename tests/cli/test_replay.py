"""`memtui recall --replay`: the last prompts of a project, against the memories that are there and against others."""

from pathlib import Path

import pytest

from memtui.demo.sessions import DemoSession

ASKED = "do we install with pnpm or with npm here?"
WEATHER = "what is the weather on the moon?"


@pytest.fixture
def asked(world):
    """A session of the shop in which two things were asked."""
    session = DemoSession(world, "today", world.shop, 2.0)
    session.says(WEATHER)
    session.says(ASKED)
    path = next(each for each in Path(world.config, "projects").iterdir() if each.name.endswith("-shop"))
    (path / "5e55-asked.jsonl").write_text("\n".join(session.lines) + "\n")


def of(data, text):
    return next(each for each in data["prompts"] if each["text"] == text)


def names(memories):
    return [each["name"] for each in memories]


@pytest.mark.usefixtures("asked")
def test_the_last_prompts_are_shown_beside_what_they_brought_then(memtui):
    data = memtui.json("recall", "--replay", "50")
    assert names(of(data, ASKED)["now"]) == ["prefer-pnpm"]
    assert of(data, ASKED)["then"] == []
    assert data["differ"] is None
    told = memtui("recall", "--replay", "50").out
    assert "prompts would get memories now" in told
    assert "prefer-pnpm" in told.partition(ASKED)[2].partition("“")[0]
    assert max(map(len, told.splitlines())) <= 80
    assert len(memtui.json("recall", "--replay", "1")["prompts"]) == 1


@pytest.mark.usefixtures("asked")
def test_without_a_memory_its_prompts_lose_it(memtui):
    data = memtui.json("recall", "--replay", "50", "--without", "prefer-pnpm")
    lost = [each["text"] for each in data["prompts"] if each["lost"]]
    assert ASKED in lost
    assert data["differ"] == len(lost)
    told = memtui("recall", "--replay", "50", "--without", "prefer-pnpm").out
    assert told.startswith(f"{len(lost)} of ")
    assert "- prefer-pnpm" in told
    assert "would get the same as now: --all lists all" in told
    assert "weather" in memtui("recall", "--replay", "50", "--without", "prefer-pnpm", "--all").out


@pytest.mark.usefixtures("asked")
def test_with_a_file_a_memory_of_its_name_is_that_and_another_is_new(memtui, tmp_path):
    changed = tmp_path / "prefer-pnpm.md"
    changed.write_text("---\nname: prefer-pnpm\ndescription: Colours of charts\n---\nBlue.\n")
    new = tmp_path / "moon.md"
    new.write_text("---\nname: moon-weather\ndescription: The weather on the moon\n---\nThere is none on the moon.\n")
    data = memtui.json("recall", "--replay", "50", "--with", str(changed), "--with", str(new))
    assert names(of(data, ASKED)["now"]) == ["prefer-pnpm"]
    assert len(of(data, ASKED)["lost"]) == 1
    assert names(of(data, WEATHER)["changed"]) == ["moon-weather"]
    assert "moon-weather" in memtui("recall", "--replay", "50", "--with", str(new)).out
    assert "moon-weather" not in memtui("list").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--without", "prefer-pnpm"), "only work with --replay"),
        (("--replay", "5", "hello"), "leave out the text"),
        (("--replay", "5", "--explain"), "can't be combined"),
        (("--replay", "5", "--with", "missing.md"), "missing.md"),
        (("--replay", "5", "--without", "agent:reviewer:review-checklist"), "No prompt here recalls"),
        ((), "The prompt is empty"),
    ],
)
def test_what_makes_no_sense_says_so(memtui, words, told):
    done = memtui("recall", *words, check=False)
    assert done.code != 0
    assert told in done.err


def test_without_transcripts_there_is_nothing_to_replay(bare):
    assert "No prompt that you typed" in bare("recall", "--replay", "5", check=False).out
