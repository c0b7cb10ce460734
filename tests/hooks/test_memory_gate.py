"""With gate = "ask" a write of the agent into a memory directory is refused and becomes a draft; else it is let pass."""

import pytest
from launching import Home
from test_imports import check, imported

from memtui.inbox import format_hot
from memtui.review import approvals
from memtui.workspace import Workspace

MEMORY = "---\nname: {name}\ndescription: About {name}\nmetadata:\n  type: project\n---\n\n{body}\n"


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    home.settings('gate = "ask"\n')
    return home


def decide(home, tool, session="s1", **words):
    """Why a tool is refused; empty if it is not."""
    answer = home.tool(session, tool, **words)
    assert answer.context == ""
    return answer.refusal


def drafts(home, scope="project"):
    try:
        return format_hot.read(f"{home.boxes[scope]}/pending-updates.md")
    except FileNotFoundError:
        return []


def auto(home):
    return home.own_directory / "memory"


def approve(home, entry):
    workspace = Workspace(home.env, str(home.project), by="cli")
    (item,) = [each for each in workspace.waiting(("updates",)) if each.id == entry.id]
    store = workspace.store()
    (approved,) = approvals.approve_all(store.journal, [approvals.propose(store, item)])
    assert approved.error is None
    return approved.memory


def test_a_new_memory_becomes_a_draft_of_what_was_meant_and_asked(home):
    path = auto(home) / "use-uv.md"
    text = MEMORY.format(name="use-uv", body="Use uv for tools.")
    assert "draft" in decide(home, "Write", file_path=str(path), content=text)
    assert not path.exists()
    (entry,) = drafts(home)
    fields = entry.fields
    assert (fields["kind"], fields["name"], fields["type"], fields["scope"]) == ("write", "use-uv", "project", "auto")
    assert fields["session"] == "s1"
    made = approve(home, entry)
    assert (made.path, made.description, made.type) == (str(path), "About use-uv", "project")
    assert (made.body.strip(), drafts(home)) == ("Use uv for tools.", [])
    rows = ["add a deploy job for staging", "yes please", "<command-name>/model</command-name>"]
    said = [{"type": "user", "message": {"content": each}, "sessionId": "s1"} for each in rows]
    home.write_transcript(said)
    decide(home, "Write", file_path=str(auto(home) / "a.md"), content=MEMORY.format(name="a", body="b"))
    assert drafts(home)[0].fields["request"] == "add a deploy job for staging"


def test_an_edit_becomes_a_draft_that_replaces_the_text(home):
    path = auto(home) / "tools" / "use-uv.md"
    path.parent.mkdir(parents=True)
    path.write_text(MEMORY.format(name="use-uv", body="Use uv for tools.").replace("metadata:", "owner: me\nmetadata:"))
    before = path.read_text()
    assert decide(home, "Edit", file_path=str(path), old_string="uv for tools", new_string="uv for all")
    assert path.read_text() == before
    (entry,) = drafts(home)
    assert entry.fields["kind"] == "rewrite"
    approve(home, entry)
    assert path.read_text() == before.replace("uv for tools", "uv for all")


def test_a_later_write_of_the_session_replaces_its_draft(home):
    for body in ("One.", "Two."):
        text = MEMORY.format(name="a", body=body)
        decide(home, "Write", file_path=str(auto(home) / "a.md"), content=text)
    (entry,) = drafts(home)
    assert "Two." in entry.text
    decide(home, "Write", session="s2", file_path=str(auto(home) / "a.md"), content=text)
    assert len(drafts(home)) == 2


def test_edits_are_applied_as_the_client_does(home):
    path = auto(home) / "a.md"
    path.parent.mkdir(parents=True)
    path.write_text(MEMORY.format(name="a", body="one one two"))
    edits = [{"old_string": "one", "new_string": "1", "replace_all": True}, {"old_string": "two", "new_string": "2"}]
    assert decide(home, "MultiEdit", file_path=str(path), edits=edits)
    assert "1 1 2" in drafts(home)[0].text


