"""The doctor names each thing that is wrong, and says how to fix it."""

import json
import os
from pathlib import Path

import pytest

from memtui.base import clock_hot, findings, fs_hot, ids_hot, paths_hot
from memtui.base.finding import OK, PROBLEM
from memtui.inbox import file_hot
from memtui.store import trust_grants, trust_hot
from memtui.store.store import Store
from memtui.tidy.checks import doctor, fixes

NOW = clock_hot.parse("2026-11-21T09:00:00Z")


class Machine:
    """A machine where all is well, to be broken."""

    def __init__(self, top):
        self.home = top / "home"
        self.repo = top / "repo"
        self.env = {"HOME": str(self.home)}
        self.root = self.home / ".claude/memtui"
        (self.repo / ".git").mkdir(parents=True)
        memory = self.repo / ".claude/memory"
        memory.mkdir(parents=True)
        (memory / "a.md").write_text("---\nname: a\ndescription: A\n---\n\nA.\n")
        (memory / "MEMORY.md").write_text("- [a](a.md) — A\n")
        trust_grants.grant(str(self.root), str(memory))
        self.memory = memory
        self.guide("hello")

    @property
    def slug(self):
        return paths_hot.project_key(str(self.repo))

    def guide(self, text, slug=None, **fields):
        file_hot.add_entry(paths_hot.inbox_dir(str(self.root), slug), "guidance", fields, text)

    def check(self):
        return doctor.check(self.env, str(self.repo), NOW)

    def problems(self):
        return [(f.area, findings.message(f), findings.remedy(f)) for f in self.check() if f.level == PROBLEM]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def only(machine, area, *words):
    """The one problem there is; it is about `area`, holds these words, and says what to do."""
    ((found, message, remedy),) = machine.problems()
    assert found == area
    for word in words:
        assert word in message + remedy
    assert remedy


def test_nothing_is_wrong_where_nothing_is_but_files_open_to_others(machine):
    assert {finding.level for finding in machine.check()} == {OK}
    areas = {"root", "config", "errors", "inbox", "memories", "trust", "journal", "kept"}
    assert {finding.area for finding in machine.check()} == areas
    os.chmod(machine.root / "global/guidance.md", 0o644)
    assert machine.problems() == [], "nobody else comes so far, and `echo >> guidance.md` is a way to leave a note"
    os.chmod(machine.root, 0o711)
    only(machine, "root", "global/guidance.md", "chmod")


def test_read_only_objects_of_git_are_no_problem_and_stay_as_they_are(machine):
    path = machine.root / "sync/own/repo.git/objects/8f/3664"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x")
    path.chmod(0o444)
    assert machine.problems() == []
    fixes.fix(Store(machine.env, str(machine.repo)), "files")
    assert path.stat().st_mode & 0o777 == 0o444


@pytest.mark.usefixtures("as_a_user")
def test_a_root_that_can_not_be_written(machine):
    os.chmod(machine.root, 0o500)
    try:
        assert any("not writable" in message for _, message, _ in machine.problems())
    finally:
        os.chmod(machine.root, 0o700)


def test_settings_that_are_wrong_or_ask_a_model_that_may_not_be_asked(machine):
    for text, words in (
        ("mode = \n", "can't be read"),
        ("budgte = 9000\n", "Did you mean budget"),
        ("budget = 20000\n", "budget must be between"),
        ('[projects."/no/such"]\nmodee = "off"\n', "Did you mean mode"),
        ('[projects."/no/such"]\nbudget = 900\n', "can't be set for one project"),
        ('[projects."shop"]\nmode = "off"\n', "absolute path"),
    ):
        fs_hot.write_atomic(f"{machine.root}/config.toml", text.encode())
        only(machine, "config", words, f"Edit {machine.root}/config.toml")
    config = f"{machine.root}/config.toml"
    for line in ("recall_select = true", 'subconscious = "full"'):
        for backend, sentences in (("off", 1), ("api", 0)):
            fs_hot.write_atomic(config, f'{line}\nllm_backend = "{backend}"\n'.encode())
            said = [findings.message(finding) for finding in machine.check() if finding.code == "config.no_model"]
            name = line.partition(" ")[0]
            assert said == [f"{name} is on, but llm_backend is off, so no model is asked."] * sentences


def test_guidance_that_nobody_will_get_or_that_holds_a_secret(machine):
    path = f"{machine.root}/projects/{machine.slug}/guidance.md"
    fs_hot.append(path, b"The database wants password=hunter2 now.\n")
    only(machine, "inbox", "for repo seems to contain a password", "memtui note --withdraw")
    os.unlink(path)
    machine.guide("The database wants password=hunter2 now.", slug=machine.slug, **{"from": "cli"})  # was asked about
    assert machine.problems() == []
    for fields, words in (
        ({"expires": "2026-11-20"}, "expired"),
        ({"expires": "tomorrow"}, "“tomorrow” is not a time"),
        ({"attempts": "3"}, "came back 3 times"),
        ({"for": "agnet:bob"}, "“agnet:bob”"),
        ({"for": "agent:bob, session:ab"}, "“session:ab”"),
        ({"for": "path:"}, "“path:”"),
    ):
        machine.guide("old", slug=machine.slug, **fields)
        only(machine, "inbox", words, "“old” for repo", "memtui note --withdraw")
        os.unlink(path)
    machine.guide("x" * 9000, slug=machine.slug)
    only(machine, "inbox", "too long")


@pytest.mark.large
def test_an_inbox_that_is_too_large(machine):
    fs_hot.append(f"{machine.root}/projects/{machine.slug}/pending-items.md", b"- item\n" * 200_000)
    only(machine, "inbox", "larger than")


def stuck_claim(machine):
    fs_hot.write_atomic(f"{machine.root}/global/claimed/{ids_hot.new_id(NOW - 86400)}~session~1.md", b"note\n")


def hidden_text(machine):
    hidden = "".join(chr(0xE0100 + byte) for byte in b"obey")
    (machine.memory / "a.md").write_text(f"---\nname: a\ndescription: A\n---\n\nUse pnpm.{hidden}\n")
    trust_grants.grant(str(machine.root), str(machine.memory))


@pytest.mark.parametrize(
    ("harm", "area", "words"),
    [
        (stuck_claim, "inbox", ["not known whether"]),
        (hidden_text, "memories", ["a has 4 invisible characters", "editor", "a.md"]),
        (
            lambda machine: (machine.memory / "b.md").symlink_to("/etc/hosts"),
            "memories",
            ["b is not read", "Remove the link."],
        ),
    ],
)
def test_a_stuck_claim_hidden_text_and_a_link_out_of_the_scope(machine, harm, area, words):
    harm(machine)
    only(machine, area, *words)


def test_a_check_that_fails_itself_hides_no_other(machine, monkeypatch):
    def fails(_root):
        raise OSError(5, "I/O error")
        yield

    monkeypatch.setattr(doctor, "unfinished", fails)
    only(machine, "journal", "I/O error")


def test_a_torn_journal_is_a_fact_and_a_torn_trust_file_a_problem(machine):
    fs_hot.append(f"{machine.root}/journal.jsonl", json.dumps({"v": 1}).encode() + b"\n")
    assert [f.level for f in machine.check() if f.area == "journal"] == ["ok"]
    Path(trust_hot.path(str(machine.root))).write_text("{torn")
    assert any("no memory of a repository is trusted" in message for _, message, _ in machine.problems())
