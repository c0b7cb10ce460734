"""`memtui consolidate`: the plan is shown, written, decided on and made; nothing is written before somebody accepts."""

import json
import os

import pytest

from consolidate.stores import World, text_of
from consolidate.test_plan import AGAIN, INDEX, PNPM, REVIEW


@pytest.fixture
def world(tmp_path):
    files = {"prefer-pnpm.md": PNPM, "pnpm-only.md": AGAIN, "review.md": REVIEW, "MEMORY.md": INDEX}
    return World(f"{tmp_path}/w", files)


@pytest.fixture
def shell(monkeypatch, capsysbinary, world):
    from .conftest import Shell

    return Shell(monkeypatch, capsysbinary, world.env, world.repo)


def ids(shell):
    return {each["kind"]: each["id"] for each in shell.json("consolidate")["changes"]}


def test_the_plan_is_shown_with_reasons_diffs_and_what_follows_and_nothing_is_written(shell, world):
    before = world.files()
    done = shell("consolidate")
    assert "merge prefer-pnpm into pnpm-only" in done.out
    assert "are similar: ." in " ".join(done.out.split())
    assert "+The lock file of npm breaks the frozen install of CI." in done.out
    assert "- auto:prefer-pnpm\n" in done.out
    assert "Links and lines follow in MEMORY.md." in done.out
    assert "2 changes proposed. Saves 1 memory" in done.out
    assert "\n  Saves 1 memory" in done.out
    assert "\n  Saves 1 line of MEMORY.md" in done.out
    assert "--accept" in done.err
    assert world.files() == before


def test_json_has_files_diffs_and_what_is_dropped(shell):
    merge = next(each for each in shell.json("consolidate")["changes"] if each["kind"] == "merge")
    assert merge["dropped"] == []
    assert merge["score"] >= 0.5
    assert {os.path.basename(each["path"]): each["gone"] for each in merge["files"]} == {
        "pnpm-only.md": False,
        "prefer-pnpm.md": True,
        "MEMORY.md": False,
    }


def test_what_is_accepted_is_made_and_one_undo_takes_it_back(shell, world):
    before = world.files()
    done = shell("consolidate", "--accept", ids(shell)["merge"][:6], "--yes")
    assert "1 change made: 1 merged. Saves 1 memory" in done.out
    assert not os.path.exists(world.path("prefer-pnpm.md"))
    assert "gone.md" in world.text("MEMORY.md")  # the other change was not accepted
    shell("undo")
    assert world.files() == before


def test_all_and_safe(shell, world):
    assert [each["kind"] for each in shell.json("consolidate", "--safe", "--yes")["made"]] == ["relink"]
    assert [each["kind"] for each in shell.json("consolidate", "--all", "--yes")["made"]] == ["merge"]
    assert "nothing to consolidate" in shell("consolidate").out


def test_without_a_terminal_it_asks_for_yes(shell, world):
    before = world.files()
    done = shell("consolidate", "--all", check=False)
    assert done.code == 1
    assert "--yes" in done.err
    assert world.files() == before


def test_a_person_is_asked_after_a_look(shell, world, monkeypatch):
    from memtui.cli.context import Context

    monkeypatch.setattr(Context, "can_ask", True)
    before = world.files()
    done = shell("consolidate", "--all", stdin="n\n", check=False)
    assert "Make 2 changes to 3 files? [y/N]" in done.err
    assert "merge prefer-pnpm" in done.out
    assert world.files() == before
    shell("consolidate", "--all", stdin="y\n")
    assert world.files() != before


def test_a_plan_file_is_written_decided_on_and_applied(shell, world, tmp_path):
    path = f"{tmp_path}/plan.json"
    assert "2 changes, 0 accepted" in shell("consolidate", "--plan", path).out
    assert "No change is accepted" in shell("consolidate", "--apply", path).out
    shell("consolidate", "--plan", path, "--accept", ids(shell)["merge"])
    assert "2 changes, 1 accepted" in shell("consolidate", "--plan", path).out  # the decision is kept
    assert shell.json("consolidate", "--apply", path, "--yes")["made"][0]["kind"] == "merge"
    assert not os.path.exists(world.path("prefer-pnpm.md"))


