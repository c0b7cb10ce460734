"""`memtui note`, as a monitor calls it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.base import paths_hot
from memtui.inbox import format_hot

LAUNCHER = Path(paths_hot.__file__).parents[1] / "hooks" / "launch.py"


def waiting(shell, everywhere=False):
    root = shell.env["HOME"] + "/.claude/memtui"
    slug = None if everywhere else paths_hot.project_key(shell.cwd)
    return format_hot.read(paths_hot.inbox_dir(root, slug) + "/guidance.md")


def test_a_delivered_note_stays_and_one_for_somebody_unknown_is_warned_of(memtui):
    refused = memtui("note", "--withdraw", "47CHDR", check=False)
    assert refused.code == 3
    assert "47CHDR was delivered 4d ago. See `memtui activity " in refused.err
    for to, why in (
        ("session:zzzz", "No session “zzzz” is known yet; the note waits for it."),
        ("session:d2f8", "No session “d2f8” is known yet"),
        ("session:a94d", "Session a94d0e7b belongs to"),
        ("agent:nobody", "Nothing was delivered to an agent “nobody” yet"),
    ):
        done = memtui("note", "hello", "--to", to, "--to", "path:src/**")
        assert why in done.err
        note = next(each for each in memtui.json("note", "--list")["entries"] if each["id"].endswith(done.out.strip()))
        assert f"memtui note --withdraw {note['id'][-6:]}" in done.err
        assert memtui.json("note", "hello", "--to", to)["unknown"][0]["address"].startswith(to)


def test_it_prints_the_id_and_says_nothing_else(bare, tmp_path):
    done = bare("note", "CI", "is", "red", "--from", "ci-watch", "--urgent", "--to", "path:src/**", "--expires", "2h")
    (entry,) = waiting(bare)
    assert (done.out, done.err) == (entry.id[-6:] + "\n", "")
    assert (entry.text, entry.fields["from"]) == ("CI is red", "ci-watch")
    assert (entry.fields["urgent"], entry.fields["for"]) == ("yes", "path:src/**")
    assert entry.fields["expires"] == "2026-11-21T11:00:00Z"
    bare("note", "one", "--expires", "never")
    assert "expires" not in waiting(bare)[1].fields
    for words in (["-"], []):
        bare("note", *words, stdin="first line\r\nzweite Zeile äöü 🎉\n\n")
    assert [each.text for each in waiting(bare)[2:]] == ["first line\nzweite Zeile äöü 🎉"] * 2
    bare("note", "hello", "--global")
    assert (len(waiting(bare)), waiting(bare, everywhere=True)[0].text) == (4, "hello")
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / "deep").mkdir()
    assert bare.json("note", "hello", "--project", str(other / "deep"))["project"] == str(other)


def test_whom_it_is_for_and_who_is_not_accepted(bare):
    for usual, to, address in (
        *((None, [], None), (None, ["people"], "people")),
        (None, ["path:src/**", "people", "people"], "path:src/**,people"),
        *((None, ["anyone"], None), ("people", [], "people"), ("people", ["anyone"], None)),
        ("people", ["agent:reviewer"], "agent:reviewer"),
        ("anyone", [], None),
    ):
        if usual:
            bare("config", "set", "note_to", usual)
        bare("note", "hello", *(word for each in to for word in ("--to", each)))
        assert waiting(bare)[-1].fields.get("for") == address
    for words in (["--to", "human"], ["--to", "people:me"], ["--to", "anyone", "--to", "people"]):
        done = bare("note", "hello", *words, check=False)
        assert done.code == 2
        assert "people" in done.err or "can't be combined" in done.err
    assert len(waiting(bare)) == 8
    done = bare("config", "set", "note_to", "me", check=False)
    assert done.code == 2
    assert "must be one of anyone, people, not “me”" in done.err


BAD = [
    *(([""], b""), (["  \n\t"], b""), ([], b""), (["-"], b"\0\1\2\3"), (["-"], b"\xff\xfe broken")),
    *((["a\0b"], b""), (["x" * 9000], b""), (["-"], b"x" * 2_000_000), (["🎉" * 4600], b"")),
    *((["hi", "--expires", "soon"], b""), (["hi", "--expires", "2020-01-01"], b"")),
    *((["hi", "--expires", "0h"], b""), (["hi", "--to", "everybody"], b""), (["hi", "--to", "session:"], b"")),
    *((["hi", "--to", "session:ab"], b""), (["hi", "--to", "path:a,b"], b"")),
    (["hi", "--to", "agent:a", "--to", "agent:b"], b""),
    *((["hi", "--from", ""], b""), (["hi", "--from", "x" * 100], b""), (["hi", "--nonsense"], b"")),
    (["hi", "--project", "/no/such/directory"], b""),
]


@pytest.mark.slow
def test_bad_input_is_one_clear_line_and_leaves_nothing(bare):
    for words, stdin in BAD:
        done = bare("note", *words, stdin=stdin, check=False)
        assert (done.code, done.out) == (2, ""), words
        assert done.err.count("\n") == 1
        assert done.err.startswith("memtui: ")
    assert waiting(bare) == []


def test_without_home_or_a_root_that_can_be_written_it_says_so(bare, tmp_path):
    (tmp_path / "file").write_text("")
    bare.env["MEMTUI_HOME"] = str(tmp_path / "file")
    done = bare("note", "hello", check=False)
    assert (done.code, done.err.count("\n")) == (1, 1)
    del bare.env["HOME"], bare.env["MEMTUI_HOME"]
    done = bare("note", "hello", check=False)
    assert done.code == 2
    assert "HOME" in done.err
    assert "CLAUDE_CONFIG_DIR" in done.err


def longest(shell):
    """The length up to which `guide` takes a note."""
    error = json.loads(shell("note", "x" * 12_000, "--json", check=False).out)["error"]["message"]
    return int(error.split(", and ")[1].split()[0].replace(",", ""))


@pytest.mark.parametrize("sender", ["cli", 'a <very> "odd" name & more'])
def test_what_it_accepts_the_hook_delivers_whole(bare, sender):
    size = longest(bare) - 2 * len(sender) - 60
    text = "x" * (size - 2) + "!y"
    bare("note", text, "--from", sender)
    payload = {"session_id": "11111111-2222", "cwd": bare.cwd, "hook_event_name": "UserPromptSubmit", "prompt": "hi"}
    command = [sys.executable, "-I", "-S", str(LAUNCHER), "UserPromptSubmit"]
    done = subprocess.run(
        command, input=json.dumps(payload), env={"HOME": bare.env["HOME"]}, capture_output=True, text=True
    )
    assert text in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert waiting(bare) == []


def test_guidance_can_be_withdrawn_and_it_says_when_nothing_delivers(bare):
    first = bare("note", "one").out.strip()
    bare("note", "two")
    bare("note", "--withdraw", first[-6:])
    assert [entry.text for entry in waiting(bare)] == ["two"]
    again = bare("note", "--withdraw", first[-6:], check=False).err
    assert f"{first[-6:]} is decided already, just now: withdraw “one”." in again
    assert "To undo that: memtui undo" in again
    bare("undo")
    assert [entry.text for entry in waiting(bare)] == ["one", "two"]
    assert bare.json("note", "hello")["unheard"] == {"why": "no hooks are installed", "do": "memtui setup hooks"}
    bare("setup", "hooks", "--yes")
    assert bare.json("note", "hello")["unheard"] is None
    bare("config", "set", "mode", "off")
    said = bare.json("note", "hello")["unheard"]
    assert said["why"] == "the mode is off here"
    bare(*said["do"].split()[1:])
    assert bare.json("note", "hello")["unheard"] is None


def test_approving_says_when_no_session_is_told(memtui):
    draft = next(
        e for e in memtui.json("inbox", "--kind", "drafts")["entries"] if e["fields"]["name"] == "metric-units"
    )
    memtui("setup", "hooks", "--yes")
    memtui("config", "set", "mode", "notes")
    done = memtui("approve", draft["id"])
    assert "no session gets it yet: memtui config set mode full --project ." in done.err
    memtui("undo")
    memtui("config", "set", "mode", "full")
    assert memtui.json("approve", draft["id"])["unheard"] is None


def test_approving_says_who_loads_the_memory_or_that_nobody_does(memtui, world):
    drafts = [e["id"] for e in memtui.json("inbox", "--kind", "drafts")["entries"]]
    memtui("setup", "hooks", "--yes")
    done = memtui("approve", drafts[0], "--scope", "auto")
    assert "Claude Code will load it from your next session in this project." in done.out
    assert memtui.json("approve", drafts[1], "--scope", "global")["approved"][0]["loaded_by"].startswith(
        "memtui delivers"
    )
    place = Path(world.shop) / ".claude" / "settings.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text('{"autoMemoryEnabled": false}')
    done = memtui("approve", drafts[2], "--scope", "auto")
    assert "Claude Code's own memory is off here" in done.err
    assert "by itself" not in done.out
    told = next(f for f in memtui.json("doctor", check=False)["findings"] if f["code"] == "client.memory_off")
    assert str(place) in told["message"]
    place.unlink()
    memtui.env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    assert memtui.json("approve", drafts[3], "--scope", "auto")["unheard"]["do"] == "memtui doctor"


def test_a_note_left_by_a_person_is_what_undo_takes_back(memtui):
    memtui("new", "before-the-note", "--type", "user", "--description", "d", "--body", "Text.")
    name = memtui.json("note", "look at the logs")["id"]
    assert name in memtui("note", "--list", "--json").out
    assert "look at the logs" in memtui("undo").out
    assert name not in memtui("note", "--list", "--json").out
    assert memtui("show", "before-the-note").code == 0
