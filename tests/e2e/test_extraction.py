"""What a person said in a turn that no hook saw the end of becomes a draft: with the real client."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memtui.base import paths_hot
from waiting import eventually

from .model import call, say, use
from .terminal import Terminal

pytestmark = pytest.mark.client

SAID = "Never use npm here, from now on always use pnpm."
ESCAPE = "\x1b"


def test_a_stopped_turn_is_read_before_a_compaction_which_does_not_wait(on, model):
    """No hook tells of the end of such a turn."""
    on.allow("Bash")

    def compacted():
        return "compact" in [each.kind for each in model.requests]

    turn = [say("Answer one."), call(use("Bash", command="echo 1")), say("Answer two.", until=compacted)]
    model.script = lambda _: turn.pop(0)
    with Terminal(on) as terminal:
        terminal.say("hello")
        terminal.see("Answer one")
        assert eventually(lambda: list(on.root.glob("sessions/*.cursor.json")))  # that turn has been read
        terminal.say(SAID)
        assert eventually(lambda: not turn)
        terminal.press(ESCAPE)
        terminal.see("Interrupted")
        assert on.drafts() == []
        terminal.say("/compact")
        terminal.see("Compacted")
        assert eventually(on.drafts), on.errors()
    assert (len(on.drafts()), on.errors()) == (1, [])


CORRECTION = "No, from now on always use uv to install Python packages, never pip."
MEMORY = "---\nname: use-uv\ndescription: Use uv, never pip\n---\n\nInstall Python packages with uv. Never use pip."
SHELL = f"mkdir -p .claude/memory && cat > .claude/memory/use-uv.md <<'END'\n{MEMORY}\nEND"


@pytest.mark.client(always=True)
@pytest.mark.parametrize("how", ["Write", "Bash", "Agent", "CLAUDE.md", "nothing"])
def test_what_the_agent_saves_in_the_turn_is_no_draft(on, model, how):
    instructions = on.project / "CLAUDE.md"
    instructions.write_text("# Rules\n")
    memory = on.root.parent / "projects" / paths_hot.slug(str(on.project)) / "memory" / "use-uv.md"
    write = use("Write", file_path=str(memory), content=MEMORY)
    steps = {
        "Write": [write],
        "Bash": [use("Bash", command=SHELL)],
        "Agent": [use("Agent", description="d", prompt="SUBTASK", subagent_type="general-purpose")],
        "CLAUDE.md": [
            use("Read", file_path=str(instructions)),
            use(
                "Edit",
                file_path=str(instructions),
                old_string="# Rules",
                new_string="# Rules\n\n- Use uv, never pip, to install Python packages.",
            ),
        ],
        "nothing": [],
    }[how]

    def script(request):
        if "SUBTASK" in request.text() and CORRECTION not in request.text():
            return write if not request.tool_results() else "done"
        return steps.pop(0) if steps else "Understood."

    begun = on.claude("please install the packages")
    model.script = script
    run = on.claude(CORRECTION, "--allowedTools", "Read,Write,Edit,Bash,Agent", resume=begun.session_id)
    assert run.returncode == 0
    assert eventually(on.workers_ended)
    assert how == "nothing" or any(
        "uv" in path.read_text()
        for path in (memory, instructions, *on.project.glob(".claude/memory/*.md"))
        if path.exists()
    )
    assert (len(on.drafts()), on.errors()) == (how == "nothing", [])


@pytest.mark.every
def test_what_says_more_than_the_agent_saved_is_an_edit_of_that_memory(on, model):
    memory = on.root.parent / "projects" / paths_hot.slug(str(on.project)) / "memory" / "deploy-days.md"
    text = "---\nname: deploy-days\ndescription: Deploys happen on Tuesdays only\n---\n\nDeploy only on Tuesdays."
    model.will(use("Write", file_path=str(memory), content=text), "Understood.")
    on.claude("From now on deploy only on Tuesdays, and never while support is away.", "--allowedTools", "Write")
    (entry,) = eventually(on.drafts)
    assert (entry.fields["replaces"], entry.fields["scope"]) == ("deploy-days.md", "auto")
    assert "never while support is away (to deploy-days)" in on.memtui("inbox").stdout
    assert "becomes  auto:deploy-days" in on.memtui("inbox", entry.id).stdout
    on.memtui("approve", entry.id)
    assert "never while support is away" in memory.read_text()
    assert on.errors() == []


@pytest.mark.every
def test_a_relative_date_is_of_the_persons_clock_and_quoted_as_said(on):
    on.env["TZ"] = "Pacific/Kiritimati"  # 14 hours ahead
    on.memtui("config", "set", "extract_confidence", "0")
    on.claude("From now on never deploy before tomorrow noon, and freeze the schema until next sprint.")
    today = datetime.now(ZoneInfo(on.env["TZ"])).date()
    (entry,) = eventually(on.drafts)
    said = f"Never deploy before {today + timedelta(1)} noon, and freeze the schema until next sprint (said on {today})"
    assert entry.text.startswith(said)
    assert "before tomorrow noon, and freeze the schema until next sprint." in entry.text.partition("> you:")[2]
    assert on.errors() == []