def test_a_write_by_the_clients_memory_tool_becomes_the_draft_of_a_write(home):
    new = MEMORY.format(name="a", body="One.")
    given = {"store": "personal", "path": "/team-work/a.md"}
    assert "draft" in decide(home, "memory_write", **given, content=new, if_version="new")
    (entry,) = drafts(home)
    assert (entry.fields["kind"], entry.fields["name"], entry.fields["scope"]) == ("write", "a", "auto")
    path = auto(home) / "team-work" / "a.md"
    path.parent.mkdir(parents=True)
    path.write_text(new)
    changed = MEMORY.format(name="a", body="Two.")
    assert decide(home, "memory_write", session="s2", **given, content=changed, if_version="0123456789ab")
    (entry,) = [each for each in drafts(home) if each.fields["session"] == "s2"]
    assert (entry.fields["kind"], entry.fields["replaces"]) == ("rewrite", "team-work/a.md")
    assert "MEMORY.md" in decide(home, "memory_write", store="personal", path="/MEMORY.md", content="- [a](a.md)")
    assert path.read_text() == new
    assert "MEMORY.md" in decide(home, "Write", file_path=str(auto(home) / "MEMORY.md"), content="- [a](a.md)")
    assert len(drafts(home)) == 2


def test_everything_else_is_let_pass_and_without_asking_all_of_it(home):
    auto(home).mkdir(parents=True)
    (auto(home) / "there.md").write_text("there")
    for tool, words in [
        ("Write", {"file_path": f"{home.project}/README.md", "content": "x"}),
        ("Write", {"file_path": f"{home.project}/docs/MEMORY.md", "content": "x"}),
        ("Write", {"file_path": f"{auto(home)}/notes.txt", "content": "x"}),
        ("Write", {"file_path": f"{auto(home)}/a.md"}),
        ("Write", {"file_path": 5, "content": "x"}),
        ("Edit", {"file_path": f"{auto(home)}/missing.md", "old_string": "a", "new_string": "b"}),
        ("Edit", {"file_path": f"{auto(home)}/there.md", "old_string": "not in it", "new_string": "b"}),
        ("Read", {"file_path": f"{auto(home)}/there.md"}),
        ("memory_read", {"store": "personal", "path": "/there.md"}),
        ("memory_write", {"store": "project-x", "path": "/a.md", "content": "x", "if_version": "new"}),
        ("memory_write", {"store": "personal", "path": "/notes.txt", "content": "x", "if_version": "new"}),
        ("memory_write", {"store": "personal", "path": "/there.md", "content": "x", "if_version": "new"}),
        ("memory_write", {"store": "personal", "path": "/no.md", "content": "x", "if_version": "0123456789ab"}),
        ("Bash", {"command": f"echo x > {auto(home)}/there.md"}),
    ]:
        assert (decide(home, tool, **words), drafts(home)) == ("", []), (tool, words)
    words = {"file_path": str(auto(home) / "a.md"), "content": "x"}
    for settings in ('gate = "show"\n', 'gate = "off"\n', "", 'gate = "aks"\n'):
        home.settings(settings)
        assert decide(home, "Write", **words) == ""
    modules, said = imported(home, "PreToolUse", tool_name="Write", tool_input=words)
    assert said == b""
    assert "memtui.hooks.refusals_hot" not in modules
    check(modules)


def test_a_path_that_leads_there_in_another_way_is_refused_too(home, tmp_path):
    (home.project / ".claude" / "memory").mkdir(parents=True)
    (tmp_path / "project-link").symlink_to(home.project)
    (tmp_path / "config-link").symlink_to(home.config)
    for number, (path, scope) in enumerate(
        (
            (tmp_path / "project-link/.claude/memory/a.md", "project"),
            (tmp_path / "config-link/memory/a.md", "global"),
            (f"~/{home.config.name}/memory/a.md", "global"),
        )
    ):
        text = MEMORY.format(name="a", body="Text.")
        assert decide(home, "Write", session=f"s{number}", file_path=str(path), content=text)
        entries = [entry for entry in drafts(home) + drafts(home, "global") if entry.fields["session"] == f"s{number}"]
        assert [entry.fields["scope"] for entry in entries] == [scope]
    assert decide(home, "Write", file_path=str(tmp_path / "project-link/README.md"), content="x") == ""


def test_what_can_not_be_kept_as_a_draft_is_not_refused(home):
    home.boxes["project"].parent.mkdir(parents=True, exist_ok=True)
    home.boxes["project"].write_text("in the way")
    text = MEMORY.format(name="a", body="Text.")
    assert decide(home, "Write", file_path=str(auto(home) / "a.md"), content=text) == ""
    assert (home.root / "log" / "errors.jsonl").exists()
