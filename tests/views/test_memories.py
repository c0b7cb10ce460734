"""The words for memories."""

from memtui.client import applied_settings
from memtui.views.memories import loader


def test_who_loads_a_memory():
    assert (loader("project"), loader("agent:reviewer")) == ("memtui delivers it to sessions of this project", "")


def test_of_claude_codes_own_memories_it_says_what_claude_code_does():
    assert loader("auto") == "Claude Code will load it from your next session in this project"
    assert loader("auto", way=applied_settings.OFF) == ""
    assert loader("auto", "shop", applied_settings.RECALLED) == (
        "Claude Code itself gives it with prompts of the project shop that fit, and loads no MEMORY.md"
    )
    assert "MEMORY.md is over its limit" in loader("auto", way=applied_settings.CUT)
    assert loader("global", way=applied_settings.CUT) == "memtui delivers it to sessions of all projects"
