"""`memtui triggers --write`: a model writes lines, which are shown, kept with undo, and never taken from elsewhere."""

import json
import re

import pytest

from e2e.model import use

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
    rows = bare.json("triggers")["memories"]
    return {row["name"]: [(each["text"], each["origin"]) for each in row["triggers"]] for row in rows}


def test_it_says_what_it_costs_and_asks_before_it_asks_a_model(homely, api):
    said = " ".join(homely("triggers", "--write", "--all", "--dry-run").out.split())
    assert re.search(r"2 memories: 1 request to claude-haiku-5-5, about [\d,]+ tokens, up to \$0", said)
    assert "may contain a secret: keys" in said
    done = homely("triggers", "--write", "--all", check=False)
    assert "No model was asked" in done.err
    assert api.requests == []


@pytest.mark.slow
def test_lines_are_kept_beside_the_memories_as_one_step_of_undo(homely, api):
    homely("triggers", "ci", "--add", "put it live")
    said = homely("triggers", "--write", "--all", "--yes").out
    assert "Kept 2 lines of 2 memories." in said
    lines = {
        "use-pnpm": [("how do I use-pnpm?", "model")],
        "ci": [("put it live", "person"), ("how do I ci?", "model")],
    }
    assert kept(homely) == lines
    assert SECRET not in json.dumps([each.body for each in api.requests])
    assert homely.json("triggers", "--write", "--all", "--yes")["memories"] == 0
    assert len(api.requests) == 1
    homely("undo")
    assert kept(homely) == {"ci": [("put it live", "person")]}


@pytest.mark.slow
def test_a_named_memory_gets_other_lines_and_what_a_person_removed_does_not_come_back(homely, api):
    homely("triggers", "--write", "ci", "--yes")
    api.script = lambda request: use("answer", notes=written(request, ("how do I {}?", "which job ships {}?")))
    homely("triggers", "ci", "--remove", "1")
    found = homely.json("triggers", "--write", "ci", "--yes")["written"]
    assert [each["triggers"] for each in found] == [["which job ships ci?"]]
    assert kept(homely) == {"ci": [("which job ships ci?", "model")]}
    assert homely.json("triggers", "--write", "--all", "--yes", "--dry-run")["memories"] == 1


@pytest.mark.slow
def test_a_dream_that_nobody_watches_writes_lines_too(homely, api):
    def script(request):
        if request.notes() and "You write triggers" in request.text():
            return use("answer", notes=written(request))
        return use("answer", actions=[])

    api.script = script
    assert homely.json("dream", "--unattended")["triggers"] == 2
    assert set(kept(homely)) == {"use-pnpm", "ci"}


@pytest.mark.parametrize(
    "words", [("--write",), ("--write", "ci", "--all"), ("--all",), ("--write", "ci", "--add", "x")]
)
def test_wrong_words_ask_nobody(homely, api, words):
    assert homely("triggers", *words, check=False).code == 2
    assert api.requests == []


def test_without_a_model_it_says_how_to_choose_one(bare):
    bare("new", "a", "--scope", "global", "--body", "Text.")
    done = bare("triggers", "--write", "--all", check=False)
    assert done.code == 1
    assert "llm_backend" in done.err