def test_a_plan_file_that_is_applied_again_says_what_was_made_already(shell, world, tmp_path):
    path = f"{tmp_path}/plan.json"
    shell("consolidate", "--plan", path, "--accept", ids(shell)["merge"])
    shell("consolidate", "--apply", path, "--yes")
    before = world.files()
    done = shell("consolidate", "--apply", path, "--yes")
    assert "Made already: merge prefer-pnpm into pnpm-only." in done.err
    assert "changed since" not in done.err
    assert world.files() == before
    found = shell.json("consolidate", "--apply", path, "--yes")
    assert (len(found["made_already"]), found["refused"]) == (1, [])
    shell("undo", "--yes")
    assert shell.json("consolidate", "--apply", path, "--yes")["made"][0]["kind"] == "merge"


def test_a_merge_of_two_types_says_which_type_stays_and_at_the_end_what_was_dropped(shell, world):
    with open(world.path("prefer-pnpm.md"), "w") as file:
        file.write(PNPM.replace("type: feedback", "type: user"))
    shown = shell("consolidate").out
    assert "keeps “type: feedback”, not “user” (prefer-pnpm)" in " ".join(shown.split())
    assert "No statement is lost" in shown
    assert "is dropped" not in shown
    done = shell("consolidate", "--all", "--yes")
    assert "Dropped: 1 value of the field type." in " ".join(done.out.split())
    assert "may overlap more memories now: memtui consolidate" in " ".join(done.err.split())


@pytest.mark.parametrize("text", ["{broken", '{"format": "else"}'])
@pytest.mark.parametrize("option", ["--plan", "--apply"])
def test_a_file_that_is_no_plan_is_left_alone_with_advice_that_helps(shell, tmp_path, text, option):
    path = tmp_path / "plan.json"
    path.write_text(text)
    done = shell("consolidate", option, str(path), check=False)
    told = " ".join(done.err.split())
    assert "can't be used" in told
    assert "Correct the file, or remove it, or give `memtui consolidate --plan` another name." in told
    assert path.read_text() == text
    path.unlink()
    assert "2 changes" in shell("consolidate", "--plan", str(path)).out


def test_a_plan_for_a_directory_that_is_not_there_is_refused(shell, tmp_path):
    done = shell("consolidate", "--plan", f"{tmp_path}/nosuch/plan.json", check=False)
    assert done.code == 3
    assert f"There is no directory {tmp_path}/nosuch." in done.err
    assert not os.path.exists(f"{tmp_path}/nosuch")


@pytest.mark.parametrize("option", ["--accept", "--reject"])
def test_an_id_that_no_change_has_leads_to_those_there_are(shell, option):
    done = shell("consolidate", option, "zzzzzz", "--yes", check=False)
    assert (done.code, done.err.splitlines()[-1].strip()) == (3, "`memtui consolidate` lists the changes there are.")


def test_a_stale_plan_says_which_file_changed(shell, world, tmp_path):
    path = f"{tmp_path}/plan.json"
    shell("consolidate", "--plan", path, "--all")
    world.write("pnpm-only.md", AGAIN + "More.\n")
    done = shell("consolidate", "--apply", path, "--yes", check=False)
    assert done.code == 4
    assert "Not made (out of date): merge prefer-pnpm into pnpm-only." in done.err
    assert "pnpm-only.md changed since this was planned" in done.err.replace("\n", " ")
    assert "1 change made: 1 fixed" in done.out
    assert world.text("pnpm-only.md") == AGAIN + "More.\n"


def test_a_rejected_merge_is_not_proposed_again(shell, world):
    assert "1 pair of memories kept apart for good" in shell("consolidate", "--reject", ids(shell)["merge"]).out
    assert "merge" not in ids(shell)
    shell("undo")
    assert "merge" in ids(shell)


def test_every_kind_that_is_rejected_is_not_proposed_again_until_undo(shell):
    before = ids(shell)
    done = shell("consolidate", "--reject", before["relink"])
    assert "It is not proposed again." in done.out
    assert "relink" not in ids(shell)
    assert shell.json("consolidate", "--reject", before["merge"], "--yes")["rejected"][0]["kind"] == "merge"
    assert ids(shell) == {}
    shell("undo")
    shell("undo")
    assert ids(shell) == before


def test_what_is_rejected_in_a_file_is_open_there_again_after_undo(shell, tmp_path):
    path, before = f"{tmp_path}/plan.json", ids(shell)
    shell("consolidate", "--plan", path)
    shell("consolidate", "--apply", path, "--reject", before["relink"], "--accept", before["merge"], "--yes")
    assert decisions(path) == {"merge": "accepted", "relink": "rejected"}
    shell("undo")
    assert decisions(path) == {"merge": "accepted", "relink": "open"}
    assert ids(shell) == before


