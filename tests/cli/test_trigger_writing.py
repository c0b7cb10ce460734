"""`memtui model triggers`: a model writes lines, which are shown, kept with undo, and never taken from elsewhere."""

import json
import re
from pathlib import Path

import pytest

from e2e.model import Reply, use

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def homely(bare, api):
    """A home with memories, and a loopback model that writes two lines for each."""
    for name, text in (("use-pnpm", "Use pnpm 9 in the web repository."), ("ci", "Releases go through the pipeline.")):
        bare("new", name, "--scope", "global", "--description", f"About {name}", "--body", text)
    bare("new", "keys", "--scope", "global", "--yes", "--body", f"The token is {SECRET}.")
    bare("config", "set", "llm_backend", "api")
    bare.env |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
    api.script = lambda request: use("answer", notes=written(request))
    return bare


def written(request, lines=("how do I {}?", "About {}", f"why {SECRET} {{}}")):
    notes = [{"note": key, "lines": [each.format(title) for each in lines]} for key, title in request.notes().items()]
    return [*notes, {"note": "m99", "lines": ["a line for nobody"]}]


def kept(bare):
    rows = [bare.json("show", name) for name in bare("list", "--names", "--scope", "global").out.split()]
    return {
        row["name"]: [(each["text"], each["origin"]) for each in row["triggers"]] for row in rows if row["triggers"]
    }


def test_it_says_what_it_costs_and_asks_before_it_asks_a_model(homely, api):
    said = " ".join(homely("model", "triggers", "--all", "--dry-run").out.split())
    assert re.search(r"2 memories: 1 request to claude-haiku-5-5, about [\d,]+ tokens, up to \$0", said)
    assert "may contain a secret: keys" in said
    done = homely("model", "triggers", "--all", check=False)
    assert "No model was asked" in done.err
    assert api.requests == []


@pytest.mark.slow
def test_lines_are_kept_beside_the_memories_as_one_step_of_undo(homely, api):
    homely("edit", "ci", "--trigger", "put it live")
    said = homely("model", "triggers", "--all", "--yes").out
    assert "Kept 2 lines of 2 memories." in said
    lines = {
        "use-pnpm": [("how do I use-pnpm?", "model")],
        "ci": [("put it live", "person"), ("how do I ci?", "model")],
    }
    assert kept(homely) == lines
    assert SECRET not in json.dumps([each.body for each in api.requests])
    assert homely.json("model", "triggers", "--all", "--yes")["memories"] == 0
    assert len(api.requests) == 1
    homely("undo")
    assert kept(homely) == {"ci": [("put it live", "person")]}


@pytest.mark.slow
def test_a_named_memory_gets_other_lines_and_what_a_person_removed_does_not_come_back(homely, api):
    homely("model", "triggers", "ci", "--yes")
    api.script = lambda request: use("answer", notes=written(request, ("how do I {}?", "which job ships {}?")))
    homely("edit", "ci", "--no-trigger", "1")
    found = homely.json("model", "triggers", "ci", "--yes")["written"]
    assert [each["triggers"] for each in found] == [["which job ships ci?"]]
    assert kept(homely) == {"ci": [("which job ships ci?", "model")]}
    assert homely.json("model", "triggers", "--all", "--yes", "--dry-run")["memories"] == 1


@pytest.mark.slow
def test_a_dream_that_nobody_watches_writes_lines_too(homely, api):
    api.script = dreaming
    assert homely.json("consolidate", "--ask-model", "--unattended")["triggers"] == 2
    assert set(kept(homely)) == {"use-pnpm", "ci"}


def dreaming(request):
    if "You write triggers" in request.text():
        return use("answer", notes=written(request))
    return use("answer", actions=[])


@pytest.mark.slow
def test_a_dream_writes_lines_after_its_proposals_and_says_so_before_and_after(homely, api):
    api.script = dreaming
    about = r"Triggers of 2 memories: 1 request to claude-haiku-5-5, about [\d,]+ tokens, up to \$0"
    assert re.search(about, " ".join(homely("consolidate", "--ask-model", "--dry-run").out.split()))
    assert homely.json("consolidate", "--ask-model", "--dry-run")["triggers_estimate"]["memories"] == 2
    assert "No model was asked" in homely("consolidate", "--ask-model", check=False).err
    assert api.requests == []
    done = homely("consolidate", "--ask-model", "--yes")
    assert "Wrote 2 triggers of 2 memories" in " ".join(done.out.split())
    assert "Used: " in done.out
    assert set(kept(homely)) == {"use-pnpm", "ci"}
    again = homely.json("consolidate", "--ask-model", "--yes")
    assert (again["triggers"], again["triggers_estimate"]["requests"]) == (0, 0)
    assert sum("You write triggers" in each.text() for each in api.requests) == 1
    homely("undo")
    assert kept(homely) == {}
    assert "Triggers of" not in homely("consolidate", "--ask-model", "--dry-run", "--scope", "auto", check=False).out


@pytest.mark.slow
def test_a_dream_whose_triggers_fail_keeps_its_proposals_and_says_so(homely, api):
    def script(request):
        if "You write triggers" in request.text():
            return Reply([], status=401, error="authentication_error")
        return use("answer", actions=[])

    api.script = script
    done = homely("consolidate", "--ask-model", "--yes", check=False)
    assert done.code == 1
    assert "ANTHROPIC_API_KEY" in done.out
    assert kept(homely) == {}


def test_without_a_model_a_dream_writes_none_and_says_so(homely, api):
    homely("config", "set", "llm_backend", "off")
    said = " ".join(homely("consolidate", "--ask-model", "--dry-run").out.split())
    assert "proposes what check finds, and writes no triggers" in said
    assert "triggers" not in homely.json("consolidate", "--ask-model")
    assert api.requests == []


@pytest.mark.parametrize("words", [(), ("ci", "--all"), ("--dry-run",)])
def test_wrong_words_ask_nobody(homely, api, words):
    assert homely("model", "triggers", *words, check=False).code == 2
    assert api.requests == []


def test_without_a_model_it_says_how_to_choose_one(bare):
    bare("new", "a", "--scope", "global", "--body", "Text.")
    done = bare("model", "triggers", "--all", check=False)
    assert done.code == 1
    assert "llm_backend" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("file", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize("name", ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "HTTPS_PROXY", "PATH"])
@pytest.mark.parametrize(
    "command", ["model triggers --all --yes", "consolidate --ask-model --yes", "consolidate --ask-model --unattended"]
)
def test_no_memory_is_sent_where_a_repository_says(homely, api, tmp_path, file, name, command):
    """As in a session of the project: what its settings set is in the environment of whatever the session starts."""
    settings = Path(homely.cwd) / ".claude" / file
    settings.parent.mkdir(parents=True, exist_ok=True)
    homely.env.setdefault(name, "http://127.0.0.1:1")
    settings.write_text(json.dumps({"env": {name: homely.env[name]}}))
    done = homely(*command.split(), check=False)
    assert (done.code, api.requests) == (1, [])
    assert f"{settings} sets {name}, so no model is asked here" in " ".join(done.err.split())
    assert f"Take {name} out of that file." in " ".join(done.err.split())


def test_what_a_repository_sets_and_no_session_handed_on_is_no_reason_to_refuse(homely, api):
    settings = Path(homely.cwd) / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": "t", "EDITOR": "vi"}}))
    homely.env["EDITOR"] = "vi"
    homely("model", "triggers", "--all", "--yes")
    assert len(api.requests) == 1
