"""A model selects memories for a prompt, in the background: what it sees, and what becomes of its answer."""

import json

import pytest

from e2e.model import Reply, say, use
from memtui.base import clock_hot, ids_hot, session_state_hot
from memtui.models import log, selection
from memtui.recall import places_hot, selection_state_hot
from memtui.store import trust_grants
from memtui.worker import index_updates

PROMPT = "please put the new version of the shop live for everybody"
SECRET = "ghp_" + "wJ4kQ9z" * 5 + "x"


class Asked:
    """A session that has asked for a selection."""

    def __init__(self, base, api, lines=('llm_backend = "api"',)):
        self.api, self.base = api, base
        self.root = str(base / "memtui")
        (base / "memtui").mkdir()
        (base / "memtui" / "config.toml").write_text("\n".join(lines) + "\n")
        (base / "shop" / ".git").mkdir(parents=True)
        self.env = {
            "HOME": str(base),
            "CLAUDE_CONFIG_DIR": str(base / "config"),
            "MEMTUI_HOME": self.root,
            "ANTHROPIC_API_KEY": "sk-loopback",
            "ANTHROPIC_BASE_URL": api.url,
        }
        self.memories = base / "config" / "memory"
        self.memories.mkdir(parents=True)
        self.write("cicd", "CI/CD considerations", "Tag, then approve.", "triggers:\n  - when a release is due")
        self.write("coffee", "The machine on the second floor", "It needs descaling.")
        self.key = selection_state_hot.begin(self.root, "s1", PROMPT, clock_hot.now())

    def write(self, name, description, body, *more):
        lines = ["---", f"name: {name}", f"description: {description}", *more, "---", body, ""]
        (self.memories / f"{name}.md").write_text("\n".join(lines))

    def run(self, *answers, prompt=PROMPT, records=()):
        index_updates.update(self.root, places_hot.of_session(self.env, str(self.base / "shop")))
        self.api.will(*answers)
        transcript = self.base / "s1.jsonl"
        transcript.write_text("".join(json.dumps(record) + "\n" for record in records))
        payload = {"session_id": "s1", "cwd": str(self.base / "shop"), "prompt": prompt, "select": self.key}
        selection.run(self.env, {**payload, "transcript_path": str(transcript)})
        return self.names

    @property
    def names(self):
        rows = session_state_hot.load_part(self.root, "s1", "selected").get(self.key, [])
        return [row[2] for row in rows]

    @property
    def calls(self):
        return [(each.purpose, each.outcome) for each in log.newest_first(self.root)]


@pytest.fixture
def asked(tmp_path, api):
    return Asked(tmp_path, api)


def test_a_catalogue_goes_out_and_names_come_back_without_invented_ones(asked, api):
    def answer(request):
        listed = [line[2:].partition(":")[0] for line in request.text().splitlines() if line.startswith("- m")]
        return use("answer", notes=["m99 nothing.md", next(each for each in listed if "cicd" in each), "poem.md"])

    api.script = answer
    asked.run()
    assert asked.names == ["cicd.md"]
    (request,) = api.requests
    text = request.text()
    for told in ("CI/CD considerations", "when a release is due", "The machine on the second floor", PROMPT):
        assert told in text
    assert "Tag, then approve." not in text
    assert "<memtui-notes>" in text
    assert asked.calls == [("recall", "ok")]


def test_what_is_no_longer_trusted_or_leads_elsewhere_is_not_sent(asked):
    memories = asked.base / "shop" / ".claude" / "memory"
    memories.mkdir(parents=True)
    (memories / "release.md").write_text("---\ndescription: Put the shop live\n---\nTag it.\n")
    trust_grants.grant(asked.root, str(memories))
    where = places_hot.of_session(asked.env, str(asked.base / "shop"))
    index_updates.update(asked.root, where)

    def told():
        return [each.description for each in selection.catalogue(asked.root, where, PROMPT, clock_hot.now())]

    assert "Put the shop live" in told()
    (memories / "release.md").write_text("---\ndescription: Put the keys online\n---\nTag it.\n")
    assert not any("keys" in each for each in told())
    (asked.base / "diary.md").write_text("---\ndescription: Dear diary\n---\n")
    (asked.memories / "coffee.md").unlink()
    (asked.memories / "coffee.md").symlink_to(asked.base / "diary.md")
    assert told() == ["CI/CD considerations"]