def test_what_was_rejected_before_is_not_rejected_again(shell, tmp_path):
    path, reject = f"{tmp_path}/plan.json", ids(shell)["merge"]
    shell("consolidate", "--plan", path)
    assert len(shell.json("consolidate", "--apply", path, "--reject", reject)["rejected"]) == 1
    again = shell.json("consolidate", "--apply", path, "--reject", reject)
    assert (again["rejected"], again["kept_apart"], again["undo"]) == ([], 0, None)


def decisions(path):
    with open(path) as file:
        return {each["kind"]: each["decision"] for each in json.load(file)["changes"]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("no json", "not JSON"),
        ('{"a": 1}', "no ChangeSet"),
        ('{"format": "memtui-changeset", "version": 9}', "version 9"),
    ],
)
def test_a_file_that_is_no_changeset_is_refused(shell, tmp_path, data, said):
    path = f"{tmp_path}/plan.json"
    with open(path, "w") as file:
        file.write(data)
    done = shell("consolidate", "--apply", path, "--yes", check=False)
    assert done.code == 2
    assert path in done.err
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_hostile_plan_changes_nothing(shell, world, tmp_path):
    path, victim = f"{tmp_path}/plan.json", f"{world.top}/.bashrc"
    shell("consolidate", "--plan", path, "--all")
    with open(path) as file:
        found = json.load(file)
    found["changes"][0]["outputs"][0]["path"] = victim
    with open(path, "w") as file:
        json.dump(found, file)
    before = world.files()
    done = shell("consolidate", "--apply", path, "--yes", check=False)
    assert done.code
    assert ".bashrc" in done.err
    assert world.files() == before


def test_a_secret_that_a_plan_brings_in_is_asked_about(shell, world, tmp_path):
    path = f"{tmp_path}/plan.json"
    shell("consolidate", "--plan", path, "--all")
    with open(path) as file:
        found = json.load(file)
    for each in found["changes"]:
        if each["kind"] == "merge":
            each["outputs"][0]["text"] += "\nThe key is ghp_" + "a1B2" * 9 + "\n"
    with open(path, "w") as file:
        json.dump(found, file)
    before = world.files()
    from memtui.cli.context import Context

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Context, "can_ask", True)
        done = shell("consolidate", "--apply", path, stdin="y\nn\n", check=False)
    assert "GitHub" in done.err
    assert world.files() == before


def test_one_scope_alone(shell, world):
    world.write(f"{world.everywhere}/stub.md", text_of("stub", "A stub", "TODO"))
    assert {each["kind"] for each in shell.json("consolidate", "--scope", "global")["changes"]} >= {"delete"}
    assert "delete" not in {each["kind"] for each in shell.json("consolidate", "--scope", "auto")["changes"]}
    assert shell("consolidate", "--scope", "nowhere", check=False).code == 3
    assert shell("consolidate", "--scope", "auto", "--apply", "x", check=False).code == 2


def test_an_id_that_is_none_is_said(shell):
    done = shell("consolidate", "--accept", "zzzzzz", check=False)
    assert done.code == 3
    assert "There is no change “zzzzzz”" in done.err


def test_words_that_differ_are_underlined(shell, world):
    shell.env["FORCE_COLOR"] = "1"
    world.write("here.md", text_of("here", "Now there", "Where it is."))  # the index has a line of another instead
    out = shell("consolidate").out
    assert "\x1b[31m-- [\x1b[0m\x1b[31;4mgone\x1b[0m" in out
    assert "\x1b[32m+- [\x1b[0m\x1b[32;4mhere\x1b[0m" in out


def test_what_was_made_is_listed_with_the_id_that_undo_takes(shell, world):
    assert "Nothing was consolidated yet." in shell("consolidate", "--applied").out
    before = world.files()
    shell("consolidate", "--accept", ids(shell)["merge"], "--yes")
    done = shell("consolidate", "--applied")
    (head, row) = done.out.splitlines()
    assert head.split() == ["ID", "AGE", "BY", "STATE", "CHANGE"]
    assert "merge " in row
    assert " into " in row
    assert "memtui undo ID" in done.err
    shell("undo", row.split()[0])
    assert world.files() == before
    (found,) = shell.json("consolidate", "--applied")["applied"]
    assert (found["state"], found["undoable"], found["op"]) == ("undone", False, "consolidate")
    assert shell("consolidate", "--applied", "--safe", check=False).code == 2
