"""Two machines with homes of their own sync their memories over a bare repository."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.client import locate_hot
from memtui.inbox import drafts, file_hot, format_hot
from memtui.review import entries
from memtui.review.waiting_entries import waiting_in
from memtui.store import sidecars
from memtui.store.journal import undo
from memtui.store.journal.journal import Journal
from memtui.sync import local, membership, quick, repository, sync
from memtui.views import query, setup
from waiting import eventually

MEMORY = "---\nname: {0}\ndescription: About {0}\ntype: feedback\n---\n\n{1}\n"


class Machine:
    """A home with global memories and a clone of a project."""

    def __init__(self, base, name, url):
        self.name, self.home = name, base / name
        self.shop = self.home / "src" / "shop"
        (self.shop / ".git").mkdir(parents=True)
        (self.shop / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.org:you/shop.git\n')
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.root = paths_hot.root(self.env)
        auto = self.home / ".claude" / "projects" / paths_hot.slug(str(self.shop))
        (auto / "memory").mkdir(parents=True)
        (auto / "s.jsonl").write_text(json.dumps({"type": "user", "cwd": str(self.shop)}) + "\n")
        self.directories = {"global": self.home / ".claude" / "memory", "auto": auto / "memory"}
        self.state = membership.join(self.root, str(url), name) if url else None

    def write(self, name, text, scope="global", listed=True):
        directory = self.directories[scope]
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.md").write_text(MEMORY.format(name, text))
        index = directory / "MEMORY.md"
        row = f"- [{name}]({name}.md) - about\n"
        if listed and row not in (index.read_text() if index.exists() else ""):
            index.write_text((index.read_text() if index.exists() else "") + row)

    def text(self, name, scope="global"):
        path = self.directories[scope] / f"{name}.md"
        return path.read_text() if path.exists() else None

    def sync(self, **more):
        return sync.run(self.env, sync.load(self.root), 1.0, **more)

    def beside(self, kind, file="", *texts):
        """Give a global memory rows beside it; return the texts of all."""
        place = str(self.directories["global"])
        if file:
            rows = {text: {"text": text, "origin": "person", "terms": []} for text in texts}
            Journal(self.root).run("test", sidecars.edit(self.root, kind, place, file, rows), "x")
        return {name: list(entries) for name, entries in sidecars.rows(self.root, kind, place).items()}

    @property
    def key(self):
        return paths_hot.project_key(str(self.shop))

    def notes(self, each=lambda entry: entry.text):
        """What waits for sessions here: of every project, then of this one."""
        paths = [f"{paths_hot.inbox_dir(self.root, project)}/guidance.md" for project in (None, self.key)]
        return [each(entry) if each else entry for path in paths for entry in format_hot.read(path)]

    def drafts(self):
        return format_hot.read(f"{paths_hot.inbox_dir(self.root, None)}/pending-updates.md")


def sync_all(*machines):
    for machine in machines:
        machine.sync()


@pytest.fixture
def both(tmp_path, remote):
    return Machine(tmp_path, "laptop", remote), Machine(tmp_path, "desktop", remote)


@pytest.mark.slow
def test_memories_reach_the_other_machine_and_one_undo_takes_them_back(both):
    laptop, desktop = both
    laptop.write("ship", "Ship on Tuesdays.")
    laptop.write("shop", "Of this project.", "auto")
    assert [path for path in laptop.sync().went if "MEMORY" not in path] == [
        "global/ship.md", "projects/example.org+you+shop/shop.md",
    ]  # fmt: skip
    outcome = desktop.sync()
    assert len(outcome.came) == 4
    assert desktop.text("ship") == laptop.text("ship")
    assert desktop.text("shop", "auto") == laptop.text("shop", "auto")
    assert (desktop.directories["global"] / "MEMORY.md").read_text() == "- [ship](ship.md) - about\n"
    again = desktop.sync()
    assert (again.came, again.went) == ([], [])
    paths = [
        ("from", str(desktop.directories[scope] / name)) for scope, name in (("global", "ship.md"), ("auto", "shop.md"))
    ]
    assert set(paths) <= query.memories("from:lap").marked(desktop.root, [])
    desktop.write("ship", "Ship on Mondays.")
    sync_all(desktop, laptop)
    for machine in both:  # on each of them
        assert query.choices([], [], "", machine.root)["from"] == ["desktop", "laptop"]
    assert paths[0] in query.memories("from:desktop").marked(desktop.root, [])
    assert paths[0] not in query.memories("from:laptop").marked(desktop.root, [])
    rows = sync.machines(laptop.env, laptop.root, sync.load(laptop.root))
    assert [row[:1] + row[3:6] for row in rows] == [("laptop", 0, 0, 0), ("desktop", None, 0, None)]
    laptop.write("shop", "Ship on Fridays.", "auto")
    laptop.write("ship", "Ship on Fridays.")
    with Journal(laptop.root).locked():
        assert sync.machines(laptop.env, laptop.root, sync.load(laptop.root))[0].ahead == 2
    with fs_hot.Lock(laptop.root + "/run/sync.lock", 0.0):  # then no figure is read halfway
        own, _ = sync.machines(laptop.env, laptop.root, sync.load(laptop.root))
        assert setup.machine(own, own.time + 7200.0).endswith(" · sent about 2h ago · a sync is running")
    laptop.sync()
    own, other = sync.machines(laptop.env, laptop.root, sync.load(laptop.root))
    assert (own.ahead, setup.machine(own, own.time + 7200.0)[-52:], other.behind) == (
        0, "sent about 2h ago · 0 ahead · 0 behind · 0 held back", 2,
    )  # fmt: skip
    desktop.sync()  # one that only receives tells what it has once a day
    sync.run(laptop.env, sync.load(laptop.root), 2.0)
    assert sync.machines(laptop.env, laptop.root, sync.load(laptop.root))[1].behind == 2
    laptop.write("ship", "Ship on Saturdays.")
    laptop.sync()
    for _ in "at once", "and once":
        sync.run(desktop.env, sync.load(desktop.root), 90_000.0)
        came = laptop.sync()
        assert (came.came, sync.machines(laptop.env, laptop.root, sync.load(laptop.root))[1].behind) == ([], 0)


@pytest.mark.every(step=1)
def test_a_sync_without_changes_only_asks_the_remote(both, monkeypatch):
    laptop, desktop = both
    laptop.write("ship", "Ship on Tuesdays.")
    laptop.sync()
    assert not quick.is_done(laptop.env, 1.0)  # so new that its times may not tell
    monkeypatch.setattr(quick, "TICK", 0.0)
    # One that an agent removes meanwhile.
    monkeypatch.setattr(locate_hot, "walk", lambda top, walk=locate_hot.walk: [*walk(top), ("gone.md", "")])
    laptop.sync()
    assert desktop.sync(dry_run=True).came == ["global/MEMORY.md", "global/ship.md"]
    assert desktop.text("ship") is None
    monkeypatch.setattr(repository.Remote, "fetch", None)
    assert quick.is_done(laptop.env, 5.0)
    assert sync.load(laptop.root).time == 5.0
    assert not quick.is_done(laptop.env, 5.0 + 86_400)  # once a day all is read
    with monkeypatch.context() as patch:
        patch.setattr(repository.Remote, "heads", None)
        assert quick.is_done(laptop.env, 6.0, quick.PAUSE)  # it was asked a second ago
        laptop.write("ship", "Ship on Tuesday.")
        assert not quick.is_done(laptop.env, 6.0, quick.PAUSE)  # but what changed here goes at once
    laptop.write("ship", "Ship on Tuesdays.")
    monkeypatch.undo()
    desktop.write("other", "Other.")
    desktop.sync()
    assert not quick.is_done(laptop.env, 6.0)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["Ship on Mondays|Ship on Sundays", "Mondays, after lunch|Ask Jo: Sundays"])
def test_what_both_changed_is_asked_on_both_and_decided_once(both, words):
    laptop, desktop = both
    laptop.write("ship", "Ship on Tuesdays.")
    sync_all(laptop, desktop)
    for machine, text in zip(both, words.split("|"), strict=True):
        machine.write("ship", text)
    laptop.sync()
    outcome = desktop.sync()
    assert len(outcome.conflicts) == 1
    assert laptop.sync().conflicts == outcome.conflicts
    assert len([*laptop.directories["global"].iterdir(), *desktop.directories["global"].iterdir()]) == 4
    assert laptop.text("ship") == desktop.text("ship")
    stands = "Mondays" if "Mondays" in laptop.text("ship") else "Sundays"
    (draft,), (other,) = laptop.drafts(), desktop.drafts()
    assert {"Mondays", "Sundays"} - {stands} == {word for word in ("Mondays", "Sundays") if word in draft.text}
    assert other.text == draft.text
    assert draft.fields["from"] == ("machine:desktop" if stands == "Mondays" else "machine:laptop")
    assert (draft.fields["replaces"], draft.fields["kind"]) == ("ship.md", "rewrite")
    path = Path(paths_hot.inbox_dir(laptop.root, None), "pending-updates.md")
    for source, texts in ("x" * format_hot.MAX_BYTES + path.read_text(), [draft.text]), ("", []):
        path.write_text(source)  # too long to be read; then decided there
        sync_all(*both)
        assert [entry.text for entry in desktop.drafts()] == texts


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1])
def test_the_text_of_the_machine_that_changed_more_stands_in_any_order(both, first):
    laptop, desktop = both
    laptop.write("ship", "Ship on Tuesdays.")
    sync_all(laptop, desktop)
    laptop.write("ship", "Ship on Mondays.")
    desktop.write("ship", "Ship on Sundays.")
    desktop.write("other", "Text.")
    os.utime(laptop.directories["global"] / "ship.md", (2e9, 2e9))  # a clock years ahead
    sync_all(both[first], both[1 - first], both[first])
    membership.leave(laptop.root)
    membership.join(laptop.root, laptop.state.url)
    laptop.sync()  # nothing is asked twice
    for machine in both:
        assert "Sundays" in machine.text("ship")
        assert ["Mondays" in draft.text for draft in machine.drafts()] == [True]
    membership.leave(laptop.root)
    (laptop.directories["global"] / "ship.md").unlink()  # for it alone, as it is away
    review = entries.Review(desktop.root)
    review.reject(waiting_in(desktop.root, [None], ["updates"]))
    desktop.sync()
    membership.join(laptop.root, laptop.state.url)
    laptop.sync()
    assert laptop.drafts() == []  # what was decided while it was away
    desktop.sync()
    assert laptop.text("ship") == desktop.text("ship")


@pytest.mark.every(step=1)
def test_triggers_and_muted_prompts_follow_their_memory(both):
    laptop, desktop = both
    laptop.write("ship", "Ship on Tuesdays.")
    laptop.beside("triggers", "ship.md", "put it live", "release it")
    laptop.beside("mutes", "ship.md", "every prompt")
    laptop.beside("triggers", "gone.md", "of no memory")
    laptop.sync()
    assert desktop.sync().came == [
        "global/MEMORY.md", "global/ship.md", "mutes/global.jsonl", "triggers/global.jsonl",
    ]  # fmt: skip
    assert desktop.beside("triggers") == {"ship.md": ["put it live", "release it"]}
    assert desktop.beside("mutes") == {"ship.md": ["every prompt"]}
    desktop.beside("triggers", "ship.md", "put it live", "deploy")
    laptop.beside("triggers", "ship.md", "put it live", "release it", "to production")
    (laptop.directories["global"] / "ship.md").rename(laptop.directories["global"] / "go.md")
    laptop.beside("triggers", "go.md", *laptop.beside("triggers")["ship.md"])
    laptop.beside("triggers", "ship.md")
    sync_all(desktop, laptop, desktop)
    for machine in both:
        assert sorted(machine.beside("triggers")["go.md"]) == ["deploy", "put it live", "to production"]
        assert "ship.md" not in machine.beside("triggers")
    undo.run(Journal(desktop.root), "undo").first()
    assert desktop.beside("triggers")["ship.md"] == ["put it live", "deploy"]


@pytest.mark.slow
def test_what_one_machine_rejected_is_rejected_on_both_without_words(both):
    laptop, desktop = both
    lines = [
        drafts.rejected_line("ID", f"Use {tool}.", 1.79e9, never=never)
        for tool, never in (("npm", False), ("pnpm", True))
    ]
    sync_all(*both)
    inboxes = [[paths_hot.inbox_dir(machine.root, project) for project in (None, machine.key)] for machine in both]
    for inbox in inboxes[0]:
        os.makedirs(inbox, exist_ok=True)
        fs_hot.append(drafts.rejected_path(inbox), "".join(lines).encode())
    sync_all(laptop, desktop, laptop)
    for inbox in inboxes[1]:
        text = fs_hot.read_bytes(drafts.rejected_path(inbox)).decode()
        assert [len(drafts.rejections(inbox, never=never)) for never in (False, True)] == [1, 1]
        assert "pnpm" not in text
    assert fs_hot.read_bytes(drafts.rejected_path(inboxes[0][0])).decode() == "".join(lines)
    again = laptop.sync()
    assert (again.came, again.went) == ([], [])
    fs_hot.unlink(drafts.rejected_path(inboxes[0][0]))  # taken back, or too old
    sync_all(laptop, desktop)
    assert [len(drafts.rejections(inbox)) for inbox in inboxes[1]] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["", "before", "after"])
def test_a_note_to_a_machine_arrives_there_once_and_nowhere_else(tmp_path, remote, both, monkeypatch, broken):
    laptop, desktop = both
    tablet = Machine(tmp_path, "tablet", remote)
    sync_all(laptop, desktop, tablet, laptop)
    key = paths_hot.project_key(str(laptop.shop))
    for project, fields in ((None, {"urgent": "yes"}), (key, {"for": "people,machine:Desktop"})):
        inbox = paths_hot.inbox_dir(laptop.root, project)
        file_hot.add_entry(inbox, "guidance", {"from": "cli", "for": "machine:desktop", **fields}, f"Of {project}.")
    file_hot.add_entry(inbox, "guidance", {"from": "cli", "for": "machine:nobody"}, "Stays.")
    assert laptop.notes() == ["Of None.", f"Of {key}.", "Stays."]
    for machine in (laptop, desktop) if broken else ():
        push = repository.Remote.push

        def fail(remote, commit, push=push):
            push(remote, commit) if broken == "after" else None
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(repository.Remote, "push", fail)
            with pytest.raises(KeyboardInterrupt):
                machine.sync()
        machine.sync()
    sync_all(laptop, tablet, desktop, laptop, tablet, desktop)
    assert (laptop.notes(), tablet.notes()) == (["Stays."], [])
    assert desktop.notes() == ["Of None.", f"Of {key}."]
    own, other = desktop.notes(None)
    assert (own.fields["from"], own.fields["urgent"]) == ("cli on laptop", "yes")
    assert other.fields["for"] == "people"
    assert format_hot.read(f"{paths_hot.inbox_dir(desktop.root, desktop.key)}/guidance.md")[0].id == other.id


@pytest.mark.slow
def test_a_project_that_is_not_here_and_a_secret_stay_where_they_are(tmp_path, remote, both):
    laptop, desktop = both
    laptop.write("shop", "Of this project.", "auto")
    laptop.write("keys", "The key is ghp_" + "a1B2" * 9 + ".")
    assert list(laptop.sync().withheld.values()) == ["it may hold a secret (GitHub token)"]
    (desktop.shop / ".git" / "config").unlink()
    assert not any("shop" in path for path in desktop.sync().came)
    assert desktop.text("shop", "auto") is None
    assert desktop.text("keys") is None
    desktop.write("ship", "Ship on Tuesdays.")
    sync_all(desktop, laptop)
    assert laptop.text("shop", "auto") is not None
    assert laptop.text("keys") is not None
    (desktop.directories["global"] / "ship.md").unlink()
    assert [desktop.sync().deleted, laptop.sync().deleted] == [("global/ship.md",)] * 2


@pytest.mark.parametrize(
    ("url", "words"),
    [("--upload-pack=x", "no address"), ("ext::sh -c x", "no address"), ("/nowhere/at/all.git", "no git repository")],
)
def test_a_wrong_address_gets_a_sentence_and_nothing_is_set_up(tmp_path, url, words):
    machine = Machine(tmp_path, "laptop", "")
    with pytest.raises(MemtuiError, match=words):
        membership.join(machine.root, url)
    assert sync.load(machine.root) is None


@pytest.mark.slow
def test_a_machine_keeps_its_id_and_two_never_have_one_name(both, remote):
    laptop, desktop = both
    laptop.write("ship", "Ship on Tuesdays.")
    laptop.write("shop", "Of this project.", "auto")
    laptop.sync()
    with pytest.raises(MemtuiError, match="called laptop"):
        membership.join(desktop.root, str(remote), "laptop")
    membership.leave(laptop.root)
    assert membership.join(laptop.root, str(remote)).name == "laptop"
    membership.join(laptop.root, str(remote), "new")
    laptop.sync()
    (desktop.shop / ".git" / "config").write_text("")
    desktop.write("own", "Of a project without a remote.", "auto")
    outcome = desktop.sync()
    assert (outcome.absent, outcome.withheld) == (
        ("example.org/you/shop",),
        {str(desktop.shop): "a project without a git remote, by which it travels: git remote add"},
    )
    rows = sync.machines(desktop.env, desktop.root, sync.load(desktop.root))
    assert [(row.name, row.ahead, row.behind, row.withheld) for row in rows] == [
        ("desktop", 0, 0, 1), ("new", None, 0, None),
    ]  # fmt: skip


def test_only_what_is_here_is_written_and_never_through_a_link(tmp_path):
    machine = Machine(tmp_path, "laptop", "")
    machine.write("ship", "Ship on Tuesdays.")
    outside = tmp_path / "outside"
    outside.mkdir()
    (machine.directories["global"] / "below").symlink_to(outside)
    (outside / "x.md").write_text("Mine.")
    here = local.read(machine.env, "", {})
    assert locate_hot.INDEX_NAME in {path.rpartition("/")[2] for path in here.tree}
    for path in ("global/below/x.md", "global/below/new.md", "global/below/new/x.md"):
        with pytest.raises(MemtuiError, match="link"):
            local.changes(machine.root, here, {**here.tree, path: b"Theirs."})
    assert len(local.changes(machine.root, here, {**here.tree, "global/new/below/x.md": b"Theirs."})) == 1
    for path in ("projects/other/x.md", "global/settings.json", "global/below/MEMORY.md"):
        assert local.changes(machine.root, here, {**here.tree, path: b"Theirs."}) == []


def start(machine, **env):
    """A sync in a process of its own."""
    command = [sys.executable, "-m", "memtui", "sync"]
    return subprocess.Popen(command, env=machine.env | env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# Stands for git: at one command it is killed, alone or with its children or with memtui, after milliseconds.
DOOMED = """#!/bin/sh
case " $* " in *" $AT "*) setsid {git} "$@" <&0 & sleep 0.0$AFTER; kill -9 $CHILDREN$!; kill -9 ${WITH:+$PPID} $$;; esac
exec {git} "$@"
"""
PHASES = "init ls-remote fetch rev-parse ls-tree cat-file log merge-base fast-import push gc none".split()


@pytest.mark.kill
def test_a_sync_killed_at_any_moment_loses_and_doubles_nothing(tmp_path, remote, both, monkeypatch):
    monkeypatch.setattr(repository, "LOCK_SECONDS", 0.05)
    draw, said = Random(), set()
    (tmp_path / "git").write_text(DOOMED.replace("{git}", shutil.which("git")))
    (tmp_path / "git").chmod(0o755)
    for number in range(30):
        machine = draw.choice(both)
        said.add(f"s{number} ")
        path = machine.directories["global"] / f"m{draw.randrange(4)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else MEMORY.format(path.stem, "Text.")
        path.write_text(f"{before}\n#s{number} \n")
        at, after = draw.choice(PHASES), f"{draw.randrange(30):02}"
        env = {"AT": at, "AFTER": after, "CHILDREN": draw.choice(["", "-"]), "WITH": draw.choice(["", "yes"])}
        process = start(machine, PATH=f"{tmp_path}:{machine.env['PATH']}", **env)
        try:
            process.wait(draw.random() * 0.8 if at == "none" else 9)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for lock in remote.rglob("*.lock"):  # which the person removes, as the sync says
            lock.unlink()
    for machine in both * 2:
        machine.sync()
    texts = ["".join(path.read_text() for path in sorted(each.directories["global"].glob("m*.md"))) for each in both]
    assert texts[0] == texts[1]
    assert [word for word in said if texts[0].count(f"#{word}") != 1] == []


@pytest.mark.slow
def test_two_syncs_at_once_both_arrive(both):
    for number in range(3):
        for machine in both:
            machine.write(f"of-{machine.name}-{number}", "Text.")
        processes = [start(machine) for machine in both]
        assert [process.wait() for process in processes] == [0, 0]
    for machine in both * 2:
        machine.sync()
    names = [sorted(os.listdir(machine.directories["global"])) for machine in both]
    assert names[0] == names[1]
    assert len(names[0]) == 7


@pytest.mark.parametrize(
    ("words", "hint"),
    [("fatal: Could not resolve host: h", "There is no network"), ("fatal: odd", "Nothing was changed.")],
)
def test_what_git_says_comes_with_what_to_do(tmp_path, monkeypatch, words, hint):
    process = subprocess.CompletedProcess([], 128, b"", words.encode())
    monkeypatch.setattr(repository, "run", lambda *_: process)
    with pytest.raises(MemtuiError, check=lambda error: error.hint.startswith(hint)):
        repository.Remote(str(tmp_path), "host:memories").git("fetch")


@pytest.mark.every(step=1)
def test_a_draft_is_on_all_machines_until_one_decides(tmp_path, remote, both):
    laptop, desktop = both
    silent = Machine(tmp_path, "tablet", remote)
    for machine in both:
        config = Path(machine.root) / "config.toml"
        config.write_text("sync_drafts = true\n")
    file_hot.add_entry(paths_hot.inbox_dir(laptop.root, None), "updates", {"session": "s1", "name": "tabs"}, "Tabs.")
    file_hot.add_entry(paths_hot.inbox_dir(laptop.root, laptop.key), "updates", {"durable": ".9"}, "Of the shop.")
    sync_all(laptop, silent, desktop)
    (draft,) = desktop.drafts()
    assert (draft.text, draft.fields["name"], draft.fields["machine"]) == ("Tabs.", "tabs", "laptop")
    assert (draft.fields.get("session"), draft.for_sessions(), silent.drafts()) == (None, False, [])
    inbox = paths_hot.inbox_dir(desktop.root, desktop.key)
    assert [entry.text for entry in format_hot.read(f"{inbox}/pending-updates.md")] == ["Of the shop."]
    desktop.shop.rename(desktop.home / "away")  # what can't be seen is not decided
    for machine in both[::-1]:
        machine.sync()
    assert format_hot.read(f"{paths_hot.inbox_dir(laptop.root, laptop.key)}/pending-updates.md")
    review = entries.Review(desktop.root)
    review.reject(waiting_in(desktop.root, [None], ["updates"]))
    sync_all(desktop, silent, laptop)
    assert laptop.drafts() == []
    undo.run(review.journal, "undo")
    sync_all(desktop, laptop, desktop)
    assert [[entry.text for entry in machine.drafts()] for machine in both] == [["Tabs."], ["Tabs."]]


@pytest.mark.slow
def test_a_host_that_does_not_answer_is_said_and_no_ssh_is_left(tmp_path, monkeypatch):
    (tmp_path / "ssh").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(tmp_path / "ssh"))
    monkeypatch.setattr(repository, "PATIENCE", 1.0)
    machine = Machine(tmp_path, "laptop", "")
    with pytest.raises(MemtuiError, match="does not answer"):
        membership.join(machine.root, "git@example.org:memories.git")
    with pytest.raises(ProcessLookupError):
        eventually(lambda: os.kill(int((tmp_path / "pid").read_text()), 0), 9)