def test_no_secret_is_sent(asked, api):
    asked.write("keys", "The key of the deployment", f"It is {SECRET}.")
    asked.run(use("answer", notes=[]), prompt=f"{PROMPT} with {SECRET}")
    (request,) = api.requests
    assert SECRET not in request.text()
    assert "The key of the deployment" not in request.text()
    assert asked.names == []


@pytest.mark.parametrize("answer", [say("I would rather not."), use("answer", notes="cicd"), Reply([], status=400)])
def test_without_an_answer_of_the_schema_nothing_is_selected(asked, answer):
    assert (asked.run(answer), len(asked.calls)) == ([], 1)


def test_an_answer_to_an_earlier_prompt_is_dropped(asked, api):
    def answer(_):
        selection_state_hot.begin(asked.root, "s1", "rename the columns of the report", clock_hot.now())
        return use("answer", notes=["m1 cicd.md", "m2 cicd.md"])

    api.script = answer
    assert (asked.run(), asked.calls) == ([], [("recall", "cancelled")])


def test_where_no_model_may_be_asked_nothing_is_sent(tmp_path, api):
    assert Asked(tmp_path, api, lines=("recall_select = true",)).run() == []
    assert api.requests == []


def said(who, text, **more):
    return {"type": who, "message": {"role": who, "content": [{"type": "text", "text": text}]}, **more}


def test_the_last_turns_go_along_without_secrets(asked, api):
    records = [
        said("user", "Where is the plan of the week?"),
        said("user", f"Log in with {SECRET} and tag the first shop."),
        said("assistant", "The first shop is tagged."),
        said("user", PROMPT),
        said("assistant", "I begin."),
    ]
    asked.run(use("answer", notes=[]), records=records)
    (request,) = api.requests
    text = request.text()
    before = text[text.index("</memtui-notes>") : text.index("<memtui-prompt>")]
    parts = [("person", "Where is the plan"), ("person", "tag the first shop"), ("agent", "The first shop is tagged.")]
    places = [before.index(words) for _, words in parts]
    assert places == sorted(places)
    assert [before.count(f"<memtui-{who}>") for who in ("person", "agent")] == [2, 1]
    assert SECRET not in text
    assert "I begin." not in text


def test_two_answers_stand_side_by_side_until_a_hook_takes_them(asked, api):
    asked.run(use("answer", notes=["m1 cicd.md"]))
    first = asked.key
    asked.key = selection_state_hot.begin(asked.root, "s1", "is everybody told of it?", clock_hot.now())
    asked.run(use("answer", notes=["m2 coffee.md"]), prompt="is everybody told of it?")
    assert {first, asked.key} <= session_state_hot.load_part(asked.root, "s1", "selected").keys()
    rows = selection_state_hot.take(asked.root, "s1")
    assert [row[3] for row in rows] == [selection_state_hot.REASON, selection_state_hot.REASON_BEFORE]
    assert selection_state_hot.take(asked.root, "s1") == []


def test_what_changed_since_it_was_selected_is_not_taken(tmp_path):
    root, memory = str(tmp_path), tmp_path / "cicd.md"
    memory.write_text("Tag, then approve.")
    key = selection_state_hot.begin(root, "s1", PROMPT, clock_hot.now())
    row = ["global", root, memory.name, ids_hot.digest(memory.read_bytes())]

    def take():
        session_state_hot.save_part(root, "s1", selection_state_hot.ANSWERED, {key: [row]})
        return selection_state_hot.take(root, "s1")

    assert take() == [("global", root, memory.name, selection_state_hot.REASON)]
    memory.write_text("Approve, then tag.")
    assert take() == []
    memory.unlink()
    assert take() == []
